//! arkworks: `ark-bls12-381` and `ark-bn254`.

use anyhow::{Result, ensure};
use ark_bls12_381::{Bls12_381, G1Projective, G2Projective};
use ark_bn254::Bn254;
use ark_ec::{
    AffineRepr, CurveGroup, PrimeGroup, VariableBaseMSM,
    hashing::{HashToCurve, curve_maps::wb::WBMap, map_to_curve_hasher::MapToCurveBasedHasher},
    pairing::Pairing,
    short_weierstrass::{Affine, SWCurveConfig},
};
use ark_ff::{Field, PrimeField, Zero, field_hashers::DefaultFieldHasher};
use ark_serialize::{CanonicalDeserialize, CanonicalSerialize};
use quorate_peers::{
    Answer, BATCH, BLOCK, Bytes, FROM_BYTES, Job, Load, SAME_MESSAGE, SETS, Suite, Task, members, serve, weights,
};
use sha2::Sha256;

type Hasher<P> =
    MapToCurveBasedHasher<ark_ec::short_weierstrass::Projective<P>, DefaultFieldHasher<Sha256, 128>, WBMap<P>>;

const ALONE: &str = "pairings with arkworks' multi_pairing";

fn main() -> Result<()> {
    serve(|load| match (load.suite, load.job) {
        (Suite::Bn254, Job::Verify) => bn254(load),
        (Suite::Bn254, _) => anyhow::bail!("not asked on BN254"),
        (Suite::MinPk, Job::Verify) => min_pk(load),
        (Suite::MinSig, Job::Verify) => min_sig(load),
        (Suite::MinSig, _) => anyhow::bail!("not asked with keys in G2"),
        (_, Job::FromBytes) => from_bytes(load),
        (_, Job::SameMessage) => same_message(load),
        (_, Job::Sets) => sets(load),
        (_, Job::Block) => block(load),
        (_, Job::Aggregate) => aggregate(load),
        (_, Job::KeySum) => {
            let keys: Vec<G1> = points(&load.keys)?;
            Task::new("", move || {
                let sum = keys.iter().sum::<G1Projective>().into_affine();
                Answer::point(move || compressed(&sum))
            })
        }
        (_, Job::Hash) => {
            let (hasher, message) = (hasher::<ark_bls12_381::g2::Config>(&load)?, load.messages[0].0.clone());
            Task::new("", move || {
                let hash = hasher.hash(&message).expect("a point");
                Answer::point(move || compressed(&hash))
            })
        }
        (_, Job::Msm) => {
            let keys: Vec<G1> = points(&load.keys)?;
            let scalars: Vec<_> =
                load.scalars.iter().map(|s| ark_bls12_381::Fr::from_be_bytes_mod_order(&s.0)).collect();
            Task::new("", move || {
                let sum = G1Projective::msm(&keys, &scalars).expect("as many scalars as points").into_affine();
                Answer::point(move || compressed(&sum))
            })
        }
    })
}

type G1 = ark_bls12_381::G1Affine;
type G2 = ark_bls12_381::G2Affine;

fn points<P: CanonicalDeserialize>(bytes: &[Bytes]) -> Result<Vec<P>> {
    bytes.iter().map(|bytes| Ok(P::deserialize_compressed(&bytes.0[..])?)).collect()
}

fn compressed(point: &impl CanonicalSerialize) -> Vec<u8> {
    let mut bytes = Vec::new();
    point.serialize_compressed(&mut bytes).expect("memory");
    bytes
}

fn hasher<P: ark_ec::hashing::curve_maps::wb::WBConfig>(load: &Load) -> Result<Hasher<P>> {
    Hasher::<P>::new(load.tag.as_bytes()).map_err(|why| anyhow::anyhow!("{why}"))
}

fn is_member<P: SWCurveConfig>(point: &Affine<P>) -> bool {
    !point.is_zero() && point.is_in_correct_subgroup_assuming_on_curve()
}

/// A product of pairings, with weights if there are several signatures. They are members.
fn holds(keys: &[G1], mut hashes: Vec<G2>, signatures: &[G2]) -> bool {
    let (mut g1, sum) = if keys.len() == 1 {
        (keys.to_vec(), signatures[0])
    } else {
        let weights = weights(keys.len());
        let keys: Vec<_> = keys.iter().zip(&weights).map(|(key, w)| key.mul_bigint([*w])).collect();
        let sum = G2Projective::msm_u64(signatures, &weights).into_affine();
        (G1Projective::normalize_batch(&keys), sum)
    };
    g1.push(-G1::generator());
    hashes.push(sum);
    Bls12_381::multi_pairing(g1, hashes).is_zero()
}

type HasherG2 = Hasher<ark_bls12_381::g2::Config>;

fn hashes(hasher: &HasherG2, load: &Load) -> Vec<G2> {
    load.messages.iter().map(|m| hasher.hash(&m.0).expect("a point")).collect()
}

fn min_pk(load: Load) -> Result<Task> {
    let hasher: HasherG2 = hasher(&load)?;
    let (keys, signatures): (Vec<G1>, Vec<G2>) = (points(&load.keys)?, points(&load.signatures)?);
    Task::new(if keys.len() == 1 { ALONE } else { BATCH }, move || {
        let members = signatures.iter().all(is_member);
        Answer::Verdict(members && holds(&keys, hashes(&hasher, &load), &signatures))
    })
}

/// Its decoder checks the subgroup.
fn from_bytes(load: Load) -> Result<Task> {
    let hasher: HasherG2 = hasher(&load)?;
    Task::new(FROM_BYTES, move || {
        let (Ok(keys), Ok(signatures)) = (points::<G1>(&load.keys), points::<G2>(&load.signatures)) else {
            return Answer::Verdict(false);
        };
        let some = !keys.iter().any(G1::is_zero) && !signatures.iter().any(G2::is_zero);
        Answer::Verdict(some && holds(&keys, hashes(&hasher, &load), &signatures))
    })
}

fn same_message(load: Load) -> Result<Task> {
    let hasher: HasherG2 = hasher(&load)?;
    let (keys, signatures): (Vec<G1>, Vec<G2>) = (points(&load.keys)?, points(&load.signatures)?);
    Task::new(SAME_MESSAGE, move || {
        let weights = weights(keys.len());
        let key = G1Projective::msm_u64(&keys, &weights).into_affine();
        let sum = G2Projective::msm_u64(&signatures, &weights).into_affine();
        Answer::Verdict(signatures.iter().all(is_member) && holds(&[key], hashes(&hasher, &load), &[sum]))
    })
}

fn sets(load: Load) -> Result<Task> {
    let hasher: HasherG2 = hasher(&load)?;
    let (keys, signatures): (Vec<G1>, Vec<G2>) = (points(&load.keys)?, points(&load.signatures)?);
    let sets = members(&keys, &load.sets)?;
    Task::new(SETS, move || {
        let sums: Vec<_> = sets.iter().map(|set| set.iter().sum::<G1Projective>()).collect();
        let keys = G1Projective::normalize_batch(&sums);
        Answer::Verdict(signatures.iter().all(is_member) && holds(&keys, hashes(&hasher, &load), &signatures))
    })
}

fn block(load: Load) -> Result<Task> {
    let hasher: HasherG2 = hasher(&load)?;
    let (mut keys, signatures): (Vec<G1>, Vec<G2>) = (points(&load.keys)?, points(&load.signatures)?);
    keys.push(-G1::generator());
    Task::new(BLOCK, move || {
        let mut g2 = hashes(&hasher, &load);
        g2.push(signatures[0]);
        Answer::Verdict(is_member(&signatures[0]) && Bls12_381::multi_pairing(&keys, g2).is_zero())
    })
}

fn min_sig(load: Load) -> Result<Task> {
    let hasher = hasher::<ark_bls12_381::g1::Config>(&load)?;
    let (keys, signatures): (Vec<G2>, Vec<G1>) = (points(&load.keys)?, points(&load.signatures)?);
    ensure!(keys.len() == 1, "asked for one claim alone");
    Task::new(ALONE, move || {
        let hash = hasher.hash(&load.messages[0].0).expect("a point");
        let product = Bls12_381::multi_pairing([hash, signatures[0]], [keys[0], -G2::generator()]);
        Answer::Verdict(is_member(&signatures[0]) && product.is_zero())
    })
}

fn aggregate(load: Load) -> Result<Task> {
    let hasher = hasher::<ark_bls12_381::g2::Config>(&load)?;
    let (keys, signatures): (Vec<G1>, Vec<G2>) = (points(&load.keys)?, points(&load.signatures)?);
    Task::new("the keys summed, then pairings", move || {
        let key = keys.iter().sum::<G1Projective>().into_affine();
        let hash = hasher.hash(&load.messages[0].0).expect("a point");
        let product = Bls12_381::multi_pairing([key, -G1::generator()], [hash, signatures[0]]);
        Answer::Verdict(is_member(&signatures[0]) && product.is_zero())
    })
}

/// EigenLayer's hash: the digest is an x, and one is added until x³ + 3 is a square.
fn hash_to_bn254(digest: &[u8]) -> ark_bn254::G1Affine {
    let mut x = ark_bn254::Fq::from_be_bytes_mod_order(digest);
    loop {
        if let Some(y) = (x.square() * x + ark_bn254::Fq::from(3)).sqrt() {
            return ark_bn254::G1Affine::new_unchecked(x, y);
        }
        x += ark_bn254::Fq::ONE;
    }
}

/// Words in the EVM's order: of a coordinate in Fp², the part of the imaginary unit comes first.
fn bn254(load: Load) -> Result<Task> {
    let word = |bytes: &[u8], i: usize| ark_bn254::Fq::from_be_bytes_mod_order(&bytes[32 * i..32 * (i + 1)]);
    let (key, signature) = (&load.keys[0].0, &load.signatures[0].0);
    ensure!(load.keys.len() == 1 && key.len() == 128 && signature.len() == 64, "asked for one claim alone");
    let pair = |i| ark_bn254::Fq2::new(word(key, i + 1), word(key, i));
    let key = ark_bn254::G2Affine::new(pair(0), pair(2));
    let signature = ark_bn254::G1Affine::new(word(signature, 0), word(signature, 1));
    let minus = -ark_bn254::G2Projective::generator().into_affine();
    Task::new(ALONE, move || {
        let hash = hash_to_bn254(&load.messages[0].0);
        let product = Bn254::multi_pairing([hash, signature], [key, minus]);
        Answer::Verdict(!signature.is_zero() && product.is_zero())
    })
}
