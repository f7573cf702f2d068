"""Frames: the scores of their rows as items, whatever library and layout they have."""

import decimal
import json
import math
import random

import duckdb
import karat_score as ks
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest

CARD = """
schema = "karat/scorecard/1"
id = "columns"
version = "1.0.0"
title = "Columns of every type"
evidence = "facts"
scale = { max = 100, publish = "half-up" }

[facts]
share = { min = 0, max = 1 }
narrow = { min = 0, max = 1 }
steps = { min = 0, max = "limit", integer = true }
limit = { min = 0, integer = true }
solved = { type = "boolean" }
domain = { type = "text" }
cost = { path = "$.metrics.cost", min = 0 }
clean = { path = "$.metrics.clean", type = "boolean" }

[profiles]
by = "domain"
fallback = "any"

[profiles.weights.any]
share = 0.3
narrow = 0.2
steps = 0.2
solved = 0.1
cost = 0.1
clean = 0.1

[profiles.weights.code]
share = 0.1
narrow = 0.1
steps = 0.3
solved = 0.3
cost = 0.1
clean = 0.1

[[dimension]]
key = "share"
formula = "share"

[[dimension]]
key = "narrow"
formula = "narrow"
missing = "zero"

[[dimension]]
key = "steps"
formula = "1 - clamp(steps / max(limit, 1), 0, 1)"

[[dimension]]
key = "solved"
formula = "if(solved, 1, 0)"

[[dimension]]
key = "cost"
formula = "1 - clamp(cost / 10, 0, 1)"

[[dimension]]
key = "clean"
formula = "if(clean, 1, 0)"
"""

card = ks.Scorecard.load(CARD)
trust = ks.Scorecard.load("trust@1.0.0")

COMPARED = ("score", "coverage", "band", "tier", "status")
NUMBERS = [pa.float64(), pa.float32(), pa.float16(), pa.decimal128(12, 4), pa.decimal256(40, 6), pa.decimal32(6, 3), pa.decimal64(14, 3)]
WHOLES = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(), pa.float64(), pa.decimal128(38, 0)]
FLAGS = [pa.bool_(), pa.int8(), pa.uint64(), pa.float32(), pa.decimal128(9, 0), pa.decimal128(9, 2)]
TEXTS = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.uint32(), pa.large_string())]


def rows_of(frame):
    """Returns the rows of a frame of any library as dictionaries, with None for what is missing."""
    if isinstance(frame, list):
        return frame
    if isinstance(frame, pd.DataFrame):
        return [{key: None if it is pd.NA or it != it else it for key, it in row.items()} for row in frame.to_dict("records")]
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, pl.DataFrame):
        return frame.to_dicts()
    if isinstance(frame, pa.RecordBatchReader):
        frame = frame.read_all()
    if isinstance(frame, duckdb.DuckDBPyRelation):
        frame = pa.table(frame)
    return frame.to_pylist()


def compared(frame):
    return [tuple(row[name] for name in COMPARED) for row in rows_of(frame)]


def array(values, kind):
    """Returns values as an array of a type; decimals are rounded to its places."""
    if pa.types.is_decimal(kind):
        unit = decimal.Decimal(1).scaleb(-kind.scale)
        values = [None if it is None or not math.isfinite(it) else decimal.Decimal(it).quantize(unit) for it in values]
    elif pa.types.is_integer(kind):
        values = [None if it is None or it != it else int(it) for it in values]
    elif pa.types.is_floating(kind):
        values = [None if it is None else np.float16(it) if kind == pa.float16() else float(it) for it in values]
    elif pa.types.is_boolean(kind):
        values = [None if it is None else it == 1 for it in values]
    elif kind == pa.string_view():
        return pa.array(values, pa.string()).cast(kind)
    elif pa.types.is_dictionary(kind):
        return pa.array(values, kind.value_type).dictionary_encode().cast(kind)
    return pa.array(values, kind)


def random_table(random_of, rows):
    """Returns a table of the facts of the card, each in a type of its own: a fifth is null, and some rows break a declaration."""

    def some(make):
        return [None if random_of.random() < 0.2 else make() for _ in range(rows)]

    def odd(usual, *others):
        return random_of.choice(others) if random_of.random() < 0.03 else usual

    limits = random_of.choice(WHOLES)
    wide = [2**53 + 1] if limits in (pa.int64(), pa.uint64(), pa.decimal128(38, 0)) else []
    nothing = [math.nan]
    columns = {
        "share": array(some(lambda: odd(random_of.random(), math.nan, math.inf, -math.inf, 1.5, -0.5)), random_of.choice(NUMBERS)),
        "narrow": array(some(random_of.random), random_of.choice(NUMBERS)),
        "steps": array(some(lambda: odd(random_of.randrange(20), 120, 99)), random_of.choice(WHOLES)),
        "limit": array(some(lambda: odd(random_of.randrange(20, 60), 3, *wide)), limits),
        "solved": array(some(lambda: odd(random_of.randrange(2), *nothing, 1)), random_of.choice(FLAGS)),
        "domain": array(some(lambda: random_of.choice(["code", "law", "é"])), random_of.choice(TEXTS)),
    }
    cost = array(some(lambda: odd(random_of.random() * 12, -1.0, math.nan)), random_of.choice(NUMBERS))
    clean = array(some(lambda: random_of.randrange(2)), random_of.choice(FLAGS))
    if random_of.random() < 0.5:
        columns |= {"metrics.cost": cost, "metrics.clean": clean}
    else:
        mask = pa.array([random_of.random() < 0.1 for _ in range(rows)], pa.bool_())
        columns["metrics"] = pa.StructArray.from_arrays([cost, clean], ["cost", "clean"], mask=mask)
    names = list(columns)
    random_of.shuffle(names)
    return pa.table({name: columns[name] for name in names if random_of.random() < 0.93 or name == "share"} | {"note": pa.array(["x"] * rows)})


def plain(value):
    """Returns a value of a row as an item has it: without what is missing."""
    if isinstance(value, dict):
        return {key: plain(it) for key, it in value.items() if it is not None and it == it}
    return float(value) if isinstance(value, np.floating) else value


def items_of(table):
    """Returns the rows of a table as items of the card."""
    items = [{"subject": "bot", **plain(row)} for row in table.to_pylist()]
    for item in items:
        for held, name in [(item, "solved"), (item.get("metrics", {}), "clean"), (item, "metrics.clean")]:
            if held.get(name) in (0, 1):
                held[name] = bool(held[name])
    return items


def expected_of(table):
    return [tuple(row[name] for name in COMPARED) for row in card.score(items_of(table))]


@pytest.mark.parametrize("seed", range(40))
def test_a_table_gives_the_scores_of_its_rows_as_items(seed):
    random_of = random.Random(seed)
    table = random_table(random_of, random_of.choice([0, 1, 7, 8, 9, 100, 300]))
    expected = expected_of(table)
    assert compared(card.score(table)) == expected
    # Any part of it, wherever it begins, and any layout of chunks.
    start = random_of.randrange(table.num_rows + 1)
    count = random_of.randrange(table.num_rows + 1)
    assert compared(card.score(table.slice(start, count))) == expected[start : start + count]
    assert compared(card.score(table.slice(start, count).combine_chunks())) == expected[start : start + count]
    cuts = sorted(random_of.randrange(table.num_rows + 1) for _ in range(4))
    parts = [table.slice(begin, end - begin) for begin, end in zip([0, *cuts], [*cuts, table.num_rows])]
    assert compared(card.score(pa.concat_tables(parts))) == expected
    assert sum((compared(card.score(part)) for part in parts), []) == expected
    batches = [batch for part in parts for batch in part.to_batches()]
    reader = pa.RecordBatchReader.from_batches(table.schema, batches)
    assert compared(card.score(reader)) == expected
    for batch in batches[:2]:
        scored = card.score(batch)
        assert isinstance(scored, pa.RecordBatch) and scored.num_rows == batch.num_rows
    if not any(kind == pa.string_view() for kind in table.schema.types):
        order = random_of.sample(range(table.num_rows), table.num_rows)
        assert compared(card.score(table.take(pa.array(order, pa.int64())))) == [expected[row] for row in order]


def plain_table(seed=1, rows=200):
    """Returns a table of types that every library has."""
    random_of = random.Random(seed)

    def some(make):
        return [None if random_of.random() < 0.2 else make() for _ in range(rows)]

    share = some(lambda: random_of.choice([random_of.random()] * 20 + [1.5, -1.0]))
    return pa.table(
        {
            "agent": pa.array([f"agent-{row % 7}" for row in range(rows)]),
            "share": pa.array(share, pa.float64()),
            "steps": pa.array(some(lambda: random_of.randrange(30)), pa.int64()),
            "limit": pa.array([60] * rows, pa.int32()),
            "solved": pa.array(some(lambda: random_of.random() < 0.5), pa.bool_()),
            "domain": pa.array(some(lambda: random_of.choice(["code", "law"])), pa.string()),
            "metrics": pa.array(some(lambda: {"cost": random_of.random(), "clean": None}), pa.struct({"cost": pa.float64(), "clean": pa.bool_()})),
        }
    )


def test_every_library_gives_the_same_scores_and_gets_its_own_kind_of_frame_back(tmp_path):
    table = plain_table()
    expected = expected_of(table)
    assert {row[-1] for row in expected} == {"scored", "broken"}
    flat = table.flatten()
    ds.write_dataset(table, tmp_path, format="parquet")
    connection = duckdb.connect()
    frames = [
        (table, pa.Table),
        (table.to_batches()[0], pa.RecordBatch),
        (table.to_reader(30), pa.RecordBatchReader),
        (ds.dataset(table), pa.Table),
        (ds.dataset(tmp_path), pa.Table),
        (pl.from_arrow(table), pl.DataFrame),
        (pl.from_arrow(table).lazy(), pl.LazyFrame),
        (pl.from_arrow(flat), pl.DataFrame),
        (table.to_pandas(), pd.DataFrame),
        (flat.to_pandas(types_mapper=pd.ArrowDtype), pd.DataFrame),
        (pl.from_arrow(flat).to_pandas().convert_dtypes(), pd.DataFrame),
        (duckdb.from_arrow(table), duckdb.DuckDBPyRelation),
        (connection.from_arrow(table).filter("true"), duckdb.DuckDBPyRelation),
        (items_of(table), list),
        (tuple(items_of(table)), list),
        (iter(items_of(table)), list),
    ]
    for frame, kind in frames:
        scored = card.score(frame)
        assert isinstance(scored, kind)
        assert compared(scored) == expected, kind


def test_scores_have_names_and_types():
    scored = card.score(plain_table())
    text = pa.dictionary(pa.uint8(), pa.string())
    assert [(field.name, field.type) for field in scored.schema] == [
        ("score", pa.float64()), ("score_e9", pa.int64()), ("coverage", pa.float64()), ("coverage_e9", pa.int64()),
        ("band", pa.string()), ("tier", pa.string()), ("status", text), ("reason", pa.string()),
    ]  # fmt: skip
    assert scored.schema.metadata[b"karat.scorecard"] == b"columns@1.0.0"
    assert scored.schema.metadata[b"karat.digest"].decode() == card.digest
    rows = scored.to_pylist()
    for row in rows:
        assert (row["score"] is None) == (row["score_e9"] is None)
        if row["score"] is not None:
            assert abs(row["score"] / 100 - row["score_e9"] / 1e9) <= 0.005
        assert row["coverage"] is None or row["coverage_e9"] == round(row["coverage"] * 1e9)
        assert (row["status"] == "broken") == (row["reason"] is not None) == (row["coverage"] is None)
    assert any(row["reason"] == "share: found 1.5, expected at most 1" for row in rows), {row["reason"] for row in rows}


def test_columns_are_those_that_are_asked_for():
    table = plain_table()
    scored = card.score(table, columns=["status", "score"])
    assert set(scored.column_names) == {"score", "status"}
    valued = card.score(table, columns=["score"], values=True)
    assert [name for name in valued.column_names if name.endswith("_e9")] == [f"{key}_e9" for key in card.dimensions]
    records = [card.score_one(item) if row[-1] != "broken" else None for item, row in zip(items_of(table), expected_of(table))]
    for row, record in zip(valued.to_pylist(), records):
        readings = {f"{it['key']}_e9": it["reading"] for it in record.to_dict()["dimensions"]} if record else {}
        assert {key: row[key] for key in row if key.endswith("_e9")} == {f"{key}_e9": None if readings.get(f"{key}_e9") is None else round(readings[f"{key}_e9"] * 1e9) for key in card.dimensions}
    gates = trust.score(pa.table({"security": [0.1, 0.9], "accuracy": [0.9, 0.9]}), values=True)
    assert pa.types.is_boolean(gates.schema.types[-1])
    with pytest.raises(ks.KaratError, match="no column `scor`"):
        card.score(table, columns=["scor"])


def test_columns_that_are_kept_stay_as_they_are():
    table = plain_table()
    for frame in [table, pl.from_arrow(table), table.to_pandas(), duckdb.from_arrow(table), table.to_reader()]:
        scored = card.score(frame, keep=["agent", "limit", "domain"], columns=["score"])
        rows = rows_of(scored)
        assert list(rows[0]) == ["agent", "limit", "domain", "score"]
        assert [row["agent"] for row in rows] == table["agent"].to_pylist()
    frame = table.to_pandas()
    frame["agent"] = frame["agent"].astype("category")
    frame["day"] = pd.date_range("2026-01-01", periods=len(frame), freq="D", tz="Europe/Berlin")
    kept = card.score(frame, keep=["agent", "limit", "day", "domain"])
    pd.testing.assert_frame_equal(kept[["agent", "limit", "day", "domain"]], frame[["agent", "limit", "day", "domain"]])
    for keep, found in [(["absent"], "no column `absent`"), (["score"], "which is a column of the answer")]:
        with pytest.raises(ks.KaratError, match=found):
            card.score(table.append_column("score", table["share"]), keep=keep)


def test_a_frame_of_pandas_keeps_its_index():
    frame = plain_table().to_pandas()
    whole = card.score(frame)
    for index in [
        pd.Index([f"row-{row}" for row in range(len(frame))], name="row"),
        pd.MultiIndex.from_arrays([range(len(frame)), ["x"] * len(frame)], names=["a", None]),
        pd.date_range("2026-01-01", periods=len(frame)),
        pd.RangeIndex(5, 5 + len(frame)),
        pd.Index([0] * len(frame)),
        pd.Index([0.5] * len(frame), name="narrow_index"),
    ]:
        frame.index = index
        scored = card.score(frame)
        assert scored.index.equals(index) and scored.index.names == index.names
        pd.testing.assert_frame_equal(scored.reset_index(drop=True), whole)
    part = frame.reset_index(drop=True).iloc[3:100:7]
    scored = card.score(part)
    assert list(scored.index) == list(part.index)
    pd.testing.assert_frame_equal(scored.reset_index(drop=True), whole.iloc[3:100:7].reset_index(drop=True), check_dtype=False)
    assert str(scored["score_e9"].dtype) == "Int64"
    assert frame.assign(**card.score(frame, columns=["score"])).shape[1] == frame.shape[1] + 1


def test_texts_in_every_layout_choose_the_profile():
    words = ["code", None, "law", "code", "code", None, "other", "code"] * 5
    base = pa.table({"share": [0.9] * 40, "narrow": [0.2] * 40})
    expected = compared(card.score(base.append_column("domain", pa.array(words))))
    assert len(set(expected)) == 2
    runs = pc.run_end_encode(pa.array(words))
    dictionary = pa.DictionaryArray.from_arrays(pa.array([0, None, 2, 0, 1, 3, 4, 0] * 5, pa.int16()), ["code", "code", "law", None, "other"])
    small = [pc.run_end_encode(pa.array(words), run_end_type=kind) for kind in (pa.int16(), pa.int64())]
    nested = pa.RunEndEncodedArray.from_arrays(pa.array(range(1, 41), pa.int32()), dictionary)
    layouts = [pa.array(words, pa.large_string()), pa.array(words).cast(pa.string_view()), pa.array(words).dictionary_encode(), runs, *small, dictionary, nested]
    for layout in layouts:
        table = base.append_column("domain", layout)
        assert compared(card.score(table)) == expected, layout.type
        for start, count in [(3, 10), (9, 31), (39, 1), (40, 0), (1, 39)]:
            assert compared(card.score(table.slice(start, count))) == expected[start : start + count], (layout.type, start)


def test_numbers_and_flags_in_runs_and_dictionaries_are_read():
    numbers = [0.5, 0.5, None, 0.25, 0.25, 0.25, 1.0, None, 0.75] * 3
    flags = [True, None, False, False, True, True, None, None, True] * 3
    base = pa.table({"share": numbers, "solved": flags, "narrow": [0.5] * 27})
    expected = compared(card.score(base))

    def coded(values):
        places = [sorted(set(map(str, values))).index(str(it)) for it in values]
        known = [next(it for it in values if str(it) == name) for name in sorted(set(map(str, values)))]
        return pa.DictionaryArray.from_arrays(pa.array(places, pa.int8()), pa.array(known))

    for pack in [pc.run_end_encode, coded, lambda it: pc.run_end_encode(pa.array(it))]:
        packed = {name: pack(pa.array(values) if pack is pc.run_end_encode else values) for name, values in [("share", numbers), ("solved", flags)]}
        table = pa.table({**packed, "narrow": [0.5] * 27})
        assert compared(card.score(table)) == expected
        assert compared(card.score(table.slice(5, 13))) == expected[5:18]


def test_whole_numbers_that_a_double_does_not_hold_break_their_row():
    for kind in [pa.int64(), pa.uint64(), pa.decimal128(38, 0)]:
        table = pa.table({"share": [0.5] * 4, "steps": pa.array([1] * 4), "limit": pa.array([2**53, 2**53 + 1, None, 5], kind)})
        rows = card.score(table).to_pylist()
        assert [row["status"] for row in rows] == ["scored", "broken", "scored", "scored"], kind
        assert rows[1]["reason"] == "limit: found 9007199254740993, expected at most 2^53"
        assert rows[1]["score"] is rows[1]["coverage"] is None
    # What is beyond at a null does not count.
    hidden = pa.Array.from_buffers(pa.int64(), 2, [pa.py_buffer(b"\x01"), pa.array([1, 2**60]).buffers()[1]])
    assert card.score(pa.table({"share": [0.5, 0.5], "limit": hidden})).column("status").to_pylist() == ["scored"] * 2


def test_a_broken_row_is_an_error_where_that_is_asked_for():
    table = plain_table()
    first = next(row for row, it in enumerate(expected_of(table)) if it[-1] == "broken")
    for frame in [table, pa.concat_tables([table.slice(0, 3), table.slice(3)]), pl.from_arrow(table), table.to_pandas(), duckdb.from_arrow(table), items_of(table)]:
        with pytest.raises(ks.KaratError) as caught:
            card.score(frame, on_broken="raise")
        assert caught.value.row == first
        assert f"row:{first}" in str(caught.value)
        assert caught.value.path in ("share", "facts.share")
    with pytest.raises(Exception, match=f"row:{first}"):
        card.score(table.to_reader(50), on_broken="raise").read_all()
    with pytest.raises(ks.KaratError, match="on_broken"):
        card.score(table, on_broken="ignore")


def test_all_that_is_wrong_with_columns_is_said_at_once_with_hints():
    table = pa.table({"share": ["0.5"], "solved": ["yes"], "steps": [[1]], "domain": [5], "narow": [0.5], "limit": [b"x"], "metrics.cost": [pd.Timestamp(0)]})
    with pytest.raises(ks.KaratError) as caught:
        card.score(table)
    told = {it["path"]: it["detail"] for it in caught.value.problems}
    assert set(told) == {"share", "solved", "steps", "domain", "limit", "cost"}
    assert "found texts, expected numbers" in told["share"]
    assert "found texts, expected booleans" in told["solved"]
    assert "found numbers, expected texts" in told["domain"]
    assert list(caught.value.hints) == ["is `narow` the fact `narrow`?"]
    assert (caught.value.code, caught.value.row) == ("evidence-refused", None)


def test_frames_without_a_fact_are_refused():
    empties = [pa.table({}), pl.DataFrame(), pd.DataFrame(), pd.DataFrame(index=range(3)), pa.table({"other": [1]}), pl.DataFrame({"x": [1]}).lazy()]
    for frame in empties:
        with pytest.raises(ks.KaratError, match="found no column of a fact"):
            card.score(frame)
    with pytest.raises(ks.KaratError, match="not a table"):
        ks.Scorecard.load("workflow").score(pa.table({"share": [1.0]}))


def test_frames_without_rows_and_columns_without_values_are_scored():
    table = plain_table()
    for frame in [table.slice(0, 0), pl.from_arrow(table).clear(), table.to_pandas().iloc[:0], duckdb.from_arrow(table).limit(0), table.schema.empty_table().to_reader()]:
        scored = card.score(frame)
        assert rows_of(scored) == []
    assert card.score([]) == []
    assert card.score(table.slice(0, 0)).schema == card.score(table).schema
    for kind in [pa.null(), pa.float64(), pa.int64(), pa.decimal128(9, 2), pa.string(), pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.int8(), pa.float64())]:
        name = "domain" if "string" in str(kind) else "share"
        frame = pa.table({name: pa.nulls(3, kind), "narrow": [0.5] * 3})
        assert compared(card.score(frame)) == compared(card.score(pa.table({"narrow": [0.5] * 3}))), kind
    for nothing in [pl.DataFrame({"share": [None] * 3, "domain": [None] * 3, "narrow": [0.5] * 3}), pl.DataFrame({"metrics": [{"cost": None}] * 3, "narrow": [0.5] * 3})]:
        assert compared(card.score(nothing)) == compared(card.score(pa.table({"narrow": [0.5] * 3})))
    both = pd.DataFrame({"share": [None, None], "narrow": [0.5, np.nan], "solved": [None, True]})
    assert [row["status"] for row in rows_of(card.score(both))] == ["scored", "scored"]


def test_columns_of_the_same_name_are_refused():
    with pytest.raises(ks.KaratError, match="found two columns of this name"):
        card.score(pa.Table.from_arrays([pa.array([0.5]), pa.array([0.6])], ["share", "share"]))
    with pytest.raises(ks.KaratError):
        card.score(pd.DataFrame([[0.5, 0.6]], columns=["share", "share"]))
    with pytest.raises(ks.KaratError, match="same fact"):
        card.score(pa.table({"cost": [1.0], "metrics.cost": [1.0]}))
    with pytest.raises(ks.KaratError):
        card.score(pa.table({"metrics": [{"cost": 1.0}], "metrics.cost": [1.0]}))


def test_values_that_are_no_frame_are_refused():
    for frame in [None, 5, "runs.csv", b"x", {"share": [1]}, object(), pl.Series([1.0]), pa.array([1.0]), pa.chunked_array([[1.0]]), pd.Series([1.0])]:
        with pytest.raises(ks.KaratError) as caught:
            card.score(frame, on_broken="raise")
        assert caught.value.code != "internal", frame
    mixed = pd.DataFrame({"share": [0.5, "x", object()]})
    with pytest.raises(ks.KaratError, match="share"):
        card.score(mixed)
    for more in [{"keep": ["a"]}, {"columns": ["score"]}, {"values": True}]:
        with pytest.raises(ks.KaratError, match="frames"):
            card.score([{"share": 1}], **more)


def test_a_stream_that_is_no_table_or_fails_is_an_error_of_karat():
    structs = pa.chunked_array([pa.array([{"share": 0.5}, {"share": 1.0}])])
    assert compared(card.score(structs)) == compared(card.score(pa.table({"share": [0.5, 1.0]})))
    for ask in [card.score, lambda it: ks.leaderboard(it, card=card)]:
        with pytest.raises(ks.KaratError, match="null as a whole"):
            ask(pa.chunked_array([pa.array([{"share": 0.5}, None])]))

    class Stream:
        def __init__(self, given):
            self.given = given

        def __arrow_c_stream__(self, requested_schema=None):
            return self.given

    taken = pa.table({"share": [1.0]}).__arrow_c_stream__()
    assert len(card.score(Stream(taken))) == 1
    for given in [taken, None, 5, pa.array([1]).__arrow_c_array__()[1]]:
        with pytest.raises((ks.KaratError, TypeError, ValueError)) as caught:
            card.score(Stream(given))
        assert type(caught.value).__name__ != "PanicException"

    def batches():
        yield pa.record_batch({"share": [0.5]})
        raise RuntimeError("the disk is full")

    reader = pa.RecordBatchReader.from_batches(pa.schema({"share": pa.float64()}), batches())
    with pytest.raises(Exception, match="the disk is full"):
        card.score(reader).read_all()
    reader = pa.RecordBatchReader.from_batches(pa.schema({"share": pa.float64()}), batches())
    with pytest.raises(ks.KaratError, match="the disk is full"):
        ks.leaderboard(reader, card=card)


def test_a_reader_is_scored_as_it_is_read():
    made = []

    def batches():
        for at in range(20):
            made.append(at)
            yield pa.record_batch({"share": [at / 20.0]})

    scored = card.score(pa.RecordBatchReader.from_batches(pa.schema({"share": pa.float64()}), batches()), columns=["score"])
    assert len(made) < 3
    assert scored.read_next_batch().num_rows == 1 and len(made) < 5
    assert len(scored.read_all()) == 19
    batches_of = ks.Scorecard.load("trust@1.0.0")._native.score_stream
    once = batches_of(pa.table({"safety": [1.0]}).__arrow_c_stream__(), columns=[], values=False, keep=[], refuses_broken=False, is_lazy=False)
    assert len(pa.table(once)) == 1
    with pytest.raises(ks.KaratError, match="taken before"):
        pa.table(once)


# Agents.

DIMENSIONS = [key for key in trust.dimensions]
OPTIONAL = ["bond", "memoryQuality", "teamwork"]


def random_agents(random_of, rows):
    """Returns columns of agents: some of the dimensions, with ages, and flags that may be missing as columns or as values."""

    def some(make, share=0.25):
        return [None if random_of.random() < share else make() for _ in range(rows)]

    keys = random_of.sample(DIMENSIONS, random_of.randrange(3, 17))
    columns = {"agent_id": [f"agent-{row}" for row in range(rows)], "id": [f"id-{row}" for row in range(rows)]}
    for key in keys:
        columns[key] = pa.array(some(lambda: random_of.choice([random_of.random()] * 40 + [1.5, -0.5, 0, 1])), pa.float64())
        if random_of.random() < 0.4:
            columns[f"{key}_age_seconds"] = pa.array(some(lambda: random_of.choice([random_of.randrange(10**7)] * 30 + [-5])), random_of.choice([pa.int64(), pa.float64()]))
    for key in OPTIONAL + random_of.sample(DIMENSIONS, 2):
        if random_of.random() < 0.6:
            kind = random_of.choice(FLAGS)
            columns[f"{key}_applies"] = array(some(lambda: random_of.random() < 0.6), kind)
    if random_of.random() < 0.7:
        columns["critical_incident_open"] = array(some(lambda: random_of.random() < 0.3), random_of.choice(FLAGS))
    names = list(columns)
    random_of.shuffle(names)
    return pa.table({name: columns[name] for name in names})


def agent_of(row):
    """Returns a row as an item, by what is written about flags that are missing; None if its numbers are out of range."""
    item = {"agent_id": row["agent_id"], "id": row["id"], "dimensions": {}, "not_applicable": []}
    if row.get("critical_incident_open") is not None:
        item["critical_incident_open"] = bool(row["critical_incident_open"])
    for key in DIMENSIONS:
        score, age = row.get(key), row.get(f"{key}_age_seconds")
        applies = row.get(f"{key}_applies") if key in OPTIONAL else None
        if score is not None and not 0 <= score <= 1 or age is not None and age < 0:
            return None
        if applies is not None and not applies:
            item["not_applicable"].append(key)
        elif key in row and not (score is None and applies is not None):
            item["dimensions"][key] = score if score is None or age is None else {"score": score, "age_seconds": age}
    return item


@pytest.mark.parametrize("seed", range(60))
def test_columns_of_agents_give_the_scores_of_the_same_agents_as_items(seed):
    random_of = random.Random(1000 + seed)
    table = random_agents(random_of, random_of.choice([1, 9, 60]))
    rows = table.to_pylist()
    items = [agent_of(row) for row in rows]
    scored = trust.score(table).to_pylist()
    for row, item, found in zip(rows, items, scored):
        if item is None:
            assert found["status"] == "broken", row
            continue
        record = trust.score_one(item)
        assert tuple(found[name] for name in COMPARED) == (record.score, record.coverage, record.band, record.tier, record.status), (row, item)
    # The same rows as items of a leaderboard: by the door for many items.
    is_sound = [item is not None for item in items]
    sound = table.filter(pa.array(is_sound, pa.bool_()))
    kept = [item for item in items if item is not None]
    if [it for it in kept if trust.score_one(it).status == "scored"]:
        assert ks.leaderboard(sound, card=trust)["leaderboards"] == ks.leaderboard(kept, card=trust)["leaderboards"]
    if not all(is_sound):
        with pytest.raises(ks.KaratError) as caught:
            ks.leaderboard(table, card=trust)
        assert caught.value.row == is_sound.index(False) and caught.value.problems


@pytest.mark.parametrize(
    ("columns", "item"),
    [
        ({"accuracy": [0.5], "teamwork": [None]}, {"accuracy": 0.5, "teamwork": None}),
        ({"accuracy": [0.5]}, {"accuracy": 0.5}),
        ({"accuracy": [0.5], "teamwork": [0.4]}, {"accuracy": 0.5, "teamwork": 0.4}),
        ({"accuracy": [0.5], "teamwork": [None], "teamwork_applies": [True]}, {"accuracy": 0.5}),
        ({"accuracy": [0.5], "teamwork": [None], "teamwork_applies": [None]}, {"accuracy": 0.5, "teamwork": None}),
        ({"accuracy": [0.5], "teamwork": [0.4], "teamwork_applies": [False]}, {"accuracy": 0.5, "teamwork": "not-applicable"}),
        ({"accuracy": [0.5], "teamwork": [0.4], "teamwork_applies": [0]}, {"accuracy": 0.5, "teamwork": "not-applicable"}),
        ({"accuracy": [0.5], "teamwork_applies": [None]}, {"accuracy": 0.5}),
        ({"accuracy": [0.5], "teamwork_applies": [True]}, {"accuracy": 0.5}),
        ({"accuracy": [0.5], "bond": [None], "bond_applies": [None]}, {"accuracy": 0.5, "bond": None}),
        ({"accuracy": [0.5], "bond_applies": [False]}, {"accuracy": 0.5, "bond": "not-applicable"}),
        ({"accuracy": [0.5], "latency": [0.1], "latency_applies": [False]}, {"accuracy": 0.5, "latency": 0.1}),
        ({"accuracy": [0.5], "teamwork": [float("nan")]}, {"accuracy": 0.5, "teamwork": None}),
        ({"accuracy": [0.5], "dimension": ["x"]}, {"accuracy": 0.5}),
    ],
    ids=lambda value: json.dumps(value, default=str) if "dimensions" not in value else None,
)
def test_flags_of_agents_that_are_missing_have_their_usual_values(columns, item):
    frame = pl.DataFrame({"agent_id": ["a"], "id": ["a-1"], **columns}, strict=False)
    record = trust.score_one({"agent_id": "a", "id": "a-1", "dimensions": item})
    scored = trust.score(frame).to_dicts()[0]
    assert (scored["score"], scored["coverage"], scored["status"]) == (record.score, record.coverage, record.status)
    items = [{"agent_id": "a", "id": "a-1", "dimensions": item}]
    assert ks.leaderboard(frame, card=trust)["leaderboards"] == ks.leaderboard(items, card=trust)["leaderboards"]


def test_flags_of_agents_of_another_type_are_refused_by_both_doors():
    for values in [["false"], [2], [0.5]]:
        frame = pa.table({"agent_id": ["a"], "accuracy": [0.5], "bond_applies": values})
        with pytest.raises(ks.KaratError, match="bond_applies"):
            trust.score(frame, on_broken="raise")
        with pytest.raises(ks.KaratError, match="bond_applies"):
            ks.leaderboard(frame, card=trust)


def test_agents_in_structs_are_items():
    agents = [
        {"agent_id": "a", "id": "1", "dimensions": {"accuracy": 0.5, "teamwork": 0.4, "bond": {"score": 0.5, "age_seconds": 5.0}}},
        {"agent_id": "b", "id": "2", "dimensions": {"accuracy": None, "teamwork": None, "bond": {"score": None, "age_seconds": 5.0}}},
        {"agent_id": "c", "id": "3", "dimensions": {"accuracy": 0.9, "teamwork": None, "bond": None}},
    ]
    for frame in [pl.DataFrame(agents), pa.Table.from_pylist(agents), duckdb.from_arrow(pa.Table.from_pylist(agents))]:
        assert ks.leaderboard(frame, card=trust)["leaderboards"] == ks.leaderboard(agents, card=trust)["leaderboards"]
