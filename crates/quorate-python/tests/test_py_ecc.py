"""`quorate.py_ecc` beside py_ecc: the same answers, and the same exceptions, for random and hostile arguments."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import py_ecc.bls as theirs
import pytest
from eth_utils.exceptions import ValidationError

import quorate.py_ecc.bls as ours
from quorate import _quorate

from conftest import vectors

SCHEMES = ["G2Basic", "G2MessageAugmentation", "G2ProofOfPossession"]
ORDER = 0x73EDA753299D7D483339D80809A1D80553BDA402FFFE5BFEFFFFFFFF00000001
IDENTITY_KEY, IDENTITY_SIGNATURE = b"\xc0" + bytes(47), b"\xc0" + bytes(95)
# (0, 2), a point of order three. py_ecc reads it as a wrong encoding of the identity.
SMALL_KEY = b"\x80" + bytes(47)


def outside(read: Callable[[list[bytes]], bytes], length: int) -> bytes:
    """The encoding of a point of the curve that is not in the subgroup: almost every point of the curve is outside."""
    for x in range(1, 100):
        encoding = b"\x80" + x.to_bytes(length - 1, "big")
        try:
            return read([encoding])
        except ValueError:
            continue
    raise AssertionError("half of all x have a point")


OUTSIDE_KEY, OUTSIDE_SIGNATURE = outside(_quorate.sum_of_keys, 48), outside(_quorate.sum_of_signatures, 96)
BAD_KEYS = [
    IDENTITY_KEY,
    SMALL_KEY,
    OUTSIDE_KEY,
    bytes(48),
    b"\xff" * 48,
    b"\xe0" + bytes(47),
    b"\x80" + b"\xff" * 47,
    b"",
    bytes(47),
]
BAD_SIGNATURES = [
    IDENTITY_SIGNATURE,
    OUTSIDE_SIGNATURE,
    bytes(96),
    b"\xff" * 96,
    b"\x80" + b"\xff" * 95,
    b"\xa0" + bytes(95),
    b"",
    bytes(95),
]


def outcome(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a call answers, or the kind of exception that it raises."""
    try:
        return function(*arguments)
    except ValidationError:
        return "ValidationError"
    except (ValueError, AssertionError):
        return "ValueError"
    except (TypeError, AttributeError):
        return "TypeError"


def same(scheme: str, name: str, *arguments: Any) -> Any:
    """Asserts that both answer alike, and gives the answer."""
    mine = outcome(getattr(getattr(ours, scheme), name), *arguments)
    assert mine == outcome(getattr(getattr(theirs, scheme), name), *arguments), (scheme, name, arguments)
    return mine


def test_the_same_names() -> None:
    for scheme in SCHEMES:
        expected = {name for name in dir(getattr(theirs, scheme)) if not name.startswith(("__", "_abc"))}
        missing = expected - set(dir(getattr(ours, scheme)))
        # py_ecc computes hashes in Python, of a kind that can be exchanged.
        assert missing == {"xmd_hash_function"}
        for constant in {"DST", "POP_TAG"} & expected:
            assert getattr(getattr(ours, scheme), constant) == getattr(getattr(theirs, scheme), constant)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_sign_and_verify(scheme: str) -> None:
    secret = same(scheme, "KeyGen", bytes(range(32)))
    assert secret == same(scheme, "KeyGen", bytes(range(32)), b"") != same(scheme, "KeyGen", bytes(range(32)), b"info")
    key, signature = same(scheme, "SkToPk", secret), same(scheme, "Sign", secret, b"message")
    assert same(scheme, "Verify", key, b"message", signature) is True
    assert same(scheme, "Verify", key, b"another", signature) is False


@pytest.mark.parametrize("scheme", SCHEMES)
def test_secrets_that_are_none(scheme: str) -> None:
    for secret in [0, -1, ORDER, ORDER + 1, 1 << 300, "1", b"\1", 1.0, None]:
        assert same(scheme, "SkToPk", secret) == "ValidationError"
        assert same(scheme, "Sign", secret, b"m") == "ValidationError"
    assert isinstance(same(scheme, "SkToPk", ORDER - 1), bytes)
    assert same(scheme, "Sign", 1, "text") in ("ValidationError", "TypeError")


def test_key_gen_asks_for_enough_material() -> None:
    """py_ecc takes less, which the specification forbids."""
    with pytest.raises(ValueError, match="secret key"):
        ours.G2Basic.KeyGen(bytes(31))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_bytes_of_other_types(scheme: str) -> None:
    key = ours.G2Basic.SkToPk(5)
    assert same(scheme, "KeyValidate", bytearray(key)) is True
    assert same(scheme, "KeyValidate", memoryview(key)) is True
    assert same(scheme, "KeyValidate", bytearray(OUTSIDE_KEY)) is False
    assert same(scheme, "KeyValidate", "text") == "TypeError"
    assert same(scheme, "KeyGen", bytearray(32)) == same(scheme, "KeyGen", bytes(32))
    assert same(scheme, "KeyGen", bytes(32), bytearray(b"info")) == same(scheme, "KeyGen", bytes(32), b"info")


def test_keys_of_another_length_are_refused() -> None:
    """py_ecc reads a key as a number, whatever its length."""
    key = ours.G2Basic.SkToPk(5)
    longer = b"\0" + key

    def both(name: str, argument: Any) -> tuple[Any, Any]:
        mine, other = (outcome(getattr(module.G2ProofOfPossession, name), argument) for module in (ours, theirs))
        return mine, other

    assert both("KeyValidate", longer) == (False, True)
    assert both("KeyValidate", list(key)) == ("TypeError", True)
    assert both("_AggregatePKs", [longer]) == ("ValueError", key)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_hostile_keys_and_signatures(scheme: str) -> None:
    key, signature = ours.G2Basic.SkToPk(5), getattr(ours, scheme).Sign(5, b"m")
    for bad in BAD_KEYS:
        assert same(scheme, "KeyValidate", bad) is False
        assert same(scheme, "Verify", bad, b"m", signature) is False
        assert same(scheme, "Verify", bad, b"m", IDENTITY_SIGNATURE) is False
        assert same(scheme, "AggregateVerify", [key, bad], [b"m", b"n"], signature) is False
    for bad in BAD_SIGNATURES:
        assert same(scheme, "Verify", key, b"m", bad) is False
        assert same(scheme, "AggregateVerify", [key], [b"m"], bad) is False
        same(scheme, "Aggregate", [signature, bad])
    # Sums are of points of the curve, as in py_ecc.
    assert isinstance(same(scheme, "Aggregate", [OUTSIDE_SIGNATURE, OUTSIDE_SIGNATURE, signature]), bytes)
    assert same(scheme, "Verify", key, "m", signature) in (False, "TypeError")
    assert same(scheme, "Verify", key, b"m", "signature") is False


def test_changed_bits() -> None:
    chance = random.Random(16)
    key, signature = ours.G2ProofOfPossession.SkToPk(9), ours.G2ProofOfPossession.Sign(9, b"m")
    for _ in range(12):
        changed = bytearray(signature)
        changed[chance.randrange(96)] ^= 1 << chance.randrange(8)
        same("G2ProofOfPossession", "Verify", key, b"m", bytes(changed))
        other = bytearray(key)
        other[chance.randrange(48)] ^= 1 << chance.randrange(8)
        same("G2ProofOfPossession", "KeyValidate", bytes(other))
        same("G2ProofOfPossession", "Verify", bytes(other), b"m", signature)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_aggregates(scheme: str) -> None:
    suite = getattr(ours, scheme)
    keys, messages = [suite.SkToPk(secret) for secret in (2, 3)], [b"a", b"b"]
    parts = [suite.Sign(secret, message) for secret, message in zip((2, 3), messages, strict=True)]
    whole = same(scheme, "Aggregate", parts)
    assert same(scheme, "AggregateVerify", keys, messages, whole) is True
    assert same(scheme, "AggregateVerify", keys[::-1], messages, whole) is False
    for wrong in [([], []), (keys, messages[:1]), (keys[:1], messages)]:
        assert same(scheme, "AggregateVerify", *wrong, whole) is False
    assert same(scheme, "Aggregate", []) == "ValidationError"
    assert same(scheme, "Aggregate", ["text"]) == "ValidationError"
    # Two equal messages are forbidden in one scheme alone.
    repeated = suite.Aggregate([suite.Sign(2, b"a"), suite.Sign(3, b"a")])
    assert same(scheme, "AggregateVerify", keys, [b"a", b"a"], repeated) is (scheme != "G2Basic")


def test_keys_that_cancel() -> None:
    keys = [ours.G2Basic.SkToPk(7), ours.G2Basic.SkToPk(ORDER - 7)]
    assert same("G2ProofOfPossession", "_AggregatePKs", keys) == IDENTITY_KEY
    assert same("G2ProofOfPossession", "FastAggregateVerify", keys, b"m", IDENTITY_SIGNATURE) is False
    assert same("G2ProofOfPossession", "AggregateVerify", keys, [b"m", b"m"], IDENTITY_SIGNATURE) is True


def test_one_message_and_possession() -> None:
    scheme, suite = "G2ProofOfPossession", ours.G2ProofOfPossession
    keys = [suite.SkToPk(secret) for secret in (4, 5, 6)]
    whole = suite.Aggregate([suite.Sign(secret, b"m") for secret in (4, 5, 6)])
    assert same(scheme, "FastAggregateVerify", keys, b"m", whole) is True
    assert same(scheme, "FastAggregateVerify", keys[:2], b"m", whole) is False
    assert same(scheme, "FastAggregateVerify", [], b"m", IDENTITY_SIGNATURE) is False
    assert same(scheme, "FastAggregateVerify", [*keys, IDENTITY_KEY], b"m", whole) is False
    assert same(scheme, "FastAggregateVerify", [*keys, SMALL_KEY], b"m", whole) is False
    for bad in ([], [b""], [IDENTITY_KEY], [OUTSIDE_KEY, keys[0]], [OUTSIDE_KEY] * 3, [bytes(48)]):
        same(scheme, "_AggregatePKs", bad)
    proof = same(scheme, "PopProve", 4)
    assert same(scheme, "PopVerify", keys[0], proof) is True
    assert same(scheme, "PopVerify", keys[1], proof) is False
    assert same(scheme, "PopVerify", keys[0], suite.Sign(4, keys[0])) is False
    assert same(scheme, "PopProve", 0) == "ValidationError"


def unhex(value: Any) -> Any:
    if isinstance(value, list):
        return [unhex(each) for each in value]
    return bytes.fromhex(value.removeprefix("0x")) if isinstance(value, str) else value


@pytest.mark.parametrize("folder", ["sign", "verify", "aggregate", "aggregate_verify", "fast_aggregate_verify"])
def test_known_answers(folder: str) -> None:
    suite = ours.G2ProofOfPossession
    paths = sorted(vectors("01_eth_bls12381_tests", folder).rglob("*.json"))
    assert paths
    for path in paths:
        case = json.loads(path.read_text())
        given, expected = case["input"], unhex(case["output"])
        arguments: tuple[Any, ...]
        match folder:
            case "sign":
                secret = int(given["privkey"], 16)
                arguments = (suite.Sign, secret, unhex(given["message"]))
            case "verify":
                arguments = (suite.Verify, *(unhex(given[name]) for name in ("pubkey", "message", "signature")))
            case "aggregate":
                arguments = (suite.Aggregate, unhex(given))
            case "aggregate_verify":
                arguments = (suite.AggregateVerify, *(unhex(given[n]) for n in ("pubkeys", "messages", "signature")))
            case _:
                arguments = (suite.FastAggregateVerify, *(unhex(given[n]) for n in ("pubkeys", "message", "signature")))
        found = outcome(*arguments)
        assert found == expected or (expected is None and found in ("ValidationError", "ValueError")), path
