//! Runs jobs on several threads. The threads are started for a call and end with it.

use std::{
    num::NonZeroUsize,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread::Builder,
};

/// The largest number of threads that the programs and the bindings accept. A larger one is a mistake, and the operating system
/// would refuse some of the threads.
pub const MOST_THREADS: usize = 1024;

/// Runs the jobs 0..n on up to `threads` threads, the caller's thread included. Returns the answers in the order of the
/// jobs.
///
/// Each thread takes the next job that no thread has taken, so a slow thread delays only its own job. If the operating system
/// gives fewer threads, these do all jobs.
///
/// # Panics
/// If a job panics.
pub fn parallel<T: Send>(threads: NonZeroUsize, n: usize, job: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let threads = threads.get().min(n);
    if threads <= 1 {
        return (0..n).map(job).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mine = std::iter::from_fn(|| Some(next.fetch_add(1, Ordering::Relaxed)).filter(|i| *i < n));
        mine.map(|i| (i, job(i))).collect::<Vec<_>>()
    };
    let mut done = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map_while(|_| Builder::new().spawn_scoped(scope, work).ok()).collect();
        let mut done = work();
        for other in others {
            done.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        done
    });
    done.sort_unstable_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, answer)| answer).collect()
}

/// Cuts the items into one chunk for each thread, but not into chunks of fewer than `least` items, and calls `f` on
/// each chunk. Returns one answer for each item.
pub fn parallel_chunks<T: Sync, R: Send>(
    threads: NonZeroUsize,
    items: &[T],
    least: usize,
    f: impl Fn(&[T]) -> Vec<R> + Sync,
) -> Vec<R> {
    let chunk = items.len().div_ceil(threads.get()).max(least);
    if chunk >= items.len() {
        return f(items);
    }
    let chunks: Vec<_> = items.chunks(chunk).collect();
    parallel(threads, chunks.len(), |i| f(chunks[i])).into_iter().flatten().collect()
}

/// [`parallel_chunks`] of items that `f` takes for itself.
pub(crate) fn parallel_owned_chunks<T: Send, R: Send>(
    threads: NonZeroUsize,
    items: Vec<T>,
    least: usize,
    f: impl Fn(Vec<T>) -> Vec<R> + Sync,
) -> Vec<R> {
    let chunk = items.len().div_ceil(threads.get()).max(least);
    if chunk >= items.len() {
        return f(items);
    }
    let mut items = items.into_iter();
    let next = || {
        let chunk: Vec<_> = items.by_ref().take(chunk).collect();
        (!chunk.is_empty()).then(|| Mutex::new(chunk))
    };
    let chunks: Vec<_> = std::iter::from_fn(next).collect();
    let job = |i: usize| {
        let items = std::mem::take(&mut *chunks[i].lock().unwrap_or_else(PoisonError::into_inner));
        f(items)
    };
    parallel(threads, chunks.len(), job).into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_stand_in_the_order_of_the_jobs() {
        for threads in [1, 2, 3, 8].map(|n| NonZeroUsize::new(n).unwrap()) {
            for n in [0, 1, 2, 7, 64] {
                let squares: Vec<_> = (0..n).map(|i| i * i).collect();
                assert_eq!(parallel(threads, n, |i| i * i), squares, "{threads} threads, {n} jobs");
                let items: Vec<_> = (0..n).collect();
                let chunked = parallel_chunks(threads, &items, 3, |chunk| chunk.iter().map(|i| i * i).collect());
                assert_eq!(chunked, squares, "{threads} threads, {n} items");
                let owned =
                    parallel_owned_chunks(threads, items, 3, |chunk| chunk.into_iter().map(|i| i * i).collect());
                assert_eq!(owned, squares, "{threads} threads, {n} items of their own");
            }
        }
    }
}
