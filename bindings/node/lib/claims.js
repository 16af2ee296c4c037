"use strict";
// Claims as one array of bytes, which the native library reads on another thread. Packing them is all that the event loop does.
//
//   packed  = claim*
//   claim   = suite:u32 kind:u32 keys:u32 messages:u32 signers bytes{messages} signature:bytes source:bytes
//   signers = bytes{keys}, or set:u64 members:bytes
//   bytes   = length:u32 byte{length}
//
// Numbers are little-endian. Members add a number to the kind, which says whether they are a bitmap or indices of 32 bits.

const { isUint8Array } = require("node:util").types;
const { PRESENT, array, isGone, lengthOf, suite, whole, wrong } = require("./arguments.js");
const { namedSet } = require("./keys.js");

const SHARED = 0;
const EACH = 1;
const POSSESSION = 2;
const BY_BITMAP = 256;
const BY_INDICES = 512;

/** An array that grows. */
class Packed {
  #bytes;
  #view;
  #end = 0;
  #sets = new Set();

  constructor(room) {
    this.#take(new Uint8Array(room));
  }

  #take(bytes) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer);
  }

  #room(more) {
    const needed = this.#end + more;
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, 2 * this.#bytes.length));
    grown.set(this.#bytes.subarray(0, this.#end));
    this.#take(grown);
  }

  /** Four numbers with which a claim begins. */
  head(suite, kind, keys, messages) {
    this.#room(16);
    const view = this.#view;
    const at = this.#end;
    view.setUint32(at, suite, true);
    view.setUint32(at + 4, kind, true);
    view.setUint32(at + 8, keys, true);
    view.setUint32(at + 12, messages, true);
    this.#end = at + 16;
  }

  bytes(bytes) {
    // Read once: the length of an array over a growing buffer can change.
    const length = lengthOf(bytes);
    if (length > MOST) throw new RangeError(`found ${length} bytes in one part of a claim, expected ${MOST} at most`);
    this.#room(4 + length);
    this.#view.setUint32(this.#end, length, true);
    this.#bytes.set(bytes, this.#end + 4);
    this.#end += 4 + length;
  }

  /** The set of a claim. It is kept, so that it is there until the claim is read. */
  set({ native, number }) {
    this.#sets.add(native);
    this.#room(8);
    this.#view.setUint32(this.#end, number % 2 ** 32, true);
    this.#view.setUint32(this.#end + 4, Math.floor(number / 2 ** 32), true);
    this.#end += 8;
  }

  /** Indices, as bytes. */
  indices(indices, named) {
    const count = indices.length;
    if (4 * count > MOST) throw new RangeError(`found ${count} indices in one claim, expected ${Math.floor(MOST / 4)} at most`);
    this.#room(4 + 4 * count);
    this.#view.setUint32(this.#end, 4 * count, true);
    for (let place = 0; place < count; place += 1) {
      const index = indices[place];
      // A name is made only of what is wrong, because there are many.
      if (!(Number.isInteger(index) && index >= 0 && index <= MOST)) whole(named(place), index, 0, MOST);
      this.#view.setUint32(this.#end + 4 + 4 * place, index, true);
    }
    this.#end += 4 + 4 * count;
  }

  get whole() {
    return this.#bytes.subarray(0, this.#end);
  }

  get sets() {
    return [...this.#sets];
  }
}

const MOST = 2 ** 32 - 1;
const NONE = new Uint8Array(0);
const TEXT = new TextEncoder();

/** Claims as bytes, the native sets that they name, and how many they are. A TypeError names the claim and the field. */
function pack(claims) {
  array("claims", claims, "an array of claims");
  const packed = new Packed(ROOM * Math.min(claims.length, 1 << 20) + ROOM);
  let count = 0;
  for (; count < claims.length; count += 1) writeClaim(packed, claims[count], count);
  return { packed: packed.whole, sets: packed.sets, count };
}

/** The same for a claim that is an argument of its own. */
function packOne(claim) {
  const packed = new Packed(ROOM);
  writeClaim(packed, claim, -1);
  return { packed: packed.whole, sets: packed.sets };
}

/** The bytes of a claim of one key, in most suites. */
const ROOM = 256;

function writeClaim(packed, claim, index) {
  if (claim === null || typeof claim !== "object") throw wrong(field(index, ""), claim, "a claim");
  const { message, messages, possession, signature, source } = claim;
  const { number } = suite(() => field(index, ".suite"), claim.suite);
  const signers = signersOf(claim, index);
  if (possession === undefined || possession === false) {
    const each = several(message, messages, "message", index);
    const signed = each ? messages.length : 1;
    packed.head(number, (each ? EACH : SHARED) + signers.kind, signers.keys, signed);
    signers.write(packed);
    write(packed, each, message, messages, signed, "message", index);
  } else {
    if (possession !== true) throw wrong(field(index, ".possession"), possession, "a boolean");
    if (message !== undefined) throw wrong(field(index, ".message"), message, "none beside possession");
    if (messages !== undefined) throw wrong(field(index, ".messages"), messages, "none beside possession");
    packed.head(number, POSSESSION + signers.kind, signers.keys, 0);
    signers.write(packed);
  }
  if (!isUint8Array(signature)) throw wrong(field(index, ".signature"), signature, "a Uint8Array");
  copy(packed, signature, () => field(index, ".signature"));
  if (source === undefined) {
    packed.bytes(NONE);
  } else {
    if (typeof source !== "string" || source === "") throw wrong(field(index, ".source"), source, "a text with a character or more");
    // The encoder would replace what it cannot encode, and two senders would have one name.
    if (!source.isWellFormed()) throw wrong(field(index, ".source"), source, "a text without half of a surrogate pair");
    packed.bytes(TEXT.encode(source));
  }
}

/** Whose keys signed: what they add to the kind, how many encoded keys there are, and what writes them. */
function signersOf({ publicKey, publicKeys, keySet, members }, index) {
  if (keySet === undefined) {
    if (members !== undefined) throw wrong(field(index, ".members"), members, "none without keySet");
    const many = several(publicKey, publicKeys, "publicKey", index);
    const keys = many ? publicKeys.length : 1;
    return { kind: 0, keys, write: (packed) => write(packed, many, publicKey, publicKeys, keys, "publicKey", index) };
  }
  const set = keySet !== null && typeof keySet === "object" ? namedSet(keySet) : undefined;
  if (set === undefined) throw wrong(field(index, ".keySet"), keySet, "a KeySet");
  if (publicKey !== undefined) throw wrong(field(index, ".publicKey"), publicKey, "none beside keySet");
  if (publicKeys !== undefined) throw wrong(field(index, ".publicKeys"), publicKeys, "none beside keySet");
  const named = field(index, ".members");
  if (isUint8Array(members)) {
    const bitmap = (packed) => {
      packed.set(set);
      copy(packed, members, named);
    };
    return { kind: BY_BITMAP, keys: 0, write: bitmap };
  }
  array(named, members, "a bitmap as Uint8Array, or an array of indices");
  const indices = (packed) => {
    packed.set(set);
    packed.indices(members, (place) => `${named}[${place}]`);
  };
  return { kind: BY_INDICES, keys: 0, write: indices };
}

/** Whether a field is a list (`publicKeys`), or one (`publicKey`). Exactly one of the two must be there. */
function several(one, list, name, index) {
  if (list === undefined) {
    if (!isUint8Array(one)) {
      throw wrong(field(index, `.${name}`), one, one === undefined ? `a Uint8Array, or ${name}s` : "a Uint8Array");
    }
    return false;
  }
  if (one !== undefined) throw wrong(field(index, `.${name}`), one, `none beside ${name}s`);
  array(() => field(index, `.${name}s`), list, "an array of Uint8Array");
  return true;
}

/** Writes one part, or the `count` parts of a list: as many as the head says. */
function write(packed, many, one, list, count, name, index) {
  if (!many) {
    copy(packed, one, () => field(index, `.${name}`));
    return;
  }
  for (let place = 0; place < count; place += 1) {
    const bytes = list[place];
    const named = () => field(index, `.${name}s[${place}]`);
    if (!isUint8Array(bytes)) throw wrong(named, bytes, "a Uint8Array");
    copy(packed, bytes, named);
  }
}

/** Copies an array. */
function copy(packed, bytes, named) {
  if (isGone(bytes)) throw wrong(named, bytes, PRESENT);
  packed.bytes(bytes);
}

function field(index, name) {
  return index < 0 ? `claim${name}` : `claims[${index}]${name}`;
}

module.exports = { pack, packOne };
