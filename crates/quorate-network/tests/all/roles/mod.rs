//! One node, event by event: what each role does, when, and what it refuses. Signatures are any bytes here.
//!
//! | module | what it tests |
//! |---|---|
//! | [`work`] | performing, attesting, aggregating and submitting, and the places of tasks |
//! | [`epochs`] | what is kept over epochs and restarts |
//! | [`conflicts`] | conflicts: found, told, reported, and bounded |
//! | [`answers`] | questions to peers and signers, and their answers |

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod rig;

mod answers;
mod conflicts;
mod epochs;
mod work;
