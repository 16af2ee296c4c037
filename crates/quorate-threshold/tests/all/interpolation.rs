//! Every method against the definition, on secrets and on points, and the traps by name.
#![allow(clippy::unwrap_used, reason = "what a test cannot set up fails it")]

use proptest::{collection::btree_set, prelude::*, sample::Index as Sample};
use quorate::{Backend, Options};
use quorate_curve::{Bls12381Group, G1, G2, Scalar};
use quorate_threshold::{Committee, Identifiers, Index, Interpolation, InterpolationError, Method};

const METHODS: [Method; 6] =
    [Method::SmallIntegers, Method::Naive, Method::Complement, Method::Tree, Method::Transform, Method::Cosets];
const POINTS: [Identifiers; 2] = [Identifiers::Integers, Identifiers::RootsOfUnity];

fn options(backend: Backend, threads: usize) -> Options {
    Options { backend, threads: threads.try_into().unwrap(), ..Options::default() }
}

fn committee(t: usize, n: usize, identifiers: Identifiers, backend: Backend) -> Committee {
    Committee::new(t, n, identifiers, backend).unwrap()
}

/// t coefficients that differ.
fn polynomial(t: usize) -> Vec<Scalar> {
    (0..t as u64).map(|i| Scalar::from(i * i + 7).power(20)).collect()
}

fn shares(committee: &Committee, signers: &[Index], polynomial: &[Scalar]) -> Vec<Scalar> {
    let points: Vec<_> = signers.iter().map(|index| committee.point(*index)).collect();
    Backend::auto().values(polynomial, &points)
}

/// ∏ y/(y - x).
fn by_definition(committee: &Committee, signers: &[Index]) -> Vec<Scalar> {
    let points: Vec<_> = signers.iter().map(|index| committee.point(*index)).collect();
    let coefficient = |x: &Scalar| {
        let others = || points.iter().filter(|y| *y != x);
        let denominator: Scalar = others().map(|y| *y - *x).product();
        others().copied().product::<Scalar>() * denominator.inverse().unwrap()
    };
    points.iter().map(coefficient).collect()
}

/// Every method that applies, and the one that is chosen.
fn each(
    committee: &Committee,
    available: &[Index],
    options: &Options,
) -> impl Iterator<Item = Result<Interpolation, InterpolationError>> {
    let by = METHODS.map(|method| Interpolation::by(method, committee, available, options));
    by.into_iter()
        .filter(|made| !matches!(made, Err(InterpolationError::NotApplicable(_))))
        .chain([Interpolation::new(committee, available, options)])
}

fn agrees(t: usize, n: usize, identifiers: Identifiers, numbers: &[usize], backend: Backend, threads: usize) {
    let (committee, options) = (committee(t, n, identifiers, backend), options(backend, threads));
    let available: Vec<_> = numbers.iter().map(|number| committee.index(*number as u64).unwrap()).collect();
    let polynomial = polynomial(t);
    for interpolation in each(&committee, &available, &options) {
        let interpolation = interpolation.unwrap();
        let what = format!("{:?} of {identifiers:?}, {t} of {n}, {backend}", interpolation.method());
        let signers = interpolation.signers();
        assert!(signers.len() >= t && signers.is_sorted() && signers.iter().all(|index| available.contains(index)));
        if signers.len() <= 200 {
            assert_eq!(interpolation.coefficients(), by_definition(&committee, signers), "{what}");
        }
        let shares = shares(&committee, signers, &polynomial);
        assert_eq!(interpolation.of_scalars(&shares), polynomial[0], "{what}");
        if signers.len() <= 40 {
            on_points::<G1>(&interpolation, &shares, polynomial[0], &options);
            on_points::<G2>(&interpolation, &shares, polynomial[0], &options);
        }
    }
}

fn on_points<G: Bls12381Group>(interpolation: &Interpolation, shares: &[Scalar], secret: Scalar, options: &Options) {
    let times = |scalar: Scalar| options.backend.msm(&[(G::generator(), scalar)]);
    let points: Vec<_> = shares.iter().map(|share| times(*share)).collect();
    assert_eq!(interpolation.of_points(&points, options), times(secret), "{:?}", interpolation.method());
}

/// All participants, all but the first, all but the last, every other one where they are enough.
#[test]
fn every_method_finds_the_secret() {
    let sizes =
        [(1, 1), (1, 2), (2, 2), (2, 3), (3, 4), (5, 7), (7, 10), (9, 13), (16, 16), (16, 31), (33, 64), (65, 128)];
    for backend in Backend::available() {
        for identifiers in POINTS {
            for (t, n) in sizes {
                let all: Vec<_> = (1..=n).collect();
                let sets =
                    [all.clone(), all[1..].to_vec(), all[..n - 1].to_vec(), all.iter().step_by(2).copied().collect()];
                for numbers in sets.iter().filter(|numbers| numbers.len() >= t) {
                    agrees(t, n, identifiers, numbers, *backend, 2);
                }
            }
        }
    }
}

/// Sizes at which trees have several levels, the last leaf is short, and blocks are climbed by several threads.
#[test]
fn large_committees() {
    for identifiers in POINTS {
        for (t, n) in [(300, 599), (1000, 1999), (5000, 9999)] {
            // Every thirteenth participant is absent.
            let numbers: Vec<_> = (1..=n).filter(|i| i % 13 != 0).collect();
            agrees(t, n, identifiers, &numbers, Backend::auto(), 2);
        }
    }
}

/// What a dealer of another implementation would share: the first participants, in order and shuffled.
#[test]
fn the_order_of_the_shares_does_not_matter() {
    let options = Options::default();
    let committee = committee(3, 5, Identifiers::Integers, Backend::auto());
    let of = |numbers: [u64; 4]| {
        let available = numbers.map(|number| committee.index(number).unwrap());
        Interpolation::new(&committee, &available, &options).unwrap().signers().to_vec()
    };
    assert_eq!(of([5, 1, 4, 2]), of([1, 2, 4, 5]));
}

/// t shares combine, t - 1 never do.
#[test]
fn one_share_too_few_is_refused() {
    for identifiers in POINTS {
        for (t, n) in [(1, 1), (2, 3), (64, 100)] {
            let (committee, options) = (committee(t, n, identifiers, Backend::auto()), Options::default());
            let all: Vec<_> = committee.indices().collect();
            assert!(Interpolation::new(&committee, &all[..t], &options).is_ok());
            let too_few = InterpolationError::TooFew { found: t - 1, threshold: t };
            assert!(each(&committee, &all[..t - 1], &options).all(|made| made.err() == Some(too_few)));
        }
    }
}

/// A participant who is there twice does not count twice.
#[test]
fn duplicates_are_refused_before_they_are_counted() {
    let (committee, options) = (committee(3, 5, Identifiers::RootsOfUnity, Backend::auto()), Options::default());
    let [one, two] = [1, 2].map(|number| committee.index(number).unwrap());
    let made = Interpolation::new(&committee, &[one, two, one], &options);
    assert_eq!(made.err(), Some(InterpolationError::Twice(one)));
}

#[test]
fn participants_of_another_committee_are_refused() {
    let options = Options::default();
    let [small, large] = [3, 9].map(|n| committee(2, n, Identifiers::Integers, Backend::auto()));
    let available = [small.index(1).unwrap(), large.index(4).unwrap()];
    let made = Interpolation::new(&small, &available, &options);
    assert_eq!(made.err(), Some(InterpolationError::NoMember { index: available[1], participants: 3 }));
}

/// The cosets are as large as those that are whole allow, down to pairs, and then points are taken singly.
#[test]
fn cosets_shrink_as_participants_are_absent() {
    let options = Options::default();
    let committee = committee(512, 1024, Identifiers::RootsOfUnity, Backend::auto());
    let multiplications = |every: usize| {
        let available: Vec<_> = committee.indices().filter(|index| index.place() % every != 0).collect();
        let made = Interpolation::new(&committee, &available, &options).unwrap();
        (made.method(), made.multiplications())
    };
    assert_eq!(multiplications(1024), (Method::Cosets, 1));
    assert_eq!(multiplications(200), (Method::Cosets, 8));
    assert_eq!(multiplications(16), (Method::Cosets, 64));
    assert_eq!(multiplications(3), (Method::Transform, 512));
}

#[test]
fn a_signer_is_replaced() {
    let options = Options::default();
    for identifiers in POINTS {
        let committee = committee(20, 50, identifiers, Backend::auto());
        // Every other participant, so that no coset is whole.
        let available: Vec<_> = committee.indices().step_by(2).collect();
        let mut interpolation = Interpolation::new(&committee, &available, &options).unwrap();
        for (leaves, joins) in [(1, 2), (39, 50), (21, 49), (2, 4)] {
            let [leaves, joins] = [leaves, joins].map(|number| committee.index(number).unwrap());
            interpolation = interpolation.replaced(&committee, leaves, joins, options.backend).unwrap();
            assert!(interpolation.signers().is_sorted() && !interpolation.signers().contains(&leaves));
            assert_eq!(interpolation.coefficients(), by_definition(&committee, interpolation.signers()));
            let again = interpolation.replaced(&committee, leaves, joins, options.backend);
            assert_eq!(again.err(), Some(InterpolationError::NoMember { index: leaves, participants: 50 }));
            let twice = interpolation.replaced(&committee, joins, joins, options.backend);
            assert_eq!(twice.err(), Some(InterpolationError::Twice(joins)));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]
    #[test]
    fn any_signers_find_the_secret(
        numbers in btree_set(1_usize..=140, 1..140), threshold: Sample, beyond in 0_usize..20, roots: bool, threads in 1_usize..4,
    ) {
        let numbers: Vec<_> = numbers.into_iter().collect();
        let t = threshold.index(numbers.len()) + 1;
        let n = numbers[numbers.len() - 1] + beyond;
        for backend in Backend::available() {
            agrees(t, n, POINTS[usize::from(roots)], &numbers, *backend, threads);
        }
    }
}
