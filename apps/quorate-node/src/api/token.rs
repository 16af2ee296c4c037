//! The secret that allows to hand in tasks.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use quorate_evm::alloy_primitives::{B256, hex, keccak256};
use quorate_host::{
    exit::{Ends, Exit},
    file::{self, Existing, FileError, Readers},
};
use rand::RngExt as _;

/// The secret that allows to hand in tasks. It is kept as a hash, which is compared, so that neither memory nor the time of
/// an answer tells it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(B256);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The file cannot be read or made, or other users of the machine can read or write it.
    #[error(transparent)]
    File(#[from] FileError),
    /// It is not a token.
    #[error("{}: expected one line of 32 to 256 visible ASCII characters; remove the file, and the node makes a new one", .0.display())]
    Shape(PathBuf),
}

impl Ends for TokenError {
    fn exit(&self) -> Exit {
        match self {
            Self::File(error) => error.exit(),
            Self::Shape(_) => Exit::Usage,
        }
    }
}

/// The most characters of a token. A file is not read further.
const LONGEST: usize = 256;
const SHORTEST: usize = 32;

impl Token {
    /// The token in a file. If there is no file, it is made, with 32 random bytes as hexadecimal and mode 0600.
    ///
    /// # Errors
    /// [`TokenError`].
    pub fn read_or_create(path: &Path) -> Result<Self, TokenError> {
        match fs::symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::create(path),
            _ => Self::read(path),
        }
    }

    fn create(path: &Path) -> Result<Self, TokenError> {
        let text = hex::encode(rand::rng().random::<[u8; 32]>());
        file::write(path, Readers::Owner, Existing::Refuse, format!("{text}\n").as_bytes())
            .map_err(|source| FileError::Io { action: "make", path: path.to_owned(), source })?;
        Ok(Self::of(&text))
    }

    fn read(path: &Path) -> Result<Self, TokenError> {
        let text = match file::read_own_secret(path, LONGEST as u64 + 2) {
            Err(FileError::TooLarge { .. }) => return Err(TokenError::Shape(path.to_owned())),
            read => read?,
        };
        let text = std::str::from_utf8(&text).map_err(|_| TokenError::Shape(path.to_owned()))?.trim_end();
        let fits = (SHORTEST..=LONGEST).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        if fits { Ok(Self::of(text)) } else { Err(TokenError::Shape(path.to_owned())) }
    }

    fn of(text: &str) -> Self {
        Self(keccak256(text))
    }

    /// Whether a header `Authorization` has this token.
    pub(super) fn is_in(&self, header: &str) -> bool {
        let Some((scheme, text)) = header.split_once(' ') else { return false };
        scheme.eq_ignore_ascii_case("bearer") && Self::of(text.trim()) == *self
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_token_is_made_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let made = Token::read_or_create(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(Token::read_or_create(&path).unwrap(), made);
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.trim().len(), 64);
        assert!(made.is_in(&format!("Bearer {}", text.trim())) && made.is_in(&format!("bearer {}", text.trim())));
        for wrong in
            [text.trim(), "Bearer", "Bearer ", &format!("Basic {}", text.trim()), &format!("Bearer {}0", text.trim())]
        {
            assert!(!made.is_in(wrong), "{wrong}");
        }
        let other = Token::read_or_create(&folder.path().join("other")).unwrap();
        assert_ne!(other, made);
        assert_eq!(format!("{made:?}"), "Token(…)");
    }

    #[test]
    fn files_that_are_no_token_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let write = |text: &str, mode| {
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            Token::read_or_create(&path)
        };
        for mode in [0o640, 0o602] {
            let refused = write(&"a".repeat(32), mode).unwrap_err().to_string();
            assert!(refused.contains(&format!("(mode {mode:o})")), "{refused}");
        }
        for text in [
            "",
            "short",
            &"a".repeat(257),
            &"a".repeat(10_000),
            &format!("{} {}", "a".repeat(20), "b".repeat(20)),
            &"é".repeat(40),
        ] {
            assert!(matches!(write(text, 0o600), Err(TokenError::Shape(_))), "{text}");
        }
        assert!(write(&format!("{}\n", "a".repeat(32)), 0o600).is_ok());
        assert!(matches!(Token::read_or_create(&folder.path().join("none/token")), Err(TokenError::File(_))));
    }
}
