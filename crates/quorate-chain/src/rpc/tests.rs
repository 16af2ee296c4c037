//! Questions to nodes without a chain: what they may answer, and how much.

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    thread,
};

use quorate_evm::contract::Erc20;
use quorate_lab::proxy::{Proxy, ProxyReply};
use tokio::runtime;

use super::*;

#[test]
fn a_url_is_checked_and_not_shown() {
    for wrong in ["localhost", "ws://localhost", ""] {
        assert!(matches!(Rpc::new(wrong), Err(RpcError::Url { .. })), "{wrong}");
    }
    let rpc = Rpc::new("https://user:secret@node.example:8443/key?token=1").unwrap();
    assert_eq!(rpc.shown(), "the node at node.example:8443");
    let debug = format!("{rpc:?}");
    assert!(!debug.contains("secret") && !debug.contains("/key") && !debug.contains("token"), "{debug}");
}

/// A node sends its client on to another address, which nobody asks.
#[test]
fn a_redirection_is_not_followed() {
    let [node, other] = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let elsewhere = other.local_addr().unwrap();
    let url = format!("http://{}/a-key", node.local_addr().unwrap());
    let answering = thread::spawn(move || {
        let (mut stream, _) = node.accept().unwrap();
        let _ = stream.read(&mut [0; 4_096]).unwrap();
        let head =
            format!("HTTP/1.1 307 Temporary Redirect\r\nlocation: http://{elsewhere}/\r\ncontent-length: 0\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
    });
    let limits = RpcLimits { timeout: Duration::from_secs(300), tries: 1, ..RpcLimits::default() };
    let asked = runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let error = asked.block_on(async { Rpc::with(&url, limits).unwrap().chain_id().await.unwrap_err() });
    assert!(error.to_string().contains("HTTP status 307") && !error.to_string().contains("a-key"), "{error}");
    answering.join().unwrap();
    other.set_nonblocking(true).unwrap();
    assert!(other.accept().is_err(), "the other address was asked");
}

/// A node answers `eth_chainId` with an array of zeros that does not end. It is cut off after 16 KiB, so nothing of it
/// fills the memory, and the error names question and limit.
#[test]
fn an_answer_without_an_end_is_cut_off() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let node = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 4_096]).unwrap();
        let mut written = 0;
        let begin = b"HTTP/1.1 200 OK\r\ncontent-length: 67108864\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":[0";
        let mut sent = stream.write_all(begin);
        while sent.is_ok() && written < 64 << 20 {
            sent = stream.write_all(&b",0".repeat(4_096));
            written += 8_192;
        }
        written
    });
    let asked = runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let error = asked.block_on(async { Rpc::new(&url).unwrap().chain_id().await.unwrap_err() });
    assert!(error.to_string().contains("eth_chainId") && error.to_string().contains("16384 bytes"), "{error}");
    drop(asked);
    assert!(node.join().unwrap() < 16 << 20, "the rest was never read: buffers of the system alone");
}

/// Whoever fills a block with postings blinds nobody: its logs are read, though those of several blocks may not be as long.
#[test]
fn the_logs_of_one_block_may_be_long() {
    let data = format!("0x{}", "00".repeat(17 << 20));
    let node = Proxy::alone(move |_, _| {
        let (address, none) = (Address::ZERO, Value::Null);
        Ok(json!([{
            "address": address, "topics": [], "data": data, "blockHash": none, "blockNumber": none, "transactionHash": none,
            "transactionIndex": none, "logIndex": none, "removed": false
        }]))
    });
    let asked = runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let logs = |last: u64| {
        let filter = Filter::new().from_block(7u64).to_block(last);
        asked.block_on(async { Rpc::new(&node.url).unwrap().logs(&filter, RpcPatience::Once).await })
    };
    assert_eq!(logs(7).unwrap()[0].data().data.len(), 17 << 20);
    let error = logs(8).unwrap_err();
    assert!(
        matches!(error, RpcError::TooLong { most: 33_554_432, .. }) && error.to_string().contains("does not help"),
        "{error}"
    );
}

/// What a node writes reaches errors as one line of bounded length.
#[test]
fn words_of_a_node_are_bounded_and_harmless() {
    let shown = words_of_node(&format!("no\u{1b}[2J\n{}", "x".repeat(100_000)));
    assert!(shown.starts_with("no\\u{1b}[2J") && shown.len() < 1_100 && !shown.contains('\n'), "{shown}");
}

/// What a node answers that replies with this body under a status, and how often it was asked.
fn sent_under(status: u16, body: Value) -> (RpcError, u64) {
    let node = Proxy::start("http://nowhere");
    node.follows(move |_, _| Ok(ProxyReply::Under(status, body.clone())));
    let limits = RpcLimits { tries: 3, first_wait: Duration::from_millis(1), ..RpcLimits::default() };
    let rpc = Rpc::with(&node.url, limits).unwrap();
    let asked = runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let error = asked.block_on(rpc.ask::<B256>("eth_sendRawTransaction", json!(["0x"]))).unwrap_err();
    (error, rpc.counts().questions)
}

/// A provider puts the errors of its nodes under status 400. The transaction was refused, and not perhaps sent.
#[test]
fn an_error_under_a_status_of_its_own_keeps_its_words() {
    let refusal = |words: &str| json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32000, "message": words } });
    let of_money = "insufficient funds for gas * price + value";
    for status in [200, 400, 403, 404, 422] {
        let (error, questions) = sent_under(status, refusal(of_money));
        assert!(matches!(&error, RpcError::Refused { message, .. } if message == of_money), "{status}: {error}");
        assert!(error.is_of_money() && !error.may_have_taken() && questions == 1, "{status}: {questions}");
    }
    // Those that say "later" are asked again, whatever is written beside them.
    for status in [408, 425, 429, 500, 503] {
        let (error, questions) = sent_under(status, refusal(of_money));
        assert!(error.may_pass() && error.may_have_taken() && questions == 3, "{status}: {error}");
        assert!(error.to_string().contains(&format!("HTTP status {status}")), "{error}");
    }
    // No error of JSON-RPC: a result, words of a gateway, or more of them than are read.
    let long = "x".repeat(20 << 10);
    for body in [json!({ "result": B256::ZERO }), json!("no"), json!({ "error": "no" }), Value::Null, json!(long)] {
        let (error, questions) = sent_under(404, body);
        assert!(matches!(error, RpcError::Unreachable { .. }) && questions == 3, "{error}");
        assert!(error.to_string().contains("HTTP status 404"), "{error}");
    }
}

/// A gateway cuts a byte off each answer. The contract is the right one all the same, as opposed to one that answers nothing.
#[test]
fn an_answer_that_is_cut_off_says_nothing_about_the_contract() {
    let asked = runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for (bytes, is_of_contract) in [(31, false), (1, false), (0, true)] {
        let answer = Bytes::from(vec![0; bytes]);
        let node = Proxy::alone(move |_, _| Ok(json!(answer)));
        let rpc = Rpc::new(&node.url).unwrap();
        let error = asked.block_on(rpc.read(Address::ZERO, &Erc20::decimalsCall {}, None)).unwrap_err();
        assert_eq!(error.is_of_contract(), is_of_contract, "{error}");
        assert!(error.to_string().contains("decimals()"), "{error}");
    }
}

/// Whoever pays for so long a transaction stopped all who follow the contract that it calls.
#[test]
fn a_transaction_with_too_much_calldata_is_one_without_calls() {
    let node = Proxy::alone(|_, parameters| {
        let input = Bytes::from(vec![0; if parameters[0] == json!(B256::ZERO) { 3 << 20 } else { 1 << 20 }]);
        Ok(json!({ "input": input, "hash": parameters[0] }))
    });
    let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let rpc = Rpc::new(&node.url).unwrap();
    let calldata = |hash| runtime.block_on(rpc.calldata(hash)).unwrap().unwrap();
    assert_eq!(calldata(B256::repeat_byte(1)).len(), 1 << 20);
    assert_eq!(calldata(B256::ZERO), Bytes::new());
    assert_eq!((rpc.counts().questions, rpc.counts().misread), (2, 1), "it is not asked again");
    // A question about the transaction itself still says what is wrong.
    let error = runtime.block_on(rpc.has(B256::ZERO)).unwrap_err();
    assert!(
        matches!(error, RpcError::TooLong { method: "eth_getTransactionByHash", .. }) && !error.may_pass(),
        "{error}"
    );
}
