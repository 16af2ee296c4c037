//! Hexadecimal digits of secrets. They are read with or without `0x` in either case, and written in lower case without `0x`.
//!
//! Secret keys are read here, so the code does not branch on the values of digits.

/// Why a text is not the hexadecimal digits that were asked for. The text may be a secret, so no message repeats it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HexError {
    /// A character is not a hexadecimal digit.
    #[error("found a character that is not a hexadecimal digit")]
    Digit,
    /// An odd number of digits does not make whole bytes.
    #[error("found {digits} hexadecimal digits, expected an even number")]
    Odd {
        /// Digits found, `0x` not counted.
        digits: usize,
    },
    /// The digits make more or fewer bytes than the field holds.
    #[error("found {digits} hexadecimal digits, expected {expected}")]
    Length {
        /// Digits needed.
        expected: usize,
        /// Digits found, `0x` not counted.
        digits: usize,
    },
}

/// Fills `out` from `text`, which must have exactly two digits for each byte.
///
/// # Errors
/// [`HexError`].
pub fn decode_into(text: &[u8], out: &mut [u8]) -> Result<(), HexError> {
    let expected = 2 * out.len();
    // Of as many characters as digits none is compared with a prefix: they are secret, and a prefix would not leave enough.
    let digits = if text.len() == expected { text } else { without_prefix(text) };
    if digits.len() == expected && base16ct::mixed::decode(digits, out).is_ok() {
        return Ok(());
    }
    let found = without_prefix(text).len();
    Err(if found == expected { HexError::Digit } else { HexError::Length { expected, digits: found } })
}

/// The bytes of `text`.
///
/// # Errors
/// [`HexError`].
pub fn decode(text: &str) -> Result<Vec<u8>, HexError> {
    let digits = without_prefix(text.as_bytes());
    if digits.len() % 2 == 1 {
        return Err(HexError::Odd { digits: digits.len() });
    }
    base16ct::mixed::decode_vec(digits).map_err(|_| HexError::Digit)
}

/// Lower-case digits without `0x`.
pub fn encode(bytes: &[u8]) -> String {
    base16ct::lower::encode_string(bytes)
}

fn without_prefix(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"0x").or_else(|| text.strip_prefix(b"0X")).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_and_case_do_not_matter() {
        for text in ["00ffa5", "0x00ffa5", "0X00FFA5", "00fFa5"] {
            assert_eq!(decode(text), Ok(vec![0x00, 0xff, 0xa5]));
            let mut out = [0; 3];
            assert_eq!(decode_into(text.as_bytes(), &mut out), Ok(()));
            assert_eq!(out, [0x00, 0xff, 0xa5]);
        }
        assert_eq!(encode(&[0x00, 0xff, 0xa5]), "00ffa5");
        assert_eq!(decode("0x"), Ok(vec![]));
    }

    #[test]
    fn each_error_by_name() {
        assert_eq!(decode("0xabc"), Err(HexError::Odd { digits: 3 }));
        assert_eq!(decode("0g"), Err(HexError::Digit));
        assert_eq!(decode("0x0x"), Err(HexError::Digit));
        assert_eq!(decode_into(b"0xab", &mut [0; 2]), Err(HexError::Length { expected: 4, digits: 2 }));
        assert_eq!(decode_into(b"zz", &mut [0]), Err(HexError::Digit));
    }
}
