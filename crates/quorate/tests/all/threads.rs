//! Verification where the operating system gives no threads.

use std::{env, num::NonZeroUsize, thread};

use quorate::{Backend, Claim, MinPk, Options, all_valid, verify};
use quorate_lab::{
    forge::{Lie, Recipe, Shape, claims},
    run::{self, Run as _},
};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

/// Set for the child.
const CHILD: &str = "QUORATE_TEST_WITHOUT_THREADS";

/// Threads that cannot be started are no reason to lose verdicts: the caller's thread does all the work.
#[test]
fn verdicts_are_right_without_another_thread() {
    // No address space holds such a stack.
    let no_stack = (1u64 << 60).to_string();
    let mut child = run::test("threads::the_process_without_another_thread");
    let ran = child.env(CHILD, "1").env("RUST_MIN_STACK", no_stack).ran();
    assert!(ran.code == 0 && ran.out.contains("judged all"), "{ran:?}");
}

/// Not a test of its own: what the test above runs.
#[test]
fn the_process_without_another_thread() {
    if env::var_os(CHILD).is_none() {
        return;
    }
    assert!(thread::Builder::new().spawn(|| ()).is_err(), "a thread could be started");
    let recipe = |i: u8| Recipe {
        suite: 0,
        shape: Shape::Single(i, i),
        lie: if i % 16 == 5 { Lie::WrongMessage } else { Lie::None },
        source: None,
    };
    let claims: Vec<Claim<MinPk>> = claims(&(0..64).map(recipe).collect::<Vec<_>>());
    let options = Options { threads: NonZeroUsize::new(4).unwrap(), backend: Backend::Portable, ..Options::default() };
    let mut rng = ChaCha20Rng::from_seed([62; 32]);
    let outcome = verify(&claims, &options, &mut rng);
    assert!(outcome.invalid().eq([5, 21, 37, 53]), "{:?}", outcome.verdicts);
    assert!(all_valid(&claims[6..21], &options, &mut rng));
    println!("judged all");
}
