//! What a node is told: a file, then the environment, then flags; the later one wins. All three have the same names.
//!
//! ```toml
//! # node.toml
//! rpc = "http://127.0.0.1:8545"
//! contract = "0x5fbdb2315678afecb367f032d93f642f64180aa3"
//! attest = true
//! validate = "python3 price.py"
//! ```

use std::{num::NonZeroU64, path::PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use quorate_chain::{FeeLimits, task_network::Confirmations};
use quorate_evm::{address::CheckedAddress, watch::UnknownPostings};
use quorate_host::{
    flag::from_one,
    log::{LogFormat, LogLevel},
};

/// Declares the options once: for clap, for the file, and for the choice between the two.
macro_rules! options {
    (
        $(#[doc = $about:literal])+ $set:ident;
        $($(#[doc = $doc:literal])+ $(#[arg($($arg:tt)*)])? $name:ident: $kind:ty, $variable:literal;)*
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, Default, PartialEq, clap::Args, serde::Serialize, serde::Deserialize)]
        #[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
        pub struct $set { $(
            $(#[doc = $doc])+
            #[arg(long, env = quorate_host::flag::variable($variable), hide_env_values = true, $($($arg)*)?)]
            #[serde(skip_serializing_if = "Option::is_none")]
            pub $name: Option<$kind>,
        )* }

        impl $set {
            /// These options, and where one is not given, that of another set.
            #[must_use]
            pub fn or(self, other: Self) -> Self {
                Self { $($name: self.$name.or(other.$name),)* }
            }
        }
    };
}
pub(crate) use options;

/// What the names of a node's variables begin with.
pub const PREFIX: &str = "QUORATE_NODE_";

options! {
    /// The options of a node. What is not given is `None`; [`Options::or`] fills it from a file.
    Options;
    /// Execute the tasks for which the operator is elected. Needs --execute
    #[arg(num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", require_equals = true, help_heading = "Roles")]
    perform: bool, "QUORATE_NODE_PERFORM";
    /// Check the results of others, and sign verdicts. Needs --validate
    #[arg(num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", require_equals = true, help_heading = "Roles")]
    attest: bool, "QUORATE_NODE_ATTEST";
    /// Add signatures up, settle tasks on the chain, report conflicts, and begin epochs. Needs --key-file
    #[arg(num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", require_equals = true, help_heading = "Roles")]
    aggregate: bool, "QUORATE_NODE_AGGREGATE";

    /// The program that executes a task, with its arguments, or an address of http or https (docs/programs.md)
    #[arg(value_name = "CMD", help_heading = "Your work")]
    execute: String, "QUORATE_NODE_EXECUTE";
    /// The program that judges a result, or an address
    #[arg(value_name = "CMD", help_heading = "Your work")]
    validate: String, "QUORATE_NODE_VALIDATE";
    /// The most seconds of a call of either [default: 10]
    #[arg(value_name = "SECONDS", help_heading = "Your work", value_parser = from_one())]
    program_time: NonZeroU64, "QUORATE_NODE_PROGRAM_TIME";
    /// The most calls at once [default: 4]
    #[arg(value_name = "N", help_heading = "Your work", value_parser = from_one().try_map(std::num::NonZeroUsize::try_from))]
    programs_at_once: std::num::NonZeroUsize, "QUORATE_NODE_PROGRAMS_AT_ONCE";
    /// Names of variables that the programs get from the node's environment, with commas between them
    #[arg(value_name = "NAMES", help_heading = "Your work")]
    program_environment: String, "QUORATE_NODE_PROGRAM_ENVIRONMENT";
    /// A task every so many seconds of Unix time. Every operator must have the same
    #[arg(value_name = "SECONDS", help_heading = "Your work", value_parser = from_one())]
    task_every: NonZeroU64, "QUORATE_NODE_TASK_EVERY";
    /// The payload of these tasks. {number} and {time} in it are replaced [default: {"number":{number},"time":{time}}]
    #[arg(value_name = "TEXT", help_heading = "Your work")]
    task_payload: String, "QUORATE_NODE_TASK_PAYLOAD";

    /// The chain's node: an HTTP or HTTPS URL of its JSON-RPC
    #[arg(value_name = "URL", help_heading = "Chain")]
    rpc: String, "QUORATE_NODE_RPC";
    /// The network's contract, a TaskNetwork
    #[arg(value_name = "ADDRESS", help_heading = "Chain")]
    contract: CheckedAddress, "QUORATE_NODE_CONTRACT";
    /// The block in which the contract was deployed, or one before it [default: 0]
    #[arg(value_name = "N", help_heading = "Chain")]
    from_block: u64, "QUORATE_NODE_FROM_BLOCK";
    /// How many blocks must follow a block until what it did is final, or `finalized` [default: finalized]
    #[arg(value_name = "N", help_heading = "Chain")]
    confirmations: Confirmations, "QUORATE_NODE_CONFIRMATIONS";
    /// How often to look for new blocks, in milliseconds [default: 1000]
    #[arg(value_name = "MS", help_heading = "Chain", value_parser = from_one())]
    poll: NonZeroU64, "QUORATE_NODE_POLL";
    /// The key that pays for transactions: an Ethereum keystore, or a file with 64 hexadecimal digits. It is not the BLS key
    #[arg(value_name = "FILE", help_heading = "Chain")]
    key_file: PathBuf, "QUORATE_NODE_KEY_FILE";
    /// A file whose first line is that keystore's passphrase
    #[arg(value_name = "FILE", help_heading = "Chain")]
    passphrase_file: PathBuf, "QUORATE_NODE_PASSPHRASE_FILE";
    /// The most gwei for a unit of gas. A running node's calls offer at most eight ninths of it: the rest is for a transaction that takes the
    /// place of one that is given up [default: 500]
    #[arg(value_name = "GWEI", help_heading = "Chain", value_parser = from_one())]
    max_fee: NonZeroU64, "QUORATE_NODE_MAX_FEE";
    /// The most gwei of it for the block's proposer, whatever the chain's node says. A transaction that pays nearly as much is not replaced
    /// by one with higher fees: nodes take that only if it pays the proposer a tenth more [default: 3]
    #[arg(value_name = "GWEI", help_heading = "Chain", value_parser = from_one())]
    max_tip: NonZeroU64, "QUORATE_NODE_MAX_TIP";
    /// How long to wait for further signatures once a quorum is there, in milliseconds: fewer missing members cost less gas
    /// [default: 500]
    #[arg(value_name = "MS", help_heading = "Chain")]
    stragglers: u64, "QUORATE_NODE_STRAGGLERS";
    /// How long each aggregator has before the next one takes over, in milliseconds [default: 36000]
    #[arg(value_name = "MS", help_heading = "Chain", value_parser = from_one())]
    turn: NonZeroU64, "QUORATE_NODE_TURN";

    /// Watch what is posted to this OptimisticSettlement, too: recompute each posting, and demand the proof of what is false
    #[arg(value_name = "ADDRESS", help_heading = "Watch")]
    watch: CheckedAddress, "QUORATE_NODE_WATCH";
    /// The node of its chain [default: that of --rpc]
    #[arg(value_name = "URL", help_heading = "Watch")]
    watch_rpc: String, "QUORATE_NODE_WATCH_RPC";
    /// The id of its chain. A node of another one is refused, and nothing is signed for another one [default: what the node says]
    #[arg(value_name = "ID", help_heading = "Watch")]
    watch_chain_id: u64, "QUORATE_NODE_WATCH_CHAIN_ID";
    /// Watch no settlement of which a demand costs a higher bond than this, in the chain's coin, such as 0.05
    #[arg(value_name = "AMOUNT", help_heading = "Watch")]
    watch_most_bond: String, "QUORATE_NODE_WATCH_MOST_BOND";
    /// The block in which it was deployed, or one before it [default: 0]
    #[arg(value_name = "N", help_heading = "Watch")]
    watch_from_block: u64, "QUORATE_NODE_WATCH_FROM_BLOCK";
    /// How many blocks must follow a block before its postings count, or `finalized` [default: 2]
    #[arg(value_name = "N", help_heading = "Watch")]
    watch_confirmations: Confirmations, "QUORATE_NODE_WATCH_CONFIRMATIONS";
    /// How often to look for new blocks, in milliseconds [default: 4000]
    #[arg(value_name = "MS", help_heading = "Watch", value_parser = from_one())]
    watch_poll: NonZeroU64, "QUORATE_NODE_WATCH_POLL";
    /// The key that pays for demands and gets what they earn. Without it nothing is sent. It is not that of --key-file: two that
    /// send from one account disturb each other
    #[arg(value_name = "FILE", help_heading = "Watch")]
    watch_key_file: PathBuf, "QUORATE_NODE_WATCH_KEY_FILE";
    /// A file whose first line is that keystore's passphrase
    #[arg(value_name = "FILE", help_heading = "Watch")]
    watch_passphrase_file: PathBuf, "QUORATE_NODE_WATCH_PASSPHRASE_FILE";
    /// What is done about a posting that cannot be recomputed: `demand` its proof in the last quarter of its window, or `report`
    /// it [default: demand]
    #[arg(
        value_name = "WHAT",
        help_heading = "Watch",
        value_parser = PossibleValuesParser::new(UnknownPostings::NAMES).try_map(|name| name.parse::<UnknownPostings>())
    )]
    watch_unknown: UnknownPostings, "QUORATE_NODE_WATCH_UNKNOWN";
    /// Prove true postings whose proof somebody demands. Whoever proves gets the bond of the demand
    #[arg(num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", require_equals = true, help_heading = "Watch")]
    watch_prove: bool, "QUORATE_NODE_WATCH_PROVE";

    /// The signer's Unix socket. Every role needs it: the signer says who the operator is
    #[arg(value_name = "SOCKET", help_heading = "Operator")]
    signer: PathBuf, "QUORATE_NODE_SIGNER";
    /// The folder for what the node keeps [default: quorate-node]
    #[arg(value_name = "FOLDER", help_heading = "Operator")]
    data: PathBuf, "QUORATE_NODE_DATA";

    /// Where peers reach this node, as a multiaddress [default: /ip4/0.0.0.0/tcp/9600]
    #[arg(value_name = "ADDRESS", help_heading = "Peers")]
    listen: String, "QUORATE_NODE_LISTEN";
    /// The address at which others shall dial this node, if it is not the one on which it listens
    #[arg(value_name = "ADDRESS", help_heading = "Peers")]
    external: String, "QUORATE_NODE_EXTERNAL";
    /// Peers to begin with, with commas between them: /ip4/…/tcp/9600/p2p/12D3…. Name several
    #[arg(value_name = "ADDRESSES", help_heading = "Peers")]
    bootstrap: String, "QUORATE_NODE_BOOTSTRAP";
    /// Instead of libp2p: the aggregator's address of http or https, for small sets
    #[arg(value_name = "URL", help_heading = "Peers", conflicts_with_all = ["listen", "bootstrap", "aggregator_listen"])]
    aggregator: String, "QUORATE_NODE_AGGREGATOR";
    /// Instead of libp2p: be that aggregator, and listen here
    #[arg(value_name = "ADDRESS:PORT", help_heading = "Peers", conflicts_with_all = ["listen", "bootstrap"])]
    aggregator_listen: String, "QUORATE_NODE_AGGREGATOR_LISTEN";
    /// Proxies in front of that aggregator, with commas between them: addresses, or networks such as 10.0.0.0/8. The aggregator
    /// takes from their X-Forwarded-For who asks
    #[arg(value_name = "ADDRESSES", help_heading = "Peers", conflicts_with_all = ["aggregator"])]
    trusted_proxy: String, "QUORATE_NODE_TRUSTED_PROXY";
    /// Peers are in a private network or on this machine: dial addresses that are not public, too, when others tell of them
    #[arg(num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", require_equals = true, help_heading = "Peers")]
    private_network: bool, "QUORATE_NODE_PRIVATE_NETWORK";

    /// Where the dashboard, metrics and the HTTP interface are. Port 0 takes a free one; an empty text none
    /// [default: 127.0.0.1:9601]
    #[arg(value_name = "HOST:PORT", help_heading = "Interface")]
    http: String, "QUORATE_NODE_HTTP";
    /// Allow an address for --http that other machines reach. There is no login: put a proxy in front
    #[arg(num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", require_equals = true, help_heading = "Interface")]
    beyond_loopback: bool, "QUORATE_NODE_BEYOND_LOOPBACK";
    /// Further names by which browsers and clients call the interface, with commas between them, such as that of the proxy in front.
    /// IP addresses and localhost are always good
    #[arg(value_name = "NAMES", help_heading = "Interface")]
    http_hosts: String, "QUORATE_NODE_HTTP_HOSTS";
    /// How log lines look, on standard error [default: text]
    #[arg(value_name = "FORMAT", help_heading = "Interface")]
    log: LogFormat, "QUORATE_NODE_LOG";
    /// Which events are logged: error, warn, info, debug, trace, or rules such as info,quorate_node=debug [default: info]
    #[arg(value_name = "LEVEL", help_heading = "Interface")]
    log_level: LogLevel, "QUORATE_NODE_LOG_LEVEL";
}

options! {
    /// The options of a command that pays and works on no network yet: those of a node with the same names.
    Payment;
    /// The chain's node: an HTTP or HTTPS URL of its JSON-RPC
    #[arg(value_name = "URL")]
    rpc: String, "QUORATE_NODE_RPC";
    /// The key that pays: an Ethereum keystore, or a file with 64 hexadecimal digits
    #[arg(value_name = "FILE")]
    key_file: PathBuf, "QUORATE_NODE_KEY_FILE";
    /// A file whose first line is that keystore's passphrase
    #[arg(value_name = "FILE")]
    passphrase_file: PathBuf, "QUORATE_NODE_PASSPHRASE_FILE";
    /// The most gwei for a unit of gas [default: 500]
    #[arg(value_name = "GWEI", value_parser = from_one())]
    max_fee: NonZeroU64, "QUORATE_NODE_MAX_FEE";
    /// The most gwei of it for the block's proposer, whatever the chain's node says [default: 3]
    #[arg(value_name = "GWEI", value_parser = from_one())]
    max_tip: NonZeroU64, "QUORATE_NODE_MAX_TIP";
}

impl From<Payment> for Options {
    fn from(Payment { rpc, key_file, passphrase_file, max_fee, max_tip }: Payment) -> Self {
        Self { rpc, key_file, passphrase_file, max_fee, max_tip, ..Self::default() }
    }
}

impl Options {
    /// The most that is paid for a unit of gas.
    pub fn fees(&self) -> FeeLimits {
        let default = FeeLimits::default();
        FeeLimits {
            max_fee_gwei: self.max_fee.map_or(default.max_fee_gwei, NonZeroU64::get),
            max_tip_gwei: self.max_tip.map_or(default.max_tip_gwei, NonZeroU64::get),
        }
    }

    /// The folder for what the node keeps.
    pub fn data(&self) -> PathBuf {
        self.data.clone().unwrap_or_else(|| "quorate-node".into())
    }
}

#[cfg(test)]
mod tests {
    use clap::{Args as _, CommandFactory as _, Parser};
    use proptest::prelude::*;
    use quorate_evm::alloy_primitives::Address;
    use quorate_host::options::{OptionsError, Source, parse, parts, to_environment, to_toml};

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }

    fn from_toml(text: &str) -> Result<Options, OptionsError> {
        parse(Source { name: "node.toml", text })
    }

    /// The help has the defaults as prose, because an option that is not given is `None`.
    #[test]
    fn the_help_says_the_default_limits_of_fees() {
        let FeeLimits { max_fee_gwei, max_tip_gwei } = FeeLimits::default();
        for command in [Line::command(), Payment::augment_args(clap::Command::new("create"))] {
            for (name, default) in [("max_fee", max_fee_gwei), ("max_tip", max_tip_gwei)] {
                let argument = command.get_arguments().find(|argument| argument.get_id() == name).unwrap();
                let help = argument.get_long_help().or(argument.get_help()).unwrap().to_string();
                assert!(help.contains(&format!("[default: {default}]")), "{help}");
            }
        }
    }

    fn line(arguments: &[&str]) -> Options {
        Line::parse_from([&["quorate-node"], arguments].concat()).options
    }

    #[test]
    fn flags_are_before_the_file() {
        let file = from_toml(
            "attest = true\nperform = true\nrpc = \"http://a\"\nconfirmations = 3\nlog = \"json\"\ntask-every = 12",
        )
        .unwrap();
        let both = line(&["--perform=false", "--rpc", "http://b", "--aggregate"]).or(file);
        assert_eq!((both.perform, both.attest, both.aggregate), (Some(false), Some(true), Some(true)));
        assert_eq!(both.rpc.as_deref(), Some("http://b"));
        assert_eq!(both.confirmations, Some(Confirmations::Blocks(3)));
        assert_eq!((both.log, both.task_every.map(NonZeroU64::get)), (Some(LogFormat::Json), Some(12)));
    }

    #[test]
    fn a_zero_is_refused_with_what_is_expected() {
        for flag in [
            "--program-time",
            "--programs-at-once",
            "--task-every",
            "--poll",
            "--max-fee",
            "--max-tip",
            "--turn",
            "--watch-poll",
        ] {
            let error = Line::try_parse_from(["quorate-node", flag, "0"]).err().unwrap().to_string();
            assert!(error.contains(&format!("'{flag} <")) && error.contains("0 is not in 1.."), "{error}");
            assert!(Line::try_parse_from(["quorate-node", flag, "1"]).is_ok());
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (text, expected) in [
            ("atest = true", "unknown field `atest`"),
            ("attest = 1", "expected a boolean"),
            ("confirmations = \"final\"", "expected a number of blocks, or `finalized`"),
            ("confirmations = -1", "expected a number of blocks, or `finalized`"),
            ("contract = \"0x12\"", "line 1"),
            ("contract = \"5FbDB2315678afecb367f032d93F642f64180aa3\"", "expected 40 hexadecimal digits after 0x"),
            ("watch = \"0x5FbDB2315678afecb367f032d93F642f64180aa4\"", "EIP-55"),
            ("log-level = \"a=b=c\"", "expected error, warn, info"),
        ] {
            let error = from_toml(text).unwrap_err().to_string();
            assert!(error.starts_with("node.toml: ") && error.contains(expected), "{error}");
        }
    }

    fn value() -> impl Strategy<Value = String> {
        prop_oneof![
            any::<bool>().prop_map(|value| value.to_string()),
            any::<u64>().prop_map(|value| value.to_string()),
            (0..100_u64).prop_map(|value| value.to_string()),
            "[ -~é\\n]{0,30}".prop_map(|text| format!("{text:?}")),
            Just("\"finalized\"".to_owned()),
            Just("\"json\"".to_owned()),
            Just(format!("\"{}\"", Address::repeat_byte(7))),
            Just("[1, 2]".to_owned()),
        ]
    }

    proptest! {
        /// Lines of names that there are, and of others, with values that may fit.
        #[test]
        fn what_a_file_says_is_written_and_read_again(lines in prop::collection::vec((prop::sample::select(vec![
            "perform", "attest", "execute", "program-time", "programs-at-once", "task-every", "task-payload", "rpc",
            "contract", "from-block", "confirmations", "poll", "key-file", "max-fee", "stragglers", "turn", "data",
            "listen", "bootstrap", "http", "beyond-loopback", "log", "log-level", "unknown", "[table]\nrpc",
        ]), value()), 0..6)) {
            let text: String = lines.iter().map(|(name, value)| format!("{name} = {value}\n")).collect();
            if let Ok(options) = from_toml(&text) {
                prop_assert_eq!(from_toml(&to_toml(&options)).unwrap(), options.clone());
                prop_assert_eq!(options.clone().or(Options::default()), options.clone());
                prop_assert_eq!(Options::default().or(options.clone()), options);
            }
        }

        /// The text of a file, damaged.
        #[test]
        fn damaged_files_never_panic(
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
        ) {
            let mut bytes = b"attest = true\nrpc = \"http://a\"\nconfirmations = 3\nlog = \"json\"\nturn = 12\n".to_vec();
            for (at, byte) in changes {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            if let Ok(options) = from_toml(&String::from_utf8_lossy(&bytes)) {
                prop_assert_eq!(from_toml(&to_toml(&options)).unwrap(), options);
            }
        }

        #[test]
        fn parts_have_no_spaces_around_them_and_are_not_empty(list in "[ ,a-c]{0,30}") {
            for part in parts(&list) {
                prop_assert!(!part.is_empty() && part.trim() == part && !part.contains(','), "{:?}", part);
            }
        }
    }

    /// Each printed variable is the one that clap reads, with the value that its flag takes.
    #[test]
    fn options_are_printed_as_variables() {
        let arguments = ["--attest", "--confirmations", "finalized", "--turn", "5", "--task-every", "7"];
        let printed = to_environment(PREFIX, &line(&arguments));
        let expected = "\
QUORATE_NODE_ATTEST=\"true\"
QUORATE_NODE_CONFIRMATIONS=\"finalized\"
QUORATE_NODE_TASK_EVERY=\"7\"
QUORATE_NODE_TURN=\"5\"
";
        assert_eq!(printed, expected);
        for argument in Line::command().get_arguments() {
            let name = argument.get_long().unwrap_or_default();
            let variable = format!("{PREFIX}{}", name.to_uppercase().replace('-', "_"));
            assert_eq!(argument.get_env().and_then(|variable| variable.to_str()), Some(&*variable), "{name}");
        }
    }

    /// TOML itself promises numbers up to 2^63 - 1 alone.
    #[test]
    fn the_largest_number_comes_back() {
        let options = line(&["--turn", &u64::MAX.to_string()]);
        assert_eq!(from_toml(&to_toml(&options)).unwrap(), options);
    }

    #[test]
    fn a_file_is_written_as_it_is_read() {
        let options = line(&["--attest", "--confirmations", "finalized", "--bootstrap", "a,b", "--turn", "5"]);
        assert_eq!(from_toml(&to_toml(&options)).unwrap(), options);
        assert_eq!(parts(" a, ,b ").collect::<Vec<_>>(), ["a", "b"]);
    }
}
