"""The executable specification of Ethereum with quorate as its backend."""

from __future__ import annotations

import json
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import quorate.eth_consensus_specs as switch

from conftest import package, vectors
from test_py_ecc import unhex

bls = package("eth_consensus_specs.utils.bls")


@pytest.fixture
def switched() -> Iterator[None]:
    switch.install()
    yield
    switch.uninstall()


def test_install_and_uninstall() -> None:
    former = bls.Verify
    switch.install()
    switch.install()
    assert bls.Verify is not former
    switch.uninstall()
    assert bls.Verify is former
    switch.uninstall()
    assert bls.Verify is former


def test_signatures_can_be_switched_off(switched: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bls, "bls_active", False)
    assert bls.Verify(b"", b"", b"") is True
    assert bls.Sign(1, b"m") == bls.STUB_SIGNATURE
    monkeypatch.setattr(bls, "bls_active", True)
    assert bls.Verify(b"", b"", b"") is False


def answers() -> dict[str, Any]:
    """What each function of the backend answers to good and hostile arguments."""
    found: dict[str, Any] = {}

    def call(name: str, *arguments: Any) -> None:
        try:
            answer = getattr(bls, name)(*arguments)
        except Exception:
            answer = "raised"
        found[f"{name}{arguments!r}"] = bytes(answer) if isinstance(answer, (bytes, bytearray)) else answer

    keys = [bls.SkToPk(secret) for secret in (1, 2, 3)]
    parts = [bls.Sign(secret, b"m") for secret in (1, 2, 3)]
    whole = bls.Aggregate(parts)
    identity = b"\xc0" + bytes(47)
    strange = [identity, b"\x80" + bytes(47), bytes(48), b"\xff" * 48, b""]
    for secret in (1, 5, (7).to_bytes(32, "big")):
        call("SkToPk", secret)
        call("Sign", secret, b"m")
    for key in [*keys, *strange]:
        call("KeyValidate", key)
        call("Verify", key, b"m", parts[0])
        call("AggregatePKs", [keys[0], key])
        call("FastAggregateVerify", [keys[0], key], b"m", bls.Aggregate(parts[:2]))
    for signature in [whole, b"\xc0" + bytes(95), bytes(96), b""]:
        call("Verify", keys[0], b"m", signature)
        call("Aggregate", [parts[0], signature])
        call("FastAggregateVerify", keys, b"m", signature)
        call("AggregateVerify", keys, [b"m"] * 3, signature)
    for empty in ("Aggregate", "AggregatePKs"):
        call(empty, [])
    call("FastAggregateVerify", [], b"m", bls.G2_POINT_AT_INFINITY)
    call("AggregateVerify", [], [], bls.G2_POINT_AT_INFINITY)
    call("AggregateVerify", keys, [b"m"], whole)
    return found


def test_the_same_answers_as_the_package() -> None:
    expected = answers()
    switch.install()
    try:
        assert answers() == expected
    finally:
        switch.uninstall()
    assert len(expected) > 50 and "raised" in expected.values() and True in expected.values()


def test_functions_of_altair(switched: None) -> None:
    """The specification's own functions over keys, with the known answers of its repository."""
    from eth_consensus_specs.altair import minimal as spec

    paths = sorted(vectors("01_consensus_spec_altair").glob("*.yaml"))
    assert paths
    for path in paths:
        case = json.loads(json.dumps(read_yaml(path.read_text())))
        given, expected = case["input"], case["output"]
        if path.name.startswith("eth_aggregate_pubkeys"):
            try:
                found: Any = bytes(spec.eth_aggregate_pubkeys([spec.BLSPubkey(key) for key in unhex(given)]))
            except Exception:
                found = None
            assert found == unhex(expected), path.name
        else:
            keys = [spec.BLSPubkey(key) for key in unhex(given["pubkeys"])]
            message, signature = spec.Root(unhex(given["message"])), spec.BLSSignature(unhex(given["signature"]))
            assert spec.eth_fast_aggregate_verify(keys, message, signature) is expected, path.name


# Runs tests that the package brings along. They are marked as too slow, because py_ecc took long.
RUN = """
import sys
import pytest
from eth_consensus_specs.test import context
from eth_consensus_specs.utils import bls
import quorate.eth_consensus_specs as switch

former = bls.Verify
switch.install()
assert bls.Verify is not former
context.only_generator = lambda reason: lambda test: test
context.DEFAULT_BLS_ACTIVE = True
sys.exit(pytest.main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("preset", "fork", "path", "least"),
    [
        ("general", "altair", "altair/bls", 20),
        ("minimal", "capella", "capella/block_processing/test_process_bls_to_execution_change.py", 10),
    ],
)
def test_the_tests_of_the_package_pass(preset: str, fork: str, path: str, least: int, tmp_path: pathlib.Path) -> None:
    folder = pathlib.Path(bls.__file__).parents[1] / "test"
    options = ["-q", "-p", "no:cacheprovider", f"--rootdir={folder}", f"--confcutdir={folder}", f"--preset={preset}"]
    command = [sys.executable, "-c", RUN, *options, f"--fork={fork}", str(folder / path)]
    output = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert output.returncode == 0, output.stdout + output.stderr
    passed = re.search(r"(\d+) passed", output.stdout)
    assert passed and int(passed[1]) >= least, output.stdout


@pytest.mark.parametrize("keys", [[], [b"\xc0" + bytes(47)]])
def test_a_sum_has_only_keys_also_without_assertions(keys: list[bytes]) -> None:
    program = f"import quorate.eth_consensus_specs as switch; switch._aggregate_keys({keys!r})"
    ended = subprocess.run([sys.executable, "-O", "-c", program], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "AssertionError: empty or invalid pubkeys" in ended.stderr, ended.stderr


def read_yaml(text: str) -> Any:
    yaml = package("ruamel.yaml")
    return yaml.YAML(typ="safe").load(text)
