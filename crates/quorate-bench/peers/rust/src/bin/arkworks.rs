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
use quorate_peers::{Answer, Bytes, Job, Load, Suite, Task, serve, weights};
use sha2::Sha256;

type Hasher<P> =
    MapToCurveBasedHasher<ark_ec::short_weierstrass::Projective<P>, DefaultFieldHasher<Sha256, 128>, WBMap<P>>;

const ALONE: &str = "pairings with arkworks' multi_pairing";
const BATCH: &str = "a product of pairings with weights of 64 bits, by arkworks' verbs";

fn main() -> Result<()> {
    serve(|load| match (load.suite, load.job) {
        (Suite::Bn254, Job::Verify) => bn254(load),
        (Suite::Bn254, _) => anyhow::bail!("not asked on BN254"),
        (Suite::MinPk, Job::Verify) => min_pk(load),
        (Suite::MinSig, Job::Verify) => min_sig(load),
        (Suite::MinSig, _) => anyhow::bail!("not asked with keys in G2"),
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

fn min_pk(load: Load) -> Result<Task> {
    let hasher = hasher::<ark_bls12_381::g2::Config>(&load)?;
    let (keys, signatures): (Vec<G1>, Vec<G2>) = (points(&load.keys)?, points(&load.signatures)?);
    Task::new(if keys.len() == 1 { ALONE } else { BATCH }, move || {
        let mut g2: Vec<G2> = load.messages.iter().map(|m| hasher.hash(&m.0).expect("a point")).collect();
        let members = signatures.iter().all(is_member);
        let (mut g1, sum) = if keys.len() == 1 {
            (keys.clone(), signatures[0])
        } else {
            let weights = weights(keys.len());
            let keys: Vec<_> = keys.iter().zip(&weights).map(|(key, w)| key.mul_bigint([*w])).collect();
            let sum = G2Projective::msm_u64(&signatures, &weights).into_affine();
            (G1Projective::normalize_batch(&keys), sum)
        };
        g1.push(-G1::generator());
        g2.push(sum);
        Answer::Verdict(members && Bls12_381::multi_pairing(g1, g2).is_zero())
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
