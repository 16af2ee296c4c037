//! Weights: the random multipliers that keep a batch from cancelling.
//!
//! A weight is an element of Z\[ω\], ω² + ω + 1 = 0, written with d digits in base 4:
//!
//! ```text
//! w = Σ_{i<d} δ_i · 4^i,    δ_i in D = {0} ∪ {±ω^j} ∪ {2·ω^j} ∪ {±(1-ω)·ω^j},  j = 0, 1, 2
//! ```
//!
//! D is a complete set of residues of Z\[ω\] modulo 4 (16 of them), so the 16^d digit strings are 16^d different
//! weights. On a curve ω is the endomorphism (x, y) → (βx, y), which costs one field multiplication. On the subgroup of
//! order r it acts as the root λ = -z² of λ² + λ + 1 modulo r, which is the same on G1 and on G2. A weight of d digits
//! therefore costs 2d doublings and d additions, where an integer of the same entropy costs 4d doublings and more
//! additions.
//!
//! **Different weights are different modulo r.** Let w and w' be two weights. The map Z\[ω\] → Z/r, ω → λ has a kernel
//! whose non-zero elements all have a norm of at least r. Every |δ| is at most 2, so |w| < 2·4^d/3 and |w - w'| <
//! 4^(d+1)/3. For d = 32 the norm of a difference is below 2^129, and r has 254 or 255 bits. Hence a batch with a false claim
//! passes for at most one of the 16^d - 1 weights of that claim: the soundness error is 1/(2^64 - 1) for d = 16 and
//! 1/(2^128 - 1) for d = 32.

/// The probability with which a false claim may pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Soundness {
    /// 2^-64, as Ethereum's clients use. The weights are fresh, and nobody knows them before the claims are fixed, so
    /// an attacker cannot search for a forgery offline.
    #[default]
    Bits64,
    /// 2^-128. Weighing costs about half as much again.
    Bits128,
}

impl Soundness {
    /// The exponent: 64 or 128.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Bits64 => 64,
            Self::Bits128 => 128,
        }
    }
}

/// A non-zero multiplier in Z\[ω\] of 16 or 32 digits in base 4. Each digit takes four bits, and the lowest digit comes
/// first.
///
/// A weight need not stay secret, but the makers of the claims must not be able to predict it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weight(u128);

impl Weight {
    /// One: the weight of a claim that is verified alone.
    pub const ONE: Self = Self(1);

    /// Draws a uniform non-zero weight. `next_word` gives words of a CSPRNG: one for [`Soundness::Bits64`], two for
    /// [`Soundness::Bits128`], the higher one first. A zero is drawn again.
    pub fn draw(soundness: Soundness, mut next_word: impl FnMut() -> u64) -> Self {
        loop {
            let bits = (0..soundness.bits() / 64).fold(0, |bits, _| bits << 64 | u128::from(next_word()));
            if let Some(weight) = Self::from_bits(bits) {
                return weight;
            }
        }
    }

    /// The weight whose digits are the nibbles of `bits`. The answer is `None` for zero, because a claim of weight zero
    /// would pass unchecked.
    pub const fn from_bits(bits: u128) -> Option<Self> {
        if bits == 0 { None } else { Some(Self(bits)) }
    }

    /// The digit at place `i`.
    pub(crate) fn digit(self, i: usize) -> Digit {
        DIGITS[self.nibble(i) as usize]
    }

    /// The nibble of the digit at place `i`.
    pub(crate) fn nibble(self, i: usize) -> u8 {
        (self.0 >> (4 * i)) as u8 & 15
    }

    /// Two digits at places `2i` and `2i + 1`, as one byte.
    pub(crate) fn byte(self, i: usize) -> usize {
        (self.0 >> (8 * i)) as usize & 255
    }

    /// The number of digits up to the highest that is not zero.
    pub(crate) fn digits(self) -> usize {
        (128 - self.0.leading_zeros() as usize).div_ceil(4)
    }
}

/// A digit: `kind · (-1)^negative · ω^turn`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Digit {
    pub(crate) kind: Kind,
    pub(crate) turn: u8,
    pub(crate) negative: bool,
}

/// A digit without its unit of Z\[ω\].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Zero,
    One,
    Two,
    /// 1 - ω, of norm 3.
    Theta,
}

/// The sixteen digits, by nibble.
pub(crate) const DIGITS: [Digit; 16] = {
    const fn digit(kind: Kind, turn: u8, negative: bool) -> Digit {
        Digit { kind, turn, negative }
    }
    [
        digit(Kind::Zero, 0, false),
        digit(Kind::One, 0, false),
        digit(Kind::One, 1, false),
        digit(Kind::One, 2, false),
        digit(Kind::One, 0, true),
        digit(Kind::One, 1, true),
        digit(Kind::One, 2, true),
        digit(Kind::Two, 0, false),
        digit(Kind::Two, 1, false),
        digit(Kind::Two, 2, false),
        digit(Kind::Theta, 0, false),
        digit(Kind::Theta, 1, false),
        digit(Kind::Theta, 2, false),
        digit(Kind::Theta, 0, true),
        digit(Kind::Theta, 1, true),
        digit(Kind::Theta, 2, true),
    ]
};

/// a + b·ω.
pub(crate) type Eisenstein = (i128, i128);

/// The value of a digit.
pub(crate) const fn value(digit: Digit) -> Eisenstein {
    let (mut a, mut b) = match digit.kind {
        Kind::Zero => (0, 0),
        Kind::One => (1, 0),
        Kind::Two => (2, 0),
        Kind::Theta => (1, -1),
    };
    let mut turn = 0;
    while turn < digit.turn {
        // ω·(a + bω) = -b + (a - b)·ω.
        (a, b) = (-b, a - b);
        turn += 1;
    }
    if digit.negative { (-a, -b) } else { (a, b) }
}

/// The nibble of the digit that is congruent to a + b·ω modulo 4, at place (a mod 4) + 4·(b mod 4).
pub(crate) const NIBBLE_OF_RESIDUE: [u8; 16] = {
    let mut nibbles = [0; 16];
    let mut nibble = 0;
    while nibble < 16 {
        let (a, b) = value(DIGITS[nibble]);
        nibbles[a.rem_euclid(4) as usize + 4 * b.rem_euclid(4) as usize] = nibble as u8;
        nibble += 1;
    }
    nibbles
};

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::{collections::HashSet, vec::Vec};

    #[test]
    fn digits_are_a_complete_residue_set_modulo_four() {
        let residues: HashSet<_> =
            DIGITS.iter().map(|d| value(*d)).map(|(a, b)| (a.rem_euclid(4), b.rem_euclid(4))).collect();
        assert_eq!(residues.len(), 16);
    }

    #[test]
    fn digits_are_small_enough_for_the_norm_bound() {
        for d in DIGITS {
            let (a, b) = value(d);
            assert!(a * a - a * b + b * b <= 4, "|δ| <= 2 fails for {d:?}");
        }
    }

    /// The largest number of digits that are equal modulo q, where ω stands for a root of x² + x + 1 if there is one.
    fn most_equal_digits(q: i128) -> usize {
        let most = |residue: &dyn Fn(Eisenstein) -> Eisenstein| {
            let residues: Vec<_> = DIGITS.iter().map(|digit| residue(value(*digit))).collect();
            residues.iter().map(|one| residues.iter().filter(|other| *other == one).count()).max().unwrap()
        };
        let roots = (0..q).filter(|root| (root * root + root + 1) % q == 0);
        let by_root = roots.map(|root| most(&|(a, b)| ((a + b * root).rem_euclid(q), 0))).max();
        by_root.unwrap_or_else(|| most(&|(a, b)| (a.rem_euclid(q), b.rem_euclid(q))))
    }

    /// The numbers that `docs/soundness.md` gives for membership through sums, for each prime of the cofactors.
    #[test]
    fn digits_modulo_the_primes_of_the_cofactors() {
        let g1 = [3, 11, 10_177, 859_267];
        assert_eq!(g1.map(most_equal_digits), [7, 1, 1, 1]);
        let g2 = [13, 23, 2713, 11_953, 262_069];
        assert_eq!(g2.map(most_equal_digits), [2, 1, 1, 1, 1]);
        // A prime ideal of a greater norm contains no difference of digits. This covers the greatest primes.
        let values = DIGITS.map(value);
        let differences = values.iter().flat_map(|(a, b)| values.iter().map(move |(c, d)| (a - c, b - d)));
        assert_eq!(differences.map(|(a, b)| a * a - a * b + b * b).max(), Some(13));
    }

    #[test]
    fn drawn_weights_have_the_bits_of_their_soundness() {
        let words = [0, 3, 0, 0, 5, 7];
        let draw = |soundness, from: usize| {
            let mut words = words[from..].iter().copied();
            let weight = Weight::draw(soundness, || words.next().unwrap());
            (weight.0, words.len())
        };
        assert_eq!(draw(Soundness::Bits64, 0), (3, 4));
        assert_eq!(draw(Soundness::Bits64, 4), (5, 1));
        assert_eq!(draw(Soundness::Bits128, 1), (3 << 64, 3));
        assert_eq!(draw(Soundness::Bits128, 2), (5 << 64 | 7, 0));
    }

    #[test]
    fn zero_weight_is_refused() {
        assert_eq!(Weight::from_bits(0), None);
        assert_eq!(Weight::from_bits(1), Some(Weight::ONE));
        assert_eq!(Weight::from_bits(u128::MAX).map(Weight::digits), Some(32));
        assert_eq!(Weight::from_bits(1 << 60).map(Weight::digits), Some(16));
    }
}
