//! The model: T = rounds · RTT · (1 + restarts) + bytes / bandwidth + time of a delegate + time of the primary.
//!
//! `schemes.json` has a record for each scheme. Each figure in it is a sum of terms: a row that was measured, times a linear
//! form of the setting. With 32 delegates and no false share, the times are those of the measured run (`round/A`). Of the
//! primary's, all but the last verification grows with the number of shares. The report page evaluates the same file in the browser (`page/src/model.js`), and a test compares both.

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use crate::row::{Figures, Row, Times};

/// The records of the schemes, as the page embeds them.
pub(crate) const SCHEMES: &str = include_str!("schemes.json");

/// The number of delegates of the rows that the model reads.
pub(crate) const MEASURED: usize = 32;

/// What follows this in the name of a row is the number of corrupted shares.
const BY_BAD: &str = "=K";

/// How many delegates there are, how many must sign, how many send false shares, and the network between them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Setting {
    pub(crate) delegates: u32,
    pub(crate) quorum: u32,
    pub(crate) bad: u32,
    /// Microseconds from the primary to the slowest delegate and back.
    pub(crate) rtt_us: f64,
    /// Of the primary's link, in bits a second.
    pub(crate) bandwidth: f64,
}

impl Setting {
    /// Checks that enough good delegates are left to sign.
    pub(crate) fn check(&self) -> Result<()> {
        let Self { delegates, quorum, bad, .. } = *self;
        ensure!(
            delegates <= MOST,
            "--delegates is {delegates}, but at most {MOST} are allowed: choose a smaller number"
        );
        ensure!(quorum >= 1, "--quorum is 0, but at least 1 must sign: choose a number from 1 to {delegates}");
        ensure!(
            quorum <= delegates,
            "--quorum is {quorum}, but there are only {delegates} delegates: lower --quorum, or raise --delegates"
        );
        ensure!(
            bad < delegates,
            "--bad is {bad}, but there are only {delegates} delegates, and one must be good: lower --bad"
        );
        ensure!(
            u64::from(bad) + u64::from(quorum) <= u64::from(delegates),
            "--bad {bad} and --quorum {quorum} together are more than the {delegates} delegates, so too few good ones are \
             left to sign: lower --bad or --quorum",
        );
        Ok(())
    }
}

/// The most delegates of a setting.
pub(crate) const MOST: u32 = 10_000;

/// A scheme, and what one multi-signature with it costs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scheme {
    pub(crate) id: String,
    pub(crate) name: String,
    /// A few words for the page.
    pub(crate) what: String,
    /// The engine of its rows.
    pub(crate) engine: String,
    pub(crate) signers: Signers,
    /// Trips from the primary to the delegates and back, in one attempt.
    pub(crate) rounds: u32,
    /// Further attempts if a share is false.
    pub(crate) restarts: u32,
    /// What it costs if all shares are good.
    good: Costs,
    /// What it costs if some are false.
    bad: Costs,
}

/// Who must answer in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Signers {
    /// All with whom the session began.
    All,
    /// A quorum of the delegates.
    Quorum,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Costs {
    bytes: Vec<Bytes>,
    delegate: Vec<Term>,
    primary: Vec<Term>,
}

/// Bytes through the primary's link: `copies` messages of `each` bytes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bytes {
    what: String,
    copies: Linear,
    each: Linear,
}

/// A measured row, times a linear form, divided by `over`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Term {
    row: String,
    times: Linear,
    #[serde(default = "one")]
    over: f64,
}

fn one() -> f64 {
    1.0
}

/// `one` + `delegates` · delegates + `quorum` · quorum + `bad` · bad.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Linear {
    one: f64,
    delegates: f64,
    quorum: f64,
    bad: f64,
}

impl Default for Linear {
    fn default() -> Self {
        Self { one: 0.0, delegates: 0.0, quorum: 0.0, bad: 0.0 }
    }
}

impl Linear {
    fn at(&self, setting: &Setting) -> f64 {
        let Setting { delegates, quorum, bad, .. } = *setting;
        self.one + self.delegates * f64::from(delegates) + self.quorum * f64::from(quorum) + self.bad * f64::from(bad)
    }
}

/// What the model says about a scheme in a setting. Times are in microseconds.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Estimate {
    pub(crate) id: String,
    #[serde(skip)]
    pub(crate) name: String,
    pub(crate) us: Times,
    pub(crate) network_us: f64,
    pub(crate) bytes: f64,
    pub(crate) bytes_us: f64,
    pub(crate) delegate_us: Times,
    pub(crate) primary_us: Times,
    pub(crate) restarts: u32,
    /// Whether the machine was busy when one of its rows was measured.
    pub(crate) is_busy: bool,
}

/// The time that a party computes, of rows, and whether one of them is of a busy machine.
#[derive(Clone, Copy, Debug)]
struct Cpu {
    us: Times,
    is_busy: bool,
}

impl Cpu {
    fn of(us: Times) -> Self {
        Self { us, is_busy: us.are_busy() }
    }
}

impl Scheme {
    /// All of them.
    pub(crate) fn all() -> Result<Vec<Self>> {
        serde_json::from_str(SCHEMES).context("compare/schemes.json")
    }

    /// Its time in a setting.
    ///
    /// # Errors
    ///
    /// The name of a row that was not measured.
    pub(crate) fn estimate(&self, rows: &[Row], setting: &Setting) -> Result<Estimate, String> {
        let (costs, restarts) = if setting.bad > 0 { (&self.bad, self.restarts) } else { (&self.good, 0) };
        let cpu = |terms: &[Term]| {
            terms.iter().try_fold(NONE, |sum, term| {
                let Cpu { us, is_busy } = self.term(term, rows, setting)?;
                Ok::<_, String>(Cpu { us: add(sum.us, us), is_busy: sum.is_busy || is_busy })
            })
        };
        let (delegate, primary) = (cpu(&costs.delegate)?, cpu(&costs.primary)?);
        let (delegate_us, primary_us, is_busy) = (delegate.us, primary.us, delegate.is_busy || primary.is_busy);
        let bytes: f64 = self.bytes(setting).map(|(_, bytes)| bytes).sum();
        let network_us = f64::from(self.rounds * (1 + restarts)) * setting.rtt_us;
        let bytes_us = bytes * 8.0 / setting.bandwidth * 1e6;
        let fixed = network_us + bytes_us;
        let us = add(Times { min: fixed, median: fixed, max: fixed }, add(delegate_us, primary_us));
        let Self { id, name, .. } = self.clone();
        Ok(Estimate { id, name, us, network_us, bytes, bytes_us, delegate_us, primary_us, restarts, is_busy })
    }

    /// The bytes through the primary's link in a setting, by what they are.
    pub(crate) fn bytes<'a>(&'a self, setting: &'a Setting) -> impl Iterator<Item = (&'a str, f64)> {
        let costs = if setting.bad > 0 { &self.bad } else { &self.good };
        costs.bytes.iter().map(|part| (&part.what[..], part.copies.at(setting) * part.each.at(setting)))
    }

    fn term(&self, term: &Term, rows: &[Row], setting: &Setting) -> Result<Cpu, String> {
        let factor = term.times.at(setting) / term.over;
        let Cpu { us: row, is_busy } = match term.row.strip_suffix(BY_BAD) {
            None => Cpu::of(self.row(&term.row, rows).ok_or_else(|| term.row.clone())?),
            Some(family) => self.by_bad(family, rows, setting)?,
        };
        let [a, b] = [row.min * factor, row.max * factor];
        Ok(Cpu { us: Times { min: a.min(b), median: row.median * factor, max: a.max(b) }, is_busy })
    }

    fn row(&self, bench: &str, rows: &[Row]) -> Option<Times> {
        let of = |row: &&Row| row.bench == bench && row.engine == self.engine && row.n == MEASURED && row.threads == 1;
        match rows.iter().find(of)?.figures {
            Figures::Us(times) => Some(times),
            Figures::Gas(_) => None,
        }
    }

    /// The rows `FAMILY=0`, `FAMILY=1` and so on at the number of bad shares: between two measured numbers on the straight line
    /// through them, beyond the last on the line through the last two. A committee of another size has the same part of bad
    /// shares there, so that K false shares add the same time in each.
    fn by_bad(&self, family: &str, rows: &[Row], setting: &Setting) -> Result<Cpu, String> {
        let measured: Vec<(f64, Times)> =
            (0..=MEASURED).filter_map(|k| Some((k as f64, self.row(&format!("{family}={k}"), rows)?))).collect();
        let bad = f64::from(setting.bad) * MEASURED as f64 / f64::from(setting.delegates);
        if let Some(exact) = measured.iter().find(|(k, _)| *k == bad) {
            return Ok(Cpu::of(exact.1));
        }
        let missing = || format!("{family}{BY_BAD}");
        if measured.len() < 2 || measured[0].0 > bad {
            return Err(missing());
        }
        let above = measured.iter().position(|(k, _)| *k > bad).unwrap_or(measured.len() - 1);
        let [(k0, low), (k1, high)] = [measured[above - 1], measured[above]];
        let part = (bad - k0) / (k1 - k0);
        let between = |a: f64, b: f64| a + (b - a) * part;
        let median = between(low.median, high.median);
        // Beyond the last row the three lines may cross.
        let [min, max] = [between(low.min, high.min).min(median), between(low.max, high.max).max(median)];
        Ok(Cpu { us: Times { min, median, max }, is_busy: low.are_busy() || high.are_busy() })
    }

    /// The names of all rows that it reads.
    #[cfg(test)]
    pub(crate) fn rows(&self) -> impl Iterator<Item = &str> {
        let costs = [&self.good, &self.bad].into_iter();
        costs.flat_map(|costs| costs.delegate.iter().chain(&costs.primary)).map(|term| &term.row[..])
    }
}

const NONE: Cpu = Cpu { us: Times { min: 0.0, median: 0.0, max: 0.0 }, is_busy: false };

fn add(a: Times, b: Times) -> Times {
    Times { min: a.min + b.min, median: a.median + b.median, max: a.max + b.max }
}
