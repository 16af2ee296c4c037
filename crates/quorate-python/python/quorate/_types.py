"""Types of arguments and answers, for those who annotate their code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeAlias, TypedDict

from quorate._claim import Claim


class ArrowStream(Protocol):
    """A table. pyarrow, pandas, polars and DuckDB have such."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """A capsule with an ``ArrowArrayStream``."""


class ArrowBatch(Protocol):
    """A record batch."""

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        """Capsules with an ``ArrowSchema`` and an ``ArrowArray``."""


class Encoded(Protocol):
    """A key or a signature."""

    def __bytes__(self) -> bytes:
        """Its encoding."""


Bytes: TypeAlias = bytes | bytearray | memoryview | Encoded
"""Bytes, or a key or signature of this package."""

Table: TypeAlias = ArrowStream | ArrowBatch
"""A table with a claim in each row."""

Claims: TypeAlias = Table | Iterable[Table] | Iterable[Claim | Mapping[str, Any]]
"""What ``verify`` takes. The columns are those of a line of JSON: id, suite, public_key or public_keys, message or messages,
signature, source."""


class Summary(TypedDict):
    """The counts of a call, under the names of ``quorate verify --json``."""

    claims: int
    valid: int
    invalid: int
    malformed: int
    known: int
    subtracted: int
    remembered: int
    false_by_source: dict[str | int, int]
    suites: list[str]
    backend: str
    threads: int
    seconds: float
    hashes: int
    pairings: int
    final_exponentiations: int
    search_nodes: int
