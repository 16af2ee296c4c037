//! Who else than the user of this program may read or write a file. Root may do everything, and is trusted.

use std::fs;

/// Who else than its user and root could have written a file or a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OtherWriters {
    /// Another user, to whom it belongs.
    #[error("it belongs to the user {found}, and this program runs as {user}")]
    Owner {
        /// The owner.
        found: u32,
        /// The user of this program.
        user: u32,
    },
    /// A group, or everybody.
    #[error("others may write it (mode {mode:03o})")]
    Mode {
        /// The permission bits.
        mode: u32,
    },
}

/// Refuses what others than this program's user and root may write. On other systems than Unix, nothing is refused.
///
/// # Errors
/// [`OtherWriters`] says who may.
pub fn refuse_other_writers(found: &fs::Metadata) -> Result<(), OtherWriters> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let (user, owner, mode) = (rustix::process::geteuid().as_raw(), found.uid(), found.mode() & 0o777);
        if owner != user && owner != 0 {
            return Err(OtherWriters::Owner { found: owner, user });
        }
        if mode & 0o022 != 0 {
            return Err(OtherWriters::Mode { mode });
        }
    }
    #[cfg(not(unix))]
    let _ = found;
    Ok(())
}

/// Others than its user and root can read a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "other users can read it (mode {mode:03o}); `chmod 600` it, and replace what is in it if they may have read it"
)]
pub struct OtherReaders {
    /// The permission bits.
    pub mode: u32,
}

/// Refuses a file that others than this program's user and root may read. The group of a file of root's may, because that is how root
/// hands a secret to one program. On other systems than Unix, nothing is refused.
///
/// # Errors
/// [`OtherReaders`] says what the permissions are.
pub fn refuse_other_readers(found: &fs::Metadata) -> Result<(), OtherReaders> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        refuse_readers_by_mode(found.mode() & 0o777, found.uid(), rustix::process::geteuid().as_raw())
    }
    #[cfg(not(unix))]
    {
        let _ = found;
        Ok(())
    }
}

/// The same for the permission bits and the owner of a file, and the user of a program.
#[cfg(unix)]
fn refuse_readers_by_mode(mode: u32, owner: u32, user: u32) -> Result<(), OtherReaders> {
    let allowed = if owner == 0 && user != 0 { 0o040 } else { 0 };
    if mode & 0o077 & !allowed == 0 { Ok(()) } else { Err(OtherReaders { mode }) }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn what_others_may_write_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for (mode, refused) in [(0o600, false), (0o644, false), (0o620, true), (0o602, true), (0o666, true)] {
            fs::set_permissions(file.path(), fs::Permissions::from_mode(mode)).unwrap();
            let found = refuse_other_writers(&fs::metadata(file.path()).unwrap());
            assert_eq!(found, if refused { Err(OtherWriters::Mode { mode }) } else { Ok(()) });
        }
    }

    /// So a secret is mounted into a container: it is root's, and its group is the program's. Such files had a warning at each start
    /// with an advice that the program's user cannot follow.
    #[test]
    fn roots_file_that_the_group_reads_is_no_warning() {
        for (mode, owner, user, allowed) in [
            (0o440, 0, 65_532, true),
            (0o640, 0, 65_532, true),
            (0o600, 0, 65_532, true),
            (0o600, 65_532, 65_532, true),
            (0o444, 0, 65_532, false),
            (0o660, 0, 65_532, false),
            (0o640, 65_532, 65_532, false),
            (0o640, 0, 0, false),
        ] {
            let expected = if allowed { Ok(()) } else { Err(OtherReaders { mode }) };
            assert_eq!(refuse_readers_by_mode(mode, owner, user), expected, "{mode:o} of {owner} for {user}");
        }
    }
}
