//! Amounts of a token as people write them: 1.5, and not 1500000000000000000.

use quorate_evm::alloy_primitives::U256;
use quorate_host::page::words::separated;

/// An amount in the smallest unit of a token or coin, in whole ones, for the eye: all digits before the point with separators, and
/// four of which the first is not zero behind it. What follows them is cut off.
pub fn amount(number: U256, decimals: u8) -> String {
    let digits = format!("{number:0>width$}", width = usize::from(decimals) + 1);
    let (whole, rest) = digits.split_at(digits.len() - usize::from(decimals));
    let first = rest.find(|digit| digit != '0');
    let shown = match first {
        _ if whole != "0" => &rest[..rest.len().min(4)],
        Some(first) => &rest[..rest.len().min(first + 4)],
        None => "",
    };
    match shown.trim_end_matches('0') {
        "" => separated(whole),
        shown => format!("{}.{shown}", separated(whole)),
    }
}

/// The same to the last digit, and without separators, as [`parse`] reads it.
pub fn exact(number: U256, decimals: u8) -> String {
    let digits = format!("{number:0>width$}", width = usize::from(decimals) + 1);
    let (whole, rest) = digits.split_at(digits.len() - usize::from(decimals));
    match rest.trim_end_matches('0') {
        "" => whole.to_owned(),
        rest => format!("{whole}.{rest}"),
    }
}

/// A text is not an amount of a token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AmountError {
    /// It is not a decimal number.
    #[error("{0:?} is not an amount such as 100 or 0.5")]
    NotANumber(String),
    /// It has more decimals than the token.
    #[error("{found:?} has more decimals than the token, which has {decimals}")]
    TooFine {
        /// The text.
        found: String,
        /// The token's decimals.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn amounts_keep_their_first_digits() {
        let of = |number: u128, decimals| amount(U256::from(number), decimals);
        assert_eq!(of(1_500_000_000_000_000_000, 18), "1.5");
        assert_eq!(of(1_234_567_891_000_000_000_000, 18), "1,234.5678");
        assert_eq!(of(123_456_789, 18), "0.0000000001234");
        assert_eq!([of(0, 18), of(7, 0), of(1_000, 3)], ["0", "7", "1"]);
        assert!(amount(U256::MAX, 255).starts_with("0."));
    }

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
        assert!(parse("0.15", 1).unwrap_err().to_string().contains("more decimals than the token, which has 1"));
        assert!(matches!(parse(&"9".repeat(78), 18), Err(AmountError::TooMuch(_))));
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
