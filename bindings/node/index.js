"use strict";

const { backends } = require("./lib/native.js");
const { AbortError } = require("./lib/abort.js");
const { Batcher, RefusedError } = require("./lib/batcher.js");
const { Verifier, verify, verifySync } = require("./lib/verifier.js");
const {
  KeySet,
  SecretKey,
  aggregate,
  aggregatePublicKeys,
  bdnAggregate,
  checkPublicKey,
  checkSignature,
  fromHex,
  subtract,
  suites,
} = require("./lib/keys.js");

// Written so that `import { verify } from "quorate"` finds the names.
module.exports = {
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
};
