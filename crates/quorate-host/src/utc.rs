//! A time as people read it.

use chrono::DateTime;

/// A second of Unix time as a date and a time of UTC; a second that no calendar has, as its number.
///
/// ```
/// assert_eq!(quorate_host::utc(1_764_067_335), "2025-11-25 10:42:15 UTC");
/// assert_eq!(quorate_host::utc(u64::MAX), "second 18446744073709551615 of Unix time");
/// ```
#[must_use]
pub fn utc(second: u64) -> String {
    let date = i64::try_from(second).ok().and_then(|second| DateTime::from_timestamp(second, 0));
    date.map_or_else(|| format!("second {second} of Unix time"), |date| date.format("%F %T UTC").to_string())
}
