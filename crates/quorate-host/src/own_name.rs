//! Which names a client may call a server by.
//!
//! A page on the web can make a name of its own point at this machine, and a browser would then let it read our answers. Its requests
//! carry that name in the header `Host`.

use std::net::IpAddr;

/// Whether a request calls this server by a name of its own: an IP address, `localhost`, or one of `hosts`, in whatever case.
///
/// `authority` is that of the request's address, which HTTP/2 sends in place of the header; `headers` are the values of all its headers
/// `Host`, of which there is exactly one (RFC 9112, section 3.2). A value that is not a text is nobody's name.
///
/// ```
/// use quorate_host::is_own_name;
/// let hosts = ["verifier.example".to_owned()];
/// assert!(is_own_name(None, [&b"LocalHost:9596"[..]], &hosts) && !is_own_name(None, [], &hosts));
/// assert!(!is_own_name(None, [&b"evil.example"[..]], &hosts) && !is_own_name(None, [&b"\xe9vil.example"[..]], &hosts));
/// ```
#[must_use]
pub fn is_own_name<'a>(authority: Option<&str>, headers: impl IntoIterator<Item = &'a [u8]>, hosts: &[String]) -> bool {
    match authority {
        Some(authority) => is_own(authority, hosts),
        None => {
            let mut headers = headers.into_iter();
            let (Some(host), None) = (headers.next(), headers.next()) else { return false };
            std::str::from_utf8(host).is_ok_and(|host| is_own(host, hosts))
        }
    }
}

/// Refuses a text that is no name, and that no request would ever call the server by: one with a scheme or a port, or an empty one.
///
/// # Errors
/// [`NotAHostName`].
pub fn check_host_name(text: &str) -> Result<(), NotAHostName> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
    if !text.is_empty() && text.bytes().all(is_part) { Ok(()) } else { Err(NotAHostName(text.to_owned())) }
}

/// A text is not a name by which a client can call a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "found {0:?}, expected a name without a scheme and a port, such as verifier.example; each IP address is good without an entry"
)]
pub struct NotAHostName(String);

fn is_own(host: &str, hosts: &[String]) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => name,
        _ => host,
    };
    let name = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok()
        || hosts.iter().any(|allowed| allowed.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_was_pointed_here_is_not_ours() {
        let hosts = ["Verifier.example".to_owned()];
        let header = |host: &[u8]| is_own_name(None, [host], &hosts);
        for host in [
            "localhost",
            "LOCALHOST",
            "LocalHost:9596",
            "127.0.0.1:1",
            "[::1]:9596",
            "[::1]",
            "verifier.example:80",
            "VERIFIER.example",
            "10.0.0.1",
        ] {
            assert!(header(host.as_bytes()), "{host}");
        }
        for host in ["evil.example", "evil.example:9596", "localhost.evil.example", "127.0.0.1.evil.example", "", ":80"]
        {
            assert!(!header(host.as_bytes()), "{host}");
        }
    }

    /// Nobody can tell by which of two names a client calls the server, and a proxy in front may have taken the other one.
    #[test]
    fn a_request_has_exactly_one_host() {
        assert!(!is_own_name(None, [], &[]));
        assert!(!is_own_name(None, [&b"localhost"[..], b"localhost"], &[]));
        assert!(is_own_name(Some("localhost"), [], &[]));
    }

    #[test]
    fn a_name_that_no_request_has_is_refused() {
        for name in
            ["verifier.example", "Verifier-2.example", "a", "_dmz.example", "10.0.0.1", "xn--vrifier-bya.example"]
        {
            assert_eq!(check_host_name(name), Ok(()), "{name}");
            assert!(is_own_name(None, [name.as_bytes()], &[name.to_owned()]), "{name}");
        }
        for text in ["", " ", "verifier.example:9596", "https://verifier.example", "vérifier.example", "a b", "[::1]"]
        {
            let error = check_host_name(text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("found {text:?}, expected a name")), "{error}");
        }
    }

    #[test]
    fn a_host_with_bytes_above_0x7f_is_nobodys_name() {
        for host in [&b"\xe9vil.example"[..], b"\xff", "évil.example".as_bytes(), b"localhost\xe9"] {
            assert!(!is_own_name(None, [host], &[]), "{host:?}");
        }
        // Neither is one of two.
        assert!(!is_own_name(None, [&b"localhost"[..], b"\xe9vil.example"], &[]));
        assert!(!is_own_name(Some("evil.example"), [&b"localhost"[..]], &[]));
        assert!(is_own_name(Some("LOCALHOST:9"), [&b"evil.example"[..]], &[]));
    }
}
