//! kyber's own known answers, and the attack on large rosters.

use std::collections::HashMap;

use quorate_curve::Group;

use super::*;
use crate::{
    key::SecretKey,
    suite::{MinPk, MinSig},
};

/// `TestBDNFixtures` of dedis/kyber at 0470453eb172 (`sign/bdn/bdn_test.go`, BLS12-381): secret key, public key, signature.
const FIXTURES: [[&str; 3]; 3] = [
    [
        "2fc4f01295ac7b694141053d646716f984bef2c62dca06da44d65293543fa1cf",
        "89a3c3ff4ad97196430c52778b304b4f733b1e583ca531da8f7196b75132ae123ea3623558caaa27dc442e2003fc73c018acb67b63f029a2f805c393a5999825a52dcfbfe9925b251e564d7126236dde1719c8fb17a43c6d9539bc52ce819df3",
        "b3a21c2bf8e99f16be63c56cafc8b9753ac448283dc053e142329b78938437ef14d61b790235cb59bfe852a755c65c83",
    ],
    [
        "612765290696a5aef46f2a9b30f6c4f9d8934385511eeb69b0852b1418c804e2",
        "8d4597a0a330939accdf7979c4669e992bfb300541248e25be205ce0f96503b1c66eff0f7c5471dc47cf3d0a6d92e9d20594946589fd8e0e0c0d9823bbaa515b950eacb6a3e758906cfe3350c70739ced779e47bfeba3f87fcbdf941524292fd",
        "9507d535c9c1c21e522d06790e487eb2a8213481f2dcee9e50e6e64b70e8e44942c791596b849061702814bd5eac9da5",
    ],
    [
        "3f78125ca531fdb699d5499cef86449757b33f4fa4158595931573cba734bf70",
        "b987b7b2e81dfe3b620b40561b4cd027febab563454b02a02fa25083f305aef08922f752e52c7f784a738a12b12dd1bd053a2baaba7c34274f3946e0c56fbeb7166a2f0c0ef2ac2ce189431c13ca0967b9ff3749c4337b52773e0016ef99eb11",
        "87bcba051ca24b96d7ccb94a490bbc01cef1fe19f8a23b4f76b52d4eca74d651f6b04f5d3e6f230f7dbf65897c00937b",
    ],
];

#[test]
fn fixtures_of_kyber() {
    let (suite, message) = (MinSig::Basic, b"Hello many times Boneh-Lynn-Shacham");
    let made = FIXTURES.map(|[secret, key, signature]| {
        let secret = SecretKey::<MinSig>::from_bytes(&const_hex::decode_to_array(secret).unwrap()).unwrap();
        assert_eq!(const_hex::encode(secret.public_key().to_bytes()), key);
        assert_eq!(const_hex::encode(secret.sign(suite, message).to_bytes()), signature);
        (secret.public_key(), secret.sign(suite, message))
    });
    for backend in Backend::available() {
        let roster = Roster::new(made.iter().map(|(key, _)| *key).collect(), *backend).unwrap();
        let (key, signature) =
            (roster.public_key(&[0, 2]).unwrap(), roster.aggregate(&[(2, made[2].1), (0, made[0].1)]).unwrap());
        assert_eq!(
            const_hex::encode(signature.to_bytes()),
            "920bea3be12844d36beb28ea88a1cb84030144710ca201c64f2a5bf320572dd8e70275612fb3e1f06239c78e7a8de404"
        );
        assert_eq!(
            const_hex::encode(key.to_bytes()),
            "94294bebcbe2ad9671790f505bb7ef52a1aa2fe025fcd1650055345c0ca7f7fa345157cb7aa56c4a3eb91e88f51ff43d18bc4e084e61a27ac3f7524cd2d514c9dfa9846ddcbaa2ba9d1782949250fda6018c57dab9f86fd1dc7e997c42184ce5"
        );
        assert!(key.verify(suite, message, signature).is_valid());
    }
}

#[test]
fn what_a_roster_refuses() {
    let suite = MinPk::Basic;
    let secrets: Vec<_> = (0..65).map(|i| SecretKey::key_gen(suite, &[i; 32], b"").unwrap()).collect();
    let keys = |n: usize| secrets[..n].iter().map(SecretKey::public_key).collect::<Vec<_>>();
    let backend = Backend::auto();
    let refused = |keys| Roster::new(keys, backend).unwrap_err();
    assert_eq!(refused(keys(65)), MisuseError::RosterTooLarge { members: 65, most: 64 });
    assert_eq!(refused([keys(3), keys(1)].concat()), MisuseError::RepeatedKey { index: 3 });
    let roster = Roster::new(keys(64), backend).unwrap();
    assert_eq!(roster.public_key(&[]), Err(MisuseError::NothingToAggregate));
    assert_eq!(roster.public_key(&[0, 64]), Err(MisuseError::NoSuchMember { index: 64, members: 64 }));
    assert_eq!(roster.public_key(&[5, 2, 5]), Err(MisuseError::RepeatedKey { index: 5 }));
    let signature = secrets[0].sign(suite, b"m");
    assert_eq!(roster.aggregate(&[]), Err(MisuseError::NothingToAggregate));
    assert_eq!(roster.aggregate(&[(1, signature), (1, signature)]), Err(MisuseError::RepeatedKey { index: 1 }));
    // A roster in another order is another roster.
    let mut reversed = keys(64);
    reversed.reverse();
    let reversed = Roster::new(reversed, backend).unwrap();
    assert_ne!(roster.public_key(&[0]), reversed.public_key(&[63]));
    assert_eq!(roster.public_key(&[0, 1]), roster.public_key(&[1, 0]));
}

/// With 4,096 keys in a roster, an attacker signs for a victim who has signed nothing.
///
/// Its keys are yᵢ·g + sᵢ·V with signs sᵢ = ±1, where V is the victim's key. It looks for a subset I with a_V + Σ sᵢ·aᵢ = 0 over the
/// integers. Then a_V·V + Σ aᵢ·pkᵢ = (Σ aᵢ·yᵢ)·g, and it knows the secret of that key. The search is a tree of lists of subset
/// sums (D. Wagner, "A generalized birthday problem", 2002): two lists are joined where 16 more bits of a sum are zero.
#[test]
fn a_subset_cancels_the_victim() {
    let (suite, message) = (MinPk::Basic, b"pay the attacker");
    let victim = SecretKey::key_gen(suite, &[1; 32], b"").unwrap().public_key();
    let y = |i: usize| Scalar::from(1_000_003 * i as u64 + 17);
    let sign = |i: usize| if i.is_multiple_of(2) { 1 } else { -1 };
    let backend = Backend::auto();
    let generators = vec![quorate_curve::G1::generator(); MEMBERS];
    let multiples = backend.multiples(&generators, &(1..=MEMBERS).map(y).collect::<Vec<_>>());
    let added = |i: usize| if sign(i) == 1 { victim.point() } else { victim.point().negate() };
    let pairs = multiples.iter().zip(1..).map(|(point, i)| [*point, added(i)]);
    let rogue = backend.sums(&pairs.collect());
    let keys: Vec<_> = std::iter::once(victim.point()).chain(rogue).collect();
    let encodings: Vec<_> = keys.iter().map(Bls12381Group::compress).collect();

    let numbers = numbers(&encodings);
    let terms: Vec<_> = (0..=MEMBERS)
        .map(|i| if i > 0 && sign(i) == -1 { Sum::of(numbers[i]).negate() } else { Sum::of(numbers[i]) })
        .collect();
    let members = zero_sum(&terms).expect("there are hundreds of such subsets");
    assert!(members.contains(&0) && members.len() > 1000, "{} members", members.len());

    let coefficients = coefficients(&encodings);
    let sum: Vec<_> = members.iter().map(|i| (keys[*i], coefficients[*i])).collect();
    let key = PublicKey::<MinPk>::from_sum(backend.msm(&sum)).unwrap();
    let secret: Scalar = members.iter().filter(|i| **i > 0).map(|i| coefficients[*i] * y(*i)).sum();
    let forger = SecretKey::<MinPk>::from_bytes(&secret.to_bytes()).unwrap();
    assert_eq!(forger.public_key(), key);
    assert!(key.verify(suite, message, forger.sign(suite, message)).is_valid());

    // The suites of this crate bind the set that signs. With its coefficients the same members cancel nothing.
    let keys = members.iter().map(|i| PublicKey::from_sum(keys[*i]).unwrap()).collect();
    let forged = forger.sign(MinPk::Bdn, message);
    assert!(!crate::naive::verify(&crate::Claim::shared(MinPk::Bdn, keys, *message, forged)).is_valid());
}

const MEMBERS: usize = 4096;

/// An integer of up to 160 bits, in two's complement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Sum {
    low: u128,
    high: i32,
}

impl Sum {
    /// c + 1.
    fn of(number: u128) -> Self {
        Self { low: number, high: 0 }.plus(Self { low: 1, high: 0 })
    }

    fn plus(self, other: Self) -> Self {
        let (low, carry) = self.low.overflowing_add(other.low);
        Self { low, high: self.high + other.high + i32::from(carry) }
    }

    fn negate(self) -> Self {
        Self { low: !self.low, high: !self.high }.plus(Self { low: 1, high: 0 })
    }
}

/// A list of sums over subsets of consecutive terms: the subsets of 16 terms, or pairs of two lists.
struct List {
    sums: Vec<Sum>,
    made_of: MadeOf,
}

enum MadeOf {
    /// The subset of sum number s has the terms first + j for each bit j of s.
    Terms { first: usize },
    /// Sum number s is made of these two sums of the lists.
    Lists(Box<[List; 2]>, Vec<(u16, u16)>),
}

/// A subset that contains term 0 and whose sum is zero. The sums of the first list start from term 0.
fn zero_sum(terms: &[Sum]) -> Option<Vec<usize>> {
    let [left, right] = [joined(terms, 1, 7), joined(terms, 1 + MEMBERS / 2, 7)];
    let found: HashMap<Sum, usize> = left.sums.iter().copied().zip(0..).collect();
    let matches = |(sum, j): (&Sum, usize)| Some((*found.get(&sum.negate())?, j));
    let (i, j) = right.sums.iter().zip(0..).find_map(matches)?;
    let mut members = vec![0];
    left.members(i, &mut members);
    right.members(j, &mut members);
    Some(members)
}

/// The list of 2^`level` · 16 terms from `first` on. The lowest 16·`level` bits of its sums are zero.
fn joined(terms: &[Sum], first: usize, level: usize) -> List {
    if level == 0 {
        let mut sums = vec![if first == 1 { terms[0] } else { Sum { low: 0, high: 0 } }];
        (first..first + 16).for_each(|i| sums.extend(sums.clone().into_iter().map(|sum| sum.plus(terms[i]))));
        return List { sums, made_of: MadeOf::Terms { first } };
    }
    let half = 16 << (level - 1);
    let mut lists = [first, first + half].map(|first| joined(terms, first, level - 1));
    let bits = |sum: &Sum| (sum.low >> (16 * (level - 1))) as u16;
    // By the next 16 bits: the last sum of the second list that has them. By sum: the one before that has the same.
    let (mut last, mut before) = (vec![None; 1 << 16], Vec::new());
    for (j, sum) in (0..=u16::MAX).zip(&lists[1].sums) {
        before.push(last[usize::from(bits(sum))].replace(j));
    }
    let mut pairs = Vec::new();
    for (i, sum) in (0..=u16::MAX).zip(&lists[0].sums) {
        let mut next: Option<u16> = last[usize::from(bits(sum).wrapping_neg())];
        while let Some(j) = next {
            pairs.push((i, j));
            next = before[usize::from(j)];
        }
    }
    pairs.truncate(1 << 16);
    let sum = |(i, j): &(u16, u16)| lists[0].sums[usize::from(*i)].plus(lists[1].sums[usize::from(*j)]);
    let sums = pairs.iter().map(sum).collect();
    lists.iter_mut().for_each(|list| list.sums = Vec::new());
    List { sums, made_of: MadeOf::Lists(Box::new(lists), pairs) }
}

impl List {
    /// Adds the terms of a sum.
    fn members(&self, index: usize, members: &mut Vec<usize>) {
        match &self.made_of {
            MadeOf::Terms { first } => members.extend((0..16).filter(|j| index >> j & 1 == 1).map(|j| first + j)),
            MadeOf::Lists(lists, pairs) => {
                let (i, j) = pairs[index];
                lists[0].members(i.into(), members);
                lists[1].members(j.into(), members);
            }
        }
    }
}
