//! Batches around every width of a vector, with the false claim in every lane, on every backend. The verdicts are the
//! oracle's.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use quorate::{
    Backend, Bn254Suite, Claim, Known, MinPk, MinSig, Options, ParseError, Plan, Reason, UncheckedSignature, Verdict,
    claim::ClaimSignature, naive, verify, verify_and_remember,
};
use quorate_curve::G2;
use quorate_lab::forge::{Case, Forge, Lie, Recipe, Shape, cases, claims};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

use crate::options::{Turns, every_mode};

/// One vector and two vectors, each with one lane more and one lane less. The same around eight vectors, because from
/// there on sums check membership. And sixteen vectors with one lane more.
const SIZES: [usize; 13] = [0, 1, 2, 7, 8, 9, 15, 16, 17, 63, 64, 65, 129];

/// In batches up to this size the false claim stands at every place.
const EVERY_PLACE: usize = 17;

fn recipe(shape: Shape, lie: Lie) -> Recipe {
    Recipe { suite: 0, shape, lie, source: None }
}

/// Claim number i, with a key and a message of its own.
fn distinct(i: usize, lie: Lie) -> Recipe {
    recipe(Shape::Single(i as u8, i as u8), lie)
}

fn rng() -> ChaCha20Rng {
    ChaCha20Rng::from_seed([29; 32])
}

fn agree<S: Forge>(cases: &[Case<S>], options: &Options, what: impl Fn() -> String) {
    let claims: Vec<_> = cases.iter().map(|case| case.claim.clone()).collect();
    let expected: Vec<_> = cases.iter().map(|case| case.verdict).collect();
    assert_eq!(verify(&claims, options, &mut rng()).verdicts, expected, "{} under {options:?}", what());
}

/// Agrees under the next of the options.
fn agree_in_turn<S: Forge>(cases: &[Case<S>], turns: &mut Turns, what: impl Fn() -> String) {
    for options in turns.in_lanes() {
        agree(cases, &options, &what);
    }
}

/// How batches of more than [`EVERY_PLACE`] claims are tried.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Long {
    /// One after the other on the next backend, with the false claim in every third block of eight. Its place in the block is another one
    /// each time.
    InTurn,
    /// Each on every backend, with the false claim in every block.
    Everywhere,
}

impl Long {
    /// The number of claims between two places of the false one.
    fn step(self) -> usize {
        if self == Self::InTurn { 24 } else { 8 }
    }

    fn agree<S: Forge>(self, cases: &[Case<S>], turns: &mut Turns, what: impl Fn() -> String) {
        if self == Self::Everywhere || cases.len() <= EVERY_PLACE {
            return agree_in_turn(cases, turns, what);
        }
        agree(cases, &turns.on_one_backend(), what);
    }
}

/// Every place of a short batch. In a long batch a place in one block of eight of each step, each time in another lane, and the last place.
fn places(n: usize, step: usize) -> Vec<usize> {
    if n <= EVERY_PLACE {
        return (0..n).collect();
    }
    let mut places: Vec<_> = (0..n).step_by(step).enumerate().map(|(block, start)| start + 5 * block % 8).collect();
    places.retain(|place| *place < n - 1);
    places.push(n - 1);
    places
}

/// A batch of more than [`EVERY_PLACE`] claims in the next mode, or all in every mode.
fn all_true<S: Forge>(long: Long) {
    let cases = cases::<S>(&(0..129).map(|i| distinct(i, Lie::None)).collect::<Vec<_>>());
    assert!(cases.iter().all(|case| case.verdict.is_valid()));
    let mut turns = Turns::default();
    for n in SIZES {
        let what = || format!("{n} true claims");
        if long == Long::InTurn && n > EVERY_PLACE {
            agree_in_turn(&cases[..n], &mut turns, what);
            continue;
        }
        for options in turns.in_lanes() {
            for options in every_mode(options.backend) {
                agree(&cases[..n], &options, what);
            }
        }
    }
}

/// One false claim at each of these places.
fn one_false<S: Forge>(lie: Lie, reason: Reason, long: Long) {
    let (sizes, step) = (&SIZES, long.step());
    let of = |lie, places: &[usize]| cases::<S>(&places.iter().map(|i| distinct(*i, lie)).collect::<Vec<_>>());
    let mut batch = of(Lie::None, &(0..129).collect::<Vec<_>>());
    let false_at: Vec<_> = BTreeSet::from_iter(sizes.iter().flat_map(|n| places(*n, step))).into_iter().collect();
    let lies: BTreeMap<_, _> = false_at.iter().copied().zip(of(lie, &false_at)).collect();
    assert!(lies.values().all(|case| case.verdict == Verdict::Invalid(reason)));
    let mut turns = Turns::default();
    for &n in sizes {
        for place in places(n, step) {
            let truth = std::mem::replace(&mut batch[place], lies[&place].clone());
            long.agree(&batch[..n], &mut turns, || format!("{lie:?} at {place} of {n}"));
            batch[place] = truth;
        }
    }
}

/// Two claims with each other's signatures. Without weights their errors cancel.
fn swapped<S: Forge>(long: Long) {
    let truth = cases::<S>(&(0..129).map(|i| distinct(i, Lie::None)).collect::<Vec<_>>());
    let mut turns = Turns::default();
    for n in SIZES.into_iter().filter(|n| *n > 1) {
        // Neighbours and the same lane of two vectors in turn, and the ends.
        let lanes = places(n, long.step());
        let pairs = lanes
            .iter()
            .step_by(if n <= EVERY_PLACE { 3 } else { 1 })
            .enumerate()
            .map(|(turn, &i)| (i, (i + [1, 8][turn % 2]) % n))
            .chain([(0, n - 1)]);
        for (i, j) in pairs.filter(|(i, j)| i != j) {
            let mut batch = truth[..n].to_vec();
            let two = claims::<S>(&[distinct(i, Lie::Swapped), distinct(j, Lie::Swapped)]);
            for (place, claim) in [i, j].into_iter().zip(two) {
                batch[place] = Case { claim, verdict: Verdict::Invalid(Reason::Mismatch) };
            }
            long.agree(&batch, &mut turns, || format!("signatures of {i} and {j} swapped, of {n}"));
        }
    }
}

/// Claims that share keys or messages, that occur more than once, or that make several statements.
fn repeated<S: Forge>() {
    type Shaped = (&'static str, fn(usize) -> Shape);
    let shapes: [Shaped; 7] = [
        ("every claim twice", |i| Shape::Single(i as u8 / 2, i as u8 / 2)),
        ("one claim", |_| Shape::Single(1, 1)),
        ("three keys", |i| Shape::Single(i as u8 % 3, i as u8)),
        ("one key", |i| Shape::Single(1, i as u8)),
        ("three messages", |i| Shape::Single(i as u8, i as u8 % 3)),
        ("three signers of a message", |i| Shape::Shared(vec![i as u8, i as u8 + 1, i as u8 + 2], i as u8 % 5)),
        ("several statements", |i| Shape::Each((0..=i as u8 % 4).map(|j| (i as u8 % 7, i as u8 + j)).collect())),
    ];
    let mut turns = Turns::default();
    for (what, shape) in shapes {
        let of = |lie| cases::<S>(&(0..65).map(|i| recipe(shape(i), lie)).collect::<Vec<_>>());
        let (truth, lies) = (of(Lie::None), of(Lie::WrongMessage));
        for n in [9, 65] {
            agree_in_turn(&truth[..n], &mut turns, || format!("{what}, {n} true"));
            agree_in_turn(&lies[..n], &mut turns, || format!("{what}, {n} false"));
            for place in [0, n / 2, n - 1] {
                let mut batch = truth[..n].to_vec();
                batch[place] = lies[place].clone();
                agree_in_turn(&batch, &mut turns, || format!("{what}, false at {place} of {n}"));
            }
        }
    }
}

/// Blocks of n statements, of which all but `left` are known. The verdict on the rest is the oracle's, and that of the
/// whole.
fn known<S: Forge>() {
    let mut turns = Turns::default();
    for n in [8usize, 9, 17, 65] {
        let gossip = claims::<S>(&(0..n).map(|i| distinct(i, Lie::None)).collect::<Vec<_>>());
        let block = |lie| recipe(Shape::Each((0..n as u8).map(|i| (i, i)).collect()), lie);
        let blocks = cases::<S>(&[block(Lie::None), block(Lie::Torsion), block(Lie::Identity)]);
        for left in [0, 1, 7, 8] {
            for options in &turns.in_lanes() {
                let mut known = Known::new();
                let outcome = verify_and_remember(&gossip[left..], &mut known, options, &mut rng());
                assert!(outcome.verdicts.iter().all(|verdict| verdict.is_valid()));
                let rest: Vec<_> = blocks.iter().map(|case| case.claim.without(&known, options.backend)).collect();
                assert!(rest.iter().all(|rest| rest.len() == left));
                let verdicts = verify(&rest, options, &mut rng()).verdicts;
                let what = format!("{left} of {n} unknown under {options:?}");
                assert_eq!(verdicts, rest.iter().map(naive::verify).collect::<Vec<_>>(), "{what}");
                for (verdict, case) in verdicts.iter().zip(&blocks) {
                    assert_eq!(verdict.is_valid(), case.verdict.is_valid(), "{what}");
                }
            }
        }
    }
}

/// The backends with lanes, the fastest first, and the flags that the kernel reports for each. The backends detect the
/// instructions in another way.
const LANES: [(&str, [&str; 2]); 3] =
    [("ifma", ["avx512f", "avx512ifma"]), ("fma-avx512", ["avx512f", "avx512vl"]), ("fma-avx2", ["avx2", "fma"])];

/// With `CI=true`, a run whose tests did not reach all lanes that the CPU has fails, and one that does not choose the
/// fastest.
#[test]
fn lanes_run_where_the_cpu_has_them() {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let flags = info.lines().find(|line| line.starts_with("flags")).unwrap_or_default();
    let has = |wanted: &str| flags.split_whitespace().any(|flag| flag == wanted);
    let mut expected: Vec<_> = LANES.iter().filter(|(_, flags)| flags.iter().all(|flag| has(flag))).collect();
    for (name, flags) in LANES.iter().filter(|lanes| !expected.contains(lanes)) {
        println!("skipped: no {} among the CPU's flags, so no test of {name}", flags.join(" and "));
    }
    let names: Vec<_> = Backend::available().iter().map(|backend| backend.name()).collect();
    if cfg!(target_arch = "aarch64") {
        // Every such CPU has NEON.
        return assert_eq!(names, ["portable", "fma-neon"]);
    }
    let expected: Vec<_> = expected.drain(..).map(|(name, _)| *name).chain(["portable"]).collect();
    if std::env::var("CI").is_ok_and(|ci| ci == "true") {
        assert_eq!(names, expected, "the backends that this CPU's flags promise");
        assert_eq!(Backend::auto().name(), expected[0]);
    } else if names != expected {
        println!("skipped: the CPU's flags promise {expected:?}, but the backends see {names:?}");
    }
}

macro_rules! of_both_variants {
    ($($name:ident: $test:ident($($argument:expr),*);)*) => { $(
        mod $name {
            use super::*;

            #[test]
            fn min_pk() {
                $test::<MinPk>($($argument),*);
            }

            #[test]
            fn min_sig() {
                $test::<MinSig>($($argument),*);
            }
        }
    )* };
}

const OUTSIDE: Reason = Reason::Parse(ParseError::SignatureNotInSubgroup);

#[test]
#[ignore = "takes minutes: run `make soak`"]
fn soak_one_false_in_every_block() {
    one_false::<MinPk>(Lie::WrongMessage, Reason::Mismatch, Long::Everywhere);
    one_false::<MinSig>(Lie::WrongMessage, Reason::Mismatch, Long::Everywhere);
    one_false::<MinPk>(Lie::Torsion, OUTSIDE, Long::Everywhere);
    one_false::<MinSig>(Lie::Torsion, OUTSIDE, Long::Everywhere);
}

#[test]
#[ignore = "takes minutes: run `make soak`"]
fn soak_true_and_swapped_everywhere() {
    all_true::<MinPk>(Long::Everywhere);
    all_true::<MinSig>(Long::Everywhere);
    swapped::<MinPk>(Long::Everywhere);
    swapped::<MinSig>(Long::Everywhere);
}

of_both_variants! {
    true_claims_around_every_width: all_true(Long::InTurn);
    wrong_message_in_every_lane: one_false(Lie::WrongMessage, Reason::Mismatch, Long::InTurn);
    small_subgroup_in_every_lane: one_false(Lie::Torsion, OUTSIDE, Long::InTurn);
    cancelling_pair_in_every_lane: swapped(Long::InTurn);
    duplicates_and_repeated_keys_and_messages: repeated();
    known_statements_subtracted: known();
}

/// The plans of BN254 are the same, with other costs.
mod bn254 {
    use super::*;

    #[test]
    fn duplicates_and_repeated_keys_and_messages() {
        repeated::<Bn254Suite>();
    }

    #[test]
    fn known_statements_subtracted() {
        known::<Bn254Suite>();
    }
}

/// Thousands of votes about few messages, from some sources and from none: the plan cuts them into slices, and finds the false
/// ones in each, also signatures outside the subgroup and claims without statements that are to be paired. Each backend on one thread or on
/// two, in turn.
#[test]
fn slices_of_votes() {
    let backends = Backend::available().iter().enumerate();
    slices(backends.map(|(turn, backend)| (*backend, [1, 2][turn % 2])));
}

#[test]
#[ignore = "takes minutes: run `make soak`"]
fn soak_slices_of_votes() {
    slices(Backend::available().iter().flat_map(|backend| [(*backend, 1), (*backend, 2)]));
}

/// With each of these backends on so many threads.
fn slices(backends: impl Iterator<Item = (Backend, usize)>) {
    let suite = MinPk::Eth2;
    let secrets: Vec<_> = (0..40).map(|i| quorate_lab::forge::secret(suite, i)).collect();
    let messages: Vec<Arc<[u8]>> = (0..3_u8).map(|i| vec![i; 32].into()).collect();
    let signed: Vec<Vec<_>> =
        messages.iter().map(|message| secrets.iter().map(|secret| secret.sign(suite, message)).collect()).collect();
    let outside = Backend::Portable.hash_for_sums::<G2>(b"outside", &[(b"", b"")])[0];
    let claims: Vec<_> = (0..17_000_usize)
        .map(|i| {
            let (key, message) = (i * 7 % 40, i * i % 3);
            let signature = match i {
                // One alone, two side by side, and a whole slice.
                17 | 4000 | 4001 | 16_999 | 6000..7500 => signed[message][(key + 1) % 40].into(),
                1234 => UncheckedSignature::from_point(outside).into(),
                _ => ClaimSignature::from(UncheckedSignature::from_point(signed[message][key].point())),
            };
            let claim = Claim::single(suite, secrets[key].public_key(), messages[message].clone(), signature);
            if i % 5 == 0 { claim.from_source((i % 11) as u64) } else { claim }
        })
        .collect();
    let expected: Vec<_> = [17, 1234, 4000, 4001].into_iter().chain(6000..7500).chain([16_999]).collect();
    for (backend, threads) in backends {
        let options = Options { backend, threads: threads.try_into().expect("one or two"), ..Options::default() };
        let plan = Plan::new(&claims, &options);
        // A slice has a pair for its signatures, and at most one for each message.
        let slices = if backend.lanes() == 1 { 1 } else { 17_000 / 1024 / (8 * threads) * 8 * threads };
        assert!(plan.pairings() > slices && plan.pairings() <= 4 * slices, "{backend}: {}", plan.pairings());
        let outcome = verify(&claims, &options, &mut rng());
        assert_eq!(outcome.invalid().collect::<Vec<_>>(), expected, "{backend}, {threads} threads");
        let rest: Vec<_> = claims[7500..16_999].iter().chain(&claims[4002..6000]).cloned().collect();
        assert!(verify(&rest, &options, &mut rng()).all_valid());
    }
}
