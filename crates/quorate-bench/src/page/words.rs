//! Numbers as people read them.

use crate::{
    compare::ranking,
    row::{Times, short, whole},
};

/// What a figure counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Microseconds, written in the unit that fits.
    Time,
    NanosecondsPerByte,
    PerSecond,
    Gas,
    Factor,
}

impl Unit {
    /// What the script calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::NanosecondsPerByte => "ns/byte",
            Self::PerSecond => "per second",
            Self::Gas => "gas",
            Self::Factor => "factor",
        }
    }

    pub(crate) fn written(self, value: f64) -> String {
        match self {
            Self::Time => time(value),
            Self::NanosecondsPerByte => format!("{} ns", short(value)),
            Self::PerSecond | Self::Gas => whole(value),
            Self::Factor => factor(value),
        }
    }

    /// The least and the greatest, or the median beside the mean of gas.
    pub(crate) fn range(self, times: Times) -> String {
        match self {
            Self::Gas if times.min < times.median => format!("median {}", whole(times.min)),
            Self::Gas => format!("median {}", whole(times.max)),
            _ => format!("{} – {}", self.written(times.min), self.written(times.max)),
        }
    }
}

/// Microseconds in the unit that fits: "75.9 ms", "2.70 min".
pub(crate) fn time(us: f64) -> String {
    match us {
        us if us >= 3.6e9 => format!("{} h", short(us / 3.6e9)),
        us => ranking::time(us),
    }
}

/// How many times: "4.9×".
pub(crate) fn factor(times: f64) -> String {
    match times {
        times if times >= 1000.0 => format!("{}×", whole(times)),
        times if times >= 100.0 => format!("{times:.0}×"),
        times if times >= 10.0 => format!("{times:.1}×"),
        times => format!("{times:.2}×"),
    }
}
