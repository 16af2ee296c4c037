//! Sources: who sent false claims, who is suspected, who is banned.
//!
//! A state machine without a clock: the caller says what time it is.

use std::{
    borrow::Cow,
    collections::{HashMap, VecDeque},
    time::{Duration, Instant},
};

use quorate::{ClaimBytes, PublicKeys, Reason, SourceId, claim_bytes::memory_of_element};
use quorate_host::clipped;

use crate::settings::SourceSettings;

/// The scores of all sources that sent a false claim.
#[derive(Debug)]
pub(crate) struct Sources {
    settings: SourceSettings,
    scores: HashMap<SourceId, Score>,
    /// The score of all claims that name no source.
    nobody: Option<Fading>,
    /// How many of the sources were seen once: since their last false claim nothing more came from them.
    once: usize,
    /// The length of all names.
    names: usize,
    /// The memory of all claims that are kept as evidence.
    evidence: usize,
}

/// A number that halves with every half-life.
#[derive(Clone, Copy, Debug)]
struct Fading {
    value: f64,
    at: Instant,
}

/// What is remembered of a source.
#[derive(Debug)]
struct Score {
    score: Fading,
    banned_until: Option<Instant>,
    /// Whether a person banned it.
    by_word: bool,
    /// Whether something came from it after its last false claim. A name that was made up for one batch is not seen again.
    again: bool,
    false_claims: u64,
    bans: u64,
    evidence: VecDeque<Evidence>,
}

/// How a source is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    /// The claim; `None` if it takes more than 16 KiB. If it named members of a key set, their keys stand in their place.
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
    /// Whether the ban is a person's word, and not for false claims.
    pub by_word: bool,
    /// Its last false claims, at most four, the newest last.
    pub evidence: Vec<Evidence>,
}

/// A ban, to be written down by a program that stops and read by one that starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ban {
    /// Who is banned.
    pub source: SourceId,
    /// For how much longer.
    pub left: Duration,
    /// Whether it is a person's word, and not for false claims.
    pub by_word: bool,
    /// Whether something came from it since it was banned.
    pub again: bool,
    /// How often it was banned.
    pub bans: u64,
    /// How many false claims it sent.
    pub false_claims: u64,
}

/// The name of a source for a log or a page: at most 200 characters, each as [`plain`](mod@quorate_host::plain) shows it. Liars choose their
/// names.
#[must_use]
pub fn shown_name(source: &SourceId) -> String {
    clipped(&source.to_string(), LONGEST_SHOWN)
}

impl Sources {
    pub(crate) fn new(settings: SourceSettings) -> Self {
        Self { settings, scores: HashMap::new(), nobody: None, once: 0, names: 0, evidence: 0 }
    }

    /// Judges by other settings from now on. If fewer sources are to be remembered, the rest goes with the next new one.
    pub(crate) fn set(&mut self, settings: SourceSettings) {
        self.settings = settings;
    }

    pub(crate) fn standing(&self, source: &SourceId, now: Instant) -> Standing {
        self.scores.get(source).map_or(Standing::of_unknown(source), |score| score.standing(&self.settings, now))
    }

    /// The standing of a source of which a claim comes.
    pub(crate) fn arrives(&mut self, source: &SourceId, now: Instant) -> Standing {
        let Some(score) = self.scores.get_mut(source) else { return Standing::of_unknown(source) };
        if !score.again && now.saturating_duration_since(score.score.at) > AGAIN {
            self.once -= usize::from(score.is_once());
            score.again = true;
        }
        score.standing(&self.settings, now)
    }

    /// Whether claims that name no source would be suspects: false ones came, of which nobody else can be blamed.
    pub(crate) fn suspects_nobody(&self, now: Instant) -> bool {
        self.nobody.is_some_and(|score| score.after(&self.settings, now) >= self.settings.suspect_at)
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

    /// Counts a claim that was proven false. `true` if that bans its source now. Claims that name no source have a score together,
    /// which bans nobody.
    pub(crate) fn found_false(&mut self, claim: &ClaimBytes, reason: Reason, now: Instant) -> bool {
        let Some(source) = &claim.source else {
            let before = self.nobody.map_or(0.0, |score| score.after(&self.settings, now));
            self.nobody = Some(Fading { value: before + 1.0, at: now });
            return false;
        };
        self.remember(source, now);
        self.make_room_for_evidence();
        let Some(score) = self.scores.get_mut(source) else { return false };
        score.score = Fading { value: score.value(&self.settings, now) + 1.0, at: now };
        score.false_claims += 1;
        if score.evidence.len() == EVIDENCE {
            self.evidence -= score.evidence.pop_front().map_or(0, |oldest| oldest.memory());
        }
        let evidence = Evidence { claim: kept(claim), reason, at: now };
        self.evidence += evidence.memory();
        score.evidence.push_back(evidence);
        let bans = score.score.value >= self.settings.ban_at && score.standing(&self.settings, now) != Standing::Banned;
        if bans {
            score.bans += 1;
            score.banned_until = until(now, self.settings.ban);
            self.once += usize::from(score.by_word && !score.again);
            score.by_word = false;
        }
        bans
    }

    /// Bans a source for a time. An operator's word, which changes no score.
    pub(crate) fn ban(&mut self, source: &SourceId, now: Instant, time: Duration) {
        self.remember(source, now);
        let Some(score) = self.scores.get_mut(source) else { return };
        score.bans += 1;
        score.banned_until = until(now, time);
        self.once -= usize::from(score.is_once());
        score.by_word = true;
    }

    /// Forgets what a source did. `true` if there was something.
    pub(crate) fn pardon(&mut self, source: &SourceId) -> bool {
        self.forget(source)
    }

    /// The bans that have not ended, those that would be kept longest first.
    pub(crate) fn bans(&self, now: Instant) -> Vec<Ban> {
        let banned = self.scores.iter().filter(|(_, score)| score.standing(&self.settings, now) == Standing::Banned);
        let mut bans: Vec<_> = banned
            .map(|(source, score)| Ban {
                source: source.clone(),
                left: score.banned_for(now),
                by_word: score.by_word,
                again: score.again,
                bans: score.bans,
                false_claims: score.false_claims,
            })
            .collect();
        bans.sort_by(|a, b| {
            (b.by_word, b.again, b.left).cmp(&(a.by_word, a.again, a.left)).then_with(|| a.source.cmp(&b.source))
        });
        bans
    }

    /// Bans again whom [`bans`](Self::bans) told.
    pub(crate) fn restore(&mut self, ban: &Ban, now: Instant) {
        self.remember(&ban.source, now);
        let Some(score) = self.scores.get_mut(&ban.source) else { return };
        self.once -= usize::from(score.is_once());
        (score.by_word, score.again) = (ban.by_word, ban.again);
        self.once += usize::from(score.is_once());
        (score.bans, score.false_claims, score.banned_until) = (ban.bans, ban.false_claims, until(now, ban.left));
    }

    /// How many sources are banned.
    pub(crate) fn banned(&self, now: Instant) -> usize {
        self.scores.values().filter(|score| score.standing(&self.settings, now) == Standing::Banned).count()
    }

    /// What is known of the worst sources: the banned ones and the highest scores first. And how many sources there are in all.
    pub(crate) fn reports(
        &self,
        most: usize,
        of: impl Fn(&SourceId) -> bool,
        now: Instant,
    ) -> (Vec<SourceReport>, usize) {
        let rank = |score: &Score| (score.standing(&self.settings, now), score.value(&self.settings, now));
        let mut worst: Vec<_> = self
            .scores
            .iter()
            .filter(|(source, _)| of(source))
            .map(|(source, score)| (rank(score), source, score))
            .collect();
        worst.sort_by(|((standing, score), source, _), ((other_standing, other_score), other, _)| {
            other_standing.cmp(standing).then(other_score.total_cmp(score)).then_with(|| source.cmp(other))
        });
        let all = worst.len();
        (
            worst.into_iter().take(most).map(|(_, source, score)| score.report(source, &self.settings, now)).collect(),
            all,
        )
    }

    pub(crate) fn report(&self, source: &SourceId, now: Instant) -> Option<SourceReport> {
        self.scores.get(source).map(|score| score.report(source, &self.settings, now))
    }

    /// Makes sure that there is a score of a source, and room for it. A name of more than [`LONGEST_NAME`] gets none: to make room for it
    /// would forget too many others, bans included.
    fn remember(&mut self, source: &SourceId, now: Instant) {
        let (most, length) = (self.settings.most, length(source));
        if self.scores.contains_key(source) || length > LONGEST_NAME {
            return;
        }
        // Whoever makes up names gets no more than a half of what is remembered.
        if self.once >= (most / 2).max(1) {
            self.forget_least(now, Score::is_once);
        }
        while !self.scores.is_empty() && (self.scores.len() >= most || self.names + length > NAMES) {
            self.forget_least(now, |_| true);
        }
        self.once += 1;
        self.names += length;
        self.scores.insert(source.clone(), Score::new(now));
    }

    fn forget(&mut self, source: &SourceId) -> bool {
        let Some(score) = self.scores.remove(source) else { return false };
        self.once -= usize::from(score.is_once());
        self.names -= length(source);
        self.evidence -= score.evidence.iter().map(Evidence::memory).sum::<usize>();
        true
    }

    /// Forgets an eighth of the sources, those that matter least: first those that are not banned, by their scores; then bans by
    /// their ends; last what a person said.
    fn forget_least(&mut self, now: Instant, of: impl Fn(&Score) -> bool) {
        let among = self.scores.iter().filter(|(_, score)| of(score));
        let mut order: Vec<_> =
            among.map(|(source, score)| (score.rank(&self.settings, now), source.clone())).collect();
        order.sort_by(|(a, _), (b, _)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        for (_, source) in order.into_iter().take((self.scores.len() / 8).max(1)) {
            self.forget(&source);
        }
    }

    /// Lets the older half of the evidence go, if there is too much of it.
    fn make_room_for_evidence(&mut self) {
        if self.evidence + EVIDENCE_BYTES <= EVIDENCE_IN_ALL {
            return;
        }
        let mut kept: Vec<_> = self.scores.values_mut().flat_map(|score| &mut score.evidence).collect();
        kept.sort_by_key(|evidence| evidence.at);
        for evidence in kept {
            if self.evidence <= EVIDENCE_IN_ALL / 2 {
                break;
            }
            self.evidence -= evidence.memory();
            evidence.claim = None;
        }
    }
}

impl Standing {
    /// That of a source without a score. One whose name is too long to be remembered would never be found out, so it is a suspect.
    fn of_unknown(source: &SourceId) -> Self {
        if length(source) > LONGEST_NAME { Self::Suspect } else { Self::Trusted }
    }
}

impl Fading {
    fn after(&self, settings: &SourceSettings, now: Instant) -> f64 {
        let half_lives = now.saturating_duration_since(self.at).as_secs_f64() / settings.half_life.as_secs_f64();
        self.value * (-half_lives).exp2()
    }
}

impl Score {
    fn new(now: Instant) -> Self {
        Self {
            score: Fading { value: 0.0, at: now },
            banned_until: None,
            by_word: false,
            again: false,
            false_claims: 0,
            bans: 0,
            evidence: VecDeque::new(),
        }
    }

    /// Whether it is a name that was seen once, and that nobody spoke of.
    fn is_once(&self) -> bool {
        !self.again && !self.by_word
    }

    /// How much it matters.
    fn rank(&self, settings: &SourceSettings, now: Instant) -> (Rank, f64) {
        let end = self.banned_for(now).as_secs_f64();
        match (self.standing(settings, now), self.by_word, self.again) {
            (Standing::Banned, true, _) => (Rank::Word, end),
            (Standing::Banned, _, true) => (Rank::Banned, end),
            (Standing::Banned, _, false) => (Rank::BannedOnce, end),
            _ => (Rank::Free, self.value(settings, now)),
        }
    }

    fn value(&self, settings: &SourceSettings, now: Instant) -> f64 {
        self.score.after(settings, now)
    }

    fn banned_for(&self, now: Instant) -> Duration {
        self.banned_until.map_or(Duration::ZERO, |until| until.saturating_duration_since(now))
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
        let standing = self.standing(settings, now);
        SourceReport {
            source: source.clone(),
            standing,
            score: self.value(settings, now),
            false_claims: self.false_claims,
            bans: self.bans,
            banned_for: self.banned_for(now),
            by_word: self.by_word && standing == Standing::Banned,
            evidence: self.evidence.iter().cloned().collect(),
        }
    }
}

/// How much a source matters, in the order in which they are forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// Not banned.
    Free,
    /// Banned, and never seen again.
    BannedOnce,
    /// Banned, and it goes on to send.
    Banned,
    /// Banned by a person.
    Word,
}

impl Evidence {
    fn memory(&self) -> usize {
        self.claim.as_ref().map_or(0, ClaimBytes::memory)
    }
}

/// What is kept of a false claim, if it is short. It holds no key set: a reload would replace that, and it would stay in memory.
fn kept(claim: &ClaimBytes) -> Option<ClaimBytes> {
    // All keys of a set have one length, so that none is encoded in vain while the batcher stands still.
    let element = match &claim.public_keys {
        PublicKeys::Members(set, _) => memory_of_element(&set.encoded_key(0).unwrap_or_default()),
        // Whatever a key's length is, it has a place in a list.
        _ => size_of::<Vec<u8>>(),
    };
    if claim.memory() > EVIDENCE_BYTES || claim.public_keys.len() > EVIDENCE_BYTES / element {
        return None;
    }
    let ClaimBytes { suite, public_keys, messages, signature, source } = claim;
    let kept = ClaimBytes {
        suite: *suite,
        public_keys: public_keys.encodings().into_iter().map(Cow::into_owned).collect(),
        messages: messages.clone(),
        signature: signature.clone(),
        source: source.clone(),
    };
    (kept.memory() <= EVIDENCE_BYTES).then_some(kept)
}

fn length(source: &SourceId) -> usize {
    if let SourceId::Name(name) = source { name.len() } else { 0 }
}

/// The end of a time. One that no clock reaches ends when the program does.
fn until(now: Instant, time: Duration) -> Option<Instant> {
    now.checked_add(time).or_else(|| now.checked_add(LONGEST_BAN))
}

/// How many characters of a name are shown.
const LONGEST_SHOWN: usize = 200;
/// How many of a source's last false claims are kept.
const EVIDENCE: usize = 4;
/// A larger claim is not kept as evidence.
const EVIDENCE_BYTES: usize = 16 << 10;
/// What all claims take that are kept as evidence.
const EVIDENCE_IN_ALL: usize = 16 << 20;
/// The length of the names of all sources that are remembered.
const NAMES: usize = 16 << 20;
/// The longest name of a source that is remembered.
const LONGEST_NAME: usize = NAMES / 16;
/// What comes so long after a false claim was not sent with it.
const AGAIN: Duration = Duration::from_secs(1);
/// A ban without an end.
const LONGEST_BAN: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

#[cfg(test)]
mod tests {
    use quorate::{Backend, Bitmap, KeySet, Members, MinPk, SecretKey, Suite};

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
        assert_eq!(sources.reports(9, |_| true, now).0[0].standing, Standing::Banned);
    }

    #[test]
    fn an_operators_ban_has_no_end_that_overflows() {
        let (mut sources, now) = sources(10);
        sources.ban(&7.into(), now, Duration::MAX);
        assert_eq!(sources.standing(&7.into(), now + Duration::from_secs(1 << 30)), Standing::Banned);
        assert!(!sources.found_false(&ClaimBytes { source: None, ..claim(1) }, Reason::Mismatch, now));
        assert_eq!(sources.reports(9, |_| true, now).1, 1);
        assert!(sources.reports(9, |_| false, now).0.is_empty(), "what nobody asks for is not told");
    }

    /// With such a setting no liar was ever banned.
    #[test]
    fn a_ban_for_lies_has_no_end_that_overflows() {
        let now = Instant::now();
        let mut sources = Sources::new(SourceSettings { ban: Duration::MAX, ..SourceSettings::default() });
        let banned: Vec<_> = (0..3).map(|_| sources.found_false(&claim(7), Reason::Mismatch, now)).collect();
        assert_eq!(banned, [false, false, true]);
        assert_eq!(sources.standing(&7.into(), now + Duration::from_secs(1 << 30)), Standing::Banned);
    }

    /// 210 lies by 70 invented names made room by forgetting an administrator's ban, whose score is zero.
    #[test]
    fn an_administrators_ban_outlasts_a_flood_of_invented_names() {
        let (mut sources, start) = sources(64);
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let [mallory, old] = ["mallory", "old"].map(SourceId::from);
        sources.ban(&mallory, start, Duration::from_secs(60));
        let lie = |source: &SourceId| ClaimBytes { source: Some(source.clone()), ..claim(0) };
        for _ in 0..3 {
            sources.found_false(&lie(&old), Reason::Mismatch, start);
        }
        // It is banned for its lies, and goes on to send.
        assert_eq!(sources.arrives(&old, at(2)), Standing::Banned);
        for name in 0..2000 {
            for _ in 0..3 {
                sources.found_false(&claim(name), Reason::Mismatch, at(3));
            }
            assert!(sources.scores.len() <= 64 && sources.once <= 32, "{} of {}", sources.once, sources.scores.len());
        }
        assert_eq!([&mallory, &old].map(|source| sources.standing(source, at(4))), [Standing::Banned; 2]);
        // What is left of the invented ones are the newest bans.
        assert_eq!(sources.standing(&1999.into(), at(4)), Standing::Banned);
        // Even those who come back push out no word.
        for name in 5000..6000 {
            for _ in 0..3 {
                sources.found_false(&claim(name), Reason::Mismatch, at(5));
            }
            sources.arrives(&name.into(), at(7));
        }
        assert_eq!(sources.standing(&mallory, at(8)), Standing::Banned);
        assert_eq!(sources.scores.values().filter(|score| score.is_once()).count(), sources.once);
    }

    #[test]
    fn bans_are_told_and_come_back() {
        let (mut sources, start) = sources(10);
        sources.ban(&"word".into(), start, Duration::from_secs(1000));
        for _ in 0..3 {
            sources.found_false(&claim(7), Reason::Mismatch, start);
        }
        sources.found_false(&claim(8), Reason::Mismatch, start);
        let bans = sources.bans(start + Duration::from_secs(100));
        let told: Vec<_> = bans.iter().map(|ban| (ban.source.to_string(), ban.left.as_secs(), ban.by_word)).collect();
        assert_eq!(told, [("word".to_owned(), 900, true), ("7".to_owned(), 500, false)]);
        let (mut fresh, later) = self::sources(10);
        bans.iter().for_each(|ban| fresh.restore(ban, later));
        assert_eq!(fresh.bans(later), bans);
        assert_eq!((fresh.banned(later), fresh.once), (2, 1));
        assert_eq!(fresh.standing(&7.into(), later + Duration::from_secs(499)), Standing::Banned);
        assert_ne!(fresh.standing(&7.into(), later + Duration::from_secs(501)), Standing::Banned);
        assert!(fresh.pardon(&7.into()) && fresh.once == 0);
    }

    /// Many sources with long names and large claims take no more than a bound, however many may be remembered.
    #[test]
    fn names_and_evidence_are_bounded() {
        let (mut sources, now) = sources(1 << 16);
        for i in 0..6000u32 {
            let name = format!("{i}{}", "x".repeat(4 << 10));
            let source = Some(SourceId::from(name.as_str()));
            let lie = ClaimBytes { source, signature: vec![0; EVIDENCE_BYTES / 2], ..claim(0) };
            sources.found_false(&lie, Reason::Mismatch, now);
            assert!(sources.names <= NAMES && sources.evidence <= EVIDENCE_IN_ALL);
        }
        let kept: usize = sources.scores.values().flat_map(|score| &score.evidence).map(Evidence::memory).sum();
        assert_eq!(kept, sources.evidence);
        assert_eq!(sources.scores.keys().map(length).sum::<usize>(), sources.names);
        assert!(kept > 0 && sources.names > NAMES / 2);
    }

    /// One name of more than 16 MiB made room for itself by forgetting everybody, bans by a person's word included.
    #[test]
    fn a_name_beyond_all_room_forgets_nobody() {
        let (mut sources, now) = sources(10);
        let hour = Duration::from_secs(3600);
        sources.ban(&"mallory".into(), now, hour);
        sources.found_false(&claim(7), Reason::Mismatch, now);
        let longest = SourceId::from("x".repeat(LONGEST_NAME).as_str());
        for length in [LONGEST_NAME + 1, NAMES + 1] {
            let name = SourceId::from("x".repeat(length).as_str());
            let lie = ClaimBytes { source: Some(name.clone()), ..claim(0) };
            assert!(!sources.found_false(&lie, Reason::Mismatch, now));
            sources.ban(&name, now, hour);
            assert!(sources.report(&name, now).is_none() && !sources.pardon(&name));
            // Nothing is known of it, so its claims wait apart.
            assert_eq!([sources.standing(&name, now), sources.arrives(&name, now)], [Standing::Suspect; 2]);
            assert_eq!(sources.standing(&"mallory".into(), now), Standing::Banned);
            assert_eq!((sources.standing(&7.into(), now), sources.scores.len()), (Standing::Suspect, 2));
        }
        assert_eq!(sources.standing(&longest, now), Standing::Trusted);
        sources.ban(&longest, now, hour);
        assert_eq!((sources.standing(&longest, now), sources.scores.len()), (Standing::Banned, 3));
    }

    /// Claims without a source are one source, which is suspected and never banned.
    #[test]
    fn nobody_is_suspected_like_a_source() {
        let (mut sources, start) = sources(10);
        let lie = ClaimBytes { source: None, ..claim(1) };
        assert!(!sources.suspects_nobody(start));
        for _ in 0..100 {
            assert!(!sources.found_false(&lie, Reason::Mismatch, start));
        }
        assert!(sources.suspects_nobody(start + Duration::from_secs(600)));
        assert!(!sources.suspects_nobody(start + Duration::from_secs(600 * 8)));
        assert_eq!(sources.reports(9, |_| true, start).1, 0);
    }

    #[test]
    fn large_claims_are_no_evidence() {
        let (mut sources, now) = sources(10);
        let large = ClaimBytes { signature: vec![0; EVIDENCE_BYTES], ..claim(1) };
        sources.found_false(&large, Reason::Mismatch, now);
        assert!(sources.report(&1.into(), now).unwrap().evidence[0].claim.is_none());
    }

    /// A name of 32 KiB of escapes made a line of 192 KiB in the log.
    #[test]
    fn a_long_name_is_shown_short() {
        assert_eq!(shown_name(&"peer 7".into()), "peer 7");
        let long = shown_name(&"\u{1b}".repeat(32 << 10).as_str().into());
        assert_eq!(long, r"\u{1b}".repeat(200) + "…");
    }

    /// A false claim that named a member kept the member's whole set in memory, also after a reload had replaced it.
    #[test]
    fn evidence_holds_no_key_set() {
        let (mut sources, now) = sources(10);
        let key = SecretKey::key_gen(MinPk::Eth2, &[1; 32], b"").unwrap().public_key();
        let mut set = KeySet::new(MinPk::Eth2, Backend::Portable);
        set.push_assumed(key);
        let set = set.into_any();
        // Of so many, the keys are no evidence either.
        let (one, many) = (Members::Indices(vec![0]), Members::Bitmap(Bitmap::from_indices(0..300)));
        for members in [one, many] {
            let public_keys = PublicKeys::Members(set.clone(), members);
            sources.found_false(&ClaimBytes { public_keys, ..claim(1) }, Reason::Mismatch, now);
        }
        let evidence = sources.report(&1.into(), now).unwrap().evidence;
        let kept: Vec<_> = evidence.into_iter().map(|evidence| Some(evidence.claim?.public_keys)).collect();
        assert_eq!(kept, [Some(PublicKeys::Encoded(vec![key.to_bytes().to_vec()])), None]);
    }
}
