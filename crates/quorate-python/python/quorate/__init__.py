"""BLS signatures verified in bulk, from tables in memory.

``verify`` takes a table with a claim in each row (pyarrow, pandas, polars, DuckDB: whatever has the Arrow C interface) and
gives a verdict for each row. A claim says: "these keys signed these messages, and this is the sum of their signatures".

>>> import quorate
>>> secret = quorate.SecretKey.key_gen("eth2", bytes(32))
>>> key, signature = secret.public_key(), secret.sign(b"hello")
>>> claims = [
...     {"id": "a", "public_key": bytes(key), "message": b"hello", "signature": bytes(signature)},
...     {"id": "b", "public_key": bytes(key), "message": b"other", "signature": bytes(signature)},
... ]
>>> verdicts = quorate.verify(claims, suite="eth2")
>>> verdicts.all_valid
False
>>> verdicts.invalid
[Verdict(index=1, id='b', valid=False, reason="the signature does not match the keys and messages")]

One signature alone:

>>> key.verify(b"hello", signature)
True
>>> quorate.verify_one(bytes(key), b"other", bytes(signature), "eth2")
False
"""

from quorate._claim import Claim
from quorate._errors import DecodeError, Error, MemberError, TableError, UndecidedError, UsageError
from quorate._quorate import (
    KeySet,
    Known,
    Plan,
    PublicKey,
    SecretKey,
    Signature,
    Verdict,
    Verdicts,
    __version__,
    aggregate,
    aggregate_public_keys,
    backends,
    plan,
    subtract,
    suites,
    verify,
    verify_one,
    verify_possession,
)

__all__ = [
    "Claim",
    "DecodeError",
    "Error",
    "KeySet",
    "Known",
    "MemberError",
    "Plan",
    "PublicKey",
    "SecretKey",
    "Signature",
    "TableError",
    "UndecidedError",
    "UsageError",
    "Verdict",
    "Verdicts",
    "__version__",
    "aggregate",
    "aggregate_public_keys",
    "backends",
    "plan",
    "subtract",
    "suites",
    "verify",
    "verify_one",
    "verify_possession",
]
