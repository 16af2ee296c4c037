//! zkcrypto: the crate `bls12_381`.

use anyhow::{Result, bail, ensure};
use bls12_381::{
    G1Affine, G1Projective, G2Affine, G2Prepared, G2Projective, Gt, Scalar,
    hash_to_curve::{ExpandMsgXmd, HashToCurve},
    multi_miller_loop,
};
use quorate_peers::{Answer, Bytes, Job, Load, Suite, Task, serve, weights};
use sha2::Sha256;

const ALONE: &str = "multi_miller_loop and final_exponentiation";

fn main() -> Result<()> {
    serve(|load| match (load.suite, load.job) {
        (Suite::Bn254, _) => bail!("it has no BN254"),
        (Suite::MinPk, Job::Verify) => min_pk(load),
        (Suite::MinSig, Job::Verify) => min_sig(load),
        (Suite::MinSig, _) => bail!("not asked with keys in G2"),
        (_, Job::Aggregate) => aggregate(load),
        (_, Job::KeySum) => {
            let keys = keys(&load.keys)?;
            Task::new("", move || {
                let sum = G1Affine::from(keys.iter().fold(G1Projective::identity(), |sum, key| sum + key));
                Answer::point(move || sum.to_compressed().to_vec())
            })
        }
        (_, Job::Hash) => Task::new("", move || {
            let hash = hash(&load, 0);
            Answer::point(move || hash.to_compressed().to_vec())
        }),
        (_, Job::Msm) => bail!("it has no multi-scalar multiplication"),
    })
}

fn keys(bytes: &[Bytes]) -> Result<Vec<G1Affine>> {
    let key = |bytes: &Bytes| G1Affine::from_compressed(bytes.0[..].try_into().ok()?).into_option();
    bytes.iter().map(|bytes| key(bytes).ok_or_else(|| anyhow::anyhow!("a point does not decode"))).collect()
}

fn signatures(bytes: &[Bytes]) -> Result<Vec<G2Affine>> {
    let point = |bytes: &Bytes| G2Affine::from_compressed(bytes.0[..].try_into().ok()?).into_option();
    bytes.iter().map(|bytes| point(bytes).ok_or_else(|| anyhow::anyhow!("a point does not decode"))).collect()
}

fn hash(load: &Load, i: usize) -> G2Affine {
    let hash =
        <G2Projective as HashToCurve<ExpandMsgXmd<Sha256>>>::hash_to_curve([&load.messages[i].0], load.tag.as_bytes());
    hash.into()
}

fn is_one(terms: &[(G1Affine, G2Affine)]) -> bool {
    let terms: Vec<_> = terms.iter().map(|(p, q)| (*p, G2Prepared::from(*q))).collect();
    let terms: Vec<_> = terms.iter().map(|(p, q)| (p, q)).collect();
    multi_miller_loop(&terms).final_exponentiation() == Gt::identity()
}

fn is_member(signature: &G2Affine) -> bool {
    !bool::from(signature.is_identity()) && bool::from(signature.is_torsion_free())
}

fn min_pk(load: Load) -> Result<Task> {
    let (keys, signatures) = (keys(&load.keys)?, signatures(&load.signatures)?);
    if keys.len() == 1 {
        return Task::new(ALONE, move || {
            let terms = [(keys[0], hash(&load, 0)), (-G1Affine::generator(), signatures[0])];
            Answer::Verdict(is_member(&signatures[0]) && is_one(&terms))
        });
    }
    Task::new("a product of pairings with weights of 64 bits, by its verbs", move || {
        let weights: Vec<_> = weights(keys.len()).into_iter().map(Scalar::from).collect();
        let members = signatures.iter().all(is_member);
        let weighted = signatures.iter().zip(&weights).map(|(signature, weight)| signature * weight);
        let sum = weighted.fold(G2Projective::identity(), |sum, term| sum + term);
        let weighted: Vec<_> = keys.iter().zip(&weights).map(|(key, weight)| key * weight).collect();
        let mut affine = vec![G1Affine::identity(); weighted.len()];
        G1Projective::batch_normalize(&weighted, &mut affine);
        let mut terms: Vec<_> = affine.into_iter().enumerate().map(|(i, key)| (key, hash(&load, i))).collect();
        terms.push((-G1Affine::generator(), sum.into()));
        Answer::Verdict(members && is_one(&terms))
    })
}

fn min_sig(load: Load) -> Result<Task> {
    ensure!(load.keys.len() == 1, "asked for one claim alone");
    let (keys, signatures) = (signatures(&load.keys)?, keys(&load.signatures)?);
    Task::new(ALONE, move || {
        let hash = <G1Projective as HashToCurve<ExpandMsgXmd<Sha256>>>::hash_to_curve(
            [&load.messages[0].0],
            load.tag.as_bytes(),
        );
        let member = !bool::from(signatures[0].is_identity()) && bool::from(signatures[0].is_torsion_free());
        Answer::Verdict(member && is_one(&[(hash.into(), keys[0]), (signatures[0], -G2Affine::generator())]))
    })
}

fn aggregate(load: Load) -> Result<Task> {
    let (keys, signatures) = (keys(&load.keys)?, signatures(&load.signatures)?);
    Task::new("the keys summed, then multi_miller_loop and final_exponentiation", move || {
        let key = keys.iter().fold(G1Projective::identity(), |sum, key| sum + key);
        let terms = [(key.into(), hash(&load, 0)), (-G1Affine::generator(), signatures[0])];
        Answer::Verdict(is_member(&signatures[0]) && is_one(&terms))
    })
}
