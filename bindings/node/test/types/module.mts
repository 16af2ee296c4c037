// Compiles only if the types are those of index.d.ts. It is not run.

import {
  AbortError,
  Batcher,
  KeySet,
  RefusedError,
  SecretKey,
  Verifier,
  aggregate,
  aggregatePublicKeys,
  backends,
  bdnAggregate,
  checkPublicKey,
  checkSignature,
  fromHex,
  subtract,
  suites,
  verify,
  verifySync,
} from "quorate";
import type { Claim, Suite, Verdict } from "quorate";
import * as ours from "quorate/blst";
import { Network, Plan, hubTransaction, possessionDigest, resultsDigest, taskDigest } from "quorate/evm";
import type { Collected, Contract, Hex, Order, Transaction } from "quorate/evm";

const key: SecretKey = SecretKey.generate("eth2");
const bytes: Uint8Array = key.sign(Buffer.from("a"));
const single: Claim = { suite: "eth2", publicKey: bytes, message: bytes, signature: bytes, source: "peer" };
const claims: Claim[] = [
  single,
  { suite: "drand-quicknet", publicKeys: [bytes], messages: [bytes], signature: bytes },
  { suite: "eigenlayer", publicKeys: [bytes], message: bytes, signature: bytes },
  { suite: "eth2", publicKey: bytes, possession: true, signature: bytes },
  { suite: "eth2", keySet: new KeySet("eth2"), members: bytes, message: bytes, signature: bytes },
  { suite: "eth2", keySet: new KeySet("eth2"), members: [0, 2], messages: [bytes, bytes], signature: bytes },
];

// @ts-expect-error: no such suite
({ suite: "eth3", publicKey: bytes, message: bytes, signature: bytes }) satisfies Claim;
// @ts-expect-error: a key as text
({ suite: "eth2", publicKey: "0x", message: bytes, signature: bytes }) satisfies Claim;
// @ts-expect-error: one key and several
({ suite: "eth2", publicKey: bytes, publicKeys: [bytes], message: bytes, signature: bytes }) satisfies Claim;
// @ts-expect-error: a key and members
({ suite: "eth2", publicKey: bytes, keySet: new KeySet("eth2"), members: [0], message: bytes, signature: bytes }) satisfies Claim;
// @ts-expect-error: a set without members
({ suite: "eth2", keySet: new KeySet("eth2"), message: bytes, signature: bytes }) satisfies Claim;
// @ts-expect-error: a message in a proof of possession
({ suite: "eth2", publicKey: bytes, message: bytes, possession: true, signature: bytes }) satisfies Claim;
// @ts-expect-error: no message
({ suite: "eth2", publicKey: bytes, signature: bytes }) satisfies Claim;
// @ts-expect-error: a promise is no verdict
verify(claims).valid;
// @ts-expect-error: a secret has no public constructor
new SecretKey();
// @ts-expect-error: 80 bits are not offered
new Verifier({ soundness: 80 });

const reasonOf = (verdict: Verdict): string => {
  if (verdict.valid) {
    const code: "valid" = verdict.code;
    return code;
  }
  const code: "mismatch" | "encoding" | "rule" | "key-set" | "undecided" = verdict.code;
  return `${code}: ${verdict.reason.trim()}`;
};

const verifier = new Verifier({ threads: "all", soundness: 128, backend: "portable", mostKnown: 7 });
const signal = new AbortController().signal;
export const verdicts: string[] = [
  ...(await verify(claims, { signal, threads: 2 })),
  ...verifySync(claims),
  ...(await verifier.verify(claims, { remember: true, signal })),
  await verifier.verifyOne("eth2", bytes, bytes, bytes),
].map(reasonOf);

const names: Suite[] = suites().map(({ name }) => name);
const lengths: number[] = suites().map(({ publicKeyLength, signatureLength }) => publicKeyLength + signatureLength);
const texts: string[] = [...names, ...backends(), verifier.plan(claims), key.suite];
const numbers: number[] = [...lengths, verifier.known];
const arrays: Uint8Array[] = [
  aggregate("eth2", [bytes]),
  aggregatePublicKeys("eth2", [bytes]),
  bdnAggregate("BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_BDN_", [bytes], [bytes]),
  subtract("eth2", bytes, [bytes]),
  fromHex("0x00"),
  key.toBytes(),
  key.publicKey(),
  key.prove(),
];
key.close();
checkPublicKey("eth2", bytes);
checkSignature("eth2", bytes);

const set = new KeySet("eth2");
set.push(arrays, { assumePossession: true });
const proven: boolean = set.prove(0, bytes);
const sums: Uint8Array[] = [set.sum([0, 1]), set.sum(Uint8Array.of(3))];
const agreed: Verdict[] = [await set.verify([0], bytes, bytes, { signal }), set.verifySync([0], bytes, bytes)];
set.close();
verifier.close();

const batcher = new Batcher({ threads: 1, lingerMs: 1, targetMs: 1, queueMs: 1, queueBytes: 1 });
try {
  agreed.push(await batcher.submit(single, { class: "block", deadlineMs: 100, signal }));
} catch (error) {
  if (error instanceof RefusedError) texts.push(error.code satisfies "overloaded" | "banned" | "deadline-passed" | "stopped" | "failed");
  else if (error instanceof AbortError) texts.push(error.code satisfies "ABORT_ERR");
}
await batcher.stop(10);
// @ts-expect-error: no such class
void batcher.submit(single, { class: "urgent" });
void [proven, sums, numbers];

// A program that was written for @chainsafe/blst: every call that the package has, with all its flags.
const secret: ours.SecretKey = ours.SecretKey.fromKeygen(bytes);
const child: ours.SecretKey = ours.SecretKey.deriveMasterEip2333(bytes).deriveChildEip2333(0);
const pk: ours.PublicKey = ours.PublicKey.fromHex(secret.toPublicKey().toHex(false), true);
const sig: ours.Signature = ours.aggregateSignatures([secret.sign(bytes)], true);
const sets: ours.SignatureSet[] = [{ msg: bytes, pk, sig }];
const both: ours.PkAndSig[] = [
  ours.aggregateWithRandomness([{ pk, sig: sig.toBytes() }]),
  await ours.asyncAggregateWithRandomness([{ pk, sig: sig.toBytes(null) }]),
];
export const points: (ours.PublicKey | ours.Signature)[] = [
  ours.aggregatePublicKeys([pk, ...both.map((sums) => sums.pk)], true),
  ours.aggregateSerializedPublicKeys([pk.toBytes(true)], null),
  ours.aggregateSerializedSignatures([sig.toBytes()], true),
  ours.PublicKey.fromBytes(child.toPublicKey().toBytes(), false),
  ours.Signature.fromBytes(sig.toBytes(), true, false),
];
pk.keyValidate();
sig.sigValidate(false);
export const valid: boolean[] = [
  ours.verify(bytes, pk, sig, true, true),
  ours.aggregateVerify([bytes], [pk], sig, false, false),
  ours.fastAggregateVerify(bytes, [pk], sig, true),
  ours.verifyMultipleAggregateSignatures(sets, false, true),
  await ours.asyncVerify(bytes, pk, sig),
  await ours.asyncAggregateVerify([bytes], [pk], sig),
  await ours.asyncFastAggregateVerify(bytes, [pk], sig),
  await ours.asyncVerifyMultipleAggregateSignatures(sets),
];
// @ts-expect-error: a signature is no key
ours.verify(bytes, sig, sig);

// What an aggregator's service does.
const network = new Network("{}");
const order: Order = { results: [bytes, "0x00"], deadline: "none", store: "rental" };
const settlement: Contract = { chainId: 1n, address: network.contract };
const digests: Hex[] = [
  network.digest({ results: [], deadline: 1n, store: 0 }),
  resultsDigest(settlement, { ...order, epoch: network.epoch, nonce: network.nonce }),
  taskDigest(settlement, { epoch: 1, snapshot: bytes, id: bytes, performer: 0n, result: bytes, approved: false }),
  possessionDigest(settlement, bytes, "0x00"),
];
const collected: Collected = await network.collect(digests[0] ?? "0x", [{ member: network.memberOf(bytes) ?? 0, signature: bytes }]);
export const sent: (Transaction | undefined)[] = [];
if (collected.signature !== undefined && collected.verdicts.every(({ valid }) => valid)) {
  const plan: Plan = await network.plan(collected.signers, order, { weigh: true });
  const cost: bigint = BigInt(plan.gas) + plan.weight + network.required;
  sent.push(
    await plan.transaction(collected.signature),
    await plan.posting(collected.signature, { slot: Number(cost), content: bytes, when: { time: 1, block: 2n } }),
    await hubTransaction("0x00", [{ plan, signature: collected.signature }]),
  );
}
// @ts-expect-error: digits without 0x
network.digest({ results: ["00"], deadline: "none" });
// @ts-expect-error: signers agree on a deadline, or on none
network.digest({ results: [bytes] });
// @ts-expect-error: a transaction only for a true signature
const certain: Transaction = await (await network.plan([0], order)).transaction(bytes);
void certain;
