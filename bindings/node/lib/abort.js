"use strict";
// Promises that an AbortSignal ends.

/** As Node's own calls reject. */
class AbortError extends Error {
  constructor(cause) {
    super("The operation was aborted", { cause });
    this.name = "AbortError";
    this.code = "ABORT_ERR";
  }
}

/** The promise that `start` returns, or a rejection as soon as the signal is aborted. What was started ends by itself. */
function abortable(signal, start) {
  if (signal === undefined) return start();
  if (signal.aborted) return Promise.reject(new AbortError(signal.reason));
  return new Promise((resolve, reject) => {
    const abort = () => reject(new AbortError(signal.reason));
    signal.addEventListener("abort", abort, { once: true });
    start()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", abort));
  });
}

module.exports = { AbortError, abortable };
