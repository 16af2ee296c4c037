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
    if let Some(reason) = unknown_fork(network, bootstrap.fork) {
        return not_possible(CURRENT_COMMITTEE_BRANCH, &reason);
    }
    proof_of_current(bootstrap, network).of_committee(&bootstrap.committee)
}

const CURRENT_COMMITTEE_BRANCH: &str = "current_sync_committee_branch";

fn proof_of_current<'a>(bootstrap: &'a Bootstrap, network: &BeaconNetwork) -> Proof<'a> {
    Proof {
        name: CURRENT_COMMITTEE_BRANCH,
        field: &CURRENT_SYNC_COMMITTEE,
        branch: Branch::of_fork(&bootstrap.branch, bootstrap.fork),
        header: &bootstrap.header.beacon,
        forks: Forks::of(network, &bootstrap.header, bootstrap.fork),
    }
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
    let (header, branch) = (&update.attested.beacon, Branch::of_fork(branch, update.fork));
    Proof { name: NAME, field: &NEXT_SYNC_COMMITTEE, branch, header, forks }.of_committee(committee)
}

/// Checks that the finalized block is in the attested state.
pub(super) fn finality_branch(update: &Update, network: &BeaconNetwork) -> Check {
    const NAME: &str = FINALITY_BRANCH;
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
    let proof = proof_of_finality(update, branch, network);
    // Where the older layout has this root, a state of Electra is padded with zeros.
    if nothing && proof.forks.are_of_both_layouts() && proof.layout(&leaf) == Some(Layout::Altair) {
        return not_possible(
            NAME,
            "the update states that nothing is finalized, and nothing says how its state is laid out",
        );
    }
    proof.of(&leaf)
}

fn proof_of_finality<'a>(update: &'a Update, branch: &'a [Root], network: &BeaconNetwork) -> Proof<'a> {
    Proof {
        name: FINALITY_BRANCH,
        field: &FINALIZED_ROOT,
        branch: Branch::of_fork(branch, update.fork),
        header: &update.attested.beacon,
        forks: Forks::of(network, &update.attested, update.fork),
    }
}

const FINALITY_BRANCH: &str = "finality_branch";

/// Checks that the root of the recent blocks is in the state of a bootstrap's header; none if the document does not state it.
pub(super) fn block_roots_of_bootstrap(bootstrap: &Bootstrap, network: &BeaconNetwork) -> Option<Check> {
    let block_roots = bootstrap.block_roots.as_ref()?;
    let proof = proof_of_current(bootstrap, network);
    // The state that has the committee has the root as well.
    let forks = match bootstrap.committee.root().and_then(|root| proof.layout(&root)) {
        Some(Layout::Altair) => proof.forks.before_electra(),
        Some(Layout::Electra) => proof.forks.since_electra(),
        None => proof.forks,
    };
    Some(block_roots_branch(block_roots, Some(&bootstrap.header), forks))
}

/// Checks that the root of the recent blocks is in the state of an update's finalized header; none if the document does not state it.
pub(super) fn block_roots_of_update(update: &Update, network: &BeaconNetwork) -> Option<Check> {
    let block_roots = update.block_roots.as_ref()?;
    let header = update.finalized.as_ref().map(|(header, _)| header);
    Some(block_roots_branch(block_roots, header, forks_of_finalized(update, network)))
}

/// The forks that the finalized header can be of. Where no schedule says them, the attested state shows by the place of the finalized root
/// whether it is older than Electra, and then what is finalized is, too.
fn forks_of_finalized(update: &Update, network: &BeaconNetwork) -> Forks {
    let Some((header, branch)) = &update.finalized else { return Forks::ALL };
    let forks = Forks::up_to(network, header, update.fork);
    match proof_of_finality(update, branch, network).layout(&header.beacon.root()) {
        Some(Layout::Altair) => forks.before_electra(),
        Some(Layout::Electra) | None => forks,
    }
}

/// Why an update cannot be judged, whatever the network; none if it can. Nothing that it states would be proved, or a part of it.
pub(super) fn not_judged(update: &Update, network: &BeaconNetwork) -> Option<String> {
    if Forks::of(network, &update.attested, update.fork).last >= Fork::Gloas {
        return Some(
            "the specification has no light-client layout for Gloas yet, so nothing that the update states can be proved"
                .to_owned(),
        );
    }
    if let Some(reason) = unknown_fork(network, update.fork) {
        return Some(reason);
    }
    let (_, branch) = update.block_roots.as_ref().filter(|_| update.finalized.is_some())?;
    // In a state of Electra, the node at the older index is made of two other fields: a branch leads there from what is no such root.
    (forks_of_finalized(update, network).are_of_both_layouts() && branch.len() == depth(BLOCK_ROOTS.altair)).then(|| {
        "nothing says whether the finalized block is older than Electra, so \"block_roots_root\" cannot be proved; leave it out, or name \
         a network whose forks are known (on the command line --network NAME)"
            .to_owned()
    })
}

/// Why nothing of a document can be checked that states a fork after all those of its network's schedule; none if it states none.
fn unknown_fork(network: &BeaconNetwork, stated: Option<Fork>) -> Option<String> {
    let last = network.forks().last()?.fork;
    let stated = stated.filter(|stated| *stated > last)?;
    Some(format!(
        "the document states the fork {}, and the forks of {} that are built in end with {}, so nothing says how it is signed; use a newer \
         version of this program, or correct \"version\"",
        stated.name(),
        network.name,
        last.name()
    ))
}

fn block_roots_branch((root, branch): &(Root, Vec<Root>), header: Option<&Header>, forks: Forks) -> Check {
    const NAME: &str = "block_roots_branch";
    let Some(header) = header.filter(|header| header.beacon != BeaconHeader::default()) else {
        return if *root == Root::default() && ssz::is_empty(branch) {
            not_possible(NAME, "the update contains no finalized header")
        } else {
            failed(NAME, "the update contains no finalized header, whose state would have this root")
        };
    };
    // What proves itself in either layout is Electra's alone (`not_judged`).
    let forks = if forks.are_of_both_layouts() { forks.since_electra() } else { forks };
    let proof = Proof { name: NAME, field: &BLOCK_ROOTS, branch: Branch::exact(branch), header: &header.beacon, forks };
    proof.of(root)
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
/// what a document leaves out stays unchecked, which is [`CheckResult::Unproved`].
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
            return Check::decided(
                name,
                CheckResult::Unproved,
                "the document leaves out the execution payload header, so nothing of the execution payload is proved; a light \
                 client takes no header of Capella or later without it",
            );
        }
        HeaderExecution::Stated(..) | HeaderExecution::NoPlace => {
            return Check::decided(
                name,
                CheckResult::Unproved,
                "found zeros or nothing for the execution payload header, which is right before Capella alone, and nothing \
                 says the fork of the block, so nothing of an execution payload is proved",
            );
        }
    };
    // A root of one layout is never that of the other: their trees differ in depth.
    let of_deneb = (forks.last >= Fork::Deneb).then_some(Fork::Deneb);
    let of_capella = (forks.first < Fork::Deneb).then_some(Fork::Capella);
    let layouts = of_deneb.into_iter().chain(of_capella);
    let roots: Vec<_> = layouts.map(|fork| execution.root(fork).map(|root| (fork, root))).collect();
    let checks = roots.iter().flatten().map(|(fork, root)| {
        let body_root = &header.beacon.body_root;
        let check = led(name, root, (EXECUTION_PAYLOAD_INDEX, &branch[..]), "block body root", body_root);
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

/// What an update cannot show: that its signature is of no later slot than the clock's.
///
/// Spec: `validate_light_client_update`, `current_slot >= update.signature_slot`.
pub(super) fn current_slot(update: &Update) -> Check {
    let detail = format!(
        "no clock is asked whether slot {} has begun, of which the signature is said to be; a light client takes no update from the future",
        update.signature_slot
    );
    not_possible("current_slot", &detail)
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

/// How many nodes a branch from a generalized index has.
fn depth(index: u64) -> usize {
    index.ilog2() as usize
}

/// How a state is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// From Altair to Deneb.
    Altair,
    /// Since Electra.
    Electra,
}

/// A branch as a document states it.
#[derive(Clone, Copy)]
struct Branch<'a> {
    nodes: &'a [Root],
    /// Whether a branch of the layout of Altair may stand behind a zero, as the containers of Electra have it
    /// (electra/light-client/fork.md, `normalize_merkle_branch`).
    may_be_padded: bool,
}

impl<'a> Branch<'a> {
    /// A branch in the specification's containers, whose fork the document may state.
    fn of_fork(nodes: &'a [Root], stated: Option<Fork>) -> Self {
        Self { nodes, may_be_padded: stated.is_none_or(|fork| fork >= Fork::Electra) }
    }

    /// A branch of one length.
    fn exact(nodes: &'a [Root]) -> Self {
        Self { nodes, may_be_padded: false }
    }

    /// The nodes of a branch of so many, without the zero before them.
    fn of_depth(self, depth: usize) -> &'a [Root] {
        match self.nodes {
            [zero, rest @ ..] if self.may_be_padded && rest.len() == depth && *zero == Root::default() => rest,
            nodes => nodes,
        }
    }
}

/// A branch that must lead to the state root of a header.
struct Proof<'a> {
    name: &'static str,
    field: &'a StateField,
    branch: Branch<'a>,
    header: &'a BeaconHeader,
    forks: Forks,
}

impl<'a> Proof<'a> {
    fn of_committee(&self, committee: &SyncCommittee) -> Check {
        match committee.root() {
            Some(root) => self.of(&root),
            None => failed(self.name, "the committee has no \"aggregate_pubkey\", which its root needs"),
        }
    }

    fn of(&self, leaf: &Root) -> Check {
        let checks = self
            .ways()
            .into_iter()
            .map(|(_, index, branch)| led(self.name, leaf, (index, branch), "state root", &self.header.state_root));
        let checked = checks.reduce(|first, next| if next.failed() { first } else { next });
        checked.unwrap_or_else(|| not_possible(self.name, "the specification has no light-client layout for Gloas yet"))
    }

    /// The layout in which the branch proves a leaf; none if it does not. A committee, or a root that is not zero, is proved in one of the
    /// two alone: at its place in the other stand zeros, or what is under a list or a number. Roots of recent blocks are not, see
    /// [`not_judged`].
    fn layout(&self, leaf: &Root) -> Option<Layout> {
        let mut ways = self.ways().into_iter();
        let leads = |(_, index, branch): &(Layout, u64, &[Root])| {
            ssz::climb(leaf, branch, *index).as_ref() == Some(&self.header.state_root)
        };
        ways.find(leads).map(|(layout, ..)| layout)
    }

    /// The generalized indices that the field can have in the proof's forks, each with its branch; none if nothing says what they are. If
    /// it can be either, the branch's length decides.
    fn ways(&self) -> Vec<(Layout, u64, &'a [Root])> {
        let StateField { altair, electra } = *self.field;
        let in_altair = (Layout::Altair, altair, self.branch.of_depth(depth(altair)));
        let in_electra = (Layout::Electra, electra, self.branch.nodes);
        match self.forks {
            Forks { last, .. } if last >= Fork::Gloas => Vec::new(),
            Forks { last, .. } if last < Fork::Electra => vec![in_altair],
            Forks { first, .. } if first >= Fork::Electra => vec![in_electra],
            _ if self.branch.nodes.len() == depth(electra) => vec![in_electra, in_altair],
            _ => vec![in_altair],
        }
    }
}

/// Checks that a branch leads from a leaf, at a generalized index, to a root.
fn led(name: &'static str, leaf: &Root, (index, branch): (u64, &[Root]), what: &str, root: &Root) -> Check {
    let expected = const_hex::encode_prefixed(root);
    let found = ssz::climb(leaf, branch, index);
    let detail = match &found {
        Some(found) if found == root => format!("it leads to the {what} {expected} (generalized index {index})"),
        Some(found) => format!(
            "expected the {what} {expected}, found that the branch leads to {} (generalized index {index})",
            const_hex::encode_prefixed(found)
        ),
        None => format!("expected a branch of {} nodes, found {} nodes", depth(index), branch.len()),
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
    /// header, if the network has no schedule. No signature covers the `version`, but the branches of another layout prove nothing.
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

    /// Those of them whose states have the layout of Altair.
    fn before_electra(self) -> Self {
        Self { last: self.last.min(Fork::Deneb), ..self }
    }

    /// Those of them whose states have the layout of Electra.
    fn since_electra(self) -> Self {
        Self { first: self.first.max(Fork::Electra), ..self }
    }

    /// Whether a state can have either layout.
    fn are_of_both_layouts(self) -> bool {
        self.first < Fork::Electra && self.last >= Fork::Electra
    }
}

fn failed(name: &'static str, detail: &str) -> Check {
    Check::decided(name, CheckResult::Failed, detail)
}

fn not_possible(name: &'static str, detail: &str) -> Check {
    Check::decided(name, CheckResult::NotPossible, detail)
}
