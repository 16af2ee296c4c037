//! Key sets whose suite is chosen when the program runs.

use std::{
    any::Any,
    fmt,
    hash::{Hash, Hasher},
    sync::Arc,
};

use super::{members::Members, set::KeySet};
use crate::{
    aggregate::MisuseError,
    suite::{AnySuite, Suite},
};

/// A [`KeySet`] of a suite that is chosen when the program runs, behind a handle that threads share. Claims as bytes name its
/// members: [`PublicKeys::Members`](crate::PublicKeys).
///
/// Two handles are equal if they are clones of one.
#[derive(Clone)]
pub struct AnyKeySet(Arc<dyn Erased>);

/// A key set whose suite is not known when the program is compiled.
trait Erased: Any + Send + Sync {
    fn suite(&self) -> AnySuite;
    fn len(&self) -> usize;
    fn encoded(&self, index: u32) -> Option<Vec<u8>>;
    fn proven(&self, members: &Members) -> Result<(), MisuseError>;
}

impl<S: Suite> Erased for KeySet<S> {
    fn suite(&self) -> AnySuite {
        self.suite.any()
    }

    fn len(&self) -> usize {
        self.len()
    }

    fn encoded(&self, index: u32) -> Option<Vec<u8>> {
        let keys = self.keys(&[index]).ok()?;
        Some(keys.first()?.to_bytes().as_ref().to_vec())
    }

    fn proven(&self, members: &Members) -> Result<(), MisuseError> {
        self.proven(members)
    }
}

impl AnyKeySet {
    /// The suite of the set. A claim about its members can have another suite of the same variant.
    pub fn suite(&self) -> AnySuite {
        self.0.suite()
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The encoded key of a member, if there is such a member: of a set on BN254 the key in G2.
    pub fn encoded_key(&self, index: u32) -> Option<Vec<u8>> {
        self.0.encoded(index)
    }

    /// Whether a claim in a POP suite can name these members.
    pub(crate) fn proven(&self, members: &Members) -> Result<(), MisuseError> {
        self.0.proven(members)
    }

    /// The set, if it is one of this variant.
    pub fn of_variant<S: Suite>(&self) -> Option<&KeySet<S>> {
        let set: &dyn Any = &*self.0;
        set.downcast_ref()
    }

    /// The set without the handle, to change it by [`Arc::make_mut`], if it is one of this variant.
    pub fn into_variant<S: Suite>(self) -> Option<Arc<KeySet<S>>> {
        let set: Arc<dyn Any + Send + Sync> = self.0;
        set.downcast().ok()
    }
}

impl PartialEq for AnyKeySet {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for AnyKeySet {}

impl Hash for AnyKeySet {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).cast::<()>().hash(state);
    }
}

impl fmt::Debug for AnyKeySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AnyKeySet({} members, {})", self.len(), self.suite())
    }
}

impl<S: Suite> KeySet<S> {
    /// The set behind a handle, for claims as bytes. It does not change any more.
    pub fn into_any(self) -> AnyKeySet {
        Arc::new(self).into()
    }
}

impl<S: Suite> From<Arc<KeySet<S>>> for AnyKeySet {
    /// The set as it is now. An owner who changes it by [`Arc::make_mut`] changes a copy while somebody holds the handle.
    fn from(set: Arc<KeySet<S>>) -> Self {
        Self(set)
    }
}
