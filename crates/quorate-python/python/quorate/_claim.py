"""A claim as a Python object, for callers without tables."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """These keys signed these messages, and this is the sum of their signatures.

    Give ``public_key`` or ``public_keys``, and ``message`` (all keys signed it) or ``messages`` (one for each key). Bytes can
    also be text of hexadecimal digits, as in a line of JSON.
    """

    signature: bytes | str
    public_key: bytes | str | None = None
    public_keys: Sequence[bytes | str] | None = None
    message: bytes | str | None = None
    messages: Sequence[bytes | str] | None = None
    suite: str | None = None
    id: str | int | float | bool | None = None
    source: str | int | None = None
