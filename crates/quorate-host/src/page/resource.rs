//! The page, its style and its script as a program serves them.
//!
//! A resource is the headers and the body of an answer, in the form that the crate `axum` takes.

/// The headers and the body of an answer.
pub type Resource<T> = ([(&'static str, &'static str); 5], T);

/// The path of the style.
pub const STYLE_PATH: &str = "/dashboard.css";
/// The path of the script.
pub const SCRIPT_PATH: &str = "/dashboard.js";

/// The style of every page, and behind it a program's own.
pub fn style(own: &str) -> Resource<String> {
    (headers("text/css; charset=utf-8"), [STYLE, own].concat())
}

/// The script of every page.
pub fn script() -> Resource<&'static str> {
    (headers("text/javascript; charset=utf-8"), SCRIPT)
}

/// The headers of each resource: nothing is kept, guessed, framed, told to others or loaded from elsewhere.
pub(super) fn headers(content_type: &'static str) -> [(&'static str, &'static str); 5] {
    [
        ("content-type", content_type),
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("cache-control", "no-store"),
        ("referrer-policy", "no-referrer"),
    ]
}

/// A page may use its own style and script, and nothing else.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_allows_no_strangers() {
        assert!(!POLICY.contains("unsafe") && !POLICY.contains("http"));
        assert!(!STYLE.contains("url(") && !STYLE.contains("@import") && !SCRIPT.contains("http"));
    }

    #[test]
    fn a_programs_own_style_stands_behind_the_common_one() {
        let (headers, body) = style(".own { color: red; }\n");
        assert!(headers.contains(&("content-type", "text/css; charset=utf-8")), "{headers:?}");
        assert!(body.starts_with(STYLE) && body.ends_with("}\n.own { color: red; }\n"), "{body}");
    }
}
