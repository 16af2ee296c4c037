//! `quorate dkg` as members of a ceremony run it: the built binary, a folder with messages, and every kind of trouble with both.
//!
//! | module | what |
//! |---|---|
//! | [`room`] | how the binary is run, as which member |
//! | [`forge`] | what a cheat signs |
//! | [`whole`] | ceremonies from the first command to a signature |
//! | [`one_round`] | members who publish one transcript each
//! | [`run`] | members who each start one command |
//! | [`crash`] | programs that stop between two writes, full disks, states that are lost or old |
//! | [`forget`] | what is deleted after a key was shared anew |
//! | [`bad_input`] | files that are none, of others, or in the wrong place; command lines that cannot be meant |
//! | [`judgement`] | who is missing, and who is proven to have cheated |
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod bad_input;
mod crash;
mod forge;
#[cfg(unix)]
mod forget;
mod judgement;
mod one_round;
mod room;
#[cfg(unix)]
mod run;
mod whole;
