//! The schemes by their time, with a place that only surely faster ones are before, and where two neighbours swap.

use std::fmt;

use serde::Serialize;

use super::model::{Estimate, MOST, Scheme, Setting};
use crate::row::{BUSY, Row, short};

/// The schemes from the fastest, and those that have no time because a row is missing.
#[derive(Debug, Serialize)]
pub(crate) struct Ranking {
    pub(crate) schemes: Vec<Ranked>,
    pub(crate) missing: Vec<Missing>,
}

/// A scheme with its place: one more than the number of schemes that are surely faster, whose greatest time is below its least.
/// Any two with one place have intervals that overlap: if one were surely faster, whatever is before it would be before the
/// other one as well, and so would it itself.
#[derive(Debug, Serialize)]
pub(crate) struct Ranked {
    pub(crate) rank: usize,
    #[serde(flatten)]
    pub(crate) estimate: Estimate,
}

/// A scheme of which a row was not measured.
#[derive(Debug, Serialize)]
pub(crate) struct Missing {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) row: String,
}

impl Ranking {
    pub(crate) fn new(schemes: &[Scheme], rows: &[Row], setting: &Setting) -> Self {
        let (mut estimates, mut missing) = (Vec::new(), Vec::new());
        for scheme in schemes {
            match scheme.estimate(rows, setting) {
                Ok(estimate) => estimates.push(estimate),
                Err(row) => missing.push(Missing { id: scheme.id.clone(), name: scheme.name.clone(), row }),
            }
        }
        estimates.sort_by(|a, b| a.us.median.total_cmp(&b.us.median));
        let rank = |of: &Estimate| 1 + estimates.iter().filter(|other| other.us.max < of.us.min).count();
        let ranks: Vec<_> = estimates.iter().map(rank).collect();
        let mut ranked: Vec<_> =
            ranks.into_iter().zip(estimates).map(|(rank, estimate)| Ranked { rank, estimate }).collect();
        // A wide spread can give a slower median the better place.
        ranked.sort_by_key(|ranked| ranked.rank);
        Self { schemes: ranked, missing }
    }

    /// Whether more than one scheme has a place.
    pub(crate) fn ties(&self, rank: usize) -> bool {
        self.schemes.iter().filter(|ranked| ranked.rank == rank).count() > 1
    }

    /// For each two neighbours of different places, at what RTT, bandwidth and number of delegates they swap.
    pub(crate) fn swaps(&self, schemes: &[Scheme], rows: &[Row], setting: &Setting) -> Vec<Swap> {
        let pairs = self.schemes.windows(2).filter(|pair| pair[0].rank != pair[1].rank);
        pairs.filter_map(|pair| Swap::new([&pair[0].estimate, &pair[1].estimate], schemes, rows, setting)).collect()
    }
}

/// Where two neighbours swap: the values at which both take equally long, everything else being as it is.
#[derive(Debug, Serialize)]
pub(crate) struct Swap {
    pub(crate) faster: String,
    pub(crate) slower: String,
    #[serde(skip)]
    names: [String; 2],
    pub(crate) rtt_us: Option<f64>,
    pub(crate) bandwidth: Option<f64>,
    /// The nearest number at which the order is the other one, with the same parts for the quorum and the false ones.
    pub(crate) delegates: Option<u32>,
}

/// The RTTs and bandwidths between which a swap is worth saying.
const RTTS_US: [f64; 2] = [10.0, 10e6];
const BANDWIDTHS: [f64; 2] = [10e3, 1e12];
/// And the most delegates.
const DELEGATES: u32 = 2000;

impl Swap {
    fn new([a, b]: [&Estimate; 2], schemes: &[Scheme], rows: &[Row], setting: &Setting) -> Option<Self> {
        let scheme = |estimate: &Estimate| schemes.iter().find(|scheme| scheme.id == estimate.id);
        let pair = [scheme(a)?, scheme(b)?];
        let within = |value: f64, [low, high]: [f64; 2]| Some(value).filter(|value| *value >= low && *value <= high);
        // T = slope * RTT + rest, on both sides.
        let slope = |estimate: &Estimate| estimate.network_us / setting.rtt_us;
        let rest = |estimate: &Estimate| estimate.us.median - estimate.network_us;
        let rtt_us = within((rest(b) - rest(a)) / (slope(a) - slope(b)), RTTS_US);
        // T = bits / bandwidth + rest, on both sides.
        let rest = |estimate: &Estimate| estimate.us.median - estimate.bytes_us;
        let bandwidth = within((a.bytes - b.bytes) * 8e6 / (rest(b) - rest(a)), BANDWIDTHS);
        let delegates = nearest(setting.delegates, |n| {
            let scaled = scaled(setting, n)?;
            let [a, b] = pair.map(|scheme| scheme.estimate(rows, &scaled).map(|estimate| estimate.us.median));
            Some(a.ok()? > b.ok()?)
        });
        let [faster, slower] = [a, b].map(|estimate| estimate.id.clone());
        Some(Self { faster, slower, names: [a.name.clone(), b.name.clone()], rtt_us, bandwidth, delegates })
    }
}

/// The setting with another number of delegates, and the same parts of it for the quorum and the false ones. `None` if no false
/// one would be left where there are some.
fn scaled(setting: &Setting, delegates: u32) -> Option<Setting> {
    let part = |of: u32| u64::from(of) * u64::from(delegates);
    let all = u64::from(setting.delegates);
    let quorum = u32::try_from(part(setting.quorum).div_ceil(all)).ok()?;
    let bad = u32::try_from(part(setting.bad) / all).ok()?;
    (setting.bad == 0 || bad > 0).then_some(Setting { delegates, quorum, bad, ..*setting })
}

/// The number nearest to another one for which something holds, the smaller of two.
fn nearest(from: u32, holds: impl Fn(u32) -> Option<bool>) -> Option<u32> {
    let most = DELEGATES.clamp(from, MOST);
    let below = (2..from).rev().find(|n| holds(*n) == Some(true));
    let above = (from + 1..=most).find(|n| holds(*n) == Some(true));
    below.into_iter().chain(above).min_by_key(|n| n.abs_diff(from))
}

impl fmt::Display for Ranking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "  #  {:<23}{:>10}{:>10}{:>10}{:>10}{:>10}",
            "scheme", "T, ms", "network", "bytes", "delegate", "primary"
        )?;
        for Ranked { rank, estimate } in &self.schemes {
            let Estimate { name, us, network_us, bytes_us, delegate_us, primary_us, .. } = estimate;
            let parts = [us.median, *network_us, *bytes_us, delegate_us.median, primary_us.median];
            write!(f, "{rank:>3}{} {name:<23}", if self.ties(*rank) { "=" } else { " " })?;
            parts.iter().try_for_each(|part| write!(f, "{:>10.3}", part / 1e3))?;
            writeln!(f)?;
            if estimate.is_busy {
                writeln!(f, "     {BUSY} when its rows were measured")?;
            }
        }
        writeln!(f, "The place is one more than the number of schemes that are surely faster.")?;
        if self.schemes.windows(2).any(|pair| pair[0].rank == pair[1].rank) {
            writeln!(f, "= equal within the spread: the least and greatest times of their rows overlap")?;
        }
        for Missing { name, row, .. } in &self.missing {
            writeln!(f, "  –  {name:<23} not measured: no row {row}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Swap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [faster, slower] = &self.names;
        let changes = [
            self.rtt_us.map(|rtt| format!("at an RTT of {}", time(rtt))),
            self.bandwidth.map(|bits| format!("at {}", rate(bits))),
            self.delegates.map(|n| format!("with {n} delegates")),
        ];
        let changes: Vec<_> = changes.into_iter().flatten().collect();
        if changes.is_empty() {
            return write!(f, "{slower} stays behind {faster}: no RTT, bandwidth or number of delegates swaps them");
        }
        write!(f, "{slower} and {faster} swap {}", changes.join(", or "))
    }
}

/// A time in the unit that fits: "200 ms". Negative ones too.
pub(crate) fn time(us: f64) -> String {
    let sign = if us < 0.0 { "-" } else { "" };
    let us = us.abs();
    let (value, unit) = match us {
        us if us >= 60e6 => (us / 60e6, "min"),
        us if us >= 1e6 => (us / 1e6, "s"),
        us if us >= 1e3 => (us / 1e3, "ms"),
        us => (us, "µs"),
    };
    format!("{sign}{} {unit}", short(value))
}

/// A bandwidth in the unit that fits: "100 Mbit/s".
pub(crate) fn rate(bits: f64) -> String {
    let (value, unit) = match bits {
        bits if bits >= 1e9 => (bits / 1e9, "Gbit/s"),
        bits if bits >= 1e6 => (bits / 1e6, "Mbit/s"),
        bits => (bits / 1e3, "kbit/s"),
    };
    format!("{} {unit}", short(value))
}
