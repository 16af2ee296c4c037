// What happens around a call: the event loop, signals that abort, worker threads, memory.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { Verifier, verify } from "quorate";
import * as blst from "quorate/blst";
import { claim } from "./made.mjs";

/** Runs Node in the folder of the package. */
const run = (args) => promisify(execFile)(process.execPath, args, { cwd: new URL("..", import.meta.url) });

/** The longest time in milliseconds in which the event loop did nothing else, until a promise is settled. */
async function longestBlock(promise) {
  let [last, longest, settled] = [performance.now(), 0, false];
  const done = promise.finally(() => (settled = true));
  while (!settled) {
    await new Promise(setImmediate);
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }
  return { longest, result: await done };
}

test("2,000 claims do not block the event loop", async (context) => {
  const some = Array.from({ length: 50 }, (_, number) => claim("eth2", number, { valid: number !== 7 }));
  const claims = Array.from({ length: 2000 }, (_, index) => some[index % some.length]);
  const distinct = await verify(some);
  // A call on this thread would block for the whole time, each time. A busy machine stops this thread now and then for as long.
  let blocks = "";
  for (let round = 0; round < 20; round += 1) {
    const start = performance.now();
    const promise = verify(claims);
    const returned = performance.now() - start;
    const { longest, result } = await longestBlock(promise);
    const whole = performance.now() - start;
    assert.deepEqual(result.slice(0, 50), distinct);
    assert.equal(result.filter(({ valid }) => !valid).length, 40);
    if (returned < whole / 2 && longest < whole / 2) {
      const idle = await longestBlock(new Promise((resolve) => setTimeout(resolve, whole)));
      const [all, call, blocked, otherwise] = [whole, returned, longest, idle.longest].map((time) => `${time.toFixed(1)} ms`);
      context.diagnostic(`2,000 claims: ${all} in all, ${call} until the call returned`);
      context.diagnostic(`the longest block of the event loop after it: ${blocked}; of an idle one: ${otherwise}`);
      return;
    }
    blocks += `\nthe call returned after ${returned} of ${whole} ms, and then the event loop was blocked for ${longest} ms`;
  }
  assert.fail(blocks);
});

test("a block's sets keep the event loop for a millisecond at most", async (context) => {
  for (const count of [7, 130]) {
    const claims = Array.from({ length: count }, (_, number) => claim("eth2", number));
    const sets = claims.map(({ publicKey, message, signature }) => ({
      msg: message,
      pk: blst.PublicKey.fromBytes(publicKey),
      sig: blst.Signature.fromBytes(signature),
    }));
    const forged = sets.with(count >> 1, { ...sets[count >> 1], sig: sets[0].sig });
    const [returned, busy] = [[], []];
    // The least of some rounds: in others, the machine does something else meanwhile. A busy one has more rounds.
    const isEnough = (round) => round >= 10 && Math.min(...returned) <= 1 && Math.min(...busy) <= 1;
    for (let round = 0; round < 300 && !isEnough(round); round += 1) {
      const before = performance.eventLoopUtilization();
      const start = performance.now();
      const promise = blst.asyncVerifyMultipleAggregateSignatures(round % 2 === 0 ? sets : forged);
      returned.push(performance.now() - start);
      assert.equal(await promise, round % 2 === 0);
      busy.push(performance.eventLoopUtilization(before).active);
    }
    const [call, loop] = [Math.min(...returned), Math.min(...busy)];
    context.diagnostic(`${count} sets: ${call.toFixed(2)} ms until the call returned, the event loop was busy for ${loop.toFixed(2)} ms`);
    assert.ok(call <= 1, `${count} sets: the call returned after ${returned} ms`);
    assert.ok(loop <= 1, `${count} sets: the event loop was busy for ${busy} ms`);
  }
});

test("calls at the same time get their own verdicts", async () => {
  const verifier = new Verifier();
  const calls = Array.from({ length: 40 }, (_, number) => {
    const valid = number % 3 !== 0;
    return verifier.verify([claim("eth2", number, { valid })]).then(([verdict]) => assert.equal(verdict.valid, valid));
  });
  await Promise.all(calls);
});

/** Runs a program with this message, claims of it, and a pool of libuv with two threads. `before` stands in front of its command. */
const runWith = (program, before = []) => {
  const source = `
    import { execFileSync } from "node:child_process";
    import { mkdtempSync, openSync, promises, rmSync } from "node:fs";
    import { tmpdir } from "node:os";
    import { join } from "node:path";
    import { Batcher, KeySet, SecretKey, verify } from "quorate";
    import * as blst from "quorate/blst";
    const key = SecretKey.generate("eth2");
    const message = new Uint8Array(32);
    const [publicKey, signature] = [key.publicKey(), key.sign(message)];
    const claims = new Array(300).fill({ suite: "eth2", publicKey, message, signature });
    ${program}
  `;
  const options = { cwd: new URL("..", import.meta.url), env: { ...process.env, UV_THREADPOOL_SIZE: "2" }, timeout: 120_000 };
  const [file, ...rest] = [...before, process.execPath, "--input-type=module", "--eval", source];
  return promisify(execFile)(file, rest, options);
};

test("calls do not wait for libuv's pool", async () => {
  const { stdout } = await runWith(`
    const folder = mkdtempSync(join(tmpdir(), "quorate-"));
    const pipe = join(folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    // Each keeps a thread of libuv until somebody opens the pipe to write.
    let opened = 0;
    const readers = [1, 2, 3].map(() => promises.open(pipe, "r").finally(() => (opened += 1)));
    const set = new KeySet("eth2");
    set.push([publicKey], { assumePossession: true });
    const batcher = new Batcher();
    const pk = blst.PublicKey.fromBytes(publicKey);
    const answers = [
      (await verify(claims)).every(({ valid }) => valid),
      (await set.verify([0], message, signature)).valid,
      (await batcher.submit(claims[0])).valid,
      (await batcher.stop(10)) === undefined,
      await blst.asyncVerify(message, pk, blst.Signature.fromBytes(signature)),
    ];
    console.log(answers.join(), opened);
    openSync(pipe, "r+");
    await Promise.all(readers);
    rmSync(folder, { recursive: true });
    process.exit();
  `);
  assert.equal(stdout, "true,true,true,true,true 0\n");
});

test("libuv's pool does not wait for calls", async () => {
  const { stdout } = await runWith(`
    // In one pool, the file would come behind all calls, each time. A busy machine stops this thread now and then until all are done.
    let isBefore = false;
    for (let round = 0; round < 20 && !isBefore; round += 1) {
      let settled = 0;
      const calls = Array.from({ length: 40 }, () => verify(claims).finally(() => (settled += 1)));
      await promises.readFile("package.json");
      isBefore = settled < 20;
      await Promise.all(calls);
    }
    console.log(isBefore);
  `);
  assert.equal(stdout, "true\n");
});

test("a full queue refuses calls until it has room", async () => {
  const [, core] = /^Cpus_allowed_list:\s*(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"));
  // On one core there is one thread for calls. It has the first one while the others are made.
  const { stdout } = await runWith(`
    const controller = new AbortController();
    const { signal } = controller;
    const busy = verify(new Array(20_000).fill(claims[0]), { backend: "portable" });
    const long = [{ ...claims[0], message: new Uint8Array(2 ** 25) }];
    const calls = Array.from({ length: 10 }, () => verify(long, { signal }));
    const ended = Promise.allSettled(calls);
    await calls.at(-1).catch(({ code, message }) => console.log(code, message));
    controller.abort();
    const ends = await ended;
    console.log(ends[0].reason?.code);
    await busy;
    console.log((await verify([claims[0]]))[0].valid);
  `, ["taskset", "--cpu-list", core]);
  const [full, ...others] = stdout.trimEnd().split("\n");
  assert.match(full, /^ERR_QUORATE_QUEUE_FULL queue full: found \d+ bytes of calls that wait for their turn and \d+ of this one, expected 268435456 at most; await earlier calls/);
  assert.deepEqual(others, ["ABORT_ERR", "true"]);
});

test("a signal aborts a call", async () => {
  const claims = [claim("eth2", 1)];
  const aborted = { name: "AbortError", code: "ABORT_ERR" };
  await assert.rejects(verify(claims, { signal: AbortSignal.abort("why") }), { ...aborted, cause: "why" });
  const controller = new AbortController();
  const promise = verify(claims, { signal: controller.signal });
  controller.abort();
  await assert.rejects(promise, aborted);
  // Too late: the verdict stands.
  const late = new AbortController();
  assert.equal((await verify(claims, { signal: late.signal }))[0].valid, true);
  late.abort();
  await assert.rejects(verify(claims, { signal: "stop" }), /^TypeError: options\.signal: found a string/);
  // A wrong claim is an error of its own.
  await assert.rejects(verify([1], { signal: new AbortController().signal }), TypeError);
});

test("worker threads verify at the same time, and can be ended meanwhile", async () => {
  const source = `
    import { parentPort, workerData } from "node:worker_threads";
    import { Batcher, verify } from "quorate";
    const batcher = new Batcher();
    const [all, one] = await Promise.all([verify(workerData), batcher.submit(workerData[1])]);
    parentPort.postMessage({ all, one });
  `;
  const claims = [claim("eth2", 1), claim("eth2", 2, { valid: false })];
  const start = (code) => {
    const named = code.replace('"quorate"', JSON.stringify(import.meta.resolve("quorate")));
    return new Worker(new URL(`data:text/javascript,${encodeURIComponent(named)}`), { workerData: claims });
  };
  const answers = await Promise.all(
    [1, 2, 3].map(() => new Promise((resolve, reject) => start(source).once("message", resolve).once("error", reject))),
  );
  for (const { all, one } of answers) {
    assert.deepEqual(all.map(({ code }) => code), ["valid", "mismatch"]);
    assert.equal(one.code, "mismatch");
  }
  // Ended while claims wait.
  const busy = `
    import { parentPort, workerData } from "node:worker_threads";
    import { Batcher, verify } from "quorate";
    const batcher = new Batcher({ lingerMs: 1000 });
    const many = Array.from({ length: 200 }, (_, index) => workerData[index % 2]);
    for (const claim of many) batcher.submit(claim).catch(() => {});
    for (let call = 0; call < 20; call += 1) verify(many).catch(() => {});
    parentPort.postMessage("busy");
  `;
  for (let round = 0; round < 5; round += 1) {
    const worker = start(busy);
    await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
    await worker.terminate();
  }
  assert.equal((await verify(claims))[0].valid, true);
});

test("a worker thread can be ended while its calls wait for their turn", async () => {
  const busy = `
    import { parentPort } from "node:worker_threads";
    import { SecretKey, verify } from ${JSON.stringify(import.meta.resolve("quorate"))};
    const key = SecretKey.generate("eth2");
    const [publicKey, message] = [key.publicKey(), new Uint8Array(32)];
    const claims = new Array(300).fill({ suite: "eth2", publicKey, message, signature: key.sign(message) });
    // So much memory goes back to the system when it is freed: a call that reads the worker's array later ends the process.
    verify([{ ...claims[0], message: new Uint8Array(2 ** 26), signature: new Uint8Array(1) }]).catch(() => {});
    for (let call = 0; call < 40; call += 1) verify(claims).catch(() => {});
    parentPort.postMessage("busy");
  `;
  const { stdout } = await runWith(`
    const { once } = await import("node:events");
    const { Worker } = await import("node:worker_threads");
    const worker = new Worker(new URL(${JSON.stringify(`data:text/javascript,${encodeURIComponent(busy)}`)}));
    await once(worker, "message");
    await worker.terminate();
    // Calls have their turns in their order, so all of the worker's have had theirs when this one has ended.
    console.log((await verify([claims[0]]))[0].valid);
  `);
  assert.equal(stdout, "true\n");
});

/**
 * Has so many calls wait for their turn that each thread of the pool has 20, which `abandon` gives up, and prints whether until the end of a
 * call after them the process computes less than half of them. That is its own CPU time, whatever else the machine does.
 */
const runBehind = (abandon) => runWith(`
  const { once } = await import("node:events");
  const { availableParallelism } = await import("node:os");
  const { Worker } = await import("node:worker_threads");
  const many = Array.from({ length: 300 }, (_, number) => {
    const message = Uint8Array.of(number, number >> 8);
    return { suite: "eth2", publicKey, message, signature: key.sign(message) };
  });
  const call = async () => {
    const verdicts = await verify(many);
    if (!verdicts.every(({ valid }) => valid)) throw new Error("wrong verdict");
  };
  const spent = (since) => {
    const { user, system } = process.cpuUsage(since);
    return user + system;
  };
  await call();
  const calls = 20 * availableParallelism();
  const first = process.cpuUsage();
  await call();
  const one = spent(first);
  const second = process.cpuUsage();
  ${abandon}
  await call();
  const all = spent(second);
  console.log(all < (calls / 2) * one || \`\${all} µs of CPU for \${calls} calls of \${one} µs\`);
`);

test("calls of a worker thread that has ended are not computed", async () => {
  const busy = `
    import { parentPort, workerData } from "node:worker_threads";
    import { verify } from ${JSON.stringify(import.meta.resolve("quorate"))};
    for (let call = 0; call < workerData.calls; call += 1) verify(workerData.many).catch(() => {});
    parentPort.postMessage("busy");
  `;
  const { stdout } = await runBehind(`
    const file = new URL(${JSON.stringify(`data:text/javascript,${encodeURIComponent(busy)}`)});
    const worker = new Worker(file, { workerData: { calls, many } });
    await once(worker, "message");
    await worker.terminate();
  `);
  assert.equal(stdout, "true\n");
});

test("calls that were aborted before their turn are not computed", async () => {
  const { stdout } = await runBehind(`
    const controller = new AbortController();
    const aborted = Array.from({ length: calls }, () => verify(many, { signal: controller.signal }));
    controller.abort();
    const ends = await Promise.allSettled(aborted);
    if (!ends.every(({ reason }) => reason?.code === "ABORT_ERR")) throw new Error("not aborted");
  `);
  assert.equal(stdout, "true\n");
});

test("the process can end while claims are verified", async () => {
  const script = `
    import { Batcher, SecretKey, verify } from "quorate";
    const key = SecretKey.generate("eth2");
    const message = new Uint8Array(32);
    const claims = new Array(300).fill({ suite: "eth2", publicKey: key.publicKey(), message, signature: key.sign(message) });
    const batcher = new Batcher();
    for (let call = 0; call < 8; call += 1) verify(claims);
    for (const claim of claims) batcher.submit(claim);
    setTimeout(() => process.exit(7), 5);
  `;
  for (let round = 0; round < 5; round += 1) {
    const call = run(["--input-type=module", "--eval", script]);
    await assert.rejects(call, ({ code, signal, stderr }) => code === 7 && signal === null && stderr === "");
  }
});

test("V8 is told how much memory sets and verifiers have, until they are closed or forgotten", async () => {
  const script = `
    import { createRequire } from "node:module";
    import { KeySet, SecretKey, Verifier } from "quorate";
    const { externalMemory } = createRequire(import.meta.url)("./lib/native.js");
    const secret = SecretKey.generate("eth2");
    const publicKey = secret.publicKey();
    const claims = Array.from({ length: 500 }, (_, number) => {
      const message = Uint8Array.of(number, number >> 8);
      return { suite: "eth2", publicKey, message, signature: secret.sign(message) };
    });
    const makers = {
      set() {
        const set = new KeySet("eth2");
        for (let half = 0; half < 2; half += 1) set.push(new Array(1_500).fill(publicKey), { assumePossession: true });
        return set;
      },
      verifier() {
        const verifier = new Verifier();
        verifier.verifySync(claims, { remember: true });
        return verifier;
      },
    };
    // What was forgotten is finalized between two tasks.
    async function told() {
      for (let round = 0; round < 10; round += 1) {
        gc();
        await new Promise(setImmediate);
      }
      return externalMemory();
    }
    for (const [name, make] of Object.entries(makers)) {
      const before = await told();
      const kept = [make(), make()];
      const both = (await told()) - before;
      kept.pop().close();
      const one = (await told()) - before;
      kept.pop();
      const none = (await told()) - before;
      console.log(JSON.stringify({ name, both, one, none }));
    }
  `;
  const { stdout } = await run(["--expose-gc", "--input-type=module", "--eval", script]);
  const found = stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(found.map(({ name }) => name), ["set", "verifier"]);
  // Arrays of the program itself come and go beside them.
  const about = (expected) => (bytes) => Math.abs(bytes - expected) < 100_000;
  for (const { name, both, one, none } of found) {
    const of = name === "set" ? 3_000 * 128 : 500 * 675 + 500 * 170;
    assert.ok(about(2 * of)(both) && about(of)(one) && about(0)(none), `${name}: ${both}, ${one}, ${none} bytes, expected ${of} for each`);
  }
});

// QUORATE_CALLS is how many calls are counted, if not 200,000.
test("cheap calls keep no memory", async (context) => {
  const calls = Number(process.env.QUORATE_CALLS ?? 200_000);
  const script = `
    import { Verifier, checkSignature, verifySync } from "quorate";
    const verifier = new Verifier();
    const claims = [{ suite: "eth2", publicKey: new Uint8Array(3), message: new Uint8Array(8), signature: new Uint8Array(96) }];
    const resident = () => { gc(); gc(); return process.memoryUsage().rss / 2 ** 20; };
    async function run(calls) {
      for (let call = 0; call < calls; call += 1) {
        if (verifier.verifySync(claims)[0].code !== "encoding") throw new Error("wrong verdict");
        try { checkSignature("eth2", claims[0].signature); throw new Error("no error"); } catch (error) {
          if (error.code !== "ERR_QUORATE_ENCODING") throw error;
        }
        if (call % 10 === 0) await verifier.verify(claims);
      }
    }
    await run(20_000);
    const before = resident();
    await run(${calls});
    console.log(JSON.stringify({ before, after: resident() }));
  `;
  const { stdout } = await run(["--expose-gc", "--input-type=module", "--eval", script]);
  const { before, after } = JSON.parse(stdout);
  context.diagnostic(`resident memory: ${before.toFixed(1)} MiB before, ${after.toFixed(1)} MiB after ${calls} more calls`);
  assert.ok(after < before + 12, `resident memory grew from ${before} to ${after} MiB`);
});
