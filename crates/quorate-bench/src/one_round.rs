//! A key in one round, of which a third of the members are dealers and t = n/2 + 1 of n shares sign. `deal` makes a transcript, `verify`
//! verifies one, `verify-all` those of all dealers together, and `decrypt` makes a member's shares out of their sum. In `weighted-…`
//! members have different numbers of shares.

use quorate::{Backend, MinPk, Options};
use quorate_curve::{SecretPolynomial, SecretScalar};
use quorate_threshold::{
    Committee, Identifiers,
    one_round::{
        Contributions, ShareDecryptionKey, ShareReceivers, ShareStatement, ShareTranscript, ShareTranscriptError,
        UncheckedShareTranscript, publish, verify_all,
    },
};

use crate::{
    block::published,
    data::{self, options},
    measure::{Engine, Run, measure},
    row::{Row, whole},
};

/// What the names of the rows begin with: of members with one share each, and of those with different numbers of shares.
pub(crate) const EQUAL: &str = "one-round/";
pub(crate) const WEIGHTED: &str = "one-round/weighted-";

const SUITE: MinPk = MinPk::Basic;
const STATEMENT: ShareStatement = ShareStatement { ceremony: [7; 32], dealer: 1 };

pub(crate) fn run(run: &Run) -> Vec<Row> {
    let mut rows = Vec::new();
    for n in run.choose(&[16, 64][..], &[16, 64, 256, 1024]) {
        rows.extend(of(run, EQUAL, &vec![1; *n]));
        rows.extend(as_published(*n));
    }
    let parts = run.choose(1, 16);
    let weights = [(parts, 16), (3 * parts, 8), (12 * parts, 2)].map(|(members, weight)| vec![weight; members]);
    rows.extend(of(run, WEIGHTED, &weights.concat()));
    rows
}

/// The rows of members with these numbers of shares.
fn of(run: &Run, kind: &str, weights: &[u32]) -> Vec<Row> {
    let Dealt { secrets, receivers, polynomial, transcript } = &Dealt::new(weights);
    let (n, dealers) = (receivers.committee().participants(), weights.len() / 3);
    let rounds = run.choose(1, if n > 256 { 3 } else { 9 });
    let bytes = format!("{} bytes", whole(transcript.0.len() as f64));
    let fastest = run.backends[0];
    let bench = |what: &str| format!("{kind}{what}");

    // Dealing is constant-time code of blst on every backend, so one stands for all.
    let deal = [1, 2].map(|threads| {
        Engine::of(fastest, threads, move || {
            let dealt = publish(SUITE, receivers, &STATEMENT, polynomial, &options(fastest, threads), &mut data::rng());
            assert_eq!(dealt.expect("no share is zero"), *transcript);
        })
        .note(&bytes)
    });
    let mut rows = measure(&bench("deal"), n, "transcript", 1, rounds, deal.into());

    let verify = run.each(&[1, 2]).map(|(backend, threads)| {
        Engine::of(backend, threads, move || {
            transcript
                .verify(SUITE, receivers, &STATEMENT, &options(backend, threads), &mut data::rng())
                .expect("a true transcript");
        })
        .note(&bytes)
    });
    rows.extend(measure(&bench("verify"), n, "transcript", 1, rounds, verify.collect()));

    let all = vec![(STATEMENT.dealer, transcript); dealers];
    let mut verified: Vec<Result<ShareTranscript<MinPk>, ShareTranscriptError>> = Vec::new();
    let together = Engine::of(fastest, 2, || {
        let options = options(fastest, 2);
        verified = verify_all(SUITE, receivers, STATEMENT.ceremony, &all, &options, &mut data::rng());
        assert!(verified.len() == dealers && verified.iter().all(Result::is_ok));
    });
    let together = together.note(format!("{dealers} transcripts of {bytes}"));
    // Those of 1,024 members take most of the time of this benchmark.
    let rounds_together = run.choose(1, if n > 256 { 1 } else { 3 });
    rows.extend(measure(&bench("verify-all"), n, "ceremony", 1, rounds_together, vec![together]));

    let summed: Vec<_> = verified.into_iter().flatten().collect();
    let contributions = &Contributions::to_new_key(&summed, &Options::default()).expect("a key");
    // The member with the most shares.
    let place = 0;
    let (committee, index) = (receivers.committee(), receivers.shares_of(place).next().expect("a share"));
    let expected = contributions.commitment().verification_key(committee, index, Backend::auto()).expect("a key");
    let decrypt = [1, 2].map(|threads| {
        Engine::of(fastest, threads, move || {
            let options = options(fastest, threads);
            let shares = contributions.decrypt(&secrets[place], receivers, place, &options, &mut data::rng());
            assert_eq!(shares.expect("its shares")[0].verification_key(), expected);
        })
        .note(format!("shares of the member: {}; out of the sum of {dealers} transcripts", weights[place]))
    });
    rows.extend(measure(&bench("decrypt"), n, "member", 1, rounds, decrypt.into()));
    rows
}

/// What A. Tomescu's slides say of two other schemes whose shares are scalars, with chunks of 32 bits: the shares, the scheme, the bytes
/// of a transcript, and the milliseconds for dealing, verifying and decrypting.
const PUBLISHED: [(usize, &str, &str, [f64; 3]); 4] = [
    (256, "published/chunky", "286 KiB", [472.0, 51.4, 58.89]),
    (256, "published/groth21", "169 KiB", [333.0, 179.0, 7_540.0]),
    (1024, "published/chunky", "1.13 MiB", [1_830.0, 170.0, 58.89]),
    (1024, "published/groth21", "661 KiB", [1_290.0, 680.0, 15_070.0]),
];

fn as_published(n: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    for (_, engine, bytes, times) in PUBLISHED.into_iter().filter(|(of, ..)| *of == n) {
        let note = format!(
            "{bytes}; A. Tomescu, Chunky, Texas Crypto Day, April 2026: BLS12-381 by blstrs, t = 2n/3, one thread of an Apple M4 Max"
        );
        for (what, ms) in ["deal", "verify", "decrypt"].into_iter().zip(times) {
            let row = published(&format!("{EQUAL}{what}"), n, engine, 1e3 * ms, &note);
            let per = if what == "decrypt" { "member" } else { "transcript" };
            rows.push(Row { per: per.into(), ..row });
        }
    }
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
    fn new(weights: &[u32]) -> Self {
        let material = |i: usize| {
            let mut material = [0; 32];
            material[24..].copy_from_slice(&(i as u64).to_be_bytes());
            material
        };
        let secrets: Vec<_> = (0..weights.len()).map(|i| ShareDecryptionKey::derive(&material(i))).collect();
        let keys = secrets.iter().map(ShareDecryptionKey::encryption_key);
        let members: Vec<_> = keys.zip(weights.iter().copied()).collect();
        let n = weights.iter().sum::<u32>() as usize;
        let t = n / 2 + 1;
        let committee = Committee::new(t, n, Identifiers::RootsOfUnity, Backend::auto()).expect("a committee");
        let receivers = ShareReceivers::new(committee, &members).expect("n shares");
        let coefficient = |i| SecretScalar::key_gen(&material(i), b"coefficient").expect("32 bytes are enough");
        let polynomial = SecretPolynomial::new((0..t).map(coefficient).collect());
        let dealt = publish(SUITE, &receivers, &STATEMENT, &polynomial, &Options::default(), &mut data::rng());
        Self { secrets, receivers, transcript: dealt.expect("no share is zero"), polynomial }
    }
}
