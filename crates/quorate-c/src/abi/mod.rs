//! The C functions. `include/quorate.h` is made from this module.
//!
//! Every function reads its pointers here, and hands slices to the safe modules. No panic leaves a function: it is the error
//! [`Code::Internal`](crate::Code). Nothing that one side allocates is freed by the other: results go into memory of the caller, and
//! handles are freed by the function of their type.

// Functions of C are named and typed as in C, and say in `quorate.h` what a caller must keep to.
#![allow(non_camel_case_types, clippy::missing_safety_doc)]

mod memory;
mod text;
mod suite;
mod claim;
mod verifier;
mod import;
mod arrow;
mod key;
mod committee;
mod batcher;

pub use self::{
    batcher::*,
    claim::*,
    committee::*,
    key::*,
    memory::{quorate_bytes, quorate_error},
    suite::*,
    text::*,
    verifier::*,
};
pub use arrow::*;

#[cfg(test)]
mod tests {
    use super::*;

    /// A program has the sizes and places of the header with which it was compiled, as `tests/c/library.c` has them.
    #[test]
    #[cfg(target_pointer_width = "64")]
    fn another_place_of_a_field_needs_another_number() {
        use std::mem::offset_of;
        macro_rules! places {
            ($structure:ident: $($field:ident),*) => {
                (size_of::<$structure>(), [$(offset_of!($structure, $field)),*])
            };
        }
        assert_eq!(QUORATE_ABI, 1, "write the new sizes and places here and in library.c");
        assert_eq!(places!(quorate_bytes: data, size), (16, [0, 8]));
        assert_eq!(places!(quorate_error: code, text), (512, [0, 4]));
        assert_eq!(
            places!(quorate_options: threads, soundness, backend, backend_size, most_known),
            (32, [0, 4, 8, 16, 24])
        );
        let signed = places!(quorate_claim: suite, kind, public_keys, public_key_count, messages, message_count);
        assert_eq!(signed, (112, [0, 4, 8, 16, 24, 32]));
        let others = places!(quorate_claim: signature, source, key_set, members, indices, index_count);
        assert_eq!(others, (112, [40, 56, 72, 80, 96, 104]));
        let how = places!(quorate_batcher_options: threads, soundness, backend, backend_size);
        assert_eq!(how, (56, [0, 4, 8, 16]));
        let when = places!(quorate_batcher_options: linger_us, target_us, queue_us, queue_bytes);
        assert_eq!(when, (56, [24, 32, 40, 48]));
    }

    #[test]
    fn the_shared_library_has_the_number_in_its_name() {
        let name = format!("-soname,libquorate.so.{QUORATE_ABI}\"");
        assert!(include_str!("../../build.rs").contains(&name), "build.rs has no {name}");
    }
}
