//! Records: folders of rows under `benchmarks/`, each with the machine that they were measured on.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use crate::{
    methods,
    peers::{Cannot, LeftOut},
    row::{Machine, Row, folder_of_records},
};

/// The file of the libraries that `peers` left out, beside its rows.
pub(crate) const LEFT_OUT: &str = "peers-left-out.json";

/// The file of the tasks that libraries cannot do, beside the rows of `peers`.
pub(crate) const CANNOT: &str = "peers-cannot.json";

/// The file that says what measured the rows of a record.
pub(crate) const DESCRIPTION: &str = "machine.json";

/// A folder of rows, and the machine that they were measured on.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) folder: PathBuf,
    pub(crate) machine: Machine,
}

impl Record {
    /// All of a repository, the newest last.
    pub(crate) fn all(root: &Path) -> Result<Vec<Self>> {
        let folder = folder_of_records(root);
        let entries = fs::read_dir(&folder).with_context(|| {
            format!("no records in {}; run this in the repository, or name the repository with --dir", folder.display())
        })?;
        let mut records = Vec::new();
        for entry in entries {
            let folder = entry.with_context(|| format!("cannot read {}", folder.display()))?.path();
            let machine = folder.join(DESCRIPTION);
            if machine.is_file() {
                records.push(Self { folder, machine: read(&machine)? });
            }
        }
        // Of one minute, in the same order each time.
        records.sort_by_key(|record| (record.machine.date.clone(), record.folder.clone()));
        Ok(records)
    }

    /// The rows of a file that were measured by today's methods, and whether these are all that the file has. No rows if the
    /// record does not have the file.
    pub(crate) fn rows(&self, file: &str) -> Result<(Vec<Row>, bool)> {
        let path = self.folder.join(format!("{file}.json"));
        if !path.exists() {
            return Ok((Vec::new(), false));
        }
        let mut rows: Vec<Row> = read(&path)?;
        let all = rows.len();
        rows.retain(|row| methods::is_of_today(&row.bench, &self.machine.methods));
        let is_whole = rows.len() == all;
        Ok((rows, is_whole))
    }

    /// The libraries that were left out when `peers` was recorded. None if the record does not say.
    pub(crate) fn left_out(&self) -> Result<LeftOut> {
        let path = self.folder.join(LEFT_OUT);
        if path.exists() { read(&path) } else { Ok(LeftOut::new()) }
    }

    /// Why libraries have no row of some tasks of `peers`. None if the record does not say.
    pub(crate) fn cannot(&self) -> Result<Cannot> {
        let path = self.folder.join(CANNOT);
        if path.exists() { read(&path) } else { Ok(Cannot::new()) }
    }

    /// The name of its folder.
    pub(crate) fn name(&self) -> String {
        self.folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Where and when the rows were measured, in a sentence.
    pub(crate) fn source(&self) -> String {
        let machine = &self.machine;
        format!(
            "Measured {} on {} ({}), with {}, at commit {}. The rows are in `benchmarks/{}`.\n",
            machine.date,
            machine.cpu,
            machine.features.join(", "),
            machine.compiler,
            machine.commit,
            self.name(),
        )
    }
}

/// Reads a file of a record.
pub(crate) fn read<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not a record of benchmarks", path.display()))
}
