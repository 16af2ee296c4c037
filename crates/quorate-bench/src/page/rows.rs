//! The rows that the page shows: of each file of records the newest.

use std::path::Path;

use anyhow::Result;

use crate::{
    record::Record,
    row::{Figures, Machine, Row, Times},
};

/// The files of records that the page reads.
pub(crate) const FILES: [&str; 8] =
    ["single", "block", "aggregate", "culprits", "threshold", "schemes", "service", "gas"];

/// The newest rows of each file.
pub(crate) struct Rows {
    pub(crate) files: Vec<File>,
}

/// The rows of one file, and where they were measured. Both are empty if there is no record.
pub(crate) struct File {
    pub(crate) name: &'static str,
    pub(crate) record: Option<(String, Machine)>,
    pub(crate) rows: Vec<Row>,
}

impl Rows {
    pub(crate) fn newest(root: &Path) -> Result<Self> {
        let file = |name| {
            let record = Record::newest_or_none(root, &[name])?;
            let rows = record.as_ref().map_or(Ok(Vec::new()), |record| record.rows(&[name]))?;
            Ok(File { name, record: record.map(|record| (record.name(), record.machine)), rows })
        };
        Ok(Self { files: FILES.into_iter().map(file).collect::<Result<_>>()? })
    }

    pub(crate) fn file(&self, name: &str) -> Option<&File> {
        self.files.iter().find(|file| file.name == name)
    }

    pub(crate) fn of(&self, file: &str) -> &[Row] {
        self.file(file).map_or(&[], |file| &file.rows)
    }

    /// A row by the file that it is in.
    pub(crate) fn row(&self, file: &str, bench: &str, engine: &str, n: usize, threads: usize) -> Option<&Row> {
        let of = |row: &&Row| row.bench == bench && row.engine == engine && row.n == n && row.threads == threads;
        self.of(file).iter().find(of)
    }

    /// Its times, of all that was measured and not of one item of it.
    pub(crate) fn total(&self, file: &str, bench: &str, engine: &str, n: usize, threads: usize) -> Option<Times> {
        let row = self.row(file, bench, engine, n, threads)?;
        Some(times(row).times(row.total() / row.figures.middle()))
    }

    /// Its times as they stand in the row.
    pub(crate) fn each(&self, file: &str, bench: &str, engine: &str, n: usize, threads: usize) -> Option<Times> {
        self.row(file, bench, engine, n, threads).map(times)
    }
}

/// The figures of a row. Those of gas have the median and the mean as their edges.
pub(crate) fn times(row: &Row) -> Times {
    match row.figures {
        Figures::Us(times) => times,
        Figures::Gas(gas) => Times { min: gas.mean.min(gas.median), median: gas.mean, max: gas.mean.max(gas.median) },
    }
}

/// Arithmetic on a figure and its spread.
pub(crate) trait Spread {
    fn times(self, factor: f64) -> Self;
    /// `number / self`: throughput from times.
    fn below(self, number: f64) -> Self;
}

impl Spread for Times {
    fn times(self, factor: f64) -> Self {
        Self { min: self.min * factor, median: self.median * factor, max: self.max * factor }
    }

    fn below(self, number: f64) -> Self {
        Self { min: number / self.max, median: number / self.median, max: number / self.min }
    }
}

/// A figure without a spread.
pub(crate) fn exactly(value: f64) -> Times {
    Times { min: value, median: value, max: value }
}
