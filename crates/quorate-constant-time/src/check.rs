//! Runs an operation, and says how often it showed a secret.

use std::hint::black_box;

use quorate_curve::marking::{classify, is_secret, reports};

/// Counts what went wrong.
#[derive(Default)]
pub(crate) struct Check {
    pub(crate) wrong: usize,
}

impl Check {
    /// An operation on a secret, which must not show it. Its result must depend on the secret.
    pub(crate) fn operation<T>(&mut self, name: &str, run: impl FnOnce() -> T) {
        let (result, found) = counted(run);
        let answer = match (found, is_secret(&result)) {
            (0, true) => "",
            (0, false) => "WRONG: the result does not depend on the secret, so nothing was checked",
            _ => "WRONG",
        };
        self.line(name, found, answer);
    }

    /// A leak, which must be found. Otherwise the other answers mean nothing.
    pub(crate) fn leaks(&mut self, name: &str, leak: fn(&[u8; 32]) -> usize) {
        let secret = secret();
        let (_, found) = counted(|| black_box(leak(black_box(&secret))));
        self.line(name, found, if found > 0 { "as it must be" } else { "WRONG: this leak was not found" });
    }

    fn line(&mut self, name: &str, found: usize, answer: &str) {
        self.wrong += usize::from(answer.starts_with("WRONG"));
        println!("{name:60} {found:6} reports  {answer}");
    }
}

/// The result of an operation, and how often it showed the secret.
fn counted<T>(run: impl FnOnce() -> T) -> (T, usize) {
    let before = reports();
    let result = black_box(run());
    (result, reports() - before)
}

/// Bytes that nobody may know, below the order of both curves.
pub(crate) fn secret<const N: usize>() -> [u8; N] {
    let bytes = std::array::from_fn(|i| 7 + i as u8);
    classify(&bytes);
    bytes
}
