//! Numbers, times and names as a person reads them at a glance.

/// The first and the last letters of a text that only names something, such as an address or a hash: "0x1111…1111". The text itself
/// if that would not be shorter.
pub fn ends(text: &str, first: usize, last: usize) -> String {
    let letters: Vec<char> = text.chars().collect();
    if letters.len() <= first + 1 + last {
        return text.to_owned();
    }
    letters[..first].iter().chain(&['…']).chain(&letters[letters.len() - last..]).collect()
}

/// A number with its noun: "1 peer", "1,024 peers".
pub fn count(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", thousands(number), if number == 1 { "" } else { "s" })
}

/// A whole number with separators of thousands: "1,234".
pub fn thousands(number: impl Into<u128>) -> String {
    separated(&number.into().to_string())
}

/// The same of a number's digits, however many they are.
pub fn separated(digits: &str) -> String {
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A time in seconds, in the unit that fits and rounded down: "5 s", "10 min", "2 days".
pub fn duration(seconds: u64) -> String {
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
        assert_eq!(
            ["0x0123", "0x012345678", "0x0123456789"].map(|text| ends(text, 6, 4)),
            ["0x0123", "0x012345678", "0x0123…6789"]
        );
        assert_eq!(ends(&"é".repeat(64), 6, 4), "éééééé…éééé");
        assert_eq!(ends(&format!("0x{}é", "0".repeat(200)), 12, 12), "0x0000000000…00000000000é");
    }

    #[test]
    fn numbers_are_read_at_a_glance() {
        assert_eq!([0_u64, 999, 1000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(thousands(u128::MAX), "340,282,366,920,938,463,463,374,607,431,768,211,455");
        assert_eq!([1, 2, 1_024].map(|number| count(number, "peer")), ["1 peer", "2 peers", "1,024 peers"]);
        assert_eq!(
            [5, 119, 120, 600, 7_200, 200_000].map(duration),
            ["5 s", "119 s", "2 min", "10 min", "2 h", "2 days"]
        );
    }
}
