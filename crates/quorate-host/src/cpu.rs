//! The time that processors spent on a program.

use std::time::Duration;

/// The time that all threads of this process spent on processors so far, in the program and in the system; none where the system does
/// not say. Unlike the time on a clock, it does not count what the threads waited for.
#[must_use]
pub fn cpu_time() -> Option<Duration> {
    #[cfg(unix)]
    {
        use rustix::time::{ClockId, clock_gettime};
        let spent = clock_gettime(ClockId::ProcessCPUTime);
        Some(Duration::new(u64::try_from(spent.tv_sec).ok()?, u32::try_from(spent.tv_nsec).ok()?))
    }
    #[cfg(not(unix))]
    None
}

#[cfg(all(test, unix))]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_thread_that_waits_spends_nothing_and_one_that_counts_does() {
        let before = cpu_time().expect("the system says so");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let begun = Instant::now();
                let mut count = 0_u64;
                while begun.elapsed() < Duration::from_millis(20) {
                    count = std::hint::black_box(count + 1);
                }
            });
        });
        let spent = cpu_time().expect("the system says so") - before;
        assert!(spent > Duration::ZERO, "{spent:?}");
    }
}
