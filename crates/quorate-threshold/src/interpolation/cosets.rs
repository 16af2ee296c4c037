//! Derivatives V'(x) for signers whose points are roots of unity.
//!
//! A block of 2^i positions of a domain is a coset: its points are the roots of X^s - c, where s is its size. V is the
//! product over blocks, and V'(x) is the product of the polynomials of all blocks beside those that hold x: the
//! neighbour of its size 1, of its size 2, and so on. So the tree is climbed level by level. Each block knows the values
//! of its polynomial at its own points. These are interpolated and evaluated at the points of its neighbour, and each
//! point multiplies the value into its derivative.
//!
//! The polynomial of a block with all of its points is X^s - c. It is zero on its block, and -2c on the neighbour, whose
//! points are the roots of X^s + c.

use quorate::{
    Backend, Options,
    threads::{parallel, parallel_chunks},
};
use quorate_curve::{Domain, Scalar};

use super::tree;
use crate::committee::{Committee, Index};

/// The number of positions whose levels are climbed by one thread without others, so that a cache holds their values.
const TOGETHER: usize = 1 << 12;

/// What the blocks are cut from.
struct Climb<'a> {
    backend: Backend,
    domain: &'a Domain,
    points: &'a [Scalar],
    /// Whether a position is a signer's.
    present: &'a [bool],
}

/// V'(x) for each signer. The signers are ascending places in the domain.
pub(super) fn derivatives(domain: &Domain, signers: &[impl Place], options: &Options) -> Vec<Scalar> {
    let mut present = vec![false; domain.len()];
    signers.iter().for_each(|signer| present[signer.place()] = true);
    let points = domain.points();
    let climb = Climb { backend: options.backend, domain, points: &points, present: &present };
    let n = domain.len();
    // The values of the polynomial of the block of each position, and the derivative so far.
    let blocks: Vec<_> = (0..n).step_by(TOGETHER).collect();
    let low = parallel_chunks(options.threads, &blocks, 1, |blocks| {
        blocks.iter().map(|first| climb.within(*first, TOGETHER.min(n - first))).collect()
    });
    let (mut values, mut derivatives) = (Vec::with_capacity(n), Vec::with_capacity(n));
    for (v, d) in low {
        values.extend(v);
        derivatives.extend(d);
    }
    let mut size = TOGETHER;
    while size < n {
        let beside = parallel(options.threads, n / size, |block| climb.beside(block, &values[block * size..][..size]));
        let neighbours = beside.iter().enumerate().flat_map(|(i, _)| &beside[i ^ 1]);
        let factors: Vec<_> = neighbours.copied().collect();
        options.backend.multiply(&mut derivatives, &factors);
        if 2 * size < n {
            options.backend.multiply(&mut values, &factors);
        }
        size *= 2;
    }
    signers.iter().map(|signer| derivatives[signer.place()]).collect()
}

impl Climb<'_> {
    /// The values and the derivatives of a block of positions, whose levels are climbed together.
    fn within(&self, first: usize, len: usize) -> (Vec<Scalar>, Vec<Scalar>) {
        let present = &self.present[first..first + len];
        let mut values: Vec<_> = present.iter().map(|p| if *p { Scalar::ZERO } else { Scalar::ONE }).collect();
        if len == 1 {
            return (values, vec![Scalar::ONE]);
        }
        // The neighbour of x is -x, and the polynomial of a signer's point x is X - x.
        let points = &self.points[first..first + len];
        let beside = (0..len).map(|i| if present[i ^ 1] { points[i] + points[i] } else { Scalar::ONE });
        let mut derivatives: Vec<_> = beside.collect();
        for (value, beside) in values.iter_mut().zip(&derivatives).filter(|(value, _)| !value.is_zero()) {
            *value = *beside;
        }
        let mut size = 2;
        while size < len {
            let mut beside = values.clone();
            self.domain.interpolate_blocks(size, first, &mut beside);
            for pair in beside.chunks_exact_mut(2 * size) {
                let (left, right) = pair.split_at_mut(size);
                left.swap_with_slice(right);
            }
            self.domain.evaluate_blocks(size, first, &mut beside);
            for (i, block) in present.chunks_exact(size).enumerate() {
                if block.iter().all(|present| *present) {
                    beside[(i ^ 1) * size..][..size].fill(self.full(first / size + i, size));
                }
            }
            self.backend.multiply(&mut derivatives, &beside);
            self.backend.multiply(&mut values, &beside);
            size *= 2;
        }
        (values, derivatives)
    }

    /// The values of a block's polynomial on its neighbour.
    fn beside(&self, block: usize, values: &[Scalar]) -> Vec<Scalar> {
        let size = values.len();
        if self.present[block * size..][..size].iter().all(|present| *present) {
            return vec![self.full(block, size); size];
        }
        let mut beside = values.to_vec();
        self.domain.interpolate_blocks(size, block * size, &mut beside);
        self.domain.evaluate_blocks(size, (block ^ 1) * size, &mut beside);
        beside
    }

    /// -2c, for the block of the roots of X^size - c.
    fn full(&self, block: usize, size: usize) -> Scalar {
        let c = self.points[block * size].power(size as u64);
        -(c + c)
    }
}

/// A place in a domain.
pub(super) trait Place {
    fn place(&self) -> usize;
}

impl Place for Index {
    fn place(&self) -> usize {
        Index::place(*self)
    }
}

impl Place for usize {
    fn place(&self) -> usize {
        *self
    }
}

/// V'(x) = (N/x)/W(x) for each signer, where W has the absent points of the domain, which are best few: X^N - 1 has the
/// derivative N·X^(N - 1), which is N/x at its roots.
pub(super) fn derivatives_by_absent(domain: &Domain, signers: &[Index], options: &Options) -> Vec<Scalar> {
    let n = domain.len();
    let mut present = vec![false; n];
    signers.iter().for_each(|signer| present[signer.place()] = true);
    let points = domain.points();
    let absent: Vec<_> = (0..n).filter(|place| !present[*place]).map(|place| points[place]).collect();
    let mut others = tree::polynomial(&absent, options);
    // A polynomial of degree N is that of all points, and no signer is left to ask for its values.
    others.resize(n.max(others.len()), Scalar::ZERO);
    domain.evaluate(&mut others[..n]);
    let denominators = signers.iter().map(|signer| points[signer.place()] * others[signer.place()]);
    let inverses = options.backend.inverses(&denominators.collect::<Vec<_>>());
    let size = Scalar::from(n as u64);
    inverses.expect("a signer is not absent").into_iter().map(|inverse| inverse * size).collect()
}

/// As many whole cosets as the threshold needs.
pub(super) struct Chosen {
    /// The number of points of each coset.
    pub(super) size: usize,
    /// The signers, coset after coset.
    pub(super) signers: Vec<Index>,
    /// The domain of the points x^size.
    pub(super) domain: Domain,
    /// The place of each coset's point in this domain.
    pub(super) places: Vec<usize>,
    /// These points.
    pub(super) points: Vec<Scalar>,
}

/// The largest cosets of which enough are whole. `None` if not even pairs are.
pub(super) fn choose(committee: &Committee, available: &[Index], backend: Backend) -> Option<Chosen> {
    let whole = committee.domain()?;
    let mut present = vec![false; committee.participants()];
    available.iter().for_each(|index| present[index.place()] = true);
    // Whether each coset of a size is whole, for larger and larger sizes.
    let (mut size, mut cosets, mut best) = (1, present, None);
    while cosets.len() > 1 {
        cosets = cosets.chunks_exact(2).map(|pair| pair[0] && pair[1]).collect();
        size *= 2;
        let needed = committee.threshold().div_ceil(size);
        let places: Vec<_> = (0..cosets.len()).filter(|i| cosets[*i]).take(needed).collect();
        if places.len() < needed {
            break;
        }
        best = Some((size, places));
    }
    let (size, places) = best?;
    let domain = Domain::new(backend, whole.len() / size)?;
    let indices: Vec<_> = committee.indices().collect();
    let signers = places.iter().flat_map(|place| indices[place * size..][..size].iter().copied()).collect();
    let all = domain.points();
    let points = places.iter().map(|place| all[*place]).collect();
    Some(Chosen { size, signers, domain, places, points })
}
