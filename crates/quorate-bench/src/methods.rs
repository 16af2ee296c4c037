//! How quorate does what a benchmark measures. When that changes, rows of before say nothing about today, whatever their names.
//!
//! A record says in its `machine.json` the edition of each method by which its rows were measured. Rows of another edition
//! than today's are in no table, no plot and not on the page: they count as not measured, until they are recorded anew.
//! Whoever changes a method, or what a benchmark measures, so that its figures cannot be compared with those of before,
//! raises the edition here in the same commit, or adds the method.

use std::collections::BTreeMap;

/// The edition of each method, by its name, as a record has them. Records that were made before a method had an entry have
/// its first edition.
pub(crate) type Editions = BTreeMap<String, u32>;

/// A method that rows depend on.
struct Method {
    name: &'static str,
    /// Which one quorate has today, counted from 1.
    edition: u32,
    /// What the names of the benchmarks begin with whose rows depend on it.
    benches: &'static [&'static str],
}

const METHODS: [Method; 2] = [
    // 1: products with indices, which are patented. 2: plain group testing.
    Method {
        name: "search",
        edition: 2,
        benches: &[
            "culprits/bad=",
            "block/batch-spoiled=",
            "block/arrivals-spoiled=",
            "identify/bad=",
            "multi/find-bad=",
            "round/B/",
            "service/liar=",
        ],
    },
    // 1: blst multiplies and pairs each key by itself. 2: it adds the keys of a message, which takes it a fifth of the time or less.
    Method { name: "blst-sums", edition: 2, benches: &["batch/same-message", "batch/mix"] },
];

/// The editions of today, for a record that is made now.
pub(crate) fn today() -> Editions {
    METHODS.iter().map(|method| (method.name.to_owned(), method.edition)).collect()
}

/// Whether a row was measured by today's methods, if its record has these editions.
pub(crate) fn is_of_today(bench: &str, recorded: &Editions) -> bool {
    let of = |method: &&Method| method.benches.iter().any(|start| bench.starts_with(start));
    METHODS.iter().filter(of).all(|method| recorded.get(method.name).copied().unwrap_or(1) == method.edition)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_a_removed_method_is_not_of_today() {
        let first = Editions::new();
        for bench in ["culprits/bad=1", "block/batch-spoiled=128", "identify/bad=1%", "multi/find-bad=10"] {
            assert!(!is_of_today(bench, &first), "{bench}");
            assert!(is_of_today(bench, &today()), "{bench}");
            let later = today().into_iter().map(|(name, edition)| (name, edition + 1)).collect();
            assert!(!is_of_today(bench, &later), "{bench} of a later program");
        }
        for bench in ["batch/distinct", "block/batch=128", "block/known=90", "round/A/primary"] {
            assert!(is_of_today(bench, &first), "{bench} does not search");
        }
    }
}
