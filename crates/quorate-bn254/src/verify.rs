//! The pairings that verify signatures.

use ark_bn254::{Bn254, G1Affine, G2Affine};
use ark_ec::{AffineRepr, CurveGroup, pairing::Pairing};
use ark_ff::Zero;

use crate::{
    key::Bn254PublicKey,
    signature::{Bn254Signature, MessagePoint},
};

/// Whether `e(s, -G2) · e(H, pk) = 1`: one signature over one message, under one key or under the sum of a quorum's
/// keys. Two Miller loops and one final exponentiation.
///
/// Does not check the possession of the keys in a sum.
#[must_use]
pub fn verify(key: &Bn254PublicKey, message: &MessagePoint, signature: &Bn254Signature) -> bool {
    aggregate_verify(&[(*key, *message)], signature)
}

/// Whether `e(s, -G2) · e(H_1 + … + H_n, pk) = 1`: the sum of one key's signatures over n messages. Two Miller loops for
/// any n. False for no messages.
///
/// The key is one signer's, or the key of one quorum of which every member signed every message.
#[must_use]
pub fn verify_all(key: &Bn254PublicKey, messages: &[MessagePoint], signature: &Bn254Signature) -> bool {
    MessagePoint::sum_of(messages).is_some_and(|message| verify(key, &message, signature))
}

/// Whether `e(s, -G2) · prod_i e(H_i, pk_i) = 1`: the sum of signatures, each of one key over its own message. n + 1
/// Miller loops and one final exponentiation. False for no statements.
///
/// The function compares pairings and nothing else. If two messages are equal, the answer means something only where the
/// possession of the keys was proved. The engine `quorate` applies this rule to each suite.
#[must_use]
pub fn aggregate_verify(statements: &[(Bn254PublicKey, MessagePoint)], signature: &Bn254Signature) -> bool {
    let negated_generator = (-G2Affine::generator().into_group()).into_affine();
    let pairs = statements.iter().map(|(key, message)| (message.point(), key.point()));
    let pairs: Vec<_> = pairs.chain([(signature.point(), negated_generator)]).collect();
    !statements.is_empty() && pairing_is_one(&pairs)
}

/// Whether the product of the pairings is one, as the precompile 0x08 answers for points that are in their groups. True
/// for no pairs, as there.
#[must_use]
pub fn pairing_is_one(pairs: &[(G1Affine, G2Affine)]) -> bool {
    let (left, right): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
    Bn254::multi_pairing(left, right).is_zero()
}
