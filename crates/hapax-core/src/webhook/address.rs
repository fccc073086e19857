//! Which addresses belong to the open internet. Everything else may be a neighbour of the server that trusts it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address is one of the open internet, whatever form it is written in.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// Everything but what the registry of special addresses (RFC 6890) keeps for other uses.
fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = match a {
        // This network, private ones, this machine, multicast, what is reserved, and all at once.
        0 | 10 | 127 | 224..=255 => true,
        // Shared by customers of one provider.
        100 => (64..128).contains(&b),
        // This link, and the data of cloud machines about themselves.
        169 => b == 254,
        172 => (16..32).contains(&b),
        192 => {
            // Assignments of protocols, examples, relays of 6to4, private networks.
            matches!((b, c), (0, 0 | 2) | (88, 99)) || b == 168
        }
        // Measurements, examples.
        198 => matches!(b, 18 | 19) || (b, c) == (51, 100),
        203 => (b, c) == (0, 113),
        _ => false,
    };
    // The data of machines at Azure come from an address that looks like any other.
    !is_special && address != Ipv4Addr::new(168, 63, 129, 16)
}

/// Only what is handed out for the open internet, and of that not what stands for an address of version 4 in disguise.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    if let Some(inner) = embedded_v4(segments) {
        return is_public_v4(inner);
    }
    let is_global = segments[0] & 0xe000 == 0x2000;
    let is_special = match segments[0] {
        // Teredo, benchmarks, ORCHID and other protocols; the first 23 bits are theirs.
        0x2001 => segments[1] < 0x0200 || segments[1] == 0x0db8,
        // Examples.
        0x3fff => segments[1] < 0x1000,
        _ => false,
    };
    is_global && !is_special
}

/// The address of version 4 that one of version 6 leads to: mapped, translated (NAT64), or through a relay (6to4).
fn embedded_v4(segments: [u16; 8]) -> Option<Ipv4Addr> {
    let v4 = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Ipv4Addr::new(a, b, c, d)
    };
    match segments {
        [0, 0, 0, 0, 0, 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => Some(v4(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(is_open: bool, addresses: &[&str]) {
        for text in addresses {
            assert_eq!(is_public(text.parse().unwrap()), is_open, "{text}");
        }
    }

    #[test]
    fn addresses_of_the_open_internet_are_public() {
        check(
            true,
            &[
                "1.1.1.1",
                "8.8.8.8",
                "93.184.216.34",
                "100.63.255.255",
                "100.128.0.1",
                "172.15.0.1",
                "172.32.0.1",
                "192.167.0.1",
                "192.0.1.1",
                "223.255.255.255",
                "2606:4700:4700::1111",
                "2a00:1450:4001::1",
                "2001:4860:4860::8888",
                "::ffff:8.8.8.8",
                "64:ff9b::808:808",
                "2002:808:808::1",
            ],
        );
    }

    #[test]
    fn addresses_of_neighbours_are_not_in_whatever_form() {
        check(
            false,
            &[
                "0.0.0.0",
                "0.1.2.3",
                "10.0.0.1",
                "10.255.255.255",
                "100.64.0.1",
                "100.127.255.255",
                "127.0.0.1",
                "127.255.255.254",
                "169.254.0.1",
                "169.254.169.254",
                "169.254.170.2",
                "168.63.129.16",
                "172.16.0.1",
                "172.31.255.255",
                "192.0.0.1",
                "192.0.2.1",
                "192.88.99.1",
                "192.168.1.1",
                "198.18.0.1",
                "198.19.255.255",
                "198.51.100.1",
                "203.0.113.1",
                "224.0.0.1",
                "239.255.255.255",
                "240.0.0.1",
                "255.255.255.255",
                "::",
                "::1",
                "::7f00:1",
                "::ffff:127.0.0.1",
                "::ffff:10.0.0.1",
                "::ffff:169.254.169.254",
                "::ffff:0:127.0.0.1",
                "64:ff9b::7f00:1",
                "64:ff9b::a9fe:a9fe",
                "64:ff9b:1::7f00:1",
                "2002:7f00:1::",
                "2002:a00:1::1",
                "2002:c0a8:101::1",
                "2001::1",
                "2001:db8::1",
                "3fff::1",
                "fc00::1",
                "fd00:ec2::254",
                "fe80::1",
                "febf::1",
                "fec0::1",
                "ff02::1",
                "100::1",
            ],
        );
    }
}
