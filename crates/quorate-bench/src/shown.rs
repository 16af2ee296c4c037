//! The rows that are shown. The tables of the documents, their plots, the page with its picture, and `compare` read rows from
//! here alone, so a figure is the same wherever it stands.

use std::path::Path;

use anyhow::{Context, Result};

use crate::{
    record::Record,
    row::{Row, Times, folder_of_records},
};

/// The files of rows, in sets that are shown from one record each: figures of one set stand side by side, and their ratios are
/// within one machine and one commit.
const SETS: [&[&str]; 15] = [
    &SPEED,
    &["bn254"],
    &["curve"],
    &["field"],
    &["threshold"],
    &["one-round"],
    &["dropin"],
    &["schemes"],
    &["service"],
    &["history"],
    &["gas"],
    &["network"],
    &["day"],
    &["simulated"],
    &["peers"],
];

/// The files that the table and the plot of the README are made of.
pub(crate) const SPEED: [&str; 6] = ["single", "batch", "block", "aggregate", "culprits", "msm"];

/// The fastest lanes. A table is of one CPU, and one with these lanes shows all of them.
const FASTEST: &str = "quorate/ifma";

/// The rows that are shown.
pub(crate) struct Rows {
    pub(crate) files: Vec<File>,
}

/// The rows of one file, and where they were measured. Both are empty if no record has rows of it by today's methods.
pub(crate) struct File {
    pub(crate) name: &'static str,
    pub(crate) record: Option<Record>,
    pub(crate) rows: Vec<Row>,
}

impl Rows {
    /// Chooses a record for each set: one with [`FASTEST`] before one without, then that which has the most files of it by today's
    /// methods, and of those the newest.
    pub(crate) fn shown(root: &Path) -> Result<Self> {
        let records = Record::all(root)?;
        let sets: Result<Vec<_>> = SETS.iter().map(|set| Self::of_set(&records, set)).collect();
        Ok(Self { files: sets?.into_iter().flatten().collect() })
    }

    /// The same of [`SPEED`] for each CPU by itself, the newest first, of the records in which an engine has this name.
    pub(crate) fn of_each_cpu(root: &Path, engine: &str) -> Result<Vec<Self>> {
        let (mut cpus, mut found): (Vec<Vec<Record>>, Vec<Self>) = (Vec::new(), Vec::new());
        for record in Record::all(root)?.into_iter().rev() {
            let (rows, _) = record.rows("batch")?;
            if rows.iter().all(|row| row.engine != engine) {
                continue;
            }
            match cpus.iter_mut().find(|cpu| cpu[0].machine.has_cpu_of(&record.machine)) {
                Some(cpu) => cpu.insert(0, record),
                None => cpus.push(vec![record]),
            }
        }
        for records in cpus {
            found.push(Self { files: Self::of_set(&records, &SPEED)? });
        }
        Ok(found)
    }

    /// The files of a set from one of some records, which are sorted by their time.
    fn of_set(records: &[Record], set: &[&'static str]) -> Result<Vec<File>> {
        // Whether the fastest lanes ran, how many files are whole, how many have rows at all.
        let mut best = ((false, 0, 1), None);
        for record in records {
            let files: Result<Vec<_>> = set.iter().map(|file| record.rows(file)).collect();
            let files = files?;
            let whole = files.iter().filter(|(rows, is_whole)| *is_whole && !rows.is_empty()).count();
            let some = files.iter().filter(|(rows, _)| !rows.is_empty()).count();
            let has_fastest = files.iter().flat_map(|(rows, _)| rows).any(|row| row.engine == FASTEST);
            let rank = (has_fastest, whole, some);
            if rank >= best.0 {
                best = (rank, Some((record, files)));
            }
        }
        Ok(match best.1 {
            Some((record, files)) => {
                set.iter().zip(files).map(|(name, (rows, _))| File::new(name, record, rows)).collect()
            }
            None => set.iter().map(|name| File { name, record: None, rows: Vec::new() }).collect(),
        })
    }

    pub(crate) fn file(&self, name: &str) -> Option<&File> {
        self.files.iter().find(|file| file.name == name)
    }

    /// The rows of a file. None if it was not measured.
    pub(crate) fn of(&self, name: &str) -> &[Row] {
        self.file(name).map_or(&[], |file| &file.rows)
    }

    /// The rows of several files.
    pub(crate) fn of_files(&self, names: &[&str]) -> Vec<Row> {
        names.iter().flat_map(|name| self.of(name)).cloned().collect()
    }

    /// The record that a file comes from.
    pub(crate) fn record(&self, name: &str) -> Option<&Record> {
        self.file(name)?.record.as_ref()
    }

    /// Where and when the rows of some files of one set were measured, and which of them were not.
    ///
    /// # Errors
    ///
    /// If none was.
    pub(crate) fn source(&self, root: &Path, names: &[&str]) -> Result<String> {
        let record = names.iter().find_map(|name| self.record(name)).with_context(|| {
            let (folder, names) = (folder_of_records(root), names.join("` or `"));
            format!(
                "no record of `{names}` by today's methods in {}: run `quorate-bench NAME --record` for each",
                folder.display()
            )
        })?;
        let missing: Vec<_> =
            names.iter().filter(|name| self.of(name).is_empty()).map(|name| format!("`{name}`")).collect();
        let mut text = record.source();
        if !missing.is_empty() {
            text.truncate(text.trim_end().len());
            text += &format!(" This record has no rows of {}.\n", missing.join(", "));
        }
        Ok(text)
    }

    /// A row by the file that it is in.
    pub(crate) fn row(&self, file: &str, bench: &str, engine: &str, n: usize, threads: usize) -> Option<&Row> {
        let of = |row: &&Row| row.bench == bench && row.engine == engine && row.n == n && row.threads == threads;
        self.of(file).iter().find(of)
    }

    /// Its times, of all that was measured and not of one item of it.
    pub(crate) fn total(&self, file: &str, bench: &str, engine: &str, n: usize, threads: usize) -> Option<Times> {
        Some(self.row(file, bench, engine, n, threads)?.total_times())
    }

    /// Its times as they stand in the row.
    pub(crate) fn each(&self, file: &str, bench: &str, engine: &str, n: usize, threads: usize) -> Option<Times> {
        self.row(file, bench, engine, n, threads).map(Row::times)
    }
}

impl File {
    /// Without its record if it has no row: nothing of it is shown.
    fn new(name: &'static str, record: &Record, rows: Vec<Row>) -> Self {
        Self { name, record: (!rows.is_empty()).then(|| record.clone()), rows }
    }
}
