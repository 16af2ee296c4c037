//! Records: folders of rows under `benchmarks/`, each with the machine that they were measured on.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use crate::row::{Machine, Row, folder_of_records};

/// A folder of rows, and the machine that they were measured on.
pub(crate) struct Record {
    pub(crate) folder: PathBuf,
    pub(crate) machine: Machine,
}

impl Record {
    /// The newest one that has the rows of all these benchmarks. Not every record has those of all.
    pub(crate) fn newest_with(root: &Path, names: &[&str]) -> Result<Self> {
        Self::newest_or_none(root, names)?.with_context(|| {
            let (folder, names) = (folder_of_records(root), names.join("` and `"));
            format!("no record of `{names}` in {}: run `quorate-bench NAME --record` for each", folder.display())
        })
    }

    /// The same, and `None` if no record has such rows.
    pub(crate) fn newest_or_none(root: &Path, names: &[&str]) -> Result<Option<Self>> {
        Ok(Self::all(root, names)?.pop())
    }

    /// The newest one of each CPU, the newest of all first.
    pub(crate) fn newest_of_each_cpu(root: &Path, names: &[&str]) -> Result<Vec<Self>> {
        let mut newest: Vec<Self> = Vec::new();
        for record in Self::all(root, names)?.into_iter().rev() {
            if newest.iter().all(|other| !other.machine.has_cpu_of(&record.machine)) {
                newest.push(record);
            }
        }
        Ok(newest)
    }

    /// All that have the rows of these benchmarks, the newest last.
    fn all(root: &Path, names: &[&str]) -> Result<Vec<Self>> {
        let folder = folder_of_records(root);
        let entries = fs::read_dir(&folder).with_context(|| {
            format!("no records in {}; run this in the repository, or name the repository with --dir", folder.display())
        })?;
        let folders = entries.filter_map(|entry| entry.ok().map(|e| e.path()));
        let records = folders
            .filter(|path| names.iter().all(|name| path.join(format!("{name}.json")).is_file()))
            .filter_map(|folder| {
                let machine = read(&folder.join("machine.json")).ok()?;
                Some(Self { folder, machine })
            });
        let mut records: Vec<_> = records.collect();
        // Of one day, in the same order each time.
        records.sort_by_key(|record| (record.machine.date.clone(), record.folder.clone()));
        Ok(records)
    }

    pub(crate) fn rows(&self, names: &[&str]) -> Result<Vec<Row>> {
        let files = names.iter().map(|name| self.folder.join(format!("{name}.json"))).filter(|file| file.exists());
        let rows: Result<Vec<Vec<Row>>> = files.map(|file| read(&file)).collect();
        Ok(rows?.into_iter().flatten().collect())
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

fn read<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not a record of benchmarks", path.display()))
}
