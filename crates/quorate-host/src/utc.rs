//! A time as people read it.

use jiff::Timestamp;

/// A second of Unix time as a date and a time of UTC; a second that no calendar has, as its number.
///
/// ```
/// assert_eq!(quorate_host::utc(1_764_067_335), "2025-11-25 10:42:15 UTC");
/// assert_eq!(quorate_host::utc(u64::MAX), "second 18446744073709551615 of Unix time");
/// ```
#[must_use]
pub fn utc(second: u64) -> String {
    let timestamp = i64::try_from(second).ok().and_then(|second| Timestamp::from_second(second).ok());
    match timestamp {
        // As RFC 3339 writes it: 2025-11-25T10:42:15Z.
        Some(timestamp) => format!("{} UTC", timestamp.to_string().replace('T', " ").trim_end_matches('Z')),
        None => format!("second {second} of Unix time"),
    }
}
