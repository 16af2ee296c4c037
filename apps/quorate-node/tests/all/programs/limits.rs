//! Limits of time, output, memory of errors, number and environment; and that nothing outlives a call.

use std::{fs, path::Path};

use quorate_network::message::MAX_RESULT;
use quorate_node::programs::{MAX_STANDARD_ERROR, Program};
use rustix::process::{Pid, test_kill_process};
use tokio::task::JoinSet;

use super::*;

#[tokio::test]
async fn a_program_that_runs_over_its_time_is_killed_and_reaped() {
    let scripts = Scripts::new();
    let number = scripts.path("number");
    let program =
        scripts.sh("p", &format!("cat > /dev/null; echo $$ > {}; echo 12.5; exec sleep 300", number.display()));
    let both = programs(program, SHORT);
    let started = Instant::now();
    for error in
        [both.execute(&task("{}")).await.unwrap_err(), both.validate(&task("{}"), &"1".into()).await.unwrap_err()]
    {
        assert_failed(&error, |why| matches!(why, ProgramFailure::Time(SHORT)));
        assert!(error.to_string().contains(&format!("the limit of {} s", SHORT.as_secs())), "{error}");
        let number: i32 = fs::read_to_string(&number).unwrap().trim().parse().unwrap();
        // A process that nobody reaped would still have its number.
        assert_eq!(test_kill_process(Pid::from_raw(number).unwrap()).unwrap_err(), rustix::io::Errno::SRCH);
    }
    assert!(started.elapsed() >= SHORT * 2);
    assert_soon(started);
}

#[tokio::test]
async fn a_program_that_ignores_signals_and_never_reads_is_killed() {
    let scripts = Scripts::new();
    let program = scripts.sh("p", "trap '' TERM INT HUP; while :; do sleep 1; done");
    let started = Instant::now();
    let error = programs(program, SHORT).execute(&task(vec![0; 300_000])).await.unwrap_err();
    assert_failed(&error, |why| matches!(why, ProgramFailure::Time(_)));
    assert_soon(started);
}

#[tokio::test]
async fn a_program_that_stops_itself_is_killed() {
    let scripts = Scripts::new();
    let error = execute_failure(scripts.sh("p", "cat > /dev/null; kill -STOP $$; echo 1"), SHORT).await;
    assert_failed(&error, |why| matches!(why, ProgramFailure::Time(_)));
}

/// What a script does before it goes on: it leaves children behind, two levels deep, which hold the pipe open.
fn family(pipe: &Path) -> String {
    let pipe = pipe.display();
    format!("exec 3> {pipe}; sh -c 'sleep 300 & sleep 300' & sleep 300 & echo started >&3; cat > /dev/null")
}

#[tokio::test]
async fn children_of_a_program_end_with_it() {
    for (end, time, works) in [
        // Over its time, over its output, with a failure, and well.
        ("sleep 300", SHORT, false),
        ("while :; do echo 0123456789012345678901234567890123456789; done", LONG, false),
        ("exit 3", LONG, false),
        ("echo 12.5; exit 0", LONG, true),
    ] {
        let scripts = Scripts::new();
        let watch = scripts.watch("alive");
        let program = scripts.sh("p", &format!("{}; {end}", family(&scripts.path("alive"))));
        let started = Instant::now();
        assert_eq!(programs(program, time).execute(&task("{}")).await.is_ok(), works, "{end}");
        assert_soon(started);
        assert_eq!(watch.assert_gone(), "started\n", "{end}");
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_kills_its_program() {
    let scripts = Scripts::new();
    let watch = scripts.watch("alive");
    let number = scripts.path("number");
    let text = format!("{}; echo $$ > {}; sleep 300", family(&scripts.path("alive")), number.display());
    let both = programs(scripts.sh("p", &text), LONG);
    let read = || fs::read_to_string(&number).ok().and_then(|text| text.trim().parse::<i32>().ok());
    let task = task("{}");
    tokio::select! {
        ended = both.execute(&task) => panic!("{ended:?}"),
        () = async { while read().is_none() { tokio::time::sleep(Duration::from_millis(10)).await } } => {}
    }
    assert_eq!(watch.assert_gone(), "started\n");
    let number = Pid::from_raw(read().unwrap()).unwrap();
    let reaped = async {
        while test_kill_process(number).is_ok() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(REAPED, reaped).await.expect("the runtime reaps it");
}

#[tokio::test]
async fn a_process_that_left_the_group_cannot_hold_a_call() {
    let scripts = Scripts::new();
    let text = "import os, sys, time\n\
                sys.stdin.read()\n\
                child = os.fork()\n\
                if child == 0:\n    os.setsid()\n    time.sleep(300)\n    os._exit(0)\n\
                while os.getpgid(child) == os.getpgrp():\n    time.sleep(0.01)\n\
                print(12.5, flush=True)\n\
                os._exit(0)\n";
    fs::write(scripts.path("p.py"), text).unwrap();
    let program = Program::command([&*PYTHON, scripts.path("p.py").to_str().unwrap()]).unwrap();
    let started = Instant::now();
    let error = execute_failure(program, 2 * SHORT).await;
    assert_failed(&error, |why| matches!(why, ProgramFailure::OutputHeldOpen));
    assert!(started.elapsed() < SOON, "it waited for the process that left");
}

#[tokio::test]
async fn a_result_of_the_greatest_length_and_one_byte_more() {
    let scripts = Scripts::new();
    for (more, name) in [(0, "fits"), (1, "long")] {
        let program = scripts.sh(name, &format!("cat > /dev/null; head -c {} /dev/zero", MAX_RESULT + more));
        let result = programs(program, LONG).execute(&task("{}")).await;
        if more == 0 {
            assert_eq!(result.unwrap(), vec![0; MAX_RESULT]);
        } else {
            let error = result.unwrap_err();
            assert_failed(&error, |why| matches!(why, ProgramFailure::Output));
            assert!(error.to_string().contains("65536 bytes"), "{error}");
        }
    }
}

#[tokio::test]
async fn a_program_that_writes_without_end_is_killed() {
    let scripts = Scripts::new();
    let started = Instant::now();
    let error = execute_failure(scripts.sh("p", "cat > /dev/null; exec cat /dev/zero"), LONG).await;
    assert_failed(&error, |why| matches!(why, ProgramFailure::Output));
    assert_soon(started);
}

#[tokio::test]
async fn what_a_validating_program_prints_is_dropped() {
    let scripts = Scripts::new();
    let program = scripts.sh("p", &format!("cat > /dev/null; head -c {} /dev/zero", MAX_RESULT * 4));
    assert!(programs(program, LONG).validate(&task("{}"), &"1".into()).await.unwrap());
}

#[tokio::test]
async fn the_end_of_standard_error_is_kept() {
    let scripts = Scripts::new();
    let text = "cat > /dev/null; head -c 300000 /dev/zero | tr '\\0' a >&2; echo ' the reason' >&2; exit 2";
    let error = execute_failure(scripts.sh("p", text), LONG).await;
    // The end of the line is trimmed.
    assert_eq!(error.standard_error.len(), MAX_STANDARD_ERROR - 1);
    assert!(error.standard_error.ends_with("a the reason"), "{error}");
    // Errors without an end meet the limit of time.
    let error = execute_failure(scripts.sh("endless", "cat > /dev/null; exec cat /dev/zero >&2"), SHORT).await;
    assert_failed(&error, |why| matches!(why, ProgramFailure::Time(_)));
    assert!(error.standard_error.starts_with("\\u{0}"));
}

/// Whether a name or value stands on a line of `env` as it is, and `sh` does not set it.
fn is_plain(text: &str) -> bool {
    let is_own = matches!(text, "PWD" | "_" | "SHLVL" | "OLDPWD");
    !is_own && text.bytes().all(|letter| letter.is_ascii_graphic() && letter != b'=')
}

#[tokio::test]
async fn the_environment_is_what_is_listed() {
    let scripts = Scripts::new();
    let program = scripts.sh("p", "cat > /dev/null; exec env");
    let names = |result: &[u8]| {
        let text = String::from_utf8_lossy(result);
        let mut names: Vec<String> = text.lines().filter_map(|line| Some(line.split_once('=')?.0.to_owned())).collect();
        // What `sh` sets itself.
        names.retain(|name| !matches!(&**name, "PWD" | "_" | "SHLVL" | "OLDPWD"));
        names.sort_unstable();
        names
    };
    let mut expected: Vec<&str> =
        ["HOME", "LANG", "PATH"].into_iter().filter(|name| env::var_os(name).is_some()).collect();
    let result = programs(program.clone(), LONG).execute(&task("{}")).await.unwrap();
    assert_eq!(names(&result), expected);

    // Cargo sets some dozen variables for tests, and a shell a few.
    let mut others =
        env::vars().filter(|(name, value)| !expected.contains(&&**name) && is_plain(name) && is_plain(value));
    let (listed, value) = others.next().expect("the environment has a further variable");
    let environment = vec![listed.clone(), "NOT_SET_ANYWHERE".to_owned()];
    let both = Programs::new(NETWORK, Some(program), None, ProgramSettings { environment, ..settings(LONG) });
    let result = both.execute(&task("{}")).await.unwrap();
    expected.push(&listed);
    expected.sort_unstable();
    assert_eq!(names(&result), expected);
    assert!(String::from_utf8_lossy(&result).lines().any(|line| line == format!("{listed}={value}")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_at_once_wait_for_their_turn() {
    const CALLS: usize = 60;
    const AT_ONCE: usize = 3;
    let scripts = Scripts::new();
    let log = scripts.path("log");
    // Lines this short are appended whole.
    let text = format!("exec 3>> {}; echo + >&3; cat; sleep 0.02; echo - >&3", log.display());
    let at_once = NonZeroUsize::new(AT_ONCE).unwrap();
    let limits = ProgramSettings { at_once, ..settings(LONG) };
    let both = Programs::new(NETWORK, Some(scripts.sh("p", &text)), None, limits);
    let mut calls = JoinSet::new();
    for call in 0..CALLS {
        let both = both.clone();
        calls.spawn(async move {
            let payload = format!("call {call}");
            let expected = quorate_evm::alloy_primitives::hex::encode(&payload);
            let result = both.execute(&task(payload.into_bytes())).await.unwrap();
            assert!(String::from_utf8_lossy(&result).contains(&format!("\"0x{expected}\"")));
        });
    }
    while let Some(call) = calls.join_next().await {
        call.unwrap();
    }
    let (mut running, mut most, mut all) = (0_usize, 0, 0);
    for line in fs::read_to_string(log).unwrap().lines() {
        if line == "+" {
            running += 1;
            all += 1;
        } else {
            running -= 1;
        }
        most = most.max(running);
    }
    assert_eq!((running, all), (0, CALLS));
    assert_eq!(most, AT_ONCE);
}
