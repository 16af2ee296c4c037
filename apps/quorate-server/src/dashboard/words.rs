//! Numbers, times and texts as a person reads them at a glance.

/// Both ends of a text that only names something.
pub(super) fn ends(text: &str) -> String {
    const END: usize = 12;
    let letters: Vec<char> = text.chars().collect();
    if letters.len() <= 2 * END {
        return text.to_owned();
    }
    letters[..END].iter().chain(&['…']).chain(&letters[letters.len() - END..]).collect()
}

/// A number of things.
pub(super) fn count(number: u64, what: &str) -> String {
    format!("{} {what}{}", thousands(number), if number == 1 { "" } else { "s" })
}

/// A whole number with separators.
pub(super) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

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

/// A time, given in seconds.
pub(super) fn duration(seconds: u64) -> String {
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7_199 => format!("{} min", seconds / 60),
        7_200..=172_799 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short() {
        assert_eq!(ends("0x0123"), "0x0123");
        assert_eq!(ends(&format!("0x{}é", "0".repeat(200))), "0x0000000000…00000000000é");
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([0, 999, 1000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0.0, 0.04, 9.94, 9.96, 1234.5].map(short), ["0", "0.0", "9.9", "10", "1,235"]);
        assert_eq!([0.0, 3.21, 950.0, 12_000.0].map(milliseconds), ["0 ms", "3.2 ms", "950 ms", "12.0 s"]);
        assert_eq!([5, 600, 7_200, 200_000].map(duration), ["5 s", "10 min", "2 h", "2 days"]);
    }
}
