//! What the nodes of a network answer to `/v1/tasks` and `/v1/status`, and what follows for a task. Nothing that is missing
//! counts as zero: it is an error.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use quorate_evm::alloy_primitives::B256;
use serde_json::Value;

/// The answers of one node at the end.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// `/v1/tasks`.
    pub(super) tasks: Value,
    /// `/v1/status`.
    pub(super) status: Value,
}

/// The gas of a settlement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gas {
    pub(super) used: u64,
    /// What its plan estimated before it was sent.
    pub(super) estimated: u64,
}

/// A task that was settled as it should.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Settled {
    /// From when the first node had the result, which is its performer's, to when the node that settled it had verified a
    /// quorum.
    pub(super) quorum_ms: f64,
    /// To when the block of the settlement was mined.
    pub(super) mined_ms: f64,
    /// To when that node saw the settlement in the block.
    pub(super) seen_ms: f64,
    pub(super) gas: Gas,
    /// Transactions of other nodes for the same task, which failed and cost gas.
    pub(super) reverted: usize,
}

/// The ids of the tasks that a node knows since a time, in milliseconds since 1970; the oldest first.
pub(super) fn since(tasks: &Value, begun_ms: u64) -> Vec<String> {
    let known = |task: &Value| task.pointer("/times/known").and_then(Value::as_u64);
    let mut found: Vec<_> = list(tasks, "tasks")
        .filter_map(|task| Some((known(task).filter(|known| *known >= begun_ms)?, text(task, "/id")?.to_owned())))
        .collect();
    found.sort();
    found.into_iter().map(|(_, id)| id).collect()
}

/// Whether some node says that it sent the transaction that settled a task, and has seen it.
pub(super) fn is_settled(nodes: &[Value], id: &str) -> bool {
    nodes.iter().filter_map(|tasks| task(tasks, id)).any(|task| flag(task, "/settlement/own") == Some(true))
}

/// What became of a task. `mined` has when each block was mined, in milliseconds since 1970.
///
/// # Errors
/// It is not settled, somebody says that it was rejected, or a time, its block or the gas is missing.
pub(super) fn settled(id: &str, nodes: &[Node], mined: &BTreeMap<u64, u64>) -> Result<Settled> {
    let views = || nodes.iter().filter_map(|node| Some((node, task(&node.tasks, id)?)));
    let verdicts = views().filter_map(|(_, task)| flag(task, "/settlement/approved"));
    ensure!(verdicts.clone().count() > 0, "task {id} was not settled");
    ensure!(verdicts.clone().all(|approved| approved), "task {id} was rejected, but its result is right");
    let time = |task: &Value, name: &str| task.pointer(&format!("/times/{name}")).and_then(Value::as_u64);
    let published = views().filter_map(|(_, task)| time(task, "result")).min();
    let published = published.with_context(|| format!("no node has the time of the result of task {id}"))?;
    let settler = views().find(|(_, task)| flag(task, "/settlement/own") == Some(true));
    let (node, task) = settler.with_context(|| format!("no node says that it settled task {id}"))?;
    let since_published = |what: &str, time: u64| {
        let after = time.checked_sub(published);
        Ok::<_, anyhow::Error>(after.with_context(|| format!("task {id}: {what} was before its result"))? as f64)
    };
    let after = |name: &str| {
        let what = format!("`{name}`");
        since_published(&what, time(task, name).with_context(|| format!("task {id} has no time {what}"))?)
    };
    let block = task.pointer("/settlement/block").and_then(Value::as_u64);
    let block = block.with_context(|| format!("task {id} has no block"))?;
    let of_block = *mined.get(&block).with_context(|| format!("nobody saw block {block}, of task {id}"))?;
    let transaction = text(task, "/settlement/transaction");
    let sent = submissions(node, id).find(|sent| transaction.is_some() && text(sent, "/transaction") == transaction);
    let sent =
        sent.with_context(|| format!("the transaction that settled task {id} is not among those of its node"))?;
    let number = |name: &str| {
        let number = sent.get(name).and_then(Value::as_u64).filter(|gas| *gas > 0);
        number.with_context(|| format!("the transaction that settled task {id} has no `{name}`"))
    };
    let gas = Gas { used: number("gas_used")?, estimated: number("estimate")? };
    let failed = |sent: &&Value| text(sent, "/state") == Some("refused") && !sent["gas_used"].is_null();
    let reverted = nodes.iter().flat_map(|node| submissions(node, id)).filter(failed).count();
    let mined_ms = since_published("its block", of_block)?;
    Ok(Settled { quorum_ms: after("quorum")?, mined_ms, seen_ms: after("settled")?, gas, reverted })
}

/// Whether a node saw nothing that no honest operator does.
///
/// # Errors
/// It saw a false signature, a conflict or a punishment, or does not say.
pub(super) fn all_honest(status: &Value) -> Result<()> {
    let number = |name: &str| {
        let number = status.pointer(&format!("/counts/{name}")).and_then(Value::as_u64);
        number.with_context(|| format!("a node does not say how many messages were `{name}`"))
    };
    ensure!(number("verified")? > 0, "a node verified no message");
    ensure!(number("false")? == 0, "a node saw {} false signatures", number("false")?);
    for name in ["conflicts", "punishments", "bans"] {
        let found = status.get(name).and_then(Value::as_array).with_context(|| format!("a node has no `{name}`"))?;
        ensure!(found.is_empty(), "a node saw {name}: {}", Value::from(found.clone()));
    }
    Ok(())
}

/// Messages that a node took from peers and verified.
pub(super) fn verified(status: &Value) -> Result<u64> {
    status.pointer("/counts/verified").and_then(Value::as_u64).context("a node does not say how many it verified")
}

/// Bytes from all peers that are connected, and to them.
pub(super) fn bytes(status: &Value) -> Result<[u64; 2]> {
    let mut sums = [0; 2];
    for peer in status.get("peers").and_then(Value::as_array).context("a node has no `peers`")? {
        for (sum, name) in sums.iter_mut().zip(["bytes_in", "bytes_out"]) {
            *sum += peer.get(name).and_then(Value::as_u64).with_context(|| format!("a peer has no `{name}`"))?;
        }
    }
    Ok(sums)
}

/// What a node estimated for each transaction that settles a task, before it sent it.
///
/// # Errors
/// Such a transaction has no estimate.
pub(super) fn estimates(status: &Value) -> Result<Vec<(B256, u64)>> {
    let settles = list(status, "submissions").filter(|sent| text(sent, "/purpose") == Some("settle"));
    let sent = settles.filter_map(|sent| Some((text(sent, "/transaction")?, sent.get("estimate")?.as_u64())));
    sent.map(|(hash, estimate)| {
        let estimate = estimate.with_context(|| format!("transaction {hash} has no estimate"))?;
        Ok((hash.parse().with_context(|| format!("{hash} is not a hash"))?, estimate))
    })
    .collect()
}

fn submissions<'a>(node: &'a Node, id: &'a str) -> impl Iterator<Item = &'a Value> {
    let of_task = move |sent: &&Value| text(sent, "/purpose") == Some("settle") && text(sent, "/id") == Some(id);
    list(&node.status, "submissions").filter(of_task)
}

fn task<'a>(tasks: &'a Value, id: &str) -> Option<&'a Value> {
    list(tasks, "tasks").find(|task| text(task, "/id") == Some(id))
}

fn list<'a>(answer: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    answer.get(name).and_then(Value::as_array).into_iter().flatten()
}

fn text<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer)?.as_str()
}

fn flag(value: &Value, pointer: &str) -> Option<bool> {
    value.pointer(pointer)?.as_bool()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Two nodes: the first performed the task, the second settled it, and the first was too late.
    fn nodes() -> Vec<Node> {
        let view = |own: bool, result: u64| {
            json!({ "tasks": [{
                "id": "0x1", "times": { "known": 1_000, "result": result, "quorum": 1_450, "settled": 2_200 },
                "settlement": { "approved": true, "own": own, "transaction": "0xaa", "block": 9 }
            }] })
        };
        let status = |state: &str, transaction: &str, gas: u64| {
            json!({
                "counts": { "verified": 7, "false": 0 }, "conflicts": [], "punishments": [], "bans": [],
                "peers": [{ "bytes_in": 10, "bytes_out": 20 }, { "bytes_in": 1, "bytes_out": 2 }],
                "submissions": [
                    { "purpose": "other", "id": null, "state": "final", "transaction": "0xcc", "gas_used": 5, "estimate": null },
                    { "purpose": "settle", "id": "0x1", "state": state, "transaction": transaction, "gas_used": gas, "estimate": 101 },
                ]
            })
        };
        vec![
            Node { tasks: view(false, 1_200), status: status("refused", "0xbb", 30) },
            Node { tasks: view(true, 1_300), status: status("mined", "0xaa", 100) },
        ]
    }

    /// The settlement's block.
    fn mined() -> BTreeMap<u64, u64> {
        BTreeMap::from([(8, 1_100), (9, 1_900)])
    }

    #[test]
    fn a_task_is_timed_from_the_first_result_to_its_settler() {
        let found = settled("0x1", &nodes(), &mined()).unwrap();
        let gas = Gas { used: 100, estimated: 101 };
        assert_eq!(found, Settled { quorum_ms: 250.0, mined_ms: 700.0, seen_ms: 1_000.0, gas, reverted: 1 });
        let views: Vec<_> = nodes().into_iter().map(|node| node.tasks).collect();
        assert!(is_settled(&views, "0x1") && !is_settled(&views[..1], "0x1") && !is_settled(&views, "0x2"));
        assert_eq!(since(&views[0], 1_000), ["0x1"]);
        assert!(since(&views[0], 1_001).is_empty());
        assert_eq!(bytes(&nodes()[0].status).unwrap(), [11, 22]);
    }

    #[test]
    fn estimates_are_of_settlements() {
        let hash = B256::repeat_byte(0xaa);
        let sent = |purpose: &str, estimate: Value| {
            json!({ "submissions": [
                { "purpose": "settle", "transaction": null, "estimate": null },
                { "purpose": purpose, "transaction": hash, "estimate": estimate },
            ] })
        };
        assert_eq!(estimates(&sent("settle", json!(7))).unwrap(), [(hash, 7)]);
        assert_eq!(estimates(&sent("other", json!(null))).unwrap(), []);
        assert!(estimates(&sent("settle", json!(null))).unwrap_err().to_string().contains("has no estimate"));
    }

    #[test]
    fn what_is_missing_is_an_error() {
        type Change = fn(&mut [Node]);
        let changes: [(Change, &str); 9] = [
            (|nodes| nodes[0].tasks["tasks"][0]["settlement"]["approved"] = json!(false), "was rejected"),
            (|nodes| nodes[1].tasks["tasks"][0]["settlement"]["own"] = json!(false), "no node says that it settled"),
            (|nodes| nodes[1].tasks["tasks"][0]["times"]["quorum"] = json!(null), "has no time `quorum`"),
            (|nodes| nodes[1].tasks["tasks"][0]["times"]["quorum"] = json!(1_199), "was before its result"),
            (|nodes| nodes[1].tasks["tasks"][0]["settlement"]["block"] = json!(null), "has no block"),
            (|nodes| nodes[1].tasks["tasks"][0]["settlement"]["block"] = json!(10), "nobody saw block 10"),
            (|nodes| nodes[1].tasks["tasks"][0]["settlement"]["block"] = json!(8), "its block was before its result"),
            (|nodes| nodes[1].status["submissions"][1]["estimate"] = json!(null), "has no `estimate`"),
            (|nodes| nodes[1].status["submissions"] = json!([]), "is not among those of its node"),
        ];
        for (change, expected) in changes {
            let mut nodes = nodes();
            change(&mut nodes);
            let error = settled("0x1", &nodes, &mined()).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        assert!(settled("0x2", &nodes(), &mined()).unwrap_err().to_string().contains("was not settled"));
    }

    #[test]
    fn whatever_no_honest_operator_does_is_an_error() {
        let good = nodes().remove(0).status;
        all_honest(&good).unwrap();
        for (pointer, value, expected) in [
            ("/counts/false", json!(1), "1 false signatures"),
            ("/counts/verified", json!(0), "verified no message"),
            ("/conflicts", json!(["x"]), "saw conflicts"),
            ("/punishments", json!(["x"]), "saw punishments"),
            ("/bans", json!(null), "has no `bans`"),
        ] {
            let mut status = good.clone();
            *status.pointer_mut(pointer).unwrap() = value;
            let error = all_honest(&status).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
