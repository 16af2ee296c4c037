//! What kind of body a request has.

/// The media type that a header `Content-Type` names, in lower case and without its parameters: that of `Application/JSON; charset=utf-8` is
/// `application/json`.
#[must_use]
pub fn media_type(content_type: &str) -> String {
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A parameter is no second type, and a list names none.
    #[test]
    fn parameters_and_capitals_change_no_type() {
        for (stated, expected) in [
            ("application/json", "application/json"),
            (" Application/JSON ;charset=utf-8", "application/json"),
            ("text/plain; application/json", "text/plain"),
            ("text/plain, application/json", "text/plain, application/json"),
            (";application/json", ""),
            ("", ""),
        ] {
            assert_eq!(media_type(stated), expected, "{stated}");
        }
    }
}
