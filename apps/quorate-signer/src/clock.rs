//! Whether the clock can be believed.
//!
//! A signer whose clock is ahead signs for epochs that have not begun, and its floor rises with them. When the clock is right again,
//! it signs no task until those epochs have come. So a clock that jumps ahead is believed only if somebody says so. Time that
//! passes while the signer runs is not a jump: it looks at the clock again and again, and remembers how far it believed it, also while
//! the disk cannot be written.

use quorate_host::utc;
use quorate_signer_client::network::NetworkTerms;

/// How far the clock is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClockWatch {
    /// The epoch that the operator knows to have begun, if the signer did not run for a while.
    pub(crate) accepted: Option<u64>,
}

/// The operator accepts an epoch that has not begun by the clock. Up to that epoch every later jump would be believed.
#[derive(Debug, thiserror::Error)]
#[error(
    "--accept-epoch {accepted}: the signer's clock says {}, which is {}; set the clock if it is wrong, or name the epoch that it is now",
    utc(*now), place_of(*current)
)]
pub(crate) struct EpochAhead {
    accepted: u64,
    /// The epoch by the clock; none before epoch 0.
    current: Option<u64>,
    now: u64,
}

/// A jump that is not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClockJump {
    /// The epoch by the clock.
    pub(crate) current: u64,
    /// The epoch up to which the clock was believed.
    pub(crate) believed: u64,
    /// The time by the clock, in seconds of Unix time.
    pub(crate) now: u64,
}

impl ClockWatch {
    /// A watch that accepts an epoch, if the operator names one. By the clock it must have begun.
    pub(crate) fn accepting(network: &NetworkTerms, accepted: Option<u64>, now: u64) -> Result<Self, EpochAhead> {
        let current = network.epoch_at(now);
        match accepted {
            Some(accepted) if current < Some(accepted) => Err(EpochAhead { accepted, current, now }),
            _ => Ok(Self { accepted }),
        }
    }

    /// The epoch by the clock, if it is believed; none before epoch 0. A record that has believed no clock believes the first one.
    pub(crate) fn judge(
        self,
        network: &NetworkTerms,
        believed: Option<u64>,
        now: u64,
    ) -> Result<Option<u64>, ClockJump> {
        let Some(current) = network.epoch_at(now) else { return Ok(None) };
        match believed.max(self.accepted.filter(|_| believed.is_some())) {
            Some(believed) if current > believed.saturating_add(longest_jump(network)) => {
                Err(ClockJump { current, believed, now })
            }
            _ => Ok(Some(current)),
        }
    }

    /// Whether what the record has as believed is so far behind an epoch that it is written down anew.
    pub(crate) fn is_behind(self, network: &NetworkTerms, written: Option<u64>, epoch: u64) -> bool {
        written.is_none_or(|written| epoch > written.saturating_add(longest_lag(network)))
    }
}

/// By how many epochs the clock may be ahead of what was believed. Two, and in networks with short epochs as many as pass in ten
/// minutes, which a restart may take. The record of a signer that stopped may be behind by [`longest_lag`] besides.
fn longest_jump(network: &NetworkTerms) -> u64 {
    longest_pause(network) + longest_lag(network)
}

/// By how many epochs the record may be behind what the signer has seen. Networks with short epochs would otherwise write each second.
fn longest_lag(network: &NetworkTerms) -> u64 {
    longest_pause(network) / 4
}

/// How many epochs can begin in ten minutes, and one that began after the signer's last look at the clock.
fn longest_pause(network: &NetworkTerms) -> u64 {
    SHORT_PAUSE.div_ceil(network.epoch_length.get()) + 1
}

/// In seconds.
const SHORT_PAUSE: u64 = 600;

impl std::fmt::Display for ClockJump {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { current, believed, now } = self;
        write!(
            f,
            "the signer's clock says {}, which is epoch {current}, and the last epoch that it has seen is {believed}: nothing \
             is signed until it is known which is right; if the clock is wrong, set it; if the signer did not run for so long, start \
             it with --accept-epoch {current}",
            utc(*now)
        )
    }
}

/// A time that is in this epoch, or in none.
fn place_of(current: Option<u64>) -> String {
    current.map_or("before epoch 0".to_owned(), |current| format!("epoch {current}"))
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use quorate_evm::alloy_primitives::Address;

    use super::*;

    fn network(epoch_length: u64) -> NetworkTerms {
        let epoch_length = NonZeroU64::new(epoch_length).expect("not zero");
        NetworkTerms { chain_id: 1, contract: Address::ZERO, genesis: 1000, epoch_length, slashing_window: 0 }
    }

    #[test]
    fn a_clock_that_jumps_ahead_is_not_believed() {
        let (network, watch) = (network(3600), ClockWatch { accepted: None });
        let at = |epoch: u64| 1000 + 3600 * epoch;
        for epoch in [0, 4, 5, 6, 7] {
            assert_eq!(watch.judge(&network, Some(5), at(epoch)), Ok(Some(epoch)));
        }
        let jump = watch.judge(&network, Some(5), at(8)).expect_err("three epochs");
        assert_eq!(jump, ClockJump { current: 8, believed: 5, now: at(8) });
        let text = jump.to_string();
        assert!(text.contains("1970-01-01 08:16:40 UTC") && text.contains("--accept-epoch 8"), "{text}");
        // The operator says which epoch it is. A clock that is further ahead is not believed for that.
        let asked = ClockWatch { accepted: Some(8) };
        assert_eq!(asked.judge(&network, Some(5), at(8)), Ok(Some(8)));
        assert_eq!(asked.judge(&network, Some(5), at(10)), Ok(Some(10)));
        assert!(asked.judge(&network, Some(5), at(11)).is_err());
        // A new record, and a time before epoch 0.
        assert_eq!(watch.judge(&network, None, at(900)), Ok(Some(900)));
        assert_eq!(watch.judge(&network, Some(5), 0), Ok(None));
        assert!(watch.judge(&network, Some(5), u64::MAX).is_err());
    }

    #[test]
    fn an_epoch_that_has_not_begun_is_not_accepted() {
        let network = network(3600);
        let accepting = |accepted, now| ClockWatch::accepting(&network, accepted, now);
        for accepted in [None, Some(0), Some(7), Some(8)] {
            assert_eq!(accepting(accepted, 1000 + 3600 * 8).expect("it has begun"), ClockWatch { accepted });
        }
        let error = accepting(Some(9), 1000 + 3600 * 8).expect_err("an epoch ahead").to_string();
        assert!(
            error.contains("--accept-epoch 9") && error.contains("1970-01-01 08:16:40 UTC, which is epoch 8"),
            "{error}"
        );
        let error = accepting(Some(0), 999).expect_err("no epoch has begun").to_string();
        assert!(error.contains("before epoch 0"), "{error}");
    }

    #[test]
    fn short_epochs_pass_while_a_program_restarts() {
        let (network, watch) = (network(10), ClockWatch { accepted: None });
        // What the record has is up to 15 epochs behind when the signer stops.
        assert!(!watch.is_behind(&network, Some(0), 15) && watch.is_behind(&network, Some(0), 16));
        assert_eq!(watch.judge(&network, Some(0), 1000 + 760), Ok(Some(76)));
        assert!(watch.judge(&network, Some(0), 1000 + 770).is_err());
    }

    /// Whenever the signer stops, up to a minute or half an epoch after its last look at the clock.
    #[test]
    fn no_restart_within_ten_minutes_is_a_jump() {
        let watch = ClockWatch { accepted: None };
        for length in [1, 2, 7, 10, 60, 150, 200, 201, 299, 300, 301, 599, 600, 601, 3600] {
            let network = network(length);
            let last = (0..).find(|epoch| watch.is_behind(&network, Some(0), epoch + 1)).expect("the lag has an end");
            let (begins, pause) = (1000 + length * last, (length / 2).clamp(1, 60));
            for stops in begins..begins + length + pause {
                assert!(watch.judge(&network, Some(0), stops + 600).is_ok(), "{length}: {stops}");
            }
        }
    }
}
