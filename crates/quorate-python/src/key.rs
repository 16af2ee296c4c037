//! Keys and signatures one by one: checked once, and then used often.

use pyo3::{
    exceptions::PyTypeError,
    prelude::*,
    types::{PyBytes, PyType},
};
use quorate::{
    AnySuite, Backend, Bls12381Suite, Claim, MinPk, MinSig, ParseError, Suite, UncheckedSignature,
    aggregate::{aggregate as sum, aggregate_public_keys as sum_keys, subtract as difference},
    naive, proof_of_possession,
};

use crate::{
    argument::{self, bytes, generator, no_bn254, secret},
    errors::{misused, undecodable},
    verify::truth,
};

/// Something of a suite of either variant.
#[derive(PartialEq, Eq, Hash)]
pub(crate) enum Of<A, B> {
    MinPk(MinPk, A),
    MinSig(MinSig, B),
}

impl<A, B> Of<A, B> {
    fn suite(&self) -> AnySuite {
        match self {
            Self::MinPk(suite, _) => suite.any(),
            Self::MinSig(suite, _) => suite.any(),
        }
    }
}

/// What is made in a suite of BLS12-381.
fn made<A, B>(
    suite: AnySuite,
    what: &str,
    min_pk: impl FnOnce(MinPk) -> PyResult<A>,
    min_sig: impl FnOnce(MinSig) -> PyResult<B>,
) -> PyResult<Of<A, B>> {
    match suite {
        AnySuite::MinPk(suite) => Ok(Of::MinPk(suite, min_pk(suite)?)),
        AnySuite::MinSig(suite) => Ok(Of::MinSig(suite, min_sig(suite)?)),
        other => Err(no_bn254(other, what)),
    }
}

/// The same expression over both variants.
macro_rules! over {
    ($value:expr, ($suite:pat, $inner:pat) => $body:expr) => {
        match $value {
            Of::MinPk($suite, $inner) => $body,
            Of::MinSig($suite, $inner) => $body,
        }
    };
}
pub(crate) use over;

/// What Python's pickle asks for: what to call, and with what.
pub(crate) type Remade<'py, A> = (Bound<'py, PyType>, A);

/// Says why a secret is not pickled.
pub(crate) fn not_pickled(what: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "{what} is not pickled or copied: nobody would wipe the copy; use to_bytes() if you must"
    ))
}

/// A public key that was checked: on the curve, in the subgroup, not the identity.
#[pyclass(frozen, eq, hash, module = "quorate")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct PublicKey(Of<quorate::PublicKey<MinPk>, quorate::PublicKey<MinSig>>);

#[pymethods]
impl PublicKey {
    #[new]
    fn new(data: &Bound<'_, PyAny>, suite: &str) -> PyResult<Self> {
        let data = bytes("public key", data)?;
        let read = |error: ParseError| undecodable(error);
        made(
            argument::suite(suite)?,
            "single keys",
            |_| quorate::PublicKey::from_bytes(&data).map_err(read),
            |_| quorate::PublicKey::from_bytes(&data).map_err(read),
        )
        .map(Self)
    }

    /// The name of its suite.
    #[getter]
    fn suite(&self) -> &'static str {
        self.0.suite().name()
    }

    /// Whether this key made a signature over a message.
    fn verify(&self, py: Python<'_>, message: &Bound<'_, PyAny>, signature: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (message, signature) = (bytes("message", message)?, bytes("signature", signature)?);
        py.detach(|| {
            over!(&self.0, (suite, key) => {
                let signature = UncheckedSignature::from_bytes(&signature).map_err(undecodable)?;
                truth(key.verify(*suite, &message, signature))
            })
        })
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        over!(&self.0, (_, key) => PyBytes::new(py, key.to_bytes().as_ref()))
    }

    /// The compressed encoding in hexadecimal digits.
    fn hex(&self) -> String {
        over!(&self.0, (_, key) => key.to_string())
    }

    /// What pickle and copy make it of. Its bytes are checked again.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Remade<'py, (Bound<'py, PyBytes>, &'static str)> {
        (slf.get_type(), (slf.get().__bytes__(slf.py()), slf.get().suite()))
    }

    fn __repr__(&self) -> String {
        format!("PublicKey({}, {})", self.hex(), self.suite())
    }
}

/// A signature in the subgroup. Nothing says yet that it is of a key over a message.
#[pyclass(frozen, eq, hash, module = "quorate")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Signature(Of<quorate::Signature<MinPk>, quorate::Signature<MinSig>>);

#[pymethods]
impl Signature {
    #[new]
    fn new(data: &Bound<'_, PyAny>, suite: &str) -> PyResult<Self> {
        let data = bytes("signature", data)?;
        let read = |error: ParseError| undecodable(error);
        made(
            argument::suite(suite)?,
            "single signatures",
            |_| quorate::Signature::from_bytes(&data).map_err(read),
            |_| quorate::Signature::from_bytes(&data).map_err(read),
        )
        .map(Self)
    }

    /// The name of its suite.
    #[getter]
    fn suite(&self) -> &'static str {
        self.0.suite().name()
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        over!(&self.0, (_, signature) => PyBytes::new(py, signature.to_bytes().as_ref()))
    }

    /// The compressed encoding in hexadecimal digits.
    fn hex(&self) -> String {
        over!(&self.0, (_, signature) => signature.to_string())
    }

    /// What pickle and copy make it of. Its bytes are checked again.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Remade<'py, (Bound<'py, PyBytes>, &'static str)> {
        (slf.get_type(), (slf.get().__bytes__(slf.py()), slf.get().suite()))
    }

    fn __repr__(&self) -> String {
        format!("Signature({}, {})", self.hex(), self.suite())
    }
}

/// A secret key. It is wiped when it is dropped, never printed, and signs in constant time.
#[pyclass(frozen, module = "quorate")]
pub(crate) struct SecretKey(Of<quorate::SecretKey<MinPk>, quorate::SecretKey<MinSig>>);

impl SecretKey {
    pub(crate) fn inner(&self) -> &Of<quorate::SecretKey<MinPk>, quorate::SecretKey<MinSig>> {
        &self.0
    }
}

#[pymethods]
impl SecretKey {
    #[new]
    fn new(data: &Bound<'_, PyAny>, suite: &str) -> PyResult<Self> {
        let data = secret(data)?;
        let read = |error: ParseError| undecodable(error);
        made(
            argument::suite(suite)?,
            "secret keys",
            |_| quorate::SecretKey::from_bytes(&data).map_err(read),
            |_| quorate::SecretKey::from_bytes(&data).map_err(read),
        )
        .map(Self)
    }

    /// A new key, of random numbers of the operating system.
    #[staticmethod]
    fn generate(suite: &str) -> PyResult<Self> {
        let (mut rng, suite) = (generator()?, argument::suite(suite)?);
        let mut again = generator()?;
        made(
            suite,
            "secret keys",
            |suite| Ok(quorate::SecretKey::generate(suite, &mut rng)),
            |suite| Ok(quorate::SecretKey::generate(suite, &mut again)),
        )
        .map(Self)
    }

    /// `KeyGen` of the specification, from at least 32 secret bytes.
    #[staticmethod]
    #[pyo3(signature = (suite, key_material, key_info=None))]
    fn key_gen(suite: &str, key_material: &Bound<'_, PyAny>, key_info: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let material = zeroize::Zeroizing::new(bytes("key_material", key_material)?);
        let info = key_info.map(|info| bytes("key_info", info)).transpose()?.unwrap_or_default();
        let read = |error: ParseError| undecodable(error);
        made(
            argument::suite(suite)?,
            "secret keys",
            |suite| quorate::SecretKey::key_gen(suite, &material, &info).map_err(read),
            |suite| quorate::SecretKey::key_gen(suite, &material, &info).map_err(read),
        )
        .map(Self)
    }

    /// The name of its suite.
    #[getter]
    fn suite(&self) -> &'static str {
        self.0.suite().name()
    }

    /// The public key.
    fn public_key(&self) -> PublicKey {
        PublicKey(match &self.0 {
            Of::MinPk(suite, secret) => Of::MinPk(*suite, secret.public_key()),
            Of::MinSig(suite, secret) => Of::MinSig(*suite, secret.public_key()),
        })
    }

    /// Signs a message.
    fn sign(&self, py: Python<'_>, message: &Bound<'_, PyAny>) -> PyResult<Signature> {
        let message = bytes("message", message)?;
        Ok(Signature(py.detach(|| match &self.0 {
            Of::MinPk(suite, secret) => Of::MinPk(*suite, secret.sign(*suite, &message)),
            Of::MinSig(suite, secret) => Of::MinSig(*suite, secret.sign(*suite, &message)),
        })))
    }

    /// A proof that the owner of the public key holds this secret.
    fn prove_possession(&self) -> PyResult<Signature> {
        let none = || misused(format!("the suite {} has no proofs of possession: its scheme is not POP", self.suite()));
        Ok(Signature(match &self.0 {
            Of::MinPk(suite, secret) => Of::MinPk(*suite, proof_of_possession::prove(*suite, secret).ok_or_else(none)?),
            Of::MinSig(suite, secret) => {
                Of::MinSig(*suite, proof_of_possession::prove(*suite, secret).ok_or_else(none)?)
            }
        }))
    }

    /// The 32 bytes of the secret, big-endian. Python cannot wipe them.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        over!(&self.0, (_, secret) => PyBytes::new(py, secret.to_bytes().as_slice()))
    }

    /// Refused: a pickle would be a copy of the secret that nobody wipes.
    fn __reduce__(&self) -> PyResult<()> {
        Err(not_pickled("a secret key"))
    }

    fn __repr__(&self) -> String {
        format!("SecretKey(redacted, {})", self.suite())
    }
}

/// The sum of signatures. It does not say whether any of them is valid.
#[pyfunction]
pub(crate) fn aggregate(signatures: &Bound<'_, PyAny>, suite: &str) -> PyResult<Signature> {
    let signatures = argument::list_of_bytes("signatures", signatures)?;
    made(argument::suite(suite)?, "sums", |_| summed(&signatures), |_| summed(&signatures)).map(Signature)
}

/// An aggregate without some of its parts. It is your task to know that they are parts of it.
#[pyfunction]
pub(crate) fn subtract(aggregate: &Bound<'_, PyAny>, parts: &Bound<'_, PyAny>, suite: &str) -> PyResult<Signature> {
    let (whole, parts) = (bytes("aggregate", aggregate)?, argument::list_of_bytes("parts", parts)?);
    made(argument::suite(suite)?, "sums", |_| without(&whole, &parts), |_| without(&whole, &parts)).map(Signature)
}

/// The sum of keys, under which a signature by all of them over one message verifies. Rely on it only if the owner of each key
/// has proven that it holds the secret.
#[pyfunction]
pub(crate) fn aggregate_public_keys(public_keys: &Bound<'_, PyAny>, suite: &str) -> PyResult<PublicKey> {
    let keys = argument::list_of_bytes("public_keys", public_keys)?;
    made(argument::suite(suite)?, "sums", |_| summed_keys(&keys), |_| summed_keys(&keys)).map(PublicKey)
}

fn signatures_of<S: Bls12381Suite>(encodings: &[Vec<u8>], name: &str) -> PyResult<Vec<quorate::Signature<S>>> {
    let read = |(index, bytes): (usize, &Vec<u8>)| {
        quorate::Signature::from_bytes(bytes).map_err(|error| undecodable(format!("{name}[{index}]: {error}")))
    };
    encodings.iter().enumerate().map(read).collect()
}

fn summed<S: Bls12381Suite>(encodings: &[Vec<u8>]) -> PyResult<quorate::Signature<S>> {
    sum(&signatures_of(encodings, "signatures")?, Backend::auto()).map_err(misused)
}

fn without<S: Bls12381Suite>(whole: &[u8], parts: &[Vec<u8>]) -> PyResult<quorate::Signature<S>> {
    let whole = quorate::Signature::from_bytes(whole).map_err(|error| undecodable(format!("aggregate: {error}")))?;
    Ok(difference(whole, &signatures_of(parts, "parts")?, Backend::auto()))
}

fn summed_keys<S: Bls12381Suite>(encodings: &[Vec<u8>]) -> PyResult<quorate::PublicKey<S>> {
    let slices: Vec<_> = encodings.iter().map(Vec::as_slice).collect();
    let keys = quorate::PublicKey::from_bytes_each(&slices, Backend::auto()).into_iter().enumerate();
    let keys = keys.map(|(index, key)| key.map_err(|error| undecodable(format!("public_keys[{index}]: {error}"))));
    sum_keys(&keys.collect::<PyResult<Vec<_>>>()?, Backend::auto()).map_err(misused)
}

/// Whether one claim of checked keys is true.
pub(crate) fn is_true<S: Bls12381Suite>(claim: &Claim<S>) -> PyResult<bool> {
    truth(naive::verify(claim))
}
