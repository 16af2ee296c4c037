"""``py_ecc.bls`` with the same names, arguments and answers, computed by quorate.

Replace ``from py_ecc.bls import G2ProofOfPossession`` by ``from quorate.py_ecc.bls import G2ProofOfPossession``:

>>> from quorate.py_ecc.bls import G2ProofOfPossession as bls
>>> secret = bls.KeyGen(bytes(32))
>>> key, signature = bls.SkToPk(secret), bls.Sign(secret, b"hello")
>>> bls.Verify(key, b"hello", signature), bls.Verify(key, b"other", signature)
(True, False)

Secrets are integers here, because py_ecc has them so, and Python cannot wipe them; ``quorate.SecretKey`` is better. Signing
itself takes constant time. What differs from py_ecc 8.0.0:

- ``KeyGen`` refuses fewer than 32 bytes, as the specification asks.
- ``_AggregatePKs`` sums points with x = 0, which are never keys and which py_ecc takes for a wrong encoding.
- ``KeyValidate`` and ``_AggregatePKs`` refuse a key with zeros in front. ``KeyValidate`` takes no list of integers.
- A subclass cannot exchange the hash: signing and verifying ignore its ``xmd_hash_function``, and also its ``KeyValidate``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from quorate import _quorate

if TYPE_CHECKING:

    class ValidationError(Exception):
        """An argument of a wrong form."""
else:
    try:
        # Whoever has py_ecc catches this one.
        from eth_utils import ValidationError
    except ImportError:

        class ValidationError(Exception):
            """An argument of a wrong form."""


__all__ = ["G2Basic", "G2MessageAugmentation", "G2ProofOfPossession", "ValidationError"]

_CURVE_ORDER = 0x73EDA753299D7D483339D80809A1D80553BDA402FFFE5BFEFFFFFFFF00000001


class _BaseG2Ciphersuite:
    """What the three schemes share. Keys are 48 bytes, signatures 96."""

    DST = b""

    @staticmethod
    def _is_valid_privkey(privkey: int) -> bool:
        return isinstance(privkey, int) and 0 < privkey < _CURVE_ORDER

    @classmethod
    def _is_valid_pubkey(cls, pubkey: bytes) -> bool:
        return isinstance(pubkey, bytes) and len(pubkey) == 48

    @staticmethod
    def _is_valid_message(message: bytes) -> bool:
        return isinstance(message, bytes)

    @staticmethod
    def _is_valid_signature(signature: bytes) -> bool:
        return isinstance(signature, bytes) and len(signature) == 96

    @classmethod
    def SkToPk(cls, privkey: int) -> bytes:
        """The public key of a secret. Raises ``ValidationError`` if it is not a secret."""
        if not cls._is_valid_privkey(privkey):
            raise ValidationError("Invalid private key")
        return _quorate.sk_to_pk(privkey.to_bytes(32, "big"))

    @classmethod
    def KeyGen(cls, IKM: bytes, key_info: bytes = b"") -> int:
        """A secret from at least 32 secret bytes."""
        return int.from_bytes(_quorate.key_gen(IKM, key_info), "big")

    @staticmethod
    def KeyValidate(PK: bytes) -> bool:
        """Whether these bytes are a key: on the curve, in the subgroup, not the identity."""
        return _quorate.key_validate(PK)

    @classmethod
    def _CoreSign(cls, SK: int, message: bytes, DST: bytes) -> bytes:
        if not cls._is_valid_privkey(SK):
            raise ValidationError("Invalid secret key")
        if not cls._is_valid_message(message):
            raise ValidationError("Invalid message")
        return _quorate.core_sign(SK.to_bytes(32, "big"), message, DST)

    @classmethod
    def _CoreVerify(cls, PK: bytes, message: bytes, signature: bytes, DST: bytes) -> bool:
        is_valid = (
            _BaseG2Ciphersuite._is_valid_pubkey(PK)
            and cls._is_valid_message(message)
            and cls._is_valid_signature(signature)
        )
        return is_valid and _quorate.core_verify(PK, message, signature, DST)

    @classmethod
    def Aggregate(cls, signatures: Sequence[bytes]) -> bytes:
        """The sum of signatures. Raises ``ValidationError`` for none, and ``ValueError`` if one does not decode."""
        if len(signatures) < 1:
            raise ValidationError("Insufficient number of signatures. (n < 1)")
        if not all(map(cls._is_valid_signature, signatures)):
            raise ValidationError("Invalid signature")
        return _quorate.sum_of_signatures(list(signatures))

    @classmethod
    def _CoreAggregateVerify(
        cls, PKs: Sequence[bytes], messages: Sequence[bytes], signature: bytes, DST: bytes
    ) -> bool:
        is_valid = (
            all(map(_BaseG2Ciphersuite._is_valid_pubkey, PKs))
            and all(map(cls._is_valid_message, messages))
            and len(PKs) == len(messages)
            and cls._is_valid_signature(signature)
        )
        return is_valid and _quorate.core_aggregate_verify(list(PKs), list(messages), signature, DST)

    @classmethod
    def Sign(cls, SK: int, message: bytes) -> bytes:
        """Signs a message. Raises ``ValidationError`` if the secret or the message is not valid."""
        return cls._CoreSign(SK, message, cls.DST)

    @classmethod
    def Verify(cls, PK: bytes, message: bytes, signature: bytes) -> bool:
        """Whether this key made this signature over this message."""
        return cls._CoreVerify(PK, message, signature, cls.DST)


class G2Basic(_BaseG2Ciphersuite):
    """Keys in G1; the messages of an aggregate must differ."""

    DST = b"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_"

    @classmethod
    def AggregateVerify(cls, PKs: Sequence[bytes], messages: Sequence[bytes], signature: bytes) -> bool:
        """Whether each key signed the message at its index. Two equal messages make it false."""
        if len(messages) != len(set(messages)):
            return False
        return cls._CoreAggregateVerify(PKs, messages, signature, cls.DST)


class G2MessageAugmentation(_BaseG2Ciphersuite):
    """Keys in G1; each message is hashed behind its signer's key."""

    DST = b"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_AUG_"

    @classmethod
    def Sign(cls, SK: int, message: bytes) -> bytes:
        """Signs a message. Raises ``ValidationError`` if the secret or the message is not valid."""
        return cls._CoreSign(SK, cls.SkToPk(SK) + message, cls.DST)

    @classmethod
    def Verify(cls, PK: bytes, message: bytes, signature: bytes) -> bool:
        """Whether this key made this signature over this message."""
        return cls._CoreVerify(PK, PK + message, signature, cls.DST)

    @classmethod
    def AggregateVerify(cls, PKs: Sequence[bytes], messages: Sequence[bytes], signature: bytes) -> bool:
        """Whether each key signed the message at its index."""
        if len(PKs) != len(messages):
            return False
        augmented = [key + message for key, message in zip(PKs, messages, strict=True)]
        return cls._CoreAggregateVerify(PKs, augmented, signature, cls.DST)


class G2ProofOfPossession(_BaseG2Ciphersuite):
    """Keys in G1, each with a proof that its owner holds the secret. Ethereum's scheme."""

    DST = b"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_"
    POP_TAG = b"BLS_POP_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_"

    @classmethod
    def _is_valid_pubkey(cls, pubkey: bytes) -> bool:
        return super()._is_valid_pubkey(pubkey) and cls.KeyValidate(pubkey)

    @classmethod
    def AggregateVerify(cls, PKs: Sequence[bytes], messages: Sequence[bytes], signature: bytes) -> bool:
        """Whether each key signed the message at its index."""
        return cls._CoreAggregateVerify(PKs, messages, signature, cls.DST)

    @classmethod
    def PopProve(cls, SK: int) -> bytes:
        """A proof that the owner of the key of this secret holds it."""
        return cls._CoreSign(SK, cls.SkToPk(SK), cls.POP_TAG)

    @classmethod
    def PopVerify(cls, PK: bytes, proof: bytes) -> bool:
        """Whether a proof of possession is true."""
        return cls._CoreVerify(PK, PK, proof, cls.POP_TAG)

    @staticmethod
    def _AggregatePKs(PKs: Sequence[bytes]) -> bytes:
        if len(PKs) < 1:
            raise ValidationError("Insufficient number of PKs. (n < 1)")
        return _quorate.sum_of_keys(list(PKs))

    @classmethod
    def FastAggregateVerify(cls, PKs: Sequence[bytes], message: bytes, signature: bytes) -> bool:
        """Whether all these keys signed one message. Rely on it only if you have verified a proof of possession of each key."""
        is_valid = (
            all(map(_BaseG2Ciphersuite._is_valid_pubkey, PKs))
            and cls._is_valid_message(message)
            and cls._is_valid_signature(signature)
        )
        return is_valid and _quorate.fast_aggregate_verify(list(PKs), message, signature, cls.DST)
