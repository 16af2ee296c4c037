//! Who may ask anything: clients that show a token.
//!
//! The file of tokens is TOML and holds no token, only its hash, so whoever reads the file cannot ask in a client's name:
//!
//! ```toml
//! # printf %s "$TOKEN" | sha256sum
//! alice = "5994471abb01112afcc18159f6cc74b4f511b99806da59b3caf5a9c173cacfc5"
//! # Two while a token is exchanged.
//! bob = ["…", "…"]
//! ```

use std::{collections::BTreeMap, path::Path, sync::Arc};

use anyhow::{Context as _, bail, ensure};
use axum::http::{HeaderMap, header::AUTHORIZATION};
use quorate_host::{
    file,
    listen::NamesNobody,
    options::{self, Source},
};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConditionallySelectable as _, ConstantTimeEq as _};
use thiserror::Error;

use crate::config::{ServerClients, TlsSettings};

/// The clients of a server.
#[derive(Debug, Default)]
pub(crate) struct Clients {
    /// Who is known by a token, where there are tokens.
    tokens: Option<Vec<Known>>,
    /// Whether clients are known by certificates. Without these and tokens, everybody is a client.
    by_certificate: bool,
}

/// A token's hash, and whose it is.
struct Known {
    hash: [u8; 32],
    name: Arc<str>,
}

impl std::fmt::Debug for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Known").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What a client shows of itself. Of its token it is the hash, by which nobody can ask.
#[derive(Clone)]
pub(crate) struct Shown {
    /// The name in its certificate.
    certificate: Option<Result<Arc<str>, NamesNobody>>,
    token: Result<[u8; 32], UnknownClient>,
}

impl Shown {
    /// What stands in the head of a request, and in the certificate of its connection.
    pub(crate) fn of(headers: &HeaderMap, certificate: Option<&Result<Arc<str>, NamesNobody>>) -> Self {
        Self { certificate: certificate.cloned(), token: hash_of_token(headers) }
    }

    /// A client that shows nothing.
    pub(crate) fn nothing() -> Self {
        Self { certificate: None, token: Err(UnknownClient::Nameless) }
    }
}

impl std::fmt::Debug for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shown").field("certificate", &self.certificate).finish_non_exhaustive()
    }
}

/// The hash of the one token that a request has.
fn hash_of_token(headers: &HeaderMap) -> Result<[u8; 32], UnknownClient> {
    let mut shown = headers.get_all(AUTHORIZATION).iter();
    let header = shown.next().ok_or(UnknownClient::Nameless)?;
    if shown.next().is_some() {
        return Err(UnknownClient::Malformed);
    }
    let token = header.to_str().ok().and_then(|text| text.split_once(' '));
    let token = token.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).map(|(_, token)| token.trim());
    Ok(Sha256::digest(token.ok_or(UnknownClient::Malformed)?).into())
}

/// Why nobody knows a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(crate) enum UnknownClient {
    /// It shows nothing.
    #[error(
        "this server answers clients that it knows; send the header `Authorization: Bearer TOKEN`, or show a certificate over TLS"
    )]
    Nameless,
    /// Its certificate has a name that no client can have.
    #[error(
        "the name in the certificate is not 1 to {NAME} letters of ASCII, digits, `.`, `-` and `_`; ask for another certificate"
    )]
    CertificateName,
    /// Its certificate has no name, or several.
    #[error(transparent)]
    Certificate(#[from] NamesNobody),
    /// It shows something else than one token.
    #[error("the header Authorization is not `Bearer TOKEN`, or there is more than one; send it once, in that form")]
    Malformed,
    /// It shows a token that nobody has.
    #[error("no client of this server has the token; ask its operator for one")]
    WrongToken,
    /// It is another client now than when its stream began.
    #[error("the server's clients have changed, and this stream began under another name; open it again")]
    Renamed,
}

/// The hashes of a client's tokens.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected the hash of a token in quotation marks, or a list of them")]
enum Hashes {
    One(String),
    Some(Vec<String>),
}

impl Clients {
    /// Reads the file of tokens, if there is one.
    ///
    /// # Errors
    /// It cannot be read, others may read it, or it is not understood.
    pub(crate) fn load(settings: &ServerClients, tls: &TlsSettings) -> anyhow::Result<Self> {
        let by_certificate = !tls.clients.is_empty();
        if settings.tokens.is_empty() {
            return Ok(Self { tokens: None, by_certificate });
        }
        let path = Path::new(&settings.tokens);
        let text = String::from_utf8(file::read_secret(path, LARGEST)?)
            .with_context(|| format!("{}: expected text", path.display()))?;
        let name = path.display().to_string();
        Ok(Self { by_certificate, ..Self::parse(Source { name: &name, text: &text })? })
    }

    fn parse(file: Source<'_>) -> anyhow::Result<Self> {
        let read: BTreeMap<String, Hashes> = options::parse(file)?;
        let (origin, mut tokens) = (file.name, Vec::<Known>::new());
        for (name, hashes) in read {
            let shown = quorate_host::clipped(&name, NAME);
            ensure!(
                is_client_name(&name),
                "{origin}: found the name {shown:?}, expected 1 to {NAME} letters of ASCII, digits, `.`, `-` and `_`"
            );
            let name: Arc<str> = name.into();
            let hashes = match hashes {
                Hashes::One(hash) => vec![hash],
                Hashes::Some(hashes) => hashes,
            };
            ensure!(!hashes.is_empty(), "{origin}: {shown} has no token; leave it out");
            for text in hashes {
                let Ok(hash) = const_hex::decode_to_array::<_, 32>(&text) else {
                    bail!("{origin}: {shown}: expected the SHA-256 hash of a token, which is 64 hexadecimal digits");
                };
                // What `sha256sum` says of a variable that has no value.
                ensure!(
                    hash[..] != Sha256::digest("")[..],
                    "{origin}: {shown}: this is the hash of an empty text; make a token first"
                );
                if let Some(other) = tokens.iter().find(|known| known.hash == hash) {
                    bail!("{origin}: {} and {shown} have the same token; each client needs its own", other.name);
                }
                tokens.push(Known { hash, name: name.clone() });
            }
        }
        // Nobody could ask anything.
        ensure!(
            !tokens.is_empty(),
            "{origin}: it names no client; add one, or start the server without clients.tokens"
        );
        Ok(Self { tokens: Some(tokens), by_certificate: false })
    }

    /// The name of the client that shows this; none where everybody may ask. A certificate counts more than a token.
    ///
    /// # Errors
    /// [`UnknownClient`].
    pub(crate) fn identify(&self, shown: &Shown) -> Result<Option<Arc<str>>, UnknownClient> {
        if let Some(name) = shown.certificate.as_ref().filter(|_| self.by_certificate) {
            let name = name.clone()?;
            return if is_client_name(&name) { Ok(Some(name)) } else { Err(UnknownClient::CertificateName) };
        }
        let Some(tokens) = &self.tokens else {
            return if self.by_certificate { Err(UnknownClient::Nameless) } else { Ok(None) };
        };
        let hash = shown.token?;
        // All are compared, so that the time tells nothing about any.
        let (mut found, mut place) = (Choice::from(0), 0u32);
        for (index, known) in (0..).zip(tokens) {
            let same = known.hash.ct_eq(&hash);
            place.conditional_assign(&index, same);
            found |= same;
        }
        let client = bool::from(found).then(|| tokens.get(place as usize)).flatten();
        client.map(|known| Some(known.name.clone())).ok_or(UnknownClient::WrongToken)
    }
}

/// Whether a text can be the name of a client. It stands in front of its sources, and has no `/` and no `:`, which part them.
pub(crate) fn is_client_name(name: &str) -> bool {
    (1..=NAME).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'))
}

/// The longest name.
const NAME: usize = 64;

/// The longest file of tokens: a megabyte, which is some ten thousand clients.
const LARGEST: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn parse(text: &str) -> Result<Clients, String> {
        Clients::parse(Source { name: "tokens.toml", text }).map_err(|error| format!("{error:#}"))
    }

    fn hash(token: &str) -> String {
        const_hex::encode(Sha256::digest(token))
    }

    fn headers(values: &[&str]) -> HeaderMap {
        values.iter().map(|value| (AUTHORIZATION, HeaderValue::from_str(value).unwrap())).collect()
    }

    #[test]
    fn a_client_is_known_by_one_of_its_tokens() {
        let file = format!("alice = \"{}\"\nbob = [\"{}\", \"{}\"]\n", hash("a"), hash("old"), hash("new"));
        let clients = parse(&file).unwrap();
        let shown = |values: &[&str]| Shown::of(&headers(values), None);
        let name = |values: &[&str]| clients.identify(&shown(values)).map(|name| name.unwrap().to_string());
        for (header, expected) in [("Bearer a", "alice"), ("bearer old", "bob"), ("Bearer  new ", "bob")] {
            assert_eq!(name(&[header]).as_deref(), Ok(expected));
        }
        for (values, expected) in [
            (&[][..], UnknownClient::Nameless),
            (&["Basic a"], UnknownClient::Malformed),
            (&["a"], UnknownClient::Malformed),
            (&["Bearer a", "Bearer a"], UnknownClient::Malformed),
            (&["Bearer "], UnknownClient::WrongToken),
            (&["Bearer b"], UnknownClient::WrongToken),
            (&[&format!("Bearer {}", hash("a"))], UnknownClient::WrongToken),
        ] {
            assert_eq!(name(values), Err(expected), "{values:?}");
        }
        assert_eq!(Clients::default().identify(&shown(&["Bearer a"])), Ok(None), "everybody is a client");
        assert!(!format!("{clients:?}").contains(&hash("a")[..8]));
        assert_eq!(format!("{:?}", shown(&["Bearer a"])), "Shown { certificate: None, .. }");
    }

    #[test]
    fn a_certificate_names_a_client_and_counts_more_than_a_token() {
        let clients = parse(&format!("alice = \"{}\"", hash("a"))).unwrap();
        let both = Clients { by_certificate: true, ..clients };
        let name = |clients: &Clients, certificate: Option<&str>, values: &[&str]| {
            let certificate = certificate.map(|name| if name.is_empty() { Err(NamesNobody) } else { Ok(name.into()) });
            let shown = Shown::of(&headers(values), certificate.as_ref());
            clients.identify(&shown).map(|name| name.map(|name| name.to_string()))
        };
        assert_eq!(name(&both, Some("bob.example"), &["Bearer a"]), Ok(Some("bob.example".to_owned())));
        assert_eq!(name(&both, None, &["Bearer a"]), Ok(Some("alice".to_owned())));
        assert_eq!(name(&both, Some("*.example"), &["Bearer a"]), Err(UnknownClient::CertificateName));
        assert_eq!(name(&both, Some(""), &["Bearer a"]), Err(NamesNobody.into()), "nor does a token help then");
        let alone = Clients { tokens: None, by_certificate: true };
        assert_eq!(name(&alone, None, &["Bearer a"]), Err(UnknownClient::Nameless), "nobody else is a client");
        // A connection that was made when certificates counted.
        let tokens = Clients { by_certificate: false, ..both };
        assert_eq!(name(&tokens, Some("bob.example"), &[]), Err(UnknownClient::Nameless));
    }

    #[test]
    fn a_file_that_lets_nobody_in_or_two_by_one_token_is_refused() {
        let one = hash("a");
        for (text, expected) in [
            (String::new(), "names no client"),
            ("alice = []".to_owned(), "alice has no token"),
            ("alice = \"secret\"".to_owned(), "alice: expected the SHA-256 hash"),
            ("alice = secret".to_owned(), "line 1, column 9"),
            (format!("alice = \"{one}\"\nbob = \"{one}\""), "alice and bob have the same token"),
            (format!("alice = \"{one}\"\nalice = \"{one}\""), "line 2"),
            (format!("alice = \"{}\"", hash("")), "hash of an empty text"),
            (format!("\"connection:1\" = \"{one}\""), "found the name \"connection:1\""),
            (format!("\"a/b\" = \"{one}\""), "found the name \"a/b\""),
            (format!("\"\" = \"{one}\""), "found the name \"\""),
        ] {
            let error = parse(&text).unwrap_err();
            assert!(error.starts_with("tokens.toml: ") && error.contains(expected), "{error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
