//! How many threads a call takes.

use std::{
    num::NonZeroUsize,
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use quorate::threads::parallel_chunks;
use quorate_curve::Backend;

/// Limits how many threads a call takes from now on, the caller's included. Without it a call takes up to one for each
/// core. Programs that call from a pool of their own set it to one.
///
/// blst has no such function. The feature `no-threads` sets it to one for good.
pub fn set_threads(most: NonZeroUsize) {
    MOST.store(most.get(), Ordering::Relaxed);
}

/// What [`set_threads`] was called with, or zero.
static MOST: AtomicUsize = AtomicUsize::new(0);

/// A thread for each core, but not more than there are portions of so much work.
pub(crate) fn threads(items: usize, portion: Portion) -> NonZeroUsize {
    if cfg!(feature = "no-threads") {
        return NonZeroUsize::MIN;
    }
    let portion = match Backend::auto() {
        Backend::Portable => portion.one_at_a_time,
        _ => portion.in_lanes,
    };
    let most = NonZeroUsize::new(MOST.load(Ordering::Relaxed)).unwrap_or_else(cores);
    NonZeroUsize::new(items / portion).map_or(NonZeroUsize::MIN, |portions| portions.min(most))
}

/// The fewest items for which another thread pays off, with each kind of backend.
#[derive(Clone, Copy)]
pub(crate) struct Portion {
    pub(crate) one_at_a_time: usize,
    pub(crate) in_lanes: usize,
}

/// How many cores there are. Asked once, because the answer comes from files.
fn cores() -> NonZeroUsize {
    static CORES: OnceLock<NonZeroUsize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN))
}

/// Cuts the items into one chunk for each thread, calls `f` on each, and returns the answers in order.
pub(crate) fn each_chunk<T: Sync, R: Send>(items: &[T], portion: Portion, f: impl Fn(&[T]) -> Vec<R> + Sync) -> Vec<R> {
    parallel_chunks(threads(items.len(), portion), items, 1, f)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_stand_in_the_order_of_the_items() {
        let portion = Portion { one_at_a_time: 1, in_lanes: 1 };
        for n in [0, 1, 2, 3, 17, 100] {
            let items: Vec<_> = (0..n).collect();
            let squares: Vec<_> = items.iter().map(|i| i * i).collect();
            assert_eq!(each_chunk(&items, portion, |chunk| chunk.iter().map(|i| i * i).collect()), squares);
            assert!(threads(n, portion).get() <= n.max(1));
        }
    }
}
