//! Runs over shards: processes that share a folder, and the coordinator's own work as the shards become many.

use std::{
    fmt::Write as _,
    fs,
    ops::ControlFlow,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use quorate::{Backend, MinPk, Verifier};
use quorate_history::{
    Files, FolderFiles,
    shards::{self, Manifest, RunTerms},
};
use tempfile::TempDir;

use super::memory::resident_of;
use crate::{
    built::beside,
    data::{self, Signed},
    measure::{Engine, Run, Spent, measure},
    row::Row,
};

/// A folder in memory where the system has one: the disk is not what is measured.
fn folder() -> Result<TempDir> {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { Ok(TempDir::new_in(memory)?) } else { Ok(TempDir::new()?) }
}

/// Cuts files into shards of about so many bytes, and answers with the folder of the run.
fn planned(folder: &TempDir, files: &[PathBuf], shard_bytes: u64) -> Result<(PathBuf, Manifest)> {
    let run = folder.path().join("run");
    let files = Files::open(files, FolderFiles::ChainsAndClaims, None, None)?;
    let terms = RunTerms { suite: None, soundness: quorate::Soundness::default(), all_verdicts: true };
    let manifest = shards::plan(&files, &run, terms, shard_bytes, |_| ControlFlow::Continue(()))?;
    Ok((run, manifest))
}

/// `history/workers`: processes of one thread, each with a file of claims of its own.
pub(super) fn workers(run: &Run) -> Vec<Row> {
    let of_each = run.choose(64, 4096);
    let mut rows = Vec::new();
    for workers in run.choose(&[1, 2][..], &[1, 2, 4, 8]) {
        let folder = folder().expect("a folder");
        let files = claims(&folder, *workers, of_each).expect("claims on disk");
        let (path, manifest) = planned(&folder, &files, u64::MAX).expect("a plan");
        assert_eq!(manifest.shards.len(), *workers);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let beyond = if *workers > cores { format!(", more than the {cores} cores") } else { String::new() };
        let n = workers * of_each;
        let work = || {
            let _ = fs::remove_dir_all(path.join("results"));
            work_together(&path, *workers).expect("workers that end well");
        };
        let note = format!("{workers} processes, each {of_each} claims from JSON Lines{beyond}");
        let engine = of_other_processes(*workers, work).note(note);
        rows.extend(measure("history/workers", n, "claim", n, run.choose(1, 5), vec![engine]));
        let report = shards::merge(&path, &manifest).expect("a whole run");
        assert_eq!((report.counts.claims, report.counts.valid), (n as u64, n as u64));
    }
    rows
}

/// The work of other processes, on quorate's fastest backend. It has no CPU time, because that of this process is not theirs.
fn of_other_processes<'a>(workers: usize, mut work: impl FnMut() + 'a) -> Engine<'a> {
    let name = Engine::name_of(Backend::auto());
    Engine::told(name, workers, move || Spent { cpu: None, ..Spent::of(&mut work).1 })
}

/// Writes a file of claims for each worker. No two files are equal.
fn claims(folder: &TempDir, files: usize, of_each: usize) -> Result<Vec<PathBuf>> {
    let signed = data::signed(MinPk::Eth2, of_each, |i| i, |i| i);
    let hex = |bytes: &[u8]| const_hex::encode(bytes);
    let write = |file: usize| {
        let mut text = String::new();
        for (i, Signed { key, message, signature }) in signed.iter().enumerate() {
            writeln!(
                text,
                r#"{{"id":"{file}.{i}","suite":"eth2","public_key":"{}","message":"{}","signature":"{}"}}"#,
                hex(&key.to_bytes()),
                hex(message),
                hex(&signature.to_bytes())
            )?;
        }
        let path = folder.path().join(format!("claims-{file}.jsonl"));
        fs::write(&path, text)?;
        Ok(path)
    };
    (0..files).map(write).collect()
}

/// Starts `quorate history`, which was built beside this program.
fn history(arguments: &[&str], run: &Path) -> Result<Child> {
    let program = beside("quorate", "-p quorate-cli")?;
    let mut command = Command::new(&program);
    command.arg("history").args(arguments).arg(run).stdin(Stdio::null());
    command.spawn().with_context(|| format!("cannot start {}", program.display()))
}

/// The greatest memory of a merge in KiB, as it was seen from outside; none where the system does not say.
fn memory_of_merge(run: &Path) -> Result<Option<u64>> {
    let mut child = history(&["merge", "--quiet"], run)?;
    let process = child.id().to_string();
    let mut greatest = None;
    while child.try_wait()?.is_none() {
        greatest = greatest.max(resident_of(&process, "VmHWM"));
        thread::sleep(Duration::from_millis(1));
    }
    Ok(greatest)
}

/// Starts a process for each shard and waits for all.
fn work_together(run: &Path, workers: usize) -> Result<()> {
    let start = |shard: usize| history(&["run", "--quiet", "--threads", "1", "--shard", &shard.to_string()], run);
    let children = (0..workers).map(start).collect::<Result<Vec<_>>>()?;
    for mut child in children {
        ensure!(child.wait()?.success(), "a worker failed");
    }
    Ok(())
}

/// `history/merge`: the manifest is read and all results are put together. The shards are one line each and hold no claim, so that it
/// is the coordinator's work alone.
pub(super) fn merge(run: &Run) -> Vec<Row> {
    let mut rows = Vec::new();
    for n in run.choose(&[100][..], &[100, 1_000, 10_000, 100_000]) {
        let folder = folder().expect("a folder");
        let path = folder.path().join("lines.jsonl");
        fs::write(&path, "x\n".repeat(*n)).expect("a file");
        let (path, manifest) = planned(&folder, &[path], 1).expect("a plan");
        assert_eq!(manifest.shards.len(), *n);
        let verifier = Verifier::new(data::options(Backend::Portable, 1));
        for shard in 0..*n as u64 {
            let stay = |_| ControlFlow::Continue(());
            shards::run(&path, &manifest, shard, &verifier, &mut data::rng(), stay).expect("a shard");
        }
        drop(manifest);
        let put_together = || {
            let manifest = Manifest::read(&path).expect("a manifest");
            let report = shards::merge(&path, &manifest).expect("a whole run");
            assert_eq!((report.shards, report.malformed), (*n as u64, *n as u64));
        };
        // A process of its own, because memory that this one has freed is used again.
        let memory = memory_of_merge(&path).expect("a merge");
        let memory = memory.map_or(String::new(), |kib| format!("; the command takes {} MiB of memory", kib >> 10));
        let engine = Engine::new("quorate", 1, put_together).note(format!("simulated shards{memory}"));
        rows.extend(measure("history/merge", *n, "shard", *n, run.choose(1, 3), vec![engine]));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What this process spends while it waits for others says nothing about them.
    #[test]
    fn the_work_of_other_processes_has_no_cpu_time() {
        let engine = of_other_processes(2, || thread::sleep(Duration::from_millis(1)));
        let rows = measure("history/workers", 1, "claim", 1, 1, vec![engine]);
        assert!(rows[0].cpu_us.is_none() && rows[0].times().min >= 1e3, "{rows:?}");
    }
}
