//! A key in one round among n members, of whom t = n/2 + 1 sign: `one-round-deal` makes a transcript, `one-round-verify` verifies one,
//! `one-round-verify-together` many, each counted, and `one-round-decrypt` is a member's share out of the sum of as many.

use quorate::{Backend, MinPk, Options};
use quorate_curve::{SecretPolynomial, SecretScalar};
use quorate_threshold::{
    Committee, Identifiers,
    one_round::{
        Contributions, ShareDecryptionKey, ShareReceivers, ShareStatement, ShareTranscript, UncheckedShareTranscript,
        publish, verify_all,
    },
};

use crate::{
    data::{self, options},
    measure::{Engine, Run, measure},
    row::Row,
};

/// How many transcripts are verified together, and summed.
const TOGETHER: usize = 16;

const SUITE: MinPk = MinPk::Basic;
const STATEMENT: ShareStatement = ShareStatement { ceremony: [7; 32], dealer: 1 };

pub(super) fn run(run: &Run) -> Vec<Row> {
    run.choose(&[16, 64][..], &[16, 64, 256, 1024]).iter().flat_map(|n| of(run, *n)).collect()
}

fn of(run: &Run, n: usize) -> Vec<Row> {
    let Dealt { secrets, receivers, polynomial, transcript } = &Dealt::new(n);
    let rounds = run.choose(1, if n > 256 { 3 } else { 9 });
    let note = format!("{} bytes", transcript.0.len());

    // Dealing is constant-time code of blst on every backend, so one stands for all.
    let deal = [1, 2].map(|threads| {
        Engine::of(run.backends[0], threads, move || {
            let options = options(run.backends[0], threads);
            let dealt = publish(SUITE, receivers, &STATEMENT, polynomial, &options, &mut data::rng());
            assert_eq!(dealt.expect("no share is zero"), *transcript);
        })
        .note(&note)
    });
    let mut rows = measure("one-round-deal", n, "deal", 1, rounds, deal.into());

    let verify = run.each(&[1, 2]).map(|(backend, threads)| {
        Engine::of(backend, threads, move || {
            transcript
                .verify(SUITE, receivers, &STATEMENT, &options(backend, threads), &mut data::rng())
                .expect("a true transcript");
        })
        .note(&note)
    });
    rows.extend(measure("one-round-verify", n, "deal", 1, rounds, verify.collect()));

    let many = &[(STATEMENT.dealer, transcript); TOGETHER];
    let verified = |options: &Options| -> Vec<ShareTranscript<MinPk>> {
        let verified = verify_all(SUITE, receivers, STATEMENT.ceremony, many, options, &mut data::rng());
        verified.into_iter().map(|transcript| transcript.expect("a true transcript")).collect()
    };
    let together = run.each(&[1, 2]).map(|(backend, threads)| {
        Engine::of(backend, threads, move || assert_eq!(verified(&options(backend, threads)).len(), TOGETHER))
            .note(format!("{TOGETHER} transcripts of {note}"))
    });
    rows.extend(measure("one-round-verify-together", n, "deal", TOGETHER, rounds, together.collect()));

    let summed = verified(&Options::default());
    let contributions = &Contributions::to_new_key(&summed, &Options::default()).expect("a key");
    let place = n - 1;
    let (committee, index) = (receivers.committee(), receivers.shares_of(place).next().expect("a share"));
    let expected = contributions.commitment().verification_key(committee, index, Backend::auto()).expect("a key");
    let decrypt = run.each(&[1, 2]).map(|(backend, threads)| {
        Engine::of(backend, threads, move || {
            let options = options(backend, threads);
            let shares = contributions.decrypt(&secrets[place], receivers, place, &options, &mut data::rng());
            assert_eq!(shares.expect("a share")[0].verification_key(), expected);
        })
        .note(format!("out of the sum of {TOGETHER} transcripts"))
    });
    rows.extend(measure("one-round-decrypt", n, "share", 1, rounds, decrypt.collect()));
    rows
}

/// A transcript of a random polynomial, and to whom it deals.
struct Dealt {
    secrets: Vec<ShareDecryptionKey>,
    receivers: ShareReceivers,
    polynomial: SecretPolynomial,
    transcript: UncheckedShareTranscript,
}

impl Dealt {
    fn new(n: usize) -> Self {
        let material = |i: usize| {
            let mut material = [0; 32];
            material[24..].copy_from_slice(&(i as u64).to_be_bytes());
            material
        };
        let secrets: Vec<_> = (0..n).map(|i| ShareDecryptionKey::derive(&material(i))).collect();
        let members: Vec<_> = secrets.iter().map(|secret| (secret.encryption_key(), 1)).collect();
        let t = n / 2 + 1;
        let committee = Committee::new(t, n, Identifiers::RootsOfUnity, Backend::auto()).expect("a committee");
        let receivers = ShareReceivers::new(committee, &members).expect("n shares");
        let coefficient = |i| SecretScalar::key_gen(&material(i), b"coefficient").expect("32 bytes are enough");
        let polynomial = SecretPolynomial::new((0..t).map(coefficient).collect());
        let dealt = publish(SUITE, &receivers, &STATEMENT, &polynomial, &Options::default(), &mut data::rng());
        Self { secrets, receivers, transcript: dealt.expect("no share is zero"), polynomial }
    }
}
