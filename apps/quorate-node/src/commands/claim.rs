//! `quorate-node claim`.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::anyhow;
use clap::Args;
use quorate_chain::{
    Rpc,
    task_network::{Confirmations, FollowSettings, NetworkFollower},
};
use quorate_evm::{
    MemberSet, address,
    alloy_primitives::{Address, B256, U256},
    contract::{
        TaskNetwork, Verifier,
        task_network::ITaskNetwork::{Share, Task},
    },
    task_network::{self, Change, ContractTerms},
};
use quorate_host::exit::{Exit, Failure, Result};

use super::{NodeArguments, Pool, Token, account, contract, note, payer, print, rpc, runtime, send, terms};

/// Add up what an epoch's signers and performers earned, and pay the operator its part
///
/// An epoch is tallied when it can settle nothing more: two epochs after it began. Whoever tallies it does so for all operators, and
/// pays the gas. Then the operator is paid what its keys earned in all tallied epochs. Reads the contract's logs from --from-block on.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The operator to pay [default: the account of --key-file]
    #[arg(long, value_name = "ADDRESS", value_parser = address::parse)]
    operator: Option<Address>,

    #[command(flatten)]
    node: NodeArguments,
}

/// What the logs tell of an epoch.
#[derive(Default)]
struct Earned {
    tasks: Vec<Task>,
    quorums: BTreeSet<Vec<u8>>,
    /// Tasks that were approved and for which the pool had too little.
    unpaid: BTreeSet<B256>,
    /// Of each index, by the last tally; empty without one.
    tallied: Vec<U256>,
}

/// The most epochs of one claim.
const EPOCHS_AT_ONCE: usize = 50;

impl Arguments {
    pub(crate) fn run(self) -> Result {
        let options = self.node.options()?;
        let (rpc, contract, payer) = (rpc(&options)?, contract(&options)?, payer(&options)?);
        runtime()?.block_on(async {
            let terms = terms(&rpc, contract).await?;
            let operator = self.operator.unwrap_or_else(|| payer.address());
            let from_block = options.from_block.unwrap_or(0);
            let mut epochs = read(&rpc, contract, from_block).await?;
            let account = account(&options, &rpc, payer).await?;
            for (epoch, earned) in &epochs {
                for (tasks, quorums) in owed(&rpc, &terms, *epoch, earned).await? {
                    // Each tally begins with the amounts of the one before.
                    let before = read(&rpc, contract, from_block).await?.remove(epoch).unwrap_or_default().tallied;
                    send(&account, "tally", task_network::tally(&terms, *epoch, tasks, &quorums, before)).await?;
                }
            }
            epochs = read(&rpc, contract, from_block).await?;
            let mut shares = Vec::new();
            for (epoch, earned) in &epochs {
                shares.extend(of_operator(&rpc, &terms, *epoch, earned, operator).await?);
            }
            let token = Token::read(&rpc, terms.token).await;
            let unpaid: usize = epochs.values().map(|earned| earned.unpaid.len()).sum();
            if unpaid > 0 {
                note(format!("{unpaid} approved tasks of these epochs settled without rewards, because the pool was empty"));
            }
            if let Some(problem) = Pool::read(&rpc, &terms).await?.problem(&token) {
                note(problem);
            }
            if shares.is_empty() {
                return Err(Failure::refused(anyhow!(
                    "{operator} has earned nothing that waits to be paid in epochs that are over; an epoch is over two epochs \
                     after it began"
                )));
            }
            let total: U256 = shares.iter().map(|(_, unpaid)| *unpaid).fold(U256::ZERO, |sum, unpaid| sum + unpaid);
            let shares: Vec<_> = shares.into_iter().map(|(share, _)| share).collect();
            for shares in shares.chunks(EPOCHS_AT_ONCE) {
                send(&account, "claim", task_network::claim(&terms, operator, shares.to_vec())).await?;
            }
            print(format!("{} was paid to {operator}", token.exact(total)))?;
            Ok(Exit::Success)
        })
    }
}

/// What the logs tell of each epoch that can settle nothing more.
async fn read(rpc: &Rpc, contract: Address, from_block: u64) -> Result<BTreeMap<u64, Earned>> {
    let settings = FollowSettings { from_block, confirmations: Confirmations::Blocks(0), ..FollowSettings::default() };
    let mut follower = NetworkFollower::open(rpc.clone(), contract, settings).await.map_err(Failure::io)?;
    let mut epochs = BTreeMap::<u64, Earned>::new();
    let mut seen = BTreeSet::<B256>::new();
    for change in follower.poll().await.map_err(Failure::io)? {
        match change {
            // A settlement is told once as recent and once as final.
            Change::Settled { id, epoch, performer, result, approved: true, rewarded: true, .. } if seen.insert(id) => {
                let task = Task { id, performer, result, approved: true };
                epochs.entry(epoch).or_default().tasks.push(task);
            }
            Change::Settled { id, epoch, approved: true, rewarded: false, .. } => {
                epochs.entry(epoch).or_default().unpaid.insert(id);
            }
            Change::Attested { epoch, signers, .. } => {
                epochs.entry(epoch).or_default().quorums.insert(signers.as_bytes().to_vec());
            }
            Change::Tallied { epoch, earned, .. } => epochs.entry(epoch).or_default().tallied = earned,
            _ => {}
        }
    }
    let running = follower.view().epoch();
    epochs.retain(|epoch, _| epoch.saturating_add(2) <= running);
    Ok(epochs)
}

/// The tasks and quorums of an epoch that nobody has tallied, in parts of a transaction's size.
async fn owed(
    rpc: &Rpc,
    terms: &ContractTerms,
    epoch: u64,
    earned: &Earned,
) -> Result<Vec<(Vec<Task>, Vec<MemberSet>)>> {
    let (mut tasks, mut quorums) = (Vec::new(), Vec::new());
    for quorum in &earned.quorums {
        let call = TaskNetwork::recordOfCall { epoch: U256::from(epoch), signers: quorum.clone().into() };
        let record = rpc.read(terms.contract, &call, None).await.map_err(Failure::io)?;
        if !record.weight.is_zero() {
            let signers =
                MemberSet::from_bytes(quorum).map_err(|error| Failure::io(anyhow!("a quorum in the logs: {error}")))?;
            quorums.push(signers);
        }
    }
    for task in &earned.tasks {
        // Whether a performer was paid has no view of its own: the contract refuses a tally of a task that was tallied.
        let alone = task_network::tally(terms, epoch, vec![task.clone()], &[], earned.tallied.clone());
        let request = serde_json::json!([{ "to": alone.to, "data": alone.calldata }, "latest"]);
        match rpc.ask::<B256>("eth_call", request).await {
            Ok(_) => tasks.push(task.clone()),
            Err(error) if error.revert().is_some() => {}
            Err(error) => return Err(Failure::io(error)),
        }
    }
    if tasks.is_empty() && quorums.is_empty() {
        return Ok(Vec::new());
    }
    let call = Verifier::weightsOfCall { epoch: U256::from(epoch) };
    let keys = rpc.read(terms.verifier, &call, None).await.map_err(Failure::io)?.len();
    Ok(task_network::parts_of_tally(keys, tasks, quorums))
}

/// What the operator's keys earned in an epoch and were not paid: the share to claim, and how much of it is unpaid.
async fn of_operator(
    rpc: &Rpc,
    terms: &ContractTerms,
    epoch: u64,
    earned: &Earned,
    operator: Address,
) -> Result<Vec<(Share, U256)>> {
    let number = U256::from(epoch);
    let snapshot = rpc.read(terms.contract, &TaskNetwork::snapshotOfCall { epoch: number }, None).await;
    let table = snapshot.map_err(Failure::io)?.table;
    let mut shares = Vec::new();
    for index in 0..earned.tallied.len() {
        let Some(share) = task_network::share_of(epoch, index, &earned.tallied) else { continue };
        let place = U256::from(index);
        let owner = TaskNetwork::ownerOfKeyCall { table, index: place };
        if rpc.read(terms.contract, &owner, None).await.map_err(Failure::io)? != operator {
            continue;
        }
        let paid = TaskNetwork::paidOfCall { epoch: number, index: place };
        let paid = rpc.read(terms.contract, &paid, None).await.map_err(Failure::io)?;
        if paid < share.amount {
            let unpaid = share.amount - paid;
            shares.push((share, unpaid));
        }
    }
    Ok(shares)
}
