//! How a batcher collects, verifies and bans.

use std::{num::NonZeroUsize, thread, time::Duration};

use quorate::{Backend, Soundness};

/// How a batcher collects and verifies.
///
/// Durations of work are *planned* work: what the plan's table of costs says, corrected by how long earlier batches took
/// on this machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// How many batches are verified at the same time, each on a thread of its own. A block is verified on as many
    /// threads, beside them. Default: one for each core.
    pub threads: NonZeroUsize,
    /// How unlikely it must be that a false claim passes. Default: 64 bits.
    pub soundness: Soundness,
    /// The backend that does the arithmetic. Default: the fastest of this machine.
    pub backend: Backend,
    /// The longest that a claim waits for others while a worker is idle. It waits only while one more batch would make the
    /// beginning of batches take more than an eighth of the workers' time, or more than that of one worker. What comes after a pause
    /// waits for nothing; a caller that asks one by one, without a pause, waits now and then.
    /// Zero: nothing waits while a worker is idle. Default: 5 ms.
    pub linger: Duration,
    /// How long a suspect's claim waits for those of other suspects, and the longest `linger` that has an effect.
    /// Default: 100 ms.
    pub longest_wait: Duration,
    /// The planned work at which a batch is full. Larger batches cost less for each claim, and their claims wait longer.
    /// Default: 25 ms.
    pub target: Duration,
    /// The planned work that may wait for each thread. What comes beyond it is refused. Default: 50 ms.
    pub queue: Duration,
    /// The most memory that the claims that wait may take, in bytes, and the most bytes of messages that are
    /// [hashed](quorate::ClaimBytes::hashed_bytes) for one claim. Default: 256 MiB.
    pub queue_bytes: usize,
    /// The most verified statements that stay in memory, for each variant: when there are more, the older half is forgotten. Default:
    /// 131,072, which take about 103 MB.
    pub known: usize,
    /// Who is suspected and banned.
    pub sources: SourceSettings,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            threads: thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            soundness: Soundness::default(),
            backend: Backend::auto(),
            linger: Duration::from_millis(5),
            longest_wait: Duration::from_millis(100),
            target: Duration::from_millis(25),
            queue: Duration::from_millis(50),
            queue_bytes: 256 << 20,
            known: 1 << 17,
            sources: SourceSettings::default(),
        }
    }
}

/// Who is suspected and banned.
///
/// A source's score is the number of its claims that were proven false, each of which counts half after every
/// half-life. Nothing else counts: no refused claim, no duplicate, no late one, and none that the key set whose members it names does
/// not fit ([`Reason::proves_a_lie`](quorate::Reason::proves_a_lie)).
#[derive(Clone, Debug, PartialEq)]
pub struct SourceSettings {
    /// After how long a false claim counts half. Default: 10 minutes.
    pub half_life: Duration,
    /// The score from which a source's claims are verified apart from those of others, in batches of suspects.
    /// Default: 0.5, so that the first false claim makes a suspect for one half-life.
    pub suspect_at: f64,
    /// The score at which a source is banned. Default: 2.5, so that the third false claim within some minutes bans.
    pub ban_at: f64,
    /// How long a ban lasts. Default: 10 minutes.
    pub ban: Duration,
    /// The greatest share of a batch that one source may have while others wait. Default: a quarter.
    pub share: f64,
    /// The greatest share of the workers' time that suspects get while others wait. Default: an eighth.
    pub suspects_share: f64,
    /// How many sources with a score are remembered. Beyond it, those with the lowest scores are forgotten.
    /// Default: 65,536.
    pub most: usize,
}

impl Default for SourceSettings {
    fn default() -> Self {
        Self {
            half_life: Duration::from_secs(600),
            suspect_at: 0.5,
            ban_at: 2.5,
            ban: Duration::from_secs(600),
            share: 0.25,
            suspects_share: 0.125,
            most: 1 << 16,
        }
    }
}

impl Settings {
    /// # Errors
    /// The first setting that no batcher can work with.
    pub fn check(&self) -> Result<(), SettingsError> {
        positive("target", self.target)?;
        positive("queue", self.queue)?;
        if self.queue_bytes == 0 {
            return Err(SettingsError::Zero("queue_bytes"));
        }
        self.sources.check()
    }
}

impl SourceSettings {
    /// # Errors
    /// The first setting that no batcher can work with.
    pub fn check(&self) -> Result<(), SettingsError> {
        let share = |name, value: f64| {
            if value > 0.0 && value <= 1.0 { Ok(()) } else { Err(SettingsError::NotAShare(name, value)) }
        };
        positive("sources.half_life", self.half_life)?;
        share("sources.share", self.share)?;
        share("sources.suspects_share", self.suspects_share)?;
        if self.most == 0 {
            return Err(SettingsError::Zero("sources.most"));
        }
        // Written so that NaN is refused.
        if !(self.suspect_at > 0.0 && self.suspect_at <= self.ban_at && self.ban_at.is_finite()) {
            return Err(SettingsError::Scores { suspect_at: self.suspect_at, ban_at: self.ban_at });
        }
        Ok(())
    }
}

fn positive(name: &'static str, value: Duration) -> Result<(), SettingsError> {
    if value.is_zero() { Err(SettingsError::Zero(name)) } else { Ok(()) }
}

/// A setting that no batcher can work with.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// It must be more than nothing.
    #[error("the setting {0} is zero; it must be more")]
    Zero(&'static str),
    /// It is not a share of a whole.
    #[error("the setting {0} is {1}; it must be more than 0 and at most 1")]
    NotAShare(&'static str, f64),
    /// The scores are not in order.
    #[error("sources.suspect_at is {suspect_at} and sources.ban_at is {ban_at}; expected 0 < suspect_at <= ban_at")]
    Scores {
        /// [`SourceSettings::suspect_at`].
        suspect_at: f64,
        /// [`SourceSettings::ban_at`].
        ban_at: f64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_cannot_work_are_named() {
        let sources = SourceSettings::default;
        let with = |sources| Settings { sources, ..Settings::default() };
        let cases = [
            (Settings { target: Duration::ZERO, ..Settings::default() }, "target is zero"),
            (Settings { queue: Duration::ZERO, ..Settings::default() }, "queue is zero"),
            (Settings { queue_bytes: 0, ..Settings::default() }, "queue_bytes is zero"),
            (with(SourceSettings { half_life: Duration::ZERO, ..sources() }), "sources.half_life is zero"),
            (with(SourceSettings { share: 0.0, ..sources() }), "sources.share is 0"),
            (with(SourceSettings { share: f64::NAN, ..sources() }), "sources.share is NaN"),
            (with(SourceSettings { suspects_share: 1.5, ..sources() }), "sources.suspects_share is 1.5"),
            (with(SourceSettings { most: 0, ..sources() }), "sources.most is zero"),
            (with(SourceSettings { ban_at: 0.1, ..sources() }), "0 < suspect_at <= ban_at"),
            (with(SourceSettings { suspect_at: f64::NAN, ..sources() }), "0 < suspect_at <= ban_at"),
            (with(SourceSettings { ban_at: f64::INFINITY, ..sources() }), "0 < suspect_at <= ban_at"),
        ];
        for (settings, expected) in cases {
            let error = settings.check().unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        assert_eq!(Settings::default().check(), Ok(()));
    }
}
