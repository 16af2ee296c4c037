//! A figure of the page: a table that reads without JavaScript, and the same numbers as data for its plot.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::words::{Unit, factor};
use crate::row::{BUSY, Times};

/// Whose figure it is. Each has one colour on the whole page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Quorate,
    Blst,
    Peer,
    Published,
}

impl Family {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Quorate => "quorate",
            Self::Blst => "blst",
            Self::Peer => "peer",
            Self::Published => "published",
        }
    }

    /// By the name of an engine: `quorate/ifma`, `bls-min-pk/quorate`, `blst`, `published/dash`, `sha2`.
    pub(crate) fn of(engine: &str) -> Self {
        let is = |name: &str| engine.split('/').any(|part| part == name);
        match engine {
            _ if is("quorate") => Self::Quorate,
            _ if is("blst") => Self::Blst,
            _ if is("published") => Self::Published,
            _ => Self::Peer,
        }
    }
}

/// What stands in one cell of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cell {
    Figure(Times),
    /// No row has it.
    Missing,
    /// There is no such figure, and why.
    None(&'static str),
}

impl From<Option<Times>> for Cell {
    fn from(times: Option<Times>) -> Self {
        times.map_or(Self::Missing, Self::Figure)
    }
}

impl Cell {
    pub(crate) fn figure(&self) -> Option<Times> {
        match self {
            Self::Figure(times) => Some(*times),
            Self::Missing | Self::None(_) => None,
        }
    }
}

/// One line or one kind of dot of a plot, and a column or a row of its table.
pub(crate) struct Line {
    pub(crate) label: String,
    pub(crate) family: Family,
    pub(crate) cells: Vec<Cell>,
}

impl Line {
    pub(crate) fn new(
        label: impl Into<String>,
        family: Family,
        cells: impl IntoIterator<Item = impl Into<Cell>>,
    ) -> Self {
        Self { label: label.into(), family, cells: cells.into_iter().map(Into::into).collect() }
    }

    fn is_measured(&self) -> bool {
        self.cells.iter().any(|cell| cell.figure().is_some())
    }
}

/// A place on the horizontal axis, or a group of dots.
pub(crate) struct Place {
    pub(crate) label: String,
    pub(crate) at: f64,
}

impl Place {
    pub(crate) fn named(labels: &[&str]) -> Vec<Self> {
        labels.iter().enumerate().map(|(i, label)| Self { label: (*label).into(), at: i as f64 }).collect()
    }

    pub(crate) fn numbers(numbers: impl IntoIterator<Item = usize>) -> Vec<Self> {
        let place = |n: usize| Self { label: crate::row::whole(n as f64), at: n as f64 };
        numbers.into_iter().map(place).collect()
    }
}

/// How a figure is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A line for each, over a logarithmic axis.
    Lines,
    /// The same over an axis that begins at zero.
    LinesFromZero,
    /// A group of dots for each place.
    Dots,
}

/// Which side of a table has the places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Down {
    Places,
    Lines,
}

/// Which figure is the better one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Better {
    Less,
    More,
}

/// A column that says how many times better one line is than another.
pub(crate) struct Ratio {
    pub(crate) head: String,
    pub(crate) base: usize,
    pub(crate) ours: usize,
}

pub(crate) struct Figure {
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    /// What one must know to read it.
    pub(crate) text: Markup,
    pub(crate) unit: Unit,
    pub(crate) better: Better,
    pub(crate) shape: Shape,
    pub(crate) down: Down,
    /// What the places are.
    pub(crate) across: &'static str,
    pub(crate) places: Vec<Place>,
    pub(crate) lines: Vec<Line>,
    pub(crate) ratios: Vec<Ratio>,
}

impl Figure {
    /// A column for each of these lines: how many times better the first of `ours` that was measured is.
    pub(crate) fn against(mut self, bases: &[&str], ours: &[&str]) -> Self {
        let index = |label: &str| self.lines.iter().position(|line| line.label == label && line.is_measured());
        let Some(ours) = ours.iter().find_map(|label| index(label)) else { return self };
        let bases = bases.iter().filter_map(|label| index(label));
        let head = |base: usize| format!("{} against {}", self.lines[ours].label, self.lines[base].label);
        self.ratios = bases.map(|base| Ratio { head: head(base), base, ours }).collect();
        self
    }

    pub(crate) fn is_measured(&self) -> bool {
        self.lines.iter().any(Line::is_measured)
    }

    pub(crate) fn ratio(&self, ratio: &Ratio, place: usize) -> Option<f64> {
        let figure = |line: usize| Some(self.lines.get(line)?.cells.get(place)?.figure()?.median);
        let (base, ours) = (figure(ratio.base)?, figure(ratio.ours)?);
        Some(match self.better {
            Better::Less => base / ours,
            Better::More => ours / base,
        })
    }

    pub(crate) fn html(&self) -> Markup {
        html! {
            figure.data id=(self.id) aria-labelledby={ (self.id) "-title" } {
                figcaption {
                    h3 id={ (self.id) "-title" } { (self.title) }
                    (self.text)
                }
                @if self.is_measured() {
                    div.plot data-plot=(self.id) {}
                    details open {
                        summary { "The numbers" }
                        (self.table())
                    }
                } @else {
                    p.missing { "Not measured: no record has these rows." }
                }
            }
        }
    }

    fn table(&self) -> Markup {
        let head = |line: &Line| html! { th scope="col" class=(line.family.name()) { (line.label) } };
        html! {
            div.scroll tabindex="0" role="region" aria-label={ "Table: " (self.title) } {
                table {
                    @if self.down == Down::Places {
                        thead { tr {
                            th scope="col" { (self.across) }
                            @for line in &self.lines { (head(line)) }
                            @for ratio in &self.ratios { th.ratio scope="col" { (ratio.head) } }
                        } }
                        tbody { @for (i, place) in self.places.iter().enumerate() { tr {
                            th scope="row" { (place.label) }
                            @for line in &self.lines { (self.cell(&line.cells[i])) }
                            @for ratio in &self.ratios { td.ratio { @match self.ratio(ratio, i) {
                                Some(times) => (factor(times)),
                                None => "–",
                            } } }
                        } } }
                    } @else {
                        thead { tr {
                            th scope="col" { (self.across) }
                            @for place in &self.places { th scope="col" { (place.label) } }
                        } }
                        tbody {
                            @for line in &self.lines { tr {
                                th scope="row" class=(line.family.name()) { (line.label) }
                                @for cell in &line.cells { (self.cell(cell)) }
                            } }
                            @for ratio in &self.ratios { tr.ratio {
                                th scope="row" { (ratio.head) }
                                @for i in 0..self.places.len() { td { @match self.ratio(ratio, i) {
                                    Some(times) => (factor(times)),
                                    None => "–",
                                } } }
                            } }
                        }
                    }
                }
            }
        }
    }

    /// The edges of gas are a median and a mean, which no machine makes.
    fn is_busy(&self, times: &Times) -> bool {
        self.unit != Unit::Gas && times.are_busy()
    }

    fn cell(&self, cell: &Cell) -> Markup {
        match cell {
            Cell::Figure(times) => html! {
                td {
                    (self.unit.written(times.median))
                    @if times.min < times.max { small { (self.unit.range(*times)) } }
                    @if self.is_busy(times) { small.busy { (BUSY) } }
                }
            },
            Cell::Missing => html! { td.missing { "not measured" } },
            Cell::None(why) => html! { td.missing { (why) } },
        }
    }

    /// What the plot is drawn from: the numbers of the table.
    pub(crate) fn data(&self) -> Value {
        let lines = self.lines.iter().filter(|line| line.is_measured()).map(|line| {
            let values = line.cells.iter().map(|cell| cell.figure().map(|t| [t.min, t.median, t.max]));
            json!({ "label": line.label, "family": line.family.name(), "values": values.collect::<Vec<_>>() })
        });
        json!({
            "id": self.id,
            "title": self.title,
            "shape": match self.shape { Shape::Lines => "lines", Shape::LinesFromZero => "lines-from-zero", Shape::Dots => "dots" },
            "unit": self.unit.name(),
            "better": match self.better { Better::Less => "less", Better::More => "more" },
            "across": self.across,
            "places": self.places.iter().map(|place| json!({ "label": place.label, "at": place.at })).collect::<Vec<_>>(),
            "lines": lines.collect::<Vec<_>>(),
        })
    }
}
