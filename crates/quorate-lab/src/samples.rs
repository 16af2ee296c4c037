//! Sample outputs in the documents, and the programs that must print them.
//!
//! A sample is a fenced block of the language `console`. A line that begins with `$ ` is a command, which a trailing `\`
//! continues on the next line; the lines below it, up to the next command, are what it prints, standard error included. A
//! line of `…` alone stands for any lines. Times, names of backends and numbers of threads may differ from the document.
//! `$ echo $?` after a command shows its exit code. Commands run where `examples/` is, in a folder that is thrown away.

use std::{collections::BTreeSet, fmt::Write as _, fs, os::unix::fs::symlink, path::Path};

use tempfile::TempDir;

use crate::{
    needs::checkout,
    run::{Run as _, shell},
};

/// The programs that samples call. Each runs those of its own in a test of its own crate.
const PROGRAMS: [&str; 2] = ["quorate", "quorate-bench"];

/// What the samples of a program in a document print otherwise than it says; nothing if all is well. The document's path begins
/// at the root of the repository.
///
/// # Panics
/// If the document has fewer commands than stated, or a sample that cannot be run.
pub fn what_differs(program: &str, document: &str, at_least: usize) -> String {
    let blocks = blocks_of(program, document);
    let commands: usize = blocks.iter().map(Vec::len).sum();
    println!("{document}: {commands} commands in {} samples of {program}", blocks.len());
    assert!(commands >= at_least, "{document} has {commands} commands in `console` blocks, not {at_least} or more");
    blocks.iter().map(|block| what_differs_in(document, block, clone().path())).collect()
}

/// The same of documents whose samples somebody runs one after the other in one clone; and the names of what they leave there.
///
/// # Panics
/// If a document has a sample that cannot be run.
pub fn what_differs_in_one_clone(program: &str, documents: &[String]) -> (String, BTreeSet<String>) {
    let clone = clone();
    let mut wrong = String::new();
    for document in documents {
        for block in blocks_of(program, document) {
            wrong += &what_differs_in(document, &block, clone.path());
        }
    }
    let left = fs::read_dir(clone.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    (wrong, left.filter(|name| name != "examples").collect())
}

/// The samples of a program in a document.
fn blocks_of(program: &str, document: &str) -> Vec<Vec<Sample>> {
    let mut blocks = samples(document, &fs::read_to_string(checkout().join(document)).unwrap());
    blocks.retain(|block| program_of(block) == program);
    blocks
}

/// A folder in which samples run as in a clone.
fn clone() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    symlink(checkout().join("examples"), folder.path().join("examples")).unwrap();
    folder
}

/// What a block prints otherwise than the document says, in a folder.
fn what_differs_in(document: &str, block: &[Sample], folder: &Path) -> String {
    let mut wrong = String::new();
    for (sample, printed) in block.iter().zip(run(block, folder)) {
        if !matches(&lines(&sample.printed), &lines(&printed)) {
            let Sample { line, command, printed: stated } = sample;
            let _ = write!(
                wrong,
                "\n{document}, line {line}: $ {command}\n-- the document says:\n{stated}-- it prints:\n{printed}"
            );
        }
    }
    wrong
}

/// Runs the commands of a block in one shell in a folder, and gives what each printed.
fn run(block: &[Sample], folder: &Path) -> Vec<String> {
    let outputs = tempfile::tempdir().unwrap();
    let output = |i: usize| outputs.path().join(i.to_string());
    // A benchmark asks rustc for its version.
    let compiler = Path::new(env!("CARGO")).parent().unwrap();
    let mut script = format!("PATH=\"$PATH\":'{}'\n", compiler.display());
    for (i, sample) in block.iter().enumerate() {
        writeln!(script, "{{ {}; }} > '{}' 2>&1", sample.command, output(i).display()).unwrap();
    }
    shell(&script).current_dir(folder).ran();
    (0..block.len()).map(|i| fs::read_to_string(output(i)).unwrap()).collect()
}

/// The program that a block is about: the first one of ours that it calls, or the command line, which scripts call.
fn program_of(block: &[Sample]) -> &'static str {
    let named = |command: &str| PROGRAMS.into_iter().find(|name| command.split(' ').next() == Some(name));
    block.iter().find_map(|sample| named(&sample.command)).unwrap_or("quorate")
}

/// A command of a block, and what the document says that it prints.
#[derive(Debug, PartialEq)]
struct Sample {
    /// Where the command stands, from 1.
    line: usize,
    /// What the shell gets, on one line.
    command: String,
    /// What the document says that it prints.
    printed: String,
}

/// Whether a sample may run a command: the programs under test, the scripts of the repository, and tools that every system has.
fn is_run(command: &str) -> bool {
    let first = command.split(' ').next().unwrap_or_default();
    PROGRAMS.contains(&first)
        || ["sed", "grep", "echo", "printf"].contains(&first)
        || command.starts_with("sh examples/")
}

/// The `console` blocks of a document.
///
/// # Panics
/// On a block that does not begin with a command, on a command that is not ours, and on an output that stands in a block of
/// its own, where nothing would compare it.
fn samples(document: &str, text: &str) -> Vec<Vec<Sample>> {
    let mut blocks = Vec::new();
    let mut lines = (1..).zip(text.lines()).peekable();
    let mut after_shell = false;
    while let Some((at, line)) = lines.next() {
        let Some(language) = line.strip_prefix("```") else {
            after_shell &= line.is_empty();
            continue;
        };
        let mut content = Vec::new();
        for (at, line) in lines.by_ref() {
            if line.starts_with("```") {
                break;
            }
            content.push((at, line));
        }
        let runs_us = content.iter().any(|(_, line)| line.starts_with("quorate ") || line.contains("--bin quorate"));
        match language {
            "console" => blocks.push(block(document, &content)),
            "text" if after_shell => {
                panic!("{document}, line {at}: write this output and its command as one `console` block")
            }
            _ => {}
        }
        after_shell = language == "sh" && runs_us;
    }
    blocks
}

fn block(document: &str, content: &[(usize, &str)]) -> Vec<Sample> {
    let mut samples: Vec<Sample> = Vec::new();
    let mut continued = false;
    for (line, text) in content {
        let last = samples.last_mut();
        if let (true, Some(sample)) = (continued, last) {
            sample.command = format!("{} {}", sample.command.trim_end_matches('\\').trim_end(), text.trim());
        } else if let Some(command) = text.strip_prefix("$ ") {
            assert!(
                is_run(command),
                "{document}, line {line}: a sample runs a program of ours, `sh examples/…`, `sed …`, `grep …`, `echo …` or `printf …`, \
                 not `{command}`"
            );
            samples.push(Sample { line: *line, command: command.to_owned(), printed: String::new() });
        } else {
            let sample = samples.last_mut();
            let sample = sample.unwrap_or_else(|| panic!("{document}, line {line}: the block begins without `$ `"));
            sample.printed.push_str(text);
            sample.printed.push('\n');
        }
        continued = samples.last().is_some_and(|sample| sample.printed.is_empty() && sample.command.ends_with('\\'));
    }
    samples
}

/// Lines as they are compared: without what differs from run to run, and from machine to machine.
fn lines(text: &str) -> Vec<String> {
    text.lines().map(|line| same_everywhere(line.trim_end())).collect()
}

fn same_everywhere(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let is_number = |word: &str| word.trim_start_matches('(').parse::<f64>().is_ok();
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    let mut same = Vec::new();
    for (i, word) in words.iter().enumerate() {
        let next = words.get(i + 1).map(|word| bare(word)).unwrap_or_default();
        let word = match bare(word).as_str() {
            "portable" | "ifma" | "fma-avx512" | "fma-avx2" | "fma-neon" => word.replace(&bare(word), "BACKEND"),
            "thread" => word.replace("thread", "threads"),
            _ if is_number(word) && ["ns", "µs", "ms", "s"].contains(&next.as_str()) => {
                word.replace(&bare(word), "TIME")
            }
            _ if is_number(word) && ["thread", "threads"].contains(&next.as_str()) => "N".to_owned(),
            "ns" | "µs" | "ms" | "s" if i > 0 && is_number(words[i - 1]) => word.replace(&bare(word), "UNIT"),
            _ => (*word).to_owned(),
        };
        same.push(word);
    }
    same.join(" ")
}

/// Whether the lines are the stated ones, where `…` stands for any.
fn matches(stated: &[String], printed: &[String]) -> bool {
    match stated {
        [] => printed.is_empty(),
        [first, rest @ ..] if first == "…" => (0..=printed.len()).any(|skipped| matches(rest, &printed[skipped..])),
        [first, rest @ ..] => printed.first() == Some(first) && matches(rest, &printed[1..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_from_run_to_run_is_not_compared() {
        let stated = same_everywhere("6 claims: 6 valid, 0 invalid (8.3 ms, ifma, 2 threads)");
        assert_eq!(stated, same_everywhere("6 claims: 6 valid, 0 invalid (1.27 s, portable, 1 thread)"));
        for other in ["6 claims: 5 valid, 0 invalid (8.3 ms, ifma, 2 threads)", "6 claims: 6 valid, 0 invalid"] {
            assert_ne!(stated, same_everywhere(other));
        }
        assert_eq!(same_everywhere("  estimated    0.3 ms of one core"), "  estimated    TIME UNIT of one core");
        assert_eq!(same_everywhere("  slot 1        10        1  counted"), "  slot 1        10        1  counted");
    }

    #[test]
    fn dots_stand_for_any_lines() {
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        for (stated, printed, same) in [
            ("a\n…", "a\nb\nc", true),
            ("…\nc", "a\nb\nc", true),
            ("a\n…\nc", "a\nc", true),
            ("a\n…\nc", "a\nb", false),
            ("a", "a\nb", false),
            ("a\nb", "a", false),
        ] {
            assert_eq!(matches(&lines(stated), &lines(printed)), same, "{stated:?} and {printed:?}");
        }
    }

    #[test]
    fn blocks_are_found_with_their_commands() {
        let text = "# T\n\n```console\n$ quorate a \\\n    --b\none\ntwo\n$ echo $?\n0\n```\n\n```json\n{}\n```\n";
        let sample =
            |line, command: &str, printed: &str| Sample { line, command: command.into(), printed: printed.into() };
        let expected = [sample(4, "quorate a --b", "one\ntwo\n"), sample(8, "echo $?", "0\n")];
        assert_eq!(samples("t.md", text), [expected]);
    }

    #[test]
    #[should_panic(expected = "t.md, line 5: write this output and its command as one `console` block")]
    fn an_output_in_a_block_of_its_own_is_refused() {
        samples("t.md", "```sh\nquorate verify claims.jsonl\n```\n\n```text\nvalid\n```\n");
    }

    #[test]
    #[should_panic(expected = "not `cargo build`")]
    fn a_foreign_command_is_refused() {
        samples("t.md", "```console\n$ cargo build\n```\n");
    }
}
