"""Shared keys."""

from __future__ import annotations

import json
import pathlib
import subprocess

import pytest

import quorate
from quorate import threshold

from conftest import PROGRAM

SECRET = quorate.SecretKey.key_gen("eth2", bytes(32))


@pytest.mark.parametrize("suite", ["eth2", "drand-quicknet"])
@pytest.mark.parametrize("identifiers", ["integers", "roots-of-unity"])
def test_any_two_of_three(suite: str, identifiers: str) -> None:
    secret = quorate.SecretKey.generate(suite)
    shared, shares = threshold.split(secret, 2, 3, identifiers=identifiers)
    assert (shared.threshold, shared.participants, shared.suite) == (2, 3, suite)
    assert shared.public_key == bytes(secret.public_key())
    signed = {share.index: share.sign(b"m") for share in shares}
    for absent in (1, 2, 3):
        combined = shared.combine(b"m", {index: share for index, share in signed.items() if index != absent})
        assert combined.signature == bytes(secret.sign(b"m")) and combined.refused == []
    assert all(shared.verify_share(index, b"m", share) for index, share in signed.items())
    assert not shared.verify_share(1, b"m", signed[2])
    again = threshold.SharedKey.from_json(shared.to_json())
    assert again.verification_key(3) == shared.verification_key(3)


def test_false_shares_are_named() -> None:
    shared, shares = threshold.split(SECRET, 2, 4)
    signed = {share.index: share.sign(b"m") for share in shares}
    hostile = {**signed, 1: shares[0].sign(b"n"), 3: b"", 9: signed[2]}
    combined = shared.combine(b"m", hostile)
    assert combined.signature == bytes(SECRET.sign(b"m"))
    reasons = dict(combined.refused)
    assert set(reasons) == {1, 3, 9}
    assert reasons[1] == "the signature does not match the keys and messages"
    assert "found 0 bytes" in reasons[3] and "there is no participant 9" in reasons[9]


def test_a_participant_without_a_share_stops_nobody() -> None:
    # The polynomial 7 * (X - 1), which a dealer who speaks last in a ceremony can make for participant 1.
    order = 0x73EDA753299D7D483339D80809A1D80553BDA402FFFE5BFEFFFFFFFF00000001

    def secret(scalar: int) -> quorate.SecretKey:
        return quorate.SecretKey((scalar % order).to_bytes(32, "big"), "eth2")

    commitment = [bytes(secret(scalar).public_key()).hex() for scalar in (-7, 7)]
    committee = {"suite": "eth2", "threshold": 2, "participants": 4, "identifiers": "integers"}
    text = json.dumps({**committee, "public_key": commitment[0], "commitment": commitment})
    shared = threshold.SharedKey.from_json(text)
    signed = {index: secret(7 * (index - 1)).sign(b"m") for index in (2, 3, 4)}
    identity = bytes([0xC0]) + bytes(95)
    for lie in (identity, signed[2]):
        combined = shared.combine(b"m", {1: lie, 3: signed[3], 4: signed[4]})
        assert combined.signature == bytes(secret(-7).sign(b"m"))
        assert [index for index, _ in combined.refused] == [1] and "has no share" in combined.refused[0][1]
        assert shared.combine(b"m", {1: lie, 3: signed[3]}).signature is None
        assert not shared.verify_share(1, b"m", lie)
    assert shared.verify_share(2, b"m", signed[2])
    with pytest.raises(quorate.UsageError, match="participant 1 the identity"):
        shared.verification_key(1)


def test_too_few_shares_make_no_signature() -> None:
    shared, shares = threshold.split(SECRET, 3, 4)
    combined = shared.combine(b"m", {share.index: share.sign(b"m") for share in shares[:2]})
    assert combined.signature is None and combined.refused == []
    assert shared.combine(b"m", {}).signature is None


def test_wrong_arguments() -> None:
    for arguments, expected in [((0, 3), "the threshold is 0"), ((4, 3), "there are only 3 participants")]:
        with pytest.raises(quorate.UsageError, match=expected):
            threshold.split(SECRET, *arguments)
    with pytest.raises(quorate.UsageError, match="identifiers: found"):
        threshold.split(SECRET, 2, 3, identifiers="names")
    with pytest.raises(quorate.UsageError, match="has no shared keys"):
        threshold.split(quorate.SecretKey.generate("chia"), 2, 3)
    with pytest.raises(quorate.DecodeError):
        threshold.SharedKey.from_json("{}")
    shared, shares = threshold.split(SECRET, 2, 3)
    with pytest.raises(ValueError, match="there is no participant 4"):
        shared.verification_key(4)
    again = threshold.Share(shares[1].index, shares[1].to_bytes(), "eth2")
    assert again.sign(b"m") == shares[1].sign(b"m") and "redacted" in repr(again)
    with pytest.raises(quorate.UsageError, match="participants are counted from 1"):
        threshold.Share(0, shares[1].to_bytes(), "eth2")
    # For Python, True is 1.
    by_participant: dict[int, bytes] = {True: shares[0].sign(b"m")}
    for wrong in (
        lambda: threshold.Share(True, shares[0].to_bytes(), "eth2"),
        lambda: threshold.split(SECRET, True, 3),
        lambda: shared.combine(b"m", by_participant),
        lambda: shared.verify_share(True, b"m", shares[0].sign(b"m")),
        lambda: shared.verification_key(True),
    ):
        with pytest.raises(TypeError, match="found a boolean, expected a whole number"):
            wrong()


def test_the_command_line_reads_our_file(tmp_path: pathlib.Path) -> None:
    shared, shares = threshold.split(SECRET, 1, 2)
    path = tmp_path / "shared-key.json"
    path.write_text(shared.to_json())
    line = (
        f'{{"suite":"eth2","index":1,"public_key":"{shared.public_key.hex()}","message":"6d",'
        f'"signature":"{shares[0].sign(b"m").hex()}"}}'
    )
    command: list[str | pathlib.Path] = [PROGRAM, "threshold", "combine", "--shared-key", path]
    output = subprocess.run(command, input=line, capture_output=True, text=True, check=True).stdout
    assert bytes(SECRET.sign(b"m")).hex() in output
