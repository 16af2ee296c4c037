//! The writer of log lines.
//!
//! Standard error may be a pipe that nobody reads, a full disk, or closed. Whoever writes to it then waits, or fails, and a program
//! that answers requests must do neither because of its log. So a thread of its own writes the lines, from a queue of bounded
//! length. If the queue is full, or a line cannot be written, the line is dropped and counted, and a line says how many were
//! dropped once lines can be written again.

use std::{
    io::{self, Write},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{self, Receiver, SyncSender},
    },
    thread,
    time::Duration,
};

/// Takes whole lines, and never waits. Clones write to the same log.
#[derive(Clone, Debug)]
pub struct LogWriter {
    lines: SyncSender<Message>,
    dropped: Arc<AtomicU64>,
}

/// Waits for the lines that are in the queue when it is dropped, a second at most.
#[derive(Debug)]
#[must_use = "lines that are in the queue when the program ends are lost without it"]
pub struct LogEnd {
    lines: SyncSender<Message>,
    done: Receiver<()>,
}

#[derive(Debug)]
enum Message {
    Line(Vec<u8>),
    End,
}

impl LogWriter {
    /// Writes to standard error. `told` makes the line, with its end, that says how many lines were dropped.
    ///
    /// # Errors
    /// The system has no thread for it.
    pub(super) fn to_stderr(told: fn(u64) -> String) -> io::Result<(Self, LogEnd)> {
        Self::to(io::stderr(), MOST_LINES, told)
    }

    /// Writes to `sink`, with a queue of `most` lines.
    fn to(sink: impl Write + Send + 'static, most: usize, told: fn(u64) -> String) -> io::Result<(Self, LogEnd)> {
        let (lines, queue) = mpsc::sync_channel(most);
        let (end, done) = mpsc::channel();
        let dropped = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&dropped);
        let work = move || {
            write_all(sink, queue, &counted, told);
            // Whoever waits may have given up.
            let _ = end.send(());
        };
        thread::Builder::new().name("log".to_owned()).spawn(work)?;
        Ok((Self { lines: lines.clone(), dropped }, LogEnd { lines, done }))
    }

    /// How many lines were dropped so far.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

impl Write for LogWriter {
    /// Takes all of it as one line. It never fails and never waits.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.lines.try_send(Message::Line(line.to_vec())).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for LogEnd {
    fn drop(&mut self) {
        // A queue that is full belongs to a log that nobody reads.
        if self.lines.try_send(Message::End).is_ok() {
            let _ = self.done.recv_timeout(LAST_LINES);
        }
    }
}

fn write_all(mut sink: impl Write, queue: Receiver<Message>, dropped: &AtomicU64, told: fn(u64) -> String) {
    let mut said = 0;
    while let Ok(Message::Line(line)) = queue.recv() {
        if sink.write_all(&line).and_then(|()| sink.flush()).is_err() {
            dropped.fetch_add(1, Ordering::Relaxed);
            continue;
        }
        let now = dropped.load(Ordering::Relaxed);
        if now > said && sink.write_all(told(now - said).as_bytes()).is_ok() {
            said = now;
        }
    }
}

/// Lines in the queue: more than a program writes while a reader of its log is slow.
const MOST_LINES: usize = 4096;
/// How long the end of the program waits for its last lines.
const LAST_LINES: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use std::{
        io::{BufRead, BufReader, PipeWriter, Read},
        time::Instant,
    };

    use super::*;

    fn told(dropped: u64) -> String {
        format!("{dropped} dropped\n")
    }

    #[test]
    fn lines_are_written_in_their_order_before_the_end() {
        let (mut reader, sink) = io::pipe().unwrap();
        let (mut log, end) = LogWriter::to(sink, 100, told).unwrap();
        let mut other = log.clone();
        for number in 0..40 {
            let line = format!("{number}\n");
            (if number % 2 == 0 { &mut log } else { &mut other }).write_all(line.as_bytes()).unwrap();
        }
        drop(end);
        drop((log, other));
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, (0..40).map(|number| format!("{number}\n")).collect::<String>());
    }

    /// A pipe that nobody reads is full after 64 KiB. Whoever logs goes on, and the reader who comes later learns what it missed.
    #[test]
    fn a_log_that_nobody_reads_holds_up_nobody() {
        let (reader, sink): (_, PipeWriter) = io::pipe().unwrap();
        let (mut log, end) = LogWriter::to(sink, 8, told).unwrap();
        let line = [&[b'x'; 1023][..], b"\n"].concat();
        let start = Instant::now();
        for _ in 0..1000 {
            log.write_all(&line).unwrap();
        }
        assert!(start.elapsed() < Duration::from_secs(30), "it waited");
        let dropped = log.dropped();
        assert!(dropped > 500, "{dropped}");
        // Somebody reads again: the lines that are in the pipe and the queue, and how many are missing.
        let read = thread::spawn(move || BufReader::new(reader).lines().map_while(Result::ok).collect::<Vec<_>>());
        while log.lines.try_send(Message::Line(b"last\n".to_vec())).is_err() {
            thread::yield_now();
        }
        drop(end);
        drop(log);
        let lines = read.join().unwrap();
        let missed: u64 = lines.iter().filter_map(|line| line.strip_suffix(" dropped")?.parse::<u64>().ok()).sum();
        assert_eq!(missed, dropped);
        assert!(lines.contains(&"last".to_owned()));
    }

    struct Disk {
        is_full: Arc<AtomicU64>,
        pipe: PipeWriter,
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            match self.is_full.load(Ordering::SeqCst) {
                0 => self.pipe.write(bytes),
                _ => Err(io::ErrorKind::StorageFull.into()),
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A disk is full, and has room again.
    #[test]
    fn lines_that_were_lost_are_counted_and_told() {
        let (mut reader, pipe) = io::pipe().unwrap();
        let is_full = Arc::new(AtomicU64::new(1));
        let disk = Disk { is_full: Arc::clone(&is_full), pipe };
        let (mut log, end) = LogWriter::to(disk, 8, told).unwrap();
        for line in ["a\n", "b\n"] {
            log.write_all(line.as_bytes()).unwrap();
        }
        while log.dropped() < 2 {
            thread::yield_now();
        }
        is_full.store(0, Ordering::SeqCst);
        for line in ["c\n", "d\n"] {
            log.write_all(line.as_bytes()).unwrap();
        }
        drop(end);
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "c\n2 dropped\nd\n");
    }

    #[test]
    fn a_log_that_is_closed_holds_up_nobody() {
        let (reader, sink) = io::pipe().unwrap();
        drop(reader);
        let (mut log, end) = LogWriter::to(sink, 8, told).unwrap();
        log.write_all(b"a line\n").unwrap();
        while log.dropped() < 1 {
            thread::yield_now();
        }
        drop(end);
        // The end waits for the thread, but not for ever: until the thread has ended, it takes lines.
        while !matches!(log.lines.try_send(Message::End), Err(mpsc::TrySendError::Disconnected(_))) {
            thread::yield_now();
        }
        log.write_all(b"after the end\n").unwrap();
        assert_eq!(log.dropped(), 2);
    }
}
