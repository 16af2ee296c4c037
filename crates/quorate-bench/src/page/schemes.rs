//! Source 002: hashes and signature schemes.

use maud::{Markup, html};

use super::{
    figure::{Better, Cell, Down, Family, Figure, Line, Place, Shape},
    source::{Claim, Source, Verdict},
    spread::Spread,
    words::{Unit, factor, time},
};
use crate::{
    compare::{
        self,
        model::{MEASURED, Scheme},
        said::Said,
    },
    row::{Row, Times, whole},
    shown::Rows,
};

/// Bytes of a message: the source's 14 sizes, and a smaller one.
const SIZES: [usize; 15] =
    [64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536, 131_072, 262_144, 524_288, 1_048_576];
/// The sizes that the source shows in microseconds a message.
const MESSAGES: [usize; 3] = [512, 1024, 2048];

const HASHES: [(&str, &str); 11] = [
    ("md5", "MD5"),
    ("sha-1", "SHA-1"),
    ("sha-256", "SHA-256"),
    ("sha-512", "SHA-512"),
    ("sha3-256", "SHA3-256"),
    ("shake-128", "SHAKE128"),
    ("shake-256", "SHAKE256"),
    ("keccak-256", "Keccak-256"),
    ("blake2b", "BLAKE2b"),
    ("blake2s", "BLAKE2s"),
    ("blake3", "BLAKE3"),
];

const SINGLES: [(&str, &str); 9] = [
    ("ecdsa/libsecp256k1", "ECDSA, libsecp256k1"),
    ("bip340/libsecp256k1", "Schnorr BIP-340, libsecp256k1"),
    ("ed25519/dalek", "Ed25519, dalek"),
    ("ed25519/aws-lc", "Ed25519, AWS-LC"),
    ("ed25519-batch-32/dalek", "Ed25519, 32 at once, dalek"),
    ("bls-min-pk/blst", "BLS, keys in G1, blst"),
    ("bls-min-sig/blst", "BLS, keys in G2, blst"),
    ("bls-min-pk/quorate", "BLS, keys in G1, quorate"),
    ("bls-min-sig/quorate", "BLS, keys in G2, quorate"),
];

const BAD: [usize; 6] = [0, 1, 2, 3, 5, 10];

pub(crate) fn source(rows: &Rows, schemes: &[Scheme]) -> Source {
    Source {
        number: "002",
        title: "Hashes and signature schemes",
        by: "“Benchmarking Hash and Signature Algorithms”, P. Wang, C. Hua, M. Zochowski, Logos, March 2019; AWS t2.2xlarge, \
             Xeon E5-2686 v4 at 2.3 GHz, OpenSSL 1.1.1",
        about: "Its figures are images that are lost, so its numbers are not known, and no column shows them. Its parameters \
                are: hashes and signatures of messages of 128 bytes to 1 MiB, multi-signatures of 32 delegates over 512 bytes. \
                They are measured here anew.",
        files: &["schemes"],
        figures: vec![
            hash_bytes(rows),
            hash_messages(rows),
            single_bytes(rows, "sign-bytes", "single/sign", "Signing, per byte"),
            single_bytes(rows, "verify-bytes", "single/verify", "Verifying, per byte"),
            single_messages(rows, "sign-messages", "single/sign", "Signing a message"),
            single_messages(rows, "verify-messages", "single/verify", "Verifying a message"),
            steps(rows, schemes),
            find_bad(rows, schemes),
            rounds(rows, schemes),
            coefficients(rows),
        ],
        tables: traffic(rows, schemes),
        claims: claims(rows, schemes),
    }
}

fn of(rows: &Rows, bench: &str, engine: &str, n: usize) -> Option<Times> {
    rows.each("schemes", bench, engine, n, 1)
}

/// The libraries that a hash was measured with, in the order of the rows.
fn libraries<'a>(rows: &'a Rows, bench: &str) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for row in rows.of("schemes").iter().filter(|row| row.bench == bench) {
        if !names.contains(&&row.engine[..]) {
            names.push(&row.engine);
        }
    }
    names
}

/// A line for each hash and library, the fastest first by their time at 1,024 bytes, as the source sorts its table.
fn hashes<const N: usize>(rows: &Rows, sizes: [usize; N], of_size: impl Fn(Times, usize) -> Times) -> Vec<Line> {
    let mut lines = Vec::new();
    for (hash, label) in HASHES {
        let bench = format!("hash/{hash}");
        for library in libraries(rows, &bench) {
            let cells = sizes.map(|n| of(rows, &bench, library, n).map(|us| of_size(us, n)));
            let at_1024 = of(rows, &bench, library, 1024).map_or(f64::INFINITY, |us| us.median);
            lines.push((at_1024, Line::new(format!("{label}, {library}"), Family::Peer, cells)));
        }
    }
    lines.sort_by(|a, b| a.0.total_cmp(&b.0));
    lines.into_iter().map(|(_, line)| line).collect()
}

fn hash_bytes(rows: &Rows) -> Figure {
    Figure {
        id: "hash-bytes",
        title: "Hashing, per byte",
        text: html! { p {
            "Sorted by 1,024 bytes, as in the source. MD5 and SHA-1 are broken and stand here for reference, as they do there."
        } },
        unit: Unit::NanosecondsPerByte,
        better: Better::Less,
        shape: Shape::Lines,
        down: Down::Lines,
        across: "bytes of the message",
        places: Place::numbers(SIZES),
        lines: hashes(rows, SIZES, |us, n| us.times(1e3 / n as f64)),
        ratios: vec![],
    }
    .against(&["BLAKE2b, blake2"], &["SHA-256, sha2"])
}

fn hash_messages(rows: &Rows) -> Figure {
    Figure {
        id: "hash-messages",
        title: "Hashing a message",
        text: html! { p { "The sizes that the source shows per message." } },
        unit: Unit::Time,
        better: Better::Less,
        shape: Shape::Dots,
        down: Down::Lines,
        across: "bytes of the message",
        places: Place::numbers(MESSAGES),
        lines: hashes(rows, MESSAGES, |us, _| us),
        ratios: vec![],
    }
    .against(&["BLAKE2b, blake2"], &["SHA-256, sha2"])
}

/// The source shows the cost of BLAKE2b in each figure of signatures.
fn reference<const N: usize>(rows: &Rows, sizes: [usize; N], of_size: impl Fn(Times, usize) -> Times) -> Line {
    let cells = sizes.map(|n| of(rows, "hash/blake2b", "blake2", n).map(|us| of_size(us, n)));
    Line::new("BLAKE2b alone, for reference", Family::Peer, cells)
}

fn singles<const N: usize>(
    rows: &Rows,
    bench: &str,
    sizes: [usize; N],
    of_size: impl Fn(Times, usize) -> Times + Copy,
) -> Vec<Line> {
    let engines = SINGLES.into_iter().filter(|(engine, _)| bench == "single/verify" || !engine.contains("batch"));
    let line = |(engine, label): (&str, &str)| {
        Line::new(label, Family::of(engine), sizes.map(|n| of(rows, bench, engine, n).map(|us| of_size(us, n))))
    };
    engines.map(line).chain([reference(rows, sizes, of_size)]).collect()
}

const BLS: [&str; 2] = ["BLS, keys in G1, blst", "Ed25519, dalek"];

fn single_bytes(rows: &Rows, id: &'static str, bench: &str, title: &'static str) -> Figure {
    Figure {
        id,
        title,
        text: html! { p { "A fixed cost of the signature, and the hash, which grows with the message." } },
        unit: Unit::NanosecondsPerByte,
        better: Better::Less,
        shape: Shape::Lines,
        down: Down::Lines,
        across: "bytes of the message",
        places: Place::numbers(SIZES),
        lines: singles(rows, bench, SIZES, |us, n| us.times(1e3 / n as f64)),
        ratios: vec![],
    }
    .against(&BLS, &["BLS, keys in G1, quorate"])
}

fn single_messages(rows: &Rows, id: &'static str, bench: &'static str, title: &'static str) -> Figure {
    let mut lines = singles(rows, bench, MESSAGES, |us, _| us);
    let mut places = Place::numbers(MESSAGES);
    if bench == "single/verify" {
        places.push(Place { label: "512, from bytes".into(), at: 3.0 });
        for line in &mut lines {
            let engine = SINGLES.iter().find(|(_, label)| *label == line.label).map(|(engine, _)| *engine);
            line.cells.push(match engine {
                Some(engine) if engine.contains("batch") => Cell::None("–"),
                Some(engine) => of(rows, "single/verify-from-bytes", engine, 512).into(),
                None => Cell::None("–"),
            });
        }
    }
    Figure {
        id,
        title,
        text: html! { p {
            "Keys are decoded beforehand"
            @if bench == "single/verify" { ", but in the last group, where keys and signatures are bytes" }
            "."
        } },
        unit: Unit::Time,
        better: Better::Less,
        shape: Shape::Dots,
        down: Down::Lines,
        across: "bytes of the message",
        places,
        lines,
        ratios: vec![],
    }
    .against(&BLS, &["BLS, keys in G1, quorate"])
}

/// What the figures of 32 delegates compare.
const PAIRS: ([&str; 2], [&str; 1]) = (["BLS PoP, G1, by blst", "MuSig2"], ["BLS PoP, keys in G1"]);

fn of_delegates(rows: &Rows, schemes: &[Scheme], benches: &[String]) -> Vec<Line> {
    let line = |scheme: &Scheme| {
        // A scheme that has no such step has no row, while others have.
        let has = |bench: &str| rows.of("schemes").iter().any(|row| row.bench == bench);
        let cell = |bench: &String| match of(rows, bench, &scheme.engine, MEASURED) {
            None if has(bench) => Cell::None("no such step"),
            times => times.into(),
        };
        Line::new(&scheme.name[..], Family::of(&scheme.engine), benches.iter().map(cell))
    };
    schemes.iter().map(line).collect()
}

fn steps(rows: &Rows, schemes: &[Scheme]) -> Figure {
    let benches = ["aggregate-keys", "sign", "aggregate", "verify", "find-bad=1"].map(|step| format!("multi/{step}"));
    Figure {
        id: "multi",
        title: "The steps of a multi-signature of 32 delegates",
        text: html! { p {
            "A message of 512 bytes. “Sign” is what one delegate does in all rounds; the other steps are over all shares. “Find a bad "
            "one” is the source’s response verify with one corrupted share. FROST’s figures are for 22 of 32."
        } },
        unit: Unit::Time,
        better: Better::Less,
        shape: Shape::Dots,
        down: Down::Lines,
        across: "scheme",
        places: Place::named(&["aggregate keys", "sign", "aggregate", "verify", "find a bad one"]),
        lines: of_delegates(rows, schemes, &benches),
        ratios: vec![],
    }
    .against(&PAIRS.0, &PAIRS.1)
}

fn find_bad(rows: &Rows, schemes: &[Scheme]) -> Figure {
    Figure {
        id: "find-bad",
        title: "Finding the corrupted shares among 32",
        text: html! { p { "The sum of all shares is verified first, so with none corrupted nothing is searched." } },
        unit: Unit::Time,
        better: Better::Less,
        shape: Shape::LinesFromZero,
        down: Down::Lines,
        across: "corrupted shares",
        places: Place::numbers(BAD),
        lines: of_delegates(rows, schemes, &BAD.map(|k| format!("multi/find-bad={k}"))),
        ratios: vec![],
    }
    .against(&PAIRS.0, &PAIRS.1)
}

fn rounds(rows: &Rows, schemes: &[Scheme]) -> Figure {
    let benches = ["A/delegate", "A/primary", "B/delegate", "B/primary"].map(|party| format!("round/{party}"));
    Figure {
        id: "rounds",
        title: "A whole round: the time that a delegate and the primary compute",
        text: html! { p {
            "Protocols are run, bytes and all. Case A: all 32 delegates are good. Case B: 10 are corrupted. MuSig2 and FROST then begin "
            "again; BLS drops the bad shares."
        } },
        unit: Unit::Time,
        better: Better::Less,
        shape: Shape::Dots,
        down: Down::Lines,
        across: "scheme",
        places: Place::named(&["A, delegate", "A, primary", "B, delegate", "B, primary"]),
        lines: of_delegates(rows, schemes, &benches),
        ratios: vec![],
    }
    .against(&PAIRS.0, &PAIRS.1)
}

/// BDN's coefficients for many keys.
fn coefficients(rows: &Rows) -> Figure {
    let line = |label: &str, backend: &str| {
        let cell = |engine: &str| {
            let is = |row: &&Row| {
                row.bench == "multi/aggregate-keys"
                    && row.engine == engine
                    && row.n == 1024
                    && row.note.contains(backend)
            };
            rows.of("schemes").iter().find(is).map(Row::times)
        };
        Line::new(label, Family::Quorate, ["bls-bdn-min-pk/quorate", "bls-bdn-min-sig/quorate"].map(cell))
    };
    Figure {
        id: "bdn-keys",
        title: "Summing 1,024 keys with coefficients, for each key",
        text: html! { p { "With BDN’s coefficients no proof of possession is needed, and the sum of keys costs more." } },
        unit: Unit::Time,
        better: Better::Less,
        shape: Shape::Dots,
        down: Down::Places,
        across: "keys",
        places: Place::named(&["in G1", "in G2"]),
        lines: vec![line("quorate portable", "portable"), line("quorate IFMA", "ifma")],
        ratios: vec![],
    }
    .against(&["quorate portable"], &["quorate IFMA"])
}

/// What was sent in the runs of the protocols.
fn traffic(rows: &Rows, schemes: &[Scheme]) -> Markup {
    let cells = |case: &str, scheme: &Scheme| {
        let row = rows.row("schemes", &format!("round/{case}/primary"), &scheme.engine, MEASURED, 1);
        let traffic = row.and_then(|row| row.traffic);
        html! { @match traffic {
            Some(traffic) => {
                @for number in [traffic.rounds, traffic.restarts, traffic.delegate_bytes, traffic.primary_bytes, traffic.result_bytes] {
                    td { (whole(number as f64)) }
                }
            }
            None => td.missing colspan="5" { "not measured" },
        } }
    };
    html! {
        h3 id="traffic" { "What is sent in a round" }
        p {
            "Bytes that one delegate sends, that the primary sends to each delegate beyond the message, and of the result with a bitmap of "
            "the signers where the verifier needs one. Restarts are those that the run needed."
        }
        @for (case, what) in [("A", "Case A: all good"), ("B", "Case B: 10 of 32 corrupted")] {
            div.scroll tabindex="0" role="region" aria-label={ "Table: " (what) } {
                table {
                    caption { (what) }
                    thead { tr {
                        @for head in ["scheme", "rounds", "restarts", "from a delegate", "to a delegate", "result"] {
                            th scope="col" { (head) }
                        }
                    } }
                    tbody { @for scheme in schemes { tr {
                        th scope="row" class=(Family::of(&scheme.engine).name()) { (scheme.name) }
                        (cells(case, scheme))
                    } } }
                }
            }
        }
        h3 { "Sizes in bytes" }
        div.scroll tabindex="0" role="region" aria-label="Table: sizes in bytes" {
            table {
                thead { tr {
                    @for head in ["scheme", "public key", "signature", "22 of 32 signers, as stored"] { th scope="col" { (head) } }
                } }
                tbody { @for (scheme, key, signature, stored) in SIZES_OF_SCHEMES { tr {
                    th scope="row" { (scheme) }
                    @for size in [key, signature, stored] { td { (whole(size as f64)) } }
                } } }
            }
        }
    }
}

/// Bytes of a key, of a signature, and of what 22 of 32 signers leave behind with a bitmap where there must be one.
const SIZES_OF_SCHEMES: [(&str, usize, usize, usize); 5] = [
    ("Ed25519, side by side", 32, 64, 22 * 64 + 4),
    ("MuSig2, of a session of 22", 32, 64, 64 + 4),
    ("FROST, 22 of 32", 32, 64, 64),
    ("BLS, keys in G2 (min-sig)", 96, 48, 48 + 4),
    ("BLS, keys in G1 (min-pk)", 48, 96, 96 + 4),
];

fn claims(rows: &Rows, schemes: &[Scheme]) -> Vec<Claim> {
    let hash = |hash: &str, library: &str| Some(of(rows, &format!("hash/{hash}"), library, 1024)?.median);
    let step = |engine: &str, step: &str| Some(of(rows, &format!("multi/{step}"), engine, MEASURED)?.median);
    let single = |engine: &str| {
        let [sign, verify] = ["single/sign", "single/verify"].map(|bench| of(rows, bench, engine, 512));
        Some(sign?.median + verify?.median)
    };
    let eddsa = ["ed25519/dalek", "ed25519/aws-lc"].into_iter().filter_map(single).reduce(f64::min);
    let others = SINGLES.into_iter().filter(|(engine, _)| !engine.starts_with("ed25519"));
    let other = others.filter_map(|(engine, name)| Some((name, single(engine)?))).min_by(|a, b| a.1.total_cmp(&b.1));
    let (pop, bdn, distinct) = ("bls-pop-min-sig/quorate", "bls-bdn-min-sig/quorate", "bls-distinct-min-sig/quorate");
    vec![
        Claim::measured(
            "BLAKE2b is even faster than SHA-256 and SHA-512, so it was chosen.",
            hash("blake2b", "blake2").zip(hash("sha-256", "sha2")).map(|(blake, sha)| {
                let text = format!(
                    "At 1,024 bytes BLAKE2b takes {}, SHA-256 {}. A CPU with SHA instructions (SHA-NI) turns the order round.",
                    time(blake),
                    time(sha)
                );
                (blake < sha, text)
            }),
        ),
        Claim::measured(
            "A byte costs less in longer messages up to 3 KB, and then always the same.",
            (|| {
                let byte = |hash: &str, library: &str, n: usize| {
                    Some(of(rows, &format!("hash/{hash}"), library, n)?.median * 1e3 / n as f64)
                };
                let (short, long) = (byte("blake3", "blake3", 4096)?, byte("blake3", "blake3", 1 << 20)?);
                let (sha_short, sha_long) = (byte("sha-256", "sha2", 4096)?, byte("sha-256", "sha2", 1 << 20)?);
                let written = |value| Unit::NanosecondsPerByte.written(value);
                let text = format!(
                    "From 4 KiB to 1 MiB SHA-256 goes from {} to {} a byte. BLAKE3, which is younger and hashes the parts of a \
                     long message side by side, goes from {} to {}.",
                    written(sha_short),
                    written(sha_long),
                    written(short),
                    written(long)
                );
                let same = Said::within(0.8, 1.25);
                Some((same.holds(long / short) && same.holds(sha_long / sha_short), text))
            })(),
        ),
        Claim::measured(
            "Messages of 512 bytes, 1 KB and 2 KB take about as long to sign or to verify.",
            (|| {
                let verify = |n| Some(of(rows, "single/verify", "ecdsa/libsecp256k1", n)?.median);
                let (short, long) = (verify(512)?, verify(2048)?);
                let text = format!("ECDSA verifies 512 bytes in {}, 2 KB in {}.", time(short), time(long));
                Some((Said::within(0.8, 1.25).holds(long / short), text))
            })(),
        ),
        Claim::measured(
            "A delegate takes a bit longer to sign with Schnorr, in two rounds, than with BLS.",
            step("musig2/libsecp256k1", "sign").zip(step(pop, "sign")).map(|(schnorr, bls)| {
                let text = format!("MuSig2 {}, BLS with keys in G2 {}.", time(schnorr), time(bls));
                // A bit: not more than twice as long.
                (Said::within(1.0, 2.0).holds(schnorr / bls), text)
            }),
        ),
        Claim::measured(
            "EdDSA is very fast, the most efficient of the single signatures.",
            eddsa.zip(other).map(|(eddsa, (name, other))| {
                let text = format!(
                    "Signing and verifying 512 bytes: Ed25519 {} by the faster library. The fastest of the others is {name} with {}.",
                    time(eddsa),
                    time(other)
                );
                (eddsa < other, text)
            }),
        ),
        Claim::measured(
            "Aggregating public keys costs little.",
            (|| {
                let (plain, weighed) = (step(pop, "aggregate-keys")?, step(bdn, "aggregate-keys")?);
                let verified = step(bdn, "verify")?;
                let text = format!(
                    "32 keys: {} with proofs of possession, {} with BDN’s coefficients. To verify the signature takes {}.",
                    time(plain),
                    time(weighed),
                    time(verified)
                );
                // Little: a tenth of what comes next.
                let little = Said::at_most(0.1);
                Some((little.holds(plain / verified) && little.holds(weighed / verified), text))
            })(),
        ),
        Claim::measured(
            "Verifying an aggregate over different messages costs very much.",
            step(distinct, "verify").zip(step(pop, "verify")).map(|(distinct, same)| {
                let text = format!("{} against {} for one message: {}.", time(distinct), time(same), factor(distinct / same));
                (Said::at_least(3.0).holds(distinct / same), text)
            }),
        ),
        Claim::measured(
            "Aggregating signatures of one message costs much more than of different messages.",
            step(bdn, "aggregate").zip(step(distinct, "aggregate")).map(|(bdn, plain)| {
                (Said::at_least(2.0).holds(bdn / plain), format!("With coefficients (BDN) {}, without {}.", time(bdn), time(plain)))
            }),
        ),
        Claim::measured(
            "Whatever the scheme, finding the corrupted responses costs very much.",
            (|| {
                // How many times as long as with none corrupted.
                let of = |engine| {
                    let us = step(engine, "find-bad=1")?;
                    Some((us, us / step(engine, "find-bad=0")?))
                };
                let engines = ["bls-pop-min-pk/quorate", "bls-pop-min-pk/blst", "musig2/libsecp256k1"];
                let [ours, blst, musig] = engines.map(of);
                let all = [ours?, blst?, musig?];
                let [ours, blst, musig] = all.map(|(us, times)| format!("{}, {} as long as with none", time(us), factor(times)));
                let text = format!("One bad of 32: quorate {ours}; blst {blst}; MuSig2 {musig}, and a new session.");
                // Whatever the scheme: each of them. Very much: three times.
                Some((all.iter().all(|(_, times)| Said::at_least(3.0).holds(*times)), text))
            })(),
        ),
        Claim::measured(
            "Schnorr outperforms BLS in CPU time, but BLS is within an order of magnitude.",
            (|| {
                let cpu = |engine: &str| {
                    let [delegate, primary] =
                        ["round/A/delegate", "round/A/primary"].map(|bench| of(rows, bench, engine, MEASURED));
                    Some(delegate?.median + primary?.median)
                };
                let (schnorr, bls) = (cpu("musig2/libsecp256k1")?, cpu(pop)?);
                let text = format!("Delegate and primary together: MuSig2 {}, BLS {}.", time(schnorr), time(bls));
                Some((schnorr < bls && bls < 10.0 * schnorr, text))
            })(),
        ),
        Claim::measured(
            "Schnorr needs one more round of messages than BLS: at 200 ms latency it takes 200,000 µs longer.",
            compare::Claim::new(schemes, rows.of("schemes"), &super::comparison::FIRST).map(|claim| {
                let text = format!(
                    "MuSig2 and FROST need two rounds, BLS one. MuSig2 takes {} longer, of which {} are a further round.",
                    time(claim.more_us),
                    time(claim.network_us)
                );
                (claim.holds, text)
            }),
        ),
        Claim::new(
            "A BLS signature has 32 bytes, half of Schnorr’s 64, for 128-bit security.",
            Verdict::NoLonger,
            "48 bytes with keys in G2, 96 with keys in G1 (BLS12-381). 32 bytes are a point of BN254, which is now thought to give about \
             100 bits.",
        ),
        Claim::new(
            "Different messages are not secure when two could be equal; one message needs a key aggregation of its own.",
            Verdict::Holds,
            "The suites of today (IETF draft) name three ways: different messages, the key in front of each message, or a proof of \
             possession. BDN’s coefficients are a fourth. The source’s Schnorr adds keys plainly, so it is open to rogue keys; \
             MuSig2 is not.",
        ),
    ]
}
