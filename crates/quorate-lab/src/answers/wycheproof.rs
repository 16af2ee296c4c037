//! Wycheproof: edge cases, each with a comment that says what is wrong with it.

use std::rc::Rc;

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use super::{Case, CaseMessages, File, Vectors, bytes::Hex, bytes::plain, catalogue::Kind, schemes::suite_of};

/// Every signature of Wycheproof.
pub fn cases(vectors: &Vectors) -> Vec<Case> {
    vectors.collect("Wycheproof signatures", |file| match file.kind {
        Kind::WycheproofVerify => Some(verify(file).into_iter().map(|test| test.case).collect()),
        Kind::WycheproofAggregateVerify => Some(aggregate_verify(file)),
        _ => None,
    })
}

/// A case with its author's comment.
pub struct Commented {
    /// The signature.
    pub case: Case,
    /// What the author says of it.
    pub comment: String,
}

/// The signatures of a file, each by one key.
pub fn verify(file: &File) -> Vec<Commented> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Group {
        ciphersuite: String,
        public_key: Key,
    }
    #[derive(Deserialize)]
    struct Key {
        pk: Hex,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Test {
        tc_id: u32,
        comment: String,
        msg: Hex,
        sig: Hex,
        result: String,
    }
    let cases = tests::<Group, Test>(file).into_iter().filter_map(|(group, test)| {
        let (keys, messages) = (vec![group.public_key.pk.0.clone()], CaseMessages::Shared(test.msg.0));
        let case = case(file, test.tc_id, &group.ciphersuite, keys, messages, test.sig, &test.result)?;
        Some(Commented { case, comment: test.comment })
    });
    cases.collect()
}

/// Every test with what its group states. Groups and tests of another shape are skipped.
pub fn tests<G: DeserializeOwned, T: DeserializeOwned>(file: &File) -> Vec<(Rc<G>, T)> {
    #[derive(Deserialize)]
    struct Content {
        tests: Vec<Value>,
    }
    let mut all = Vec::new();
    for (index, group) in file.items::<Value>("testGroups") {
        let id = format!("{}, group {index}", file.name);
        let Some(Content { tests }) = file.fitting(&id, Content::deserialize(&group)) else { continue };
        let Some(group) = file.fitting(&id, serde_json::from_value(group)) else { continue };
        let group = Rc::new(group);
        for test in tests {
            let id = format!("{}#tcId {}", file.name, test["tcId"]);
            all.extend(file.fitting(&id, serde_json::from_value(test)).map(|test| (Rc::clone(&group), test)));
        }
    }
    all
}

fn aggregate_verify(file: &File) -> Vec<Case> {
    #[derive(Deserialize)]
    struct Group {
        ciphersuite: String,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Test {
        tc_id: u32,
        pubkeys: Vec<Hex>,
        messages: Vec<Hex>,
        sig: Hex,
        result: String,
    }
    let cases = tests::<Group, Test>(file).into_iter().filter_map(|(group, test)| {
        let (keys, messages) = (plain(test.pubkeys), CaseMessages::Each(plain(test.messages)));
        case(file, test.tc_id, &group.ciphersuite, keys, messages, test.sig, &test.result)?.paired(file)
    });
    cases.collect()
}

fn case(
    file: &File,
    number: u32,
    tag: &str,
    keys: Vec<Vec<u8>>,
    messages: CaseMessages,
    signature: Hex,
    result: &str,
) -> Option<Case> {
    let id = format!("{}#tcId {number}", file.name);
    // The files are min-pk. Some cases have keys of a wrong length, so the length does not say which variant it is.
    let suite = file.fitting(&id, suite_of(tag, &[0; 48]).ok_or_else(|| format!("no suite has the tag {tag}")))?;
    let expected = match result {
        "valid" => true,
        "invalid" => false,
        other => {
            file.skip(&id, format_args!("neither valid nor invalid but `{other}`"));
            return None;
        }
    };
    Some(Case { set: file.set.clone(), id, suite, keys, messages, signature: signature.0, expected })
}
