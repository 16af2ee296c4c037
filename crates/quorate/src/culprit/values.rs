//! Miller values of spans of claims, made from the partial values that the batch kept, and values from Miller values.
//!
//! The value of a set is the product of its claims' pairings in the target group. Its Miller value is that product
//! before the final exponentiation. The batch has kept a Miller value for each block of pairings, and a pair of points
//! for each term. If all claims of a block lie in the set, its Miller value is used. If all claims of a term lie in the
//! set, its pair is used. Only terms with claims inside and outside the set are summed anew. Values without weights have nothing in
//! common with those of the batch, so all of their terms are.

use quorate_curve::{Group, Gt, MillerValue, Segments};

use crate::{
    execute::{Execution, Weighing},
    plan::{Options, Plan, Span},
    suite::{PairOf, Suite},
    threads::parallel_chunks,
    verdict::Work,
};

/// The Miller value of each span of claims.
///
/// Cost of a span: a weighted sum of its signatures and a pairing for it, and fewer pairings than two blocks have, those
/// of the blocks at its ends. With a backend that has lanes, as many spans as it has lanes share their Miller loops.
pub(super) fn miller_values<S: Suite>(
    execution: &Execution<'_, S>,
    spans: &[Span],
    weighing: Weighing,
) -> (Vec<MillerValue<S::Curve>>, Work) {
    let Options { backend, threads, .. } = execution.plan().options;
    let most = if backend.lanes() > 1 { backend.lanes() } else { TOGETHER };
    let size = spans.len().div_ceil(threads.get()).clamp(1, most);
    let shares: Vec<_> = spans.chunks(size).collect();
    let made = parallel_chunks(threads, &shares, 1, |shares| {
        shares.iter().map(|share| computed_together(execution, share, weighing)).collect()
    });
    let mut work = Work::default();
    let values = made.into_iter().flat_map(|(values, w)| {
        work += w;
        values
    });
    (values.collect(), work)
}

/// The value of each Miller value.
pub(super) fn values<S: Suite>(
    execution: &Execution<'_, S>,
    values: &[MillerValue<S::Curve>],
) -> (Vec<Gt<S::Curve>>, Work) {
    let Options { backend, threads, .. } = execution.plan().options;
    let n = values.len();
    let work = Work { search_nodes: n, final_exponentiations: n, ..Work::default() };
    (parallel_chunks(threads, values, 1, |values| backend.final_exponentiations(values)), work)
}

fn computed_together<S: Suite>(
    execution: &Execution<'_, S>,
    spans: &[Span],
    weighing: Weighing,
) -> (Vec<MillerValue<S::Curve>>, Work) {
    let (plan, backend) = (execution.plan(), execution.plan().options.backend);
    let kept = spans.iter().map(|span| match weighing {
        Weighing::Drawn => Kept::of(execution, *span),
        Weighing::Ones => Kept::none(plan, *span),
    });
    let kept: Vec<_> = kept.collect();
    let cut = kept.iter().zip(spans).flat_map(|(kept, span)| kept.cut.iter().map(|term| (&plan.terms[*term], *span)));
    let (cut_pairs, weighted_in_terms) = execution.term_pairs(&cut.collect::<Vec<_>>(), weighing);
    let (signatures, weighted) = execution.signature_sums(kept.iter().map(|kept| &kept.unpaired[..]), weighing);

    let (mut pairs, mut cut_pairs) = (Segments::new(), cut_pairs.into_iter());
    for (kept, sum) in kept.iter().zip(signatures) {
        pairs.extend(kept.whole.iter().copied());
        pairs.extend(cut_pairs.by_ref().take(kept.cut.len()));
        let sum = if kept.has_all_signatures { backend.sum(&[sum, execution.all_signatures().negate()]) } else { sum };
        if !sum.is_identity() {
            pairs.push(execution.signature_pair(sum));
        }
        pairs.close();
    }
    let made = backend.miller_products(plan.pairing, &pairs);
    let values = made.into_iter().zip(&kept).map(|(made, kept)| made * kept.value);
    let work = Work { pairings: pairs.items().len(), weighted: weighted_in_terms + weighted, ..Work::default() };
    (values.collect(), work)
}

/// So many spans share the inversions of their weighted sums if the backend has no lanes.
const TOGETHER: usize = 64;

/// The partial values of the batch from which the value of a span of claims is made.
struct Kept<S: Suite> {
    /// The product of the blocks that lie in the span.
    value: MillerValue<S::Curve>,
    /// The pairs of the other terms that lie in the span.
    whole: Vec<PairOf<S>>,
    /// The indices of the terms that have claims inside and outside the span.
    cut: Vec<usize>,
    /// The claims whose signatures these blocks do not hold.
    unpaired: Vec<Span>,
    /// Whether the last block lies in the span and holds the pair of all signatures.
    has_all_signatures: bool,
}

impl<S: Suite> Kept<S> {
    /// Nothing of a span: all its terms are summed anew.
    fn none(plan: &Plan<S>, span: Span) -> Self {
        let terms = plan.terms.iter().enumerate();
        Self {
            value: MillerValue::ONE,
            whole: Vec::new(),
            cut: terms.filter(|(_, term)| term.span().overlaps(span)).map(|(index, _)| index).collect(),
            unpaired: vec![span],
            has_all_signatures: false,
        }
    }

    fn of(execution: &Execution<'_, S>, span: Span) -> Self {
        let plan = execution.plan();
        let mut kept = Self { cut: Vec::new(), ..Self::none(plan, span) };
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
