//! What a dealer cannot choose: the numbers that follow from what it has published so far (Fiat and Shamir, 1986).
//!
//! ```text
//! statement, commitments, ciphertexts, masks  →  signs of the sums  →  sums  →  weights  →  first message  →  challenge
//! ```

use quorate_curve::Scalar;
use sha2::{Digest as _, Sha256, Sha512};

use super::{
    parameters::{DIGITS, ROWS, integer, powers},
    receivers::ShareReceivers,
};

/// What a transcript is for: it proves itself for this alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShareStatement {
    /// The digest of whatever it belongs to, which all members have the same.
    pub ceremony: [u8; 32],
    /// The index of the dealer in it, which no other transcript has: who deals several shares has one for each.
    pub dealer: u32,
}

/// A digest of all that was said.
#[derive(Clone, Copy)]
pub(super) struct Said([u8; 32]);

/// For each digit of each participant, which of the random sums it is in: it is added where the first word has a bit, and
/// subtracted where the second has one.
pub(super) struct Signs(Vec<[u128; 2]>);

/// The weights with which a verifier adds up what is to be proven.
pub(super) struct Weights {
    /// One for each random sum.
    pub(super) rows: Vec<Scalar>,
    /// One for each participant, for what its digits make.
    pub(super) participants: Vec<Scalar>,
    /// For each digit of each participant, the sum of both.
    pub(super) digits: Vec<Scalar>,
    /// For each digit of each participant, one of its own. With these what is encrypted has to be multiples of the generator alone.
    pub(super) alone: Vec<Scalar>,
}

impl Said {
    /// Begins with the statement, and who receives.
    pub(super) fn begin(statement: &ShareStatement, receivers: &ShareReceivers, suite: &str) -> Self {
        let mut hash = Sha256::new();
        hash.update(b"QUORATE-ONE-ROUND-V01-STATEMENT_");
        hash.update(statement.ceremony);
        hash.update(statement.dealer.to_be_bytes());
        hash.update(receivers.digest());
        hash.update(suite);
        Self(hash.finalize().into())
    }

    /// After more was said. The number of bytes follows from what was said before.
    pub(super) fn and(self, bytes: &[u8]) -> Self {
        Self(Sha256::new().chain_update(self.0).chain_update(bytes).finalize().into())
    }

    /// One digest for each use and place.
    fn draw(self, purpose: u8, place: u32) -> [u8; 32] {
        let hash = Sha256::new().chain_update(self.0).chain_update([purpose]).chain_update(place.to_be_bytes());
        hash.finalize().into()
    }

    /// Two uniform words for each digit of each participant.
    pub(super) fn signs(self, participants: usize) -> Signs {
        let words = |place| {
            let bytes = self.draw(1, place);
            [&bytes[..16], &bytes[16..]].map(|half| u128::from_be_bytes(half.try_into().expect("16 bytes")))
        };
        Signs((0..(participants * DIGITS) as u32).map(words).collect())
    }

    /// Weights of 128 bits.
    pub(super) fn weights(self, signs: &Signs) -> Weights {
        let of = |purpose: u8, count: usize| -> Vec<u128> {
            let weight =
                |place| u128::from_be_bytes(self.draw(purpose, place as u32)[..16].try_into().expect("16 bytes"));
            (0..count).map(weight).collect()
        };
        let rows = of(2, ROWS);
        let scalar = |weight: &u128| Scalar::reduce(&weight.to_be_bytes());
        let participants: Vec<_> = of(3, signs.0.len() / DIGITS).iter().map(scalar).collect();
        let powers = powers();
        let places = participants.iter().flat_map(|weight| powers.map(|power| *weight * power));
        let digits = signs.weighted(&rows).zip(places).map(|(of_rows, of_share)| of_rows + of_share).collect();
        let alone = of(5, signs.0.len()).iter().map(scalar).collect();
        Weights { rows: rows.iter().map(scalar).collect(), participants, digits, alone }
    }

    /// The challenge of the last step.
    pub(super) fn challenge(self) -> Scalar {
        Scalar::reduce(&Sha512::new().chain_update(self.0).chain_update([4]).finalize())
    }
}

impl Signs {
    /// Adds each random sum of the digits to what is there. The signs are public and the digits are not: each digit is
    /// added to each sum with a factor.
    pub(super) fn add_sums(&self, digits: impl Iterator<Item = i64>, sums: &mut [i64; ROWS]) {
        for ([plus, minus], digit) in self.0.iter().zip(digits) {
            for (row, sum) in sums.iter_mut().enumerate() {
                *sum += ((plus >> row & 1) as i64 - (minus >> row & 1) as i64) * digit;
            }
        }
    }

    /// For each digit, the sum of the weights of the rows that it is in.
    fn weighted(&self, rows: &[u128]) -> impl Iterator<Item = Scalar> {
        let tables = Tables::new(rows);
        self.0.iter().map(move |[plus, minus]| {
            let [low, high] = tables.sum(*plus);
            let [less_low, less_high] = tables.sum(*minus);
            integer(low - less_low) + integer(high - less_high) * integer(1 << 64)
        })
    }
}

/// For each byte of a word of signs, the sums of weights that its values stand for, in two halves.
struct Tables(Vec<[[i128; 2]; 256]>);

impl Tables {
    fn new(rows: &[u128]) -> Self {
        let table = |rows: &[u128]| {
            let mut sums = [[0; 2]; 256];
            for value in 1..256_usize {
                let (rest, row) = (value & (value - 1), value.trailing_zeros() as usize);
                let halves = [rows[row] & u128::from(u64::MAX), rows[row] >> 64];
                sums[value] = [0, 1].map(|half| sums[rest][half] + halves[half] as i128);
            }
            sums
        };
        Self(rows.chunks_exact(8).map(table).collect())
    }

    fn sum(&self, word: u128) -> [i128; 2] {
        let values = self.0.iter().zip(word.to_le_bytes()).map(|(table, byte)| table[usize::from(byte)]);
        values.fold([0; 2], |[low, high], [more_low, more_high]| [low + more_low, high + more_high])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_of_digits_are_sums_of_the_weights_of_rows_and_shares() {
        let said = Said([7; 32]);
        let signs = said.signs(3);
        let weights = said.and(b"sums").weights(&signs);
        let digits: Vec<_> = (0..3 * DIGITS as i64).map(|place| place * place - 200).collect();
        let mut sums = [0; ROWS];
        signs.add_sums(digits.iter().copied(), &mut sums);
        let of_rows: Scalar =
            sums.iter().zip(&weights.rows).map(|(sum, weight)| integer((*sum).into()) * *weight).sum();
        let shares = digits.chunks_exact(DIGITS).map(|digits| -> Scalar {
            digits.iter().zip(powers()).map(|(digit, power)| integer((*digit).into()) * power).sum()
        });
        let of_shares: Scalar = shares.zip(&weights.participants).map(|(share, weight)| share * *weight).sum();
        let found: Scalar =
            digits.iter().zip(&weights.digits).map(|(digit, weight)| integer((*digit).into()) * *weight).sum();
        assert_eq!(found, of_rows + of_shares);
        let [plus, minus] = [0, 1].map(|word| signs.0.iter().map(|words| words[word].count_ones()).sum::<u32>());
        let expected = 3 * DIGITS as u32 * 64;
        assert!(plus.abs_diff(expected) < 300 && minus.abs_diff(expected) < 300, "{plus}, {minus}");
    }

    #[test]
    fn everything_that_was_said_counts() {
        let one = Said([7; 32]);
        assert_ne!(one.challenge(), Said([8; 32]).challenge());
        assert_ne!(one.and(b"").challenge(), one.challenge());
        assert_ne!(one.and(b"a").challenge(), one.and(b"b").challenge());
    }
}
