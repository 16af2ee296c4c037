"""Keys and signatures one by one, key sets, known statements, plans."""

from __future__ import annotations

import errno
import json
import os
import pickle
from array import array
from pathlib import Path
from typing import Any

import pytest

import quorate
import quorate.threshold

from conftest import rows, signed, table, vectors

SECRET = quorate.SecretKey.key_gen("eth2", bytes(32))
KEY = SECRET.public_key()


# The keys of eigenlayer are points of both groups.
SINGLE = [name for name in quorate.suites() if name != "eigenlayer"]


@pytest.mark.parametrize("suite", SINGLE)
def test_sign_and_verify_in_every_suite(suite: str) -> None:
    secret = quorate.SecretKey.generate(suite)
    key, signature = secret.public_key(), secret.sign(b"m")
    assert key.verify(b"m", signature) and not key.verify(b"n", signature)
    assert quorate.verify_one(key, b"m", signature, suite)
    assert quorate.PublicKey(bytes(key), suite) == key and hash(quorate.PublicKey(bytes(key), suite)) == hash(key)
    assert quorate.Signature(bytes(signature), suite) == signature
    assert quorate.SecretKey(secret.to_bytes(), suite).public_key() == key
    assert (key.suite, signature.suite, secret.suite) == (suite, suite, suite)
    assert bytes.fromhex(key.hex()) == bytes(key) and bytes.fromhex(signature.hex()) == bytes(signature)
    assert quorate.verify([{"public_key": key, "message": b"m", "signature": signature}], suite=suite).all_valid


BN254 = [name for name in SINGLE if "BN254" in name or name == "drand-evmnet"]
BN254_POP = [name for name in BN254 if name.endswith("_POP_")]


def test_keys_in_both_groups_are_not_single_keys() -> None:
    for make in (quorate.PublicKey, quorate.SecretKey):
        with pytest.raises(quorate.UsageError, match="eigenlayer has keys in both groups, 192 bytes"):
            make(bytes(32), "eigenlayer")
    with pytest.raises(quorate.UsageError, match="both groups"):
        quorate.SecretKey.generate("eigenlayer")
    with pytest.raises(quorate.UsageError, match="both groups"):
        quorate.KeySet("eigenlayer")
    with pytest.raises(quorate.UsageError, match="both groups"):
        quorate.aggregate_public_keys([bytes(192)], "eigenlayer")
    # Its signatures are single points.
    identity = quorate.Signature(bytes(64), "eigenlayer")
    assert bytes(quorate.aggregate([identity, identity], "eigenlayer")) == bytes(64)


def test_bn254_claims_are_verified() -> None:
    claims = [{"public_key": bytes(128), "message": b"m", "signature": bytes(64)}]
    verdict = quorate.verify(claims, suite="drand-evmnet")[0]
    assert not verdict.valid and verdict.reason


def test_there_are_seven_suites_with_single_keys_on_bn254() -> None:
    assert len(BN254) == 7 and len(BN254_POP) == 2


@pytest.mark.parametrize("suite", BN254)
def test_keys_and_signatures_on_bn254(suite: str) -> None:
    secrets = [quorate.SecretKey.key_gen(suite, bytes([index]) * 32) for index in range(2)]
    keys = [secret.public_key() for secret in secrets]
    signature = secrets[0].sign(b"m")
    assert (len(bytes(keys[0])), len(bytes(signature))) == (128, 64)
    assert pickle.loads(pickle.dumps(keys[0])) == keys[0] and pickle.loads(pickle.dumps(signature)) == signature
    whole = quorate.aggregate([signature, secrets[1].sign(b"n")], suite)
    assert quorate.verify_one(keys, [b"m", b"n"], whole, suite)
    assert not quorate.verify_one(keys, [b"n", b"m"], whole, suite)
    assert quorate.subtract(whole, [signature], suite) == secrets[1].sign(b"n")
    same_tag = {"drand-evmnet", "BLS_SIG_BN254G1_XMD:KECCAK-256_SVDW_RO_NUL_"}
    for other in BN254:
        holds = other == suite or {other, suite} == same_tag
        assert quorate.PublicKey(bytes(keys[0]), other).verify(b"m", signature) == holds, other
    for data in (bytes(128), bytes(127), bytes(192), b"\xff" * 128, b"\x01" * 128):
        with pytest.raises(quorate.DecodeError, match="public key"):
            quorate.PublicKey(data, suite)
    for data in (bytes(63), b"\xff" * 64, b"\x01" * 64):
        with pytest.raises(quorate.DecodeError, match="signature"):
            quorate.Signature(data, suite)
    for data in (bytes(32), b"\xff" * 32, bytes(31)):
        with pytest.raises(quorate.DecodeError, match="secret key"):
            quorate.SecretKey(data, suite)
    with pytest.raises(quorate.DecodeError, match=r"public_keys\[1\]: public key in G2: 48 bytes, expected 128"):
        quorate.aggregate_public_keys([keys[0], bytes(KEY)], suite)


@pytest.mark.parametrize("suite", BN254_POP)
def test_committees_on_bn254(suite: str) -> None:
    secrets = [quorate.SecretKey.key_gen(suite, bytes([index]) * 32) for index in range(4)]
    keys = quorate.KeySet(suite, [secret.public_key() for secret in secrets])
    signature = quorate.aggregate([secrets[i].sign(b"vote") for i in (0, 2, 3)], suite)
    with pytest.raises(ValueError, match="member 0 has not proven possession"):
        keys.verify([0, 2, 3], b"vote", signature)
    for index, secret in enumerate(secrets):
        proof = secret.prove_possession()
        assert quorate.verify_possession(secret.public_key(), proof, suite)
        assert not quorate.verify_possession(secret.public_key(), secrets[index - 1].prove_possession(), suite)
        assert not keys.prove(index, secrets[index - 1].prove_possession()) and keys.prove(index, proof)
    assert keys.verify([0, 2, 3], b"vote", signature) and not keys.verify([0, 1], b"vote", signature)
    assert keys.sum([0, 2, 3]) == bytes(
        quorate.aggregate_public_keys([secrets[i].public_key() for i in (0, 2, 3)], suite)
    )
    assert keys.sum([]) == bytes(128)
    claims = [keys.claim([0, 2, 3], b"vote", signature), keys.claim([0, 1], b"vote", signature)]
    assert [verdict.valid for verdict in quorate.verify(claims)] == [True, False]
    with pytest.raises(quorate.UsageError, match="shared keys are scalars of BLS12-381"):
        quorate.threshold.split(secrets[0], 2, 3)
    with pytest.raises(quorate.UsageError, match="shared keys are scalars of BLS12-381"):
        quorate.threshold.Share(1, secrets[0].to_bytes(), suite)


def test_secrets_are_not_shown() -> None:
    assert "redacted" in repr(SECRET)
    assert SECRET.to_bytes().hex() not in repr(SECRET) + str(SECRET)
    with pytest.raises(TypeError):
        pickle.dumps(SECRET)


@pytest.mark.parametrize("data", [bytes(32), b"\xff" * 32, bytes(31)], ids=["zero", "too large", "short"])
def test_bytes_that_are_no_secret(data: bytes) -> None:
    with pytest.raises(quorate.DecodeError, match="secret key: "):
        quorate.SecretKey(data, "eth2")


def test_errors_are_those_of_python() -> None:
    with pytest.raises(ValueError, match="public key: found 3 bytes, expected the 48 bytes of a G1 point"):
        quorate.PublicKey(b"abc", "eth2")
    with pytest.raises(quorate.Error):
        quorate.Signature(b"abc", "eth2")
    with pytest.raises(TypeError, match="public key: found str, expected bytes"):
        quorate.PublicKey(KEY.hex(), "eth2")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"public_keys\[1\]|key 2 of 2"):
        quorate.verify_one([bytes(KEY), b"k"], b"m", bytes(96), "eth2")
    with pytest.raises(ValueError, match="2 public keys, but 1 messages"):
        quorate.verify_one([bytes(KEY), bytes(KEY)], [b"m"], bytes(SECRET.sign(b"m")), "eth2")
    with pytest.raises(TypeError, match="public_keys: found int"):
        quorate.verify_one(5, b"m", bytes(96), "eth2")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="secret key"):
        quorate.SecretKey.key_gen("eth2", bytes(31))


def test_bytes_like_arguments() -> None:
    signature = SECRET.sign(bytearray(b"m"))
    assert signature == SECRET.sign(memoryview(b"m"))
    assert quorate.verify_one(bytearray(bytes(KEY)), memoryview(b"m"), signature, "eth2")


def test_aggregate_and_subtract() -> None:
    secrets = [quorate.SecretKey.key_gen("eth2", bytes([index]) * 32) for index in range(3)]
    keys = [secret.public_key() for secret in secrets]
    parts = [secret.sign(b"m") for secret in secrets]
    whole = quorate.aggregate(parts, "eth2")
    assert quorate.verify_one(keys, b"m", whole, "eth2")
    assert quorate.aggregate_public_keys(keys, "eth2").verify(b"m", whole)
    assert quorate.subtract(whole, parts[1:], "eth2") == parts[0] and quorate.subtract(whole, [], "eth2") == whole
    each = quorate.aggregate([secret.sign(bytes([index])) for index, secret in enumerate(secrets)], "eth2")
    assert quorate.verify_one(keys, [b"\0", b"\1", b"\2"], each, "eth2")
    with pytest.raises(ValueError, match="there is nothing to aggregate"):
        quorate.aggregate([], "eth2")
    with pytest.raises(ValueError, match=r"signatures\[1\]: "):
        quorate.aggregate([parts[0], b""], "eth2")
    with pytest.raises(TypeError, match="signatures: found Signature, expected a list"):
        quorate.aggregate(whole, "eth2")  # type: ignore[arg-type]


@pytest.mark.parametrize("suite", [name for name in quorate.suites() if "BDN" in name])
def test_a_rogue_key_in_a_bdn_suite(suite: str) -> None:
    victim, own = (quorate.SecretKey.generate(suite) for _ in range(2))
    # The rogue key is x·G - pk_victim: the negation of a point is its encoding with the sign's bit flipped. The tag of the
    # plain suite of this shape allows the sum.
    plain = suite.replace("BDN", "POP")
    negated = bytearray(bytes(victim.public_key()))
    negated[0] ^= 0x20
    rogue = bytes(quorate.aggregate_public_keys([own.public_key(), bytes(negated)], plain))
    keys = [bytes(victim.public_key()), rogue]
    assert bytes(quorate.aggregate_public_keys(keys, plain)) == bytes(own.public_key())
    both = quorate.aggregate_public_keys(keys, suite)
    assert bytes(both) != bytes(own.public_key())
    assert not both.verify(b"m", own.sign(b"m"))
    assert both == quorate.aggregate_public_keys(keys[::-1], suite)
    with pytest.raises(quorate.UsageError, match="key 1 .* is there before"):
        quorate.aggregate_public_keys([keys[0], keys[0]], suite)
    signature = own.sign(b"m")
    with pytest.raises(quorate.UsageError, match="added with coefficients"):
        quorate.aggregate([signature], suite)
    with pytest.raises(quorate.UsageError, match="added with coefficients"):
        quorate.subtract(signature, [signature], suite)
    with pytest.raises(quorate.UsageError, match="added with coefficients"):
        quorate.KeySet(suite, keys).sum([0, 1])


def test_proofs_of_possession() -> None:
    proof = SECRET.prove_possession()
    assert quorate.verify_possession(KEY, proof, "eth2")
    assert not quorate.verify_possession(KEY, SECRET.sign(bytes(KEY)), "eth2")
    with pytest.raises(quorate.UsageError, match="no proofs of possession"):
        quorate.SecretKey.generate("chia").prove_possession()
    with pytest.raises(quorate.UsageError, match="no proofs of possession"):
        quorate.verify_possession(KEY, proof, "chia")


def committee() -> tuple[list[quorate.SecretKey], quorate.KeySet]:
    secrets = [quorate.SecretKey.key_gen("eth2", bytes([index]) * 32) for index in range(4)]
    return secrets, quorate.KeySet("eth2", [secret.public_key() for secret in secrets], assume_possession=True)


def test_key_sets() -> None:
    secrets, keys = committee()
    signature = quorate.aggregate([secrets[i].sign(b"vote") for i in (0, 2, 3)], "eth2")
    assert len(keys) == 4 and keys.suite == "eth2"
    assert keys.verify([0, 2, 3], b"vote", signature)
    assert keys.verify(b"\x0d", b"vote", signature)
    assert not keys.verify([0, 1], b"vote", signature)
    sums = quorate.aggregate_public_keys([secrets[i].public_key() for i in (0, 2, 3)], "eth2")
    assert keys.sum([0, 2, 3]) == bytes(sums)
    assert keys.sum([]) == b"\xc0" + bytes(47)
    claims = [keys.claim([0, 2, 3], b"vote", signature, id="good"), keys.claim([0, 1], b"vote", signature)]
    verdicts = quorate.verify(claims)
    assert [(verdict.id, verdict.valid) for verdict in verdicts] == [("good", True), (None, False)]
    assert keys.public_keys() == [bytes(secret.public_key()) for secret in secrets]


def test_key_sets_ask_for_possession() -> None:
    secrets, _ = committee()
    pair = quorate.KeySet("eth2", [secret.public_key() for secret in secrets[:2]])
    signature = quorate.aggregate([secret.sign(b"vote") for secret in secrets[:2]], "eth2")
    assert pair.prove(1, secrets[1].prove_possession())
    with pytest.raises(ValueError, match="member 0 has not proven possession"):
        pair.verify([0, 1], b"vote", signature)
    assert pair.verify([0], b"vote", secrets[0].sign(b"vote")), "alone it needs no proof"
    assert not pair.prove(0, secrets[1].prove_possession())
    # A set that a claim has named, too.
    quorate.verify([], key_sets={"pair": pair})
    assert pair.prove(0, secrets[0].prove_possession())
    assert pair.verify([0, 1], b"vote", signature)
    assert not pair.prove(0, secrets[1].prove_possession()), "a false proof takes back no true one"
    assert pair.prove(0, secrets[0].prove_possession()) and pair.verify([0, 1], b"vote", signature)
    keys = quorate.KeySet("eth2", [secrets[0].public_key()])
    with pytest.raises(quorate.MemberError, match="there is no member 1 in a set of 1"):
        keys.verify([1], b"vote", secrets[0].sign(b"vote"))
    with pytest.raises(quorate.MemberError, match="there is no member 1 in a set of 1"):
        keys.prove(1, secrets[0].prove_possession())
    with pytest.raises(quorate.UsageError, match="no members signed"):
        keys.verify([], b"vote", secrets[0].sign(b"vote"))
    with pytest.raises(ValueError, match=r"public_keys\[1\]: public key: the point is the identity"):
        keys.add([secrets[1].public_key(), b"\xc0" + bytes(47)])
    assert len(keys) == 1, "all keys are added or none"
    with pytest.raises(TypeError, match="members: found str"):
        keys.sum("ab")  # type: ignore[arg-type]
    # For Python, False is 0.
    for ask in (lambda: keys.verify([False], b"vote", signature), lambda: keys.sum([True])):
        with pytest.raises(TypeError, match="members: found bool, expected a bitmap as bytes, or indices"):
            ask()
    with pytest.raises(TypeError, match="found a boolean, expected a whole number"):
        keys.prove(False, secrets[0].prove_possession())
    # A caller who counts the members would take one for two.
    with pytest.raises(quorate.UsageError, match="members: the member 0 stands there twice"):
        keys.verify([0, 0], b"vote", secrets[0].sign(b"vote"))


def test_an_array_of_bytes_of_another_library_is_neither_a_bitmap_nor_indices() -> None:
    secrets, keys = committee()
    # As a bitmap it is member 1, and as indices it would be member 2.
    members, signature = array("B", [2]), bytes(secrets[1].sign(b"one"))
    claim = {"key_set": keys, "message": b"one", "signature": signature}
    for ask in (
        lambda: keys.sum(members),
        lambda: keys.verify(members, b"one", signature),
        lambda: quorate.verify([claim | {"members": members}]),
    ):
        with pytest.raises(TypeError, match=r"found array, expected bytes\(…\) of it for a bitmap, or list\(…\)"):
            ask()
    assert keys.verify(bytes(members), b"one", signature)
    assert keys.verify(array("I", [1]), b"one", signature)
    assert quorate.verify([claim | {"members": bytes(members)}]).all_valid


@pytest.mark.parametrize("members", [[4], b"\x10"])
def test_a_member_that_is_not_there_is_an_error_of_the_package_and_an_index_error(members: list[int] | bytes) -> None:
    secrets, keys = committee()
    signature = secrets[0].sign(b"vote")
    for ask in (
        lambda: keys.sum(members),
        lambda: keys.verify(members, b"vote", signature),
        lambda: keys.claim(members, b"vote", signature),
        lambda: keys.prove(4, secrets[0].prove_possession()),
    ):
        with pytest.raises(quorate.Error) as raised:
            ask()
        assert type(raised.value) is quorate.MemberError and isinstance(raised.value, IndexError)


@pytest.mark.parametrize("index", [4, (1 << 32) - 1, 1 << 60])
def test_members_that_are_not_there_take_no_memory(index: int) -> None:
    resource = pytest.importorskip("resource")
    secrets, keys = committee()
    signature, members = secrets[0].sign(b"vote"), [0, index]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for ask in (
        lambda: keys.sum(members),
        lambda: keys.verify(members, b"vote", signature),
        lambda: keys.claim(members, b"vote", signature),
    ):
        with pytest.raises(IndexError, match=f"there is no member {index} in a set of 4"):
            ask()
    # A bit for each index up to the second one takes half a gigabyte.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000, "kilobytes"


def test_claims_name_members_of_key_sets() -> None:
    secrets, keys = committee()
    signature = quorate.aggregate([secrets[i].sign(b"vote") for i in (0, 2, 3)], "eth2")
    vote = {"key_set": keys, "message": b"vote", "signature": bytes(signature)}
    claims: list[Any] = [
        vote | {"members": b"\x0d"},
        vote | {"members": "0x0d"},
        vote | {"members": [3, 0, 2]},
        vote | {"members": range(2)},
        vote | {"members": [4]},
        quorate.Claim(key_set=keys, members=iter([0, 2, 3]), message=b"vote", signature=bytes(signature)),
        quorate.Claim(key_set=keys, members=b"\x02", message=b"one", signature=bytes(secrets[1].sign(b"one"))),
        vote | {"key_set": "committee", "members": b"\x0d"},
        vote | {"key_set": "other", "members": b"\x0d"},
        vote | {"members": [0], "public_key": bytes(48)},
        vote,
    ]
    known = quorate.Known()
    verdicts = quorate.verify(claims, key_sets={"committee": keys}, known=known, remember=True)
    assert [verdict.valid for verdict in verdicts] == [True] * 3 + [False] * 2 + [True] * 3 + [False] * 3
    assert verdicts.summary["malformed"] == 3 and len(known) == 1
    assert "names member 4 of a key set of 4" in (verdicts[4].reason or "")
    assert 'expected one of the key sets "committee"' in (verdicts[8].reason or "")
    assert '"public_key" and "key_set" are both given' in (verdicts[9].reason or "")
    assert '"members" is missing' in (verdicts[10].reason or "")
    # The member is known as the key that it is.
    single = {"public_key": bytes(secrets[1].public_key()), "message": b"one", "signature": claims[6].signature}
    assert quorate.verify([single], suite="eth2", known=known).summary["subtracted"] == 1
    assert quorate.plan(claims[:4]).claims == 4
    # A set that changes is another one for the claims after it.
    keys.add([secrets[0].public_key()])
    assert len(keys) == 5 and not quorate.verify([vote | {"members": b"\x1d"}]).all_valid
    assert quorate.verify([vote | {"members": b"\x0d"}]).all_valid
    for members in (5, [-1], [1 << 32], ["1"], [1.5], [True]):
        with pytest.raises(TypeError, match=r'claim 0: "members": found'):
            quorate.verify([vote | {"members": members}])
    with pytest.raises(TypeError, match=r'claim 0: "key_set": found int, expected a quorate.KeySet'):
        quorate.verify([vote | {"key_set": 5, "members": [0]}])
    with pytest.raises(TypeError, match="key_sets: found str, expected a quorate.KeySet"):
        quorate.verify(claims[:1], key_sets={"committee": "no"})  # type: ignore[dict-item]


def test_key_sets_in_files(tmp_path: Path) -> None:
    secrets, keys = committee()
    saved, text = tmp_path / "keys.set", tmp_path / "keys.txt"
    keys.save(saved)
    assert saved.stat().st_mode & 0o777 == 0o600
    text.write_text("".join(f"{secret.public_key().hex()}\n" for secret in secrets))
    for loaded in (quorate.KeySet.load(saved), quorate.KeySet.load(str(text), suite="eth2")):
        assert (len(loaded), loaded.suite, loaded.public_keys()) == (4, "eth2", keys.public_keys())
        # Possession is as it was.
        assert loaded.verify([1], b"vote", secrets[1].sign(b"vote"))
        assert loaded.sum([0, 2]) == keys.sum([0, 2])
        loaded.add([secrets[0].public_key()])
        assert len(loaded) == 5
    lines = tmp_path / "claims.jsonl"
    claim = {"key_set": "c", "members": "02", "message": b"m".hex(), "signature": secrets[1].sign(b"m").hex()}
    lines.write_text(json.dumps(claim))
    assert quorate.verify(lines, key_sets={"c": quorate.KeySet.load(saved)}).all_valid
    with pytest.raises(quorate.UsageError, match="does not say its suite; give suite="):
        quorate.KeySet.load(text)
    with pytest.raises(FileNotFoundError):
        quorate.KeySet.load(tmp_path / "none")
    # It would wait for ever.
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(quorate.UsageError, match="a pipe or a device, expected a regular file"):
        quorate.KeySet.load(tmp_path / "pipe")
    content = bytearray(saved.read_bytes())
    content[60] ^= 1
    saved.write_bytes(content)
    with pytest.raises(quorate.UsageError, match=r"keys\.set: the key set is damaged"):
        quorate.KeySet.load(saved)
    saved.chmod(0o666)
    with pytest.raises(quorate.UsageError, match="others may write it"):
        quorate.KeySet.load(saved)
    with pytest.raises(quorate.UsageError, match="on BN254"):
        quorate.KeySet(BN254_POP[0]).save(tmp_path / "bn254")


def test_save_replaces_nothing_but_a_regular_file(tmp_path: Path) -> None:
    _, keys = committee()
    target, link, pipe = tmp_path / "target", tmp_path / "link", tmp_path / "pipe"
    target.write_text("the set of yesterday")
    link.symlink_to(target)
    os.mkfifo(pipe)
    for path, expected in ((link, "is a link"), (pipe, "is no regular file"), (tmp_path, "is no regular file")):
        with pytest.raises(quorate.UsageError, match=expected):
            keys.save(path)
    assert link.is_symlink() and pipe.is_fifo()
    assert target.read_text() == "the set of yesterday"
    keys.save(target)
    assert len(quorate.KeySet.load(target)) == len(keys)
    with pytest.raises(quorate.UsageError, match="path: found an empty one"):
        keys.save("")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "pipe", "target"]


def test_errors_of_files_have_errno_and_filename(tmp_path: Path) -> None:
    _, keys = committee()
    path = tmp_path / "none" / "keys.set"
    for call in (lambda: keys.save(path), lambda: quorate.KeySet.load(path)):
        with pytest.raises(FileNotFoundError) as raised:
            call()
        error = raised.value
        assert (error.errno, error.filename) == (errno.ENOENT, str(path))
        assert error.strerror is not None and "os error" not in error.strerror
    # No call of the system has refused this one.
    with pytest.raises(OSError, match="NUL") as refused:
        keys.save(tmp_path / "a\0b")
    assert str(refused.value).startswith(f"{tmp_path}/a") and "Errno" not in str(refused.value)


def test_key_sets_of_other_suites() -> None:
    suite = next(name for name in quorate.suites() if "G1" in name and "BDN" in name)
    secrets = [quorate.SecretKey.generate(suite) for _ in range(2)]
    keys = quorate.KeySet(suite, [secret.public_key() for secret in secrets])
    plain = suite.replace("BDN", "POP")
    signatures = [quorate.Signature(bytes(secret.sign(b"m")), plain) for secret in secrets]
    assert not keys.verify([0, 1], b"m", quorate.aggregate(signatures, plain))
    assert keys.verify([1], b"m", secrets[1].sign(b"m"))
    with pytest.raises(ValueError, match="added with coefficients"):
        keys.sum([0, 1])
    with pytest.raises(ValueError, match="neither POP nor BDN"):
        quorate.KeySet("chia", []).verify([], b"m", SECRET.sign(b"m"))


def test_known_statements_are_subtracted() -> None:
    columns = signed(8)
    known = quorate.Known()
    first = quorate.verify(table(columns), known=known, remember=True)
    assert (first.summary["remembered"], len(known)) == (8, 8)
    whole = quorate.aggregate(columns["signature"], "eth2")
    block = {"public_keys": columns["public_key"], "messages": columns["message"], "signature": bytes(whole)}
    verdicts = quorate.verify([block], suite="eth2", known=known)
    assert verdicts.all_valid and verdicts.summary["subtracted"] == 8
    lie = {**block, "signature": columns["signature"][0]}
    assert not quorate.verify([lie], suite="eth2", known=known).all_valid
    known.clear()
    assert len(known) == 0


def test_false_claims_are_not_remembered() -> None:
    known = quorate.Known()
    verdicts = quorate.verify(table(signed(8, false=[3])), known=known, remember=True)
    assert len(known) == 7 and verdicts.summary["remembered"] == 7
    again = quorate.verify(table(signed(8, false=[3])), known=known)
    assert [verdict.index for verdict in again.invalid] == [3]


def test_known_statements_can_be_trusted() -> None:
    claims = rows(signed(3))
    known = quorate.Known(limit=100)
    known.trust(claims)
    assert len(known) == 3 and repr(known) == "<quorate.Known: 3 statements>"
    claims[1]["signature"] = b""
    with pytest.raises(quorate.DecodeError, match="claim 1: "):
        known.trust(claims)
    with pytest.raises(TypeError):
        known.trust(7)  # type: ignore[arg-type]


def test_plans_print_themselves() -> None:
    plan = quorate.plan(table(signed(16)), threads=1)
    assert plan.explain().startswith("plan for 16 claims\n")
    assert (plan.claims, plan.malformed, str(plan)) == (16, 0, plan.explain())
    assert quorate.plan([]).explain() == ""


def test_known_answers_of_ethereum() -> None:
    folder = vectors("01_eth_bls12381_tests", "verify")
    cases = [json.loads(path.read_text()) for path in sorted(folder.rglob("*.json"))]
    assert cases
    claims = [
        {"public_key": c["input"]["pubkey"], "message": c["input"]["message"], "signature": c["input"]["signature"]}
        for c in cases
    ]
    assert [verdict.valid for verdict in quorate.verify(claims, suite="eth2")] == [case["output"] for case in cases]
