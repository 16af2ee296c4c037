//! A program without std that uses quorate-curve. It is compiled and never run.
//!
//! It has a panic handler of its own. If quorate-curve or one of its dependencies used std, there would be a second one, and
//! the compiler would refuse the program ("found duplicate lang item `panic_impl`").

#![no_std]

use core::{
    alloc::{GlobalAlloc, Layout},
    panic::PanicInfo,
    ptr::null_mut,
};

use quorate_curve::{Backend, G1, G2, Group};

/// No memory: enough to compile.
struct NoMemory;

// SAFETY: an allocator may always answer that there is no memory, and then it is never asked to give any back.
unsafe impl GlobalAlloc for NoMemory {
    unsafe fn alloc(&self, _: Layout) -> *mut u8 {
        null_mut()
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static ALLOCATOR: NoMemory = NoMemory;

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {}
}

/// Decodes a key and a signature, hashes the message, and compares the pairings.
#[unsafe(no_mangle)]
pub extern "C" fn verify(key: &[u8; 48], signature: &[u8; 96], message: &[u8; 32]) -> bool {
    let backend = Backend::auto();
    let (Ok(key), Ok(signature)) = (G1::try_from(&key[..]), G2::try_from(&signature[..])) else { return false };
    let hash = backend.hash_to_curve::<G2>(b"QUUX-V01-CS02", &[(b"", message)])[0];
    let product = backend.miller_product(&[(key, hash), (G1::generator().negate(), signature)]);
    backend.in_subgroup(&[signature])[0] && backend.final_exponentiation(product).is_one()
}
