//! The node's own key: an Ed25519 key that names the node on the network. It is not the operator's key, and signs nothing
//! that a contract reads.

use std::{
    fmt, io,
    path::{Path, PathBuf},
    str::FromStr,
};

use libp2p_identity::{Keypair, ed25519};
use quorate_host::{
    exit::{Ends, Exit},
    file::{self, Existing, FileError, Readers},
};

/// The name of a node: 38 bytes, which hold an Ed25519 public key as libp2p encodes it. Both transports use it. As text it
/// is base58.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PeerId(libp2p_identity::PeerId);

/// The name is not one of an Ed25519 key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a peer id of an Ed25519 key; those have 38 bytes and begin with 12D3KooW as text")]
pub struct PeerIdError;

impl PeerId {
    /// The 38 bytes, which an operator signs in its [`PeerBinding`](quorate_evm::digest::PeerBinding).
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.to_bytes()
    }

    /// The name in libp2p's type.
    pub(super) fn inner(&self) -> libp2p_identity::PeerId {
        self.0
    }

    /// The key that the name holds.
    fn public_key(&self) -> Result<ed25519::PublicKey, PeerIdError> {
        let bytes = self.0.to_bytes();
        let key = bytes.strip_prefix(&PREFIX).filter(|key| key.len() == 32).ok_or(PeerIdError)?;
        ed25519::PublicKey::try_from_bytes(key).map_err(|_| PeerIdError)
    }

    /// Whether the node with this name signed the message.
    pub(super) fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        self.public_key().is_ok_and(|key| key.verify(message, signature))
    }
}

impl TryFrom<libp2p_identity::PeerId> for PeerId {
    type Error = PeerIdError;

    fn try_from(id: libp2p_identity::PeerId) -> Result<Self, PeerIdError> {
        let id = Self(id);
        id.public_key().map(|_| id)
    }
}

impl TryFrom<&[u8]> for PeerId {
    type Error = PeerIdError;

    fn try_from(bytes: &[u8]) -> Result<Self, PeerIdError> {
        libp2p_identity::PeerId::from_bytes(bytes).map_err(|_| PeerIdError)?.try_into()
    }
}

impl FromStr for PeerId {
    type Err = PeerIdError;

    fn from_str(text: &str) -> Result<Self, PeerIdError> {
        libp2p_identity::PeerId::from_str(text).map_err(|_| PeerIdError)?.try_into()
    }
}

impl fmt::Display for PeerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for PeerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PeerId({self})")
    }
}

/// A node's key. `Debug` shows the name only.
#[derive(Clone)]
pub struct Identity(Keypair);

/// Why there is no key. The messages name the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IdentityError {
    /// The system refuses to read or write the file.
    #[error("the node's key: {0}")]
    File(FileError),
    /// Others can read or write the file.
    #[error("the node's key: {0}; without the file the node gets a new name, which the operator signs")]
    Others(FileError),
    /// The file does not hold a key.
    #[error("{}: the file does not hold an Ed25519 key in libp2p's encoding; restore it from a copy, or remove it: the node then gets \
             a new name, which the operator signs", .path.display())]
    Content {
        /// The file.
        path: PathBuf,
    },
}

impl Ends for IdentityError {
    fn exit(&self) -> Exit {
        match self {
            Self::File(error) | Self::Others(error) => error.exit(),
            Self::Content { .. } => Exit::Usage,
        }
    }
}

impl Identity {
    /// A new key.
    pub fn random() -> Self {
        Self(Keypair::generate_ed25519())
    }

    /// The key in a file. If there is no file, a new key is written there, with mode 0600, and is on the disk when this
    /// returns.
    ///
    /// # Errors
    /// [`IdentityError`].
    pub fn load_or_create(path: &Path) -> Result<Self, IdentityError> {
        match Self::load(path) {
            Err(IdentityError::File(FileError::Io { source, .. })) if source.kind() == io::ErrorKind::NotFound => {
                let new = Self::random();
                match new.store(path) {
                    // Another process was faster: its key is the node's.
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Self::load(path),
                    stored => stored.map(|()| new).map_err(|source| {
                        IdentityError::File(FileError::Io { action: "write", path: path.to_owned(), source })
                    }),
                }
            }
            loaded => loaded,
        }
    }

    fn load(path: &Path) -> Result<Self, IdentityError> {
        let content = || IdentityError::Content { path: path.to_owned() };
        let bytes = file::read_own_secret(path, MOST).map_err(|error| match error {
            FileError::TooLarge { .. } => content(),
            FileError::Writers { .. } | FileError::Readers { .. } => IdentityError::Others(error),
            error => IdentityError::File(error),
        })?;
        let bytes = zeroize::Zeroizing::new(bytes);
        let pair = Keypair::from_protobuf_encoding(&bytes).map_err(|_| content())?;
        PeerId::try_from(pair.public().to_peer_id()).map_err(|_| content())?;
        Ok(Self(pair))
    }

    /// Writes the key beside its place, and gives it its name only when it is on the disk.
    fn store(&self, path: &Path) -> io::Result<()> {
        let bytes = zeroize::Zeroizing::new(self.0.to_protobuf_encoding().map_err(io::Error::other)?);
        file::write(path, Readers::Owner, Existing::Refuse, &bytes)
    }

    /// The node's name.
    pub fn peer_id(&self) -> PeerId {
        PeerId(self.0.public().to_peer_id())
    }

    pub(super) fn keypair(&self) -> &Keypair {
        &self.0
    }

    pub(super) fn sign(&self, message: &[u8]) -> Vec<u8> {
        self.0.sign(message).expect("a key of Ed25519 signs everything")
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Identity({})", self.peer_id())
    }
}

/// The multihash "identity" of 36 bytes: a protobuf message with key type 1 and 32 bytes of key.
const PREFIX: [u8; 6] = [0x00, 0x24, 0x08, 0x01, 0x12, 0x20];

/// More bytes than an encoded key has.
const MOST: u64 = 256;

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_key_is_made_once_and_only_its_owner_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("node.key");
        let made = Identity::load_or_create(&path).unwrap();
        let read = Identity::load_or_create(&path).unwrap();
        assert_eq!(made.peer_id(), read.peer_id());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let signature = made.sign(b"words");
        assert!(read.peer_id().verify(b"words", &signature) && !read.peer_id().verify(b"other", &signature));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
            for mode in [0o640, 0o602] {
                fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
                assert!(matches!(Identity::load_or_create(&path), Err(IdentityError::Others(_))), "{mode:o}");
            }
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        }
        for content in [&[][..], &[1; 64], &[0; 10_000]] {
            fs::write(&path, content).unwrap();
            assert!(matches!(Identity::load_or_create(&path), Err(IdentityError::Content { .. })));
        }
    }

    #[test]
    fn a_name_holds_its_key() {
        let id = Identity::random().peer_id();
        assert_eq!(PeerId::try_from(id.to_bytes().as_slice()), Ok(id));
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_eq!(id.to_bytes().len(), 38);
        // A hash of a key, as names of long keys are, cannot be verified against.
        let hashed = [&[0x12, 0x20][..], &[7; 32]].concat();
        assert_eq!(PeerId::try_from(hashed.as_slice()), Err(PeerIdError));
        for length in 0..64 {
            assert_eq!(PeerId::try_from(&[0; 64][..length]), Err(PeerIdError));
        }
    }
}
