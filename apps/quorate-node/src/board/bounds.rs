//! How much the board holds, and texts and lists that are cut to that.

use std::collections::VecDeque;

use quorate_evm::alloy_primitives::hex;

/// Tasks that the board remembers. A node holds at most [`Settings::most_tasks`](quorate_network::roles::NodeSettings) open ones.
pub const MAX_TASKS: usize = 2_048;
/// Tasks that the board shows.
pub const SHOWN_TASKS: usize = 200;
/// Transactions that the board holds.
pub const MAX_SUBMISSIONS: usize = 100;
/// Punishments that the board holds.
pub const MAX_PUNISHMENTS: usize = 1_000;
/// Conflicts that the board holds.
pub const MAX_CONFLICTS: usize = 200;
/// Peers that the board holds, and bans.
pub const MAX_PEERS: usize = 1_000;
/// Members that the board holds: more than a key table has.
pub const MAX_MEMBERS: usize = 8_192;
/// The most characters of a text from outside.
pub const MAX_TEXT: usize = 200;

/// What people see of a task's payload: its text, or else the beginning of its bytes.
pub fn label_of(payload: &[u8]) -> String {
    match std::str::from_utf8(payload) {
        Ok(text) if !text.chars().any(char::is_control) => clipped(text),
        _ => clipped(&hex::encode_prefixed(&payload[..payload.len().min(MAX_TEXT)])),
    }
}

/// The beginning of a text, at most [`MAX_TEXT`] characters of it, harmless for a page.
pub(super) fn clipped(text: &str) -> String {
    quorate_host::clipped(text, MAX_TEXT)
}

/// Adds to the end of a list, and drops from its beginning what is too much.
pub(super) fn push_bounded<T>(list: &mut VecDeque<T>, entry: T, most: usize) {
    while list.len() >= most {
        list.pop_front();
    }
    list.push_back(entry);
}
