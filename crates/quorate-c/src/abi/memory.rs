//! Pointers of C: read, checked and written here alone.

use std::{ffi::c_char, ptr, slice};

use crate::fault::{CallFailure, Code};

/// Bytes of the caller's, which the library only reads, and only during the call. `data` may be null if `size` is 0.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct quorate_bytes {
    /// The first byte.
    pub data: *const u8,
    /// How many there are.
    pub size: usize,
}

/// Why a call failed. Pass null if only the code matters, which the function also returns.
#[repr(C)]
pub struct quorate_error {
    /// The code that the function returns.
    pub code: i32,
    /// What was found and what was expected, in UTF-8, with a zero behind it. A longer text is cut.
    pub text: [c_char; 508],
}

/// Runs the body of a function. What it panics with is an error.
pub(super) fn guarded(error: *mut quorate_error, body: impl FnOnce() -> Result<(), CallFailure>) -> i32 {
    let fault = match quorate_host::contained(body) {
        Ok(Ok(())) => CallFailure::new(Code::Ok, ""),
        Ok(Err(fault)) => fault,
        Err(panicked) => {
            CallFailure::new(Code::Internal, format!("internal error, please report it: {}", panicked.message))
        }
    };
    let code = fault.code as i32;
    // SAFETY: the caller passes null or memory for an error, which nothing else uses during the call.
    if let Some(error) = unsafe { error.as_mut() } {
        error.code = code;
        put_text(&mut error.text, &fault.text);
    }
    code
}

/// Writes as much of a text as there is room for, whole characters alone, and a zero.
fn put_text(place: &mut [c_char], text: &str) {
    let room = place.len().saturating_sub(1);
    let end = (0..=room.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
    for (to, from) in place.iter_mut().zip(text[..end].bytes().filter(|byte| *byte != 0).chain([0])) {
        *to = from as c_char;
    }
}

/// Items of the caller's.
///
/// # Safety
/// `data` is null, or points to `count` items that nobody writes during the call.
pub(super) unsafe fn items<'a, T>(what: &str, data: *const T, count: usize) -> Result<&'a [T], CallFailure> {
    if count == 0 {
        return Ok(&[]);
    }
    if data.is_null() {
        return Err(CallFailure::new(
            Code::Null,
            format!("{what}: the pointer is null, but there are {count} of them"),
        ));
    }
    if !data.is_aligned() {
        return Err(CallFailure::misuse(format!("{what}: the pointer is not aligned")));
    }
    if count.checked_mul(size_of::<T>()).is_none_or(|bytes| bytes > isize::MAX as usize) {
        return Err(CallFailure::misuse(format!("{what}: {count} of them do not fit into any memory")));
    }
    // SAFETY: not null, aligned, of a size that an object can have; the caller promises the rest.
    Ok(unsafe { slice::from_raw_parts(data, count) })
}

/// Items of the caller's that are written.
///
/// # Safety
/// `data` is null, or points to `count` items that nobody else uses during the call.
pub(super) unsafe fn room<'a, T>(what: &str, data: *mut T, count: usize) -> Result<&'a mut [T], CallFailure> {
    // SAFETY: as the caller promises.
    let read: &[T] = unsafe { items(what, data, count) }?;
    if read.is_empty() {
        return Ok(&mut []);
    }
    // SAFETY: `items` has checked the pointer and the size, and its slice ends here.
    Ok(unsafe { slice::from_raw_parts_mut(data, count) })
}

/// Text of the caller's.
///
/// # Safety
/// As [`items`].
pub(super) unsafe fn text<'a>(what: &str, data: *const c_char, size: usize) -> Result<&'a str, CallFailure> {
    // SAFETY: as the caller promises.
    let bytes = unsafe { items(what, data.cast::<u8>(), size) }?;
    std::str::from_utf8(bytes).map_err(|_| CallFailure::misuse(format!("{what}: it is not UTF-8")))
}

/// Writes a result.
///
/// # Safety
/// `place` is null, or points to memory for a `T`, initialized or not.
pub(super) unsafe fn put<T>(what: &str, place: *mut T, value: T) -> Result<(), CallFailure> {
    if place.is_null() {
        return Err(absent(what));
    }
    // SAFETY: not null; the caller promises the rest.
    unsafe { place.write(value) };
    Ok(())
}

/// Writes bytes of a known length: the caller has room for `size` of them.
///
/// # Safety
/// As [`room`].
pub(super) unsafe fn put_bytes(what: &str, place: *mut u8, size: usize, bytes: &[u8]) -> Result<(), CallFailure> {
    if size < bytes.len() {
        return Err(CallFailure::new(
            Code::TooSmall,
            format!("{what}: found room for {size} bytes, expected {}", bytes.len()),
        ));
    }
    // SAFETY: as the caller promises.
    unsafe { room(what, place, bytes.len()) }?.copy_from_slice(bytes);
    Ok(())
}

/// Writes a text and its length, as much of it as there is room for: a caller with too little room learns how much it needs.
///
/// # Safety
/// As [`room`] for `place`, and as [`put`] for `length`.
pub(super) unsafe fn put_long_text(
    place: *mut c_char,
    size: usize,
    length: *mut usize,
    text: &str,
) -> Result<(), CallFailure> {
    // SAFETY: as the caller promises.
    put_text(unsafe { room("text", place, size) }?, text);
    if !length.is_null() {
        // SAFETY: as the caller promises.
        unsafe { put("length", length, text.len()) }?;
    }
    Ok(())
}

/// Says that a pointer is null.
pub(super) fn absent(what: &str) -> CallFailure {
    CallFailure::new(Code::Null, format!("{what}: the pointer is null"))
}

/// Says that there is no handle yet: a call that fails leaves none.
///
/// # Safety
/// As [`put`].
pub(super) unsafe fn none<T>(place: *mut *mut T) {
    if !place.is_null() {
        // SAFETY: not null; the caller promises the rest.
        unsafe { place.write(ptr::null_mut()) };
    }
}

/// Gives a value away as a handle. What makes the value comes behind [`none`].
///
/// # Safety
/// As [`put`].
pub(super) unsafe fn give<T>(place: *mut *mut T, value: T) -> Result<(), CallFailure> {
    if place.is_null() {
        return Err(absent("handle"));
    }
    let handle = Box::into_raw(Box::new(value));
    alive::born(handle.cast_const().cast());
    // SAFETY: not null; the caller promises the rest.
    unsafe { place.write(handle) };
    Ok(())
}

/// The value of a handle.
///
/// # Safety
/// `handle` is null, or [`give`] made it for this type, and it is not freed before the call ends. A build with assertions finds
/// freed ones.
pub(super) unsafe fn of<'a, T>(what: &str, handle: *const T) -> Result<&'a T, CallFailure> {
    if handle.is_null() {
        return Err(absent(what));
    }
    alive::check(what, handle.cast())?;
    // SAFETY: as the caller promises.
    Ok(unsafe { &*handle })
}

/// Frees a handle. Null is fine.
///
/// # Safety
/// As [`of`], and no call uses it.
pub(super) unsafe fn free<T>(handle: *mut T) {
    if handle.is_null() || !alive::buried(handle.cast_const().cast()) {
        return;
    }
    // A value that panics when it is dropped has nobody to tell.
    // SAFETY: `give` made it from a box of this type, and the caller promises that it is freed once.
    let _ = quorate_host::contained(|| drop(unsafe { Box::from_raw(handle) }));
}

/// Handles that are alive, so that builds with assertions find freed ones.
mod alive {
    use std::{
        collections::BTreeSet,
        sync::{Mutex, MutexGuard, PoisonError},
    };

    use crate::fault::{CallFailure, Code};

    static ALIVE: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

    fn all() -> MutexGuard<'static, BTreeSet<usize>> {
        ALIVE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn born(handle: *const ()) {
        if cfg!(debug_assertions) {
            all().insert(handle.addr());
        }
    }

    pub(super) fn check(what: &str, handle: *const ()) -> Result<(), CallFailure> {
        if cfg!(debug_assertions) && !all().contains(&handle.addr()) {
            let text = format!("{what}: the handle is freed, or it is none of this library");
            return Err(CallFailure::new(Code::Handle, text));
        }
        Ok(())
    }

    /// Whether it was alive.
    pub(super) fn buried(handle: *const ()) -> bool {
        !cfg!(debug_assertions) || all().remove(&handle.addr())
    }
}
