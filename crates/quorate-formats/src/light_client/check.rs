//! What can be checked in a light-client object without a pairing: the checks of `validate_light_client_update` and
//! `initialize_light_client_store`, each with a name of its own.
//!
//! Spec: ethereum/consensus-specs, `specs/{altair,capella,deneb,electra}/light-client/sync-protocol.md`.

use std::collections::BTreeSet;

use super::network::BeaconNetwork;
use super::object::{BeaconHeader, Bootstrap, COMMITTEE_SIZE, Header, HeaderExecution, SyncCommittee, Update};
use crate::network::Fork;
use crate::record::{Check, CheckResult};
use crate::ssz::{self, Root};

/// `MIN_SYNC_COMMITTEE_PARTICIPANTS`: an update with fewer participants is not valid.
pub const MIN_PARTICIPANTS: usize = 1;

/// Two thirds of the committee, rounded up: 342 of 512. A light client acts at once only on updates that so many signed, and a next
/// committee is learned from them alone, whatever a caller asks for.
pub const TWO_THIRDS: usize = (COMMITTEE_SIZE * 2).div_ceil(3);

/// Checks that a document is of this network; none if it names none.
pub(super) fn network(stated: Option<&String>, network: &BeaconNetwork) -> Option<Check> {
    let name = stated?;
    let detail = format!("expected the network {}, found {name:?}", network.name);
    Some(Check::decided("network", CheckResult::of(network.is_called(name)), detail))
}

/// Checks that a document states the period of one of these slots; none if it states none.
pub(super) fn period<const N: usize>(stated: Option<u64>, slots: [u64; N]) -> Option<Check> {
    let stated = stated?;
    let periods = slots.map(BeaconNetwork::period);
    let expected: Vec<String> = BTreeSet::from(periods).iter().map(u64::to_string).collect();
    let detail = format!("expected the period {}, found {stated}", expected.join(" or "));
    Some(Check::decided("period", CheckResult::of(periods.contains(&stated)), detail))
}

/// Checks that the committee of a bootstrap is in the state of its block.
pub(super) fn current_sync_committee_branch(bootstrap: &Bootstrap, network: &BeaconNetwork) -> Check {
    let proof = Proof {
        name: "current_sync_committee_branch",
        field: &CURRENT_SYNC_COMMITTEE,
        branch: &bootstrap.branch,
        header: &bootstrap.header.beacon,
        forks: Forks::of(network, &bootstrap.header, bootstrap.fork),
    };
    proof.of_committee(&bootstrap.committee)
}

/// Checks that the next committee is in the attested state.
pub(super) fn next_sync_committee_branch(update: &Update, network: &BeaconNetwork) -> Check {
    const NAME: &str = "next_sync_committee_branch";
    let Some((committee, branch)) = &update.next_committee else {
        return not_possible(NAME, "the update contains no next committee");
    };
    if ssz::is_empty(branch) {
        // The specification writes zeros everywhere for "no next committee".
        return if committee.is_empty() {
            not_possible(NAME, "the update contains no next committee")
        } else {
            failed(NAME, "the update contains a next committee, but its branch is empty")
        };
    }
    let forks = Forks::of(network, &update.attested, update.fork);
    let header = &update.attested.beacon;
    Proof { name: NAME, field: &NEXT_SYNC_COMMITTEE, branch, header, forks }.of_committee(committee)
}

/// Checks that the finalized block is in the attested state.
pub(super) fn finality_branch(update: &Update, network: &BeaconNetwork) -> Check {
    const NAME: &str = "finality_branch";
    let Some((finalized, branch)) = &update.finalized else {
        return not_possible(NAME, "the update contains no finalized header");
    };
    let nothing = finalized.is_empty();
    if ssz::is_empty(branch) {
        return if nothing {
            not_possible(NAME, "the update contains no finalized header")
        } else {
            failed(NAME, "the update contains a finalized header, but its branch is empty")
        };
    }
    // Until a block after genesis is finalized, the state holds zeros, and the header must be empty.
    let leaf = match finalized.beacon.slot {
        0 if nothing => Root::default(),
        0 => return failed(NAME, "the finalized header is of slot 0, but it is not empty"),
        _ => finalized.beacon.root(),
    };
    let forks = Forks::of(network, &update.attested, update.fork);
    Proof { name: NAME, field: &FINALIZED_ROOT, branch, header: &update.attested.beacon, forks }.of(&leaf)
}

/// Checks that the root of the recent blocks is in the state of a bootstrap's header; none if the document does not state it.
pub(super) fn block_roots_of_bootstrap(bootstrap: &Bootstrap, network: &BeaconNetwork) -> Option<Check> {
    let header = &bootstrap.header;
    block_roots_branch(bootstrap.block_roots.as_ref(), Some(header), Forks::of(network, header, bootstrap.fork))
}

/// Checks that the root of the recent blocks is in the state of an update's finalized header; none if the document does not state it.
pub(super) fn block_roots_of_update(update: &Update, network: &BeaconNetwork) -> Option<Check> {
    let header = update.finalized.as_ref().map(|(header, _)| header);
    let forks = header.map_or(Forks::ALL, |header| Forks::up_to(network, header, update.fork));
    block_roots_branch(update.block_roots.as_ref(), header, forks)
}

fn block_roots_branch(block_roots: Option<&(Root, Vec<Root>)>, header: Option<&Header>, forks: Forks) -> Option<Check> {
    const NAME: &str = "block_roots_branch";
    let (root, branch) = block_roots?;
    let Some(header) = header.filter(|header| header.beacon != BeaconHeader::default()) else {
        return Some(if *root == Root::default() && ssz::is_empty(branch) {
            not_possible(NAME, "the update contains no finalized header")
        } else {
            failed(NAME, "the update contains no finalized header, whose state would have this root")
        });
    };
    Some(Proof { name: NAME, field: &BLOCK_ROOTS, branch, header: &header.beacon, forks }.of(root))
}

/// Checks that a bootstrap states the validators of the network's genesis; none if it states none.
pub(super) fn validators_root(bootstrap: &Bootstrap, network: &BeaconNetwork) -> Option<Check> {
    let stated = bootstrap.validators_root?;
    Some(Check::compared("validators_root", &network.genesis_validators_root, &stated))
}

/// Checks that the execution payload header of a bootstrap is in the body of its block.
pub(super) fn execution_of_bootstrap(bootstrap: &Bootstrap, network: &BeaconNetwork) -> Check {
    let header = &bootstrap.header;
    execution_branch("execution_branch", header, Forks::of(network, header, bootstrap.fork), bootstrap.fork)
}

/// Checks that the execution payload header of an update's attested block is in the body of that block.
pub(super) fn attested_execution(update: &Update, network: &BeaconNetwork) -> Check {
    let header = &update.attested;
    execution_branch("attested_execution_branch", header, Forks::of(network, header, update.fork), update.fork)
}

/// Checks that the execution payload header of an update's finalized block is in the body of that block; none without such a block.
pub(super) fn finalized_execution(update: &Update, network: &BeaconNetwork) -> Option<Check> {
    let (header, _) = update.finalized.as_ref().filter(|(header, _)| header.beacon.slot > 0)?;
    let forks = Forks::up_to(network, header, update.fork);
    Some(execution_branch("finalized_execution_branch", header, forks, update.fork))
}

/// Checks that the execution payload header is in the body of its block. One that nothing can prove fails: it would pass for proven.
///
/// Since Capella zeros fail as well, as no block has them (capella/light-client/sync-protocol.md, `is_valid_light_client_header`). Only
/// what a document leaves out stays unchecked, and the detail says so.
///
/// The fields that Deneb added are in no root of a header of Capella. In an object of Deneb or later, by its SSZ or the `version` that its JSON
/// states, they must be zero there (deneb/light-client/sync-protocol.md, `is_valid_light_client_header`). An object of Capella has no such
/// fields; JSON with them is taken, because some tools write it, and the detail says that nothing proves them.
fn execution_branch(name: &'static str, header: &Header, forks: Forks, stated: Option<Fork>) -> Check {
    if forks.last < Fork::Capella {
        return if header.has_execution() {
            failed(name, "found an execution payload header, expected none: blocks have one since Capella")
        } else {
            not_possible(name, "blocks before Capella have no execution payload header")
        };
    }
    let is_required = forks.first >= Fork::Capella;
    let (execution, branch) = match &header.execution {
        HeaderExecution::Stated(execution, branch) if is_required || header.has_execution() => (execution, branch),
        HeaderExecution::NoPlace if is_required => {
            return failed(
                name,
                "found the layout of Altair, which has no place for an execution payload header; expected one: blocks have \
                 one since Capella",
            );
        }
        HeaderExecution::LeftOut => {
            return not_possible(
                name,
                "the document leaves out the execution payload header, so nothing of it is proved; a light client takes no \
                 header of Capella or later without it",
            );
        }
        HeaderExecution::Stated(..) | HeaderExecution::NoPlace => {
            return not_possible(
                name,
                "found zeros or nothing for the execution payload header, which is right before Capella alone, and nothing \
                 says the fork of the block",
            );
        }
    };
    // A root of one layout is never that of the other: their trees differ in depth.
    let of_deneb = (forks.last >= Fork::Deneb).then_some(Fork::Deneb);
    let of_capella = (forks.first < Fork::Deneb).then_some(Fork::Capella);
    let layouts = of_deneb.into_iter().chain(of_capella);
    let roots: Vec<_> = layouts.map(|fork| execution.root(fork).map(|root| (fork, root))).collect();
    let checks = roots.iter().flatten().map(|(fork, root)| {
        let check = led(name, root, branch, EXECUTION_PAYLOAD_INDEX, "block body root", &header.beacon.body_root);
        if check.failed() || *fork >= Fork::Deneb || !execution.has_blobs() {
            check
        } else if execution.in_layout_of_deneb || stated.is_some_and(|stated| stated >= Fork::Deneb) {
            failed(
                name,
                "found \"blob_gas_used\" or \"excess_blob_gas\" that is not zero in a header of Capella, expected zeros: blocks have \
                 them since Deneb",
            )
        } else {
            let unproved = "nothing proves \"blob_gas_used\" and \"excess_blob_gas\", which blocks have since Deneb";
            Check::decided(name, CheckResult::Passed, format!("{}; {unproved}", check.detail))
        }
    });
    let checked = checks.reduce(|first, next| if first.failed() { next } else { first });
    // Without a root in any layout, the first reason is the newest layout's.
    checked
        .unwrap_or_else(|| failed(name, roots.iter().find_map(|root| root.as_ref().err().copied()).unwrap_or_default()))
}

/// Whether the specification has a layout for the fork of an update. Without one, nothing that it states can be proved.
pub(super) fn has_layout(update: &Update, network: &BeaconNetwork) -> bool {
    Forks::of(network, &update.attested, update.fork).last < Fork::Gloas
}

/// Checks that the slots are in order: finalized block, attested block, signature.
pub(super) fn slot_order(update: &Update) -> Check {
    let attested = update.attested.beacon.slot;
    let finalized = update.finalized.as_ref().map_or(0, |(header, _)| header.beacon.slot);
    let ordered = update.signature_slot > attested && attested >= finalized;
    let found = format!("signature {}, attested {attested}, finalized {finalized}", update.signature_slot);
    let detail = match ordered {
        true => found,
        false => format!("expected signature slot > attested slot >= finalized slot, found {found}"),
    };
    Check::decided("slot_order", CheckResult::of(ordered), detail)
}

/// Checks that enough members of the committee took part. A light client acts on an update at once only if two thirds did;
/// for the update to be valid, fewer are enough, but never none: the suite takes the identity as the signature of nobody.
pub(super) fn participants(count: usize, at_least: usize) -> Check {
    let at_least = at_least.max(MIN_PARTICIPANTS);
    let enough = count >= at_least;
    let share = if count >= TWO_THIRDS { "two thirds or more" } else { "less than two thirds" };
    let found = format!("{count} of {COMMITTEE_SIZE} keys took part ({share})");
    let detail = match enough {
        true => format!("{found}, at least {at_least} needed"),
        false => format!("expected at least {at_least}, found that {found}"),
    };
    Check::decided("participants", CheckResult::of(enough), detail)
}

/// Why nobody learns a next committee from an update that is valid for the caller: fewer than two thirds signed it. None if so many did.
/// Otherwise, where a caller accepts fewer, one member could choose all later committees.
///
/// Spec: `process_light_client_update`.
pub(super) fn too_few_to_teach(count: usize) -> Option<Check> {
    (count < TWO_THIRDS).then(|| {
        let detail = format!(
            "{count} of {COMMITTEE_SIZE} keys took part, and a next committee is believed from {TWO_THIRDS} on"
        );
        Check::decided("teaches", CheckResult::NotPossible, detail)
    })
}

/// The failed check of an update that names another next committee than a valid one that as many members signed.
pub(super) fn next_committees_contradict(period: u64) -> Check {
    let detail = format!(
        "expected one committee of period {period}, found several in valid updates that equally many members signed, so none of them is \
         believed"
    );
    failed(NEXT_COMMITTEE_AGREES, &detail)
}

/// The check that the next committee of an update is the one that is known.
pub(super) const NEXT_COMMITTEE_AGREES: &str = "next_sync_committee_agrees";

/// The failed check of a bootstrap that names another committee than one that the caller trusts as much.
pub(super) fn bootstraps_contradict(period: u64) -> Check {
    let detail = format!(
        "expected one committee of period {period}, found several in bootstraps, so none of them is believed; name the block that you \
         trust (on the command line --trusted-root HEX)"
    );
    failed("current_sync_committee_agrees", &detail)
}

/// Checks that a bootstrap is of the block that the caller trusts.
pub(super) fn trusted_root(found: &Root, trusted: &Root) -> Check {
    Check::compared(TRUSTED_ROOT, trusted, found)
}

/// The check of a bootstrap's block root, in a run in which the caller names the block.
pub const TRUSTED_ROOT: &str = "trusted_root";

/// A field of `BeaconState`, by its generalized indices. In Electra the tree became one level deeper.
struct StateField {
    altair: u64,
    electra: u64,
}

const BLOCK_ROOTS: StateField = StateField { altair: 37, electra: 69 };
const FINALIZED_ROOT: StateField = StateField { altair: 105, electra: 169 };
const CURRENT_SYNC_COMMITTEE: StateField = StateField { altair: 54, electra: 86 };
const NEXT_SYNC_COMMITTEE: StateField = StateField { altair: 55, electra: 87 };
/// `execution_payload` in `BeaconBlockBody`, the same from Capella to Fulu.
const EXECUTION_PAYLOAD_INDEX: u64 = 25;

impl StateField {
    /// The indices that it can have in these forks; none if nothing says what it is. If it can be either, the branch's length decides. A long
    /// branch may also be a short one behind a zero: so an update of Deneb stands in the containers of Electra
    /// (electra/light-client/fork.md, `normalize_merkle_branch`).
    fn indices(&self, forks: Forks, branch: &[Root]) -> Vec<u64> {
        let is_deep = branch.len() == self.electra.ilog2() as usize;
        match forks {
            Forks { last, .. } if last >= Fork::Gloas => Vec::new(),
            Forks { last, .. } if last < Fork::Electra => vec![self.altair],
            Forks { first, .. } if first >= Fork::Electra => vec![self.electra],
            _ if is_deep => vec![self.electra, self.altair],
            _ => vec![self.altair],
        }
    }
}

/// A branch that must lead to the state root of a header.
struct Proof<'a> {
    name: &'static str,
    field: &'a StateField,
    branch: &'a [Root],
    header: &'a BeaconHeader,
    forks: Forks,
}

impl Proof<'_> {
    fn of_committee(&self, committee: &SyncCommittee) -> Check {
        match committee.root() {
            Some(root) => self.of(&root),
            None => failed(self.name, "the committee has no \"aggregate_pubkey\", which its root needs"),
        }
    }

    fn of(&self, leaf: &Root) -> Check {
        let indices = self.field.indices(self.forks, self.branch).into_iter();
        let checks =
            indices.map(|index| led(self.name, leaf, self.branch, index, "state root", &self.header.state_root));
        let checked = checks.reduce(|first, next| if next.failed() { first } else { next });
        checked.unwrap_or_else(|| not_possible(self.name, "the specification has no light-client layout for Gloas yet"))
    }
}

/// Checks that a branch leads from a leaf to a root.
fn led(name: &'static str, leaf: &Root, branch: &[Root], index: u64, what: &str, root: &Root) -> Check {
    let expected = const_hex::encode_prefixed(root);
    let found = ssz::climb(leaf, branch, index);
    let detail = match &found {
        Some(found) if found == root => format!("it leads to the {what} {expected} (generalized index {index})"),
        Some(found) => format!(
            "expected the {what} {expected}, found that the branch leads to {} (generalized index {index})",
            const_hex::encode_prefixed(found)
        ),
        None => format!(
            "expected a branch of {} nodes, after zeros if it is longer, found {} nodes",
            index.ilog2(),
            branch.len()
        ),
    };
    Check::decided(name, CheckResult::of(found.as_ref() == Some(root)), detail)
}

/// The forks that a header can be of, from the first to the last one.
#[derive(Clone, Copy)]
struct Forks {
    first: Fork,
    last: Fork,
}

impl Forks {
    /// Those that have a light-client layout.
    const ALL: Self = Self { first: Fork::Altair, last: Fork::Fulu };

    /// The fork of an attested header or of a bootstrap's: by the network's schedule, or the document's own `version`, which is about this
    /// header, if the network has no schedule.
    fn of(network: &BeaconNetwork, header: &Header, stated: Option<Fork>) -> Self {
        let fork = network.fork(header.beacon.slot).or(stated);
        fork.map_or(Self::ALL, |fork| Self { first: fork, last: fork })
    }

    /// The forks of an update's finalized header. The document's `version` is that of the attested header. The finalized one is some
    /// epochs older, so a fork can lie between them.
    fn up_to(network: &BeaconNetwork, header: &Header, stated: Option<Fork>) -> Self {
        match (network.fork(header.beacon.slot), stated) {
            (Some(fork), _) => Self { first: fork, last: fork },
            (None, Some(last)) => Self { last, ..Self::ALL },
            (None, None) => Self::ALL,
        }
    }
}

fn failed(name: &'static str, detail: &str) -> Check {
    Check::decided(name, CheckResult::Failed, detail)
}

fn not_possible(name: &'static str, detail: &str) -> Check {
    Check::decided(name, CheckResult::NotPossible, detail)
}
