//! The search for false claims finds those that the oracle finds, however many there are and wherever they stand.

use std::{collections::BTreeSet, num::NonZeroUsize};

use proptest::prelude::*;
use quorate::{
    Backend, Bn254Suite, Claim, MinPk, MinSig, Options, Patience, Plan, Reason, Scheme, SecretKey, SourceId,
    UncheckedSignature, Verdict, Work, culprit, execute::Execution, plan::cost::Costs, verify,
};
use quorate_curve::{Group, Pairing};
use quorate_lab::forge::{Forge, Lie, Recipe, Shape, cases, claims};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

use crate::options::{Turns, every_mode, every_options};

fn rng() -> ChaCha20Rng {
    ChaCha20Rng::from_seed([61; 32])
}

/// The index of a POP suite in the list of a variant: several keys can sign one message under it.
fn possession<S: Forge>() -> usize {
    S::all().iter().position(|suite| suite.scheme() == Scheme::ProofOfPossession).unwrap()
}

fn single<S: Forge>(i: usize, lie: Lie) -> Recipe {
    Recipe { suite: possession::<S>(), shape: Shape::Single(i as u8, i as u8), lie, source: None }
}

/// n claims, each with a key and a message of its own: the true ones, and a false one for each place.
fn distinct<S: Forge>(n: usize) -> [Vec<Claim<S>>; 2] {
    [Lie::None, Lie::WrongMessage].map(|lie| claims(&(0..n).map(|i| single::<S>(i, lie)).collect::<Vec<_>>()))
}

fn with_false<S: Forge>([truth, lies]: &[Vec<Claim<S>>; 2], places: &[usize]) -> Vec<Claim<S>> {
    truth.iter().zip(lies).enumerate().map(|(i, (t, f))| if places.contains(&i) { f } else { t }.clone()).collect()
}

/// The invalid claims in input order, and how many values the search computed.
fn found<S: Forge>(claims: &[Claim<S>], options: &Options) -> (Vec<usize>, usize) {
    let outcome = verify(claims, options, &mut rng());
    (outcome.invalid().collect(), outcome.work.search_nodes)
}

fn finds<S: Forge>(batch: &[Vec<Claim<S>>; 2], places: &[usize], turns: &mut Turns) {
    let claims = with_false(batch, places);
    for options in turns.on_every_backend() {
        assert_eq!(found(&claims, &options).0, places, "of {} under {options:?}", claims.len());
    }
}

/// The most values that find one false claim among n. Each value halves the claims that are left, or with two threads each
/// two values leave a third of them. One more is needed if a set is cut into nine parts. With two threads, another one is
/// needed if half of the set is left whole, because it is not a third.
fn most_values(n: usize, options: &Options) -> usize {
    let rounds = |pieces: usize| (n - 1).ilog(pieces) as usize + 1;
    let half_is_whole = options.backend.products_at_once() < options.backend.lanes();
    if options.threads.get() == 1 { rounds(2) + 1 } else { 2 * rounds(3) + 1 + usize::from(half_is_whole) }
}

/// One false claim, alone at each of these places, of which the portable backend tries every fifth.
fn one_false<S: Forge>(n: usize, places: impl IntoIterator<Item = usize>) {
    let batch = distinct::<S>(n);
    let mut turns = Turns::default();
    for place in places {
        let claims = with_false(&batch, &[place]);
        for options in turns.in_lanes() {
            let (found, values) = found(&claims, &options);
            assert_eq!(found, [place], "of {n} under {options:?}");
            let most = most_values(n, &options);
            assert!(values <= most, "{values} values and not {most} for {place} of {n} under {options:?}");
        }
    }
}

#[test]
fn one_false_in_every_place_of_a_block() {
    one_false::<MinPk>(16, 0..16);
    one_false::<MinSig>(16, 0..16);
    one_false::<Bn254Suite>(16, 0..16);
}

/// Every place of every block. Both backends have eight blocks on one thread.
#[test]
fn one_false_in_every_place_of_64() {
    one_false::<MinPk>(64, 0..64);
}

/// The blocks in lanes are twice as long. Each block has its turn twice, each time with another place in it.
#[test]
fn one_false_in_every_block_of_128() {
    one_false::<MinPk>(128, (0..16).map(|i| i % 8 * 16 + i));
}

#[test]
fn one_false_in_every_place_of_few() {
    for n in 2..=9 {
        one_false::<MinPk>(n, 0..n);
        one_false::<MinSig>(n, 0..n);
    }
}

#[test]
fn two_false_in_one_block() {
    let (batch, mut turns) = (distinct::<MinPk>(128), Turns::default());
    for places in [[0, 1], [0, 15], [1, 2], [7, 8], [33, 46], [112, 127], [126, 127]] {
        finds(&batch, &places, &mut turns);
    }
    let batch = distinct::<MinSig>(16);
    for places in [[0, 1], [0, 15], [3, 4], [14, 15]] {
        finds(&batch, &places, &mut turns);
    }
}

#[test]
fn two_false_in_two_blocks() {
    let (batch, mut turns) = (distinct::<MinPk>(128), Turns::default());
    for places in [[0, 16], [15, 16], [5, 100], [0, 127]] {
        finds(&batch, &places, &mut turns);
    }
}

/// Copies of one false claim have equal values before they are weighted.
fn equal<S: Forge>() {
    let mut turns = Turns::default();
    for (n, copies) in [(16, &[2, 9][..]), (16, &[0, 1, 2, 3]), (128, &[5, 7]), (128, &[20, 90, 127])] {
        let mut claims = claims::<S>(&(0..n).map(|i| single::<S>(i, Lie::None)).collect::<Vec<_>>());
        let lie = with_false(&distinct::<S>(1), &[0]).remove(0);
        copies.iter().for_each(|copy| claims[*copy] = lie.clone());
        for options in turns.on_every_backend() {
            assert_eq!(found(&claims, &options).0, copies, "of {n} under {options:?}");
        }
    }
}

#[test]
fn equal_false_claims() {
    equal::<MinPk>();
    equal::<MinSig>();
    equal::<Bn254Suite>();
}

#[test]
fn all_false() {
    fn of<S: Forge>() {
        let mut turns = Turns::default();
        for n in [2, 3, 16, 17, 128] {
            finds(&distinct::<S>(n), &(0..n).collect::<Vec<_>>(), &mut turns);
        }
    }
    of::<MinPk>();
    of::<MinSig>();
    of::<Bn254Suite>();
}

/// A set is cut into its claims at most, however many threads there are.
#[test]
fn more_threads_than_claims_find_the_culprit() {
    fn of<S: Forge>() {
        for (n, place) in [(3, 1), (64, 40)] {
            let claims = with_false(&distinct::<S>(n), &[place]);
            for backend in Backend::available() {
                let one = Options { backend: *backend, ..Options::default() };
                let expected = verify(&claims, &one, &mut rng());
                assert!(expected.invalid().eq([place]), "of {n} under {one:?}");
                for threads in [Some(1024), 1_usize.checked_shl(40), Some(usize::MAX)].into_iter().flatten() {
                    let options = Options { threads: NonZeroUsize::new(threads).unwrap(), ..one };
                    let found = verify(&claims, &options, &mut rng());
                    assert_eq!(found.verdicts, expected.verdicts, "of {n} under {options:?}");
                }
            }
        }
    }
    of::<MinPk>();
    of::<MinSig>();
    of::<Bn254Suite>();
}

/// What the operations cost by the plan's own table, in nanoseconds. Each final exponentiation stands for a product of
/// Miller loops, and each block of the batch is another one.
fn cost(work: Work, blocks: usize, costs: Costs) -> u64 {
    let count = |n: usize, cost: u64| n as u64 * cost;
    count(work.hashes, costs.hash)
        + count(work.subgroup_checks, costs.subgroup_check)
        + count(work.weighted, costs.weighted_key.max(costs.weighted_signature))
        + count(work.pairings, costs.pairing)
        + count(work.final_exponentiations, costs.final_exponentiation)
        + count(work.final_exponentiations + blocks, costs.product)
}

/// The patterns of false claims among 512 that cost the most, beside a check of each claim by its own pairings. The search
/// costs less than that check. With the batch that failed, all costs at most 1.3 times as much. No search can lower that
/// below 1.2, because the batch and the two pairings of each claim cost more.
#[test]
fn worst_liars_cost() {
    let (n, suite, costs) = (512, MinPk::Eth2, Costs::of::<MinPk>(Backend::Portable, Pairing::Ate));
    let signed: Vec<_> = (0..n as u32 + 1)
        .map(|i| (SecretKey::key_gen(suite, &[&[7; 28][..], &i.to_be_bytes()].concat(), b"").unwrap(), i.to_be_bytes()))
        .map(|(secret, message)| (secret.public_key(), message, secret.sign(suite, &message).point()))
        .collect();
    let claim = |i: usize, lies: bool| {
        let signature = UncheckedSignature::from_point(signed[i + usize::from(lies)].2);
        Claim::single(suite, signed[i].0, signed[i].1, signature)
    };
    let patterns: [(&str, &dyn Fn(usize) -> bool); 8] = [
        ("all", &|_| true),
        ("every second", &|i| i % 2 == 0),
        ("every third", &|i| i % 3 == 0),
        ("every fourth", &|i| i % 4 == 0),
        ("all but one in 16", &|i| i % 16 != 15),
        ("half of the blocks", &|i| i / 16 % 2 == 0),
        ("half of the claims, one in 16 of the others", &|i| i < 256 || i % 16 == 0),
        ("one in 16", &|i| i % 16 == 0),
    ];
    let options = every_mode(Backend::Portable)[0];
    let naive = (n as u64)
        * (costs.hash + costs.subgroup_check + costs.product + 2 * costs.pairing + costs.final_exponentiation);
    for (name, lies) in patterns {
        let claims: Vec<_> = (0..n).map(|i| claim(i, lies(i))).collect();
        let plan = Plan::new(&claims, &options);
        let batch = Execution::new(&plan, &mut rng());
        let search = culprit::search(&batch);
        assert!(search.culprits().into_iter().eq((0..n).filter(|i| lies(*i))), "{name}");
        let (batch, search) = (cost(batch.work(), n / 16, costs), cost(search.work, 0, costs));
        println!(
            "{name}: the search {} % of one by one, with the batch {} %",
            100 * search / naive,
            100 * (batch + search) / naive
        );
        assert!(search < naive, "{name}: {search} ns and not {naive} ns");
        assert!(10 * (batch + search) <= 13 * naive, "{name}: {batch} + {search} ns and not 1.3 * {naive} ns");
    }
}

/// The claims, to whose signatures at some places so many times one point was added.
fn with_errors<S: Forge>(truth: &[Claim<S>], errors: &[(usize, i32)]) -> Vec<Claim<S>> {
    let delta = S::all()[possession::<S>()].signed(99, None, &S::message(200)).point();
    let mut claims = truth.to_vec();
    for (place, times) in errors {
        let point = if *times < 0 { delta.negate() } else { delta };
        let mut points = vec![point; times.unsigned_abs() as usize];
        points.push(claims[*place].signature().point());
        let (key, message) = claims[*place].statements().next().unwrap();
        let wrong = UncheckedSignature::from_point(Backend::Portable.sum(&points));
        claims[*place] = Claim::single(claims[*place].suite(), key, message.clone(), wrong);
    }
    claims
}

/// Claims whose senders conspire: their errors cancel when they are added, and also when each is multiplied by its place
/// among them. They stand together, in two blocks, or spread over all blocks. The search finds all of them and no other.
#[test]
fn conspiring_claims() {
    fn of<S: Forge>() {
        let (n, truth) = (128, distinct::<S>(128)[0].clone());
        // Each sums to zero, and the second and third also with the factors 0, 1, 2, ….
        let errors: [&[i32]; 3] = [&[1, -1], &[1, -2, 1], &[1, -1, -1, 1, 0, 0, 0, 0, 2, -4, 2]];
        let mut turns = Turns::default();
        for errors in errors {
            assert_eq!(errors.iter().sum::<i32>(), 0);
            for step in [1, 9, n / errors.len()] {
                let liars = errors.iter().enumerate().map(|(i, error)| (5 + i * step, *error));
                let liars: Vec<_> = liars.filter(|(_, error)| *error != 0).collect();
                let claims = with_errors(&truth, &liars);
                let places: Vec<_> = liars.iter().map(|(place, _)| *place).collect();
                for options in turns.on_every_backend() {
                    assert_eq!(found(&claims, &options).0, places, "{errors:?} with step {step} under {options:?}");
                }
            }
        }
    }
    of::<MinPk>();
    of::<MinSig>();
    of::<Bn254Suite>();
}

/// The votes of 150 keys about each of four messages, in one block.
fn votes<S: Forge>() -> Vec<Claim<S>> {
    let vote =
        |i: usize| Recipe { shape: Shape::Single((i % 150) as u8, (i / 150) as u8), ..single::<S>(0, Lie::None) };
    claims(&(0..600).map(vote).collect::<Vec<_>>())
}

/// The search looks into a long set without weights. It finds false claims whose errors cancel there as well: beside others, and in
/// sets of which it sees nothing else. Where none cancel, it weighs the false claims alone.
#[test]
fn false_claims_of_a_long_set() {
    fn of<S: Forge>() {
        let truth = votes::<S>();
        let mut turns = Turns::default();
        let many: Vec<_> = (3..600).step_by(19).map(|place| (place, 1 + place as i32 % 5)).collect();
        let visible: [&[(usize, i32)]; 4] = [&[(0, 1)], &[(599, 1)], &[(149, 1), (150, 1), (151, 3)], &many];
        let cancelling: [&[(usize, i32)]; 4] = [
            &[(5, 1), (6, -1)],
            &[(5, 1), (594, -1)],
            &[(5, 1), (300, 1), (301, -1)],
            &[(5, 1), (6, -1), (150, 2), (151, 2), (450, -2), (599, -2)],
        ];
        for (errors, all_visible) in
            visible.map(|errors| (errors, true)).into_iter().chain(cancelling.map(|errors| (errors, false)))
        {
            let claims = with_errors(&truth, errors);
            let places: Vec<_> = errors.iter().map(|(place, _)| *place).collect();
            for options in turns.on_every_backend() {
                let plan = Plan::new(&claims, &options);
                let search = culprit::search(&Execution::new(&plan, &mut rng()));
                assert_eq!(search.culprits(), places, "{errors:?} under {options:?}");
                // A signature and a key or a hash of each.
                if all_visible {
                    assert!(
                        search.work.weighted <= 2 * places.len(),
                        "{:?} for {errors:?} under {options:?}",
                        search.work
                    );
                }
            }
        }
    }
    of::<MinPk>();
    of::<MinSig>();
    of::<Bn254Suite>();
}

/// A caller who does not want all of a liar's false claims does not pay for them in a long set either.
#[test]
fn a_liar_of_a_long_set_is_given_up() {
    struct Few(usize);
    impl Patience for Few {
        fn left(&mut self, _: &SourceId) -> usize {
            self.0
        }

        fn found(&mut self, _: usize, source: Option<&SourceId>, _: Reason) {
            assert!(source.is_some());
            self.0 = self.0.saturating_sub(1);
        }
    }
    let errors: Vec<_> = (3..600).step_by(6).map(|place| (place, 1)).collect();
    let claims = with_errors(&votes::<MinPk>(), &errors);
    let claims: Vec<_> = claims.into_iter().map(|claim| claim.from_source(SourceId::from(7))).collect();
    for options in every_options() {
        let plan = Plan::new(&claims, &options);
        let execution = Execution::new(&plan, &mut rng());
        let search = culprit::search_with(&execution, &mut Few(2));
        assert!(
            (2..errors.len() / 2).contains(&search.culprits().len()),
            "{} under {options:?}",
            search.culprits().len()
        );
        let search = culprit::search_with(&execution, &mut Few(600));
        assert_eq!(search.culprits(), errors.iter().map(|(place, _)| *place).collect::<Vec<_>>(), "{options:?}");
    }
}

/// A claim whose signature is outside the subgroup is dropped and takes part in no sum, beside false claims as well.
#[test]
fn dropped_claims_beside_false_ones() {
    let mut turns = Turns::default();
    for (dropped, wrong) in [(0, 1), (1, 0), (9, 40), (40, 41), (127, 126)] {
        let mut recipes: Vec<_> = (0..128).map(|i| single::<MinPk>(i, Lie::None)).collect();
        (recipes[dropped].lie, recipes[wrong].lie) = (Lie::Torsion, Lie::WrongMessage);
        let claims = claims::<MinPk>(&recipes);
        for options in turns.on_every_backend() {
            let both: Vec<_> = BTreeSet::from([dropped, wrong]).into_iter().collect();
            assert_eq!(found(&claims, &options).0, both, "{options:?}");
        }
    }
}

/// Claims that take part in no value are culprits of the search as well: all of a batch, and one beside true claims. A batch with
/// one does not hold.
#[test]
fn claims_without_a_value_are_culprits() {
    let mut turns = Turns::default();
    for (n, wrong) in [(200, 0..200), (128, 40..41)] {
        let with = |lie| {
            let recipe = |i| single::<MinPk>(i, if wrong.contains(&i) { lie } else { Lie::None });
            claims::<MinPk>(&(0..n).map(recipe).collect::<Vec<_>>())
        };
        let (dropped, mut defective) = (with(Lie::Torsion), with(Lie::None));
        for claim in &mut defective[wrong.clone()] {
            let signature = UncheckedSignature::from_point(claim.signature().point());
            *claim = Claim::shared(claim.suite(), Vec::new(), [1u8], signature);
        }
        for claims in [dropped, defective] {
            for options in turns.on_every_backend() {
                let plan = Plan::new(&claims, &options);
                let execution = Execution::new(&plan, &mut rng());
                assert!(!execution.holds(), "{n} claims under {options:?}");
                assert!(culprit::search(&execution).culprits().into_iter().eq(wrong.clone()), "{n} under {options:?}");
            }
        }
    }
}

/// All claims of one source are false, and the first cut is between the sources.
#[test]
fn a_false_source_is_one_part() {
    let recipe = |i: usize| Recipe {
        source: Some(i as u64 % 8),
        ..single::<MinPk>(i, if i % 8 == 5 { Lie::WrongMessage } else { Lie::None })
    };
    let claims = claims::<MinPk>(&(0..64).map(recipe).collect::<Vec<_>>());
    for options in every_options() {
        let plan = Plan::new(&claims, &options);
        let search = culprit::search(&Execution::new(&plan, &mut rng()));
        assert_eq!(search.culprits(), (0..64).filter(|i| i % 8 == 5).collect::<Vec<_>>(), "{options:?}");
        // The values that find one source of eight, and those of the eight claims but the last.
        let most = most_values(8, &options) + 7;
        assert!(search.work.search_nodes <= most, "{} values under {options:?}", search.work.search_nodes);
    }
}

/// In every graph, whichever terms have claims inside and outside a part.
#[test]
fn one_false_in_every_graph() {
    fn of<S: Forge>(graph: Graph, place: usize, turns: &mut Turns) {
        let lie = |i| if i == place { Lie::CancellingPair } else { Lie::None };
        let recipes: Vec<_> = (0..24).map(|i| Recipe { shape: graph.shape(i), ..single::<S>(i, lie(i)) }).collect();
        let claims = claims::<S>(&recipes);
        for options in turns.in_lanes() {
            let (found, values) = found(&claims, &options);
            assert_eq!(found, [place], "{graph:?} under {options:?}");
            let most = most_values(24, &options);
            assert!(values <= most, "{values} values and not {most} in {graph:?} under {options:?}");
        }
    }
    let mut turns = [Turns::default(), Turns::default()];
    for graph in Graph::ALL {
        for place in [0, 7, 16, 23] {
            of::<MinPk>(graph, place, &mut turns[0]);
            of::<MinSig>(graph, place, &mut turns[1]);
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Graph {
    Distinct,
    OneMessage,
    FewSigners,
    FewMessages,
    Shared,
    Aggregates,
}

impl Graph {
    const ALL: [Self; 6] =
        [Self::Distinct, Self::OneMessage, Self::FewSigners, Self::FewMessages, Self::Shared, Self::Aggregates];

    fn shape(self, i: usize) -> Shape {
        let i = i as u8;
        match self {
            Self::Distinct => Shape::Single(i % 200, i % 99),
            Self::OneMessage => Shape::Single(i, 7),
            Self::FewSigners => Shape::Single(i % 5, i % 99),
            Self::FewMessages => Shape::Single(i, i % 3),
            Self::Shared => Shape::Shared((i..i.saturating_add(1 + i % 3)).collect(), i % 40),
            Self::Aggregates => Shape::Each((0..1 + i % 4).map(|j| (i % 50 + j, i % 60 + j)).collect()),
        }
    }
}

/// Claims of a graph with false ones at random places, from several sources or without sources.
fn batch() -> impl Strategy<Value = Vec<Recipe>> {
    let graph = prop::sample::select(&Graph::ALL[..]);
    let lie = prop_oneof![
        4 => Just(Lie::WrongMessage),
        2 => Just(Lie::CancellingPair),
        2 => Just(Lie::Swapped),
        1 => Just(Lie::WrongKey),
        1 => Just(Lie::Identity),
        1 => Just(Lie::Torsion),
    ];
    let places = prop_oneof![
        3 => proptest::collection::vec((any::<prop::sample::Index>(), lie.clone()), 1..3),
        2 => proptest::collection::vec((any::<prop::sample::Index>(), lie.clone()), 3..40),
        1 => proptest::collection::vec((any::<prop::sample::Index>(), lie), 200),
    ];
    (graph, 2usize..136, places, proptest::option::of(1u64..12)).prop_map(|(graph, n, places, sources)| {
        let recipe = |i| Recipe {
            suite: possession::<MinPk>(),
            shape: graph.shape(i),
            lie: Lie::None,
            source: sources.map(|s| i as u64 % s),
        };
        let mut recipes: Vec<_> = (0..n).map(recipe).collect();
        places.into_iter().for_each(|(place, lie)| recipes[place.index(n)].lie = lie);
        recipes
    })
}

/// On every backend, under one of its modes.
fn agrees<S: Forge>(recipes: &[Recipe], mode: usize) {
    let of_variant = |recipe: &Recipe| Recipe { suite: possession::<S>(), ..recipe.clone() };
    let recipes: Vec<_> = recipes.iter().map(of_variant).collect();
    let (claims, expected): (Vec<_>, Vec<_>) = cases::<S>(&recipes).into_iter().map(|c| (c.claim, c.verdict)).unzip();
    for backend in Backend::available() {
        let options = every_mode(*backend)[mode];
        let verdicts: Vec<Verdict> = verify(&claims, &options, &mut rng()).verdicts;
        assert_eq!(verdicts, expected, "{options:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    #[test]
    fn search_agrees_with_naive_min_pk(recipes in batch(), mode in 0usize..4) {
        agrees::<MinPk>(&recipes, mode);
    }

    #[test]
    fn search_agrees_with_naive_min_sig(recipes in batch(), mode in 0usize..4) {
        agrees::<MinSig>(&recipes, mode);
        agrees::<Bn254Suite>(&recipes, mode);
    }
}
