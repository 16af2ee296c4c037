//! A loop whose chain and peers are silent.

use std::{fs, path::Path, sync::Mutex};

use quorate_batcher::{Batcher, Settings};
use quorate_evm::{KeyGroup, SnapshotId, task_network::ContractTerms};
use quorate_lab::terms::some_terms;
use quorate_network::message::candidate_for;
use quorate_signer_client::{
    client::ClientSettings,
    network::NetworkTerms,
    protocol::{SignerAnswer, StatusAnswer},
};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::UnixListener,
    time::{sleep, timeout},
};

use super::*;
use crate::{
    board::{Expectations, SeatWeight, problem_of_payer},
    programs::ProgramSettings,
    transport::{
        Admission, Admitted, Credential, Identity, Limits, Terms,
        http::{JoinSettings, join},
    },
};

const NETWORK: Contract = Contract { chain_id: 31337, address: Address::repeat_byte(7) };
const NOWHERE: &str = "http://127.0.0.1:1";

struct Nobody;

impl Admission for Nobody {
    fn admit(&self, _: &[u8], _: &Credential) -> Admitted {
        Admitted::NotYet
    }

    fn weight(&self, _: &Address) -> u64 {
        0
    }
}

/// The machine's clock was two hours ahead when the node started, and is right again.
#[tokio::test]
async fn a_clock_that_is_set_back_stops_no_timer() {
    let folder = tempfile::tempdir().unwrap();
    let mut runtime = runtime(&folder, SignerClient::new(folder.path().join("signer.sock")));
    let ahead = now() + 7_200_000;
    runtime.clock = Clock::begin(ahead);
    let tick = runtime.clock.now() + 10;
    timeout(quorate_lab::run::LIMIT, runtime.clock.until(Some(tick)))
        .await
        .expect("ten milliseconds, and not two hours");
    assert!(runtime.clock.now() >= tick && runtime.clock.shown(tick) <= now());

    let schedule = Schedule::new(NETWORK, NonZeroU64::new(3_600).unwrap(), String::new()).unwrap();
    runtime.next_task = Some(schedule.next(ahead / 1_000));
    runtime.parts.schedule = Some(schedule.clone());
    runtime.refresh();
    assert!(runtime.next_task.unwrap() <= schedule.next(now() / 1_000), "the next one by the right clock");
}

/// The machine has a place for each task that is named again, and a further one takes that of the oldest without a quorum.
#[tokio::test]
async fn a_restart_names_as_many_tasks_as_there_are_places() {
    for patience in [u64::MAX, 0] {
        let folder = tempfile::tempdir().unwrap();
        let mut runtime = runtime(&folder, SignerClient::new(folder.path().join("signer.sock")));
        runtime.parts.epochs.length = NonZeroU64::MAX;
        runtime.parts.settings.patience = patience;
        runtime.node = Node::new(runtime.parts.settings.clone(), 0, Saved::default());
        runtime.parts.schedule = Some(Schedule::new(NETWORK, NonZeroU64::MIN, String::new()).unwrap());
        let [oldest, further] = [1, 2].map(B256::with_last_byte);
        runtime.kept.add(oldest, 0, &Bytes::new()).unwrap();
        runtime.name_tasks_again().await;
        assert_eq!(runtime.node.tasks().count(), runtime.parts.settings.most_tasks);
        assert!(runtime.node.task_report(oldest).is_some());

        let makes_room = patience == 0;
        runtime.name_task(further, 0, Bytes::new()).await;
        assert_eq!(runtime.node.task_report(further).is_some(), makes_room);
        assert_eq!(runtime.node.task_report(oldest).is_none(), makes_room);
        assert_eq!(runtime.kept.count(|_| true), usize::from(!makes_room), "it is not named again");
        runtime.refresh();
        let view = runtime.parts.board.view(now());
        assert_eq!(view.counts.lapsed, u64::from(makes_room));
        let full = view.problems.iter().find(|row| row.component == "tasks").map(|row| row.problem.as_str());
        let expected = "1024 tasks are open, as many as allowed, so no further one is taken";
        assert_eq!(full, (!makes_room).then_some(expected));
    }
}

/// A task was given for two epochs, and settled in the first one. The node starts when that one is long over.
#[tokio::test]
async fn a_restart_is_told_that_a_kept_task_was_settled_epochs_ago() {
    let folder = tempfile::tempdir().unwrap();
    let mut runtime = runtime(&folder, SignerClient::new(folder.path().join("signer.sock")));
    let [kept, recent, old] = [1, 2, 3].map(B256::with_last_byte);
    [5, 6].into_iter().for_each(|epoch| runtime.kept.add(kept, epoch, &Bytes::new()).unwrap());
    let settled = |id, epoch| Change::Settled {
        id,
        epoch,
        performer: U256::ZERO,
        result: B256::ZERO,
        approved: true,
        rewarded: false,
        transaction: B256::ZERO,
        block: 1,
        finality: Finality::Final,
    };
    runtime.changes(vec![Change::Epoch(7), settled(kept, 4), settled(recent, 5), settled(old, 4)]).await;
    assert_eq!(runtime.node.task_report(kept).unwrap().settled, Some(Finality::Final));
    // A reorganisation can return to the epoch in which this one could settle; of the other one nothing is to be known.
    assert!(runtime.node.is_over(recent) && !runtime.node.is_over(old));
}

/// Tasks wait while the node waits for its signer, for hours if need be. Whoever gave one was told after seconds that nobody answers.
#[tokio::test]
async fn a_task_for_which_nobody_waits_any_more_is_not_taken() {
    let folder = tempfile::tempdir().unwrap();
    let mut runtime = runtime(&folder, SignerClient::new(folder.path().join("signer.sock")));
    let id = B256::with_last_byte(1);
    for waits in [false, true] {
        let (reply, answer) = tokio::sync::oneshot::channel();
        let answer = Some(answer).filter(|_| waits);
        runtime.order(TaskOrder { id, epoch: Some(0), payload: Bytes::new(), reply }).await;
        assert_eq!((runtime.node.task_report(id).is_some(), runtime.kept.count(|_| true)), (waits, usize::from(waits)));
        if let Some(answer) = answer {
            assert_eq!(answer.await.unwrap(), Ok(0));
        }
    }
}

/// A signer that says whether its clock is believed, until the test ends.
fn signer_at(socket: &Path, clock_error: Arc<Mutex<Option<String>>>) {
    let listener = UnixListener::bind(socket).unwrap();
    let network = NetworkTerms {
        chain_id: NETWORK.chain_id,
        contract: NETWORK.address,
        genesis: 0,
        epoch_length: NonZeroU64::MIN,
        slashing_window: 0,
    };
    let status = move || StatusAnswer {
        version: String::new(),
        network,
        verifier: Address::ZERO,
        operator: Address::ZERO,
        key_group: KeyGroup::Bls12381G2,
        public_key: Bytes::new(),
        epoch: Some(0),
        floor: Some(0),
        tasks: Some(0),
        retired: false,
        storage_error: None,
        storage_failures: 0,
        clock_error: clock_error.lock().unwrap().clone(),
        dropped_log_lines: 0,
    };
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let mut stream = BufReader::new(stream);
            let mut request = String::new();
            while stream.read_line(&mut request).await.is_ok_and(|read| read > 0) {
                let answer = serde_json::to_string(&SignerAnswer::Status(Box::new(status()))).unwrap();
                stream.get_mut().write_all(format!("{answer}\n").as_bytes()).await.unwrap();
            }
        }
    });
}

/// Without tasks nothing is signed, and a signer that died or does not believe its clock is a problem all the same; one that is back is
/// none.
#[tokio::test]
async fn a_signer_that_would_not_sign_is_a_problem() {
    async fn look(runtime: &mut Runtime) -> Option<String> {
        runtime.look_at_signer();
        runtime.look_at_signer();
        assert_eq!(runtime.work.len(), 1, "one question at a time");
        let done = timeout(quorate_lab::run::LIMIT, runtime.work.join_next()).await.unwrap().unwrap().unwrap();
        runtime.done(done).await;
        let problems = runtime.parts.board.view(now()).problems;
        problems.into_iter().find(|row| row.component == "signer").map(|row| row.problem)
    }

    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("signer.sock");
    let mut runtime = runtime(&folder, SignerClient::new(&socket));
    runtime.look_at_signer();
    assert!(runtime.work.is_empty(), "an aggregator needs none");
    runtime.parts.settings.roles.attest = true;
    assert!(look(&mut runtime).await.is_some_and(|why| why.contains("cannot connect to the signer")));
    let clock_error = Arc::new(Mutex::new(Some("the clock has jumped".to_owned())));
    signer_at(&socket, clock_error.clone());
    assert_eq!(look(&mut runtime).await.as_deref(), Some("the clock has jumped"));
    *clock_error.lock().unwrap() = None;
    assert_eq!(look(&mut runtime).await, None);

    // What it was asked for and did not sign counts until it is asked for nothing more.
    let (candidate, refusal) = (candidate_for(0, SnapshotId::ZERO, B256::ZERO, 0, b"result"), SignerRefusal::NotNow);
    runtime.done(Done::SignerFailed { candidate, refusal, why: "another key".to_owned() }).await;
    assert_eq!(look(&mut runtime).await.as_deref(), Some("another key"));
    assert_eq!(look(&mut runtime).await, None);
}

/// Whoever counts failures sees those of every component, and those of the chain before the node knows its first epoch, too.
#[tokio::test]
async fn each_call_that_failed_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let mut runtime = runtime(&folder, SignerClient::new(folder.path().join("signer.sock")));
    let failures = |runtime: &Runtime| {
        let text = runtime.parts.board.metrics(now());
        ["programs", "signer", "chain"].map(|component| {
            let name = format!("quorate_node_failures_total{{component=\"{component}\"}} ");
            text.lines().find_map(|line| line.strip_prefix(&name)).unwrap().parse::<u64>().unwrap()
        })
    };
    assert_eq!(failures(&runtime), [0, 0, 0]);
    let (sender, news) = mpsc::channel(2);
    runtime.parts.chain.news = news;
    for news in [ChainNews::Behind("no answer".to_owned()), ChainNews::Changes(vec![Change::Epoch(3)])] {
        sender.send(news).await.unwrap();
    }
    let (epoch, _) = begin(&mut runtime.parts).await.unwrap();
    assert_eq!((epoch, failures(&runtime)), (3, [0, 0, 1]));
    runtime.news(ChainNews::Behind("no answer".to_owned())).await;
    assert_eq!(failures(&runtime), [0, 0, 2]);

    let event = NodeEvent::ExecuteFailed { id: B256::ZERO };
    runtime.done(Done::ProgramFailed { event, why: "no such file".to_owned() }).await;
    assert_eq!(failures(&runtime), [1, 0, 2]);
    let candidate = candidate_for(0, SnapshotId::ZERO, B256::ZERO, 0, b"result");
    // A conflict is an answer.
    for (refusal, expected) in [(SignerRefusal::NotNow, 1), (SignerRefusal::Conflict, 1)] {
        runtime.done(Done::SignerFailed { candidate, refusal, why: "in words".to_owned() }).await;
        assert_eq!(failures(&runtime), [1, expected, 2]);
    }
    runtime.parts.settings.roles.attest = true;
    runtime.look_at_signer();
    let done = timeout(quorate_lab::run::LIMIT, runtime.work.join_next()).await.unwrap().unwrap().unwrap();
    runtime.done(done).await;
    assert_eq!(failures(&runtime), [1, 2, 2]);
}

/// Failures divided by the sum of both is the share that failed.
#[tokio::test]
async fn programs_that_fail_do_not_count_as_answered() {
    let folder = tempfile::tempdir().unwrap();
    let mut runtime = runtime(&folder, SignerClient::new(folder.path().join("signer.sock")));
    let (id, bytes) = (B256::ZERO, Bytes::from_static(b"result"));
    let candidate = candidate_for(0, SnapshotId::ZERO, id, 0, &bytes);
    let counts = |runtime: &Runtime| {
        let counts = runtime.parts.board.view(now()).counts;
        (counts.executed, counts.validated, counts.failures)
    };
    // It has no programs.
    runtime.carry_out(NodeOutput::Execute { id, epoch: 0, payload: Bytes::new() }, &mut None);
    runtime.carry_out(NodeOutput::Validate { candidate, payload: Bytes::new(), bytes: bytes.clone() }, &mut None);
    assert_eq!(counts(&runtime), (0, 0, 0), "nothing has answered yet");
    for failures in 1..=2 {
        let done = timeout(quorate_lab::run::LIMIT, runtime.work.join_next()).await.unwrap().unwrap().unwrap();
        runtime.done(done).await;
        assert_eq!(counts(&runtime), (0, 0, failures));
    }
    runtime.done(Done::Answered(NodeEvent::Executed { id, bytes })).await;
    assert_eq!(counts(&runtime), (1, 0, 2));
    runtime.done(Done::Answered(NodeEvent::Validated { candidate, approved: true })).await;
    assert_eq!(counts(&runtime), (1, 1, 2));
}

/// A node on a disk that is full ended, and a node that ran already waited for room. A folder that is not there fails as a full disk
/// does, for whoever runs the test.
#[tokio::test]
async fn a_node_that_starts_on_a_full_disk_waits_for_room() {
    let folder = tempfile::tempdir().unwrap();
    let mut parts = runtime(&folder, SignerClient::new(folder.path().join("signer.sock"))).parts;
    let (_chain, news) = mpsc::channel(1);
    parts.chain.news = news;
    let board = parts.board.clone();
    let (data, away) = (folder.path().join("node"), folder.path().join("away"));
    let (stop, stopped) = watch::channel(false);
    let problem = || board.view(now()).problems.into_iter().any(|row| row.component == "disk");
    let until = async |failing: bool| {
        while problem() != failing {
            sleep(Duration::from_millis(10)).await;
        }
    };
    fs::rename(&data, &away).unwrap();
    let room = async {
        until(true).await;
        assert!(board.turns() > 0, "it waits and does not hang");
        fs::rename(&away, &data).unwrap();
        until(false).await;
        // Nor does it while it waits for the chain.
        let turns = board.turns();
        while board.turns() == turns {
            sleep(Duration::from_millis(10)).await;
        }
        stop.send(true).unwrap();
    };
    let both = async { tokio::join!(run(parts, stopped), room) };
    let (ended, ()) = timeout(quorate_lab::run::LIMIT, both).await.unwrap();
    ended.unwrap();
    assert!(data.join("state").exists());
}

/// A loop that asks a signer, in a folder.
fn runtime(folder: &TempDir, signer: SignerClient) -> Runtime {
    let registry = Registry::new(NETWORK);
    let (orders, _) = mpsc::channel(1);
    let (_, news) = mpsc::channel(1);
    let (_, handed_in) = mpsc::channel(1);
    let identity = Identity::random();
    let credential = Credential { operator_key: vec![0].into(), signature: vec![0].into() };
    let terms =
        Terms { network: NETWORK, identity, credential, admission: Arc::new(Nobody), limits: Limits::default() };
    let parts = Parts {
        network: NETWORK,
        settings: NodeSettings::default(),
        epochs: Epochs { genesis: 0, length: NonZeroU64::MIN },
        registry: registry.clone(),
        checker: Checker::new(NETWORK, registry, Batcher::start(Settings::default()).unwrap()),
        programs: Programs::new(NETWORK, None, None, ProgramSettings::default()),
        pay: Pay::default(),
        signer: Some(Arc::new(signer)),
        transport: join(terms, &JoinSettings { aggregator: NOWHERE.to_owned() }).unwrap(),
        ban: Duration::ZERO,
        chain: ChainHandle { orders, news },
        rpc: Rpc::new(NOWHERE).unwrap(),
        orders: handed_in,
        board: NodeBoard::new(Expectations::default()),
        data: DataFolder::open(folder.path().join("node")).unwrap(),
        schedule: None,
    };
    let (_, stop) = watch::channel(false);
    Runtime::new(parts, stop, 0, Saved::default(), KeptTasks::default())
}

/// Its settlements are refused one by one, and nothing else would say why.
#[tokio::test]
async fn a_payer_without_money_is_a_problem() {
    let folder = tempfile::tempdir().unwrap();
    let mut runtime = runtime(&folder, SignerClient::new(folder.path().join("signer.sock")));
    let gwei = U256::from(1_000_000_000);
    let of = |balance| problem_of_payer(Address::repeat_byte(9), balance, U256::from(20) * gwei);
    let enough = U256::from(6_000_000) * gwei;
    assert_eq!(of(enough), None);
    let poor = of(enough - U256::ONE).expect("it is too little");
    let problems = |runtime: &Runtime| {
        let view = runtime.parts.board.view(now());
        view.problems.into_iter().map(|row| (row.component.to_owned(), row.problem)).collect::<Vec<_>>()
    };
    for _ in 0..2 {
        runtime.news(ChainNews::Payer(Some(poor.clone()))).await;
        assert_eq!(problems(&runtime), [("payer".to_owned(), poor.clone())]);
    }
    let reasons = runtime.parts.board.readiness(now()).unwrap_err();
    assert!(reasons.contains(&format!("payer: {poor}")), "{reasons:?}");
    runtime.news(ChainNews::Payer(None)).await;
    assert!(problems(&runtime).is_empty());
}

/// The next snapshot counts nothing that it signs, and nothing else would say so before.
#[tokio::test]
async fn stake_that_the_protocol_does_not_see_any_more_is_a_problem() {
    let folder = tempfile::tempdir().unwrap();
    let mut runtime = runtime(&folder, SignerClient::new(folder.path().join("signer.sock")));
    let terms = ContractTerms { unit: 10, minimum_stake: 50, ..some_terms() };
    let weight = |on_seat: u64, stake: u64| SeatWeight::of(&terms, U256::from(on_seat), U256::from(stake));
    for (on_seat, stake, expected) in [
        (100, 100, None),
        (100, 70, None),
        (100, 49, Some("the operator's seat weighs 10 until the next snapshot, and then nothing; the source sees")),
        (0, 49, Some("the operator's seat weighs nothing; the source sees a stake of 49 units for it, and less than")),
        (0, 70, Some("the operator's seat weighs nothing until the next snapshot, and then 7")),
    ] {
        let weight = weight(on_seat, stake);
        assert_eq!(weight.is_out_of_date(), (on_seat, stake) != (100, 100) && (on_seat, stake) != (0, 49));
        for attest in [true, false] {
            runtime.parts.settings.roles.attest = attest;
            runtime.news(ChainNews::Restaked(Some(weight))).await;
            let found = runtime.parts.board.view(now()).problems;
            let found: Vec<_> = found.iter().map(|row| (row.component, row.problem.clone())).collect();
            match expected.filter(|_| attest) {
                None => assert!(found.is_empty(), "{weight}: {found:?}"),
                Some(words) => {
                    let is_told = matches!(&found[..], [("stake", problem)] if problem.starts_with(words));
                    assert!(is_told, "{found:?}, expected {words}");
                }
            }
        }
    }
    // It gave up its seat.
    runtime.parts.settings.roles.attest = true;
    runtime.news(ChainNews::Restaked(Some(weight(0, 0)))).await;
    assert!(runtime.parts.board.metrics(now()).contains("quorate_node_problem{component=\"stake\"} 1"));
    runtime.news(ChainNews::Restaked(None)).await;
    assert!(runtime.parts.board.metrics(now()).contains("quorate_node_problem{component=\"stake\"} 0"));
}

/// The machine asks for a signature again and again, and a client's requests wait for each other.
#[tokio::test]
async fn a_signer_that_hangs_has_one_request_of_each_candidate() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("signer.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let hangs = tokio::spawn(async move {
        let mut open = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            open.push(stream);
        }
    });
    let short = ClientSettings { answer: Duration::from_millis(100), ..ClientSettings::default() };
    let mut runtime = runtime(&folder, SignerClient::with(&socket, short));
    let candidate = |id| candidate_for(0, SnapshotId::ZERO, B256::with_last_byte(id), 0, b"result");
    for _ in 0..50 {
        runtime.carry_out(NodeOutput::Sign { candidate: candidate(1) }, &mut None);
    }
    runtime.carry_out(NodeOutput::Sign { candidate: candidate(2) }, &mut None);
    assert_eq!(runtime.work.len(), 2);
    // What was not answered in time may be asked again.
    for _ in 0..2 {
        let done = timeout(quorate_lab::run::LIMIT, runtime.work.join_next()).await.unwrap().unwrap().unwrap();
        assert!(matches!(done, Done::SignerFailed { refusal: SignerRefusal::NotNow, .. }));
        runtime.done(done).await;
    }
    runtime.carry_out(NodeOutput::Sign { candidate: candidate(1) }, &mut None);
    assert_eq!(runtime.work.len(), 1);
    hangs.abort();
}
