//! What claims and checkpoints are, for the description of the interface. `quorate-formats` and `quorate-checkpoint` read them.

use serde::Serialize;
use utoipa::ToSchema;

/// A claim as JSON, for the description alone: the fields of a line of JSON Lines.
#[derive(Serialize, ToSchema)]
#[allow(dead_code, reason = "the schema is made from the fields, which `quorate-formats` reads")]
pub(super) struct Claim {
    /// Your own name for the claim: a text, a number or a boolean.
    #[schema(value_type = Option<serde_json::Value>)]
    id: Option<String>,
    /// The suite's name, such as `eth2`.
    suite: Option<String>,
    /// The key in hexadecimal digits. Give this or `public_keys`.
    public_key: Option<String>,
    /// Several keys.
    public_keys: Option<Vec<String>>,
    /// In the place of keys: the name of a key set of the server.
    key_set: Option<String>,
    /// Its members who signed: a bitmap in hexadecimal digits, in which the lowest bit of the first byte stands for member 0, or a
    /// list of indices.
    #[schema(value_type = Option<serde_json::Value>)]
    members: Option<String>,
    /// What all keys signed, in hexadecimal digits. Give this or `messages`.
    message: Option<String>,
    /// What each key signed.
    messages: Option<Vec<String>>,
    /// The signature in hexadecimal digits, an aggregate if there are several keys.
    signature: String,
    /// Who sent you the claim: a text or a whole number. Sources that send false claims are banned.
    #[schema(value_type = Option<serde_json::Value>)]
    source: Option<String>,
}

/// One claim, or several.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[allow(dead_code, clippy::large_enum_variant, reason = "the schema is made from it, and no value is")]
pub(super) enum Claims {
    One(Claim),
    Several(Vec<Claim>),
}

/// A signature of a checkpoint.
#[derive(Serialize, ToSchema)]
#[allow(dead_code, reason = "the schema is made from the fields, which `quorate-checkpoint` reads")]
pub(super) struct IndexedSignature {
    /// The signer's place in the set, from 0 on.
    index: u16,
    /// 96 bytes as `0x` and hexadecimal digits.
    signature: String,
}

/// What signers sign. Hashes have 32 bytes, as `0x` and hexadecimal digits; times are Unix seconds.
#[derive(Serialize, ToSchema)]
#[allow(dead_code, reason = "the schema is made from the fields, which `quorate-checkpoint` reads")]
pub(super) struct Checkpoint {
    /// 1.
    version: u16,
    chain_id: String,
    height: u64,
    block_hash: String,
    /// The digest of the previous checkpoint; zeros in the first one.
    previous: String,
    issued_at: u64,
    expires_at: u64,
    set_epoch: u64,
}

/// A checkpoint with signatures, as they are sent.
#[derive(Serialize, ToSchema)]
#[allow(dead_code, reason = "the schema is made from the fields, which `quorate-checkpoint` reads")]
pub(super) struct Posting {
    document: Checkpoint,
    /// Who signed. If it is there, it must fit the signatures.
    bitmap: Option<String>,
    /// The sum of the signatures. If it is there, it must fit them.
    sum: Option<String>,
    /// With ascending indices.
    signatures: Vec<IndexedSignature>,
}

/// What a node answers about checkpoints. `docs/checkpoints.md` has the form of all parts.
#[derive(Serialize, ToSchema)]
#[allow(dead_code, reason = "the schema is made from the fields, which `quorate-checkpoint` writes")]
pub(super) struct Served {
    /// The first set of signers, and the changes since.
    #[schema(value_type = Object)]
    sets: serde_json::Value,
    /// At most four.
    checkpoints: Vec<Posting>,
    /// Two things that exclude each other, each signed by enough signers.
    #[schema(value_type = Option<Object>)]
    evidence: Option<serde_json::Value>,
}
