//! `commonware-cryptography`, which computes by blst.

use anyhow::{Context as _, Result, bail, ensure};
use commonware_codec::{Decode as _, DecodeExt as _, Encode as _};
use commonware_cryptography::bls12381::primitives::{
    group::{G1, G2, Scalar, ScalarReadCfg, SmallScalar},
    ops,
    variant::{MinPk, MinSig, Variant},
};
use commonware_math::algebra::{Additive as _, Space as _};
use commonware_parallel::Sequential;
use quorate_peers::{Answer, Bytes, FROM_BYTES, Job, Load, Suite, Task, members, serve};

fn main() -> Result<()> {
    serve(|load| match (load.suite, load.job) {
        (Suite::Bn254, _) => bail!("it has no BN254"),
        (Suite::MinPk, Job::Verify) => verify::<MinPk>(load),
        (Suite::MinSig, Job::Verify) => verify::<MinSig>(load),
        (Suite::MinSig, _) => bail!("not asked with keys in G2"),
        (_, Job::FromBytes) => from_bytes(load),
        (_, Job::SameMessage) => same_message(load),
        (_, Job::Sets) => sets(load),
        (_, Job::Block) => bail!("its interface has no aggregate signature of several keys over several messages"),
        (_, Job::Aggregate) => {
            tag::<MinPk>(&load)?;
            let keys = points::<G1>(&load.keys)?;
            let signature = points::<<MinPk as Variant>::Signature>(&load.signatures)?[0];
            Task::new("the keys summed, then ops::verify; membership checked at decoding, not counted", move || {
                let key = sum(&keys);
                Answer::Verdict(ops::verify::<MinPk>(&key, MinPk::MESSAGE, &load.messages[0].0, &signature).is_ok())
            })
        }
        (_, Job::KeySum) => {
            let keys = points::<G1>(&load.keys)?;
            Task::new("", move || {
                let sum = sum(&keys);
                Answer::point(move || sum.encode().to_vec())
            })
        }
        (_, Job::Hash) => {
            tag::<MinPk>(&load)?;
            Task::new("", move || {
                let hash = ops::hash::<MinPk>(MinPk::MESSAGE, &load.messages[0].0);
                Answer::point(move || hash.encode().to_vec())
            })
        }
        (_, Job::Msm) => {
            let scalar = |bytes: &Bytes| {
                Scalar::decode_cfg(bytes.0.clone(), &ScalarReadCfg::AllowZero).ok().context("a scalar does not decode")
            };
            let keys = points::<G1>(&load.keys)?;
            let scalars = load.scalars.iter().map(scalar).collect::<Result<Vec<_>>>()?;
            Task::new("", move || {
                let sum = G1::msm(&keys, &scalars, &Sequential);
                Answer::point(move || sum.encode().to_vec())
            })
        }
    })
}

/// Its tags are constants.
fn tag<V: Variant>(load: &Load) -> Result<()> {
    ensure!(load.tag.as_bytes() == V::MESSAGE, "its tag is another");
    Ok(())
}

fn points<P: commonware_codec::Read<Cfg = ()>>(bytes: &[Bytes]) -> Result<Vec<P>> {
    bytes.iter().map(|bytes| P::decode(bytes.0.clone()).ok().context("a point does not decode")).collect()
}

fn sum(keys: &[G1]) -> G1 {
    keys.iter().fold(G1::zero(), |mut sum, key| {
        sum += key;
        sum
    })
}

fn verify<V: Variant>(load: Load) -> Result<Task> {
    tag::<V>(&load)?;
    let (keys, signatures) = (points::<V::Public>(&load.keys)?, points::<V::Signature>(&load.signatures)?);
    let note = match keys.len() {
        1 => "ops::verify; membership checked at decoding, not counted",
        _ => "Variant::batch_verify, weights of 128 bits; membership checked at decoding, not counted",
    };
    Task::new(note, move || Answer::Verdict(holds::<V>(&load, &keys, &signatures)))
}

fn hashes<V: Variant>(load: &Load) -> Vec<V::Signature> {
    load.messages.iter().map(|m| ops::hash::<V>(V::MESSAGE, &m.0)).collect()
}

fn holds<V: Variant>(load: &Load, keys: &[V::Public], signatures: &[V::Signature]) -> bool {
    if keys.len() == 1 {
        return ops::verify::<V>(&keys[0], V::MESSAGE, &load.messages[0].0, &signatures[0]).is_ok();
    }
    V::batch_verify(&mut rand::rng(), keys, &hashes::<V>(load), signatures, &Sequential).is_ok()
}

/// Its decoder checks the subgroup, and that a point is not the identity.
fn from_bytes(load: Load) -> Result<Task> {
    tag::<MinPk>(&load)?;
    Task::new(FROM_BYTES, move || {
        let (keys, signatures) = (points::<G1>(&load.keys), points::<G2>(&load.signatures));
        let found = keys.and_then(|keys| Ok(holds::<MinPk>(&load, &keys, &signatures?)));
        Answer::Verdict(found.unwrap_or(false))
    })
}

fn same_message(load: Load) -> Result<Task> {
    tag::<MinPk>(&load)?;
    let (keys, signatures) = (points::<G1>(&load.keys)?, points::<G2>(&load.signatures)?);
    let note =
        "sums with weights of 128 bits by its msm, then ops::verify; membership checked at decoding, not counted";
    Task::new(note, move || {
        let weights: Vec<_> = keys.iter().map(|_| SmallScalar::random(rand::rng())).collect();
        let (key, sum) = (G1::msm(&keys, &weights, &Sequential), G2::msm(&signatures, &weights, &Sequential));
        Answer::Verdict(ops::verify::<MinPk>(&key, MinPk::MESSAGE, &load.messages[0].0, &sum).is_ok())
    })
}

fn sets(load: Load) -> Result<Task> {
    tag::<MinPk>(&load)?;
    let (keys, signatures) = (points::<G1>(&load.keys)?, points::<G2>(&load.signatures)?);
    let sets = members(&keys, &load.sets)?;
    let note = "the keys of each set summed, then Variant::batch_verify, weights of 128 bits; membership checked at decoding, not counted";
    Task::new(note, move || {
        let sums: Vec<_> = sets.iter().map(|set| sum(set)).collect();
        Answer::Verdict(holds::<MinPk>(&load, &sums, &signatures))
    })
}
