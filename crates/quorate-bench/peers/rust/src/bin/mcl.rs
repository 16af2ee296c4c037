//! mcl, by its interface for C, which the crate `mcl_rust` builds and links. That crate's own functions lack the tag of a hash,
//! the subgroup check and the product of Miller loops.

use std::{ffi::c_void, sync::OnceLock};

use anyhow::{Result, bail, ensure};
use mcl_rust::{CurveType, Fp, Fr, G1, G2, GT};
use quorate_peers::{
    Answer, BATCH, BLOCK, Bytes, FROM_BYTES, Job, Load, SAME_MESSAGE, SETS, Suite, Task, members, serve, weights,
};

unsafe extern "C" {
    fn mclBn_setETHserialization(enable: i32);
    fn mclBn_setMapToMode(mode: i32) -> i32;
    fn mclBn_verifyOrderG1(verify: i32);
    fn mclBn_verifyOrderG2(verify: i32);
    fn mclBnG1_isValidOrder(x: *const G1) -> i32;
    fn mclBnG2_isValidOrder(x: *const G2) -> i32;
    fn mclBnG1_hashAndMapToWithDst(
        x: *mut G1,
        message: *const c_void,
        size: usize,
        tag: *const u8,
        tag_size: usize,
    ) -> i32;
    fn mclBnG2_hashAndMapToWithDst(
        x: *mut G2,
        message: *const c_void,
        size: usize,
        tag: *const u8,
        tag_size: usize,
    ) -> i32;
    fn mclBn_millerLoopVec(z: *mut GT, x: *const G1, y: *const G2, n: usize);
}

/// MCL_MAP_TO_MODE_HASH_TO_CURVE: RFC 9380.
const RFC_9380: i32 = 5;

const ALONE: &str = "millerLoopVec and finalExp";

fn main() -> Result<()> {
    serve(|load| {
        start(load.suite)?;
        match (load.suite, load.job) {
            (Suite::Bn254, Job::Verify) => bn254(load),
            (Suite::Bn254, _) => bail!("not asked on BN254"),
            (Suite::MinPk, Job::Verify) => min_pk(load),
            (Suite::MinSig, Job::Verify) => min_sig(load),
            (Suite::MinSig, _) => bail!("not asked with keys in G2"),
            (_, Job::FromBytes) => from_bytes(load),
            (_, Job::SameMessage) => same_message(load),
            (_, Job::Sets) => sets(load),
            (_, Job::Block) => block(load),
            (_, Job::Aggregate) => aggregate(load),
            (_, Job::KeySum) => {
                let keys = g1(&load.keys)?;
                Task::new("", move || {
                    let mut sum = G1::zero();
                    G1::normalize(&mut sum, &total(&keys));
                    Answer::point(move || sum.serialize())
                })
            }
            (_, Job::Hash) => Task::new("", move || {
                let hash = hash_g2(&load, 0);
                Answer::point(move || hash.serialize())
            }),
            (_, Job::Msm) => {
                let (keys, scalars) = (g1(&load.keys)?, load.scalars.iter().map(scalar).collect::<Vec<_>>());
                Task::new("mulVec", move || {
                    let (mut sum, mut affine) = (G1::zero(), G1::zero());
                    G1::mul_vec(&mut sum, &keys, &scalars);
                    G1::normalize(&mut affine, &sum);
                    Answer::point(move || affine.serialize())
                })
            }
        }
    })
}

/// mcl has one curve in a process at a time. Another one is begun from the start.
fn start(suite: Suite) -> Result<()> {
    let curve = if suite == Suite::Bn254 { CurveType::SNARK } else { CurveType::BLS12_381 };
    ensure!(mcl_rust::init(curve), "mcl does not start");
    // SAFETY: these calls set flags of the curve that was begun.
    unsafe {
        if suite != Suite::Bn254 {
            mclBn_setETHserialization(1);
            ensure!(mclBn_setMapToMode(RFC_9380) == 0, "mcl does not hash as RFC 9380");
        }
        // Subgroup checks are made where they are measured.
        mclBn_verifyOrderG1(0);
        mclBn_verifyOrderG2(0);
    }
    Ok(())
}

fn g1(bytes: &[Bytes]) -> Result<Vec<G1>> {
    let point = |bytes: &Bytes| {
        let mut point = G1::zero();
        ensure!(point.deserialize(&bytes.0), "a point does not decode");
        Ok(point)
    };
    bytes.iter().map(point).collect()
}

fn g2(bytes: &[Bytes]) -> Result<Vec<G2>> {
    let point = |bytes: &Bytes| {
        let mut point = G2::zero();
        ensure!(point.deserialize(&bytes.0), "a point does not decode");
        Ok(point)
    };
    bytes.iter().map(point).collect()
}

fn scalar(bytes: &Bytes) -> Fr {
    let (mut scalar, mut little) = (Fr::zero(), bytes.0.clone());
    little.reverse();
    assert!(scalar.set_little_endian_mod(&little));
    scalar
}

fn hash_g2(load: &Load, i: usize) -> G2 {
    let (mut hash, message) = (G2::zero(), &load.messages[i].0);
    // SAFETY: the message and the tag are as long as their sizes say.
    let code = unsafe {
        mclBnG2_hashAndMapToWithDst(
            &mut hash,
            message.as_ptr().cast(),
            message.len(),
            load.tag.as_ptr(),
            load.tag.len(),
        )
    };
    assert_eq!(code, 0);
    hash
}

fn hash_g1(load: &Load) -> G1 {
    let (mut hash, message) = (G1::zero(), &load.messages[0].0);
    // SAFETY: the message and the tag are as long as their sizes say.
    let code = unsafe {
        mclBnG1_hashAndMapToWithDst(
            &mut hash,
            message.as_ptr().cast(),
            message.len(),
            load.tag.as_ptr(),
            load.tag.len(),
        )
    };
    assert_eq!(code, 0);
    hash
}

fn total(keys: &[G1]) -> G1 {
    let (mut sum, mut next) = (G1::zero(), G1::zero());
    for key in keys {
        G1::add(&mut next, &sum, key);
        std::mem::swap(&mut sum, &mut next);
    }
    sum
}

fn is_one(p: &[G1], q: &[G2]) -> bool {
    let (mut product, mut power) = (GT::zero(), GT::zero());
    assert_eq!(p.len(), q.len());
    // SAFETY: there are as many points of both groups as the call is told.
    unsafe { mclBn_millerLoopVec(&mut product, p.as_ptr(), q.as_ptr(), p.len()) };
    mcl_rust::final_exp(&mut power, &product);
    power.is_one()
}

fn is_member_g1(point: &G1) -> bool {
    // SAFETY: the point is one of the curve that was begun.
    !point.is_zero() && unsafe { mclBnG1_isValidOrder(point) } == 1
}

fn is_member_g2(point: &G2) -> bool {
    // SAFETY: the point is one of the curve that was begun.
    !point.is_zero() && unsafe { mclBnG2_isValidOrder(point) } == 1
}

/// The generator of G1, negated.
fn minus_g1() -> G1 {
    let generator = "1 3685416753713387016781088315183077757961620795782546409894578378688607592378376318836054947676345821548104185464507 1339506544944476473020471379941921221584933875938349620426543736416511423956333506472724655353366534992391756441569";
    negated_g1(&G1::from_str(generator, 10).expect("the generator of G1"))
}

fn negated_g1(point: &G1) -> G1 {
    let mut minus = G1::zero();
    G1::neg(&mut minus, point);
    minus
}

fn hashes(load: &Load) -> Vec<G2> {
    (0..load.messages.len()).map(|i| hash_g2(load, i)).collect()
}

/// A product of pairings, with weights if there are several signatures. They are members.
fn holds(load: &Load, keys: &[G1], signatures: &[G2], minus: &G1) -> bool {
    let (mut p, sum) = if keys.len() == 1 {
        (keys.to_vec(), signatures[0].clone())
    } else {
        let weights = scalars(keys.len());
        let mut sum = G2::zero();
        G2::mul_vec(&mut sum, signatures, &weights);
        let weighted = keys.iter().zip(&weights).map(|(key, weight)| {
            let mut product = G1::zero();
            G1::mul(&mut product, key, weight);
            product
        });
        (weighted.collect(), sum)
    };
    let mut q = hashes(load);
    p.push(minus.clone());
    q.push(sum);
    is_one(&p, &q)
}

fn min_pk(load: Load) -> Result<Task> {
    let (keys, signatures, minus) = (g1(&load.keys)?, g2(&load.signatures)?, minus_g1());
    Task::new(if keys.len() == 1 { ALONE } else { BATCH }, move || {
        Answer::Verdict(signatures.iter().all(is_member_g2) && holds(&load, &keys, &signatures, &minus))
    })
}

fn from_bytes(load: Load) -> Result<Task> {
    let minus = minus_g1();
    Task::new(FROM_BYTES, move || {
        let (Ok(keys), Ok(signatures)) = (g1(&load.keys), g2(&load.signatures)) else { return Answer::Verdict(false) };
        let members = keys.iter().all(is_member_g1) && signatures.iter().all(is_member_g2);
        Answer::Verdict(members && holds(&load, &keys, &signatures, &minus))
    })
}

fn same_message(load: Load) -> Result<Task> {
    let (keys, signatures, minus) = (g1(&load.keys)?, g2(&load.signatures)?, minus_g1());
    Task::new(SAME_MESSAGE, move || {
        let weights = scalars(keys.len());
        let (mut key, mut sum) = (G1::zero(), G2::zero());
        G1::mul_vec(&mut key, &keys, &weights);
        G2::mul_vec(&mut sum, &signatures, &weights);
        Answer::Verdict(signatures.iter().all(is_member_g2) && holds(&load, &[key], &[sum], &minus))
    })
}

fn sets(load: Load) -> Result<Task> {
    let (keys, signatures, minus) = (g1(&load.keys)?, g2(&load.signatures)?, minus_g1());
    let sets = members(&keys, &load.sets)?;
    Task::new(SETS, move || {
        let sums: Vec<_> = sets.iter().map(|set| total(set)).collect();
        Answer::Verdict(signatures.iter().all(is_member_g2) && holds(&load, &sums, &signatures, &minus))
    })
}

fn block(load: Load) -> Result<Task> {
    let (mut keys, signatures) = (g1(&load.keys)?, g2(&load.signatures)?);
    keys.push(minus_g1());
    Task::new(BLOCK, move || {
        let mut q = hashes(&load);
        q.push(signatures[0].clone());
        Answer::Verdict(is_member_g2(&signatures[0]) && is_one(&keys, &q))
    })
}

fn scalars(n: usize) -> Vec<Fr> {
    weights(n).into_iter().map(weight).collect()
}

fn weight(weight: u64) -> Fr {
    let mut scalar = Fr::zero();
    assert!(scalar.set_little_endian(&weight.to_le_bytes()));
    scalar
}

fn aggregate(load: Load) -> Result<Task> {
    let (keys, signatures, minus) = (g1(&load.keys)?, g2(&load.signatures)?, minus_g1());
    Task::new("the keys summed, then millerLoopVec and finalExp", move || {
        let product = is_one(&[total(&keys), minus.clone()], &[hash_g2(&load, 0), signatures[0].clone()]);
        Answer::Verdict(is_member_g2(&signatures[0]) && product)
    })
}

fn min_sig(load: Load) -> Result<Task> {
    ensure!(load.keys.len() == 1, "asked for one claim alone");
    let (key, signature) = (g2(&load.keys)?.remove(0), g1(&load.signatures)?.remove(0));
    let generator = "1 352701069587466618187139116011060144890029952792775240219908644239793785735715026873347600343865175952761926303160 3059144344244213709971259814753781636986470325476647558659373206291635324768958432433509563104347017837885763365758 1985150602287291935568054521177171638300868978215655730859378665066344726373823718423869104263333984641494340347905 927553665492332455747201965776037880757740193453592970025027978793976877002675564980949289727957565575433344219582";
    let generator = G2::from_str(generator, 10).expect("the generator of G2");
    Task::new(ALONE, move || {
        let product = is_one(&[hash_g1(&load), negated_g1(&signature)], &[key.clone(), generator.clone()]);
        Answer::Verdict(is_member_g1(&signature) && product)
    })
}

/// EigenLayer's hash: the digest is an x, and one is added until x³ + 3 is a square.
fn hash_to_bn254(digest: &[u8]) -> G1 {
    static CONSTANTS: OnceLock<(Fp, Fp)> = OnceLock::new();
    let (one, three) = CONSTANTS.get_or_init(|| (Fp::from_int(1), Fp::from_int(3)));
    let mut x = word(digest);
    loop {
        let (mut square, mut cube, mut y) = (Fp::zero(), Fp::zero(), Fp::zero());
        Fp::sqr(&mut square, &x);
        Fp::mul(&mut cube, &square, &x);
        if Fp::square_root(&mut y, &(&cube + three)) {
            return G1 { x, y, z: one.clone() };
        }
        x = &x + one;
    }
}

/// 32 bytes, the greatest first, modulo p.
fn word(bytes: &[u8]) -> Fp {
    let (mut word, mut little) = (Fp::zero(), bytes.to_vec());
    little.reverse();
    assert!(word.set_little_endian_mod(&little));
    word
}

/// Words in the EVM's order: of a coordinate in Fp², the part of the imaginary unit comes first.
fn bn254(load: Load) -> Result<Task> {
    let (key, signature) = (&load.keys[0].0, &load.signatures[0].0);
    ensure!(load.keys.len() == 1 && key.len() == 128 && signature.len() == 64, "asked for one claim alone");
    let at = |bytes: &[u8], i: usize| word(&bytes[32 * i..32 * (i + 1)]);
    let text = |word: Fp| word.get_str(10);
    let g2 = |words: [Fp; 4]| {
        let [a, b, c, d] = words.map(text);
        G2::from_str(&format!("1 {a} {b} {c} {d}"), 10)
    };
    let Some(key) = g2([at(key, 1), at(key, 0), at(key, 3), at(key, 2)]) else { bail!("the key does not decode") };
    let generator = [
        "10857046999023057135944570762232829481370756359578518086990519993285655852781",
        "11559732032986387107991004021392285783925812861821192530917403151452391805634",
        "8495653923123431417604973247489272438418190587263600148770280649306958101930",
        "4082367875863433681332203403145435568316851327593401208105741076214120093531",
    ];
    let generator = G2::from_str(&format!("1 {}", generator.join(" ")), 10).expect("the generator of G2");
    let signature = G1 { x: at(signature, 0), y: at(signature, 1), z: Fp::from_int(1) };
    ensure!(signature.is_valid(), "the signature does not decode");
    Task::new(ALONE, move || {
        let hash = hash_to_bn254(&load.messages[0].0);
        let product = is_one(&[hash, negated_g1(&signature)], &[key.clone(), generator.clone()]);
        Answer::Verdict(is_member_g1(&signature) && product)
    })
}
