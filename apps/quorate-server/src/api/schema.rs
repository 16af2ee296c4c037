//! What a claim is, for the description of the interface. `quorate-formats` reads it.

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
#[allow(dead_code, reason = "the schema is made from it")]
pub(super) enum Claims {
    One(Claim),
    Several(Vec<Claim>),
}
