"""Claims to verify, and the command line to compare with."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import pyarrow as pa
import pytest

import quorate

ROOT = pathlib.Path(__file__).resolve().parents[3]
# A relative path starts at the root of the checkout.
VECTORS = ROOT / os.environ.get("QUORATE_VECTORS", "../shared/vectors")

PROGRAM = pathlib.Path(os.environ.get("QUORATE", ROOT / "target" / "debug" / "quorate"))

Columns = dict[str, list[Any]]


def signed(n: int, false: Sequence[int] = (), suite: str = "eth2") -> Columns:
    """Columns of n claims of one signature each, of which some are false."""
    secrets = [quorate.SecretKey.key_gen(suite, (index + 1).to_bytes(32, "big")) for index in range(min(n, 8))]
    columns: Columns = {"id": [], "suite": [], "public_key": [], "message": [], "signature": []}
    for index in range(n):
        secret = secrets[index % len(secrets)]
        message = index.to_bytes(4, "big")
        columns["id"].append(f"claim {index}")
        columns["suite"].append(suite)
        columns["public_key"].append(bytes(secret.public_key()))
        columns["message"].append(message)
        columns["signature"].append(bytes(secret.sign(b"a lie" if index in false else message)))
    return columns


def rows(columns: Columns) -> list[dict[str, Any]]:
    """The same claims, each as a dictionary."""
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def table(columns: Columns) -> pa.Table:
    """The same claims as a table of pyarrow."""
    return pa.table(columns)


def skip(reason: str) -> NoReturn:
    """Skips a test, or a file of tests. With CI=true it fails."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason, allow_module_level=True)


def vectors(*path: str) -> pathlib.Path:
    """A folder of known answers. Where it is missing, the test is skipped."""
    folder = VECTORS.joinpath(*path)
    if not folder.exists():
        skip(f"there is no {folder}; QUORATE_VECTORS says where the known answers are")
    return folder


def package(name: str) -> Any:
    """A package of Python. Where it is missing, the test or the file of tests is skipped."""
    try:
        return pytest.importorskip(name)
    except pytest.skip.Exception as skipped:
        skip(str(skipped))


@pytest.fixture(scope="session")
def command_line() -> Callable[..., list[dict[str, Any]]]:
    """Calls `quorate verify --verdicts` over a file, and gives its lines."""
    if not PROGRAM.exists():
        pytest.fail(f"there is no {PROGRAM}: run `cargo build -p quorate-cli`, or `make python`, which does so")

    def run(path: pathlib.Path, *arguments: str) -> list[dict[str, Any]]:
        command: list[str | pathlib.Path] = [PROGRAM, "verify", "--quiet", "--verdicts", *arguments, path]
        output = subprocess.run(command, capture_output=True, text=True, check=False)
        assert output.returncode in (0, 1, 2), output.stderr
        return [json.loads(line) for line in output.stdout.splitlines()]

    return run
