//! Every bit from the caller's generator goes into the weights. No bit is lost, and no two claims share one. With few
//! weights, a batch errs as often as the bound says.

use std::convert::Infallible;

use quorate::{Backend, Claim, MinPk, Options, SecretKey, Soundness, UncheckedSignature, verify};
use quorate_curve::Group;
use rand_chacha::rand_core::{TryCryptoRng, TryRng};

/// A generator that returns prepared words, and after them words of ones.
struct Prepared(std::vec::IntoIter<u64>);

impl TryRng for Prepared {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        panic!("weights are drawn as words of 64 bits")
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.0.next().unwrap_or(u64::MAX))
    }

    fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Infallible> {
        panic!("weights are drawn as words of 64 bits")
    }
}

impl TryCryptoRng for Prepared {}

/// Two claims whose errors cancel under equal weights.
fn cancelling_pair() -> [Claim<MinPk>; 2] {
    let suite = MinPk::Eth2;
    let secrets = [1, 2].map(|i| SecretKey::key_gen(suite, &[i; 32], b"").expect("32 bytes"));
    let delta = secrets[0].sign(suite, b"delta").point();
    [(&secrets[0], delta), (&secrets[1], delta.negate())].map(|(secret, error)| {
        let signature = Backend::Portable.sum(&[secret.sign(suite, b"m").point(), error]);
        Claim::single(suite, secret.public_key(), *b"m", UncheckedSignature::from_point(signature))
    })
}

fn false_claims(soundness: Soundness, words: Vec<u64>) -> usize {
    let options = Options { soundness, ..Options::default() };
    verify(&cancelling_pair(), &options, &mut Prepared(words.into_iter())).invalid().count()
}

/// The attack works if the weights are equal. So the tests below would see a bit that is not used.
#[test]
fn cancelling_pair_under_equal_weights() {
    assert_eq!(false_claims(Soundness::Bits64, vec![3, 3]), 0);
    assert_eq!(false_claims(Soundness::Bits128, vec![3, 3, 3, 3]), 0);
}

#[test]
fn weights_that_differ_in_one_bit_of_64() {
    for bit in 0..64 {
        assert_eq!(false_claims(Soundness::Bits64, vec![3, 3 ^ 1 << bit]), 2, "bit {bit}");
    }
}

#[test]
fn weights_that_differ_in_one_bit_of_128() {
    for bit in 0..64 {
        assert_eq!(false_claims(Soundness::Bits128, vec![3, 3, 3 ^ 1 << bit, 3]), 2, "bit {bit} of the first word");
        assert_eq!(false_claims(Soundness::Bits128, vec![3, 3, 3, 3 ^ 1 << bit]), 2, "bit {bit} of the second word");
    }
}

/// A claim with a weight of zero would pass, so another weight is drawn.
#[test]
fn zero_weight_is_drawn_again() {
    assert_eq!(false_claims(Soundness::Bits64, vec![0, 0, 5, 0, 7]), 2);
    assert_eq!(false_claims(Soundness::Bits128, vec![0, 0, 0, 5, 0, 0, 7, 0]), 2);
}

/// The bound of `docs/soundness.md` is exact: a false claim passes for at most one of its weights. With only the 15 weights
/// of the words 1 to 15, the conspiring pair passes for exactly one weight of the second claim, whatever the first has. So
/// the rate of errors is 1/15, as the bound says of 15 weights. It is 1/(2^64 - 1) with all weights.
#[test]
fn few_weights_err_as_often_as_the_bound_says() {
    for first in 1..16 {
        let passing: Vec<_> =
            (1..16).filter(|second| false_claims(Soundness::Bits64, vec![first, *second]) == 0).collect();
        assert_eq!(passing, [first]);
    }
}
