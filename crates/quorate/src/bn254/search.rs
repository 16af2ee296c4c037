//! The search for wrong keys among those of claims, when a check of all keys together has failed.
//!
//! A claim is decided by its first wrong key. So the search halves the claims, and then the keys of a claim, until it has that one, and leaves
//! the keys behind it alone. A claim whose keys are all wrong costs as few checks as one with a single wrong key.

use std::collections::HashSet;

/// What is found about keys, which are numbers here.
pub(super) struct Search<F> {
    /// Whether all of some keys are right.
    are_right: F,
    /// By key, whether it is right; `None` as long as nobody knows.
    found: Vec<Option<bool>>,
}

impl<F: FnMut(&[usize]) -> bool> Search<F> {
    /// By key, of so many, whether it is right. A claim is a list of its keys in their order. Nothing is found about keys that stand behind a
    /// wrong one in each of their claims, or in none.
    ///
    /// Cost: for each claim with a wrong key, two checks of each halving of the claims and one of each halving of its keys. A check is one of
    /// the keys of the claims that it is about.
    pub(super) fn among(keys: usize, claims: &[Vec<usize>], are_right: F) -> Vec<Option<bool>> {
        let mut search = Self { are_right, found: vec![None; keys] };
        search.claims(claims);
        search.found
    }

    fn claims(&mut self, claims: &[Vec<usize>]) {
        let keys = self.unknown(claims);
        if self.settles(&keys) {
            return;
        }
        if claims.len() == 1 {
            self.first(&keys);
        } else {
            let (left, right) = claims.split_at(claims.len() / 2);
            self.claims(left);
            self.claims(right);
        }
    }

    /// The keys that decide about the claims and are unknown: in each claim those before the first one that is known to be wrong.
    fn unknown(&self, claims: &[Vec<usize>]) -> Vec<usize> {
        let mut seen = HashSet::new();
        let before = claims.iter().flat_map(|keys| keys.iter().take_while(|key| self.found[**key] != Some(false)));
        before.copied().filter(|key| self.found[*key].is_none() && seen.insert(*key)).collect()
    }

    /// Whether all these keys are right, which is then known.
    fn settles(&mut self, keys: &[usize]) -> bool {
        let all = keys.is_empty() || (self.are_right)(keys);
        if all {
            keys.iter().for_each(|key| self.found[*key] = Some(true));
        }
        all
    }

    /// Finds the first wrong one of keys that are not all right.
    fn first(&mut self, keys: &[usize]) {
        match keys {
            [] => {}
            [key] => self.found[*key] = Some(false),
            _ => {
                let (left, right) = keys.split_at(keys.len() / 2);
                let first = if self.settles(left) { right } else { left };
                self.first(first);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The search, and how many checks it took. Of each claim the first key that is not right must be the first wrong one.
    fn checks(keys: usize, claims: &[Vec<usize>], is_wrong: impl Fn(usize) -> bool) -> usize {
        let mut checks = 0;
        let found = Search::among(keys, claims, |keys: &[usize]| {
            checks += 1;
            !keys.iter().any(|key| is_wrong(*key))
        });
        for claim in claims {
            let first = claim.iter().position(|key| found[*key] != Some(true));
            assert_eq!(first, claim.iter().position(|key| is_wrong(*key)));
            assert!(first.is_none_or(|first| found[claim[first]] == Some(false)));
        }
        checks
    }

    /// Each of n wrong keys of a claim took two checks, although the first one decides the claim.
    #[test]
    fn many_keys_of_different_secrets_cost_no_more_than_a_few() {
        const KEYS: usize = 1 << 12;
        let forward: Vec<_> = (0..KEYS).collect();
        let backward: Vec<_> = forward.iter().rev().copied().collect();
        let one = [forward.clone()];
        assert_eq!(checks(KEYS, &one, |key| key == 77), 13);
        assert_eq!(checks(KEYS, &one, |_| true), 13);
        // In another order, each key that is found decides only one of the claims.
        let both = [forward, backward];
        assert!(checks(KEYS, &both, |_| true) <= 1 + 2 * 13);
        assert!(checks(KEYS, &both, |key| key % 100 == 50) <= 1 + 2 * 13);
    }

    #[test]
    fn the_first_wrong_key_of_each_claim_is_found() {
        // The claims of keys of one each, of several, with repeats and shared keys, and of none.
        let claims: Vec<Vec<usize>> = [&[0][..], &[1, 2, 3], &[3, 2, 4], &[], &[5, 5, 0, 5], &[6, 7, 1], &[8]]
            .iter()
            .map(|claim| claim.to_vec())
            .collect();
        for wrong in 0..1_u32 << 9 {
            for some in [&claims[..], &claims[1..4], &claims[3..4], &claims[..0]] {
                checks(10, some, |key| (wrong >> key) & 1 == 1);
            }
        }
    }
}
