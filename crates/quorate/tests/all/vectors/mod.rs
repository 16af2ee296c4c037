//! Known-answer tests: every answer in the vectors folder that concerns BLS12-381.
//!
//! `quorate_lab::vectors` says where the data lies, and what a test does without it. Counts are visible with `--nocapture`.
//!
//! | file | what it checks |
//! |---|---|
//! | [`loading`] | that the loaders of `quorate_lab::answers` take files which they have not seen, and count what they skip |
//! | [`signatures`] | each case alone, and all of a variant in one batch |
//! | [`signing`] | secret and message to signature |
//! | [`aggregates`] | sums of signatures and of keys |
//! | [`hashing`] | messages to points |
//! | [`encodings`] | bytes that are a point, and the flaw of those that are none |
//! | [`multiples`] | multiples of generators and of other points |
//! | [`derivation`] | seeds to secret keys, secret keys to public keys |
//! | [`disagreements`] | where sources contradict each other or quorate, and why |

mod aggregates;
mod derivation;
mod disagreements;
mod encodings;
mod hashing;
mod loading;
mod multiples;
mod signatures;
mod signing;
