//! When a batch closes, what goes into it, and what is refused. A state machine: it has no clock, no threads and no
//! arithmetic on curves, so that tests decide what time it is.
//!
//! Workers ask [`Schedule::next`] for work, and are told to verify a batch, to ask again at some time, or to wait until
//! they are woken. Whoever calls a method answers the claims that it hands back.

use std::{
    collections::VecDeque,
    num::NonZeroUsize,
    time::{Duration, Instant},
};

use quorate::{ClaimBytes, Forecast, Reason, SourceId};

use crate::{
    answer::Refused,
    class::Class,
    pool::{Filling, Order, Pool, Ticket, Waiting},
    settings::{Settings, SourceSettings},
    source::{Ban, SourceReport, Sources, Standing},
};

/// The claims that wait, the batches that are being verified, and the sources.
#[derive(Debug)]
pub(crate) struct Schedule<T> {
    settings: Settings,
    sources: Sources,
    blocks: VecDeque<Waiting<T>>,
    block_work: u64,
    block_bytes: usize,
    duty: Pool<T>,
    gossip: Pool<T>,
    suspects: Pool<T>,
    next_ticket: Ticket,
    /// Batches of blocks that are being verified.
    blocks_running: usize,
    /// Other batches that are being verified.
    running: usize,
    suspects_running: bool,
    /// How much more time suspects may get while others wait, in nanoseconds. Others' batches add to it, and those of suspects take
    /// from it, each up to a bound.
    suspects_credit: f64,
    /// Until when the workers have paid for what it costs to begin batches, with their [`SHARE_OF_BEGINNING`]. Each batch that is
    /// no suspects' and no block's moves it on.
    paid: Option<Instant>,
    /// How much longer a batch takes on this machine than the plan's table says.
    pace: f64,
    /// When a claim with a source came last.
    named_at: Option<Instant>,
    /// During an overload: how many claims it refused.
    overload: Option<u64>,
    /// The same of the part of the queue that suspects have.
    suspects_overload: Option<u64>,
    stopping: bool,
}

/// Whom to answer, and that it was refused.
pub(crate) type Rejected<T> = (Waiting<T>, Refused);

/// What a worker shall do.
#[derive(Debug)]
pub(crate) enum Next<T> {
    /// Verify these claims.
    Batch(Batch<T>),
    /// Ask again at this time, or when it is woken.
    At(Instant),
    /// Ask again when it is woken.
    Idle,
    /// End: there is nothing left, and nothing will come.
    End,
}

/// Which work a worker takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Blocks alone.
    Blocks,
    /// Claims of every class.
    All,
}

/// Claims that are verified together.
#[derive(Debug)]
pub(crate) struct Batch<T> {
    pub(crate) claims: Vec<Waiting<T>>,
    pub(crate) kind: BatchKind,
    pub(crate) closed_by: ClosedBy,
    /// By the plan's table, in nanoseconds.
    planned_by_table: u64,
    /// What it is expected to take.
    pub(crate) planned: Duration,
    /// On how many threads it is verified.
    pub(crate) threads: NonZeroUsize,
}

/// What a batch is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BatchKind {
    /// Blocks, on all threads.
    Block,
    /// Claims of duties, filled up with gossip.
    Duty,
    /// Gossip.
    Gossip,
    /// Claims of suspects.
    Suspects,
}

impl BatchKind {
    /// The name in metrics: `block`, `duty`, `gossip`, `suspects`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Duty => "duty",
            Self::Gossip => "gossip",
            Self::Suspects => "suspects",
        }
    }
}

/// Why a batch was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ClosedBy {
    /// Blocks do not wait.
    Block,
    /// Its planned work reached the target.
    Full,
    /// A worker was idle, and to begin a batch cost less than waiting was worth.
    Idle,
    /// A worker was idle, and the first claim had waited as long as it may.
    Wait,
    /// A claim's deadline was near.
    Deadline,
    /// The batcher was stopping.
    Stop,
}

impl ClosedBy {
    /// The name in metrics: `block`, `full`, `idle`, `wait`, `deadline`, `stop`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Full => "full",
            Self::Idle => "idle",
            Self::Wait => "wait",
            Self::Deadline => "deadline",
            Self::Stop => "stop",
        }
    }
}

/// How much work waits. Work is planned work, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Load {
    /// Work of blocks.
    pub block_us: u64,
    /// Work of duties.
    pub duty_us: u64,
    /// Work of gossip.
    pub gossip_us: u64,
    /// Work of suspects.
    pub suspects_us: u64,
    /// How much work may wait.
    pub capacity_us: u64,
    /// How many claims wait.
    pub claims: usize,
    /// The memory that they take, in bytes.
    pub bytes: usize,
    /// How much memory they may take, in bytes.
    pub capacity_bytes: usize,
    /// How many batches are being verified.
    pub running: usize,
    /// Whether claims were refused because too much waited, and not less than half of what may wait has waited since, in work and in
    /// bytes.
    pub overloaded: bool,
    /// Whether it takes no more claims.
    pub stopping: bool,
}

impl Load {
    /// All work that waits.
    #[must_use]
    pub fn waiting_us(&self) -> u64 {
        self.block_us + self.duty_us + self.gossip_us + self.suspects_us
    }

    /// Whether a new claim would be verified soon: less than 80 % of the work and of the memory that may wait is waiting. A
    /// service says with it that it wants no more work *before* it must refuse some.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        let has_room = self.waiting_us() < self.capacity_us / 5 * 4 && self.bytes < self.capacity_bytes / 5 * 4;
        !self.stopping && !self.overloaded && has_room
    }
}

/// The end of an overload, or its begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OverloadChange {
    Begins,
    Ends {
        refused: u64,
    },
    /// Of the part of the queue that suspects have: others are not concerned.
    SuspectsBegin,
    SuspectsEnd {
        refused: u64,
    },
}

/// A source was banned.
#[derive(Debug)]
pub(crate) struct Banned<T> {
    pub(crate) report: SourceReport,
    pub(crate) evicted: Vec<Rejected<T>>,
}

impl<T> Schedule<T> {
    pub(crate) fn new(settings: Settings) -> Self {
        Self {
            sources: Sources::new(settings.sources.clone()),
            settings,
            blocks: VecDeque::new(),
            block_work: 0,
            block_bytes: 0,
            duty: Pool::new(),
            gossip: Pool::new(),
            suspects: Pool::new(),
            next_ticket: 0,
            blocks_running: 0,
            running: 0,
            suspects_running: false,
            suspects_credit: 0.0,
            paid: None,
            pace: 1.0,
            named_at: None,
            overload: None,
            suspects_overload: None,
            stopping: false,
        }
    }

    /// Judges sources by other settings from now on.
    pub(crate) fn set_sources(&mut self, sources: SourceSettings) {
        self.sources.set(sources.clone());
        self.settings.sources = sources;
    }

    /// Takes a claim. Hands back what is refused: the claim itself, or older gossip in its place.
    pub(crate) fn admit(&mut self, waiting: Waiting<T>) -> (Vec<Rejected<T>>, Option<OverloadChange>) {
        let (class, now, deadline) = (waiting.class, waiting.arrived, waiting.deadline);
        let standing = match (self.arrives(waiting.claim.source.as_ref(), now), class, &waiting.claim.source) {
            // A block that names nobody is the caller's own.
            (_, Class::Block, None) => Standing::Trusted,
            (standing, ..) => standing,
        };
        let refused = if self.stopping {
            Some(Refused::Stopped)
        } else if standing == Standing::Banned {
            Some(Refused::Banned)
        } else if self.is_too_large(&waiting) {
            Some(Refused::TooLarge)
        } else if deadline.is_some_and(|deadline| deadline <= now) {
            Some(Refused::DeadlinePassed)
        } else {
            None
        };
        if let Some(refused) = refused {
            return (vec![(waiting, refused)], None);
        }
        if class == Class::Block && standing != Standing::Suspect {
            let (evicted, fits) = self.make_room(&waiting, standing);
            let change = self.count_overload(evicted.len() + usize::from(!fits));
            if !fits {
                return (with(evicted, waiting, Refused::Overloaded), change);
            }
            self.block_work += waiting.charged;
            self.block_bytes += waiting.bytes;
            self.blocks.push_back(waiting);
            return (overloaded(evicted, Refused::Overloaded), change);
        }
        let (evicted, fits) = self.make_room(&waiting, standing);
        let refused = evicted.len() + usize::from(!fits);
        // A suspect pushes nobody out but suspects.
        let (change, why) = match standing {
            Standing::Suspect => (self.count_suspects_overload(refused), Refused::SuspectsOverloaded),
            _ => (self.count_overload(refused), Refused::Overloaded),
        };
        if !fits {
            return (with(evicted, waiting, why), change);
        }
        let ticket = self.take_ticket();
        self.pool(class, standing).insert(ticket, waiting);
        (overloaded(evicted, why), change)
    }

    fn take_ticket(&mut self) -> Ticket {
        self.next_ticket += 1;
        self.next_ticket - 1
    }

    /// The standing of the source of a claim that comes. Claims without a source are suspects as long as others come that have one:
    /// these would suffer from their lies. Where nobody names a source, there is nobody to be kept apart from.
    fn arrives(&mut self, source: Option<&SourceId>, now: Instant) -> Standing {
        match source {
            Some(source) => {
                let before = self.named_at.replace(now);
                if self.is_recent(before, now) || !self.sources.suspects_nobody(now) {
                    return self.sources.arrives(source, now);
                }
                self.set_apart(&None);
                self.sources.arrives(source, now)
            }
            None if self.is_recent(self.named_at, now) && self.sources.suspects_nobody(now) => Standing::Suspect,
            None => Standing::Trusted,
        }
    }

    fn is_recent(&self, named_at: Option<Instant>, now: Instant) -> bool {
        named_at.is_some_and(|at| now.saturating_duration_since(at) < self.settings.sources.half_life)
    }

    /// Moves the claims of a source that became a suspect to those of other suspects.
    fn set_apart(&mut self, source: &Option<SourceId>) {
        if source.is_some() {
            for waiting in self.remove_blocks(source) {
                let ticket = self.take_ticket();
                self.suspects.insert(ticket, waiting);
            }
        }
        for pool in [&mut self.duty, &mut self.gossip] {
            for (ticket, waiting) in pool.remove_source(source) {
                self.suspects.insert(ticket, waiting);
            }
        }
    }

    /// Whether half of the part of the queue is free that claims of a class and a source may have, and half of its memory. What is less
    /// urgent than a block or a duty does not count, if a claim of so much work makes it give way. For whoever has many claims and hands
    /// them in as they fit.
    pub(crate) fn has_room(&self, class: Class, source: Option<&SourceId>, work: u64, now: Instant) -> bool {
        let suspect = match source {
            Some(source) => self.sources.standing(source, now) == Standing::Suspect,
            // A block that names nobody is the caller's own.
            None => class != Class::Block && self.is_recent(self.named_at, now) && self.sources.suspects_nobody(now),
        };
        let is_urgent = class != Class::Gossip && !suspect && self.pushes_out(class, work);
        let (waiting, held) = if is_urgent { self.stays(class, false) } else { (self.waiting(), self.bytes()) };
        let (most_work, most_bytes) = self.room_of_suspects();
        waiting < self.capacity() / 2
            && held < self.settings.queue_bytes / 2
            && !(suspect && (self.suspects.charged() >= most_work / 2 || self.suspects.bytes() >= most_bytes / 2))
    }

    /// What a worker shall do, and the claims whose deadlines have passed.
    pub(crate) fn next(&mut self, role: Role, now: Instant) -> (Next<T>, Vec<Rejected<T>>) {
        let mut rejected = Vec::new();
        for pool in [&mut self.duty, &mut self.gossip, &mut self.suspects] {
            if pool.earliest_deadline().is_some_and(|deadline| deadline <= now) {
                let late = pool.remove_late(now);
                rejected.extend(late.into_iter().map(|waiting| (waiting, Refused::DeadlinePassed)));
            }
        }
        if !self.blocks.is_empty() {
            return (self.blocks(now, &mut rejected), rejected);
        }
        let next = match role {
            _ if self.stopping && self.is_empty() => Next::End,
            Role::Blocks => Next::Idle,
            // A block has all cores to itself, as soon as the batches in progress have ended.
            Role::All if self.blocks_running > 0 => Next::Idle,
            Role::All => self.batch(now),
        };
        (next, rejected)
    }

    /// When the next batch closes if nothing else comes: for whoever must decide whether to wake a worker.
    pub(crate) fn next_close(&self, now: Instant) -> Option<Instant> {
        if !self.blocks.is_empty() {
            return Some(now);
        }
        if self.blocks_running > 0 {
            return None;
        }
        let suspects = self.close(Group::Suspects, now).filter(|_| !self.suspects_running);
        [self.close(Group::Others, now), suspects].into_iter().flatten().map(|(at, _)| at).min()
    }

    /// A batch was verified, or its verification failed. `was_true` says that all of its claims were true and none was known,
    /// so that the time it took says something about the next batch.
    pub(crate) fn done(&mut self, kind: BatchKind, planned_by_table: u64, took: Duration, was_true: bool) {
        // Neither a long time alone nor a long time among others decides what comes later.
        let most = 4.0 * self.settings.target.as_nanos() as f64;
        match kind {
            BatchKind::Block => self.blocks_running -= 1,
            BatchKind::Suspects => {
                self.running -= 1;
                self.suspects_running = false;
                self.suspects_credit = (self.suspects_credit - took.as_nanos() as f64).max(-most);
            }
            BatchKind::Duty | BatchKind::Gossip => {
                self.running -= 1;
                let share = self.settings.sources.suspects_share;
                self.suspects_credit = (self.suspects_credit + took.as_nanos() as f64 * share).min(most);
            }
        }
        // Blocks run on other threads beside batches, so their times say less.
        if was_true && kind != BatchKind::Block && planned_by_table > 0 {
            let measured = took.as_nanos() as f64 / planned_by_table as f64;
            self.pace = (self.pace + (measured - self.pace) * PACE_GAIN).clamp(PACE_LEAST, PACE_MOST);
        }
    }

    /// Counts a claim that was proven false. If that bans its source, everything of it that waits is handed back. If it
    /// makes it a suspect, its claims move to those of other suspects.
    pub(crate) fn found_false(&mut self, claim: &ClaimBytes, reason: Reason, now: Instant) -> Option<Banned<T>> {
        let banned = self.sources.found_false(claim, reason, now);
        let Some(source) = &claim.source else {
            if self.is_recent(self.named_at, now) && self.sources.suspects_nobody(now) {
                self.set_apart(&None);
            }
            return None;
        };
        if banned {
            let evicted = self.evict(source);
            return Some(Banned { report: self.sources.report(source, now)?, evicted });
        }
        if self.sources.standing(source, now) == Standing::Suspect {
            self.set_apart(&claim.source);
        }
        None
    }

    pub(crate) fn until_ban(&self, source: &SourceId, now: Instant) -> usize {
        self.sources.until_ban(source, now)
    }

    pub(crate) fn ban(&mut self, source: &SourceId, now: Instant, time: Duration) -> Option<Banned<T>> {
        self.sources.ban(source, now, time);
        // A source whose name is too long has no report and no ban, and what waits of it stays.
        let report = self.sources.report(source, now)?;
        Some(Banned { evicted: self.evict(source), report })
    }

    pub(crate) fn pardon(&mut self, source: &SourceId) -> bool {
        self.sources.pardon(source)
    }

    pub(crate) fn bans(&self, now: Instant) -> Vec<Ban> {
        self.sources.bans(now)
    }

    pub(crate) fn restore(&mut self, ban: &Ban, now: Instant) {
        self.sources.restore(ban, now);
    }

    pub(crate) fn banned(&self, now: Instant) -> usize {
        self.sources.banned(now)
    }

    /// The worst sources of those that are asked for, and how many of them there are.
    pub(crate) fn sources(
        &self,
        most: usize,
        of: impl Fn(&SourceId) -> bool,
        now: Instant,
    ) -> (Vec<SourceReport>, usize) {
        self.sources.reports(most, of, now)
    }

    pub(crate) fn load(&self) -> Load {
        let us = |work: u64| (work as f64 * self.pace / 1000.0) as u64;
        Load {
            block_us: us(self.block_work),
            duty_us: us(self.duty.charged()),
            gossip_us: us(self.gossip.charged()),
            suspects_us: us(self.suspects.charged()),
            capacity_us: us(self.capacity()),
            claims: self.blocks.len() + self.duty.len() + self.gossip.len() + self.suspects.len(),
            bytes: self.bytes(),
            capacity_bytes: self.settings.queue_bytes,
            running: self.running + self.blocks_running,
            overloaded: self.overload.is_some(),
            stopping: self.stopping,
        }
    }

    /// Takes no more claims, and closes batches at once.
    pub(crate) fn stop(&mut self) {
        self.stopping = true;
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping
    }

    /// Whether nothing waits and nothing is being verified.
    pub(crate) fn is_done(&self) -> bool {
        self.is_empty() && self.running + self.blocks_running == 0
    }

    /// Hands back everything that waits.
    pub(crate) fn abandon(&mut self) -> Vec<Rejected<T>> {
        let blocks: Vec<_> = self.blocks.drain(..).collect();
        (self.block_work, self.block_bytes) = (0, 0);
        let pools = [&mut self.duty, &mut self.gossip, &mut self.suspects].into_iter().flat_map(Pool::remove_all);
        blocks.into_iter().chain(pools).map(|waiting| (waiting, Refused::Stopped)).collect()
    }

    fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.duty.is_empty() && self.gossip.is_empty() && self.suspects.is_empty()
    }

    fn pool(&mut self, class: Class, standing: Standing) -> &mut Pool<T> {
        match (standing, class) {
            (Standing::Suspect, _) => &mut self.suspects,
            (_, Class::Duty) => &mut self.duty,
            _ => &mut self.gossip,
        }
    }

    /// What a claim is charged if it waits now.
    fn charge(&self, waiting: &Waiting<T>, standing: Standing) -> u64 {
        match (standing, waiting.class) {
            (Standing::Suspect, _) => self.suspects.charge(waiting),
            (_, Class::Block) => waiting.charged,
            (_, Class::Duty) => self.duty.charge(waiting),
            (_, Class::Gossip) => self.gossip.charge(waiting),
        }
    }

    fn bytes(&self) -> usize {
        self.block_bytes + self.duty.bytes() + self.gossip.bytes() + self.suspects.bytes()
    }

    fn waiting(&self) -> u64 {
        self.block_work + self.duty.charged() + self.gossip.charged() + self.suspects.charged()
    }

    /// The work and the memory of what waits and makes no room for a claim of a class, or of a suspect.
    fn stays(&self, class: Class, is_suspect: bool) -> (u64, usize) {
        match class {
            _ if is_suspect => (self.waiting() - self.suspects.charged(), self.bytes() - self.suspects.bytes()),
            Class::Block => (self.block_work, self.block_bytes),
            Class::Duty | Class::Gossip => {
                (self.block_work + self.duty.charged(), self.block_bytes + self.duty.bytes())
            }
        }
    }

    /// Whether a claim of so much work may push others out. A large one that is no block does not: it would empty the queue.
    fn pushes_out(&self, class: Class, work: u64) -> bool {
        class == Class::Block || work <= self.capacity() / LARGE_OF_QUEUE
    }

    /// How much work may wait, in nanoseconds by the plan's table.
    fn capacity(&self) -> u64 {
        self.by_table(self.settings.queue).saturating_mul(self.settings.threads.get() as u64)
    }

    /// How much work of suspects may wait, in nanoseconds by the plan's table, and how many bytes. More waits if their only claim is
    /// larger, or if sources became suspects while their claims waited: then others push these out first.
    fn room_of_suspects(&self) -> (u64, usize) {
        (self.capacity() / PART_OF_SUSPECTS as u64, self.settings.queue_bytes / PART_OF_SUSPECTS)
    }

    /// Whether suspects keep to their part of the queue if they have so much more.
    fn suspects_fit(&self, more_work: u64, more_bytes: usize) -> bool {
        let (work, bytes) = self.room_of_suspects();
        self.suspects.charged() + more_work <= work && self.suspects.bytes() + more_bytes <= bytes
    }

    /// A time on this machine, in nanoseconds by the plan's table.
    fn by_table(&self, time: Duration) -> u64 {
        ((time.as_nanos() as f64 / self.pace) as u64).max(1)
    }

    fn on_this_machine(&self, by_table: u64) -> Duration {
        Duration::from_nanos((by_table as f64 * self.pace) as u64)
    }

    /// Whether a claim has no place even where nothing waits. What is hashed once lies in memory, so only a message that stands behind
    /// many keys makes the bytes that are hashed more than the bytes that wait.
    fn is_too_large(&self, new: &Waiting<T>) -> bool {
        let most = self.settings.queue_bytes;
        new.bytes > most || new.hashed > most as u64
    }

    /// Evicts what is less urgent or older than a claim, until the claim fits. `false` if it does not fit. A claim that is not too large
    /// always fits where nothing waits.
    fn make_room(&mut self, new: &Waiting<T>, standing: Standing) -> (Vec<Waiting<T>>, bool) {
        let is_suspect = standing == Standing::Suspect;
        let (most_work, most_bytes) = (self.capacity(), self.settings.queue_bytes);
        let fits =
            |charged: u64, (work, bytes): (u64, usize)| work + charged <= most_work && bytes + new.bytes <= most_bytes;
        let charged = self.charge(new, standing);
        let stays = self.stays(new.class, is_suspect);
        // Duties stay, and with them those that share the message of one. Gossip and suspects push out who shares theirs.
        let beside_them = if new.class == Class::Duty && !is_suspect { charged } else { new.forecast.alone() };
        // What would not fit even then pushes nobody out.
        let may_evict = self.pushes_out(new.class, charged) && (stays == (0, 0) || fits(beside_them, stays));
        let mut evicted = Vec::new();
        if is_suspect {
            let (work, bytes) = self.room_of_suspects();
            // What is larger than their part of the queue is taken only where nothing waits.
            if charged > work || new.bytes > bytes {
                return (evicted, self.is_empty());
            }
            while may_evict && !self.suspects.is_empty() && !self.suspects_fit(self.charge(new, standing), new.bytes) {
                evicted.extend(self.suspects.remove_oldest());
            }
        }
        loop {
            // Whoever was evicted may have been charged for its message.
            if fits(self.charge(new, standing), (self.waiting(), self.bytes())) || self.is_empty() {
                return (evicted, true);
            }
            if !may_evict {
                return (evicted, false);
            }
            // Gossip pushes suspects out only if they have more than their part, or if there is no other gossip left. Whatever is more
            // urgent pushes them out first.
            let oldest = match (new.class, is_suspect) {
                (_, true) => self.suspects.remove_oldest(),
                (Class::Block, _) => {
                    let gossip = self.suspects.remove_oldest().or_else(|| self.gossip.remove_oldest());
                    gossip.or_else(|| self.duty.remove_oldest())
                }
                (Class::Duty, _) => self.suspects.remove_oldest().or_else(|| self.gossip.remove_oldest()),
                (Class::Gossip, _) if !self.suspects_fit(0, 0) => self.suspects.remove_oldest(),
                (Class::Gossip, _) => self.gossip.remove_oldest().or_else(|| self.suspects.remove_oldest()),
            };
            match oldest {
                Some(oldest) => evicted.push(oldest),
                None => return (evicted, false),
            }
        }
    }

    /// Counts what was refused for lack of room. Says when an overload begins, and when it is over.
    fn count_overload(&mut self, refused: usize) -> Option<OverloadChange> {
        let is_over =
            refused == 0 && self.waiting() <= self.capacity() / 2 && self.bytes() <= self.settings.queue_bytes / 2;
        match self.overload {
            Some(before) if is_over => {
                self.overload = None;
                Some(OverloadChange::Ends { refused: before })
            }
            Some(before) => {
                self.overload = Some(before + refused as u64);
                None
            }
            None if refused > 0 => {
                self.overload = Some(refused as u64);
                Some(OverloadChange::Begins)
            }
            None => None,
        }
    }

    /// The same for the part of the queue that suspects have.
    fn count_suspects_overload(&mut self, refused: usize) -> Option<OverloadChange> {
        let (work, bytes) = self.room_of_suspects();
        let is_over = refused == 0 && self.suspects.charged() <= work / 2 && self.suspects.bytes() <= bytes / 2;
        match self.suspects_overload {
            Some(before) if is_over => {
                self.suspects_overload = None;
                Some(OverloadChange::SuspectsEnd { refused: before })
            }
            Some(before) => {
                self.suspects_overload = Some(before + refused as u64);
                None
            }
            None if refused > 0 => {
                self.suspects_overload = Some(refused as u64);
                Some(OverloadChange::SuspectsBegin)
            }
            None => None,
        }
    }

    /// Whether an overload is over. Claims may stop to come, so that a worker must ask.
    pub(crate) fn end_overload(&mut self) -> Option<OverloadChange> {
        let of_all = self.overload.is_some().then(|| self.count_overload(0)).flatten();
        let of_suspects = || self.suspects_overload.is_some().then(|| self.count_suspects_overload(0)).flatten();
        of_all.or_else(of_suspects)
    }

    /// All blocks that wait.
    fn blocks(&mut self, now: Instant, rejected: &mut Vec<Rejected<T>>) -> Next<T> {
        (self.block_work, self.block_bytes) = (0, 0);
        let mut claims = Vec::new();
        for waiting in self.blocks.drain(..) {
            if waiting.deadline.is_some_and(|deadline| deadline <= now) {
                rejected.push((waiting, Refused::DeadlinePassed));
            } else {
                claims.push(waiting);
            }
        }
        if claims.is_empty() {
            return Next::At(now);
        }
        self.blocks_running += 1;
        let work = claims.iter().map(|waiting| waiting.charged).sum::<u64>();
        let planned_by_table = Forecast::of_batch(self.settings.backend) + work;
        Next::Batch(Batch {
            claims,
            kind: BatchKind::Block,
            closed_by: ClosedBy::Block,
            planned_by_table,
            planned: self.on_this_machine(planned_by_table / self.settings.threads.get() as u64),
            threads: self.settings.threads,
        })
    }

    /// A batch of the others or of the suspects, if one closes now.
    fn batch(&mut self, now: Instant) -> Next<T> {
        let others = self.close(Group::Others, now);
        let suspects = self.close(Group::Suspects, now).filter(|_| !self.suspects_running);
        let closes = |close: Option<(Instant, ClosedBy)>| close.filter(|(at, _)| *at <= now).map(|(_, by)| by);
        // Suspects go first only with the time that others' batches have earned for them.
        if let Some(closed_by) = closes(suspects).filter(|_| self.suspects_credit > 0.0 || closes(others).is_none()) {
            return Next::Batch(self.fill(Group::Suspects, closed_by, now));
        }
        if let Some(closed_by) = closes(others) {
            return Next::Batch(self.fill(Group::Others, closed_by, now));
        }
        [others, suspects].into_iter().flatten().map(|(at, _)| at).min().map_or(Next::Idle, Next::At)
    }

    /// When a batch of a group closes if a worker is idle, and why.
    fn close(&self, group: Group, now: Instant) -> Option<(Instant, ClosedBy)> {
        let (first, second, wait) = match group {
            Group::Others => (&self.duty, Some(&self.gossip), self.settings.linger.min(self.settings.longest_wait)),
            Group::Suspects => (&self.suspects, None, self.settings.longest_wait),
        };
        let pools = || [Some(first), second].into_iter().flatten();
        let oldest = pools().filter_map(Pool::oldest).min()?;
        let work = Forecast::of_batch(self.settings.backend) + pools().map(Pool::charged).sum::<u64>();
        let target = self.target(group);
        if self.stopping {
            return Some((now, ClosedBy::Stop));
        }
        if work >= target {
            return Some((now, ClosedBy::Full));
        }
        // So early that the verdict is there in time.
        let needed = self.on_this_machine(work.min(target));
        let deadline = pools().filter_map(Pool::earliest_deadline).min();
        let deadline = deadline.map(|deadline| deadline.checked_sub(needed).unwrap_or(now));
        let deadline = deadline.map(|deadline| (deadline, ClosedBy::Deadline));
        let idle = (group == Group::Others).then(|| (self.cheap_from().unwrap_or(oldest), ClosedBy::Idle));
        let waited = (oldest.checked_add(wait).unwrap_or(now), ClosedBy::Wait);
        [deadline, idle, Some(waited)].into_iter().flatten().min_by_key(|(at, _)| *at)
    }

    /// When a worker that is idle may begin the next batch, however little is in it; `None` if at any time.
    ///
    /// What a batch costs, whatever is in it, is what waiting saves. It may take [`SHARE_OF_BEGINNING`] of the workers' time, and the
    /// time of one worker at most: on many cores that makes a claim wait for no longer than a part of its verification takes. What
    /// they do not use of that is kept for one batch on each, so that claims that come to an idle machine begin at once.
    fn cheap_from(&self) -> Option<Instant> {
        let kept = self.paid_by_one_batch() * (self.threads() - 1);
        self.paid.and_then(|paid| paid.checked_sub(kept))
    }

    /// How long the workers pay for the beginning of a batch.
    fn paid_by_one_batch(&self) -> Duration {
        let begin = self.on_this_machine(Forecast::of_batch(self.settings.backend));
        begin.max(begin.div_f64(SHARE_OF_BEGINNING) / self.threads())
    }

    fn threads(&self) -> u32 {
        u32::try_from(self.settings.threads.get()).unwrap_or(u32::MAX)
    }

    /// The planned work at which a batch is full, in nanoseconds by the plan's table. The part of the queue that suspects
    /// have can be smaller than a batch of others.
    fn target(&self, group: Group) -> u64 {
        let target = self.by_table(self.settings.target);
        match group {
            Group::Others => target,
            Group::Suspects => target.min(self.room_of_suspects().0 / 2).max(1),
        }
    }

    fn fill(&mut self, group: Group, closed_by: ClosedBy, now: Instant) -> Batch<T> {
        let target = self.target(group);
        let fixed = Forecast::of_batch(self.settings.backend);
        let sources = match group {
            Group::Others => self.duty.sources_beside(&self.gossip) + self.gossip.sources(),
            Group::Suspects => self.suspects.sources(),
        };
        let share = self.settings.sources.share.max(1.0 / sources as f64);
        let mut batch = Filling::new(target, ((target as f64 * share) as u64).max(1), fixed);
        // Two more batches may be before the next one that a claim could go into.
        let urgent = now.checked_add(self.settings.target.saturating_mul(2)).unwrap_or(now);
        let kind = match group {
            Group::Suspects => {
                self.suspects.fill(&mut batch, Order::Oldest, urgent);
                self.suspects_running = true;
                BatchKind::Suspects
            }
            Group::Others => {
                self.duty.fill(&mut batch, Order::Oldest, urgent);
                let kind = if batch.claims.is_empty() { BatchKind::Gossip } else { BatchKind::Duty };
                let order = if self.overload.is_some() { Order::Newest } else { Order::Oldest };
                self.gossip.fill(&mut batch, order, urgent);
                let each = self.paid_by_one_batch();
                let paid = self.paid.map_or(now, |paid| paid.max(now)) + each;
                // Batches that had to begin leave no debt.
                self.paid = Some(paid.min(now + each * self.threads()));
                kind
            }
        };
        self.running += 1;
        Batch {
            planned: self.on_this_machine(batch.planned),
            planned_by_table: batch.planned,
            claims: batch.claims,
            kind,
            closed_by,
            threads: NonZeroUsize::MIN,
        }
    }

    /// Takes everything of a source out of the queue.
    fn evict(&mut self, source: &SourceId) -> Vec<Rejected<T>> {
        let source = Some(source.clone());
        let blocks = self.remove_blocks(&source);
        let pools = [&mut self.duty, &mut self.gossip, &mut self.suspects].into_iter();
        let waiting = pools.flat_map(|pool| pool.remove_source(&source)).map(|(_, waiting)| waiting);
        blocks.into_iter().chain(waiting).map(|waiting| (waiting, Refused::Banned)).collect()
    }

    /// Takes all blocks of a source, or all without one.
    fn remove_blocks(&mut self, source: &Option<SourceId>) -> Vec<Waiting<T>> {
        let is_of_source = |waiting: &Waiting<T>| waiting.claim.source == *source;
        let (of_source, others): (Vec<_>, Vec<_>) = self.blocks.drain(..).partition(is_of_source);
        self.blocks = others.into();
        self.block_work -= of_source.iter().map(|waiting| waiting.charged).sum::<u64>();
        self.block_bytes -= of_source.iter().map(|waiting| waiting.bytes).sum::<usize>();
        of_source
    }
}

impl<T> Batch<T> {
    /// By the plan's table, in nanoseconds.
    pub(crate) fn planned_by_table(&self) -> u64 {
        self.planned_by_table
    }

    /// What it is expected to take on one thread.
    pub(crate) fn work(&self) -> Duration {
        self.planned.saturating_mul(u32::try_from(self.threads.get()).unwrap_or(u32::MAX))
    }
}

/// Whose claims share batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    Others,
    Suspects,
}

fn overloaded<T>(evicted: Vec<Waiting<T>>, why: Refused) -> Vec<Rejected<T>> {
    evicted.into_iter().map(|waiting| (waiting, why)).collect()
}

fn with<T>(evicted: Vec<Waiting<T>>, new: Waiting<T>, why: Refused) -> Vec<Rejected<T>> {
    overloaded(evicted.into_iter().chain([new]).collect(), why)
}

/// The part of the workers' time that the beginning of batches may take while a worker is idle. With less, claims wait longer; with
/// more, a machine that is half busy takes more time for each.
const SHARE_OF_BEGINNING: f64 = 0.125;
/// Suspects may have a quarter of the queue.
const PART_OF_SUSPECTS: usize = 4;
/// A claim of duty or gossip that is a larger part of the queue evicts nothing.
const LARGE_OF_QUEUE: u64 = 4;
/// How much of the difference between the expected and the measured pace one batch corrects.
const PACE_GAIN: f64 = 0.1;
const PACE_LEAST: f64 = 0.1;
const PACE_MOST: f64 = 20.0;

#[cfg(test)]
mod tests;
