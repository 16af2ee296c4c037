//! A collector of signature shares, and the reader of commitments. Whatever arrives in whatever order: the signature that
//! comes out is the true one, it comes as soon as t true shares are there, and no true share is called false.

use std::sync::LazyLock;

use arbitrary::Arbitrary;
use quorate::{Backend, MinSig, Options, SecretKey, Signature};
use quorate_threshold::{Collector, Commitment, Committee, Identifiers, KeyShare, deal};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

#[derive(Arbitrary, Debug)]
enum Arrival {
    /// The share of a participant as it is.
    True(u8),
    /// The share of another participant, or of another message.
    Anothers {
        number: u8,
        signer: u8,
        message: bool,
    },
    /// A true share with some bytes changed.
    Changed {
        number: u8,
        place: u8,
        by: u8,
    },
    Bytes(u64, Vec<u8>),
}

struct Dealt {
    committee: Committee,
    shares: Vec<KeyShare<MinSig>>,
    commitment: Commitment<MinSig>,
    /// The shares of two messages.
    signed: [Vec<Signature<MinSig>>; 2],
    signature: Signature<MinSig>,
}

const SUITE: MinSig = MinSig::Basic;
const N: usize = 6;

static DEALT: LazyLock<Vec<Dealt>> = LazyLock::new(|| {
    let of = |(t, identifiers)| {
        let mut rng = ChaCha20Rng::from_seed([3; 32]);
        let committee = Committee::new(t, N, identifiers, Backend::auto()).expect("a committee");
        let secret = SecretKey::generate(SUITE, &mut rng);
        let (shares, commitment) =
            deal(&committee, SUITE, &secret, &Options::default(), &mut rng).expect("shares that are not zero");
        let signed = [b"m", b"n"].map(|message| shares.iter().map(|share| share.sign(SUITE, message)).collect());
        Dealt { committee, shares, commitment, signed, signature: secret.sign(SUITE, b"m") }
    };
    let both = |t| [(t, Identifiers::Integers), (t, Identifiers::RootsOfUnity)];
    (1..=3).flat_map(both).map(of).collect()
});

pub fn run(bytes: &[u8]) {
    let Some(input) = crate::structured::<(u8, Vec<Arrival>)>(bytes) else { return };
    let dealt = &DEALT[usize::from(input.0) % DEALT.len()];
    let mut rng = ChaCha20Rng::from_seed([4; 32]);
    let keys = dealt.shares.iter().map(|share| Some(share.verification_key())).collect();
    let public_key = dealt.commitment.public_key();
    let collector = Collector::new(dealt.committee.clone(), SUITE, public_key, keys, b"m", Options::default());
    let mut collector = collector.expect("a key for each participant");
    let mut true_shares = [false; N];
    for arrival in input.1.into_iter().take(16) {
        let (number, bytes) = match arrival {
            Arrival::True(number) => share(dealt, number, number, false),
            Arrival::Anothers { number, signer, message } => share(dealt, number, signer, message),
            Arrival::Changed { number, place, by } => {
                let (number, mut bytes) = share(dealt, number, number, false);
                let place = usize::from(place) % bytes.len();
                bytes[place] ^= by;
                (number, bytes)
            }
            Arrival::Bytes(number, bytes) => {
                let points: Vec<_> = bytes.chunks(96).collect();
                if let Ok(read) = Commitment::<MinSig>::from_bytes(&dealt.committee, &points, Backend::auto()) {
                    let again: Vec<_> = read.points().iter().flat_map(|point| point.to_bytes()).collect();
                    assert_eq!(again, bytes);
                }
                (number, bytes)
            }
        };
        let is_true =
            (1..=N as u64).contains(&number) && dealt.signed[0][number as usize - 1].to_bytes()[..] == bytes[..];
        let settled = collector.signature().is_some();
        let added = collector.add(number, &bytes, &mut rng);
        if is_true {
            let place = number as usize - 1;
            // A true share is refused only if it is there already, or not needed.
            assert_eq!(added.is_err(), settled || true_shares[place], "{added:?}");
            true_shares[place] = true;
        }
        let enough = true_shares.iter().filter(|is_true| **is_true).count() >= dealt.committee.threshold();
        if enough {
            assert_eq!(collector.signature(), Some(dealt.signature));
        } else if let Some(signature) = collector.signature() {
            // Errors of false shares can cancel. What comes out is the true signature all the same.
            assert_eq!(signature, dealt.signature);
        }
    }
    // However many shares came: one combination that fails, and one that does not.
    assert!(collector.work().combinations <= 2, "{:?}", collector.work());
    assert!(collector.false_shares().len() <= N);
}

fn share(dealt: &Dealt, number: u8, signer: u8, other_message: bool) -> (u64, Vec<u8>) {
    let place = |number: u8| usize::from(number) % N;
    let signed = &dealt.signed[usize::from(other_message)];
    (place(number) as u64 + 1, signed[place(signer)].to_bytes().to_vec())
}
