//! The kernels of these lanes, proved for all inputs: what they compute, that no column overflows, and the bounds that [`Bound`] and
//! [`Range`] take for granted.
//!
//! [`Bound`]: super::bound::Bound
//! [`Range`]: super::range::Range

use num_bigint::BigInt;

use super::{
    kernel::{Columns, Numbers},
    kernel_fp2, kernel_fr,
    kernel52::Numbers52,
    word::{Table, Word},
};
use crate::{
    arithmetic::curve::PARAMETER,
    backend::{
        lanes::{
            constant::Modulus,
            integer::{Bits, Integer},
        },
        symbolic::{
            Dyadic, Parts, Rounding, Symbol, Value, assert_congruent, assert_same, beside, bounds, in_each_case,
            in_lane, misses_no_step, on_each_path, power_of_two, prime, proofs, value_of,
        },
    },
    pairing::Bls12381,
    polynomial::Coefficient,
};

/// The parts of a product of numbers of 52 bits.
#[track_caller]
fn parts(a: Symbol, b: Symbol) -> Parts {
    for factor in [a, b] {
        factor.assert_within(BigInt::ZERO..=power_of_two(52) - 1, "a factor has 52 bits");
    }
    a.product(b).cut_at(52, Rounding::Down)
}

impl Word for Symbol {
    fn minus(self, other: Self) -> Self {
        in_lane(self.difference(other))
    }
    fn add_low(self, a: Self, b: Self) -> Self {
        in_lane(self.sum(parts(a, b).low))
    }
    fn add_high(self, a: Self, b: Self) -> Self {
        in_lane(self.sum(parts(a, b).high))
    }
    fn scaled(self, bits: u32) -> Self {
        in_lane(self.shifted(bits))
    }
    fn truncated(self) -> Self {
        self.truncated_to_52().step()
    }
    fn carry_52(self) -> Self {
        self.assert_within(BigInt::ZERO..=i64::MAX.into(), "a number that is shifted without its sign is not negative");
        in_lane(self.cut_at(52, Rounding::Down).high)
    }
    fn low_limb_52(self) -> Self {
        self.low_limb(52)
    }
    fn signed_carry_52(self) -> Self {
        self.carry(52)
    }
    /// The number has to be known: a proof splits the inputs by it.
    fn entry(self, table: &Table) -> Self {
        let (least, most) = self.cut_at(4, Rounding::Down).low.range().into_inner();
        assert!(least == most, "not proved: which number of a table");
        let index: usize = least.try_into().expect("a small number");
        Self::constant(table.as_flattened()[index]).step()
    }
}

/// What the checks need to know of a prime in N limbs.
struct Prime<const N: usize> {
    p: BigInt,
    bits: u32,
}

impl<const N: usize> Prime<N> {
    /// In limbs of the kernels.
    fn of<C: Modulus>() -> Self {
        Self { p: prime::<C>(), bits: C::INTEGER_BITS }
    }

    /// In limbs of 52 bits.
    fn of_52<C: Modulus>() -> Self {
        Self { p: prime::<C>(), bits: 52 }
    }

    /// R.
    fn r(&self) -> BigInt {
        power_of_two(self.bits * N as u32)
    }

    /// A number of at most `thousandths`·p/1000 in limbs of at most so many units.
    fn limbs(&self, units: u32, thousandths: u32) -> [Symbol; N] {
        let top: BigInt = (&self.p * thousandths / 1000) >> (self.bits * (N as u32 - 1));
        let most: BigInt = (power_of_two(self.bits) - 1) * units;
        core::array::from_fn(|i| Symbol::input(BigInt::ZERO..=if i + 1 < N { most.clone() } else { top.clone() }))
    }

    /// Limbs of at most so many units, the highest too.
    fn full(&self, units: u32) -> [Symbol; N] {
        let most: BigInt = (power_of_two(self.bits) - 1) * units;
        core::array::from_fn(|_| Symbol::input(BigInt::ZERO..=most.clone()))
    }

    fn value(&self, limbs: &[Symbol]) -> Value {
        value_of(limbs, self.bits)
    }

    fn columns(&self, columns: &Columns<Symbol, N>) -> Value {
        self.value(columns.as_flattened())
    }

    /// The limbs but the highest have as many bits as they should.
    fn assert_limbs(&self, limbs: &[Symbol]) {
        for limb in &limbs[..N - 1] {
            limb.assert_within(BigInt::ZERO..=power_of_two(self.bits) - 1, "a limb of a unit");
        }
    }

    /// The number is T/R modulo p, and at least T/R and at most T/R + 2p + `more`. So the highest limb is not negative if T is not.
    fn assert_reduced(&self, out: &Value, t: &Value, more: &BigInt) {
        let times_r = out.scaled(&self.r().into());
        assert_congruent(&times_r, t, &self.p);
        self.assert_between(&times_r.minus(t), BigInt::ZERO, (&self.p * 2 + more) * self.r());
    }

    fn assert_between(&self, value: &Value, least: BigInt, most: BigInt) {
        let found = bounds(value);
        assert!(found.0 >= least.into() && found.1 <= most.into(), "not proved: the bound of a value");
    }
}

proofs! {
    /// a·b, where limbs have up to four units. The bound is that of `Bound::of_product`.
    fn product_reduced<C, N>() {
        let prime = Prime::<N>::of::<C>();
        let (a, b) = (prime.full(4), prime.full(4));
        let out = Numbers::<C, N>::product_reduced(&a, &b);
        prime.assert_limbs(&out);
        prime.assert_reduced(&prime.value(&out), &prime.value(&a).times(&prime.value(&b)), &BigInt::ZERO);
    }

    /// a², where limbs have up to two units.
    fn square_reduced<C, N>() {
        let prime = Prime::<N>::of::<C>();
        let a = prime.full(2);
        let out = Numbers::<C, N>::square_reduced(&a);
        prime.assert_limbs(&out);
        prime.assert_reduced(&prime.value(&out), &prime.value(&a).times(&prime.value(&a)), &BigInt::ZERO);
    }

    /// a₀·b₀ + a₁·b₁, where limbs have up to four units and two.
    fn two_products_reduced<C, N>() {
        let prime = Prime::<N>::of::<C>();
        let (a, b) = ([prime.full(4), prime.full(4)], [prime.full(2), prime.full(2)]);
        let out = Numbers::<C, N>::two_products_reduced(a.each_ref(), b.each_ref());
        prime.assert_limbs(&out);
        let [first, second] = [0, 1].map(|i| prime.value(&a[i]).times(&prime.value(&b[i])));
        prime.assert_reduced(&prime.value(&out), &first.plus(&second), &BigInt::ZERO);
    }

    /// The largest sums of products, with an element added. T may be below zero by as much as the lift.
    fn add_reduced<C, N>() {
        let prime = Prime::<N>::of::<C>();
        let largest = beside(|| Numbers::<C, N>::product(&prime.full(4), &prime.full(4)));
        let columns = largest.map(|half| half.map(|column| {
            let most: BigInt = column.range().end() * (C::MOST_PRODUCTS as u32);
            Symbol::input(-most.clone()..=most)
        }));
        let to = prime.full(4);
        let out = Numbers::<C, N>::add_reduced(&to, &columns);
        prime.assert_limbs(&out);
        let lift = &prime.p << C::LIFT_BITS;
        let t = prime.columns(&columns).plus(&Value::constant(lift.into())).plus(&prime.value(&to).scaled(&prime.r().into()));
        prime.assert_reduced(&prime.value(&out), &t, &BigInt::ZERO);
    }

    fn product_in_fp2<C, N>() {
        let prime = Prime::<N>::of::<C>();
        let (a, b) = ([prime.limbs(2, 32_000), prime.limbs(2, 32_000)], [prime.limbs(2, 32_000), prime.limbs(2, 32_000)]);
        let [real, imaginary] = kernel_fp2::product_reduced::<C, N, _>(&a.each_ref(), &b.each_ref());
        let of = |i: usize, j: usize| prime.value(&a[i]).times(&prime.value(&b[j]));
        let lift = Value::constant((&prime.p << C::LIFT_BITS).into());
        prime.assert_limbs(&real);
        prime.assert_limbs(&imaginary);
        prime.assert_reduced(&prime.value(&real), &of(0, 0).minus(&of(1, 1)).plus(&lift), &BigInt::ZERO);
        prime.assert_reduced(&prime.value(&imaginary), &of(0, 1).plus(&of(1, 0)), &BigInt::ZERO);
    }

    fn square_in_fp2<C, N>() {
        let prime = Prime::<N>::of::<C>();
        let [c0, c1] = [prime.limbs(2, 15_990), prime.limbs(2, 15_990)];
        let out = kernel_fp2::square_reduced::<C, N, _>(&c0, &c1);
        let [x, y] = [c0, c1].map(|c| prime.value(&c));
        let lifted = x.minus(&y).plus(&Value::constant((&prime.p * 16_u32).into()));
        for (out, t) in out.iter().zip([x.plus(&y).times(&lifted), x.times(&y).scaled(&Dyadic::new(2, 0))]) {
            prime.assert_limbs(out);
            prime.assert_reduced(&prime.value(out), &t, &BigInt::ZERO);
        }
    }

    /// The columns of products and squares for sums: [`add_reduced`] reduces them. How far they are below and above zero is what
    /// `Range` says.
    fn columns_in_fp2<C, N>() {
        let prime = Prime::<N>::of::<C>();
        let (a, b) = ([prime.full(2), prime.full(2)], [prime.full(2), prime.full(2)]);
        let columns = kernel_fp2::columns::<C, N, _>(&a.each_ref(), &b.each_ref());
        let of = |i: usize, j: usize| prime.value(&a[i]).times(&prime.value(&b[j]));
        assert_same(&prime.columns(&columns[0]), &of(0, 0).minus(&of(1, 1)));
        assert_same(&prime.columns(&columns[1]), &of(0, 1).plus(&of(1, 0)));
        assert_columns::<C, N>(&prime, &columns, 2);
        let [c0, c1] = [prime.limbs(2, 7_990), prime.limbs(2, 7_990)];
        let columns = kernel_fp2::square_columns::<C, 8, N, _>(&c0, &c1);
        assert_columns::<C, N>(&prime, &columns, 2);
        let [x, y] = [&c0, &c1].map(|c| prime.value(c));
        let eight_p = Value::constant((&prime.p * 8_u32).into());
        assert_same(&prime.columns(&columns[0]), &x.plus(&y).times(&x.minus(&y).plus(&eight_p)));
        assert_same(&prime.columns(&columns[1]), &x.times(&y).scaled(&Dyadic::new(2, 0)));
    }

    /// The same number, for limbs of up to eight units and numbers below zero.
    fn carry<C, N>() {
        let prime = Prime::<N>::of::<C>();
        let most = power_of_two(prime.bits + 3);
        let a: [Symbol; N] = core::array::from_fn(|_| Symbol::input(-most.clone()..=most.clone()));
        let out = Numbers::<C, N>::carry(&a);
        prime.assert_limbs(&out);
        assert_same(&prime.value(&out), &prime.value(&a));
    }

    /// For each number of times that 2p is taken away, which is what the highest limb says: never too much, and below 2.1p remain.
    fn shrunk<C, N>() {
        let prime = Prime::<N>::of::<C>();
        let top = &prime.p >> (prime.bits * (N as u32 - 1));
        let inverse = power_of_two(52) / (2_u32 * (&top + 1_u32));
        let least = |times: u32| (power_of_two(52) * times + &inverse - 1_u32) / &inverse;
        let most_top: BigInt = (&prime.p * 31_900_u32 / 1000_u32) >> (prime.bits * (N as u32 - 1));
        // The quotients of the highest limb cover all values.
        assert!(least(16) > most_top);
        in_each_case(0..16, |times| {
            let mut a = prime.limbs(8, 0);
            a[N - 1] = Symbol::input(least(times)..=(least(times + 1) - 1_u32).min(most_top.clone()));
            let out = Numbers::<C, N>::shrunk(&a);
            prime.assert_limbs(&out);
            let less = prime.value(&a).minus(&Value::constant((&prime.p * (2 * times)).into()));
            assert_same(&prime.value(&out), &less);
            prime.assert_between(&less, BigInt::ZERO, &prime.p * 21_u32 / 10_u32);
        });
    }

    /// Each way in which p is taken away, with what the signs say about the number.
    fn canonical<C, N>() {
        let prime = Prime::<N>::of::<C>();
        let a = prime.limbs(1, 2_999);
        let p = |times: u32| Value::constant((&prime.p * times).into());
        on_each_path(2, || Numbers::<C, N>::canonical(&a), |out, signs| {
            prime.assert_limbs(&out);
            assert_canonical(&prime, &prime.value(&a), &prime.value(&out), signs, p);
        });
    }

    /// Numbers in limbs of 52 bits, of which only the lowest 52 bits of a limb count.
    fn products_of_chains<C, N>() {
        let prime = Prime::<N>::of_52::<C>();
        let any = || -> [Symbol; N] { core::array::from_fn(|_| Symbol::input(BigInt::ZERO..=i64::MAX.into())) };
        let read = |a: &[Symbol; N]| prime.value(&a.map(|limb| limb.lowest(52)));
        let (a, b) = (any(), any());
        for (out, t) in [
            (Numbers52::<C, N>::product_reduced(&a, &b), read(&a).times(&read(&b))),
            (Numbers52::<C, N>::square_reduced(&a), read(&a).times(&read(&a))),
        ] {
            let mut limbs = out.map(|limb| limb.lowest(52));
            limbs[N - 1] = out[N - 1];
            let more = power_of_two(52 * (N as u32 - 2) + 19);
            prime.assert_reduced(&prime.value(&limbs), &t, &more);
            // Values stay below 3p, so the highest limb has 52 bits.
            let below: BigInt = &prime.p * &prime.p * 9_u32 / prime.r() + &prime.p * 2_u32 + more + 1_u32;
            assert!(below <= &prime.p * 3_u32 && &prime.p * 3_u32 < prime.r());
            out.iter().for_each(|limb| { limb.assert_within(BigInt::ZERO..=i64::MAX.into(), "no limb is negative"); });
        }
    }
}

proofs! {
    /// Words of 64 bits to limbs and back, for numbers that fit both.
    fn words<C, N>() {
        let prime = Prime::<N>::of::<C>();
        let fit = (prime.bits * N as u32).min(384);
        let words: [Symbol; 6] = core::array::from_fn(|i| {
            let bits = fit.saturating_sub(64 * i as u32).min(64);
            if bits > 0 { Symbol::input(BigInt::ZERO..=power_of_two(bits) - 1) } else { Symbol::constant(0) }
        });
        let limbs = Numbers::<C, N>::of_words(&words);
        prime.assert_limbs(&limbs);
        assert_same(&prime.value(&limbs), &value_of(&words, 64));
        let a = prime.limbs(1, 999);
        let words = Numbers::<C, N>::words(&a).map(|word| word.lowest(64));
        assert_same(&value_of(&words, 64), &prime.value(&a));
    }

    /// Limbs to limbs of 52 bits and back. The highest limb of a product has far fewer than 52 bits.
    fn limbs_of_52_bits<C, N>() {
        let prime = Prime::<N>::of::<C>();
        let a = prime.limbs(1, 2_999);
        let limbs = Numbers::<C, N>::to_limbs_of_52(&a).map(|limb| limb.lowest(52));
        assert_same(&value_of(&limbs, 52), &prime.value(&a));
        let a: [Symbol; N] = core::array::from_fn(|i| {
            // Less than 3p, with anything above the 52 bits.
            let top: BigInt = (&prime.p * 3_u32) >> (52 * (N as u32 - 1));
            Symbol::input(BigInt::ZERO..=if i + 1 < N { i64::MAX.into() } else { top })
        });
        let limbs = Numbers::<C, N>::of_limbs_of_52(&a);
        prime.assert_limbs(&limbs);
        assert_same(&prime.value(&limbs), &value_of(&a.map(|limb| limb.lowest(52)), 52));
    }
}

/// Columns are at most those of so many products of numbers whose limbs have four units and four.
fn assert_columns<C: Modulus, const N: usize>(prime: &Prime<N>, columns: &[Columns<Symbol, N>; 2], products: u32) {
    let largest = beside(|| Numbers::<C, N>::product(&prime.full(4), &prime.full(4)));
    for part in columns {
        for (column, largest) in part.as_flattened().iter().zip(largest.as_flattened()) {
            let most: BigInt = largest.range().end() * products;
            column.assert_within(-most.clone()..=most, "a column of a product");
        }
    }
}

/// The number less as many p as the signs say is from 0 to p - 1: a number whose lower limbs have one unit is negative if its highest
/// limb is.
fn assert_canonical<const N: usize>(
    prime: &Prime<N>,
    a: &Value,
    out: &Value,
    signs: &[(Value, bool)],
    p: impl Fn(u32) -> Value,
) {
    let weight = Dyadic::from(power_of_two(prime.bits * (N as u32 - 1)));
    let is_top_of = |top: &Value, number: &Value| {
        let (least, most) = bounds(&number.minus(&top.scaled(&weight)));
        assert!(least >= Dyadic::zero() && most < weight, "not proved: the highest limb");
    };
    let mut taken = 0;
    for (top, is_negative) in signs {
        // The question was whether `a` less one p more is negative.
        is_top_of(top, &a.minus(&p(taken + 1)));
        if *is_negative {
            break;
        }
        taken += 1;
    }
    // Below p by the last answer, or because the number was below 3p; not below zero by the one before, or because it was not.
    assert!(taken == 2 || signs[taken as usize].1, "not proved: below p");
    assert_same(out, &a.minus(&p(taken)));
}

/// Runs a proof about Fr, and then falsifies its steps.
macro_rules! proofs_of_fr {
    ($($(#[$doc:meta])* fn $name:ident($prime:ident) $body:block)*) => { $(
        $(#[$doc])*
        #[test]
        fn $name() {
            misses_no_step(|| {
                let z = BigInt::from(PARAMETER);
                let $prime = Prime::<5> { p: z.pow(4) - z.pow(2) + 1, bits: 52 };
                $body
            });
        }
    )* };
}

proofs_of_fr! {
    /// a·b, for all numbers that fit the limbs.
    fn product_in_fr(prime) {
        let (a, b) = (prime.full(1), prime.full(1));
        let out = kernel_fr::product_reduced(&a, &b);
        prime.assert_limbs(&out);
        prime.assert_reduced(&prime.value(&out), &prime.value(&a).times(&prime.value(&b)), &BigInt::ZERO);
    }

    /// A butterfly of a value of up to 32r. Its product is at most 3r if one factor is canonical and the other at most 35r.
    fn butterfly_in_fr(prime) {
        let [a, b, c] = [prime.limbs(1, 32_000), prime.limbs(1, 35_000), prime.limbs(1, 1000)];
        assert!(&prime.p * &prime.p * 35_u32 <= &prime.p * prime.r());
        let [sum, difference] = kernel_fr::butterfly(&a, &b, &c);
        prime.assert_limbs(&sum);
        prime.assert_limbs(&difference);
        let [a, sum, difference] = [a, sum, difference].map(|limbs| prime.value(&limbs));
        let t = prime.value(&b).times(&prime.value(&c));
        prime.assert_reduced(&sum.minus(&a), &t, &BigInt::ZERO);
        assert_same(&sum.plus(&difference), &a.plus(&a).plus(&Value::constant((&prime.p * 3_u32).into())));
    }

    fn sum_in_fr(prime) {
        let (a, b) = (prime.full(1), prime.full(1));
        let out = kernel_fr::sum(&a, &b);
        prime.assert_limbs(&out);
        assert_same(&prime.value(&out), &prime.value(&a).plus(&prime.value(&b)));
    }

    /// The words of scalars to limbs, as they are and times sixteen, and back.
    fn words_in_fr(prime) {
        let words: [Symbol; 4] = core::array::from_fn(|_| Symbol::input(BigInt::ZERO..=u64::MAX.into()));
        let number = value_of(&words, 64);
        for (limbs, times) in [(kernel_fr::of_words::<0, _>(&words), 1), (kernel_fr::of_words::<4, _>(&words), 16)] {
            prime.assert_limbs(&limbs);
            assert_same(&prime.value(&limbs), &number.scaled(&Dyadic::new(times, 0)));
        }
        let a = prime.limbs(1, 999);
        let words = kernel_fr::words(&a).map(|word| word.lowest(64));
        assert_same(&value_of(&words, 64), &prime.value(&a));
    }

    fn difference_in_fr(prime) {
        let (a, b) = (prime.full(1), prime.full(1));
        let difference = |out: [Symbol; 5], times: u32| {
            prime.assert_limbs(&out);
            let more = Value::constant((&prime.p * times).into());
            assert_same(&prime.value(&out), &prime.value(&a).minus(&prime.value(&b)).plus(&more));
        };
        difference(kernel_fr::difference::<1, _>(&a, &b), 1);
        difference(kernel_fr::difference::<3, _>(&a, &b), 3);
        difference(kernel_fr::difference::<16, _>(&a, &b), 16);
    }

    /// For each number of times that 2r is taken away, which is what the highest limb says.
    fn shrunk_in_fr(prime) {
        let top = &prime.p >> 208;
        let inverse = power_of_two(92) / (2_u32 * (&top + 1_u32));
        let least = |times: u32| (power_of_two(92) * times + &inverse - 1_u32) / &inverse;
        let most_top: BigInt = (&prime.p * 32_u32) >> 208;
        assert!(least(16) > most_top);
        in_each_case(0..16, |times| {
            let mut a = prime.limbs(1, 0);
            a[4] = Symbol::input(least(times)..=(least(times + 1) - 1_u32).min(most_top.clone()));
            let out = kernel_fr::shrunk(&a);
            prime.assert_limbs(&out);
            let less = prime.value(&a).minus(&Value::constant((&prime.p * (2 * times)).into()));
            assert_same(&prime.value(&out), &less);
            prime.assert_between(&less, BigInt::ZERO, &prime.p * 21_u32 / 10_u32);
        });
    }

    fn canonical_in_fr(prime) {
        let a = prime.limbs(1, 2_999);
        let p = |times: u32| Value::constant((&prime.p * times).into());
        on_each_path(2, || kernel_fr::canonical(&a), |out, signs| {
            prime.assert_limbs(&out);
            assert_canonical(&prime, &prime.value(&a), &prime.value(&out), signs, p);
        });
    }
}

/// The numbers that bounds are computed with, and constants, are what they are called.
#[test]
fn constants() {
    fn test<C: Modulus, const N: usize>() {
        let prime = Prime::<N>::of::<C>();
        let number = |limbs: [i64; N]| limbs.iter().rev().fold(BigInt::ZERO, |sum, limb| (sum << prime.bits) + limb);
        let power = |bits: u32| power_of_two(bits) % &prime.p;
        let all = prime.bits * N as u32;
        assert_eq!(number(Numbers::<C, N>::P), prime.p);
        assert_eq!(number(Numbers::<C, N>::FROM_ELEMENT), power(2 * all - C::ELEMENT_BITS));
        assert_eq!(number(Numbers::<C, N>::TO_ELEMENT), power(C::ELEMENT_BITS));
        assert_eq!(number(Numbers::<C, N>::R2), power(2 * all));
        assert_eq!(number(Numbers::<C, N>::TO_52), power(52 * N as u32));
        assert_eq!(number(Numbers::<C, N>::FROM_52), power((2 * prime.bits - 52) * N as u32));
        assert_eq!(number(Numbers::<C, N>::HALF_OF_P) * 2, &prime.p + 1);
        // A number of so many units can be taken away limb by limb, and the highest limb stays above zero for a value below `times`·p.
        for (times, units) in [
            (3, 1),
            (4, 1),
            (5, 2),
            (6, 1),
            (7, 3),
            (8, 1),
            (8, 2),
            (8, 3),
            (9, 1),
            (9, 4),
            (11, 1),
            (12, 1),
            (16, 2),
            (18, 2),
            (26, 3),
            (32, 1),
        ] {
            let multiple = Numbers::<C, N>::multiple(times, units);
            assert_eq!(number(multiple), &prime.p * times);
            let unit = (1 << prime.bits) - 1;
            assert!(multiple[..N - 1].iter().all(|limb| (units * unit..(units + 1) << prime.bits).contains(limb)));
            let below: BigInt = (&prime.p * (100 * times - 1) / 100) >> (prime.bits * (N as u32 - 1));
            assert!(below <= multiple[N - 1].into());
        }
        // What `Bound` and `Range` compute with.
        assert!(Dyadic::from(prime.p.clone()) <= Dyadic::of(super::bound::P_OVER_R).times(&prime.r().into()));
        let lift = power_of_two(C::LIFT_BITS) / &prime.p;
        assert!(power_of_two(C::LIFT_BITS) <= &lift * 2_u32 * &prime.p);
        // The real part of a product in Fp2 of values of at most 32p each, lifted.
        let t = &prime.p * &prime.p * 1024_u32 + (&prime.p << C::LIFT_BITS);
        let bound = Dyadic::of(super::bound::LARGEST_IN_FP2).minus(&Dyadic::new(2, 0));
        assert!(Dyadic::from(t) <= bound.times(&(prime.r() * &prime.p).into()));
        assert!(&prime.p * 1024_u32 <= power_of_two(C::LIFT_BITS));
    }
    test::<Bls12381, 8>();
    #[cfg(feature = "bn254")]
    test::<crate::Bn254, 6>();
}

type Eight = Numbers<Bls12381, 8>;

#[test]
#[should_panic(expected = "a factor has 52 bits")]
fn five_units_are_no_factor() {
    let prime = Prime::<8>::of::<Bls12381>();
    Eight::product(&prime.full(5), &prime.full(1));
}

#[test]
#[should_panic(expected = "no column overflows")]
fn too_many_products_overflow() {
    let prime = Prime::<8>::of::<Bls12381>();
    let columns = Eight::product(&prime.full(4), &prime.full(4));
    Eight::reduce(&columns.map(|half| {
        half.map(|column| {
            let most: BigInt = column.range().end() * 60;
            Symbol::input(-most.clone()..=most)
        })
    }));
}

/// A reduction that is right for one prime is not for another.
#[test]
#[should_panic(expected = "not proved: the same modulo p")]
fn the_wrong_prime() {
    let prime = Prime::<8> { p: prime::<Bls12381>() + 2, bits: 50 };
    let (a, b) = (prime.full(1), prime.full(1));
    let out = Eight::product_reduced(&a, &b);
    prime.assert_reduced(&prime.value(&out), &prime.value(&a).times(&prime.value(&b)), &BigInt::ZERO);
}

/// A sum of columns whose last carry is lost.
#[test]
#[should_panic(expected = "not proved: the same")]
fn a_lost_carry() {
    let prime = Prime::<8>::of::<Bls12381>();
    let a = prime.full(4);
    let mut out = Eight::carry(&a);
    out[7] = a[7];
    assert_same(&prime.value(&out), &prime.value(&a));
}

/// A digit that is read whole, although only its lowest 52 bits are known.
#[test]
#[should_panic(expected = "read whole")]
fn garbage_above_52_bits() {
    let any = Symbol::input(BigInt::ZERO..=i64::MAX.into());
    let _ = any.truncated().plus(any);
}

/// The carry of such a digit.
#[test]
#[should_panic(expected = "read whole")]
fn the_carry_of_garbage() {
    let _ = Symbol::input(BigInt::ZERO..=i64::MAX.into()).truncated().carry(50);
}
