//! Keys and signatures one by one: checked once, and then used often.

use pyo3::{
    exceptions::PyTypeError,
    prelude::*,
    types::{PyBytes, PyType},
};
use quorate::{
    Backend, Bn254Suite, Claim, MinPk, MinSig, ParseError, Suite, UncheckedSignature,
    aggregate::{aggregate as sum, subtract as difference},
    bdn, naive, proof_of_possession,
};

use crate::{
    argument::{self, bytes, generator, secret},
    errors::{misused, truth, undecodable},
};

/// Something of a suite, on either curve.
#[derive(PartialEq, Eq, Hash)]
pub(crate) enum Of<A, B, C> {
    MinPk(MinPk, A),
    MinSig(MinSig, B),
    Bn254(Bn254Suite, C),
}

/// The same type of each kind of suite.
macro_rules! of {
    ($($kind:ident)::+) => {
        $crate::key::Of<
            $($kind)::+<quorate::MinPk>,
            $($kind)::+<quorate::MinSig>,
            $($kind)::+<quorate::Bn254Suite>,
        >
    };
}
pub(crate) use of;

/// The same expression over all kinds.
macro_rules! over {
    ($value:expr, ($suite:pat, $inner:pat) => $body:expr) => {
        match $value {
            $crate::key::Of::MinPk($suite, $inner) => $body,
            $crate::key::Of::MinSig($suite, $inner) => $body,
            $crate::key::Of::Bn254($suite, $inner) => $body,
        }
    };
}
pub(crate) use over;

/// The same of a suite that is chosen by its name: what the expression makes of it.
macro_rules! made {
    ($chosen:expr, $suite:pat => $body:expr) => {
        match $chosen {
            quorate::AnySuite::MinPk(chosen) => {
                let $suite = chosen;
                Ok($crate::key::Of::MinPk(chosen, $body))
            }
            quorate::AnySuite::MinSig(chosen) => {
                let $suite = chosen;
                Ok($crate::key::Of::MinSig(chosen, $body))
            }
            quorate::AnySuite::Bn254(chosen) => {
                let $suite = chosen;
                Ok($crate::key::Of::Bn254(chosen, $body))
            }
            other => Err($crate::errors::misused(format!("this package does not have the suite {other}"))),
        }
    };
}
pub(crate) use made;

/// The same expression over something of each kind, whose result is of the same suite.
macro_rules! mapped {
    ($value:expr, ($suite:pat, $inner:pat) => $body:expr) => {
        match $value {
            Of::MinPk(chosen, $inner) => {
                let $suite = chosen;
                Of::MinPk(*chosen, $body)
            }
            Of::MinSig(chosen, $inner) => {
                let $suite = chosen;
                Of::MinSig(*chosen, $body)
            }
            Of::Bn254(chosen, $inner) => {
                let $suite = chosen;
                Of::Bn254(*chosen, $body)
            }
        }
    };
}

/// The name of the suite.
fn name<A, B, C>(of: &Of<A, B, C>) -> &'static str {
    over!(of, (suite, _) => suite.name())
}

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
pub(crate) struct PublicKey(of!(quorate::PublicKey));

#[pymethods]
impl PublicKey {
    #[new]
    fn new(data: &Bound<'_, PyAny>, suite: &str) -> PyResult<Self> {
        let data = bytes("public key", data)?;
        let suite = argument::suite_of_single_keys(suite)?;
        made!(suite, suite => read_keys(suite, &[&data])[0].map_err(undecodable)?).map(Self)
    }

    /// The name of its suite.
    #[getter]
    fn suite(&self) -> &'static str {
        name(&self.0)
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

    /// The encoding in hexadecimal digits.
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
pub(crate) struct Signature(of!(quorate::Signature));

#[pymethods]
impl Signature {
    #[new]
    fn new(data: &Bound<'_, PyAny>, suite: &str) -> PyResult<Self> {
        let data = bytes("signature", data)?;
        made!(argument::suite(suite)?, _ => quorate::Signature::from_bytes(&data).map_err(undecodable)?).map(Self)
    }

    /// The name of its suite.
    #[getter]
    fn suite(&self) -> &'static str {
        name(&self.0)
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        over!(&self.0, (_, signature) => PyBytes::new(py, signature.to_bytes().as_ref()))
    }

    /// The encoding in hexadecimal digits.
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
pub(crate) struct SecretKey(of!(quorate::SecretKey));

impl SecretKey {
    pub(crate) fn inner(&self) -> &of!(quorate::SecretKey) {
        &self.0
    }
}

#[pymethods]
impl SecretKey {
    #[new]
    fn new(data: &Bound<'_, PyAny>, suite: &str) -> PyResult<Self> {
        let (data, suite) = (secret(data)?, argument::suite_of_single_keys(suite)?);
        made!(suite, _ => quorate::SecretKey::from_bytes(&data).map_err(undecodable)?).map(Self)
    }

    /// A new key, of random numbers of the operating system.
    #[staticmethod]
    fn generate(suite: &str) -> PyResult<Self> {
        let (mut rng, suite) = (generator()?, argument::suite_of_single_keys(suite)?);
        made!(suite, suite => quorate::SecretKey::generate(suite, &mut rng)).map(Self)
    }

    /// `KeyGen` of the specification, in the suite `chia` that of its draft 3, from at least 32 secret bytes.
    #[staticmethod]
    #[pyo3(signature = (suite, key_material, key_info=None))]
    fn key_gen(suite: &str, key_material: &Bound<'_, PyAny>, key_info: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let material = zeroize::Zeroizing::new(bytes("key_material", key_material)?);
        let info = key_info.map(|info| bytes("key_info", info)).transpose()?.unwrap_or_default();
        let suite = argument::suite_of_single_keys(suite)?;
        made!(suite, suite => quorate::SecretKey::key_gen(suite, &material, &info).map_err(undecodable)?).map(Self)
    }

    /// The name of its suite.
    #[getter]
    fn suite(&self) -> &'static str {
        name(&self.0)
    }

    /// The public key.
    fn public_key(&self) -> PublicKey {
        PublicKey(mapped!(&self.0, (_, secret) => secret.public_key()))
    }

    /// Signs a message.
    fn sign(&self, py: Python<'_>, message: &Bound<'_, PyAny>) -> PyResult<Signature> {
        let message = bytes("message", message)?;
        Ok(Signature(py.detach(|| mapped!(&self.0, (suite, secret) => secret.sign(*suite, &message)))))
    }

    /// A proof that the owner of the public key holds this secret.
    fn prove_possession(&self) -> PyResult<Signature> {
        let none = || misused(format!("the suite {} has no proofs of possession: its scheme is not POP", self.suite()));
        Ok(Signature(mapped!(&self.0, (suite, secret) => {
            proof_of_possession::prove(*suite, secret).ok_or_else(none)?
        })))
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

/// The sum of signatures. It does not say whether any of them is valid. Refused in a BDN suite.
#[pyfunction]
pub(crate) fn aggregate(signatures: &Bound<'_, PyAny>, suite: &str) -> PyResult<Signature> {
    let signatures = argument::list_of_bytes("signatures", signatures)?;
    made!(argument::suite(suite)?, suite => summed(suite, &signatures)?).map(Signature)
}

/// An aggregate without some of its parts. It is your task to know that they are parts of it. Refused in a BDN suite.
#[pyfunction]
pub(crate) fn subtract(aggregate: &Bound<'_, PyAny>, parts: &Bound<'_, PyAny>, suite: &str) -> PyResult<Signature> {
    let (whole, parts) = (bytes("aggregate", aggregate)?, argument::list_of_bytes("parts", parts)?);
    made!(argument::suite(suite)?, suite => without(suite, &whole, &parts)?).map(Signature)
}

/// The sum of keys, under which a signature by all of them over one message verifies; in a BDN suite with its coefficients. In the
/// other suites rely on it only if the owner of each key has proven that it holds the secret.
#[pyfunction]
pub(crate) fn aggregate_public_keys(public_keys: &Bound<'_, PyAny>, suite: &str) -> PyResult<PublicKey> {
    let keys = argument::list_of_bytes("public_keys", public_keys)?;
    made!(argument::suite_of_single_keys(suite)?, suite => summed_keys(suite, &keys)?).map(PublicKey)
}

fn signatures_of<S: Suite>(encodings: &[Vec<u8>], name: &str) -> PyResult<Vec<quorate::Signature<S>>> {
    let read = |(index, bytes): (usize, &Vec<u8>)| {
        quorate::Signature::from_bytes(bytes).map_err(|error| undecodable(format!("{name}[{index}]: {error}")))
    };
    encodings.iter().enumerate().map(read).collect()
}

fn summed<S: Suite>(suite: S, encodings: &[Vec<u8>]) -> PyResult<quorate::Signature<S>> {
    bdn::refuse_plain_sums(suite).map_err(misused)?;
    sum(&signatures_of(encodings, "signatures")?, Backend::auto()).map_err(misused)
}

fn without<S: Suite>(suite: S, whole: &[u8], parts: &[Vec<u8>]) -> PyResult<quorate::Signature<S>> {
    bdn::refuse_plain_sums(suite).map_err(misused)?;
    let whole = quorate::Signature::from_bytes(whole).map_err(|error| undecodable(format!("aggregate: {error}")))?;
    Ok(difference(whole, &signatures_of(parts, "parts")?, Backend::auto()))
}

fn summed_keys<S: Suite>(suite: S, encodings: &[Vec<u8>]) -> PyResult<quorate::PublicKey<S>> {
    bdn::sum_of_keys(suite, &keys_of(suite, encodings)?, Backend::auto()).map_err(misused)
}

/// All keys of a list, or the first that is none.
pub(crate) fn keys_of<S: Suite>(suite: S, encodings: &[Vec<u8>]) -> PyResult<Vec<quorate::PublicKey<S>>> {
    let slices: Vec<_> = encodings.iter().map(Vec::as_slice).collect();
    let keys = read_keys(suite, &slices).into_iter().enumerate();
    keys.map(|(index, key)| key.map_err(|error| undecodable(format!("public_keys[{index}]: {error}")))).collect()
}

/// Reads keys of the suite's length.
fn read_keys<S: Suite>(suite: S, encodings: &[&[u8]]) -> Vec<Result<quorate::PublicKey<S>, ParseError>> {
    let read = quorate::PublicKey::from_bytes_each(encodings, Backend::auto()).into_iter().zip(encodings);
    let of_length = |(key, bytes): (_, &&[u8])| match bytes.len() == suite.key_length() {
        true => key,
        false => Err(suite.wrong_key_length(bytes.len())),
    };
    read.map(of_length).collect()
}

/// Whether one claim of checked keys is true.
pub(crate) fn is_true<S: Suite>(claim: &Claim<S>) -> PyResult<bool> {
    truth(naive::verify(claim))
}
