// Claims that name members of key sets.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { Batcher, KeySet, Verifier, aggregate, verify, verifySync } from "quorate";
import { secret, text } from "./made.mjs";

const VOTE = text("vote");
const secrets = Array.from({ length: 10 }, (_, number) => secret("eth2", number));
const keys = secrets.map((key) => key.publicKey());
const votes = secrets.map((key) => key.sign(VOTE));
const sum = (...members) => aggregate("eth2", members.map((index) => votes[index]));

function committee(suite = "eth2", some = keys) {
  const set = new KeySet(suite);
  set.push(some, { assumePossession: true });
  return set;
}

test("claims name members of key sets", async () => {
  const set = committee();
  const unproven = new KeySet("eth2");
  unproven.push(keys.slice(0, 2));
  const of = (members, signature, changes) => ({ suite: "eth2", keySet: set, members, message: VOTE, signature, ...changes });
  const three = sum(0, 2, 9);
  const identity = new Uint8Array(96);
  identity[0] = 0xc0;
  const two = aggregate("eth2", [secrets[4].sign(text("four")), votes[3]]);
  const each = { message: undefined, messages: [text("four"), VOTE] };
  const cases = [
    [of(new Uint8Array([5, 2]), three), "valid"],
    [of(Buffer.from([5, 2, 0, 0, 0]), three), "valid"],
    [of(new Uint8Array([1]), votes[0]), "valid"],
    [of([9, 0, 2], three), "valid"],
    [of([9, 0, 1], three), "mismatch", "does not match"],
    [of([0, 0], sum(0, 0)), "valid"],
    [of([0, 0], votes[0]), "mismatch", "does not match"],
    [of([], three), "rule", "the claim has no keys and messages"],
    [of(new Uint8Array(9), three), "rule", "the claim has no keys and messages"],
    [of([], identity, { suite: "eth2-sync-aggregate" }), "valid"],
    [of(new Uint8Array([1, 4]), three), "key-set", "the claim names member 10 of a key set of 10"],
    [of([0, 2 ** 32 - 1], three), "key-set", "the claim names member 4294967295 of a key set of 10"],
    [of([0, 1], sum(0, 1), { keySet: unproven }), "key-set", "member 0 of the key set has not proven possession"],
    [of([1], votes[1], { keySet: unproven }), "valid"],
    [of([0], three, { keySet: new KeySet("drand-quicknet") }), "key-set", "another variant than the claim's suite"],
    [of([4, 3], two, each), "valid"],
    [of([4, 3, 2], two, each), "rule", "3 public keys, but 2 messages"],
    [of([0], secrets[0].prove(), { message: undefined, possession: true }), "valid"],
    [{ suite: "eth2", publicKey: keys[7], message: VOTE, signature: votes[7] }, "valid"],
  ];
  const claims = cases.map(([claim]) => claim);
  const verdicts = await verify(claims);
  assert.deepEqual(verdicts.map(({ code }) => code), cases.map(([, code]) => code));
  verdicts.forEach(({ reason = "" }, index) => assert.ok(reason.includes(cases[index][2] ?? ""), `${index}: ${reason}`));
  assert.deepEqual(verifySync(claims), verdicts);
  const batcher = new Batcher();
  assert.deepEqual(await Promise.all(claims.map((claim) => batcher.submit(claim, { class: "block" }))), verdicts);
  await batcher.stop();
  assert.ok(new Verifier().plan(claims).length > 0);
});

test("a sync aggregate is a bitmap, and not 512 copies of keys", async () => {
  const members = new Uint8Array(64).fill(0xff);
  const set = committee("eth2", Array.from({ length: 512 }, (_, index) => keys[index % 10]));
  const whole = aggregate("eth2", Array.from({ length: 512 }, (_, index) => votes[index % 10]));
  const claim = { suite: "eth2-sync-aggregate", keySet: set, members, message: VOTE, signature: whole };
  members[3] = 0xfe;
  assert.equal((await verify([claim]))[0].code, "mismatch");
  members[3] = 0xff;
  assert.equal((await verify([claim]))[0].valid, true);
});

test("a repeated member breaks a rule of a BDN suite", async () => {
  const suite = "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_BDN_";
  const key = secret(suite, 1);
  const set = new KeySet(suite);
  set.push([key.publicKey()]);
  const [verdict] = await verify([{ suite, keySet: set, members: [0, 0], message: VOTE, signature: key.sign(VOTE) }]);
  assert.equal(verdict.code, "rule");
});

test("a set that grows is another one for the claims after it", async () => {
  const set = committee("eth2", keys.slice(0, 2));
  const claim = { suite: "eth2", keySet: set, members: [0, 2], message: VOTE, signature: sum(0, 2) };
  assert.equal((await verify([claim]))[0].code, "key-set");
  set.push([keys[2]], { assumePossession: true });
  assert.equal((await verify([claim]))[0].valid, true);
});

test("wrong members are named", async () => {
  const good = { suite: "eth2", keySet: committee(), members: [0], message: VOTE, signature: votes[0] };
  const cases = [
    [{ keySet: undefined }, /^TypeError: claims\[1\]\.members: found an array, expected none without keySet/],
    [{ keySet: {} }, /^TypeError: claims\[1\]\.keySet: found an Object, expected a KeySet/],
    [{ keySet: null }, /^TypeError: claims\[1\]\.keySet: found null, expected a KeySet/],
    [{ publicKey: keys[0] }, /^TypeError: claims\[1\]\.publicKey: found a Uint8Array, expected none beside keySet/],
    [{ publicKeys: [] }, /^TypeError: claims\[1\]\.publicKeys: found an array, expected none beside keySet/],
    [{ members: undefined }, /^TypeError: claims\[1\]\.members: found nothing, expected a bitmap as Uint8Array, or an array/],
    [{ members: "01" }, /^TypeError: claims\[1\]\.members: found a string/],
    [{ members: [0, -1] }, /^RangeError: claims\[1\]\.members\[1\]: found -1, expected a whole number from 0 to 4294967295/],
    [{ members: [0, 2 ** 32] }, /^RangeError: claims\[1\]\.members\[1\]: found 4294967296/],
    [{ members: [0.5] }, /^RangeError: claims\[1\]\.members\[0\]: found 0\.5/],
    [{ members: ["0"] }, /^TypeError: claims\[1\]\.members\[0\]: found a string, expected a number/],
    [{ members: new Array(1) }, /^TypeError: claims\[1\]\.members\[0\]: found nothing, expected a number/],
    [{ members: [true] }, /^TypeError: claims\[1\]\.members\[0\]: found a boolean/],
  ];
  for (const [changes, expected] of cases) {
    await assert.rejects(verify([good, { ...good, ...changes }]), expected);
  }
  const cut = new Uint8Array(1);
  structuredClone(cut.buffer, { transfer: [cut.buffer] });
  await assert.rejects(verify([{ ...good, members: cut }]), /claims\[0\]\.members: found a Uint8Array, expected one whose buffer/);
});

test("a set that is closed is an error, but not for claims that were handed over", async () => {
  const key = secret("eth2", 1);
  const [message, signature] = [text("vote"), key.sign(text("vote"))];
  const set = new KeySet("eth2");
  set.push([key.publicKey()], { assumePossession: true });
  const claim = { suite: "eth2", keySet: set, members: [0], message, signature };
  const [verifier, batcher] = [new Verifier(), new Batcher()];
  const before = [verifier.verify([claim]), batcher.submit(claim), set.verify([0], message, signature)];
  set.close();
  set.close();
  const [[first], ...others] = await Promise.all(before);
  for (const { valid } of [first, ...others]) assert.equal(valid, true);
  const closed = { code: "ERR_QUORATE_MISUSE", message: "the key set is closed" };
  for (const call of [
    () => verifier.verify([claim]),
    () => batcher.submit(claim),
    () => set.verify([0], message, signature),
  ]) {
    await assert.rejects(call, closed);
  }
  for (const call of [
    () => verifier.verifySync([claim]),
    () => verifier.plan([claim]),
    () => set.verifySync([0], message, signature),
    () => set.sum([0]),
    () => set.prove(0, key.prove()),
    () => set.push([]),
    () => set.size,
  ]) {
    assert.throws(call, closed);
  }
  await batcher.stop();
});

test("a verifier that is closed is an error, but not for calls that wait", async () => {
  const key = secret("eth2", 1);
  const claim = { suite: "eth2", publicKey: key.publicKey(), message: text("vote"), signature: key.sign(text("vote")) };
  const verifier = new Verifier();
  const before = verifier.verify([claim], { remember: true });
  verifier.close();
  verifier.close();
  assert.equal((await before)[0].valid, true);
  const closed = { code: "ERR_QUORATE_MISUSE", message: "the verifier is closed" };
  await assert.rejects(verifier.verify([claim]), closed);
  await assert.rejects(verifier.verifyOne("eth2", claim.publicKey, claim.message, claim.signature), closed);
  for (const call of [() => verifier.verifySync([claim]), () => verifier.plan([claim]), () => verifier.known, () => verifier.forget()]) {
    assert.throws(call, closed);
  }
});

// Nothing but the call knows the set by the time that a thread reads the claims.
test("the collector frees no set of a call that runs", async () => {
  const script = `
    import { KeySet, SecretKey, verify } from "quorate";
    const key = SecretKey.generate("eth2");
    const [message, signature] = [new Uint8Array(32), key.sign(new Uint8Array(32))];
    const call = () => {
      const set = new KeySet("eth2");
      set.push([key.publicKey()], { assumePossession: true });
      return verify(new Array(50).fill({ suite: "eth2", keySet: set, members: [0], message, signature }));
    };
    const calls = Array.from({ length: 30 }, call);
    gc();
    await new Promise((resolve) => setTimeout(resolve, 1));
    gc();
    const verdicts = (await Promise.all(calls)).flat();
    console.log(verdicts.length, verdicts.every(({ valid }) => valid));
  `;
  const args = ["--expose-gc", "--input-type=module", "--eval", script];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: new URL("..", import.meta.url) });
  assert.equal(stdout, "1500 true\n");
});
