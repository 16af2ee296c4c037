//! Every verb of every backend gives the same as the portable one, for points of every kind, weights and segments.

use std::sync::OnceLock;

use arbitrary::Arbitrary;
use quorate_curve::{
    Backend, Bls12381Group, Domain, G1, G2, Group, Pairing, Scalar, Segments, Soundness, UncheckedSegments, Weight,
};

#[derive(Arbitrary, Debug)]
struct Input {
    items: Vec<Item>,
    /// The lengths of the segments. The last segment has what is left over.
    lengths: Vec<u8>,
    tag: u8,
    wide: bool,
    in_g1: bool,
}

#[derive(Arbitrary, Debug)]
struct Item {
    /// Selects a point of a pool, or the point before, or its opposite.
    point: u8,
    weight: [u64; 2],
    further: u64,
}

/// The largest number of items: more than from which a weighted sum uses buckets.
const MOST: usize = 220;

pub fn run(bytes: &[u8]) {
    let Some(input) = crate::structured::<Input>(bytes) else { return };
    for backend in Backend::available().iter().filter(|backend| **backend != Backend::Portable) {
        if input.in_g1 {
            agrees::<G1>(*backend, &input)
        } else {
            agrees::<G2>(*backend, &input)
        }
        pairings_agree(*backend, &input);
        scalars_agree(*backend, &input);
    }
}

fn scalars(input: &Input) -> Vec<Scalar> {
    let scalar = |item: &Item| {
        let words = [item.weight[0], item.weight[1], item.further, item.weight[0] ^ item.further];
        Scalar::reduce(&words.map(u64::to_be_bytes).concat())
    };
    input.items.iter().take(MOST).map(scalar).collect()
}

fn scalars_agree(backend: Backend, input: &Input) {
    let scalars = scalars(input);
    let of = |backend: Backend| {
        let (mut products, mut sums) = (scalars.clone(), scalars.clone());
        products.reverse();
        backend.multiply(&mut products, &scalars);
        backend.add_multiple(&mut sums, Scalar::from(u64::from(input.tag)), &products);
        let domain = Domain::new(backend, scalars.len().next_power_of_two()).expect("a power of two");
        let mut values = sums.clone();
        values.resize(domain.len(), Scalar::ONE);
        domain.evaluate(&mut values);
        let evaluated = values.clone();
        domain.interpolate(&mut values);
        (backend.inverses(&sums), backend.differences(&products, &sums), evaluated, values, sums)
    };
    assert!(of(backend) == of(Backend::Portable));
}

fn agrees<G: InPools>(backend: Backend, input: &Input) {
    let (portable, points) = (Backend::Portable, points::<G>(input, G::pool()));
    let soundness = if input.wide { Soundness::Bits128 } else { Soundness::Bits64 };
    let items = input.items.iter().take(points.len());
    let weights: Vec<_> = items
        .clone()
        .map(|item| {
            let high = if input.wide { u128::from(item.weight[1]) << 64 } else { 0 };
            Weight::from_bits(high | u128::from(item.weight[0])).unwrap_or(Weight::ONE)
        })
        .collect();
    assert_eq!(backend.in_subgroup(&points), portable.in_subgroup(&points));
    let segments = cut(input, &points);
    assert_eq!(backend.sums(&segments), portable.sums(&segments));
    let weighted: Vec<_> = points.iter().copied().zip(weights.iter().copied()).collect();
    let weighted = cut(input, &weighted).iter().map(|points| points.iter().copied()).collect();
    assert_eq!(backend.weighted_sums(&weighted), portable.weighted_sums(&weighted));

    // The input chooses the weights, so the check could miss a point outside the subgroup. For members the sum is exact.
    let are_members = portable.in_subgroup(&points).into_iter();
    let members: Vec<_> =
        points.iter().zip(are_members).map(|(point, member)| if member { *point } else { G::generator() }).collect();
    let further = items.clone().map(|item| item.further);
    let unchecked: Vec<_> = members.iter().zip(weights).zip(further).map(|((p, w), f)| (*p, w, f)).collect();
    let mut segments = UncheckedSegments::new();
    for segment in cut(input, &unchecked).iter() {
        segment.iter().for_each(|(point, weight, further)| segments.push(*point, *weight, *further));
        segments.close();
    }
    // The portable backend takes these two verbs from the lanes, so others of its verbs compute what is expected.
    let sums = portable.weighted_sums(segments.weighted());
    let terms: Vec<_> = members.into_iter().zip(scalars(input)).collect();
    let (members, scalars): (Vec<_>, Vec<_>) = terms.iter().copied().unzip();
    let sum = portable.sum(&portable.multiples(&members, &scalars));
    for backend in [backend, portable] {
        assert_eq!(backend.weighted_sums_of_members(&segments, soundness).as_ref(), Some(&sums));
        assert_eq!(backend.msm(&terms), sum);
    }

    let bytes: Vec<_> =
        items.map(|item| [item.weight[0], item.weight[1], item.further].map(u64::to_be_bytes).concat()).collect();
    let messages: Vec<_> = bytes.iter().map(|bytes| bytes.split_at(usize::from(bytes[0]) % bytes.len())).collect();
    let tag = vec![b't'; usize::from(input.tag) + 1];
    let hashes = portable.hash_to_curve::<G>(&tag, &messages);
    assert_eq!(backend.hash_to_curve::<G>(&tag, &messages), hashes);
    assert_eq!(backend.clear_sums(&backend.hash_for_sums::<G>(&tag, &messages)), hashes);
}

/// Products of the ate pairing are the portable ones, and e(P, Q)·e(-P, Q) is one in every pairing.
fn pairings_agree(backend: Backend, input: &Input) {
    let pairs: Vec<_> = points(input, G1::members()).into_iter().zip(points(input, G2::members())).take(24).collect();
    let segments = cut(input, &pairs);
    let portable = Backend::Portable.miller_products(Pairing::Ate, &segments);
    let ate = backend.miller_products(Pairing::Ate, &segments);
    assert_eq!(backend.final_exponentiations(&ate), Backend::Portable.final_exponentiations(&portable));
    let cancelling = Segments::one(pairs.iter().flat_map(|(p, q)| [(*p, *q), (p.negate(), *q)]).collect());
    for pairing in Pairing::ALL {
        let value = backend.miller_products(pairing, &cancelling)[0];
        assert!(backend.final_exponentiation(value).is_one());
    }
}

fn points<G: Bls12381Group>(input: &Input, pool: &[G]) -> Vec<G> {
    let mut points: Vec<G> = Vec::new();
    for item in input.items.iter().take(MOST) {
        let last = points.last().copied().unwrap_or(G::IDENTITY);
        points.push(match item.point {
            0..16 => last,
            16..32 => last.negate(),
            n => pool[usize::from(n) % pool.len()],
        });
    }
    points
}

/// The items in segments of the input's lengths.
fn cut<T: Copy>(input: &Input, items: &[T]) -> Segments<T> {
    let mut segments = Segments::new();
    let mut rest = items;
    for length in input.lengths.iter().take(64) {
        let Some((segment, behind)) = rest.split_at_checked(usize::from(*length)) else { break };
        segments.extend(segment.iter().copied());
        segments.close();
        rest = behind;
    }
    segments.extend(rest.iter().copied());
    segments.close();
    segments
}

trait InPools: Bls12381Group {
    /// Members of the subgroup, including the identity.
    fn members() -> &'static [Self];
    /// Members, and points outside the subgroup, some of small order.
    fn pool() -> &'static [Self];
}

macro_rules! pools {
    ($($group:ty),*) => { $(
        impl InPools for $group {
            fn members() -> &'static [Self] {
                static MEMBERS: OnceLock<Vec<$group>> = OnceLock::new();
                MEMBERS.get_or_init(members)
            }

            fn pool() -> &'static [Self] {
                static POOL: OnceLock<Vec<$group>> = OnceLock::new();
                POOL.get_or_init(|| [members(), outside()].concat())
            }
        }
    )* };
}

pools!(G1, G2);

fn members<G: Bls12381Group>() -> Vec<G> {
    let names: Vec<_> = (0..30_u8).map(|i| [i]).collect();
    let messages: Vec<_> = names.iter().map(|name| (&name[..], &[][..])).collect();
    let mut members = Backend::Portable.hash_to_curve(b"fuzz", &messages);
    members.extend([G::IDENTITY, G::generator()]);
    members
}

/// The points with a small x, among them (0, 2) of order 3.
fn outside<G: Bls12381Group>() -> Vec<G> {
    let encodings = (0..40_u8).map(|x| {
        let mut bytes = vec![0; G::COMPRESSED];
        (bytes[0], bytes[G::COMPRESSED - 1]) = (0x80, x);
        bytes
    });
    encodings.filter_map(|bytes| Backend::Portable.decode(&bytes).ok()).collect()
}
