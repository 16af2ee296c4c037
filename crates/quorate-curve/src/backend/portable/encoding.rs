//! Decoding. [`crate::encoding`] checks the structure, then blst solves or checks the curve equation.

use alloc::vec::Vec;

use crate::{
    arithmetic::BlstCurve,
    encoding::{DecodeError, Form, check},
};

pub(crate) fn decode_each<C: BlstCurve>(encodings: &[&[u8]]) -> Vec<Result<C, DecodeError>> {
    encodings.iter().map(|bytes| decode(bytes)).collect()
}

pub(crate) fn decode_uncompressed_each<C: BlstCurve>(encodings: &[&[u8]]) -> Vec<Result<C, DecodeError>> {
    encodings.iter().map(|bytes| decode_uncompressed(bytes)).collect()
}

pub(crate) fn decode<C: BlstCurve>(bytes: &[u8]) -> Result<C, DecodeError> {
    match check::<C>(bytes, C::COMPRESSED)? {
        Form::Infinity => Ok(C::IDENTITY),
        Form::Finite => C::uncompress(bytes).ok_or(DecodeError::NotOnCurve),
    }
}

fn decode_uncompressed<C: BlstCurve>(bytes: &[u8]) -> Result<C, DecodeError> {
    match check::<C>(bytes, C::UNCOMPRESSED)? {
        Form::Infinity => Ok(C::IDENTITY),
        Form::Finite => C::deserialize(bytes).ok_or(DecodeError::NotOnCurve),
    }
}
