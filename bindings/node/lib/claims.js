"use strict";
// Claims as one array of bytes, which the native library reads on another thread. Packing them is all that the event loop does.
//
//   packed = claim*
//   claim  = suite:u32 kind:u32 keys:u32 messages:u32 bytes{keys} bytes{messages} signature:bytes source:bytes
//   bytes  = length:u32 byte{length}
//
// Numbers are little-endian.

const { isUint8Array } = require("node:util").types;
const { PRESENT, array, isGone, lengthOf, suite, wrong } = require("./arguments.js");

const SHARED = 0;
const EACH = 1;
const POSSESSION = 2;

/** An array that grows. */
class Packed {
  #bytes;
  #view;
  #end = 0;

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

  get whole() {
    return this.#bytes.subarray(0, this.#end);
  }
}

const MOST = 2 ** 32 - 1;
const NONE = new Uint8Array(0);
const TEXT = new TextEncoder();

/** Claims as bytes, and how many they are. A TypeError names the claim and the field. */
function pack(claims) {
  array("claims", claims, "an array of claims");
  const packed = new Packed(ROOM * Math.min(claims.length, 1 << 20) + ROOM);
  let count = 0;
  for (; count < claims.length; count += 1) writeClaim(packed, claims[count], count);
  return { packed: packed.whole, count };
}

/** A claim that is an argument of its own, as bytes. */
function packOne(claim) {
  const packed = new Packed(ROOM);
  writeClaim(packed, claim, -1);
  return packed.whole;
}

/** The bytes of a claim of one key, in most suites. */
const ROOM = 256;

function writeClaim(packed, claim, index) {
  if (claim === null || typeof claim !== "object") throw wrong(field(index, ""), claim, "a claim");
  const { publicKey, publicKeys, message, messages, possession, signature, source } = claim;
  const { number } = suite(() => field(index, ".suite"), claim.suite);
  const many = several(publicKey, publicKeys, "publicKey", index);
  const keys = many ? publicKeys.length : 1;
  if (possession === undefined || possession === false) {
    const each = several(message, messages, "message", index);
    const signed = each ? messages.length : 1;
    packed.head(number, each ? EACH : SHARED, keys, signed);
    write(packed, many, publicKey, publicKeys, keys, "publicKey", index);
    write(packed, each, message, messages, signed, "message", index);
  } else {
    if (possession !== true) throw wrong(field(index, ".possession"), possession, "a boolean");
    if (message !== undefined) throw wrong(field(index, ".message"), message, "none beside possession");
    if (messages !== undefined) throw wrong(field(index, ".messages"), messages, "none beside possession");
    packed.head(number, POSSESSION, keys, 0);
    write(packed, many, publicKey, publicKeys, keys, "publicKey", index);
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
