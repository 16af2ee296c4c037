//! Text that came from outside, before a person sees it.
//!
//! A terminal obeys control characters, and a terminal or a browser turns text around at a direction mark. With these a file name, an
//! id or a message of somebody's server could write a verdict of its own, or hide a part of a name. So every program shows such
//! text through this one rule.

/// The byte order mark of UTF-8. Editors on Windows write it at the start of a file, where it is no part of the text.
pub const BYTE_ORDER_MARK: &str = "\u{feff}";

/// `text` with every character escaped as `\u{…}` that a reader would not see as it stands: control characters, line ends, direction
/// marks, characters without width, and tags. What is left is one line.
///
/// ```
/// assert_eq!(quorate_host::plain("peer\n\u{202e}dilav"), r"peer\u{a}\u{202e}dilav");
/// assert_eq!(quorate_host::plain("große Straße"), "große Straße");
/// ```
#[must_use]
pub fn plain(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    text.chars().for_each(|letter| push(&mut line, letter));
    line
}

/// The first `most` characters of `text`, each as [`plain`] shows it, and `…` if there are more.
#[must_use]
pub fn clipped(text: &str, most: usize) -> String {
    let mut line = String::new();
    let mut letters = text.chars();
    letters.by_ref().take(most).for_each(|letter| push(&mut line, letter));
    if letters.next().is_some() {
        line.push('…');
    }
    line
}

/// A document of JSON with the same characters written as `\\u…`, so that its texts stay what they are to whoever parses it. Line ends
/// between its fields stay too.
///
/// ```
/// assert_eq!(quorate_host::plain::in_json("{\"id\":\"\u{202e}dilav\"}\n"), "{\"id\":\"\\u202edilav\"}\n");
/// ```
#[must_use]
pub fn in_json(document: &str) -> String {
    if !document.contains(is_unseen) {
        return document.to_owned();
    }
    let mut line = String::with_capacity(document.len());
    let mut units = [0; 2];
    for letter in document.chars() {
        // A writer of JSON has escaped every control character below U+0020 in its texts.
        if is_unseen(letter) && letter != '\n' {
            letter.encode_utf16(&mut units).iter().for_each(|unit| line.push_str(&format!("\\u{unit:04x}")));
        } else {
            line.push(letter);
        }
    }
    line
}

fn push(line: &mut String, letter: char) {
    if is_unseen(letter) {
        line.extend(letter.escape_unicode());
    } else {
        line.push(letter);
    }
}

/// Control characters; the line ends of Unicode; characters that set a direction; those without width, which would let two different
/// names look alike; and annotations and tags.
fn is_unseen(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_character_that_a_terminal_obeys_passes() {
        let obeyed = "\u{0}\u{7}\u{8}\t\n\r\u{1b}\u{7f}\u{85}\u{9b}\u{2028}\u{2029}\u{61c}\u{200e}\u{200f}\u{202a}\u{202e}\u{2066}\u{2069}";
        for letter in obeyed.chars() {
            let text = format!("a{letter}b");
            let shown = plain(&text);
            assert!(shown.bytes().all(|byte| (0x20..0x7f).contains(&byte)), "{letter:?} passes as {shown:?}");
            assert_eq!(plain(&shown), shown, "{letter:?}");
        }
    }

    #[test]
    fn names_that_look_alike_are_told_apart() {
        for letter in ['\u{ad}', '\u{200b}', '\u{200d}', '\u{2060}', '\u{feff}', '\u{fe0f}', '\u{3164}', '\u{e0041}'] {
            assert_ne!(plain(&format!("al{letter}ice")), format!("al{letter}ice"), "{letter:?}");
        }
    }

    /// `Default_Ignorable_Code_Point` of Unicode 16.0.
    #[test]
    fn every_default_ignorable_character_is_escaped() {
        let ranges = [
            '\u{ad}'..='\u{ad}',
            '\u{34f}'..='\u{34f}',
            '\u{61c}'..='\u{61c}',
            '\u{115f}'..='\u{1160}',
            '\u{17b4}'..='\u{17b5}',
            '\u{180b}'..='\u{180f}',
            '\u{200b}'..='\u{200f}',
            '\u{202a}'..='\u{202e}',
            '\u{2060}'..='\u{206f}',
            '\u{3164}'..='\u{3164}',
            '\u{fe00}'..='\u{fe0f}',
            '\u{feff}'..='\u{feff}',
            '\u{ffa0}'..='\u{ffa0}',
            '\u{fff0}'..='\u{fff8}',
            '\u{1bca0}'..='\u{1bca3}',
            '\u{1d173}'..='\u{1d17a}',
            '\u{e0000}'..='\u{e0fff}',
        ];
        for letter in ranges.into_iter().flatten() {
            assert_eq!(plain(&letter.to_string()), letter.escape_unicode().to_string());
        }
    }

    #[test]
    fn other_text_is_left_as_it_is() {
        for text in ["", "claims.jsonl line 3", "große Straße", "鍵", "\"quoted\" \\ 'single'", "🙂"] {
            assert_eq!(plain(text), text);
        }
    }

    #[test]
    fn a_clipped_text_says_that_it_goes_on() {
        assert_eq!(clipped("abcdef", 3), "abc…");
        assert_eq!(clipped("abc", 3), "abc");
        assert_eq!(clipped("a\u{1b}c", 3), "a\\u{1b}c");
        assert_eq!(clipped("", 0), "");
    }
}
