//! How many blocks a node is asked for the logs of at once. It may refuse, or hang, where there are too many.

use alloy::rpc::types::{Filter, Log};

use crate::rpc::{Rpc, RpcError, RpcPatience};

/// The blocks of one question for logs, as many as the node answers for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogWindow {
    /// The most blocks in one question, at least 1.
    most: u64,
    /// How many are asked for next: 1 to `most`.
    page: u64,
}

impl LogWindow {
    /// At most so many blocks, or 1.
    pub(crate) fn new(most: u64) -> Self {
        let most = most.max(1);
        Self { most, page: most }
    }

    /// The last block of the next question, if it begins with `from` and no block after `last` is wanted.
    pub(crate) fn end(&self, from: u64, last: u64) -> u64 {
        last.min(from.saturating_add(self.page - 1))
    }

    /// The first block of the next question, if it ends with `to`.
    pub(crate) fn start(&self, to: u64) -> u64 {
        to.saturating_sub(self.page - 1)
    }

    /// Asks for the logs of a filter, from a block up to its [`end`](Self::end), or from the [`start`](Self::start) of a block up to that
    /// block. `None` if the node gives none of so many blocks: the next question shall be for fewer.
    ///
    /// # Errors
    /// [`RpcError`], if the question was for one block.
    pub(crate) async fn ask(&mut self, node: &Rpc, filter: &Filter) -> Result<Option<Vec<Log>>, RpcError> {
        let patience = if self.page > 1 { RpcPatience::Once } else { RpcPatience::Retry };
        match node.logs(filter, patience).await {
            Ok(logs) => Ok(Some(logs)),
            Err(error) if self.page > 1 => {
                self.refused(&error);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// The node gave no logs of so many blocks. If it hangs, it shall not be waited for often.
    fn refused(&mut self, error: &RpcError) {
        let divisor = if matches!(error, RpcError::Unreachable { .. }) { 16 } else { 2 };
        self.page = (self.page / divisor).max(1);
    }

    /// The next question is for half as many blocks: an answer took longer than the caller waits.
    pub(crate) fn halve(&mut self) {
        self.page = (self.page / 2).max(1);
    }

    /// The logs were used, so twice as many blocks may be asked for.
    pub(crate) fn read(&mut self) {
        self.page = self.most.min(self.page.saturating_mul(2));
    }
}

/// A node as tests need it.
#[cfg(test)]
pub(crate) mod windows {
    use std::sync::{Arc, Mutex};

    use alloy::primitives::U64;
    use quorate_lab::proxy::{Proxy, ProxyReply};

    /// The first and the last block of each question for logs.
    pub(crate) type Asked = Arc<Mutex<Vec<(u64, u64)>>>;

    /// A node in front of another one, which replies itself to some questions for logs: by their first and their last block.
    pub(crate) fn in_front_of(
        node: &Proxy,
        mut reply: impl FnMut(u64, u64) -> Option<ProxyReply> + Send + 'static,
    ) -> (Proxy, Asked) {
        let (front, asked) = (Proxy::start(&node.url), Asked::default());
        let ranges = asked.clone();
        front.follows(move |question, node| {
            if question["method"] == "eth_getLogs" {
                let number = |name: &str| serde_json::from_value::<U64>(question["params"][0][name].clone());
                let (from, to) = (number("fromBlock")?.to(), number("toBlock")?.to());
                ranges.lock().unwrap().push((from, to));
                if let Some(reply) = reply(from, to) {
                    return Ok(reply);
                }
            }
            node.answer(question).map(ProxyReply::Answer)
        });
        (front, asked)
    }

    /// A node in front of another one, which does not answer the first three questions for logs. Nobody waits for it.
    pub(crate) fn hanging(node: &Proxy) -> (Proxy, Asked) {
        let mut hangs = 0..3;
        in_front_of(node, move |_, _| hangs.next().map(|_| ProxyReply::Busy))
    }

    /// The first questions for logs to such a node, if 2,000 blocks may be asked for at once.
    pub(crate) const OF_HANGING: [(u64, u64); 4] = [(0, 1_999), (0, 124), (0, 6), (0, 0)];
}

#[cfg(test)]
mod tests {
    use quorate_lab::proxy::{Proxy, ProxyReply};
    use serde_json::json;
    use tokio::runtime;

    use super::*;

    /// A node that refuses is asked for half as many blocks, also if a provider puts its error under status 400, and a node that hangs for
    /// a sixteenth.
    #[test]
    fn a_node_that_refuses_is_not_taken_for_one_that_hangs() {
        let error =
            json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32602, "message": "up to a 1000 block range" } });
        let replies = [
            (ProxyReply::Answer(error.clone()), 999),
            (ProxyReply::Under(400, error), 999),
            (ProxyReply::Under(400, json!("no")), 124),
            (ProxyReply::Busy, 124),
        ];
        let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
        for (reply, end) in replies {
            let node = Proxy::start("http://nowhere");
            let shown = format!("{reply:?}");
            node.follows(move |_, _| Ok(reply.clone()));
            let mut window = LogWindow::new(2_000);
            let filter = Filter::new().from_block(0_u64).to_block(window.end(0, u64::MAX));
            let asked = runtime.block_on(async { window.ask(&Rpc::new(&node.url).unwrap(), &filter).await });
            assert!(asked.unwrap().is_none() && window.end(0, u64::MAX) == end, "{shown}: {window:?}");
        }
    }
}
