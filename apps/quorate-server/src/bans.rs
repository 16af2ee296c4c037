//! Bans that outlast the server: a file that is written whole, soon after each ban and pardon.
//!
//! ```json
//! {"version": 1, "bans": [{"source": "mallory", "until": 1790000600, "seconds": 600, "by_word": true, "again": false, "bans": 1, "false_claims": 0}]}
//! ```
//!
//! Connections are not in it: their numbers begin anew.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::{Context as _, ensure};
use quorate::SourceId;
use quorate_batcher::{Ban, Batcher};
use quorate_host::file::{FileError, WholeFile, folder_of, make_private_folder};
use serde::{Deserialize, Serialize};
use tokio::{sync::Notify, time::sleep};

use crate::{claims::Caller, metrics::Metrics};

/// The file, and what keeps it up to date.
#[derive(Debug)]
pub(crate) struct BansFile {
    batcher: Batcher,
    metrics: Arc<Metrics>,
    /// One writes at a time.
    writing: Mutex<Writing>,
}

#[derive(Debug)]
struct Writing {
    file: WholeFile,
    /// Whether it could not be written the last time.
    failed: bool,
}

/// What the file says.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    bans: Vec<Entry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    source: SourceId,
    /// Unix seconds.
    until: u64,
    /// How much of the ban was left when it was written. A clock that was set back makes no ban longer than that.
    seconds: u64,
    by_word: bool,
    again: bool,
    bans: u64,
    false_claims: u64,
}

/// Opens the file, of which there need not be one, and reads its bans.
///
/// # Errors
/// It cannot be read, or it is damaged: then nobody knows who is banned.
pub(crate) fn open(path: &Path, now: u64) -> anyhow::Result<(WholeFile, Vec<Ban>)> {
    make_private_folder(folder_of(path))?;
    let (file, contents) = WholeFile::open(path, LARGEST)?;
    let parsed = || -> anyhow::Result<Vec<Entry>> {
        let Some(contents) = &contents else { return Ok(Vec::new()) };
        let document: Document = serde_json::from_slice(contents)?;
        ensure!(document.version == VERSION, "found version {}, expected {VERSION}", document.version);
        Ok(document.bans)
    };
    let entries = parsed().with_context(|| {
        format!(
            "{}: the file of bans is damaged; mend it, or remove it to start without the bans in it",
            path.display()
        )
    })?;
    let bans = entries.into_iter().map(|entry| Ban {
        source: entry.source,
        left: Duration::from_secs(entry.until.saturating_sub(now).min(entry.seconds)),
        by_word: entry.by_word,
        again: entry.again,
        bans: entry.bans,
        false_claims: entry.false_claims,
    });
    Ok((file, bans.filter(|ban| !ban.left.is_zero()).collect()))
}

impl BansFile {
    /// Bans again whom the file names, and keeps it from now on.
    ///
    /// # Errors
    /// Those of [`open`].
    pub(crate) fn restore(path: &Path, batcher: Batcher, metrics: Arc<Metrics>, now: u64) -> anyhow::Result<Arc<Self>> {
        let (file, bans) = open(path, now).context("sources.bans")?;
        batcher.restore_bans(&bans);
        if !bans.is_empty() {
            tracing::info!(bans = bans.len(), path = %path.display(), "bans are in force again");
        }
        Ok(Arc::new(Self { batcher, metrics, writing: Mutex::new(Writing { file, failed: false }) }))
    }

    /// Writes the bans that are in force now. It blocks.
    pub(crate) fn write(&self, now: u64) -> Result<(), FileError> {
        let Writing { file, failed } = &mut *self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let written = file.replace(&self.document(now));
        self.metrics.bans_written(written.is_ok());
        match &written {
            Err(error) if !*failed => {
                tracing::error!(%error, "bans cannot be written down; trying again from time to time");
            }
            Ok(()) if *failed => tracing::warn!("bans are written down again"),
            _ => {}
        }
        *failed = written.is_err();
        written
    }

    fn document(&self, now: u64) -> Vec<u8> {
        let bans = self.batcher.bans().into_iter().filter(|ban| !Caller::is_own(&ban.source));
        let bans = bans.map(|Ban { source, left, by_word, again, bans, false_claims }| Entry {
            source,
            until: now.saturating_add(left.as_secs()),
            seconds: left.as_secs(),
            by_word,
            again,
            bans,
            false_claims,
        });
        let document = Document { version: VERSION, bans: bans.collect() };
        serde_json::to_vec(&document).expect("numbers, texts and lists can always be written")
    }

    /// Writes whenever something changes, for ever. What comes together is written once, and what could not be written is written
    /// after a pause.
    pub(crate) async fn keep(self: Arc<Self>, changed: Arc<Notify>, now: fn() -> u64) {
        loop {
            changed.notified().await;
            let mut pause = FIRST_PAUSE;
            loop {
                sleep(pause).await;
                let this = self.clone();
                let written = tokio::task::spawn_blocking(move || this.write(now())).await;
                if matches!(written, Ok(Ok(()))) {
                    break;
                }
                pause = (2 * pause).min(LONGEST_PAUSE);
            }
        }
    }
}

const VERSION: u32 = 1;
/// Names of sources take up to 16 MiB, and six times that if each letter is escaped.
const LARGEST: u64 = 128 << 20;
/// How long what comes together is awaited, and how long writing rests after it failed.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use std::{
        fs,
        sync::atomic::{AtomicBool, Ordering},
    };

    use quorate_batcher::Settings;
    use quorate_host::file::Step;

    use super::*;

    const NOW: u64 = 1_790_000_000;

    fn batcher() -> Batcher {
        Batcher::start(Settings { threads: std::num::NonZeroUsize::MIN, ..Settings::default() }).unwrap()
    }

    #[test]
    fn bans_outlast_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bans.json");
        let first = batcher();
        let connection = Caller::new(7, "10.0.0.1", None, false).source(None).unwrap();
        for source in [&"mallory".into(), &7.into(), &connection] {
            first.ban(source, Duration::from_secs(1000));
        }
        let metrics = Arc::new(Metrics::new());
        let restored =
            |batcher: &Batcher, now| BansFile::restore(&path, batcher.clone(), metrics.clone(), now).unwrap();
        restored(&first, NOW).write(NOW).unwrap();
        let names = |now| {
            let second = batcher();
            restored(&second, now);
            let mut bans: Vec<_> = second.bans().into_iter().map(|ban| (ban.source.to_string(), ban.by_word)).collect();
            bans.sort();
            let longest = second.bans().iter().map(|ban| ban.left.as_secs()).max().unwrap_or(0);
            (bans, longest)
        };
        // Numbers of connections begin anew, so their bans end with the server.
        let both = vec![("7".to_owned(), true), ("mallory".to_owned(), true)];
        let (bans, longest) = names(NOW + 400);
        assert!(bans == both && (590..=600).contains(&longest), "{bans:?} {longest}");
        // A clock that was set back makes no ban longer.
        let (bans, longest) = names(NOW - 100_000);
        assert!(bans == both && longest <= 1000, "{bans:?} {longest}");
        assert_eq!(names(NOW + 1000).0, []);
    }

    #[test]
    fn a_damaged_file_of_bans_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bans.json");
        assert_eq!(open(&path, NOW).unwrap().1, []);
        for damaged in [&b""[..], b"{}", b"\0\0\0\0", br#"{"version":2,"bans":[]}"#, br#"{"version":1,"bans":[{"#] {
            fs::write(&path, damaged).unwrap();
            let error = format!("{:#}", open(&path, NOW).unwrap_err());
            assert!(error.contains("bans.json: the file of bans is damaged; mend it"), "{error}");
        }
    }

    /// What cannot be written is told, and written as soon as it can be.
    #[tokio::test]
    async fn bans_are_written_again_after_a_failure() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bans.json");
        let (batcher, metrics, changed) = (batcher(), Arc::new(Metrics::new()), Arc::new(Notify::new()));
        let bans = BansFile::restore(&path, batcher.clone(), metrics.clone(), NOW).unwrap();
        let full = Arc::new(AtomicBool::new(true));
        let disk = full.clone();
        bans.writing.lock().unwrap().file.interrupt(Box::new(move |step| {
            let fits = step != Step::Write || !disk.load(Ordering::SeqCst);
            if fits { Ok(()) } else { Err(std::io::ErrorKind::StorageFull.into()) }
        }));
        let keeping = tokio::spawn(bans.keep(changed.clone(), || NOW));
        batcher.ban(&"mallory".into(), Duration::from_secs(60));
        changed.notify_one();
        while metrics.bans_failures() < 2 {
            sleep(Duration::from_millis(5)).await;
        }
        assert!(!path.exists());
        full.store(false, Ordering::SeqCst);
        while !fs::read_to_string(&path).is_ok_and(|text| text.contains("mallory")) {
            sleep(Duration::from_millis(5)).await;
        }
        keeping.abort();
    }
}
