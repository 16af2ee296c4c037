"""Runs over shards: what is planned, run, killed and merged, and the errors."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import quorate
import quorate.history
from quorate.history import Runner, merge, plan, status, verdicts


def claims(number: int, false: set[int]) -> list[dict[str, object]]:
    """So many claims with their numbers as ids. Those in ``false`` are."""
    secret = quorate.SecretKey.key_gen("eth2", bytes(32))
    key, right = bytes(secret.public_key()), bytes(secret.sign(b"right"))
    return [
        {"id": n, "public_key": key, "message": b"wrong" if n in false else b"right", "signature": right}
        for n in range(number)
    ]


def parquet(path: Path, rows: list[dict[str, object]], group: int) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=group)
    return path


def test_a_run_from_plan_to_merge(tmp_path: Path) -> None:
    table = parquet(tmp_path / "claims.parquet", claims(50, {7, 30}), 10)
    run = tmp_path / "run"
    assert plan(table, run, suite="eth2") == 1
    assert status(run)["left"] == [0]
    receipt = Runner(run, threads=1).run(0)
    assert (receipt["claims"], receipt["valid"], receipt["threads"]) == (50, 48, 1)
    report = merge(run)
    assert (report["shards"], report["claims"], report["invalid"]) == (1, 50, 2)
    assert [failure["id"] for failure in report["failures"]] == [7, 30]
    assert [verdict["valid"] for verdict in verdicts(run)] == [n not in {7, 30} for n in range(50)]
    assert json.loads((run / "report.json").read_text()) == report


def test_a_run_has_the_reasons_of_verify(tmp_path: Path) -> None:
    rows = claims(6, {1})
    rows[2]["signature"] = b"short"
    rows[3]["public_key"] = bytes([0xC0]) + bytes(47)
    found = quorate.verify(pa.Table.from_pylist(rows), suite="eth2")
    plan([parquet(tmp_path / "claims.parquet", rows, 2)], tmp_path / "run", suite="eth2")
    Runner(tmp_path / "run").run(0)
    merge(tmp_path / "run")
    by_run = [(verdict["valid"], verdict.get("reason")) for verdict in verdicts(tmp_path / "run")]
    assert by_run == [(verdict.valid, verdict.reason) for verdict in found]


def test_merge_with_an_id_of_thousands_of_digits(tmp_path: Path) -> None:
    digits = "1" * 5000
    lines = [
        json.dumps({name: value.hex() if isinstance(value, bytes) else value for name, value in claim.items()})
        for claim in claims(3, {1})
    ]
    path = tmp_path / "claims.jsonl"
    path.write_text("\n".join(lines).replace('"id": 1,', f'"id": {digits},'))
    run = tmp_path / "run"
    plan(path, run, suite="eth2")
    Runner(run, threads=1).run(0)
    assert [failure["id"] for failure in merge(run)["failures"]] == [digits]
    assert [verdict["id"] for verdict in verdicts(run)] == [0, digits, 2]


def test_errors(tmp_path: Path) -> None:
    table = parquet(tmp_path / "claims.parquet", claims(3, set()), 3)
    run = tmp_path / "run"
    with pytest.raises(FileNotFoundError, match="nowhere"):
        plan(tmp_path / "nowhere", run)
    with pytest.raises(quorate.UsageError, match="it is given twice"):
        plan([table, table], run)
    with pytest.raises(quorate.UsageError, match="unknown suite|suite"):
        plan(table, run, suite="eth3")
    with pytest.raises(FileNotFoundError, match=r"manifest\.jsonl"):
        Runner(run)
    assert plan(table, run, suite="eth2") == 1
    with pytest.raises(quorate.UsageError, match="there is a plan already"):
        plan(table, run)
    with pytest.raises(quorate.UsageError, match="1 of 1 shards have no result"):
        merge(run)
    runner = Runner(run)
    with pytest.raises(quorate.UsageError, match="found shard 1, expected one from 0 to 0"):
        runner.run(1)
    with pytest.raises(TypeError, match="found a boolean, expected a whole number"):
        runner.run(False)
    parquet(table, claims(4, set()), 3)
    with pytest.raises(quorate.UsageError, match="the file is not the one that was planned"):
        runner.run(0)
    table.unlink()
    with pytest.raises(FileNotFoundError):
        runner.run(0)


def test_ctrl_c_ends_a_shard_and_leaves_nothing(tmp_path: Path) -> None:
    """A busy machine may stop this process until the shard is done: then it begins anew."""
    parquet(tmp_path / "claims.parquet", claims(60_000, set()), 60_000)
    script = (
        "import sys, quorate.history\n"
        "runner = quorate.history.Runner(sys.argv[1], threads=1)\n"
        "print('begun', flush=True)\n"
        "runner.run(0)\n"
    )
    for attempt in range(10):
        run = tmp_path / f"run-{attempt}"
        plan(tmp_path / "claims.parquet", run, suite="eth2")
        process = subprocess.Popen(
            [sys.executable, "-c", script, str(run)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert process.stdout is not None and process.stdout.readline() == "begun\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=300)
        if process.returncode != 0:
            break
    assert "KeyboardInterrupt" in errors
    assert os.listdir(run / "results") == []
