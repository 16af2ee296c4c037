//! One signature at a time: what it allocates.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

use quorate::{Bls12381Suite, MinPk, MinSig, SecretKey, Signature, UncheckedSignature};

/// The system's allocator, which counts the allocations of each thread.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: the system's allocator does everything; a counter without a destructor allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|allocations| allocations.set(allocations.get() + 1));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn allocations(of: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.get();
    of();
    ALLOCATIONS.get() - before
}

#[test]
fn one_signature_is_verified_without_allocation() {
    fn test<S: Bls12381Suite + std::fmt::Debug>(suite: S) {
        let secret = SecretKey::<S>::key_gen(suite, &[7; 32], b"").unwrap();
        let key = secret.public_key();
        for message in [&b""[..], b"hello", &[1; 150]] {
            let signature = secret.sign(suite, message);
            let unchecked = UncheckedSignature::<S>::from_bytes(signature.to_bytes().as_ref()).unwrap();
            let false_one: Signature<S> = secret.sign(suite, b"other");
            let n = allocations(|| {
                assert!(key.verify(suite, message, signature).is_valid());
                assert!(key.verify(suite, message, unchecked).is_valid());
                assert!(!key.verify(suite, message, false_one).is_valid());
            });
            assert_eq!(n, 0, "{suite:?}, {} bytes", message.len());
        }
    }
    assert!(allocations(|| drop(std::hint::black_box(Box::new(1)))) > 0, "the counter counts");
    [MinPk::Basic, MinPk::Augmented, MinPk::Eth2].into_iter().for_each(test);
    [MinSig::Basic, MinSig::Augmented].into_iter().for_each(test);
}
