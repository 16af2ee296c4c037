"""The same claims through the command line: the same verdicts, and the same reasons word for word."""

from __future__ import annotations

import json
import pathlib
import random
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import quorate

from conftest import Columns, rows, signed, table

CommandLine = Callable[..., list[dict[str, Any]]]


def hostile() -> Columns:
    """Claims with every kind of flaw, between true ones."""
    chance = random.Random(7)
    columns = signed(120, false=[5, 50, 51, 119])
    columns["source"] = [None] * 120
    flaws: list[tuple[str, Any]] = [
        ("public_key", b"\xc0" + bytes(47)),
        ("public_key", b"\x80" + bytes(47)),
        ("public_key", b"\xff" * 48),
        ("public_key", b""),
        ("public_key", bytes(193)),
        ("public_key", None),
        ("message", None),
        ("signature", b"\xc0" + bytes(95)),
        ("signature", b"\x80" + bytes(95)),
        ("signature", bytes(95)),
        ("signature", None),
        ("suite", None),
        ("suite", "eth3"),
        ("suite", "chia"),
        ("suite", "drand-evmnet"),
        ("suite", "drand-quicknet"),
        ("id", None),
        ("source", "peer"),
    ]
    for index in range(0, 120, 2):
        name, value = flaws[index // 2 % len(flaws)]
        columns[name][index] = value
    for index in chance.sample(range(120), 20):
        bit = chance.randrange(96 * 8)
        signature = columns["signature"][index]
        if signature is not None and len(signature) == 96:
            changed = bytearray(signature)
            changed[bit // 8] ^= 1 << bit % 8
            columns["signature"][index] = bytes(changed)
    return columns


def ours(claims: Any, **options: Any) -> list[dict[str, Any]]:
    return [verdict.to_dict() for verdict in quorate.verify(claims, **options)]


def without_place(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A malformed entry has its row or line in the output of the command line alone."""
    return [{name: value for name, value in line.items() if name not in ("row", "line")} for line in lines]


def test_parquet(tmp_path: pathlib.Path, command_line: CommandLine) -> None:
    claims = table(hostile())
    path = tmp_path / "claims.parquet"
    pq.write_table(claims, path)
    expected = without_place(command_line(path))
    assert len(expected) == 120 and sum(not line["valid"] for line in expected) > 50
    assert without_place(ours(claims)) == expected
    assert without_place(ours(pq.ParquetFile(path).iter_batches(batch_size=7))) == expected


def test_json_lines(tmp_path: pathlib.Path, command_line: CommandLine) -> None:
    claims = rows(hostile())
    path = tmp_path / "claims.jsonl"
    lines = [{n: v.hex() if isinstance(v, bytes) else v for n, v in claim.items()} for claim in claims]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    expected = without_place(command_line(path))
    assert without_place(ours(claims)) == expected
    assert without_place(ours(lines)) == expected


def test_default_suite_and_plan(tmp_path: pathlib.Path, command_line: CommandLine) -> None:
    columns = signed(30, false=[4])
    columns["suite"] = [None] * 30
    path = tmp_path / "claims.parquet"
    pq.write_table(table({**columns, "suite": pa.array(columns["suite"], pa.string())}), path)
    assert ours(table(columns), suite="eth2") == command_line(path, "--suite", "eth2")
