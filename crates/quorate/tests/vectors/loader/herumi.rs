//! herumi's text form of the Ethereum suites: lines `name value`, of which `out` ends a record.

use super::{Case, File, Messages, Vectors, bytes::hex_bytes, catalogue::Kind, ethereum::POSSESSION};

/// The set that the form belongs to.
pub(crate) const SET: &str = "01_herumi_eth_draft07";

/// One record: what went in, in order, and what came out.
#[derive(Default)]
pub(crate) struct Record {
    pub(crate) id: String,
    pub(crate) secrets: Vec<Vec<u8>>,
    pub(crate) keys: Vec<Vec<u8>>,
    pub(crate) messages: Vec<Vec<u8>>,
    pub(crate) signatures: Vec<Vec<u8>>,
    pub(crate) out: String,
}

pub(crate) fn cases(vectors: &Vectors) -> Vec<Case> {
    let records = vectors.collect("herumi records", |file| (file.kind == Kind::Herumi).then(|| records(file)));
    records.into_iter().filter_map(Record::case).collect()
}

pub(crate) fn records(file: &File) -> Vec<Record> {
    let (mut records, mut record) = (Vec::new(), Record::default());
    for (number, line) in file.text().lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let (name, value) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        let bytes = || hex_bytes(value).unwrap_or_else(|e| panic!("{}, line {}: {e}", file.name, number + 1));
        match name {
            "sec" => record.secrets.push(bytes()),
            "pub" => record.keys.push(bytes()),
            "msg" => record.messages.push(bytes()),
            "sig" => record.signatures.push(bytes()),
            "out" => {
                let ended = Record { id: file.id(records.len()), out: value.to_owned(), ..record };
                records.push(ended);
                record = Record::default();
            }
            _ => panic!("{}, line {}: no field is named `{name}`", file.name, number + 1),
        }
    }
    records
}

impl Record {
    /// The verdict in it, if it is one.
    fn case(self) -> Option<Case> {
        let expected = self.out.parse().ok()?;
        let messages = match <[_; 1]>::try_from(self.messages) {
            Ok([message]) => Messages::Shared(message),
            Err(messages) => Messages::Each(messages),
        };
        let signature = self.signatures.into_iter().next().unwrap_or_else(|| panic!("{}: no signature", self.id));
        let (set, id, keys) = (SET.to_owned(), self.id, self.keys);
        Some(Case { set, id, suite: POSSESSION, keys, messages, signature, expected })
    }
}
