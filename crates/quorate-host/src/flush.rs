//! A flush to the disk, on every kind of volume.

use std::{fs::File, io};

/// Flushes a file or a folder to the disk.
///
/// On Apple's systems the disk itself is told to write what it holds. Volumes of SMB, NFS and macFUSE do not know this request, and are
/// flushed as everywhere else.
///
/// # Errors
/// The operating system refuses.
pub fn flush(file: &File) -> io::Result<()> {
    let flushed = file.sync_all();
    // Elsewhere both are the same call, and a second one would hide that the first has lost what was written.
    if cfg!(target_vendor = "apple") { or_plainly(flushed, file) } else { flushed }
}

/// What a flush answered or, where the volume does not know it, what a plain one answers.
#[cfg(unix)]
fn or_plainly(flushed: io::Result<()>, file: &File) -> io::Result<()> {
    use rustix::io::Errno;
    let unknown = [Errno::NOTSUP, Errno::INVAL, Errno::NOTTY].map(|errno| Some(errno.raw_os_error()));
    match flushed {
        Err(why) if unknown.contains(&why.raw_os_error()) => rustix::fs::fsync(file).map_err(io::Error::from),
        flushed => flushed,
    }
}

#[cfg(not(unix))]
fn or_plainly(flushed: io::Result<()>, _: &File) -> io::Result<()> {
    flushed
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use rustix::io::Errno;

    use super::*;

    /// A pipe stands for a file that no flush reaches.
    #[test]
    fn a_flush_that_the_volume_does_not_know_falls_back() {
        let file = tempfile::tempfile().unwrap();
        let (_reader, writer) = io::pipe().unwrap();
        let pipe = File::from(std::os::fd::OwnedFd::from(writer));
        for unknown in [Errno::NOTSUP, Errno::INVAL, Errno::NOTTY] {
            or_plainly(Err(unknown.into()), &file).unwrap();
            or_plainly(Err(unknown.into()), &pipe).unwrap_err();
        }
        for failed in [Errno::IO, Errno::NOSPC, Errno::DQUOT] {
            let error = or_plainly(Err(failed.into()), &file).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(failed.raw_os_error()));
        }
        or_plainly(Ok(()), &pipe).unwrap();
        flush(&file).unwrap();
    }
}
