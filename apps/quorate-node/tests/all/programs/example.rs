//! `examples/task-price`: both languages give the same bytes and the same verdicts.

use proptest::prelude::*;
use quorate_lab::needs::{checkout, example};
use quorate_node::programs::Program;

use super::*;

fn python() -> Program {
    Program::command([&*PYTHON, &example("task-price/price.py")]).unwrap()
}

/// Cargo builds the examples of a package before it runs all of its tests, into this folder.
fn rust_file() -> PathBuf {
    let tests = env::current_exe().unwrap();
    let file = tests.ancestors().nth(2).unwrap().join("examples/task-price");
    assert!(file.is_file(), "there is no {}: `cargo build -p quorate-node --example task-price`", file.display());
    file
}

fn rust() -> Program {
    Program::command([rust_file().to_str().unwrap()]).unwrap()
}

fn both() -> [Programs; 2] {
    [programs(python(), LONG), programs(rust(), LONG)]
}

/// The result of both, or that both fail with status 2 without a result.
async fn executed(payload: &[u8]) -> Option<Bytes> {
    let [python, rust] = both();
    let task = task(payload.to_vec());
    let (python, rust) = tokio::join!(python.execute(&task), rust.execute(&task));
    match (python, rust) {
        (Ok(python), Ok(rust)) => {
            assert_eq!(python, rust, "{}", payload.escape_ascii());
            Some(python)
        }
        (Err(python), Err(rust)) => {
            for error in [python, rust] {
                assert_failed(&error, |why| matches!(why, ProgramFailure::Status { found: 2, .. }));
            }
            None
        }
        (python, rust) => panic!("{}: Python says {python:?}, Rust {rust:?}", payload.escape_ascii()),
    }
}

#[test]
fn the_commands_of_the_readme_print_what_it_says() {
    const PYTHON_COMMAND: &str = "python3 examples/task-price/price.py";
    let readme = std::fs::read_to_string(example("task-price/README.md")).unwrap();
    let commands = readme.split("```sh\n").nth(1).unwrap().split("```").next().unwrap();
    let expected: Vec<&str> = commands.lines().filter_map(|line| line.strip_prefix("# ")).collect();
    assert!(commands.matches(PYTHON_COMMAND).count() == 4 && expected.len() == 6, "{commands}");
    for program in [PYTHON_COMMAND, rust_file().to_str().unwrap()] {
        let commands = format!("exec 2>&1\n{}", commands.replace(PYTHON_COMMAND, program));
        let output = Command::new("sh").args(["-c", &commands]).current_dir(checkout()).ran().out;
        let mut lines: Vec<&str> = output.lines().collect();
        if program != PYTHON_COMMAND {
            // The text of the error is another.
            lines[4] = expected[4];
        }
        assert_eq!(lines, expected, "{program}");
    }
}

#[tokio::test]
async fn known_medians() {
    for (prices, median) in [
        (r#""3020.5", "3025.1", "2999""#, "3020.50000000"),
        (r#""1""#, "1.00000000"),
        (r#""0", "0.00000001""#, "0.00000000"),
        (r#""0.00000001", "0.00000002", "9", "0""#, "0.00000001"),
        (r#""10", "9""#, "9.50000000"),
        (r#""10", "9", "100""#, "10.00000000"),
        (r#""999999999999999999.99999999", "999999999999999999.99999999""#, "999999999999999999.99999999"),
    ] {
        let payload = format!(r#" {{"prices": [{prices}], "pair": "ETH/USD"}} "#);
        assert_eq!(executed(payload.as_bytes()).await.unwrap(), *median.as_bytes(), "{prices}");
    }
}

/// A schedule without a payload of its own works with the example, so that a first network settles something.
#[tokio::test]
async fn the_schedules_default_payload_has_a_result() {
    for (number, result) in [(0, "3000.25000000"), (147_005_611, "3011.25000000"), (u64::MAX, "3015.25000000")] {
        let payload = format!(r#"{{"number":{number},"time":1764067335}}"#);
        assert_eq!(executed(payload.as_bytes()).await.unwrap(), *result.as_bytes(), "{number}");
    }
    for payload in [
        &br#"{"number":7}"#[..],
        br#"{"number":7,"time":true}"#,
        br#"{"number":-0,"time":1}"#,
        br#"{"number":1.0,"time":1}"#,
        br#"{"number":18446744073709551616,"time":1}"#,
        br#"{"number":7,"time":84,"pair":"A/B"}"#,
    ] {
        assert!(executed(payload).await.is_none(), "{}", payload.escape_ascii());
    }
}

#[tokio::test]
async fn payloads_that_both_refuse() {
    let many = format!(r#"{{"pair":"A/B","prices":[{}"1"]}}"#, r#""1","#.repeat(1000));
    for payload in [
        &b""[..],
        b"{}",
        b"\xff",
        b"\xef\xbb\xbf{\"pair\":\"A/B\",\"prices\":[\"1\"]}",
        br#"["A/B",["1"]]"#,
        br#"{"pair":"A/B","prices":[]}"#,
        br#"{"pair":"A/B","prices":[1]}"#,
        br#"{"pair":"A/B","prices":["1"],"more":1}"#,
        br#"{"pair":"A/B","prices":["1"],"pair":"A/B"}"#,
        br#"{"pair":"a/b","prices":["1"]}"#,
        br#"{"pair":"A/B/C","prices":["1"]}"#,
        br#"{"pair":"\ud800/B","prices":["1"]}"#,
        br#"{"pair":7,"prices":["1"]}"#,
        br#"{"pair":"A/B","prices":"1"}"#,
        br#"{"pair":"A/B","prices":["01"]}"#,
        br#"{"pair":"A/B","prices":["1."]}"#,
        br#"{"pair":"A/B","prices":[".1"]}"#,
        br#"{"pair":"A/B","prices":["-1"]}"#,
        br#"{"pair":"A/B","prices":["+1"]}"#,
        br#"{"pair":"A/B","prices":["1e3"]}"#,
        br#"{"pair":"A/B","prices":["1.2.3"]}"#,
        br#"{"pair":"A/B","prices":["1\n"]}"#,
        "{\"pair\":\"A/B\",\"prices\":[\"\u{663}\"]}".as_bytes(),
        br#"{"pair":"A/B","prices":["1.000000001"]}"#,
        br#"{"pair":"A/B","prices":["1000000000000000000"]}"#,
        many.as_bytes(),
    ] {
        assert_eq!(executed(payload).await, None, "{}", payload.escape_ascii());
    }
}

#[tokio::test]
async fn a_wrong_result_is_rejected() {
    let task = task(r#"{"pair":"ETH/USD","prices":["1","2","3"]}"#);
    for validate in both() {
        assert!(validate.validate(&task, &"2.00000000".into()).await.unwrap());
        for wrong in ["2.00000001", "2.0", "2", "2.00000000\n", " 2.00000000", "", "\0"] {
            assert!(!validate.validate(&task, &wrong.into()).await.unwrap(), "{wrong:?}");
        }
    }
}

#[tokio::test]
async fn a_task_without_a_meaning_has_no_verdict() {
    for validate in both() {
        let error = validate.validate(&task("{}"), &"2.00000000".into()).await.unwrap_err();
        assert_failed(&error, |why| matches!(why, ProgramFailure::Status { found: 2, .. }));
    }
}

fn price() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => "(0|[1-9][0-9]{0,17})(\\.[0-9]{1,8})?",
        4 => "30[0-9]{2}\\.[0-9]{1,2}",
        1 => "[0-9.]{0,4}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn both_languages_agree(prices in prop::collection::vec(price(), 1..12), change in 0_u8..10) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let payload = serde_json::to_vec(&serde_json::json!({"pair": "ETH/USD", "prices": prices})).unwrap();
        runtime.block_on(async {
            let Some(result) = executed(&payload).await else { return };
            // One digit of the result is another, or none.
            let mut judged = result.to_vec();
            *judged.last_mut().unwrap() = b'0' + change;
            let right = judged == result;
            for validate in both() {
                let approved = validate.validate(&task(payload.clone()), &judged.clone().into()).await.unwrap();
                assert_eq!(approved, right);
            }
        });
    }
}
