// The examples of the README in Node's WebAssembly engine: `node test.mjs PROGRAM EXAMPLES`.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";

const [program, examples] = process.argv.slice(2);
const { instance } = await WebAssembly.instantiate(readFileSync(program), {});
const quorate = instance.exports;

const write = (bytes) => {
  const place = quorate.room(bytes.length);
  new Uint8Array(quorate.memory.buffer, place, bytes.length).set(bytes);
};
const read = (length) => Buffer.from(quorate.memory.buffer, quorate.answer(), length);
const word = (number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(number);
  return bytes;
};
const ofHex = (text) => Buffer.from(text.replace(/^0x/, ""), "hex");

function push(claim) {
  const keys = claim.public_keys ?? [claim.public_key];
  const messages = claim.messages ?? [claim.message];
  const strings = [
    Buffer.from(claim.suite),
    word(keys.length),
    ...[...keys, ...messages, claim.signature].map(ofHex),
  ];
  write(Buffer.concat(strings.flatMap((bytes) => [word(bytes.length), bytes])));
  assert.equal(quorate.push(), 1, `${claim.id} is a claim`);
}

function verify(claims) {
  claims.forEach(push);
  write(crypto.getRandomValues(new Uint8Array(32)));
  const started = performance.now();
  const verdicts = [...read(quorate.verify())].map(Boolean);
  console.log(`${claims.length} claims in ${(performance.now() - started).toFixed(0)} ms`);
  return verdicts;
}

const claimsOf = (name) =>
  readFileSync(join(examples, name), "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));

const claims = claimsOf("claims.jsonl");
assert.ok(claims.length >= 6);
assert.deepEqual(verify(claims), claims.map(() => true));

// One is false, and the batch says which, as the command line does.
const oneFalse = claimsOf("one-false.jsonl");
const verdicts = verify(oneFalse);
assert.equal(verdicts.filter((valid) => !valid).length, 1);
for (const [index, claim] of oneFalse.entries()) {
  push(claim);
  const text = read(quorate.verify_last()).toString();
  assert.equal(text === "valid", verdicts[index], `${claim.id}: ${text}`);
}

// Without a seed there is no verdict, and the claims are forgotten, so that none stands before those that come next. What is no claim is
// refused.
write(new Uint8Array(31));
assert.equal(quorate.verify(), 0);
assert.deepEqual(verify([]), []);
for (const bytes of [[], [1], [4, 0, 0, 0, 1], [255, 255, 255, 255], [0, 0, 0, 0, 0, 0, 0, 0]]) {
  write(Uint8Array.from(bytes));
  assert.equal(quorate.push(), 0);
}
console.log("test result: ok");
