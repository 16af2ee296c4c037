"""Threshold signatures: a key is shared among n participants, and any t of them make one signature.

>>> import quorate
>>> from quorate import threshold
>>> shared, shares = threshold.split(quorate.SecretKey.generate("eth2"), 2, 3)
>>> signed = {share.index: share.sign(b"hello") for share in shares[1:]}
>>> combined = shared.combine(b"hello", signed)
>>> quorate.verify_one(shared.public_key, b"hello", combined.signature, "eth2")
True

A false share is named, and the others go on:

>>> shared.combine(b"hello", {1: shares[0].sign(b"other"), **signed}).refused
[(1, 'the signature does not match the keys and messages')]
"""

from quorate._quorate import Combined, Share, SharedKey, split

__all__ = ["Combined", "Share", "SharedKey", "split"]
