//! Amounts of a token as people write them: 1.5, and not 1500000000000000000.

use quorate_evm::alloy_primitives::U256;
pub use quorate_evm::amount::{AmountError, exact, parse};
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

#[cfg(test)]
mod tests {
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
}
