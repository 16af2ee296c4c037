//! `--signers`: a list of members as a person writes it, or a contract's bitmap.

use quorate_evm::MemberSet;
use quorate_formats::from_hex;

/// Reads a list of members for a network with `keys` keys.
///
/// `0-47,50,52` names members and ranges, both ends included. `!3,7` names all members but these. `0x…` is a contract's
/// bitmap.
///
/// # Errors
/// A sentence that names the item and its fault.
pub(super) fn parse(text: &str, keys: usize) -> Result<MemberSet, String> {
    let text = text.trim();
    let signers = if text.starts_with("0x") || text.starts_with("0X") {
        let bytes = from_hex(text).map_err(|error| format!("the bitmap is not hexadecimal: {error}"))?;
        MemberSet::from_bytes(&bytes).map_err(|error| error.to_string())?
    } else if let Some(others) = text.strip_prefix('!') {
        MemberSet::full(keys).symmetric_difference(&list(others, keys)?)
    } else {
        list(text, keys)?
    };
    match signers.iter().last() {
        None => Err("there are no signers; name at least one".to_owned()),
        Some(last) if last >= keys => Err(out_of_range(last, keys)),
        Some(_) => Ok(signers),
    }
}

fn list(text: &str, keys: usize) -> Result<MemberSet, String> {
    let mut members = MemberSet::default();
    for (number, item) in text.split(',').enumerate() {
        let item = item.trim();
        let wrong = |why: String| if item.is_empty() { why } else { format!("\"{item}\": {why}") };
        let index = |digits: &str| match digits.trim().parse::<usize>() {
            Ok(index) if index < keys => Ok(index),
            Ok(index) => Err(wrong(out_of_range(index, keys))),
            Err(_) if item.is_empty() => Err(format!("item {} is empty", number + 1)),
            Err(_) => Err(wrong("found neither a member's index nor a range such as 0-47".to_owned())),
        };
        let (first, last) = match item.split_once('-') {
            Some((first, last)) => (index(first)?, index(last)?),
            None => (index(item)?, index(item)?),
        };
        if first > last {
            return Err(wrong("the range is backwards; write the lower index first".to_owned()));
        }
        for member in first..=last {
            if members.contains(member) {
                return Err(wrong(format!("member {member} is named twice; name it once")));
            }
            members.insert(member);
        }
    }
    Ok(members)
}

fn out_of_range(index: usize, keys: usize) -> String {
    match keys {
        0 => format!("there is no member {index}: the network has no keys"),
        _ => format!("there is no member {index}: the network has {keys} keys, numbered from 0 to {}", keys - 1),
    }
}

/// Writes the list that [`parse`] reads: `0-2,5`.
pub(super) fn list_of(members: &MemberSet) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for member in members.iter() {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == member => *last = member,
            _ => ranges.push((member, member)),
        }
    }
    let ranges = ranges.into_iter().map(|(first, last)| match last - first {
        0 => first.to_string(),
        1 => format!("{first},{last}"),
        _ => format!("{first}-{last}"),
    });
    ranges.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn members(text: &str) -> Vec<usize> {
        parse(text, 12).unwrap().iter().collect()
    }

    #[test]
    fn items_ranges_exceptions_and_bitmaps() {
        assert_eq!(members("0-2,5, 7 "), [0, 1, 2, 5, 7]);
        assert_eq!(members("11"), [11]);
        assert_eq!(members("!0-8,10"), [9, 11]);
        assert_eq!(members("0xe4"), [0, 1, 2, 5]);
        assert_eq!(members("0X0010"), [11]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, reason) in [
            ("", "item 1 is empty"),
            ("1,,2", "item 2 is empty"),
            ("1,x", "\"x\": found neither a member's index"),
            ("1,-2", "\"-2\": found neither a member's index"),
            ("3-1", "\"3-1\": the range is backwards; write the lower index first"),
            ("1,12", "\"12\": there is no member 12: the network has 12 keys, numbered from 0 to 11"),
            ("3-99999999999", "there is no member 99999999999"),
            ("1-3,2", "\"2\": member 2 is named twice; name it once"),
            ("!", "item 1 is empty"),
            ("!0-11", "there are no signers"),
            ("0x", "there are no signers"),
            ("0x8000", "the last byte of the bitmap (2 bytes) is zero"),
            ("0x800", "the bitmap is not hexadecimal: found 3 hexadecimal digits, expected an even number"),
            ("0x0x07", "the bitmap is not hexadecimal: found 'x' at digit 2"),
            ("0x000008", "there is no member 20"),
        ] {
            let error = parse(text, 12).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
        assert!(parse("0", 0).unwrap_err().contains("no keys"));
    }

    proptest! {
        #[test]
        fn a_written_list_reads_back(members in prop::collection::btree_set(0..200_usize, 1..100)) {
            let members: MemberSet = members.into_iter().collect();
            prop_assert_eq!(parse(&list_of(&members), 200).unwrap(), members);
        }

        #[test]
        fn no_text_makes_it_panic(text in "[!0-9,x -]{0,20}") {
            let _ = parse(&text, 12);
        }
    }
}
