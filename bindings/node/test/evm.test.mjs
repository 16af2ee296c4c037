// `quorate/evm` gives the answers of `quorate evm`, which a test of that program keeps in the files of the folder evm.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fromHex } from "quorate";
import { Network, Plan, hubTransaction, possessionDigest, resultsDigest, taskDigest } from "quorate/evm";

const read = (name) => JSON.parse(readFileSync(new URL(`evm/${name}.json`, import.meta.url), "utf8"));
const GROUPS = ["bn254-g2", "bn254-g1", "bls12381-g2", "bls12381-g2-nu"];
const HUBS = GROUPS.slice(1);
const HUB = `0x${"77".repeat(20)}`;

const encoding = (message) => ({ code: "ERR_QUORATE_ENCODING", message });
const misuse = (message) => ({ code: "ERR_QUORATE_MISUSE", message });
const lower = (list) => list.map((text) => text.toLowerCase());

/** The answers of a group, and what they are asked with. */
function asked(group) {
  const answers = read(group);
  const network = new Network(answers.network);
  const order = { results: answers.results, deadline: answers.deadline };
  const signatures = answers.lines.map(({ key, signature }) => ({ member: network.memberOf(key), signature }));
  return { ...answers, network, order, signatures };
}

test("a network's file", () => {
  for (const group of GROUPS) {
    const { network, plan, lines } = asked(group);
    assert.deepEqual(
      [network.keyGroup, network.chainId, network.contract, network.epoch, network.nonce, network.members, network.state],
      [group, plan.chain_id, plan.contract, plan.epoch, 17, 4, plan.state],
    );
    assert.equal(network.required, 3n * (2n ** 53n + 1n));
    assert.deepEqual(lines.map(({ key }) => network.memberOf(fromHex(key))), [0, 1, 3]);
    for (const none of ["", "0x", "0x0", "0xzz", lines[0].key.slice(2)]) assert.equal(network.memberOf(none), undefined);
    assert.throws(() => network.memberOf(7), { name: "TypeError", message: /^key: found a number/ });
  }
});

test("digests", () => {
  for (const group of GROUPS) {
    const { network, order, plan } = asked(group);
    assert.equal(network.digest(order), plan.digest);
    const { chainId, contract: address, epoch, nonce } = network;
    assert.equal(resultsDigest({ chainId, address }, { ...order, epoch, nonce }), plan.digest);
    const settlement = { chainId: BigInt(chainId), address: fromHex(address) };
    assert.equal(resultsDigest(settlement, { ...order, epoch, nonce, store: "none" }), plan.digest);
    const others = [
      { nonce: 18 }, { epoch: 4 }, { store: 0 }, { store: "rental" }, { deadline: "none" }, { results: order.results.slice(1) },
    ].map((other) => resultsDigest({ chainId, address }, { ...order, epoch, nonce, ...other }));
    assert.equal(new Set([plan.digest, ...others]).size, 7);
  }
  // From another implementation: the digest that `evm_operators.rs` compares with, too.
  const known = { results: [`0x${"a1".repeat(32)}`, `0x${"b2".repeat(32)}`], epoch: 3, nonce: 17n, deadline: 1_800_000_000 };
  assert.equal(
    resultsDigest({ chainId: 1, address: "0x5FbDB2315678afecb367f032d93F642f64180aa3" }, known),
    "0xa0ab923e20dc5a483a67192e6e887b95cd5ab4efc8e332e0c233d1d21475b30b",
  );
  const { approved, rejected, possession } = read("digests");
  const contract = { chainId: 2n ** 64n - 1n, address: `0x${"aa".repeat(20)}` };
  const of = (length, byte) => new Uint8Array(length).fill(byte);
  const task = { epoch: 2n ** 64n - 1n, snapshot: of(20, 1), id: of(32, 2), performer: 3, result: of(32, 4), approved: true };
  assert.equal(taskDigest(contract, task), approved);
  assert.equal(taskDigest(contract, { ...task, approved: false }), rejected);
  assert.equal(possessionDigest(contract, of(20, 5), of(128, 6)), possession);
});

test("from signatures to the transaction", async () => {
  for (const group of GROUPS) {
    const { network, order, signatures, aggregate, plan: wanted } = asked(group);
    const { verdicts, signers, weight, heavyEnough, signature } = await network.collect(wanted.digest, signatures);
    assert.deepEqual(verdicts.map(({ code }) => code), ["valid", "valid", "valid"]);
    assert.deepEqual([signers, weight, heavyEnough, signature], [wanted.signers, network.required, true, aggregate.signature]);
    const plan = await network.plan(signers, order);
    assert.deepEqual(
      [plan.digest, plan.state, plan.base, plan.signers, plan.added, plan.removed, plan.weight],
      [wanted.digest, wanted.state, wanted.base ?? undefined, wanted.signers, wanted.added, wanted.removed, weight],
    );
    assert.ok(Math.abs(plan.gas - wanted.gas.total) < 3_000, `${plan.gas} ${wanted.gas.total}`);
    assert.equal(await plan.verify(signature), true);
    const { chainId, to, data, accessList } = await plan.transaction(fromHex(signature));
    assert.deepEqual([chainId, to, data], [wanted.chain_id, wanted.contract, wanted.calldata]);
    assert.deepEqual(accessList, wanted.access_list.map((address) => ({ address, storageKeys: [] })));
    // The signers are another quorum, or the results others: the signature is false.
    for (const other of [await network.plan([0, 1, 2], order), await network.plan(signers, { ...order, store: 0 })]) {
      assert.equal(await other.verify(signature), false);
      assert.equal(await other.transaction(signature), undefined);
    }
    assert.equal((await network.plan([3, 2, 1, 0], order)).base, 0);
  }
});

test("false signatures are verdicts, and are not added", async () => {
  for (const group of GROUPS) {
    const { network, signatures, plan } = asked(group);
    const [first, second, third] = signatures;
    const { verdicts, signers, heavyEnough, signature } = await network.collect(fromHex(plan.digest), [
      { member: 0, signature: second.signature },
      first,
      first,
      { member: 4, signature: third.signature },
      { member: 3, signature: new Uint8Array(fromHex(third.signature).length).fill(1) },
      { member: 3, signature: new Uint8Array(fromHex(third.signature).length) },
      second,
    ]);
    assert.deepEqual(verdicts.map(({ code }) => code), ["mismatch", "valid", "rule", "rule", "encoding", "mismatch", "valid"]);
    assert.match(verdicts[3].reason, /there is no member 4: the network has 4 keys/);
    assert.deepEqual([signers, heavyEnough], [[0, 1], false]);
    assert.notEqual(signature, undefined);
    const none = await network.collect(plan.digest, []);
    assert.deepEqual([none.verdicts, none.signers, none.weight, none.heavyEnough, none.signature], [[], [], 0n, false, undefined]);
    await assert.rejects(network.plan(signers, asked(group).order), misuse(/the quorum is too light: it weighs \d+, and \d+ are required/));
  }
});

test("a signature of a wrong length is a verdict and the others are added", async () => {
  for (const group of GROUPS) {
    const { network, signatures, aggregate, plan } = asked(group);
    const [{ member, signature: text }] = signatures;
    const damaged = [
      "", "0x", "0x0", "0xzz", text.slice(2), text.slice(0, -2), `${text}00`, new Uint8Array(0), fromHex(text).subarray(1),
    ].map((signature) => ({ member, signature }));
    // Each true signature stands between damaged ones.
    const mixed = damaged.flatMap((one, place) => [one, ...signatures.slice(place, place + 1)]);
    const { verdicts, signers, weight, heavyEnough, signature } = await network.collect(plan.digest, mixed);
    assert.deepEqual(verdicts.map(({ code }) => code), mixed.map((one) => (signatures.includes(one) ? "valid" : "encoding")));
    verdicts.forEach(({ valid, reason }, place) => {
      if (!valid) assert.match(reason, new RegExp(`^signatures\\[${place}\\]\\.signature: found `));
    });
    assert.deepEqual([signers, weight, heavyEnough, signature], [plan.signers, network.required, true, aggregate.signature]);
    const none = await network.collect(plan.digest, damaged);
    assert.deepEqual([none.verdicts.length, none.signers, none.signature], [damaged.length, [], undefined]);
  }
});

test("a member whose key in the file does not decode stops nobody else", async () => {
  for (const group of GROUPS) {
    const { network: text, plan, lines } = read(group);
    const file = JSON.parse(text);
    const bytes = file.keys[1].length / 2 - 1;
    // Zeros are the identity. `quorate-chain follow` writes them for a key in G2 that is in no calldata.
    const kept = group === "bn254-g1" ? 64 : 0;
    const broken = file.keys[1].slice(0, 2 + 2 * kept) + "00".repeat(bytes - kept);
    const network = new Network(text.replace(file.keys[1], broken));
    const [first, second, third] = lines.map(({ signature }, place) => ({ member: [0, 1, 3][place], signature }));
    const { verdicts, signers, signature } = await network.collect(plan.digest, [second, first, third]);
    assert.deepEqual(verdicts.map(({ valid, code }) => [valid, code]), [[false, "undecided"], [true, "valid"], [true, "valid"]]);
    assert.match(verdicts[0].reason, /^the network has no key of the member: /);
    assert.deepEqual(signers, [0, 3]);
    assert.notEqual(signature, undefined);
  }
});

test("a posting", async () => {
  for (const group of GROUPS.slice(1)) {
    const { network, order, aggregate, plan: { signers } } = asked(group);
    const plan = await network.plan(signers, order);
    const { to, data, accessList } = await plan.posting(aggregate.signature, { slot: 9 });
    assert.deepEqual([to, accessList], [network.contract, []]);
    // The evidence is the bitmap of 0, 1 and 3, and the signature.
    const evidence = `d0${aggregate.signature.slice(2)}`;
    assert.ok(data.includes((evidence.length / 2).toString(16).padStart(64, "0") + evidence), data);
    const place = { slot: 9, content: `0x${"cd".repeat(32)}`, when: { time: 5, block: 6n } };
    const over = (await plan.posting(aggregate.signature, place)).data;
    assert.ok(over.includes("cd".repeat(32) + "5".padStart(48, "0") + "6".padStart(16, "0")), over);
    const stored = await network.plan(signers, { ...order, store: 0 });
    assert.equal(await stored.posting(aggregate.signature, { slot: 9 }), undefined);
  }
  const { network, order, aggregate, plan: { signers } } = asked("bn254-g2");
  const plan = await network.plan(signers, order);
  await assert.rejects(plan.posting(aggregate.signature, { slot: 0 }), misuse(/no optimistic settlement takes keys of bn254-g2/));
});

test("a hub's transaction", async () => {
  const plans = new Map();
  for (const group of GROUPS) {
    const { network, order, aggregate, plan: { signers } } = asked(group);
    plans.set(group, { plan: await network.plan(signers, order), signature: aggregate.signature });
  }
  for (const group of HUBS) {
    const { hub, lines } = asked(group);
    const { chainId, to, data, accessList } = await hubTransaction(HUB, [plans.get(group)]);
    assert.deepEqual([chainId, to, data], [hub.chain_id, HUB, hub.calldata]);
    assert.deepEqual(lower(accessList.map(({ address }) => address)), lower(hub.access_list));
    // The caller may change its arrays once the call has returned.
    const own = fromHex(HUB);
    const promise = hubTransaction(own, [plans.get(group)]);
    own.fill(0);
    assert.deepEqual(await promise, { chainId, to, data, accessList });
    const { plan } = plans.get(group);
    // One member's signature is not that of the quorum.
    const alone = lines[0].signature;
    assert.equal(await hubTransaction(HUB, [plans.get(group), { plan, signature: alone }]), undefined);
  }
  const all = HUBS.map((group) => plans.get(group));
  await assert.rejects(hubTransaction(HUB, all), misuse(/^signed\[1\] is of chain 31337 and keys of bls12381-g2, and signed/));
  await assert.rejects(hubTransaction(HUB, [plans.get("bn254-g2")]), misuse(/no hub takes keys of bn254-g2/));
  await assert.rejects(hubTransaction(HUB, []), { name: "RangeError", message: /^signed: found none/ });
  const noPlan = { name: "TypeError", message: /^signed\[0\]\.plan: found an? \w+, expected a Plan/ };
  await assert.rejects(hubTransaction(HUB, [{ plan: {}, signature: "0x" }]), noPlan);
});

test("what is wrong is named", async () => {
  const { network, order, plan: wanted, aggregate } = asked("bn254-g2");
  const plan = await network.plan(wanted.signers, order);
  const type = (message) => ({ name: "TypeError", message });
  const range = (message) => ({ name: "RangeError", message });
  assert.throws(() => new Network({}), type(/^text: found an Object, expected the text/));
  assert.throws(() => new Network("{}"), encoding(/^this is not a network: missing field `key_group`.*quorate evm plan --help/));
  const text = read("bn254-g2").network;
  assert.throws(() => new Network(text.replace(/"0x[^"]+"\]/, '"0x00"]')), encoding(/^keys\[3\]: 1 bytes, expected 128/));
  const far = text.replace('"chain_id":31337', `"chain_id":${2n ** 60n}`);
  assert.throws(() => new Network(far), encoding(/^chain_id: found \d+, expected at most/));
  // Numbers that were rounded on their way through JSON.parse do not pass.
  assert.throws(() => new Network(JSON.stringify(JSON.parse(text))), encoding(/^enough: found 3, expected at least 4/));
  for (const [other, error] of [
    [{ results: [] }, range(/^order\.results: found none/)],
    [{ results: ["0x00"] }, encoding(/^order\.results\[0\]: found 1 bytes, expected 32/)],
    [{ results: ["00"] }, encoding(/^order\.results\[0\]: found other text, expected 0x/)],
    [{ results: "0x00" }, type(/^order\.results: found a string, expected an array/)],
    [{ deadline: undefined }, type(/^order\.deadline: found nothing, expected a whole number/)],
    [{ deadline: -1n }, range(/^order\.deadline: found -1/)],
    [{ deadline: 1.5 }, range(/^order\.deadline: found 1\.5/)],
    [{ store: 65534 }, range(/^order\.store: found 65534/)],
    [{ store: "newest" }, type(/^order\.store: found a string, expected a slot, "rental" or "none"/)],
  ]) {
    assert.throws(() => network.digest({ ...order, ...other }), error);
    await assert.rejects(network.plan([0, 1, 3], { ...order, ...other }), error);
  }
  assert.throws(() => network.digest(), type(/^order: found nothing/));
  // A place that nobody has filled is not a result of zeros.
  assert.throws(() => network.digest({ ...order, results: new Array(1) }), type(/^order\.results\[0\]: found nothing/));
  const contract = { chainId: 1, address: `0x${"00".repeat(20)}` };
  const short = { chainId: 1, address: "0x00" };
  assert.throws(() => resultsDigest(short, { ...order, epoch: 1, nonce: 0 }), encoding(/^settlement\.address: found 1 bytes, expected 20/));
  assert.throws(() => resultsDigest(contract, { ...order, epoch: 0, nonce: 0 }), range(/^order\.epoch: found 0/));
  assert.throws(() => resultsDigest(contract, { ...order, epoch: 1, nonce: 2n ** 64n }), range(/^order\.nonce: found/));
  assert.throws(() => taskDigest(contract, { epoch: 1 }), type(/^task\.approved: found nothing/));
  await assert.rejects(network.plan([0, 1, 4], order), misuse(/there is no member 4/));
  await assert.rejects(network.plan([0, 1, 2 ** 32 - 1], order), misuse(/there is no member 4294967295/));
  await assert.rejects(network.plan([0, 1, 1], order), range(/^signers\[2\]: the member 1 stands there twice/));
  await assert.rejects(network.plan([], order), misuse(/the quorum has no signers/));
  const collecting = network.collect(wanted.digest, [{ member: 0, signature: 7 }]);
  await assert.rejects(collecting, type(/^signatures\[0\]\.signature: found a number, expected a Uint8Array, or hexadecimal digits/));
  await assert.rejects(network.collect("0x00", []), encoding(/^digest: found 1 bytes, expected 32/));
  await assert.rejects(plan.verify(`${aggregate.signature}00`), encoding(/^signature: found 65 bytes, expected 64/));
  await assert.rejects(plan.verify(`0x${"11".repeat(64)}`), encoding(/signature/));
  assert.throws(() => new Plan(), type(/^new Plan: call Network\.plan/));
  assert.equal(Plan.settling, undefined);
});
