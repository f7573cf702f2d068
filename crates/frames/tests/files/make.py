#!/usr/bin/env python3
"""Writes the files of this folder, as other programs write them: the same twelve items each time, which `items.jsonl` has too.

Needs pyarrow, polars and duckdb. Made with pyarrow 26.0, polars 2.1 and duckdb 2.0; the bytes differ from version to version, the
items do not.
"""

import datetime
import decimal
import json
import pathlib

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

folder = pathlib.Path(__file__).parent
UTC = datetime.timezone.utc
rows = [
    {
        "id": 100 + at,
        "subject": f"agent-{'abc'[at % 3]}",
        "task": f"task-{at // 3}",
        "time": datetime.datetime(2026, 1, 1 + at, 12, 30, 15, 250000, UTC),
        "points": None if at == 7 else decimal.Decimal(1 + 5 * at) / 64,
        "passed": None if at == 5 else at % 2 == 0,
        "steps": at,
    }
    for at in range(12)
]


def plain(row):
    row = dict(row, id=str(row["id"]), time=row["time"].strftime("%Y-%m-%dT%H:%M:%S.25Z"))
    row["points"] = None if row["points"] is None else float(row["points"])
    return {name: value for name, value in row.items() if value is not None}


lines = "".join(json.dumps(plain(row)) + "\n" for row in rows)
(folder / "items.jsonl").write_text(lines)

doubles = [dict(row, points=None if row["points"] is None else float(row["points"])) for row in rows]
schema = pa.schema(
    [
        ("id", pa.int64()),
        ("subject", pa.string()),
        ("task", pa.string()),
        ("time", pa.timestamp("us", tz="UTC")),
        ("points", pa.float64()),
        ("passed", pa.bool_()),
        ("steps", pa.int32()),
    ]
)
table = pa.Table.from_pylist(doubles, schema=schema)


def set_column(table, name, column):
    return table.set_column(table.schema.get_field_index(name), name, column)


# Dictionaries, decimals, a flag as 0 and 1, a time in another zone, two row groups.
dictionaries = set_column(table, "subject", table["subject"].dictionary_encode())
dictionaries = set_column(dictionaries, "task", table["task"].dictionary_encode())
dictionaries = set_column(
    dictionaries, "points", pa.array([row["points"] for row in rows], pa.decimal128(9, 6)).dictionary_encode()
)
dictionaries = set_column(dictionaries, "passed", table["passed"].cast(pa.int8()))
dictionaries = set_column(dictionaries, "time", table["time"].cast(pa.timestamp("ns", tz="Europe/Berlin")))
pq.write_table(
    dictionaries, folder / "pyarrow-dictionaries.parquet", compression="gzip", row_group_size=6, write_statistics=False
)

# Views, in the file of Arrow.
views = set_column(table, "subject", table["subject"].cast(pa.string_view()))
views = set_column(views, "task", table["task"].cast(pa.string_view()))
with pa.ipc.new_file(str(folder / "pyarrow-views.arrow"), views.schema) as out:
    out.write_table(views, max_chunksize=6)

# Feather, with the compression that it has by default.
feather.write_feather(table, str(folder / "pyarrow.feather"))

# A time without a zone.
pq.write_table(set_column(table, "time", table["time"].cast(pa.timestamp("us"))), folder / "pyarrow-no-zone.parquet")

# No row.
pq.write_table(table.slice(0, 0), folder / "pyarrow-no-rows.parquet")

# Nested evidence as structures and lists. Parquet has no structure without a field.
def full(value):
    if isinstance(value, list):
        return [full(one) for one in value]
    return {name: full(one) for name, one in value.items() if one != {}} if isinstance(value, dict) else value


run = json.loads((folder / "../../../../examples/workflow/worked-example.json").read_text())
run = full(full(run))
pq.write_table(
    pa.Table.from_pylist([run, dict(run, run_id="again")]),
    folder / "pyarrow-nested.parquet",
    compression="lz4",
    write_statistics=False,
    use_dictionary=False,
    store_schema=False,
)

# Polars, with texts of its two kinds of categories; its stream of Arrow.
frame = pl.from_arrow(table)
categories = frame.with_columns(pl.col("subject").cast(pl.Categorical), pl.col("task").cast(pl.Enum(sorted({row["task"] for row in rows}))))
categories.write_parquet(folder / "polars.parquet")
categories.write_ipc_stream(folder / "polars.arrows", compression="zstd")

# Matches.
matches = [("one", "two", "model_a"), ("two", "three", "tie"), ("three", "one", "model_b"), ("one", "three", "model_a")]
pl.DataFrame(matches, schema=["model_a", "model_b", "winner"], orient="row").write_parquet(folder / "polars-matches.parquet")

# DuckDB: decimals, TIMESTAMPTZ; items as JSON; encrypted.
lake = duckdb.connect()
lake.execute("SET TimeZone = 'UTC'")
lake.register("items", set_column(table, "points", pa.array([row["points"] for row in rows], pa.decimal128(9, 6))))
lake.execute(f"COPY items TO '{folder}/duckdb.parquet' (FORMAT parquet)")
lake.execute(f"CREATE TABLE texts AS SELECT json FROM read_json_objects('{folder}/items.jsonl') AS t(json)")
lake.execute(f"COPY texts TO '{folder}/duckdb-json.parquet' (FORMAT parquet, COMPRESSION zstd)")
# It need not be safe.
lake.execute("SET force_mbedtls_unsafe = 'true'")
lake.execute("PRAGMA add_parquet_key('key', '0123456789112345')")
lake.execute(f"COPY texts TO '{folder}/duckdb-encrypted.parquet' (FORMAT parquet, ENCRYPTION_CONFIG {{footer_key: 'key'}})")
