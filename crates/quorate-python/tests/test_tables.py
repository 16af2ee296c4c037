"""Claims from every library that has the Arrow C interface, and from plain objects."""

from __future__ import annotations

from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import quorate

from conftest import rows, signed, table

COLUMNS = signed(6, false=[2])


def check(claims: Any) -> None:
    verdicts = quorate.verify(claims, threads=1)
    assert [verdict.valid for verdict in verdicts] == [True, True, False, True, True, True]
    assert [verdict.id for verdict in verdicts.invalid] == ["claim 2"]


def test_pyarrow_table_batch_and_reader() -> None:
    claims = table(COLUMNS)
    check(claims)
    check(claims.to_batches()[0])
    check(claims.to_reader(max_chunksize=2))
    check(pa.concat_tables([claims.slice(0, 4), claims.slice(4)]))


def test_polars() -> None:
    frame = pl.DataFrame(COLUMNS)
    check(frame)
    check(frame.with_columns(pl.col("suite").cast(pl.Categorical)))
    check(frame.with_columns(pl.col("suite").cast(pl.Enum(["chia", "eth2"]))))


def test_pandas() -> None:
    frame = pd.DataFrame(COLUMNS)
    check(frame)
    check(frame.astype({"suite": "category"}))
    check(frame.set_index(frame["id"] + "!"))


def test_duckdb() -> None:
    connection = duckdb.connect()
    connection.register("claims", table(COLUMNS))
    check(connection.sql("select * from claims order by message"))
    check(connection.sql("select * replace (suite::enum('chia', 'eth2') as suite) from claims order by message"))
    check(
        connection.sql(
            "select id, public_key, message, signature, suite from claims order by message"
        ).to_arrow_reader()
    )


def test_lists_and_generators_of_batches() -> None:
    claims = table(COLUMNS)
    check(claims.to_batches(max_chunksize=1))
    check(iter(claims.to_batches(max_chunksize=4)))
    check([claims.slice(0, 1), claims.slice(1)])


def test_dictionaries_claims_and_hexadecimal_text() -> None:
    objects = rows(COLUMNS)
    check(objects)
    check(quorate.Claim(**claim) for claim in objects)
    text = {name: [v if isinstance(v, str) else v.hex() for v in values] for name, values in COLUMNS.items()}
    check(rows(text))
    check(table(text))


@pytest.mark.parametrize(
    "kind",
    [pa.large_binary(), pa.binary_view(), pa.dictionary(pa.int32(), pa.binary()), None],
    ids=["large", "view", "dictionary", "fixed"],
)
def test_types_of_bytes(kind: pa.DataType | None) -> None:
    claims = table(COLUMNS)
    for name in ["public_key", "message", "signature"]:
        column = claims[name]
        to = kind or pa.binary(len(column[0].as_py()))
        cast = column.dictionary_encode() if kind is not None and pa.types.is_dictionary(to) else column.cast(to)
        claims = claims.set_column(claims.column_names.index(name), name, cast)
    check(claims)


@pytest.mark.parametrize("kind", [pa.large_string(), pa.string_view(), pa.dictionary(pa.uint8(), pa.string())])
def test_types_of_text(kind: pa.DataType) -> None:
    claims = table(COLUMNS)
    for name in ["id", "suite"]:
        claims = claims.set_column(claims.column_names.index(name), name, claims[name].cast(kind))
    check(claims)


def test_names_in_runs() -> None:
    ids = ["a", "a", "claim 2", "b", "b", "b"]
    claims = table({**COLUMNS, "id": ids, "kind": ["exit"] * 6, "slot": [1] * 6, "index": [0] * 6})
    for name in ["id", "suite", "kind", "slot", "index"]:
        claims = claims.set_column(claims.column_names.index(name), name, pc.run_end_encode(claims[name]))
    check(claims)
    for part in (claims, claims.slice(1, 4)):
        verdicts = quorate.verify(part)
        expected = ids if part is claims else ids[1:5]
        assert [verdict.id for verdict in verdicts] == verdicts.to_arrow()["id"].to_pylist() == expected
        assert {(verdict.kind, verdict.slot, verdict.index_in_block) for verdict in verdicts} == {("exit", 1, 0)}


def test_slot_without_kind_says_nothing() -> None:
    columns = {**COLUMNS, "slot": list(range(6)), "index": list(range(6))}
    for claims in (table(columns), pd.DataFrame(columns), table({**columns, "kind": pa.nulls(6)})):
        check(claims)
        verdicts = quorate.verify(claims)
        assert verdicts[1].slot is None and verdicts[1].index_in_block is None


def aggregates() -> dict[str, list[object]]:
    secrets = [quorate.SecretKey.key_gen("eth2", bytes([index]) * 32) for index in range(3)]
    keys = [bytes(secret.public_key()) for secret in secrets]
    messages = [b"a", b"b", b"c"]
    each = [secret.sign(message) for secret, message in zip(secrets, messages, strict=True)]
    whole = bytes(quorate.aggregate(each, "eth2"))
    return {"public_keys": [keys, keys], "messages": [messages, [b"a", b"b", b"d"]], "signature": [whole, whole]}


@pytest.mark.parametrize(
    "kind",
    [pa.list_(pa.binary()), pa.large_list(pa.binary_view()), pa.list_(pa.binary(), 3), pa.list_(pa.large_string())],
)
def test_types_of_lists(kind: pa.DataType) -> None:
    columns = aggregates()
    if pa.types.is_large_string(kind.value_type):
        columns = {
            name: [[each.hex() for each in value] if isinstance(value, list) else value for value in values]
            for name, values in columns.items()
        }
    claims = pa.table(
        {
            "public_keys": pa.array(columns["public_keys"], kind),
            "messages": pa.array(columns["messages"], kind),
            "signature": columns["signature"],
        }
    )
    assert [verdict.valid for verdict in quorate.verify(claims, suite="eth2")] == [True, False]
    if not pa.types.is_fixed_size_list(kind):
        assert [verdict.valid for verdict in quorate.verify(pl.DataFrame(columns), suite="eth2")] == [True, False]
    connection = duckdb.connect()
    connection.register("claims", pa.table(columns))
    assert len(quorate.verify(connection.sql("from claims"), suite="eth2").invalid) == 1


@pytest.mark.parametrize("kind", ["Int128", "UInt128"])
def test_a_column_of_no_claim_may_have_any_type(kind: str) -> None:
    frame, wide = pl.DataFrame(COLUMNS), pl.lit(1, dtype=getattr(pl, kind))
    with_other = frame.with_columns(x=wide)
    for claims in (with_other, with_other.lazy(), with_other.to_struct("claims"), [with_other]):
        check(claims)
    with pytest.raises(quorate.TableError, match=f'the column "id" has the type {kind}'):
        quorate.verify(frame.with_columns(id=wide))


def test_a_column_of_objects_in_pandas_may_stand_beside_the_claims() -> None:
    frame = pd.DataFrame(COLUMNS)
    frame["x"] = [object() for _ in range(len(frame))]
    check(frame)


def test_a_row_that_is_null_as_a_whole_makes_no_claim() -> None:
    columns = [pa.array(values) for values in COLUMNS.values()]
    mask = pa.array([False, True, False, False, False, False])
    structs: Any = pa.StructArray.from_arrays(columns, names=list(COLUMNS), mask=mask)
    chunked: Any = pa.chunked_array([structs.slice(0, 4), structs.slice(4)])
    assert structs.field("signature").null_count == 0, "the values stand there"
    series: Any = pd.Series(chunked, dtype=pd.ArrowDtype(chunked.type))
    for claims in (structs, chunked, series, pl.from_arrow(chunked)):
        for given in (claims, [claims]):
            verdicts = quorate.verify(given, threads=1)
            assert [verdict.valid for verdict in verdicts] == [True, False, False, True, True, True]
            assert [verdict.malformed for verdict in verdicts] == [False, True, False, False, False, False]
    whole: Any = pa.chunked_array([pa.StructArray.from_arrays(columns, names=list(COLUMNS))])
    check(whole)
    # Nothing is known about the rows of a library that is none of these before they are read.
    check(OfAnotherLibrary(whole))
    check([OfAnotherLibrary(whole)])
    unknown: Any = OfAnotherLibrary(chunked)
    for given in (unknown, [unknown]):
        with pytest.raises(quorate.TableError, match="null count"):
            quorate.verify(given)
    with pytest.raises(quorate.TableError, match="found a OfAnotherLibrary that is not a table"):
        quorate.verify(OfAnotherLibrary(pa.chunked_array([columns[0]])))


class OfAnotherLibrary:
    def __init__(self, array: Any) -> None:
        self.array = array

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.array.__arrow_c_stream__(requested_schema)


def test_columns_of_a_chain_stand_in_the_verdicts() -> None:
    claims = table(COLUMNS).append_column("kind", pa.array(["exit"] * 6).dictionary_encode())
    claims = claims.append_column("slot", pa.array(range(100, 106), pa.uint64()))
    claims = claims.append_column("index", pa.array(["0", "1", "0.1", "3", "4", None]))
    verdicts = quorate.verify(claims)
    assert (verdicts[2].kind, verdicts[2].slot, verdicts[2].index, verdicts[2].index_in_block) == (
        "exit",
        102,
        2,
        "0.1",
    )
    assert verdicts[2].to_dict() == {
        "index": 2,
        "id": "claim 2",
        "kind": "exit",
        "slot": 102,
        "index_in_block": "0.1",
        "valid": False,
        "reason": "the signature does not match the keys and messages",
    }
    names = ["index", "id", "kind", "slot", "index_in_block", "valid", "malformed", "reason"]
    assert verdicts.to_arrow().column_names == names


def test_verdicts_as_a_table() -> None:
    verdicts = quorate.verify(table(COLUMNS).to_batches(max_chunksize=4))
    result = verdicts.to_arrow()
    assert result.column_names == ["index", "id", "valid", "malformed", "reason"]
    assert result["index"].to_pylist() == list(range(6))
    assert result["id"].to_pylist() == COLUMNS["id"]
    assert result["valid"].to_pylist() == [verdict.valid for verdict in verdicts]
    assert result["reason"].to_pylist()[2] == "the signature does not match the keys and messages"
    assert result["reason"].null_count == 5
    assert pl.DataFrame(verdicts).filter(~pl.col("valid"))["id"].to_list() == ["claim 2"]
    frame = pd.DataFrame.from_arrow(verdicts)
    assert frame["valid"].sum() == 5
    assert duckdb.connect().execute("select count(*) from result where valid").fetchall() == [(5,)]


@pytest.mark.parametrize(
    ("ids", "kind"),
    [([1, 2], pa.int64()), (["a", 2], pa.string()), ([None, None], pa.string()), ([True, 1.5], pa.string())],
)
def test_ids_of_objects_come_back(ids: list[object], kind: pa.DataType) -> None:
    claims = rows({**signed(2), "id": ids})
    verdicts = quorate.verify(claims)
    assert [verdict.id for verdict in verdicts] == ids
    assert verdicts.to_arrow()["id"].type == kind


def test_without_ids() -> None:
    columns = signed(2)
    del columns["id"]
    verdicts = quorate.verify(table(columns))
    assert [verdict.id for verdict in verdicts] == [None, None]
    assert verdicts.to_arrow()["id"].to_pylist() == [None, None]
