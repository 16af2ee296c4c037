//! zkcrypto: the crate `bls12_381`.

use anyhow::{Result, bail, ensure};
use bls12_381::{
    G1Affine, G1Projective, G2Affine, G2Prepared, G2Projective, Gt, Scalar,
    hash_to_curve::{ExpandMsgXmd, HashToCurve},
    multi_miller_loop,
};
use quorate_peers::{
    Answer, BATCH, BLOCK, Bytes, FROM_BYTES, Job, Load, SAME_MESSAGE, SETS, Suite, Task, members, serve, weights,
};
use sha2::Sha256;

const ALONE: &str = "multi_miller_loop and final_exponentiation";

fn main() -> Result<()> {
    serve(|load| match (load.suite, load.job) {
        (Suite::Bn254, _) => bail!("it has no BN254"),
        (Suite::MinPk, Job::Verify) => min_pk(load),
        (Suite::MinSig, Job::Verify) => min_sig(load),
        (Suite::MinSig, _) => bail!("not asked with keys in G2"),
        (_, Job::FromBytes) => from_bytes(load),
        (_, Job::SameMessage) => same_message(load),
        (_, Job::Sets) => sets(load),
        (_, Job::Block) => block(load),
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

fn sum(points: impl Iterator<Item = G1Projective>) -> G1Projective {
    points.fold(G1Projective::identity(), |sum, point| sum + point)
}

fn sum_g2(points: impl Iterator<Item = G2Projective>) -> G2Projective {
    points.fold(G2Projective::identity(), |sum, point| sum + point)
}

fn scalars(n: usize) -> Vec<Scalar> {
    weights(n).into_iter().map(Scalar::from).collect()
}

fn affine(points: &[G1Projective]) -> Vec<G1Affine> {
    let mut affine = vec![G1Affine::identity(); points.len()];
    G1Projective::batch_normalize(points, &mut affine);
    affine
}

/// A product of pairings, with weights if there are several signatures. They are members.
fn holds(load: &Load, keys: &[G1Affine], signatures: &[G2Affine]) -> bool {
    let (keys, sum) = if keys.len() == 1 {
        (keys.to_vec(), signatures[0])
    } else {
        let weights = scalars(keys.len());
        let weighted: Vec<_> = keys.iter().zip(&weights).map(|(key, weight)| key * weight).collect();
        let sum = sum_g2(signatures.iter().zip(&weights).map(|(signature, weight)| signature * weight));
        (affine(&weighted), sum.into())
    };
    let mut terms: Vec<_> = keys.into_iter().enumerate().map(|(i, key)| (key, hash(load, i))).collect();
    terms.push((-G1Affine::generator(), sum));
    is_one(&terms)
}

fn min_pk(load: Load) -> Result<Task> {
    let (keys, signatures) = (keys(&load.keys)?, signatures(&load.signatures)?);
    Task::new(if keys.len() == 1 { ALONE } else { BATCH }, move || {
        Answer::Verdict(signatures.iter().all(is_member) && holds(&load, &keys, &signatures))
    })
}

/// Its decoder checks the subgroup.
fn from_bytes(load: Load) -> Result<Task> {
    Task::new(FROM_BYTES, move || {
        let (Ok(keys), Ok(signatures)) = (keys(&load.keys), signatures(&load.signatures)) else {
            return Answer::Verdict(false);
        };
        let none = keys.iter().any(|key| key.is_identity().into()) || signatures.iter().any(|s| s.is_identity().into());
        Answer::Verdict(!none && holds(&load, &keys, &signatures))
    })
}

fn same_message(load: Load) -> Result<Task> {
    let (keys, signatures) = (keys(&load.keys)?, signatures(&load.signatures)?);
    Task::new(SAME_MESSAGE, move || {
        let weights = scalars(keys.len());
        let key = sum(keys.iter().zip(&weights).map(|(key, weight)| key * weight)).into();
        let signature = sum_g2(signatures.iter().zip(&weights).map(|(signature, weight)| signature * weight)).into();
        Answer::Verdict(signatures.iter().all(is_member) && holds(&load, &[key], &[signature]))
    })
}

fn sets(load: Load) -> Result<Task> {
    let (keys, signatures) = (keys(&load.keys)?, signatures(&load.signatures)?);
    let sets = members(&keys, &load.sets)?;
    Task::new(SETS, move || {
        let sums: Vec<_> =
            sets.iter().map(|set| set.iter().fold(G1Projective::identity(), |sum, key| sum + key)).collect();
        Answer::Verdict(signatures.iter().all(is_member) && holds(&load, &affine(&sums), &signatures))
    })
}

fn block(load: Load) -> Result<Task> {
    let (keys, signatures) = (keys(&load.keys)?, signatures(&load.signatures)?);
    Task::new(BLOCK, move || {
        let mut terms: Vec<_> = keys.iter().enumerate().map(|(i, key)| (*key, hash(&load, i))).collect();
        terms.push((-G1Affine::generator(), signatures[0]));
        Answer::Verdict(is_member(&signatures[0]) && is_one(&terms))
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
