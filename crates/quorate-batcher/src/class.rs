//! How urgent a claim is.

use std::{fmt, str::FromStr};

/// How urgent a claim is. Classes are served in this order.
///
/// ```
/// use quorate_batcher::Class;
/// assert!(Class::Block < Class::Gossip);
/// assert_eq!("duty".parse(), Ok(Class::Duty));
/// assert!("urgent".parse::<Class>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// A block: its claims are verified at once, on all threads, and no batch of another class starts before they are. Those of a
    /// suspect wait with its other claims. One without a source is the caller's own, and never a suspect's.
    Block,
    /// What the node needs for its own duties. It goes before gossip, and gossip makes room for it.
    Duty,
    /// Everything else. It is what an overloaded node refuses first.
    Gossip,
}

impl Class {
    /// All classes, the most urgent first.
    pub const ALL: [Self; 3] = [Self::Block, Self::Duty, Self::Gossip];

    /// The name in requests and metrics: `block`, `duty`, `gossip`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Duty => "duty",
            Self::Gossip => "gossip",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Class {
    type Err = UnknownClass;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|class| class.name() == name).ok_or(UnknownClass)
    }
}

/// No class has the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected the class \"block\", \"duty\" or \"gossip\"")]
pub struct UnknownClass;
