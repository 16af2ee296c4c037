//! What it costs to settle results in each way, from measured gas.
//!
//! The rows are those of `contracts/snapshots` and of `quorate-bench gas`: whole transactions with cold storage. Between two
//! rows a straight line is drawn. Nothing is said beyond the largest number of operators. Gas of a result:
//!
//! | way | gas of R results |
//! |---|---|
//! | [`CostWay::Instant`] | R · quorum(n, c) |
//! | [`CostWay::OneSignature`] | all(n, c, R) = quorum(n, c) + second + (R - 2) · further |
//! | [`CostWay::Hub`] | R · (hub(n) + quorum(n, c) - quorum(n, n/10)) + what k quorums cost more or less than ten |
//! | [`CostWay::Posting`] | post(n, R) + p · (demanded + proof(n, c, R)) |
//! | [`CostWay::EigenLayer`], [`CostWay::DropIn`] | R · check(c) |
//!
//! n operators, of whom c changed since the base; a part p of the postings is demanded, and proven. `second` is what a call for two
//! results costs more than a call for one. A hub was measured with c = n/10, so the changed members are priced as those of a quorum.
//!
//! Many results were not measured. Each one beyond the measured rows adds to all(n, c, R) and to post(n, R) as much as the last one that
//! was measured. proof(n, c, R) = quorum(n, c) + what a proof of one result costs more than a settlement of the same quorum + the
//! calldata and the hash of the other results. Each of these three transactions pays at least the least price of its calldata
//! (EIP-7623), which decides from about 240 results of one signature and from about 25 of a posting on.

mod calldata;
mod table;

use crate::{
    gas::{self, Calldata, PASSED_WORD},
    key_group::KeyGroup,
};
use calldata::{RESULT, ResultsCalls, with_results};
use table::{CostRow, around, between, of, points, sizes};

/// What is to be settled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostQuestion {
    /// The number of operators.
    pub operators: u64,
    /// How many members changed, on average, since the base from which a quorum starts.
    pub changed: f64,
    /// How many results one signature, one call of a hub or one posting carries at most.
    pub results: u64,
    /// The window of postings, in hours.
    pub window: f64,
    /// The part of the postings whose proof is demanded, from 0 to 1.
    pub demanded: f64,
    /// Results an hour, if it is known: how long results wait for each other, and how many postings wait.
    pub rate: Option<f64>,
}

/// A way to settle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CostWay {
    /// A transaction for each result.
    Instant,
    /// One signature over all results, in one transaction.
    OneSignature,
    /// A quorum for each result, all in one call of a hub.
    Hub,
    /// All results in one posting, whose proof is demanded now and then.
    Posting,
    /// A consumer that calls EigenLayer's `checkSignatures`, rebuilt: for comparison.
    EigenLayer,
    /// The same with EigenLayer's registries behind proxies, as they are deployed.
    EigenLayerProxies,
    /// The same consumer with our drop-in (`EigenSignatureChecker`), by a snapshot that `extend` proved.
    DropInProved,
    /// The same by a snapshot that the check compares with EigenLayer's registries, without proxies.
    DropIn,
}

impl CostWay {
    /// A name for programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Instant => "instant",
            Self::OneSignature => "one-signature",
            Self::Hub => "hub",
            Self::Posting => "posting",
            Self::EigenLayer => "eigenlayer",
            Self::EigenLayerProxies => "eigenlayer-proxies",
            Self::DropInProved => "drop-in-proved",
            Self::DropIn => "drop-in",
        }
    }
}

/// What a way costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostLine {
    /// The way.
    pub way: CostWay,
    /// The keys; `None` for contracts that are not ours.
    pub key_group: Option<KeyGroup>,
    /// How many results a transaction carries.
    pub results: u64,
    /// Gas of a result.
    pub gas: f64,
    /// Hours from the transaction's block until the result is final. 0: it is settled in that block.
    pub final_after: f64,
    /// Hours that the first of these results waits for the last, at the rate of the question; `None` without a rate.
    pub waits: Option<f64>,
}

/// A number at which another way becomes the cheapest.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum BreakEven {
    /// With so many changed members or more, these keys are the cheapest for an instant settlement.
    Keys {
        /// The number of changed members.
        from: u64,
        /// These keys.
        cheaper: KeyGroup,
        /// Those that are the cheapest with one changed member less.
        than: KeyGroup,
    },
    /// With so many quorums or more, a hub costs less than a transaction for each.
    Hub {
        /// The number of quorums.
        from: u64,
    },
    /// So many checks by the drop-in save what a snapshot of the operators costs, compared with EigenLayer's checker.
    Snapshot {
        /// The number of checks.
        checks: u64,
    },
    /// A posting costs less than the cheapest settlement of the same results, as long as no larger part is demanded.
    Demanded {
        /// The part, from 0 on. Above 1: even if every posting is demanded.
        most: f64,
    },
}

/// Postings at the rate of the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitingPostings {
    /// How many wait for their windows at the same time. A contract that keeps its results needs as many slots.
    pub waiting: u64,
    /// The slots that a contract needs where results are read: each holds one for three windows. The deposit is a penalty for each.
    pub slots: u64,
}

/// The answer to a [`CostQuestion`].
#[derive(Clone, Debug, PartialEq)]
pub struct SettlementCosts {
    /// The ways that were measured, the cheapest first.
    pub lines: Vec<CostLine>,
    /// Where another way becomes the cheapest.
    pub break_evens: Vec<BreakEven>,
    /// The numbers of operators that were measured next to the question's; twice the same if it was measured itself.
    pub measured: (u64, u64),
    /// The postings that wait; `None` without a rate, or without rows of postings.
    pub waiting: Option<WaitingPostings>,
}

/// Nothing was measured that answers the question.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CostError {
    /// Fewer or more operators than were measured.
    #[error(
        "{operators} operators: gas was measured with {least} to {most}; `quorate evm plan` prices one quorum of any size"
    )]
    Operators {
        /// The number in the question.
        operators: u64,
        /// The fewest that were measured.
        least: u64,
        /// The most that were measured.
        most: u64,
    },
    /// More changed members than were measured.
    #[error("{changed} changed members of {operators}: gas was measured with at most {most}; pass fewer")]
    Changed {
        /// The number in the question.
        changed: f64,
        /// The number of operators.
        operators: u64,
        /// The most changed members that were measured.
        most: u64,
    },
    /// More changed members than operators.
    #[error("{changed} changed members: found {operators} operators, so pass at most {operators}")]
    ChangedOperators {
        /// The number in the question.
        changed: f64,
        /// The number of operators.
        operators: u64,
    },
    /// More results than a transaction can carry.
    #[error("{results} results: nodes keep no transaction of more than 131,072 bytes, enough for {most}; pass fewer")]
    Results {
        /// The number in the question.
        results: u64,
        /// How many fit, whatever the keys.
        most: u64,
    },
    /// A number is not one, is negative, zero where it must not be, or a part above 1.
    #[error("{what}: found {found}, expected {expected}")]
    Number {
        /// What the number is of.
        what: &'static str,
        /// The number in the question.
        found: f64,
        /// Which numbers are right.
        expected: &'static str,
    },
}

/// So many quorums were measured in one call of a hub, for each number of operators.
const HUB_QUORUMS: u64 = 10;
/// The number of operators with which many numbers of changed members were measured.
const MANY_CHANGES: u64 = 100;
/// The rows of EigenLayer's checker, rebuilt.
const EIGENLAYER: &str = "check-signatures";
/// The rows of the drop-in after `extend`.
const DROP_IN_PROVED: &str = "drop-in-proved";
/// What a consumer of EigenLayer pays: the rows of each way.
const OF_EIGENLAYER: [(CostWay, &str); 4] = [
    (CostWay::EigenLayer, EIGENLAYER),
    (CostWay::EigenLayerProxies, "check-signatures-proxies"),
    (CostWay::DropInProved, DROP_IN_PROVED),
    (CostWay::DropIn, "drop-in"),
];

impl CostQuestion {
    /// What each way costs that was measured, and where another becomes the cheapest.
    ///
    /// # Errors
    /// [`CostError`].
    pub fn answer(&self) -> Result<SettlementCosts, CostError> {
        self.check()?;
        let mut lines = Vec::new();
        for keys in KeyGroup::ALL {
            let one = quorum(keys, self.operators, self.changed)?;
            lines.push(self.line(CostWay::Instant, Some(keys), 1, one));
            if self.results > 1
                && let Some(all) = one_signature(keys, self.operators, self.changed, self.results)?
            {
                lines.push(self.line(CostWay::OneSignature, Some(keys), self.results, all));
            }
            let quorums = self.results.min(HUB_QUORUMS);
            if quorums > 1
                && let Some(all) = hub(keys, self.operators, self.changed, quorums)?
            {
                lines.push(self.line(CostWay::Hub, Some(keys), quorums, all));
            }
            if let Some([post, dispute]) = posting(keys, self.operators, self.changed, self.results)? {
                lines.push(self.line(CostWay::Posting, Some(keys), self.results, post + self.demanded * dispute));
            }
        }
        for (way, what) in OF_EIGENLAYER {
            if let Some(gas) = self.of_eigenlayer(what) {
                lines.push(self.line(way, None, 1, gas));
            }
        }
        lines.sort_by(|one, other| one.gas.total_cmp(&other.gas));
        let postings = lines.iter().any(|line| line.way == CostWay::Posting);
        let waiting = self.rate.filter(|_| postings).map(|rate| {
            let within = |windows: f64| ((windows * self.window * rate / self.results as f64).ceil() as u64).max(1);
            WaitingPostings { waiting: within(1.0), slots: within(3.0) }
        });
        let rows = of("quorum", KeyGroup::Bn254G2.name());
        let measured = around(&sizes(&rows), self.operators).unwrap_or((self.operators, self.operators));
        Ok(SettlementCosts { lines, break_evens: self.break_evens()?, measured, waiting })
    }

    fn check(&self) -> Result<(), CostError> {
        let is_number = |number: f64| number.is_finite() && number >= 0.0;
        let wrong = |what, found, expected| Err(CostError::Number { what, found, expected });
        let rows = of("quorum", KeyGroup::Bn254G2.name());
        let sizes = sizes(&rows);
        let (least, most) = (sizes.first().copied().unwrap_or(0), sizes.last().copied().unwrap_or(0));
        if !(least..=most).contains(&self.operators) {
            return Err(CostError::Operators { operators: self.operators, least, most });
        }
        let Self { changed, operators, .. } = *self;
        if !is_number(changed) {
            return wrong("the changed members (--changed)", changed, "a number from 0 on");
        }
        if changed > operators as f64 {
            return Err(CostError::ChangedOperators { changed, operators });
        }
        if self.results == 0 {
            return wrong("the results (--results)", 0.0, "at least 1");
        }
        if !is_number(self.window) || self.window == 0.0 {
            return wrong("the window (--window)", self.window, "hours above 0");
        }
        if !is_number(self.demanded) || self.demanded > 1.0 {
            let what = "the part of the postings that is demanded (--demanded)";
            return wrong(what, self.demanded, "a part from 0 to 1, which is 0% to 100%");
        }
        if let Some(rate) = self.rate.filter(|rate| !is_number(*rate) || *rate == 0.0) {
            return wrong("the rate (--rate)", rate, "results an hour, above 0");
        }
        let calls = KeyGroup::ALL.into_iter().filter_map(|keys| ResultsCalls::of(keys, self.operators, self.changed));
        // Far below the most gas of a transaction (EIP-7825), of which a result takes about 1,280.
        let most = calls.map(|calls| calls.most_results()).min().unwrap_or(0);
        if self.results > most {
            return Err(CostError::Results { results: self.results, most });
        }
        Ok(())
    }

    /// A check in the place of EigenLayer's, or theirs. `None` outside of the rows.
    fn of_eigenlayer(&self, what: &str) -> Option<f64> {
        let rows = of(what, "-");
        around(&sizes(&rows), self.operators)?;
        // It costs as much for each operator who did not sign, whatever the number of operators. It starts from all of them, so
        // these are those who changed.
        let mut by_absent: Vec<_> = rows.iter().map(|row| (row.number, row.gas)).collect();
        by_absent.sort_by(|one, other| one.0.total_cmp(&other.0));
        between(&by_absent, self.changed)
    }

    /// After how many checks by the drop-in its snapshot is paid. `None` outside of the rows, or if a check saves nothing.
    fn paid_snapshot(&self) -> Option<BreakEven> {
        let [theirs, ours] = [EIGENLAYER, DROP_IN_PROVED].map(|what| self.of_eigenlayer(what));
        let saved = theirs? - ours?;
        let snapshot = by_size(&of("drop-in-snapshot", "-"), self.operators, first)?;
        (saved > 0.0).then(|| BreakEven::Snapshot { checks: (snapshot / saved).ceil() as u64 })
    }

    fn line(&self, way: CostWay, key_group: Option<KeyGroup>, results: u64, gas: f64) -> CostLine {
        let final_after = if way == CostWay::Posting { self.window } else { 0.0 };
        let waits = self.rate.map(|rate| (results - 1) as f64 / rate);
        CostLine { way, key_group, results, gas: gas / results as f64, final_after, waits }
    }

    fn break_evens(&self) -> Result<Vec<BreakEven>, CostError> {
        let mut found = Vec::new();
        let cheapest = |changed: u64| -> Option<KeyGroup> {
            let gas = |keys: KeyGroup| quorum(keys, self.operators, changed as f64).ok();
            let priced = KeyGroup::ALL.into_iter().filter_map(|keys| Some((gas(keys)?, keys)));
            priced.min_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, keys)| keys)
        };
        let mut last = cheapest(0);
        for changed in 1..=self.operators {
            let now = cheapest(changed);
            match (last, now) {
                (Some(than), Some(cheaper)) if than != cheaper => {
                    found.push(BreakEven::Keys { from: changed, cheaper, than });
                }
                (_, None) => break,
                _ => {}
            }
            last = now;
        }
        for quorums in 2..=HUB_QUORUMS {
            let saves = |keys| -> Result<bool, CostError> {
                let alone = quorums as f64 * quorum(keys, self.operators, self.changed)?;
                Ok(hub(keys, self.operators, self.changed, quorums)?.is_some_and(|gas| gas < alone))
            };
            if KeyGroup::ALL.into_iter().map(saves).collect::<Result<Vec<_>, _>>()?.contains(&true) {
                found.push(BreakEven::Hub { from: quorums });
                break;
            }
        }
        found.extend(self.paid_snapshot());
        let (mut proven, mut postings) = (f64::INFINITY, Vec::new());
        for keys in KeyGroup::ALL {
            let all = one_signature(keys, self.operators, self.changed, self.results)?;
            proven = all.map_or(proven, |gas| gas.min(proven));
            postings.extend(posting(keys, self.operators, self.changed, self.results)?);
        }
        // With the keys of which the largest part may be demanded.
        let parts = postings.into_iter().map(|[post, dispute]| ((proven - post) / dispute).max(0.0));
        found.extend(parts.max_by(f64::total_cmp).map(|most| BreakEven::Demanded { most }));
        Ok(found)
    }
}

/// A quorum of so many operators, of whom so many changed: one result, in one transaction.
///
/// Gas between the rows of the two numbers of operators around this one, with the same part of changed members at both. Beyond the
/// last row of a number of operators, further changed members cost what they cost with [`MANY_CHANGES`] operators.
fn quorum(keys: KeyGroup, operators: u64, changed: f64) -> Result<f64, CostError> {
    let rows = of("quorum", keys.name());
    let (sizes, many) = (sizes(&rows), points(&rows, MANY_CHANGES));
    let (least, most) = (sizes.first().copied().unwrap_or(0), sizes.last().copied().unwrap_or(0));
    let (below, above) = around(&sizes, operators).ok_or(CostError::Operators { operators, least, most })?;
    let part = changed / operators as f64;
    let at = |size: u64| {
        let (here, changed) = (points(&rows, size), part * size as f64);
        let last = *here.last()?;
        if changed <= last.0 {
            return between(&here, changed);
        }
        Some(last.1 + between(&many, changed)? - between(&many, last.0)?)
    };
    let most_at = |size: u64| {
        let last = |points: &[(f64, f64)]| points.last().map_or(0.0, |last| last.0);
        last(&points(&rows, size)).max(last(&many)) / size as f64
    };
    let (Some(low), Some(high)) = (at(below), at(above)) else {
        let most = (most_at(below).min(most_at(above)) * operators as f64) as u64;
        return Err(CostError::Changed { changed, operators, most });
    };
    Ok(line(below, low, above, high, operators))
}

/// The straight line between two numbers of operators.
fn line(below: u64, low: f64, above: u64, high: f64, operators: u64) -> f64 {
    between(&[(below as f64, low), (above as f64, high)], operators as f64).unwrap_or(low)
}

/// The gas of rows that differ by the number of operators, each size's by a function of its points. `None` outside of the rows.
fn by_size(rows: &[CostRow], operators: u64, gas: impl Fn(&[(f64, f64)]) -> Option<f64>) -> Option<f64> {
    let (below, above) = around(&sizes(rows), operators)?;
    Some(line(below, gas(&points(rows, below))?, above, gas(&points(rows, above))?, operators))
}

/// The gas of each size's first row.
fn first(points: &[(f64, f64)]) -> Option<f64> {
    points.first().map(|point| point.1)
}

/// Results under one signature, in one transaction. `None` without rows.
fn one_signature(keys: KeyGroup, operators: u64, changed: f64, results: u64) -> Result<Option<f64>, CostError> {
    let one_result = quorum(keys, operators, changed)?;
    if results == 1 {
        return Ok(Some(one_result));
    }
    let of_results = points(&of("results", keys.name()), 0);
    let further = by_size(&of("further", keys.name()), operators, first);
    let calls = ResultsCalls::of(keys, operators, changed);
    let (&[(_, one), (_, two)], Some(further), Some(calls)) = (&of_results[..], further, calls) else {
        return Ok(None);
    };
    let gas = one_result + (two - one) + further * (results - 2) as f64;
    Ok(Some(paid(gas, calls.settle, results)))
}

/// What is paid for a transaction that takes so much gas by the rows, whose call carries so many results.
fn paid(gas: f64, call: Calldata, results: u64) -> f64 {
    gas::paid(gas.round() as u64, with_results(call, results).floor()) as f64
}

/// So many quorums in one call of a hub, [`HUB_QUORUMS`] at most. `None` without rows: there are no hubs for such keys.
fn hub(keys: KeyGroup, operators: u64, changed: f64, quorums: u64) -> Result<Option<f64>, CostError> {
    let calls = points(&of("hub of", keys.name()), 0);
    let each = by_size(&of("hub", keys.name()), operators, first);
    let (Some(each), Some(of_ten), Some(of_these)) =
        (each, between(&calls, HUB_QUORUMS as f64), between(&calls, quorums as f64))
    else {
        return Ok(None);
    };
    let tenth = quorum(keys, operators, operators as f64 / 10.0)?;
    let members = each - of_ten / HUB_QUORUMS as f64 + quorum(keys, operators, changed)? - tenth;
    Ok(Some(of_these + quorums as f64 * members))
}

/// A posting with so many results; and what it costs in addition if its proof is demanded. `None` without rows.
fn posting(keys: KeyGroup, operators: u64, changed: f64, results: u64) -> Result<Option<[f64; 2]>, CostError> {
    let rows = of("post", keys.name());
    // What a further result costs, where several were measured.
    let each = sizes(&rows).into_iter().find_map(|size| match points(&rows, size)[..] {
        [one, .., last] => Some((last.1 - one.1) / (last.0 - one.0)),
        _ => None,
    });
    let further = (results - 1) as f64;
    let post = by_size(&rows, operators, first).filter(|_| results == 1 || each.is_some());
    let [demanded, proven, settled] =
        ["demanded", "proven", "settled"].map(|what| first(&points(&of(what, keys.name()), 0)));
    let calls = ResultsCalls::of(keys, operators, changed);
    let (Some(post), Some(demanded), Some(proven), Some(settled), Some(calls)) =
        (post, demanded, proven, settled, calls)
    else {
        return Ok(None);
    };
    let post = paid(post + further * each.unwrap_or(0.0), calls.post, results);
    // A proof logs none of the results.
    let hashed = further * (RESULT.gas() + PASSED_WORD) as f64;
    let proof = quorum(keys, operators, changed)? + proven - settled + hashed;
    Ok(Some([post, demanded + paid(proof, calls.prove, results)]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gas::{MOST_BYTES, Measured, Start, Steps, Storing};

    const QUESTION: CostQuestion =
        CostQuestion { operators: 100, changed: 9.0, results: 10, window: 24.0, demanded: 0.0, rate: Some(60.0) };

    fn gas(costs: &SettlementCosts, way: CostWay, keys: KeyGroup) -> f64 {
        costs.lines.iter().find(|line| line.way == way && line.key_group == Some(keys)).unwrap().gas
    }

    /// What was measured is what is said: 100 operators of whom 9 missed the task, ten in a hub with 10 % changes.
    #[test]
    fn a_measured_number_is_the_measured_row() {
        let costs = QUESTION.answer().unwrap();
        let keys = KeyGroup::Bls12381G2Nu;
        assert_eq!(costs.measured, (100, 100));
        assert!((gas(&costs, CostWay::Instant, keys) - 163_837.8).abs() < 1.0, "{costs:?}");
        let flips = CostQuestion { changed: 10.0, ..QUESTION }.answer().unwrap();
        assert!((gas(&flips, CostWay::Hub, keys) - 81_445.0).abs() < 1.0, "{flips:?}");
        // One signature: 2,679 more for the second result, and 788 for each of the other eight.
        let batch = 10.0 * gas(&costs, CostWay::OneSignature, keys);
        assert!((batch - (163_837.8 + 2_679.0 + 8.0 * 788.0)).abs() < 1.0, "{batch}");
        let eigenlayer = costs.lines.iter().find(|line| line.way == CostWay::EigenLayer).unwrap();
        assert!((eigenlayer.gas - 338_199.2).abs() < 1.0, "{eigenlayer:?}");
        assert!(costs.lines.windows(2).all(|pair| pair[0].gas <= pair[1].gas), "the cheapest first");
    }

    #[test]
    fn between_rows_a_line_is_drawn_and_said() {
        let at = |operators: u64| {
            let changed = operators as f64 / 10.0;
            let costs = CostQuestion { operators, changed, ..QUESTION }.answer().unwrap();
            (gas(&costs, CostWay::Instant, KeyGroup::Bn254G1), costs.measured)
        };
        let (low, middle, high) = (at(100), at(150), at(200));
        assert_eq!((low.1, middle.1, high.1), ((100, 100), (100, 200), (200, 200)));
        assert!((middle.0 - (low.0 + high.0) / 2.0).abs() < 1.0, "{low:?} {middle:?} {high:?}");
    }

    #[test]
    fn what_was_not_measured_is_refused() {
        let refused = |question: CostQuestion| question.answer().unwrap_err().to_string();
        assert!(
            refused(CostQuestion { operators: 1_001, ..QUESTION })
                .starts_with("1001 operators: gas was measured with 4 to 1000")
        );
        assert!(refused(CostQuestion { operators: 3, changed: 0.0, ..QUESTION }).contains("3 operators"));
        assert!(refused(CostQuestion { changed: 33.0, ..QUESTION }).contains("at most 32"));
        assert!(refused(CostQuestion { changed: 101.0, ..QUESTION }).contains("pass at most 100"));
        let error = CostQuestion { results: 30_000, ..QUESTION }.answer().unwrap_err();
        let CostError::Results { most, .. } = error else { panic!("{error}") };
        assert!((4_000..4_064).contains(&most) && error.to_string().contains("131,072 bytes"), "{error}");
        assert!(CostQuestion { results: most, ..QUESTION }.answer().is_ok(), "so many are enough: {error}");
        assert!(CostQuestion { results: most + 1, ..QUESTION }.answer().is_err(), "{error}");
        for (wrong, what) in [
            (CostQuestion { changed: f64::NAN, ..QUESTION }, "changed"),
            (CostQuestion { changed: 101.0, ..QUESTION }, "changed"),
            (CostQuestion { results: 0, ..QUESTION }, "results"),
            (CostQuestion { window: 0.0, ..QUESTION }, "window"),
            (CostQuestion { demanded: 1.1, ..QUESTION }, "demanded"),
            (CostQuestion { rate: Some(0.0), ..QUESTION }, "rate"),
        ] {
            assert!(refused(wrong).contains(what), "{wrong:?}");
        }
    }

    /// Beyond about 240 results of one signature and 25 of a posting, the least price of the calldata is what a transaction pays.
    #[test]
    fn many_results_pay_the_floor_of_their_calldata() {
        let (keys, bitmap) = (KeyGroup::Bls12381G2Nu, 13);
        let start = Start::Newest { bitmap };
        let steps = Steps { start, bitmap, paged: 9, calls: 1, key_pages: 1, listed: 1, ..Steps::default() };
        let is_near = |gas: f64, expected: f64, percent: f64| (gas / expected - 1.0).abs() * 100.0 < percent;
        for (results, is_floor) in [(50, false), (300, true), (3_000, true)] {
            let call = with_results(ResultsCalls::of(keys, 100, 9.0).unwrap().settle, results);
            assert!(call.len() <= MOST_BYTES, "{results}");
            let measured = Measured::default().settle(keys, call, results, 1, &steps, Storing::Nowhere);
            let priced = one_signature(keys, 100, 9.0, results).unwrap().unwrap();
            assert!(is_near(priced, measured.total() as f64, 3.0), "{results}: {priced} and {measured:?}");
            assert_eq!(priced as u64 == gas::paid(0, call.floor()), is_floor, "{results}: {priced}");
        }
        // What transactions of such calldata pay.
        for (way, results, expected) in [
            (CostWay::OneSignature, 500, 1_363.0),
            (CostWay::OneSignature, 1_000, 1_322.0),
            (CostWay::Posting, 60, 1_829.0),
            (CostWay::Posting, 500, 1_346.0),
        ] {
            let costs = CostQuestion { results, ..QUESTION }.answer().unwrap();
            let gas = gas(&costs, way, keys);
            assert!(is_near(gas, expected, 1.0), "{way:?} of {results}: {gas}");
        }
        // A proof of all results passes them again.
        let dispute = |results| posting(keys, 100, 9.0, results).unwrap().unwrap()[1];
        assert!(dispute(60) - dispute(1) > 59.0 * 512.0);
        assert!(dispute(3_000) - dispute(1) > 3_000.0 * 1_200.0);
    }

    /// The keys cross where the document says so, and two quorums are enough for a hub.
    #[test]
    fn break_evens_are_where_the_lines_cross() {
        let costs = QUESTION.answer().unwrap();
        let keys = costs.break_evens.iter().find_map(|found| match found {
            BreakEven::Keys { from, cheaper: KeyGroup::Bn254G1, than: KeyGroup::Bls12381G2Nu } => Some(*from),
            _ => None,
        });
        let from = keys.unwrap();
        assert!((20..=32).contains(&from), "{from}");
        let instant = |changed: u64, keys| quorum(keys, 100, changed as f64).unwrap();
        assert!(instant(from, KeyGroup::Bn254G1) < instant(from, KeyGroup::Bls12381G2Nu));
        assert!(instant(from - 1, KeyGroup::Bn254G1) >= instant(from - 1, KeyGroup::Bls12381G2Nu));
        assert!(costs.break_evens.contains(&BreakEven::Hub { from: 2 }), "{:?}", costs.break_evens);
    }

    /// Whoever uses EigenLayer's checker sees what it costs beside the drop-in for it, where both were measured.
    #[test]
    fn the_drop_in_stands_beside_what_it_replaces() {
        let costs = CostQuestion { changed: 10.0, ..QUESTION }.answer().unwrap();
        let gas = |wanted: CostWay| costs.lines.iter().find(|line| line.way == wanted).map(|line| line.gas);
        assert_eq!((gas(CostWay::DropInProved), gas(CostWay::DropIn)), (Some(173_264.0), Some(192_811.0)));
        assert!(gas(CostWay::EigenLayer).unwrap() > 2.0 * 173_264.0 && gas(CostWay::EigenLayerProxies).is_some());
        // A snapshot of 100 operators costs 3,125,255.
        assert!(costs.break_evens.contains(&BreakEven::Snapshot { checks: 18 }), "{:?}", costs.break_evens);
        // It was measured with at most 200 operators, of whom 1 to 20 were absent.
        for (operators, changed) in [(1_000, 10.0), (100, 0.5), (200, 21.0)] {
            let costs = CostQuestion { operators, changed, ..QUESTION }.answer().unwrap();
            let is_ours = |line: &CostLine| matches!(line.way, CostWay::DropIn | CostWay::DropInProved);
            assert!(!costs.lines.iter().any(is_ours), "{operators} operators, {changed} absent: {costs:?}");
            assert!(!costs.break_evens.iter().any(|found| matches!(found, BreakEven::Snapshot { .. })));
        }
    }

    /// A posting is printed only if postings were measured. Its costs rise with the part that is demanded, and meet those of a
    /// proof at the break-even.
    #[test]
    fn postings_cost_what_was_measured_and_more_if_they_are_demanded() {
        let costs = QUESTION.answer().unwrap();
        let Some(most) = costs.break_evens.iter().find_map(|found| match found {
            BreakEven::Demanded { most } => Some(*most),
            _ => None,
        }) else {
            assert!(of("post", KeyGroup::Bls12381G2Nu.name()).is_empty() && costs.waiting.is_none());
            return;
        };
        // 60 results an hour, ten in a posting, for a day.
        assert_eq!(costs.waiting, Some(WaitingPostings { waiting: 144, slots: 432 }));
        let cheapest = |demanded: f64| {
            let costs = CostQuestion { demanded, ..QUESTION }.answer().unwrap();
            let of = |wanted: CostWay| costs.lines.iter().find(|line| line.way == wanted).unwrap().gas;
            (of(CostWay::Posting), of(CostWay::OneSignature))
        };
        let (post, proven) = cheapest(most.min(1.0));
        assert!(most > 1.0 && post < proven || (post - proven).abs() < 1.0, "{most}: {post} and {proven}");
        assert!(cheapest(0.0).0 < post);
    }
}
