"""Claims in the forms that people have: files, lazy frames, datasets, columns without values; and verdicts that travel."""

from __future__ import annotations

import copy
import dataclasses
import gzip
import json
import multiprocessing
import os
import pathlib
import pickle
import subprocess
import sys
import threading
from collections import ChainMap, deque
from types import MappingProxyType
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import quorate
from quorate import threshold

from conftest import rows, signed, table

COLUMNS = signed(6, false=[2])
EXPECTED = [True, True, False, True, True, True]


def check(claims: Any) -> quorate.Verdicts:
    verdicts = quorate.verify(claims, threads=1)
    assert [verdict.valid for verdict in verdicts] == EXPECTED
    assert [verdict.id for verdict in verdicts.invalid] == ["claim 2"]
    return verdicts


def json_lines() -> str:
    hexed = [
        {name: value.hex() if isinstance(value, bytes) else value for name, value in row.items()}
        for row in rows(COLUMNS)
    ]
    return "".join(json.dumps(row) + "\n" for row in hexed)


def test_claims_are_any_mapping() -> None:
    check([MappingProxyType(row) for row in rows(COLUMNS)])
    check(ChainMap({}, row) for row in rows(COLUMNS))
    secrets = [quorate.SecretKey.key_gen("eth2", bytes([index]) * 32) for index in range(2)]
    claim: dict[str, Any] = {
        "suite": "eth2",
        "public_keys": deque(bytes(secret.public_key()) for secret in secrets),
        "messages": deque([b"a", b"b"]),
        "signature": bytes(quorate.aggregate([secrets[0].sign(b"a"), secrets[1].sign(b"b")], "eth2")),
    }
    assert quorate.verify([claim]).all_valid
    assert quorate.verify([quorate.Claim(**claim)]).all_valid


def test_paths(tmp_path: pathlib.Path) -> None:
    claims = table(COLUMNS)
    lines = tmp_path / "claims.jsonl"
    lines.write_text(json_lines())
    packed = tmp_path / "claims.jsonl.gz"
    packed.write_bytes(gzip.compress(json_lines().encode()))
    parquet = tmp_path / "claims.parquet"
    pq.write_table(claims, parquet)
    stream = tmp_path / "claims.arrows"
    with pa.OSFile(str(stream), "wb") as sink, pa.ipc.new_stream(sink, claims.schema) as writer:
        writer.write_table(claims, max_chunksize=4)
    files = [lines, packed, parquet, stream]
    for compression in ["uncompressed", "lz4", "zstd"]:
        files.append(tmp_path / f"claims.{compression}.arrow")
        feather.write_feather(claims, files[-1], compression=compression)
    files.append(tmp_path / "polars.arrow")
    pl.DataFrame(COLUMNS).write_ipc(files[-1])
    for path in files:
        check(path)
        check(str(path))


def test_paths_that_cannot_be_read(tmp_path: pathlib.Path) -> None:
    with pytest.raises(FileNotFoundError, match="no-such-file"):
        quorate.verify(tmp_path / "no-such-file")
    for content, reason in [
        (b"ARROW1\0\0 and rubbish", "damaged|Arrow"),
        (b"\xff\xff\xff\xff\x10\0\0\0rubbish", "rubbish.bin"),
        (b"PAR1 and rubbish", "cut off"),
        (b"id,public_key,message,signature\n", "CSV"),
        (b'{"round": 1, "signature": "00"}', "drand"),
    ]:
        path = tmp_path / "rubbish.bin"
        path.write_bytes(content)
        with pytest.raises(quorate.TableError, match=reason):
            quorate.verify(path)
    # It would wait for ever, and no other thread of Python would run.
    os.mkfifo(tmp_path / "pipe")
    for special in (tmp_path / "pipe", "/dev/null"):
        with pytest.raises(quorate.TableError, match="a pipe or a device, expected a regular file"):
            quorate.verify(special)


def test_an_arrow_file_that_states_more_than_it_holds_is_a_table_error(tmp_path: pathlib.Path) -> None:
    """In a process of its own: an allocation that fails ends the process, and no exception is raised."""
    claims = table({**COLUMNS, "message": [bytes(4096)] * 6})
    files = []
    for compression in ("lz4", "zstd"):
        path = tmp_path / f"stated.{compression}.arrow"
        feather.write_feather(claims, path, compression=compression)
        content = bytearray(path.read_bytes())
        frame = content.find(b"\x04\x22\x4d\x18" if compression == "lz4" else b"\x28\xb5\x2f\xfd")
        assert frame > 8
        while frame > 0:
            content[frame - 8 : frame] = (1 << 40).to_bytes(8, "little")
            frame = content.find(content[frame : frame + 4], frame + 1)
        path.write_bytes(content)
        files.append(path)
    run = pa.RunEndEncodedArray.from_arrays(pa.array([2**31 - 1], pa.int32()), pa.array([b"m"]))
    runs = pa.record_batch([run] * 3, names=["public_key", "message", "signature"])
    for name, new in (("file", pa.ipc.new_file), ("stream", pa.ipc.new_stream)):
        path = tmp_path / f"runs.{name}.arrow"
        with pa.OSFile(str(path), "wb") as sink, new(sink, runs.schema) as writer:
            writer.write_batch(runs)
        files.append(path)
    script = """
import sys
import pyarrow as pa
import quorate
claims = sys.argv[1]
if len(sys.argv) == 3:
    claims = pa.ipc.open_stream(pa.OSFile(claims)).read_all()
try:
    quorate.verify(claims, suite="eth2")
except quorate.TableError as error:
    print(error)
"""
    calls = [[str(path)] for path in files] + [[str(files[-1]), "in memory"]]
    for call in calls:
        done = subprocess.run([sys.executable, "-c", script, *call], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and "states" in done.stdout, (call, done)


def test_rows_of_a_file_that_repeat_a_value_are_limited(tmp_path: pathlib.Path) -> None:
    """A message of 1 MiB that stands once: each row would copy and hash it."""

    def claims(number: int) -> pa.Table:
        message = pa.DictionaryArray.from_arrays(pa.array([0] * number, pa.int32()), pa.array([bytes(1 << 20)]))
        return pa.table({"public_key": [b"k"] * number, "message": message, "signature": [b"s"] * number})

    path = tmp_path / "claims.arrow"
    feather.write_feather(claims(1100), path, compression="uncompressed")
    expected = r"beyond row 1023: the rows of the file repeat values of more than 1024 MiB together, the limit"
    with pytest.raises(quorate.TableError, match=expected):
        quorate.verify(path, suite="eth2")
    feather.write_feather(claims(100), path, compression="uncompressed")
    assert len(quorate.verify(path, suite="eth2")) == 100
    # What is in memory is the caller's own.
    assert len(quorate.verify(claims(1100), suite="eth2")) == 1100


def test_an_id_of_thousands_of_digits_hides_no_verdict(tmp_path: pathlib.Path) -> None:
    digits = "1" * 5000
    path = tmp_path / "claims.jsonl"
    path.write_text(json_lines().replace('"claim 2"', digits))
    verdicts = quorate.verify(path, threads=1)
    assert [verdict.valid for verdict in verdicts] == EXPECTED
    assert [verdict.id for verdict in verdicts.invalid] == [digits]
    assert "1 invalid" in verdicts._repr_html_()
    assert list(pd.DataFrame(verdicts)["id"])[1:3] == ["claim 1", digits]


def test_malformed_lines_and_rows_of_files_keep_their_ids(tmp_path: pathlib.Path) -> None:
    lines = tmp_path / "claims.jsonl"
    lines.write_text('{"id": 7, "message": "00"}\n{"id": "b", "public_key": "zz"}\n')
    parquet = tmp_path / "claims.parquet"
    pq.write_table(table({**COLUMNS, "message": [None, *COLUMNS["message"][1:]]}), parquet)
    for path, expected in [(lines, [7, "b"]), (parquet, COLUMNS["id"])]:
        verdicts = quorate.verify(path, suite="eth2")
        assert verdicts[0].malformed and [verdict.id for verdict in verdicts] == expected


def test_a_column_alone_is_not_a_table() -> None:
    for series in (pd.DataFrame(COLUMNS)["id"], pl.DataFrame(COLUMNS)["id"]):
        for claims in (series, [series]):
            with pytest.raises(quorate.TableError, match="found a Series that is not a table"):
                quorate.verify(claims)


def test_lazy_frames_datasets_and_scanners(tmp_path: pathlib.Path) -> None:
    pq.write_table(table(COLUMNS), tmp_path / "claims.parquet")
    check(pl.DataFrame(COLUMNS).lazy())
    check(pl.scan_parquet(tmp_path / "claims.parquet").with_columns(pl.lit(None).alias("note")))
    dataset = ds.dataset(tmp_path / "claims.parquet")
    check(dataset)
    check(dataset.scanner(batch_size=2))
    check(pl.DataFrame(COLUMNS).to_struct("claims"))
    with pytest.raises(quorate.TableError, match="public_key"):
        quorate.verify(pl.LazyFrame({"a": [1]}))


def test_a_column_without_any_value_is_absent() -> None:
    """polars gives the type Null a buffer; pandas and pyarrow give it none. All are read as if the column were not there."""
    claims = pl.DataFrame(COLUMNS)
    null = pl.lit(None)
    for name in ["note", "source", "kind", "slot", "index", "public_keys", "messages"]:
        check(claims.with_columns(null.alias(name)))
        check([claims.with_columns(null.alias(name)).slice(0, 3), claims.with_columns(null.alias(name)).slice(3)])
        check(table(COLUMNS).append_column(name, pa.nulls(6)))
        check(pd.DataFrame(COLUMNS).assign(**{name: None}))
    check(claims.with_columns(pl.struct(null.alias("n"), pl.lit(1).alias("m")).alias("note")))
    check(claims.with_columns(pl.lit([None]).alias("note")))
    without = claims.with_columns(null.alias("id"), null.alias("suite"))
    verdicts = quorate.verify(without, suite="eth2")
    assert [verdict.valid for verdict in verdicts] == EXPECTED
    assert [verdict.id for verdict in verdicts] == [None] * 6
    with pytest.raises(quorate.TableError, match="signature"):
        quorate.verify(claims.with_columns(null.alias("signature")))
    empty = pl.DataFrame({"public_keys": [[], []], "message": [b"a", b"b"], "signature": [b"\xc0" + bytes(95)] * 2})
    assert empty.schema["public_keys"] == pl.List(pl.Null)
    assert quorate.verify(empty, suite="eth2-sync-aggregate").all_valid


def test_a_claim_that_its_chain_refutes_is_not_valid(tmp_path: pathlib.Path) -> None:
    columns = {
        **signed(2),
        "kind": ["exit"] * 2,
        "slot": [1, 2],
        "index": [0, 1],
        "reason": [None, "no such validator"],
    }
    objects = rows(columns)
    path = tmp_path / "claims.jsonl"
    as_text = [{k: v.hex() if isinstance(v, bytes) else v for k, v in claim.items()} for claim in objects]
    path.write_text("".join(json.dumps(claim) + "\n" for claim in as_text))
    for claims in (table(columns), objects, [quorate.Claim(**claim) for claim in objects], path):
        verdicts = quorate.verify(claims)
        assert [verdict.valid for verdict in verdicts] == [True, False]
        assert verdicts[1].reason == "chain: no such validator" and not verdicts[1].malformed
        assert (verdicts[1].kind, verdicts[1].slot, str(verdicts[1].index_in_block)) == ("exit", 2, "1")
        assert verdicts.to_arrow()["kind"].to_pylist() == ["exit"] * 2
        again = pickle.loads(pickle.dumps(verdicts))
        assert again.to_arrow() == verdicts.to_arrow() and again[1].to_dict() == verdicts[1].to_dict()
    # Without "kind", fields of these names are not about a chain.
    others = [{**claim, "kind": None, "slot": "front", "index": object()} for claim in objects]
    assert quorate.verify(others).all_valid and quorate.verify(others)[1].slot is None
    with pytest.raises(TypeError, match='"slot": found list'):
        quorate.verify([{**objects[0], "slot": []}])
    missing = quorate.verify([{**objects[0], "slot": None}])
    assert missing[0].malformed and missing[0].reason is not None and '"slot" is missing' in missing[0].reason


def names(columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return {**columns, "kind": ["exit"] * 6, "slot": list(range(6)), "index": ["0"] * 6, "source": ["a", "b"] * 3}


@pytest.mark.parametrize("objects", [False, True], ids=["table", "objects"])
def test_verdicts_are_pickled_and_copied(objects: bool) -> None:
    claims: Any = [*rows(COLUMNS), {"id": 7}] if objects else table(names(COLUMNS))
    verdicts = quorate.verify(claims, explain=True)
    for again in [pickle.loads(pickle.dumps(verdicts)), copy.deepcopy(verdicts), copy.copy(verdicts)]:
        assert [each.to_dict() for each in again] == [each.to_dict() for each in verdicts]
        assert again.summary == verdicts.summary
        assert again.plan == verdicts.plan
        assert again.to_arrow().equals(verdicts.to_arrow())
        assert repr(again) == repr(verdicts)
    verdict = pickle.loads(pickle.dumps(verdicts[2]))
    assert verdict.to_dict() == copy.deepcopy(verdicts[2]).to_dict() == verdicts[2].to_dict()


def test_what_is_no_pickle_of_verdicts_is_refused() -> None:
    remake, (state,) = quorate.verify(rows(COLUMNS)).__reduce__()
    assert len(remake(state)) == 6
    # A verdict that is not valid and has no reason would be made, and one more than there are claims.
    changes: list[dict[str, object]] = [{"valid": b""}, {"valid": bytes([1] * 6)}, {"faults": []}, {"parts": []}]
    for change in changes:
        with pytest.raises((quorate.UsageError, TypeError)):
            remake({**state, **change})


def test_keys_are_pickled_and_secrets_are_not() -> None:
    secret = quorate.SecretKey.generate("eth2")
    key, signature = secret.public_key(), secret.sign(b"m")
    for value in [key, signature]:
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            assert pickle.loads(pickle.dumps(value, protocol)) == value
        assert copy.deepcopy(value) == value
    _, share = threshold.split(secret, 2, 3)
    for hidden in [secret, share[0]]:
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            with pytest.raises(TypeError, match="nobody would wipe"):
                pickle.dumps(hidden, protocol)
        with pytest.raises(TypeError, match="nobody would wipe"):
            copy.deepcopy(hidden)


def verified(columns: dict[str, list[Any]]) -> quorate.Verdicts:
    return quorate.verify(table(columns), threads=1)


def test_a_pool_of_processes_gives_its_verdicts_back() -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        found = pool.map(verified, [signed(3), signed(3, false=[1])])
    assert [[verdict.valid for verdict in verdicts] for verdicts in found] == [[True] * 3, [True, False, True]]


def test_progress_is_told_on_the_thread_that_called() -> None:
    calls: list[tuple[int, int | None, threading.Thread]] = []

    def progress(done: int, total: int | None) -> None:
        calls.append((done, total, threading.current_thread()))

    claims = signed(2000)
    quorate.verify(table(claims), threads=1, progress=progress)
    assert [done for done, _, _ in calls] == [1024, 2000]
    assert {(total, thread) for _, total, thread in calls} == {(2000, threading.current_thread())}
    calls.clear()
    quorate.verify(table(claims).to_batches(max_chunksize=900), threads=1, progress=progress)
    assert [(done, total) for done, total, _ in calls] == [(1024, None), (2000, None)]
    calls.clear()
    quorate.verify(rows(signed(3)), progress=progress)
    assert [(done, total) for done, total, _ in calls] == [(3, 3)]
    calls.clear()
    quorate.verify((row for row in rows(signed(3))), progress=progress)
    assert [(done, total) for done, total, _ in calls] == [(3, None)]

    def broken(done: int, total: int | None) -> None:
        raise KeyError(done)

    with pytest.raises(KeyError, match="1024"):
        quorate.verify(table(claims), threads=1, progress=broken)


def test_a_frame_of_verdicts_has_a_row_a_claim() -> None:
    verdicts = check(table(names(COLUMNS)))
    frame = pd.DataFrame(verdicts)
    columns = ["index", "id", "valid", "malformed", "reason", "kind", "slot", "index_in_block"]
    assert list(frame.columns) == columns
    assert frame["valid"].tolist() == EXPECTED and frame["slot"].tolist() == list(range(6))
    assert dataclasses.asdict(verdicts[2])["id"] == "claim 2"
    assert list(pd.DataFrame(verdicts[1:3])["id"]) == ["claim 1", "claim 2"]


def test_a_notebook_shows_text_from_outside_harmlessly() -> None:
    columns = signed(2, false=[0])
    columns["id"] = ["<script>alert('x')</script>&\u202e\x1b[2J", "b"]
    html = quorate.verify(rows(columns))._repr_html_()
    assert "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;" in html and "<script" not in html
    assert "\u202e" not in html and "\x1b" not in html and r"\u{202e}" in html
    assert "does not match" in html and "2 claims, 1 valid, 1 invalid" in html
    many = quorate.verify([{"id": index} for index in range(30)])._repr_html_()
    assert many.count("<tr>") == 11 and "and 20 more" in many
    assert "<table" not in quorate.verify(rows(signed(1)))._repr_html_()


def test_version() -> None:
    assert quorate.__version__.count(".") == 2
