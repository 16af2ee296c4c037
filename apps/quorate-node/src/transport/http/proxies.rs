//! Who sends a request that may have come through a proxy.
//!
//! A proxy appends to `X-Forwarded-For` the address from which it was asked. So of the addresses there the right-most one that
//! is not a trusted proxy's is who asks; whatever stands to the left of it may be made up. From anybody but a trusted proxy the
//! header is not read.

use std::{net::IpAddr, str::FromStr};

use axum::http::HeaderMap;
use ipnet::IpNet;

use super::super::origin::{may_be_shared, network};

/// The proxies whose word on an address is taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proxies(Vec<IpNet>);

/// A text is not a list of proxies.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is not an address such as 192.0.2.1, or a network such as 10.0.0.0/8")]
pub struct ProxiesError {
    found: String,
}

/// Who sends a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    /// Its address, of IPv6 its network.
    pub(super) address: IpAddr,
    /// Whether others may come from the same address, who must not suffer for this one.
    pub(super) shared: bool,
}

/// A trusted proxy forwards a request and names nobody that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unreadable;

impl FromStr for Proxies {
    type Err = ProxiesError;

    /// Addresses and networks with commas between them.
    fn from_str(text: &str) -> Result<Self, ProxiesError> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        let net = |part: &str| {
            let net = part.parse().or_else(|_| part.parse::<IpAddr>().map(|ip| IpNet::from(ip.to_canonical())));
            net.map_err(|_| ProxiesError { found: part.to_owned() })
        };
        parts.map(net).collect::<Result<_, _>>().map(Self)
    }
}

impl Proxies {
    /// Whether an address is a proxy's.
    pub(super) fn trusts(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|net| net.contains(&address))
    }

    /// Who sends a request on a connection of `peer`.
    pub(super) fn origin(&self, peer: IpAddr, headers: &HeaderMap) -> Result<Origin, Unreadable> {
        if !self.trusts(peer) {
            // A proxy that nobody trusts: whoever else it forwards for has the same address.
            let forwarded = FORWARDING.iter().any(|name| headers.contains_key(*name));
            return Ok(Origin { address: network(peer), shared: forwarded || may_be_shared(peer) });
        }
        // The proxy itself, or somebody on its machine.
        let mut origin = Origin { address: network(peer), shared: true };
        for value in headers.get_all(FORWARDED_FOR).iter().rev() {
            for part in value.to_str().map_err(|_| Unreadable)?.rsplit(',') {
                let address = address(part.trim()).ok_or(Unreadable)?;
                origin.address = network(address);
                if !self.trusts(address) {
                    return Ok(Origin { shared: may_be_shared(address), ..origin });
                }
            }
        }
        Ok(origin)
    }
}

/// An address as proxies write it: some write the port behind it.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let with_port = || text.parse::<std::net::SocketAddr>().map(|address| address.ip());
    bare.parse::<IpAddr>().or_else(|_| with_port()).ok().map(|address| address.to_canonical())
}

const FORWARDED_FOR: &str = "x-forwarded-for";
/// What proxies put into a request.
const FORWARDING: [&str; 4] = [FORWARDED_FOR, "forwarded", "x-real-ip", "via"];

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(proxies: &str, peer: &str, headers: &[(&'static str, &str)]) -> Result<(String, bool), Unreadable> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        let proxies: Proxies = proxies.parse().unwrap();
        proxies.origin(peer.parse().unwrap(), &map).map(|origin| (origin.address.to_string(), origin.shared))
    }

    #[test]
    fn the_right_most_address_that_no_trusted_proxy_has_is_who_asks() {
        let xff = "x-forwarded-for";
        for (values, expected) in [
            (&["9.9.9.9"][..], "9.9.9.9"),
            (&["1.2.3.4, 9.9.9.9"], "9.9.9.9"),
            (&["127.0.0.1,9.9.9.9 , 10.1.1.1"], "9.9.9.9"),
            (&["1.2.3.4", "9.9.9.9", "10.0.0.2"], "9.9.9.9"),
            (&["nobody, 9.9.9.9"], "9.9.9.9"),
            (&["9.9.9.9:4711"], "9.9.9.9"),
            (&["::ffff:9.9.9.9"], "9.9.9.9"),
            (&["[2606:4700::1]:443"], "2606:4700::"),
            (&["[2606:4700::1]"], "2606:4700::"),
            (&["2606:4700::1"], "2606:4700::"),
        ] {
            let headers: Vec<_> = values.iter().map(|value| (xff, *value)).collect();
            let found = origin("10.0.0.0/8, 127.0.0.1", "127.0.0.1", &headers);
            assert_eq!(found, Ok((expected.to_owned(), false)), "{values:?}");
        }
        for garbled in ["", "nobody", "9.9.9.9, nobody", "1.2.3.4.5", "9.9.9.9,"] {
            assert_eq!(origin("127.0.0.1", "127.0.0.1", &[(xff, garbled)]), Err(Unreadable), "{garbled}");
        }
    }

    #[test]
    fn the_word_of_anybody_else_is_not_taken() {
        let spoofed = [("x-forwarded-for", "9.9.9.9")];
        assert_eq!(origin("", "1.1.1.1", &spoofed), Ok(("1.1.1.1".to_owned(), true)), "it may be a proxy");
        assert_eq!(origin("10.0.0.0/8", "1.1.1.1", &spoofed), Ok(("1.1.1.1".to_owned(), true)));
        assert_eq!(origin("10.0.0.0/8", "1.1.1.1", &[("via", "1.1 cdn")]), Ok(("1.1.1.1".to_owned(), true)));
        assert_eq!(origin("10.0.0.0/8", "1.1.1.1", &[]), Ok(("1.1.1.1".to_owned(), false)));
        assert_eq!(origin("", "127.0.0.1", &[]), Ok(("127.0.0.1".to_owned(), true)));
        // The proxy's own machine asks, or another one behind it in the same network.
        assert_eq!(origin("10.0.0.1", "10.0.0.1", &[]), Ok(("10.0.0.1".to_owned(), true)));
        let inside = [("x-forwarded-for", "10.0.0.9")];
        assert_eq!(origin("10.0.0.1", "::ffff:10.0.0.1", &inside), Ok(("10.0.0.9".to_owned(), true)));
    }

    #[test]
    fn a_list_of_proxies_is_addresses_and_networks() {
        let proxies: Proxies = " 10.0.0.0/8,192.0.2.1 ,2606:4700::/32,, ::ffff:9.9.9.9".parse().unwrap();
        let trusts = |text: &str| proxies.trusts(text.parse().unwrap());
        assert!(trusts("10.255.0.1") && trusts("192.0.2.1") && trusts("2606:4700::9") && trusts("9.9.9.9"));
        assert!(!trusts("11.0.0.1") && !trusts("192.0.2.2") && !trusts("::1"));
        assert!(!"".parse::<Proxies>().unwrap().trusts([127, 0, 0, 1].into()));
        let wrong = "10.0.0.0/8,proxy.example".parse::<Proxies>().unwrap_err().to_string();
        assert!(wrong.contains("\"proxy.example\"") && wrong.contains("10.0.0.0/8"), "{wrong}");
    }
}
