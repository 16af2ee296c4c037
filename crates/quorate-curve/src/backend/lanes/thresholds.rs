//! Where lanes are faster than the portable backend, and which of their methods is the fastest: a table for each kind of lanes, measured.

use super::instructions::LANES;

/// The numbers of items from which one way costs less than another.
#[derive(Clone, Copy, Debug)]
pub struct Thresholds {
    /// Items of a vector that are decoded. The portable backend computes fewer, also those that are left beside full vectors.
    pub(crate) items: usize,
    /// The same for messages that are hashed.
    pub(crate) messages: usize,
    /// Points of a vector that are checked, or whose cofactor is cleared. Fewer are computed one by one. More than a vector has
    /// stands for never.
    pub(crate) points: usize,
    /// Whether a point that is computed alone has its coordinates in the lanes. If not, the portable backend computes it.
    pub(crate) spread_points: bool,
    /// Points of a sum, if there are not enough sums for every lane.
    pub(crate) sum: usize,
    /// Points of all weighted sums together, if there are fewer sums than `weighted_sums`.
    pub(crate) weighted_sum: usize,
    /// Weighted sums that fill enough lanes, however few points they have.
    pub(crate) weighted_sums: usize,
    /// The length from which a weighted sum has buckets.
    pub(crate) buckets: usize,
    /// The number of weighted sums from which the lanes join the positions.
    pub(crate) joined_segments: usize,
    /// The number of points of E(Fp) from which position sums are checked in place of the points, for 64 bits of
    /// soundness.
    pub(crate) members_in_g1: usize,
    /// The same for points of the twist. For 128 bits it is twice as many, because there are twice as many positions.
    pub(crate) members_in_g2: usize,
    /// Terms of a multi-scalar multiplication.
    pub(crate) msm: usize,
    /// Points that are multiplied one by one.
    pub(crate) multiples: usize,
    /// The most pairs of the ate pairing of a single product whose value has its coefficients in the lanes.
    pub(crate) spread_pairs: usize,
    /// Pairs of the ate pairing.
    pub(crate) pairs: usize,
    /// Pairs of a product that are left beside full vectors, from which they fill another one. The portable backend computes fewer. If it is
    /// more than one, it also computes a single pair that one lane has more than the others.
    pub(crate) pairs_left: usize,
    /// Pairs in a lane of the ate pairing from which four lanes twice are faster than eight. It has no effect where four
    /// cost as much as eight.
    pub(crate) narrow_pairs: usize,
    /// Pairs with prepared points. Fewer pairs are paired without their lines.
    pub(crate) prepared_pairs: usize,
    /// Pairs in a lane from which an inversion for each step is faster than coordinates without inversions.
    pub(crate) inversions: usize,
    /// The same for the twisted pairing.
    pub(crate) twisted_inversions: usize,
    /// Values that are raised eight at a time. Fewer are raised one by one.
    pub(crate) values: usize,
    /// Whether a single value is raised with its coefficients in the lanes. If not, the portable backend raises it.
    pub(crate) spread: bool,
    /// Whether powers of a single value are made of compressed squares, which fill four lanes and not six.
    pub(crate) compressed: bool,
}

impl Thresholds {
    /// How many of so many items fill vectors well enough. The portable backend computes the rest.
    pub(crate) const fn in_lanes(&self, items: usize) -> usize {
        filled(items, self.items)
    }

    /// The same for messages that are hashed.
    pub(crate) const fn messages_in_lanes(&self, messages: usize) -> usize {
        filled(messages, self.messages)
    }

    /// The same for points that are checked or cleared. The rest is computed one by one.
    pub(crate) const fn points_in_lanes(&self, points: usize) -> usize {
        filled(points, self.points)
    }
}

/// The items of full vectors, and those of the last one if they are at least so many.
const fn filled(items: usize, least: usize) -> usize {
    let left = items % LANES;
    if least > LANES {
        0
    } else if left < least {
        items - left
    } else {
        items
    }
}
