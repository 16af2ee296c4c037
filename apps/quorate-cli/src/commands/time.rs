//! Times on the command line: `90s`, `30min`, `2h`.

use std::time::Duration;

/// Reads a time of at least 10 milliseconds and at most a year.
pub(super) fn time(text: &str) -> Result<Duration, String> {
    let at = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let seconds = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, seconds)| *seconds);
    let time = number.parse::<f64>().ok().zip(seconds).map(|(number, seconds)| number * seconds);
    match time {
        Some(seconds) if (0.01..=366.0 * 86_400.0).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        Some(_) => Err("expected a time from 0.01s to 366d".to_owned()),
        None => Err("expected a number and one of the units s, min, h and d, such as 90s, 30min or 2h".to_owned()),
    }
}

/// A time in the unit in which it is read at a glance: "2 s", "0.5 s", "30 min", "2 h".
pub(super) fn in_words(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let fits = |(_, unit): &&(&str, f64)| seconds >= *unit && (seconds / unit).fract() == 0.0;
    let (name, unit) = UNITS.iter().rev().find(fits).unwrap_or(&UNITS[0]);
    format!("{} {name}", seconds / unit)
}

/// The units, in seconds.
const UNITS: [(&str, f64); 4] = [("s", 1.0), ("min", 60.0), ("h", 3_600.0), ("d", 86_400.0)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_and_written() {
        for (text, seconds, words) in [
            ("2s", 2.0, "2 s"),
            ("0.5s", 0.5, "0.5 s"),
            ("90s", 90.0, "90 s"),
            ("30min", 1_800.0, "30 min"),
            ("120min", 7_200.0, "2 h"),
            ("2h", 7_200.0, "2 h"),
            ("1.5h", 5_400.0, "90 min"),
            ("14d", 1_209_600.0, "14 d"),
        ] {
            let read = time(text);
            assert_eq!(read, Ok(Duration::from_secs_f64(seconds)), "{text}");
            assert_eq!(read.map(in_words).as_deref(), Ok(words));
        }
        for bad in ["", "2", "h", "2 h", "2m", "-2h", "1e3s", "1.2.3s", "2hours", "inf", "NaNs"] {
            assert!(time(bad).is_err_and(|reason| reason.contains("such as 90s, 30min or 2h")), "{bad}");
        }
        for far in ["0s", "0.001s", "367d", "99999999999999999999999h"] {
            assert!(time(far).is_err_and(|reason| reason.contains("from 0.01s to 366d")), "{far}");
        }
    }
}
