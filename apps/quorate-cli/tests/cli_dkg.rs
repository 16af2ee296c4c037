//! `quorate dkg` as members of a ceremony run it: the built binary, a folder with messages, and every kind of trouble with both.
//!
//! | module | what |
//! |---|---|
//! | [`room`] | how the binary is run, as which member |
//! | [`forge`] | what a cheat signs |
//! | [`whole`] | ceremonies from the first command to a signature |
//! | [`crash`] | programs that stop between two writes, full disks, states that are lost or old |
//! | [`forget`] | what is deleted after a key was shared anew |
//! | [`bad_input`] | files that are none, of others, or in the wrong place; command lines that cannot be meant |
//! | [`judgement`] | who is missing, and who is proven to have cheated |
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "cli_dkg/bad_input.rs"]
mod bad_input;
#[path = "cli_dkg/crash.rs"]
mod crash;
#[path = "cli_dkg/forge.rs"]
mod forge;
#[cfg(unix)]
#[path = "cli_dkg/forget.rs"]
mod forget;
#[path = "cli_dkg/judgement.rs"]
mod judgement;
#[path = "cli_dkg/room.rs"]
mod room;
#[path = "cli_dkg/whole.rs"]
mod whole;
