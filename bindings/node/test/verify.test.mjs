import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { KeySet, Verifier, aggregate, backends, suites, verify, verifySync } from "quorate";
import { VARIANTS, claim, claimsOf, secret, text } from "./made.mjs";

const codes = (verdicts) => verdicts.map(({ code }) => code);

for (const suite of VARIANTS) {
  test(`true, false and undecodable claims of ${suite}`, async () => {
    const good = claim(suite, 1);
    const claims = [
      good,
      claim(suite, 2, { valid: false }),
      { ...good, signature: good.signature.subarray(1) },
      { ...good, signature: new Uint8Array(good.signature.length).fill(255) },
      { ...good, publicKey: new Uint8Array(0) },
      { ...good, publicKey: undefined, publicKeys: [] },
      claim(suite, 3),
    ];
    const verdicts = await verify(claims);
    assert.deepEqual(codes(verdicts), ["valid", "mismatch", "encoding", "encoding", "encoding", "rule", "valid"]);
    assert.deepEqual(verdicts[0], { valid: true, code: "valid" });
    for (const { valid, code, reason } of verdicts) {
      assert.equal(valid, code === "valid");
      assert.equal(typeof reason, valid ? "undefined" : "string");
    }
    assert.deepEqual(verifySync(claims), verdicts);
  });

  test(`several keys of ${suite}`, async () => {
    const keys = [1, 2, 3].map((number) => secret(suite, number));
    const publicKeys = keys.map((key) => key.publicKey());
    const messages = ["a", "b", "c"].map(text);
    const each = aggregate(suite, keys.map((key, index) => key.sign(messages[index])));
    const claims = [
      { suite, publicKeys, messages, signature: each },
      { suite, publicKeys, messages: messages.slice(1), signature: each },
      { suite, publicKeys, messages: messages.toReversed?.() ?? [...messages].reverse(), signature: each },
    ];
    assert.deepEqual(codes(await verify(claims)), ["valid", "rule", "mismatch"]);
  });
}

test("proofs of possession", async () => {
  const [one, two] = [1, 2].map((number) => secret("eth2", number));
  const claims = [one, two].map((key) => ({
    suite: "eth2",
    publicKey: key.publicKey(),
    possession: true,
    signature: one.prove(),
  }));
  assert.deepEqual(codes(await verify(claims)), ["valid", "mismatch"]);
  assert.throws(() => secret("drand-quicknet", 1).prove(), { code: "ERR_QUORATE_MISUSE" });
});

test("a batch of all suites says which claims are false", async () => {
  const names = suites().map(({ name }) => name);
  const claims = names.flatMap((suite, number) => [claim(suite, number), claim(suite, number, { valid: false })]);
  const expected = claims.map((_, index) => (index % 2 === 0 ? "valid" : "mismatch"));
  assert.deepEqual(codes(await verify(claims)), expected);
  assert.deepEqual(codes(await verify(claims, { threads: "all", soundness: 128 })), expected);
  for (const backend of backends()) assert.deepEqual(codes(await verify(claims, { backend, threads: 2 })), expected);
});

test("the example files", async () => {
  const [all, oneFalse] = ["claims.jsonl", "one-false.jsonl"].map(claimsOf);
  assert.ok((await verify(all)).every(({ valid }) => valid) && all.length > 0);
  const verdicts = await verify(oneFalse);
  assert.deepEqual(codes(verdicts), ["valid", "valid", "valid", "mismatch"]);
  // The words of the command line, as the README shows them.
  assert.equal(verdicts[3].reason, "the signature does not match the keys and messages");
});

test("nothing to verify is no verdict", async () => {
  assert.deepEqual(await verify([]), []);
  assert.deepEqual(verifySync([]), []);
});

/** An array whose buffer another thread has got. */
function gone() {
  const bytes = new Uint8Array(48);
  structuredClone(bytes, { transfer: [bytes.buffer] });
  return bytes;
}

test("a wrong type names the claim and the field", async () => {
  const good = claim("eth2", 1);
  const wrong = [
    ["claims", undefined, /^claims: found nothing, expected an array of claims$/],
    ["claims", "text", /^claims: found a string/],
    ["claims", { length: 3 }, /^claims: found an Object/],
    ["claims", new ArrayBuffer(3), /^claims: found an ArrayBuffer/],
    [1, null, /^claims\[1\]: found null, expected a claim$/],
    [1, { ...good, suite: "eth3" }, /^claims\[1\]\.suite: there is no suite "eth3", expected .*eth2/],
    [1, { ...good, suite: undefined }, /^claims\[1\]\.suite: found nothing/],
    [1, { ...good, publicKey: "0xab" }, /^claims\[1\]\.publicKey: found a string, expected a Uint8Array$/],
    [1, { ...good, publicKey: undefined }, /^claims\[1\]\.publicKey: found nothing, expected a Uint8Array, or publicKeys$/],
    [1, { ...good, publicKeys: [] }, /^claims\[1\]\.publicKey: found a Uint8Array, expected none beside publicKeys$/],
    [1, { ...good, publicKey: undefined, publicKeys: [good.publicKey, 7] }, /^claims\[1\]\.publicKeys\[1\]: found a number/],
    [1, { ...good, message: new Uint16Array(2) }, /^claims\[1\]\.message: found a Uint16Array/],
    [1, { ...good, messages: good.message }, /^claims\[1\]\.message: found a Uint8Array, expected none beside messages$/],
    [1, { ...good, message: undefined, messages: good.message }, /^claims\[1\]\.messages: found a Uint8Array, expected an array/],
    [1, { ...good, possession: true }, /^claims\[1\]\.message: found a Uint8Array, expected none beside possession$/],
    [1, { ...good, possession: "yes", message: undefined }, /^claims\[1\]\.possession: found a string/],
    [1, { ...good, signature: [1, 2] }, /^claims\[1\]\.signature: found an array/],
    [1, { ...good, message: gone() }, /^claims\[1\]\.message: found a Uint8Array, expected one whose buffer was not transferred or cut$/],
    [1, { ...good, signature: gone() }, /^claims\[1\]\.signature: found a Uint8Array, expected one whose buffer/],
    [1, { ...good, publicKey: undefined, publicKeys: [good.publicKey, gone()] }, /^claims\[1\]\.publicKeys\[1\]: found a Uint8Array, expected/],
    [1, { ...good, source: 7 }, /^claims\[1\]\.source: found a number/],
    [1, { ...good, source: "" }, /^claims\[1\]\.source: found a string/],
    [1, { ...good, source: "peer \ud800" }, /^claims\[1\]\.source: found a string, expected a text without half of a surrogate pair$/],
  ];
  for (const [place, value, message] of wrong) {
    const claims = place === "claims" ? value : [good, value];
    await assert.rejects(verify(claims), { name: "TypeError", message });
    assert.throws(() => verifySync(claims), { name: "TypeError", message });
  }
  // A field that is missing in an array with holes.
  await assert.rejects(verify(new Array(2 ** 31)), /^TypeError: claims\[0\]: found nothing/);
});

test("a subclass cannot lie about its length", async () => {
  const good = claim("eth2", 1);
  for (const said of [-5, "5", 1e6, NaN, 0]) {
    class Liar extends Uint8Array {
      get length() {
        return said;
      }
    }
    const lies = { suite: "eth2" };
    for (const field of ["publicKey", "message", "signature"]) lies[field] = new Liar(good[field]);
    assert.deepEqual(codes(await verify([lies, good])), ["valid", "valid"], String(said));
    assert.deepEqual(aggregate("eth2", [lies.signature, good.signature]), aggregate("eth2", [good.signature, good.signature]));
    const set = new KeySet("eth2");
    set.push([lies.publicKey], { assumePossession: true });
    assert.equal(set.verifySync(new Liar(Uint8Array.of(1)), lies.message, lies.signature).code, "valid");
  }
});

test("a verdict that is missing is an error", () => {
  const { verdicts } = createRequire(import.meta.url)("../lib/verdicts.js");
  const expected = { code: "ERR_QUORATE_INTERNAL", message: /found 1 verdicts, expected 2$/ };
  assert.throws(() => verdicts({ codes: "1", reasons: [] }, 2), expected);
  assert.deepEqual(codes(verdicts({ codes: "12", reasons: ["no"] }, 2)), ["valid", "mismatch"]);
});

test("wrong options are errors", async () => {
  const options = [
    [{ threads: 0 }, RangeError],
    [{ threads: 1.5 }, RangeError],
    [{ threads: "many" }, TypeError],
    [{ soundness: 80 }, RangeError],
    [{ backend: "" }, TypeError],
    [{ backend: "abacus" }, { code: "ERR_QUORATE_MISUSE", message: /abacus/ }],
    [{ mostKnown: -1 }, RangeError],
    [null, TypeError],
    [7, TypeError],
  ];
  for (const [given, error] of options) assert.throws(() => new Verifier(given), error);
  await assert.rejects(verify([], { soundness: 65 }), RangeError);
  await assert.rejects(new Verifier().verify([], { remember: 1 }), /options\.remember: found a number, expected a boolean/);
});

test("huge counts are verdicts, or errors, and end soon", async () => {
  const good = claim("eth2", 1);
  const nothing = new Uint8Array(0);
  const claims = [
    good,
    { suite: "eth2", publicKeys: new Array(200_000).fill(nothing), message: good.message, signature: good.signature },
    { suite: "eth2", publicKeys: [good.publicKey], messages: new Array(200_000).fill(nothing), signature: good.signature },
    { ...good, message: new Uint8Array(2 ** 24) },
  ];
  assert.deepEqual(codes(await verify(claims)), ["valid", "encoding", "rule", "mismatch"]);
});

test("the caller may change its arrays once the call has returned", async () => {
  const good = claim("eth2", 1);
  const promise = verify([good]);
  good.signature.fill(0);
  good.message.fill(0);
  assert.deepEqual(codes(await promise), ["valid"]);
  // Views into larger buffers, and memory that is shared.
  const whole = Buffer.concat([text("front"), claim("eth2", 1).signature]);
  const shared = new Uint8Array(new SharedArrayBuffer(48));
  shared.set(good.publicKey);
  assert.deepEqual(codes(await verify([{ ...claim("eth2", 1), signature: whole.subarray(5), publicKey: shared }])), ["valid"]);
});

test("a verifier remembers what it is asked to", async () => {
  const verifier = new Verifier({ mostKnown: 100 });
  const claims = [claim("eth2", 1), claim("eth2", 2, { valid: false })];
  await verifier.verify(claims);
  assert.equal(verifier.known, 0);
  assert.deepEqual(codes(await verifier.verify(claims, { remember: true })), ["valid", "mismatch"]);
  assert.equal(verifier.known, 1);
  assert.deepEqual(codes(verifier.verifySync(claims)), ["valid", "mismatch"]);
  // What is known says nothing about another signature.
  assert.deepEqual(codes(verifier.verifySync([{ ...claims[0], signature: claims[1].signature }])), ["mismatch"]);
  verifier.forget();
  assert.equal(verifier.known, 0);
  assert.match(verifier.plan(claims), /eth2|claims|pairing/i);
});

test("one signature", async () => {
  const verifier = new Verifier();
  const { suite, publicKey, message, signature } = claim("eth2", 1);
  assert.deepEqual(await verifier.verifyOne(suite, publicKey, message, signature), { valid: true, code: "valid" });
  assert.equal((await verifier.verifyOne(suite, publicKey, text("b"), signature)).code, "mismatch");
  assert.equal((await verifier.verifyOne(suite, publicKey, message, new Uint8Array(3))).code, "encoding");
  await assert.rejects(verifier.verifyOne(suite, publicKey, "text", signature), /^TypeError: message: found a string/);
  await assert.rejects(verifier.verifyOne("eth3", publicKey, message, signature), /^TypeError: claim\.suite: there is no suite/);
});
