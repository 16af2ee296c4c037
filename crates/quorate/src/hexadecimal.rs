//! Bytes as people write them: hexadecimal digits, with or without `0x`, in upper or lower case.

/// The bytes that a text of hexadecimal digits stands for. The text may begin with `0x` or `0X`.
///
/// # Errors
/// [`NotHex`]: a character is not a hexadecimal digit, or their number is odd.
pub fn from_hex(text: &str) -> Result<Vec<u8>, NotHex> {
    let digits = digits(text)?;
    const_hex::decode(digits).map_err(|_| NotHex::of(digits, NotHex::Odd { digits: digits.len() }))
}

/// The bytes of a text as [`from_hex`] reads it, if they are exactly `N`.
///
/// # Errors
/// [`NotHex`]: a character is not a hexadecimal digit, or their number is not twice `N`.
pub fn array_from_hex<const N: usize>(text: &str) -> Result<[u8; N], NotHex> {
    let digits = digits(text)?;
    let length = NotHex::Length { expected: 2 * N, digits: digits.len() };
    const_hex::decode_to_array(digits).map_err(|_| NotHex::of(digits, length))
}

/// What stands behind one prefix. The decoder would strip a second one.
fn digits(text: &str) -> Result<&str, NotHex> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    match digits.as_bytes() {
        [b'0', second @ (b'x' | b'X'), ..] => Err(NotHex::Digit { found: char::from(*second), digit: 2 }),
        _ => Ok(digits),
    }
}

/// A text that is not the hexadecimal digits that were asked for, two for each byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotHex {
    /// A character is not a hexadecimal digit.
    #[error("found {found:?} at digit {digit}, expected hexadecimal digits")]
    Digit {
        /// The character.
        found: char,
        /// Its place, from 1. A prefix `0x` does not count.
        digit: usize,
    },
    /// An odd number of digits does not make whole bytes.
    #[error("found {digits} hexadecimal digits, expected an even number")]
    Odd {
        /// How many digits there are. A prefix `0x` does not count.
        digits: usize,
    },
    /// The digits make more or fewer bytes than were asked for.
    #[error("found {digits} hexadecimal digits, expected {expected}")]
    Length {
        /// Digits needed.
        expected: usize,
        /// How many digits there are. A prefix `0x` does not count.
        digits: usize,
    },
}

impl NotHex {
    /// What is wrong with digits that do not decode: a character, or else their number.
    fn of(digits: &str, number: Self) -> Self {
        let wrong = (1..).zip(digits.chars()).find(|(_, c)| !c.is_ascii_hexdigit());
        wrong.map_or(number, |(digit, found)| Self::Digit { found, digit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_and_case() {
        for text in ["00ff", "0x00ff", "0X00FF", "00fF"] {
            assert_eq!(from_hex(text).unwrap(), [0, 255]);
            assert_eq!(array_from_hex::<2>(text).unwrap(), [0, 255]);
        }
        for text in ["", "0x", "0X"] {
            assert!(from_hex(text).unwrap().is_empty());
            assert_eq!(array_from_hex::<0>(text), Ok([]));
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, reason) in [
            ("abc", "found 3 hexadecimal digits, expected an even number"),
            ("0xazbc", "found 'z' at digit 2, expected hexadecimal digits"),
            ("é0", "found 'é' at digit 1, expected hexadecimal digits"),
        ] {
            assert_eq!(from_hex(text).unwrap_err().to_string(), reason);
        }
        for (text, reason) in [
            ("0x00", "found 2 hexadecimal digits, expected 4"),
            ("00000", "found 5 hexadecimal digits, expected 4"),
            ("0xz", "found 'z' at digit 1, expected hexadecimal digits"),
            ("00g0", "found 'g' at digit 3, expected hexadecimal digits"),
        ] {
            assert_eq!(array_from_hex::<2>(text).unwrap_err().to_string(), reason);
        }
    }

    #[test]
    fn a_second_prefix_is_no_digit() {
        for text in ["0x0x00", "0x0X00", "0X0x00", "0X0X00"] {
            let found = text.chars().nth(3).unwrap();
            assert_eq!(from_hex(text), Err(NotHex::Digit { found, digit: 2 }));
            assert_eq!(array_from_hex::<1>(text), Err(NotHex::Digit { found, digit: 2 }));
        }
    }
}
