//! Objects by number, so that no address crosses to Java.

use std::{
    collections::HashMap,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicI64, Ordering},
    },
};

use quorate_c::{CallFailure, Code};

/// Objects of one kind. A number is given once in a process, over all kinds, so a freed one never names another object.
///
/// Whoever looks an object up holds it until its call ends: freeing it meanwhile takes the number alone.
///
/// A trait object stays in its box. `Arc<dyn Trait>` made of one would be a copy of what is in the box, and nobody would wipe the memory
/// that a secret has left. `T: Sized` refuses it.
pub(crate) struct Table<T> {
    what: &'static str,
    objects: RwLock<Option<HashMap<i64, Arc<T>>>>,
}

impl<T> Table<T> {
    /// A table without objects. `what` names the kind in errors.
    pub(crate) const fn new(what: &'static str) -> Self {
        Self { what, objects: RwLock::new(None) }
    }

    /// Gives an object a number.
    pub(crate) fn put(&self, object: Arc<T>) -> i64 {
        static LAST: AtomicI64 = AtomicI64::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        let mut objects = self.objects.write().unwrap_or_else(PoisonError::into_inner);
        objects.get_or_insert_default().insert(number, object);
        number
    }

    /// The object of a number.
    ///
    /// # Errors
    /// [`Code::Handle`].
    pub(crate) fn of(&self, number: i64) -> Result<Arc<T>, CallFailure> {
        let objects = self.objects.read().unwrap_or_else(PoisonError::into_inner);
        objects.as_ref().and_then(|objects| objects.get(&number)).cloned().ok_or_else(|| {
            CallFailure::new(
                Code::Handle,
                format!("the {} is closed, or was never opened (handle {number})", self.what),
            )
        })
    }

    /// Takes an object out, and its number with it. A number that names nothing is fine.
    pub(crate) fn take(&self, number: i64) -> Option<Arc<T>> {
        let mut objects = self.objects.write().unwrap_or_else(PoisonError::into_inner);
        objects.as_mut().and_then(|objects| objects.remove(&number))
    }
}
