//! Claims that wait, and which of them go into a batch together.
//!
//! A batch begins with the claim that has waited longest (or the newest one, in an overload). Then it takes claims that
//! share its message, since they need no hash and no pairing of their own, and claims that share its key, which need no
//! pairing. Then it takes the next claim in order, until its planned work reaches the target.
//!
//! For example, 10,000 attestations with 64 messages wait, and a batch has room for 300 claims with messages of their own.
//! In order of arrival, every batch would hash and pair all 64 messages. Grouped, each message is hashed in one batch or
//! two.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    hash::{BuildHasher, RandomState},
    time::Instant,
};

use quorate::{Backend, ClaimBytes, Forecast, Messages, Scheme, SourceId};

use crate::class::Class;

/// A claim that waits, and whom to answer.
#[derive(Debug)]
pub(crate) struct Waiting<T> {
    pub(crate) claim: ClaimBytes,
    pub(crate) class: Class,
    pub(crate) arrived: Instant,
    pub(crate) deadline: Option<Instant>,
    pub(crate) asker: T,
    /// What it is expected to cost, in nanoseconds by the plan's table.
    pub(crate) forecast: Forecast,
    /// The part of the forecast that counts while it waits. Of the claims in a pool that share their message, one is charged for it.
    pub(crate) charged: u64,
    /// The memory that it takes.
    pub(crate) bytes: usize,
    /// How many bytes of messages are hashed for it.
    pub(crate) hashed: u64,
    vertices: Vertices,
}

/// What makes claims fit to be compared: how they are hashed, and what their operations cost.
#[derive(Clone, Debug)]
pub(crate) struct Appraiser {
    pub(crate) backend: Backend,
    /// Its keys are random, so that nobody can make claims that seem to share a message.
    hasher: RandomState,
}

impl Appraiser {
    pub(crate) fn new(backend: Backend) -> Self {
        Self { backend, hasher: RandomState::new() }
    }

    /// A claim with everything that the queue must know of it. It takes time in proportion to the claim's length.
    pub(crate) fn appraise<T>(
        &self,
        claim: ClaimBytes,
        class: Class,
        deadline: Option<Instant>,
        asker: T,
        arrived: Instant,
    ) -> Waiting<T> {
        let forecast = Forecast::of(&claim, self.backend);
        let (charged, bytes, hashed) = (forecast.alone(), claim.memory(), claim.hashed_bytes());
        let vertices = self.vertices(&claim);
        Waiting { claim, class, arrived, deadline, asker, forecast, charged, bytes, hashed, vertices }
    }

    fn vertices(&self, claim: &ClaimBytes) -> Vertices {
        let is_single = claim.statements() == 1;
        let key = is_single.then(|| self.hasher.hash_one((claim.suite, "key", &claim.public_keys)));
        // In an AUG suite each key stands in front of the message, and a proof of possession signs its key.
        let has_keys = match &claim.messages {
            Messages::ProofOfPossession => true,
            _ => claim.suite.scheme() == Scheme::Augmented,
        };
        let keys = has_keys.then_some(&claim.public_keys);
        // All messages of a claim count as one: claims with some in common are not grouped by them.
        Vertices { message: self.hasher.hash_one((claim.suite, "message", &claim.messages, keys)), key }
    }
}

/// The place of a claim in the order of arrival.
pub(crate) type Ticket = u64;

/// Whether the claim that has waited longest goes first, or the newest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Oldest,
    Newest,
}

/// Claims that wait for a batch of the same kind.
#[derive(Debug)]
pub(crate) struct Pool<T> {
    waiting: BTreeMap<Ticket, Waiting<T>>,
    /// The tickets of each source. Claims without a source stand together.
    sources: HashMap<Option<SourceId>, BTreeSet<Ticket>>,
    /// The oldest claim of each source.
    heads: BTreeSet<Ticket>,
    /// The newest claim of each source.
    tails: BTreeSet<Ticket>,
    /// The tickets of the claims with a message or a key, by its hash. Two that have the same hash by chance are only
    /// grouped without a gain.
    vertices: HashMap<u64, BTreeSet<Ticket>>,
    deadlines: BTreeSet<(Instant, Ticket)>,
    charged: u64,
    bytes: usize,
}

/// A batch that is being filled.
#[derive(Debug)]
pub(crate) struct Filling<T> {
    pub(crate) claims: Vec<Waiting<T>>,
    /// The planned work so far, in nanoseconds by the plan's table.
    pub(crate) planned: u64,
    target: u64,
    vertices: HashSet<u64>,
    /// The vertices whose groups have been taken.
    grouped: HashSet<u64>,
    /// By source, how much of the work it has. Claims without a source stand together.
    sources: HashMap<Option<SourceId>, u64>,
    /// How much of the work one source may have.
    cap: u64,
    /// How many claims of groups were looked at.
    #[cfg(test)]
    looked_at: usize,
}

impl<T> Filling<T> {
    /// An empty batch that is full at `target`, of which one source gets at most `cap`. `fixed` is the work of a batch
    /// without claims.
    pub(crate) fn new(target: u64, cap: u64, fixed: u64) -> Self {
        let (vertices, grouped, sources) = (HashSet::new(), HashSet::new(), HashMap::new());
        Self {
            claims: Vec::new(),
            planned: fixed,
            target,
            vertices,
            grouped,
            sources,
            cap,
            #[cfg(test)]
            looked_at: 0,
        }
    }

    fn is_full(&self) -> bool {
        self.planned >= self.target && !self.claims.is_empty()
    }

    /// Whether the source has its share of the batch.
    fn is_saturated(&self, source: &Option<SourceId>) -> bool {
        self.sources.get(source).is_some_and(|used| *used >= self.cap)
    }

    fn push(&mut self, waiting: Waiting<T>) {
        let Waiting { forecast, vertices, .. } = waiting;
        let new_message = self.vertices.insert(vertices.message);
        let new_key = vertices.key.is_none_or(|key| self.vertices.insert(key));
        let cost = match (new_message, new_key) {
            (true, true) => forecast.alone(),
            (true, false) => forecast.with_shared_key(),
            (false, _) => forecast.shared(),
        };
        self.planned += cost;
        *self.sources.entry(waiting.claim.source.clone()).or_default() += cost;
        self.claims.push(waiting);
    }
}

/// The hashes by which a claim is grouped.
#[derive(Clone, Copy, Debug)]
struct Vertices {
    /// Of its messages.
    message: u64,
    /// Of its key, if it has one key.
    key: Option<u64>,
}

impl Vertices {
    fn each(self) -> impl Iterator<Item = u64> {
        [Some(self.message), self.key].into_iter().flatten()
    }
}

impl<T> Pool<T> {
    pub(crate) fn new() -> Self {
        Self {
            waiting: BTreeMap::new(),
            sources: HashMap::new(),
            heads: BTreeSet::new(),
            tails: BTreeSet::new(),
            vertices: HashMap::new(),
            deadlines: BTreeSet::new(),
            charged: 0,
            bytes: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The planned work that waits, in nanoseconds by the plan's table.
    pub(crate) fn charged(&self) -> u64 {
        self.charged
    }

    /// The memory that the claims take.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// How many sources have claims here. Claims without a source count as those of one.
    pub(crate) fn sources(&self) -> usize {
        self.sources.len()
    }

    /// How many sources have claims here and none in another pool.
    pub(crate) fn sources_beside(&self, other: &Self) -> usize {
        self.sources.keys().filter(|source| !other.sources.contains_key(*source)).count()
    }

    /// When the claim that has waited longest arrived.
    pub(crate) fn oldest(&self) -> Option<Instant> {
        self.waiting.values().next().map(|waiting| waiting.arrived)
    }

    pub(crate) fn earliest_deadline(&self) -> Option<Instant> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }

    /// What a claim would be charged: without the hash and the pairing of its message if another one with that message
    /// waits.
    pub(crate) fn charge(&self, waiting: &Waiting<T>) -> u64 {
        let Waiting { forecast, vertices, .. } = waiting;
        if self.vertices.contains_key(&vertices.message) { forecast.shared() } else { forecast.alone() }
    }

    pub(crate) fn insert(&mut self, ticket: Ticket, mut waiting: Waiting<T>) {
        waiting.charged = self.charge(&waiting);
        for vertex in waiting.vertices.each() {
            self.vertices.entry(vertex).or_default().insert(ticket);
        }
        if let Some(deadline) = waiting.deadline {
            self.deadlines.insert((deadline, ticket));
        }
        let tickets = self.sources.entry(waiting.claim.source.clone()).or_default();
        for (ends, end) in [(&mut self.heads, tickets.first()), (&mut self.tails, tickets.last())] {
            if let Some(end) = end {
                ends.remove(end);
            }
        }
        tickets.insert(ticket);
        self.heads.extend(tickets.first());
        self.tails.extend(tickets.last());
        self.charged += waiting.charged;
        self.bytes += waiting.bytes;
        self.waiting.insert(ticket, waiting);
    }

    pub(crate) fn remove(&mut self, ticket: Ticket) -> Option<Waiting<T>> {
        let waiting = self.waiting.remove(&ticket)?;
        for vertex in waiting.vertices.each() {
            if let Some(tickets) = self.vertices.get_mut(&vertex) {
                tickets.remove(&ticket);
                if tickets.is_empty() {
                    self.vertices.remove(&vertex);
                }
            }
        }
        if let Some(deadline) = waiting.deadline {
            self.deadlines.remove(&(deadline, ticket));
        }
        self.heads.remove(&ticket);
        self.tails.remove(&ticket);
        if let Some(tickets) = self.sources.get_mut(&waiting.claim.source) {
            tickets.remove(&ticket);
            self.heads.extend(tickets.first());
            self.tails.extend(tickets.last());
            if tickets.is_empty() {
                self.sources.remove(&waiting.claim.source);
            }
        }
        self.charged -= waiting.charged;
        self.bytes -= waiting.bytes;
        if waiting.charged > waiting.forecast.shared() {
            self.charge_next(waiting.vertices.message);
        }
        Some(waiting)
    }

    /// Charges another claim for a message, if one has it: whoever was charged for it has gone.
    fn charge_next(&mut self, message: u64) {
        let next = self.vertices.get(&message).and_then(|tickets| tickets.first().copied());
        if let Some(next) = next.and_then(|ticket| self.waiting.get_mut(&ticket)) {
            self.charged = self.charged - next.charged + next.forecast.alone();
            next.charged = next.forecast.alone();
        }
    }

    /// Takes the claim that has waited longest.
    pub(crate) fn remove_oldest(&mut self) -> Option<Waiting<T>> {
        let ticket = *self.waiting.keys().next()?;
        self.remove(ticket)
    }

    /// Takes all claims of a source, or all without one, each with its ticket.
    pub(crate) fn remove_source(&mut self, source: &Option<SourceId>) -> Vec<(Ticket, Waiting<T>)> {
        let tickets = self.sources.get(source).cloned().unwrap_or_default();
        tickets.into_iter().filter_map(|ticket| Some((ticket, self.remove(ticket)?))).collect()
    }

    /// Takes all claims whose deadline has passed.
    pub(crate) fn remove_late(&mut self, now: Instant) -> Vec<Waiting<T>> {
        let late = self.deadlines.iter().take_while(|(deadline, _)| *deadline <= now).map(|(_, ticket)| *ticket);
        let late: Vec<_> = late.collect();
        late.into_iter().filter_map(|ticket| self.remove(ticket)).collect()
    }

    pub(crate) fn remove_all(&mut self) -> Vec<Waiting<T>> {
        let all = std::mem::take(&mut self.waiting);
        *self = Self::new();
        all.into_values().collect()
    }

    /// Fills a batch until it is full, or until every source that waits has its share. Claims whose deadline is before
    /// `urgent` go first.
    pub(crate) fn fill(&mut self, batch: &mut Filling<T>, order: Order, urgent: Instant) {
        while !batch.is_full() {
            let Some(seed) = self.seed(batch, order, urgent) else { return };
            let Some(waiting) = self.remove(seed) else { return };
            let vertices = waiting.vertices;
            batch.push(waiting);
            for vertex in vertices.each() {
                self.take_group(batch, vertex, order);
            }
        }
    }

    /// The next claim in order, of a source that does not have its share yet.
    fn seed(&self, batch: &Filling<T>, order: Order, urgent: Instant) -> Option<Ticket> {
        let free = |ticket: &Ticket| {
            self.waiting.get(ticket).is_some_and(|waiting| !batch.is_saturated(&waiting.claim.source))
        };
        let deadlines =
            self.deadlines.iter().take_while(|(deadline, _)| *deadline <= urgent).map(|(_, ticket)| *ticket);
        // No more claims are looked at than a batch has, so that one source with many deadlines costs the others little.
        if let Some(ticket) = deadlines.take(MOST_URGENT).find(free) {
            return Some(ticket);
        }
        match order {
            Order::Oldest => self.heads.iter().copied().find(free),
            Order::Newest => self.tails.iter().rev().copied().find(free),
        }
    }

    /// Moves the claims with a message or a key into the batch, as many as it has room for.
    fn take_group(&mut self, batch: &mut Filling<T>, vertex: u64, order: Order) {
        // What was left the first time belongs to sources that have their share.
        if !batch.grouped.insert(vertex) {
            return;
        }
        let Some(group) = self.vertices.get(&vertex) else { return };
        let group: Vec<_> = match order {
            Order::Oldest => group.iter().copied().take(MOST_OF_GROUP).collect(),
            Order::Newest => group.iter().rev().copied().take(MOST_OF_GROUP).collect(),
        };
        for ticket in group {
            if batch.is_full() {
                return;
            }
            #[cfg(test)]
            {
                batch.looked_at += 1;
            }
            if self.waiting.get(&ticket).is_some_and(|waiting| batch.is_saturated(&waiting.claim.source)) {
                continue;
            }
            if let Some(waiting) = self.remove(ticket) {
                batch.push(waiting);
            }
        }
    }
}

/// The most claims with urgent deadlines that are looked at for each claim of a batch.
const MOST_URGENT: usize = 16;
/// The most claims of a message or a key that one batch takes.
const MOST_OF_GROUP: usize = 4096;

#[cfg(test)]
mod tests {
    use std::{sync::LazyLock, time::Duration};

    use proptest::prelude::*;
    use quorate::{MinPk, Suite};

    use super::*;

    fn waiting(key: u8, message: u8, source: Option<u64>, now: Instant) -> Waiting<(u8, u8)> {
        static APPRAISER: LazyLock<Appraiser> = LazyLock::new(|| Appraiser::new(Backend::Portable));
        let claim = ClaimBytes {
            source: source.map(SourceId::from),
            ..ClaimBytes::single(MinPk::Eth2.any(), &[key], &[message], &[])
        };
        Waiting { bytes: 1, ..APPRAISER.appraise(claim, Class::Gossip, None, (key, message), now) }
    }

    fn fill(pool: &mut Pool<(u8, u8)>, target: u64, cap: u64, order: Order, now: Instant) -> Vec<(u8, u8)> {
        let mut batch = Filling::new(target, cap, 0);
        pool.fill(&mut batch, order, now);
        batch.claims.into_iter().map(|waiting| waiting.asker).collect()
    }

    /// The forecast of one claim with a message of its own.
    fn alone(now: Instant) -> u64 {
        waiting(0, 0, None, now).forecast.alone()
    }

    /// Ten messages arrive in turn. A batch takes all claims of the first message before it takes the next one.
    #[test]
    fn claims_that_share_a_message_go_together() {
        let (mut pool, now) = (Pool::new(), Instant::now());
        for i in 0..100 {
            pool.insert(u64::from(i), waiting(i, i % 10, None, now));
        }
        let shared = waiting(0, 0, None, now).forecast.shared();
        let taken = fill(&mut pool, 2 * (alone(now) + 9 * shared), u64::MAX, Order::Oldest, now);
        assert_eq!(taken.len(), 20);
        assert!(taken.iter().all(|(_, message)| *message < 2));
        let newest = fill(&mut pool, alone(now) + 9 * shared, u64::MAX, Order::Newest, now);
        assert_eq!(newest[0], (99, 9));
        assert!(newest.iter().all(|(_, message)| *message == 9));
    }

    #[test]
    fn claims_that_share_a_key_go_together() {
        let (mut pool, now) = (Pool::new(), Instant::now());
        for i in 0..40 {
            pool.insert(u64::from(i), waiting(i % 4, i, None, now));
        }
        let taken = fill(&mut pool, 5 * alone(now), u64::MAX, Order::Oldest, now);
        assert!(taken.len() >= 6 && taken[..6].iter().all(|(key, _)| *key == 0), "{taken:?}");
    }

    /// A member of a key set is one key, whatever else it signs; another member, or one of another set, is another key.
    #[test]
    fn claims_of_one_member_share_their_key() {
        use quorate::{KeySet, Members, SecretKey};
        let appraiser = Appraiser::new(Backend::Portable);
        let key = SecretKey::key_gen(MinPk::Eth2, &[1; 32], b"").expect("32 bytes").public_key();
        let set = || {
            let mut set = KeySet::new(MinPk::Eth2, Backend::Portable);
            (0..3).for_each(|_| set.push_assumed(key));
            set.into_any()
        };
        let (set, other) = (set(), set());
        let of = |set, members: &[u32], message: u8| {
            let claim = ClaimBytes::of_members(set, Members::Indices(members.to_vec()), [message], []);
            appraiser.vertices(&claim).key
        };
        let first = of(&set, &[1], 1);
        assert!(first.is_some() && first == of(&set, &[1], 2));
        assert!(first != of(&set, &[2], 1) && first != of(&other, &[1], 1));
        assert_eq!(of(&set, &[0, 1], 1), None);
    }

    /// What is hashed with the key is another message for each key.
    #[test]
    fn claims_share_a_message_only_if_they_share_its_hash() {
        let appraiser = Appraiser::new(Backend::Portable);
        let single = |suite: MinPk, key: u8| ClaimBytes::single(suite.any(), &[key], b"m", &[]);
        let proof = |key: u8| ClaimBytes::proof_of_possession(MinPk::Eth2.any(), &[key], &[]);
        let message = |claim: ClaimBytes| appraiser.vertices(&claim).message;
        assert_eq!(message(single(MinPk::Eth2, 1)), message(single(MinPk::Eth2, 2)));
        assert_ne!(message(single(MinPk::Chia, 1)), message(single(MinPk::Chia, 2)));
        assert_eq!(message(single(MinPk::Chia, 1)), message(single(MinPk::Chia, 1)));
        assert_ne!(message(proof(1)), message(proof(2)));
        assert_eq!(message(proof(1)), message(proof(1)));
    }

    /// A flood by one source leaves three quarters of a batch to the others.
    #[test]
    fn a_source_gets_its_share_of_a_batch() {
        let (mut pool, now) = (Pool::new(), Instant::now());
        for i in 0..100 {
            pool.insert(u64::from(i), waiting(i, i, Some(1), now));
        }
        for i in 100..120 {
            pool.insert(u64::from(i), waiting(i, i, Some(u64::from(i)), now));
        }
        assert_eq!(pool.sources(), 21);
        let taken = fill(&mut pool, 16 * alone(now), 4 * alone(now), Order::Oldest, now);
        assert_eq!(taken.iter().filter(|(key, _)| *key < 100).count(), 4);
        assert_eq!(taken.len(), 16);
        // Nobody else is left after these, and the batch is closed although it is not full.
        fill(&mut pool, 100 * alone(now), 4 * alone(now), Order::Oldest, now);
        assert_eq!(pool.sources(), 1);
        assert_eq!(pool.remove_source(&Some(1.into())).len(), 92);
        assert!(pool.is_empty() && pool.heads.is_empty() && pool.tails.is_empty() && pool.vertices.is_empty());
    }

    /// A flood of claims with one message by one source, and honest claims with the same message: filling a batch looks at
    /// the flood once and not once for each honest claim.
    #[test]
    fn a_flood_of_one_message_is_looked_at_once() {
        let (mut pool, now) = (Pool::new(), Instant::now());
        for ticket in 0..5000 {
            pool.insert(ticket, waiting(1, 7, Some(1), now));
        }
        for ticket in 5000..5200 {
            pool.insert(ticket, waiting((ticket % 250) as u8, 7, Some(ticket), now));
        }
        let shared = waiting(0, 0, None, now).forecast.shared();
        let mut batch = Filling::new(1000 * shared, 3 * shared, 0);
        pool.fill(&mut batch, Order::Oldest, now);
        assert!(batch.looked_at <= 2 * MOST_OF_GROUP + 1000, "{}", batch.looked_at);
        assert!(batch.claims.iter().filter(|waiting| waiting.claim.source == Some(1.into())).count() < 50);
        assert_eq!(batch.claims.iter().filter(|waiting| waiting.claim.source != Some(1.into())).count(), 200);
    }

    /// One of ten claims was charged for the message of all. When it had left, the others waited nearly for free.
    #[test]
    fn what_is_left_of_a_message_is_charged_for_it() {
        let (mut pool, now) = (Pool::new(), Instant::now());
        let Forecast { own, .. } = waiting(0, 0, None, now).forecast;
        let of = |claims: u64| alone(now) + (claims - 1) * own;
        for i in 0..10 {
            // Two sources, and a deadline.
            let deadline = (i == 2).then_some(now);
            pool.insert(u64::from(i), Waiting { deadline, ..waiting(i, 7, Some(u64::from(i > 5)), now) });
        }
        assert_eq!(pool.charged(), of(10));
        assert!(pool.remove_oldest().is_some() && pool.remove_oldest().is_some());
        assert_eq!(pool.charged(), of(8));
        assert_eq!((pool.remove_late(now).len(), pool.charged()), (1, of(7)), "by its deadline");
        assert_eq!((pool.remove_source(&Some(0.into())).len(), pool.charged()), (3, of(4)), "banned");
        assert_eq!(fill(&mut pool, alone(now) + own, u64::MAX, Order::Oldest, now).len(), 2);
        assert_eq!(pool.charged(), of(2));
        assert!(pool.remove(9).is_some());
        assert_eq!(pool.charged(), of(1), "the other one was charged for the message");
        // A claim that comes from another pool was charged there.
        let mut other = Pool::new();
        other.insert(20, waiting(1, 7, None, now));
        for (ticket, waiting) in pool.remove_source(&Some(1.into())) {
            other.insert(ticket, waiting);
        }
        assert_eq!((pool.charged(), other.charged()), (0, of(2)));
    }

    #[test]
    fn urgent_deadlines_go_first() {
        let (mut pool, now) = (Pool::new(), Instant::now());
        for i in 0..20 {
            let deadline = (i >= 15).then(|| now + Duration::from_millis(u64::from(100 - i)));
            pool.insert(u64::from(i), Waiting { deadline, ..waiting(i, i, None, now) });
        }
        assert_eq!(pool.earliest_deadline(), Some(now + Duration::from_millis(81)));
        let mut batch = Filling::new(3 * alone(now), u64::MAX, 0);
        pool.fill(&mut batch, Order::Oldest, now + Duration::from_millis(82));
        let taken: Vec<_> = batch.claims.iter().map(|waiting| waiting.asker.0).collect();
        assert_eq!(taken, [19, 18, 0]);
        assert_eq!(pool.remove_late(now + Duration::from_millis(84)).len(), 2);
    }

    proptest! {
        /// However claims come and go, all indexes agree with the claims, and nothing is lost or doubled.
        #[test]
        fn indexes_agree(steps in prop::collection::vec((0u8..6, 0u8..5, 0u8..5, prop::option::of(0u64..4)), 1..120)) {
            let (mut pool, now) = (Pool::new(), Instant::now());
            let (mut inside, mut out) = (0, 0);
            for (ticket, (step, key, message, source)) in steps.into_iter().enumerate() {
                match step {
                    0..3 => {
                        let deadline = (key == 0).then(|| now + Duration::from_millis(u64::from(message)));
                        pool.insert(ticket as u64, Waiting { deadline, ..waiting(key, message, source, now) });
                        inside += 1;
                    }
                    3 => {
                        let order = if key == 0 { Order::Newest } else { Order::Oldest };
                        out += fill(&mut pool, u64::from(message) * alone(now), 2 * alone(now), order, now).len();
                    }
                    4 => out += usize::from(pool.remove_oldest().is_some()),
                    _ => out += pool.remove_source(&source.map(SourceId::from)).len(),
                }
                prop_assert_eq!(pool.len(), inside - out);
                let tickets: BTreeSet<_> = pool.waiting.keys().copied().collect();
                let of_sources: Vec<_> = pool.sources.values().flatten().copied().collect();
                prop_assert_eq!(of_sources.len(), tickets.len());
                prop_assert!(pool.sources.values().all(|of_source| !of_source.is_empty()));
                let heads: BTreeSet<_> = pool.sources.values().filter_map(|of_source| of_source.first().copied()).collect();
                let tails: BTreeSet<_> = pool.sources.values().filter_map(|of_source| of_source.last().copied()).collect();
                prop_assert_eq!(&pool.heads, &heads);
                prop_assert_eq!(&pool.tails, &tails);
                let grouped: BTreeSet<_> = pool.vertices.values().flatten().copied().collect();
                prop_assert_eq!(&grouped, &tickets);
                prop_assert_eq!(pool.charged, pool.waiting.values().map(|w| w.charged).sum::<u64>());
                let messages: BTreeSet<_> = pool.waiting.values().map(|w| w.asker.1).collect();
                let Forecast { own, hash, pairing } = waiting(0, 0, None, now).forecast;
                prop_assert_eq!(pool.charged, pool.len() as u64 * own + messages.len() as u64 * (hash + pairing));
                prop_assert_eq!(pool.bytes, pool.len());
                prop_assert_eq!(pool.deadlines.len(), pool.waiting.values().filter(|w| w.deadline.is_some()).count());
            }
        }
    }
}
