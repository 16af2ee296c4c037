//! No file makes the readers of a client's ratchet, of a signer's record and of a board panic. What a client holds afterwards is
//! signed by enough keys, and a record or a board that was opened is opened again.

use std::sync::LazyLock;

use quorate_checkpoint::{Client, ClientPolicy, KeptBoard, Sets, SignedCheckpoint, SignerRecord};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};
use tempfile::TempDir;

static SETS: LazyLock<Sets> =
    LazyLock::new(|| Sets::from_json(include_bytes!("../seeds/checkpoint-sets.json")).expect("a seed"));

static PINNED: LazyLock<[u8; 32]> = LazyLock::new(|| SETS.first.id());

static FOLDER: LazyLock<TempDir> = LazyLock::new(|| tempfile::tempdir().expect("a folder"));

pub fn run(bytes: &[u8]) {
    let rng = &mut ChaCha20Rng::from_seed([9; 32]);
    let path = FOLDER.path().join("file");
    std::fs::write(&path, bytes).expect("it is written");
    if let Ok(client) = Client::open(ClientPolicy::new([0xc1; 32], *PINNED, 20), &path, rng) {
        assert!(client.held().is_none_or(SignedCheckpoint::is_complete));
        assert!(client.to_prove().is_none_or(|range| !range.is_empty()));
    }
    std::fs::write(&path, bytes).expect("it is written");
    if let Ok(board) = KeptBoard::open(&path, [0xc1; 32], &SETS, *PINNED, 600, rng) {
        let served = board.board().serve();
        drop(board);
        let again = KeptBoard::open(&path, [0xc1; 32], &SETS, *PINNED, 600, rng).expect("it was opened before");
        assert_eq!(again.board().serve(), served);
    }
    std::fs::write(&path, bytes).expect("it is written");
    let key = &SETS.first.signers[0].public_key;
    let key = quorate::PublicKey::<quorate::MinPk>::from_bytes(key).expect("a key of the set");
    if SignerRecord::open(&path, &key).is_ok() {
        let again = SignerRecord::open(&path, &key).expect("it was opened before");
        assert!(again.mended().is_none(), "the first opening ended its last line");
    }
}
