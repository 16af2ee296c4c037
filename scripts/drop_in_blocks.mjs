// Verifies the blocks of an era with Lodestar's state transition, and as sets in a batch. Usage:
//   LODESTAR_PRESET=minimal node drop_in_blocks.mjs ERA0 ERA1 CHAIN_JSON ROUNDS
import fs from "node:fs";
import {createRequire} from "node:module";
import {createBeaconConfig, createChainForkConfig} from "@lodestar/config";
import {chainConfig as minimal} from "@lodestar/config/default";
import * as st from "@lodestar/state-transition";
import {ssz} from "@lodestar/types";
const blst = createRequire(import.meta.url)("@chainsafe/blst");

// e2store: records of type, length and framed Snappy.
function* records(path) {
  const file = fs.readFileSync(path);
  for (let at = 0; at < file.length; ) {
    const type = file.readUInt16LE(at);
    const length = file.readUInt32LE(at + 2);
    yield {type, data: file.subarray(at + 8, at + 8 + length)};
    at += 8 + length;
  }
}
function unframe(data) {
  const parts = [];
  for (let at = 0; at < data.length; ) {
    const type = data[at];
    const length = data[at + 1] | (data[at + 2] << 8) | (data[at + 3] << 16);
    const chunk = data.subarray(at + 4, at + 4 + length);
    if (type === 0) parts.push(unsnappy(chunk.subarray(4)));
    if (type === 1) parts.push(chunk.subarray(4));
    at += 4 + length;
  }
  return Buffer.concat(parts);
}
function unsnappy(data) {
  let [size, shift, at] = [0, 0, 0];
  for (;;) {
    const byte = data[at++];
    size |= (byte & 0x7f) << shift;
    shift += 7;
    if (byte < 0x80) break;
  }
  const out = Buffer.alloc(size);
  let to = 0;
  while (at < data.length) {
    const tag = data[at++];
    let length, offset;
    if ((tag & 3) === 0) {
      length = (tag >> 2) + 1;
      if (length > 60) {
        const bytes = length - 60;
        length = data.readUIntLE(at, bytes) + 1;
        at += bytes;
      }
      data.copy(out, to, at, at + length);
      at += length;
      to += length;
      continue;
    }
    if ((tag & 3) === 1) {
      length = ((tag >> 2) & 7) + 4;
      offset = ((tag >> 5) << 8) | data[at++];
    } else {
      length = (tag >> 2) + 1;
      const bytes = (tag & 3) === 2 ? 2 : 4;
      offset = data.readUIntLE(at, bytes);
      at += bytes;
    }
    for (let i = 0; i < length; i++) out[to + i] = out[to + i - offset];
    to += length;
  }
  return out;
}

const [era0, era1, chainPath, rounds] = process.argv.slice(2);
const chain = JSON.parse(fs.readFileSync(chainPath, "utf8"));
const bytes = (hex) => Buffer.from(hex.slice(2), "hex");
const epochs = Object.fromEntries(chain.forks.map(({name, epoch}) => [name, epoch]));
const config = createBeaconConfig(
  createChainForkConfig({
    ...minimal,
    SHARD_COMMITTEE_PERIOD: 0,
    ALTAIR_FORK_EPOCH: 0,
    BELLATRIX_FORK_EPOCH: 0,
    CAPELLA_FORK_EPOCH: epochs.capella ?? 0,
    DENEB_FORK_EPOCH: epochs.deneb ?? Infinity,
  }),
  bytes(chain.genesis_validators_root)
);
const compressed = (path, type) => [...records(path)].filter((r) => r.type === type).map((r) => unframe(r.data));
const fork = chain.forks[0].name;
const genesis = ssz[fork].BeaconState.deserializeToViewDU(compressed(era0, 2)[0]);
const blocks = compressed(era1, 1).map((b) => {
  const slot = b.readUInt32LE(100); // offset 4, signature 96, then the message's slot
  return config.getForkTypes(slot).SignedBeaconBlock.deserialize(b);
});

function start() {
  return st.createCachedBeaconState(genesis.clone(), {config, pubkey2index: new st.PubkeyIndexMap(), index2pubkey: []});
}
const options = (verify) => ({
  verifyStateRoot: false,
  verifyProposer: verify,
  verifySignatures: verify,
  executionPayloadStatus: st.ExecutionPayloadStatus.valid,
  dataAvailableStatus: st.DataAvailableStatus.available,
});
const now = () => Number(process.hrtime.bigint()) / 1e6;
// Of all threads, in milliseconds: what a busy machine cares about.
const cpu = () => {
  const {user, system} = process.cpuUsage();
  return (user + system) / 1e3;
};

// The sets of each block, from the states before them.
let state = start();
const sets = [];
for (const block of blocks) {
  const next = st.stateTransition(state, block, options(false));
  // Shufflings and proposers of the block's epoch are in the next state's cache.
  sets.push(st.getBlockSignatureSets(next, block));
  state = next;
}
console.log(`${blocks.length} blocks, ${sets.flat().length} signature sets`);

function transition(verify) {
  let state = start();
  const begin = now();
  for (const block of blocks) state = st.stateTransition(state, block, options(verify));
  return now() - begin;
}
const key = (set) => (set.type === "single" ? set.pubkey : blst.aggregatePublicKeys(set.pubkeys));
// As Lodestar's beacon node does: each signature is validated when it is read, then all sets go into a batch.
function batch(sets) {
  return blst.verifyMultipleAggregateSignatures(
    sets.map((s) => ({msg: s.signingRoot, pk: key(s), sig: blst.Signature.fromBytes(s.signature, true)}))
  );
}
// The same with the check of membership left to the batch.
function batchChecked(sets) {
  return blst.verifyMultipleAggregateSignatures(
    sets.map((s) => ({msg: s.signingRoot, pk: key(s), sig: blst.Signature.fromBytes(s.signature, false)})),
    false,
    true
  );
}
function timed(work) {
  const begin = now();
  work();
  return now() - begin;
}
function check(ok) {
  if (!ok) throw Error("a true block was refused");
}
const measures = {
  "state transition, signatures verified": () => transition(true),
  "state transition, not verified": () => transition(false),
  "sets one by one": () => timed(() => sets.forEach((s) => s.forEach((set) => check(st.verifySignatureSet(set))))),
  "sets of each block in a batch": () => timed(() => sets.forEach((s) => check(batch(s)))),
  "the same, membership checked by the batch": () => timed(() => sets.forEach((s) => check(batchChecked(s)))),
  "all blocks in one batch": () => timed(() => check(batchChecked(sets.flat()))),
};
// A false block is refused.
const lie = sets[5].map((s, i) => (i === 3 ? {...s, signingRoot: new Uint8Array(32)} : s));
if (batch(lie) || batchChecked(lie)) throw Error("a false block was accepted");
const times = Object.fromEntries(Object.keys(measures).map((name) => [name, []]));
for (let round = 0; round < Number(rounds); round++)
  for (const [name, measure] of Object.entries(measures)) {
    const begin = cpu();
    const wall = measure();
    times[name].push([wall, cpu() - begin]);
  }
const written = (list) => {
  list.sort((a, b) => a - b);
  return `${list[0].toFixed(0)} ms at least, ${list[list.length >> 1].toFixed(0)} in the median`;
};
for (const [name, list] of Object.entries(times))
  console.log(`${name}: ${written(list.map(([wall]) => wall))}; CPU ${written(list.map(([, cpu]) => cpu))}`);
