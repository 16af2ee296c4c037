import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { test } from "node:test";
import { Batcher, RefusedError } from "quorate";
import { VARIANTS, claim } from "./made.mjs";

test("500 claims, some of them false", async () => {
  // All of them wait at once, also where a machine is slow.
  const batcher = new Batcher({ threads: 2, queueMs: 60_000 });
  const some = Array.from({ length: 100 }, (_, number) => claim(VARIANTS[number % 2], number, { valid: number % 9 !== 0 }));
  const verdicts = await Promise.all(
    Array.from({ length: 500 }, (_, index) => {
      const options = [undefined, { class: "duty" }, { class: "block", deadlineMs: 60_000 }][index % 3];
      return batcher.submit(some[index % 100], options);
    }),
  );
  verdicts.forEach(({ valid, code }, index) => {
    assert.equal(valid, (index % 100) % 9 !== 0, String(index));
    assert.equal(code, valid ? "valid" : "mismatch");
  });
  assert.equal(batcher.pending, 0);
  await batcher.stop();
});

test("what does not decode is a verdict", async () => {
  const batcher = new Batcher();
  const good = claim("eth2", 1);
  assert.equal((await batcher.submit({ ...good, signature: new Uint8Array(0) })).code, "encoding");
  assert.equal((await batcher.submit({ ...good, publicKey: undefined, publicKeys: [] })).code, "rule");
  assert.deepEqual(await batcher.submit(good), { valid: true, code: "valid" });
  await batcher.stop();
});

test("a refusal is no verdict", async () => {
  const batcher = new Batcher({ lingerMs: 1000 });
  const waiting = batcher.submit(claim("eth2", 1)).catch((error) => error);
  await batcher.stop();
  const answer = await waiting;
  assert.ok(answer.valid === true || (answer instanceof RefusedError && answer.code === "stopped"));
  await assert.rejects(batcher.submit(claim("eth2", 1)), { name: "RefusedError", code: "stopped" });
  await batcher.stop(10);

  const small = new Batcher({ queueBytes: 1 });
  await assert.rejects(small.submit(claim("eth2", 1)), { name: "RefusedError", code: "overloaded" });
  await small.stop();
});

test("the shortest deadline is one", async () => {
  const batcher = new Batcher({ threads: 1 });
  // A microsecond has passed before a thread takes the claim up.
  const late = batcher.submit(claim("eth2", 1), { deadlineMs: Number.MIN_VALUE });
  await assert.rejects(late, { name: "RefusedError", code: "deadline-passed" });
  await batcher.stop();
});

test("a source of false claims is banned, and others are not", async () => {
  const batcher = new Batcher({ threads: 1 });
  const [good, bad] = [claim("eth2", 1), claim("eth2", 2, { valid: false })];
  const answers = [];
  for (let round = 0; round < 200; round += 1) {
    answers.push(await batcher.submit({ ...bad, source: "liar" }).then(({ code }) => code, ({ code }) => code));
    if (answers.at(-1) === "banned") break;
  }
  assert.equal(answers[0], "mismatch");
  assert.equal(answers.at(-1), "banned");
  await assert.rejects(batcher.submit({ ...good, source: "liar" }), { name: "RefusedError", code: "banned" });
  assert.equal((await batcher.submit({ ...good, source: "honest" })).valid, true);
  await batcher.stop();
});

test("wrong arguments are errors", async () => {
  const batcher = new Batcher();
  const good = claim("eth2", 1);
  await assert.rejects(batcher.submit({ ...good, signature: "0x" }), /^TypeError: claim\.signature: found a string/);
  await assert.rejects(batcher.submit([good]), /^TypeError: claim\.suite: found nothing/);
  await assert.rejects(batcher.submit(good, { class: "urgent" }), /^TypeError: options\.class: found a string, expected block/);
  for (const deadlineMs of [0, -1, NaN, Infinity, 3_600_001]) await assert.rejects(batcher.submit(good, { deadlineMs }), RangeError);
  await assert.rejects(batcher.stop(-1), /^RangeError: ms: found -1, expected a number of milliseconds from 0 to 3600000$/);
  await assert.rejects(batcher.stop("1"), /^TypeError: ms: found a string, expected a number of milliseconds$/);
  for (const options of [{ lingerMs: 0 }, { queueBytes: 0.5 }, { threads: 0 }]) {
    assert.throws(() => new Batcher(options), RangeError);
  }
  assert.throws(() => new Batcher({ backend: "abacus" }), { code: "ERR_QUORATE_MISUSE" });
  assert.equal(batcher.pending, 0);
  await batcher.stop();
});

test("a signal ends the wait for an answer", async () => {
  const batcher = new Batcher();
  const controller = new AbortController();
  const promise = batcher.submit(claim("eth2", 1), { signal: controller.signal });
  controller.abort();
  await assert.rejects(promise, { name: "AbortError" });
  assert.equal((await batcher.submit(claim("eth2", 1))).valid, true);
  await batcher.stop();
});

test("the process waits for answers, and then ends", async () => {
  const script = `
    import { Batcher, SecretKey } from "quorate";
    const key = SecretKey.generate("eth2");
    const message = new Uint8Array(32);
    const claim = { suite: "eth2", publicKey: key.publicKey(), message, signature: key.sign(message) };
    // Nobody stops it, and nobody awaits the answer.
    new Batcher({ lingerMs: 50 }).submit(claim).then(({ code }) => console.log(code));
    new Batcher();
  `;
  const start = performance.now();
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: new URL("..", import.meta.url),
    timeout: 300_000,
  });
  assert.equal(stdout, "valid\n");
  assert.ok(performance.now() - start < 300_000);
});

test("batchers that nobody holds end their threads", async () => {
  const script = `
    import { readdirSync } from "node:fs";
    import { Batcher, SecretKey } from "quorate";
    const key = SecretKey.generate("eth2");
    const message = new Uint8Array(32);
    const claim = { suite: "eth2", publicKey: key.publicKey(), message, signature: key.sign(message) };
    for (let made = 0; made < 50; made += 1) {
      await new Batcher({ threads: 2 }).submit(claim);
      gc();
      await new Promise(setImmediate);
    }
    const threads = () => readdirSync("/proc/self/task").length;
    for (const begun = Date.now(); Date.now() - begun < 60_000;) {
      gc();
      await new Promise((resolve) => setTimeout(resolve, 100));
      if (threads() < 50) break;
    }
    console.log(threads());
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", "--input-type=module", "--eval", script], {
    cwd: new URL("..", import.meta.url),
  });
  assert.ok(Number(stdout) < 50, `${stdout} threads`);
});
