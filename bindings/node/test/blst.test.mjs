// `quorate/blst` beside @chainsafe/blst: the same answers, but for the differences that blst.d.ts names.

import assert from "node:assert/strict";
import { inspect } from "node:util";
import { test } from "node:test";
import * as theirs from "@chainsafe/blst";
import * as ours from "quorate/blst";

const bytes = (number, length = 32) => new Uint8Array(length).fill(number);
const message = (number) => bytes(number, 32);
const identity = (length) => Uint8Array.of(0xc0, ...new Uint8Array(length - 1));

/** What a call answers: a value, or the code of its error. An error without a code is no answer. */
function answer(call) {
  try {
    const value = call();
    if (typeof value?.toHex === "function") return value.toHex();
    return value;
  } catch (error) {
    if (error.code === undefined) throw error;
    return { code: error.code };
  }
}

/** Both libraries' answers to a call, which gets the library and its keys and signatures. */
function same(call, name) {
  const [one, two] = [ours, theirs].map((library) => {
    const secrets = [1, 2, 3].map((number) => library.SecretKey.fromKeygen(bytes(number)));
    const pks = secrets.map((secret) => secret.toPublicKey());
    const sigs = secrets.map((secret, index) => secret.sign(message(index)));
    return answer(() => call({ library, secrets, pks, sigs }));
  });
  assert.deepEqual(one, two, name ?? call.toString());
  return one;
}

test("it has the names of the package", () => {
  const names = Object.keys(theirs).filter((name) => name !== "default" && name !== "module.exports");
  for (const name of names) assert.equal(typeof ours[name], typeof theirs[name], name);
  for (const name of ["SecretKey", "PublicKey", "Signature"]) {
    for (const part of Object.getOwnPropertyNames(theirs[name].prototype)) assert.ok(part in ours[name].prototype, part);
    const parts = Object.getOwnPropertyNames(theirs[name]).filter((part) => typeof theirs[name][part] === "function");
    for (const part of parts) assert.equal(typeof ours[name][part], "function", `${name}.${part}`);
  }
  for (const name of names.filter((name) => name.includes("LENGTH"))) assert.equal(ours[name], theirs[name]);
});

test("encodings", () => {
  for (const compress of [undefined, null, true, false]) {
    same(({ pks }) => pks[0].toBytes(compress));
    same(({ sigs }) => sigs[0].toHex(compress));
    same(({ library, pks }) => library.PublicKey.fromBytes(pks[0].toBytes(compress)));
    same(({ library, sigs }) => library.Signature.fromHex(sigs[0].toHex(compress), true));
  }
  same(({ library, pks }) => library.PublicKey.fromHex(pks[0].toHex().slice(2)));
  same(({ library, secrets }) => library.SecretKey.fromHex(secrets[0].toHex()));
  same(({ library }) => library.SecretKey.deriveMasterEip2333(bytes(1)).deriveChildEip2333(7));
  same(({ library }) => library.SecretKey.fromKeygen(bytes(1), bytes(2)));
  for (const wrong of [bytes(0, 0), bytes(0, 31), bytes(0), bytes(255)]) {
    assert.equal(same(({ library }) => library.SecretKey.fromBytes(wrong)).code, "BLST_BAD_ENCODING");
  }
  for (const wrong of [bytes(0, 0), bytes(0, 47), bytes(0, 48), bytes(255, 48), bytes(7, 96)]) {
    assert.match(same(({ library }) => library.PublicKey.fromBytes(wrong, true)).code, /^BLST_/);
  }
  for (const wrong of [bytes(0, 0), bytes(0, 95), bytes(0, 96), bytes(255, 96)]) {
    assert.match(same(({ library }) => library.Signature.fromBytes(wrong, true)).code, /^BLST_/);
  }
  same(({ library }) => library.PublicKey.fromHex("0xzz"));
  same(({ library }) => library.SecretKey.fromKeygen(bytes(1, 31)));
});

test("the identity", () => {
  same(({ library }) => library.PublicKey.fromBytes(identity(48), true));
  for (const flags of [[], [true], [true, false], [false, true]]) {
    same(({ library }) => library.Signature.fromBytes(identity(96), ...flags), flags.join());
  }
  for (const flags of [[], [true], [false]]) {
    same(({ library }) => library.Signature.fromBytes(identity(96)).sigValidate(...flags), flags.join());
  }
  // Here it is never a key.
  assert.throws(() => ours.PublicKey.fromBytes(identity(48)), { code: "BLST_PK_IS_INFINITY" });
});

test("keys outside the subgroup are refused when they are read", () => {
  // x = 4 is on the curve, and not in the subgroup.
  const outside = Uint8Array.of(0x80, ...new Uint8Array(46), 4);
  assert.ok(theirs.PublicKey.fromBytes(outside));
  assert.equal(answer(() => theirs.PublicKey.fromBytes(outside, true)).code, "BLST_POINT_NOT_IN_GROUP");
  assert.throws(() => ours.PublicKey.fromBytes(outside), { code: "BLST_POINT_NOT_IN_GROUP" });
});

test("sums", () => {
  same(({ library, pks }) => library.aggregatePublicKeys(pks));
  same(({ library, sigs }) => library.aggregateSignatures(sigs, true));
  same(({ library, pks }) => library.aggregateSerializedPublicKeys(pks.map((pk) => pk.toBytes()), true));
  same(({ library, sigs }) => library.aggregateSerializedSignatures(sigs.map((sig) => sig.toBytes()), true));
  for (const name of ["aggregatePublicKeys", "aggregateSignatures", "aggregateSerializedPublicKeys", "aggregateWithRandomness"]) {
    assert.equal(same(({ library }) => library[name]([])).code, "BLST_AGGR_TYPE_MISMATCH");
  }
});

test("signatures are true or false as there", () => {
  /** The sum of all signatures over one message. */
  const agreed = (library, secrets) => library.aggregateSignatures(secrets.map((secret) => secret.sign(message(0))));
  const asked = {
    verify: [
      ({ pks, sigs }) => [message(0), pks[0], sigs[0]],
      ({ pks, sigs }) => [message(1), pks[0], sigs[0]],
      ({ pks, sigs }) => [message(0), pks[1], sigs[0]],
      ({ library, pks }) => [message(0), pks[0], library.Signature.fromBytes(identity(96))],
    ],
    aggregateVerify: [
      ({ library, pks, sigs }) => [[0, 1, 2].map(message), pks, library.aggregateSignatures(sigs)],
      ({ library, pks, sigs }) => [[0, 2, 1].map(message), pks, library.aggregateSignatures(sigs)],
      ({ library, pks, sigs }) => [[0, 1].map(message), pks, library.aggregateSignatures(sigs)],
      ({ sigs }) => [[], [], sigs[0]],
      ({ library, pks, secrets }) => [[0, 0, 0].map(message), pks, agreed(library, secrets)],
    ],
    fastAggregateVerify: [
      ({ library, pks, secrets }) => [message(0), pks, agreed(library, secrets)],
      ({ library, pks, secrets }) => [message(1), pks, agreed(library, secrets)],
      ({ sigs }) => [message(0), [], sigs[0]],
    ],
    verifyMultipleAggregateSignatures: [
      ({ pks, sigs }) => [pks.map((pk, index) => ({ msg: message(index), pk, sig: sigs[index] }))],
      ({ pks, sigs }) => [pks.map((pk, index) => ({ msg: message(index), pk, sig: sigs[(index + 1) % 3] }))],
      // Two false sets whose errors cancel without weights.
      ({ pks, sigs }) => [[0, 1].map((index) => ({ msg: message(index), pk: pks[index], sig: sigs[1 - index] }))],
      ({ pks, sigs }) => [[{ msg: message(0), pk: pks[0], sig: sigs[0] }]],
      ({ pks, sigs }) => [[{ msg: message(1), pk: pks[0], sig: sigs[0] }]],
      () => [[]],
    ],
  };
  for (const [name, cases] of Object.entries(asked)) {
    const answers = cases.map((args, index) => same((made) => made.library[name](...args(made)), `${name} ${index}`));
    assert.equal(answers[0], true);
    assert.ok(answers.slice(1).includes(false));
  }
});

test("promises answer the same", async () => {
  const secrets = [1, 2, 3].map((number) => ours.SecretKey.fromKeygen(bytes(number)));
  const pks = secrets.map((secret) => secret.toPublicKey());
  const sigs = secrets.map((secret) => secret.sign(message(0)));
  const sum = ours.aggregateSignatures(sigs);
  assert.equal(await ours.asyncVerify(message(0), pks[0], sigs[0]), true);
  assert.equal(await ours.asyncVerify(message(1), pks[0], sigs[0]), false);
  assert.equal(await ours.asyncFastAggregateVerify(message(0), pks, sum), true);
  assert.equal(await ours.asyncAggregateVerify([0, 0, 0].map(message), pks, sum), true);
  const sets = pks.map((pk, index) => ({ msg: message(0), pk, sig: sigs[index] }));
  assert.equal(await ours.asyncVerifyMultipleAggregateSignatures(sets), true);
  assert.equal(await ours.asyncVerifyMultipleAggregateSignatures([{ ...sets[0], pk: pks[1] }, sets[1]]), false);
  assert.equal(await ours.asyncVerifyMultipleAggregateSignatures([]), false);
  await assert.rejects(ours.asyncVerify("text", pks[0], sigs[0]), /^TypeError: msg: found a string/);
});

test("random multiples of keys and signatures of one message", async () => {
  const secrets = [1, 2, 3].map((number) => ours.SecretKey.fromKeygen(bytes(number)));
  const sets = secrets.map((secret) => ({ pk: secret.toPublicKey(), sig: secret.sign(message(0)).toBytes() }));
  for (const make of [ours.aggregateWithRandomness, ours.asyncAggregateWithRandomness]) {
    const [one, two] = [await make(sets), await make(sets)];
    assert.equal(ours.verify(message(0), one.pk, one.sig), true);
    assert.equal(ours.verify(message(1), one.pk, one.sig), false);
    assert.notEqual(one.pk.toHex(), two.pk.toHex());
    assert.ok(theirs.verify(message(0), theirs.PublicKey.fromBytes(one.pk.toBytes()), theirs.Signature.fromBytes(one.sig.toBytes())));
    // Two signatures that were swapped.
    const swapped = [{ pk: sets[0].pk, sig: sets[1].sig }, { pk: sets[1].pk, sig: sets[0].sig }];
    const sums = await make(swapped);
    assert.equal(ours.verify(message(0), sums.pk, sums.sig), false);
  }
  const error = { code: "BLST_BAD_ENCODING" };
  assert.throws(() => ours.aggregateWithRandomness([{ ...sets[0], sig: bytes(0, 96) }]), error);
  await assert.rejects(ours.asyncAggregateWithRandomness([{ ...sets[0], sig: bytes(0, 96) }]), error);
  await assert.rejects(ours.asyncAggregateWithRandomness([{ ...sets[0], sig: identity(96) }]), { code: "BLST_PK_IS_INFINITY" });
});

test("a sum of keys that is the identity verifies nothing", async () => {
  const key = ours.SecretKey.fromKeygen(bytes(1)).toPublicKey();
  const negated = key.toBytes();
  negated[0] ^= 0x20;
  const sum = ours.aggregatePublicKeys([key, ours.PublicKey.fromBytes(negated)]);
  assert.throws(() => sum.keyValidate(), { code: "BLST_PK_IS_INFINITY" });
  const nothing = ours.Signature.fromBytes(identity(96));
  const set = { msg: message(0), pk: sum, sig: nothing };
  assert.equal(ours.verify(message(0), sum, nothing), false);
  assert.equal(ours.fastAggregateVerify(message(0), [sum], nothing), false);
  assert.equal(ours.fastAggregateVerify(message(0), [key, ours.PublicKey.fromBytes(negated)], nothing), false);
  assert.equal(ours.aggregateVerify([message(0)], [sum], nothing), false);
  assert.equal(ours.verifyMultipleAggregateSignatures([set, set]), false);
});

test("wrong types name the argument, and secrets are not printed", () => {
  const secret = ours.SecretKey.fromKeygen(bytes(1));
  const [pk, sig] = [secret.toPublicKey(), secret.sign(message(0))];
  assert.throws(() => ours.verify(message(0), sig, sig), /^TypeError: pk: found a Signature, expected a PublicKey$/);
  assert.throws(() => ours.verify(message(0), pk, null), /^TypeError: sig: found null, expected a Signature$/);
  const sets = [{ msg: message(0), pk, sig }, null];
  assert.throws(() => ours.verifyMultipleAggregateSignatures(sets), /^TypeError: sets\[1\]\.msg: found nothing/);
  assert.throws(() => ours.aggregatePublicKeys([pk, 7]), /^TypeError: pks\[1\]: found a number/);
  assert.throws(() => new ours.PublicKey(), TypeError);
  assert.throws(() => ours.PublicKey.prototype.toBytes.call({}), TypeError);
  assert.throws(() => secret.deriveChildEip2333(-1), TypeError);
  const digits = secret.toHex().slice(2, 12);
  for (const text of [inspect(secret, { showHidden: true }), JSON.stringify(secret)]) assert.ok(!text.includes(digits));
});

test("a place of an array that nobody has filled is named", () => {
  assert.throws(() => ours.verifyMultipleAggregateSignatures(new Array(2)), { name: "TypeError", message: /^sets\[0\]\.msg: found nothing/ });
  assert.throws(() => ours.aggregateSignatures(new Array(3)), { name: "TypeError", message: /^sigs\[0\]: found nothing/ });
});
