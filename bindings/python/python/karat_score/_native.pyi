import builtins
from typing import Any, Iterable, Sequence

__version__: str

class KaratError(ValueError):
    """What karat refuses."""

    #: The sort of error, such as `evidence-refused`.
    code: str
    #: The first place that is wrong: a JSON path, or a fact.
    path: str | None
    #: All of them, each with `path` and `detail`.
    problems: Sequence[dict[str, str]]
    #: The row, where it is one of several.
    row: int | None
    #: What to do about it.
    hints: Sequence[str]

class Record:
    """The score of an item, with everything that it follows from."""

    #: On the scale of the scorecard; None without one.
    score: float | None
    #: `scored`, `unscored` or `withheld`.
    status: str
    #: The share of the weight that was measured.
    coverage: float
    band: str | None
    tier: str | None
    subject: str
    #: The canonical JSON: the same bytes on every machine.
    bytes: bytes
    #: The digest of these bytes.
    digest: str
    def to_dict(self) -> dict[str, Any]: ...
    def explanation(self) -> Answer: ...
    def __bytes__(self) -> builtins.bytes: ...
    def _repr_html_(self) -> str: ...

class Scorecard:
    name: str
    title: str
    text: str
    digest: str
    evidence: str
    facts: list[str]
    dimensions: list[str]
    scale: int
    has_memory: bool
    table_text: str
    table_digest: str
    def __init__(
        self,
        wanted: str,
        *,
        subject_field: str | None = None,
        task_field: str | None = None,
        cache: tuple[int, int, int | None] | None = None,
        observes: bool = False,
    ) -> None: ...
    def score_one(
        self, item: Any, *, as_of: str | None = None, vector: Sequence[float] | None = None, model: str | None = None
    ) -> Record: ...
    def explain(
        self, item: Any, *, as_of: str | None = None, vector: Sequence[float] | None = None, model: str | None = None
    ) -> Answer: ...
    def embedding_text(self, item: Any) -> str: ...
    def clear_vectors(self) -> None: ...
    def score_stream(
        self,
        stream: Any,
        *,
        columns: list[str],
        values: bool,
        keep: list[str],
        refuses_broken: bool,
        is_lazy: bool,
    ) -> Batches: ...
    def query(
        self,
        dialect: str,
        table: str,
        *,
        without: list[str],
        keep: list[str],
        unique: list[str],
        elapsed_seconds: str | None,
        values: bool,
        subject: str | None,
        task: str | None,
        outcome: str | None,
    ) -> str: ...
    def self_check(self, dialect: str, rows: int) -> str: ...
    def __getstate__(self) -> tuple[Any, ...]: ...

class Answer:
    json: bytes
    def lines(self) -> str: ...
    def csv(self) -> str: ...
    def markdown(self) -> str: ...
    def html(self) -> str: ...
    def text(self) -> str: ...
    def fragment(self) -> str: ...

class Batches:
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...

class Source:
    @staticmethod
    def of_frame(name: str, stream: Any, names: list[str]) -> Source: ...
    @staticmethod
    def of_paths(paths: list[str]) -> Source: ...

def refusal(message: str, *, row: int | None = None) -> KaratError: ...
def to_json(value: Any) -> bytes: ...
def to_lines(items: Iterable[Any]) -> bytes: ...
def command(arguments: list[str]) -> int: ...
def scorecards() -> list[str]: ...
def ask(question: bytes, sources: dict[str, Source], counted: Sequence[str]) -> Answer: ...
def verify(question: bytes) -> Answer: ...
def import_items(paths: list[str], card_text: str | None) -> bytes: ...
def record(bytes: bytes, card_text: str) -> Record: ...
def check(name: str, text: str) -> list[dict[str, Any]]: ...
