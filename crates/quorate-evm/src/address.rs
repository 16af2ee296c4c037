//! Addresses of accounts and contracts, as people write them.
//!
//! A mistyped address receives tokens, or gets a role for good, and nobody can take that back. So what a person writes is read by
//! [`parse`] alone: it checks the checksum of EIP-55. What a program has written is read by the type's own `serde`.

use alloy_primitives::Address;
use serde::{Deserialize, Serialize};

/// Why a text is not an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddressError {
    /// Something else than `0x` and 40 hexadecimal digits.
    #[error("expected 40 hexadecimal digits after 0x")]
    Form,
    /// Some letters are capitals, but not those that the checksum makes capitals.
    #[error("the capitals are not the address's checksum (EIP-55), so a digit is probably wrong")]
    Checksum,
}

/// Reads an address: 40 hexadecimal digits after `0x`. If some letters are capitals and others are not, they are a checksum (EIP-55), which
/// must be right. In lower case, or in capitals alone, an address has no checksum.
///
/// # Errors
/// [`AddressError`].
pub fn parse(text: &str) -> Result<Address, AddressError> {
    let digits =
        text.strip_prefix("0x").filter(|digits| digits.len() == 40 && digits.bytes().all(|b| b.is_ascii_hexdigit()));
    let digits = digits.ok_or(AddressError::Form)?;
    let address: Address = text.parse().map_err(|_| AddressError::Form)?;
    let mixed = digits.bytes().any(|b| b.is_ascii_lowercase()) && digits.bytes().any(|b| b.is_ascii_uppercase());
    if mixed && address.to_checksum(None) != text {
        return Err(AddressError::Checksum);
    }
    Ok(address)
}

/// An address that [`parse`] reads: the type of an option that a flag, a variable or a file of options has. It is written as
/// [`Address`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct CheckedAddress(pub Address);

impl std::str::FromStr for CheckedAddress {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(text).map(Self)
    }
}

impl TryFrom<String> for CheckedAddress {
    type Error = AddressError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RIGHT: &str = "0x5FbDB2315678afecb367f032d93F642f64180aa3";

    #[test]
    fn with_and_without_a_checksum() {
        let read = parse(RIGHT).unwrap();
        assert_eq!(read.to_string(), RIGHT);
        assert_eq!(parse(&RIGHT.to_lowercase()), Ok(read));
        assert_eq!(parse(&format!("0x{}", RIGHT[2..].to_uppercase())), Ok(read));
        for wrong in [RIGHT.replace("5Fb", "5fb"), RIGHT.replace("0aa3", "0aa4")] {
            assert_eq!(parse(&wrong), Err(AddressError::Checksum), "{wrong}");
        }
        let upper_prefix = RIGHT.replace("0x", "0X");
        let wide = RIGHT.replace('5', "ä");
        for wrong in ["", "0x", &RIGHT[2..], &RIGHT[..41], &format!("{RIGHT}0"), "0xg", &upper_prefix, &wide] {
            assert_eq!(parse(wrong), Err(AddressError::Form), "{wrong}");
        }
    }

    /// A file of options that a program writes is read again.
    #[test]
    fn a_field_is_written_and_read() {
        let address: CheckedAddress = serde_json::from_value(RIGHT.into()).unwrap();
        let written = serde_json::to_value(address).unwrap();
        assert_eq!(written, serde_json::to_value(address.0).unwrap());
        assert_eq!(serde_json::from_value::<CheckedAddress>(written).unwrap(), address);
        for wrong in [&RIGHT.replace("0aa3", "0aa4"), &RIGHT[2..]] {
            assert!(serde_json::from_value::<CheckedAddress>((*wrong).into()).is_err(), "{wrong}");
        }
    }
}
