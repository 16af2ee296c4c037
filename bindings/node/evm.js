"use strict";

const { Network, Plan, hubTransaction, possessionDigest, resultsDigest, taskDigest } = require("./lib/evm.js");

// Written so that `import { Network } from "quorate/evm"` finds the names.
module.exports = {
  Network,
  Plan,
  hubTransaction,
  possessionDigest,
  resultsDigest,
  taskDigest,
};
