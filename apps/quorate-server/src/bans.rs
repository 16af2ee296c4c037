//! Bans that outlast the server: a file that is written whole, soon after each ban and pardon.
//!
//! ```json
//! {"version": 1, "bans": [{"source": "mallory", "until": 1790000600, "seconds": 600, "by_word": true, "again": false, "bans": 1, "false_claims": 0}]}
//! ```
//!
//! Connections are not in it: their numbers begin anew.

use std::{
    fs::{self, File},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::{Context as _, anyhow, ensure};
use quorate::SourceId;
use quorate_batcher::{Ban, Batcher};
use serde::{Deserialize, Serialize};
use tokio::{sync::Notify, time::sleep};

use crate::{claims::Caller, metrics::Metrics};

/// The file, and what keeps it up to date.
#[derive(Debug)]
pub(crate) struct BansFile {
    path: PathBuf,
    batcher: Batcher,
    metrics: Arc<Metrics>,
    /// One writes at a time. Whether the last time failed.
    writing: Mutex<bool>,
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

/// The bans of a file, of which there need not be one.
///
/// # Errors
/// It cannot be read, or it is damaged: then nobody knows who is banned.
pub(crate) fn read(path: &Path, now: u64) -> anyhow::Result<Vec<Ban>> {
    let bytes = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        opened => {
            let mut bytes = Vec::new();
            opened?.take(LARGEST + 1).read_to_end(&mut bytes)?;
            bytes
        }
    };
    let damaged = |why: anyhow::Error| {
        why.context(format!(
            "{}: the file of bans is damaged; mend it, or remove it to start without the bans in it",
            path.display()
        ))
    };
    let parsed = || -> anyhow::Result<Document> {
        ensure!(bytes.len() as u64 <= LARGEST, "it has more than {LARGEST} bytes");
        let document: Document = serde_json::from_slice(&bytes)?;
        ensure!(document.version == VERSION, "found version {}, expected {VERSION}", document.version);
        Ok(document)
    };
    let entries = parsed().map_err(damaged)?.bans.into_iter();
    let bans = entries.map(|entry| Ban {
        source: entry.source,
        left: Duration::from_secs(entry.until.saturating_sub(now).min(entry.seconds)),
        by_word: entry.by_word,
        again: entry.again,
        bans: entry.bans,
        false_claims: entry.false_claims,
    });
    Ok(bans.filter(|ban| !ban.left.is_zero()).collect())
}

impl BansFile {
    pub(crate) fn new(path: PathBuf, batcher: Batcher, metrics: Arc<Metrics>) -> Arc<Self> {
        Arc::new(Self { path, batcher, metrics, writing: Mutex::new(false) })
    }

    /// Writes the bans that are in force now. It blocks.
    pub(crate) fn write(&self, now: u64) -> io::Result<()> {
        let mut failed = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let written = replace(&self.path, &self.document(now));
        self.metrics.bans_written(written.is_ok());
        match &written {
            Err(error) if !*failed => {
                tracing::error!(path = %self.path.display(), %error, "bans cannot be written down; trying again from time to time");
            }
            Ok(()) if *failed => tracing::warn!(path = %self.path.display(), "bans are written down again"),
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

/// Replaces a file as a whole: a reader and a power cut see the old one or the new one.
fn replace(path: &Path, contents: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(contents)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    File::open(folder)?.sync_all()
}

/// Bans again whom the file names. For a server that starts.
pub(crate) fn restore(path: &Path, batcher: &Batcher, now: u64) -> anyhow::Result<()> {
    let bans = read(path, now).with_context(|| anyhow!("sources.bans"))?;
    batcher.restore_bans(&bans);
    if !bans.is_empty() {
        tracing::info!(bans = bans.len(), path = %path.display(), "bans are in force again");
    }
    Ok(())
}

const VERSION: u32 = 1;
/// Names of sources take up to 16 MiB, and six times that if each letter is escaped.
const LARGEST: u64 = 128 << 20;
/// How long what comes together is awaited, and how long writing rests after it failed.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use quorate_batcher::Settings;

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
        let connection = Caller::new(7, "10.0.0.1", false).source(None).unwrap();
        for source in [&"mallory".into(), &7.into(), &connection] {
            first.ban(source, Duration::from_secs(1000));
        }
        let metrics = Arc::new(Metrics::new());
        BansFile::new(path.clone(), first, metrics.clone()).write(NOW).unwrap();
        let names = |now| {
            let second = batcher();
            restore(&path, &second, now).unwrap();
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
        assert_eq!(read(&path, NOW).unwrap(), []);
        for damaged in [&b""[..], b"{}", b"\0\0\0\0", br#"{"version":2,"bans":[]}"#, br#"{"version":1,"bans":[{"#] {
            fs::write(&path, damaged).unwrap();
            let error = format!("{:#}", read(&path, NOW).unwrap_err());
            assert!(error.contains("bans.json: the file of bans is damaged; mend it"), "{error}");
        }
    }

    /// What cannot be written is told, and written as soon as it can be.
    #[tokio::test]
    async fn bans_are_written_again_after_a_failure() {
        let folder = tempfile::tempdir().unwrap();
        let blocked = folder.path().join("folder");
        // A file in place of the folder: nothing can be written below it.
        fs::write(&blocked, "").unwrap();
        let (batcher, metrics, changed) = (batcher(), Arc::new(Metrics::new()), Arc::new(Notify::new()));
        let file = BansFile::new(blocked.join("bans.json"), batcher.clone(), metrics.clone());
        let keeping = tokio::spawn(file.keep(changed.clone(), || NOW));
        batcher.ban(&"mallory".into(), Duration::from_secs(60));
        changed.notify_one();
        while metrics.bans_failures() < 2 {
            sleep(Duration::from_millis(5)).await;
        }
        fs::remove_file(&blocked).unwrap();
        while read(&blocked.join("bans.json"), NOW).map_or(0, |bans| bans.len()) < 1 {
            sleep(Duration::from_millis(5)).await;
        }
        keeping.abort();
    }
}
