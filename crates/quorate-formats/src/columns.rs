//! The fields of a claim, which JSON Lines and Parquet share.

use quorate::{Messages, SourceId};

use crate::record::{Id, Place, Record};

/// The fields of one claim. Keys and messages each have a field for one and a field for several, of which one is given.
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
    /// The record that the fields make, or the reason why they make none.
    pub(crate) fn into_record(self, place: Place) -> Result<Record, String> {
        let public_keys = match (self.public_key, self.public_keys) {
            (Some(key), None) => vec![key],
            (None, Some(keys)) => keys,
            (Some(_), Some(_)) => {
                return Err("\"public_key\" and \"public_keys\" are both given; keep one of them".to_owned());
            }
            (None, None) => {
                return Err("\"public_key\" is missing; give it, or \"public_keys\" for several keys".to_owned());
            }
        };
        let messages = match (self.message, self.messages) {
            (Some(message), None) => Messages::Shared(message.into()),
            (None, Some(messages)) if messages.len() == public_keys.len() => {
                Messages::Each(messages.into_iter().map(Into::into).collect())
            }
            (None, Some(messages)) => {
                return Err(format!(
                    "found {} public keys but {} messages; \"messages\" needs one message for each key, and \"message\" is one \
                     message for all keys",
                    public_keys.len(),
                    messages.len()
                ));
            }
            (Some(_), Some(_)) => {
                return Err("\"message\" and \"messages\" are both given; keep one of them".to_owned());
            }
            (None, None) => {
                return Err("\"message\" is missing; give it, or \"messages\" with one message for each key".to_owned());
            }
        };
        let signature = self.signature.ok_or("\"signature\" is missing")?;
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
        assert!(reason(Columns { public_key: None, ..columns() }).contains("\"public_key\" is missing"));
        assert!(reason(Columns { message: None, ..columns() }).contains("\"message\" is missing"));
        assert!(reason(Columns { signature: None, ..columns() }).contains("\"signature\" is missing"));
        assert!(reason(Columns { public_keys: Some(vec![]), ..columns() }).contains("are both given"));
        assert!(reason(Columns { messages: Some(vec![]), ..columns() }).contains("are both given"));
        let unequal = Columns { message: None, messages: Some(vec![vec![1], vec![2]]), ..columns() };
        assert!(reason(unequal).contains("1 public keys but 2 messages"));
    }
}
