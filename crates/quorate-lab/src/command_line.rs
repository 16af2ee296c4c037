//! What must hold for the command line of every program.

use std::{any::TypeId, path::PathBuf};

use clap::{Arg, ArgAction, Command, builder::ValueParser, error::ErrorKind};

/// Checks, for a command and those below it, that what conflicts with a required argument also conflicts with the one that requires it.
///
/// Otherwise clap waives the requirement, and the argument that has it is accepted and does nothing. What excludes each other is found by
/// lines with two arguments, whose values nobody reads. So a conflict that hangs on a value or on a third argument is not found.
///
/// # Panics
/// If an argument can stand beside what excludes its requirement.
pub fn requirements_hold(command: &Command) {
    let bare = without_values(command);
    let arguments = arguments(&bare);
    let conflict = |one: &Arg, other: &Arg| {
        let refused = bare.clone().try_get_matches_from(line(&[one, other], "1")).err();
        refused.is_some_and(|error| error.kind() == ErrorKind::ArgumentConflict)
    };
    for argument in &arguments {
        for id in required_by(argument) {
            let required = arguments.iter().find(|other| other.get_id().as_str() == id);
            let required = required.unwrap_or_else(|| panic!("`{argument}` requires {id}, which is no argument"));
            for other in arguments.iter().filter(|other| ![argument, required].contains(other)) {
                assert!(
                    !conflict(required, other) || conflict(argument, other),
                    "{}: `{other}` excludes `{required}`, which `{argument}` requires; it must exclude `{argument}` too",
                    command.get_name()
                );
            }
        }
    }
    command.get_subcommands().for_each(requirements_hold);
}

/// Checks, for a command and those below it, that every argument which names a file refuses `-`, or says in its help which standard
/// stream that is. Files of passphrases are refused later, with a hint at the flag for a descriptor.
///
/// # Panics
/// If an argument takes `-` and does not say so.
pub fn dashes_are_explained(command: &Command) {
    for argument in arguments(command) {
        let values = argument.get_value_names().unwrap_or_default();
        let is_pair = values.iter().any(|value| value.ends_with("=FILE"));
        let is_path = argument.get_value_parser().type_id() == TypeId::of::<PathBuf>();
        let is_folder = values.iter().any(|value| value.contains("FOLDER") || value.as_str() == "DIR");
        let is_passphrase = argument.get_id().as_str().ends_with("passphrase_file");
        if !(is_pair || is_path) || is_folder || is_passphrase {
            continue;
        }
        let line = line(&[&argument], if is_pair { "a=-" } else { "-" });
        let refused = parsable(command.clone()).try_get_matches_from(line).err();
        let is_refused = refused.is_some_and(|error| error.kind() == ErrorKind::ValueValidation);
        let help = argument.get_long_help().or(argument.get_help()).map(ToString::to_string).unwrap_or_default();
        let is_explained = help.contains("`-`") && help.contains("standard");
        assert!(
            is_refused != is_explained,
            "{}: `{argument}` must either refuse `-` or say in its help what it means, and not both",
            command.get_name()
        );
    }
    command.get_subcommands().for_each(dashes_are_explained);
}

/// A command whose arguments take any value.
fn without_values(command: &Command) -> Command {
    parsable(command.clone().mut_args(|argument| {
        if argument.get_action().takes_values() { argument.value_parser(ValueParser::os_string()) } else { argument }
    }))
}

/// A command that reads a line without its name, also one without arguments, whatever the environment says.
fn parsable(command: Command) -> Command {
    command
        .mut_args(|argument| argument.env(None::<&'static str>))
        .no_binary_name(true)
        .arg_required_else_help(false)
        .subcommand_required(false)
}

/// The arguments of a command, without those that print its help or version.
fn arguments(command: &Command) -> Vec<Arg> {
    let mut built = command.clone();
    // Only now positional arguments have an index.
    built.build();
    let prints = |argument: &Arg| {
        let action = argument.get_action();
        matches!(action, ArgAction::Help | ArgAction::HelpLong | ArgAction::HelpShort | ArgAction::Version)
    };
    built.get_arguments().filter(|argument| !prints(argument)).cloned().collect()
}

/// The words of a line with these arguments. Positional arguments before them get the same value.
fn line(arguments: &[&Arg], value: &str) -> Vec<String> {
    let mut words = Vec::new();
    for argument in arguments.iter().filter(|argument| !argument.is_positional()) {
        let takes_value = argument.get_action().takes_values();
        words.push(match (argument.get_long(), argument.get_short()) {
            (Some(long), _) if takes_value => format!("--{long}={value}"),
            (Some(long), _) => format!("--{long}"),
            (None, Some(short)) if takes_value => format!("-{short}{value}"),
            (None, Some(short)) => format!("-{short}"),
            (None, None) => panic!("an option has a name"),
        });
    }
    let positional = arguments.iter().filter_map(|argument| argument.get_index()).max().unwrap_or(0);
    words.extend(vec![value.to_owned(); positional]);
    words
}

/// What an argument requires, by id. clap tells it in no other way than this print; if that changes, the tests below fail.
fn required_by(argument: &Arg) -> Vec<String> {
    let printed = format!("{argument:?}");
    let (_, behind) = printed.split_once(", requires: [").expect("clap prints requirements");
    let (list, _) = behind.split_once("], r_ifs: ").expect("the list ends");
    // Such as `(IsPresent, "keystore")`.
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use clap::{ArgGroup, value_parser};

    use super::*;

    fn flag(name: &'static str) -> Arg {
        Arg::new(name).long(name).action(ArgAction::SetTrue)
    }

    /// `--detail` requires `--mode`, which `--other` excludes.
    fn command(detail: Arg) -> Command {
        let arguments = [flag("mode"), flag("other").conflicts_with("mode"), detail.requires("mode")];
        Command::new("root").subcommand(Command::new("below").args(arguments))
    }

    #[test]
    fn a_requirement_that_holds() {
        requirements_hold(&command(flag("detail").conflicts_with("other")));
    }

    #[test]
    #[should_panic(expected = "below: `--other` excludes `--mode`, which `--detail` requires")]
    fn a_requirement_that_a_conflict_waives_is_found() {
        requirements_hold(&command(flag("detail")));
    }

    #[test]
    #[should_panic(expected = "`--other` excludes `--mode`, which `--detail` requires")]
    fn a_requirement_that_a_group_waives_is_found() {
        let group = ArgGroup::new("what").args(["mode", "other"]).required(true);
        let arguments = [flag("mode"), flag("other"), flag("detail").requires("mode")];
        requirements_hold(&Command::new("root").args(arguments).group(group));
    }

    fn file(help: &'static str) -> Command {
        Command::new("root").arg(Arg::new("file").required(true).value_parser(value_parser!(PathBuf)).help(help))
    }

    #[test]
    fn a_dash_that_is_explained() {
        dashes_are_explained(&file("A file; `-` is standard input"));
    }

    #[test]
    #[should_panic(expected = "must either refuse `-` or say")]
    fn a_dash_that_is_not_explained_is_found() {
        dashes_are_explained(&file("A file"));
    }
}
