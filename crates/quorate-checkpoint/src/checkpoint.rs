//! The document that signers sign: "this block is old enough, and we have verified everything up to it".

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{
    hex,
    json::{self, JsonError},
};

/// A block of a chain that signers say may be assumed valid.
///
/// Its canonical form has [`Checkpoint::BYTES`] bytes, integers big-endian:
///
/// | bytes | field |
/// |---|---|
/// | 0..2 | version, which is 1 |
/// | 2..34 | `chain_id` |
/// | 34..42 | `height` |
/// | 42..74 | `block_hash` |
/// | 74..106 | `previous` |
/// | 106..114 | `issued_at` |
/// | 114..122 | `expires_at` |
/// | 122..130 | `set_epoch` |
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "Versioned", try_from = "Versioned")]
pub struct Checkpoint {
    /// Which chain, for example its genesis hash. A chain with a shorter name pads it in front with zeros.
    pub chain_id: [u8; 32],
    /// The block's height, slot or number.
    pub height: u64,
    /// The block's hash, in the byte order that signers and nodes agree on.
    pub block_hash: [u8; 32],
    /// The [digest](Self::digest) of the checkpoint that the signers signed before; zeros in the first one.
    pub previous: [u8; 32],
    /// When the signers made it, in Unix seconds.
    pub issued_at: u64,
    /// From when on nobody may use it, in Unix seconds. It is later than `issued_at`.
    pub expires_at: u64,
    /// The epoch of the set of signers.
    pub set_epoch: u64,
}

impl Checkpoint {
    /// The only version of the layout.
    pub const VERSION: u16 = 1;

    /// The length of the canonical form.
    pub const BYTES: usize = 130;

    /// The canonical form.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let fields: [&[u8]; 8] = [
            &Self::VERSION.to_be_bytes(),
            &self.chain_id,
            &self.height.to_be_bytes(),
            &self.block_hash,
            &self.previous,
            &self.issued_at.to_be_bytes(),
            &self.expires_at.to_be_bytes(),
            &self.set_epoch.to_be_bytes(),
        ];
        fields.concat().try_into().expect("the widths of the fields add up to 130")
    }

    /// SHA-256 of the canonical form. The next checkpoint names it as its `previous`.
    pub fn digest(&self) -> [u8; 32] {
        Sha256::digest(self.to_bytes()).into()
    }

    /// What is signed: the tag `QUORATE-CHECKPOINT-V01-DOCUMENT_`, the id of the set, the canonical form. 194 bytes.
    ///
    /// Ethereum signs 32 bytes under the same suite, so no signature of a validator is one of a checkpoint.
    pub fn signing_bytes(&self, set_id: &[u8; 32]) -> Vec<u8> {
        [&TAG[..], set_id, &self.to_bytes()].concat()
    }

    /// Reads the JSON form.
    ///
    /// # Errors
    /// [`JsonError`].
    pub fn from_json(bytes: &[u8]) -> Result<Self, JsonError> {
        json::object(bytes, LARGEST, "a checkpoint")
    }

    /// For how many seconds it can be used; `None` if it expires before it is issued.
    pub fn life(&self) -> Option<u64> {
        self.expires_at.checked_sub(self.issued_at).filter(|life| *life > 0)
    }
}

const TAG: &[u8; 32] = b"QUORATE-CHECKPOINT-V01-DOCUMENT_";

/// Without spaces it has less than 400 bytes.
const LARGEST: usize = 4 << 10;

/// The JSON form, with the version.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Versioned {
    version: u16,
    #[serde(with = "hex::array")]
    chain_id: [u8; 32],
    height: u64,
    #[serde(with = "hex::array")]
    block_hash: [u8; 32],
    #[serde(with = "hex::array")]
    previous: [u8; 32],
    issued_at: u64,
    expires_at: u64,
    set_epoch: u64,
}

impl From<Checkpoint> for Versioned {
    fn from(checkpoint: Checkpoint) -> Self {
        let Checkpoint { chain_id, height, block_hash, previous, issued_at, expires_at, set_epoch } = checkpoint;
        let version = Checkpoint::VERSION;
        Self { version, chain_id, height, block_hash, previous, issued_at, expires_at, set_epoch }
    }
}

impl TryFrom<Versioned> for Checkpoint {
    type Error = String;

    fn try_from(form: Versioned) -> Result<Self, String> {
        let Versioned { version, chain_id, height, block_hash, previous, issued_at, expires_at, set_epoch } = form;
        if version != Self::VERSION {
            return Err(format!("found version {version}, expected {}; use a newer quorate", Self::VERSION));
        }
        let checkpoint = Self { chain_id, height, block_hash, previous, issued_at, expires_at, set_epoch };
        checkpoint.life().map(|_| checkpoint).ok_or_else(|| {
            format!("found expires_at {expires_at}, expected a time after issued_at, which is {issued_at}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkpoint() -> Checkpoint {
        Checkpoint {
            chain_id: [0xc1; 32],
            height: 0x0102_0304_0506_0708,
            block_hash: [0xb2; 32],
            previous: [0xa3; 32],
            issued_at: 0x1112_1314_1516_1718,
            expires_at: 0x2122_2324_2526_2728,
            set_epoch: 0x3132_3334_3536_3738,
        }
    }

    /// The layout is an interface: signers in other languages make the same bytes.
    #[test]
    fn the_layout_is_fixed() {
        let expected = ["0001", &"c1".repeat(32), "0102030405060708", &"b2".repeat(32), &"a3".repeat(32)].concat()
            + "111213141516171821222324252627283132333435363738";
        assert_eq!(const_hex::encode(checkpoint().to_bytes()), expected);
        let signed = checkpoint().signing_bytes(&[7; 32]);
        assert_eq!(signed.len(), 194);
        assert!(signed.starts_with(b"QUORATE-CHECKPOINT-V01-DOCUMENT_\x07\x07"));
    }

    #[test]
    fn json_is_read_strictly() {
        let json = serde_json::to_string(&checkpoint()).unwrap();
        assert_eq!(serde_json::from_str::<Checkpoint>(&json).unwrap(), checkpoint());
        let wrong = [
            (json.replacen("0xc1", "c1", 1), "begins with 0x"),
            (json.replacen("0xc1", "0x0xc1", 1), "found 'x' at digit 2"),
            (json.replacen("0xc1", "0x0X", 1), "found 'X' at digit 2"),
            (json.replacen("0xc1", "0x", 1), "found 62 hexadecimal digits, expected 64"),
            (json.replacen("0xc1", "0xzz", 1), "hexadecimal"),
            (json.replacen("\"version\":1", "\"version\":2", 1), "found version 2, expected 1"),
            (json.replacen("\"version\":1,", "", 1), "missing field `version`"),
            (json.replacen("\"version\":1", "\"version\":1,\"more\":0", 1), "unknown field `more`"),
            (json.replacen("\"version\":1", "\"version\":1,\"version\":1", 1), "duplicate field"),
            (json.replacen("\"height\":", "\"height\":-", 1), "height"),
            (json.replacen("2387509390608836392", "1", 1), "found expires_at 1"),
        ];
        for (json, reason) in wrong {
            let error = Checkpoint::from_json(json.as_bytes()).unwrap_err();
            assert!(error.to_string().contains(reason), "{json}: {error}");
        }
    }
}
