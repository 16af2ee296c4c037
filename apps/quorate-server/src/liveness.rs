//! Whether the threads that verify hang, for a probe that asks again and again. That the process answers is no sign that they do not.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use quorate_batcher::{Batcher, Pulse};

/// The pulse of a batcher when it was last seen to move, and when that was.
#[derive(Debug, Default)]
pub(crate) struct Liveness(Mutex<Option<(Pulse, Instant)>>);

impl Liveness {
    /// Looks whether the pulse has moved, and waits for nothing. Each look wakes threads that sleep, so the next one finds that it has,
    /// unless they hang. While they verify a large claim it moves on, too, for [as long as that may take](Pulse).
    ///
    /// # Errors
    /// For how long it has not moved, in words, if that is more than a minute.
    pub(crate) fn look(&self, batcher: &Batcher, now: Instant) -> Result<(), String> {
        let pulse = batcher.pulse();
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (before, at) = *seen.get_or_insert((pulse, now));
        if pulse.has_moved_since(before) {
            *seen = Some((pulse, now));
            return Ok(());
        }
        let still = now.saturating_duration_since(at);
        if still <= MOST_STILL {
            return Ok(());
        }
        Err(format!(
            "the threads that verify have not looked for work for {} s; start the server again",
            still.as_secs()
        ))
    }
}

/// How long the pulse may stand still, as `WatchdogSec=` of the systemd unit says.
const MOST_STILL: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use std::{
        num::NonZeroUsize,
        sync::{
            Arc,
            atomic::{AtomicBool, Ordering},
        },
        thread,
    };

    use quorate::{ClaimBytes, MinPk, Suite as _};
    use quorate_batcher::{Class, Event, Observer, Settings};

    use super::*;

    #[test]
    fn a_server_whose_threads_hang_does_not_live() {
        #[derive(Default)]
        struct Hangs(Mutex<()>, AtomicBool);
        impl Observer for Hangs {
            fn observe(&self, event: &Event<'_>) {
                if matches!(event, Event::Batch(_)) {
                    self.1.store(true, Ordering::Relaxed);
                    drop(self.0.lock().unwrap());
                }
            }
        }
        let hangs = Arc::new(Hangs::default());
        let settings = Settings { threads: NonZeroUsize::MIN, ..Settings::default() };
        let batcher = Batcher::start_with(settings, None, Some(hangs.clone())).unwrap();
        let (liveness, begun) = (Liveness::default(), Instant::now());
        let after = |seconds| liveness.look(&batcher, begun + Duration::from_secs(seconds));
        let until = |is_so: &dyn Fn() -> bool| {
            let is_soon = |_| {
                thread::sleep(Duration::from_millis(5));
                is_so()
            };
            assert!((0..12_000).any(is_soon), "within a minute");
        };
        assert_eq!(after(0), Ok(()));
        // Nobody asked for long, and the threads slept.
        until(&|| after(1000).is_ok());
        let hanging = hangs.0.lock().unwrap();
        let claim = ClaimBytes::single(MinPk::Eth2.any(), &[1; 48], b"m", &[2; 96]);
        let pending = batcher.submit(claim, Class::Gossip, None);
        until(&|| hangs.1.load(Ordering::Relaxed));
        // What they did before they hung.
        until(&|| after(2000).is_ok());
        assert_eq!(after(2060), Ok(()));
        let why = after(2061).unwrap_err();
        assert!(why.contains("for 61 s"), "{why}");
        drop(hanging);
        until(&|| after(2100).is_ok());
        assert!(pending.wait().is_ok());
    }
}
