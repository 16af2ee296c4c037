//! The numbers of the scheme: how shares are cut into digits, and how large a digit can be that a transcript proves.

use quorate_curve::Scalar;

/// The digits of a share.
pub(super) const DIGITS: usize = 11;

/// A digit of an honest dealer is in -2^23..=2^23: eleven of 24 bits hold the 255 bits of a share.
pub(super) const DIGIT_BITS: u32 = 24;

/// The random sums of digits that a transcript shows. With one sum a digit that is too large stays hidden with a probability of
/// at most 1/2.
pub(super) const ROWS: usize = 128;

/// The values that a sum of digits, and the mask that hides it, may have.
#[derive(Clone, Copy)]
pub(super) struct RowBounds {
    /// Masks are uniform in -mask..=mask.
    pub(super) mask: i64,
    /// A transcript may show sums in -shown..=shown.
    pub(super) shown: i64,
}

impl RowBounds {
    /// The bounds for n participants.
    ///
    /// A sum of N digits of at most B/2, each times -1, 0, 0 or 1, is subgaussian with a variance of N·B²/8, so that it is
    /// above S = B·√(24·N) with a probability below 2^-137. Masks of up to 256·S are rejected for 128 sums in two of five
    /// trials.
    pub(super) fn of(participants: usize) -> Self {
        let sum = ((24 * (participants * DIGITS) as u64).isqrt() as i64 + 1) << DIGIT_BITS;
        Self { mask: 256 * sum, shown: 255 * sum }
    }

    /// No digit of a transcript that proves itself is farther from zero than this.
    pub(super) fn largest_digit(self) -> i64 {
        2 * self.shown
    }
}

/// B^j for each digit, the lowest first.
pub(super) fn powers() -> [Scalar; DIGITS] {
    std::array::from_fn(|digit| Scalar::from(1 << DIGIT_BITS).power(digit as u64))
}

/// A public integer as a scalar.
pub(super) fn integer(number: i128) -> Scalar {
    let size = Scalar::reduce(&number.unsigned_abs().to_be_bytes());
    if number < 0 { -size } else { size }
}
