//! What a program tells the service manager that started it: that it is ready, reloads its configuration, stops, and still works. Also the
//! signals that end it.
//!
//! systemd listens on the socket that `NOTIFY_SOCKET` names (`Type=notify` in a unit). Where nobody listens, nothing is sent, and
//! nothing fails: a program runs in a terminal or a container as it does under systemd.
//!
//! The watchdog is a proof and not a timer. [`watch`] asks the program whether it works, and tells systemd so only after it said yes. If
//! a part hangs on which the answer depends, systemd ends the program and starts it again (`WatchdogSec=`).

#[cfg(unix)]
use std::future::pending;
use std::{future::Future, pin::pin, time::Duration};

#[cfg(unix)]
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, sleep, timeout_at};

use crate::plain;

/// Says that the program serves, or serves again after [`reloading`]. `status` is what `systemctl status` shows.
pub fn ready(status: &str) {
    say(&format!("READY=1\nSTATUS={}", plain(status)));
}

/// Says that the program reads its configuration again. [`ready`] ends it, whatever came of it.
#[cfg(unix)]
pub fn reloading() {
    // The time tells systemd which signal this answers.
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let us = i128::from(now.tv_sec) * 1_000_000 + i128::from(now.tv_nsec) / 1_000;
    say(&format!("RELOADING=1\nMONOTONIC_USEC={us}\nSTATUS=reading the configuration again"));
}

/// Says that the program stops, and what it waits for.
pub fn stopping(status: &str) {
    say(&format!("STOPPING=1\nSTATUS={}", plain(status)));
}

/// Tells systemd that the program works, for as long as `works` says so: ten times in each time that systemd waits for it. A question
/// that has no answer yet stays asked, and its answer counts whenever it comes. So systemd ends a program of which a part has hung for all
/// of that time, or for nine tenths of it, and none that is only slow. It returns at once if systemd waits for nothing, and else never.
pub async fn watch<F: Future<Output = bool>>(works: impl FnMut() -> F) {
    let Some(patience) = patience() else { return };
    tell_while(patience, works, || say("WATCHDOG=1")).await;
}

/// Asks and tells, for ever. What does not answer for half of the patience is logged, while there is time to see why.
async fn tell_while<F: Future<Output = bool>>(
    patience: Duration,
    mut works: impl FnMut() -> F,
    mut tell: impl FnMut(),
) {
    let (mut told, mut is_silent) = (Instant::now(), false);
    loop {
        let mut answer = pin!(works());
        let early = timeout_at(told + patience / 2, answer.as_mut()).await;
        if !matches!(early, Ok(true)) && !std::mem::replace(&mut is_silent, true) {
            tracing::error!(
                patience_s = patience.as_secs_f64(),
                "a part of the program does not answer; the watchdog is not told that it works, and starts it again if that lasts"
            );
        }
        let is_working = match early {
            Ok(is_working) => is_working,
            Err(_) => answer.await,
        };
        if is_working {
            tell();
            told = Instant::now();
            if std::mem::take(&mut is_silent) {
                tracing::warn!("the program works again, and the watchdog is told so");
            }
        }
        sleep(patience / OFTEN).await;
    }
}

/// How often the watchdog is told in the time that it waits. A part may hang from any moment between two times on, so it is ended by so
/// much of the time too early at most.
const OFTEN: u32 = 10;

/// Waits for Ctrl-C, or for the signal that ends services. Once it waited, neither ends the program by itself any more: whoever hears them
/// waits for as long as the program works.
#[cfg(unix)]
pub async fn interrupted() {
    // Of one that cannot be listened to, the system's own rule holds: it ends the program.
    let heard = async |kind| match signal(kind) {
        Ok(mut signal) => _ = signal.recv().await,
        Err(_) => pending().await,
    };
    tokio::select! {
        () = heard(SignalKind::interrupt()) => {}
        () = heard(SignalKind::terminate()) => {}
    }
}

/// Sends one message. A manager that does not listen any more misses nothing that this program needs.
#[cfg(unix)]
fn say(message: &str) {
    if let Err(error) = sd_notify::notify(&[sd_notify::NotifyState::Custom(message)]) {
        tracing::debug!(%error, "the service manager was not told");
    }
}

/// Sends nothing: only Unix has such a manager.
#[cfg(not(unix))]
fn say(_: &str) {}

/// For how long the manager waits to hear that the program works, if it does.
#[cfg(unix)]
fn patience() -> Option<Duration> {
    sd_notify::watchdog_enabled()
}

/// Nobody waits.
#[cfg(not(unix))]
fn patience() -> Option<Duration> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use std::{
        cell::{Cell, RefCell},
        env,
    };

    use quorate_lab::run::{LIMIT, Run as _, ServiceManager, test};
    use tokio::{runtime::Builder, time::timeout};

    use super::*;

    /// No unit has such a time.
    const WATCHDOG: Duration = Duration::from_micros(400_001);
    const NAME: &str = "service::tests::what_is_said_comes_in_its_order";

    /// The program of this test says it in a process of its own, because the socket is named in the environment.
    #[test]
    fn what_is_said_comes_in_its_order() {
        if patience() == Some(WATCHDOG) && env::var_os("NOTIFY_SOCKET").is_some() {
            return speak();
        }
        let manager = ServiceManager::new();
        let mut command = test(NAME);
        manager.starts(&mut command, WATCHDOG);
        command.ran().exits(0);
        assert_eq!(manager.hears(), ["READY=1", "STATUS=serves\\u{a}READY=0"]);
        let lines = manager.hears();
        assert_eq!((lines.len(), lines[0].as_str()), (3, "RELOADING=1"));
        assert!(lines[1].strip_prefix("MONOTONIC_USEC=").unwrap().parse::<u64>().unwrap() > 0);
        assert_eq!(manager.hears(), ["READY=1", "STATUS=serves again"]);
        // Two answers of four were a yes: one was a no, and one is still to come.
        assert_eq!([manager.hears(), manager.hears()], [["WATCHDOG=1"]; 2]);
        assert_eq!(manager.hears(), ["STOPPING=1", "STATUS=stops"]);
    }

    fn speak() {
        ready("serves\nREADY=0");
        reloading();
        ready("serves again");
        let asked = Cell::new(0);
        let works = || {
            asked.set(asked.get() + 1);
            let now = asked.get();
            async move {
                match now {
                    1 | 3 => true,
                    2 => false,
                    _ => pending().await,
                }
            }
        };
        let runtime = Builder::new_current_thread().enable_time().build().expect("timers");
        let fourth = async {
            while asked.get() < 4 {
                sleep(Duration::from_millis(5)).await;
            }
        };
        let watched = async {
            tokio::select! {
                () = watch(works) => panic!("it ended"),
                () = fourth => {}
            }
        };
        runtime.block_on(async { timeout(LIMIT, watched).await }).expect("it is asked four times");
        assert_eq!(asked.get(), 4);
        stopping("stops");
    }

    /// In which seconds of about five minutes the watchdog is told, and how often the program was asked. Its answers come after so many
    /// seconds each, and then at once. The clock is the test's.
    fn told(answers: &[(u64, bool)]) -> (Vec<u64>, usize) {
        let runtime =
            Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime without threads");
        let (asked, told) = (Cell::new(0), RefCell::new(Vec::new()));
        runtime.block_on(async {
            let begun = Instant::now();
            let works = || {
                let (seconds, is_working) = answers.get(asked.get()).copied().unwrap_or((0, true));
                asked.set(asked.get() + 1);
                async move {
                    sleep(Duration::from_secs(seconds)).await;
                    is_working
                }
            };
            let tell = || told.borrow_mut().push(begun.elapsed().as_secs());
            let watched = tell_while(Duration::from_secs(60), works, tell);
            assert!(timeout(Duration::from_secs(303), watched).await.is_err(), "it ends with the program");
        });
        (told.into_inner(), asked.get())
    }

    /// A part that hung for little more than half of the time had the program ended: the question was put aside, and asked anew.
    #[test]
    fn a_part_that_hangs_for_less_than_the_time_ends_no_program() {
        let (slow, _) = told(&[(0, true), (0, true), (50, true)]);
        assert_eq!(slow[..4], [0, 6, 62, 68]);
        // The watchdog waits for a minute after each time.
        assert!(slow.is_sorted_by(|before, after| after - before < 60) && *slow.last().unwrap() > 240, "{slow:?}");
    }

    #[test]
    fn a_part_that_hangs_is_asked_once_and_nothing_is_told() {
        let (hanging, asked) = told(&[(0, true), (0, true), (u64::from(u32::MAX), true)]);
        assert_eq!((hanging, asked), (vec![0, 6], 3));
    }

    #[test]
    fn a_part_that_does_not_work_is_asked_again_and_nothing_is_told() {
        let (told, asked) = told(&[(0, true), (0, false), (0, false), (0, true)]);
        assert_eq!(told[..3], [0, 18, 24]);
        assert_eq!(asked, told.len() + 2);
    }
}
