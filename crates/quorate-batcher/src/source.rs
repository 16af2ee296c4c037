//! Sources: who sent false claims, who is suspected, who is banned.
//!
//! A state machine without a clock: the caller says what time it is.

use std::{
    collections::{HashMap, VecDeque},
    time::{Duration, Instant},
};

use quorate::{ClaimBytes, Reason, SourceId};

use crate::settings::SourceSettings;

/// The scores of all sources that sent a false claim.
#[derive(Debug)]
pub(crate) struct Sources {
    settings: SourceSettings,
    scores: HashMap<SourceId, Score>,
}

/// What is remembered of a source.
#[derive(Debug)]
struct Score {
    /// At `at`; it halves with every half-life.
    score: f64,
    at: Instant,
    banned_until: Option<Instant>,
    false_claims: u64,
    bans: u64,
    evidence: VecDeque<Evidence>,
}

/// How a source is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(clippy::exhaustive_enums, reason = "these are the three ways to treat a source")]
pub enum Standing {
    /// Its claims share batches with those of others.
    Trusted,
    /// Its claims share batches with those of other suspects alone.
    Suspect,
    /// Its claims are refused.
    Banned,
}

/// A claim that was proven false.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// The claim; `None` if it takes more than 16 KiB.
    pub claim: Option<ClaimBytes>,
    /// Why it is false.
    pub reason: Reason,
    /// When it was proven false.
    pub at: Instant,
}

/// What is known of a source that sent false claims.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SourceReport {
    /// The source.
    pub source: SourceId,
    /// How it is treated now.
    pub standing: Standing,
    /// How many false claims it sent, each halved with every half-life.
    pub score: f64,
    /// How many false claims it sent since it was first remembered.
    pub false_claims: u64,
    /// How often it was banned.
    pub bans: u64,
    /// How much longer it is banned; zero if it is not.
    pub banned_for: Duration,
    /// Its last false claims, at most four, the newest last.
    pub evidence: Vec<Evidence>,
}

impl Sources {
    pub(crate) fn new(settings: SourceSettings) -> Self {
        Self { settings, scores: HashMap::new() }
    }

    pub(crate) fn standing(&self, source: &SourceId, now: Instant) -> Standing {
        self.scores.get(source).map_or(Standing::Trusted, |score| score.standing(&self.settings, now))
    }

    /// How many more false claims it takes to ban the source: zero if it is banned.
    pub(crate) fn until_ban(&self, source: &SourceId, now: Instant) -> usize {
        let score = match self.scores.get(source) {
            Some(score) if score.standing(&self.settings, now) == Standing::Banned => return 0,
            Some(score) => score.value(&self.settings, now),
            None => 0.0,
        };
        ((self.settings.ban_at - score).ceil() as usize).max(1)
    }

    /// Counts a claim that was proven false. `true` if that bans the source now.
    pub(crate) fn found_false(&mut self, claim: &ClaimBytes, reason: Reason, now: Instant) -> bool {
        let Some(source) = &claim.source else { return false };
        if !self.scores.contains_key(source) {
            self.make_room(now);
        }
        let score = self.scores.entry(source.clone()).or_insert_with(|| Score::new(now));
        score.score = score.value(&self.settings, now) + 1.0;
        score.at = now;
        score.false_claims += 1;
        if score.evidence.len() == EVIDENCE {
            score.evidence.pop_front();
        }
        let claim = (claim.memory() <= EVIDENCE_BYTES).then(|| claim.clone());
        score.evidence.push_back(Evidence { claim, reason, at: now });
        let bans = score.score >= self.settings.ban_at && score.standing(&self.settings, now) != Standing::Banned;
        if bans {
            score.bans += 1;
            score.banned_until = now.checked_add(self.settings.ban);
        }
        bans
    }

    /// Bans a source for a time. An operator's word, which changes no score.
    pub(crate) fn ban(&mut self, source: SourceId, now: Instant, time: Duration) {
        if !self.scores.contains_key(&source) {
            self.make_room(now);
        }
        let score = self.scores.entry(source).or_insert_with(|| Score::new(now));
        score.bans += 1;
        // A time that no clock reaches is a ban for as long as the program runs.
        score.banned_until = now.checked_add(time).or_else(|| now.checked_add(LONGEST_BAN));
    }

    /// Forgets what a source did. `true` if there was something.
    pub(crate) fn pardon(&mut self, source: &SourceId) -> bool {
        self.scores.remove(source).is_some()
    }

    /// What is known, the banned ones and the highest scores first.
    pub(crate) fn reports(&self, now: Instant) -> Vec<SourceReport> {
        let mut reports: Vec<_> = self.scores.iter().map(|(source, s)| s.report(source, &self.settings, now)).collect();
        reports.sort_by(|a, b| {
            b.standing.cmp(&a.standing).then(b.score.total_cmp(&a.score)).then_with(|| a.source.cmp(&b.source))
        });
        reports
    }

    pub(crate) fn report(&self, source: &SourceId, now: Instant) -> Option<SourceReport> {
        self.scores.get(source).map(|score| score.report(source, &self.settings, now))
    }

    /// Makes room for one more source: forgets a half, those that matter least.
    fn make_room(&mut self, now: Instant) {
        if self.scores.len() < self.settings.most {
            return;
        }
        let settings = &self.settings;
        let mut order: Vec<_> = self
            .scores
            .iter()
            .map(|(source, score)| (score.standing(settings, now), score.value(settings, now), source.clone()))
            .collect();
        order.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        for (_, _, source) in order.into_iter().take(settings.most.div_ceil(2)) {
            self.scores.remove(&source);
        }
    }
}

impl Score {
    fn new(now: Instant) -> Self {
        Self { score: 0.0, at: now, banned_until: None, false_claims: 0, bans: 0, evidence: VecDeque::new() }
    }

    fn value(&self, settings: &SourceSettings, now: Instant) -> f64 {
        let half_lives = now.saturating_duration_since(self.at).as_secs_f64() / settings.half_life.as_secs_f64();
        self.score * (-half_lives).exp2()
    }

    fn standing(&self, settings: &SourceSettings, now: Instant) -> Standing {
        if self.banned_until.is_some_and(|until| now < until) {
            Standing::Banned
        } else if self.value(settings, now) >= settings.suspect_at {
            Standing::Suspect
        } else {
            Standing::Trusted
        }
    }

    fn report(&self, source: &SourceId, settings: &SourceSettings, now: Instant) -> SourceReport {
        SourceReport {
            source: source.clone(),
            standing: self.standing(settings, now),
            score: self.value(settings, now),
            false_claims: self.false_claims,
            bans: self.bans,
            banned_for: self.banned_until.map_or(Duration::ZERO, |until| until.saturating_duration_since(now)),
            evidence: self.evidence.iter().cloned().collect(),
        }
    }
}

/// How many of a source's last false claims are kept.
const EVIDENCE: usize = 4;
/// A larger claim is not kept as evidence.
const EVIDENCE_BYTES: usize = 16 << 10;
/// A ban without an end.
const LONGEST_BAN: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

#[cfg(test)]
mod tests {
    use quorate::{MinPk, Suite};

    use super::*;

    fn claim(source: u64) -> ClaimBytes {
        ClaimBytes { source: Some(source.into()), ..ClaimBytes::single(MinPk::Eth2.any(), &[1], b"m", &[2]) }
    }

    fn sources(most: usize) -> (Sources, Instant) {
        (Sources::new(SourceSettings { most, ..SourceSettings::default() }), Instant::now())
    }

    /// One false claim makes a suspect until the score has halved, three make a ban, and a banned source is a suspect
    /// when its ban ends.
    #[test]
    fn scores_halve_and_bans_end() {
        let (mut sources, start) = sources(10);
        let (peer, minutes) = (SourceId::from(1), |n: u32| start + Duration::from_secs(60 * u64::from(n)));
        assert_eq!((sources.standing(&peer, start), sources.until_ban(&peer, start)), (Standing::Trusted, 3));
        assert!(!sources.found_false(&claim(1), Reason::Mismatch, start));
        assert_eq!((sources.standing(&peer, start), sources.until_ban(&peer, start)), (Standing::Suspect, 2));
        assert_eq!(sources.standing(&peer, minutes(9)), Standing::Suspect);
        assert_eq!(sources.standing(&peer, minutes(11)), Standing::Trusted);
        // It halved, so one more is not enough.
        assert!(!sources.found_false(&claim(1), Reason::Mismatch, minutes(10)));
        assert_eq!(sources.until_ban(&peer, minutes(10)), 1);
        assert!(sources.found_false(&claim(1), Reason::Mismatch, minutes(10)));
        assert_eq!(
            (sources.standing(&peer, minutes(19)), sources.until_ban(&peer, minutes(19))),
            (Standing::Banned, 0)
        );
        // A claim that was in a batch when the ban came counts, but bans no second time.
        assert!(!sources.found_false(&claim(1), Reason::Mismatch, minutes(10)));
        assert_eq!(sources.standing(&peer, minutes(21)), Standing::Suspect);
        let report = sources.report(&peer, minutes(10)).unwrap();
        assert_eq!((report.false_claims, report.bans, report.evidence.len()), (4, 1, EVIDENCE));
        assert_eq!(report.banned_for, Duration::from_secs(600));
        assert!(sources.pardon(&peer) && !sources.pardon(&peer));
        assert_eq!(sources.standing(&peer, minutes(10)), Standing::Trusted);
    }

    /// Whoever errs now and then is never banned, however long it goes on.
    #[test]
    fn rare_false_claims_never_ban() {
        let (mut sources, start) = sources(10);
        for i in 0..100 {
            assert!(!sources.found_false(&claim(1), Reason::Mismatch, start + Duration::from_secs(900 * i)));
        }
        assert_eq!(sources.report(&1.into(), start).unwrap().false_claims, 100);
    }

    /// Whatever order time comes in, nothing panics, and time that goes back changes no standing for the better.
    #[test]
    fn clock_set_back() {
        let (mut sources, start) = sources(10);
        let later = start + Duration::from_secs(1000);
        for _ in 0..3 {
            sources.found_false(&claim(1), Reason::Mismatch, later);
        }
        assert_eq!(sources.standing(&1.into(), start), Standing::Banned);
    }

    /// Sources that an attacker makes up do not push out those that are banned, and the memory is bounded.
    #[test]
    fn invented_sources_are_forgotten_first() {
        let (mut sources, now) = sources(20);
        for source in 0..5 {
            for _ in 0..3 {
                sources.found_false(&claim(source), Reason::Mismatch, now);
            }
        }
        for source in 100..500 {
            sources.found_false(&claim(source), Reason::Mismatch, now);
            assert!(sources.scores.len() <= 20);
        }
        assert!((0..5).all(|source| sources.standing(&source.into(), now) == Standing::Banned));
        assert_eq!(sources.reports(now)[0].standing, Standing::Banned);
    }

    #[test]
    fn an_operators_ban_has_no_end_that_overflows() {
        let (mut sources, now) = sources(10);
        sources.ban(7.into(), now, Duration::MAX);
        assert_eq!(sources.standing(&7.into(), now + Duration::from_secs(1 << 30)), Standing::Banned);
        assert!(!sources.found_false(&ClaimBytes { source: None, ..claim(1) }, Reason::Mismatch, now));
        assert_eq!(sources.reports(now).len(), 1);
    }

    #[test]
    fn large_claims_are_no_evidence() {
        let (mut sources, now) = sources(10);
        let large = ClaimBytes { signature: vec![0; EVIDENCE_BYTES], ..claim(1) };
        sources.found_false(&large, Reason::Mismatch, now);
        assert!(sources.report(&1.into(), now).unwrap().evidence[0].claim.is_none());
    }
}
