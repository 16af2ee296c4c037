"""The part of the package that is Rust. Import the names from ``quorate``."""

from collections.abc import Iterable, Iterator
from os import PathLike
from typing import Any, ClassVar, NoReturn, final, overload

from quorate._claim import Claim
from quorate._types import Bytes, Claims, Progress, Summary

__all__ = [
    "Combined",
    "KeySet",
    "Known",
    "Plan",
    "PublicKey",
    "QuorumPlan",
    "Runner",
    "SecretKey",
    "Share",
    "SharedKey",
    "Signature",
    "Verdict",
    "Verdicts",
    "__version__",
    "_verdict",
    "_verdicts",
    "aggregate",
    "aggregate_public_keys",
    "backends",
    "core_aggregate_verify",
    "core_sign",
    "core_verify",
    "fast_aggregate_verify",
    "has_plan",
    "key_gen",
    "key_validate",
    "merge_shards",
    "plan",
    "plan_quorum",
    "plan_shards",
    "shard_status",
    "sk_to_pk",
    "split",
    "subtract",
    "suites",
    "sum_of_keys",
    "sum_of_signatures",
    "verify",
    "verify_one",
    "verify_possession",
]

__version__: str
"""The version of the package."""

def verify(
    claims: Claims,
    *,
    suite: str | None = None,
    threads: int | None = None,
    backend: str = "auto",
    soundness: int = 64,
    known: Known | None = None,
    remember: bool = False,
    explain: bool = False,
    progress: Progress | None = None,
    key_sets: dict[str, KeySet] | None = None,
) -> Verdicts:
    """Verifies every claim and says which are false.

    ``claims`` is a table, a polars LazyFrame, a dataset or scanner of pyarrow, the path of a file (JSON Lines, also packed with
    gzip or zstd; Parquet; Arrow), or a list or generator of tables, dictionaries or ``Claim`` objects.

    Claims that name no suite are of ``suite``. ``threads`` is 1 to 1024, by default all that the machine has. A false claim
    passes with a probability of at most 2^-``soundness`` (64 or 128). Statements in ``known`` are subtracted; with ``remember``
    the valid claims of one statement are added to it. With ``explain`` the plans are in ``Verdicts.plan``.

    In the place of keys a claim can name members of a key set (``key_set`` and ``members``, not in tables). The sets of claims
    that give a name are in ``key_sets``. Such a claim without a suite has that of its set.

    A row of which no claim can be made has a verdict that is not valid and says why. Raises ``TableError`` if the table has not
    the columns of claims, ``TypeError`` if ``claims`` is not a table, ``OSError`` if the system gives no thread, and what an
    iterator raises.

    ``progress`` is called after each window, on the thread that called, with the number of claims that have a verdict and with
    the number of all claims, or ``None`` where the input does not say it. What it raises ends the call and comes out of it.

    Python is free meanwhile, and Ctrl-C raises ``KeyboardInterrupt`` as soon as the window in progress is verified. Memory: two
    windows of 16 MiB.
    """

def plan(
    claims: Claims,
    *,
    suite: str | None = None,
    threads: int | None = None,
    backend: str = "auto",
    soundness: int = 64,
    known: Known | None = None,
    key_sets: dict[str, KeySet] | None = None,
) -> Plan:
    """What would be computed to verify claims. Nothing is verified."""

def verify_one(
    public_keys: Bytes | Iterable[Bytes],
    messages: Bytes | Iterable[Bytes],
    signature: Bytes,
    suite: str,
) -> bool:
    """Whether one claim is true: one key or several, with one message or one for each key.

    A false signature is ``False``. Raises ``DecodeError`` for bytes that are no key or no signature. For many claims call
    ``verify``, which takes a fraction of the time for each.
    """

def verify_possession(public_key: Bytes, proof: Bytes, suite: str) -> bool:
    """Whether a proof of possession is true: the owner of the key holds its secret."""

def aggregate(signatures: Iterable[Bytes], suite: str) -> Signature:
    """The sum of signatures. It does not say whether any of them is valid.

    Raises ``UsageError`` for no signatures, and in a BDN suite, where each signature would need its key.
    """

def subtract(aggregate: Bytes, parts: Iterable[Bytes], suite: str) -> Signature:
    """An aggregate without some of its parts. It is your task to know that they are parts of it.

    Without parts it is the aggregate. Raises ``UsageError`` in a BDN suite, where each signature would need its key.
    """

def aggregate_public_keys(public_keys: Iterable[Bytes], suite: str) -> PublicKey:
    """The sum of keys, under which a signature by all of them over one message verifies; in a BDN suite with its coefficients.

    In the other suites rely on it only if the owner of each key has proven that it holds the secret. Raises ``UsageError`` for
    no keys, if they add up to the identity, and in a BDN suite if one stands there twice.
    """

def suites() -> list[str]:
    """The names of all suites."""

def backends() -> list[str]:
    """The names of the backends of this machine, the fastest first."""

@final
class Verdict:
    """The verdict about one claim. It is true in a condition if the claim is valid.

    It can be pickled and copied, and has the fields of a dataclass: ``dataclasses.asdict(verdict)``.
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def index(self) -> int:
        """The place of the claim, from 0."""
    @property
    def id(self) -> Any:
        """The claim's own name, as it was given."""
    @property
    def valid(self) -> bool:
        """Whether something proved the claim."""
    @property
    def malformed(self) -> bool:
        """Whether the row makes no claim, so that nothing was verified."""
    @property
    def reason(self) -> str | None:
        """Why the claim is not valid, in the words of the command line."""
    @property
    def kind(self) -> Any:
        """Of a chain's table: what was signed."""
    @property
    def slot(self) -> Any:
        """Of a chain's table: the slot."""
    @property
    def index_in_block(self) -> Any:
        """Of a chain's table: its column ``index``, the place in the block."""
    def to_dict(self) -> dict[str, Any]:
        """The verdict as ``quorate verify --verdicts`` prints it."""
    def __bool__(self) -> bool: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Verdicts:
    """The verdicts about claims, in the order of the claims.

    It holds a byte for each claim, about 60 bytes more and the reason for each that is not valid, and the ids. A verdict
    becomes a Python object when you ask for it. Verdicts can be pickled and copied, and ``pandas.DataFrame(verdicts)`` has
    a row for each.
    """

    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, key: int, /) -> Verdict: ...
    @overload
    def __getitem__(self, key: slice, /) -> list[Verdict]: ...
    def __iter__(self) -> Iterator[Verdict]: ...
    def __bool__(self) -> bool:
        """Raises ``TypeError``: ask for ``all_valid``, or for ``len()``."""
    @property
    def all_valid(self) -> bool:
        """Whether there are claims, and all of them are valid. Nothing to verify is not a success."""
    @property
    def invalid(self) -> list[Verdict]:
        """The verdicts that are not valid, in their order."""
    @property
    def summary(self) -> Summary:
        """The counts of the call, under the names of ``quorate verify --json``."""
    @property
    def plan(self) -> str | None:
        """The plans of all windows as text, if ``verify`` was asked to explain."""
    def to_arrow(self) -> Any:
        """The verdicts as a ``pyarrow.Table``: index, id, valid, malformed, reason, and kind, slot, index_in_block if the
        claims have such columns."""
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The same table for any library that takes Arrow streams: ``polars.DataFrame(verdicts)``."""
    def _repr_html_(self) -> str:
        """A table for notebooks: the counts, and the first claims that are not valid. All text is escaped."""
    def __reduce__(self) -> tuple[Any, ...]: ...

def _verdict(index: int, id: Any, valid: bool, malformed: bool, reason: str | None, of_chain: list[Any]) -> Verdict:
    """The verdict of another process, from a pickle."""

def _verdicts(pickled: Any) -> Verdicts:
    """The verdicts of another process, from a pickle."""

@final
class Plan:
    """What would be computed to verify claims: the plans of their windows."""

    @property
    def claims(self) -> int:
        """Claims that are planned for, those that do not decode included."""
    @property
    def malformed(self) -> int:
        """Rows that make no claim."""
    def explain(self) -> str:
        """The plans as text, as ``quorate verify --explain`` prints them."""

@final
class Known:
    """Statements that were verified earlier: ``verify`` subtracts them from later claims, and adds to them if you ask it to
    remember. Their keys stay decoded.

    It is believed: a wrong entry makes false claims pass. With a limit, the older half is forgotten when there are too many.
    """

    def __new__(cls, *, limit: int | None = None) -> Known: ...
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def trust(self, claims: Claims, *, suite: str | None = None) -> None:
        """Takes your word that these claims were verified. Each makes one statement."""
    def clear(self) -> None:
        """Forgets everything."""

@final
class PublicKey:
    """A public key that was checked: on the curve, in the subgroup, not the identity.

    ``bytes(key)`` is the compressed point, and on BN254 its coordinates, 128 bytes. BN254 gives about 100 bits of security.
    Keys of ``eigenlayer`` are points of both groups, which this type does not hold.
    """

    def __new__(cls, data: Bytes, suite: str) -> PublicKey: ...
    @property
    def suite(self) -> str:
        """The name of its suite."""
    def verify(self, message: Bytes, signature: Bytes) -> bool:
        """Whether this key made a signature over a message. Raises ``DecodeError`` for bytes that are no signature."""
    def __bytes__(self) -> bytes: ...
    def hex(self) -> str:
        """The encoding in hexadecimal digits."""
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]:
        """What pickle and copy make it of. Its bytes are checked again."""

@final
class Signature:
    """A signature in the subgroup. Nothing says yet that it is of a key over a message."""

    def __new__(cls, data: Bytes, suite: str) -> Signature: ...
    @property
    def suite(self) -> str:
        """The name of its suite."""
    def __bytes__(self) -> bytes: ...
    def hex(self) -> str:
        """The encoding in hexadecimal digits."""
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]:
        """What pickle and copy make it of. Its bytes are checked again."""

@final
class SecretKey:
    """A secret key of 32 bytes, big-endian. It is wiped when it is dropped, never printed, and signs in constant time."""

    def __new__(cls, data: Bytes, suite: str) -> SecretKey: ...
    @staticmethod
    def generate(suite: str) -> SecretKey:
        """A new key, of random numbers of the operating system."""
    @staticmethod
    def key_gen(suite: str, key_material: Bytes, key_info: Bytes | None = None) -> SecretKey:
        """``KeyGen`` of the specification (draft-irtf-cfrg-bls-signature-05, section 2.3), with the order of the suite's curve.

        The key material has at least 32 secret bytes. The suite ``chia`` has the ``KeyGen`` of draft 3.
        """
    @property
    def suite(self) -> str:
        """The name of its suite."""
    def public_key(self) -> PublicKey:
        """The public key."""
    def sign(self, message: Bytes) -> Signature:
        """Signs a message."""
    def prove_possession(self) -> Signature:
        """A proof that the owner of the public key holds this secret."""
    def to_bytes(self) -> bytes:
        """The 32 bytes of the secret. Python cannot wipe them."""
    def __reduce__(self) -> NoReturn:
        """Refused with ``TypeError``: a pickle would be a copy of the secret that nobody wipes."""

@final
class KeySet:
    """A committee's keys by index, which are checked once.

    Members are named by their indices, or by a bitmap as bytes whose lowest bit of the first byte stands for member 0. The set
    keeps its last sums, and computes the next one from the difference if that takes less.

    In a POP suite a member takes part with others only if it has proven that it holds its secret, or if you say that it did
    elsewhere (``assume_possession``). With a wrong word, the owner of a rogue key can forge for all members.
    """

    def __new__(
        cls, suite: str, public_keys: Iterable[Bytes] | None = None, *, assume_possession: bool = False
    ) -> KeySet: ...
    @staticmethod
    def load(path: str | PathLike[str], *, suite: str | None = None) -> KeySet:
        """Reads a file that ``save`` or ``quorate key-set`` has written, without the checks of its keys: whoever can write it
        can make false claims pass, so one that others may write is refused. With ``suite``, the file may also be a list with
        one key in hexadecimal digits on each line, which is taken at its word that the owners have proven possession.

        Raises ``OSError`` if the file cannot be read, and ``UsageError`` if it is no key set.
        """
    def save(self, path: str | PathLike[str]) -> None:
        """Writes the set to a file with mode 0600, which appears whole or not at all, and replaces a regular file that is
        there.

        Raises ``UsageError`` for a suite on BN254, and if the path is that of a link, a pipe, a device or a folder."""
    def __len__(self) -> int: ...
    @property
    def suite(self) -> str:
        """The name of its suite."""
    def add(self, public_keys: Iterable[Bytes], *, assume_possession: bool = False) -> None:
        """Adds members, whose indices follow those of the members so far. If one key does not decode, none is added."""
    def prove(self, index: int, proof: Bytes) -> bool:
        """Verifies a member's proof of possession, and records it if it is true.

        Raises ``MemberError`` if there is no such member, and ``UsageError`` in a suite without such proofs.
        """
    def public_keys(self) -> list[bytes]:
        """The keys, by index."""
    def sum(self, members: Bytes | Iterable[int]) -> bytes:
        """The sum of the members' keys, also of members that have proven nothing: verify with ``verify``, not under this sum.

        For no members it is the identity. Raises ``MemberError`` if there is no such member, and ``UsageError`` in a BDN suite,
        where keys are added with coefficients.
        """
    def claim(
        self, members: Bytes | Iterable[int], message: Bytes, signature: Bytes, *, id: str | int | None = None
    ) -> Claim:
        """The claim that these members signed one message, for ``verify``.

        Raises ``MemberError`` if there is no such member, ``DecodeError`` for a signature that does not decode, and
        ``UsageError`` for no members, unless the suite allows that, and for several of whom one has not proven possession.
        """
    def verify(self, members: Bytes | Iterable[int], message: Bytes, signature: Bytes) -> bool:
        """Whether these members signed a message. It raises what ``claim`` does."""

# Keys that several participants share: quorate.threshold.

def split(
    secret: SecretKey, threshold: int, participants: int, *, identifiers: str = "integers"
) -> tuple[SharedKey, list[Share]]:
    """Splits a key among participants, of whom a threshold signs.

    The caller must forget the key and every share but its own. ``identifiers`` are ``"integers"``, as most libraries have them,
    or ``"roots-of-unity"``, with which large committees combine faster. Suites that sign the key with the message (chia), and
    suites on BN254, have no shared keys.
    """

@final
class Share:
    """A participant's share of a key. It is wiped when it is dropped, and never printed."""

    def __new__(cls, index: int, data: Bytes, suite: str) -> Share: ...
    @property
    def index(self) -> int:
        """The number of the participant, from 1."""
    @property
    def suite(self) -> str:
        """The name of the suite."""
    def sign(self, message: Bytes) -> bytes:
        """Signs a message: a signature share."""
    def to_bytes(self) -> bytes:
        """The 32 bytes of the share. Python cannot wipe them."""
    def __reduce__(self) -> NoReturn:
        """Refused with ``TypeError``: a pickle would be a copy of the share that nobody wipes."""

@final
class SharedKey:
    """All that is public of a shared key: suite, committee, and a commitment to every share."""

    @staticmethod
    def from_json(text: str) -> SharedKey:
        """Reads the JSON that ``to_json`` and ``quorate threshold split`` write."""
    def to_json(self) -> str:
        """The JSON of a file."""
    @property
    def suite(self) -> str:
        """The name of the suite."""
    @property
    def threshold(self) -> int:
        """How many shares make a signature."""
    @property
    def participants(self) -> int:
        """How many participants there are."""
    @property
    def public_key(self) -> bytes:
        """The key under which the combined signature verifies."""
    def verification_key(self, index: int) -> bytes:
        """The key under which a participant's signature shares verify. :class:`UsageError` if it is the identity: then the
        participant has no share, and the others sign without it."""
    def verify_share(self, index: int, message: Bytes, share: Bytes) -> bool:
        """Whether a signature share is that of a participant over a message."""
    def combine(
        self, message: Bytes, shares: dict[int, bytes] | dict[int, Signature] | dict[int, bytes | Signature]
    ) -> Combined:
        """Combines signature shares of a message, by participant, and verifies the signature. False shares are named, and the
        others go on."""

@final
class Combined:
    """What came of combining shares."""

    @property
    def signature(self) -> bytes | None:
        """The signature of the key, verified; ``None`` if too few shares are true."""
    @property
    def refused(self) -> list[tuple[int, str]]:
        """The shares that were not taken, by participant, and why."""

# Quorums that a contract settles: quorate.evm.

def plan_quorum(
    network: str,
    signers: list[int],
    results: Iterable[Bytes] | None = None,
    *,
    deadline: int | None = None,
    store: int | str | None = None,
) -> QuorumPlan: ...

@final
class QuorumPlan:
    """How a quorum settles: the base that costs the least gas, what is to be signed, and the call."""

    @property
    def base(self) -> int | None:
        """The slot of the base from which the contract computes the quorum's key; ``None`` for the empty quorum."""
    @property
    def signers(self) -> list[int]:
        """The signers, by index."""
    @property
    def added(self) -> list[int]:
        """The signers that are not in the base, whose keys are added."""
    @property
    def removed(self) -> list[int]:
        """The members of the base that do not sign, whose keys are subtracted."""
    @property
    def weight(self) -> int:
        """The weight of the signers."""
    @property
    def digest(self) -> bytes:
        """The digest that every signer signs: one for all results."""
    @property
    def state(self) -> bytes:
        """The contract's state from which the plan starts. Compare it with the contract's ``state()``."""
    @property
    def gas(self) -> int:
        """The gas of the transaction, as it is estimated: usually within 2 % of what it uses."""
    def verify(self, signature: Bytes) -> bool:
        """Whether an aggregate signature is the sum of the signers' signatures over the digest."""
    def calldata(self, signature: Bytes) -> bytes:
        """The calldata of the transaction. Raises ``UsageError`` if the signature is not that of these signers."""

# What quorate.py_ecc calls.

def sk_to_pk(secret: bytes) -> bytes: ...
def key_gen(material: Bytes, info: Bytes) -> bytes: ...
def key_validate(key: Bytes) -> bool: ...
def core_sign(secret: bytes, message: bytes, tag: bytes) -> bytes: ...
def core_verify(key: bytes, message: bytes, signature: bytes, tag: bytes) -> bool: ...
def core_aggregate_verify(keys: list[bytes], messages: list[bytes], signature: bytes, tag: bytes) -> bool: ...
def fast_aggregate_verify(keys: list[bytes], message: bytes, signature: bytes, tag: bytes) -> bool: ...
def sum_of_signatures(points: list[bytes]) -> bytes: ...
def sum_of_keys(points: list[bytes]) -> bytes: ...
def plan_shards(
    paths: list[str],
    into: str,
    *,
    network: str | None = None,
    chain: str | None = None,
    suite: str | None = None,
    soundness: int = 64,
    shard_mib: int = 64,
    only_invalid: bool = False,
) -> int: ...
def has_plan(
    folder: str,
    *,
    network: str | None = None,
    chain: str | None = None,
    suite: str | None = None,
    soundness: int | None = None,
    only_invalid: bool | None = None,
) -> bool: ...
def shard_status(folder: str) -> str: ...
def merge_shards(folder: str) -> str: ...

@final
class Runner:
    def __new__(cls, folder: str, *, threads: int | None = None, backend: str = "auto") -> Runner: ...
    @property
    def shards(self) -> int: ...
    def run_json(self, shard: int) -> str: ...
