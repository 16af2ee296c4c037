//! The two charts of the last minute, as SVG without any style of its own.

use maud::{Markup, html};

use super::words::{milliseconds, short};
use crate::metrics::Second;

const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 96.0;

/// Verdicts and refusals of each second, one on the other.
pub(super) fn claims(seconds: &[Second]) -> Markup {
    bars("Claims", seconds, |second| {
        [("valid", second.valid), ("invalid", second.invalid), ("refused", second.refused)]
    })
}

/// Statements that were subtracted in each second.
pub(super) fn known(seconds: &[Second]) -> Markup {
    bars("Statements subtracted", seconds, |second| [("known", second.known)])
}

/// A bar for each second, of several parts from the bottom up.
fn bars<const N: usize>(what: &str, seconds: &[Second], parts: fn(&Second) -> [(&'static str, u64); N]) -> Markup {
    let most = seconds.iter().map(|second| parts(second).iter().map(|(_, count)| count).sum()).max().unwrap_or(0u64);
    let top = round_up(most as f64);
    let step = WIDTH / seconds.len().max(1) as f64;
    let label = format!("{what} in each of the last {} seconds; at most {most}", seconds.len());
    html! {
        figure {
            svg.chart viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) preserveAspectRatio="none" role="img" aria-label=(label) {
                (grid())
                @for (index, second) in seconds.iter().enumerate() {
                    @for (part, (class, count)) in parts(second).into_iter().enumerate() {
                        @let under: u64 = parts(second)[..=part].iter().map(|(_, count)| count).sum();
                        rect class=(class) x=(format!("{:.1}", index as f64 * step + 0.75))
                            y=(format!("{:.1}", HEIGHT - HEIGHT * under as f64 / top))
                            width=(format!("{:.1}", step - 1.5)) height=(format!("{:.1}", HEIGHT * count as f64 / top)) {}
                    }
                }
            }
            (axis(&short(top)))
        }
    }
}

/// The two latencies of each second.
pub(super) fn lines(seconds: &[Second]) -> Markup {
    let most = seconds.iter().map(|second| second.p99_ms).fold(0.0, f64::max);
    let top = round_up(most);
    let label = format!("Latency in each of the last {} seconds; p99 is at most {}", seconds.len(), milliseconds(most));
    let points = |of: fn(&Second) -> f64| {
        let step = WIDTH / (seconds.len().max(2) - 1) as f64;
        let point = |(index, second): (usize, &Second)| {
            // A line at the very edge would lose half of its width.
            format!("{:.1},{:.1}", index as f64 * step, (HEIGHT - HEIGHT * of(second) / top).clamp(1.5, HEIGHT - 1.5))
        };
        seconds.iter().enumerate().map(point).collect::<Vec<_>>().join(" ")
    };
    html! {
        figure {
            svg.chart viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) preserveAspectRatio="none" role="img" aria-label=(label) {
                (grid())
                polyline.p99 points=(points(|second| second.p99_ms)) {}
                polyline.p50 points=(points(|second| second.p50_ms)) {}
            }
            (axis(&milliseconds(top)))
        }
    }
}

fn grid() -> Markup {
    html! {
        @for part in [0.0, 0.5, 1.0] {
            line.grid x1="0" x2=(WIDTH) y1=(HEIGHT * part) y2=(HEIGHT * part) {}
        }
    }
}

fn axis(top: &str) -> Markup {
    html! {
        span.top aria-hidden="true" { (top) }
        figcaption aria-hidden="true" { span { "a minute ago" } span { "now" } }
    }
}

/// The next number of the form 1, 2 or 5 times a power of ten, so that the scale does not move each second.
fn round_up(most: f64) -> f64 {
    if most <= 1.0 {
        return 1.0;
    }
    let power = 10f64.powf(most.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|times| times * power).find(|top| *top >= most).unwrap_or(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_round() {
        assert_eq!(
            [0.0, 1.0, 1.5, 3.0, 5.0, 7.0, 10.0, 1001.0].map(round_up),
            [1.0, 1.0, 2.0, 5.0, 5.0, 10.0, 10.0, 2000.0]
        );
    }

    #[test]
    fn nothing_leaves_the_chart() {
        let seconds =
            [Second { valid: 7, invalid: 2, refused: 1, p99_ms: 30.0, ..Second::default() }, Second::default()];
        let drawn = claims(&seconds).into_string() + &lines(&seconds).into_string();
        assert!(!drawn.contains("\"-") && !drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
        assert!(claims(&[]).into_string().contains("svg") && lines(&[]).into_string().contains("svg"));
    }
}
