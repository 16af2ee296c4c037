//! Each target on its seeds, on variations of them, and on random bytes: the same ones each time. libFuzzer, which sees what a target has
//! reached, finds more (`make fuzz`).

use std::{collections::BTreeSet, fs, path::Path, process::Command, sync::LazyLock};

use rand_chacha::{
    ChaCha20Rng,
    rand_core::{Rng, SeedableRng},
};
use tempfile::TempDir;

use crate::ACCEPTED;

macro_rules! targets {
    ($($kind:ident $inputs:literal: $($target:ident)*;)*) => {
        const NAMES: &[&str] = &[$($(stringify!($target)),*),*];
        $($(
            #[test]
            fn $target() {
                $kind(stringify!($target), crate::$target::run, $inputs);
            }
        )*)*
    };
}

// Inputs a target: fewer where one takes milliseconds. All seeds run before them.
targets! {
    reader 500: arrow chain_logs change checkpoint_headers chia combination compression decode_point deposit drand drand_chain era
        evm_follow evm_network evm_point evm_quorum exit grpc_message history_ssz jsonl key_file keystore light_client lines node_bodies
        node_message node_options node_saved parquet server_config server_request shards shared_key signer_record signer_request;
    reader 100: checkpoint key_sets shard_results;
    run 100: c_interface checkpoint_files claims evm_signatures shares verbs;
    run 40: batch_vs_naive dkg one_round;
}

#[test]
fn every_program_is_a_target_here() {
    let programs = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bin")).expect("the programs");
    let programs = programs.map(|entry| entry.expect("a program").path().file_stem().expect("a name").to_owned());
    assert_eq!(programs.collect::<BTreeSet<_>>(), NAMES.iter().map(Into::into).collect());
}

/// A folder of seeds a target, as `make fuzz` has them.
static CORPUS: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds.sh");
    assert!(Command::new("sh").arg(script).arg(folder.path()).status().expect("a shell").success());
    folder
});

/// A seed of megabytes is for the fuzzer, which has time.
const LARGEST_SEED: usize = 64 << 10;

/// These have seeds where the bulk vectors are present, and none else.
const FROM_VECTORS: &[&str] = &["chia", "deposit"];

/// A target that reads bytes as they come has a seed that its reader accepts: variations of nothing get no further than its first check.
fn reader(name: &str, target: fn(&[u8]), inputs: usize) {
    let Tried { seeds, accepted } = run(name, target, inputs);
    assert!(accepted > 0 || seeds == 0 && FROM_VECTORS.contains(&name), "none of its {seeds} seeds is accepted");
}

/// How many seeds a target has, and how many of them a reader of it accepts.
struct Tried {
    seeds: usize,
    accepted: usize,
}

fn run(name: &str, target: fn(&[u8]), inputs: usize) -> Tried {
    let mut seeds = vec![Vec::new()];
    for entry in fs::read_dir(CORPUS.path().join(name)).into_iter().flatten() {
        let seed = fs::read(entry.expect("a seed").path()).expect("a seed");
        seeds.extend((seed.len() <= LARGEST_SEED).then_some(seed));
    }
    // A folder has no order, and the inputs are the same each time.
    seeds.sort();
    let mut rng = ChaCha20Rng::from_seed([1; 32]);
    let is_accepted = |seed: &&Vec<u8>| {
        ACCEPTED.set(false);
        tried(target, seed);
        ACCEPTED.get() && !seed.is_empty()
    };
    let accepted = seeds.iter().filter(is_accepted).count();
    for _ in 0..inputs {
        let mut input = seeds[below(seeds.len(), &mut rng)].clone();
        for _ in 0..=below(4, &mut rng) {
            vary(&mut input, &seeds, &mut rng);
        }
        tried(target, &input);
    }
    Tried { seeds: seeds.len() - 1, accepted }
}

/// Says which input it was when a target panics.
fn tried(target: fn(&[u8]), input: &[u8]) {
    struct Input<'a>(&'a [u8]);
    impl Drop for Input<'_> {
        fn drop(&mut self) {
            if std::thread::panicking() {
                eprintln!("the input was \"{}\"", self.0.escape_ascii());
            }
        }
    }
    let input = Input(input);
    target(input.0);
}

/// Changes, repeats, cuts out or inserts some bytes.
fn vary(input: &mut Vec<u8>, seeds: &[Vec<u8>], rng: &mut ChaCha20Rng) {
    /// What readers of text and of numbers look at.
    const TELLING: &[&[u8]] =
        &[b"", b"0", b"-1", b"\n", b"\"", b"[]", b"{}", b"null", b"\0", b"\x80", b"\xff\xff\xff\xff", b"\xef\xbb\xbf"];
    let from = below(input.len() + 1, rng);
    let to = (from + below(8, rng)).min(input.len());
    let new = match below(5, rng) {
        0 => TELLING[below(TELLING.len(), rng)].to_vec(),
        1 => input[from..to].iter().map(|byte| byte ^ 1 << below(8, rng)).collect(),
        2 => input[from..to].repeat(2),
        3 => random(below(64, rng), rng),
        _ => {
            let other = &seeds[below(seeds.len(), rng)];
            let start = below(other.len() + 1, rng);
            other[start..(start + below(256, rng)).min(other.len())].to_vec()
        }
    };
    input.splice(from..to, new);
}

fn random(length: usize, rng: &mut ChaCha20Rng) -> Vec<u8> {
    let mut bytes = vec![0; length];
    rng.fill_bytes(&mut bytes);
    bytes
}

fn below(end: usize, rng: &mut ChaCha20Rng) -> usize {
    rng.next_u32() as usize % end
}
