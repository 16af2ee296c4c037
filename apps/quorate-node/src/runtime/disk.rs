//! Whether the data folder can be written: each failure is counted, and the log says when failures begin and when they end.

use std::time::Duration;

use quorate_network::roles::Saved;
use tokio::{sync::watch, time::sleep};

use super::clock::Clock;
use crate::{
    board::{Component, NodeBoard},
    data_folder::{DataFolder, DataFolderError},
};

/// What is known of the disk.
#[derive(Debug, Default)]
pub(super) struct Disk {
    failing: Option<Failing>,
}

#[derive(Debug)]
struct Failing {
    /// In the node's own milliseconds.
    since: u64,
    failures: u64,
}

/// How long the node waits before it writes to a disk again that refused.
const RETRY: Duration = Duration::from_secs(1);

impl Disk {
    /// Writes the state, however long that takes: nothing that depends on it may leave before. `false` if the node was told to end
    /// meanwhile.
    pub(super) async fn write(
        &mut self,
        data: &DataFolder,
        saved: &Saved,
        board: &NodeBoard,
        clock: &Clock,
        mut stop: watch::Receiver<bool>,
    ) -> bool {
        loop {
            let wrote = data.write_state(saved);
            if self.note(board, wrote, clock.now()) {
                return true;
            }
            board.turned();
            tokio::select! {
                () = sleep(RETRY) => {}
                _ = stop.wait_for(|stop| *stop) => return false,
            }
        }
    }

    /// Notes how a write ended; `true` if it is on disk.
    pub(super) fn note(&mut self, board: &NodeBoard, wrote: Result<(), DataFolderError>, now: u64) -> bool {
        match wrote {
            Ok(()) => {
                board.problem(Component::Disk, None);
                if let Some(Failing { since, failures }) = self.failing.take() {
                    let seconds = now.saturating_sub(since) / 1_000;
                    tracing::warn!(failures, seconds, "the data folder can be written again");
                }
                true
            }
            Err(error) => {
                let why = error.to_string();
                let failing = self.failing.get_or_insert_with(|| {
                    tracing::error!(
                        "{why}; until this works, no task is taken and nothing leaves the node that depends on it"
                    );
                    Failing { since: now, failures: 0 }
                });
                failing.failures += 1;
                board.failed(Component::Disk, why);
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::{board::Expectations, kept_tasks::KeptTasks};

    /// A folder that is not there fails as a full disk does, for whoever runs the test.
    #[test]
    fn a_full_disk_that_was_freed_is_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let (path, away) = (folder.path().join("node"), folder.path().join("away"));
        let data = DataFolder::open(&path).unwrap();
        let (board, mut disk) = (NodeBoard::new(Expectations::default()), Disk::default());
        assert!(disk.note(&board, data.write_state(&Saved::default()), 1_000));
        fs::rename(&path, &away).unwrap();
        for time in 2..5 {
            assert!(!disk.note(&board, data.write_tasks(&KeptTasks::default()), time * 1_000));
        }
        assert!(disk.failing.is_some());
        let shown = board.view(5_000);
        assert!(shown.problems.iter().any(|problem| problem.component == "disk"), "{:?}", shown.problems);
        assert!(board.metrics(5_000).contains("quorate_node_failures_total{component=\"disk\"} 3"), "each is counted");
        fs::rename(&away, &path).unwrap();
        assert!(disk.note(&board, data.write_state(&Saved::default()), 6_000) && disk.failing.is_none());
        assert!(board.view(6_000).problems.is_empty());
    }
}
