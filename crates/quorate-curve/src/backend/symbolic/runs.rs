//! Running proofs, in each case, and with false steps.

use alloc::{boxed::Box, format, string::String, vec::Vec};
use core::cell::Cell;
use std::{panic, sync::Once, thread_local};

use super::{
    dyadic::Value,
    state::{Proof, with},
};

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs a kernel for each way in which at most so many questions for a sign can be answered. `check` gets what `run` gives, and the
/// numbers that were asked for, each with whether it is negative: that is what it may assume.
pub(in crate::backend) fn on_each_path<T>(questions: u32, run: impl Fn() -> T, check: impl Fn(T, &[(Value, bool)])) {
    in_each_case(0..1 << questions, |answers| {
        with(|proof| (proof.answers, proof.answered) = (answers, Vec::new()));
        let made = run();
        let answered = with(|proof| proof.answered.clone());
        assert!(answered.len() <= questions as usize, "more questions than answers");
        check(made, &answered);
    });
}

/// Runs a kernel for each of the cases that its inputs fall into. A step that is false is so in all cases.
pub(in crate::backend) fn in_each_case<T>(cases: impl IntoIterator<Item = T>, run: impl Fn(T)) {
    let before = with(|proof| proof.steps);
    for case in cases {
        with(|proof| proof.steps = before);
        run(case);
    }
}

/// Runs a kernel whose results are only compared with: its steps are not those of the proof.
pub(in crate::backend) fn beside<T>(run: impl FnOnce() -> T) -> T {
    let (steps, falsified) = with(|proof| (proof.steps, proof.falsified.take()));
    let made = run();
    with(|proof| (proof.steps, proof.falsified) = (steps, falsified));
    made
}

/// Runs a kernel and its checks on fresh symbols. The number of its steps.
fn proves(proof: impl Fn()) -> usize {
    with(|state| *state = Proof::default());
    proof();
    with(|state| state.steps)
}

/// Whether the panics of this thread are expected, and not reported.
fn quiet(is_quiet: bool) {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !QUIET.get() {
                report(panic);
            }
        }));
    });
    QUIET.set(is_quiet);
}

/// Runs the proof, and once more for each `QUORATE_PROVE_EVERY`th step with this step falsified: its result is one more. Each of those
/// has to fail, so no step is without effect on what is proved. `make prove` falsifies each seventh; without a number, the first step of
/// each proof is falsified and each 997th after it, which shows that a falsehood is found.
#[track_caller]
pub(in crate::backend) fn misses_no_step(proof: impl Fn() + panic::RefUnwindSafe) {
    let every = std::env::var("QUORATE_PROVE_EVERY").map_or(997, |every| every.parse().expect("a number of steps"));
    let steps = proves(&proof);
    assert!(steps > 0, "a proof about nothing");
    quiet(true);
    let survivors: Vec<String> = (0..steps)
        .step_by(every)
        .filter(|step| {
            let run = panic::catch_unwind(|| {
                with(|state| *state = Proof { falsified: Some(*step), ..Proof::default() });
                proof();
            });
            // What nothing reads is not computed in the lanes.
            run.is_ok() && with(|state| state.is_falsehood_read)
        })
        .map(|step| format!("{step}"))
        .collect();
    quiet(false);
    assert!(survivors.is_empty(), "of {steps} steps, these may be false: {}", survivors.join(", "));
}

/// Tests that prove a kernel for both curves, each with its number of limbs, and falsify its steps.
macro_rules! proofs {
    ($($(#[$doc:meta])* fn $name:ident<$c:ident, $n:ident>() $body:block)*) => { $(
        $(#[$doc])*
        #[test]
        fn $name() {
            fn prove<$c: $crate::backend::lanes::constant::Modulus, const $n: usize>() $body
            $crate::backend::symbolic::misses_no_step(prove::<$crate::pairing::Bls12381, 8>);
            #[cfg(feature = "bn254")]
            $crate::backend::symbolic::misses_no_step(prove::<$crate::Bn254, 6>);
        }
    )* };
}
pub(in crate::backend) use proofs;
