use quorate::{Backend, Bls12381Suite, MinPk, MinSig, Options, rand_core::CryptoRng};
use quorate_curve::{G1, Group, SecretPolynomial, SecretScalar};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng as _};

use super::*;
use crate::{Committee, Identifiers, KeyShare};

/// A point of E(Fp) whose order is 3: (0, 2), for 0 = 4 - 4 and 3·(0, 2) is the identity on y² = x³ + 4.
pub(super) fn point_of_order_three() -> G1 {
    let mut bytes = [0; 48];
    bytes[0] = 0x80;
    let point: G1 = Backend::Portable.decode(&bytes).expect("x = 0 is on the curve");
    assert!(!point.is_identity() && Backend::Portable.short_msm(&[(point, 3)]).is_identity());
    point
}

fn rng() -> ChaCha20Rng {
    ChaCha20Rng::from_seed([5; 32])
}

fn secrets(count: usize) -> Vec<ShareDecryptionKey> {
    (0..count).map(|i| ShareDecryptionKey::derive(&[i as u8 + 1; 32])).collect()
}

fn polynomial(t: usize, rng: &mut impl CryptoRng) -> SecretPolynomial {
    let coefficient = |_| {
        let mut material = [0; 32];
        rng.fill_bytes(&mut material);
        SecretScalar::key_gen(&material, b"").expect("32 bytes")
    };
    SecretPolynomial::new((0..t).map(coefficient).collect())
}

fn receivers(t: usize, weights: &[u32], identifiers: Identifiers) -> (Vec<ShareDecryptionKey>, ShareReceivers) {
    let secrets = secrets(weights.len());
    let members: Vec<_> = secrets.iter().map(ShareDecryptionKey::encryption_key).zip(weights.iter().copied()).collect();
    let n = weights.iter().sum::<u32>() as usize;
    let committee = Committee::new(t, n, identifiers, Backend::auto()).expect("a committee");
    (secrets, ShareReceivers::new(committee, &members).expect("receivers"))
}

fn a_key_is_made_in<S: Bls12381Suite>(suite: S, t: usize, weights: &[u32], identifiers: Identifiers) {
    let (mut rng, options) = (rng(), Options::default());
    let (secrets, receivers) = receivers(t, weights, identifiers);
    let published: Vec<_> = (1..=3)
        .map(|dealer| {
            let polynomial = polynomial(t, &mut rng);
            let statement = ShareStatement { ceremony: [9; 32], dealer };
            (dealer, publish(suite, &receivers, &statement, &polynomial, &options, &mut rng).expect("not zero"))
        })
        .collect();
    let numbered: Vec<_> = published.iter().map(|(dealer, transcript)| (*dealer, transcript)).collect();
    let verified = verify_all(suite, &receivers, [9; 32], &numbered, &options, &mut rng);
    let verified: Vec<_> = verified.into_iter().map(|transcript| transcript.expect("it is true")).collect();
    let contributions = Contributions::to_new_key(&verified, &options).expect("a key");
    let shares: Vec<KeyShare<S>> = secrets
        .iter()
        .enumerate()
        .flat_map(|(member, secret)| {
            contributions.decrypt(secret, &receivers, member, &options, &mut rng).expect("its shares")
        })
        .collect();
    assert_eq!(shares.len(), receivers.committee().participants());
    contributions.commitment().proves_all(receivers.committee(), &shares, &options, &mut rng).expect("all are true");
}

#[test]
fn a_key_is_made_in_both_variants_with_and_without_weights() {
    a_key_is_made_in(MinPk::Eth2, 2, &[1, 1, 1], Identifiers::Integers);
    a_key_is_made_in(MinSig::Basic, 3, &[1, 1, 1, 1, 1], Identifiers::RootsOfUnity);
    a_key_is_made_in(MinPk::Eth2, 4, &[3, 1, 0, 2], Identifiers::RootsOfUnity);
    a_key_is_made_in(MinPk::Eth2, 1, &[1], Identifiers::Integers);
}

#[test]
#[ignore = "figures"]
fn figures() {
    use std::time::Instant;
    let n = std::env::var("N").map_or(1024, |n| n.parse().unwrap());
    let t = n / 2 + 1;
    let (mut rng, options) = (rng(), Options::default());
    let (secrets, receivers) = {
        let secrets: Vec<_> = (0..n)
            .map(|i| ShareDecryptionKey::derive(&[(i % 256) as u8, (i / 256) as u8].repeat(16).try_into().unwrap()))
            .collect();
        let members: Vec<_> = secrets.iter().map(|s| (s.encryption_key(), 1)).collect();
        let committee = Committee::new(t, n, Identifiers::RootsOfUnity, Backend::auto()).unwrap();
        (secrets, ShareReceivers::new(committee, &members).unwrap())
    };
    let polynomial = polynomial(t, &mut rng);
    let statement = ShareStatement { ceremony: [9; 32], dealer: 1 };
    let begin = Instant::now();
    let published = publish(MinPk::Eth2, &receivers, &statement, &polynomial, &options, &mut rng).unwrap();
    println!("deal {:?}, {} bytes, {} a member", begin.elapsed(), published.0.len(), published.0.len() / n);
    let one = Options { threads: std::num::NonZeroUsize::MIN, ..options.clone() };
    for _ in 0..5 {
        let begin = Instant::now();
        published.verify(MinPk::Eth2, &receivers, &statement, &one, &mut rng).unwrap();
        println!("verify {:?}", begin.elapsed());
    }
    let begin = Instant::now();
    let many = vec![(1, &published); 32];
    let verified = verify_all(MinPk::Eth2, &receivers, [9; 32], &many, &options, &mut rng);
    println!("verify 32: {:?}, each", begin.elapsed() / 32);
    let verified: Vec<_> = verified.into_iter().map(Result::unwrap).collect();
    let begin = Instant::now();
    let contributions = Contributions::to_new_key(&verified, &options).unwrap();
    println!("sum {:?}", begin.elapsed());
    for options in [&one, &options] {
        let begin = Instant::now();
        contributions.decrypt(&secrets[3], &receivers, 3, options, &mut rng).unwrap();
        println!("decrypt {:?}", begin.elapsed());
    }
}
