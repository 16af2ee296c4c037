"use strict";
// Quorums that a contract settles. Bytes are arrays or hexadecimal digits here, and hexadecimal digits in what is returned.

const { isUint8Array } = require("node:util").types;
const native = require("./native.js");
const { PRESENT, filled, flag, isGone, lengthOf, object, outside, whole, wrong } = require("./arguments.js");
const { fromDigits, toHex } = require("./hex.js");
const { verdicts } = require("./verdicts.js");

const OWN = Symbol("made by this package");

/** The numbers of a packed quorum that are no slots, and the first of them. */
const STORES = new Map([["none", 0xffff], ["rental", 0xfffe]]);
const FIRST_RESERVED = 0xfffe;

const MOST = 2n ** 64n - 1n;

function failure(code, text) {
  const error = new Error(text);
  error.code = code;
  return error;
}

/** Bytes, of a length if one is given. */
function bytes(name, value, length) {
  if (isUint8Array(value) && isGone(value)) throw wrong(name, value, PRESENT);
  const read = isUint8Array(value) ? value : digits(name, value);
  const found = lengthOf(read);
  if (length !== undefined && found !== length) {
    throw failure("ERR_QUORATE_ENCODING", `${name}: found ${found} bytes, expected ${length}`);
  }
  return read;
}

function digits(name, value) {
  if (typeof value !== "string") throw wrong(name, value, "a Uint8Array, or hexadecimal digits behind 0x");
  if (!/^0x(?:[0-9a-f]{2})*$/i.test(value)) {
    throw failure("ERR_QUORATE_ENCODING", `${name}: found other text, expected 0x and two hexadecimal digits for each byte`);
  }
  return fromDigits(value.slice(2));
}

/** The bytes of an argument, or the reason why they cannot be read. Another type is the caller's fault, and throws. */
function readable(name, value, length) {
  try {
    return { read: bytes(name, value, length) };
  } catch (error) {
    if (error.code !== "ERR_QUORATE_ENCODING") throw error;
    return { reason: error.message };
  }
}

/** A list of byte arrays of one length, one after another. */
function joined(name, list, length, what) {
  const parts = filled(name, list, `an array of ${what}`);
  const all = new Uint8Array(parts.length * length);
  parts.forEach((part, index) => all.set(bytes(`${name}[${index}]`, part, length), index * length));
  return all;
}

/** A whole number of 64 bits. */
function big(name, value) {
  if (typeof value === "number") return BigInt(whole(name, value, 0, Number.MAX_SAFE_INTEGER));
  if (typeof value !== "bigint") throw wrong(name, value, "a whole number");
  if (value < 0n || value > MOST) throw outside(name, `found ${value}, expected a whole number from 0 to ${MOST}`);
  return value;
}

function needed(name, value) {
  if (value === undefined) throw wrong(name, value, "an object");
  return object(name, value);
}

function contract(name, value) {
  const { chainId, address } = needed(name, value);
  return { chainId: big(`${name}.chainId`, chainId), address: bytes(`${name}.address`, address, 20) };
}

function store(value) {
  if (value === undefined) return STORES.get("none");
  if (typeof value === "number") return whole("order.store", value, 0, FIRST_RESERVED - 1);
  const number = STORES.get(value);
  if (number === undefined) throw wrong("order.store", value, 'a slot, "rental" or "none"');
  return number;
}

function order(value, weigh) {
  const { results, deadline, store: slot } = needed("order", value);
  const all = joined("order.results", results, 32, "results");
  if (all.length === 0) throw outside("order.results", "found none, expected at least one");
  return {
    results: all,
    deadline: deadline === "none" ? MOST : big("order.deadline", deadline),
    store: store(slot),
    weigh,
  };
}

function resultsDigest(settlement, value) {
  const { epoch, nonce } = needed("order", value);
  const at = [whole("order.epoch", epoch, 1, 2 ** 32 - 1), big("order.nonce", nonce)];
  return toHex(native.resultsDigest(contract("settlement", settlement), ...at, order(value, false)));
}

function taskDigest(network, value) {
  const { epoch, snapshot, id, performer, result, approved } = needed("task", value);
  if (typeof approved !== "boolean") throw wrong("task.approved", approved, "a boolean");
  const task = {
    epoch: big("task.epoch", epoch),
    snapshot: bytes("task.snapshot", snapshot, 20),
    id: bytes("task.id", id, 32),
    performer: big("task.performer", performer),
    result: bytes("task.result", result, 32),
    approved,
  };
  return toHex(native.taskDigest(contract("network", network), task));
}

function possessionDigest(verifier, owner, key) {
  return toHex(native.possessionDigest(contract("verifier", verifier), bytes("owner", owner, 20), bytes("key", key)));
}

class Network {
  #native;
  #facts;

  constructor(text) {
    if (typeof text !== "string") throw wrong("text", text, "the text of a network's file");
    this.#native = new native.NativeNetwork(text);
    const { chainId, ...facts } = this.#native.facts();
    if (chainId > Number.MAX_SAFE_INTEGER) {
      throw failure("ERR_QUORATE_ENCODING", `chain_id: found ${chainId}, expected at most ${Number.MAX_SAFE_INTEGER}`);
    }
    this.#facts = { chainId: Number(chainId), ...facts };
  }

  get keyGroup() {
    return this.#facts.keyGroup;
  }

  get chainId() {
    return this.#facts.chainId;
  }

  get contract() {
    return this.#facts.contract;
  }

  get epoch() {
    return this.#facts.epoch;
  }

  get nonce() {
    return this.#facts.nonce;
  }

  get members() {
    return this.#facts.members;
  }

  get required() {
    return this.#facts.required;
  }

  get state() {
    return this.#facts.state;
  }

  memberOf(key) {
    const { read } = readable("key", key);
    return read === undefined ? undefined : (this.#native.member(read) ?? undefined);
  }

  digest(value) {
    return toHex(this.#native.digest(order(value, false)));
  }

  async collect(digest, signatures) {
    const parts = filled("signatures", signatures, "an array of signatures").map((one, place) => needed(`signatures[${place}]`, one));
    const members = parts.map(({ member }, place) => whole(`signatures[${place}].member`, member, 0, 2 ** 32 - 1));
    const length = this.#facts.signatureLength;
    const each = parts.map(({ signature }, place) => readable(`signatures[${place}].signature`, signature, length));
    // The places of the signatures that can be read. The others have a verdict already.
    const places = [...each.keys()].filter((place) => each[place].read !== undefined);
    const packed = new Uint8Array(places.length * length);
    places.forEach((place, index) => packed.set(each[place].read, index * length));
    const copy = new Uint8Array(bytes("digest", digest, 32));
    const collecting = this.#native.collect(copy, places.map((place) => members[place]), packed);
    const { verdicts: ruled, signature, ...rest } = await collecting;
    const all = each.map(({ reason }) => ({ valid: false, code: "encoding", reason }));
    verdicts(ruled, places.length).forEach((verdict, index) => {
      all[places[index]] = verdict;
    });
    return { verdicts: all, ...rest, signature: signature ?? undefined };
  }

  async plan(signers, value, options) {
    const indices = filled("signers", signers, "an array of members' indices");
    const weigh = flag("options.weigh", object("options", options).weigh);
    const bits = new Set();
    indices.forEach((index, place) => {
      const name = `signers[${place}]`;
      if (bits.has(whole(name, index, 0, 2 ** 32 - 1))) throw outside(name, `the member ${index} stands there twice`);
      bits.add(index);
    });
    return new Plan(OWN, await this.#native.plan([...bits], order(value, weigh)), this.#facts);
  }
}

class Plan {
  #native;
  #facts;
  #network;

  constructor(own, plan, network) {
    if (own !== OWN) throw new TypeError("new Plan: call Network.plan");
    this.#native = plan;
    this.#facts = plan.facts();
    this.#network = network;
  }

  get digest() {
    return this.#facts.digest;
  }

  get state() {
    return this.#facts.state;
  }

  get base() {
    return this.#facts.base ?? undefined;
  }

  get signers() {
    return this.#facts.signers;
  }

  get added() {
    return this.#facts.added;
  }

  get removed() {
    return this.#facts.removed;
  }

  get weight() {
    return this.#facts.weight;
  }

  get gas() {
    return this.#facts.gas;
  }

  async verify(signature) {
    return this.#native.verify(this.#signature(signature));
  }

  async transaction(signature) {
    return this.#transaction(await this.#native.call(this.#signature(signature)));
  }

  async posting(signature, place) {
    const { slot, content = new Uint8Array(32), when = { time: 0, block: 0 } } = needed("place", place);
    const { time, block } = needed("place.when", when);
    const lies = [new Uint8Array(bytes("place.content", content, 32)), big("place.when.time", time), big("place.when.block", block)];
    const at = whole("place.slot", slot, 0, 2 ** 16 - 1);
    return this.#transaction(await this.#native.post(this.#signature(signature), at, ...lies));
  }

  /** What a hub takes of a signed plan, and for which chain and keys. Not in the types. */
  static async settling(name, plan, signature) {
    if (plan === null || typeof plan !== "object" || !(#native in plan)) throw wrong(`${name}.plan`, plan, "a Plan");
    const { chainId, keyGroup } = plan.#network;
    return { chainId, keyGroup, settling: await plan.#native.settling(plan.#signature(signature, `${name}.signature`)) };
  }

  /** A copy: another thread of JavaScript may write to memory that is shared. */
  #signature(value, name = "signature") {
    return new Uint8Array(bytes(name, value, this.#network.signatureLength));
  }

  #transaction(call) {
    return call === null ? undefined : transaction(this.#network.chainId, call);
  }
}

function transaction(chainId, { to, data, accessList }) {
  return { chainId, to, data, accessList: accessList.map((address) => ({ address, storageKeys: [] })) };
}

const { settling } = Plan;
delete Plan.settling;

async function hubTransaction(hub, signed) {
  // A copy: the caller may use its array again while the plans are computed.
  const to = new Uint8Array(bytes("hub", hub, 20));
  const plans = filled("signed", signed, "an array of signed plans");
  if (plans.length === 0) throw outside("signed", "found none, expected at least one");
  const parts = await Promise.all(
    plans.map((one, place) => {
      const name = `signed[${place}]`;
      const { plan, signature } = needed(name, one);
      return settling(name, plan, signature);
    }),
  );
  const [{ chainId, keyGroup }] = parts;
  parts.forEach((part, place) => {
    if (part.chainId !== chainId || part.keyGroup !== keyGroup) {
      const [found, first] = [part, parts[0]].map(({ chainId, keyGroup }) => `of chain ${chainId} and keys of ${keyGroup}`);
      const text = `signed[${place}] is ${found}, and signed[0] ${first}; a hub is on one chain, for one kind of keys`;
      throw failure("ERR_QUORATE_MISUSE", text);
    }
  });
  const all = parts.map(({ settling }) => settling);
  if (all.includes(null)) return undefined;
  return transaction(chainId, native.hubCall(to, all));
}

module.exports = { Network, Plan, hubTransaction, possessionDigest, resultsDigest, taskDigest };
