//! A batch has the oracle's verdicts on every backend, whatever lies in it.

use std::num::NonZeroUsize;

use arbitrary::Arbitrary;
use quorate::{Backend, Bn254Suite, MinPk, MinSig, Options, Soundness, naive, verify};
use quorate_lab::forge::{Forge, Lie, Recipe, Shape, claims};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

#[derive(Arbitrary, Debug)]
struct Entry {
    suite: u8,
    shape: EntryShape,
    lie: u8,
    source: Option<bool>,
}

#[derive(Arbitrary, Debug)]
enum EntryShape {
    Single(u8, u8),
    Shared([Option<u8>; 4], u8),
    Each([Option<(u8, u8)>; 4]),
}

pub fn run(bytes: &[u8]) {
    let Some(input) = crate::structured::<(u8, u8, Vec<Entry>)>(bytes) else { return };
    let (variant, threads, entries) = input;
    let recipes: Vec<_> = entries.into_iter().take(12).map(recipe).collect();
    let threads = NonZeroUsize::MIN.saturating_add(usize::from(threads % 3));
    match variant % 3 {
        0 => agrees::<MinPk>(&recipes, threads),
        1 => agrees::<MinSig>(&recipes, threads),
        _ => agrees::<Bn254Suite>(&recipes, threads),
    }
}

fn agrees<S: Forge>(recipes: &[Recipe], threads: NonZeroUsize) {
    let claims = claims::<S>(recipes);
    let expected: Vec<_> = claims.iter().map(naive::verify).collect();
    for backend in Backend::available() {
        for soundness in [Soundness::Bits64, Soundness::Bits128] {
            let options = Options { threads, soundness, backend: *backend, ..Options::default() };
            let outcome = verify(&claims, &options, &mut ChaCha20Rng::from_seed([7; 32]));
            assert_eq!(outcome.verdicts, expected, "{backend}");
        }
    }
}

/// Keys and messages from small pools, so that they mix; half of the claims are true.
fn recipe(Entry { suite, shape, lie, source }: Entry) -> Recipe {
    let (key, message) = (|k: u8| k % 5, |m: u8| m % 6);
    Recipe {
        suite: suite.into(),
        shape: match shape {
            EntryShape::Single(k, m) => Shape::Single(key(k), message(m)),
            EntryShape::Shared(keys, m) => Shape::Shared(keys.into_iter().flatten().map(key).collect(), message(m)),
            EntryShape::Each(pairs) => {
                Shape::Each(pairs.into_iter().flatten().map(|(k, m)| (key(k), message(m))).collect())
            }
        },
        lie: match lie % 12 {
            0 => Lie::WrongKey,
            1 => Lie::WrongMessage,
            2 => Lie::Torsion,
            3 => Lie::Identity,
            4 => Lie::CancellingPair,
            5 => Lie::Swapped,
            _ => Lie::None,
        },
        source: source.map(u64::from),
    }
}
