//! Key paths of EIP-2334: `m/12381/3600/0/0/0`.

use std::fmt;
use std::str::FromStr;

/// The child indices from the master node `m` down to a key. The master itself has none.
///
/// The path may have any depth: EIP-2334 asks for at least four levels, but EIP-2333 and EIP-2335 allow others. There are no marks
/// for hardened children, because every child of EIP-2333 is hardened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct KeyPath(Vec<u32>);

impl KeyPath {
    /// The path with these child indices, from the master down.
    pub fn new(indices: Vec<u32>) -> Self {
        Self(indices)
    }

    /// The child indices, from the master down.
    pub fn indices(&self) -> &[u32] {
        &self.0
    }
}

impl FromStr for KeyPath {
    type Err = KeyPathError;

    /// Reads `m`, or `m/` followed by decimal indices with `/` between them.
    fn from_str(text: &str) -> Result<Self, KeyPathError> {
        let mut components = text.split('/');
        let root = components.next().unwrap_or_default();
        if root != "m" {
            return Err(KeyPathError::Root { component: root.to_owned() });
        }
        (1..).zip(components).map(|(level, component)| index(level, component)).collect()
    }
}

impl FromIterator<u32> for KeyPath {
    fn from_iter<I: IntoIterator<Item = u32>>(indices: I) -> Self {
        Self(indices.into_iter().collect())
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("m")?;
        self.0.iter().try_for_each(|index| write!(f, "/{index}"))
    }
}

/// Which part of a key path is wrong, and why. The part after `m` is at level 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyPathError {
    /// The path does not begin at the master node.
    #[error(
        "found a key path that begins with {component:?}, expected one that begins with 'm', such as m/12381/3600/0/0/0"
    )]
    Root {
        /// The part that was found.
        component: String,
    },
    /// Two slashes in a row, or one at the end.
    #[error("level {level} of the key path is empty, expected a number")]
    Empty {
        /// Its level.
        level: usize,
    },
    /// A mark as in BIP-32 (`'`, `h` or `H`).
    #[error(
        "found {component:?} at level {level} of the key path, expected a number without a mark: in EIP-2334 every level is hardened"
    )]
    Hardened {
        /// Its level.
        level: usize,
        /// The part that was found.
        component: String,
    },
    /// Something other than decimal digits, or a leading zero.
    #[error("found {component:?} at level {level} of the key path, expected a decimal number without leading zeros")]
    NotANumber {
        /// Its level.
        level: usize,
        /// The part that was found.
        component: String,
    },
    /// Decimal digits that do not fit 32 bits.
    #[error("found {component:?} at level {level} of the key path, expected a number of at most {}", u32::MAX)]
    TooLarge {
        /// Its level.
        level: usize,
        /// The part that was found.
        component: String,
    },
}

/// Reads one index. `u32::from_str` would also accept `+1` and `01`, but a path must have only one spelling.
fn index(level: usize, component: &str) -> Result<u32, KeyPathError> {
    let owned = || component.to_owned();
    if component.is_empty() {
        return Err(KeyPathError::Empty { level });
    }
    if component.ends_with(['\'', 'h', 'H']) {
        return Err(KeyPathError::Hardened { level, component: owned() });
    }
    let leading_zero = component.len() > 1 && component.starts_with('0');
    if leading_zero || !component.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(KeyPathError::NotANumber { level, component: owned() });
    }
    component.parse().map_err(|_| KeyPathError::TooLarge { level, component: owned() })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn error(text: &str) -> KeyPathError {
        text.parse::<KeyPath>().expect_err("a bad path")
    }

    #[test]
    fn paths_of_the_standards() {
        for (text, indices) in [
            ("m", &[][..]),
            ("m/0", &[0]),
            ("m/12381/3600/0/0/0", &[12381, 3600, 0, 0, 0]),
            ("m/12381/60/3141592653/589793238", &[12381, 60, 3_141_592_653, 589_793_238]),
            ("m/4294967295", &[u32::MAX]),
        ] {
            let path: KeyPath = text.parse().expect("a good path");
            assert_eq!(path.indices(), indices);
            assert_eq!(path.to_string(), text);
        }
    }

    #[test]
    fn each_error_names_the_component() {
        let (level, owned) = (2, str::to_owned);
        for root in ["", "M", "12381", " m"] {
            assert_eq!(error(root), KeyPathError::Root { component: owned(root) });
        }
        assert_eq!(error("m/1/"), KeyPathError::Empty { level });
        assert_eq!(error("m/1//3"), KeyPathError::Empty { level });
        for mark in ["2'", "2h", "2H"] {
            let component = owned(mark);
            assert_eq!(error(&format!("m/1/{mark}")), KeyPathError::Hardened { level, component });
        }
        for text in ["+2", "-2", "02", " 2", "2 ", "0x2", "x", "٢"] {
            let component = owned(text);
            assert_eq!(error(&format!("m/1/{text}")), KeyPathError::NotANumber { level, component });
        }
        for text in ["4294967296", "99999999999999999999999"] {
            let component = owned(text);
            assert_eq!(error(&format!("m/1/{text}")), KeyPathError::TooLarge { level, component });
        }
    }

    proptest! {
        #[test]
        fn text_there_and_back(indices in proptest::collection::vec(any::<u32>(), 0..8)) {
            let path = KeyPath::new(indices);
            prop_assert_eq!(path.to_string().parse::<KeyPath>(), Ok(path));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "m?[/0-9'h]{0,12}") {
            if let Ok(path) = text.parse::<KeyPath>() {
                prop_assert_eq!(path.to_string(), text);
            }
        }
    }
}
