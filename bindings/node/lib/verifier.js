"use strict";
// Claims to verdicts.

const native = require("./native.js");
const { bytes, engine, flag, object, signal } = require("./arguments.js");
const { abortable } = require("./abort.js");
const { pack, packOne } = require("./claims.js");
const { verdicts } = require("./verdicts.js");

class Verifier {
  #native;

  constructor(options) {
    const { threads, soundness, backend, mostKnown } = engine(object("options", options));
    this.#native = new native.NativeVerifier(threads, soundness, backend, mostKnown);
  }

  async verify(claims, options) {
    const { remember, signal: ends } = object("options", options);
    const remembers = flag("options.remember", remember);
    const { packed, sets, count } = pack(claims);
    const verified = async (call) => verdicts(await this.#native.verify(packed, sets, remembers, call), count);
    return abortable(signal("options.signal", ends), verified);
  }

  verifySync(claims, options) {
    const remembers = flag("options.remember", object("options", options).remember);
    const { packed, sets, count } = pack(claims);
    return verdicts(this.#native.verifySync(packed, sets, remembers), count);
  }

  async verifyOne(suite, publicKey, message, signature) {
    bytes("publicKey", publicKey);
    bytes("message", message);
    bytes("signature", signature);
    const { packed, sets } = packOne({ suite, publicKey, message, signature });
    return verdicts(await this.#native.verify(packed, sets, false), 1)[0];
  }

  plan(claims) {
    const { packed, sets } = pack(claims);
    return this.#native.plan(packed, sets);
  }

  get known() {
    return this.#native.known();
  }

  forget() {
    this.#native.forget();
  }

  close() {
    this.#native.close();
  }
}

/** The verifier of calls without options of their own. */
let common;

function verifierOf({ threads, soundness, backend }) {
  if (threads === undefined && soundness === undefined && backend === undefined) return (common ??= new Verifier());
  return new Verifier({ threads, soundness, backend });
}

async function verify(claims, options) {
  const given = object("options", options);
  return verifierOf(given).verify(claims, { signal: given.signal });
}

function verifySync(claims, options) {
  return verifierOf(object("options", options)).verifySync(claims);
}

module.exports = { Verifier, verify, verifySync };
