//! Reads a document of light-client objects, and takes them out of their envelopes.

use std::io::BufRead;

use serde_json::value::RawValue;

use super::object::{Envelope, Object};
use crate::document::elements;
use crate::error::InputError;
use crate::format::Format;
use crate::record::Place;

/// A document of light-client objects. Nothing in it is checked yet.
#[derive(Debug)]
pub struct Document {
    pub(super) name: String,
    pub(super) objects: Vec<(Place, Result<Object, String>)>,
}

impl Document {
    /// Reads a document. Messages about it use `name`.
    ///
    /// # Errors
    /// The document is not JSON, or is longer than [`DOCUMENT_LIMIT`](crate::DOCUMENT_LIMIT). An object of another kind is not
    /// an error here: [`records`](Self::records) reports it.
    pub fn read(reader: impl BufRead, name: &str) -> Result<Self, InputError> {
        let mut document = Self { name: name.to_owned(), objects: Vec::new() };
        for element in elements(reader, Format::LightClient)? {
            document.open(&element);
        }
        Ok(document)
    }

    /// Takes an element out of its envelope, which may hold one object or an array of them.
    fn open(&mut self, element: &RawValue) {
        let envelope = match Envelope::from_json(element.get()) {
            Ok(envelope) => envelope,
            Err(reason) => return self.push(Err(reason)),
        };
        let fork = envelope.fork();
        match envelope.data {
            None => self.push(Object::from_json(element.get(), fork)),
            Some(data) if data.get().starts_with('[') => match serde_json::from_str::<Vec<&RawValue>>(data.get()) {
                Ok(list) => list.into_iter().for_each(|item| self.push(Object::from_json(item.get(), fork))),
                Err(error) => self.push(Err(error.to_string())),
            },
            Some(data) => self.push(Object::from_json(data.get(), fork)),
        }
    }

    fn push(&mut self, object: Result<Object, String>) {
        self.objects.push((Place::Element(self.objects.len() as u64), object));
    }
}
