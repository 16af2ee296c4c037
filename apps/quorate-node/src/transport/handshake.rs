//! What two peers say before one hears the other: bytes of the handshake.
//!
//! Each side shows a [`Hello`] and gets a [`Reply`]. Both are postcard. They are public so that other programs, such as
//! fuzzers and the tests of processes, can make and read them; nothing of a signature or a name is verified here.

use quorate_evm::alloy_primitives::Bytes;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// The most bytes of an operator's key in a credential: a point of G2 of BLS12-381 as EIP-2537 encodes it.
pub const MAX_OPERATOR_KEY: usize = 256;
/// The most bytes of an operator's signature in a credential.
pub const MAX_OPERATOR_SIGNATURE: usize = 256;

/// The most addresses that a node announces.
pub const MAX_ADDRESSES: usize = 4;
/// The most bytes of an address.
pub const MAX_ADDRESS: usize = 256;
/// The most peers that a reply tells of.
pub const MAX_TOLD: usize = 24;
/// The most bytes of a reason.
pub const MAX_REASON: usize = 200;
/// The most bytes of a [`Hello`].
pub const MAX_HELLO: usize = 2 * 1024;
/// The most bytes of a [`Reply`].
pub const MAX_REPLY: usize = 32 * 1024;

/// What an operator signed so that a peer may speak for it: [`PeerBinding`](quorate_evm::digest::PeerBinding).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Credential {
    /// The operator's public key as the contract keeps it: at most [`MAX_OPERATOR_KEY`] bytes.
    pub operator_key: Bytes,
    /// The signature over the binding of the peer's id in this network: at most [`MAX_OPERATOR_SIGNATURE`] bytes.
    pub signature: Bytes,
}

/// A part of a credential is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the {field} has {found} bytes; it must have 1 to {most}")]
pub struct CredentialError {
    /// Which part.
    pub field: &'static str,
    /// Its length.
    pub found: usize,
    /// The greatest length.
    pub most: usize,
}

impl Credential {
    pub(super) fn check(&self) -> Result<(), CredentialError> {
        for (field, found, most) in [
            ("operator's key", self.operator_key.len(), MAX_OPERATOR_KEY),
            ("operator's signature", self.signature.len(), MAX_OPERATOR_SIGNATURE),
        ] {
            if !(1..=most).contains(&found) {
                return Err(CredentialError { field, found, most });
            }
        }
        Ok(())
    }
}

/// A node shows its credential, and where it listens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    operator_key: Vec<u8>,
    signature: Vec<u8>,
    addresses: Vec<Vec<u8>>,
}

impl Hello {
    /// Shows a credential and the first [`MAX_ADDRESSES`] of these multiaddresses, as bytes. One of more than
    /// [`MAX_ADDRESS`] bytes is left out.
    pub fn new(credential: &Credential, mut addresses: Vec<Vec<u8>>) -> Self {
        addresses.retain(|address| address.len() <= MAX_ADDRESS);
        addresses.truncate(MAX_ADDRESSES);
        Self { operator_key: credential.operator_key.to_vec(), signature: credential.signature.to_vec(), addresses }
    }

    /// At most [`MAX_HELLO`] bytes, if the credential is within its limits.
    pub fn encode(&self) -> Vec<u8> {
        encode(self)
    }

    /// `None` for anything but a hello within its limits.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let hello: Self = decode(bytes, MAX_HELLO)?;
        let addresses = hello.addresses.len() <= MAX_ADDRESSES
            && hello.addresses.iter().all(|address| address.len() <= MAX_ADDRESS);
        (addresses && hello.credential().check().is_ok()).then_some(hello)
    }

    /// Where the node listens: at most [`MAX_ADDRESSES`] multiaddresses, as bytes. Nobody has looked at them.
    pub fn addresses(&self) -> &[Vec<u8>] {
        &self.addresses
    }

    /// What the node shows. Nobody has verified it.
    pub fn credential(&self) -> Credential {
        Credential { operator_key: self.operator_key.clone().into(), signature: self.signature.clone().into() }
    }
}

/// What the other side says to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reply {
    /// You are admitted, and these others are: at most [`MAX_TOLD`].
    Welcome(Vec<Told>),
    /// You would be admitted, but there is no room: try these.
    Full(Vec<Told>),
    /// My chain is behind. Try again.
    NotYet,
    /// You are not admitted, for a reason of at most [`MAX_REASON`] bytes.
    Refused(String),
}

/// Where an admitted peer listens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// The bytes of its name: at most 64.
    pub peer: Vec<u8>,
    /// At most [`MAX_ADDRESSES`] multiaddresses, as bytes.
    pub addresses: Vec<Vec<u8>>,
}

impl Reply {
    /// Refuses, for the beginning of a reason.
    pub fn refused(reason: &str) -> Self {
        Self::Refused(reason[..reason.floor_char_boundary(MAX_REASON)].to_owned())
    }

    /// At most [`MAX_REPLY`] bytes, if all is within its limits.
    pub fn encode(&self) -> Vec<u8> {
        encode(self)
    }

    /// `None` for anything but a reply within its limits.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let reply: Self = decode(bytes, MAX_REPLY)?;
        let fits = match &reply {
            Self::Welcome(told) | Self::Full(told) => {
                told.len() <= MAX_TOLD
                    && told.iter().all(|told| {
                        told.peer.len() <= 64
                            && told.addresses.len() <= MAX_ADDRESSES
                            && told.addresses.iter().all(|address| address.len() <= MAX_ADDRESS)
                    })
            }
            Self::Refused(reason) => reason.len() <= MAX_REASON,
            Self::NotYet => true,
        };
        fits.then_some(reply)
    }
}

fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    postcard::to_allocvec(value).expect("bytes and lists always encode, and a vector grows")
}

fn decode<T: DeserializeOwned>(bytes: &[u8], most: usize) -> Option<T> {
    if bytes.len() > most {
        return None;
    }
    let (value, rest) = postcard::take_from_bytes(bytes).ok()?;
    rest.is_empty().then_some(value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn credential(key: usize, signature: usize) -> Credential {
        Credential { operator_key: vec![1; key].into(), signature: vec![2; signature].into() }
    }

    #[test]
    fn the_largest_of_each_fits_and_one_more_does_not() {
        let longest = credential(MAX_OPERATOR_KEY, MAX_OPERATOR_SIGNATURE);
        let hello = Hello::new(&longest, vec![vec![3; MAX_ADDRESS]; MAX_ADDRESSES + 1]);
        assert_eq!(hello.addresses.len(), MAX_ADDRESSES);
        assert_eq!(Hello::decode(&hello.encode()), Some(hello.clone()));
        for wrong in [credential(0, 1), credential(1, 0), credential(257, 1), credential(1, 257)] {
            assert!(wrong.check().is_err());
            assert_eq!(Hello::decode(&Hello::new(&wrong, Vec::new()).encode()), None);
        }
        assert_eq!(Hello::decode(&[&hello.encode()[..], &[0]].concat()), None, "a byte follows");

        let told = Told { peer: vec![4; 38], addresses: vec![vec![5; MAX_ADDRESS]; MAX_ADDRESSES] };
        let reply = Reply::Welcome(vec![told.clone(); MAX_TOLD]);
        assert_eq!(Reply::decode(&reply.encode()), Some(reply));
        assert_eq!(Reply::decode(&Reply::Full(vec![told; MAX_TOLD + 1]).encode()), None);
        let long = Reply::refused(&"ü".repeat(MAX_REASON));
        assert_eq!(Reply::decode(&long.encode()), Some(long));
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            if let Some(hello) = Hello::decode(&bytes) {
                prop_assert!(hello.credential().check().is_ok());
            }
            if let Some(Reply::Welcome(told) | Reply::Full(told)) = Reply::decode(&bytes) {
                prop_assert!(told.len() <= MAX_TOLD);
            }
        }
    }
}
