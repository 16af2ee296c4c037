//! `quorate.threshold`: a key is shared among n participants, and any t of them make one signature.

use pyo3::{
    prelude::*,
    types::{PyBytes, PyDict},
};
use quorate::{AnySuite, Bls12381Suite, MinPk, MinSig, Options, PublicKey, Scheme, Suite, UncheckedSignature};
use quorate_threshold::{Committee, Identifiers, KeyShare, ShareError, SharingError, deal, shared_key::suite_of_json};

use crate::{
    argument::{self, bytes, default_options, generator, no_shared_keys, secret, whole},
    errors::{misused, truth, undecodable},
    key::{Of, SecretKey, not_pickled},
};

/// Something of a suite of BLS12-381, whose scalars shared keys are.
enum Shared<A, B> {
    MinPk(MinPk, A),
    MinSig(MinSig, B),
}

/// The same expression over both variants.
macro_rules! over {
    ($value:expr, ($suite:pat, $inner:pat) => $body:expr) => {
        match $value {
            Shared::MinPk($suite, $inner) => $body,
            Shared::MinSig($suite, $inner) => $body,
        }
    };
}

/// A participant's share of a key. It is wiped when it is dropped, and never printed.
#[pyclass(frozen, module = "quorate.threshold")]
pub(crate) struct Share {
    index: u64,
    /// Boxed: nobody wipes the memory that a share has left when it is moved out of a list.
    secret: Shared<Box<quorate::SecretKey<MinPk>>, Box<quorate::SecretKey<MinSig>>>,
}

// The secret, of 32 bytes, is not in it.
const _: () = assert!(size_of::<Share>() < 32, "the secret of a share is boxed");

#[pymethods]
impl Share {
    #[new]
    fn new(index: &Bound<'_, PyAny>, data: &Bound<'_, PyAny>, suite: &str) -> PyResult<Self> {
        let index = whole("index", index)?;
        let data = secret(data)?;
        let read = |error: quorate::ParseError| undecodable(error);
        let secret = match argument::suite(suite)? {
            AnySuite::MinPk(suite) => {
                Shared::MinPk(suite, Box::new(quorate::SecretKey::from_bytes(&data).map_err(read)?))
            }
            AnySuite::MinSig(suite) => {
                Shared::MinSig(suite, Box::new(quorate::SecretKey::from_bytes(&data).map_err(read)?))
            }
            other => return Err(no_shared_keys(other)),
        };
        if index == 0 {
            return Err(misused("there is no participant 0: participants are counted from 1"));
        }
        Ok(Self { index, secret })
    }

    /// The number of the participant, from 1.
    #[getter]
    fn index(&self) -> u64 {
        self.index
    }

    /// The name of the suite.
    #[getter]
    fn suite(&self) -> &'static str {
        over!(&self.secret, (suite, _) => suite.name())
    }

    /// Signs a message: a signature share.
    fn sign<'py>(&self, py: Python<'py>, message: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let message = bytes("message", message)?;
        over!(&self.secret, (suite, secret) => {
            let signature = py.detach(|| secret.sign(*suite, &message));
            Ok(PyBytes::new(py, signature.to_bytes().as_ref()))
        })
    }

    /// Refused: a pickle would be a copy of the share that nobody wipes.
    fn __reduce__(&self) -> PyResult<()> {
        Err(not_pickled("a share of a key"))
    }

    /// The 32 bytes of the share. Python cannot wipe them.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        over!(&self.secret, (_, secret) => PyBytes::new(py, secret.to_bytes().as_slice()))
    }

    fn __repr__(&self) -> String {
        format!("Share({}, redacted, {})", self.index, self.suite())
    }
}

/// All that is public of a shared key: suite, committee, and a commitment to every share.
#[pyclass(frozen, module = "quorate.threshold")]
pub(crate) struct SharedKey(Shared<quorate_threshold::SharedKey<MinPk>, quorate_threshold::SharedKey<MinSig>>);

/// What came of combining shares.
#[pyclass(frozen, get_all, module = "quorate.threshold")]
pub(crate) struct Combined {
    /// The signature of the key, verified; `None` if too few shares are true.
    signature: Option<Py<PyBytes>>,
    /// The shares that were not taken, by participant, and why.
    refused: Vec<(u64, String)>,
}

#[pymethods]
impl Combined {
    fn __repr__(&self) -> String {
        let what = if self.signature.is_some() { "a signature" } else { "no signature" };
        format!("<quorate.threshold.Combined: {what}, {} shares refused>", self.refused.len())
    }
}

#[pymethods]
impl SharedKey {
    /// Reads the JSON that `to_json` and `quorate threshold split` write.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        let (data, backend) = (text.as_bytes(), default_options()?.backend);
        Ok(Self(match suite_of_json(data).map_err(undecodable)? {
            AnySuite::MinPk(suite) => {
                Shared::MinPk(suite, quorate_threshold::SharedKey::from_json(data, backend).map_err(undecodable)?)
            }
            AnySuite::MinSig(suite) => {
                Shared::MinSig(suite, quorate_threshold::SharedKey::from_json(data, backend).map_err(undecodable)?)
            }
            other => return Err(no_shared_keys(other)),
        }))
    }

    /// The JSON of a file.
    fn to_json(&self) -> String {
        over!(&self.0, (_, key) => key.to_json())
    }

    /// The name of the suite.
    #[getter]
    fn suite(&self) -> &'static str {
        over!(&self.0, (suite, _) => suite.name())
    }

    /// How many shares make a signature.
    #[getter]
    fn threshold(&self) -> usize {
        over!(&self.0, (_, key) => key.committee().threshold())
    }

    /// How many participants there are.
    #[getter]
    fn participants(&self) -> usize {
        over!(&self.0, (_, key) => key.committee().participants())
    }

    /// The key under which the combined signature verifies.
    #[getter]
    fn public_key<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        over!(&self.0, (_, key) => PyBytes::new(py, key.public_key().to_bytes().as_ref()))
    }

    /// The key under which a participant's signature shares verify.
    fn verification_key<'py>(&self, py: Python<'py>, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let index = whole("index", index)?;
        over!(&self.0, (_, key) => Ok(PyBytes::new(py, verification_key(key, index)?.to_bytes().as_ref())))
    }

    /// Whether a signature share is that of a participant over a message.
    fn verify_share(
        &self,
        index: &Bound<'_, PyAny>,
        message: &Bound<'_, PyAny>,
        share: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        let index = whole("index", index)?;
        let (message, share) = (bytes("message", message)?, bytes("share", share)?);
        over!(&self.0, (suite, key) => {
            let signature = UncheckedSignature::from_bytes(&share).map_err(undecodable)?;
            let index = key.committee().index(index).map_err(misused)?;
            match key.verification_key(index, default_options()?.backend) {
                Ok(key) => truth(key.verify(*suite, &message, signature)),
                // Nothing is the share of a participant whose verification key is the identity.
                Err(SharingError::IdentityKey(_)) => Ok(false),
                Err(error) => Err(misused(error)),
            }
        })
    }

    /// Combines signature shares of a message, a dictionary by participant, and verifies the signature. False shares are named,
    /// and the others go on.
    fn combine(&self, py: Python<'_>, message: &Bound<'_, PyAny>, shares: &Bound<'_, PyDict>) -> PyResult<Combined> {
        let message = bytes("message", message)?;
        let arrivals = shares.iter().map(|(index, share)| {
            let index: u64 = whole("shares", &index)?;
            Ok((index, bytes(&format!("shares[{index}]"), &share)?))
        });
        let arrivals = arrivals.collect::<PyResult<Vec<_>>>()?;
        over!(&self.0, (_, key) => combine(py, key, &message, &arrivals))
    }

    fn __repr__(&self) -> String {
        format!("<quorate.threshold.SharedKey: {} of {}, {}>", self.threshold(), self.participants(), self.suite())
    }
}

/// Splits a key among participants, of whom a threshold signs.
#[pyfunction]
#[pyo3(signature = (secret, threshold, participants, *, identifiers="integers"))]
pub(crate) fn split(
    py: Python<'_>,
    secret: &SecretKey,
    threshold: &Bound<'_, PyAny>,
    participants: &Bound<'_, PyAny>,
    identifiers: &str,
) -> PyResult<(SharedKey, Vec<Share>)> {
    let identifiers = match identifiers {
        "integers" => Identifiers::Integers,
        "roots-of-unity" => Identifiers::RootsOfUnity,
        other => {
            return Err(misused(format!("identifiers: found {other:?}, expected \"integers\" or \"roots-of-unity\"")));
        }
    };
    let options = default_options()?;
    let (threshold, participants) = (whole("threshold", threshold)?, whole("participants", participants)?);
    let committee = Committee::new(threshold, participants, identifiers, options.backend).map_err(misused)?;
    match secret.inner() {
        Of::MinPk(suite, secret) => {
            let (key, shares) = py.detach(|| dealt(&committee, *suite, secret, &options))?;
            let shares =
                shares.into_iter().map(|(index, secret)| Share { index, secret: Shared::MinPk(*suite, secret) });
            Ok((SharedKey(Shared::MinPk(*suite, key)), shares.collect()))
        }
        Of::MinSig(suite, secret) => {
            let (key, shares) = py.detach(|| dealt(&committee, *suite, secret, &options))?;
            let shares =
                shares.into_iter().map(|(index, secret)| Share { index, secret: Shared::MinSig(*suite, secret) });
            Ok((SharedKey(Shared::MinSig(*suite, key)), shares.collect()))
        }
        Of::Bn254(suite, _) => Err(no_shared_keys(suite.any())),
    }
}

type Dealt<S> = (quorate_threshold::SharedKey<S>, Vec<(u64, Box<quorate::SecretKey<S>>)>);

fn dealt<S: Bls12381Suite>(
    committee: &Committee,
    suite: S,
    secret: &quorate::SecretKey<S>,
    options: &Options,
) -> PyResult<Dealt<S>> {
    if suite.scheme() == Scheme::Augmented {
        return Err(misused(format!(
            "the suite {suite} has no shared keys: it signs the key with the message, and a share has another key"
        )));
    }
    let (shares, commitment) = deal(committee, suite, secret, options, &mut generator()?).map_err(misused)?;
    let key = quorate_threshold::SharedKey::new(suite, committee.clone(), commitment).map_err(misused)?;
    let boxed = |share: &KeyShare<S>| (share.index().number().into(), Box::new(share.secret().clone()));
    let shares = shares.iter().map(boxed);
    Ok((key, shares.collect()))
}

fn verification_key<S: Bls12381Suite>(key: &quorate_threshold::SharedKey<S>, index: u64) -> PyResult<PublicKey<S>> {
    let index = key.committee().index(index).map_err(misused)?;
    key.verification_key(index, default_options()?.backend).map_err(misused)
}

fn combine<S: Bls12381Suite>(
    py: Python<'_>,
    key: &quorate_threshold::SharedKey<S>,
    message: &[u8],
    arrivals: &[(u64, Vec<u8>)],
) -> PyResult<Combined> {
    let (options, mut rng) = (default_options()?, generator()?);
    let mut collector = key.collector(message, options).map_err(misused)?;
    let slices: Vec<_> = arrivals.iter().map(|(index, share)| (*index, share.as_slice())).collect();
    let taken = py.detach(|| collector.add_each(&slices, &mut rng));
    let mut refused: Vec<(u64, String)> = arrivals
        .iter()
        .zip(taken)
        .filter_map(|((index, _), taken)| match taken {
            // These are among the false shares below.
            Err(ShareError::False { .. }) | Ok(()) => None,
            Err(error) => Some((*index, error.to_string())),
        })
        .collect();
    let of_false = collector.false_shares().into_iter();
    refused.extend(of_false.map(|(index, reason)| (u64::from(index.number()), reason.to_string())));
    refused.sort_unstable();
    let signature = collector.signature().map(|signature| PyBytes::new(py, signature.to_bytes().as_ref()).unbind());
    Ok(Combined { signature, refused })
}
