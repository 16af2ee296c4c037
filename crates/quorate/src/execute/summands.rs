//! Points of several sums, each with a weight and with how often it is added.
//!
//! The search for false claims needs ∏ vᵢ^i, the value of part i taken i times. The exponent of a value is a multiple of
//! the points that it is made of, and small: a multiple is added as often as it counts.

use quorate_curve::{Backend, Group, Segments, Weight, WeightedSegments};

/// Weighted points of several sums, each point added so many times.
pub(crate) struct Summands<G> {
    /// Runs of points of one sum that are added equally often.
    runs: WeightedSegments<G>,
    /// By sum: how often each of its runs is added.
    times: Segments<usize>,
    /// How often the open run is added.
    open: Option<usize>,
    /// How many points there are.
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

    /// How many points were pushed.
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

/// Points of several sums, each point added so many times.
///
/// A point stands in the plain sum as often as it counts. That is exact for every point of the curve, and cheap since no
/// point counts more often than a set has parts.
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

    /// 2·(g + g) + 1·g, nothing, 3·g: by weights of one.
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
