//! Sharing in one round from end to end: what it makes, and what each lie of a dealer comes to.
//!
//! Long because each attack has a test of its name.
#![allow(clippy::unwrap_used, reason = "what a test cannot set up fails it")]

mod liar;
mod reshare;
mod trial;

use std::{collections::BTreeSet, num::NonZeroUsize};

use quorate::{Backend, Bls12381Suite, MinPk, MinSig, Options, ParseError, SecretKey, rand_core::CryptoRng};
use quorate_curve::{Bls12381Group, G1, Group, Scalar, SecretError, SecretPolynomial, SecretScalar};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng as _};
use sha2::{Digest as _, Sha256};

use self::liar::{Liar, add_to, times};
use super::{
    challenge::Said,
    deal::{Encryption, LastProof, Masks, all_are_shown, mask_numbers},
    parameters::{DIGIT_BITS, DIGITS, ROWS, RowBounds},
    transcript::Layout,
    verify::{Mixture, TOGETHER, add_up},
    *,
};
use crate::{Committee, Identifiers, Index, Interpolation, KeyShare, SharedKey, SharingError, sharing::values};

const SUITE: MinPk = MinPk::Eth2;

/// A point of E(Fp) whose order is 3: (0, 2), for 0 = 4 - 4 and 3·(0, 2) is the identity on y² = x³ + 4.
pub(super) fn point_of_order_three() -> G1 {
    let mut bytes = [0; 48];
    bytes[0] = 0x80;
    let point: G1 = Backend::Portable.decode(&bytes).expect("x = 0 is on the curve");
    assert!(!point.is_identity() && Backend::Portable.short_msm(&[(point, 3)]).is_identity());
    point
}

fn rng() -> ChaCha20Rng {
    ChaCha20Rng::from_seed([5; 32])
}

fn secrets(count: usize) -> Vec<ShareDecryptionKey> {
    (0..count).map(|i| ShareDecryptionKey::derive(&[i as u8 + 1; 32])).collect()
}

fn polynomial(t: usize, rng: &mut impl CryptoRng) -> SecretPolynomial {
    let coefficient = |_| {
        let mut material = [0; 32];
        rng.fill_bytes(&mut material);
        SecretScalar::key_gen(&material, b"").expect("32 bytes")
    };
    SecretPolynomial::new((0..t).map(coefficient).collect())
}

fn receivers(t: usize, weights: &[u32], identifiers: Identifiers) -> (Vec<ShareDecryptionKey>, ShareReceivers) {
    let secrets = secrets(weights.len());
    let members: Vec<_> = secrets.iter().map(ShareDecryptionKey::encryption_key).zip(weights.iter().copied()).collect();
    let n = weights.iter().sum::<u32>() as usize;
    let committee = Committee::new(t, n, identifiers, Backend::auto()).expect("a committee");
    (secrets, ShareReceivers::new(committee, &members).expect("receivers"))
}

fn statement(dealer: u32) -> ShareStatement {
    ShareStatement { ceremony: [9; 32], dealer }
}

fn verify<S: Bls12381Suite>(
    suite: S,
    transcript: &UncheckedShareTranscript,
    receivers: &ShareReceivers,
    dealer: u32,
) -> Result<ShareTranscript<S>, ShareTranscriptError> {
    transcript.verify(suite, receivers, &statement(dealer), &Options::default(), &mut ChaCha20Rng::from_seed([6; 32]))
}

/// An honest transcript for two of three.
fn honest() -> (Vec<ShareDecryptionKey>, ShareReceivers, UncheckedShareTranscript) {
    let (secrets, receivers) = receivers(2, &[1, 1, 1], Identifiers::Integers);
    let mut rng = rng();
    let polynomial = polynomial(2, &mut rng);
    let published = publish(SUITE, &receivers, &statement(1), &polynomial, &Options::default(), &mut rng).unwrap();
    (secrets, receivers, published)
}

/// Whoever changes what is hashed, or in which order the parts stand, makes transcripts that others refuse.
#[test]
fn the_bytes_of_a_transcript_are_those_of_this_version() {
    let (_, few, published) = honest();
    let (_, receivers) = receivers(3, &[2, 0, 1], Identifiers::RootsOfUnity);
    let mut rng = rng();
    let polynomial = polynomial(3, &mut rng);
    let of = publish(MinSig::Basic, &receivers, &statement(7), &polynomial, &Options::default(), &mut rng).unwrap();
    let digests = [&published.0[..], few.digest(), &of.0].map(|bytes| const_hex::encode(Sha256::digest(bytes)));
    let expected = [
        "1fc41a6992bb8bd539812130fc6889e828e1a1bd8e22c53e95f5a807a5e4203b",
        "1f6427ab6fd52b284baf5d440cc986fe92ec97d7e5e9940255136983d9958d36",
        "a2287fb91cba630e01029e3046efcafd15df4b69c132487c68a88aaf466cce1e",
    ];
    assert_eq!(digests, expected);
    verify(MinSig::Basic, &of, &receivers, 7).expect("it is true");
}

/// What a verifier says to a liar who deals to two of three.
fn lied(liar: &Liar<'_>, seed: u64) -> Result<ShareTranscript<MinPk>, ShareTranscriptError> {
    let (_, receivers) = receivers(2, &[1, 1, 1], Identifiers::Integers);
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let polynomial = polynomial(2, &mut rng);
    verify(SUITE, &liar.publish(SUITE, &receivers, &statement(1), &polynomial, &mut rng), &receivers, 1)
}

/// All shares of a key, each of which is true.
fn decrypted<S: Bls12381Suite>(
    contributions: &Contributions<'_, S>,
    secrets: &[ShareDecryptionKey],
    receivers: &ShareReceivers,
) -> Vec<KeyShare<S>> {
    let (mut rng, options) = (rng(), Options::default());
    let of = |(member, secret)| contributions.decrypt(secret, receivers, member, &options, &mut rng).expect("shares");
    let shares: Vec<_> = secrets.iter().enumerate().flat_map(of).collect();
    contributions.commitment().proves_all(receivers.committee(), &shares, &options, &mut rng).expect("all are true");
    shares
}

/// The last t shares make a signature of the key.
fn assert_signs<S: Bls12381Suite>(key: &SharedKey<S>, shares: &[KeyShare<S>]) {
    let mut collector = key.collector(b"m", Options::default()).unwrap();
    for share in &shares[shares.len() - key.committee().threshold()..] {
        let signature = share.sign(key.suite(), b"m").to_bytes();
        collector.add(share.index().number().into(), signature.as_ref(), &mut rng()).expect("a true share");
    }
    let signature = collector.signature().expect("t true shares make a signature");
    assert!(key.public_key().verify(key.suite(), b"m", signature).is_valid());
}

fn a_key_is_made_in<S: Bls12381Suite>(suite: S, t: usize, weights: &[u32], identifiers: Identifiers) {
    let (mut rng, options) = (rng(), Options::default());
    let (secrets, receivers) = receivers(t, weights, identifiers);
    let published: Vec<_> = (1..=3)
        .map(|dealer| {
            let polynomial = polynomial(t, &mut rng);
            (dealer, publish(suite, &receivers, &statement(dealer), &polynomial, &options, &mut rng).expect("not zero"))
        })
        .collect();
    let numbered: Vec<_> = published.iter().map(|(dealer, transcript)| (*dealer, transcript)).collect();
    assert_eq!(published[0].1.0.len(), UncheckedShareTranscript::length::<S>(&receivers));
    let verified = verify_all(suite, &receivers, [9; 32], &numbered, &options, &mut rng);
    let verified: Vec<_> = verified.into_iter().map(|transcript| transcript.expect("it is true")).collect();
    let contributions = Contributions::to_new_key(&verified, &options).expect("a key");
    let shares = decrypted(&contributions, &secrets, &receivers);
    assert!(shares.iter().map(KeyShare::index).eq(receivers.committee().indices()));
    let key = SharedKey::new(suite, receivers.committee().clone(), contributions.commitment().clone()).unwrap();
    assert_signs(&key, &shares);
}

#[test]
fn a_key_is_made_in_both_variants_with_and_without_weights() {
    a_key_is_made_in(SUITE, 2, &[1, 1, 1], Identifiers::Integers);
    a_key_is_made_in(MinSig::Basic, 3, &[1, 1, 1], Identifiers::RootsOfUnity);
    a_key_is_made_in(MinSig::Basic, 4, &[3, 1, 0, 2], Identifiers::RootsOfUnity);
    a_key_is_made_in(SUITE, 1, &[1], Identifiers::Integers);
    a_key_is_made_in(MinSig::Basic, 1, &[1, 1], Identifiers::Integers);
    a_key_is_made_in(SUITE, 2, &[1, 1], Identifiers::RootsOfUnity);
}

/// Whoever was offline reads what was published, however much later, and needs nobody.
#[test]
fn a_late_joiner_decrypts_the_same_share() {
    let (secrets, receivers, published) = honest();
    let options = Options::default();
    let share = |seed| {
        let mut rng = ChaCha20Rng::from_seed([seed; 32]);
        let read = UncheckedShareTranscript(published.0.clone());
        let verified = [read.verify(SUITE, &receivers, &statement(1), &options, &mut rng).unwrap()];
        let contributions = Contributions::to_new_key(&verified, &options).unwrap();
        let shares = contributions.decrypt(&secrets[2], &receivers, 2, &options, &mut rng).unwrap();
        *shares[0].secret().to_bytes()
    };
    assert_eq!(share(1), share(2));
}

#[test]
fn dealing_twice_gives_other_bytes_in_every_part_but_the_commitment() {
    let (_, receivers) = receivers(2, &[1, 1, 1], Identifiers::Integers);
    let polynomial = polynomial(2, &mut rng());
    let [one, two] = [1, 2].map(|seed| {
        let mut rng = ChaCha20Rng::from_seed([seed; 32]);
        publish(SUITE, &receivers, &statement(1), &polynomial, &Options::default(), &mut rng).unwrap().0
    });
    let parts = parts(&receivers);
    assert_eq!(one[..parts[1]], two[..parts[1]]);
    for part in parts[1..].windows(2) {
        let (size, pairs) = (if part[0] == parts[4] { 8 } else { 16 }, part[0]..part[1]);
        assert!(one[pairs.clone()].chunks(size).zip(two[pairs].chunks(size)).all(|(one, two)| one != two), "{part:?}");
    }
}

/// Where the parts of a transcript begin, and its end.
fn parts(receivers: &ShareReceivers) -> [usize; 8] {
    let Layout { commitment, encapsulations, digits, masks, sums, first, answers, end } =
        Layout::of::<MinPk>(receivers);
    [commitment, encapsulations, digits, masks, sums, first, answers, end]
}

#[test]
fn a_liar_without_a_lie_is_believed() {
    lied(&Liar::default(), 1).expect("it is honest");
}

#[test]
fn false_digit_for_one_receiver() {
    for place in [0, 10, 17, 32] {
        for by in [1, -1, 1 << 23] {
            let liar = Liar { secrets: &|of| of.digits[place / DIGITS][place % DIGITS] += by, ..Liar::default() };
            assert_eq!(lied(&liar, 1).unwrap_err(), ShareTranscriptError::Proof, "{by} in place {place}");
        }
    }
    // What is false of two digits, or of two receivers, adds up to nothing.
    let cancelling = |of: &mut deal::Encryption<'_>| {
        of.digits[1][3] += 1;
        of.digits[2][3] -= 1;
    };
    assert_eq!(lied(&Liar { secrets: &cancelling, ..Liar::default() }, 1).unwrap_err(), ShareTranscriptError::Proof);
}

/// Digits are another number of the same share: they are as good.
#[test]
fn other_digits_of_the_same_share_are_harmless() {
    let carry = |of: &mut deal::Encryption<'_>| {
        of.digits[1][3] += 1 << DIGIT_BITS;
        of.digits[1][4] -= 1;
    };
    lied(&Liar { secrets: &carry, ..Liar::default() }, 1).expect("the share is the same");
}

#[test]
fn digits_of_another_polynomial() {
    let (_, receivers) = receivers(2, &[1, 1, 1], Identifiers::Integers);
    let other = crate::sharing::values(receivers.committee(), &polynomial(2, &mut rng())).unwrap();
    let digits = |of: &mut deal::Encryption<'_>| of.digits = other.iter().map(super::digits::digits).collect();
    let both = |of: &mut deal::Encryption<'_>| {
        digits(of);
        of.shares = other.clone();
    };
    for secrets in [&digits as &dyn Fn(&mut deal::Encryption<'_>), &both] {
        assert_eq!(lied(&Liar { secrets, ..Liar::default() }, 1).unwrap_err(), ShareTranscriptError::Proof);
    }
}

/// The shares of a polynomial of a higher degree than the commitment has coefficients for.
#[test]
fn raised_degree() {
    let (_, receivers) = receivers(2, &[1, 1, 1], Identifiers::Integers);
    let mut rng = rng();
    let cubic = polynomial(4, &mut rng);
    let line = SecretPolynomial::new(cubic.coefficients()[..2].to_vec());
    let shares = crate::sharing::values(receivers.committee(), &cubic).unwrap();
    let secrets = |of: &mut deal::Encryption<'_>| {
        of.digits = shares.iter().map(super::digits::digits).collect();
        of.shares = shares.clone();
    };
    let published =
        Liar { secrets: &secrets, ..Liar::default() }.publish(SUITE, &receivers, &statement(1), &line, &mut rng);
    assert_eq!(verify(SUITE, &published, &receivers, 1).unwrap_err(), ShareTranscriptError::Proof);
}

#[test]
fn swapped_digits() {
    let liar = Liar { secrets: &|of| of.digits.swap(0, 2), ..Liar::default() };
    assert_eq!(lied(&liar, 1).unwrap_err(), ShareTranscriptError::Proof);
    let liar = Liar { digits: &|points| points.swap(0, DIGITS), ..Liar::default() };
    assert_eq!(lied(&liar, 1).unwrap_err(), ShareTranscriptError::Proof);
}

#[test]
fn digits_encrypted_to_another_key() {
    let keys = [1, 9, 3].map(|seed| (ShareDecryptionKey::derive(&[seed; 32]).encryption_key(), 1));
    let committee = Committee::new(2, 3, Identifiers::Integers, Backend::auto()).unwrap();
    let others = ShareReceivers::new(committee, &keys).unwrap();
    let liar = Liar { encrypts_to: Some(&others), ..Liar::default() };
    assert_eq!(lied(&liar, 1).unwrap_err(), ShareTranscriptError::Proof);
}

/// A multiple of the second base in a digit, which the receiver does not find, hidden among the blindings of the masks. Alone, and
/// in two digits of a share so that the share seems right.
#[test]
fn digits_beside_the_generator() {
    let (number, base) = (Scalar::from(5), Scalar::from(1 << DIGIT_BITS));
    for beside in [&[(12, number)][..], &[(11, number * base), (12, -number)], &[(0, number), (11, -number)]] {
        assert_eq!(
            lied(&Liar { beside, ..Liar::default() }, 1).unwrap_err(),
            ShareTranscriptError::Proof,
            "{beside:?}"
        );
    }
}

/// Moves a multiple of the base from a digit to the next, which leaves the share as it is.
fn carry(of: &mut deal::Encryption<'_>, share: usize, carried: i64) {
    of.digits[share][0] += carried << DIGIT_BITS;
    of.digits[share][1] -= carried;
}

/// With masks of zero a sum is small where the digit is not in it: half of them are.
#[test]
fn a_digit_beyond_the_bound() {
    let beyond = (RowBounds::of(3).largest_digit() >> DIGIT_BITS) + 1;
    for carried in [beyond, -beyond, beyond << 4, 1 << 37] {
        let secrets = |of: &mut deal::Encryption<'_>| carry(of, 1, carried);
        for seed in 0..3 {
            let liar = Liar { secrets: &secrets, masks_nothing: true, ..Liar::default() };
            assert_eq!(lied(&liar, seed).unwrap_err(), ShareTranscriptError::Proof, "{carried}, {seed}");
        }
    }
}

/// A dealer makes decryption slow, and no more: alone, and in a sum with an honest one.
#[test]
fn a_digit_as_large_as_can_be_is_found() {
    let (secrets, receivers) = receivers(1, &[1], Identifiers::Integers);
    let carried = (RowBounds::of(1).shown >> DIGIT_BITS) - 12;
    let (mut rng, options) = (rng(), Options::default());
    let large = Liar { secrets: &|of| carry(of, 0, carried), masks_nothing: true, ..Liar::default() };
    let slow = large.publish(SUITE, &receivers, &statement(1), &polynomial(1, &mut rng), &mut rng);
    let fast = publish(SUITE, &receivers, &statement(2), &polynomial(1, &mut rng), &options, &mut rng).unwrap();
    let verified =
        [(1, slow), (2, fast)].map(|(dealer, published)| verify(SUITE, &published, &receivers, dealer).unwrap());
    decrypted(&Contributions::to_new_key(&verified, &options).unwrap(), &secrets, &receivers);
}

/// The sums with such a dealer are halved, so that most of the others are not searched alone. Each search draws a number for each digit.
#[test]
fn a_dealer_of_large_digits_makes_few_searches() {
    let (secrets, receivers) = receivers(1, &[1], Identifiers::Integers);
    let options = Options::default();
    let large = Liar { secrets: &|of| carry(of, 0, 1 << 9), masks_nothing: true, ..Liar::default() };
    let true_one = Liar::default();
    let drawn = |liars: &[u32]| {
        let mut rng = rng();
        let deal = |dealer| {
            let liar = if liars.contains(&dealer) { &large } else { &true_one };
            let published = liar.publish(SUITE, &receivers, &statement(dealer), &polynomial(1, &mut rng), &mut rng);
            verify(SUITE, &published, &receivers, dealer).unwrap()
        };
        let verified: Vec<_> = (1..=16).map(deal).collect();
        let contributions = Contributions::to_new_key(&verified, &options).unwrap();
        let mut rng = ChaCha20Rng::from_seed([7; 32]);
        contributions.decrypt(&secrets[0], &receivers, 0, &options, &mut rng).expect("it checks the share");
        rng.get_word_pos() as usize
    };
    let honest = drawn(&[]);
    // Two for each sum that is halved, and a long one for each liar.
    for (liars, more) in [(&[5][..], 2 * 4 + 1), (&[16], 2 * 4 + 1), (&[3, 4], 2 * 4 + 2), (&[1, 9], 2 * 7 + 2)] {
        assert_eq!(drawn(liars) - honest, more * DIGITS * 2, "{liars:?}");
    }
}

/// Small orders are as if they were not there where points only meet public numbers.
#[test]
fn small_order_in_digits_masks_and_the_first_message_is_harmless() {
    let small = point_of_order_three();
    let add = |points: &mut [G1]| {
        for place in [0, points.len() - 1] {
            points[place] = Backend::Portable.sum(&[points[place], small]);
        }
    };
    let first = |bytes: &mut [u8]| {
        for place in [0, DIGITS, DIGITS + 1] {
            add_to(&mut bytes[place * 48..][..48], small);
        }
    };
    let liar = Liar { digits: &add, masks: &add, first: &first, ..Liar::default() };
    let verified = [lied(&liar, 1).expect("nothing is false in the subgroup")];
    let (secrets, receivers) = receivers(2, &[1, 1, 1], Identifiers::Integers);
    decrypted(&Contributions::to_new_key(&verified, &Options::default()).unwrap(), &secrets, &receivers);
}

/// What every backend says, by one thread and by so many that each sums the fewest terms.
fn on_every_backend(
    transcript: &UncheckedShareTranscript,
    receivers: &ShareReceivers,
) -> Result<(), ShareTranscriptError> {
    let answers: Vec<_> = Backend::available()
        .iter()
        .flat_map(|backend| [1_usize, 64].map(|threads| (*backend, threads)))
        .map(|(backend, threads)| {
            let options = Options { backend, threads: threads.try_into().unwrap(), ..Options::default() };
            let mut rng = ChaCha20Rng::from_seed([6; 32]);
            transcript.verify(SUITE, receivers, &statement(1), &options, &mut rng).map(drop)
        })
        .collect();
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    answers[0]
}

/// For each number of receivers, the last thread sums another number of terms: from one on.
fn small_committees() -> impl Iterator<Item = ShareReceivers> {
    (1..=8).map(|n| receivers(1, &vec![1; n], Identifiers::Integers).1)
}

/// Who carries a transcript adds a point of small order to each kind of point in it, or puts one in its place. What the dealer
/// published is true, and what is left of it is refused.
#[test]
fn small_subgroup_in_any_point_of_a_published_transcript() {
    let small = point_of_order_three();
    for receivers in small_committees() {
        let mut rng = rng();
        let polynomial = polynomial(1, &mut rng);
        let published = publish(SUITE, &receivers, &statement(1), &polynomial, &Options::default(), &mut rng).unwrap();
        assert_eq!(on_every_backend(&published, &receivers), Ok(()));
        let layout = Layout::of::<MinPk>(&receivers);
        let parts = [
            layout.commitment..layout.encapsulations,
            layout.encapsulations..layout.digits,
            layout.digits..layout.masks,
            layout.masks..layout.sums,
            layout.first..layout.answers,
        ];
        for part in parts {
            let last = part.end - 48;
            // The last three points of the first message are of kinds of their own.
            let places = [part.start, last.saturating_sub(96), last.saturating_sub(48), last];
            for place in places.into_iter().filter(|place| part.contains(place)) {
                let (mut added, mut replaced) = (published.clone(), published.clone());
                add_to(&mut added.0[place..][..48], small);
                replaced.0[place..][..48].copy_from_slice(small.compress().as_ref());
                for changed in [added, replaced] {
                    on_every_backend(&changed, &receivers).expect_err("it was changed");
                }
            }
        }
    }
}

/// A dealer takes points of small order itself, before anything is hashed. It hides no lie, and without a lie all backends agree that
/// nothing is false in the subgroup.
#[test]
fn small_subgroup_hides_no_lie() {
    let small = point_of_order_three();
    let all = |points: &mut [G1]| {
        points.iter_mut().for_each(|point| *point = Backend::Portable.sum(&[*point, small]));
    };
    let in_first = |bytes: &mut [u8]| {
        let (points, _) = bytes.split_at_mut(bytes.len() - 48);
        points.chunks_exact_mut(48).for_each(|point| add_to(point, small));
    };
    let replaced = |bytes: &mut [u8]| {
        let of_alone = bytes.len() - 96;
        bytes[of_alone..][..48].copy_from_slice(small.compress().as_ref());
    };
    let lie = |of: &mut deal::Encryption<'_>| of.digits[0][3] += 1;
    for receivers in small_committees() {
        let mut rng = rng();
        let polynomial = polynomial(1, &mut rng);
        let mut said = |liar: Liar<'_>| {
            on_every_backend(&liar.publish(SUITE, &receivers, &statement(1), &polynomial, &mut rng), &receivers)
        };
        let harmless = || Liar { digits: &all, masks: &all, first: &in_first, ..Liar::default() };
        assert_eq!(said(harmless()), Ok(()));
        assert_eq!(said(Liar { secrets: &lie, ..harmless() }), Err(ShareTranscriptError::Proof));
        assert_eq!(said(Liar { first: &replaced, ..Liar::default() }), Err(ShareTranscriptError::Proof));
        let commitment = said(Liar { commitment: &|bytes| add_to(bytes, small), ..Liar::default() });
        assert!(matches!(commitment, Err(ShareTranscriptError::Commitment(_))), "{commitment:?}");
        let encapsulation = said(Liar { encapsulations: &all, ..Liar::default() });
        assert!(matches!(encapsulation, Err(ShareTranscriptError::Part { part: "encapsulation", .. })));
        let key = said(Liar {
            first: &|bytes| {
                let begin = bytes.len() - 48;
                add_to(&mut bytes[begin..], small);
            },
            ..Liar::default()
        });
        assert!(matches!(key, Err(ShareTranscriptError::Part { part: "key of the first message", .. })), "{key:?}");
    }
}

#[test]
fn small_order_and_identity_in_what_meets_a_secret_are_refused() {
    let small = point_of_order_three();
    let part = |place| ShareTranscriptError::Part { part: "encapsulation", place };
    for point in [small, G1::IDENTITY] {
        for place in [0, DIGITS - 1] {
            let liar = Liar { encapsulations: &|points| points[place] = point, ..Liar::default() };
            assert_eq!(lied(&liar, 1).unwrap_err(), part(place));
        }
    }
    let add = |points: &mut [G1]| points[4] = Backend::Portable.sum(&[points[4], small]);
    assert_eq!(lied(&Liar { encapsulations: &add, ..Liar::default() }, 1).unwrap_err(), part(4));

    let point = |reason| ShareTranscriptError::Commitment(SharingError::Point { place: 1, reason });
    let liar = Liar { commitment: &|bytes| add_to(&mut bytes[48..], small), ..Liar::default() };
    assert_eq!(lied(&liar, 1).unwrap_err(), point(ParseError::KeyNotInSubgroup));
    let identity = G1::IDENTITY.compress();
    let liar = Liar { commitment: &|bytes| bytes[48..].copy_from_slice(identity.as_ref()), ..Liar::default() };
    assert!(matches!(
        lied(&liar, 1).unwrap_err(),
        ShareTranscriptError::Commitment(SharingError::Point { place: 1, .. })
    ));
    let of_first = |bytes: &mut [u8]| {
        let begin = bytes.len() - 48;
        add_to(&mut bytes[begin..], small);
    };
    let key = ShareTranscriptError::Part { part: "key of the first message", place: 0 };
    assert_eq!(lied(&Liar { first: &of_first, ..Liar::default() }, 1).unwrap_err(), key);
}

#[test]
fn replay() {
    let (_, receivers, published) = honest();
    let (mut rng, options) = (rng(), Options::default());
    verify(SUITE, &published, &receivers, 1).expect("it is honest");
    let mut said = |suite, receivers: &ShareReceivers, ceremony, dealer| {
        let statement = ShareStatement { ceremony, dealer };
        published.verify(suite, receivers, &statement, &options, &mut rng).unwrap_err()
    };
    assert_eq!(said(SUITE, &receivers, [8; 32], 1), ShareTranscriptError::Proof, "another ceremony");
    assert_eq!(said(SUITE, &receivers, [9; 32], 2), ShareTranscriptError::Proof, "another dealer");
    assert_eq!(said(MinPk::Basic, &receivers, [9; 32], 1), ShareTranscriptError::Proof, "another suite");
    let keys: Vec<_> = receivers.keys().to_vec();
    let mut to = |t, identifiers, order: [usize; 3], weights: [u32; 3]| {
        let members: Vec<_> = order.map(|place| keys[place]).into_iter().zip(weights).collect();
        let committee = Committee::new(t, weights.iter().sum::<u32>() as usize, identifiers, Backend::auto()).unwrap();
        said(SUITE, &ShareReceivers::new(committee, &members).unwrap(), [9; 32], 1)
    };
    let integers = Identifiers::Integers;
    assert_eq!(to(2, integers, [1, 0, 2], [1; 3]), ShareTranscriptError::Proof, "another order");
    assert_eq!(to(2, Identifiers::RootsOfUnity, [0, 1, 2], [1; 3]), ShareTranscriptError::Proof, "other points");
    assert!(matches!(to(1, integers, [0, 1, 2], [1; 3]), ShareTranscriptError::Length { .. }), "another threshold");
    assert!(matches!(to(2, integers, [0, 1, 2], [2, 1, 0]), ShareTranscriptError::Length { .. }), "other weights");
    let (_, weighted) = self::receivers(2, &[2, 1, 0], integers);
    let other = self::receivers(2, &[1, 2, 0], integers).1;
    let mut rng = self::rng();
    let polynomial = polynomial(2, &mut rng);
    let published = publish(SUITE, &weighted, &statement(1), &polynomial, &options, &mut rng).unwrap();
    verify(SUITE, &published, &weighted, 1).expect("it is honest");
    assert_eq!(verify(SUITE, &published, &other, 1).unwrap_err(), ShareTranscriptError::Proof, "other weights");
}

/// Other nonces of the same digits: everyone can compute the points, and nobody the proof.
#[test]
fn a_copied_contribution_re_randomized() {
    let (_, receivers, mut published) = honest();
    let [_, encapsulations, digits, masks, ..] = parts(&receivers);
    let by = Scalar::from(7);
    for encapsulation in published.0[encapsulations..digits].chunks_exact_mut(48) {
        add_to(encapsulation, times(G1::generator(), by));
    }
    for (digit, (member, _)) in published.0[digits..masks].chunks_exact_mut(48 * DIGITS).zip(receivers.seats()) {
        digit.chunks_exact_mut(48).for_each(|digit| add_to(digit, times(receivers.keys()[member].point(), by)));
    }
    for dealer in [1, 2] {
        assert_eq!(verify(SUITE, &published, &receivers, dealer).unwrap_err(), ShareTranscriptError::Proof);
    }
}

#[test]
fn truncated_and_longer() {
    let (_, receivers, published) = honest();
    let expected = published.0.len();
    let zero = [0];
    for bytes in [&[][..], &published.0[..1], &published.0[..expected - 1], &[&published.0[..], &zero].concat()] {
        let error = verify(SUITE, &UncheckedShareTranscript(bytes.to_vec()), &receivers, 1).unwrap_err();
        assert_eq!(error, ShareTranscriptError::Length { found: bytes.len(), expected });
    }
}

#[test]
fn a_flipped_bit_in_any_part() {
    let (_, receivers, published) = honest();
    for part in parts(&receivers).windows(2) {
        for place in [part[0], part[0] + 1, part[0] + 7, (part[0] + part[1]) / 2, part[1] - 1] {
            for bit in [0, 5, 7] {
                let mut changed = published.clone();
                changed.0[place] ^= 1 << bit;
                assert!(verify(SUITE, &changed, &receivers, 1).is_err(), "bit {bit} of byte {place}");
            }
        }
    }
}

#[test]
fn sums_out_of_range() {
    let (_, receivers, published) = honest();
    let most = RowBounds::of(3).shown;
    let begin = parts(&receivers)[4];
    let with = |place: usize, sum: i64| {
        let mut changed = published.clone();
        changed.0[begin + 8 * place..][..8].copy_from_slice(&sum.to_be_bytes());
        verify(SUITE, &changed, &receivers, 1).unwrap_err()
    };
    for sum in [most + 1, -most - 1, i64::MAX, i64::MIN] {
        for place in [0, ROWS - 1] {
            assert_eq!(with(place, sum), ShareTranscriptError::LargeSum { place, most });
        }
    }
    assert_eq!([with(3, most), with(3, -most)], [ShareTranscriptError::Proof; 2]);
}

/// r is added to an answer, which would be another encoding of the same number.
#[test]
fn answers_not_below_the_order() {
    let (_, receivers, published) = honest();
    let [.., begin, end] = parts(&receivers);
    let largest = (-Scalar::ONE).to_bytes();
    for place in 0..(end - begin) / 32 {
        let mut changed = published.clone();
        let mut carry = 1;
        for (byte, of_order) in changed.0[begin + 32 * place..][..32].iter_mut().zip(largest).rev() {
            carry += u16::from(*byte) + u16::from(of_order);
            *byte = carry as u8;
            carry >>= 8;
        }
        assert_eq!(carry, 0);
        let error = verify(SUITE, &changed, &receivers, 1).unwrap_err();
        assert_eq!(error, ShareTranscriptError::Part { part: "answer", place });
    }
}

/// A dealer who encrypts two shares of a member with the same nonces shows how they differ, and its proof is as true as before.
#[test]
fn equal_nonces_harm_the_dealer_alone() {
    let (secrets, receivers) = receivers(2, &[2, 1], Identifiers::Integers);
    let mut rng = rng();
    let polynomial = polynomial(2, &mut rng);
    let honest = publish(SUITE, &receivers, &statement(1), &polynomial, &Options::default(), &mut rng).unwrap();
    let [_, encapsulations, digits, ..] = parts(&receivers);
    let different: BTreeSet<_> = honest.0[encapsulations..digits].chunks_exact(48).collect();
    assert_eq!(different.len(), 2 * DIGITS);
    let repeat = |of: &mut deal::Encryption<'_>| of.nonces = [&of.nonces[..DIGITS]; 2].concat();
    let liar = Liar { secrets: &repeat, ..Liar::default() };
    let published = liar.publish(SUITE, &receivers, &statement(1), &polynomial, &mut rng);
    let verified = [verify(SUITE, &published, &receivers, 1).expect("nothing is false")];
    decrypted(&Contributions::to_new_key(&verified, &Options::default()).unwrap(), &secrets, &receivers);
}

#[test]
fn one_false_transcript_among_true_ones_is_named() {
    let (_, receivers, published) = honest();
    let mut changed = published.clone();
    changed.0[parts(&receivers)[4] + 7] ^= 1;
    let all = [(1, &published), (1, &changed), (2, &published), (1, &published)];
    let answers = verify_all(SUITE, &receivers, [9; 32], &all, &Options::default(), &mut rng());
    let answers: Vec<_> = answers.into_iter().map(|answer| answer.map(drop)).collect();
    let proof = Err(ShareTranscriptError::Proof);
    assert_eq!(answers, [Ok(()), proof, proof, Ok(())]);
    assert!(verify_all(SUITE, &receivers, [9; 32], &[], &Options::default(), &mut rng()).is_empty());
}

/// False ones in several sums, each beside true ones, and one that has not the length of a transcript.
#[test]
fn false_transcripts_of_several_sums_are_named() {
    let (_, receivers, published) = honest();
    let [mut changed, mut cut] = [published.clone(), published.clone()];
    changed.0[parts(&receivers)[4] + 7] ^= 1;
    cut.0.pop();
    let expected = published.0.len();
    let answers = [
        (&published, Ok(())),
        (&changed, Err(ShareTranscriptError::Proof)),
        (&cut, Err(ShareTranscriptError::Length { found: expected - 1, expected })),
    ];
    for threads in [1, TOGETHER / 2 + 1] {
        let options = Options { threads: NonZeroUsize::new(threads).unwrap(), ..Options::default() };
        let which = |place: usize| match place {
            1 | TOGETHER => 1_usize,
            3 => 2,
            _ => 0,
        };
        let dealt: Vec<_> = (0..2 * TOGETHER + 3).map(|place| answers[which(place)]).collect();
        let all: Vec<_> = dealt.iter().map(|(transcript, _)| (1, *transcript)).collect();
        let found = verify_all(SUITE, &receivers, [9; 32], &all, &options, &mut rng());
        let found: Vec<_> = found.into_iter().map(|answer| answer.map(drop)).collect();
        assert_eq!(found, dealt.iter().map(|(_, answer)| *answer).collect::<Vec<_>>(), "{threads} threads");
    }
}

/// Two dealers work together: one adds a point to a line of its proof, and the other takes it away from its own. With equal weights
/// their errors are nothing.
#[test]
fn cancelling_transcripts() {
    let (_, receivers, published) = honest();
    let (mut rng, options) = (rng(), Options::default());
    // Where the first message has the points of the second line and of the third one, and the key.
    for place in [DIGITS, DIGITS + 1, DIGITS + 2] {
        let [one, two] = [(2, G1::generator()), (3, G1::generator().negate())].map(|(dealer, point)| {
            let add = |bytes: &mut [u8]| add_to(&mut bytes[place * G1::COMPRESSED..][..G1::COMPRESSED], point);
            let polynomial = polynomial(2, &mut rng);
            let liar = Liar { first: &add, ..Liar::default() };
            liar.publish(SUITE, &receivers, &statement(dealer), &polynomial, &mut rng)
        });
        let mut equal = Mixture::draw(&receivers, &mut rng);
        equal.whole = Scalar::ONE;
        let [opened, other] = [(2, &one), (3, &two)].map(|(dealer, transcript)| {
            transcript.open(SUITE, &receivers, &statement(dealer), &options, &equal).expect("it decodes")
        });
        assert!(add_up(&receivers, &[&opened, &other], &options), "their errors cancel in place {place}");
        assert!(!add_up(&receivers, &[&opened], &options) && !add_up(&receivers, &[&other], &options));

        let all = [(2, &one), (1, &published), (3, &two)];
        let answers = verify_all(SUITE, &receivers, [9; 32], &all, &options, &mut rng);
        let answers: Vec<_> = answers.into_iter().map(|answer| answer.map(drop)).collect();
        let proof = Err(ShareTranscriptError::Proof);
        assert_eq!(answers, [proof, Ok(()), proof], "place {place}");
    }
}

/// Transcripts of polynomials, as dealers 1, 2 and so on publish them.
fn dealt(receivers: &ShareReceivers, polynomials: &[SecretPolynomial]) -> Vec<ShareTranscript<MinPk>> {
    let mut rng = rng();
    let of = |(dealer, polynomial)| {
        let published = Liar::default().publish(SUITE, receivers, &statement(dealer), polynomial, &mut rng);
        verify(SUITE, &published, receivers, dealer).expect("it is true")
    };
    (1..).zip(polynomials).map(of).collect()
}

fn scalar(secret: &SecretScalar) -> Scalar {
    Scalar::from_bytes(&secret.to_bytes()).unwrap()
}

fn secret(scalar: Scalar) -> SecretScalar {
    SecretScalar::from_bytes(&scalar.to_bytes()).unwrap()
}

/// A line with these values at 0 and at x.
fn line(at_zero: Scalar, x: Scalar, value: Scalar) -> SecretPolynomial {
    let slope = (value - at_zero) * x.inverse().unwrap();
    SecretPolynomial::new([at_zero, slope].map(secret).into())
}

/// Who deals last knows its share of the others' sum, and deals the opposite to itself. It is named, and the others have shares.
#[test]
fn the_last_dealer_makes_its_own_share_zero() {
    let (secrets, receivers) = receivers(2, &[1, 1, 1], Identifiers::Integers);
    let (mut rng, options) = (rng(), Options::default());
    let [last, ..] = receivers.committee().indices().collect::<Vec<_>>()[..] else { unreachable!("three") };
    let x = receivers.committee().point(last);
    let others = [polynomial(2, &mut rng), polynomial(2, &mut rng)];
    let share = others.iter().map(|polynomial| scalar(&polynomial.value(&x).unwrap())).sum::<Scalar>();
    let [first, second] = others;
    let verified = dealt(&receivers, &[first, second, line(Scalar::from(77), x, -share)]);
    let contributions = Contributions::to_new_key(&verified, &options).unwrap();
    let found = contributions.decrypt(&secrets[0], &receivers, 0, &options, &mut rng).unwrap_err();
    assert_eq!(found, ContributionsError::ZeroShare(last));
    let shares =
        [1, 2].map(|member| contributions.decrypt(&secrets[member], &receivers, member, &options, &mut rng).unwrap());
    let key = SharedKey::new(SUITE, receivers.committee().clone(), contributions.commitment().clone()).unwrap();
    assert_eq!(key.without_share(&options), [last]);
    assert_signs(&key, &shares.concat());
}

#[test]
fn contributions_that_cancel_make_no_key() {
    let (_, receivers) = receivers(2, &[1, 1, 1], Identifiers::Integers);
    let (mut rng, options) = (rng(), Options::default());
    let one = polynomial(2, &mut rng);
    let negative = one.coefficients().iter().map(|coefficient| secret(-scalar(coefficient))).collect();
    let slope = SecretPolynomial::new(vec![secret(Scalar::from(3)), secret(-scalar(&one.coefficients()[1]))]);
    let verified = dealt(&receivers, &[one, SecretPolynomial::new(negative), slope]);
    for pair in [[0, 1], [0, 2]] {
        let found = Contributions::to_new_key(pair.map(|place| &verified[place]), &options).unwrap_err();
        assert_eq!(found, ContributionsError::Cancelled);
    }
    let found = Contributions::<MinPk>::to_new_key([], &options).unwrap_err();
    assert_eq!(found, ContributionsError::None);
}

#[test]
fn only_the_key_of_a_member_decrypts_its_shares() {
    let (secrets, receivers) = receivers(2, &[2, 0, 1], Identifiers::Integers);
    let (mut rng, options) = (rng(), Options::default());
    let verified = dealt(&receivers, &[polynomial(2, &mut rng)]);
    let contributions = Contributions::to_new_key(&verified, &options).unwrap();
    let mut decrypt =
        |key: &ShareDecryptionKey, member| contributions.decrypt(key, &receivers, member, &options, &mut rng);
    let indices: Vec<_> = receivers.committee().indices().collect();
    assert_eq!(decrypt(&secrets[1], 0).unwrap_err(), ContributionsError::OtherKey(indices[0]));
    assert_eq!(decrypt(&secrets[0], 2).unwrap_err(), ContributionsError::OtherKey(indices[2]));
    let own: Vec<_> = decrypt(&secrets[0], 0).unwrap().iter().map(KeyShare::index).collect();
    assert_eq!(own, indices[..2]);
    assert!(decrypt(&secrets[1], 1).unwrap().is_empty(), "a member without weight has no shares");
    assert!(decrypt(&secrets[1], 3).unwrap().is_empty(), "there is no such member");
}

#[test]
fn receivers_that_are_none() {
    let keys: Vec<_> = secrets(3).iter().map(ShareDecryptionKey::encryption_key).collect();
    let with = |n: usize, members: &[(ShareEncryptionKey, u32)]| {
        let committee = Committee::new(1, n, Identifiers::Integers, Backend::auto()).unwrap();
        ShareReceivers::new(committee, members).unwrap_err()
    };
    let [one, two, three] = keys[..] else { unreachable!("three") };
    assert_eq!(with(3, &[(one, 1), (two, 1)]), ShareReceiversError::Shares { found: 2, expected: 3 });
    assert_eq!(
        with(3, &[(one, u32::MAX), (two, 4)]),
        ShareReceiversError::Shares { found: (1 << 32) + 3, expected: 3 }
    );
    assert_eq!(with(3, &[(two, 1), (one, 1), (two, 1)]), ShareReceiversError::SameKey(1, 3));
    assert_eq!(with(3, &[(three, 2), (one, 1), (three, 0)]), ShareReceiversError::SameKey(1, 3));
    let participants = ShareReceivers::MOST + 1;
    assert_eq!(with(participants, &[(one, participants as u32)]), ShareReceiversError::TooMany { participants });
}

#[test]
#[should_panic(expected = "transcripts for the same receivers")]
fn transcripts_for_other_receivers_are_not_summed() {
    let mut rng = rng();
    let [two, three] = [&[1, 1][..], &[1, 1, 1]].map(|weights| receivers(2, weights, Identifiers::Integers).1);
    let transcripts = [two, three].map(|receivers| dealt(&receivers, &[polynomial(2, &mut rng)]));
    let _ = Contributions::to_new_key(transcripts.iter().flatten(), &Options::default());
}

#[test]
#[should_panic(expected = "the receivers of the transcripts")]
fn shares_for_other_receivers_are_not_decrypted() {
    let (_, few) = receivers(2, &[1, 1], Identifiers::Integers);
    let (secrets, more) = receivers(2, &[1, 1, 1], Identifiers::Integers);
    let verified = dealt(&few, &[polynomial(2, &mut rng())]);
    let contributions = Contributions::to_new_key(&verified, &Options::default()).unwrap();
    let _ = contributions.decrypt(&secrets[2], &more, 2, &Options::default(), &mut rng());
}

/// A key that is shared among three, two of whom sign.
fn previous() -> (SharedKey<MinPk>, Vec<KeyShare<MinPk>>) {
    let mut rng = ChaCha20Rng::from_seed([8; 32]);
    let committee = Committee::new(2, 3, Identifiers::Integers, Backend::auto()).unwrap();
    let secret = SecretKey::generate(SUITE, &mut rng);
    let (shares, commitment) = crate::deal(&committee, SUITE, &secret, &Options::default(), &mut rng).unwrap();
    (SharedKey::new(SUITE, committee, commitment).unwrap(), shares)
}

/// The polynomials of the dealers of a previous key, the constant coefficient being their share.
fn reshared<S: Bls12381Suite>(shares: &[KeyShare<S>], t: usize, rng: &mut impl CryptoRng) -> Vec<SecretPolynomial> {
    let of = |share: &KeyShare<S>| {
        let random = polynomial(t, rng);
        let constant = SecretScalar::from_bytes(&share.secret().to_bytes()).unwrap();
        SecretPolynomial::new([constant].into_iter().chain(random.coefficients()[1..].iter().cloned()).collect())
    };
    shares.iter().map(of).collect()
}

fn by_index<'a>(
    shares: &[KeyShare<MinPk>],
    transcripts: &'a [ShareTranscript<MinPk>],
) -> Vec<(Index, &'a ShareTranscript<MinPk>)> {
    shares.iter().map(KeyShare::index).zip(transcripts).collect()
}

/// To other members with another threshold, and among the same ones.
#[test]
fn resharing_and_refreshing_keep_the_key() {
    let (key, old) = previous();
    let (mut rng, options) = (rng(), Options::default());
    for (t, weights) in [(3, &[1, 1, 1, 1][..]), (2, &[1, 1, 1])] {
        let (secrets, receivers) = receivers(t, weights, Identifiers::Integers);
        let verified = dealt(&receivers, &reshared(&old[1..], t, &mut rng));
        let transcripts = by_index(&old[1..], &verified);
        for (index, transcript) in &transcripts {
            assert!(transcript.shares_share(&key, *index, options.backend));
            assert!(!transcript.shares_share(&key, old[0].index(), options.backend), "the share of another");
        }
        let contributions = Contributions::to_previous_key(&key, &transcripts, &options).unwrap();
        assert_eq!(contributions.commitment().public_key(), key.public_key());
        let new = decrypted(&contributions, &secrets, &receivers);
        let shared = SharedKey::new(SUITE, receivers.committee().clone(), contributions.commitment().clone()).unwrap();
        assert_signs(&shared, &new);
        // Old and new shares are values of two polynomials.
        let mixed: Vec<_> = [&old[0]].into_iter().chain(&new[1..t]).collect();
        let indices: Vec<_> =
            mixed.iter().map(|share| receivers.committee().index(share.index().number().into()).unwrap()).collect();
        let interpolation = Interpolation::new(receivers.committee(), &indices, &options).unwrap();
        let keys: Vec<_> = mixed.iter().map(|share| share.verification_key().point()).collect();
        assert_ne!(interpolation.of_points(&keys, &options), key.public_key().point());

        let too_few = Contributions::to_previous_key(&key, &transcripts[..1], &options).unwrap_err();
        assert!(matches!(too_few, ContributionsError::TooFew(_)), "{too_few}");
    }
}

#[test]
fn a_dealer_who_shares_another_secret_is_seen() {
    let (key, old) = previous();
    let (_, receivers) = receivers(2, &[1, 1, 1], Identifiers::Integers);
    let mut rng = rng();
    let verified = dealt(&receivers, &[polynomial(2, &mut rng)]);
    assert!(!verified[0].shares_share(&key, old[0].index(), Backend::auto()));
}

/// A dealer of a previous key gives one receiver zero, and the receiver has its share of the others all the same.
#[test]
fn zero_of_one_dealer_takes_no_share_away() {
    let (key, old) = previous();
    let (secrets, receivers) = receivers(2, &[1, 1, 1], Identifiers::Integers);
    let (mut rng, options) = (rng(), Options::default());
    let victim = receivers.committee().indices().nth(1).unwrap();
    let x = receivers.committee().point(victim);
    let mut polynomials = reshared(&old[..2], 2, &mut rng);
    polynomials[0] = line(scalar(&polynomials[0].coefficients()[0]), x, Scalar::ZERO);
    assert_eq!(polynomials[0].value(&x).unwrap_err(), SecretError::Zero);
    let honest = publish(SUITE, &receivers, &statement(1), &polynomials[0], &options, &mut rng);
    assert_eq!(honest.unwrap_err(), SecretError::Zero);
    let verified = dealt(&receivers, &polynomials);
    let contributions = Contributions::to_previous_key(&key, &by_index(&old, &verified), &options).unwrap();
    decrypted(&contributions, &secrets, &receivers);
}

/// A list that grows leaves copies of secrets behind, which nothing wipes.
#[test]
fn lists_of_secrets_do_not_grow() {
    let (_, receivers) = receivers(2, &[1, 1, 1], Identifiers::Integers);
    let mut rng = rng();
    let shares = values(receivers.committee(), &polynomial(2, &mut rng)).unwrap();
    let secrets = Encryption::new(&receivers, shares, &mut rng).unwrap();
    let masks = Masks::draw(&receivers, &Options::default(), &mut rng).unwrap();
    let said = Said::begin(&statement(1), &receivers, "suite");
    let weights = said.weights(&said.signs(3));
    let last = LastProof::new(&secrets, &masks, &weights, &mut rng).unwrap();
    for list in [&secrets.nonces, &masks.blindings, &last.first] {
        assert_eq!(list.capacity(), list.len());
    }
}

/// What is shown of digits is uniform whatever they are, and so is how often a dealer begins again.
#[test]
fn shown_sums_do_not_depend_on_the_digits() {
    let bounds = RowBounds::of(1);
    let begin = Said::begin(&statement(1), &receivers(1, &[1], Identifiers::Integers).1, "suite");
    let extreme = 1 << (DIGIT_BITS - 1);
    for digits in [[0; DIGITS], [extreme; DIGITS], [-extreme; DIGITS]] {
        let mut rng = rng();
        let (mut accepted, mut sum, mut squares, mut bins) = (0_usize, 0.0, 0.0, [0_usize; 16]);
        const TRIALS: usize = 4_000;
        for _ in 0..TRIALS {
            let mut said = [0; 32];
            quorate::rand_core::Rng::fill_bytes(&mut rng, &mut said);
            let signs = begin.and(&said).signs(1);
            let mut sums = mask_numbers(bounds, &mut rng);
            signs.add_sums(digits.into_iter(), &mut sums);
            if !all_are_shown(bounds, &sums) {
                continue;
            }
            accepted += 1;
            for shown in sums.iter() {
                let shown = *shown as f64 / bounds.shown as f64;
                sum += shown;
                squares += shown * shown;
                bins[((shown + 1.0) * 8.0).clamp(0.0, 15.0) as usize] += 1;
            }
        }
        let count = (accepted * ROWS) as f64;
        // Five standard deviations each: of a uniform number's mean and variance, and of a count.
        assert!((sum / count).abs() < 5.0 * (1.0 / 3.0 / count).sqrt(), "{sum} {count}");
        assert!((squares / count - 1.0 / 3.0).abs() < 5.0 * (4.0 / 45.0 / count).sqrt(), "{squares} {count}");
        for bin in bins {
            assert!((bin as f64 - count / 16.0).abs() < 5.0 * (count / 16.0).sqrt(), "{bins:?}");
        }
        let expected = (255.0_f64 / 256.0).powi(ROWS as i32) * TRIALS as f64;
        assert!((accepted as f64 - expected).abs() < 5.0 * (TRIALS as f64).sqrt() / 2.0, "{accepted}, not {expected}");
    }
}
