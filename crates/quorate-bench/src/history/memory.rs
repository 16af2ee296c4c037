//! The memory of this process, as the system counts it.

/// Lets the greatest memory of this process so far be what it is now, where the system can.
pub(super) fn forget_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// A figure of this process's memory, in KiB; none where the system does not say.
pub(super) fn resident(name: &str) -> Option<u64> {
    resident_of("self", name)
}

/// The same of another process, as long as it lives.
pub(super) fn resident_of(process: &str, name: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}
