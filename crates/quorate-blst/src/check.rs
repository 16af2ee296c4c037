//! What the caller asks of points: `pk_validate`, `sig_groupcheck` and their like, with names.

/// Whether membership of the subgroup is to be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    Wanted,
    /// The caller says that it is not needed.
    Waived,
}

impl From<bool> for Check {
    fn from(wanted: bool) -> Self {
        if wanted { Self::Wanted } else { Self::Waived }
    }
}

/// Whether the identity is refused, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    /// Of keys.
    Refused,
    /// Of signatures, which may be sums.
    Allowed,
}
