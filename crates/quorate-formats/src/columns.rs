//! The columns of a claim, which JSON Lines and Parquet share.

use quorate::{Messages, SourceId};

use crate::record::{Id, Place, Record};

/// The columns of one claim as JSON Lines and Parquet share them; either form of a column may be absent.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    pub id: Option<Id>,
    pub suite: Option<String>,
    pub public_key: Option<Vec<u8>>,
    pub public_keys: Option<Vec<Vec<u8>>>,
    pub message: Option<Vec<u8>>,
    pub messages: Option<Vec<Vec<u8>>>,
    pub signature: Option<Vec<u8>>,
    pub source: Option<SourceId>,
}

impl Columns {
    /// The record they make, or the reason why they make none.
    pub(crate) fn into_record(self, place: Place) -> Result<Record, String> {
        let public_keys = match (self.public_key, self.public_keys) {
            (Some(key), None) => vec![key],
            (None, Some(keys)) => keys,
            (Some(_), Some(_)) => return Err("has both \"public_key\" and \"public_keys\"".to_owned()),
            (None, None) => return Err("lacks \"public_key\" (or \"public_keys\")".to_owned()),
        };
        let messages = match (self.message, self.messages) {
            (Some(message), None) => Messages::Shared(message.into()),
            (None, Some(messages)) if messages.len() == public_keys.len() => {
                Messages::Each(messages.into_iter().map(Into::into).collect())
            }
            (None, Some(messages)) => {
                return Err(format!(
                    "has {} public keys but {} messages; \"messages\" goes pairwise, \"message\" is for all keys",
                    public_keys.len(),
                    messages.len()
                ));
            }
            (Some(_), Some(_)) => return Err("has both \"message\" and \"messages\"".to_owned()),
            (None, None) => return Err("lacks \"message\" (or \"messages\")".to_owned()),
        };
        let signature = self.signature.ok_or("lacks \"signature\"")?;
        Ok(Record {
            id: self.id,
            suite: self.suite,
            public_keys,
            messages,
            signature,
            source: self.source,
            place,
            checks: Vec::new(),
            rests_on: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Columns {
        Columns { public_key: Some(vec![1]), message: Some(vec![2]), signature: Some(vec![3]), ..Columns::default() }
    }

    fn reason(columns: Columns) -> String {
        columns.into_record(Place::Line(1)).unwrap_err()
    }

    #[test]
    fn one_key_and_one_message_is_shared() {
        let record = columns().into_record(Place::Line(4)).unwrap();
        assert_eq!(record.public_keys, [[1]]);
        assert_eq!(record.messages, Messages::Shared([2].into()));
        assert_eq!(record.place, Place::Line(4));
    }

    #[test]
    fn no_keys_at_all_is_left_to_the_suite() {
        let record = Columns { public_key: None, public_keys: Some(vec![]), ..columns() };
        assert!(record.into_record(Place::Line(1)).unwrap().public_keys.is_empty());
    }

    #[test]
    fn missing_doubled_and_unequal_columns() {
        assert!(reason(Columns { public_key: None, ..columns() }).contains("lacks \"public_key\""));
        assert!(reason(Columns { message: None, ..columns() }).contains("lacks \"message\""));
        assert!(reason(Columns { signature: None, ..columns() }).contains("lacks \"signature\""));
        assert!(reason(Columns { public_keys: Some(vec![]), ..columns() }).contains("both \"public_key\""));
        assert!(reason(Columns { messages: Some(vec![]), ..columns() }).contains("both \"message\""));
        let unequal = Columns { message: None, messages: Some(vec![vec![1], vec![2]]), ..columns() };
        assert!(reason(unequal).contains("1 public keys but 2 messages"));
    }
}
