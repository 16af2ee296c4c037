"use strict";
// Promises that an AbortSignal ends.

const native = require("./native.js");

/** As Node's own calls reject. */
class AbortError extends Error {
  constructor(cause) {
    super("The operation was aborted", { cause });
    this.name = "AbortError";
    this.code = "ABORT_ERR";
  }
}

/**
 * The promise that `start` returns, or a rejection as soon as the signal is aborted. A native call to which `start` gives its argument is not
 * computed then, unless it has begun. What has begun ends by itself.
 */
function abortable(signal, start) {
  if (signal === undefined) return start();
  if (signal.aborted) return Promise.reject(new AbortError(signal.reason));
  return new Promise((resolve, reject) => {
    const call = native.NativeAbort.armed();
    const abort = () => {
      call.abort();
      reject(new AbortError(signal.reason));
    };
    signal.addEventListener("abort", abort, { once: true });
    start(call)
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", abort));
  });
}

module.exports = { AbortError, abortable };
