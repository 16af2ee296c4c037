//! a^((p-3)/4), the power from which square roots and inverse square roots are computed.
//!
//! Let c = a^((p-3)/4) and χ(a) = c²·a, which is 1 for a square, -1 for a non-square and 0 for zero. Since p ≡ 3 mod 4,
//! r = c·a is a root of χ(a)·a, and 1/r = χ(a)·c. So one power gives the root, whether it is one, and its inverse.
//!
//! On BLS12-381 it costs 378 squarings and 81 products, with sliding windows of five bits. This is most of the time of hashing and
//! decoding, so lanes may have a form for it ([`PrimeField::Link`]).

use super::{constant::Modulus, field::PrimeField, instructions::in_lanes};

in_lanes! {
    /// a^((p-3)/4) for each of a few vectors, with limbs below 4 units. Two at a time are a little faster than one,
    /// because the latencies of each hide behind the other.
    pub(crate) fn powers<P: PrimeField>[N: usize](lanes: P::Lanes, a: &[P; N]) -> [P; N] {
        let mut table = [[a[0].to_link(); N]; 1 << (WINDOW - 1)];
        let mut squares = table[0];
        for i in 0..N {
            table[0][i] = a[i].to_link();
            squares[i] = table[0][i];
            P::square_link(&mut squares[i]);
        }
        for odd in 1..table.len() {
            for i in 0..N {
                table[odd][i] = table[odd - 1][i];
                P::multiply_link(&mut table[odd][i], &squares[i]);
            }
        }
        let steps = const { &steps::<P::Curve>() };
        let mut power = table[steps[0].odd as usize];
        for step in steps.iter().skip(1).take_while(|step| step.squarings > 0) {
            for _ in 0..step.squarings {
                for power in &mut power {
                    P::square_link(power);
                }
            }
            if let Some(odd) = table.get(step.odd as usize) {
                for (power, odd) in power.iter_mut().zip(odd) {
                    P::multiply_link(power, odd);
                }
            }
        }
        core::array::from_fn(|i| P::from_link(&power[i]))
    }
}

const WINDOW: usize = 5;

/// A number of squarings, then a product with the odd power a^(2·odd + 1).
#[derive(Clone, Copy)]
struct Step {
    squarings: u8,
    odd: u8,
}

/// No product: these are the squarings at the end.
const NONE: u8 = u8::MAX;

/// The exponent in sliding windows, from the top. The squarings of the first step do not count, and a step without
/// squarings ends the list.
const fn steps<C: Modulus>() -> [Step; 80] {
    let mut steps = [Step { squarings: 0, odd: NONE }; 80];
    let (mut count, mut squarings, mut top) = (0, 0, 382);
    while exponent_bit::<C>(top - 1) == 0 {
        top -= 1;
    }
    while top > 0 {
        if exponent_bit::<C>(top - 1) == 0 {
            squarings += 1;
            top -= 1;
            continue;
        }
        let mut end = top.saturating_sub(WINDOW);
        while exponent_bit::<C>(end) == 0 {
            end += 1;
        }
        let mut digit = 0;
        while top > end {
            top -= 1;
            squarings += 1;
            digit = digit << 1 | exponent_bit::<C>(top);
        }
        steps[count] = Step { squarings, odd: digit >> 1 };
        count += 1;
        squarings = 0;
    }
    steps[count].squarings = squarings;
    steps
}

/// A bit of (p - 3)/4. It is the bit of p two places above, because p ends in binary 011.
const fn exponent_bit<C: Modulus>(i: usize) -> u8 {
    (C::P[(i + 2) / 64] >> ((i + 2) % 64) & 1) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        arithmetic::field::Field as _,
        backend::lanes::{
            field::Field as _,
            tests::{elements, in_each_kind},
        },
        encoding::MODULUS,
    };
    use blst::blst_fp;

    in_each_kind! {
        fn powers_are_those_of_the_portable_field(lanes: L) {
            // (p - 3)/4 bit by bit, from the bytes of p.
            let bits = || MODULUS.iter().flat_map(|byte| (0..8).rev().map(move |i| byte >> i & 1));
            let power = |a: &blst_fp| {
                let mut product = crate::arithmetic::curve::ONE;
                for bit in bits().take(382) {
                    product = product.squared();
                    if bit == 1 {
                        product = product.times(a);
                    }
                }
                product
            };
            let elements = elements();
            for a in elements.chunks_exact(8) {
                let expected = core::array::from_fn(|i| power(&a[i]));
                let eight = L::Fp::load(lanes, &core::array::from_fn(|i| &a[i]));
                assert_eq!(powers(lanes, &[eight])[0].store(), expected);
                let both = powers(lanes, &[eight.squared(), eight.largest()]);
                assert_eq!(both[0].store(), expected.map(|c| c.squared()));
                assert_eq!(both[1].store(), expected);
            }
        }
    }
}
