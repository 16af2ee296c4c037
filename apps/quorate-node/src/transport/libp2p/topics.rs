//! The names of topics, and which of them a peer may name.

use libp2p_gossipsub::{IdentTopic, MaxCountSubscriptionFilter, TopicHash, TopicSubscriptionFilter};
use quorate_evm::digest::Contract;

use quorate_network::{groups::Audience, message::Branch, wire};

/// What the names of all protocols and of the topic begin with.
pub(super) fn prefix(network: Contract) -> String {
    let Contract { chain_id, address } = network;
    format!("/quorate/{}/{chain_id}/{address:#x}", wire::VERSION)
}

/// The topic of an audience: `signed` for everybody, and behind it the epoch, the level and the number of a branch.
pub(super) fn topic(network: Contract, audience: Audience) -> IdentTopic {
    let all = format!("{}/signed", prefix(network));
    match audience {
        Audience::Everybody => IdentTopic::new(all),
        Audience::Branch(epoch, Branch { level, number }) => IdentTopic::new(format!("{all}/{epoch}/{level}/{number}")),
    }
}

/// Which topics a peer may name: those of the network.
#[derive(Clone, Debug)]
pub(super) struct OwnTopics(String);

impl OwnTopics {
    pub(super) fn of(network: Contract) -> Topics {
        let all = topic(network, Audience::Everybody).hash().into_string();
        MaxCountSubscriptionFilter {
            filter: Self(all),
            max_subscribed_topics: MAX_TOPICS,
            max_subscriptions_per_request: MAX_TOPICS,
        }
    }
}

impl TopicSubscriptionFilter for OwnTopics {
    fn can_subscribe(&mut self, topic: &TopicHash) -> bool {
        let Some(branch) = topic.as_str().strip_prefix(&self.0) else { return false };
        let parts: Vec<_> = branch.split('/').collect();
        match parts[..] {
            [""] => true,
            ["", epoch, level, number] => {
                epoch.parse::<u64>().is_ok() && level.parse::<u8>().is_ok() && number.parse::<u32>().is_ok()
            }
            _ => false,
        }
    }
}

/// The topics of one peer, bounded in number.
pub(super) type Topics = MaxCountSubscriptionFilter<OwnTopics>;

/// The most topics of a peer: those of seven levels in each of four epochs, and the one of everybody.
const MAX_TOPICS: usize = 32;
