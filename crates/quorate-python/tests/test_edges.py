"""Every edge case by name."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pytest

import quorate
from quorate import history, threshold

from conftest import rows, signed, table

IDENTITY_KEY = b"\xc0" + bytes(47)
IDENTITY_SIGNATURE = b"\xc0" + bytes(95)
OFF_THE_CURVE = b"\x80" + bytes(46) + b"\x01"


def reasons(columns: dict[str, list[object]], **options: object) -> list[str | None]:
    return [verdict.reason for verdict in quorate.verify(table(columns), **options)]  # type: ignore[arg-type]


def test_empty_table() -> None:
    verdicts = quorate.verify(table(signed(1)).slice(0, 0))
    assert len(verdicts) == 0
    assert not verdicts.all_valid, "nothing to verify is not a success"
    assert verdicts.invalid == []
    assert verdicts.to_arrow().num_rows == 0
    assert len(quorate.verify([])) == 0
    assert quorate.verify([]).to_arrow().column_names == ["index", "id", "valid", "malformed", "reason"]


def test_wrong_lengths() -> None:
    columns = signed(4)
    columns["public_key"][0] = columns["public_key"][0][:-1]
    columns["signature"][1] = b""
    columns["public_key"][2] = bytes(200)
    verdicts = quorate.verify(table(columns))
    assert verdicts[0].reason == "public key: found 47 bytes, expected the 48 bytes of a G1 point"
    assert verdicts[1].reason == "signature: found 0 bytes, expected the 96 bytes of a G2 point"
    assert verdicts[2].malformed
    assert verdicts[3].valid


def test_null_cells() -> None:
    columns = signed(4)
    columns["public_key"][0] = None
    columns["signature"][1] = None
    columns["suite"][2] = None
    verdicts = quorate.verify(table(columns))
    assert [verdict.malformed for verdict in verdicts] == [True, True, True, False]
    assert "public_key" in str(verdicts[0].reason)
    assert "suite" in str(verdicts[2].reason)
    assert [verdict.id for verdict in verdicts] == columns["id"], "a malformed row keeps its id"
    assert verdicts.summary["malformed"] == 3
    assert verdicts.summary["claims"] == 1
    assert not verdicts.all_valid
    assert quorate.verify(table(columns), suite="eth2")[2].valid


def test_identity_key_and_identity_signature() -> None:
    columns = signed(2)
    columns["public_key"][0] = IDENTITY_KEY
    columns["signature"][0] = IDENTITY_SIGNATURE
    columns["signature"][1] = IDENTITY_SIGNATURE
    assert reasons(columns) == [
        "public key: the point is the identity",
        "the signature does not match the keys and messages",
    ]


def test_off_the_curve_and_outside_the_subgroup() -> None:
    columns = signed(2)
    columns["public_key"][0] = OFF_THE_CURVE
    # The point (0, 2) of order three.
    columns["public_key"][1] = b"\x80" + bytes(47)
    found = reasons(columns)
    assert found[0] is not None and "not on the curve" in found[0]
    assert found[1] == "public key: the point is not in the subgroup"


def test_duplicates_have_a_verdict_each() -> None:
    claims = table(signed(3, false=[1]))
    twice = pa.concat_tables([claims, claims])
    assert [verdict.valid for verdict in quorate.verify(twice)] == [True, False, True] * 2


def test_unknown_suite() -> None:
    columns = signed(2)
    columns["suite"][1] = "eth3"
    verdicts = quorate.verify(table(columns))
    assert verdicts[0].valid
    assert verdicts[1].malformed and str(verdicts[1].reason).startswith(
        "there is no suite `eth3`; choose a profile (eth2"
    )
    with pytest.raises(quorate.UsageError, match="there is no suite `eth3`"):
        quorate.verify(table(columns), suite="eth3")


@pytest.mark.parametrize(
    ("name", "array", "expected"),
    [
        (
            "message",
            pa.array([1, 2]),
            'the column "message" has the type Int64, expected text (hexadecimal digits) or binary',
        ),
        (
            "suite",
            pa.array([1, 2]),
            'the column "suite" has the type Int64, expected text; cast the column to such a type',
        ),
        ("id", pa.array([[1], [2]]), 'the column "id" has the type List(Int64), expected text, a number or a boolean'),
        (
            "public_key",
            pa.array([[b"k"], [b"k"]], pa.list_view(pa.binary())),
            'the column "public_key" has the type ListView',
        ),
    ],
)
def test_wrong_column_type(name: str, array: pa.Array, expected: str) -> None:
    claims = table(signed(2))
    claims = claims.set_column(claims.column_names.index(name), name, array)
    with pytest.raises(quorate.TableError) as error:
        quorate.verify(claims)
    assert expected in str(error.value)
    assert isinstance(error.value, ValueError)


def test_missing_column() -> None:
    claims = table(signed(2)).drop_columns(["signature"])
    with pytest.raises(ValueError, match='the table has no column "signature"'):
        quorate.verify(claims)


def test_two_columns_of_one_name() -> None:
    claims = table(signed(2))
    with pytest.raises(quorate.TableError, match='has two columns "message"; keep one of them'):
        quorate.verify(claims.append_column("message", claims["message"]))


def test_damaged_text_is_refused() -> None:
    offsets = pa.py_buffer((0).to_bytes(4, "little") + (4).to_bytes(4, "little"))
    suite = pa.StringArray.from_buffers(1, offsets, pa.py_buffer(b"eth\xff"))
    claims = table(signed(1))
    with pytest.raises(quorate.TableError, match='the column "suite" is damaged'):
        quorate.verify(claims.set_column(claims.column_names.index("suite"), "suite", suite))
    with pytest.raises(quorate.TableError, match='the column "kind" is damaged'):
        quorate.verify(claims.append_column("kind", suite))


class Damaged:
    """A batch with another number in the ``struct ArrowArray`` of its second column."""

    def __init__(self, batch: pa.RecordBatch, place: int, number: int) -> None:
        self.batch, self.place, self.number = batch, place, number

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        schema, array = self.batch.__arrow_c_array__(requested_schema)
        address = ctypes.pythonapi.PyCapsule_GetPointer
        address.restype, address.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        # Five numbers, of which the length is the first, then the places of the buffers and of the children.
        children = ctypes.c_int64.from_address(address(array, b"arrow_array") + 6 * 8).value
        child = ctypes.c_int64.from_address(children + 8).value
        ctypes.c_int64.from_address(child + 8 * self.place).value = self.number
        return schema, array


def test_a_damaged_array_is_the_tables_fault() -> None:
    """It was a panic of Rust, which is no Exception of Python, or an error of pyarrow."""
    batch = table(signed(2)).to_batches()[0]
    buffers = "claims: the table is damaged: its schema or one of its arrays is not as the Arrow interface says"
    for place, number, expected in ((5, 0, buffers), (0, 1, "claims: found a Damaged that is not a table")):
        damaged: Any = Damaged(batch, place, number)
        for given in (damaged, [damaged]):
            with pytest.raises(quorate.TableError, match=expected):
                quorate.verify(given)


def test_of_a_slice_only_what_its_rows_name_is_checked() -> None:
    """Its lists are those of the whole table, which would take time for each slice."""
    claims = signed(2)
    key = claims["public_key"][0].hex().encode()
    offsets = pa.array([0, len(key), 2 * len(key)], pa.int32()).buffers()[1]
    keys = pa.StringArray.from_buffers(2, offsets, pa.py_buffer(key + b"\xff" * len(key)))
    lists = pa.ListArray.from_arrays(pa.array([0, 1, 2], pa.int32()), keys)
    damaged = table(claims).drop_columns(["public_key"]).append_column("public_keys", lists)
    assert quorate.verify(damaged.slice(0, 1)).all_valid
    for part in (damaged, damaged.slice(1, 1)):
        with pytest.raises(quorate.TableError, match='the column "public_keys" is damaged'):
            quorate.verify(part)


def test_reader_that_raises_half_way() -> None:
    claims = table(signed(4))

    def batches() -> Iterator[pa.RecordBatch]:
        yield claims.to_batches()[0]
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        quorate.verify(batches())
    reader = pa.RecordBatchReader.from_batches(claims.schema, batches())
    with pytest.raises(quorate.TableError, match="the disk is gone"):
        quorate.verify(reader)


def test_batches_of_different_schemas() -> None:
    claims = table(signed(2))
    other = claims.drop_columns(["id"])
    with pytest.raises(quorate.TableError, match="give batches of one schema"):
        quorate.verify([claims, other])


def test_batches_that_differ_in_nullability() -> None:
    claims = table(signed(2))
    fields = [field.with_nullable(False).with_metadata({"PARQUET:field_id": "1"}) for field in claims.schema]
    other = pa.Table.from_arrays(claims.columns, schema=pa.schema(fields))
    verdicts = quorate.verify([claims, other])
    assert [verdict.valid for verdict in verdicts] == [True] * 4
    assert verdicts.to_arrow()["id"].to_pylist() == claims["id"].to_pylist() * 2


def test_tables_and_claims_in_one_list() -> None:
    with pytest.raises(TypeError, match="found dict behind 2 claims; give either tables or single claims"):
        quorate.verify([table(signed(2)), rows(signed(1))[0]])


@pytest.mark.parametrize("claims", [b"bytes", {"public_key": b""}, MappingProxyType({"public_key": b""}), 7, None])
def test_what_is_no_claims(claims: object) -> None:
    with pytest.raises(TypeError, match="claims: found"):
        quorate.verify(claims)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("message", 5, 'claim 1: "message": found int, expected bytes, or text of hexadecimal digits'),
        ("public_keys", b"k", 'claim 1: "public_keys": found bytes, expected a list of bytes'),
        ("public_keys", "6b", 'claim 1: "public_keys": found str, expected a list of bytes'),
        ("public_keys", {b"k"}, 'claim 1: "public_keys": found set, expected a list of bytes'),
        ("public_keys", [b"k", 1], 'claim 1: "public_keys": found int, expected bytes'),
        ("id", [1], 'claim 1: "id": found list, expected text, a finite number or a boolean'),
        ("id", float("nan"), 'claim 1: "id": found float, expected text, a finite number or a boolean'),
    ],
)
def test_wrong_types_in_objects(field: str, value: object, expected: str) -> None:
    claims = rows(signed(2))
    claims[1][field] = value
    with pytest.raises(TypeError) as error:
        quorate.verify(claims)
    assert expected in str(error.value)


def test_items_that_are_no_claims() -> None:
    with pytest.raises(TypeError, match="claim 0: found int, expected a dictionary, a quorate.Claim or a table"):
        quorate.verify([1])  # type: ignore[arg-type]


def test_objects_that_make_no_claim() -> None:
    claims = rows(signed(3))
    del claims[0]["signature"]
    claims[1]["message"] = "0xzz"
    verdicts = quorate.verify(claims)
    assert [verdict.malformed for verdict in verdicts] == [True, True, False]
    assert verdicts[0].reason == '"signature" is missing'
    assert [verdict.id for verdict in verdicts] == ["claim 0", "claim 1", "claim 2"], "a malformed entry keeps its id"


def test_values_that_python_cannot_write_make_no_claim() -> None:
    half = "found text with half of a surrogate pair, expected Unicode"
    values: list[tuple[str, object, str]] = [
        ("id", "\ud800", half),
        ("suite", "eth2\udc80", half),
        ("public_key", "\ud800", half),
        ("public_keys", ["00", "\ud800"], half),
        ("key_set", "\ud800", half),
        ("members", "\ud800", half),
        ("source", 10**5000, "found an integer of thousands of digits, expected a shorter one"),
    ]
    for field, value, reason in values:
        claims = rows(signed(3))
        claims[1][field] = value
        verdicts = quorate.verify(claims)
        assert [verdict.valid for verdict in verdicts] == [True, False, True]
        assert verdicts[1].malformed and verdicts[1].reason == f'"{field}": {reason}'
        assert verdicts[1].id == (None if field == "id" else "claim 1")


def test_wrong_options() -> None:
    claims = table(signed(1))
    for options, expected in [
        ({"threads": 0}, "threads: found 0, expected 1 to 1024, or None for all"),
        ({"backend": "gpu"}, "backend: "),
        ({"soundness": 32}, "soundness: found 32, expected 64 or 128"),
        ({"remember": True}, "give known=quorate.Known"),
    ]:
        with pytest.raises(quorate.UsageError, match=expected):
            quorate.verify(claims, **options)  # type: ignore[arg-type]


def test_verdicts_are_a_sequence() -> None:
    verdicts = quorate.verify(table(signed(5, false=[3])))
    assert len(verdicts) == 5
    assert verdicts[-2].index == 3
    assert [verdict.index for verdict in verdicts[1:4:2]] == [1, 3]
    assert [verdict.index for verdict in verdicts[::-1]] == [4, 3, 2, 1, 0]
    assert [bool(verdict) for verdict in verdicts] == [True, True, True, False, True]
    for index in [5, -6]:
        with pytest.raises(IndexError):
            verdicts[index]
    with pytest.raises(TypeError, match="expected an index or a slice"):
        verdicts["a"]  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="ask for .all_valid"):
        bool(verdicts)
    assert repr(verdicts) == "<quorate.Verdicts: 5 claims, 4 valid, 1 invalid>"


def test_backends_and_soundness_agree() -> None:
    claims = table(signed(20, false=[0, 7, 19]))
    for backend in quorate.backends():
        for soundness in (64, 128):
            verdicts = quorate.verify(claims, backend=backend, soundness=soundness)
            assert [verdict.index for verdict in verdicts.invalid] == [0, 7, 19]
            assert verdicts.summary["backend"] == backend


def test_false_claims_are_counted_by_source() -> None:
    claims = table(signed(4, false=[1, 2])).append_column("source", pa.array([7, 7, 8, 9]))
    assert quorate.verify(claims).summary["false_by_source"] == {7: 1, 8: 1}


def test_numbers_that_are_none(tmp_path: Path) -> None:
    secret = quorate.SecretKey.key_gen("eth2", bytes(32))
    keys = quorate.KeySet("eth2", [secret.public_key()])
    shared, _ = threshold.split(secret, 1, 2)
    claims, proof, run = table(signed(1)), secret.prove_possession(), tmp_path / "run"
    calls: list[tuple[str, Callable[[Any], object]]] = [
        ("threads", lambda number: quorate.verify(claims, threads=number)),
        ("threads", lambda number: quorate.plan(claims, threads=number)),
        ("soundness", lambda number: quorate.verify(claims, soundness=number)),
        ("soundness", lambda number: quorate.plan(claims, soundness=number)),
        ("soundness", lambda number: history.plan([], run, soundness=number)),
        ("shard_mib", lambda number: history.plan([], run, shard_mib=number)),
        ("limit", lambda number: quorate.Known(limit=number)),
        ("index", lambda number: keys.prove(number, proof)),
        ("members", lambda number: keys.sum([number])),
        ("threshold", lambda number: threshold.split(secret, number, 3)),
        ("participants", lambda number: threshold.split(secret, 1, number)),
        ("index", lambda number: threshold.Share(number, bytes(32), "eth2")),
        ("index", lambda number: shared.verification_key(number)),
        ("index", lambda number: shared.verify_share(number, b"m", secret.sign(b"m"))),
        ("shares", lambda number: shared.combine(b"m", {number: secret.sign(b"m")})),
    ]
    for name, call in calls:
        for number in (-1, 1 << 64, 10**5000):
            with pytest.raises(quorate.UsageError, match=f"^{name}: found .*, expected a whole number from 0 to "):
                call(number)
        for wrong in (True, 1.0, "1"):
            with pytest.raises(TypeError, match=f"^{name}: found "):
                call(wrong)
    verdicts = quorate.verify(claims)
    with pytest.raises(TypeError, match="found bool, expected an index or a slice"):
        verdicts[True]
