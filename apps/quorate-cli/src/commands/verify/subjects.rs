//! Validators that occur twice among the deposits, the changes or the exits of a run.

use std::collections::HashMap;

use quorate_formats::{Format, Place, Record};

use super::arrival::{Arrival, Input};

/// Where each validator was met first: by its key in deposits, and else by its number.
#[derive(Default)]
pub(super) struct Subjects {
    deposits: HashMap<Vec<u8>, (Input, Place)>,
    changes: HashMap<String, (Input, Place)>,
    exits: HashMap<String, (Input, Place)>,
}

impl Subjects {
    /// What is to be said if the validator of a record was met before in a record of the same format.
    pub(super) fn repeated(&mut self, format: Format, record: &Record, input: &Input) -> Option<Arrival> {
        let here = (input.clone(), record.place);
        let number = || record.id.as_ref().map(|id| id.as_json().to_owned());
        let (before, what) = match format {
            Format::Deposit => {
                let key = record.public_keys.encoded(0)?.into_owned();
                (met(&mut self.deposits, key.clone(), here)?, format!("the key {}", const_hex::encode_prefixed(&key)))
            }
            Format::Change => (met(&mut self.changes, number()?, here)?, format!("validator {}", number()?)),
            Format::Exit => (met(&mut self.exits, number()?, here)?, format!("validator {}", number()?)),
            Format::Jsonl | Format::Parquet | Format::Drand | Format::LightClient => return None,
        };
        let what = match format {
            Format::Deposit => format!("{what} has a deposit already; a second one adds to the same validator"),
            Format::Change => format!("{what} has a change already; the chain takes one"),
            _ => format!("{what} has an exit already; the chain takes one"),
        };
        let (first, place) = before;
        Some(Arrival::Repeated { input: input.clone(), place: record.place, what, first: first.at(place) })
    }
}

/// Where it was met before; none if it is new.
fn met<K: Eq + std::hash::Hash>(
    all: &mut HashMap<K, (Input, Place)>,
    subject: K,
    here: (Input, Place),
) -> Option<(Input, Place)> {
    match all.entry(subject) {
        std::collections::hash_map::Entry::Occupied(entry) => Some(entry.get().clone()),
        std::collections::hash_map::Entry::Vacant(entry) => {
            entry.insert(here);
            None
        }
    }
}
