"use strict";
// The names of the npm package @chainsafe/blst 2.2, on quorate. Every point that gets in is checked: see blst.d.ts.

const native = require("./lib/native.js");
const { bytes, filled, wrong } = require("./lib/arguments.js");
const { toHex } = require("./lib/hex.js");
const { fromHex } = require("./lib/keys.js");

const SECRET_KEY_LENGTH = 32;
const PUBLIC_KEY_LENGTH_COMPRESSED = 48;
const PUBLIC_KEY_LENGTH_UNCOMPRESSED = 96;
const SIGNATURE_LENGTH_COMPRESSED = 96;
const SIGNATURE_LENGTH_UNCOMPRESSED = 192;

const OWN = Symbol("made by this package");

/** Reads the native point of a key or a signature, or throws a TypeError that names the argument. */
let keyOf;
let signatureOf;

class SecretKey {
  // A private field: neither `util.inspect` nor `JSON.stringify` sees it.
  #native;

  constructor(own, native) {
    only(own, "SecretKey.fromKeygen, fromBytes or fromHex");
    this.#native = native;
  }

  static fromKeygen(ikm, keyInfo) {
    const info = keyInfo ?? new Uint8Array(0);
    return new SecretKey(OWN, blst(() => native.BlstSecretKey.fromKeygen(bytes("ikm", ikm), bytes("keyInfo", info))));
  }

  static deriveMasterEip2333(ikm) {
    return new SecretKey(OWN, blst(() => native.BlstSecretKey.deriveMaster(bytes("ikm", ikm))));
  }

  static fromBytes(secret) {
    return new SecretKey(OWN, blst(() => native.BlstSecretKey.fromBytes(bytes("bytes", secret))));
  }

  static fromHex(hex) {
    const secret = unhex(hex);
    try {
      return SecretKey.fromBytes(secret);
    } finally {
      secret.fill(0);
    }
  }

  deriveChildEip2333(index) {
    if (!Number.isInteger(index) || index < 0 || index >= 2 ** 32) throw wrong("index", index, "a whole number below 2^32");
    return new SecretKey(OWN, this.#native.deriveChild(index));
  }

  toBytes() {
    return this.#native.toBytes();
  }

  toHex() {
    const secret = this.toBytes();
    try {
      return toHex(secret);
    } finally {
      secret.fill(0);
    }
  }

  toPublicKey() {
    return new PublicKey(OWN, this.#native.toPublicKey());
  }

  sign(msg) {
    return new Signature(OWN, this.#native.sign(bytes("msg", msg)));
  }

  close() {
    this.#native.close();
  }

  toJSON() {
    return { secret: "redacted" };
  }

  [Symbol.for("nodejs.util.inspect.custom")]() {
    return "SecretKey { redacted }";
  }
}

class PublicKey {
  #native;

  static {
    keyOf = (name, key) => {
      if (!isObject(key) || !(#native in key)) throw wrong(name, key, "a PublicKey");
      return key.#native;
    };
  }

  constructor(own, native) {
    only(own, "PublicKey.fromBytes or fromHex");
    this.#native = native;
  }

  static fromBytes(key) {
    return new PublicKey(OWN, blst(() => native.BlstPublicKey.fromBytes(bytes("bytes", key))));
  }

  static fromHex(hex) {
    return PublicKey.fromBytes(unhex(hex));
  }

  toBytes(compress) {
    return this.#native.toBytes(compress ?? true);
  }

  toHex(compress) {
    return toHex(this.toBytes(compress));
  }

  keyValidate() {
    blst(() => this.#native.validate());
  }
}

class Signature {
  #native;

  static {
    signatureOf = (name, signature) => {
      if (!isObject(signature) || !(#native in signature)) throw wrong(name, signature, "a Signature");
      return signature.#native;
    };
  }

  constructor(own, native) {
    only(own, "Signature.fromBytes or fromHex");
    this.#native = native;
  }

  static fromBytes(signature, sigValidate, sigInfcheck) {
    const notIdentity = (sigValidate ?? false) && (sigInfcheck ?? true);
    return new Signature(OWN, blst(() => native.BlstSignature.fromBytes(bytes("bytes", signature), notIdentity)));
  }

  static fromHex(hex, sigValidate, sigInfcheck) {
    return Signature.fromBytes(unhex(hex), sigValidate, sigInfcheck);
  }

  toBytes(compress) {
    return this.#native.toBytes(compress ?? true);
  }

  toHex(compress) {
    return toHex(this.toBytes(compress));
  }

  sigValidate(sigInfcheck) {
    blst(() => this.#native.validate(sigInfcheck ?? true));
  }
}

function aggregatePublicKeys(pks, pksValidate) {
  return new PublicKey(OWN, blst(() => native.blstAggregatePublicKeys(keysOf("pks", pks), pksValidate ?? false)));
}

function aggregateSignatures(sigs) {
  const points = filled("sigs", sigs, "an array of Signature").map((sig, index) => signatureOf(`sigs[${index}]`, sig));
  return new Signature(OWN, blst(() => native.blstAggregateSignatures(points)));
}

function aggregateSerializedPublicKeys(pks) {
  return new PublicKey(OWN, blst(() => native.blstAggregateSerializedPublicKeys(arraysOf("pks", pks))));
}

function aggregateSerializedSignatures(sigs) {
  return new Signature(OWN, blst(() => native.blstAggregateSerializedSignatures(arraysOf("sigs", sigs))));
}

function aggregateWithRandomness(sets) {
  const [keys, signatures] = blinding(sets);
  return sums(blst(() => native.blstAggregateWithRandomness(keys, signatures)));
}

async function asyncAggregateWithRandomness(sets) {
  const [keys, signatures] = blinding(sets);
  return sums(await native.blstAggregateWithRandomnessAsync(keys, signatures).catch(named));
}

function blinding(given) {
  const sets = filled("sets", given, "an array of { pk, sig }");
  return [
    sets.map((set, index) => keyOf(`sets[${index}].pk`, set?.pk)),
    sets.map((set, index) => bytes(`sets[${index}].sig`, set.sig)),
  ];
}

function sums(sums) {
  return { pk: new PublicKey(OWN, sums.publicKey()), sig: new Signature(OWN, sums.signature()) };
}

// What the native library is asked.
const SETS = 0;
const EACH = 1;
const SHARED = 2;

const askedVerify = (msg, pk, sig) => [SETS, [bytes("msg", msg)], [keyOf("pk", pk)], [signatureOf("sig", sig)]];
const askedAggregate = (msgs, pks, sig) => [EACH, arraysOf("msgs", msgs), keysOf("pks", pks), [signatureOf("sig", sig)]];
const askedFast = (msg, pks, sig) => [SHARED, [bytes("msg", msg)], keysOf("pks", pks), [signatureOf("sig", sig)]];
function askedSets(given) {
  const sets = filled("sets", given, "an array of { msg, pk, sig }");
  return [
    SETS,
    sets.map((set, index) => bytes(`sets[${index}].msg`, set?.msg)),
    sets.map((set, index) => keyOf(`sets[${index}].pk`, set.pk)),
    sets.map((set, index) => signatureOf(`sets[${index}].sig`, set.sig)),
  ];
}

const verify = (msg, pk, sig) => native.blstVerify(...askedVerify(msg, pk, sig));
const aggregateVerify = (msgs, pks, sig) => native.blstVerify(...askedAggregate(msgs, pks, sig));
const fastAggregateVerify = (msg, pks, sig) => native.blstVerify(...askedFast(msg, pks, sig));
const verifyMultipleAggregateSignatures = (sets) => native.blstVerify(...askedSets(sets));
const asyncVerify = async (msg, pk, sig) => native.blstVerifyAsync(...askedVerify(msg, pk, sig));
const asyncAggregateVerify = async (msgs, pks, sig) => native.blstVerifyAsync(...askedAggregate(msgs, pks, sig));
const asyncFastAggregateVerify = async (msg, pks, sig) => native.blstVerifyAsync(...askedFast(msg, pks, sig));
const asyncVerifyMultipleAggregateSignatures = async (sets) => native.blstVerifyAsync(...askedSets(sets));

function keysOf(name, keys) {
  return filled(name, keys, "an array of PublicKey").map((key, index) => keyOf(`${name}[${index}]`, key));
}

function arraysOf(name, list) {
  return filled(name, list, "an array of Uint8Array").map((part, index) => bytes(`${name}[${index}]`, part));
}

function isObject(value) {
  return value !== null && typeof value === "object";
}

function only(own, makers) {
  if (own !== OWN) throw new TypeError(`Class contains no \`constructor\`, can not new it! Call ${makers}`);
}

/** Calls the native library. Its errors get the codes of blst. */
function blst(call) {
  try {
    return call();
  } catch (error) {
    return named(error);
  }
}

function named(error) {
  const name = /^(BLST_[A-Z_]+): /.exec(error.message);
  if (name !== null) error.code = name[1];
  throw error;
}

function unhex(text) {
  try {
    return fromHex(text);
  } catch (error) {
    if (error instanceof SyntaxError) error.code = "INVALID_HEX";
    throw error;
  }
}

module.exports = {
  PUBLIC_KEY_LENGTH_COMPRESSED,
  PUBLIC_KEY_LENGTH_UNCOMPRESSED,
  PublicKey,
  SECRET_KEY_LENGTH,
  SIGNATURE_LENGTH_COMPRESSED,
  SIGNATURE_LENGTH_UNCOMPRESSED,
  SecretKey,
  Signature,
  aggregatePublicKeys,
  aggregateSerializedPublicKeys,
  aggregateSerializedSignatures,
  aggregateSignatures,
  aggregateVerify,
  aggregateWithRandomness,
  asyncAggregateVerify,
  asyncAggregateWithRandomness,
  asyncFastAggregateVerify,
  asyncVerify,
  asyncVerifyMultipleAggregateSignatures,
  fastAggregateVerify,
  verify,
  verifyMultipleAggregateSignatures,
};
