"use strict";
// Keys, checks and sums.

const { isUint8Array } = require("node:util").types;
const native = require("./native.js");
const { PRESENT, SUITES, bytes, flag, isGone, joined, lengthOf, object, outside, signal, suite, whole, wrong } = require("./arguments.js");
const { abortable } = require("./abort.js");
const { fromDigits } = require("./hex.js");
const { verdicts } = require("./verdicts.js");

const OWN = Symbol("made by this package");

class SecretKey {
  // A private field: neither `util.inspect` nor `JSON.stringify` sees it.
  #native;
  #suite;

  constructor(own, native, suite) {
    if (own !== OWN) throw new TypeError("new SecretKey: call SecretKey.generate, derive or fromBytes");
    this.#native = native;
    this.#suite = suite;
  }

  static generate(name) {
    const { number } = suite("suite", name);
    return new SecretKey(OWN, native.NativeSecretKey.generate(number), name);
  }

  static derive(name, material, info = new Uint8Array(0)) {
    const { number } = suite("suite", name);
    const key = native.NativeSecretKey.derive(number, bytes("material", material), bytes("info", info));
    return new SecretKey(OWN, key, name);
  }

  static fromBytes(name, secret) {
    const { number } = suite("suite", name);
    return new SecretKey(OWN, native.NativeSecretKey.fromBytes(number, bytes("secret", secret)), name);
  }

  get suite() {
    return this.#suite;
  }

  toBytes() {
    return this.#native.toBytes();
  }

  publicKey() {
    return this.#native.publicKey();
  }

  sign(message) {
    return this.#native.sign(bytes("message", message));
  }

  prove() {
    return this.#native.prove();
  }

  close() {
    this.#native.close();
  }

  toJSON() {
    return { suite: this.#suite, secret: "redacted" };
  }

  [Symbol.for("nodejs.util.inspect.custom")]() {
    return `SecretKey { suite: '${this.#suite}', secret: redacted }`;
  }
}

function checkPublicKey(name, key) {
  native.checkPublicKey(suite("suite", name).number, bytes("key", key));
}

function checkSignature(name, signature) {
  native.checkSignature(suite("suite", name).number, bytes("signature", signature));
}

function aggregate(name, signatures) {
  const { number, signatureLength } = suite("suite", name);
  return native.aggregate(number, joined("signatures", signatures, signatureLength, "signatures"));
}

function bdnAggregate(name, keys, signatures) {
  const { number, publicKeyLength, signatureLength } = suite("suite", name);
  const all = joined("keys", keys, publicKeyLength, "public keys");
  return native.bdnAggregate(number, all, joined("signatures", signatures, signatureLength, "signatures"));
}

function aggregatePublicKeys(name, keys) {
  const { number, publicKeyLength } = suite("suite", name);
  return native.aggregatePublicKeys(number, joined("keys", keys, publicKeyLength, "public keys"));
}

function subtract(name, sum, parts) {
  const { number, signatureLength } = suite("suite", name);
  return native.subtract(number, bytes("sum", sum), joined("parts", parts, signatureLength, "signatures"));
}

function suites() {
  const each = ({ name, publicKeyLength, signatureLength }) => ({ name, publicKeyLength, signatureLength });
  return [...SUITES.values()].map(each);
}

function fromHex(text) {
  if (typeof text !== "string") throw wrong("text", text, "hexadecimal digits");
  const digits = text.startsWith("0x") ? text.slice(2) : text;
  if (digits.length % 2 !== 0) {
    throw new SyntaxError(`found ${digits.length} hexadecimal digits, expected two for each byte`);
  }
  const place = digits.search(/[^0-9a-f]/i);
  if (place >= 0) throw new SyntaxError(`found ${JSON.stringify(digits[place])} at digit ${place}, expected a hexadecimal digit`);
  return fromDigits(digits);
}

/** The native set and the number of a `KeySet`, or `undefined` for another object. For claims that name members. */
let namedSet;

class KeySet {
  #native;
  #suite;
  #number;

  constructor(name) {
    this.#suite = suite("suite", name);
    this.#native = new native.NativeKeySet(this.#suite.number);
    this.#number = this.#native.number();
  }

  static {
    namedSet = (set) => (#native in set ? { native: set.#native, number: set.#number } : undefined);
  }

  get suite() {
    return this.#suite.name;
  }

  get size() {
    return this.#native.size();
  }

  push(keys, options) {
    const assumed = flag("options.assumePossession", object("options", options).assumePossession);
    this.#native.push(joined("keys", keys, this.#suite.publicKeyLength, "public keys"), assumed);
  }

  prove(index, proof) {
    return this.#native.prove(whole("index", index, 0, this.#last()), bytes("proof", proof));
  }

  sum(members) {
    return this.#native.sum(this.#bits(members));
  }

  async verify(members, message, signature, options) {
    const ends = signal("options.signal", object("options", options).signal);
    const bits = this.#bits(members);
    // Copies: another thread of JavaScript may write to memory that is shared. (The `slice` of a Buffer is none.)
    const [said, signed] = [new Uint8Array(bytes("message", message)), new Uint8Array(bytes("signature", signature))];
    return abortable(ends, async (call) => verdicts(await this.#native.verify(bits, said, signed, call), 1)[0]);
  }

  verifySync(members, message, signature) {
    const bits = this.#bits(members);
    const [said, signed] = [bytes("message", message), bytes("signature", signature)];
    return verdicts(this.#native.verifySync(bits, said, signed), 1)[0];
  }

  close() {
    this.#native.close();
  }

  #last() {
    const { size } = this;
    if (size === 0) throw outside("index", "the set has no members");
    return size - 1;
  }

  /** Members as a bitmap of its own. Indices are checked before memory is taken for them. */
  #bits(members) {
    const { size } = this;
    const length = Math.ceil(size / 8);
    if (!Array.isArray(members)) {
      if (!isUint8Array(members)) throw wrong("members", members, "a bitmap as Uint8Array, or an array of indices");
      if (isGone(members)) throw wrong("members", members, PRESENT);
      const found = lengthOf(members);
      if (found > length) {
        throw outside("members", `found a bitmap of ${found} bytes, expected ${length} at most for ${size} members`);
      }
      return new Uint8Array(members);
    }
    const bits = new Uint8Array(length);
    for (let place = 0; place < members.length; place += 1) {
      const index = members[place];
      const name = `members[${place}]`;
      if (size === 0) throw outside(name, "the set has no members");
      whole(name, index, 0, size - 1);
      const bit = 1 << (index & 7);
      if ((bits[index >> 3] & bit) !== 0) throw outside(name, `the member ${index} stands there twice`);
      bits[index >> 3] |= bit;
    }
    return bits;
  }
}

module.exports = {
  KeySet,
  SecretKey,
  aggregate,
  aggregatePublicKeys,
  bdnAggregate,
  checkPublicKey,
  checkSignature,
  fromHex,
  namedSet,
  subtract,
  suites,
};
