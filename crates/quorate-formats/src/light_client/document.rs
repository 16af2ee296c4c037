//! Reads a document of light-client objects, and takes them out of their envelopes.

use std::io::BufRead;

use super::binary;
use super::object::{Envelope, Object};
use crate::document::{DOCUMENT_LIMIT, Element, Elements, read_bytes};
use crate::error::InputError;
use crate::format::Format;
use crate::record::Place;

/// A document of light-client objects. Nothing in it is checked yet.
#[derive(Debug)]
pub struct Document {
    /// Which of the caller's inputs it is.
    pub(super) input: usize,
    pub(super) name: String,
    pub(super) objects: Vec<(Place, Result<Object, String>)>,
    /// How many of them could not be read.
    unfit: usize,
}

impl Document {
    /// Reads a document. Messages about it use `name`. What tells it from the other documents of a run is `input`, which is the
    /// [`Origin::input`](crate::Origin) of what it vouches for: no two have the same.
    ///
    /// # Errors
    /// The document is neither JSON nor SSZ, or is longer than [`DOCUMENT_LIMIT`](crate::DOCUMENT_LIMIT), or has more than
    /// 65,536 elements, or more than 1,000 of them are no light-client objects. One such
    /// element is not an error here: [`records`](Self::records) reports it.
    pub fn read(reader: impl BufRead, input: usize, name: &str) -> Result<Self, InputError> {
        let mut document = Self { input, name: name.to_owned(), objects: Vec::new(), unfit: 0 };
        let bytes = read_bytes(reader, Format::LightClient, DOCUMENT_LIMIT)?;
        // No JSON has a zero byte; every object in SSZ begins with a number of several bytes, the first of which are not all used.
        if bytes.iter().take(8).any(|byte| *byte == 0) {
            binary::objects(&bytes).try_for_each(|object| document.push(object))?;
            return Ok(document);
        }
        let mut elements = Elements::of(bytes, Format::LightClient)?;
        while let Some(element) = elements.element()? {
            document.open(&elements, &element)?;
        }
        Ok(document)
    }

    /// Takes an element out of its envelope, which may hold one object or an array of them.
    fn open(&mut self, elements: &Elements, element: &Element) -> Result<(), InputError> {
        let text = elements.text(element);
        let envelope = match Envelope::from_json(text) {
            Ok(envelope) => envelope,
            Err(reason) => return self.push(Err(reason)),
        };
        let fork = envelope.fork();
        let object = |text: &str| fork.clone().and_then(|fork| Object::from_json(text, fork));
        let Some(data) = envelope.data else { return self.push(object(text)) };
        let mut part = elements.part(data.get());
        while let Some(element) = elements.element_of(&mut part)? {
            self.push(object(elements.text(&element)))?;
        }
        Ok(())
    }

    /// Keeps an object. A small one takes several times its own length until it is judged, and one that cannot be read even more.
    fn push(&mut self, object: Result<Object, String>) -> Result<(), InputError> {
        self.unfit += usize::from(object.is_err());
        if self.unfit > UNFIT_LIMIT {
            return Err(InputError::Unfit { format: Format::LightClient, limit: UNFIT_LIMIT });
        }
        if self.objects.len() == OBJECT_LIMIT {
            return Err(InputError::TooManyElements { format: Format::LightClient, limit: OBJECT_LIMIT });
        }
        self.objects.push((Place::Element(self.objects.len() as u64), object));
        Ok(())
    }
}

/// How many objects a document may have. Nine days have as many finality updates; of whole updates, 256 MiB hold 3,000.
const OBJECT_LIMIT: usize = 1 << 16;
/// How many elements of a document may be no light-client objects.
const UNFIT_LIMIT: usize = 1000;

#[cfg(test)]
mod tests {
    use super::super::object::{CommitteeFile, SyncCommittee};
    use super::*;

    #[test]
    fn a_document_has_so_many_objects_and_no_more() {
        let mut document = Document { input: 0, name: "test.json".to_owned(), objects: Vec::new(), unfit: 0 };
        let object = || {
            let committee = SyncCommittee { public_keys: Vec::new(), aggregate_public_key: None };
            Ok(Object::Committee(CommitteeFile { network: None, period: None, committee }))
        };
        (0..OBJECT_LIMIT).try_for_each(|_| document.push(object())).unwrap();
        let error = document.push(object()).unwrap_err().to_string();
        assert!(error.contains("more than 65536 elements; split it"), "{error}");
    }
}
