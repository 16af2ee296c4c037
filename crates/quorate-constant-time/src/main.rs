//! Whether a branch or an address in memory depends on a secret: run by `make constant-time` under valgrind's memcheck, as A. Langley's
//! ctgrind (2010) does it.
//!
//! Memcheck reports a branch or an address that depends on memory without a value. Secrets are marked as such memory, and each
//! operation runs once. What everyone may know of a secret is declassified where it becomes public, by
//! `quorate_curve::marking::declassify`; for code that cannot say it, the file `suppressions` has a line with the reason.
//!
//! The check fails if memcheck reports something, if a result does not depend on the secret (the marks were lost on the way, and nothing was
//! checked), or if one of the leaks below is not reported. It says nothing about the time that single instructions take.

#![forbid(unsafe_code)]

mod check;
mod cases;

use std::{hint::black_box, process::ExitCode};

use check::Check;
use quorate_curve::marking::{is_checked, use_adx};

fn main() -> ExitCode {
    if !is_checked() {
        eprintln!("quorate-constant-time: expected to run under valgrind; run `make constant-time`");
        return ExitCode::from(2);
    }
    let mut check = Check::default();
    for (name, leak) in LEAKS {
        check.leaks(name, leak);
    }
    cases::bls12381(&mut check, "");
    cases::threshold(&mut check, "");
    if use_adx(true) {
        cases::bls12381(&mut check, ", ADX");
        cases::threshold(&mut check, ", ADX");
    }
    cases::one_round(&mut check);
    cases::bn254(&mut check);
    cases::files(&mut check);
    cases::envelopes(&mut check);
    println!("constant time: {} wrong", check.wrong);
    if check.wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// An operation that shows a secret.
type Leak = fn(&[u8; 32]) -> usize;

/// What is wrong in ways that the check must find.
const LEAKS: [(&str, Leak); 3] = [
    ("leak: a branch", |secret| if black_box(secret[3] & 1 == 1) { black_box(5) } else { 0 }),
    ("leak: an address", |secret| black_box(&[7_u8; 256])[usize::from(secret[3])].into()),
    ("leak: a comparison that stops early", |secret| {
        secret.iter().zip(black_box(&[7; 32])).position(|(a, b)| black_box(a) != b).unwrap_or(0)
    }),
];
