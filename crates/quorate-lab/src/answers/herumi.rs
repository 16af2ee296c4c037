//! herumi's text form of the Ethereum suites: lines `name value`. A line `out` ends a record.

use super::{Case, CaseMessages, File, Vectors, bytes::hex_bytes, catalogue::Kind, ethereum::POSSESSION};

/// The set whose files have this form.
pub const SET: &str = "01_herumi_eth_draft07";

/// One record: the inputs in order, and the output.
#[derive(Default)]
pub struct HerumiRecord {
    /// File and place in the file.
    pub id: String,
    /// The lines `sec`.
    pub secrets: Vec<Vec<u8>>,
    /// The lines `pub`.
    pub keys: Vec<Vec<u8>>,
    /// The lines `msg`.
    pub messages: Vec<Vec<u8>>,
    /// The lines `sig`.
    pub signatures: Vec<Vec<u8>>,
    /// The line `out`.
    pub out: String,
    /// A line that is not understood. The record is then skipped.
    flaw: Option<String>,
}

/// What a record is about. The names of its lines decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HerumiContent {
    /// A verdict on a signature: `out` is true or false. It may have no keys.
    Verdict,
    /// A signature by a secret key: `out` is the signature.
    Signing,
    /// Signatures and their sum, which is `out`.
    Sum,
}

/// Every verdict in herumi's files.
pub fn cases(vectors: &Vectors) -> Vec<Case> {
    vectors.collect("herumi verdicts", |file| {
        let records = of(file, HerumiContent::Verdict)?;
        Some(records.into_iter().filter_map(|record| record.case(file)).collect())
    })
}

/// The records of a file that are about one thing; `None` if it has none.
pub fn of(file: &File, about: HerumiContent) -> Option<Vec<HerumiRecord>> {
    if file.kind != Kind::Herumi {
        return None;
    }
    let records: Vec<_> = records(file).into_iter().filter(|record| record.about() == about).collect();
    (!records.is_empty()).then_some(records)
}

fn records(file: &File) -> Vec<HerumiRecord> {
    let (mut records, mut record) = (Vec::new(), HerumiRecord::default());
    for (number, line) in file.text().lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let (name, value) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        let list = match name {
            "sec" => &mut record.secrets,
            "pub" => &mut record.keys,
            "msg" => &mut record.messages,
            "sig" => &mut record.signatures,
            "out" => {
                let ended = HerumiRecord { id: file.id(records.len()), out: value.to_owned(), ..record };
                records.push(ended);
                record = HerumiRecord::default();
                continue;
            }
            _ => {
                record.flaw = Some(format!("line {}: no field is named `{name}`", number + 1));
                continue;
            }
        };
        match hex_bytes(value) {
            Ok(bytes) => list.push(bytes),
            Err(why) => record.flaw = Some(format!("line {}: {why}", number + 1)),
        }
    }
    records.retain(|record| match &record.flaw {
        Some(flaw) => {
            file.skip(&record.id, flaw);
            false
        }
        None => true,
    });
    records
}

impl HerumiRecord {
    fn about(&self) -> HerumiContent {
        match (self.out.as_str(), &self.secrets[..]) {
            ("true" | "false", _) => HerumiContent::Verdict,
            (_, []) => HerumiContent::Sum,
            _ => HerumiContent::Signing,
        }
    }

    /// The verdict in the record. A single message is shared by all keys, even if there are none. Otherwise each key
    /// has its own message.
    fn case(self, file: &File) -> Option<Case> {
        let Self { id, keys, messages, signatures, .. } = self;
        let signature = file.fitting(&id, signatures.into_iter().next().ok_or("it has no signature"))?;
        let messages = match <[_; 1]>::try_from(messages) {
            Ok([message]) => CaseMessages::Shared(message),
            Err(messages) => CaseMessages::Each(messages),
        };
        let case = Case {
            set: SET.to_owned(),
            id,
            suite: POSSESSION,
            keys,
            messages,
            signature,
            expected: self.out == "true",
        };
        case.paired(file)
    }
}
