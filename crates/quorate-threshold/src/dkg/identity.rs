//! Who takes part in a ceremony: the keys with which a participant signs its messages and opens what is sent to it.

use std::fmt::{self, Debug, Display};

use quorate::{MinPk, PublicKey, SecretKey, Signature, Tag, UncheckedSignature, rand_core::CryptoRng};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::{
    envelope::{DecryptionKey, EncryptionKey},
    hex::Bytes,
};
use crate::one_round::{ShareDecryptionKey, ShareEncryptionKey, ShareKeyError};

/// The suite of the signatures of messages. The tag says what they are for.
const SUITE: MinPk = MinPk::Basic;
const TAG: &[u8] = b"QUORATE-DKG-V01-MESSAGE-BLS12381G2_XMD:SHA-256_SSWU_RO_";

/// The secret half of a participant: a signing key and a decryption key. Both are wiped when they are dropped.
///
/// One identity may take part in many ceremonies: what it signs names the ceremony. But with the messages of a ceremony, or its
/// transcripts, it gives the share that its owner got there, also after that key was shared anew. So take part in a refresh with a
/// new identity, and delete the old one afterwards.
///
/// ```
/// use quorate_threshold::dkg::ParticipantIdentity;
/// let alice = ParticipantIdentity::generate("alice", &mut rand::rng())?;
/// assert_eq!(ParticipantIdentity::from_json(alice.to_json().as_bytes())?.member(), alice.member());
/// # Ok::<(), quorate_threshold::dkg::ParticipantIdentityError>(())
/// ```
#[derive(Clone)]
pub struct ParticipantIdentity {
    name: Name,
    signing: SecretKey<MinPk>,
    decryption: DecryptionKey,
}

/// The public half of a participant. In JSON:
///
/// ```text
/// {"name": "alice", "signing_key": "8a…", "encryption_key": "5c…"}
/// ```
///
/// The signing key is a BLS key of 48 bytes in G1, and the encryption key a key of X25519. A member of a ceremony in one round has a
/// third, `share_key`: a point of G1 and the proof that its owner knows the secret.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "MemberFile", into = "MemberFile")]
pub struct CeremonyMember {
    name: Name,
    signing_key: PublicKey<MinPk>,
    encryption_key: EncryptionKey,
    share_key: Option<ShareEncryptionKey>,
}

/// What a participant is called in files and in messages to people: 1 to 40 letters, digits, `-`, `_` or `.`, and the
/// first is a letter or a digit, so that it can be part of a file's name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Name(String);

/// Why something is not an identity.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ParticipantIdentityError {
    /// The name has other characters, or too many.
    #[error(
        "the name `{}` must be 1 to 40 letters, digits, `-`, `_` or `.`, and begin with a letter or a digit",
        .0.escape_debug()
    )]
    Name(String),
    /// The text is not the JSON of an identity. The parser's own message could repeat a secret, so only the place is named.
    #[error("it is not the JSON of an identity: line {line}, column {column} cannot be read")]
    Json {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
    },
    /// A secret is not 32 bytes in hexadecimal, or no key. What stands there is not repeated.
    #[error("`{0}` is not 32 bytes in hexadecimal that are a secret key")]
    Secret(&'static str),
    /// The signing key of a member is not valid.
    #[error("the signing key of {name}: {reason}")]
    SigningKey {
        /// The member.
        name: Name,
        /// What is wrong with it.
        reason: quorate::ParseError,
    },
    /// The encryption key of a member is not a key of X25519, or one of small order.
    #[error("the encryption key of {0} is not a key of X25519 that can be encrypted to")]
    EncryptionKey(Name),
    /// The key for ceremonies in one round.
    #[error("the share key of {name}: {reason}")]
    ShareKey {
        /// The member.
        name: Name,
        /// What is wrong with it.
        reason: ShareKeyError,
    },
}

impl ParticipantIdentity {
    /// New keys.
    ///
    /// # Errors
    /// [`ParticipantIdentityError::Name`].
    pub fn generate(name: &str, rng: &mut impl CryptoRng) -> Result<Self, ParticipantIdentityError> {
        let name = Name::new(name)?;
        let signing = SecretKey::generate(SUITE, rng);
        let mut material = Zeroizing::new([0; 32]);
        rng.fill_bytes(material.as_mut_slice());
        Ok(Self { name, signing, decryption: DecryptionKey::derive(&material) })
    }

    /// The public half.
    pub fn member(&self) -> CeremonyMember {
        CeremonyMember {
            name: self.name.clone(),
            signing_key: self.signing.public_key(),
            encryption_key: self.decryption.encryption_key(),
            share_key: None,
        }
    }

    /// The public half, with a key for ceremonies in one round.
    pub fn one_round_member(&self) -> CeremonyMember {
        CeremonyMember { share_key: Some(self.share_decryption_key().encryption_key()), ..self.member() }
    }

    /// The secret of that key. It follows from the decryption key, so that an identity of before has one, too.
    pub fn share_decryption_key(&self) -> ShareDecryptionKey {
        ShareDecryptionKey::derive(&self.decryption.to_bytes())
    }

    /// Whether a member has the keys of this identity.
    pub fn is(&self, member: &CeremonyMember) -> bool {
        *member == if member.share_key.is_some() { self.one_round_member() } else { self.member() }
    }

    /// The name.
    pub fn name(&self) -> &Name {
        &self.name
    }

    pub(super) fn sign(&self, message: &[u8]) -> Signature<MinPk> {
        self.signing.sign_under_tag(SUITE, &Tag::from(TAG), message)
    }

    pub(super) fn open(&self, info: &[u8], envelope: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        self.decryption.open(info, envelope)
    }

    /// The JSON of a file. It holds the secrets in the clear: write it for nobody else to read.
    pub fn to_json(&self) -> Zeroizing<String> {
        let secret = |bytes: &[u8; 32]| Zeroizing::new(base16ct::lower::encode_string(bytes));
        let (signing, decryption) = (self.signing.to_bytes(), self.decryption.to_bytes());
        let (signing, decryption) = (secret(&signing), secret(&decryption));
        let mut json = Zeroizing::new(String::with_capacity(400));
        for part in [
            "{\n  \"name\": \"",
            &self.name.0,
            "\",\n  \"signing_secret_key\": \"",
            signing.as_str(),
            "\",\n  \"decryption_secret_key\": \"",
            decryption.as_str(),
            "\"\n}\n",
        ] {
            json.push_str(part);
        }
        json
    }

    /// Reads the JSON of a file. It keeps no copy of `json`.
    ///
    /// # Errors
    /// [`ParticipantIdentityError`].
    pub fn from_json(json: &[u8]) -> Result<Self, ParticipantIdentityError> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct File<'a> {
            name: &'a str,
            signing_secret_key: &'a str,
            decryption_secret_key: &'a str,
        }
        let file: File<'_> = serde_json::from_slice(json)
            .map_err(|error| ParticipantIdentityError::Json { line: error.line(), column: error.column() })?;
        let name = Name::new(file.name)?;
        let wrong = || ParticipantIdentityError::Secret("signing_secret_key");
        let signing = secret(file.signing_secret_key).ok_or_else(wrong)?;
        let signing = SecretKey::from_bytes(&signing).map_err(|_| wrong())?;
        let wrong = || ParticipantIdentityError::Secret("decryption_secret_key");
        let decryption = secret(file.decryption_secret_key).ok_or_else(wrong)?;
        let decryption = DecryptionKey::from_bytes(&decryption).ok_or_else(wrong)?;
        Ok(Self { name, signing, decryption })
    }
}

/// Reads 32 secret bytes of hexadecimal without branches on the digits.
pub(super) fn secret(text: &str) -> Option<Zeroizing<[u8; 32]>> {
    let mut bytes = Zeroizing::new([0; 32]);
    let length = base16ct::mixed::decode(text, bytes.as_mut_slice()).ok()?.len();
    (length == 32).then_some(bytes)
}

impl CeremonyMember {
    /// The name.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// The key under which its messages verify.
    pub fn signing_key(&self) -> PublicKey<MinPk> {
        self.signing_key
    }

    pub(super) fn encryption_key(&self) -> &EncryptionKey {
        &self.encryption_key
    }

    /// The key to which shares are encrypted in a ceremony in one round.
    pub fn share_key(&self) -> Option<ShareEncryptionKey> {
        self.share_key
    }

    pub(super) fn signed(&self, message: &[u8], signature: &[u8]) -> bool {
        let Ok(signature) = UncheckedSignature::from_bytes(signature) else { return false };
        self.signing_key.verify_under_tag(TAG, b"", message, signature).is_valid()
    }
}

impl Name {
    /// Checks a name.
    ///
    /// # Errors
    /// [`ParticipantIdentityError::Name`].
    pub fn new(text: &str) -> Result<Self, ParticipantIdentityError> {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        let fits = text.starts_with(|first: char| first.is_ascii_alphanumeric()) && text.len() <= 40;
        if fits && text.chars().all(plain) {
            Ok(Self(text.to_owned()))
        } else {
            Err(ParticipantIdentityError::Name(text.to_owned()))
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MemberFile {
    name: String,
    signing_key: Bytes,
    encryption_key: Bytes,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    share_key: Option<Bytes>,
}

impl TryFrom<MemberFile> for CeremonyMember {
    type Error = ParticipantIdentityError;

    fn try_from(file: MemberFile) -> Result<Self, ParticipantIdentityError> {
        let name = Name::new(&file.name)?;
        let signing_key = PublicKey::from_bytes(&file.signing_key.0);
        let signing_key =
            signing_key.map_err(|reason| ParticipantIdentityError::SigningKey { name: name.clone(), reason })?;
        let encryption_key = EncryptionKey::from_bytes(&file.encryption_key.0);
        let encryption_key = encryption_key.ok_or_else(|| ParticipantIdentityError::EncryptionKey(name.clone()))?;
        let share_key = file.share_key.map(|key| ShareEncryptionKey::from_bytes(&key.0)).transpose();
        let share_key =
            share_key.map_err(|reason| ParticipantIdentityError::ShareKey { name: name.clone(), reason })?;
        Ok(Self { name, signing_key, encryption_key, share_key })
    }
}

impl From<CeremonyMember> for MemberFile {
    fn from(member: CeremonyMember) -> Self {
        Self {
            name: member.name.0,
            signing_key: member.signing_key.to_bytes().into(),
            encryption_key: member.encryption_key.to_bytes().into(),
            share_key: member.share_key.map(|key| key.to_bytes().into()),
        }
    }
}

impl Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Debug::fmt(&self.0, f)
    }
}

impl Debug for ParticipantIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Identity({}, redacted)", self.name)
    }
}

impl Debug for CeremonyMember {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Member({})", self.name)
    }
}
