//! What the signer counts, for Prometheus. docs/signer.md lists those with labels.
//!
//! Nothing here tells what was signed: no id of a task, no result, no signature. The public key and the network are public.

use std::sync::atomic::{AtomicU64, Ordering};

use prometheus_client::{
    metrics::{counter::Counter, family::Family, info::Info},
    registry::{Registry, Unit},
};
use quorate_evm::alloy_primitives::Bytes;
use quorate_host::{
    metrics::{self, Labels, count, number},
    unix_ms,
};
use quorate_signer_client::protocol::{RefusalCode, StatusAnswer};

/// What a signature is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignatureKind {
    /// A task that was not signed before.
    Task,
    /// A task that stands in the record.
    Repeat,
    /// A proof of possession.
    Possession,
    /// The binding of a peer id.
    Peer,
}

impl SignatureKind {
    const ALL: [Self; 4] = [Self::Task, Self::Repeat, Self::Possession, Self::Peer];

    fn name(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Repeat => "repeat",
            Self::Possession => "possession",
            Self::Peer => "peer",
        }
    }
}

/// Everything that a signer counts.
#[derive(Debug)]
pub(crate) struct Metrics {
    started_ms: u64,
    signatures: Family<Labels<1>, Counter>,
    refusals: Family<Labels<1>, Counter>,
    /// In seconds of Unix time; zero before the first one.
    last_signature: AtomicU64,
}

impl Metrics {
    /// Counts from now on. Each kind and each code begins at zero, so that the first refusal is a change that an alert sees.
    pub(crate) fn begun() -> Self {
        let this = Self {
            started_ms: unix_ms(),
            signatures: Family::default(),
            refusals: Family::default(),
            last_signature: AtomicU64::new(0),
        };
        for kind in SignatureKind::ALL {
            drop(this.signatures.get_or_create(&[("kind", kind.name())]));
        }
        for code in RefusalCode::ALL {
            drop(this.refusals.get_or_create(&[("code", code.name())]));
        }
        this
    }

    /// Something was signed, at a second of Unix time.
    pub(crate) fn signed(&self, kind: SignatureKind, now: u64) {
        self.signatures.get_or_create(&[("kind", kind.name())]).inc();
        self.last_signature.store(now, Ordering::Relaxed);
    }

    /// Nothing was signed.
    pub(crate) fn refused(&self, code: RefusalCode) {
        self.refusals.get_or_create(&[("code", code.name())]).inc();
    }

    /// The text for Prometheus. `key` is the compressed public key, `record_bytes` the size of the record's file.
    pub(crate) fn text(&self, status: &StatusAnswer, key: &Bytes, record_bytes: Option<u64>) -> String {
        let mut root = Registry::default();
        let r = metrics::begin(&mut root, "quorate_signer", self.started_ms, &status.version);
        let yes = |yes: bool| number(u64::from(yes));
        let network = &status.network;
        let labels = [
            ("public_key", key.to_string()),
            ("chain_id", network.chain_id.to_string()),
            ("contract", network.contract.to_string()),
            ("operator", status.operator.to_string()),
        ];
        r.register("key", "The key, the network and the operator", Info::new(labels));
        r.register("ready", "1 if /readyz says yes, else 0", yes(status.obstacle().is_none()));
        let help = "Signatures that left, by kind: task, repeat (the same task again), possession, peer";
        r.register("signatures", help, self.signatures.clone());
        let help = "Requests that were refused, by the code of the answer; a conflict is one that would have slashed the operator";
        r.register("refusals", help, self.refusals.clone());
        let last = self.last_signature.load(Ordering::Relaxed);
        if last > 0 {
            let help = "When the last signature left, since 1970";
            r.register_with_unit("last_signature_time", help, Unit::Seconds, number(last));
        }
        if let Some(tasks) = status.tasks {
            r.register("record_tasks", "Signed tasks that the record holds", number(tasks));
        }
        if let Some(bytes) = record_bytes {
            r.register_with_unit("record", "The size of the record's file", Unit::Bytes, number(bytes));
        }
        let help = "Times that the record could not be read or written";
        r.register("record_failures", help, count(status.storage_failures));
        let help = "0 if the record could not be read or written the last time, else 1";
        r.register("record_writes", help, yes(status.storage_error.is_none()));
        r.register("retired", "1 if the record was moved to another machine, else 0", yes(status.retired));
        let help = "1 if the clock is believed, 0 if it has jumped and no task is signed";
        r.register("clock_believed", help, yes(status.clock_error.is_none()));
        if let Some(epoch) = status.epoch {
            r.register("epoch", "The epoch by the signer's clock", number(epoch));
        }
        if let Some(floor) = status.floor {
            r.register("floor", "No task of an epoch below it is signed", number(floor));
        }
        let help = "Lines of the log that nobody read";
        r.register("log_dropped", help, count(status.dropped_log_lines));
        metrics::text(&root)
    }
}
