// Compares with @chainsafe/blst, in turn in one process: `node bench.mjs [rounds]`. Each answer is checked.

import assert from "node:assert/strict";
import { availableParallelism, cpus } from "node:os";
import * as theirs from "@chainsafe/blst";
import { Batcher, SecretKey, Verifier, backends, fromHex } from "quorate";
import * as ours from "quorate/blst";

const ROUNDS = Number(process.argv[2] ?? 15);
const CLAIMS = 128;

/** Claims that differ in all parts, as both interfaces want them. Each round gets messages of its own, so nothing is cached. */
function round(number) {
  return Array.from({ length: CLAIMS }, (_, index) => {
    const material = new Uint8Array(32);
    new DataView(material.buffer).setUint32(0, index);
    const key = SecretKey.derive("eth2", material);
    const message = new Uint8Array(32);
    new DataView(message.buffer).setUint32(0, index);
    new DataView(message.buffer).setUint32(4, number);
    return { suite: "eth2", publicKey: key.publicKey(), message, signature: key.sign(message) };
  });
}

const keysOf = (library, claims) => claims.map(({ publicKey }) => library.PublicKey.fromBytes(publicKey));
const setsOf = (library, claims, pks = keysOf(library, claims)) =>
  claims.map(({ message, signature }, index) => ({
    msg: message,
    pk: pks[index],
    sig: library.Signature.fromBytes(signature),
  }));

const ALL = `${CLAIMS} claims from bytes (ms)`;
const WARM = `${CLAIMS} claims, keys read before (ms)`;
const DECODED = `${CLAIMS} decoded sets (ms)`;
const ONE = "one signature from bytes (ms)";
const ONE_DECODED = "one decoded signature (ms)";
const allValid = (verdicts) => assert.ok(verdicts.length > 0 && verdicts.every(({ valid }) => valid));
const libraries = [
  ["@chainsafe/blst", theirs],
  ["quorate/blst", ours],
];

/** What is measured: a name, an engine, a call, and what is done before the clock starts. */
const cases = [
  ...[
    ["@chainsafe/blst, keys not checked", false],
    ["@chainsafe/blst, keys checked", true],
  ].map(([engine, checked]) => {
    const call = (claims) => assert.equal(theirs.verifyMultipleAggregateSignatures(setsOf(theirs, claims), checked, true), true);
    return [ALL, engine, call];
  }),
  ...[1, "all"].map((threads) => {
    let verifier;
    const call = async (claims) => allValid(await verifier.verify(claims));
    return [ALL, `quorate verify, threads: ${threads}`, call, () => (verifier = new Verifier({ threads }))];
  }),
  ...libraries.map(([engine, library]) => {
    let keys;
    const call = (claims) =>
      assert.equal(library.verifyMultipleAggregateSignatures(setsOf(library, claims, keys), false, true), true);
    return [WARM, engine, call, (claims) => (keys = keysOf(library, claims))];
  }),
  ...[1, "all"].map((threads) => {
    const verifier = new Verifier({ threads });
    return [WARM, `quorate verify, threads: ${threads}`, async (claims) => allValid(await verifier.verify(claims))];
  }),
  ...libraries.map(([engine, library]) => {
    let sets;
    const call = () => assert.equal(library.verifyMultipleAggregateSignatures(sets, false, false), true);
    return [DECODED, engine, call, (claims) => (sets = setsOf(library, claims))];
  }),
  ...libraries.map(([engine, library]) => {
    const call = ([{ publicKey, message, signature }]) => {
      const [pk, sig] = [library.PublicKey.fromBytes(publicKey, true), library.Signature.fromBytes(signature, true)];
      assert.equal(library.verify(message, pk, sig), true);
    };
    return [ONE, engine, call];
  }),
  oneByOne(),
  ...libraries.map(([engine, library]) => {
    let set;
    const call = () => assert.equal(library.verify(set.msg, set.pk, set.sig), true);
    return [ONE_DECODED, engine, call, (claims) => ([set] = setsOf(library, claims.slice(0, 1)))];
  }),
];

function oneByOne() {
  let verifier;
  const call = async ([{ suite, publicKey, message, signature }]) =>
    allValid([await verifier.verifyOne(suite, publicKey, message, signature)]);
  return [ONE, "quorate verifyOne", call, () => (verifier = new Verifier())];
}

const times = cases.map(() => []);
for (let number = 0; number < ROUNDS + 2; number += 1) {
  const claims = round(number);
  for (let place = 0; place < cases.length; place += 1) {
    const [, , call, prepare] = cases[place];
    prepare?.(claims);
    const start = performance.now();
    await call(claims);
    // The first two rounds only warm up.
    if (number >= 2) times[place].push(performance.now() - start);
  }
}

const batcher = new Batcher();
const batched = [];
for (let number = 0; number < ROUNDS; number += 1) {
  const claims = round(ROUNDS + 2 + number);
  const start = performance.now();
  const verdicts = await Promise.all(claims.map((claim) => batcher.submit(claim)));
  batched.push(performance.now() - start);
  assert.ok(verdicts.every(({ valid }) => valid));
}
await batcher.stop();

/**
 * The sets of a block, which @chainsafe/blst verifies on the event loop: the whole time with both, and how long the loop was busy with the
 * call of `quorate/blst`. One that was busy for all of it would have no time for anything else.
 */
const blocks = [];
for (const count of [7, CLAIMS]) {
  const [whole, returned, busy, beside] = [[], [], [], []];
  for (let number = 0; number < ROUNDS; number += 1) {
    const claims = round(2 * ROUNDS + 2 + number).slice(0, count);
    const [own, other] = [setsOf(ours, claims), setsOf(theirs, claims)];
    let start = performance.now();
    assert.equal(theirs.verifyMultipleAggregateSignatures(other, false, false), true);
    beside.push(performance.now() - start);
    const before = performance.eventLoopUtilization();
    start = performance.now();
    const promise = ours.asyncVerifyMultipleAggregateSignatures(own);
    returned.push(performance.now() - start);
    assert.equal(await promise, true);
    whole.push(performance.now() - start);
    busy.push(performance.eventLoopUtilization(before).active);
  }
  blocks.push(
    [`a block's ${count} sets (ms)`, "@chainsafe/blst", beside],
    [`a block's ${count} sets (ms)`, "quorate/blst, async", whole],
    [`a block's ${count} sets (ms)`, "quorate/blst, until the call returns", returned],
    [`a block's ${count} sets (ms)`, "quorate/blst, the event loop is busy", busy],
  );
}

/** The cheapest calls, in milliseconds for 1,000. */
function thousand(call) {
  return Array.from({ length: ROUNDS }, () => {
    const start = performance.now();
    for (let index = 0; index < 1000; index += 1) call();
    return performance.now() - start;
  });
}

const verifier = new Verifier();
const digits = `0x${"ab".repeat(48)}`;
const key = ours.SecretKey.fromKeygen(new Uint8Array(32)).toPublicKey();
const theirKey = theirs.SecretKey.fromKeygen(new Uint8Array(32)).toPublicKey();
const cheap = [
  ["cheapest call (µs)", "quorate verifier.known", thousand(() => verifier.known)],
  ["a call without claims (µs)", "quorate verifySync([])", thousand(() => verifier.verifySync([]))],
  ["a key to bytes (µs)", "quorate/blst toBytes", thousand(() => key.toBytes())],
  ["a key to bytes (µs)", "@chainsafe/blst toBytes", thousand(() => theirKey.toBytes())],
  ["48 bytes from text (µs)", "quorate fromHex", thousand(() => fromHex(digits))],
];

const rows = [
  ...cases.map(([what, engine], place) => [what, engine, times[place]]),
  [`${CLAIMS} claims, one by one (ms)`, "quorate Batcher", batched],
  ...blocks,
  ...cheap,
];
console.log(`${cpus()[0].model}, ${availableParallelism()} threads, Node ${process.version}, backend ${backends()[0]}, ${ROUNDS} rounds`);
console.table(
  rows.map(([what, engine, all]) => {
    const sorted = [...all].sort((one, two) => one - two);
    const round = (value) => Number(value.toPrecision(3));
    return { what, engine, least: round(sorted[0]), median: round(sorted[sorted.length >> 1]) };
  }),
);
