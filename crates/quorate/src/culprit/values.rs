//! Values of sets of claims, made from the partial values that the batch kept.
//!
//! The value of a set is the product of its claims' pairings in the target group. The batch has kept a Miller value for
//! each block of pairings, and a pair of points for each term. If all claims of a block lie in the set, its Miller
//! value is used. If all claims of a term lie in the set, its pair is used. Only terms with claims inside and outside
//! the set are summed anew.

use std::collections::BTreeMap;

use quorate_curve::{G1, G2, Group, Gt, MillerValue, Segments};

use crate::{
    execute::{Counted, Execution, Multiples},
    plan::{Options, Span},
    suite::Suite,
    threads::parallel,
    verdict::Work,
};

/// The product ∏ vᵢ^i, where vᵢ is the value of the claims in the i-th of these spans, counted from one. The spans do
/// not overlap. The product of a single span is its value.
pub(super) type Product = Vec<Span>;

/// How many values [`values`] computes in the time of one: one for each lane of each thread.
pub(super) fn width<S: Suite>(execution: &Execution<'_, S>) -> usize {
    let Options { threads, backend, .. } = execution.plan().options;
    threads.get() * backend.lanes()
}

/// The value of each product.
///
/// Cost of a product: a weighted sum of its signatures and a Miller loop for it, a final exponentiation, and for each
/// span fewer Miller loops than two blocks have, those of the blocks at its ends.
pub(super) fn values<S: Suite>(execution: &Execution<'_, S>, products: &[Product]) -> (Vec<Gt>, Work) {
    let Options { backend, threads, .. } = execution.plan().options;
    let size = products.len().div_ceil(threads.get()).clamp(1, backend.lanes());
    let shares: Vec<_> = products.chunks(size).collect();
    let made = parallel(threads, shares.len(), |job| values_together(execution, shares[job]));
    let mut work = Work::default();
    let values = made.into_iter().flat_map(|(values, w)| {
        work += w;
        values
    });
    (values.collect(), work)
}

fn values_together<S: Suite>(execution: &Execution<'_, S>, products: &[Product]) -> (Vec<Gt>, Work) {
    let (plan, backend) = (execution.plan(), execution.plan().options.backend);
    // By product: the value of the kept blocks, the claims whose signatures these blocks do not hold, and how many
    // times they hold the pair of all signatures.
    let (mut kept, mut unpaired, mut too_often) = (Vec::new(), Vec::new(), Vec::new());
    // Terms outside these blocks, each with its product. The pair of a whole term was kept; the other terms are
    // restricted to some spans.
    let (mut whole, mut firsts, mut cut) = (Vec::new(), Multiples::new(), Vec::new());
    for (product, spans) in products.iter().enumerate() {
        let parts: Vec<_> = spans.iter().map(|span| Kept::of(execution, *span)).collect();
        // v₁·v₂²⋯ is the product of v₁v₂⋯, v₂v₃⋯, and so on.
        let none = (MillerValue::ONE, MillerValue::ONE);
        let (_, value) = parts.iter().rev().fold(none, |(suffix, product), part| {
            let suffix = suffix * part.value;
            (suffix, product * suffix)
        });
        kept.push(value);
        unpaired.push(Vec::new());
        too_often.push(0);
        let mut restricted = BTreeMap::<usize, Vec<Counted>>::new();
        for ((times, part), span) in (1..).zip(parts).zip(spans) {
            unpaired[product].extend(part.unpaired.into_iter().map(|span| Counted { times, span }));
            too_often[product] += if part.has_all_signatures { times } else { 0 };
            for (p, q) in part.whole {
                firsts.push(times, p);
                firsts.close();
                whole.push((product, q));
            }
            for term in part.cut {
                restricted.entry(term).or_default().push(Counted { times, span: *span });
            }
        }
        cut.extend(restricted.into_iter().map(|(term, spans)| (product, &plan.terms[term], spans)));
    }
    let restricted: Vec<_> = cut.iter().map(|(_, term, spans)| (*term, &spans[..])).collect();
    let (cut_pairs, weighted_in_terms) = execution.term_pairs(&restricted);
    let (signatures, weighted) = execution.signature_sums(&unpaired);

    let mut pairs: Vec<Vec<(G1, G2)>> = vec![Vec::new(); products.len()];
    for ((product, q), p) in whole.into_iter().zip(firsts.sums(backend)) {
        pairs[product].push((p, q));
    }
    for ((product, ..), pair) in cut.iter().zip(cut_pairs) {
        pairs[*product].push(pair);
    }
    for ((pairs, sum), too_often) in pairs.iter_mut().zip(signatures).zip(too_often) {
        let sum = match too_often {
            0 => sum,
            _ => backend.sum(&[vec![execution.all_signatures().negate(); too_often], vec![sum]].concat()),
        };
        if !sum.is_identity() {
            pairs.push(execution.signature_pair(sum));
        }
    }
    let pairs: Segments<_> = pairs.into_iter().collect();
    let made = backend.miller_products(plan.pairing, &pairs);
    let made: Vec<_> = made.into_iter().zip(kept).map(|(made, kept)| made * kept).collect();
    let work = Work {
        search_nodes: products.len(),
        final_exponentiations: products.len(),
        pairings: pairs.items().len(),
        weighted: weighted_in_terms + weighted,
        ..Work::default()
    };
    (backend.final_exponentiations(&made), work)
}

/// The partial values of the batch from which the value of a span of claims is made.
struct Kept {
    /// The product of the blocks that lie in the span.
    value: MillerValue,
    /// The pairs of the other terms that lie in the span.
    whole: Vec<(G1, G2)>,
    /// The indices of the terms that have claims inside and outside the span.
    cut: Vec<usize>,
    /// The claims whose signatures these blocks do not hold.
    unpaired: Vec<Span>,
    /// Whether the last block lies in the span and holds the pair of all signatures.
    has_all_signatures: bool,
}

impl Kept {
    fn of<S: Suite>(execution: &Execution<'_, S>, span: Span) -> Self {
        let plan = execution.plan();
        let mut kept = Self {
            value: MillerValue::ONE,
            whole: Vec::new(),
            cut: Vec::new(),
            unpaired: vec![span],
            has_all_signatures: false,
        };
        for (b, (block, value)) in plan.blocks.iter().zip(execution.products()).enumerate() {
            let terms = &plan.terms[block.clone()];
            let pairs = &execution.pairs()[block.clone()];
            if terms.iter().all(|term| term.span().is_within(span)) {
                match plan.apart.get(b) {
                    None => kept.has_all_signatures |= block.end == plan.terms.len(),
                    Some(claims) if claims.is_within(span) => kept.take_signatures(*claims),
                    // The block also holds the signatures of claims without a term, and some of these are outside the
                    // span.
                    Some(_) => {
                        kept.whole.extend(pairs);
                        continue;
                    }
                }
                kept.value = kept.value * *value;
                continue;
            }
            for (term, (index, pair)) in terms.iter().zip(block.clone().zip(pairs)) {
                if term.span().is_within(span) {
                    kept.whole.push(*pair);
                } else if term.span().overlaps(span) {
                    kept.cut.push(index);
                }
            }
        }
        kept
    }

    /// Takes note that a block holds the signatures of these claims. The blocks come in order, so the claims are in the
    /// last span.
    fn take_signatures(&mut self, claims: Span) {
        if let Some(last) = self.unpaired.pop() {
            self.unpaired.extend(last.without(claims));
        }
    }
}
