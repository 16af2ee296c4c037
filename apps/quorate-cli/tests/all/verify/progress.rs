//! The progress line on a terminal: it appears, and however the run ends, it is gone.

use std::{
    fs::File,
    io::{Read, Write},
    process::{ChildStdin, Stdio},
    str::Chars,
    sync::{Arc, Mutex},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use rustix::{
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Winsize, tcsetwinsize},
};

use quorate_lab::run::{LIMIT, Running, Signal, command};
use serde_json::json;

use crate::verify::run::{claim, false_claim, lines};

/// A run whose standard error is a terminal of 80 columns, and whose standard input stays open.
struct OnTerminal {
    run: Running,
    input: Option<ChildStdin>,
    shown: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl OnTerminal {
    fn start(arguments: &[&str], stdout: Stdio) -> Self {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        tcsetwinsize(&terminal, Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let name = ptsname(&terminal, Vec::new()).unwrap();
        let inside = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        let mut command = command("quorate");
        command.arg("verify").args(arguments).env("TERM", "xterm");
        let mut run = Running::start(command.stdin(Stdio::piped()).stdout(stdout).stderr(inside));
        let shown = Arc::new(Mutex::new(Vec::new()));
        let (mut terminal, to) = (File::from(terminal), shown.clone());
        // Reading fails as soon as the program has ended, because nobody has the other end any more.
        let reader = thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(n @ 1..) = terminal.read(&mut bytes) {
                to.lock().unwrap().extend_from_slice(&bytes[..n]);
            }
        });
        Self { input: run.child.stdin.take(), run, shown, reader }
    }

    fn screen(&self) -> Vec<String> {
        screen(&self.shown.lock().unwrap())
    }

    /// Writes claims until the line stands on the screen.
    #[track_caller]
    fn until_it_appears(&mut self, claims: &str) {
        let begun = Instant::now();
        while !self.screen().iter().any(|line| is_progress(line)) {
            assert!(begun.elapsed() < LIMIT, "no progress line: {:?}", self.screen());
            self.input.as_mut().unwrap().write_all(claims.as_bytes()).unwrap();
            thread::sleep(Duration::from_millis(50));
        }
    }

    fn interrupt(&self) {
        self.run.signal(Signal::INT);
    }

    /// Waits for the end. Returns the exit code and what stands on the screen then.
    #[track_caller]
    fn end(mut self) -> (i32, Vec<String>) {
        let code = self.run.ended();
        self.reader.join().unwrap();
        let screen = screen(&self.shown.lock().unwrap());
        assert!(!screen.iter().any(|line| is_progress(line)), "left behind: {screen:?}");
        (code, screen)
    }
}

/// The line is like `⠁ 12 claims, 34.5/s, 2s 1 invalid`.
fn is_progress(line: &str) -> bool {
    line.contains(" claim") && line.contains("/s, ")
}

/// The lines that stand on a terminal after it was written to, without those that are empty.
fn screen(written: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(written);
    let (mut lines, mut row, mut column) = (vec![Vec::new()], 0_usize, 0);
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '\r' => column = 0,
            '\n' => {
                row += 1;
                lines.resize(lines.len().max(row + 1), Vec::new());
            }
            '\x1b' => {
                assert_eq!(rest.next(), Some('['), "an escape sequence in {text:?}");
                let (number, letter) = sequence(&mut rest);
                match letter {
                    'A' => row = row.saturating_sub(number.unwrap_or(1)),
                    'K' if number == Some(2) => lines[row].clear(),
                    'K' => lines[row].truncate(column),
                    _ => panic!("the sequence that ends with {letter} in {text:?}"),
                }
            }
            c => {
                let line = &mut lines[row];
                line.resize(line.len().max(column + 1), ' ');
                line[column] = c;
                column += 1;
            }
        }
    }
    let lines = lines.into_iter().map(|line| line.into_iter().collect::<String>().trim_end().to_owned());
    lines.filter(|line| !line.is_empty()).collect()
}

/// The number and the letter of an escape sequence.
fn sequence(rest: &mut Chars<'_>) -> (Option<usize>, char) {
    let mut number = None;
    for c in rest {
        match c.to_digit(10) {
            Some(digit) => number = Some(10 * number.unwrap_or(0) + digit as usize),
            None => return (number, c),
        }
    }
    panic!("a sequence without an end");
}

#[test]
fn it_is_gone_at_the_end() {
    let mut run = OnTerminal::start(&[], Stdio::null());
    run.until_it_appears(&lines(&[claim(1), claim(2)]));
    run.input = None;
    let (code, screen) = run.end();
    let [summary] = &screen[..] else { panic!("{screen:?}") };
    assert_eq!(code, 0);
    assert!(summary.contains(" valid, 0 invalid (") && summary.ends_with(')'), "{summary}");
}

/// Messages stand above it, and stay.
#[test]
fn it_is_gone_after_claims_that_are_false_or_malformed() {
    let mut run = OnTerminal::start(&["--verdicts"], Stdio::null());
    run.until_it_appears(&lines(&[claim(1), false_claim(2)]));
    run.input.as_mut().unwrap().write_all(b"{}\n").unwrap();
    run.input = None;
    let (code, screen) = run.end();
    assert_eq!(code, 2);
    assert!(
        screen[0].starts_with("standard input, line ") && screen.last().unwrap().contains(", 1 malformed"),
        "{screen:?}"
    );
}

/// The reader of the verdicts leaves, which ends the run without a message.
#[test]
fn it_is_gone_after_an_error() {
    let mut run = OnTerminal::start(&["--verdicts"], Stdio::piped());
    let line = lines(&[claim(1)]);
    run.until_it_appears(&line);
    drop(run.run.child.stdout.take());
    while run.input.as_mut().unwrap().write_all(line.as_bytes()).is_ok() {
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(run.end(), (3, Vec::new()));
}

#[test]
fn it_is_gone_after_ctrl_c() {
    let mut run = OnTerminal::start(&[], Stdio::null());
    run.until_it_appears(&lines(&[claim(1)]));
    run.interrupt();
    let (code, screen) = run.end();
    assert_eq!(code, 130);
    assert!(screen.last().unwrap().contains("; interrupted ("), "{screen:?}");
}

/// A claim of 20,000 messages takes seconds, so the second one ends the program on the spot.
#[test]
fn it_is_gone_after_the_second_ctrl_c() {
    // A busy machine may not have begun with the claim when the first one comes, and then ends with a summary. A program that waits for
    // the claim does so each time.
    let is_on_the_spot = |_| {
        let (code, screen) = interrupted_twice();
        assert_eq!(code, 130, "{screen:?}");
        screen.is_empty()
    };
    assert!((0..10).any(is_on_the_spot), "the second one does not end it");
}

/// The exit code, and what stands on the screen, after two signals while a large claim is verified.
fn interrupted_twice() -> (i32, Vec<String>) {
    let mut run = OnTerminal::start(&["--backend", "portable", "--threads", "1"], Stdio::null());
    run.until_it_appears(&lines(&[claim(1)]));
    let single = claim(1);
    let messages: Vec<_> = (0..20_000_u32).map(|i| format!("{i:08x}")).collect();
    let large = json!({
        "suite": "eth2", "public_keys": vec![&single["public_key"]; messages.len()], "messages": messages,
        "signature": single["signature"],
    });
    run.input.as_mut().unwrap().write_all(lines(&[large]).as_bytes()).unwrap();
    thread::sleep(Duration::from_secs(2));
    // Signals that come before the first one is handled count as one.
    while run.run.runs() {
        run.interrupt();
        thread::sleep(Duration::from_millis(20));
    }
    run.end()
}
