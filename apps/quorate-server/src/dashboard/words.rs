//! Numbers and times as a person reads them at a glance: those that only the server shows.

use quorate_host::page::words::thousands;

/// A rate, with a decimal if it is small.
pub(super) fn short(number: f64) -> String {
    if number > 0.0 && number < 9.95 { format!("{number:.1}") } else { thousands(number.round() as u64) }
}

/// A time, given in milliseconds.
pub(super) fn milliseconds(ms: f64) -> String {
    match ms {
        ms if ms <= 0.0 => "0 ms".to_owned(),
        ms if ms < 9.95 => format!("{ms:.1} ms"),
        ms if ms < 9_950.0 => format!("{} ms", thousands(ms.round() as u64)),
        ms => format!("{:.1} s", ms / 1000.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!([0.0, 0.04, 9.94, 9.96, 1234.5].map(short), ["0", "0.0", "9.9", "10", "1,235"]);
        assert_eq!([0.0, 3.21, 950.0, 12_000.0].map(milliseconds), ["0 ms", "3.2 ms", "950 ms", "12.0 s"]);
    }
}
