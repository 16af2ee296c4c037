//! Numbers, times and names as a person reads them at a glance: those that only the node shows.

use quorate_evm::alloy_primitives::Address;
use quorate_host::page::words::{self, duration, thousands};

/// Both ends of an address or a hash.
pub(super) fn ends(text: &str) -> String {
    words::ends(text, 6, 4)
}

/// An address, by both of its ends.
pub(super) fn short(address: &Address) -> String {
    ends(&address.to_string())
}

/// A time between two moments, in milliseconds.
pub(super) fn span(ms: u64) -> String {
    match ms {
        0..=999 => format!("{ms} ms"),
        1_000..=99_999 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        _ => duration(ms / 1_000),
    }
}

/// A number of bytes.
pub(super) fn bytes(number: u64) -> String {
    match number {
        0..=9_999 => format!("{} B", thousands(number)),
        10_000..=9_999_999 => format!("{} KB", thousands(number / 1_000)),
        _ => format!("{} MB", thousands(number / 1_000_000)),
    }
}

/// A part of a whole in percent, with at most one decimal. Less than all is never 100 %.
pub(super) fn percent(part: u128, whole: u128) -> String {
    let thousandths = share(part, whole);
    match (thousandths / 10, thousandths % 10) {
        (whole, 0) => format!("{whole} %"),
        (whole, tenth) => format!("{whole}.{tenth} %"),
    }
}

/// A part of a whole in thousandths, rounded down.
pub(super) fn share(part: u128, whole: u128) -> u64 {
    match part.saturating_mul(1_000).checked_div(whole) {
        Some(thousandths) => u64::try_from(thousandths.min(1_000)).unwrap_or(1_000),
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short() {
        assert_eq!(short(&Address::repeat_byte(0x11)), "0x1111…1111");
    }

    #[test]
    fn numbers_are_read_at_a_glance() {
        assert_eq!([7, 1_250, 99_999, 600_000].map(span), ["7 ms", "1.2 s", "99.9 s", "10 min"]);
        assert_eq!([9, 12_345, 12_345_678].map(bytes), ["9 B", "12 KB", "12 MB"]);
    }

    #[test]
    fn less_than_all_is_never_all() {
        assert_eq!(percent(2, 3), "66.6 %");
        assert_eq!(
            [percent(999_999, 1_000_000), percent(1, 1), percent(0, 5), percent(5, 0)],
            ["99.9 %", "100 %", "0 %", "0 %"]
        );
    }
}
