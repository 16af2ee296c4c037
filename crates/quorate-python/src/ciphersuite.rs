//! The functions of `quorate.py_ecc`, which has the names of py_ecc: keys and signatures are bytes, tags are the caller's, and
//! nothing but the arithmetic is here.

use pyo3::{prelude::*, types::PyBytes};
use quorate::{
    Backend, Claim, MinPk, Options, PublicKey, SecretKey, Suite, Tag, UncheckedSignature,
    aggregate::aggregate_public_keys, verify,
};
use quorate_curve::Bls12381Group;

use crate::{
    argument::{bytes, generator, secret},
    errors::undecodable,
};

/// All four schemes of py_ecc are the suite whose statements may repeat, under a tag of their own.
const SUITE: MinPk = MinPk::ProofOfPossession;

type Key = PublicKey<MinPk>;

fn signer(data: &Bound<'_, PyAny>) -> PyResult<SecretKey<MinPk>> {
    SecretKey::from_bytes(&*secret(data)?).map_err(undecodable)
}

#[pyfunction]
pub(crate) fn sk_to_pk<'py>(py: Python<'py>, secret: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    Ok(PyBytes::new(py, &signer(secret)?.public_key().to_bytes()))
}

#[pyfunction]
pub(crate) fn key_gen<'py>(
    py: Python<'py>,
    material: &Bound<'py, PyAny>,
    info: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyBytes>> {
    let material = zeroize::Zeroizing::new(bytes("IKM", material)?);
    let secret = SecretKey::key_gen(SUITE, &material, &bytes("key_info", info)?).map_err(undecodable)?;
    Ok(PyBytes::new(py, secret.to_bytes().as_slice()))
}

#[pyfunction]
pub(crate) fn key_validate(key: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(Key::from_bytes(&bytes("PK", key)?).is_ok())
}

#[pyfunction]
pub(crate) fn core_sign<'py>(
    py: Python<'py>,
    secret: &Bound<'py, PyAny>,
    message: &[u8],
    tag: &[u8],
) -> PyResult<Bound<'py, PyBytes>> {
    let secret = signer(secret)?;
    let signature = py.detach(|| secret.sign_under_tag(SUITE, &Tag::from(tag), message));
    Ok(PyBytes::new(py, &signature.to_bytes()))
}

#[pyfunction]
pub(crate) fn core_verify(py: Python<'_>, key: &[u8], message: &[u8], signature: &[u8], tag: &[u8]) -> bool {
    py.detach(|| match (Key::from_bytes(key), UncheckedSignature::<MinPk>::from_bytes(signature)) {
        (Ok(key), Ok(signature)) => key.verify_under_tag(tag, b"", message, signature).is_valid(),
        _ => false,
    })
}

/// Each key signed the message at its index. Nothing to verify is false.
#[pyfunction]
pub(crate) fn core_aggregate_verify(
    py: Python<'_>,
    keys: Vec<Vec<u8>>,
    messages: Vec<Vec<u8>>,
    signature: &[u8],
    tag: &[u8],
) -> PyResult<bool> {
    let mut rng = generator()?;
    Ok(py.detach(|| {
        let Some(keys) = read_keys(&keys).filter(|keys| !keys.is_empty() && keys.len() == messages.len()) else {
            return false;
        };
        let Ok(signature) = UncheckedSignature::<MinPk>::from_bytes(signature) else { return false };
        let statements = keys.into_iter().zip(messages.into_iter().map(Into::into)).collect();
        let claim = Claim::each(SUITE, statements, signature).under_tag(Tag::from(tag));
        verify(&[claim], &Options::default(), &mut rng).all_valid()
    }))
}

/// All keys signed one message. Nothing to verify is false.
#[pyfunction]
pub(crate) fn fast_aggregate_verify(
    py: Python<'_>,
    keys: Vec<Vec<u8>>,
    message: &[u8],
    signature: &[u8],
    tag: &[u8],
) -> bool {
    py.detach(|| {
        let Some(keys) = read_keys(&keys) else { return false };
        let key = aggregate_public_keys(&keys, Backend::auto());
        match (key, UncheckedSignature::<MinPk>::from_bytes(signature)) {
            (Ok(key), Ok(signature)) => key.verify_under_tag(tag, b"", message, signature).is_valid(),
            _ => false,
        }
    })
}

/// All keys; `None` if one of them is not valid.
fn read_keys(encodings: &[Vec<u8>]) -> Option<Vec<Key>> {
    let slices: Vec<_> = encodings.iter().map(Vec::as_slice).collect();
    Key::from_bytes_each(&slices, Backend::auto()).into_iter().collect::<Result<_, _>>().ok()
}

/// The sum of points of the curve, which may be outside the subgroup, as in py_ecc.
#[pyfunction]
pub(crate) fn sum_of_signatures<'py>(py: Python<'py>, points: Vec<Vec<u8>>) -> PyResult<Bound<'py, PyBytes>> {
    sum::<<MinPk as Suite>::Signature>(py, &points)
}

/// The sum of points of the curve, which may be outside the subgroup or the identity, as in py_ecc.
#[pyfunction]
pub(crate) fn sum_of_keys<'py>(py: Python<'py>, points: Vec<Vec<u8>>) -> PyResult<Bound<'py, PyBytes>> {
    sum::<<MinPk as Suite>::Key>(py, &points)
}

fn sum<'py, G: Bls12381Group>(py: Python<'py>, encodings: &[Vec<u8>]) -> PyResult<Bound<'py, PyBytes>> {
    let slices: Vec<_> = encodings.iter().map(Vec::as_slice).collect();
    let points = Backend::auto().decode_each::<G>(&slices).into_iter().enumerate();
    let points = points.map(|(index, point)| point.map_err(|error| undecodable(format!("point {index}: {error}"))));
    let sum = Backend::auto().sum(&points.collect::<PyResult<Vec<_>>>()?);
    Ok(PyBytes::new(py, sum.compress().as_ref()))
}
