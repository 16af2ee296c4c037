//! The rows that were measured, and the gas between them.

/// A row of `rows.tsv`, which `scripts/cost_table.py` writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CostRow {
    /// What was measured.
    pub(super) what: &'static str,
    /// The name of the key group; `-` for contracts that are not ours.
    pub(super) keys: &'static str,
    /// The number of operators; 0 if it does not matter.
    pub(super) operators: u64,
    /// Changed members, results, or quorums: see `what`.
    pub(super) number: f64,
    /// Gas.
    pub(super) gas: f64,
    /// The file with the row, and its name there.
    pub(super) source: &'static str,
}

const TEXT: &str = include_str!("rows.tsv");

/// All rows. A line that is none is left out; a test finds it.
pub(super) fn all() -> impl Iterator<Item = CostRow> {
    TEXT.lines().filter_map(|line| {
        let mut columns = line.split('\t');
        let mut next = || columns.next();
        let (what, keys) = (next()?, next()?);
        let (operators, number, gas) = (next()?.parse().ok()?, next()?.parse().ok()?, next()?.parse().ok()?);
        Some(CostRow { what, keys, operators, number, gas, source: next()? })
    })
}

/// The rows of a kind.
pub(super) fn of(what: &str, keys: &str) -> Vec<CostRow> {
    all().filter(|row| (row.what, row.keys) == (what, keys)).collect()
}

/// The numbers of operators of these rows, ascending, each once.
pub(super) fn sizes(rows: &[CostRow]) -> Vec<u64> {
    let mut sizes: Vec<_> = rows.iter().map(|row| row.operators).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// The measured sizes between which a number of operators lies; twice the same if it was measured. `None` outside.
pub(super) fn around(sizes: &[u64], operators: u64) -> Option<(u64, u64)> {
    let below = sizes.iter().rev().find(|size| **size <= operators)?;
    let above = sizes.iter().find(|size| **size >= operators)?;
    Some((*below, *above))
}

/// The points of the rows with so many operators: number and gas, by rising number.
pub(super) fn points(rows: &[CostRow], operators: u64) -> Vec<(f64, f64)> {
    let of_size = rows.iter().filter(|row| row.operators == operators);
    let mut points: Vec<_> = of_size.map(|row| (row.number, row.gas)).collect();
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    points
}

/// The straight line between the two points around x; `None` outside of the points.
pub(super) fn between(points: &[(f64, f64)], x: f64) -> Option<f64> {
    let (x0, y0) = *points.iter().rev().find(|(at, _)| *at <= x)?;
    let (x1, y1) = *points.iter().find(|(at, _)| *at >= x)?;
    Some(if x1 > x0 { y0 + (y1 - y0) * (x - x0) / (x1 - x0) } else { y0 })
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, fs};

    use quorate_lab::needs::checkout;
    use serde_json::Value;

    use super::*;

    #[test]
    fn lines_are_drawn_between_rows_and_not_beyond() {
        let points = [(0.0, 10.0), (2.0, 20.0), (4.0, 0.0)];
        for (x, gas) in [(0.0, Some(10.0)), (1.0, Some(15.0)), (2.0, Some(20.0)), (3.0, Some(10.0)), (4.0, Some(0.0))] {
            assert_eq!(between(&points, x), gas, "{x}");
        }
        assert_eq!((between(&points, -0.1), between(&points, 4.1), between(&[], 1.0)), (None, None, None));
        assert_eq!((around(&[4, 10], 4), around(&[4, 10], 7)), (Some((4, 4)), Some((4, 10))));
        assert_eq!((around(&[4, 10], 3), around(&[4, 10], 11)), (None, None));
    }

    /// Each row is the row of the file that it names: what the contracts' tests and the benchmarks measured.
    #[test]
    fn rows_are_those_that_were_measured() {
        let mut files = BTreeMap::new();
        assert_eq!(all().count(), TEXT.lines().count(), "a line is not a row");
        for row in all() {
            let (file, name) = row.source.split_once('#').unwrap();
            let read = || serde_json::from_slice::<Value>(&fs::read(checkout().join(file)).unwrap()).unwrap();
            let file = files.entry(file).or_insert_with(read);
            let gas: f64 = match &*file {
                // A snapshot: names of rows, and gas as digits.
                Value::Object(rows) => rows[name].as_str().unwrap().parse().unwrap(),
                // Rows of a benchmark: its name, the engine, and n.
                rows => {
                    let [bench, engine, n] = name.split(' ').collect::<Vec<_>>()[..] else { panic!("{name}") };
                    let n = n.parse().ok();
                    let is_it =
                        |row: &&Value| row["bench"] == bench && row["engine"] == engine && row["n"].as_u64() == n;
                    rows.as_array().unwrap().iter().find(is_it).unwrap()["gas"]["mean"].as_f64().unwrap()
                }
            };
            assert!((gas - row.gas).abs() <= 0.051, "{row:?}: {gas}");
        }
    }
}
