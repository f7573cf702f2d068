//! The addresses to which events may be sent. What was checked is what is connected to: the check is the resolver of names.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;
use ureq::{Error, http};

/// Blocks of IPv4 that lead to no public host, each with the number of its leading bits: RFC 6890 and its successors, and the
/// address that Azure gives to metadata.
const CLOSED: [(Ipv4Addr, u32); 16] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(168, 63, 129, 16), 32),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    // Multicast, reserved and broadcast.
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    (Ipv4Addr::new(240, 0, 0, 0), 4),
];

/// Returns whether an address may be that of a public host. Of IPv6 that is `2000::/3` without what is for protocols, tunnels and
/// documentation: a tunnel may lead to a private address.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(it) => {
            let is_in = |(block, bits): &(Ipv4Addr, u32)| {
                it.to_bits().checked_shr(32 - bits) == block.to_bits().checked_shr(32 - bits)
            };
            !CLOSED.iter().any(is_in)
        }
        IpAddr::V6(it) => is_public_v6(it),
    }
}

const fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, second, ..] = address.segments();
    match (first, second) {
        (0x2001, 0..0x200 | 0xdb8) | (0x2002, _) | (0x3fff, 0..0x1000) => false,
        _ => first & 0xe000 == 0x2000,
    }
}

/// A resolver that gives no address of a name of which one is not public.
#[derive(Debug, Default)]
pub(super) struct PublicOnly(DefaultResolver);

impl Resolver for PublicOnly {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        let found = self.0.resolve(uri, config, timeout)?;
        match found.iter().find(|it| !is_public(it.ip())) {
            None => Ok(found),
            Some(private) => {
                let host = uri.authority().map_or("", http::uri::Authority::host);
                Err(Error::Io(std::io::Error::other(format!(
                    "`{host}` is {}, which is not a public address; `allow_private = true` allows it",
                    private.ip()
                ))))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_public_hosts_are_public() {
        for private in [
            "0.0.0.0", "10.1.2.3", "100.100.100.200", "127.0.0.1", "127.9.9.9", "168.63.129.16",
            "169.254.169.254", "172.31.255.255", "192.0.0.192", "192.168.0.1", "198.19.0.1", "224.0.0.1",
            "255.255.255.255", "::", "::1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1",
            "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "64:ff9b::a00:1", "64:ff9b:1::1",
            "2002:7f00:1::", "2001::1", "2001:db8::1", "3fff::1", "100::1", "fec0::1",
        ] {
            assert!(!is_public(private.parse().unwrap()), "{private}");
        }
        for public in [
            "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.128.0.1", "168.63.129.17", "172.32.0.1",
            "192.167.255.255", "223.255.255.255", "::ffff:8.8.8.8", "2606:4700::1111",
            "2001:4860:4860::8888", "2a00:1450::1",
        ] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
    }
}
