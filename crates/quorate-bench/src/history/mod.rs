//! `history/*`: eras of Ethereum to claims, claims to verdicts, and runs over shards.

mod era;
mod memory;
mod shards;

use std::{
    borrow::Cow, collections::HashMap, fs::File, io::Cursor, ops::ControlFlow, sync::mpsc::sync_channel, thread,
};

use anyhow::{Context, Result};
use blst::{BLST_ERROR, min_pk};
use quorate::{ClaimBytes, Messages, Verifier};
use quorate_formats::parquet::{ChainRow, ChainRows, ParquetRows};
use quorate_history::{ChainClaim, EraFile, Eras};

use self::{
    era::{EraFiles, KEYS},
    memory::{forget_peak, resident},
};
use crate::{
    batch::TAG,
    data,
    measure::{Engine, Run, measure},
    row::Row,
};

pub(crate) fn run(run: &Run) -> Vec<Row> {
    let mut rows = Vec::new();
    if let Some(files) = EraFiles::of_vectors("deneb").expect("an era that can be read") {
        rows.extend(measured(run, &files, "minimal", "an era of the minimal preset, 128 validators"));
    }
    let made = EraFiles::made(run.choose(2, 64)).expect("an era is made");
    let note = format!("mainnet's sizes: 524,288 validators with {KEYS} keys, committees of 256");
    rows.extend(measured(run, &made, "mainnet", &note));
    rows.extend(shards::workers(run));
    rows.extend(shards::merge(run));
    rows
}

/// The rows of an era.
fn measured(run: &Run, files: &EraFiles, preset: &str, note: &str) -> Vec<Row> {
    let claims = claims_of(files).expect("an era that can be read");
    let (n, keys) = (claims.len(), claims.iter().map(|claim| claim.claim.public_keys.len()).sum::<usize>());
    // What is in memory already, such as the files, is counted before; reading needs the rest.
    forget_peak();
    let before = resident("VmRSS");
    assert_eq!(count(files), (n, keys));
    let memory = resident("VmHWM").zip(before).map(|(peak, before)| peak.saturating_sub(before) >> 10);
    let memory = memory.map_or(String::new(), |mib| format!("; reading held {mib} MiB beside the files"));

    let work = || assert_eq!(count(files), (n, keys));
    let engine = Engine::new("quorate", 1, work).note(format!("{note}{memory}"));
    let rounds = run.choose(1, 5);
    let mut rows = measure(&format!("history/era-claims-{preset}"), n, "claim", n, rounds, vec![engine]);

    let claims_as_bytes = bytes(&claims);
    let expected = verdicts(&Verifier::new(data::options(quorate::Backend::auto(), 2)), &claims_as_bytes);
    let blst = OneByOne::new(&claims);
    let mut engines = vec![
        Engine::new("blst", 1, || assert_eq!(blst.verify(), expected)).note("one by one, keys decoded beforehand"),
    ];
    engines.extend(run.each(&[1, 2]).map(|(backend, threads)| {
        let (claims, expected) = (&claims_as_bytes, &expected);
        Engine::of(backend, threads, move || {
            assert_eq!(&verdicts(&Verifier::new(data::options(backend, threads)), claims), expected);
        })
        .note("from bytes, every key decoded once")
    }));
    rows.extend(measure(&format!("history/era-verify-{preset}"), n, "claim", n, rounds, engines));

    let file = parquet(&claims).expect("a file can be written");
    let engines = run.each(&[2]).flat_map(|(backend, threads)| {
        let (claims, expected, file) = (&claims_as_bytes, &expected, &file);
        let verifier = move || Verifier::new(data::options(backend, threads));
        let alone = move || assert_eq!(&verdicts(&verifier(), claims), expected);
        let read = move || assert_eq!(&verdicts_of_file(&verifier(), file), expected);
        [
            Engine::new(format!("engine/{backend}"), threads, alone)
                .note("the same claims in memory, in the same windows"),
            Engine::of(backend, threads, read).note("read from Parquet beside"),
        ]
    });
    rows.extend(measure(
        &format!("history/parquet-verify-{preset}"),
        n,
        "claim",
        n,
        run.choose(1, 9),
        engines.collect(),
    ));
    rows
}

/// Gives every claim of an era.
fn read(files: &EraFiles, take: impl FnMut(ChainClaim) -> ControlFlow<()>) -> Result<()> {
    let mut eras = Eras::new(files.chain.clone());
    eras.begin_with(&mut EraFile::open(Cursor::new(&files.before[..]))?)?;
    Ok(eras.claims(&mut EraFile::open(Cursor::new(&files.era[..]))?, take)?)
}

fn claims_of(files: &EraFiles) -> Result<Vec<ChainClaim>> {
    let mut claims = Vec::new();
    read(files, |claim| {
        claims.push(claim);
        ControlFlow::Continue(())
    })?;
    Ok(claims)
}

/// How many claims an era has, and keys in them.
fn count(files: &EraFiles) -> (usize, usize) {
    let (mut claims, mut keys) = (0, 0);
    let read = read(files, |claim| {
        claims += 1;
        keys += claim.claim.public_keys.len();
        ControlFlow::Continue(())
    });
    read.expect("an era that can be read");
    (claims, keys)
}

fn bytes(claims: &[ChainClaim]) -> Vec<ClaimBytes> {
    claims.iter().map(|claim| claim.claim.clone()).collect()
}

/// Claims that are verified together, as in the command line.
const WINDOW: usize = 2048;

fn verdicts(verifier: &Verifier, claims: &[ClaimBytes]) -> Vec<bool> {
    claims.chunks(WINDOW).flat_map(|window| verdicts_of(verifier, window)).collect()
}

fn verdicts_of(verifier: &Verifier, window: &[ClaimBytes]) -> Vec<bool> {
    let verdicts = verifier.verify(window, &mut data::rng()).verdicts;
    verdicts.iter().map(|verdict| verdict.is_valid()).collect()
}

/// The claims of a file, which a thread of its own reads, as in the command line.
fn verdicts_of_file(verifier: &Verifier, file: &File) -> Vec<bool> {
    let (to, windows) = sync_channel::<Vec<ClaimBytes>>(1);
    let file = file.try_clone().expect("a file of this process");
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut window = Vec::with_capacity(WINDOW);
            for entry in ParquetRows::open(file).expect("a Parquet file") {
                let record = entry.expect("a whole file").expect("a claim in each row");
                window.push(record.into_claim(None).expect("a suite"));
                if window.len() == WINDOW {
                    let full = std::mem::replace(&mut window, Vec::with_capacity(WINDOW));
                    to.send(full).expect("somebody verifies");
                }
            }
            to.send(window).expect("somebody verifies");
        });
        windows.iter().flat_map(|window| verdicts_of(verifier, &window)).collect()
    })
}

fn parquet(claims: &[ChainClaim]) -> Result<File> {
    let mut rows = ChainRows::new(tempfile::tempfile()?)?;
    for claim in claims {
        let Messages::Shared(message) = &claim.claim.messages else { anyhow::bail!("one message") };
        rows.write(&ChainRow {
            suite: claim.claim.suite.name(),
            public_keys: &claim.claim.public_keys,
            message,
            signature: &claim.claim.signature,
            kind: claim.kind.name(),
            slot: claim.slot,
            index: claim.index,
            reason: None,
        })?;
    }
    rows.finish().context("cannot write claims as Parquet")
}

/// Each claim by itself, by blst.
struct OneByOne {
    claims: Vec<(Vec<min_pk::PublicKey>, Vec<u8>, Vec<u8>)>,
}

impl OneByOne {
    fn new(claims: &[ChainClaim]) -> Self {
        let mut decoded = HashMap::new();
        let claim = |claim: &ChainClaim| {
            let key = |bytes: Cow<'_, [u8]>| {
                let validate = || min_pk::PublicKey::key_validate(&bytes);
                let key = decoded.entry(bytes.to_vec()).or_insert_with(validate);
                key.expect("a key")
            };
            let Messages::Shared(message) = &claim.claim.messages else { panic!("one message") };
            (
                claim.claim.public_keys.encodings().into_iter().map(key).collect(),
                message.to_vec(),
                claim.claim.signature.clone(),
            )
        };
        Self { claims: claims.iter().map(claim).collect() }
    }

    fn verify(&self) -> Vec<bool> {
        let verify = |(keys, message, signature): &(Vec<min_pk::PublicKey>, Vec<u8>, Vec<u8>)| {
            // Nobody with the identity signature is a valid sync aggregate, which blst does not know.
            if keys.is_empty() {
                return signature[0] == 0xc0 && signature[1..].iter().all(|byte| *byte == 0);
            }
            let Ok(signature) = min_pk::Signature::from_bytes(signature) else { return false };
            let keys: Vec<_> = keys.iter().collect();
            signature.fast_aggregate_verify(true, message, TAG, &keys) == BLST_ERROR::BLST_SUCCESS
        };
        self.claims.iter().map(verify).collect()
    }
}
