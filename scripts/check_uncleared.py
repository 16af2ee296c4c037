#!/usr/bin/env python3
"""The claims of docs/soundness.md about hashes without cofactor clearing, on a curve so small that every pair of points is tried.

The curve is that of the family BLS12 with z = -2: r = 13, p = 37, 39 points over Fp and 1,417 on the twist over Fp2. The field of degree 12
is Fp[w] with w^12 = g, and w^6 generates Fp2. (In the document w^6 is 1 + i. The proof needs that it is neither a square nor a cube in Fp2,
which holds for both.) What the claims need of numbers alone is checked for the z of BLS12-381 as well.

Vertical lines are left out of Miller's functions, as in the code. Each of their values has to lie in the subfield that the document names.
"""

import itertools
import struct
import sys

Z = -2
BLS12_381 = -0xD201000000010000
# Bits of a coefficient in an element that is one integer: a sum of 12 products, and g times another one, are below 2^16.
BITS = 16
MASK = (1 << BITS) - 1


def parameters(z: int) -> tuple[int, int]:
    r = z**4 - z**2 + 1
    return r, (z - 1) ** 2 * r // 3 + z


R, P = parameters(Z)
L = (P**12 - 1) // R
# A generator of Fp*, so that w^12 - G is irreducible: 2 and 3 divide its order, and 4 divides p - 1.
G = next(g for g in range(2, P) if len({pow(g, k, P) for k in range(P - 1)}) == P - 1)
ONE = 1
W = 1 << BITS


# Elements of the field: the coefficient of w^k stands at the bits from 16k on.
def element(coefficients: list[int]) -> int:
    return int.from_bytes(struct.pack("<12H", *(c % P for c in coefficients)), "little")


def coefficients(a: int) -> tuple[int, ...]:
    return struct.unpack("<12H", a.to_bytes(24, "little"))


def plus(a: int, b: int) -> int:
    return element(list(coefficients(a + b)))


def minus(a: int, b: int) -> int:
    return element([x - y for x, y in zip(coefficients(a), coefficients(b))])


def times(a: int, b: int) -> int:
    c = struct.unpack("<24H", (a * b).to_bytes(48, "little"))
    return element([low + G * high for low, high in zip(c[:12], c[12:])])


def power(a: int, n: int) -> int:
    result = ONE
    for bit in bin(n)[2:]:
        result = times(result, result)
        if bit == "1":
            result = times(result, a)
    return result


# w^(p^n) is w times a number, because 12 divides p - 1: the powers of these numbers.
FACTORS = [[pow(G, (P**n - 1) // 12 * k, P) for k in range(12)] for n in range(12)]


def frobenius(a: int, n: int) -> int:
    """a^(p^n)."""
    return element([c * factor for c, factor in zip(coefficients(a), FACTORS[n])])


def inverse(a: int) -> int:
    """By the norm, which is the product of a and its conjugates."""
    others = ONE
    for n in range(1, 12):
        others = times(others, frobenius(a, n))
    norm = times(a, others)
    assert 0 < norm < P, "the norm is in Fp"
    return times(others, pow(norm, -1, P))


def is_of_fp6(a: int) -> bool:
    """Whether it lies in Fp(w^2), which has degree 6."""
    return all(c == 0 for c in coefficients(a)[1::2])


# A point of E over the field of degree 12. None is the identity.
Point = tuple[int, int] | None


def slope(a: Point, b: Point) -> int | None:
    """Of the chord or tangent; None of a vertical one."""
    (x1, y1), (x2, y2) = a, b
    if x1 != x2:
        return times(minus(y2, y1), inverse(minus(x2, x1)))
    if y1 != y2 or y1 == 0:
        return None
    return times(times(3, times(x1, x1)), inverse(plus(y1, y1)))


def add(a: Point, b: Point) -> Point:
    if a is None or b is None:
        return b if a is None else a
    k = slope(a, b)
    if k is None:
        return None
    x = minus(minus(times(k, k), a[0]), b[0])
    return x, minus(times(k, minus(a[0], x)), a[1])


def multiple(n: int, a: Point) -> Point:
    result = None
    for bit in bin(n)[2:]:
        result = add(result, result)
        if bit == "1":
            result = add(result, a)
    return result


class Miller:
    """f_{n,A} for n > 0, by its lines. Normalised: each line has the coefficient 1 at y, or at x if nothing else is left at the end."""

    def __init__(self, n: int, a: Point):
        # Whether the value is squared first, a point of the line, its slope, and the sum, through which the vertical line goes.
        self.steps: list[tuple[bool, Point, int | None, Point]] = []
        t = a
        for bit in bin(n)[3:]:
            self.steps.append((True, t, slope(t, t), add(t, t)))
            t = add(t, t)
            if bit == "1":
                self.steps.append((False, t, slope(t, a), add(t, a)))
                t = add(t, a)
        self.end = t

    def at(self, q: Point) -> int:
        """The value at another point. What is left out of it must lie in Fp6, and no factor may be zero."""
        value = ONE
        for is_double, a, k, total in self.steps:
            if is_double:
                value = times(value, value)
            vertical = minus(q[0], a[0])
            if k is None:
                line = vertical
            else:
                line = minus(minus(q[1], a[1]), times(k, vertical))
            if total is not None:
                left_out = minus(q[0], total[0])
                check(left_out != 0 and is_of_fp6(left_out), "a vertical line has a value in Fp6, which is not zero")
            check(line != 0, "no line vanishes")
            value = times(value, line)
        return value


class Wrong(Exception):
    pass


def check(holds: bool, claim: str) -> None:
    if not holds:
        raise Wrong(claim)


def numbers(z: int) -> None:
    """What the proof takes from the numbers alone."""
    r, p = parameters(z)
    s = z * z
    check(p % r == z % r and p**2 % r == s % r and pow(s, 6, r) == 1, "z = p and s = p^2 modulo r, and s^6 = 1")
    for base, order in ((s, 6), (z, 12)):
        check((base**order - 1) % r == 0 and (base**order - 1) // r % r != 0, "r divides s^6 - 1 and z^12 - 1 once")
    c = sum(s ** (5 - i) * p ** (2 * i) for i in range(6))
    check(c % r == 6 * s**5 % r != 0, "c = 6 s^5 modulo r, which is not zero")
    exponent = (p**12 - 1) // r
    check((p**12 - 1) % r == 0 and exponent % (p**6 - 1) == 0 and exponent % (p**4 - 1) == 0, "p^6 - 1 and p^4 - 1 divide L")
    check(p % 6 == 1, "the sixth roots of unity are in Fp")


def curve(b: int) -> list[Point]:
    """The affine points over Fp."""
    return [(x, y) for x in range(P) for y in range(P) if (y * y - x**3 - b) % P == 0]


def twist(b: int) -> list[Point]:
    """The affine points of y^2 = x^3 + b w^6 over Fp2, mapped to E: (x, y) to (x/w^2, y/w^3)."""
    fp2 = [element([c0, 0, 0, 0, 0, 0, c1, 0, 0, 0, 0, 0]) for c0, c1 in itertools.product(range(P), repeat=2)]
    roots: dict[int, list[int]] = {}
    for y in fp2:
        roots.setdefault(times(y, y), []).append(y)
    by_x, by_y = inverse(power(W, 2)), inverse(power(W, 3))
    constant = times(b, power(W, 6))
    points = []
    for x in fp2:
        for y in roots.get(plus(times(x, times(x, x)), constant), []):
            points.append((times(x, by_x), times(y, by_y)))
    return points


def setting() -> tuple[int, list[Point], list[Point]]:
    """b, E(Fp) and the image of the twist. One of the six b has the two numbers of points."""
    for b in range(1, P):
        over_fp = curve(b)
        if len(over_fp) + 1 == P + 1 - (Z + 1):
            over_fp2 = twist(b)
            if (len(over_fp2) + 1) % R == 0:
                return b, over_fp, over_fp2
    raise Wrong("a curve of the family")


def logarithms(unit: int) -> dict[int, int]:
    """Of the powers of an element of order r."""
    check(unit != ONE and power(unit, R) == ONE, "a value has the order r")
    return {power(unit, k): k for k in range(R)}


def twisted_ate(g1: list[Point], image: list[Point], loop: int, factor: int) -> None:
    """t is a fixed power of the Tate pairing, bilinear, not degenerate, and blind to torsion. Every P of G1, every Q of the twist."""
    s, h = Z * Z, (len(image) + 1) // R
    check(h % 2 == 1 and h % R != 0, "the cofactor of the twist is odd, and r does not divide it")
    g2 = [q for q in image if multiple(R, q) is None]
    check(len(g2) == R - 1, "G2 has r points")
    # The square of Frobenius is one automorphism of order 6 on the whole image.
    zeta2, zeta3 = (times(frobenius(image[0][k], 2), inverse(image[0][k])) for k in (0, 1))
    zeta = times(zeta3, inverse(zeta2))
    check([power(zeta, k) for k in (2, 3)] == [zeta2, zeta3] and len({power(zeta, k) for k in range(6)}) == 6, "zeta has the order 6")
    for x, y in image:
        check((frobenius(x, 2), frobenius(y, 2)) == (times(zeta2, x), times(zeta3, y)), "the square of Frobenius is an automorphism")
    for q in g2:
        check((times(zeta2, q[0]), times(zeta3, q[1])) == multiple(s, q), "it multiplies by s on G2")
    for p in g1:
        check((times(zeta2, p[0]), times(zeta3, p[1])) == multiple(pow(s, -1, R), p), "it multiplies by 1/s on G1")
    unit = power(Miller(loop, g1[0]).at(g2[0]), L)
    logarithm = logarithms(unit)
    m = (s**6 - 1) // R
    values = {}
    for p in g1:
        by_loop, by_tate = Miller(loop, p), Miller(R, p)
        check(by_tate.end is None, "r P is the identity")
        for q in image:
            value, tate = power(by_loop.at(q), L), power(by_tate.at(q), L)
            check(value in logarithm and tate in logarithm, "every value is a power of one of order r")
            check(m * logarithm[tate] % R == factor * logarithm[value] % R, "tau^M = t^c")
            values[p, q] = logarithm[value]
    # The group of the twist is cyclic, so one generator shows that the second argument is linear.
    generator = next(q for q in image if multiple(R, q) is not None and multiple(h, q) is not None)
    clear = h * pow(h, -1, R)
    related = [(q, add(q, generator), multiple(clear, q), multiple(h, q)) for q in image]
    for k, p in ((k, multiple(k, g1[0])) for k in range(1, R)):
        values[p, None] = 0
        for q, total, member, cleared in related:
            check(values[p, q] == k * values[g1[0], q] % R, "t is linear in P")
            check((values[p, q] + values[p, generator]) % R == values[p, total], "t is linear in Q")
            check(values[p, q] == values[p, member], "t does not see the torsion part of Q")
            check(h * values[p, q] % R == values[p, cleared], "t of the cleared hash is t^h")
        for q in g2:
            check(values[p, q] != 0, "t is not degenerate")


def ate(over_fp: list[Point], g2: list[Point]) -> None:
    """The same of the ate pairing. Every P of E(Fp), every Q of G2."""
    h = (len(over_fp) + 1) // R
    check(h % 2 == 1 and h % R != 0, "the cofactor of E is odd, and r does not divide it")
    m, factor = (Z**12 - 1) // R, sum(Z ** (11 - i) * P**i for i in range(12))
    clear = h * pow(h, -1, R)
    for q in g2:
        check((frobenius(q[0], 1), frobenius(q[1], 1)) == multiple(P, q), "Frobenius multiplies by p on G2")
        by_loop, by_tate = Miller(-Z, q), Miller(R, q)
        # f_{z,Q} is the inverse of f_{-z,Q}, up to a vertical line.
        values = {p: inverse(power(by_loop.at(p), L)) for p in over_fp}
        for p, value in values.items():
            exponent = factor % R
            check(power(power(by_tate.at(p), L), m) == power(value, exponent), "tau^M = a^c")
            member = multiple(clear, p)
            check(value == (ONE if member is None else values[member]), "a does not see the torsion part of P")
            check((value == ONE) == (member is None), "a is not degenerate")


def main() -> None:
    try:
        for z in (Z, BLS12_381):
            numbers(z)
        b, over_fp, image = setting()
        g1 = [p for p in over_fp if multiple(R, p) is None]
        g2 = [q for q in image if multiple(R, q) is None]
        check(len(g1) == R - 1, "G1 has r points")
        c = 6 * (Z * Z) ** 5 % R
        twisted_ate(g1, image, Z * Z, c)
        ate(over_fp, g2)
    except Wrong as claim:
        print(f"uncleared: wrong: {claim}")
        sys.exit(1)
    # What must not pass: another power of the Tate pairing, and a loop of another length, whose value is no power of it.
    for loop, factor in ((Z * Z, c + 1), (2, c)):
        try:
            twisted_ate(g1, image, loop, factor)
        except Wrong:
            continue
        print(f"uncleared: a loop of {loop} with the factor {factor} passes, too")
        sys.exit(1)
    print(f"uncleared: {len(g1)} x {len(image)} and {len(over_fp)} x {len(g2)} pairs of points of y^2 = x^3 + {b}, 2 false variants fail")


if __name__ == "__main__":
    main()
