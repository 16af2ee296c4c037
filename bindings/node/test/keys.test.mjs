import assert from "node:assert/strict";
import { inspect } from "node:util";
import { test } from "node:test";
import {
  KeySet,
  SecretKey,
  aggregate,
  aggregatePublicKeys,
  bdnAggregate,
  checkPublicKey,
  checkSignature,
  fromHex,
  subtract,
  suites,
  verifySync,
} from "quorate";
import * as blst from "quorate/blst";
import { VARIANTS, secret, text } from "./made.mjs";

const misuse = { code: "ERR_QUORATE_MISUSE" };
const encoding = { code: "ERR_QUORATE_ENCODING" };

test("a secret is never printed", () => {
  const key = SecretKey.generate("eth2");
  const digits = Buffer.from(key.toBytes()).toString("hex");
  const printed = [inspect(key, { depth: 9, showHidden: true }), JSON.stringify({ key }), String(key), `${Object.entries(key)}`];
  for (const text of printed) assert.ok(!text.includes(digits.slice(0, 8)), text);
  assert.equal(printed[0], "SecretKey { suite: 'eth2', secret: redacted }");
  assert.throws(() => structuredClone(key).sign(text("a")), TypeError);
});

test("secret keys", () => {
  for (const { name, publicKeyLength, signatureLength } of suites()) {
    const key = SecretKey.generate(name);
    assert.equal(key.suite, name);
    assert.equal(key.publicKey().length, publicKeyLength);
    assert.equal(key.sign(new Uint8Array(32)).length, signatureLength);
    const copy = SecretKey.fromBytes(name, key.toBytes());
    assert.deepEqual(copy.publicKey(), key.publicKey());
    assert.equal(Object.getPrototypeOf(key.publicKey()), Uint8Array.prototype);
    checkPublicKey(name, key.publicKey());
    checkSignature(name, key.sign(new Uint8Array(32)));
  }
  const [material, info] = [new Uint8Array(32), text("info")];
  assert.notDeepEqual(SecretKey.derive("eth2", material).toBytes(), SecretKey.derive("eth2", material, info).toBytes());
  assert.throws(() => SecretKey.derive("eth2", material.subarray(1)), encoding);
  assert.throws(() => SecretKey.fromBytes("eth2", material), encoding);
  assert.throws(() => SecretKey.fromBytes("eth2", material.subarray(1)), encoding);
  assert.throws(() => SecretKey.generate("eigenlayer").sign(text("not 32 bytes")), misuse);
  assert.throws(() => SecretKey.generate("BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_").prove(), misuse);
  assert.throws(() => new SecretKey(), TypeError);
  assert.throws(() => SecretKey.generate("eth2").sign("text"), TypeError);
  assert.throws(() => SecretKey.prototype.sign.call({}, material), TypeError);
});

test("a secret key that is closed makes no call", () => {
  const key = SecretKey.generate("eth2");
  const others = [key.publicKey(), key.sign(text("a"))];
  assert.equal(key.close(), undefined);
  const closed = { ...misuse, message: "the secret key is closed" };
  for (const call of [() => key.toBytes(), () => key.publicKey(), () => key.sign(text("a")), () => key.prove()]) {
    assert.throws(call, closed);
  }
  key.close();
  assert.equal(key.suite, "eth2");
  assert.equal(verifySync([{ suite: "eth2", publicKey: others[0], message: text("a"), signature: others[1] }])[0].valid, true);
  const decoded = blst.SecretKey.fromKeygen(new Uint8Array(32));
  const [child, pk] = [decoded.deriveChildEip2333(1), decoded.toPublicKey()];
  decoded.close();
  decoded.close();
  const calls = [
    () => decoded.deriveChildEip2333(1),
    () => decoded.toBytes(),
    () => decoded.toHex(),
    () => decoded.toPublicKey(),
    () => decoded.sign(text("a")),
  ];
  for (const call of calls) assert.throws(call, closed);
  assert.equal(pk.toBytes().length, 48);
  assert.equal(child.toBytes().length, 32, "a key of its own");
});

test("sums", () => {
  for (const suite of VARIANTS) {
    const keys = [1, 2, 3].map((number) => secret(suite, number));
    const signatures = keys.map((key) => key.sign(text("a")));
    const sum = aggregate(suite, signatures);
    assert.deepEqual(subtract(suite, sum, signatures.slice(1)), signatures[0]);
    assert.deepEqual(subtract(suite, sum, []), sum);
    assert.throws(() => aggregatePublicKeys(suite, []), misuse);
    assert.equal(aggregatePublicKeys(suite, keys.map((key) => key.publicKey())).length, keys[0].publicKey().length);
    assert.throws(() => aggregate(suite, []), misuse);
    assert.throws(() => aggregate(suite, [signatures[0], signatures[0].subarray(1)]), encoding);
    assert.throws(() => aggregate(suite, [signatures[0], new Uint8Array(signatures[0].length).fill(7)]), encoding);
    assert.throws(() => aggregate(suite, [signatures[0], "text"]), { name: "TypeError", message: /^signatures\[1\]: found a string/ });
    assert.throws(() => aggregate(suite, signatures[0]), /^TypeError: signatures: found a Uint8Array/);
  }
  assert.throws(() => aggregatePublicKeys("eigenlayer", [SecretKey.generate("eigenlayer").publicKey()]), misuse);
});

test("an aggregate of a BDN suite is that of its signers", () => {
  for (const group of ["G1", "G2"]) {
    const suite = `BLS_SIG_BLS12381${group}_XMD:SHA-256_SSWU_RO_BDN_`;
    const secrets = [1, 2, 3].map((number) => secret(suite, number));
    const [keys, message] = [secrets.map((key) => key.publicKey()), text("a")];
    const signatures = secrets.map((key) => key.sign(message));
    const signature = bdnAggregate(suite, keys, signatures);
    const set = new KeySet(suite);
    set.push(keys);
    const verdicts = verifySync([
      { suite, publicKeys: [keys[2], keys[0], keys[1]], message, signature },
      { suite, publicKey: aggregatePublicKeys(suite, keys), message, signature },
      { suite, keySet: set, members: [0, 1, 2], message, signature },
      { suite, publicKeys: keys.slice(1), message, signature },
    ]);
    assert.deepEqual(verdicts.map(({ code }) => code), ["valid", "valid", "valid", "mismatch"]);
    assert.throws(() => bdnAggregate(suite, [], []), misuse);
    assert.throws(() => bdnAggregate(suite, keys, signatures.slice(1)), misuse);
    assert.throws(() => bdnAggregate(suite, [keys[0], keys[0]], signatures.slice(1)), misuse);
    assert.throws(() => bdnAggregate(suite, [message], signatures.slice(2)), encoding);
    assert.throws(() => bdnAggregate(suite, keys, message), /^TypeError: signatures: found a Uint8Array/);
  }
  const other = secret("eth2", 1);
  assert.throws(() => bdnAggregate("eth2", [other.publicKey()], [other.sign(text("a"))]), misuse);
});

test("a rogue key in a BDN suite", () => {
  for (const [group, flag] of [["G2", 1], ["G1", 2]]) {
    const [bdn, plain] = ["BDN", "POP"].map((scheme) => `BLS_SIG_BLS12381${group}_XMD:SHA-256_SSWU_RO_${scheme}_`);
    const [victim, own] = [secret(bdn, flag), secret(bdn, flag + 2)];
    const negated = victim.publicKey();
    negated[0] ^= 0x20;
    const keys = [victim.publicKey(), aggregatePublicKeys(plain, [own.publicKey(), negated])];
    assert.deepEqual(aggregatePublicKeys(plain, keys), own.publicKey());
    // With the plain sum, the owner of the rogue key would sign for the victim.
    const both = aggregatePublicKeys(bdn, keys);
    const signature = own.sign(text("a"));
    const [verdict] = verifySync([{ suite: bdn, publicKey: both, message: text("a"), signature }]);
    assert.equal(verdict.code, "mismatch");
    assert.throws(() => aggregatePublicKeys(bdn, [keys[0], keys[0]]), misuse);
    assert.throws(() => aggregate(bdn, [signature]), misuse);
    assert.throws(() => subtract(bdn, signature, [signature]), misuse);
    const set = new KeySet(bdn);
    set.push(keys);
    assert.throws(() => set.sum([0, 1]), misuse);
  }
});

test("checks of encodings", () => {
  const identity = new Uint8Array(48);
  identity[0] = 0xc0;
  for (const key of [identity, new Uint8Array(48), new Uint8Array(0)]) assert.throws(() => checkPublicKey("eth2", key), encoding);
  assert.throws(() => checkSignature("eth2", new Uint8Array(96)), encoding);
  assert.throws(() => checkPublicKey("eth3", identity), TypeError);
});

test("a set of keys", async () => {
  const keys = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => secret("eth2", number));
  const set = new KeySet("eth2");
  assert.equal(set.suite, "eth2");
  set.push([]);
  set.push(keys.slice(0, 8).map((key) => key.publicKey()), { assumePossession: true });
  set.push([keys[8].publicKey()]);
  assert.equal(set.size, 9);
  const message = text("a");
  const signature = aggregate("eth2", [1, 3].map((index) => keys[index].sign(message)));
  assert.deepEqual(await set.verify([1, 3], message, signature), { valid: true, code: "valid" });
  assert.deepEqual(set.verifySync(Uint8Array.of(0b1010), message, signature), { valid: true, code: "valid" });
  assert.equal((await set.verify([1, 2], message, signature)).code, "mismatch");
  // The caller may change its arrays once the call has returned, also Buffers.
  const buffers = [Uint8Array.of(0b1010), message, signature].map((array) => Buffer.from(array));
  const promise = set.verify(...buffers);
  for (const buffer of buffers) buffer.fill(0);
  assert.equal((await promise).code, "valid");
  assert.deepEqual(set.sum([1, 3]), aggregatePublicKeys("eth2", [1, 3].map((index) => keys[index].publicKey())));
  // Member 8 has not proven that it holds its secret.
  await assert.rejects(set.verify([1, 8], message, signature), misuse);
  assert.equal(set.prove(8, keys[7].prove()), false);
  await assert.rejects(set.verify([1, 8], message, signature), misuse);
  assert.throws(() => set.prove(8, new Uint8Array(96)), encoding);
  assert.throws(() => set.prove(8, keys[8].prove().subarray(1)), encoding);
  assert.equal(set.prove(8, keys[8].prove()), true);
  assert.equal((await set.verify([8], message, keys[8].sign(message))).valid, true);
  // All or none.
  assert.throws(() => set.push([keys[0].publicKey(), new Uint8Array(48)]), encoding);
  assert.equal(set.size, 9);
  // Nobody signed, which a sync aggregate alone allows.
  await assert.rejects(set.verify([], message, signature), misuse);
  const identity = new Uint8Array(96);
  identity[0] = 0xc0;
  assert.equal((await new KeySet("eth2-sync-aggregate").verify([], message, identity)).valid, true);
  const ended = AbortSignal.abort();
  await assert.rejects(set.verify([1, 3], message, signature, { signal: ended }), { name: "AbortError" });
});

test("members that are not there take no memory", () => {
  const set = new KeySet("eth2");
  const outside = { name: "RangeError", code: "ERR_OUT_OF_RANGE" };
  assert.throws(() => set.sum([0]), outside);
  assert.throws(() => set.prove(0, new Uint8Array(96)), outside);
  set.push([secret("eth2", 1).publicKey()], { assumePossession: true });
  for (const members of [[1], [2 ** 32], [-1], [0.5], [NaN], [0, 0], new Uint8Array(2)]) {
    assert.throws(() => set.sum(members), outside, String(members));
    assert.throws(() => set.verifySync(members, text("a"), new Uint8Array(96)), outside, String(members));
  }
  for (const members of [["0"], "0", null, undefined, new Uint32Array(1)]) assert.throws(() => set.sum(members), TypeError);
  // Bit 1 is no member.
  assert.throws(() => set.sum(Uint8Array.of(2)), misuse);
  assert.throws(() => set.verifySync(Uint8Array.of(2), text("a"), secret("eth2", 1).sign(text("a"))), misuse);
});

test("hexadecimal digits", () => {
  assert.deepEqual(fromHex("0x00aBff"), Uint8Array.of(0, 0xab, 0xff));
  assert.deepEqual(fromHex("00abff"), fromHex("0x00abff"));
  assert.deepEqual(fromHex("0x"), new Uint8Array(0));
  for (const text of ["0x0", "0x0g", "zz", "0x 0"]) assert.throws(() => fromHex(text), SyntaxError);
  assert.throws(() => fromHex(7), TypeError);
});

test("hexadecimal digits leave nothing in the pool of buffers", () => {
  const pool = () => Buffer.from("x").buffer;
  const mark = Uint8Array.from({ length: 32 }, (_, place) => 7 * place + 1);
  const digits = Array.from(mark, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const pools = [pool()];
  assert.deepEqual(fromHex(digits), mark);
  assert.equal(fromHex(digits).buffer.byteLength, mark.length);
  assert.equal(blst.SecretKey.fromHex(digits).toHex(), `0x${digits}`);
  // The pool is another one as soon as it is full.
  pools.push(pool());
  for (const buffer of pools) assert.equal(Buffer.from(buffer).indexOf(mark), -1);
});

test("an array whose buffer is gone is not an empty message", () => {
  const gone = new Uint8Array(4);
  structuredClone(gone, { transfer: [gone.buffer] });
  const key = secret("eth2", 1);
  assert.throws(() => key.sign(gone), { name: "TypeError", message: /^message: found a Uint8Array, expected one whose buffer was not transferred or cut$/ });
  assert.notDeepEqual(key.sign(new Uint8Array(0)), key.sign(new Uint8Array(1)));
  // Nor an empty bitmap, also where nobody may have signed.
  const named = { name: "TypeError", code: "ERR_INVALID_ARG_TYPE", message: /^members: found a Uint8Array, expected one whose buffer/ };
  for (const suite of ["eth2", "eth2-sync-aggregate"]) {
    const set = new KeySet(suite);
    set.push([key.publicKey()], { assumePossession: true });
    assert.throws(() => set.sum(gone), named);
    assert.throws(() => set.verifySync(gone, text("a"), key.sign(text("a"))), named);
  }
});
