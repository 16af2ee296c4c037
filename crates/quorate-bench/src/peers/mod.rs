//! `peers/*`: the same tasks by quorate and by other libraries, each of which is a program of its own that `make peers` builds.
//!
//! | file | what it holds |
//! |---|---|
//! | `task` | a task: its input, the answers, the work of quorate and blst |
//! | `claims`, `points` | the tasks whose answer is a verdict, and those whose answer is a point |
//! | `program` | another library: a process that is asked line by line |
//! | `ranking` | which tasks quorate loses |
//!
//! All programs run from the first task to the last and wait while others compute, so that engines take turns (A B A B) as in
//! every benchmark. A program times its own work, because only it can leave out how it reads a task. Each must say of a changed
//! claim that it is false before anything is measured, and every answer of every round is compared with ours.

mod task;
mod claims;
mod points;
mod program;
mod ranking;

use std::{cell::RefCell, collections::BTreeMap, path::Path};

use anyhow::{Context as _, Result, ensure};

pub(crate) use self::{
    program::LeftOut,
    ranking::{Colour, Ranking, table},
};
use self::{
    program::{Loaded, Peers, Program},
    task::{Answer, Task},
};
use crate::{
    measure::{Engine, Run, Spent, measure},
    row::Row,
};

/// The libraries that `make peers` builds, in the order of BENCHMARKING.md.
const LIBRARIES: [&str; 9] = [
    "arkworks",
    "commonware",
    "zkcrypto",
    "mcl",
    "gnark-crypto",
    "constantine",
    "noble",
    "chainsafe-blst",
    "herumi-bls",
];

/// A sentence that names the libraries without a row, with the reason of each that has one. Empty if all have rows.
pub(crate) fn not_measured(rows: &[Row], left_out: &LeftOut) -> String {
    let others = left_out.keys().map(String::as_str).filter(|name| !LIBRARIES.contains(name));
    let absent = LIBRARIES.into_iter().chain(others).filter(|name| rows.iter().all(|row| row.engine != *name));
    let names: Vec<_> =
        absent.map(|name| left_out.get(name).map_or(name.to_owned(), |why| format!("{name} ({why})"))).collect();
    if names.is_empty() { String::new() } else { format!("Not measured: {}.", names.join("; ")) }
}

/// Why libraries that were measured have no row of some tasks: by the library, then by the name of the benchmark.
pub(crate) type Cannot = BTreeMap<String, BTreeMap<String, String>>;

/// Sentences with the reason of every empty cell of libraries that have other rows. Empty if there is none.
pub(crate) fn empty_cells(cannot: &Cannot) -> String {
    let mut sentences = Vec::new();
    for (name, tasks) in cannot {
        let mut by_reason = BTreeMap::<&str, Vec<&str>>::new();
        for (bench, why) in tasks {
            by_reason.entry(why).or_default().push(bench.trim_start_matches("peers/"));
        }
        let parts: Vec<_> = by_reason.iter().map(|(why, tasks)| format!("{} ({why})", tasks.join(", "))).collect();
        sentences.push(format!("{name} has no {}.", parts.join("; no ")));
    }
    sentences.join(" ")
}

/// A sentence about the library whose batch proves more than quorate's, and takes longer for it. Empty if it has no row.
pub(crate) fn weights(rows: &[Row]) -> &'static str {
    match rows.iter().any(|row| row.engine == "commonware") {
        true => "commonware weighs the claims of a batch by 128 bits, quorate by 64.",
        false => "",
    }
}

/// What quorate loses and no task of `peers` shows, and the circumstances. The times are of one sitting, and in no record.
pub(crate) const LOST_PAIRING: [&str; 2] = [
    "One pairing by itself: LOST to VROOM, 2.27× slower",
    "(ePrint 2025/1068: residue numbers in lanes of AVX-512 IFMA). On one core of a Zen 4, in November 2026, when one claim took \
     quorate 832 µs, a pairing took VROOM 169 µs of CPU time, quorate 384 and blst 600. No task here is a single pairing, and no \
     record has these times.",
];

/// The libraries that the list of programs leaves out.
pub(crate) fn left_out(peers: Option<&Path>) -> Result<LeftOut> {
    Ok(Peers::read(list(peers)?)?.left_out)
}

fn list(peers: Option<&Path>) -> Result<&Path> {
    peers.context("`peers` needs --peers FILE, the list of programs that `make peers` writes")
}

/// Every task, the smallest first.
fn all(run: &Run) -> Vec<Task> {
    let sizes = run.choose(&[1, 4, 16][..], &[1, 4, 16, 128, 1024]);
    let mut tasks: Vec<_> = sizes.iter().map(|n| claims::verify_min_pk(*n)).collect();
    tasks.extend(run.choose(&[1, 16][..], &[1, 128, 1024]).iter().map(|n| claims::from_bytes(*n)));
    tasks.push(claims::verify_min_sig());
    tasks.extend(run.choose(&[16][..], &[128, 1024]).iter().map(|n| claims::same_message(*n)));
    tasks.extend(run.choose(&[100][..], &[100, 512]).iter().map(|n| claims::verify_aggregate(*n)));
    tasks.extend([claims::block(run.choose(20, 1000)), claims::block_sets()]);
    tasks.extend([points::key_sum(512), points::hash_to_g2(), points::msm_g1(1024), claims::verify_bn254()]);
    tasks
}

/// The rows of every task, by quorate, blst and each of the programs. What a program cannot do goes to `cannot`.
pub(crate) fn run(run: &Run, peers: Option<&Path>, cannot: &RefCell<Cannot>) -> Result<Vec<Row>> {
    let list = list(peers)?;
    let peers = Peers::read(list)?;
    let left_out: Vec<_> = peers.left_out.iter().map(|(name, why)| format!("{name}: left out: {why}")).collect();
    ensure!(
        !peers.programs.is_empty(),
        "{} names no program, so there is nothing to compare with.\n{}",
        list.display(),
        left_out.join("\n")
    );
    let mut programs: Vec<_> = peers.programs.iter().map(Program::start).collect::<Result<_>>()?;
    let mut rows = Vec::new();
    for task in all(run) {
        eprintln!("{}, n = {}", task.bench, task.n);
        rows.extend(measured(run, &task, &mut programs, cannot)?);
    }
    for line in left_out {
        eprintln!("{line}");
    }
    Ok(rows)
}

/// The rows of one task.
fn measured(run: &Run, task: &Task, programs: &mut [Program], cannot: &RefCell<Cannot>) -> Result<Vec<Row>> {
    let mut able = Vec::new();
    for program in programs {
        match refutes_and_loads(program, task)? {
            Loaded::Ready(note) => able.push((RefCell::new(program), note)),
            Loaded::Cannot(why) => {
                eprintln!("  {}: {why}", program.name());
                let mut cannot = cannot.borrow_mut();
                cannot.entry(program.name().to_owned()).or_default().insert(task.bench.clone(), why);
            }
        }
    }
    let failure = RefCell::new(None);
    let mut engines: Vec<_> = run
        .each(&[1])
        .map(|(backend, _)| Engine::told(Engine::name_of(backend), 1, move || task.by_quorate(backend)))
        .collect();
    engines.extend(task.by_blst().map(|work| Engine::told("blst", 1, work)));
    for (program, note) in &able {
        let name = program.borrow().name().to_owned();
        let work = || {
            // After a failure nothing of this task is kept.
            if failure.borrow().is_some() {
                return Spent::default();
            }
            asked(&mut program.borrow_mut(), task, &task.answer).unwrap_or_else(|error| {
                *failure.borrow_mut() = Some(error);
                Spent::default()
            })
        };
        engines.push(Engine::told(name, 1, work).note(note.clone()));
    }
    let items = if matches!(task.per, "claim" | "point") { task.n } else { 1 };
    let rows = measure(&task.bench, task.n, task.per, items, task.rounds(run), engines);
    match failure.into_inner() {
        Some(error) => Err(error),
        None => Ok(rows),
    }
}

/// Asks a program for each changed input, whose answer must be another, and leaves the true input loaded. Answers with how the
/// library does it, or why it cannot.
fn refutes_and_loads(program: &mut Program, task: &Task) -> Result<Loaded> {
    for (i, (changed, answer)) in task.changed.iter().enumerate() {
        match program.load(changed, &task.name())? {
            Loaded::Cannot(why) if i == 0 => return Ok(Loaded::Cannot(why)),
            Loaded::Cannot(why) => {
                anyhow::bail!("{}: {} of a changed input: {why}, but it did another", program.name(), task.name())
            }
            Loaded::Ready(_) => asked(program, task, answer)?,
        };
    }
    match program.load(&task.input, &task.name())? {
        Loaded::Ready(note) => Ok(Loaded::Ready(note)),
        Loaded::Cannot(why) => {
            anyhow::bail!("{}: {} of the true input: {why}, but it did the changed input", program.name(), task.name())
        }
    }
}

/// Runs what a program has loaded, and compares its answer.
fn asked(program: &mut Program, task: &Task, expected: &Answer) -> Result<Spent> {
    let (answer, spent) = program.run(&task.name())?;
    ensure!(
        answer == *expected,
        "{}: {} of the {} input: the answer is {answer}, and it should be {expected}. Its times say nothing, so nothing is recorded",
        program.name(),
        task.name(),
        if *expected == task.answer { "true" } else { "changed" },
    );
    Ok(spent)
}

#[cfg(test)]
mod tests {
    use std::{fs, time::Duration};

    use quorate::Backend;

    use super::*;
    use crate::measure::Effort;

    /// A program of the shell that answers `load` with `loaded`, and one `run` after the other with a line of `runs`.
    fn shell(loaded: &str, runs: &[&str]) -> (tempfile::TempDir, Program) {
        let folder = tempfile::tempdir().unwrap();
        let answers = folder.path().join("answers");
        fs::write(&answers, runs.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
        let script = format!(
            "exec 3< '{}'\nwhile read -r line; do case \"$line\" in *'\"run\"'*) read -r answer <&3 || exit 7; echo \"$answer\";; \
             *) echo '{loaded}';; esac; done",
            answers.display()
        );
        let path = folder.path().join("peer.sh");
        fs::write(&path, script).unwrap();
        let line = serde_json::json!({ "name": "fake", "command": ["sh", path] }).to_string();
        let list = folder.path().join("list");
        fs::write(&list, line + "\n").unwrap();
        let peers = Peers::read(&list).unwrap();
        (folder, Program::start(&peers.programs[0]).unwrap())
    }

    fn quick() -> Run {
        Run { effort: Effort::Quick, backends: vec![Backend::Portable] }
    }

    const READY: &str = r#"{"ready": "by hand"}"#;
    const YES: &str = r#"{"answer": true, "wall_ns": 2000, "cpu_ns": 1000}"#;
    const NO: &str = r#"{"answer": false, "wall_ns": 2000, "cpu_ns": 1000}"#;

    fn error(loaded: &str, runs: &[&str]) -> String {
        let (_folder, program) = shell(loaded, runs);
        format!("{:#}", measured(&quick(), &claims::verify_min_pk(1), &mut [program], &RefCell::default()).unwrap_err())
    }

    #[test]
    fn a_program_that_answers_right_has_a_row_of_its_own_times() {
        let (_folder, program) = shell(READY, &[NO, YES, YES, YES, YES, YES, YES, YES]);
        let rows = measured(&quick(), &claims::verify_min_pk(1), &mut [program], &RefCell::default()).unwrap();
        let row = rows.iter().find(|row| row.engine == "fake").expect("a row");
        let (wall, cpu) = (row.times(), row.cpu_us.unwrap());
        assert_eq!((wall.median, cpu.median, &row.note[..]), (2.0, 1.0, "by hand"));
        assert!(rows.iter().any(|row| row.engine == "quorate/portable") && rows.iter().any(|row| row.engine == "blst"));
    }

    /// Yes to everything is refuted by the changed claim, and no to everything by the true one.
    #[test]
    fn a_program_that_lies_about_a_verdict_ends_the_run() {
        let text = error(READY, &[YES; 9]);
        assert!(text.contains("fake: verify of 1 claim") && text.contains("changed input"), "{text}");
        assert!(text.contains("the answer is true, and it should be false"), "{text}");
        let text = error(READY, &[NO; 9]);
        assert!(text.contains("true input") && text.contains("the answer is false"), "{text}");
        // In the last round as in the first.
        let text = error(READY, &[NO, YES, YES, YES, YES, YES, YES, NO]);
        assert!(text.contains("the answer is false, and it should be true"), "{text}");
        let text = error(READY, &[r#"{"answer": "00", "wall_ns": 1, "cpu_ns": 1}"#]);
        assert!(text.contains("the answer is 00, and it should be false"), "{text}");
    }

    #[test]
    fn a_program_that_ends_is_named_with_its_exit() {
        let text = error(READY, &[NO, YES]);
        assert!(text.contains("fake: verify of 1 claim") && text.contains("exit status: 7"), "{text}");
        let text = error(READY, &[]);
        assert!(text.contains("exit status: 7"), "{text}");
    }

    #[test]
    fn lines_that_are_not_answers_are_errors() {
        for (line, says) in [
            ("hello", "expected value"),
            ("{}", "missing field"),
            (r#"{"answer": 1, "wall_ns": 1, "cpu_ns": 1}"#, "answer"),
            (r#"{"answer": true, "wall_ns": -1, "cpu_ns": 1}"#, "-1"),
            (r#"{"answer": true, "wall_ns": 1, "cpu_ns": 1, "more": 1}"#, "more"),
            (r#"{"answer": true, "wall_ns": 0, "cpu_ns": 1}"#, "no time"),
            (r#"{"answer": true, "wall_ns": 1, "cpu_ns": 0}"#, "no time"),
        ] {
            let text = error(READY, &[line]);
            assert!(text.contains("fake: verify of 1 claim") && text.contains(says), "{line}: {text}");
        }
        let text = error(r#"{"maybe": ""}"#, &[]);
        assert!(text.contains("maybe") && text.contains("fake"), "{text}");
        let long = "x".repeat(program::LONGEST + 1);
        assert!(error(READY, &[&long]).contains("longer than"), "a line without an end");
    }

    #[test]
    fn a_task_that_a_library_cannot_do_has_a_reason_and_no_row() {
        let (_folder, program) = shell(r#"{"cannot": "it has no such curve"}"#, &[]);
        let cannot = RefCell::default();
        let rows = measured(&quick(), &claims::verify_min_pk(1), &mut [program], &cannot).unwrap();
        assert!(rows.iter().all(|row| row.engine != "fake"));
        assert_eq!(empty_cells(&cannot.take()), "fake has no verify (it has no such curve).");
    }

    /// Tasks with one reason stand together.
    #[test]
    fn every_empty_cell_has_its_reason() {
        let tasks = [
            ("peers/hash-to-g2", "not published"),
            ("peers/msm-g1", "not published"),
            ("peers/verify-bn254", "no such curve"),
        ];
        let of = |tasks: &[(&str, &str)]| {
            tasks.iter().map(|(bench, why)| ((*bench).to_owned(), (*why).to_owned())).collect()
        };
        let cannot = Cannot::from([("a".to_owned(), of(&tasks)), ("b".to_owned(), of(&tasks[2..]))]);
        assert_eq!(
            empty_cells(&cannot),
            "a has no verify-bn254 (no such curve); no hash-to-g2, msm-g1 (not published). b has no verify-bn254 (no such curve)."
        );
        assert_eq!(empty_cells(&Cannot::new()), "");
    }

    /// Every backend gives the answer that every library is compared with, and blst gives it, too.
    #[test]
    fn every_task_has_one_answer() {
        let run = Run { effort: Effort::Quick, backends: Backend::available().to_vec() };
        for task in all(&run) {
            for backend in &run.backends {
                task.by_quorate(*backend);
            }
            if let Some(blst) = task.by_blst() {
                blst();
            }
            assert!(task.changed.iter().all(|(_, answer)| *answer != task.answer), "{}", task.bench);
        }
    }

    /// A program that decodes without the check of the subgroup passes the first changed input, and the second finds it out.
    #[test]
    fn every_changed_input_is_asked() {
        let (_folder, program) = shell(READY, &[NO, YES, YES, YES, YES, YES]);
        let text = format!(
            "{:#}",
            measured(&quick(), &claims::from_bytes(1), &mut [program], &RefCell::default()).unwrap_err()
        );
        assert!(text.contains("verify-from-bytes of 1 claim of the changed input: the answer is true"), "{text}");
    }

    #[test]
    fn a_program_that_is_silent_is_given_up() {
        let task = claims::verify_min_pk(1);
        let mut silent = Program::start(&program::Listed::of("silent", &["sleep", "100"])).unwrap();
        silent.patience = Duration::from_millis(50);
        let text = format!("{:#}", silent.load(&task.input, &task.name()).unwrap_err());
        assert!(text.contains("silent: verify of 1 claim") && text.contains("no answer"), "{text}");
    }

    #[test]
    fn a_program_that_is_not_there_is_named_with_what_to_do() {
        let error = Program::start(&program::Listed::of("gone", &["/nowhere/gone"])).err().unwrap();
        let text = format!("{error:#}");
        assert!(text.contains("gone") && text.contains("/nowhere/gone") && text.contains("make peers"), "{text}");
    }

    /// What BENCHMARKING.md says is built is what is missed where it has no row.
    #[test]
    fn the_libraries_are_those_of_the_document() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let document = fs::read_to_string(folder.join("../../BENCHMARKING.md")).unwrap();
        let (_, table) = document.split_once("| engine | library | needs |\n|---|---|---|\n").unwrap();
        let names: Vec<_> = table.lines().map_while(|line| line.strip_prefix("| `")?.split('`').next()).collect();
        assert_eq!(names, LIBRARIES);
        let script = fs::read_to_string(folder.join("peers/build.sh")).unwrap();
        assert!(LIBRARIES.iter().all(|name| script.contains(name)));
    }

    #[test]
    fn a_list_says_what_is_wrong_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("list");
        let read = |text: &str| {
            fs::write(&list, text).unwrap();
            Peers::read(&list)
        };
        let peers = read(
            "{\"name\": \"a\", \"command\": [\"a\", \"b c\"]}\n{\"name\": \"b\", \"left_out\": \"there is no Go\"}\n",
        )
        .unwrap();
        assert_eq!(peers.programs.len(), 1);
        assert_eq!(peers.left_out, LeftOut::from([("b".to_owned(), "there is no Go".to_owned())]));
        for (text, says) in [
            ("nonsense\n", "line 1"),
            ("{\"name\": \"a\"}\n", "a command or why it is left out"),
            ("{\"name\": \"a\", \"command\": []}\n", "a command or why it is left out"),
            ("{\"name\": \"a\", \"command\": [\"a\"], \"left_out\": \"b\"}\n", "a command or why it is left out"),
            ("{\"name\": \"a\", \"command\": [\"a\"], \"more\": 1}\n", "more"),
            ("{\"name\": \"quorate/ifma\", \"command\": [\"a\"]}\n", "name"),
            ("{\"name\": \"blst\", \"command\": [\"a\"]}\n", "name"),
            ("{\"name\": \"a\", \"command\": [\"a\"]}\n{\"name\": \"a\", \"command\": [\"b\"]}\n", "line 2"),
        ] {
            let text = format!("{:#}", read(text).err().unwrap_or_else(|| panic!("{text}")));
            assert!(text.contains(says), "{says}: {text}");
        }
        fs::write(&list, "{\"name\": \"b\", \"left_out\": \"there is no Go\"}\n").unwrap();
        let text = format!("{:#}", run(&quick(), Some(&list), &RefCell::default()).unwrap_err());
        assert!(text.contains("names no program") && text.contains("there is no Go"), "{text}");
        assert!(run(&quick(), None, &RefCell::default()).unwrap_err().to_string().contains("--peers FILE"));
    }
}
