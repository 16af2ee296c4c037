"use strict";
// Checks of arguments. What is wrong is a TypeError, or a RangeError for a number outside its range, that names the argument.

const { isUint8Array } = require("node:util").types;
const native = require("./native.js");

/** Suites by name. */
const SUITES = new Map(native.suites().map((suite) => [suite.name, suite]));

/** What was found, for a message. Values are not printed: they can be secret, or long. */
function found(value) {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object") return value.constructor?.name ? some(value.constructor.name) : "an object";
  return some(typeof value);
}

/** A noun with its article. Types with a `U` in front, as Uint8Array and URL, have an "a". */
function some(noun) {
  return `${/^[aeio]/i.test(noun) ? "an" : "a"} ${noun}`;
}

/** A name may be a function that makes it, where a call has many names. */
function text(name) {
  return typeof name === "function" ? name() : name;
}

function wrong(name, value, expected) {
  const error = new TypeError(`${text(name)}: found ${found(value)}, expected ${expected}`);
  error.code = "ERR_INVALID_ARG_TYPE";
  return error;
}

function outside(name, text) {
  const error = new RangeError(`${name}: ${text}`);
  error.code = "ERR_OUT_OF_RANGE";
  return error;
}

/** The suite of a name. */
function suite(name, value) {
  const found = SUITES.get(value);
  if (found !== undefined) return found;
  if (typeof value !== "string") throw wrong(name, value, "the name of a suite");
  const error = new TypeError(
    `${text(name)}: there is no suite ${JSON.stringify(value.slice(0, 64))}, expected ${[...SUITES.keys()].join(", ")}`,
  );
  error.code = "ERR_INVALID_ARG_VALUE";
  throw error;
}

function bytes(name, value) {
  if (!isUint8Array(value)) throw wrong(name, value, "a Uint8Array");
  if (isGone(value)) throw wrong(name, value, PRESENT);
  return value;
}

/** How many bytes an array has. A subclass can have a `length` of its own, which is not that of its bytes. */
function lengthOf(value) {
  return LENGTH.call(value);
}

const LENGTH = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), "length").get;

/** Whether the buffer of an array is gone: another thread has got it, or it was cut. Such an array has no bytes, and is not an empty one. */
function isGone(value) {
  if (lengthOf(value) > 0) return false;
  try {
    Uint8Array.prototype.keys.call(value);
    return false;
  } catch {
    return true;
  }
}

const PRESENT = "one whose buffer was not transferred or cut";

function array(name, value, expected) {
  if (!Array.isArray(value)) throw wrong(name, value, expected);
  return value;
}

/** The same, for a walk by `map` or `forEach`, which skip places that nobody has filled: they are `undefined`. */
function filled(name, value, expected) {
  return Array.from(array(name, value, expected));
}

function object(name, value) {
  if (value === undefined) return {};
  if (value === null || typeof value !== "object") throw wrong(name, value, "an object");
  return value;
}

/** A boolean, or `false` if there is none. */
function flag(name, value) {
  if (value === undefined) return false;
  if (typeof value !== "boolean") throw wrong(name, value, "a boolean");
  return value;
}

/** A whole number from `least` to `most`. */
function whole(name, value, least, most) {
  if (typeof value !== "number") throw wrong(name, value, "a number");
  if (!Number.isInteger(value) || value < least || value > most) {
    throw outside(name, `found ${value}, expected a whole number from ${least} to ${most}`);
  }
  return value;
}

/** A time in milliseconds, above zero. */
function time(name, value) {
  return milliseconds(name, value, Number.MIN_VALUE, "above 0 and up");
}

/** A time in milliseconds, or zero. */
function timeOrZero(name, value) {
  return milliseconds(name, value, 0, "from 0");
}

function milliseconds(name, value, least, range) {
  if (typeof value !== "number") throw wrong(name, value, "a number of milliseconds");
  if (!(value >= least && value <= MOST_MILLISECONDS)) {
    throw outside(name, `found ${value}, expected a number of milliseconds ${range} to ${MOST_MILLISECONDS}`);
  }
  return value;
}

/** An hour: the longest time that a setting can have. */
const MOST_MILLISECONDS = 3_600_000;

/** Byte arrays one after another, each of `length` bytes. */
function joined(name, list, length, what) {
  array(name, list, `an array of ${what}`);
  const all = new Uint8Array(list.length * length);
  for (let index = 0; index < list.length; index += 1) {
    const part = bytes(`${name}[${index}]`, list[index]);
    const found = lengthOf(part);
    if (found !== length) {
      const error = new Error(
        `${name}[${index}]: found ${found} bytes, expected ${length}, the length of one of the ${what} of this suite`,
      );
      error.code = "ERR_QUORATE_ENCODING";
      throw error;
    }
    all.set(part, index * length);
  }
  return all;
}

/** The options of a verifier, as the native library takes them: zeros and the empty name are its defaults. */
function engine(options) {
  const { threads, soundness, backend, mostKnown } = options;
  return {
    threads: threads === undefined ? 0 : threads === "all" ? ALL : whole("options.threads", threads, 1, 1024),
    soundness: soundness === undefined ? 0 : bits("options.soundness", soundness),
    backend: backend === undefined ? "" : named("options.backend", backend),
    mostKnown: mostKnown === undefined ? 0 : whole("options.mostKnown", mostKnown, 1, 2 ** 32 - 1),
  };
}

/** All threads of the machine, for the native library. */
const ALL = 2 ** 32 - 1;

function bits(name, value) {
  if (typeof value !== "number") throw wrong(name, value, "64 or 128");
  if (value !== 64 && value !== 128) throw outside(name, `found ${value}, expected 64 or 128`);
  return value;
}

function named(name, value) {
  if (typeof value !== "string" || value === "") throw wrong(name, value, "a name that backends() gives");
  return value;
}

/** An AbortSignal, or `undefined`. */
function signal(name, value) {
  if (value === undefined) return undefined;
  if (value === null || typeof value !== "object" || typeof value.aborted !== "boolean") {
    throw wrong(name, value, "an AbortSignal");
  }
  return value;
}

module.exports = {
  PRESENT,
  SUITES,
  array,
  bytes,
  engine,
  filled,
  flag,
  isGone,
  joined,
  lengthOf,
  object,
  outside,
  signal,
  suite,
  time,
  timeOrZero,
  whole,
  wrong,
};
