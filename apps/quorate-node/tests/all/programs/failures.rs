//! What a program can do wrong, each with its own error, and none a verdict.

use std::fs;

use quorate_node::programs::{Program, ProgramInput, ProgramSetupError};

use super::*;

#[tokio::test]
async fn a_result_is_what_was_written_byte_for_byte() {
    let scripts = Scripts::new();
    let program = scripts.sh("p", r"cat > /dev/null; printf '\000\377 12.5\n\n'");
    assert_eq!(programs(program, LONG).execute(&task("{}")).await.unwrap(), b"\0\xff 12.5\n\n"[..]);
}

#[tokio::test]
async fn a_program_reads_the_documented_object() {
    let scripts = Scripts::new();
    let both = programs(scripts.sh("p", &format!("cat > {}; echo 1", scripts.path("input").display())), LONG);
    let read = || serde_json::from_slice::<ProgramInput>(&fs::read(scripts.path("input")).unwrap()).unwrap();
    both.execute(&task(vec![0xFF, 0x7B])).await.unwrap();
    assert_eq!(read(), ProgramInput::execute(NETWORK, &task(vec![0xFF, 0x7B])));
    assert!(both.validate(&task("{}"), &"12.5".into()).await.unwrap());
    assert_eq!(read(), ProgramInput::validate(NETWORK, &task("{}"), &"12.5".into()));
}

#[tokio::test]
async fn status_0_attests_and_1_rejects() {
    let scripts = Scripts::new();
    for (status, approved) in [(0, true), (1, false)] {
        let program = scripts.sh(&format!("p{status}"), &format!("cat > /dev/null; exit {status}"));
        assert_eq!(programs(program, LONG).validate(&task("{}"), &"1".into()).await.unwrap(), approved);
    }
}

#[tokio::test]
async fn other_statuses_are_no_verdict() {
    let scripts = Scripts::new();
    for status in [2, 3, 101, 127, 255] {
        let text = format!("cat > /dev/null; echo '12.5'; echo 'no such pair' >&2; exit {status}");
        let both = programs(scripts.sh(&format!("p{status}"), &text), LONG);
        for error in
            [both.validate(&task("{}"), &"1".into()).await.unwrap_err(), both.execute(&task("{}")).await.unwrap_err()]
        {
            assert_failed(&error, |why| matches!(why, ProgramFailure::Status { found, .. } if *found == status));
            assert_eq!(error.standard_error, "no such pair");
        }
    }
    // A rejection is not a result.
    let error = execute_failure(scripts.sh("p1", "cat > /dev/null; echo '12.5'; exit 1"), LONG).await;
    assert_failed(&error, |why| matches!(why, ProgramFailure::Status { found: 1, .. }));
}

#[tokio::test]
async fn a_signal_is_no_verdict() {
    let scripts = Scripts::new();
    for signal in [6, 9, 15] {
        let text = format!("cat > /dev/null; echo '12.5'; kill -{signal} $$; sleep 60");
        let both = programs(scripts.sh(&format!("p{signal}"), &text), LONG);
        for error in
            [both.validate(&task("{}"), &"1".into()).await.unwrap_err(), both.execute(&task("{}")).await.unwrap_err()]
        {
            assert_failed(&error, |why| matches!(why, ProgramFailure::Signal(found) if *found == signal));
        }
    }
}

#[tokio::test]
async fn a_missing_program() {
    for missing in ["/no/such/program", "no-such-program-on-the-path", "/bin/sh/no-folder"] {
        let error = execute_failure(Program::command([missing]).unwrap(), LONG).await;
        assert_failed(&error, |why| matches!(why, ProgramFailure::NotFound));
        assert!(error.to_string().starts_with(&format!("{missing}: not found; give the path")), "{error}");
    }
}

#[tokio::test]
async fn a_missing_interpreter() {
    let scripts = Scripts::new();
    let file = scripts.file("p", "#!/no/such/interpreter\n");
    let error = execute_failure(Program::command([file]).unwrap(), LONG).await;
    assert_failed(&error, |why| matches!(why, ProgramFailure::NotFound));
}

#[tokio::test]
async fn a_file_that_may_not_be_executed() {
    let scripts = Scripts::new();
    fs::write(scripts.path("p"), "#!/bin/sh\necho 1\n").unwrap();
    for file in [scripts.path("p"), scripts.0.path().to_owned()] {
        let error = execute_failure(Program::command([file.to_str().unwrap()]).unwrap(), LONG).await;
        assert_failed(&error, |why| matches!(why, ProgramFailure::NotExecutable));
    }
}

#[tokio::test]
async fn a_script_without_an_interpreter_is_not_given_to_a_shell() {
    let scripts = Scripts::new();
    let file = scripts.file("p", &format!("cat > /dev/null; echo 1 | tee {}\n", scripts.path("ran").display()));
    let error = execute_failure(Program::command([file]).unwrap(), LONG).await;
    assert_failed(&error, |why| matches!(why, ProgramFailure::NotAProgram));
    assert!(!scripts.path("ran").exists());
}

#[tokio::test]
async fn a_command_is_words_and_nothing_in_it_is_executed() {
    let scripts = Scripts::new();
    let file = scripts.file("p", "#!/bin/sh\ncat > /dev/null; printf '[%s]' \"$@\"\n");
    let command = format!("{file} $HOME 'a b' \"c;d\" `id` >x | ~ * e\\ f ''");
    let program: Program = command.parse().unwrap();
    let result = programs(program, LONG).execute(&task("{}")).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&result), "[$HOME][a b][c;d][`id`][>x][|][~][*][e f][]");
}

#[test]
fn commands_that_cannot_be_used() {
    let setup = |text: &str| text.parse::<Program>().unwrap_err();
    assert_eq!(setup(""), ProgramSetupError::Empty);
    assert_eq!(setup("  "), ProgramSetupError::Empty);
    assert_eq!(setup("'' a"), ProgramSetupError::Empty);
    assert_eq!(setup("python3 'price.py"), ProgramSetupError::Quotes("python3 'price.py".to_owned()));
    assert!(matches!(setup("python3 price.py\\"), ProgramSetupError::Quotes(_)));
    assert_eq!(Program::command(["a", "b\0c"]).unwrap_err(), ProgramSetupError::ZeroByte);
    assert_eq!(Program::command([""; 0]).unwrap_err(), ProgramSetupError::Empty);
}

#[tokio::test]
async fn a_program_that_was_not_given() {
    let neither = Programs::new(NETWORK, None, None, settings(LONG));
    let error = neither.execute(&task("{}")).await.unwrap_err();
    assert_failed(&error, |why| matches!(why, ProgramFailure::NotSet("execute")));
    let error = neither.validate(&task("{}"), &"1".into()).await.unwrap_err();
    assert_failed(&error, |why| matches!(why, ProgramFailure::NotSet("validate")));
}

#[tokio::test]
async fn an_answer_without_reading_the_task_is_none() {
    let scripts = Scripts::new();
    // A task that fits into a pipe, and one that does not.
    for length in [2, 200_000] {
        for (name, text) in [
            ("ignores", "echo 12.5"),
            ("rejects", "exit 1"),
            ("closes", "exec 0<&-; echo 12.5; sleep 0.1"),
            ("stops", "head -c 20 > /dev/null; echo 12.5"),
        ] {
            let both = programs(scripts.sh(name, text), LONG);
            let error = both.validate(&task(vec![b' '; length]), &"1".into()).await.unwrap_err();
            assert_failed(&error, |why| matches!(why, ProgramFailure::InputNotRead));
            let error = both.execute(&task(vec![b' '; length])).await.unwrap_err();
            assert_failed(&error, |why| matches!(why, ProgramFailure::InputNotRead | ProgramFailure::Status { .. }));
        }
    }
}

#[tokio::test]
async fn the_end_of_the_line_may_stay_unread() {
    let scripts = Scripts::new();
    let length = ProgramInput::execute(NETWORK, &task("{}"));
    let length = serde_json::to_vec(&length).unwrap().len();
    let program = scripts.sh("p", &format!("dd bs={length} count=1 2> /dev/null"));
    assert_eq!(programs(program, LONG).execute(&task("{}")).await.unwrap().len(), length);
}

#[tokio::test]
async fn a_script_with_a_syntax_error_rejects_nothing() {
    let scripts = Scripts::new();
    fs::write(scripts.path("broken.py"), "def (:\n").unwrap();
    let broken = Program::command([&*PYTHON, scripts.path("broken.py").to_str().unwrap()]).unwrap();
    let error = programs(broken, LONG).validate(&task("{}"), &"1".into()).await.unwrap_err();
    assert_failed(&error, |why| matches!(why, ProgramFailure::InputNotRead));
    assert!(error.standard_error.contains("SyntaxError"), "{error}");
}

#[tokio::test]
async fn a_result_has_at_least_one_byte() {
    let scripts = Scripts::new();
    for (name, text) in [("silent", "cat > /dev/null"), ("closed", "cat > /dev/null; exec 1>&-; echo no >&2")] {
        let error = execute_failure(scripts.sh(name, text), LONG).await;
        assert_failed(&error, |why| matches!(why, ProgramFailure::NoResult));
    }
}

#[tokio::test]
async fn output_closed_early_is_no_end() {
    let scripts = Scripts::new();
    let program = scripts.sh("p", "cat > /dev/null; echo 12.5; exec 1>&- 2>&-; sleep 0.3; exit 3");
    let error = execute_failure(program, LONG).await;
    assert_failed(&error, |why| matches!(why, ProgramFailure::Status { found: 3, .. }));
}

#[tokio::test]
async fn what_a_program_says_cannot_drive_a_terminal() {
    let scripts = Scripts::new();
    let program = scripts.sh("p", r"cat > /dev/null; printf 'a\033[2J\r\nb\302\205\342\200\256\377' >&2; exit 4");
    let error = execute_failure(program, LONG).await;
    assert_eq!(error.standard_error, "a\\u{1b}[2J\\u{d}\\u{a}b\\u{85}\\u{202e}\u{fffd}");
    assert!(error.to_string().ends_with(&format!("It said: {}", error.standard_error)), "{error}");
}
