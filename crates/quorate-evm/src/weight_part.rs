//! The part of all weight that a quorum must exceed, such as 2/3.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// A part of a whole, which is less than the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WeightPart {
    numerator: u32,
    denominator: u32,
}

impl WeightPart {
    /// Two thirds.
    pub const TWO_THIRDS: Self = Self { numerator: 2, denominator: 3 };

    /// The part; `None` if it is not less than the whole.
    #[must_use]
    pub const fn new(numerator: u32, denominator: u32) -> Option<Self> {
        if numerator < denominator { Some(Self { numerator, denominator }) } else { None }
    }

    /// The numerator.
    #[must_use]
    pub const fn numerator(self) -> u32 {
        self.numerator
    }

    /// The denominator.
    #[must_use]
    pub const fn denominator(self) -> u32 {
        self.denominator
    }

    /// The largest whole weight that does not exceed this part of all weight.
    #[must_use]
    pub fn of(self, total: u128) -> u128 {
        let (numerator, denominator) = (u128::from(self.numerator), u128::from(self.denominator));
        total / denominator * numerator + total % denominator * numerator / denominator
    }

    /// The least whole weight that exceeds this part of all weight.
    #[must_use]
    pub fn exceeded_by(self, total: u128) -> u128 {
        self.of(total).saturating_add(1)
    }

    /// Whether any two quorums that exceed this part share a signer: whether it is at least a half.
    #[must_use]
    pub fn shares_a_signer(self) -> bool {
        2 * u64::from(self.numerator) >= u64::from(self.denominator)
    }
}

/// A text is not a part of a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected two whole numbers below 2^32 of which the first is less than the whole, such as 2/3")]
pub struct NotAPart;

impl FromStr for WeightPart {
    type Err = NotAPart;

    fn from_str(text: &str) -> Result<Self, NotAPart> {
        // Rust would also take a sign.
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let number = |text: &str| text.parse::<u32>().ok().filter(|_| is_number(text));
        let read = || {
            let (part, whole) = text.split_once('/')?;
            Self::new(number(part)?, number(whole)?)
        };
        read().ok_or(NotAPart)
    }
}

impl TryFrom<String> for WeightPart {
    type Error = NotAPart;

    fn try_from(text: String) -> Result<Self, NotAPart> {
        text.parse()
    }
}

impl fmt::Display for WeightPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.numerator, self.denominator)
    }
}

impl From<WeightPart> for String {
    fn from(part: WeightPart) -> Self {
        part.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_two_numbers_without_signs() {
        assert_eq!("2/3".parse(), Ok(WeightPart::TWO_THIRDS));
        assert_eq!(WeightPart::TWO_THIRDS.to_string(), "2/3");
        for wrong in ["", "/", "2", "2:3", "+2/3", "2/+3", "-2/3", "3/3", "4/3", "0/0", "x/3", "1/2/3", "1/4294967296"]
        {
            assert_eq!(wrong.parse::<WeightPart>(), Err(NotAPart), "{wrong}");
        }
    }

    #[test]
    fn a_quorum_weighs_more_than_its_part() {
        let part = |text: &str| text.parse::<WeightPart>().unwrap();
        for (text, total, most) in [("2/3", 100, 66), ("2/3", 2, 1), ("1/2", 4, 2), ("0/1", 7, 0), ("1/2", 0, 0)] {
            assert_eq!((part(text).of(total), part(text).exceeded_by(total)), (most, most + 1), "{text} of {total}");
        }
        assert_eq!(part("4294967294/4294967295").of(u128::MAX), u128::MAX / 4_294_967_295 * 4_294_967_294);
        let shares = ["0/1", "1/3", "49/100", "1/2", "2/3"].map(|text| part(text).shares_a_signer());
        assert_eq!(shares, [false, false, false, true, true]);
    }
}
