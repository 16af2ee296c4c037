//! Executes a plan. Only this module and the search for false claims do the arithmetic of a batch.
//!
//! There are three phases. Each is cut into shares, and each thread takes the next share that no thread has taken.
//!
//! 1. Prepare: hash every message whose hash is not cached, check the membership of every signature, add up the keys that
//!    a claim puts over one message.
//! 2. Weigh: compute the weighted sum that each pairing needs, and the weighted sum of the signatures.
//! 3. Pair: compute a Miller value for each block of pairings, and one final exponentiation.
//!
//! Claims that phase 1 finds false are *dropped*: the later phases leave them out. The results of all phases are kept,
//! so that the search for false claims starts from partial values.
//!
//! If the plan says so, phase 1 checks no membership, and the weighted sum of the signatures in phase 2 checks all of
//! them together. If a signature is outside the subgroup, each is checked alone, and phase 2 runs again without the
//! false claims.

use quorate_curve::{Group, Gt, MillerValue, Segments, Soundness, UncheckedSegments, Weight, WeightedSegments};
use rand_core::CryptoRng;

use crate::{
    claim::ClaimSignature,
    hash_cache::MessageDigest,
    parse::ParseError,
    plan::{ByPosition, Operand, Options, Part, Plan, Position, Span, Term, Vertex},
    suite::{PairOf, Suite},
    threads::parallel,
    verdict::{Reason, Work},
};

/// An executed plan, with its partial values.
#[derive(Debug)]
pub struct Execution<'a, S: Suite> {
    plan: &'a Plan<S>,
    weights: ByPosition<Weight>,
    /// Further random bits for each claim, if the weighted sum checks membership; else empty.
    further: ByPosition<u64>,
    /// Where the search looks first. It does not depend on the weights.
    random_word: u64,
    /// Why phase 1 dropped a claim; `None` if it did not.
    dropped: ByPosition<Option<Reason>>,
    /// By message.
    hashes: Vec<S::Signature>,
    /// By sum of keys.
    sums: Vec<S::Key>,
    /// By term.
    pairs: Vec<PairOf<S>>,
    /// By block of terms. Each block holds the pair of its own signatures, or the last block holds the pair of all
    /// signatures.
    products: Vec<MillerValue<S::Curve>>,
    /// Σ w·signature over all claims, if the last block holds its pair; else the identity.
    signatures: S::Signature,
    /// The value of all claims that were not dropped; `None` if there are none.
    total: Option<Gt<S::Curve>>,
    work: Work,
}

impl<'a, S: Suite> Execution<'a, S> {
    /// Executes a plan with fresh weights. `rng` must be a CSPRNG: whoever can predict the weights can make false
    /// claims pass.
    pub fn new(plan: &'a Plan<S>, rng: &mut impl CryptoRng) -> Self {
        let claims = plan.claims.span();
        let further = if plan.members_by_sum { claims } else { Span::EMPTY };
        let mut execution = Self {
            plan,
            weights: weights(claims, plan.options.soundness, rng),
            further: further.iter().map(|_| rng.next_u64()).collect(),
            random_word: rng.next_u64(),
            dropped: claims.iter().map(|_| None).collect(),
            hashes: Vec::new(),
            sums: Vec::new(),
            pairs: Vec::new(),
            products: Vec::new(),
            signatures: S::Signature::IDENTITY,
            total: None,
            work: Work::default(),
        };
        execution.prepare();
        if execution.dropped.iter().any(Option::is_none) {
            let signatures = execution.weigh_and_check();
            execution.pair(signatures);
        }
        execution
    }

    /// Whether every claim of the plan is proven: the product is one, no claim was dropped, and the plan set none aside. False if
    /// there are no claims.
    #[must_use]
    pub fn holds(&self) -> bool {
        let has_all = self.plan.defects.is_empty() && self.dropped.iter().all(Option::is_none);
        has_all && self.total.is_some_and(|total| total.is_one())
    }

    /// The operations that the execution took.
    pub fn work(&self) -> Work {
        self.work
    }

    pub(crate) fn plan(&self) -> &'a Plan<S> {
        self.plan
    }

    /// The value of all claims that were not dropped; `None` if there are none.
    pub(crate) fn total(&self) -> Option<Gt<S::Curve>> {
        self.total
    }

    /// Why a claim was dropped.
    pub(crate) fn dropped(&self, position: Position) -> Option<Reason> {
        self.dropped[position]
    }

    /// Random bits that the weights do not depend on, the same in each call.
    pub(crate) fn random_word(&self) -> u64 {
        self.random_word
    }

    /// By term: the pair of points.
    pub(crate) fn pairs(&self) -> &[PairOf<S>] {
        &self.pairs
    }

    /// By block of terms: the Miller value.
    pub(crate) fn products(&self) -> &[MillerValue<S::Curve>] {
        &self.products
    }

    /// Σ w·signature over all claims, if the last block holds its pair; else the identity.
    pub(crate) fn all_signatures(&self) -> S::Signature {
        self.signatures
    }

    /// The pairs of terms, each restricted to the claims of a span, and how many points were weighed for them.
    pub(crate) fn term_pairs(&self, terms: &[(&Term, Span)], weighing: Weighing) -> (Vec<PairOf<S>>, usize) {
        let (mut keys, mut hashes, mut cleared) =
            (WeightedSegments::new(), WeightedSegments::new(), WeightedSegments::new());
        for (term, span) in terms {
            for Part { position, operand } in span.of(&term.parts, |part| part.position) {
                if self.dropped[*position].is_some() {
                    continue;
                }
                let weight = self.weight(*position, weighing);
                match *operand {
                    Operand::Key(key) => keys.push(self.plan.keys[key].point(), weight),
                    Operand::Sum(sum) => keys.push(self.sums[sum], weight),
                    Operand::Message(message) if self.plan.whole[message] => cleared.push(self.hashes[message], weight),
                    Operand::Message(message) => hashes.push(self.hashes[message], weight),
                }
            }
            match term.vertex {
                Vertex::Message(_) => keys.close(),
                Vertex::Key(_) => {
                    hashes.close();
                    cleared.close();
                }
            }
        }
        let weighted = keys.point_count() + hashes.point_count() + cleared.point_count();
        let hash_sums = self.hash_sums(&hashes, &cleared);
        let backend = self.plan.options.backend;
        let (mut keys, mut hashes) = (backend.weighted_sums(&keys).into_iter(), hash_sums.into_iter());
        let pairs = terms.iter().map(|(term, _)| match term.vertex {
            Vertex::Message(message) => S::pair(keys.next().expect("a sum for each term"), self.hashes[message]),
            Vertex::Key(key) => S::pair(self.plan.keys[key].point(), hashes.next().expect("a sum for each term")),
        });
        (pairs.collect(), self.counted(weighted, weighing))
    }

    /// The sums of hashes that are paired: each the sum of hashes that are cleared as a sum, and of hashes that are
    /// cleared already.
    fn hash_sums(
        &self,
        hashes: &WeightedSegments<S::Signature>,
        cleared: &WeightedSegments<S::Signature>,
    ) -> Vec<S::Signature> {
        let backend = self.plan.options.backend;
        if hashes.point_count() == 0 && cleared.point_count() > 0 {
            return backend.weighted_sums(cleared);
        }
        let mut sums = backend.weighted_sums(hashes);
        if !self.plan.uncleared {
            sums = S::clear_sums(backend, &sums);
        }
        if cleared.point_count() == 0 {
            return sums;
        }
        let both = sums.into_iter().zip(backend.weighted_sums(cleared));
        both.map(|(sum, cleared)| backend.sum(&[sum, cleared])).collect()
    }

    /// The digests and the cleared hashes of the messages of valid claims. `is_valid` says which claims are, by their
    /// indices in the caller's slice. It yields nothing if nobody looked for cached hashes.
    pub(crate) fn proven_hashes(
        &self,
        is_valid: impl Fn(usize) -> bool,
    ) -> impl Iterator<Item = (MessageDigest, S::Signature)> {
        let plan = self.plan;
        let mut proven = vec![false; plan.messages.len()];
        for term in &plan.terms {
            for part in term.parts.iter().filter(|part| is_valid(plan.claims[part.position].index)) {
                match (part.operand, term.vertex) {
                    (Operand::Message(message), _) | (_, Vertex::Message(message)) => proven[message] = true,
                    (Operand::Key(_) | Operand::Sum(_), Vertex::Key(_)) => {}
                }
            }
        }
        let messages = plan.cached.digests().zip(&self.hashes).zip(plan.whole.iter().zip(proven));
        messages.filter(|(_, (whole, proven))| **whole && *proven).map(|((digest, hash), _)| (digest, *hash))
    }

    /// Σ w·signature over the claims of each list of spans, and how many points were weighed.
    pub(crate) fn signature_sums<'s>(
        &self,
        lists: impl Iterator<Item = &'s [Span]>,
        weighing: Weighing,
    ) -> (Vec<S::Signature>, usize) {
        let mut signatures = WeightedSegments::new();
        for spans in lists {
            for position in spans.iter().flat_map(|span| self.live(*span)) {
                signatures.push(self.plan.claims[position].signature.point(), self.weight(position, weighing));
            }
            signatures.close();
        }
        (self.plan.options.backend.weighted_sums(&signatures), self.counted(signatures.point_count(), weighing))
    }

    /// The pair of a weighted sum of signatures and the negated generator.
    pub(crate) fn signature_pair(&self, sum: S::Signature) -> PairOf<S> {
        let generator = if self.plan.uncleared { S::generator_beside_uncleared() } else { S::Key::generator() };
        S::pair(generator.negate(), sum)
    }

    /// Phase 1.
    fn prepare(&mut self) {
        let (plan, shares) = (self.plan, self.plan.shares());
        let members = if plan.members_by_sum { &[][..] } else { &shares.members[..] };
        let (m, c) = (shares.messages.len(), members.len());
        let made = self.parallel(m + c + shares.sums.len(), |job| -> Prepared<S> {
            if job < m {
                Prepared::Hashes(plan.hashes(shares.messages[job].clone()))
            } else if job < m + c {
                Prepared::NotMembers(plan.not_members(members[job - m]))
            } else {
                Prepared::Sums(plan.key_sums(shares.sums[job - m - c].clone()))
            }
        });
        let mut not_members = Vec::new();
        for part in made {
            match part {
                Prepared::Hashes(hashes) => self.hashes.extend(hashes),
                Prepared::Sums(sums) => self.sums.extend(sums),
                Prepared::NotMembers(positions) => not_members.extend(positions),
            }
        }
        for (sum, point) in plan.sums.iter().zip(&self.sums) {
            if sum.must_not_vanish && point.is_identity() {
                self.dropped[sum.position] = Some(Reason::IdentityAggregateKey);
            }
        }
        self.drop_not_members(not_members);
        self.work.cached_hashes += plan.cached.found();
        self.work.hashes += self.hashes.len() - plan.cached.found();
        self.work.weighted += plan.sums.iter().flat_map(|sum| &sum.coefficients).map(Vec::len).sum::<usize>();
        let unchecked = plan.claims.iter().filter(|claim| matches!(claim.signature, ClaimSignature::Unchecked(_)));
        self.work.subgroup_checks += unchecked.count();
    }

    /// Drops claims whose signatures are outside the subgroup. A claim that was dropped before keeps its reason, because
    /// `naive` looks at the sum of the keys first.
    fn drop_not_members(&mut self, positions: Vec<Position>) {
        for position in positions {
            self.dropped[position].get_or_insert(ParseError::SignatureNotInSubgroup.into());
        }
    }

    /// Phase 2, and the check of membership if phase 1 left it to this phase. Returns the weighted sum of the
    /// signatures of each block, or of all.
    fn weigh_and_check(&mut self) -> Vec<S::Signature> {
        let plan = self.plan;
        if plan.members_by_sum {
            if let Some(sum) = self.weigh(Self::sums_of_members) {
                return sum;
            }
            let shares = plan.shares().members;
            let not_members = self.parallel(shares.len(), |job| plan.not_members(shares[job]));
            self.drop_not_members(not_members.concat());
        }
        self.weigh(|this, spans| Some(this.signature_sums(spans.chunks(1), Weighing::Drawn)))
            .expect("these sums do not check membership")
    }

    /// Phase 2. Returns the weighted sum of the signatures of each block, or of all. `None` if `signatures` returns
    /// `None` for a share.
    fn weigh(
        &mut self,
        signatures: impl Fn(&Self, &[Span]) -> Option<(Vec<S::Signature>, usize)> + Sync,
    ) -> Option<Vec<S::Signature>> {
        let (plan, shares) = (self.plan, self.plan.shares());
        let (all, t) = (plan.claims.span(), shares.terms.len());
        let this = &*self;
        let made = this.parallel(t + shares.signatures.len(), |job| -> Weighed<S> {
            if job < t {
                let terms: Vec<_> = plan.terms[shares.terms[job].clone()].iter().map(|term| (term, all)).collect();
                Weighed::Pairs(this.term_pairs(&terms, Weighing::Drawn))
            } else {
                Weighed::Signatures(signatures(this, &shares.signatures[job - t]))
            }
        });
        self.pairs.clear();
        let mut sums = Vec::new();
        for part in made {
            match part {
                Weighed::Pairs((pairs, weighted)) => {
                    self.pairs.extend(pairs);
                    self.work.weighted += weighted;
                }
                Weighed::Signatures(made) => {
                    let (made, weighted) = made?;
                    sums.extend(made);
                    self.work.weighted += weighted;
                }
            }
        }
        Some(if plan.apart.is_empty() { vec![plan.options.backend.sum(&sums)] } else { sums })
    }

    /// Phase 3.
    fn pair(&mut self, sums: Vec<S::Signature>) {
        let (plan, backend) = (self.plan, self.plan.options.backend);
        // A plan without blocks still has the product with the pair of the signatures.
        let mut products: Vec<Vec<PairOf<S>>> =
            plan.blocks.iter().map(|block| self.pairs[block.clone()].to_vec()).collect();
        products.resize(products.len().max(1), Vec::new());
        // The pair of all signatures goes to the last block, because a product of its own would cost as much as a
        // product of many pairs.
        let first = products.len() - sums.len();
        for (product, sum) in products[first..].iter_mut().zip(&sums) {
            product.push(self.signature_pair(*sum));
        }
        self.work.pairings += products.iter().map(Vec::len).sum::<usize>();
        let shares = plan.shares().products;
        let values = self.parallel(shares.len(), |job| {
            let pairs: Segments<_> = products[shares[job].clone()].iter().map(|pairs| pairs.iter().copied()).collect();
            backend.miller_products(plan.pairing, &pairs)
        });
        self.products = values.concat();
        self.total = Some(backend.final_exponentiation(self.products.iter().copied().product()));
        self.work.final_exponentiations += 1;
        if let ([sum], true) = (&sums[..], plan.apart.is_empty()) {
            self.signatures = *sum;
        }
    }

    /// Σ w·signature over the claims of each span. `None` if an unchecked signature is not in the subgroup.
    fn sums_of_members(&self, share: &[Span]) -> Option<(Vec<S::Signature>, usize)> {
        let Options { soundness, backend, .. } = self.plan.options;
        let (mut members, mut unknown, mut weighted) = (WeightedSegments::new(), UncheckedSegments::new(), 0);
        for span in share {
            for position in self.live(*span) {
                let weight = self.weights[position];
                weighted += 1;
                match self.plan.claims[position].signature {
                    ClaimSignature::Checked(signature) => members.push(signature.point(), weight),
                    ClaimSignature::Unchecked(signature) => {
                        unknown.push(signature.point(), weight, self.further[position]);
                    }
                }
            }
            members.close();
            unknown.close();
        }
        let sums = backend.weighted_sums_of_members(&unknown, soundness)?;
        let sums = sums.into_iter().zip(backend.weighted_sums(&members)).map(|(a, b)| backend.sum(&[a, b]));
        Some((sums.collect(), weighted))
    }

    /// The positions of a span whose claims were not dropped.
    fn live(&self, span: Span) -> impl Iterator<Item = Position> {
        span.iter().filter(|position| self.dropped[*position].is_none())
    }

    fn weight(&self, position: Position, weighing: Weighing) -> Weight {
        match weighing {
            Weighing::Drawn => self.weights[position],
            Weighing::Ones => Weight::ONE,
        }
    }

    /// How many points were multiplied by a weight. A claim that stands alone has the weight one, so none were.
    fn counted(&self, weighted: usize, weighing: Weighing) -> usize {
        if weighing == Weighing::Drawn && self.weights.len() > 1 { weighted } else { 0 }
    }

    fn parallel<T: Send>(&self, jobs: usize, job: impl Fn(usize) -> T + Sync) -> Vec<T> {
        parallel(self.plan.options.threads, jobs, job)
    }
}

/// By what each claim is multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weighing {
    /// By its weight. A value of one proves the claims.
    Drawn,
    /// By one. The sums cost a fraction, but a value of one proves nothing, because false claims can cancel each other. Of one claim it
    /// is exact.
    Ones,
}

/// The result of a share of phase 1.
enum Prepared<S: Suite> {
    Hashes(Vec<S::Signature>),
    NotMembers(Vec<Position>),
    Sums(Vec<S::Key>),
}

/// The result of a share of phase 2, and how many points it multiplied by weights.
enum Weighed<S: Suite> {
    Pairs((Vec<PairOf<S>>, usize)),
    Signatures(Option<(Vec<S::Signature>, usize)>),
}

/// Uniform non-zero weights; one for a claim that stands alone.
fn weights(claims: Span, soundness: Soundness, rng: &mut impl CryptoRng) -> ByPosition<Weight> {
    if claims.len() == 1 {
        return [Weight::ONE].into_iter().collect();
    }
    claims.iter().map(|_| Weight::draw(soundness, || rng.next_u64())).collect()
}

impl<S: Suite> Plan<S> {
    /// The hashes of messages. They are cleared or uncleared, as the plan says.
    ///
    /// All messages of one tag and kind are hashed together, wherever they stand, so that no lane is idle for one of them.
    /// Cached hashes are taken as they are.
    fn hashes(&self, messages: std::ops::Range<usize>) -> Vec<S::Signature> {
        let backend = self.options.backend;
        let cached: Vec<_> = messages.clone().map(|i| self.cached.hash(i)).collect();
        let mut order: Vec<_> = messages.clone().filter(|i| cached[i - messages.start].is_none()).collect();
        order.sort_by_key(|i| (self.messages[*i].tag.hashing(), self.whole[*i]));
        let mut hashes: Vec<_> = cached.into_iter().map(|hash| hash.unwrap_or(S::Signature::IDENTITY)).collect();
        let together =
            |a: &usize, b: &usize| self.messages[*a].tag == self.messages[*b].tag && self.whole[*a] == self.whole[*b];
        for run in order.chunk_by(together) {
            let prefixes: Vec<_> = run.iter().map(|i| self.messages[*i].prefix.map(|key| key.to_bytes())).collect();
            let parts = run.iter().zip(&prefixes).map(|(i, prefix)| {
                let prefix = prefix.as_ref().map_or(&[][..], AsRef::as_ref);
                (prefix, &self.messages[*i].body[..])
            });
            let parts: Vec<_> = parts.collect();
            let hashing = self.messages[run[0]].tag.hashing();
            let made = if self.whole[run[0]] {
                S::hash_to_curve(backend, hashing, &parts)
            } else {
                S::hash_for_sums(backend, hashing, &parts)
            };
            run.iter().zip(made).for_each(|(i, hash)| hashes[i - messages.start] = hash);
        }
        hashes
    }

    /// The claims whose signatures were not checked and are not in the subgroup.
    fn not_members(&self, span: Span) -> Vec<Position> {
        let unchecked = span.iter().filter_map(|position| match self.claims[position].signature {
            ClaimSignature::Checked(_) => None,
            ClaimSignature::Unchecked(signature) => Some((position, signature.point())),
        });
        let (positions, points): (Vec<_>, Vec<_>) = unchecked.unzip();
        let members = self.options.backend.in_subgroup(&points);
        positions.into_iter().zip(members).filter(|(_, member)| !member).map(|(position, _)| position).collect()
    }

    fn key_sums(&self, sums: std::ops::Range<usize>) -> Vec<S::Key> {
        let sums = &self.sums[sums];
        let (mut plain, mut weighted) = (Segments::new(), WeightedSegments::new());
        for sum in sums {
            let keys = sum.keys.iter().map(|key| self.keys[*key].point());
            match &sum.coefficients {
                None => {
                    plain.extend(keys);
                    plain.close();
                }
                Some(coefficients) => {
                    keys.zip(coefficients).for_each(|(key, coefficient)| weighted.push(key, *coefficient));
                    weighted.close();
                }
            }
        }
        let backend = self.options.backend;
        let (mut plain, mut weighted) =
            (backend.sums(&plain).into_iter(), backend.weighted_sums(&weighted).into_iter());
        let made = sums.iter().map(|sum| if sum.coefficients.is_some() { weighted.next() } else { plain.next() });
        made.map(|sum| sum.expect("a sum for each segment")).collect()
    }
}
