//! Decoding: the structural checks of [`crate::encoding`], then blst solves or checks the curve equation.

use alloc::vec::Vec;

use super::Curve;
use crate::{
    encoding::{DecodeError, Form, check},
    group::Group,
};

pub(crate) fn decode_each<G: Group>(encodings: &[&[u8]]) -> Vec<Result<G, DecodeError>> {
    encodings.iter().map(|bytes| decode(bytes)).collect()
}

pub(crate) fn decode_uncompressed_each<G: Group>(encodings: &[&[u8]]) -> Vec<Result<G, DecodeError>> {
    encodings.iter().map(|bytes| decode_uncompressed(bytes)).collect()
}

fn decode<G: Group>(bytes: &[u8]) -> Result<G, DecodeError> {
    match check::<G>(bytes, G::COMPRESSED)? {
        Form::Infinity => Ok(G::IDENTITY),
        Form::Finite => Curve::uncompress(bytes).map(G::wrap).ok_or(DecodeError::NotOnCurve),
    }
}

fn decode_uncompressed<G: Group>(bytes: &[u8]) -> Result<G, DecodeError> {
    match check::<G>(bytes, G::UNCOMPRESSED)? {
        Form::Infinity => Ok(G::IDENTITY),
        Form::Finite => Curve::deserialize(bytes).map(G::wrap).ok_or(DecodeError::NotOnCurve),
    }
}
