"""A claim as a Python object, for callers without tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quorate._quorate import KeySet


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """These keys signed these messages, and this is the sum of their signatures.

    Give ``public_key`` or ``public_keys``, and ``message`` (all keys signed it) or ``messages`` (one for each key). Bytes can
    also be text of hexadecimal digits, as in a line of JSON.

    In the place of keys, ``key_set`` and ``members`` name members of a ``KeySet``: a bitmap as bytes, whose lowest bit of the
    first byte stands for member 0, or indices. Indices may repeat, and each counts: do not take their number for that of
    the members. ``key_set`` can also be a name that ``verify(…, key_sets=…)`` gives to a set.

    ``kind``, ``slot`` and ``index`` say which signature of a chain it is. A ``reason`` beside them says why the chain itself
    refutes the claim, which makes it invalid whatever its signature. Without ``kind``, the other three say nothing.
    """

    signature: bytes | str
    public_key: bytes | str | None = None
    public_keys: Sequence[bytes | str] | None = None
    message: bytes | str | None = None
    messages: Sequence[bytes | str] | None = None
    suite: str | None = None
    id: str | int | float | bool | None = None
    source: str | int | None = None
    key_set: KeySet | str | None = None
    members: bytes | str | Iterable[int] | None = None
    kind: str | None = None
    slot: int | None = None
    index: int | str | None = None
    reason: str | None = None
