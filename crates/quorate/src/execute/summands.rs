//! Points of several sums, each with a weight and with the number of times that it is added.
//!
//! The search for false claims needs ∏ vᵢ^i, where vᵢ is the value of part i. A power of a value is the value of
//! multiples of its points. The exponents are smaller than the number of parts, so the points are added i times and not
//! multiplied.

use quorate_curve::{Backend, Group, Segments, Weight, WeightedSegments};

/// Weighted points of several sums. Each point is added a number of times.
pub(crate) struct Summands<G> {
    /// Runs of points of one sum. All points of a run are added the same number of times.
    runs: WeightedSegments<G>,
    /// By sum: how many times each of its runs is added.
    times: Segments<usize>,
    /// How many times the open run is added.
    open: Option<usize>,
    /// The number of points.
    points: usize,
}

impl<G: Group> Summands<G> {
    pub(crate) fn new() -> Self {
        Self { runs: WeightedSegments::new(), times: Segments::new(), open: None, points: 0 }
    }

    /// Adds `times · weight · point` to the open sum.
    pub(crate) fn push(&mut self, times: usize, point: G, weight: Weight) {
        if self.open != Some(times) {
            self.end_run();
            self.open = Some(times);
        }
        self.runs.push(point, weight);
        self.points += 1;
    }

    /// Ends the open sum.
    pub(crate) fn close(&mut self) {
        self.end_run();
        self.times.close();
    }

    /// The number of points that were pushed.
    pub(crate) fn points(&self) -> usize {
        self.points
    }

    pub(crate) fn sums(&self, backend: Backend) -> Vec<G> {
        let mut runs = backend.weighted_sums(&self.runs).into_iter();
        let mut sums = Multiples::new();
        for times in self.times.iter() {
            for times in times {
                sums.push(*times, runs.next().expect("a sum for each run"));
            }
            sums.close();
        }
        sums.sums(backend)
    }

    fn end_run(&mut self) {
        if let Some(times) = self.open.take() {
            self.runs.close();
            self.times.push(times);
        }
    }
}

/// Points of several sums. Each point is added a number of times.
///
/// The sum contains a point as many times as it is to be added. That is exact for every point of the curve, and it is
/// cheap, because the number is smaller than the number of parts of a set.
pub(crate) struct Multiples<G> {
    points: Segments<G>,
}

impl<G: Group> Multiples<G> {
    pub(crate) fn new() -> Self {
        Self { points: Segments::new() }
    }

    /// Adds `times · point` to the open sum.
    pub(crate) fn push(&mut self, times: usize, point: G) {
        self.points.extend(std::iter::repeat_n(point, times));
    }

    /// Ends the open sum.
    pub(crate) fn close(&mut self) {
        self.points.close();
    }

    pub(crate) fn sums(self, backend: Backend) -> Vec<G> {
        let nothing_to_add = self.points.iter().all(|points| points.len() == 1);
        if nothing_to_add { self.points.into_items() } else { backend.sums(&self.points) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quorate_curve::G1;

    /// Three sums with weights of one: 2·(g + g) + 1·g, the empty sum, and 3·g.
    #[test]
    fn points_are_added_as_often_as_they_count() {
        let (g, one) = (G1::generator(), Weight::ONE);
        for backend in Backend::available() {
            let mut summands = Summands::new();
            summands.push(2, g, one);
            summands.push(2, g, one);
            summands.push(1, g, one);
            summands.close();
            summands.close();
            summands.push(3, g, one);
            summands.close();
            assert_eq!(summands.points(), 4);
            let expected = [backend.sum(&[g; 5]), G1::IDENTITY, backend.sum(&[g; 3])];
            assert_eq!(summands.sums(*backend), expected, "{backend}");
        }
    }
}
