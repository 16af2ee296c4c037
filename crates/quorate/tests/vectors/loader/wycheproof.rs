//! Wycheproof: edge cases, each with a comment that says what is wrong with it.

use serde::Deserialize;

use super::{Case, File, Messages, Vectors, bytes::Hex, bytes::plain, catalogue::Kind, schemes::suite_of};

pub(crate) fn cases(vectors: &Vectors) -> Vec<Case> {
    vectors.collect("Wycheproof signatures", |file| match file.kind {
        Kind::WycheproofVerify => Some(verify(file).into_iter().map(|test| test.case).collect()),
        Kind::WycheproofAggregateVerify => Some(aggregate_verify(file)),
        _ => None,
    })
}

/// A case with what its author says of it.
pub(crate) struct Commented {
    pub(crate) case: Case,
    pub(crate) comment: String,
}

pub(crate) fn verify(file: &File) -> Vec<Commented> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Group {
        ciphersuite: String,
        public_key: Key,
        tests: Vec<Test>,
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
    let groups = file.parse::<Content<Group>>().test_groups.into_iter();
    let cases = groups.flat_map(|Group { ciphersuite, public_key, tests }| {
        tests.into_iter().map(move |test| {
            let (keys, messages) = (vec![public_key.pk.0.clone()], Messages::Shared(test.msg.0));
            let case = case(file, test.tc_id, &ciphersuite, keys, messages, test.sig, &test.result);
            Commented { case, comment: test.comment }
        })
    });
    cases.collect()
}

/// `{testGroups: […]}`, the frame of every file.
#[derive(Deserialize)]
pub(crate) struct Content<G> {
    #[serde(rename = "testGroups")]
    pub(crate) test_groups: Vec<G>,
}

fn aggregate_verify(file: &File) -> Vec<Case> {
    #[derive(Deserialize)]
    struct Group {
        ciphersuite: String,
        tests: Vec<Test>,
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
    let groups = file.parse::<Content<Group>>().test_groups.into_iter();
    let cases = groups.flat_map(|Group { ciphersuite, tests }| {
        tests.into_iter().map(move |test| {
            let (keys, messages) = (plain(test.pubkeys), Messages::Each(plain(test.messages)));
            case(file, test.tc_id, &ciphersuite, keys, messages, test.sig, &test.result)
        })
    });
    cases.collect()
}

fn case(
    file: &File,
    number: u32,
    tag: &str,
    keys: Vec<Vec<u8>>,
    messages: Messages,
    signature: Hex,
    result: &str,
) -> Case {
    let id = format!("{}#tcId {number}", file.name);
    // The files are min-pk. A key of a wrong length is one of the cases, so that lengths tell nothing.
    let suite = suite_of(tag, &[0; 48]).unwrap_or_else(|| panic!("{id}: no suite has the tag {tag}"));
    let expected = match result {
        "valid" => true,
        "invalid" => false,
        other => panic!("{id}: neither valid nor invalid but `{other}`"),
    };
    Case { set: file.set.clone(), id, suite, keys, messages, signature: signature.0, expected }
}
