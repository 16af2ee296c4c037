//! Tests of the signer as a whole, without its process: what they share, and the answers to each request.

mod property;
mod record;
mod timing;

use std::{
    fs::Permissions,
    future::ready,
    num::NonZeroU64,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use quorate_evm::{
    KeyGroup, OperatorKey, SnapshotId, Task,
    alloy_primitives::{Address, B256},
    bls12381::{DigestHash, decode_key, decode_signature},
    digest::{Contract, KeyPossession, PeerBinding},
};
use quorate_host::{exit::Exit, metrics::Watched as _};
use quorate_signer_client::{
    SignerClient,
    network::NetworkTerms,
    protocol::{BindPeer, LONGEST_PEER_ID, ProvePossession, RefusalCode, SignTask, SignerAnswer, SignerRequest},
    record_file::RecordIdentity,
};
use tempfile::TempDir;
use tokio::{net::UnixListener, time::sleep};

use crate::{clock::ClockWatch, commands::run::to_end, config::Config, server::serve, signer::Signer, store::Store};

/// Epochs of 100 seconds from second 1000 on; conflicts are reported for 150 seconds more.
const NETWORK: NetworkTerms = NetworkTerms {
    chain_id: 5,
    contract: Address::repeat_byte(0xc0),
    genesis: 1000,
    epoch_length: NonZeroU64::new(100).expect("not zero"),
    slashing_window: 150,
};
const VERIFIER: Address = Address::repeat_byte(0xee);
const OPERATOR: Address = Address::repeat_byte(0x0b);
/// In epoch 7.
const NOW: u64 = 1750;

/// A folder that only its owner can enter, whatever the umask.
fn private_folder() -> TempDir {
    let mode = Permissions::from_mode(0o700);
    tempfile::Builder::new().permissions(mode).tempdir().expect("a temporary folder")
}

fn key_of(key_group: KeyGroup) -> OperatorKey {
    OperatorKey::from_entropy(key_group, &[7; 48])
}

fn key() -> OperatorKey {
    key_of(KeyGroup::Bls12381G2)
}

fn config_of(key_group: KeyGroup) -> Config {
    let identity = RecordIdentity { network: NETWORK, key_group, public_key: key_of(key_group).member() };
    Config { identity, verifier: VERIFIER, operator: OPERATOR }
}

fn new_store(folder: &Path, floor: u64) -> Store {
    Store::create(folder, &config_of(KeyGroup::Bls12381G2), floor).expect("a new record")
}

fn new_signer(folder: &Path) -> Signer {
    Signer::new(key(), new_store(folder, 0), None).expect("the same key")
}

fn task(epoch: u64, id: u8, result: u8) -> Task {
    let (id, snapshot, result) = (B256::repeat_byte(id), SnapshotId::repeat_byte(1), B256::repeat_byte(result));
    Task { epoch, snapshot, id, performer: 3, result, approved: true }
}

fn sign_task(task: &Task) -> SignTask {
    SignTask { network: NETWORK.domain(), task: *task }
}

/// The signature over a task, or the code of the refusal.
fn signature(signer: &Signer, task: &Task, now: u64) -> Result<Vec<u8>, RefusalCode> {
    match signer.answer(&SignerRequest::SignTask(sign_task(task)), now) {
        SignerAnswer::Signature(answer) => {
            assert_eq!(answer.digest, task.digest(NETWORK.domain()));
            Ok(answer.signature.to_vec())
        }
        SignerAnswer::Error(refusal) => Err(refusal.code),
        other => panic!("{other:?}"),
    }
}

fn code(signer: &Signer, request: SignerRequest) -> RefusalCode {
    match signer.answer(&request, NOW) {
        SignerAnswer::Error(refusal) => refusal.code,
        other => panic!("{other:?}"),
    }
}

/// What a contract would say of a signature.
fn verifies(key_group: KeyGroup, key: &[u8], digest: &[u8; 32], signature: &[u8]) -> bool {
    let hash = DigestHash::of(key_group).expect("a group of BLS12-381");
    let (key, signature) = (decode_key(key).expect("a key"), decode_signature(signature).expect("a signature"));
    hash.verify(&key, &[*digest], &signature)
}

#[test]
fn signatures_are_those_that_contracts_verify() {
    for key_group in [KeyGroup::Bls12381G2, KeyGroup::Bls12381G2Nu] {
        let folder = private_folder();
        let store = Store::create(folder.path(), &config_of(key_group), 0).expect("a new record");
        let signer = Signer::new(key_of(key_group), store, None).expect("the same key");
        let SignerAnswer::PublicKey(answer) = signer.answer(&SignerRequest::PublicKey {}, NOW) else { panic!() };
        assert_eq!(answer.key_group, key_group);
        let key = answer.public_key;

        let network = NETWORK.domain();
        let Contract { chain_id, address: contract } = network;
        let digest = task(7, 1, 2).digest(network);
        let signed = signature(&signer, &task(7, 1, 2), NOW).expect("signs");
        assert!(verifies(key_group, &key, &digest, &signed));
        let other = Task { approved: false, ..task(7, 1, 2) }.digest(network);
        assert!(!verifies(key_group, &key, &other, &signed));

        let request = ProvePossession { chain_id, contract, verifier: VERIFIER, operator: OPERATOR };
        let SignerAnswer::Possession(proof) = signer.answer(&SignerRequest::Possession(request), NOW) else { panic!() };
        let verifier = Contract { chain_id, address: VERIFIER };
        let digest = KeyPossession { verifier, owner: OPERATOR, key: &key }.digest();
        assert_eq!((proof.digest.0, &proof.public_key), (digest, &key));
        assert!(verifies(key_group, &key, &digest, &proof.proof));

        let peer_id = vec![0x12; 38];
        let request = BindPeer { chain_id, contract, peer_id: peer_id.clone().into() };
        let SignerAnswer::Signature(bound) = signer.answer(&SignerRequest::BindPeer(request), NOW) else { panic!() };
        let digest = PeerBinding { network, peer: &peer_id }.digest();
        assert_eq!(bound.digest.0, digest);
        assert!(verifies(key_group, &key, &digest, &bound.signature));
    }
}

/// Whoever watches learns that no task is signed, and why.
#[test]
fn a_signer_that_signs_nothing_is_not_ready() {
    let folder = private_folder();
    let mut store = new_store(folder.path(), 0);
    store.watch(ClockWatch { accepted: None });
    let signer = Signer::new(key(), store, None).expect("the same key");
    signer.look_at_clock(NOW);
    assert_eq!(signer.ready(), Ok(()));
    signer.look_at_clock(NOW + 365 * 86_400);
    let why = signer.ready().expect_err("the clock has jumped");
    assert!(why.contains("the signer's clock says"), "{why}");
    let text = signer.metrics();
    for line in ["quorate_signer_ready 0\n", "quorate_signer_clock_believed 0\n", "quorate_signer_record_writes 1\n"] {
        assert!(text.contains(line), "{line}: {text}");
    }
    signer.look_at_clock(NOW);
    assert_eq!(signer.ready(), Ok(()));
    drop(signer);

    let mut store = Store::open(folder.path()).expect("opens");
    store.retire().expect("writes");
    let signer = Signer::new(key(), store, None).expect("the same key");
    assert!(signer.ready().expect_err("the record was moved").contains("export --retire"));
}

/// `init` ran under a clock that was ahead: until then, every task is below the floor.
#[test]
fn a_signer_whose_floor_is_ahead_is_not_ready() {
    let folder = private_folder();
    let signer = Signer::new(key(), new_store(folder.path(), 9), None).expect("the same key");
    let obstacle = |now| match signer.answer(&SignerRequest::Status {}, now) {
        SignerAnswer::Status(status) => status.obstacle(),
        other => panic!("{other:?}"),
    };
    assert_eq!(signature(&signer, &task(7, 1, 1), NOW), Err(RefusalCode::BelowFloor));
    let why = obstacle(NOW).expect("epoch 7 is below it");
    assert!(why.contains("is epoch 9, which begins at second 1900"), "{why}");
    assert!(obstacle(1899).is_some());
    assert_eq!(obstacle(1900), None);
    assert!(signature(&signer, &task(9, 1, 1), 1900).is_ok());
}

#[test]
fn the_same_request_has_the_same_signature() {
    let folder = private_folder();
    let signer = new_signer(folder.path());
    let first = signature(&signer, &task(7, 1, 1), NOW).expect("signs");
    assert_eq!(signature(&signer, &task(7, 1, 1), NOW), Ok(first.clone()));
    drop(signer);
    let signer = Signer::new(key(), Store::open(folder.path()).expect("opens"), None).expect("the same key");
    assert_eq!(signature(&signer, &task(7, 1, 1), NOW + 100), Ok(first));
    assert_eq!(signature(&signer, &task(7, 1, 2), NOW + 100), Err(RefusalCode::Conflict));
    assert_eq!(signature(&signer, &task(8, 1, 2), NOW + 100), Err(RefusalCode::Conflict));
}

#[test]
fn another_network() {
    let folder = private_folder();
    let signer = new_signer(folder.path());
    let (chain_id, contract) = (NETWORK.chain_id, NETWORK.contract);
    for (chain_id, contract) in [(chain_id + 1, contract), (chain_id, VERIFIER)] {
        let (verifier, operator) = (VERIFIER, OPERATOR);
        for request in [
            SignerRequest::SignTask(SignTask {
                network: Contract { chain_id, address: contract },
                task: task(7, 1, 1),
            }),
            SignerRequest::Possession(ProvePossession { chain_id, contract, verifier, operator }),
            SignerRequest::BindPeer(BindPeer { chain_id, contract, peer_id: vec![1].into() }),
        ] {
            assert_eq!(code(&signer, request), RefusalCode::WrongNetwork);
        }
    }
    // Nothing of it is in the record.
    assert!(signature(&signer, &task(7, 1, 2), NOW).is_ok());
}

/// A proof for another account would let that account register the key.
#[test]
fn possession_for_others() {
    let folder = private_folder();
    let signer = new_signer(folder.path());
    let (chain_id, contract) = (NETWORK.chain_id, NETWORK.contract);
    let possession = |verifier, operator| {
        code(&signer, SignerRequest::Possession(ProvePossession { chain_id, contract, verifier, operator }))
    };
    assert_eq!(possession(OPERATOR, OPERATOR), RefusalCode::WrongVerifier);
    assert_eq!(possession(VERIFIER, VERIFIER), RefusalCode::WrongOperator);
}

#[test]
fn lengths_of_peer_ids() {
    let folder = private_folder();
    let signer = new_signer(folder.path());
    let (chain_id, contract) = (NETWORK.chain_id, NETWORK.contract);
    let bind =
        |length: usize| SignerRequest::BindPeer(BindPeer { chain_id, contract, peer_id: vec![1; length].into() });
    for length in [0, LONGEST_PEER_ID + 1] {
        assert_eq!(code(&signer, bind(length)), RefusalCode::PeerIdLength);
    }
    for length in [1, LONGEST_PEER_ID] {
        assert!(matches!(signer.answer(&bind(length), NOW), SignerAnswer::Signature(_)));
    }
}

#[test]
fn another_key_than_the_records() {
    let folder = private_folder();
    let store = new_store(folder.path(), 0);
    let error =
        Signer::new(OperatorKey::from_entropy(KeyGroup::Bls12381G2, &[8; 48]), store, None).expect_err("another key");
    assert!(error.to_string().contains("the record was made for"), "{error}");
    let store = Store::open(folder.path()).expect("opens");
    assert!(Signer::new(key_of(KeyGroup::Bls12381G2Nu), store, None).is_err());
}

/// Of conflicting requests at the same time, the one that is written first wins.
#[test]
fn concurrent_conflicts() {
    let folder = private_folder();
    let signer = Arc::new(new_signer(folder.path()));
    for id in 0..4 {
        let threads: Vec<_> = (0..8)
            .map(|result| {
                let signer = signer.clone();
                thread::spawn(move || signature(&signer, &task(6 + u64::from(result % 2), id, result), NOW))
            })
            .collect();
        let answers: Vec<_> = threads.into_iter().map(|thread| thread.join().expect("no panic")).collect();
        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1, "{answers:?}");
        let refused = answers.iter().filter(|answer| **answer == Err(RefusalCode::Conflict)).count();
        assert_eq!(refused, 7);
    }
}

/// A request waits for the disk when the signer stops, and the disk never answers. The signer ends all the same, and its exit code
/// says that a request was not answered.
#[test]
fn a_signer_whose_disk_hangs_ends_with_130() {
    let folder = private_folder();
    let socket = folder.path().join("signer.sock");
    let signer = Arc::new(new_signer(folder.path()));
    let ((hangs, is_held), (release, released)) = (mpsc::channel(), mpsc::channel::<()>());
    let held = Arc::clone(&signer);
    let disk = thread::spawn(move || {
        held.hold(|| {
            hangs.send(()).expect("the test waits");
            // It ends with the test.
            let _ = released.recv();
        });
    });
    is_held.recv().expect("the disk hangs");
    let serving = async {
        let listener = UnixListener::bind(&socket).expect("binds");
        let asking = SignerClient::new(socket.clone());
        tokio::spawn(async move { asking.status().await });
        #[allow(clippy::async_yields_async, reason = "`serve` gives requests in progress until then")]
        let stop = async {
            // Those of this test, the disk, the server, the connection and the request that waits.
            while Arc::strong_count(&signer) < 5 {
                sleep(Duration::from_millis(1)).await;
            }
            ready(())
        };
        Ok(serve(&listener, Arc::clone(&signer), stop).await)
    };
    let exit = to_end(serving).expect("it served");
    assert_eq!((exit, exit.code()), (Exit::Interrupted, 130));
    drop(release);
    disk.join().expect("no panic");
}

#[test]
fn every_requirement_holds_beside_what_conflicts_with_it() {
    use clap::CommandFactory as _;
    quorate_lab::command_line::requirements_hold(&crate::CommandLine::command());
}
