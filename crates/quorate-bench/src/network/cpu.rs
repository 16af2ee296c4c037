//! CPU time of other processes, from `/proc` (proc(5)).

use std::{fs, time::Duration};

use anyhow::{Context, Result};

/// The CPU time of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cpu {
    /// Its own, of all its threads.
    pub(super) own: Duration,
    /// That of its children which have ended.
    pub(super) children: Duration,
}

/// The CPU time of a process that runs.
pub(super) fn of_process(process: u32) -> Result<Cpu> {
    read(&format!("/proc/{process}/stat"))
}

/// The CPU time of the threads of a process whose names begin so. Names have at most 15 bytes here. The first thread has the
/// name of the program, and never counts.
pub(super) fn of_threads(process: u32, names: &[&str]) -> Result<Duration> {
    let folder = format!("/proc/{process}/task");
    let mut sum = Duration::ZERO;
    for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {folder}"))? {
        let thread = entry.with_context(|| format!("cannot read {folder}"))?.file_name();
        let thread = thread.to_string_lossy();
        if *thread == process.to_string() {
            continue;
        }
        // A thread of the pool that reads files can end at any moment.
        let Ok(name) = fs::read_to_string(format!("{folder}/{thread}/comm")) else { continue };
        if names.iter().any(|begin| name.starts_with(begin)) {
            sum += read(&format!("{folder}/{thread}/stat"))?.own;
        }
    }
    Ok(sum)
}

fn read(path: &str) -> Result<Cpu> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {path}: the process has ended"))?;
    parse(&text).with_context(|| format!("{path} is not what proc(5) describes: {text}"))
}

fn parse(text: &str) -> Option<Cpu> {
    // The second field is a name in parentheses, which may hold spaces and parentheses. The third follows the last of them.
    let (_, rest) = text.rsplit_once(") ")?;
    let fields: Vec<_> = rest.split_ascii_whitespace().collect();
    let ticks = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    let time = |user: usize, system: usize| Some(Duration::from_millis(MS_OF_TICK * (ticks(user)? + ticks(system)?)));
    Some(Cpu { own: time(14, 15)?, children: time(16, 17)? })
}

/// The kernel tells programs CPU time in hundredths of a second, whatever its own clock is.
const MS_OF_TICK: u64 = 10;

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::{
        sync::{
            Arc,
            atomic::{AtomicBool, Ordering},
        },
        time::Instant,
    };

    use quorate_lab::run::LIMIT;

    use super::*;

    #[test]
    fn a_name_with_parentheses_moves_no_field() {
        let line = "7 (a) (b c) S 1 7 7 0 -1 4194304 98 0 1 0 12 3 40 5 20 0 1 0 2053371 3133440";
        let expected = Cpu { own: Duration::from_millis(150), children: Duration::from_millis(450) };
        assert_eq!(parse(line), Some(expected));
        assert_eq!(parse("7 (a) S 1 7 7"), None);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn threads_are_found_by_name() {
        let worker = std::thread::Builder::new().name("bench-worker-1".to_owned());
        let is_done = Arc::new(AtomicBool::new(false));
        let told = is_done.clone();
        let busy = worker.spawn(move || {
            let mut sum = 0_u64;
            while !told.load(Ordering::Relaxed) {
                sum = std::hint::black_box(sum.wrapping_add(1));
            }
        });
        let (process, begun) = (std::process::id(), Instant::now());
        let mut found = Duration::ZERO;
        while found < Duration::from_millis(20) {
            assert!(begun.elapsed() < LIMIT, "{found:?}");
            std::thread::sleep(Duration::from_millis(10));
            found = of_threads(process, &["bench-worker"]).unwrap();
        }
        assert_eq!(of_threads(process, &["no such thread"]).unwrap(), Duration::ZERO);
        assert!(of_process(process).unwrap().own >= found);
        is_done.store(true, Ordering::Relaxed);
        busy.unwrap().join().unwrap();
        let error = format!("{:#}", of_process(u32::MAX).unwrap_err());
        assert!(error.contains("/proc/4294967295/stat"), "{error}");
    }
}
