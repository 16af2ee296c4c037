"""Quorums on chain: the same plan as `quorate evm plan`."""

from __future__ import annotations

import json
import pathlib
import subprocess
from typing import Any

import pytest

import quorate
from quorate import evm

from conftest import PROGRAM, ROOT

FILE = ROOT / "examples" / "network.json"
NETWORK = json.loads(FILE.read_text())
RESULTS = [bytes([7]) * 32, bytes([8]) * 32]


def command_line(*arguments: str) -> dict[str, Any]:
    command: list[str | pathlib.Path] = [
        PROGRAM,
        "evm",
        "plan",
        "--json",
        "--network",
        ROOT / "examples" / "network.json",
        *arguments,
    ]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    answer: dict[str, Any] = json.loads(output)
    return answer


@pytest.mark.parametrize("store", [None, 0, "rental"])
def test_the_plan_of_the_command_line(store: int | str | None) -> None:
    members = len(NETWORK["keys"])
    signers = [index for index in range(members) if index != 1]
    results = [argument for result in RESULTS for argument in ("--result", result.hex())]
    where = ["--store", "none" if store is None else str(store), "--deadline", "1900000000"]
    expected = command_line("--signers", "!1", *results, *where)
    plan = evm.plan(NETWORK, signers, RESULTS, deadline=1_900_000_000, store=store)
    assert (plan.base, plan.signers) == (expected["base"], expected["signers"])
    assert (plan.added, plan.removed) == (expected["added"], expected["removed"])
    assert plan.digest.hex() == expected["digest"].removeprefix("0x")
    assert evm.plan(NETWORK, signers, RESULTS, store=store).digest != plan.digest
    assert plan.gas == expected["gas"]["total"]
    assert plan.state.hex() == expected["state"].removeprefix("0x")
    assert str(plan.weight) == str(expected["weight"])
    assert evm.plan(json.dumps(NETWORK), signers, RESULTS, deadline=1_900_000_000, store=store).gas == plan.gas


def test_signatures_are_verified_before_there_is_calldata() -> None:
    plan = evm.plan(NETWORK, range(len(NETWORK["keys"])), RESULTS)
    length = 96 if NETWORK["key_group"] == "bls12381-g2" else 64
    # The generator of G1 on BN254 is (1, 2); on BLS12-381 these bytes are no point.
    point = (1).to_bytes(length // 2, "big") + (2).to_bytes(length // 2, "big")
    if length == 64:
        assert plan.verify(point) is False
        with pytest.raises(quorate.UsageError, match="not the sum of these signers' signatures"):
            plan.calldata(point)
    with pytest.raises(quorate.DecodeError):
        plan.verify(b"")


def test_wrong_arguments() -> None:
    members = len(NETWORK["keys"])
    with pytest.raises(quorate.DecodeError, match="this is not a network"):
        evm.plan("{}", [0])
    with pytest.raises(quorate.UsageError, match=f"there is no member {members}"):
        evm.plan(NETWORK, [members])
    with pytest.raises(quorate.UsageError):
        evm.plan(NETWORK, [])
    with pytest.raises(quorate.UsageError, match="signers: the member 1 stands there twice"):
        evm.plan(NETWORK, [0, 1, 1])
    with pytest.raises(quorate.DecodeError, match=r"results\[0\]: found 3 bytes, expected 32"):
        evm.plan(NETWORK, range(members), [b"abc"])
    expected = r'expected a slot from 0 to \d+, "rental" or None$'
    # For Python, False is 0, which is the slot of the newest base.
    wrong: Any
    for wrong, found in ((False, "bool"), (1.0, "float"), (b"rental", "bytes")):
        with pytest.raises(TypeError, match=f"^store: found {found}, {expected}"):
            evm.plan(NETWORK, range(members), store=wrong)
    outside: tuple[tuple[int | str, str], ...] = (
        ("everywhere", '"everywhere"'),
        (-1, "-1"),
        (65535, "65535"),
        (2**64, "18446744073709551616"),
        (10**5000, "a long one"),
    )
    for store, found in outside:
        with pytest.raises(quorate.UsageError, match=f"^store: found {found}, {expected}") as raised:
            evm.plan(NETWORK, range(members), store=store)
        assert isinstance(raised.value, ValueError)
    with pytest.raises(TypeError, match="found a boolean, expected a whole number"):
        evm.plan(NETWORK, [True])
    with pytest.raises(TypeError, match="found a boolean, expected a whole number"):
        evm.plan(NETWORK, [0], deadline=True)
    with pytest.raises(quorate.UsageError, match="there is nothing to settle"):
        evm.plan(NETWORK, range(members)).calldata(bytes(64))
