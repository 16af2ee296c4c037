//! `quorate-node claim`.
//!
//! The logs say what was set aside in an epoch, what tallies added up, and what was paid. The contract is asked about what they
//! leave open alone, and what is sent follows its answers: a log that a node hides or invents costs questions, or a reward that
//! is not claimed this time.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::anyhow;
use clap::Args;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use quorate_chain::{
    Rpc, RpcError,
    rpc::{AT_A_TIME, TransactionReceipt},
    task_network::{Confirmations, FollowDepth, FollowSettings, NetworkFollower},
};
use quorate_evm::{
    MemberSet, address,
    alloy_primitives::{Address, B256, U256},
    alloy_sol_types::SolEvent as _,
    contract::{
        TaskNetwork, Verifier,
        task_network::ITaskNetwork::{Share, Task},
    },
    task_network::{self, Change, ContractTerms},
};
use quorate_host::exit::{Exit, Failure, Result};
use serde_json::json;

use super::{NodeArguments, Pool, Token, account, contract, note, payer, print, rpc, runtime, send, terms};

/// Add up what an epoch's signers and performers earned, and pay the operator its part
///
/// An epoch is tallied when it can settle nothing more: two epochs after it began. Whoever tallies it does so for all operators, and
/// pays the gas. Then the operator is paid what its keys earned in all tallied epochs. Reads the contract's logs from --from-block on,
/// and asks the contract about what they leave open.
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
    /// Approved tasks for whose performer something was set aside.
    tasks: Vec<Task>,
    /// Quorums for whose signers something was set aside, by their bitmaps.
    quorums: BTreeMap<Vec<u8>, MemberSet>,
    /// All that was set aside for these tasks and quorums.
    set_aside: U256,
    /// Tasks that were approved and for which the pool had too little.
    unpaid: BTreeSet<B256>,
    /// What each index earned, by the last tally; empty without one.
    tallied: Vec<U256>,
    /// What all tallies together gave back to the pool.
    returned: U256,
    /// The indices that were paid: whose key it is, and what was paid.
    paid: BTreeMap<usize, (Address, U256)>,
}

/// The most epochs of one claim.
const EPOCHS_AT_ONCE: usize = 50;

impl Arguments {
    pub(crate) fn run(self) -> Result {
        let options = self.node.options()?;
        let (rpc, contract, payer) = (rpc(&options)?, contract(&options)?, payer(&options)?);
        runtime()?.block_on(async {
            let terms = terms(&rpc, contract).await?;
            let token = Token::read(&rpc, terms.token).await?;
            let operator = self.operator.unwrap_or_else(|| payer.address());
            let from_block = options.from_block.unwrap_or(0);
            let mut epochs = read(&rpc, &terms, from_block).await?;
            let account = account(&options, &rpc, payer).await?;
            let mut is_sent = false;
            for (epoch, earned) in &epochs {
                // Each tally begins with the amounts of the one before.
                let mut before = earned.tallied.clone();
                for (tasks, quorums) in owed(&rpc, &terms, *epoch, earned).await? {
                    let tally = task_network::tally(&terms, *epoch, tasks, &quorums, before);
                    before = added_up(&send(&account, "tally", tally).await?, contract)?;
                    is_sent = true;
                }
            }
            if is_sent {
                epochs = read(&rpc, &terms, from_block).await?;
            }
            let shares = of_operator(&rpc, &terms, &epochs, operator).await?;
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

impl Earned {
    /// Whether tallies added up, or gave back, all that was set aside. They neither lose nor make anything.
    fn is_tallied(&self) -> bool {
        let sum = self.tallied.iter().fold(self.returned, |sum, amount| sum.saturating_add(*amount));
        sum == self.set_aside
    }

    /// The operator's index, if it was paid in the epoch. An operator has one seat, and so one index with a weight.
    fn index_of(&self, operator: Address) -> Option<usize> {
        self.paid.iter().find(|(_, (owner, _))| *owner == operator).map(|(index, _)| *index)
    }

    /// The indices that earned something of which nobody was paid anything.
    fn never_paid(&self) -> impl Iterator<Item = usize> + '_ {
        let earned = self.tallied.iter().enumerate().filter(|(_, amount)| !amount.is_zero());
        earned.map(|(index, _)| index).filter(move |index| !self.paid.contains_key(index))
    }

    /// The share of an index, if the logs do not say that all of it was paid.
    fn share(&self, epoch: u64, index: usize) -> Option<Share> {
        let paid = self.paid.get(&index).map_or(U256::ZERO, |(_, paid)| *paid);
        let is_open = self.tallied.get(index).is_some_and(|amount| *amount > paid);
        if is_open { task_network::share_of(epoch, index, &self.tallied) } else { None }
    }
}

/// What the logs tell of each epoch that can settle nothing more.
async fn read(rpc: &Rpc, terms: &ContractTerms, from_block: u64) -> Result<BTreeMap<u64, Earned>> {
    let settings = FollowSettings {
        from_block,
        confirmations: Confirmations::Blocks(0),
        depth: FollowDepth::Logs,
        ..FollowSettings::default()
    };
    let mut follower = NetworkFollower::open(rpc.clone(), terms.contract, settings).await.map_err(Failure::io)?;
    let changes = follower.poll().await.map_err(Failure::io)?;
    let mut epochs = by_epoch(terms, changes);
    let running = follower.view().epoch();
    epochs.retain(|epoch, _| epoch.saturating_add(2) <= running);
    Ok(epochs)
}

/// What changes tell of each epoch.
fn by_epoch(terms: &ContractTerms, changes: Vec<Change>) -> BTreeMap<u64, Earned> {
    let mut epochs = BTreeMap::<u64, Earned>::new();
    let mut seen = BTreeSet::<B256>::new();
    let add = |sum: &mut U256, amount: U256| *sum = sum.saturating_add(amount);
    for change in changes {
        match change {
            // A settlement is told once as recent and once as final.
            Change::Settled { id, epoch, performer, result, approved: true, rewarded: true, .. } if seen.insert(id) => {
                let earned = epochs.entry(epoch).or_default();
                add(&mut earned.set_aside, U256::from(terms.performer_reward));
                earned.tasks.push(Task { id, performer, result, approved: true });
            }
            Change::Settled { id, epoch, approved: true, rewarded: false, .. } => {
                epochs.entry(epoch).or_default().unpaid.insert(id);
            }
            // Without an amount the contract keeps no record.
            Change::Attested { epoch, signers, amount, .. } if amount != 0 => {
                let earned = epochs.entry(epoch).or_default();
                add(&mut earned.set_aside, U256::from(amount));
                earned.quorums.insert(signers.as_bytes().to_vec(), signers);
            }
            Change::Tallied { epoch, earned: amounts, returned, .. } => {
                let earned = epochs.entry(epoch).or_default();
                add(&mut earned.returned, returned);
                earned.tallied = amounts;
            }
            Change::Claimed { operator, epoch, index, amount } => {
                let earned = epochs.entry(epoch).or_default();
                add(&mut earned.paid.entry(index as usize).or_insert((operator, U256::ZERO)).1, amount);
            }
            _ => {}
        }
    }
    epochs
}

/// Asks a question about each of these, several at a time. The answers stand in the order of the questions.
async fn ask_each<T, A, F>(of: impl IntoIterator<Item = T>, ask: impl FnMut(T) -> F) -> Result<Vec<A>>
where
    F: Future<Output = std::result::Result<A, RpcError>>,
{
    stream::iter(of).map(ask).buffered(AT_A_TIME).try_collect().await.map_err(Failure::io)
}

/// The tasks and quorums of an epoch that nobody has tallied, in parts of a transaction's size.
async fn owed(
    rpc: &Rpc,
    terms: &ContractTerms,
    epoch: u64,
    earned: &Earned,
) -> Result<Vec<(Vec<Task>, Vec<MemberSet>)>> {
    if earned.is_tallied() {
        return Ok(Vec::new());
    }
    let quorums = ask_each(earned.quorums.values(), |signers| async move {
        let signed = signers.as_bytes().to_vec().into();
        let call = TaskNetwork::recordOfCall { epoch: U256::from(epoch), signers: signed };
        let record = rpc.read(terms.contract, &call, None).await?;
        Ok((!record.weight.is_zero()).then(|| signers.clone()))
    });
    let quorums: Vec<_> = quorums.await?.into_iter().flatten().collect();
    let tasks = ask_each(&earned.tasks, |task| async move {
        // Whether a performer was paid has no view of its own: the contract refuses a tally of a task that was tallied.
        let alone = task_network::tally(terms, epoch, vec![task.clone()], &[], earned.tallied.clone());
        let request = json!([{ "to": alone.to, "data": alone.calldata }, "latest"]);
        match rpc.ask::<B256>("eth_call", request).await {
            Ok(_) => Ok(Some(task.clone())),
            Err(error) if error.revert().is_some() => Ok(None),
            Err(error) => Err(error),
        }
    });
    let tasks: Vec<_> = tasks.await?.into_iter().flatten().collect();
    if tasks.is_empty() && quorums.is_empty() {
        return Ok(Vec::new());
    }
    let call = Verifier::weightsOfCall { epoch: U256::from(epoch) };
    let keys = rpc.read(terms.verifier, &call, None).await.map_err(Failure::io)?.len();
    Ok(task_network::parts_of_tally(keys, tasks, quorums))
}

/// What each index of an epoch earned so far, by the log of a tally.
fn added_up(receipt: &TransactionReceipt, contract: Address) -> Result<Vec<U256>> {
    let mut logs = receipt.logs.iter().filter(|log| log.inner.address == contract);
    let tallied = logs.find_map(|log| TaskNetwork::Tallied::decode_log_data(&log.inner.data).ok());
    let none =
        || Failure::io(anyhow!("the node's receipt of the tally has no log of it; call `quorate-node claim` anew"));
    tallied.map(|tallied| tallied.earned).ok_or_else(none)
}

/// What the operator's keys earned in these epochs and were not paid: the shares to claim, and how much of each is unpaid.
async fn of_operator(
    rpc: &Rpc,
    terms: &ContractTerms,
    epochs: &BTreeMap<u64, Earned>,
    operator: Address,
) -> Result<Vec<(Share, U256)>> {
    let contract = terms.contract;
    // Where it was never paid, one of the indices of which nobody was paid may be its own.
    let paid = |(epoch, earned): (&u64, &Earned)| Some((*epoch, earned.index_of(operator)?));
    let mut own: Vec<(u64, usize)> = epochs.iter().filter_map(paid).collect();
    let is_open =
        |(_, earned): &(&u64, &Earned)| earned.index_of(operator).is_none() && earned.never_paid().next().is_some();
    let tables = ask_each(epochs.iter().filter(is_open), |(epoch, earned)| async move {
        let call = TaskNetwork::snapshotOfCall { epoch: U256::from(*epoch) };
        Ok((*epoch, earned, rpc.read(contract, &call, None).await?.table))
    });
    let tables = tables.await?;
    // A key has one owner, in all epochs that use its table.
    let keys = tables.iter().flat_map(|(_, earned, table)| earned.never_paid().map(move |index| (*table, index)));
    let owners = ask_each(keys.collect::<BTreeSet<_>>(), |(table, index)| async move {
        let call = TaskNetwork::ownerOfKeyCall { table, index: U256::from(index) };
        Ok(((table, index), rpc.read(contract, &call, None).await?))
    });
    let owners: BTreeMap<_, _> = owners.await?.into_iter().collect();
    for (epoch, earned, table) in tables {
        let is_own = |index: &usize| owners.get(&(table, *index)) == Some(&operator);
        own.extend(earned.never_paid().filter(is_own).map(|index| (epoch, index)));
    }
    own.sort_unstable();
    let shares = own.into_iter().filter_map(|(epoch, index)| epochs.get(&epoch)?.share(epoch, index));
    let shares = ask_each(shares, |share| async move {
        let call = TaskNetwork::paidOfCall { epoch: share.epoch, index: share.index };
        let unpaid = share.amount.saturating_sub(rpc.read(contract, &call, None).await?);
        Ok((share, unpaid))
    });
    Ok(shares.await?.into_iter().filter(|(_, unpaid)| !unpaid.is_zero()).collect())
}

#[cfg(test)]
mod tests {
    use quorate_evm::{Finality, alloy_primitives::Bytes, alloy_sol_types::SolCall as _};
    use quorate_lab::{proxy::Proxy, terms::some_terms};

    use super::*;

    const OWN: Address = Address::repeat_byte(1);
    const OTHER: Address = Address::repeat_byte(2);
    const EPOCHS: u64 = 100;

    /// Two tasks of one quorum, of three keys.
    fn settled(epoch: u64) -> Vec<Change> {
        let (transaction, block, finality) = (B256::ZERO, 1, Finality::Final);
        let (performer, result) = (U256::ONE, B256::ZERO);
        let task = |number: u64| {
            let id = B256::from(U256::from(2 * epoch + number));
            let (approved, rewarded) = (true, true);
            Change::Settled { id, epoch, performer, result, approved, rewarded, transaction, block, finality }
        };
        let attested = Change::Attested { epoch, signers: MemberSet::full(3), weight: 3, amount: 100, transaction };
        vec![task(0), task(1), attested]
    }

    /// Of 110 that were set aside, 2 were returned.
    fn tallied(epoch: u64) -> Change {
        let earned = [33_u64, 43, 32].map(U256::from).to_vec();
        Change::Tallied { epoch, root: B256::ZERO, returned: U256::from(2), earned }
    }

    fn claimed(epoch: u64) -> Change {
        Change::Claimed { operator: OWN, epoch, index: 1, amount: U256::from(43) }
    }

    /// A contract in which the other operator owns the key at index 2. It was paid nothing, no record is left, and no task was tallied.
    fn node() -> Proxy {
        Proxy::alone(|method, parameters| {
            let data: Bytes = serde_json::from_value(parameters[0]["data"].clone()).unwrap();
            let selector = data.first_chunk::<4>().copied().unwrap();
            let answer = match selector {
                TaskNetwork::snapshotOfCall::SELECTOR => vec![U256::ZERO; 5],
                TaskNetwork::ownerOfKeyCall::SELECTOR => {
                    let call = TaskNetwork::ownerOfKeyCall::abi_decode(&data).unwrap();
                    let owner = if call.index == U256::from(2) { OTHER } else { Address::repeat_byte(3) };
                    vec![U256::from_be_slice(owner.as_slice())]
                }
                TaskNetwork::paidOfCall::SELECTOR | TaskNetwork::tallyCall::SELECTOR => vec![U256::ZERO],
                TaskNetwork::recordOfCall::SELECTOR => vec![U256::ZERO; 2],
                Verifier::weightsOfCall::SELECTOR => [32_u64, 3, 1, 1, 1].map(U256::from).to_vec(),
                _ => return Err(format!("{method} asks {data}")),
            };
            let words: Vec<u8> = answer.iter().flat_map(|word| word.to_be_bytes::<32>()).collect();
            Ok(json!(Bytes::from(words)))
        })
    }

    /// The number of tasks to tally, the index and the unpaid part of each share to claim, and how many questions that took.
    fn asked(changes: Vec<Change>, operator: Address) -> (usize, Vec<(U256, U256)>, u64) {
        let (node, terms) = (node(), some_terms());
        let rpc = Rpc::new(&node.url).unwrap();
        let epochs = by_epoch(&terms, changes);
        let (tasks, shares) = runtime().unwrap().block_on(async {
            let mut tasks = 0;
            for (epoch, earned) in &epochs {
                let parts = owed(&rpc, &terms, *epoch, earned).await.unwrap();
                tasks += parts.iter().map(|(tasks, _)| tasks.len()).sum::<usize>();
            }
            (tasks, of_operator(&rpc, &terms, &epochs, operator).await.unwrap())
        });
        let shares = shares.into_iter().map(|(share, unpaid)| (share.index, unpaid)).collect();
        (tasks, shares, rpc.counts().questions)
    }

    #[test]
    fn a_claim_asks_nothing_about_epochs_that_are_tallied_and_paid() {
        let all = |epoch| [settled(epoch), vec![tallied(epoch), claimed(epoch)]].concat();
        let changes: Vec<_> = (0..EPOCHS).flat_map(all).collect();
        assert_eq!(asked(changes.clone(), OWN), (0, Vec::new(), 0));

        // Another operator was never paid: a question for the table of each epoch, one for the owner of each key, and one for what was
        // paid of each share.
        let shares = vec![(U256::from(2), U256::from(32)); EPOCHS as usize];
        assert_eq!(asked(changes.clone(), OTHER), (0, shares, EPOCHS + 2 + EPOCHS));

        // Of an epoch that nobody tallied, the record and both tasks are asked for, and the number of keys.
        let more = [changes.clone(), settled(EPOCHS)].concat();
        assert_eq!(asked(more, OWN), (2, Vec::new(), 1 + 2 + 1));

        // The same of one of which a part was tallied. What it added up for the operator is paid already.
        let part = Change::Tallied {
            epoch: EPOCHS,
            root: B256::ZERO,
            returned: U256::ZERO,
            earned: [0_u64, 5, 0].map(U256::from).to_vec(),
        };
        let paid = Change::Claimed { operator: OWN, epoch: EPOCHS, index: 1, amount: U256::from(5) };
        let more = [changes.clone(), settled(EPOCHS), vec![part, paid]].concat();
        assert_eq!(asked(more, OWN), (2, Vec::new(), 1 + 2 + 1));

        // What was paid is less than what was added up since: the contract says how much is unpaid.
        let less = changes.into_iter().map(|change| match change {
            Change::Claimed { operator, epoch: 0, index, .. } => {
                Change::Claimed { operator, epoch: 0, index, amount: U256::from(40) }
            }
            other => other,
        });
        assert_eq!(asked(less.collect(), OWN), (0, vec![(U256::ONE, U256::from(43))], 1));
    }
}
