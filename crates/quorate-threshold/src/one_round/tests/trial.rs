//! Whole ceremonies in one round, drawn from a seed: dealers who are honest, absent, late or lie, a network that shows members
//! different transcripts, and a last dealer who has seen all others. What must hold holds for every seed.

use std::collections::{BTreeMap, BTreeSet};

use quorate::rand_core::Rng as _;

use super::*;

/// What a dealer does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dealing {
    Honest,
    /// Publishes nothing.
    Absent,
    /// Publishes when the key is there.
    Late,
    /// Signs two true transcripts, and shows each to some members.
    Twice,
    /// Has seen all others, and makes the first share of the first receiver zero.
    LastMover,
    /// Digits that are larger than those of an honest dealer, points of small order where they do no harm: nothing is false.
    Odd(Oddity),
    Lies(Lie),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Oddity {
    OtherDigits,
    SmallOrderInDigits,
    SmallOrderInMasks,
}

/// What is false in a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lie {
    Digit,
    CancellingDigits,
    OtherPolynomial,
    SwappedShares,
    OtherKey,
    BesideTheGenerator,
    BeyondTheBound,
    ZeroEncapsulation,
    SmallOrderEncapsulation,
    SmallOrderCommitment,
    OtherFirstMessage,
    /// The transcript of another dealer.
    Copied,
    /// A transcript of its own for another ceremony.
    Replayed,
    Cut,
    Longer,
    /// A bit of a true transcript is another.
    FlippedBit,
}

const LIES: [Lie; 16] = [
    Lie::Digit,
    Lie::CancellingDigits,
    Lie::OtherPolynomial,
    Lie::SwappedShares,
    Lie::OtherKey,
    Lie::BesideTheGenerator,
    Lie::BeyondTheBound,
    Lie::ZeroEncapsulation,
    Lie::SmallOrderEncapsulation,
    Lie::SmallOrderCommitment,
    Lie::OtherFirstMessage,
    Lie::Copied,
    Lie::Replayed,
    Lie::Cut,
    Lie::Longer,
    Lie::FlippedBit,
];

/// A ceremony, and what each dealer published.
struct Trial<S> {
    suite: S,
    rng: ChaCha20Rng,
    secrets: Vec<ShareDecryptionKey>,
    receivers: ShareReceivers,
    dealings: Vec<Dealing>,
    /// By dealer, from 0 on, what it contributes if it is counted. Who signs two has two.
    published: BTreeMap<usize, Vec<(SecretPolynomial, UncheckedShareTranscript)>>,
}

impl<S: Bls12381Suite> Trial<S> {
    fn new(suite: S, seed: u64) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let mut below = |n: usize| (rng.next_u64() % n as u64) as usize;
        let members = 2 + below(3);
        let mut weights: Vec<_> = (0..members).map(|_| [1, 1, 1, 2, 0][below(5)]).collect();
        weights[0] += 1;
        weights[1] = weights[1].max(1);
        let shares = weights.iter().sum::<u32>() as usize;
        let t = 2 + below(shares - 1).min(2);
        let identifiers = [Identifiers::Integers, Identifiers::RootsOfUnity][below(2)];
        let dealings: Vec<_> = (0..members + 1)
            .map(|_| match below(12) {
                0..4 => Dealing::Honest,
                4 => Dealing::Absent,
                5 => Dealing::Late,
                6 => Dealing::Twice,
                7 => {
                    Dealing::Odd([Oddity::OtherDigits, Oddity::SmallOrderInDigits, Oddity::SmallOrderInMasks][below(3)])
                }
                _ => Dealing::Lies(LIES[below(LIES.len())]),
            })
            .collect();
        let last = [Dealing::LastMover, Dealing::Honest][below(2)];
        let dealings = [&[Dealing::Honest], &dealings[1..], &[last]].concat();
        let (secrets, receivers) = receivers(t, &weights, identifiers);
        let mut trial = Self { suite, rng, secrets, receivers, dealings, published: BTreeMap::new() };
        for dealer in 0..trial.dealings.len() {
            let dealt = trial.deal(dealer, seed);
            trial.published.insert(dealer, dealt);
        }
        trial
    }

    fn below(&mut self, n: usize) -> usize {
        (self.rng.next_u64() % n as u64) as usize
    }

    fn threshold(&self) -> usize {
        self.receivers.committee().threshold()
    }

    /// What a dealer publishes, whose number is one more than its place.
    fn deal(&mut self, dealer: usize, seed: u64) -> Vec<(SecretPolynomial, UncheckedShareTranscript)> {
        let t = self.threshold();
        let mut polynomial = polynomial(t, &mut self.rng);
        match self.dealings[dealer] {
            Dealing::Absent => return Vec::new(),
            Dealing::Twice => {
                let second = super::polynomial(t, &mut self.rng);
                return [polynomial, second].map(|of| self.publish(&Liar::default(), dealer, of)).into();
            }
            Dealing::LastMover => polynomial = self.cancelling(polynomial),
            Dealing::Honest | Dealing::Late | Dealing::Odd(_) | Dealing::Lies(_) => {}
        }
        let small = point_of_order_three();
        let add = |points: &mut [G1]| points[0] = Backend::Portable.sum(&[points[0], small]);
        let shares = self.receivers.committee().participants();
        let place = self.below(shares);
        let by: i64 = [1, -1, 1 << 23, 1 << 30][self.below(4)];
        let beyond = (RowBounds::of(shares).largest_digit() >> DIGIT_BITS) + 1 + by.abs();
        let other = crate::sharing::values(self.receivers.committee(), &super::polynomial(t, &mut self.rng)).unwrap();
        let mut others = self.receivers.keys().to_vec();
        others[0] = ShareDecryptionKey::derive(&[0x77; 32]).encryption_key();
        let weights = (0..others.len()).map(|member| self.receivers.shares_of(member).count() as u32);
        let others: Vec<_> = others.iter().copied().zip(weights).collect();
        let others = ShareReceivers::new(self.receivers.committee().clone(), &others).unwrap();
        let beside = [(place * DIGITS, Scalar::from(5))];

        let digit = |of: &mut deal::Encryption<'_>| of.digits[place][3] += by;
        let cancelling = |of: &mut deal::Encryption<'_>| {
            of.digits[0][3] += by;
            of.digits[shares - 1][4] -= by;
        };
        let of_other = |of: &mut deal::Encryption<'_>| {
            of.digits = other.iter().map(super::super::digits::digits).collect();
            of.shares = other.clone();
        };
        let swapped = |of: &mut deal::Encryption<'_>| of.digits.swap(0, shares - 1);
        let carried = |of: &mut deal::Encryption<'_>| carry(of, place, 1);
        let too_far = |of: &mut deal::Encryption<'_>| carry(of, place, beyond);
        let zero = |points: &mut [G1]| points[place % DIGITS] = G1::IDENTITY;
        let small_commitment = |bytes: &mut [u8]| {
            add_to(&mut bytes[S::Key::COMPRESSED..][..S::Key::COMPRESSED], outside_of_the_subgroup::<S::Key>());
        };
        let first = |bytes: &mut [u8]| add_to(&mut bytes[..48], G1::generator());
        let liar = Liar::default();
        let liar = match self.dealings[dealer] {
            Dealing::Odd(Oddity::OtherDigits) => Liar { secrets: &carried, ..liar },
            Dealing::Odd(Oddity::SmallOrderInDigits) => Liar { digits: &add, ..liar },
            Dealing::Odd(Oddity::SmallOrderInMasks) => Liar { masks: &add, ..liar },
            Dealing::Lies(lie) => match lie {
                Lie::Digit => Liar { secrets: &digit, ..liar },
                Lie::CancellingDigits => Liar { secrets: &cancelling, ..liar },
                Lie::OtherPolynomial => Liar { secrets: &of_other, ..liar },
                Lie::SwappedShares => Liar { secrets: &swapped, ..liar },
                Lie::OtherKey => Liar { encrypts_to: Some(&others), ..liar },
                Lie::BesideTheGenerator => Liar { beside: &beside, ..liar },
                Lie::BeyondTheBound => Liar { secrets: &too_far, masks_nothing: true, ..liar },
                Lie::ZeroEncapsulation => Liar { encapsulations: &zero, ..liar },
                Lie::SmallOrderEncapsulation => Liar { encapsulations: &add, ..liar },
                Lie::SmallOrderCommitment => Liar { commitment: &small_commitment, ..liar },
                Lie::OtherFirstMessage => Liar { first: &first, ..liar },
                Lie::Copied | Lie::Replayed | Lie::Cut | Lie::Longer | Lie::FlippedBit => liar,
            },
            Dealing::Honest | Dealing::Late | Dealing::Absent | Dealing::Twice | Dealing::LastMover => liar,
        };
        let of_ceremony = ShareStatement { ceremony: [9; 32], dealer: dealer as u32 + 1 };
        let statement = match self.dealings[dealer] {
            Dealing::Lies(Lie::Replayed) => ShareStatement { ceremony: [seed as u8 | 128; 32], ..of_ceremony },
            _ => of_ceremony,
        };
        let mut transcript = liar.publish(self.suite, &self.receivers, &statement, &polynomial, &mut self.rng);
        match self.dealings[dealer] {
            // The first dealer is honest, and has spoken.
            Dealing::Lies(Lie::Copied) => transcript = self.published[&0][0].1.clone(),
            Dealing::Lies(Lie::Cut) => drop(transcript.0.pop()),
            Dealing::Lies(Lie::Longer) => transcript.0.push(0),
            Dealing::Lies(Lie::FlippedBit) => {
                let place = self.below(transcript.0.len());
                transcript.0[place] ^= 1 << self.below(8);
            }
            _ => {}
        }
        vec![(polynomial, transcript)]
    }

    fn publish(
        &mut self,
        liar: &Liar<'_>,
        dealer: usize,
        polynomial: SecretPolynomial,
    ) -> (SecretPolynomial, UncheckedShareTranscript) {
        let statement = statement(dealer as u32 + 1);
        let transcript = liar.publish(self.suite, &self.receivers, &statement, &polynomial, &mut self.rng);
        (polynomial, transcript)
    }

    /// The polynomial of the last dealer: with those that count for everybody, the value at the first share is zero.
    fn cancelling(&self, random: SecretPolynomial) -> SecretPolynomial {
        let [first, ..] = self.receivers.committee().indices().collect::<Vec<_>>()[..] else { unreachable!("a share") };
        let x = self.receivers.committee().point(first);
        let sum: Scalar =
            self.counted(&BTreeSet::new()).iter().map(|(_, of)| scalar(&of.value(&x).expect("random"))).sum();
        let own = scalar(&random.value(&x).expect("random"));
        let mut coefficients: Vec<_> = random.coefficients().iter().map(scalar).collect();
        coefficients[0] = coefficients[0] - own - sum;
        SecretPolynomial::new(coefficients.into_iter().map(secret).collect())
    }

    /// The dealers whose transcripts are true and one, of those that are not hidden, and what they contribute.
    fn counted(&self, hidden: &BTreeSet<usize>) -> Vec<(usize, &SecretPolynomial)> {
        let counts = |dealer: &usize| {
            !hidden.contains(dealer)
                && matches!(self.dealings[*dealer], Dealing::Honest | Dealing::LastMover | Dealing::Odd(_))
        };
        let dealers = self.published.iter().filter(|(dealer, _)| counts(dealer));
        dealers.map(|(dealer, dealt)| (*dealer, &dealt[0].0)).collect()
    }

    /// Verifies all that was published together, and each alone. What is true is exactly what no lie is in.
    fn verified(&mut self) -> BTreeMap<usize, Vec<ShareTranscript<S>>> {
        let options = Options::default();
        let all: Vec<_> =
            self.published.iter().flat_map(|(dealer, of)| of.iter().map(|(_, of)| (*dealer, of))).collect();
        let numbered: Vec<_> = all.iter().map(|(dealer, of)| (*dealer as u32 + 1, *of)).collect();
        let together = verify_all(self.suite, &self.receivers, [9; 32], &numbered, &options, &mut self.rng);
        assert_eq!(together.len(), all.len());
        let mut verified = BTreeMap::<usize, Vec<_>>::new();
        for ((dealer, transcript), answer) in all.into_iter().zip(together) {
            let dealing = self.dealings[dealer];
            let alone = verify(self.suite, transcript, &self.receivers, dealer as u32 + 1).map(drop);
            assert_eq!(answer.as_ref().map(drop).map_err(|error| *error), alone, "{dealing:?}");
            assert_eq!(answer.is_ok(), !matches!(dealing, Dealing::Lies(_)), "{dealing:?}: {alone:?}");
            verified.entry(dealer).or_default().extend(answer.ok());
        }
        verified
    }

    /// What must hold for members who see all transcripts but some.
    fn check(&self, verified: &BTreeMap<usize, Vec<ShareTranscript<S>>>, hidden: &BTreeSet<usize>) {
        let options = Options::default();
        let counted = self.counted(hidden);
        let transcripts = counted.iter().map(|(dealer, _)| &verified[dealer][0]);
        let contributions = Contributions::to_new_key(transcripts, &options).expect("one is of an honest dealer");
        let (committee, dealers) = (self.receivers.committee(), self.dealings.len());
        let x = |index| committee.point(index);
        let share = |index| -> Scalar {
            counted.iter().filter_map(|(_, of)| of.value(&x(index)).ok()).map(|of| scalar(&of)).sum()
        };
        let is_last = |(dealer, _): &(usize, _)| self.dealings[*dealer] == Dealing::LastMover;
        let without = counted.iter().any(is_last) && hidden.is_empty();
        let key = SharedKey::new(self.suite, committee.clone(), contributions.commitment().clone()).expect("t points");
        let secret_key: Scalar = counted.iter().map(|(_, of)| scalar(&of.coefficients()[0])).sum();
        let expected = SecretKey::<S>::from_bytes(&secret_key.to_bytes()).unwrap().public_key();
        assert!(key.public_key() == expected, "the key is the sum of what counts");
        let first = committee.indices().next().expect("a share");
        assert_eq!(key.without_share(&options), if without { vec![first] } else { Vec::new() }, "{dealers} dealers");
        let mut shares = Vec::new();
        // Of those who see less, the first ones stand for the others.
        let members = if hidden.is_empty() { self.secrets.len() } else { 2 };
        for (member, secret) in self.secrets.iter().take(members).enumerate() {
            let decrypted = contributions.decrypt(secret, &self.receivers, member, &options, &mut rng());
            if without && self.receivers.shares_of(member).any(|index| index == first) {
                assert_eq!(decrypted.unwrap_err(), ContributionsError::ZeroShare(first));
                continue;
            }
            for found in decrypted.expect("true transcripts give every share") {
                assert_eq!(
                    scalar(&SecretScalar::from_bytes(&found.secret().to_bytes()).unwrap()),
                    share(found.index())
                );
                shares.push(found);
            }
        }
        if shares.len() >= committee.threshold() {
            assert_signs(&key, &shares);
        }
    }
}

/// A new key and a key that is shared anew, in G1 or in G2.
fn try_seed(seed: u64) {
    if seed.is_multiple_of(2) {
        try_ceremony(SUITE, seed);
        reshare::try_seed(MinSig::Basic, seed);
    } else {
        try_ceremony(MinSig::Basic, seed);
        reshare::try_seed(SUITE, seed);
    }
}

/// A ceremony from its seed: everyone sees everything, and some see less.
fn try_ceremony<S: Bls12381Suite>(suite: S, seed: u64) {
    let mut trial = Trial::new(suite, seed);
    let verified = trial.verified();
    trial.check(&verified, &BTreeSet::new());
    // Whoever does not see one of the others' transcripts comes to another key, and no share is of another key than its own.
    let counted: Vec<_> = trial.counted(&BTreeSet::new()).iter().map(|(dealer, _)| *dealer).collect();
    let unseen = counted[trial.below(counted.len())];
    if unseen > 0 {
        trial.check(&verified, &BTreeSet::from([unseen]));
    }
}

/// About two seconds of CPU each, and each lie has a ceremony below.
const FEW: u64 = 2;

#[test]
fn ceremonies_of_few_seeds() {
    (0..FEW).for_each(try_seed);
}

/// Each lie in turn by the second dealer of one ceremony, so that none is left to chance. Those about keys in both groups.
#[test]
fn every_lie_is_seen_beside_true_transcripts() {
    lies_are_seen(SUITE, &LIES);
    lies_are_seen(MinSig::Basic, &[Lie::OtherPolynomial, Lie::SmallOrderCommitment, Lie::OtherFirstMessage]);
}

fn lies_are_seen<S: Bls12381Suite>(suite: S, lies: &[Lie]) {
    let mut trial = Trial::new(suite, 1);
    for lie in lies {
        trial.dealings[1] = Dealing::Lies(*lie);
        let dealt = trial.deal(1, 1);
        trial.published.insert(1, dealt);
        let verified = trial.verified();
        assert!(verified[&1].is_empty() && !verified[&0].is_empty(), "{lie:?}");
    }
}

/// `cargo test --release -p quorate-threshold ceremonies_of_many_seeds -- --ignored`: about two seconds of CPU a seed.
#[test]
#[ignore = "takes more than an hour"]
fn ceremonies_of_many_seeds() {
    let seeds = std::env::var("QUORATE_SEEDS").map_or(3_000, |seeds| seeds.parse().expect("a number of seeds"));
    (FEW..seeds).for_each(try_seed);
}

/// A point of the curve of a group that is not in the group: in G1 that of order three.
fn outside_of_the_subgroup<G: Bls12381Group>() -> G {
    let point = |x: u8| {
        let mut bytes = vec![0; G::COMPRESSED];
        (bytes[0], bytes[G::COMPRESSED - 1]) = (0x80, x);
        let point: G = Backend::Portable.decode(&bytes).ok()?;
        (!Backend::Portable.is_member(&point)).then_some(point)
    };
    (0..=u8::MAX).find_map(point).expect("most points are not in it")
}
