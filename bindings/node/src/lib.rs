//! The native part of the npm package `quorate`: what its JavaScript calls.
//!
//! The files in `lib` check arguments and pack claims into one array, so that a call takes one array however many claims it has, and
//! the event loop does no more than that copy. Claims are read, decoded and verified on threads of this library. Nothing here is an
//! interface for users of the package: `index.d.ts` is.
//!
//! | module | noun |
//! |---|---|
//! | `fault` | errors with the codes that the package documents; panics end here |
//! | `pool` | the threads on which calls with a promise work |
//! | `job` | work for another thread, and its promise |
//! | `external` | memory that V8 does not see, and that objects of JavaScript keep |
//! | `catalog` | suites and backends |
//! | `verdicts` | the verdicts of a call |
//! | `keys` | secret keys, checks and sums |
//! | `keyset` | a committee's keys by index, whose members claims name |
//! | `verifier` | packed claims to verdicts |
//! | `evm` | quorums that a contract settles: digests, plans, calls |
//! | `batcher` | claims as they come |
//! | `blst` | decoded points for the entry `quorate/blst` |

// `forbid` is not possible: `#[napi]` writes `unsafe` code around each function, to convert its arguments, and allows it there. Code of our
// own has none.
#![deny(unsafe_code)]

pub mod fault;
pub mod pool;
pub mod job;
pub mod external;
pub mod catalog;
pub mod verdicts;
pub mod keys;
pub mod keyset;
pub mod verifier;
pub mod evm;
pub mod batcher;
pub mod blst;
