//! Plans: the fewest pairings that prove a set of claims, as data.
//!
//! For example, a hundred claims by two signers need three pairings: one for each key and one for the signatures. In
//! general the claims are a bipartite graph, with a vertex for every distinct key and every distinct message, and an
//! edge for every statement. With a weight wᵢ for each claim i (min-pk; min-sig swaps the groups), all claims hold if
//!
//! ```text
//! ∏ over statements (pk, m) of claim i:  e(wᵢ·pk, H(m))  ·  e(-g, Σ wᵢ·signatureᵢ)  =  1
//! ```
//!
//! and by bilinearity one pairing serves all edges at a vertex: `e(Σ wᵢ·pk, H(m))` every edge of the message m, and
//! `e(pk, Σ wᵢ·H(m))` every edge of the key pk. A set of vertices that touches every edge is a vertex cover, and its
//! pairings prove every statement. The plan takes the vertex cover of the least weight (`plan/cover.rs`), which in a
//! bipartite graph is a minimum cut. The weights of the vertices are measured costs ([`cost`]).
//!
//! In a BDN suite the keys over one message have coefficients ([`bdn`](crate::bdn)). Their sum is one operand of the pairing with
//! the message, so every cover takes that message.
//!
//! A backend can offer two pairings. The twisted ate pairing accepts hashes whose cofactor is not cleared. That saves
//! the clearing, but each pair costs more. The plan takes the pairing whose cover costs less. If the pairing accepts
//! uncleared hashes, the generator in `e(-g, Σ wᵢ·signatureᵢ)` is divided by the cofactor.
//!
//! Making a plan takes no arithmetic on the curve. A plan prints itself.
//!
//! ```
//! # use quorate::*;
//! # let suite = MinPk::Eth2;
//! # let secrets = [1, 2].map(|i| SecretKey::key_gen(suite, &[i; 32], b"").expect("32 bytes"));
//! // Two signers, fifty messages each: two pairings for the keys and one for the signatures.
//! let claims: Vec<_> = (0..100u8)
//!     .map(|i| (&secrets[i as usize % 2], [i]))
//!     .map(|(secret, m)| Claim::single(suite, secret.public_key(), m, secret.sign(suite, &m)))
//!     .collect();
//! let plan = Plan::new(&claims, &Options::default());
//! assert_eq!(plan.pairings(), 3);
//! assert!(plan.to_string().contains("100 messages"));
//! ```

mod options;
mod position;
mod term;
mod graph;
pub mod cost;
mod flow;
mod cover;
mod blocks;
mod shares;
mod explain;
mod forecast;

use std::ops::Range;

use quorate_curve::{Pairing, PairingCurve};

use crate::{
    claim::{Claim, ClaimSignature, SourceId},
    hash_cache::CachedHashes,
    key::PublicKey,
    suite::Suite,
};
use cost::Costs;
use graph::{Edge, Graph, TermIndex};
use term::{KeySum, Planned};

pub use forecast::Forecast;
pub use options::{Keys, Options};
pub(crate) use position::{ByPosition, Position, Span};
pub(crate) use term::{Defective, Message, Operand, Part, Term, Vertex};

/// Which points are hashed, summed, weighed and paired to prove a set of claims.
///
/// A plan has an order of its own for the claims: the claims of one source stand together, and within a source the
/// claims of one pairing. The search for false claims cuts that order into parts.
#[derive(Clone, Debug)]
pub struct Plan<S: Suite> {
    pub(crate) options: Options,
    /// The pairing of all products.
    pub(crate) pairing: Pairing,
    /// Whether that pairing accepts uncleared hashes. Then the generator is divided by the cofactor.
    pub(crate) uncleared: bool,
    /// Whether the weighted sum of the signatures also checks that they are in the subgroup, so that no signature is
    /// checked alone.
    pub(crate) members_by_sum: bool,
    /// Claims that are false without arithmetic.
    pub(crate) defects: Vec<Defective>,
    /// The other claims.
    pub(crate) claims: ByPosition<Planned<S>>,
    /// Distinct keys.
    pub(crate) keys: Vec<PublicKey<S>>,
    /// Distinct messages, each hashed once.
    pub(crate) messages: Vec<Message<S>>,
    /// By message: whether its hash is cleared at once, because the hash itself is paired, or was cleared before.
    pub(crate) whole: Vec<bool>,
    /// What was known of the hashes of the messages; nothing if the pairing accepts uncleared hashes.
    pub(crate) cached: CachedHashes<S>,
    /// Sums without weights, but perhaps with coefficients: the keys of one claim over one message.
    pub(crate) sums: Vec<KeySum>,
    /// The pairings without those of the signatures, in the order of their first positions.
    pub(crate) terms: Vec<Term>,
    /// Runs of consecutive terms. The terms of a block share the squarings of the Miller loop, and the value of the
    /// block is kept for the search.
    pub(crate) blocks: Vec<Range<usize>>,
    /// By block: its claims, if each block holds the pair of its own signatures. Empty if the last block holds the pair
    /// of all signatures.
    pub(crate) apart: Vec<Span>,
    statements: usize,
    naive_pairings: usize,
}

impl<S: Suite> Plan<S> {
    /// Plans the claims for a backend, threads and soundness.
    ///
    /// Cost: no arithmetic on the curve. The time is nearly linear, except for the minimum cut of those parts of the
    /// graph in which several keys and several messages mix.
    pub fn new(claims: &[Claim<S>], options: &Options) -> Self {
        Self::numbered(claims, |index| index, options, |_| CachedHashes::none())
    }

    /// The same for some of the caller's claims. `index_of` turns an index in `claims` into an index in the caller's
    /// slice, and `look_up` says which hashes of the messages are known.
    pub(crate) fn numbered(
        claims: &[Claim<S>],
        index_of: impl Fn(usize) -> usize,
        options: &Options,
        look_up: impl FnOnce(&[Message<S>]) -> CachedHashes<S>,
    ) -> Self {
        let options = &Options { backend: S::Curve::backend(options.backend), ..*options };
        let mut graph = Graph::new(claims);
        let mut cached = look_up(&graph.messages);
        let (pairing, covered) = choose_pairing(&graph, &cached, options, &offered::<S>(options));
        let terms_of = TermIndex::new(&graph, &covered);

        // Positions: by source, then by the first pairing that the claim takes part in, then by input order.
        let mut order: Vec<usize> = (0..graph.live.len()).collect();
        order.sort_by_key(|&i| {
            let first_edge = graph.edges[graph.live[i].edges.clone()].first();
            (claims[graph.live[i].claim].source(), first_edge.map(|edge| terms_of.index(edge)), i)
        });

        let mut terms: Vec<Term> =
            terms_of.vertices.iter().map(|vertex| Term { vertex: *vertex, parts: Vec::new() }).collect();
        let mut sums = Vec::new();
        let mut planned = ByPosition::default();
        for live in order.into_iter().map(|i| &graph.live[i]) {
            let claim = &claims[live.claim];
            let (index, source) = (index_of(live.claim), claim.source().cloned());
            let position = planned.push(Planned { index, source, signature: claim.signature() });
            place_statements(position, claim, &graph.edges[live.edges.clone()], &terms_of, &mut terms, &mut sums);
        }
        terms.sort_by_key(|term| term.span().start());
        graph.defects.iter_mut().for_each(|defect| defect.index = index_of(defect.index));

        let uncleared = options.backend.pairs_uncleared::<S::Signature>(pairing);
        if uncleared {
            cached = CachedHashes::none();
        }
        let members_by_sum = members_by_sum(&planned, options);
        let blocks::Sliced { terms, blocks, apart } =
            blocks::slices(&terms, planned.len(), options).unwrap_or_else(|| {
                let blocks = blocks::blocks(terms.len(), planned.len(), options);
                blocks::Sliced { apart: blocks::apart(&blocks, &terms, planned.len(), options), blocks, terms }
            });
        Self {
            options: *options,
            pairing,
            members_by_sum,
            apart,
            blocks,
            naive_pairings: claims.iter().map(|claim| naive_pairings(claim)).sum(),
            statements: graph.edges.len(),
            whole: (0..covered.len()).map(|m| !uncleared && (covered[m] || cached.hash(m).is_some())).collect(),
            cached,
            uncleared,
            defects: graph.defects,
            claims: planned,
            keys: graph.keys,
            messages: graph.messages,
            sums,
            terms,
        }
    }

    /// The number of Miller loops: one for each term, and one for the signatures of all claims or of each block. Zero
    /// if no claim is to be paired.
    pub fn pairings(&self) -> usize {
        if self.claims.is_empty() { 0 } else { self.terms.len() + self.apart.len().max(1) }
    }

    /// The source of all claims of a span, if they have one and the same.
    pub(crate) fn only_source(&self, span: Span) -> Option<&SourceId> {
        let mut sources = span.iter().map(|position| self.claims[position].source.as_ref());
        let first = sources.next()??;
        // The claims of one source stand together, so the last one tells for all between.
        (sources.next_back().unwrap_or(Some(first)) == Some(first)).then_some(first)
    }

    /// How many claims it is for.
    pub fn len(&self) -> usize {
        self.defects.len() + self.claims.len()
    }

    /// Whether it is for no claims.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The pairings that can pay off in the variant, with their costs.
fn offered<S: Suite>(options: &Options) -> Vec<(Pairing, Costs)> {
    let backend = options.backend;
    let gains = |pairing| match (pairing, options.keys) {
        (Pairing::Ate, _) => true,
        // It is not bilinear in keys outside the subgroup.
        (Pairing::TwistedAte, Keys::Assumed) => false,
        (Pairing::TwistedAte, Keys::Checked) => backend.pairs_uncleared::<S::Signature>(pairing),
    };
    let pairings = Pairing::ALL.into_iter().filter(|pairing| gains(*pairing));
    pairings.map(|pairing| (pairing, Costs::of::<S>(options.backend, pairing))).collect()
}

/// The pairing whose cheapest cover costs the least, and which messages that cover takes. The cost includes a search
/// for one false claim.
fn choose_pairing<S: Suite>(
    graph: &Graph<S>,
    cached: &CachedHashes<S>,
    options: &Options,
    offered: &[(Pairing, Costs)],
) -> (Pairing, Vec<bool>) {
    // The costs are those of many items. So few messages are hashed in one vector and paired in another, beside the pair of
    // the signatures, and any other cover would take more vectors.
    if graph.messages.len() <= options.backend.messages_in_one_vector() {
        return (Pairing::Ate, vec![true; graph.messages.len()]);
    }
    let planned = offered.iter().map(|(pairing, costs)| {
        // Cached hashes are cleared. Beside uncleared ones, their messages are hashed again.
        let uncleared = options.backend.pairs_uncleared::<S::Signature>(*pairing);
        let is_cached = |message| !uncleared && cached.hash(message).is_some();
        let hashed_again = if uncleared { cached.found() as u64 * costs.hash } else { 0 };
        let cover = cover::cheapest(&graph.pairs, graph.keys.len(), &graph.only, is_cached, *costs);
        let products = blocks::blocks(graph.terms(&cover.messages), graph.live.len(), options).len().max(1);
        let in_common = products as u64 * costs.product + costs.pairing + costs.search;
        (cover.cost + hashed_again + in_common, *pairing, cover.messages)
    });
    let (_, pairing, covered) = planned.min_by_key(|(cost, ..)| *cost).expect("the ate pairing is always offered");
    (pairing, covered)
}

/// Whether each thread's sum has so many unchecked signatures that one check of the sum costs less than a check of
/// each.
fn members_by_sum<S: Suite>(claims: &ByPosition<Planned<S>>, options: &Options) -> bool {
    let unchecked = claims.iter().filter(|claim| matches!(claim.signature, ClaimSignature::Unchecked(_))).count();
    let least = options.backend.sums_members_from::<S::Signature>(options.soundness);
    claims.len() > 1 && least.is_some_and(|least| unchecked >= least.saturating_mul(options.threads.get()))
}

/// Adds one claim's statements to the terms that cover them, and the sums of keys that they need.
fn place_statements<S: Suite>(
    position: Position,
    claim: &Claim<S>,
    edges: &[Edge],
    terms_of: &TermIndex<'_>,
    terms: &mut [Term],
    sums: &mut Vec<KeySum>,
) {
    if let Some(coefficients) = claim.coefficients() {
        let keys = edges.iter().map(|edge| edge.key).collect();
        sums.push(KeySum { position, keys, coefficients: Some(coefficients), must_not_vanish: claim.is_shared() });
        terms[terms_of.index(&edges[0])].parts.push(Part { position, operand: Operand::Sum(sums.len() - 1) });
        return;
    }
    let mut sorted = edges.to_vec();
    sorted.sort_by_key(|edge| edge.message);
    for run in sorted.chunk_by(|a, b| a.message == b.message) {
        let message = run[0].message;
        let covered = terms_of.covered[message];
        let term = |edge: &Edge| terms_of.index(edge);
        if !covered {
            for edge in run {
                terms[term(edge)].parts.push(Part { position, operand: Operand::Message(message) });
            }
        }
        if let [edge] = run {
            if covered {
                terms[term(edge)].parts.push(Part { position, operand: Operand::Key(edge.key) });
            }
        } else if covered || claim.is_shared() {
            let keys = run.iter().map(|edge| edge.key).collect();
            sums.push(KeySum { position, keys, coefficients: None, must_not_vanish: claim.is_shared() });
            if covered {
                terms[term(&run[0])].parts.push(Part { position, operand: Operand::Sum(sums.len() - 1) });
            }
        }
    }
}

/// The number of pairings that the claim takes alone, as the specification writes it.
fn naive_pairings<S: Suite>(claim: &Claim<S>) -> usize {
    if claim.defect().is_some() {
        0
    } else if claim.is_shared() {
        2
    } else {
        claim.len() + 1
    }
}

#[cfg(test)]
mod tests {
    use quorate_curve::Backend;

    use super::*;
    use crate::{key::SecretKey, suite::MinPk};

    /// The twisted pairing pays off if it saves the clearing of many hashes.
    #[test]
    fn pairing_by_what_it_saves() {
        let ate = Costs {
            product: 40,
            pairing: 37,
            saved_by_sum: 24,
            clear_sum: 24,
            weighted_key: 4,
            weighted_signature: 8,
            ..Costs::of::<MinPk>(Backend::Portable, Pairing::Ate)
        };
        let twisted = Costs { product: 150, pairing: 42, saved_by_sum: 0, clear_sum: 0, ..ate };
        let chosen = |n: u8, keys: u8, messages: u8| {
            let claims: Vec<_> = (0..n)
                .map(|i| (SecretKey::key_gen(MinPk::Eth2, &[i % keys; 32], b"").unwrap(), [i % messages]))
                .map(|(secret, m)| Claim::single(MinPk::Eth2, secret.public_key(), m, secret.sign(MinPk::Eth2, &m)))
                .collect();
            let options = Options { backend: Backend::Portable, ..Options::default() };
            let offered = [(Pairing::Ate, ate), (Pairing::TwistedAte, twisted)];
            choose_pairing(&Graph::new(&claims), &CachedHashes::none(), &options, &offered).0
        };
        assert_eq!(chosen(100, 100, 100), Pairing::TwistedAte);
        assert_eq!(chosen(5, 5, 5), Pairing::Ate);
        assert_eq!(chosen(100, 100, 1), Pairing::Ate);
        assert_eq!(chosen(100, 2, 100), Pairing::Ate);
    }

    /// A key that signed two of a few messages is not paired by itself: its hashes would be another vector.
    #[test]
    fn few_messages_are_covered_in_one_vector() {
        let secrets = [1, 2, 3, 4, 5, 6].map(|i| SecretKey::key_gen(MinPk::Eth2, &[i; 32], b"").unwrap());
        for backend in Backend::available() {
            let options = Options { backend: *backend, ..Options::default() };
            for n in [2, 7, 8, 9] {
                let claims: Vec<_> = (0..n)
                    .map(|i| (&secrets[i % 6 % (n - 1)], [i as u8]))
                    .map(|(secret, m)| Claim::single(MinPk::Eth2, secret.public_key(), m, secret.sign(MinPk::Eth2, &m)))
                    .collect();
                let plan = Plan::new(&claims, &options);
                let by_message = plan.terms.iter().all(|term| matches!(term.vertex, Vertex::Message(_)));
                assert_eq!(by_message, n <= backend.messages_in_one_vector(), "{backend}, {n} messages");
            }
        }
    }

    #[test]
    fn every_backend_plans_every_variant() {
        for backend in Backend::available() {
            let options = Options { backend: *backend, ..Options::default() };
            assert_eq!(offered::<MinPk>(&options).len(), Pairing::ALL.len());
            let assumed = offered::<MinPk>(&Options { keys: Keys::Assumed, ..options });
            assert!(matches!(assumed[..], [(Pairing::Ate, _)]));
            assert_eq!(offered::<crate::suite::MinSig>(&options).len(), 1);
        }
    }
}
