//! Square roots. The power that gives a root also says whether it is one, and gives its inverse.

use super::{
    constant::{Constant, Modulus, half_of_p},
    field::{Field, Mask, PrimeField},
    fp2::Fp2,
    instructions::in_lanes,
    power::powers,
};

/// A root of a or of -a, and the inverse of that root.
#[derive(Clone, Copy)]
pub(crate) struct Root<P> {
    /// r with r² = ±a.
    pub(crate) root: P,
    /// ±1/r, with the same sign, or zero for a = 0.
    pub(crate) inverse: P,
    /// The lanes where the sign is plus, so that a is a square.
    pub(crate) is_square: Mask,
}

in_lanes! {
    /// The roots of elements with limbs below 4 units and values below 5p.
    pub(crate) fn roots<P: PrimeField>[N: usize](lanes: P::Lanes, a: &[P; N]) -> [Root<P>; N] {
        let powers = powers(lanes, a);
        core::array::from_fn(|i| {
            let root = powers[i].times(&a[i]);
            let is_square = a[i].subtract::<3, 1>(&root.squared()).carried().is_zero();
            Root { root, inverse: powers[i], is_square }
        })
    }

    /// The square roots of elements of Fp, and the lanes where they are roots.
    pub(crate) fn in_fp<P: PrimeField>[N: usize](lanes: P::Lanes, a: &[P; N]) -> [(P, Mask); N] {
        roots(lanes, a).map(|root| (root.root, root.is_square))
    }

    /// The square roots of elements of Fp2 with limbs below 2 units, and the lanes where they are roots.
    pub(crate) fn in_fp2<P: PrimeField>[N: usize](lanes: P::Lanes, a: &[Fp2<P>; N]) -> [(Fp2<P>, Mask); N] {
        // An element of Fp2 is a square if and only if its norm is a square in Fp.
        let norms = roots(lanes, &a.map(|a| a.norm()));
        let roots = from_norms(lanes, a, &norms.map(|norm| norm.root));
        core::array::from_fn(|i| (roots[i], norms[i].is_square))
    }
}

/// 1/2, which is (p + 1)/2.
const fn half<C: Modulus>() -> Constant<C> {
    let mut words = half_of_p::<C>();
    let (mut i, mut carry) = (0, true);
    while i < 6 {
        (words[i], carry) = words[i].overflowing_add(carry as u64);
        i += 1;
    }
    Constant::of_number(words)
}

in_lanes! {
    /// The square roots of squares g = a + b·i in Fp2, given a root t of each norm.
    ///
    /// Let d = (a + t)/2 and r = d^((p+1)/4). Then r² is d or -d. If it is d, a root of g is r + b/(2r)·i. If it is -d, a
    /// root is b/(2r) + r·i, because (a - t)/2 = -b²/(4d).
    pub(crate) fn from_norms<P: PrimeField>[N: usize](lanes: P::Lanes, g: &[Fp2<P>; N], t: &[P; N]) -> [Fp2<P>; N] {
        let half = P::constant(lanes, const { &half() });
        let minus_half = half.negated().carried();
        let d: [P; N] = core::array::from_fn(|i| {
            let d = g[i].c0.plus(&t[i]).times(&half);
            let zero = d.is_zero();
            // d is zero for b = 0 and t = -a. Then the other root of the norm is used.
            if zero == 0 { d } else { g[i].c0.minus(&t[i]).times(&half).or(zero, &d) }
        });
        let roots = roots(lanes, &d);
        core::array::from_fn(|i| {
            let Root { root, inverse, is_square } = roots[i];
            // 1/r is the inverse or its negative.
            let other = g[i].c1.times(&half.or(is_square, &minus_half)).times(&inverse);
            Fp2::new(root, other).or(is_square, &Fp2::new(other, root))
        })
    }
}
