//! Which tasks quorate loses, as a table for a terminal.

use std::{env, io::IsTerminal as _};

use crate::row::{Clock, Row, short};

/// Whether lost rows are red. They have a mark in words, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    Red,
    None,
}

impl Colour {
    /// Of standard output: red on a terminal that can show it, unless `NO_COLOR` is set and not empty.
    pub(crate) fn here() -> Self {
        let is_terminal = std::io::stdout().is_terminal();
        Self::of(is_terminal, env::var("NO_COLOR").ok().as_deref(), env::var("TERM").ok().as_deref())
    }

    fn of(is_terminal: bool, no_color: Option<&str>, term: Option<&str>) -> Self {
        let unwanted = no_color.is_some_and(|text| !text.is_empty()) || term == Some("dumb");
        if is_terminal && !unwanted { Self::Red } else { Self::None }
    }

    fn paint(self, line: &str) -> String {
        match self {
            Self::Red => format!("\x1b[31m{line}\x1b[0m"),
            Self::None => line.to_owned(),
        }
    }
}

/// The rows of one task: quorate's, and the others'.
pub(crate) struct Ranking<'a> {
    /// By the backend that the machine takes by itself, whether or not another is faster at this task.
    pub(crate) ours: &'a Row,
    /// By quorate's other backends.
    pub(crate) backends: Vec<&'a Row>,
    /// The fastest first.
    pub(crate) others: Vec<&'a Row>,
}

impl<'a> Ranking<'a> {
    /// Of each task in which quorate and another library were measured, in the order of the rows.
    pub(crate) fn each(rows: &'a [Row]) -> Vec<Self> {
        let mut tasks: Vec<(&str, usize)> = Vec::new();
        for row in rows {
            if !tasks.contains(&(&row.bench, row.n)) {
                tasks.push((&row.bench, row.n));
            }
        }
        let of = |(bench, n)| {
            let rows = rows.iter().filter(|row| (&row.bench[..], row.n) == (bench, n));
            let (ours, mut others): (Vec<_>, Vec<_>) = rows.partition(|row| row.engine.starts_with("quorate/"));
            others.sort_by(|a, b| a.figures.middle().total_cmp(&b.figures.middle()));
            // A run measures backends in their order, and a machine takes the first that it can run.
            let (ours, backends) = ours.split_first()?;
            Some(Self { ours, backends: backends.to_vec(), others }).filter(|ranking| !ranking.others.is_empty())
        };
        tasks.into_iter().filter_map(of).collect()
    }

    /// The names of all engines but ours, quorate's other backends first.
    pub(crate) fn names(rankings: &[Self]) -> Vec<&'a str> {
        let backends = rankings.iter().flat_map(|ranking| &ranking.backends);
        let mut names = Vec::new();
        for row in backends.chain(rankings.iter().flat_map(|ranking| &ranking.others)) {
            if !names.contains(&&row.engine[..]) {
                names.push(&row.engine[..]);
            }
        }
        names
    }

    /// The row of an engine that has such a name.
    pub(crate) fn row(&self, name: &str) -> Option<&'a Row> {
        self.backends.iter().chain(&self.others).copied().find(|row| row.engine == name)
    }

    /// The fastest of the others, if it is faster than quorate.
    pub(crate) fn winner(&self) -> Option<&'a Row> {
        self.others.first().copied().filter(|row| row.figures.middle() < self.ours.figures.middle())
    }

    /// How many times faster the winner is, or how many times faster quorate is than the next.
    pub(crate) fn said(&self) -> String {
        let ours = self.ours.figures.middle();
        match (self.winner(), self.others.first()) {
            (Some(row), _) => format!("LOST to {}: {:.2}× slower", row.engine, ours / row.figures.middle()),
            (None, Some(row)) => format!("{:.2}× faster than {}", row.figures.middle() / ours, row.engine),
            (None, None) => String::new(),
        }
    }
}

/// A line for each task, with the times of one item in µs by a clock. Lost ones are red.
pub(crate) fn table(rows: &[Row], clock: Clock, colour: Colour) -> String {
    let rows: Vec<_> = rows.iter().map(|row| row.by(clock)).collect();
    let rankings = Ranking::each(&rows);
    let names = Ranking::names(&rankings);
    let clock = match clock {
        Clock::Cpu => "µs of CPU time",
        Clock::Wall => "µs of wall time",
    };
    let head = [clock, "n", "quorate", "by"].into_iter().chain(names.iter().copied()).chain([""]).map(str::to_owned);
    let mut lines = vec![(false, head.collect::<Vec<_>>())];
    for ranking in &rankings {
        let ours = ranking.ours;
        let mut cells = vec![
            ours.bench.trim_start_matches("peers/").to_owned(),
            ours.n.to_string(),
            short(ours.figures.middle()),
            ours.engine.trim_start_matches("quorate/").to_owned(),
        ];
        cells.extend(
            names.iter().map(|name| ranking.row(name).map_or("–".to_owned(), |row| short(row.figures.middle()))),
        );
        cells.push(ranking.said());
        lines.push((ranking.winner().is_some(), cells));
    }
    let columns = lines[0].1.len();
    let widths: Vec<_> =
        (0..columns).map(|i| lines.iter().map(|(_, cells)| cells[i].chars().count()).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for (is_lost, cells) in &lines {
        let cell = |(i, cell): (usize, &String)| {
            if i == 0 || i == columns - 1 { format!("{cell:<0$}", widths[i]) } else { format!("{cell:>0$}", widths[i]) }
        };
        let line = cells.iter().enumerate().map(cell).collect::<Vec<_>>().join("  ");
        text += &if *is_lost { colour.paint(line.trim_end()) } else { line.trim_end().to_owned() };
        text.push('\n');
    }
    let lost = rankings.iter().filter(|ranking| ranking.winner().is_some()).count();
    text + &format!("quorate is the fastest in {} of {} tasks.\n", rankings.len() - lost, rankings.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(bench: &str, engine: &str, n: usize, wall: f64, cpu: f64) -> Row {
        let times = |us: f64| serde_json::json!({ "min": us, "median": us, "max": us });
        serde_json::from_value(serde_json::json!({
            "bench": bench, "engine": engine, "threads": 1, "n": n, "per": "claim", "us": times(wall), "cpu_us": times(cpu)
        }))
        .unwrap()
    }

    fn rows() -> Vec<Row> {
        vec![
            row("peers/verify", "quorate/ifma", 1, 500.0, 400.0),
            row("peers/verify", "quorate/portable", 1, 900.0, 900.0),
            row("peers/verify", "gnark-crypto", 1, 300.0, 800.0),
            row("peers/verify", "noble", 1, 9000.0, 9000.0),
            row("peers/verify", "quorate/ifma", 16, 90.0, 90.0),
            row("peers/verify", "noble", 16, 60.0, 60.0),
            row("peers/alone", "quorate/ifma", 16, 90.0, 90.0),
        ]
    }

    #[test]
    fn what_is_lost_is_red_and_says_so() {
        let text = table(&rows(), Clock::Cpu, Colour::Red);
        let red: Vec<_> = text.lines().filter(|line| line.contains("\x1b[31m")).collect();
        assert_eq!(red.len(), 1, "{text}");
        assert!(red[0].contains("LOST to noble: 1.50× slower") && red[0].ends_with("\x1b[0m"), "{text}");
        assert!(text.contains("2.00× faster than gnark-crypto"), "{text}");
        assert!(text.ends_with("quorate is the fastest in 1 of 2 tasks.\n"), "{text}");
        // By the other clock gnark-crypto wins, and without colour the words stay.
        let text = table(&rows(), Clock::Wall, Colour::None);
        assert!(text.contains("LOST to gnark-crypto: 1.67× slower") && !text.contains('\x1b'), "{text}");
        assert!(text.ends_with("in 0 of 2 tasks.\n"), "{text}");
    }

    /// Nobody gets the fastest backend of each task.
    #[test]
    fn the_backend_that_the_machine_takes_is_ranked() {
        let rows = [
            row("peers/key-sum", "quorate/ifma", 512, 150.0, 150.0),
            row("peers/key-sum", "quorate/fma-avx512", 512, 110.0, 110.0),
            row("peers/key-sum", "mcl", 512, 120.0, 120.0),
        ];
        let rankings = Ranking::each(&rows);
        assert_eq!(rankings[0].said(), "LOST to mcl: 1.25× slower");
        assert_eq!(Ranking::names(&rankings), ["quorate/fma-avx512", "mcl"]);
        let text = table(&rows, Clock::Cpu, Colour::None);
        let cells: Vec<_> = text.lines().nth(1).unwrap().split_whitespace().take(6).collect();
        assert_eq!(cells, ["key-sum", "512", "150", "ifma", "110", "120"], "{text}");
    }

    #[test]
    fn colour_is_for_terminals_whose_user_wants_it() {
        let term = Some("xterm");
        assert_eq!(Colour::of(true, None, term), Colour::Red);
        assert_eq!(Colour::of(true, Some(""), term), Colour::Red);
        assert_eq!(Colour::of(false, None, term), Colour::None);
        assert_eq!(Colour::of(true, Some("1"), term), Colour::None);
        assert_eq!(Colour::of(true, None, Some("dumb")), Colour::None);
    }
}
