//! Amounts of a token or coin as people write them: 1.5, and not 1500000000000000000.

use alloy_primitives::U256;

/// The decimals of a chain's coin, whose smallest unit is the wei.
pub const COIN_DECIMALS: u8 = 18;

/// An amount in the smallest unit, in whole ones: to the last digit, as [`parse`] reads it.
pub fn exact(number: U256, decimals: u8) -> String {
    let digits = format!("{number:0>width$}", width = usize::from(decimals) + 1);
    let (whole, rest) = digits.split_at(digits.len() - usize::from(decimals));
    match rest.trim_end_matches('0') {
        "" => whole.to_owned(),
        rest => format!("{whole}.{rest}"),
    }
}

/// A text is not an amount.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AmountError {
    /// It is not a decimal number.
    #[error("{0:?} is not an amount such as 100 or 0.5")]
    NotANumber(String),
    /// It has more digits behind the point than the unit has decimals.
    #[error("{found:?} has more than {decimals} decimals")]
    TooFine {
        /// The text.
        found: String,
        /// The unit's decimals.
        decimals: u8,
    },
    /// It is more than any token has.
    #[error("{0:?} is more than there can be of a token")]
    TooMuch(String),
}

/// The amount in the smallest unit that a text stands for, such as `100` or `0.5`.
///
/// # Errors
/// [`AmountError`]. Nothing is rounded.
pub fn parse(text: &str, decimals: u8) -> Result<U256, AmountError> {
    let (whole, rest) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(rest) {
        return Err(AmountError::NotANumber(text.to_owned()));
    }
    let rest = rest.trim_end_matches('0');
    let Some(missing) = usize::from(decimals).checked_sub(rest.len()) else {
        return Err(AmountError::TooFine { found: text.to_owned(), decimals });
    };
    let number = format!("{whole}{rest}{}", "0".repeat(missing));
    U256::from_str_radix(&number, 10).map_err(|_| AmountError::TooMuch(text.to_owned()))
}

/// The amount in wei that a text stands for in a chain's coin, such as `0.03`.
///
/// # Errors
/// [`AmountError`]. Nothing is rounded.
pub fn parse_wei(text: &str) -> Result<u128, AmountError> {
    u128::try_from(parse(text, COIN_DECIMALS)?).map_err(|_| AmountError::TooMuch(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_amount_is_read_as_it_is_written() {
        let unit = U256::from(10).pow(U256::from(18));
        assert_eq!(parse("100", 18), Ok(U256::from(100) * unit));
        assert_eq!(parse("0.5", 18), Ok(unit / U256::from(2)));
        assert_eq!(parse("1.50", 1), Ok(U256::from(15)), "a zero at the end says nothing");
        assert_eq!(parse("7", 0), Ok(U256::from(7)));
        for wrong in ["", ".", "1.", ".5", "-1", "+1", "1,000", "1e18", " 1", "0x10", "1.2.3", "ten"] {
            assert_eq!(parse(wrong, 18), Err(AmountError::NotANumber(wrong.to_owned())));
        }
        assert!(parse("0.15", 1).unwrap_err().to_string().contains("has more than 1 decimals"));
        assert!(matches!(parse(&"9".repeat(78), 18), Err(AmountError::TooMuch(_))));
        assert_eq!(parse_wei("0.03"), Ok(30_000_000_000_000_000));
        assert!(matches!(parse_wei(&"9".repeat(40)), Err(AmountError::TooMuch(_))));
    }

    /// Nine digits behind the point of an ETH are Gwei.
    #[test]
    fn amounts_in_gwei_are_read_exactly() {
        for (text, expected) in [
            ("32", 32_000_000_000_u64),
            ("1.5", 1_500_000_000),
            ("0.000000001", 1),
            ("2048.0", 2_048_000_000_000),
            ("32.0000000000", 32_000_000_000),
            ("01", 1_000_000_000),
        ] {
            assert_eq!(parse(text, 9), Ok(U256::from(expected)), "{text}");
        }
        for text in ["", ".", "1.", ".5", "-1", "+1", "1e3", "1,5", "1.0000000001", " 1"] {
            assert!(parse(text, 9).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_exactly_is_read_again(words in any::<[u64; 3]>(), decimals in 0..40_u8) {
            let number = U256::from_limbs([words[0], words[1], words[2], 0]);
            prop_assert_eq!(parse(&exact(number, decimals), decimals), Ok(number));
        }

        #[test]
        fn random_text_never_panics(text in ".{0,90}", decimals: u8) {
            let _ = parse(&text, decimals);
        }
    }
}
