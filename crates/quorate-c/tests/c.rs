//! Programs in C on the static library of this build, which finds freed handles.

use std::{env, fs, path::Path, process::Command};

const C: (&str, &str) = ("CC", "cc");
const SANITIZED: &str = "-fsanitize=address,undefined";

/// Compiles with all warnings, runs, and gives what was printed.
fn ran((variable, compiler): (&str, &str), arguments: &[&str], source: &Path, with: &[&str]) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let libraries = env::current_exe().expect("this test").parent().expect("a folder").to_path_buf();
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("program");
    let compiler = env::var(variable).unwrap_or_else(|_| compiler.to_owned());
    let mut compile = Command::new(&compiler);
    compile.args(arguments).args(["-Wall", "-Wextra", "-Werror", "-pedantic", "-g"]);
    compile.arg("-I").arg(root.join("include")).arg(source).arg(libraries.join("libquorate_c.a"));
    let compiled = compile.args(["-lpthread", "-ldl", "-lm", "-lgcc_s", "-o"]).arg(&program).output();
    let compiled = compiled.unwrap_or_else(|error| panic!("there is no compiler {compiler}: {error}"));
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let ran = Command::new(&program).args(with).output().expect("the program");
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{said}{}", String::from_utf8_lossy(&ran.stderr));
    said
}

#[test]
fn every_function_as_c_calls_it() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/library.c");
    assert!(ran(C, &["-std=c11", SANITIZED], &source, &["with-assertions"]).contains("is as it should be"));
}

/// `make soak-calls` makes ten million to a release.
#[test]
fn calls_leave_no_memory_behind() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/calls.c");
    assert_eq!(ran(C, &["-std=c11"], &source, &["20000"]).lines().count(), 4);
}

/// The program of docs/languages.md prints what stands below it, in C and in C++.
#[test]
fn the_program_of_the_guide() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let guide = fs::read_to_string(crate_folder.join("../../docs/languages.md")).expect("the guide");
    let (_, rest) = guide.split_once("```text\n").expect("what it prints");
    let (printed, _) = rest.split_once("```").expect("its end");
    let source = crate_folder.join("tests/c/guide.c");
    assert_eq!(ran(C, &["-std=c11", SANITIZED], &source, &[]), printed);
    let folder = tempfile::tempdir().expect("a folder");
    let header = folder.path().join("header.cpp");
    fs::write(&header, "#include <quorate.h>\nint main() { return quorate_abi() == QUORATE_ABI ? 0 : 1; }\n")
        .expect("a file");
    ran(("CXX", "c++"), &["-std=c++17"], &header, &[]);
}
