//! The two charts of the last minute, as SVG without any style of its own.

use maud::{Markup, html};

use super::words::{milliseconds, short};
use crate::metrics::Second;

const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 96.0;

/// Verdicts and refusals of each second, one on the other.
pub(super) fn bars(seconds: &[Second]) -> Markup {
    let all = |second: &Second| second.verdicts() + second.refused;
    let most = seconds.iter().map(all).max().unwrap_or(0);
    let top = round_up(most as f64);
    let step = WIDTH / seconds.len().max(1) as f64;
    let label = format!("Claims in each of the last {} seconds; at most {most}", seconds.len());
    html! {
        figure {
            svg.chart viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) preserveAspectRatio="none" role="img" aria-label=(label) {
                (grid())
                @for (index, second) in seconds.iter().enumerate() {
                    @for (class, count, under) in stacked(second) {
                        rect class=(class) x=(format!("{:.1}", index as f64 * step + 0.75))
                            y=(format!("{:.1}", HEIGHT - HEIGHT * (under + count) as f64 / top))
                            width=(format!("{:.1}", step - 1.5)) height=(format!("{:.1}", HEIGHT * count as f64 / top)) {}
                    }
                }
            }
            (axis(&short(top)))
        }
    }
}

/// The parts of a bar: a class, how many claims, and how many are under it.
fn stacked(second: &Second) -> [(&'static str, u64, u64); 3] {
    let Second { valid, invalid, refused, .. } = *second;
    [("valid", valid, 0), ("invalid", invalid, valid), ("refused", refused, valid + invalid)]
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
        let drawn = bars(&seconds).into_string() + &lines(&seconds).into_string();
        assert!(!drawn.contains("\"-") && !drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
        assert!(bars(&[]).into_string().contains("svg") && lines(&[]).into_string().contains("svg"));
    }
}
