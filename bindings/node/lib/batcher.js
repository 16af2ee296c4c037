"use strict";
// Claims as they come: answers are the verdicts of a batch.

const native = require("./native.js");
const { engine, object, signal, time, timeOrZero, whole, wrong } = require("./arguments.js");
const { abortable } = require("./abort.js");
const { packOne } = require("./claims.js");
const { CODES, verdict } = require("./verdicts.js");

/** Why nobody verified a claim, by the number that the native library gives. */
const REFUSALS = new Map([
  [16, "overloaded"],
  [17, "banned"],
  [18, "deadline-passed"],
  [19, "stopped"],
]);

/** A claim that nobody verified. It says nothing about the claim, so it is no verdict. */
class RefusedError extends Error {
  constructor(code, reason) {
    super(reason);
    this.name = "RefusedError";
    this.code = code;
  }
}

const CLASSES = new Map([
  ["block", 0],
  ["duty", 1],
  ["gossip", 2],
]);

class Batcher {
  #native;
  /** What waits for an answer, by number. The listener has only this, so that a batcher that nobody holds can be freed. */
  #waiting;

  constructor(options) {
    const given = object("options", options);
    const { threads, soundness, backend } = engine(given);
    const { lingerMs, targetMs, queueMs, queueBytes } = given;
    const settings = {
      threads,
      soundness,
      backend,
      linger: micros("options.lingerMs", lingerMs),
      target: micros("options.targetMs", targetMs),
      queue: micros("options.queueMs", queueMs),
      queueBytes: queueBytes === undefined ? 0 : whole("options.queueBytes", queueBytes, 1, Number.MAX_SAFE_INTEGER),
    };
    const waiting = new Waiting();
    this.#native = new native.NativeBatcher(settings, (numbers, codes, reasons) => {
      for (let index = 0; index < numbers.length; index += 1) waiting.answer(numbers[index], codes[index], reasons[index]);
    });
    this.#waiting = waiting;
  }

  async submit(claim, options) {
    const given = object("options", options);
    const kind = given.class === undefined ? "gossip" : given.class;
    const number = CLASSES.get(kind);
    if (number === undefined) throw wrong("options.class", kind, [...CLASSES.keys()].join(", "));
    const deadline = micros("options.deadlineMs", given.deadlineMs) / 1000;
    const { packed, sets } = packOne(claim);
    return abortable(signal("options.signal", given.signal), () =>
      this.#waiting.ask(this, (place) => this.#native.submit(place, packed, sets, number, deadline)),
    );
  }

  async stop(ms = 0) {
    await this.#native.stop(timeOrZero("ms", ms));
  }

  get pending() {
    return this.#waiting.size;
  }
}

/** Callers that wait. While there is one, a timer keeps the process alive, and the batcher is held. */
class Waiting {
  #callers = new Map();
  #next = 0;
  #alive = undefined;

  get size() {
    return this.#callers.size;
  }

  ask(batcher, submit) {
    return new Promise((resolve, reject) => {
      const number = this.#free();
      this.#callers.set(number, { batcher, resolve, reject });
      this.#alive ??= setInterval(() => {}, LONG);
      try {
        submit(number);
      } catch (error) {
        this.#take(number);
        reject(error);
      }
    });
  }

  answer(number, code, reason) {
    const caller = this.#take(number);
    if (code < CODES.length) caller.resolve(verdict(code, reason));
    else caller.reject(new RefusedError(REFUSALS.get(code) ?? "failed", reason));
  }

  #take(number) {
    const caller = this.#callers.get(number);
    this.#callers.delete(number);
    if (this.#callers.size === 0) {
      clearInterval(this.#alive);
      this.#alive = undefined;
    }
    return caller;
  }

  /** A number that no caller has. It starts anew after 2^32. */
  #free() {
    do this.#next = (this.#next + 1) >>> 0;
    while (this.#callers.has(this.#next));
    return this.#next;
  }
}

/** The longest period of a timer, 24 days. Nothing happens then. */
const LONG = 2 ** 31 - 1;

/** A time in whole microseconds, at least one, because 0 is the default. */
function micros(name, value) {
  return value === undefined ? 0 : Math.max(1, Math.round(1000 * time(name, value)));
}

module.exports = { Batcher, RefusedError };
