//! `quorate-node run`.

use std::{
    io,
    net::{SocketAddr, ToSocketAddrs as _},
    process,
    sync::Arc,
    time::Duration,
};

use anyhow::anyhow;
use clap::Args;
use quorate_batcher::{Batcher, Settings as BatcherSettings};
use quorate_chain::{
    Rpc, SubmitSettings, Submitter,
    settlement::{OptionNames, SettlementSettings},
    task_network::{Confirmations, FollowSettings, NetworkFollower},
    watch::WatchPayer,
};
use quorate_evm::{
    address::CheckedAddress,
    alloy_primitives::Address,
    amount,
    digest::{Contract, PeerBinding},
    task_network::ContractTerms,
};
use quorate_host::{
    check_host_name,
    exit::{Exit, Failure, Result},
    listen::refuse_beyond_loopback,
    log,
    options::{Printed, parts},
    service,
};
use quorate_network::{
    registry::{NotAdmitted, Registry},
    roles::{NodeSettings, Roles},
    schedule::Schedule,
};
use quorate_node::{
    api::{self, ApiSettings, Token},
    board::{Component, Expectations, IdentityReport, NodeBoard},
    data_folder::DataFolder,
    options::{Options, PREFIX},
    programs::{Program, ProgramSettings, Programs},
    runtime::{self, ChainEdge, Epochs, Parts, Pay, Submitting},
    transport::{self, Admission, Admitted, Credential, Identity, Limits, Transport},
    verification::Checker,
    watch::{NodeWatch, RunningWatch},
};
use quorate_signer_client::{SignerClient, protocol::StatusAnswer};
use tokio::{
    net::TcpListener,
    sync::{mpsc, watch},
    task::JoinHandle,
    time::sleep,
};

use super::{
    NodeArguments, check_signer, contract, interrupted, needed, note, payer, payer_of, print, rpc, rpc_url,
    runtime as new_runtime, terms,
};

/// Run the node
///
/// Prints where the dashboard is when it is ready to serve. Ctrl-C or SIGTERM ends it, with 130 if it needs longer than
/// 20 seconds; kill -9 loses nothing that anybody has seen. The signer must run: the node asks it for each signature.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLE)]
pub(crate) struct Arguments {
    #[command(flatten)]
    node: NodeArguments,

    /// Print the options that the file, the environment and the flags come to, and end. `--print-config=environment` prints
    /// variables for systemd's EnvironmentFile. A URL among them may hold a secret
    #[arg(long, value_name = "FORM", num_args = 0..=1, default_missing_value = "toml", require_equals = true)]
    print_config: Option<Printed>,
}

const EXAMPLE: &str = "\
Example, with a folder that `quorate-node init` made:
  quorate-node run --data node --signer signer/signer.sock \\
      --attest --validate 'python3 price.py' \\
      --bootstrap /ip4/203.0.113.7/tcp/9600/p2p/12D3…";

/// Where the HTTP interface is, if nothing else is said.
pub(super) const HTTP: &str = "127.0.0.1:9601";
/// Where peers reach the node, if nothing else is said.
const LISTEN: &str = "/ip4/0.0.0.0/tcp/9600";
/// The payload of scheduled tasks, if nothing else is said.
const PAYLOAD: &str = r#"{"number":{number},"time":{time}}"#;
/// How long the node waits for its signer, before it asks again.
const SIGNER_RETRY: Duration = Duration::from_secs(2);
/// The longest that a signature waits for others while a core is idle, so that they are verified together. A message waits at most so
/// long at each hop.
const LINGER: Duration = Duration::from_millis(25);
/// How often to look whether the loop has turned.
const LOOK: Duration = Duration::from_millis(100);
/// How long the node may take to end: less than the unit's `TimeoutStopSec`. What it said is on disk all the while.
const STOPS: Duration = Duration::from_secs(20);
/// The most tasks from outside that wait for the loop.
const MOST_ORDERS: usize = 256;
/// From where the watch goes on after a restart, in the data folder.
const WATCH_CURSOR: &str = "watch.cursor";

impl Arguments {
    pub(crate) fn run(self) -> Result {
        let options = self.node.options()?;
        if let Some(printed) = self.print_config {
            return print(printed.of(PREFIX, &options).trim_end()).map(|()| Exit::Success);
        }
        let _log = log::start(options.log.unwrap_or_default(), &options.log_level.clone().unwrap_or_default(), None)
            .map_err(Failure::internal)?;
        let roles = roles(&options)?;
        nothing_unused(&options)?;
        aggregator_address(&options)?;
        let http = http_addresses(&options)?;
        let data = DataFolder::open(options.data())?;
        let watch = node_watch(&options, roles, &data)?;
        new_runtime()?.block_on(async {
            let (stop, stopped) = watch::channel(false);
            let stop = Arc::new(stop);
            let end = Arc::clone(&stop);
            tokio::spawn(async move {
                interrupted().await;
                tracing::info!("stopping");
                let _ = stop.send(true);
                sleep(STOPS).await;
                tracing::error!("the node does not end in time; it ends as if it was killed");
                process::exit(i32::from(Exit::Interrupted.code()));
            });
            let board = board(&options);
            // It waits for nothing that the node needs.
            let watching = watch.map(|watch| watch.start(board.clone(), stopped.clone())).transpose()?;
            let mut early = stopped.clone();
            let prepared = tokio::select! {
                prepared = prepare(&options, roles, http.as_deref(), data, board, &stopped) => prepared,
                _ = early.wait_for(|stopped| *stopped) => Err(Failure::interrupted()),
            };
            let ended = match prepared {
                Ok(prepared) => prepared.run(stopped).await,
                Err(failure) => Err(failure),
            };
            if let Some(watching) = watching {
                let _ = end.send(true);
                RunningWatch::ended(watching).await;
            }
            ended
        })
    }
}

/// What the node does, and whether everything is named that it needs for it.
fn roles(options: &Options) -> Result<Roles> {
    let is = |role: Option<bool>| role.unwrap_or(false);
    let roles = Roles { perform: is(options.perform), attest: is(options.attest), aggregate: is(options.aggregate) };
    if roles == Roles::default() {
        return Err(Failure::usage(anyhow!(
            "name what the node does: --perform, --attest, --aggregate, or several of them"
        )));
    }
    if roles.perform {
        needed(&options.execute, "execute", "--perform needs the program that executes a task")?;
    }
    if roles.attest {
        needed(&options.validate, "validate", "--attest needs the program that judges a result")?;
    }
    if roles.aggregate {
        needed(&options.key_file, "key-file", "--aggregate needs the key that pays for transactions")?;
    }
    Ok(roles)
}

/// Whether every option that is named has an effect. The command line compares flags and variables; this sees the file as well.
fn nothing_unused(options: &Options) -> Result<()> {
    let named = |options: &[(&'static str, bool)]| {
        let named = options.iter().filter(|(_, is_given)| *is_given);
        named.map(|(option, _)| *option).collect::<Vec<_>>()
    };
    let by_http = named(&[
        ("aggregator", options.aggregator.is_some()),
        ("aggregator-listen", options.aggregator_listen.is_some()),
    ]);
    let of_libp2p = named(&[
        ("listen", options.listen.is_some()),
        ("external", options.external.is_some()),
        ("bootstrap", options.bootstrap.is_some()),
        ("private-network", options.private_network.is_some()),
    ]);
    let why = match (&by_http[..], &of_libp2p[..]) {
        ([_, _, ..], _) => {
            "--aggregator-listen makes this node the aggregator, and --aggregator names another one; remove one of them"
                .to_owned()
        }
        ([by_http], [option, ..]) => format!(
            "--{option} is about peers of libp2p, and with --{by_http} this node talks by HTTP; remove one of them"
        ),
        _ if options.trusted_proxy.is_some() && options.aggregator_listen.is_none() => {
            "--trusted-proxy names proxies in front of --aggregator-listen, which is missing".to_owned()
        }
        _ if options.listen.as_deref().is_some_and(|list| parts(list).next().is_none()) => {
            "--listen names no address, so no peer would reach this node; write it as in /ip4/0.0.0.0/tcp/9600"
                .to_owned()
        }
        _ if options.task_payload.is_some() && options.task_every.is_none() => {
            "--task-payload is about the tasks of --task-every, which is missing".to_owned()
        }
        _ => return Ok(()),
    };
    Err(Failure::usage(anyhow!(why)))
}

/// The watch of an optimistic settlement, if one is named.
fn node_watch(options: &Options, roles: Roles, data: &DataFolder) -> Result<Option<NodeWatch>> {
    let Some(CheckedAddress(contract)) = options.watch else { return without_watch(options).map(|()| None) };
    let (named, url) = match &options.watch_rpc {
        Some(url) => ("--watch-rpc", url.clone()),
        None => ("--rpc", rpc_url(options)?),
    };
    let rpc = Rpc::new(&url).map_err(|error| Failure::usage(anyhow!("{named}: {error}")))?;
    let settings = SettlementSettings {
        contract,
        chain_id: options.watch_chain_id,
        from_block: options.watch_from_block.unwrap_or(0),
        confirmations: options.watch_confirmations.unwrap_or(Confirmations::Blocks(SettlementSettings::CONFIRMATIONS)),
        blocks_at_once: SettlementSettings::BLOCKS_AT_ONCE,
        every: options.watch_poll.map_or(SettlementSettings::EVERY, |poll| Duration::from_millis(poll.get())),
        cursor: data.path().join(WATCH_CURSOR),
        options: OptionNames {
            rpc: named,
            contract: "--watch",
            chain_id: "--watch-chain-id",
            most_bond: "--watch-most-bond",
            from_block: "--watch-from-block",
            confirmations: "--watch-confirmations",
            cursor: "--data folder",
        },
    };
    let most_bond = options.watch_most_bond.as_deref().map(amount::parse_wei).transpose();
    let most_bond = most_bond.map_err(|error| Failure::usage(anyhow!("--watch-most-bond: {error}")))?;
    let unknown = options.watch_unknown.unwrap_or_default();
    let (payer, prove) = (watch_payer(options, roles)?, options.watch_prove.unwrap_or(false));
    Ok(Some(NodeWatch { rpc, settings, payer, most_bond, unknown, prove }))
}

/// Who pays for the calls of the watch.
fn watch_payer(options: &Options, roles: Roles) -> Result<Option<WatchPayer>> {
    let Some(file) = &options.watch_key_file else {
        if options.watch_passphrase_file.is_some() || options.watch_prove == Some(true) {
            return Err(Failure::usage(anyhow!(
                "--watch-passphrase-file and --watch-prove are about the key that pays, and --watch-key-file does not name it"
            )));
        }
        tracing::warn!("without --watch-key-file the watch only reports: this node demands the proof of nothing false");
        return Ok(None);
    };
    let watcher = payer_of(file, options.watch_passphrase_file.as_deref(), "--watch-passphrase-file")?;
    if roles.aggregate && watcher.address() == payer(options)?.address() {
        return Err(Failure::usage(anyhow!(
            "--watch-key-file and --key-file hold the key of one account, {}, and two that send from it disturb each other; name \
             the key of another account",
            watcher.address()
        )));
    }
    Ok(Some(WatchPayer { payer: watcher, fees: options.fees() }))
}

/// Options of the watch mean nothing without a settlement.
fn without_watch(options: &Options) -> Result<()> {
    let given = [
        ("watch-rpc", options.watch_rpc.is_some()),
        ("watch-chain-id", options.watch_chain_id.is_some()),
        ("watch-most-bond", options.watch_most_bond.is_some()),
        ("watch-from-block", options.watch_from_block.is_some()),
        ("watch-confirmations", options.watch_confirmations.is_some()),
        ("watch-poll", options.watch_poll.is_some()),
        ("watch-key-file", options.watch_key_file.is_some()),
        ("watch-passphrase-file", options.watch_passphrase_file.is_some()),
        ("watch-unknown", options.watch_unknown.is_some()),
        ("watch-prove", options.watch_prove.is_some()),
    ];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((option, _)) => Err(Failure::usage(anyhow!(
            "--{option} is about a watch, and --watch does not name the settlement that is watched"
        ))),
    }
}

/// An empty board, which expects what this node needs. Of the nodes of libp2p one may be the first, which names no other.
fn board(options: &Options) -> NodeBoard {
    let alone = options.bootstrap.as_deref().is_none_or(|list| parts(list).next().is_none());
    let by_http = options.aggregator.is_some() || options.aggregator_listen.is_some();
    let peers = usize::from(!alone || by_http);
    NodeBoard::new(Expectations { peers, ..Expectations::default() })
}

/// The operator's signer, once it answers. Until then it is a problem on the board.
async fn wait_for_signer(
    options: &Options,
    terms: &ContractTerms,
    board: &NodeBoard,
) -> Result<(Arc<SignerClient>, StatusAnswer)> {
    let socket = needed(&options.signer, "signer", "name the socket on which the operator's quorate-signer listens")?;
    let client = Arc::new(SignerClient::new(socket));
    loop {
        match client.status().await {
            Ok(status) => {
                check_signer(&status, terms)?;
                return Ok((client, status));
            }
            Err(error) => {
                tracing::warn!("{error}; asking again");
                board.failed(Component::Signer, error.to_string());
            }
        }
        sleep(SIGNER_RETRY).await;
    }
}

/// Admission of peers by the registry of keys.
struct ByRegistry(Registry);

impl Admission for ByRegistry {
    fn admit(&self, peer_id: &[u8], credential: &Credential) -> Admitted {
        match self.0.admit(peer_id, &credential.operator_key, &credential.signature) {
            Ok(operator) => Admitted::Operator(operator),
            Err(NotAdmitted::NoSnapshot) => Admitted::NotYet,
            Err(why) => Admitted::No(why.to_string()),
        }
    }

    fn weight(&self, operator: &Address) -> u64 {
        self.0.weight(operator)
    }
}

/// A node whose parts are there.
struct Prepared {
    parts: Parts,
    board: NodeBoard,
    /// Follows the chain.
    edge: JoinHandle<()>,
    /// Serves the HTTP interface.
    serving: Option<JoinHandle<()>>,
}

impl Prepared {
    async fn run(self, stopped: watch::Receiver<bool>) -> Result {
        let Self { parts, board, edge, serving } = self;
        let (mut told, shown) = (stopped.clone(), board);
        tokio::spawn(tell(shown.clone()));
        tokio::spawn(async move {
            drop(told.wait_for(|stopped| *stopped).await);
            shown.stopping();
            service::stopping("writing down what is done");
        });
        let ended = runtime::run(parts, stopped).await;
        edge.abort();
        if let Some(serving) = serving {
            // It ends by the same signal. If the loop failed, there is none.
            serving.abort();
        }
        ended.map_err(|error| match error {
            runtime::RunError::Data(error) => Failure::from(error),
            error => Failure::internal(error),
        })?;
        tracing::info!("stopped");
        Ok(Exit::Success)
    }
}

/// Tells the service manager that the node is ready when its loop turns for the first time, and then that it works as long as it turns.
async fn tell(board: NodeBoard) {
    turned(board.clone()).await;
    service::ready("the node works; /readyz says whether it can do all that it is for");
    service::watch(move || turned(board.clone())).await;
}

/// Waits until the loop turns once more, which everything else serves: for ever, if it hangs.
async fn turned(board: NodeBoard) -> bool {
    let before = board.turns();
    while board.turns() == before {
        sleep(LOOK).await;
    }
    true
}

async fn prepare(
    options: &Options,
    roles: Roles,
    http: Option<&[SocketAddr]>,
    data: DataFolder,
    board: NodeBoard,
    stopped: &watch::Receiver<bool>,
) -> Result<Prepared> {
    let (rpc, contract) = (rpc(options)?, contract(options)?);
    let terms = terms(&rpc, contract).await?;
    let network = Contract { chain_id: terms.chain_id, address: contract };
    let (orders, taken) = mpsc::channel(MOST_ORDERS);
    let serving = match http {
        None => None,
        Some(http) => Some(serve(options, http, &data, board.clone(), orders, stopped.clone()).await?),
    };
    let (client, signer) = wait_for_signer(options, &terms, &board).await?;
    board.problem(Component::Signer, signer.obstacle().filter(|_| roles.signs()));
    let operator = signer.operator;

    let confirmations = options.confirmations.unwrap_or(Confirmations::Finalized);
    let follow =
        FollowSettings { from_block: options.from_block.unwrap_or(0), confirmations, ..FollowSettings::default() };
    let follower = NetworkFollower::open(rpc.clone(), contract, follow).await.map_err(Failure::io)?;
    let submitting =
        if roles.aggregate { Some(submitting(options, &rpc, terms.chain_id, confirmations).await?) } else { None };

    let identity = Identity::load_or_create(&data.path().join("identity"))?;
    let peer_id = identity.peer_id();
    let binding = client.bind_peer(&PeerBinding { network, peer: &peer_id.to_bytes() }).await.map_err(Failure::io)?;
    let credential = Credential { operator_key: signer.public_key.clone(), signature: binding.to_vec().into() };
    let registry = Registry::new(network);
    board.set_identity(IdentityReport {
        network,
        operator: Some(operator),
        roles,
        peer_id: peer_id.to_string(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started: runtime::now(),
    });

    // Attestations of one task come within a fraction of a second, so a little patience makes a batch of them.
    let batcher = BatcherSettings { linger: LINGER, ..BatcherSettings::default() };
    let batcher = Batcher::start(batcher).map_err(Failure::internal)?;
    let checker = Checker::new(network, registry.clone(), batcher);
    let limits = Limits::default();
    let ban = limits.ban;
    let transport = transport(
        options,
        transport::Terms { network, identity, credential, admission: Arc::new(ByRegistry(registry.clone())), limits },
    )
    .await?;
    for address in transport.addresses() {
        note(format!("peers       {address}"));
    }

    let every = Duration::from_millis(options.poll.map_or(1_000, |poll| poll.get()));
    let (edge, chain) = ChainEdge::new(follower, submitting, registry.clone(), board.clone(), Some(operator), every);
    let edge = tokio::spawn(edge.run());
    let parts = Parts {
        network,
        settings: settings(options, roles, operator, &terms),
        epochs: Epochs { genesis: terms.genesis, length: epoch_length(&terms)? },
        registry,
        checker,
        programs: programs(options, network)?,
        pay: Pay {
            performer_reward: terms.performer_reward,
            attester_reward: terms.attester_reward,
            decimals: super::Token::decimals(&rpc, terms.token).await?.unwrap_or(0),
        },
        signer: Some(client),
        transport,
        ban,
        chain,
        rpc,
        orders: taken,
        board: board.clone(),
        data,
        schedule: schedule(options, network)?,
    };
    Ok(Prepared { parts, board, edge, serving })
}

/// What sends transactions on the network's chain.
async fn submitting(options: &Options, rpc: &Rpc, chain_id: u64, confirmations: Confirmations) -> Result<Submitting> {
    let default = SubmitSettings::default();
    let settings = SubmitSettings {
        fees: options.fees(),
        chain_id: Some(chain_id),
        confirmations,
        poll: Duration::from_millis(options.poll.map_or(1_000, |poll| poll.get())),
        ..default
    };
    let payer = payer(options)?;
    tracing::info!(account = %payer.address(), "this account pays for transactions");
    Submitter::start(rpc.clone(), payer, settings).await.map_err(Failure::io)
}

/// Where the HTTP interface is, as text. If that is empty, there is none.
fn http_text(options: &Options) -> &str {
    options.http.as_deref().unwrap_or(HTTP)
}

/// The addresses of the HTTP interface, of which it takes the first that is free; `None` if there is no interface.
fn http_addresses(options: &Options) -> Result<Option<Vec<SocketAddr>>> {
    let text = http_text(options);
    if text.is_empty() {
        return Ok(None);
    }
    let addresses: Vec<_> = text.to_socket_addrs().map_err(|error| cannot_listen(text, &error))?.collect();
    for address in &addresses {
        refuse_beyond_loopback(*address, options.beyond_loopback.unwrap_or(false)).map_err(|error| {
            Failure::usage(anyhow!(
                "--http {error}, and there is no login: use 127.0.0.1, or add --beyond-loopback and put a proxy in front"
            ))
        })?;
    }
    if let Some(error) = http_hosts(options).find_map(|host| check_host_name(host).err()) {
        return Err(Failure::usage(anyhow!("--http-hosts: {error}")));
    }
    Ok(Some(addresses))
}

/// Further names of the HTTP interface.
fn http_hosts(options: &Options) -> impl Iterator<Item = &str> {
    parts(options.http_hosts.as_deref().unwrap_or(""))
}

fn cannot_listen(http: &str, error: &io::Error) -> Failure {
    Failure::io(anyhow!("--http {http}: cannot listen: {error}; name another address, or \"\" for none"))
}

async fn serve(
    options: &Options,
    addresses: &[SocketAddr],
    data: &DataFolder,
    board: NodeBoard,
    orders: mpsc::Sender<api::TaskOrder>,
    mut stopped: watch::Receiver<bool>,
) -> Result<JoinHandle<()>> {
    let listener = TcpListener::bind(addresses).await.map_err(|error| cannot_listen(http_text(options), &error))?;
    let shown = listener.local_addr().map_err(Failure::io)?;
    let token = Token::read_or_create(&data.path().join("token"))?;
    let settings = ApiSettings {
        token: Some(token),
        hosts: http_hosts(options).map(str::to_owned).collect(),
        beyond_loopback: options.beyond_loopback.unwrap_or(false),
        ..ApiSettings::default()
    };
    print(format!("dashboard   http://{shown}/"))?;
    Ok(tokio::spawn(async move {
        let stop = async move { drop(stopped.wait_for(|stopped| *stopped).await) };
        if let Err(error) = api::serve(listener, board, orders, settings, stop).await {
            tracing::error!("the HTTP interface ended: {error}");
        }
    }))
}

/// Where an aggregator listens that talks by HTTP.
fn aggregator_address(options: &Options) -> Result<Option<SocketAddr>> {
    let parse = |listen: &String| {
        listen.parse::<SocketAddr>().map_err(|error| {
            Failure::usage(anyhow!(
                "--aggregator-listen {listen}: {error}; write an IP address and a port, such as 0.0.0.0:9605"
            ))
        })
    };
    options.aggregator_listen.as_ref().map(parse).transpose()
}

async fn transport(options: &Options, terms: transport::Terms) -> Result<Transport> {
    let wrong = |error: transport::TransportError| match error {
        transport::TransportError::Listen { .. } => Failure::io(error),
        _ => Failure::usage(error),
    };
    if let Some(url) = &options.aggregator {
        let settings = transport::http::JoinSettings { aggregator: url.clone() };
        return transport::http::join(terms, &settings).map_err(wrong);
    }
    if let Some(address) = aggregator_address(options)? {
        let proxies = options.trusted_proxy.as_deref().unwrap_or("").parse();
        let proxies = proxies.map_err(|error| Failure::usage(anyhow!("--trusted-proxy: {error}")))?;
        let settings = transport::http::ServeSettings { proxies, ..transport::http::ServeSettings::new(address) };
        return transport::http::serve(terms, &settings).await.map_err(wrong);
    }
    let listen = options.listen.clone().unwrap_or_else(|| LISTEN.to_owned());
    let list = |text: &Option<String>| parts(text.as_deref().unwrap_or("")).map(str::to_owned).collect::<Vec<_>>();
    let settings = transport::libp2p::MeshSettings {
        listen: parts(&listen).map(str::to_owned).collect(),
        announce: list(&options.external),
        bootstrap: list(&options.bootstrap),
        private_network: options.private_network.unwrap_or(false),
    };
    transport::libp2p::start(terms, &settings).map_err(wrong)
}

fn settings(options: &Options, roles: Roles, operator: Address, terms: &ContractTerms) -> NodeSettings {
    let default = NodeSettings::default();
    let turn = options.turn.map_or(default.turn, |turn| turn.get());
    NodeSettings {
        operator: Some(operator),
        roles,
        stragglers: options.stragglers.unwrap_or(default.stragglers),
        turn,
        // Longer than a turn, so that the next aggregator is asked before this one asks itself again.
        submission_timeout: default.submission_timeout.min(turn.saturating_mul(5)),
        // A performer and then an attester may take this time, and calls that wait for other programs take longer.
        patience: default.patience.max(options.program_time.map_or(0, |time| time.get().saturating_mul(3_000))),
        evidence_epochs: terms.slashing_window.div_ceil(terms.epoch_length.max(1)),
        ..default
    }
}

fn epoch_length(terms: &ContractTerms) -> Result<std::num::NonZeroU64> {
    std::num::NonZeroU64::new(terms.epoch_length)
        .ok_or_else(|| Failure::usage(anyhow!("the contract's epochs have no length; is this a TaskNetwork?")))
}

fn programs(options: &Options, network: Contract) -> Result<Programs> {
    let read = |text: &Option<String>, flag: &str| -> Result<Option<Program>> {
        let read = |text: &String| text.parse().map_err(|error| Failure::usage(anyhow!("--{flag}: {error}")));
        text.as_ref().map(read).transpose()
    };
    let default = ProgramSettings::default();
    let settings = ProgramSettings {
        time: options.program_time.map_or(default.time, |seconds| Duration::from_secs(seconds.get())),
        at_once: options.programs_at_once.unwrap_or(default.at_once),
        environment: parts(options.program_environment.as_deref().unwrap_or("")).map(str::to_owned).collect(),
    };
    let (execute, validate) = (read(&options.execute, "execute")?, read(&options.validate, "validate")?);
    Ok(Programs::new(network, execute, validate, settings))
}

fn schedule(options: &Options, network: Contract) -> Result<Option<Schedule>> {
    let Some(every) = options.task_every else { return Ok(None) };
    let payload = options.task_payload.clone().unwrap_or_else(|| PAYLOAD.to_owned());
    Schedule::new(network, every, payload).map(Some).map_err(Failure::usage)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It settles nothing alone.
    #[test]
    fn an_aggregator_that_nobody_joined_is_not_ready() {
        let lacks = |options: &Options| {
            let reasons = board(options).readiness(0).unwrap_err();
            reasons.contains(&"no peer is connected".to_owned())
        };
        let named = || Some("127.0.0.1:9605".to_owned());
        assert!(lacks(&Options { aggregator_listen: named(), ..Options::default() }));
        assert!(lacks(&Options { aggregator: Some("http://127.0.0.1:9605".to_owned()), ..Options::default() }));
        assert!(lacks(&Options { bootstrap: named(), ..Options::default() }));
        assert!(!lacks(&Options { listen: named(), ..Options::default() }), "the first of a mesh");
    }
}
