//! Errors that repeat: the first ten of a kind are printed, the others are counted.

use super::print::plural;

/// The errors of a run, by kind.
#[derive(Default)]
pub(super) struct Complaints {
    /// In the order in which they first came.
    kinds: Vec<Kind>,
}

struct Kind {
    /// The reason without what differs from line to line.
    shape: String,
    /// The first reason of this kind.
    first: String,
    count: usize,
}

impl Complaints {
    /// Counts an error. Answers whether it is one of the first of its kind, which are printed.
    pub(super) fn admit(&mut self, reason: &str) -> bool {
        let shape = shape(reason);
        let kind = match self.kinds.iter().position(|kind| kind.shape == shape) {
            Some(known) => &mut self.kinds[known],
            None if self.kinds.len() < KINDS => {
                self.kinds.push(Kind { shape, first: reason.to_owned(), count: 0 });
                self.kinds.last_mut().expect("just pushed")
            }
            None => {
                // Reasons that a sender varies without end must not fill the memory.
                self.kinds.last_mut().expect("there are as many kinds as there may be")
            }
        };
        kind.count += 1;
        kind.count <= PRINTED
    }

    /// A line for each kind of which not all were printed.
    pub(super) fn rest(&self) -> impl Iterator<Item = String> {
        self.kinds.iter().filter(|kind| kind.count > PRINTED).map(|kind| {
            let more = plural(kind.count - PRINTED, "more error");
            format!("… and {more} of this kind: {}", kind.first)
        })
    }
}

/// A reason without its numbers and without the values that it quotes, so that reasons of one kind are equal. A field's name at the
/// beginning stays.
fn shape(reason: &str) -> String {
    let (field, rest) = match reason.strip_prefix('"').and_then(|rest| rest.find("\": ")) {
        Some(end) => reason.split_at(end + 2),
        None => ("", reason),
    };
    let mut shape: String = field.chars().filter(|c| !c.is_ascii_digit()).collect();
    let mut chars = rest.chars();
    while let Some(c) = chars.next() {
        match c {
            '0'..='9' => {}
            '"' | '`' => {
                let value = chars.as_str();
                chars = value.find(c).map_or(value, |end| &value[end + 1..]).chars();
            }
            '\'' if chars.as_str().chars().nth(1) == Some('\'') => {
                chars.nth(1);
            }
            _ => shape.push(c),
        }
    }
    shape
}

/// Errors of a kind that are printed.
const PRINTED: usize = 10;
/// Kinds that are told apart.
const KINDS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_of_one_kind_differ_in_numbers_and_values() {
        for (one, other) in [
            ("\"public_keys[1]\": found 'z' at digit 2", "\"public_keys[22]\": found 'y' at digit 45"),
            ("there is no suite `a`; choose", "there is no suite `bc`; choose"),
            ("\"source\": found string \"x\", expected", "\"source\": found string \"yz\", expected"),
        ] {
            assert_eq!(shape(one), shape(other));
        }
        for (one, other) in [
            ("\"message\": found 'z' at digit 2", "\"signature\": found 'z' at digit 2"),
            ("found a number, expected an object", "found a list, expected an object"),
        ] {
            assert_ne!(shape(one), shape(other));
        }
    }

    #[test]
    fn ten_of_a_kind_are_printed_and_the_others_are_counted() {
        let mut complaints = Complaints::default();
        let printed = (0..1012).filter(|i| complaints.admit(&format!("line {i} is bad"))).count();
        assert!(complaints.admit("something else"));
        assert_eq!(printed, 10);
        assert_eq!(complaints.rest().collect::<Vec<_>>(), ["… and 1,002 more errors of this kind: line 0 is bad"]);
    }

    #[test]
    fn kinds_without_end_are_bounded() {
        let mut complaints = Complaints::default();
        let letters = |i: usize| "a".repeat(i);
        assert_eq!((0..500).filter(|i| complaints.admit(&letters(*i))).count(), KINDS - 1 + PRINTED);
        assert_eq!(complaints.kinds.len(), KINDS);
    }
}
