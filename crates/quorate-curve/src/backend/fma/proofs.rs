//! The kernels of these lanes, proved for all inputs within their limits: what they compute, that every step is exact, and the bounds
//! that [`Bound`](super::bound::Bound) takes for granted.
//!
//! A step of a [`Word`] is made of fused operations on doubles. Here a step is what `proofs/Doubles.v` proves that it gives, with the
//! same hypotheses: an assertion of a range below is one of a lemma there.

use num_bigint::BigInt;

use super::{
    bound::{P_OVER_R, REDUCED, TOP_OF_P},
    kernel::{Columns, Numbers},
    word::{Cut, High, LIMB_BITS, Repeat, Sum, Word},
};
use crate::{
    backend::{
        lanes::{
            constant::Modulus,
            integer::{limbs_of_words, without_signs},
        },
        symbolic::{
            Dyadic, Rounding, Symbol, Value, assert_congruent, assert_divisible, assert_same, beside, bounds,
            in_each_case, on_each_path, power_of_two, prime, proofs, size, value_of,
        },
    },
    pairing::Bls12381,
    polynomial::Coefficient,
};

fn integer(n: f64) -> BigInt {
    assert!(n == n.trunc() && n.abs() < (1_u64 << 53) as f64, "{n} is no integer below 2^53");
    (n as i64).into()
}

/// A number whose absolute value is below 2^`bits`.
#[track_caller]
fn within(n: Symbol, bits: u32, what: &str) -> Symbol {
    let most: BigInt = power_of_two(bits) - 1;
    n.assert_within(-most.clone()..=most, what)
}

/// The result of a step: an integer that a double holds.
#[track_caller]
fn exact(n: Symbol) -> Symbol {
    within(n, 53, "a number has at most 53 bits").step()
}

/// Adds a product, split into its multiple of 2^48 and the rest.
#[track_caller]
fn add(sum: &mut Sum<Symbol>, product: Symbol) {
    let parts = product.cut_at(48, Rounding::Nearest);
    let high = sum.high.0.sum(parts.high.step().shifted(48));
    *sum = Sum { high: High(within(high, 99, "a sum stays in its binade")), low: exact(sum.low.sum(parts.low)) };
}

impl Word for Symbol {
    /// What the sum is above the middle of its binade.
    type High = High<Symbol>;

    fn splat(self, n: f64) -> Self {
        Self::constant(integer(n)).step()
    }
    fn repeat(self, n: &Repeat) -> Self {
        self.splat(n.once())
    }
    fn constants<T>(constants: &T) -> &T {
        constants
    }
    fn plus(self, other: Self) -> Self {
        exact(self.sum(other))
    }
    fn minus(self, other: Self) -> Self {
        exact(self.difference(other))
    }
    fn minus_product(self, a: Self, b: Self) -> Self {
        exact(self.difference(a.product(b)))
    }
    fn nearest(self, factor: f64) -> Self {
        within(self.nearest_to(factor), 51, "a quotient has at most 51 bits").step()
    }
    fn cut(self) -> Cut<Self> {
        let cut = within(self, 98, "a number that is cut has at most 98 bits");
        let parts = cut.cut_at(48, Rounding::Nearest);
        Cut { carry: parts.high.step(), rest: parts.low.step() }
    }
    fn plus_multiple(self, n: Self) -> Self {
        exact(self.sum(n.divided(48)))
    }
    fn digit(self, factor: f64) -> Self {
        let product = within(self.product(Self::constant(integer(factor))), 99, "a product stays in its binade");
        exact(product.cut_at(48, Rounding::Nearest).low)
    }
    fn cleared(self, a: Self, b: Self) -> Self {
        let sum = self.sum(a.product(b));
        assert_divisible(&sum.value(), 48);
        within(sum, 100, "a cleared sum has at most 53 bits above 2^48").step()
    }
    fn no_high(self) -> High<Self> {
        High(Self::constant(0))
    }
    fn add_product(sum: &mut Sum<Self>, a: Self, b: Self) {
        add(sum, a.product(b));
    }
    fn subtract_product(sum: &mut Sum<Self>, a: Self, b: Self) {
        add(sum, Self::constant(0).difference(a.product(b)));
    }
    fn plus_high(self, n: High<Self>) -> Self {
        exact(self.sum(n.0.divided(48)))
    }
}

/// A prime in N limbs.
struct Prime<const N: usize> {
    p: BigInt,
}

impl<const N: usize> Prime<N> {
    fn of<C: Modulus>() -> Self {
        Self { p: prime::<C>() }
    }

    fn r(&self) -> BigInt {
        power_of_two(48 * N as u32)
    }

    /// Limbs of so many thousandths of a unit, of a number of so many thousandths of p.
    fn limbs(&self, units: u32, value: u32) -> [Symbol; N] {
        let most: BigInt = power_of_two(47) * units / 1000_u32;
        // What the lower limbs are worth in the highest, and a bit for the rounding.
        let top = ((&self.p * value / 1000_u32) >> (48 * (N as u32 - 1))) + BigInt::from(units / 2000 + 2);
        core::array::from_fn(|i| {
            let most = if i + 1 < N { most.clone() } else { top.clone() };
            Symbol::input(-most.clone()..=most)
        })
    }

    fn value(&self, limbs: &[Symbol]) -> Value {
        value_of(limbs, 48)
    }

    /// Limbs of a unit and at most 64 more.
    fn assert_one_unit(&self, limbs: &[Symbol; N]) {
        let most: BigInt = power_of_two(47) + 64;
        for limb in &limbs[..N - 1] {
            limb.assert_within(-most.clone()..=most.clone(), "a limb of one unit");
        }
    }

    /// The limbs are those of T/R modulo p, and at most 0.812p from it.
    fn assert_reduced(&self, out: &[Symbol; N], t: &Value) {
        self.assert_one_unit(out);
        let times_r = self.value(out).scaled(&self.r().into());
        assert_congruent(&times_r, t, &self.p);
        self.assert_size(&times_r.minus(t), REDUCED, &self.r());
    }

    /// The words are those of a number of less than p, or of the number and p if it is negative, where one question for a sign was asked.
    fn assert_words(&self, a: &[Symbol; N], words: &[Symbol; 6], limbs_of_p: &[f64; N], signs: &[(Value, bool)]) {
        let [(asked, is_negative)] = signs else { panic!("not proved: one question for a sign") };
        let (r, p) = (self.r(), if *is_negative { self.p.clone() } else { BigInt::ZERO });
        let times_r = |n: Symbol| n.value().scaled(&r.clone().into());
        let from_zero_to_r = |value: &Value| {
            let (least, most) = bounds(value);
            assert!(least >= Dyadic::zero() && most < r.clone().into(), "not proved: a number that R exceeds");
        };
        // The number is a part from 0 to R - 1, and R times what is above, which is -1 or 0. So the number is negative if that is.
        let (part, above) = beside(|| without_signs(a, LIMB_BITS));
        from_zero_to_r(&self.value(&part));
        assert_same(&self.value(a), &self.value(&part).plus(&times_r(above)));
        assert_same(asked, &above.value());
        above.assert_within((-1).into()..=BigInt::ZERO, "what is above the limbs");
        // The words are the part and p, but for a multiple of R. So they are the number and p but for such a multiple.
        let lifted: [Symbol; N] = core::array::from_fn(|i| {
            if *is_negative { part[i].sum(Symbol::constant(integer(limbs_of_p[i]))) } else { part[i] }
        });
        let (_, above) = beside(|| without_signs(&lifted, LIMB_BITS));
        let words = value_of(&words.map(|word| word.lowest(64)), 64);
        let p = Value::constant(p.into());
        assert_same(&self.value(&part).plus(&p), &words.plus(&times_r(above)));
        from_zero_to_r(&words);
        // Both are from 0 to R - 1, so they are the same: without p the number is the part.
        if *is_negative {
            from_zero_to_r(&self.value(a).plus(&p));
        }
        assert!(size(&self.value(a)) < self.p.clone().into(), "not proved: below p");
    }

    /// The number is at most so many p times `factor` from zero.
    fn assert_size(&self, value: &Value, most: f64, factor: &BigInt) {
        assert!(
            size(value) <= Dyadic::of(most).times(&(&self.p * factor).into()),
            "not proved: a value of at most {most} p"
        );
    }
}

proofs! {
    /// Of two factors with two units, and of one with as many as `Bound` accepts beside one unit.
    fn product_reduced<C, N>() {
        let prime = Prime::<N>::of::<C>();
        in_each_case([[(2001, 8000), (2001, 8000)], [(3001, 3000), (1001, 1000)]], |[a, b]| {
            let (a, b) = (prime.limbs(a.0, a.1), prime.limbs(b.0, b.1));
            let out = Numbers::<C, N>::product_reduced(&a, &b);
            prime.assert_reduced(&out, &prime.value(&a).times(&prime.value(&b)));
        });
    }

    fn square_reduced<C, N>() {
        let prime = Prime::<N>::of::<C>();
        let a = prime.limbs(2001, 8000);
        let out = Numbers::<C, N>::square_reduced(&a);
        prime.assert_reduced(&out, &prime.value(&a).times(&prime.value(&a)));
    }

    fn product2_reduced<C, N>() {
        let prime = Prime::<N>::of::<C>();
        let (wide, one, two) = ((2001, 8000), (1001, 8000), (2001, 3900));
        in_each_case([[wide, one], [one, wide], [two, two]], |[a, b]| {
            let number = |limbs: (u32, u32)| [prime.limbs(limbs.0, limbs.1), prime.limbs(limbs.0, limbs.1)];
            let (a, b) = (number(a), number(b));
            let [real, imaginary] = Numbers::<C, N>::product2_reduced(a.each_ref(), b.each_ref());
            let of = |i: usize, j: usize| prime.value(&a[i]).times(&prime.value(&b[j]));
            prime.assert_reduced(&real, &of(0, 0).minus(&of(1, 1)));
            prime.assert_reduced(&imaginary, &of(0, 1).plus(&of(1, 0)));
        });
    }

    fn square2<C, N>() {
        let prime = Prime::<N>::of::<C>();
        let [c0, c1] = [prime.limbs(2001, 3900), prime.limbs(2001, 3900)];
        let [real, imaginary] = Numbers::<C, N>::square2(&c0, &c1);
        let [x, y] = [c0, c1].map(|c| prime.value(&c));
        prime.assert_reduced(&real, &x.times(&x).minus(&y.times(&y)));
        prime.assert_reduced(&imaginary, &x.times(&y).scaled(&Dyadic::new(2, 0)));
    }

    /// Any columns of 48 units.
    fn reduce<C, N>() {
        let prime = Prime::<N>::of::<C>();
        let most = power_of_two(47) * 48_u32;
        let columns: Columns<Symbol, N> =
            core::array::from_fn(|_| core::array::from_fn(|_| Symbol::input(-most.clone()..=most.clone())));
        let out = Numbers::<C, N>::reduce(&columns);
        prime.assert_reduced(&out, &prime.value(columns.as_flattened()));
    }

    /// The same number.
    fn carry<C, N>() {
        let prime = Prime::<N>::of::<C>();
        let a = prime.limbs(31_000, 31_000);
        let out = Numbers::<C, N>::carry(&a);
        prime.assert_one_unit(&out);
        assert_same(&prime.value(&out), &prime.value(&a));
    }

    /// The same number modulo p, of at most 0.51p.
    fn normalise<C, N>() {
        let prime = Prime::<N>::of::<C>();
        let a = prime.limbs(31_000, 31_000);
        let out = Numbers::<C, N>::normalise(&a);
        prime.assert_one_unit(&out);
        assert_congruent(&prime.value(&out), &prime.value(&a), &prime.p);
        prime.assert_size(&prime.value(&out), 0.51, &BigInt::from(1));
    }

    /// Zero for every multiple of p that the limbs can hold: the limb is that of the number less k·p modulo 2^48, where k is the integer
    /// nearest to the highest limb over that of p, which for m·p is m.
    fn lowest_limb<C, N>() {
        let prime = Prime::<N>::of::<C>();
        let a = prime.limbs(31_000, 31_000);
        let factor = 1.0 / Numbers::<C, N>::P[N - 1];
        // Where the number is m·p, the highest limb is (m·p - lower)/2^(48·(N - 1)).
        let m = Symbol::input((-31).into()..=31.into());
        let lower = prime.value(&a[..N - 1]);
        let weight = Dyadic::new(1, -48 * (N as i64 - 1));
        let top = m.value().scaled(&prime.p.clone().into()).minus(&lower).scaled(&weight);
        let from_m = top.scaled(&Dyadic::of(factor)).minus(&m.value());
        assert!(size(&from_m) < Dyadic::new(1, -1), "not proved: the nearest multiple");
        // So k is m. The limb is the number less k·p modulo 2^48, and below that: for m·p it is zero.
        let times = beside(|| Word::nearest(a[N - 1], factor));
        let limb = Numbers::<C, N>::lowest_limb(&a);
        within(limb, 48, "a limb of one unit");
        let rest = prime.value(&a).minus(&times.value().scaled(&prime.p.clone().into()));
        assert_divisible(&rest.minus(&limb.value()), 48);
    }

    /// Words of 64 bits to limbs, for all numbers that fit both; and limbs with signs to the words of the least representative, for all
    /// that `normalise` gives.
    fn words<C, N>() {
        let prime = Prime::<N>::of::<C>();
        let fit = LIMB_BITS * N as u32;
        let words: [Symbol; 6] = core::array::from_fn(|i| {
            let bits = fit.saturating_sub(64 * i as u32).min(64);
            if bits > 0 { Symbol::input(BigInt::ZERO..=power_of_two(bits) - 1) } else { Symbol::constant(0) }
        });
        let limbs: [Symbol; N] = limbs_of_words(&words, LIMB_BITS);
        for limb in limbs {
            limb.assert_within(BigInt::ZERO..=power_of_two(LIMB_BITS) - 1, "a limb without a sign");
        }
        assert_same(&prime.value(&limbs), &value_of(&words, 64));
        let a = prime.limbs(1001, 510);
        on_each_path(1, || Numbers::<C, N>::words(&a), |words, signs| prime.assert_words(&a, &words, &Numbers::<C, N>::P, signs));
    }
}

/// What `Bound` computes with.
#[test]
fn constants() {
    fn test<C: Modulus, const N: usize>() {
        let prime = Prime::<N>::of::<C>();
        let number = |limbs: &[f64; N]| limbs.iter().rev().fold(BigInt::ZERO, |sum, limb| (sum << 48) + integer(*limb));
        assert_eq!(number(&Numbers::<C, N>::P), prime.p);
        assert!(Dyadic::from(prime.p.clone()) <= Dyadic::of(P_OVER_R).times(&prime.r().into()));
        let top = Dyadic::of(Numbers::<C, N>::P[N - 1]);
        assert!(top <= Dyadic::of(TOP_OF_P).times(&power_of_two(47).into()));
    }
    test::<Bls12381, 8>();
    #[cfg(feature = "bn254")]
    test::<crate::Bn254, 6>();
}

type Eight = Numbers<Bls12381, 8>;

#[test]
#[should_panic(expected = "a sum stays in its binade")]
fn three_units_twice_leave_the_binade() {
    let prime = Prime::<8>::of::<Bls12381>();
    Eight::product_reduced(&prime.limbs(3000, 1000), &prime.limbs(3000, 1000));
}

#[test]
#[should_panic(expected = "at most 53 bits")]
fn normalised_limbs_of_seventy_units_are_too_large() {
    let prime = Prime::<8>::of::<Bls12381>();
    Eight::normalise(&prime.limbs(70_000, 40_000));
}

/// The bound of a reduction for a prime that is a little smaller.
#[test]
#[should_panic(expected = "not proved: the same modulo p")]
fn the_wrong_prime() {
    let prime = Prime::<8> { p: prime::<Bls12381>() - 2 };
    let (a, b) = (prime.limbs(1001, 1000), prime.limbs(1001, 1000));
    prime.assert_reduced(&Eight::product_reduced(&a, &b), &prime.value(&a).times(&prime.value(&b)));
}

/// A carry that is taken from a limb and not given to the next.
#[test]
#[should_panic(expected = "not proved: the same")]
fn a_lost_carry() {
    let prime = Prime::<8>::of::<Bls12381>();
    let a = prime.limbs(31_000, 31_000);
    let mut out = Eight::carry(&a);
    out[4] = a[4].cut().rest;
    assert_same(&prime.value(&out), &prime.value(&a));
}
