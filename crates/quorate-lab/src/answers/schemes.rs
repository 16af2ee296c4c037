//! Signatures of other networks and libraries, in the shape that their files share.

use quorate::{AnySuite, MinPk, MinSig, Suite};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    Case, CaseMessages, File, Vectors,
    bytes::{Hex, hex_bytes, plain},
    catalogue::Kind,
};

/// Every signature of other networks and libraries.
pub fn cases(vectors: &Vectors) -> Vec<Case> {
    vectors.collect("signatures of other networks and libraries", |file| match file.kind {
        Kind::Signed(suite) => Some(signed(file, Some(suite))),
        Kind::SignedUnderTag => Some(signed(file, None)),
        Kind::ChiaSchemes => Some(chia_aggregates(file)),
        Kind::Possessions => Some(possessions(file)),
        _ => None,
    })
}

/// The suite of a tag. The length of the key says which variant it is.
pub fn suite_of(tag: &str, key: &[u8]) -> Option<AnySuite> {
    if key.len() == 48 {
        return MinPk::all().iter().find(|suite| suite.id() == tag).copied().map(AnySuite::MinPk);
    }
    MinSig::all().iter().find(|suite| suite.id() == tag).copied().map(AnySuite::MinSig)
}

/// Two keys over one message in each scheme. In the basic scheme the claim is false, because its messages must differ.
fn chia_aggregates(file: &File) -> Vec<Case> {
    let aggregate = |(index, suite, chia): (usize, AnySuite, Chia)| {
        let messages = match suite {
            AnySuite::MinPk(MinPk::ProofOfPossession) => CaseMessages::Shared(chia.message.0),
            _ => CaseMessages::Each(vec![chia.message.0; chia.pk.len()]),
        };
        let expected = suite != AnySuite::MinPk(MinPk::Basic);
        let (set, id, keys) = (file.set.clone(), format!("{} (aggregate)", file.id(index)), plain(chia.pk));
        Case { set, id, suite, keys, messages, signature: chia.aggregate.0, expected }
    };
    chia(file).into_iter().map(aggregate).collect()
}

/// One scheme of Chia's: two keys that sign one message, and the sum of their signatures.
#[derive(Deserialize)]
pub struct Chia {
    scheme: String,
    /// The message that both keys sign.
    pub message: Hex,
    /// The two secret keys.
    pub sk: Vec<Hex>,
    /// The two public keys.
    pub pk: Vec<Hex>,
    /// The two signatures.
    pub sig: Vec<Hex>,
    /// The sum of the signatures.
    pub aggregate: Hex,
}

/// The schemes with their indices and suites.
pub fn chia(file: &File) -> Vec<(usize, AnySuite, Chia)> {
    let schemes = file.items::<Chia>("cases").into_iter();
    schemes.filter_map(|(index, chia)| Some((index, file.fitting(&file.id(index), chia.suite())?, chia))).collect()
}

impl Chia {
    fn suite(&self) -> Result<AnySuite, String> {
        Ok(AnySuite::MinPk(match self.scheme.as_str() {
            "Basic" => MinPk::Basic,
            "Aug" => MinPk::Augmented,
            "Pop" => MinPk::ProofOfPossession,
            other => return Err(format!("no scheme of Chia's is named `{other}`")),
        }))
    }
}

/// Signatures by one key, over one message or several. A signature is true unless its record says otherwise.
fn signed(file: &File, suite: Option<AnySuite>) -> Vec<Case> {
    let items = file.items::<Signed>("cases").into_iter();
    items.filter_map(|(index, item)| file.fitting(&file.id(index), item.case(file, index, suite))).collect()
}

/// One object. Its fields have different names in different sources. A field that is null counts as absent.
#[derive(Deserialize)]
struct Signed(Map<String, Value>);

impl Signed {
    /// The signature as a case, or the reason why it makes no case.
    fn case(&self, file: &File, index: usize, suite: Option<AnySuite>) -> Result<Case, String> {
        let keys = self.bytes(&["pubkey", "public_key", "pk"], &["pubkeys", "public_keys", "pks"])?;
        let messages = self.bytes(&["message", "msg", "signing_root"], &["messages", "msgs"])?;
        let signature = self.bytes(&["signature", "sig", "aggregate_signature", "aggr_sig", "aggregate"], &[])?;
        let keys = keys.ok_or("it has no key")?;
        let messages = messages.ok_or("it has no message")?;
        let [signature] = <[_; 1]>::try_from(signature.ok_or("it has no signature")?).map_err(|_| "many signatures")?;
        let [key] = &keys[..] else {
            return Err(format!("{} keys, of which the source says not how they add up", keys.len()));
        };

        let suite = match (suite, self.text(&["dst", "ciphersuite"])) {
            (Some(suite), _) => suite,
            (None, Some(tag)) => suite_of(tag, key).ok_or_else(|| format!("no suite has the tag {tag}"))?,
            (None, None) => return Err("it has no tag".to_owned()),
        };
        let expected = match self.0.get("expected") {
            None | Some(Value::Null) => true,
            Some(Value::Bool(expected)) => *expected,
            Some(other) => return Err(format!("its verdict is {other}")),
        };
        let (keys, messages) = match <[_; 1]>::try_from(messages) {
            Ok([message]) => (keys, CaseMessages::Shared(message)),
            // The one key signed each of them.
            Err(messages) => (vec![key.clone(); messages.len()], CaseMessages::Each(messages)),
        };
        Ok(Case { set: file.set.clone(), id: file.id(index), suite, keys, messages, signature, expected })
    }

    /// The hexadecimal value, or the list of values, of the first of these fields that is present. `None` if none is.
    fn bytes(&self, one: &[&str], many: &[&str]) -> Result<Option<Vec<Vec<u8>>>, String> {
        let decode = |name: &str, value: &Value| match value {
            Value::String(text) => hex_bytes(text),
            other => Err(format!("`{name}` is {other}, not hexadecimal")),
        };
        for name in one.iter().chain(many) {
            match self.0.get(*name) {
                None | Some(Value::Null) => {}
                Some(Value::Array(list)) => {
                    return list.iter().map(|value| decode(name, value)).collect::<Result<_, _>>().map(Some);
                }
                Some(value) => return decode(name, value).map(|bytes| Some(vec![bytes])),
            }
        }
        Ok(None)
    }

    fn text(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.0.get(*name)?.as_str())
    }
}

fn possessions(file: &File) -> Vec<Case> {
    #[derive(Deserialize)]
    struct Item {
        public_key: Hex,
        proof_of_possession: Hex,
        expected: bool,
    }
    let case = |(index, item): (usize, Item)| Case {
        set: file.set.clone(),
        id: file.id(index),
        suite: AnySuite::MinPk(MinPk::ProofOfPossession),
        keys: vec![item.public_key.0],
        messages: CaseMessages::Possession,
        signature: item.proof_of_possession.0,
        expected: item.expected,
    };
    file.items("cases").into_iter().map(case).collect()
}
