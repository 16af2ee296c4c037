//! Blocks: runs of consecutive pairings with one Miller value. The pairings of a block share the squarings of the
//! Miller loop, and the search for false claims starts from the values of the blocks.

use std::ops::Range;

use super::{
    options::Options,
    position::Span,
    term::{Term, Vertex},
};

/// Cuts so many terms of so many claims into blocks.
///
/// Smaller blocks cost more squarings. With larger blocks, a search reuses less of the batch and computes more pairings
/// anew.
pub(super) fn blocks(terms: usize, claims: usize, options: &Options) -> Vec<Range<usize>> {
    let (threads, lanes) = (options.threads.get(), options.backend.lanes());
    if lanes == 1 {
        return ranges(terms, if claims > 1 { (claims / 32).clamp(BLOCK, WIDE_BLOCK) } else { WIDE_BLOCK });
    }
    // The pairs of fewer terms and the pair of the signatures fit one vector. With a block each, the last block would take
    // that pair, and its lane would need a second vector.
    if terms < lanes {
        return ranges(terms, lanes);
    }
    let few = terms < SHORTEST_IN_LANES * lanes;
    in_lanes(terms, threads, if few { options.backend.products_at_once() } else { lanes })
}

/// The claims of each block, if each block gets the pair of its own signatures. The value of a block is then the value
/// of its claims, and a search needs no pairing to start from it.
///
/// That is possible if no claim has terms in two blocks. It pays off if the pairs go to lanes that would be idle
/// otherwise, and if the blocks are so short that a sum for each block costs little more than one sum of all
/// signatures. Otherwise there are none.
pub(super) fn apart(blocks: &[Range<usize>], terms: &[Term], claims: usize, options: &Options) -> Vec<Span> {
    let lanes = options.backend.lanes();
    let longest = blocks.iter().map(ExactSizeIterator::len).max().unwrap_or(0);
    if lanes == 1 || blocks.len() < lanes || !(SHORTEST_IN_LANES..=LONGEST_APART).contains(&longest) {
        return Vec::new();
    }
    spans(blocks, terms, claims).unwrap_or_default()
}

/// The claims of each block, unless a claim has terms in two blocks.
fn spans(blocks: &[Range<usize>], terms: &[Term], claims: usize) -> Option<Vec<Span>> {
    let starts: Vec<_> = blocks.iter().map(|block| terms[block.start].span().start()).skip(1).collect();
    let ends = blocks.iter().map(|block| terms[block.clone()].iter().map(|term| term.span().end()).max());
    if ends.zip(&starts).any(|(end, start)| end > Some(*start)) {
        return None;
    }
    let bounds: Vec<_> = std::iter::once(0).chain(starts).chain([claims]).collect();
    Some(bounds.windows(2).map(|bounds| Span::new(bounds[0], bounds[1])).collect())
}

/// Terms of which each belongs to one of many slices of the claims, with a block and a pair of signatures for each slice. They take
/// the place of terms that would each sum thousands of claims: the votes of a slot about few messages. `None` where there are no such
/// terms.
///
/// A false claim then spoils the value of its slice alone, and the search weighs anew no more than that slice. The pairs of a slice
/// cost little for each of its claims.
pub(super) fn slices(terms: &[Term], claims: usize, options: &Options) -> Option<Sliced> {
    let (threads, lanes) = (options.threads.get(), options.backend.lanes());
    let is_message = |term: &Term| matches!(term.vertex, Vertex::Message(_));
    if lanes == 1 || terms.len() >= lanes || !terms.iter().all(is_message) {
        return None;
    }
    let all_lanes = lanes.saturating_mul(threads);
    let slices = claims / SLICE / all_lanes * all_lanes;
    let (mut sliced, mut blocks) = (Vec::new(), Vec::new());
    for i in 0..slices {
        let slice = Span::new(i * claims / slices, (i + 1) * claims / slices);
        let parts = terms.iter().map(|term| (term.vertex, slice.of(&term.parts, |part| part.position)));
        let parts = parts.filter(|(_, parts)| !parts.is_empty());
        let mut of_slice: Vec<_> = parts.map(|(vertex, parts)| Term { vertex, parts: parts.to_vec() }).collect();
        if of_slice.is_empty() {
            return None;
        }
        of_slice.sort_by_key(|term| term.span().start());
        blocks.push(sliced.len()..sliced.len() + of_slice.len());
        sliced.extend(of_slice);
    }
    let apart = spans(&blocks, &sliced, claims).filter(|spans| !spans.is_empty() && slices > 0)?;
    Some(Sliced { terms: sliced, blocks, apart })
}

/// What [`slices`] makes.
pub(super) struct Sliced {
    pub(super) terms: Vec<Term>,
    pub(super) blocks: Vec<Range<usize>>,
    pub(super) apart: Vec<Span>,
}

/// One block for each lane of each thread, all of about one size. There are more if the blocks would be long, and fewer
/// if they would be short.
fn in_lanes(terms: usize, threads: usize, lanes: usize) -> Vec<Range<usize>> {
    let vectors = threads.saturating_mul(terms.div_ceil((LONGEST_IN_LANES * lanes).saturating_mul(threads)));
    let blocks = (vectors.min(terms / (SHORTEST_IN_LANES * lanes)).max(1) * lanes).min(terms);
    (0..blocks).map(|i| i * terms / blocks..(i + 1) * terms / blocks).collect()
}

/// The number of terms in a block of a small batch.
const BLOCK: usize = 8;
/// The number of terms in a block of a large batch, or of a single claim, which needs no search. blst shares one set of
/// squarings between so many pairs.
const WIDE_BLOCK: usize = 16;
/// The largest number of terms in a block of a lane. Longer blocks hardly lower the cost of each term.
const LONGEST_IN_LANES: usize = 128;
/// The smallest number of terms in a block of a lane. With shorter blocks, a second thread gains nothing.
const SHORTEST_IN_LANES: usize = 4;

/// Claims in a slice. More of them cost less for each as long as all are true, and a false one more.
const SLICE: usize = 1024;

/// The largest number of terms in a block that gets the pair of its own signatures.
const LONGEST_APART: usize = 16;

/// The numbers below n in consecutive ranges of `size` numbers each. The last range can be shorter.
pub(super) fn ranges(n: usize, size: usize) -> Vec<Range<usize>> {
    (0..n).step_by(size).map(|start| start..(start + size).min(n)).collect()
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;

    use super::*;
    use crate::{
        Backend,
        plan::term::{Operand, Part},
    };

    #[test]
    fn blocks_in_lanes_are_equal_whole_and_a_multiple_of_the_products_at_once() {
        for backend in Backend::available().iter().filter(|backend| backend.lanes() > 1) {
            let (lanes, at_once) = (backend.lanes(), backend.products_at_once());
            let cut = |terms, threads| {
                let threads = NonZero::new(threads).expect("at least one");
                blocks(terms, terms, &Options { backend: *backend, threads, ..Options::default() })
            };
            for threads in [1, 2, 3, 16, usize::MAX] {
                for terms in (0..300).chain([1023, 1024, 1025, 10_000]) {
                    let blocks = cut(terms, threads);
                    let joined = blocks.iter().try_fold(0, |end, block| (block.start == end).then_some(block.end));
                    assert_eq!(joined, Some(terms), "{blocks:?}");
                    let sizes = || blocks.iter().map(ExactSizeIterator::len);
                    assert!(sizes().max().unwrap_or(0) <= LONGEST_IN_LANES.min(sizes().min().unwrap_or(0) + 1));
                    match terms {
                        0..8 => assert_eq!(blocks.len(), terms.min(1)),
                        8..32 => assert!(blocks.len().is_multiple_of(at_once)),
                        _ => assert!(blocks.len().is_multiple_of(lanes)),
                    }
                }
            }
            assert_eq!([1024, 128, 32, 16].map(|terms| cut(terms, 1).len()), [lanes, lanes, lanes, at_once]);
            assert_eq!(cut(1024, 2).len(), 2 * lanes);
        }
    }

    #[test]
    fn blocks_stand_apart_where_no_claim_is_in_two() {
        let options = |backend| Options { backend, ..Options::default() };
        let term = |positions: Range<usize>| Term {
            vertex: Vertex::Message(0),
            parts: Span::new(positions.start, positions.end)
                .iter()
                .map(|position| Part { position, operand: Operand::Key(0) })
                .collect(),
        };
        for backend in Backend::available() {
            let options = options(*backend);
            // Two claims without terms in front.
            let mut terms: Vec<_> = (0..64).map(|i| term(i + 2..i + 3)).collect();
            let blocks = in_lanes(64, 1, 8);
            let cut = apart(&blocks, &terms, 66, &options);
            if backend.lanes() == 1 {
                assert!(cut.is_empty());
                continue;
            }
            assert_eq!(cut[..2], [Span::new(0, 10), Span::new(10, 18)]);
            assert_eq!(cut[7], Span::new(58, 66));
            terms[9] = term(11..40);
            assert!(apart(&blocks, &terms, 66, &options).is_empty());
            assert!(apart(&in_lanes(16, 1, 8), &terms[..16], 18, &options).is_empty());
        }
    }
}
