//! Answers requests: the key, the record and the rules together.

use std::sync::{Mutex, PoisonError};

use quorate_evm::{
    OperatorKey, Task,
    alloy_primitives::{Address, Bytes},
    digest::PeerBinding,
};
use quorate_host::{log::LogWriter, metrics::Watched, unix_seconds};
use quorate_signer_client::protocol::{
    BindPeer, KeyAnswer, LONGEST_PEER_ID, PossessionAnswer, ProvePossession, Refusal, RefusalCode, SignTask,
    SignatureAnswer, SignerAnswer, SignerRequest, StatusAnswer,
};

use crate::{
    clock::ClockJump,
    config::Config,
    metrics::{Metrics, SignatureKind},
    rules::Permit,
    store::{NotRecorded, Store, StoreError, Summary},
};

/// A signer: its key signs what its record allows.
#[derive(Debug)]
pub(crate) struct Signer {
    config: Config,
    key: OperatorKey,
    /// One request at a time judges and writes.
    store: Mutex<Guarded>,
    /// Where lines of the log are counted that nobody read; none in tests.
    log: Option<LogWriter>,
    metrics: Metrics,
}

/// The record, and how it goes with it.
#[derive(Debug)]
struct Guarded {
    store: Store,
    /// How often it could not be read or written.
    failures: u64,
    /// Whether the last attempt failed.
    is_failing: bool,
    /// Why the clock is not believed.
    jump: Option<ClockJump>,
}

/// The key is not the one that the record was made for.
#[derive(Debug, thiserror::Error)]
#[error("the keystore holds the key {found}, but the record was made for {expected}; name the keystore of this record")]
pub(crate) struct WrongKey {
    expected: Bytes,
    found: Bytes,
}

impl Signer {
    /// A signer with a key and its record.
    pub(crate) fn new(key: OperatorKey, store: Store, log: Option<LogWriter>) -> Result<Self, WrongKey> {
        let config = store.config().clone();
        let (expected, found) = (config.identity.public_key.clone(), key.member());
        if found != expected || key.key_group() != config.identity.key_group {
            return Err(WrongKey { expected, found });
        }
        let store = Mutex::new(Guarded { store, failures: 0, is_failing: false, jump: None });
        Ok(Self { config, key, store, log, metrics: Metrics::begun() })
    }

    /// Answers a request at a second of Unix time. Waits for the disk.
    pub(crate) fn answer(&self, request: &SignerRequest, now: u64) -> SignerAnswer {
        let answer = match request {
            SignerRequest::PublicKey {} => Ok(SignerAnswer::PublicKey(self.public_key())),
            SignerRequest::SignTask(request) => self.sign_task(request, now).map(SignerAnswer::Signature),
            SignerRequest::Possession(request) => self.possession(request, now).map(SignerAnswer::Possession),
            SignerRequest::BindPeer(request) => self.bind_peer(request, now).map(SignerAnswer::Signature),
            SignerRequest::Status {} => Ok(SignerAnswer::Status(Box::new(self.status(now)))),
            _ => Err(Refusal {
                code: RefusalCode::Internal,
                message: "the signer does not know this request".to_owned(),
            }),
        };
        answer.unwrap_or_else(|refusal| self.refuse(refusal))
    }

    /// The answer to a request that is refused, which is counted.
    pub(crate) fn refuse(&self, refusal: Refusal) -> SignerAnswer {
        self.metrics.refused(refusal.code);
        SignerAnswer::Error(refusal)
    }

    fn public_key(&self) -> KeyAnswer {
        KeyAnswer {
            key_group: self.key.key_group(),
            public_key: self.key.member(),
            compressed: self.key.compressed().unwrap_or_default(),
        }
    }

    fn sign_task(&self, request: &SignTask, now: u64) -> Result<SignatureAnswer, Refusal> {
        let SignTask { network, task } = *request;
        self.check_network(network.chain_id, network.address)?;
        let recorded = self.store(|store| match store.record(&task, now) {
            Ok(permit) => Ok(Ok(permit)),
            Err(NotRecorded::Broken(broken)) => Ok(Err(broken)),
            Err(NotRecorded::Store(error)) => Err(error),
        });
        match recorded {
            Ok(Ok(permit)) => {
                let Task { epoch, id, .. } = task;
                let again = permit == Permit::Again;
                tracing::info!(epoch, %id, again, "a task is signed");
                self.metrics.signed(if again { SignatureKind::Repeat } else { SignatureKind::Task }, now);
                Ok(self.sign(task.digest(network)))
            }
            Ok(Err(broken)) => {
                let refusal = Refusal::from(broken);
                let Task { epoch, id, .. } = task;
                tracing::warn!(epoch, %id, code = ?refusal.code, "a task is not signed: {}", refusal.message);
                Err(refusal)
            }
            Err(message) => Err(Refusal { code: RefusalCode::Storage, message }),
        }
    }

    fn possession(&self, request: &ProvePossession, now: u64) -> Result<PossessionAnswer, Refusal> {
        let ProvePossession { chain_id, contract, verifier, operator } = request;
        self.check_network(*chain_id, *contract)?;
        let Config { verifier: our_verifier, operator: our_operator, .. } = self.config;
        let other = |code, what: &str, expected: Address, found: &Address| Refusal {
            code,
            message: format!("the request names the {what} {found}, but the signer was made for {expected}"),
        };
        if *verifier != our_verifier {
            return Err(other(RefusalCode::WrongVerifier, "verifier", our_verifier, verifier));
        }
        // A key has one owner for good: a proof for another account would give the key away.
        if *operator != our_operator {
            return Err(other(RefusalCode::WrongOperator, "operator", our_operator, operator));
        }
        let domain = quorate_evm::digest::Contract { chain_id: *chain_id, address: *verifier };
        let registration = self.key.registration(domain, *operator);
        tracing::info!(%operator, "a proof of possession is signed");
        self.metrics.signed(SignatureKind::Possession, now);
        Ok(PossessionAnswer { digest: registration.digest, public_key: registration.key, proof: registration.proof })
    }

    fn bind_peer(&self, request: &BindPeer, now: u64) -> Result<SignatureAnswer, Refusal> {
        let BindPeer { chain_id, contract, peer_id } = request;
        self.check_network(*chain_id, *contract)?;
        if !(1..=LONGEST_PEER_ID).contains(&peer_id.len()) {
            let message = format!("the peer id has {} bytes; expected 1 to {LONGEST_PEER_ID}", peer_id.len());
            return Err(Refusal { code: RefusalCode::PeerIdLength, message });
        }
        let binding = PeerBinding { network: self.config.identity.network.domain(), peer: peer_id };
        tracing::info!(peer = %peer_id, "a peer id is bound to the key");
        self.metrics.signed(SignatureKind::Peer, now);
        Ok(self.sign(binding.digest()))
    }

    fn status(&self, now: u64) -> StatusAnswer {
        let summary = self.store(Store::summary);
        let guarded = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        StatusAnswer {
            storage_failures: guarded.failures,
            clock_error: guarded.jump.map(|jump| jump.to_string()),
            dropped_log_lines: self.log.as_ref().map_or(0, LogWriter::dropped),
            ..status(&self.config, summary, now)
        }
    }

    /// Looks at the clock. If it is not believed, no task is signed, and the log says so once.
    pub(crate) fn look_at_clock(&self, now: u64) {
        let Ok(jump) = self.store(|store| store.look_at_clock(now)) else { return };
        let before = {
            let mut guarded = self.store.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut guarded.jump, jump)
        };
        match (before, jump) {
            (None, Some(jump)) => tracing::error!("{jump}"),
            (Some(_), None) => tracing::info!("the clock is believed again"),
            _ => {}
        }
    }

    /// Holds the record until some work is done, as a disk that hangs does.
    #[cfg(test)]
    pub(crate) fn hold(&self, until: impl FnOnce()) {
        let _guarded = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        until();
    }

    fn check_network(&self, chain_id: u64, contract: Address) -> Result<(), Refusal> {
        let expected = self.config.identity.network;
        if (chain_id, contract) == (expected.chain_id, expected.contract) {
            return Ok(());
        }
        let message = format!(
            "the request names chain {chain_id} and contract {contract}, but the signer was made for chain {} and {}",
            expected.chain_id, expected.contract
        );
        Err(Refusal { code: RefusalCode::WrongNetwork, message })
    }

    fn sign(&self, digest: [u8; 32]) -> SignatureAnswer {
        let signature = Bytes::copy_from_slice(self.key.sign(&digest).as_bytes());
        SignatureAnswer { digest: digest.into(), signature }
    }

    /// Works with the record. A failure is counted, and the log says when failures begin and when they end.
    fn store<T>(&self, work: impl FnOnce(&mut Store) -> Result<T, StoreError>) -> Result<T, String> {
        // If the database panicked, the store has closed it.
        let mut guarded = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        let done = work(&mut guarded.store).map_err(told);
        let failed_before = std::mem::replace(&mut guarded.is_failing, done.is_err());
        guarded.failures += u64::from(done.is_err());
        match (&done, failed_before) {
            (Err(message), false) => tracing::error!("no task is signed: {message}"),
            (Ok(_), true) => {
                tracing::info!(failures = guarded.failures, "the record is read and written again");
            }
            _ => {}
        }
        done
    }
}

impl Watched for Signer {
    fn ready(&self) -> Result<(), String> {
        self.status(unix_seconds()).obstacle().map_or(Ok(()), Err)
    }

    fn metrics(&self) -> String {
        let (status, key) = (self.status(unix_seconds()), self.public_key().compressed);
        let bytes = self.store.lock().unwrap_or_else(PoisonError::into_inner).store.bytes();
        self.metrics.text(&status, &key, bytes)
    }
}

/// A signer's state, also of one that does not run.
pub(crate) fn status(config: &Config, summary: Result<Summary, String>, now: u64) -> StatusAnswer {
    let (summary, storage_error) = match summary {
        Ok(summary) => (Some(summary), None),
        Err(error) => (None, Some(error)),
    };
    let Config { identity, verifier, operator } = config.clone();
    StatusAnswer {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        network: identity.network,
        verifier,
        operator,
        key_group: identity.key_group,
        public_key: identity.public_key,
        epoch: identity.network.epoch_at(now),
        floor: summary.map(|summary| summary.floor),
        tasks: summary.map(|summary| summary.tasks),
        retired: summary.is_some_and(|summary| summary.retired),
        storage_error,
        storage_failures: 0,
        clock_error: None,
        dropped_log_lines: 0,
    }
}

/// An error with its causes, on one line.
pub(crate) fn told(error: StoreError) -> String {
    format!("{:#}", anyhow::Error::from(error))
}
