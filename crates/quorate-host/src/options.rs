//! What a program is told: a file in TOML, then the environment, then flags; the later one wins.
//!
//! The options are a struct of the program, and its fields have the same names in all three. In the environment a name is in
//! capitals, has the program's prefix, and `_` for each `-` and between a section and its field: `limits.body-bytes` of a program
//! with the prefix `QUORATE_X_` is `QUORATE_X_LIMITS_BODY_BYTES`.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    string::FromUtf8Error,
};

use serde::{Serialize, de::DeserializeOwned};
use thiserror::Error;
use toml::{Table, Value};

use crate::file::{self, FileError};

/// A file of options.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// How errors name it.
    pub name: &'a str,
    /// The content of the file, in TOML.
    pub text: &'a str,
}

/// Why options are refused.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] FileError),
    /// The file has bytes that are not text.
    #[error("{}: {source}", path.display())]
    NoText {
        /// The file.
        path: PathBuf,
        /// Which bytes.
        source: FromUtf8Error,
    },
    /// A field does not exist, or its value is not what was expected.
    #[error("{origin}: {reason}")]
    Refused {
        /// The file, the variable, the flag or the field.
        origin: String,
        /// What was found and what was expected. Of a file it names the line.
        reason: String,
    },
}

impl OptionsError {
    /// A field, or what gives it a value, is refused.
    pub fn refused(origin: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Refused { origin: origin.into(), reason: reason.into() }
    }
}

/// The longest file of options: 1 MiB.
const LARGEST: u64 = 1 << 20;

/// The text of a file of options.
///
/// # Errors
/// The file cannot be read, has more than 1 MiB, or is not text.
pub fn text_of(path: &Path) -> Result<String, OptionsError> {
    String::from_utf8(file::read(path, LARGEST)?)
        .map_err(|source| OptionsError::NoText { path: path.to_owned(), source })
}

/// The options of a file.
///
/// # Errors
/// As of [`text_of`], or what [`parse`] refuses.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<T, OptionsError> {
    parse(Source { name: &path.display().to_string(), text: &text_of(path)? })
}

/// The options that a file's text has.
///
/// # Errors
/// [`OptionsError::Refused`], with the line and the name of what is wrong.
pub fn parse<T: DeserializeOwned>(Source { name, text }: Source<'_>) -> Result<T, OptionsError> {
    toml::from_str(text).map_err(|error| OptionsError::refused(name, reason(text, &error)))
}

/// What is wrong, and where, on one line. Of the file's text it has the name of the field and no value, which may be a secret, such as
/// the URL of a node with its provider's key. What the error itself prints has the whole line.
fn reason(text: &str, error: &toml::de::Error) -> String {
    let Some(span) = error.span() else { return error.message().to_owned() };
    let before = &text[..text.floor_char_boundary(span.start)];
    let begins = before.rfind('\n').map_or(0, |end| end + 1);
    let (line, column) = (before.matches('\n').count() + 1, before[begins..].chars().count() + 1);
    // A `=` in a list is part of a value, and what stands before it then is no name.
    let name = before[begins..].split_once('=').map(|(name, _)| name.trim());
    let is_name = |name: &&str| name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-.".contains(letter));
    let field = name
        .filter(is_name)
        .map_or(String::new(), |name| format!(", in `{} = …`", crate::clipped(name, LONGEST_NAME_SHOWN)));
    format!("line {line}, column {column}: {}{field}", error.message())
}

/// Characters of a field's name that an error shows.
const LONGEST_NAME_SHOWN: usize = 80;

/// The variables of this process that have the prefix, for [`layered`]. The one that names the file is left out: the name of a file need
/// not be text.
///
/// # Errors
/// [`OptionsError::Refused`]: a name or a value is not text. To pass over it would leave a default in force that nobody has chosen.
pub fn variables(prefix: &str) -> Result<Vec<(String, String)>, OptionsError> {
    variables_of(prefix, env::vars_os())
}

fn variables_of(
    prefix: &str,
    environment: impl IntoIterator<Item = (OsString, OsString)>,
) -> Result<Vec<(String, String)>, OptionsError> {
    let file = OsString::from(format!("{prefix}CONFIG"));
    let is_option = |name: &OsString| {
        name.as_encoded_bytes().starts_with(prefix.as_bytes()) && name.as_os_str() != file.as_os_str()
    };
    let options = environment.into_iter().filter(|(name, _)| is_option(name));
    let texts = options.map(|(name, value)| {
        let shown = crate::clipped(&name.to_string_lossy(), LONGEST_NAME_SHOWN);
        let (Ok(name), Ok(value)) = (name.into_string(), value.into_string()) else {
            return Err(OptionsError::refused(
                shown,
                "its name or value has bytes that are not UTF-8; write it anew, or unset it",
            ));
        };
        Ok((name, value))
    });
    texts.collect()
}

/// The options that a file, the environment and flags come to. Each flag is `("section.field", value)`, and errors name it as
/// `--set section.field`. What none of them has is as in the default, which must have a value for each field.
///
/// Variables without the prefix are ignored. The variable with the name `CONFIG` after the prefix names the file and is not a field.
///
/// # Errors
/// [`OptionsError::Refused`] names the file, the variable or the flag.
pub fn layered<T: Default + Serialize + DeserializeOwned>(
    file: Option<Source<'_>>,
    prefix: &str,
    environment: impl IntoIterator<Item = (String, String)>,
    flags: &[(String, String)],
) -> Result<T, OptionsError> {
    let mut merged: Table = match file {
        Some(file) => {
            // Alone first, because such an error names the line.
            parse::<T>(file)?;
            parse(file)?
        }
        None => Table::new(),
    };
    let mut variables: Vec<_> = environment.into_iter().filter(|(name, _)| name.starts_with(prefix)).collect();
    variables.sort();
    for (variable, value) in variables {
        let field = variable[prefix.len()..].to_lowercase();
        if field == "config" {
            continue;
        }
        set::<T>(&mut merged, &field.replacen('_', ".", 1), &value)
            .map_err(|reason| OptionsError::refused(&variable, reason))?;
    }
    for (field, value) in flags {
        set::<T>(&mut merged, field, value)
            .map_err(|reason| OptionsError::refused(format!("--set {field}"), reason))?;
    }
    Value::Table(merged).try_into().map_err(|error| OptionsError::refused("configuration", error.to_string()))
}

/// Sets a field, whose value is text, and checks that the result is still a set of options.
fn set<T: Default + Serialize + DeserializeOwned>(merged: &mut Table, field: &str, text: &str) -> Result<(), String> {
    let known = Value::try_from(T::default()).map_err(|error| error.to_string())?;
    let (section, name) = field.split_once('.').unwrap_or((field, ""));
    let Some(default) = known.get(section).and_then(|section| section.get(name)) else {
        let sections = known.as_table().into_iter().flatten();
        let fields: Vec<String> = match known.get(section).and_then(Value::as_table) {
            Some(fields) => fields.keys().map(|name| format!("{section}.{name}")).collect(),
            None => sections.map(|(section, _)| format!("{section}.…")).collect(),
        };
        return Err(format!("there is no field {field:?}; expected one of {}", fields.join(", ")));
    };
    let value = match default {
        Value::String(_) => Value::String(text.to_owned()),
        Value::Array(_) => Value::Array(parts(text).map(Value::from).collect()),
        other => {
            let parsed = text.parse::<Value>().ok();
            let kind = other.type_str();
            // A whole number stands for a fraction.
            let parsed = match (parsed, other) {
                (Some(Value::Integer(whole)), Value::Float(_)) => Some(Value::Float(whole as f64)),
                (parsed, _) => parsed,
            };
            parsed
                .filter(|value| value.type_str() == kind)
                .ok_or_else(|| format!("found {text:?}, expected {}", described(kind)))?
        }
    };
    let fields = merged.entry(section).or_insert_with(|| Value::Table(Table::new()));
    let fields = fields.as_table_mut().ok_or_else(|| format!("{section} is not a section"))?;
    fields.insert(name.to_owned(), value);
    // Negative numbers, and names that are none of the expected ones.
    Value::Table(merged.clone()).try_into::<T>().map_err(|error| error.to_string().trim_end().replace('\n', ": "))?;
    Ok(())
}

fn described(kind: &str) -> &'static str {
    match kind {
        "integer" => "a whole number",
        "float" => "a number",
        "boolean" => "true or false",
        _ => "another type",
    }
}

/// The parts of a list with commas, without spaces around them; empty parts are left out.
pub fn parts(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|part| !part.is_empty())
}

/// In which form options are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Printed {
    /// As a file
    Toml,
    /// As variables, for systemd
    Environment,
}

impl Printed {
    /// The options in this form.
    pub fn of(self, prefix: &str, options: &impl Serialize) -> String {
        match self {
            Self::Toml => to_toml(options),
            Self::Environment => to_environment(prefix, options),
        }
    }
}

/// The text of a file, which is read as the same options.
///
/// # Panics
/// If they are something else than tables of numbers, texts and lists.
pub fn to_toml(options: &impl Serialize) -> String {
    toml::to_string_pretty(options).expect("tables of numbers, texts and lists, which TOML can write")
}

/// The text of a file of variables, as systemd reads it (`EnvironmentFile=`), sorted by name. Fields without a value are left out.
///
/// # Panics
/// As [`to_toml`].
pub fn to_environment(prefix: &str, options: &impl Serialize) -> String {
    let options = serde_json::to_value(options).expect("tables of numbers, texts and lists, which JSON can write");
    let mut variables = Vec::new();
    flatten(prefix.trim_end_matches('_'), &options, &mut variables);
    variables.sort();
    let escaped = |letter| if "\\\"$`".contains(letter) { vec!['\\', letter] } else { vec![letter] };
    let line = |(name, value): (String, String)| {
        format!("{name}=\"{}\"\n", value.chars().flat_map(escaped).collect::<String>())
    };
    variables.into_iter().map(line).collect()
}

/// Adds the fields of a value as variables whose names begin with this one. JSON and not TOML has all numbers of 64 bits.
fn flatten(name: &str, value: &serde_json::Value, to: &mut Vec<(String, String)>) {
    use serde_json::Value as Json;
    let text = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match value {
        Json::Null => {}
        Json::Object(fields) => fields.iter().for_each(|(field, value)| {
            flatten(&format!("{name}_{}", field.to_uppercase().replace('-', "_")), value, to);
        }),
        Json::Array(values) => to.push((name.to_owned(), values.iter().map(text).collect::<Vec<_>>().join(","))),
        other => to.push((name.to_owned(), text(other))),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Told {
        limits: Limits,
        listen: Listen,
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Limits {
        claims: usize,
        share: f64,
        body_bytes: u64,
    }

    impl Default for Limits {
        fn default() -> Self {
            Self { claims: 5, share: 0.5, body_bytes: 9 }
        }
    }

    #[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Listen {
        beyond: bool,
        hosts: Vec<String>,
        socket: String,
    }

    fn told(file: &str, environment: &[(&str, &str)], flags: &[(&str, &str)]) -> Result<Told, String> {
        let [environment, flags] = [environment, flags]
            .map(|pairs| pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect::<Vec<_>>());
        layered(Some(Source { name: "x.toml", text: file }), "X_", environment, &flags)
            .map_err(|error| error.to_string())
    }

    #[cfg(unix)]
    #[test]
    fn a_variable_that_is_not_text_is_not_passed_over() {
        use std::os::unix::ffi::OsStringExt as _;

        let read = |name: &[u8], value: &[u8]| {
            let variable = [name, value].map(|bytes| OsString::from_vec(bytes.to_vec()));
            variables_of("X_", [variable].map(|[name, value]| (name, value))).map_err(|error| error.to_string())
        };
        assert_eq!(read(b"X_LIMITS_CLAIMS", b"5"), Ok(vec![("X_LIMITS_CLAIMS".to_owned(), "5".to_owned())]));
        for (name, value) in [(&b"X_CLIENTS_TOKENS"[..], &b"/tmp/\xff"[..]), (b"X_CLIENTS_\xff", b"")] {
            let error = read(name, value).unwrap_err();
            assert!(error.starts_with("X_CLIENTS_") && !error.contains("/tmp"), "{error}");
        }
        for other in [&b"Y_CLIENTS_TOKENS"[..], b"X_CONFIG", b"\xff"] {
            assert_eq!(read(other, b"\xff"), Ok(vec![]));
        }
    }

    #[test]
    fn flags_are_stronger_than_the_environment_and_that_than_the_file() {
        let told = told(
            "[limits]\nclaims = 1\nshare = 0.25\nbody_bytes = 1\n",
            &[("X_LIMITS_CLAIMS", "2"), ("X_LIMITS_SHARE", "1"), ("X_CONFIG", "x.toml"), ("Y_LIMITS_CLAIMS", "7")],
            &[("limits.claims", "3"), ("listen.hosts", "a, b,")],
        );
        let limits = Limits { claims: 3, share: 1.0, body_bytes: 1 };
        let listen = Listen { hosts: vec!["a".to_owned(), "b".to_owned()], ..Listen::default() };
        assert_eq!(told, Ok(Told { limits, listen }));
    }

    #[test]
    fn what_is_refused_is_named() {
        for (file, environment, expected) in [
            (
                "[limits]\nclaim = 3\n",
                &[][..],
                "x.toml: line 2, column 1: unknown field `claim`, expected one of `claims`",
            ),
            (
                "[limits]\n\n  claims = \"3\"\n",
                &[],
                "x.toml: line 3, column 12: invalid type: string \"3\", expected usize, in `claims = …`",
            ),
            ("é = [\r\n", &[], "x.toml: line "),
            ("", &[("X_LIMITS_CLAIM", "3")], "X_LIMITS_CLAIM: there is no field \"limits.claim\"; expected one of"),
            ("", &[("X_LIMIT_CLAIMS", "3")], "limits.…"),
            ("", &[("X_LIMITS_CLAIMS", "many")], "X_LIMITS_CLAIMS: found \"many\", expected a whole number"),
            ("", &[("X_LIMITS_CLAIMS", "-1")], "X_LIMITS_CLAIMS: "),
            ("", &[("X_LIMITS_CLAIMS", "1\ny = 2")], "expected a whole number"),
            ("", &[("X_LISTEN_BEYOND", "yes")], "expected true or false"),
        ] {
            let error = told(file, environment, &[]).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("told.toml");
        std::fs::write(&path, b"\xff").unwrap();
        for (path, expected) in [(&path, "told.toml: invalid utf-8"), (&folder.path().join("absent"), "absent")] {
            let error = read::<Told>(path).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    /// A URL or a token without quotation marks must not stand in a log.
    #[test]
    fn no_value_is_shown() {
        for (file, expected) in [
            ("[listen]\nsocket = http://h/KEY", "in `socket = …`"),
            ("[listen]\nsocket = \"http://h/KEY", "in `socket = …`"),
            ("[listen]\nsocket = \"a\" http://h/KEY?a=b", "in `socket = …`"),
            ("[listen]\nhosts = [\n  \"a\",\n  http://h/KEY?a=b,\n]", "x.toml: line 4, column 17"),
            ("[listen]\nhosts = [\n  \"KEY==\", 3,\n]", "x.toml: line 3, column 12"),
            ("[listen]\nsocket = [\"KEY\"]", "in `socket = …`"),
            ("[listen]\nhttp://h/KEY", "x.toml: line 2, column"),
            ("KEY", "x.toml: line 1, column"),
        ] {
            let error = told(file, &[], &[]).unwrap_err();
            assert!(error.contains(expected) && !error.contains("KEY"), "{error}");
        }
    }

    /// What is printed in either form is read as the same, and a quotation mark or a dollar sign stays what it is.
    #[test]
    fn what_is_printed_is_read_back() {
        let listen = Listen { beyond: true, hosts: vec!["a".into(), "é".into()], socket: "/q \"$x`\\".into() };
        let options = Told { limits: Limits { share: 7.0, ..Limits::default() }, listen };
        assert_eq!(parse::<Told>(Source { name: "", text: &Printed::Toml.of("X_", &options) }).unwrap(), options);
        let printed = Printed::Environment.of("X_", &options);
        assert!(printed.starts_with("X_LIMITS_BODY_BYTES=\"9\"\nX_LIMITS_CLAIMS=\"5\"\n"), "{printed}");
        // As systemd reads it: a backslash makes the next letter an ordinary one.
        let variables = printed.lines().map(|line| {
            let (name, quoted) = line.split_once('=').unwrap();
            let (mut value, mut letters) = (String::new(), quoted[1..quoted.len() - 1].chars());
            while let Some(letter) = letters.next() {
                value.push(if letter == '\\' { letters.next().unwrap() } else { letter });
            }
            (name.to_owned(), value)
        });
        assert_eq!(layered::<Told>(None, "X_", variables, &[]).unwrap(), options);
    }

    #[test]
    fn numbers_of_64_bits_are_printed() {
        let options = Limits { body_bytes: u64::MAX, ..Limits::default() };
        assert!(to_environment("X_", &options).contains("X_BODY_BYTES=\"18446744073709551615\"\n"));
        assert_eq!(parse::<Limits>(Source { name: "", text: &to_toml(&options) }).unwrap(), options);
    }

    #[test]
    fn fields_without_a_value_are_left_out() {
        #[derive(Serialize)]
        struct Optional {
            one_field: Option<u8>,
            other: Option<u8>,
        }
        assert_eq!(to_environment("X_", &Optional { one_field: None, other: Some(1) }), "X_OTHER=\"1\"\n");
    }
}
