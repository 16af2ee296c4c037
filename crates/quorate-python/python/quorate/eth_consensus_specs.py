"""quorate as the backend of Ethereum's executable specification, the package ``eth-consensus-specs``.

Its module ``utils.bls`` has the signature functions that the specification of every fork calls. ``install`` puts quorate's in
their place, and ``uninstall`` puts the former ones back. Arithmetic on single points stays with the package.

    import quorate.eth_consensus_specs
    quorate.eth_consensus_specs.install()
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from quorate.py_ecc.bls import G2ProofOfPossession as _bls

__all__ = ["install", "uninstall"]

_former: dict[str, Any] = {}


def install() -> None:
    """Puts quorate's functions into ``eth_consensus_specs.utils.bls``. A second call changes nothing."""
    module = _module()
    if _former:
        return
    for name, (function, without_bls) in _functions(module).items():
        _former[name] = getattr(module, name)
        switched = function if without_bls is None else module.only_with_bls(alt_return=without_bls)(function)
        setattr(module, name, switched)


def uninstall() -> None:
    """Puts the former functions back."""
    module = _module()
    for name, function in _former.items():
        setattr(module, name, function)
    _former.clear()


def _module() -> ModuleType:
    return importlib.import_module("eth_consensus_specs.utils.bls")


def _functions(module: ModuleType) -> dict[str, tuple[Callable[..., Any], Any]]:
    """By name: quorate's function, and what it answers while signatures are switched off (``None``: it always computes)."""
    stub = module.STUB_SIGNATURE
    return {
        "Verify": (_verify, True),
        "AggregateVerify": (_aggregate_verify, True),
        "FastAggregateVerify": (_fast_aggregate_verify, True),
        "Aggregate": (_aggregate, stub),
        "Sign": (_sign, stub),
        "SkToPk": (_sk_to_pk, stub),
        "KeyValidate": (_key_validate, True),
        "AggregatePKs": (_aggregate_keys, None),
    }


# The specification passes its own subclasses of bytes.


def _verify(PK: bytes, message: bytes, signature: bytes) -> bool:
    return _bls.Verify(bytes(PK), bytes(message), bytes(signature))


def _aggregate_verify(pubkeys: Sequence[bytes], messages: Sequence[bytes], signature: bytes) -> bool:
    return _bls.AggregateVerify([bytes(key) for key in pubkeys], [bytes(each) for each in messages], bytes(signature))


def _fast_aggregate_verify(pubkeys: Sequence[bytes], message: bytes, signature: bytes) -> bool:
    return _bls.FastAggregateVerify([bytes(key) for key in pubkeys], bytes(message), bytes(signature))


def _aggregate(signatures: Sequence[bytes]) -> bytes:
    return _bls.Aggregate([bytes(signature) for signature in signatures])


def _sign(SK: int | bytes, message: bytes) -> bytes:
    return _bls.Sign(_secret(SK), bytes(message))


def _sk_to_pk(SK: int | bytes) -> bytes:
    return _bls.SkToPk(_secret(SK))


def _key_validate(pubkey: bytes) -> bool:
    return _bls.KeyValidate(bytes(pubkey))


def _aggregate_keys(pubkeys: Sequence[bytes]) -> bytes:
    keys = [bytes(key) for key in pubkeys]
    # The package asserts it. Python leaves assertions out with -O, and a sum would then have points that are no keys.
    if not (keys and all(map(_bls.KeyValidate, keys))):
        raise AssertionError(f"empty or invalid pubkeys: {pubkeys!r}")
    return _bls._AggregatePKs(keys)


def _secret(SK: int | bytes) -> int:
    return int.from_bytes(SK, "big") if isinstance(SK, (bytes, bytearray)) else SK
