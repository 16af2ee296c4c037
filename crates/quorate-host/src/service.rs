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
use std::{future::Future, time::Duration};

#[cfg(unix)]
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, sleep_until, timeout};

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

/// Tells systemd that the program works, for as long as `works` says so: twice in each time that systemd waits for it. An answer that
/// does not come before the next one is due is no answer. It ends at once if systemd waits for nothing, and else never.
pub async fn watch<F: Future<Output = bool>>(mut works: impl FnMut() -> F) {
    let Some(patience) = patience() else { return };
    let every = patience / 2;
    let mut silent = false;
    loop {
        let next = Instant::now() + every;
        if timeout(every, works()).await.unwrap_or(false) {
            say("WATCHDOG=1");
            if std::mem::take(&mut silent) {
                tracing::warn!("the program works again, and the watchdog is told so");
            }
        } else if !std::mem::replace(&mut silent, true) {
            tracing::error!(
                patience_s = patience.as_secs_f64(),
                "a part of the program does not answer; the watchdog is not told that it works, and will start it again"
            );
        }
        sleep_until(next).await;
    }
}

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
    use std::{cell::Cell, env};

    use quorate_lab::run::{LIMIT, Run as _, ServiceManager, test};
    use tokio::time::sleep;

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
        // Two answers of five were a yes: one was a no, one came too late, and one is still to come.
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
                    1 | 4 => true,
                    2 => false,
                    _ => std::future::pending().await,
                }
            }
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("timers");
        let fifth = async {
            while asked.get() < 5 {
                sleep(Duration::from_millis(5)).await;
            }
        };
        let watched = async {
            tokio::select! {
                () = watch(works) => panic!("it ended"),
                () = fifth => {}
            }
        };
        runtime.block_on(async { timeout(LIMIT, watched).await }).expect("it is asked five times");
        assert_eq!(asked.get(), 5);
        stopping("stops");
    }
}
