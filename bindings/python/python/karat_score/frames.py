"""Data frames: which library a frame is of, its stream of Arrow, and the same kind of frame back."""

from __future__ import annotations

from typing import Any, Callable, Iterable, Sequence

from ._native import Batches, KaratError, refusal


def kind_of(frame: Any) -> str:
    """Returns pandas, polars, lazy, arrow, batch, dataset, reader, duckdb, or items for what is no frame."""
    module = type(frame).__module__.split(".", 1)[0].lstrip("_")
    name = type(frame).__name__
    if module == "pandas" and name == "DataFrame":
        return "pandas"
    if module == "polars" and name in ("DataFrame", "LazyFrame"):
        return "lazy" if name == "LazyFrame" else "polars"
    if module == "pyarrow":
        if name == "RecordBatchReader":
            return "reader"
        return "dataset" if hasattr(frame, "to_table") else "batch" if name == "RecordBatch" else "arrow"
    if module in ("duckdb", "duckdb_") and name == "DuckDBPyRelation":
        return "duckdb"
    if hasattr(frame, "__arrow_c_stream__"):
        return "arrow"
    if isinstance(frame, (list, tuple)) or (hasattr(frame, "__iter__") and not isinstance(frame, (str, bytes, dict))):
        return "items"
    raise refusal(
        f"found a value of type {type(frame).__name__}, expected a frame of pandas, Polars, PyArrow or DuckDB, or a list of dictionaries"
    )


def taken(frame: Any, kind: str, keep: Sequence[str]) -> tuple[Any, Callable[[Batches], Any]]:
    """Returns the stream of a frame, and what makes scores, with the columns that are kept, the same kind of frame."""
    if kind == "pandas":
        return stream(frame), lambda scores: _pandas(scores, frame, keep)
    if kind == "lazy":
        return stream(frame.collect()), lambda scores: _polars(scores).lazy()
    if kind == "polars":
        return stream(frame), _polars
    if kind == "duckdb":
        return stream(_pyarrow().table(frame)), _duckdb
    if kind == "reader":
        return stream(frame), lambda scores: _pyarrow().RecordBatchReader.from_stream(scores)
    if kind == "batch":
        return stream(frame), _batch
    if kind == "dataset":
        # It is a description of files.
        frame = frame.to_table()
    return stream(frame), lambda scores: _pyarrow().table(scores)


def stream(frame: Any) -> Any:
    """Returns the stream of a frame; what Arrow cannot hold is refused by name."""
    try:
        return frame.__arrow_c_stream__()
    except KaratError:
        raise
    except ImportError as error:
        raise refusal(f"a frame of pandas is read by PyArrow, which is not here: pip install pyarrow ({error})") from error
    except Exception as error:
        raise refusal(f"this frame is none of Arrow: {error}") from error


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise refusal("this needs PyArrow: pip install pyarrow") from error
    return pyarrow


def _polars(scores: Batches) -> Any:
    import polars

    return polars.DataFrame(scores)


def _batch(scores: Batches) -> Any:
    table = _pyarrow().table(scores).combine_chunks()
    return next(iter(table.to_batches()), None) or _pyarrow().RecordBatch.from_pylist([], schema=table.schema)


def _pandas(scores: Batches, given: Any, keep: Sequence[str]) -> Any:
    import pandas

    pyarrow = _pyarrow()
    # Whole numbers stay whole where some are missing.
    frame = pyarrow.table(scores).to_pandas(types_mapper={pyarrow.int64(): pandas.Int64Dtype()}.get)
    frame.index = given.index
    for name in keep:
        # What is kept stays as it is; an index that is kept was made a column.
        if name in given.columns:
            frame[name] = given[name]
    return frame


def _duckdb(scores: Batches) -> Any:
    import duckdb

    return duckdb.from_arrow(_pyarrow().table(scores))


#: The columns of scores of items one by one; those of numbers, the others hold texts.
ROWS = ("subject", "score", "coverage", "band", "tier", "status", "reason", "record")
NUMBERS = ("score", "coverage")


def is_missing(item: Any) -> bool:
    """Returns true for what stands where a column has no value: None, NaN, and those of pandas."""
    return item is None or isinstance(item, float) and item != item or type(item).__name__ in ("NAType", "NaTType")


def texts_of(column: Any) -> Iterable[Any]:
    """Returns the values of a column."""
    if isinstance(column, (str, bytes, dict)) or hasattr(column, "columns") or not hasattr(column, "__iter__"):
        raise refusal(f"found a value of type {type(column).__name__}, expected a column or a list of items as JSON")
    values: Iterable[Any] = column.to_pylist() if hasattr(column, "to_pylist") else column
    return values


def of_rows(like: Any, rows: list[dict[str, Any]]) -> Any:
    """Returns rows as a frame of the library of a column; as they are for a plain list."""
    module = type(like).__module__.split(".", 1)[0]
    if module == "pandas":
        import pandas

        return pandas.DataFrame(rows, index=like.index, columns=list(ROWS)).astype(dict.fromkeys(NUMBERS, float))
    if module == "polars":
        import polars

        return polars.DataFrame(rows, schema={name: polars.Float64 if name in NUMBERS else polars.String for name in ROWS})
    if module == "pyarrow":
        pyarrow = _pyarrow()
        fields = [(name, pyarrow.float64() if name in NUMBERS else pyarrow.string()) for name in ROWS]
        return pyarrow.Table.from_pylist(rows, schema=pyarrow.schema(fields))
    return rows
