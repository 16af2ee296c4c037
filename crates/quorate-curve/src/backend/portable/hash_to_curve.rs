//! Hashing to the curve, with one inversion for all the points of a call.

use alloc::vec::Vec;

use blst::{blst_expand_message_xmd, blst_p1_affine};
use smallvec::SmallVec;

use crate::arithmetic::BlstCurve;

pub(crate) fn hash_to_curve<C: BlstCurve>(dst: &[u8], messages: &[(&[u8], &[u8])]) -> Vec<C> {
    let points: Vec<_> = messages.iter().map(|(prefix, body)| C::hash(body, dst, prefix)).collect();
    C::to_affine(&points)
}

/// The hash of one message, without allocation.
pub(crate) fn hash_to_curve_one<C: BlstCurve>(dst: &[u8], (prefix, body): (&[u8], &[u8])) -> C {
    C::to_affine_one(&C::hash(body, dst, prefix))
}

/// The encoding of one message, without allocation.
pub(crate) fn encode_to_curve_one<C: BlstCurve>(dst: &[u8], (prefix, body): (&[u8], &[u8])) -> C {
    C::to_affine_one(&C::encode(body, dst, prefix))
}

/// Hashes Q(m) for sums, such that `clear_sums(Σ w·Q(m)) = Σ w·H(m)`.
pub trait HashForSums: BlstCurve {
    fn hash_for_sums(dst: &[u8], messages: &[(&[u8], &[u8])]) -> Vec<Self>;
    fn clear_sums(sums: &[Self]) -> Vec<Self>;
}

impl HashForSums for blst_p1_affine {
    /// The hashes are cleared: blst does not expose a hash to G1 without clearing, which is a third of the work.
    fn hash_for_sums(dst: &[u8], messages: &[(&[u8], &[u8])]) -> Vec<Self> {
        hash_to_curve(dst, messages)
    }

    fn clear_sums(sums: &[Self]) -> Vec<Self> {
        sums.to_vec()
    }
}

/// `expand_message_xmd` of RFC 9380, section 5.3.1, with SHA-256. The message is the concatenation of two parts.
pub(crate) fn expand(dst: &[u8], (prefix, body): &(&[u8], &[u8]), uniform: &mut [u8]) {
    let mut joined = SmallVec::<[u8; 256]>::new();
    let message = if prefix.is_empty() {
        *body
    } else {
        joined.extend_from_slice(prefix);
        joined.extend_from_slice(body);
        &joined
    };
    // SAFETY: three slices with their lengths.
    unsafe {
        blst_expand_message_xmd(
            uniform.as_mut_ptr(),
            uniform.len(),
            message.as_ptr(),
            message.len(),
            dst.as_ptr(),
            dst.len(),
        );
    }
}
