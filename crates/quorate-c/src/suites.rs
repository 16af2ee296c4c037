//! Suites by number, for languages in which a name costs more than a number.

use quorate::{AnySuite, Bn254Suite, InSuite, MinPk, MinSig, Suite};

use crate::fault::{CallFailure, Code};

/// The suites and their numbers. Numbers are a part of the C interface: none is changed or used again.
const NUMBERS: [(u32, AnySuite); 23] = [
    (1, AnySuite::MinPk(MinPk::Eth2)),
    (2, AnySuite::MinPk(MinPk::Eth2SyncAggregate)),
    (3, AnySuite::MinPk(MinPk::Chia)),
    (4, AnySuite::MinPk(MinPk::DrandChained)),
    (5, AnySuite::MinPk(MinPk::DrandUnchained)),
    (6, AnySuite::MinPk(MinPk::Basic)),
    (7, AnySuite::MinPk(MinPk::Augmented)),
    (8, AnySuite::MinPk(MinPk::ProofOfPossession)),
    (9, AnySuite::MinPk(MinPk::Bdn)),
    (20, AnySuite::MinSig(MinSig::DrandQuicknet)),
    (21, AnySuite::MinSig(MinSig::DrandG1Legacy)),
    (22, AnySuite::MinSig(MinSig::Basic)),
    (23, AnySuite::MinSig(MinSig::Augmented)),
    (24, AnySuite::MinSig(MinSig::ProofOfPossession)),
    (25, AnySuite::MinSig(MinSig::Bdn)),
    (40, AnySuite::Bn254(Bn254Suite::EigenLayer)),
    (41, AnySuite::Bn254(Bn254Suite::DrandEvmnet)),
    (42, AnySuite::Bn254(Bn254Suite::KeccakBasic)),
    (43, AnySuite::Bn254(Bn254Suite::KeccakAugmented)),
    (44, AnySuite::Bn254(Bn254Suite::KeccakProofOfPossession)),
    (45, AnySuite::Bn254(Bn254Suite::Sha256Basic)),
    (46, AnySuite::Bn254(Bn254Suite::Sha256Augmented)),
    (47, AnySuite::Bn254(Bn254Suite::Sha256ProofOfPossession)),
];

/// The suite of a number.
///
/// # Errors
/// [`Code::Suite`].
pub fn by_number(number: u32) -> Result<AnySuite, CallFailure> {
    let found = NUMBERS.iter().find(|(own, _)| *own == number).map(|(_, suite)| *suite);
    found.ok_or_else(|| CallFailure::new(Code::Suite, format!("there is no suite with the number {number}")))
}

/// The suite of a name.
///
/// # Errors
/// [`Code::Suite`], with the names that there are.
pub fn by_name(name: &str) -> Result<AnySuite, CallFailure> {
    name.parse().map_err(|error: quorate::UnknownSuite| CallFailure::new(Code::Suite, error.to_string()))
}

/// The number of a suite.
///
/// # Errors
/// [`Code::Suite`], if this interface does not have the suite.
pub fn number(suite: AnySuite) -> Result<u32, CallFailure> {
    let found = NUMBERS.iter().find(|(_, own)| *own == suite).map(|(number, _)| *number);
    found.ok_or_else(|| CallFailure::new(Code::Suite, format!("the suite {} has no number", suite.name())))
}

/// How many bytes the public keys and the signatures of a suite have.
pub fn lengths(suite: AnySuite) -> (usize, usize) {
    struct SignatureLength;
    impl InSuite for SignatureLength {
        type Output = usize;
        fn run_in<S: Suite>(self, _: S) -> usize {
            size_of::<S::SignatureBytes>()
        }
    }
    (suite.key_length(), suite.run(SignatureLength))
}

/// The length of a public key that is one point.
///
/// # Errors
/// [`Code::Misuse`] under `eigenlayer`, whose keys are points of both groups.
pub(crate) fn single_key_length(suite: AnySuite) -> Result<usize, CallFailure> {
    match suite {
        AnySuite::Bn254(bn254) if bn254.has_dual_keys() => Err(CallFailure::misuse(format!(
            "keys of {bn254} are points of both groups, and this call adds points of one; a claim names its signers one by one"
        ))),
        suite => Ok(lengths(suite).0),
    }
}

/// Cuts bytes into parts of one length. No bytes are no parts: whoever adds them up refuses that.
///
/// # Errors
/// [`Code::Encoding`] if the last one is cut.
pub(crate) fn parts<'a>(what: &str, bytes: &'a [u8], length: usize) -> Result<Vec<&'a [u8]>, CallFailure> {
    if !bytes.len().is_multiple_of(length) {
        let text = format!(
            "found {} bytes of {what}, expected a multiple of {length}, the length of one in this suite",
            bytes.len()
        );
        return Err(CallFailure::new(Code::Encoding, text));
    }
    Ok(bytes.chunks(length).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_suite_has_one_number() {
        let numbers: std::collections::BTreeSet<_> = NUMBERS.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers.len(), NUMBERS.len());
        for suite in AnySuite::all() {
            let own = number(suite).unwrap();
            assert_eq!(by_number(own).unwrap(), suite);
            assert_eq!(by_name(suite.name()).unwrap(), suite);
        }
        assert_eq!(AnySuite::all().count(), NUMBERS.len());
        assert_eq!(by_number(0).unwrap_err().code, Code::Suite);
        assert!(by_name("eth3").unwrap_err().text.contains("eth2"));
    }

    #[test]
    fn lengths_are_those_of_the_encodings() {
        assert_eq!(lengths(MinPk::Eth2.any()), (48, 96));
        assert_eq!(lengths(MinSig::Basic.any()), (96, 48));
        assert_eq!(lengths(Bn254Suite::EigenLayer.any()), (192, 64));
        assert_eq!(lengths(Bn254Suite::KeccakBasic.any()), (128, 64));
    }
}
