//! Where a connection comes from: the part of an address that one customer has alone, whether an address is public, and
//! whether several may share it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Of an address of IPv6 the first 64 bits, which one customer of a provider has alone.
pub(super) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64))),
        address => address,
    }
}

/// Whether many may come from one address that is not public: those behind a proxy, or behind a container's network, all of
/// whom this machine sees by the address of the machine in between. Nobody is banned by such an address.
pub(super) fn may_be_shared(address: IpAddr) -> bool {
    !is_public(address)
}

/// Whether an address is one of the public Internet: none of this machine, of a private network, or of those that are
/// reserved (the registries of special addresses of IANA). An address of IPv6 that carries one of IPv4 is what that one is.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => match (carried(address), address.segments()) {
            (Some(inside), _) => is_public_v4(inside),
            // Documentation, ORCHIDs and what else lies in the block of protocol assignments.
            (None, [0x2001, second, ..]) => second >= 0x200 && second != 0xdb8,
            // Documentation again, and segment routing.
            (None, [0x3fff, second, ..]) => second > 0x0fff,
            // What is assigned to the public at all.
            (None, [first, ..]) => (0x2000..0x4000).contains(&first),
        },
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    !matches!(
        address.octets(),
        [0 | 10 | 127 | 224.., ..]
            | [100, 64..=127, ..]
            | [169, 254, ..]
            | [172, 16..=31, ..]
            | [192, 168, ..]
            | [192, 0, 0 | 2, _]
            | [198, 18 | 19, ..]
            | [198, 51, 100, _]
            | [203, 0, 113, _]
    )
}

/// The address of IPv4 in one of IPv6: of 6to4, of NAT64, and the old compatible form, loopback and the unspecified one
/// among them.
fn carried(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let bits = address.to_bits();
    match address.segments() {
        [0x2002, ..] => Some(Ipv4Addr::from_bits((bits >> 80) as u32)),
        [0x64, 0xff9b, 0, 0, 0, 0, ..] => Some(Ipv4Addr::from_bits(bits as u32)),
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => Some(Ipv4Addr::LOCALHOST),
        [0, 0, 0, 0, 0, 0, ..] => Some(Ipv4Addr::from_bits(bits as u32)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_address_is_none_of_a_machine_or_a_private_network() {
        let is = |text: &str| is_public(text.parse().unwrap());
        for public in [
            "1.1.1.1",
            "100.63.0.1",
            "100.128.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "198.20.0.1",
            "223.1.1.1",
            "2606:4700::1111",
            "2001:4860:4860::8888",
            "::ffff:1.1.1.1",
            "64:ff9b::101:101",
            "2002:101:101::1",
        ] {
            assert!(is(public), "{public}");
        }
        for other in [
            "127.0.0.1",
            "127.9.9.9",
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "192.0.2.1",
            "198.18.0.1",
            "198.51.100.7",
            "203.0.113.7",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "fe80::1",
            "fc00::1",
            "fd12::1",
            "ff02::1",
            "2001:db8::1",
            "2001::1",
            "3fff::1",
            "100::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::1",
            "::10.0.0.1",
        ] {
            assert!(!is(other) && may_be_shared(other.parse().unwrap()), "{other}");
        }
    }

    #[test]
    fn an_address_of_ipv6_stands_for_its_network() {
        let network = |text: &str| network(text.parse().unwrap());
        assert_eq!(network("2001:db8::1"), network("2001:db8::ffff"));
        assert_ne!(network("2001:db8::1"), network("2001:db8:0:1::1"));
        assert_eq!(network("::ffff:10.0.0.1"), "10.0.0.1".parse::<IpAddr>().unwrap());
    }
}
