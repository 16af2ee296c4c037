//! What can be said of a light-client object without a pairing: the checks of `validate_light_client_update` and
//! `initialize_light_client_store`, each under its own name.
//!
//! Spec: ethereum/consensus-specs, `specs/{altair,capella,deneb,electra}/light-client/sync-protocol.md`.

use super::network::{BeaconNetwork, Fork};
use super::object::{BeaconHeader, Bootstrap, COMMITTEE_SIZE, Committee, Header, Update};
use super::ssz::{self, Root};
use crate::record::{Check, CheckResult};

/// `MIN_SYNC_COMMITTEE_PARTICIPANTS`: an update with fewer is not valid.
pub const MIN_PARTICIPANTS: usize = 1;

/// The committee of a bootstrap stands in its block's state.
pub(super) fn current_sync_committee_branch(bootstrap: &Bootstrap, network: &BeaconNetwork) -> Check {
    let proof = Proof {
        name: "current_sync_committee_branch",
        field: &CURRENT_SYNC_COMMITTEE,
        branch: &bootstrap.branch,
        header: &bootstrap.header.beacon,
        fork: fork_of(network, &bootstrap.header, bootstrap.fork),
    };
    proof.of_committee(&bootstrap.committee)
}

/// The next committee stands in the attested state.
pub(super) fn next_sync_committee_branch(update: &Update, network: &BeaconNetwork) -> Check {
    const NAME: &str = "next_sync_committee_branch";
    let Some((committee, branch)) = &update.next_committee else {
        return not_possible(NAME, "the update carries no next committee");
    };
    if is_empty(branch) {
        // The specification writes "no next committee" as zeros in every place.
        let empty = committee.public_keys.iter().all(|key| *key == [0; 48]);
        return if empty {
            not_possible(NAME, "the update carries no next committee")
        } else {
            failed(NAME, "a next committee stands beside an empty branch")
        };
    }
    let fork = fork_of(network, &update.attested, update.fork);
    let header = &update.attested.beacon;
    Proof { name: NAME, field: &NEXT_SYNC_COMMITTEE, branch, header, fork }.of_committee(committee)
}

/// The finalized block stands in the attested state.
pub(super) fn finality_branch(update: &Update, network: &BeaconNetwork) -> Check {
    const NAME: &str = "finality_branch";
    let Some((finalized, branch)) = &update.finalized else {
        return not_possible(NAME, "the update carries no finality");
    };
    let nothing = finalized.beacon == BeaconHeader::default();
    if is_empty(branch) {
        return if nothing {
            not_possible(NAME, "the update carries no finality")
        } else {
            failed(NAME, "a finalized header stands beside an empty branch")
        };
    }
    // Until something but genesis is finalized, the state holds zeros and the header is to be empty.
    let leaf = match finalized.beacon.slot {
        0 if nothing => Root::default(),
        0 => return failed(NAME, "the finalized header is of slot 0 but not empty"),
        _ => finalized.beacon.root(),
    };
    let fork = fork_of(network, &update.attested, update.fork);
    Proof { name: NAME, field: &FINALIZED_ROOT, branch, header: &update.attested.beacon, fork }.of(&leaf)
}

/// The execution payload header stands in its block's body.
pub(super) fn execution_branch(
    name: &'static str,
    header: &Header,
    fork: Option<Fork>,
    network: &BeaconNetwork,
) -> Check {
    let Some(fork) = fork_of(network, header, fork) else {
        return not_possible(
            name,
            "the fork is not known: the network has no schedule and the document no \"version\"",
        );
    };
    if fork < Fork::Capella {
        return not_possible(name, "headers carry no execution payload before Capella");
    }
    if fork >= Fork::Gloas {
        return not_possible(name, "the specification has no light-client layout for Gloas yet");
    }
    let Some((execution, branch)) = &header.execution else {
        return not_possible(name, "the document leaves the execution payload header out");
    };
    let Some(root) = execution.root(fork) else {
        return failed(name, "the execution payload header is not one of its fork");
    };
    let proven = ssz::branch_proves(&root, branch, EXECUTION_PAYLOAD_INDEX, &header.beacon.body_root);
    Check::decided(
        name,
        CheckResult::of(proven),
        format!("block body root {}", const_hex::encode(header.beacon.body_root)),
    )
}

/// The signature comes after the attested block, and that not before the finalized one.
pub(super) fn slot_order(update: &Update) -> Check {
    let attested = update.attested.beacon.slot;
    let finalized = update.finalized.as_ref().map_or(0, |(header, _)| header.beacon.slot);
    let ordered = update.signature_slot > attested && attested >= finalized;
    let detail = format!("signature {} > attested {attested} >= finalized {finalized}", update.signature_slot);
    Check::decided("slot_order", CheckResult::of(ordered), detail)
}

/// Enough of the committee took part. Two thirds are needed to act on an update at once, not for it to be valid.
pub(super) fn participants(count: usize, at_least: usize) -> Check {
    let share = if count * 3 >= COMMITTEE_SIZE * 2 { "two thirds or more" } else { "less than two thirds" };
    let detail = format!("{count} of {COMMITTEE_SIZE} keys took part ({share}), {at_least} needed");
    Check::decided("participants", CheckResult::of(count >= at_least), detail)
}

/// A field of `BeaconState` by its generalized indices: the tree grew a level in Electra.
struct StateField {
    altair: u64,
    electra: u64,
}

const FINALIZED_ROOT: StateField = StateField { altair: 105, electra: 169 };
const CURRENT_SYNC_COMMITTEE: StateField = StateField { altair: 54, electra: 86 };
const NEXT_SYNC_COMMITTEE: StateField = StateField { altair: 55, electra: 87 };
/// `execution_payload` in `BeaconBlockBody`, the same from Capella to Fulu.
const EXECUTION_PAYLOAD_INDEX: u64 = 25;

impl StateField {
    /// Its index under a fork; where that is not known, the branch's length tells.
    fn index(&self, fork: Option<Fork>, branch: &[Root]) -> Option<u64> {
        match fork {
            Some(fork) if fork >= Fork::Gloas => None,
            Some(fork) if fork >= Fork::Electra => Some(self.electra),
            Some(_) => Some(self.altair),
            None if branch.len() == self.electra.ilog2() as usize => Some(self.electra),
            None => Some(self.altair),
        }
    }
}

/// A branch that should lead to the state root of a header.
struct Proof<'a> {
    name: &'static str,
    field: &'a StateField,
    branch: &'a [Root],
    header: &'a BeaconHeader,
    fork: Option<Fork>,
}

impl Proof<'_> {
    fn of_committee(&self, committee: &Committee) -> Check {
        match committee.root() {
            Some(root) => self.of(&root),
            None => failed(self.name, "the committee lacks \"aggregate_pubkey\", without which it has no root"),
        }
    }

    fn of(&self, leaf: &Root) -> Check {
        let Some(index) = self.field.index(self.fork, self.branch) else {
            return not_possible(self.name, "the specification has no light-client layout for Gloas yet");
        };
        let proven = ssz::branch_proves(leaf, self.branch, index, &self.header.state_root);
        let detail = format!("generalized index {index}, state root {}", const_hex::encode(self.header.state_root));
        Check::decided(self.name, CheckResult::of(proven), detail)
    }
}

/// The network's schedule decides; a document's own word counts only where there is none.
fn fork_of(network: &BeaconNetwork, header: &Header, stated: Option<Fork>) -> Option<Fork> {
    network.fork(header.beacon.slot).or(stated)
}

fn is_empty(branch: &[Root]) -> bool {
    branch.iter().all(|node| *node == Root::default())
}

fn failed(name: &'static str, detail: &str) -> Check {
    Check::decided(name, CheckResult::Failed, detail)
}

fn not_possible(name: &'static str, detail: &str) -> Check {
    Check::decided(name, CheckResult::NotPossible, detail)
}
