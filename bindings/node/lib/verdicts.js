"use strict";
// Verdicts as JavaScript has them.

/** What a claim got, by the number that the native library gives. */
const CODES = ["undecided", "valid", "mismatch", "encoding", "rule", "key-set"];
const VALID = CODES.indexOf("valid");

/** The verdict of every valid claim. */
const PROVEN = Object.freeze({ valid: true, code: "valid" });

function verdict(number, reason) {
  return number === VALID ? PROVEN : { valid: false, code: CODES[number] ?? "undecided", reason };
}

/** The verdicts of a call with `count` claims: a digit for each, and why those that are not valid are not. */
function verdicts({ codes, reasons }, count) {
  if (codes.length !== count) {
    const error = new Error(`internal error, please report it: found ${codes.length} verdicts, expected ${count}`);
    error.code = "ERR_QUORATE_INTERNAL";
    throw error;
  }
  const all = new Array(codes.length);
  let others = 0;
  for (let index = 0; index < codes.length; index += 1) {
    const number = codes.charCodeAt(index) - ZERO;
    if (number === VALID) {
      all[index] = PROVEN;
    } else {
      all[index] = verdict(number, reasons[others]);
      others += 1;
    }
  }
  return all;
}

const ZERO = "0".charCodeAt(0);

module.exports = { CODES, verdict, verdicts };
