//! One of the documents that the project began with: its figures beside ours, and what of its claims still holds.

use maud::{Markup, html};

use super::figure::Figure;
use crate::{
    record::Record,
    shown::{File, Rows},
};

pub(crate) struct Source {
    /// Its number among the sources.
    pub(crate) number: &'static str,
    pub(crate) title: &'static str,
    /// Who wrote it, when, and on which machine it measured.
    pub(crate) by: &'static str,
    /// What it is about.
    pub(crate) about: &'static str,
    /// The files of records that its figures come from.
    pub(crate) files: &'static [&'static str],
    pub(crate) figures: Vec<Figure>,
    /// Tables without a plot.
    pub(crate) tables: Markup,
    pub(crate) claims: Vec<Claim>,
}

/// Something that a source says, and what is true today.
pub(crate) struct Claim {
    pub(crate) says: &'static str,
    pub(crate) now: String,
    pub(crate) verdict: Verdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Holds,
    NoLonger,
    NotMeasured,
}

impl Verdict {
    /// `None` if what it hangs on was not measured.
    pub(crate) fn of(holds: Option<bool>) -> Self {
        match holds {
            Some(true) => Self::Holds,
            Some(false) => Self::NoLonger,
            None => Self::NotMeasured,
        }
    }

    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Holds => ("holds", "holds"),
            Self::NoLonger => ("no-longer", "no longer"),
            Self::NotMeasured => ("not-measured", "not measured"),
        }
    }
}

impl Claim {
    /// A claim about measured figures: `now` says them, and whether it holds.
    pub(crate) fn measured(says: &'static str, now: Option<(bool, String)>) -> Self {
        let verdict = Verdict::of(now.as_ref().map(|(holds, _)| *holds));
        Self { says, now: now.map_or_else(|| "The rows for it are missing.".into(), |(_, text)| text), verdict }
    }

    pub(crate) fn new(says: &'static str, verdict: Verdict, now: impl Into<String>) -> Self {
        Self { says, now: now.into(), verdict }
    }
}

impl Source {
    pub(crate) fn anchor(&self) -> String {
        format!("source-{}", self.number)
    }

    pub(crate) fn html(&self, rows: &Rows) -> Markup {
        html! {
            section id=(self.anchor()) aria-labelledby={ (self.anchor()) "-title" } {
                h2 id={ (self.anchor()) "-title" } { (self.title) }
                p.by { (self.by) }
                p { (self.about) }
                (records(self.files.iter().filter_map(|name| rows.file(name))))
                @for figure in &self.figures { (figure.html()) }
                (self.tables)
                h3 { "What it says, and what holds" }
                div.scroll tabindex="0" role="region" aria-label={ "Claims of " (self.title) } {
                    table.claims {
                        thead { tr { th scope="col" { "The source" } th scope="col" { "Today" } th scope="col" { "Here" } } }
                        tbody { @for claim in &self.claims { tr {
                            td { (claim.says) }
                            td { span.verdict.(claim.verdict.words().0) { (claim.verdict.words().1) } }
                            td { (claim.now) }
                        } } }
                    }
                }
            }
        }
    }
}

/// Where and when rows were measured: a line for each record, with the benchmarks that come from it.
pub(crate) fn records<'a>(files: impl Iterator<Item = &'a File>) -> Markup {
    let mut lines: Vec<(Option<&Record>, Vec<&str>)> = Vec::new();
    for file in files {
        let record = file.record.as_ref();
        match lines.iter_mut().find(|(other, _)| other.map(|r| &r.folder) == record.map(|r| &r.folder)) {
            Some((_, names)) => names.push(file.name),
            None => lines.push((record, vec![file.name])),
        }
    }
    html! {
        ul.records { @for (record, names) in &lines { li {
            code { (names.join(", ")) } ": "
            @match record {
                Some(record) => {
                    @let machine = &record.machine;
                    (machine.cpu) " (" (machine.features.join(", ")) "), " time datetime=(machine.date.replace(' ', "T")) { (machine.date) }
                    ", " (machine.compiler) ", commit " (machine.commit) ", record " code { (record.name()) }
                }
                None => { "not measured; run " code { "quorate-bench " (names[0]) " --record" } }
            }
        } } }
    }
}
