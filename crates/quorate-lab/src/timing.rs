//! Whether the time of an operation tells something about the secret, in the style of dudect (O. Reparaz, J. Balasch and
//! I. Verbauwhede, 2017).
//!
//! Each measurement takes a secret of one of two classes, by chance: always the same secret, or a fresh random one. Welch's
//! t-test compares the mean times of the classes. If |t| is above 4.5 three times in a row, the operation leaks. Slow
//! measurements come from interrupts, so the test is repeated without the slowest ones.
//!
//! A leak that is not found may still exist: in another class of secrets, on another CPU, or in something other than time.
//!
//! The measurements need an optimised build and a machine that is not too busy, so the tests are run by `make timing` alone.

use std::{hint::black_box, time::Instant};

/// Above this |t| the means of the classes differ, but for one run in 100,000.
const LIMIT: f64 = 4.5;

/// The shares of the measurements that are compared, the fastest ones first.
const SHARES: [f64; 6] = [1.0, 0.99, 0.95, 0.9, 0.75, 0.5];

/// Inputs that are prepared together, before any of them is measured.
const PREPARED: usize = 500;

/// The secret of the first class. Almost all of its bits are zero, so what skips zeros is fast.
pub const FIXED: [u8; 32] = {
    let mut secret = [0; 32];
    secret[31] = 1;
    secret
};

/// Whether the method finds a leak. If it does not, its other answers mean nothing.
pub fn finds_a_leak() -> bool {
    let reference = FIXED;
    let first_difference = |secret: &[u8; 32]| secret.iter().zip(&reference).position(|(a, b)| black_box(a) != b);
    leaks("control: a comparison that stops early", 50_000, 16, |secret| secret, first_difference)
}

/// Whether the classes differ in three series of `n` measurements in a row. A measurement is of `times` runs of the
/// operation.
pub fn leaks<I, O>(name: &str, n: usize, times: usize, prepare: impl Fn([u8; 32]) -> I, run: impl Fn(&I) -> O) -> bool {
    (0..3).all(|_| {
        let t = series(n, times, &prepare, &run);
        println!("{name:40} |t| = {t:8.2}");
        t > LIMIT
    })
}

/// The largest |t| of a series.
fn series<I, O>(n: usize, times: usize, prepare: &impl Fn([u8; 32]) -> I, run: &impl Fn(&I) -> O) -> f64 {
    let mut measured = Vec::with_capacity(n);
    while measured.len() < n {
        let inputs: Vec<_> = (0..PREPARED.min(n)).map(|_| random()).collect();
        let inputs: Vec<_> = inputs.iter().map(|(fixed, secret)| (*fixed, prepare(*secret))).collect();
        let measure = |(fixed, input): &(bool, I)| {
            let begun = Instant::now();
            (0..times).for_each(|_| {
                black_box(run(black_box(input)));
            });
            (begun.elapsed().as_nanos() as f64, *fixed)
        };
        // The first ones fill the caches.
        measured.extend(inputs.iter().map(measure).skip(PREPARED.min(n) / 50));
    }
    measured.sort_by(|a, b| a.0.total_cmp(&b.0));
    let share = |share: f64| t(&measured[..(share * measured.len() as f64) as usize]);
    SHARES.into_iter().map(share).fold(0.0, f64::max)
}

/// |t| of Welch's test.
fn t(measured: &[(f64, bool)]) -> f64 {
    let of = |class: bool| {
        let times = || measured.iter().filter(move |(_, fixed)| *fixed == class).map(|(time, _)| *time);
        let n = times().count() as f64;
        let mean = times().sum::<f64>() / n;
        let variance = times().map(|time| (time - mean).powi(2)).sum::<f64>() / (n - 1.0);
        (mean, variance / n)
    };
    let ((a, a_error), (b, b_error)) = (of(true), of(false));
    (a - b).abs() / (a_error + b_error).sqrt()
}

/// A class, by chance, and a secret of it. A random one is below the order of the group.
fn random() -> (bool, [u8; 32]) {
    let mut bytes = [0; 33];
    getrandom::fill(&mut bytes).unwrap();
    let [class, secret @ ..] = bytes;
    let mut secret = secret;
    secret[0] &= 0x3f;
    if class & 1 == 0 { (true, FIXED) } else { (false, secret) }
}
