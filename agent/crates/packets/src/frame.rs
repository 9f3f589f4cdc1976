//! Ethernet frames that hold one UDP datagram: RFC 894 and 2464, RFC 791 and 8200, RFC 768, with
//! checksums as RFC 1071.

use std::net::{IpAddr, SocketAddr};

/// Bytes of the headers of Ethernet, IP and UDP.
pub const HEADERS_4: usize = 14 + 20 + 8;
pub const HEADERS_6: usize = 14 + 40 + 8;

/// Bytes of the headers of frames to an address, and the address as they have it.
pub fn headers_to(address: IpAddr) -> (usize, Vec<u8>) {
    match address {
        IpAddr::V4(own) => (HEADERS_4, own.octets().to_vec()),
        IpAddr::V6(own) => (HEADERS_6, own.octets().to_vec()),
    }
}

const UDP: u8 = 17;
const HOPS: u8 = 64;

/// Both ends of a flow on their link.
#[derive(Debug, Clone, Copy)]
pub struct Ends {
    pub source_link: [u8; 6],
    pub destination_link: [u8; 6],
    pub source: SocketAddr,
    pub destination: SocketAddr,
}

/// The headers of a flow, but for what changes with each packet.
#[derive(Debug, Clone)]
pub struct Template {
    bytes: [u8; HEADERS_6],
    length: usize,
    /// Of the pseudo header and the UDP header, without both lengths.
    udp_sum: u64,
    ip_sum: u64,
}

impl Template {
    /// # Panics
    /// If the ends are not of one version of IP.
    pub fn new(ends: &Ends) -> Self {
        let mut bytes = [0; HEADERS_6];
        bytes[0..6].copy_from_slice(&ends.destination_link);
        bytes[6..12].copy_from_slice(&ends.source_link);
        let (length, addresses) = match (ends.source.ip(), ends.destination.ip()) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                bytes[12..14].copy_from_slice(&0x0800_u16.to_be_bytes());
                bytes[14] = 0x45;
                bytes[20] = 0x40; // Do not fragment: the identification may then be 0 (RFC 6864).
                bytes[22] = HOPS;
                bytes[23] = UDP;
                bytes[26..30].copy_from_slice(&source.octets());
                bytes[30..34].copy_from_slice(&destination.octets());
                (HEADERS_4, 26..34)
            }
            (IpAddr::V6(source), IpAddr::V6(destination)) => {
                bytes[12..14].copy_from_slice(&0x86dd_u16.to_be_bytes());
                bytes[14] = 0x60;
                bytes[20] = UDP;
                bytes[21] = HOPS;
                bytes[22..38].copy_from_slice(&source.octets());
                bytes[38..54].copy_from_slice(&destination.octets());
                (HEADERS_6, 22..54)
            }
            _ => panic!("both ends are of one version of IP"),
        };
        let udp = length - 8;
        bytes[udp..udp + 2].copy_from_slice(&ends.source.port().to_be_bytes());
        bytes[udp + 2..udp + 4].copy_from_slice(&ends.destination.port().to_be_bytes());
        let udp_sum = sum(&bytes[addresses]) + sum(&[0, UDP]) + sum(&bytes[udp..udp + 4]);
        let ip_sum = sum(&bytes[14..34]);
        Self {
            bytes,
            length,
            udp_sum,
            ip_sum,
        }
    }

    /// Bytes in front of the payload.
    pub fn headers(&self) -> usize {
        self.length
    }

    /// Writes the headers in front of the payload that is in the frame already.
    ///
    /// # Panics
    /// If the frame is shorter than its headers.
    #[inline]
    pub fn write(&self, frame: &mut [u8]) {
        self.write_lengths(frame);
        let (headers, payload) = frame.split_at_mut(self.length);
        let check = finish(self.fixed_sum(payload.len()) + sum(payload));
        headers[self.length - 2..].copy_from_slice(&check.to_ne_bytes());
    }

    /// As [`Self::write`], with 0 for the checksum of UDP.
    #[inline]
    pub fn write_lengths(&self, frame: &mut [u8]) {
        let whole = frame.len();
        let headers = &mut frame[..self.length];
        headers.copy_from_slice(&self.bytes[..self.length]);
        let udp = ((whole - self.length + 8) as u16).to_be_bytes();
        if self.length == HEADERS_4 {
            let total = ((whole - 14) as u16).to_be_bytes();
            headers[16..18].copy_from_slice(&total);
            let check = fold(self.ip_sum + sum(&total)) ^ 0xffff;
            headers[24..26].copy_from_slice(&check.to_ne_bytes());
        } else {
            headers[18..20].copy_from_slice(&udp);
        }
        headers[self.length - 4..self.length - 2].copy_from_slice(&udp);
    }

    /// The sum of what UDP's checksum covers, but for the payload.
    #[inline]
    pub fn fixed_sum(&self, payload: usize) -> u64 {
        let length = ((payload + 8) as u16).to_be_bytes();
        self.udp_sum + 2 * sum(&length)
    }
}

/// The checksum of UDP from its sum; 0 would mean that there is none.
#[inline]
pub fn finish(sum: u64) -> u16 {
    match fold(sum) ^ 0xffff {
        0 => 0xffff,
        check => check,
    }
}

/// The sum of the 16-bit words as they lie in memory: its order of bytes does not matter
/// (RFC 1071, section 2 B). Words of four bytes are added, which is the same once it is folded.
#[inline]
pub fn sum(bytes: &[u8]) -> u64 {
    let mut words = bytes.chunks_exact(4);
    let mut all: u64 = words
        .by_ref()
        .map(|word| u64::from(u32::from_ne_bytes(word.try_into().expect("4 bytes"))))
        .sum();
    let rest = words.remainder();
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    all += u64::from(u32::from_ne_bytes(last));
    all
}

/// The sum of all 16-bit words, with what is carried.
#[inline]
pub fn fold(mut sum: u64) -> u16 {
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As RFC 1071 states it: big-endian words, one after the other.
    fn plain(parts: &[&[u8]]) -> u16 {
        let bytes = parts.concat();
        let mut all = 0_u32;
        for pair in bytes.chunks(2) {
            all += u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0));
        }
        while all > 0xffff {
            all = (all & 0xffff) + (all >> 16);
        }
        !(all as u16)
    }

    fn ends(source: &str, destination: &str) -> Ends {
        Ends {
            source_link: [2, 0, 0, 0, 0, 1],
            destination_link: [2, 0, 0, 0, 0, 2],
            source: source.parse().unwrap(),
            destination: destination.parse().unwrap(),
        }
    }

    fn frame(template: &Template, payload: usize) -> Vec<u8> {
        let mut frame: Vec<u8> = (0..template.headers() + payload)
            .map(|n| (n * 7) as u8)
            .collect();
        template.write(&mut frame);
        frame
    }

    #[test]
    fn a_header_of_ipv4_is_known() {
        // The example of RFC 1071's arithmetic: the sum over a header with its checksum is 0.
        let template = Template::new(&ends("198.18.0.1:4000", "198.18.0.2:5000"));
        let frame = frame(&template, 35);
        assert_eq!(&frame[..12], &[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1]);
        assert_eq!(&frame[12..20], &[8, 0, 0x45, 0, 0, 63, 0, 0]);
        assert_eq!(plain(&[&frame[14..34]]), 0);
        assert_eq!(&frame[34..40], &[0x0f, 0xa0, 0x13, 0x88, 0, 43]);
    }

    #[test]
    fn the_checksum_of_udp_covers_pseudo_header_and_payload() {
        for (source, destination, addresses) in [
            ("198.18.0.1:4000", "198.18.0.2:5000", 26..34),
            ("[2001:db8::1]:4000", "[2001:db8::2]:5000", 22..54),
        ] {
            let template = Template::new(&ends(source, destination));
            for payload in [0, 1, 31, 32, 64, 1471, 1472] {
                let frame = frame(&template, payload);
                let udp = &frame[template.headers() - 8..];
                let length = (udp.len() as u32).to_be_bytes();
                let pseudo = [&frame[addresses.clone()], &length, &[0, 0, 0, UDP]];
                let sum = plain(&[pseudo[0], pseudo[1], pseudo[2], udp]);
                assert_eq!(sum, 0, "{source} {payload}");
                assert_eq!(udp[4..6], ((payload + 8) as u16).to_be_bytes());
            }
        }
    }

    #[test]
    fn a_checksum_of_zero_is_sent_as_all_ones() {
        assert_eq!(finish(0xffff), 0xffff);
        assert_eq!(finish(0x1_fffe), 0xffff);
        assert_eq!(finish(0), 0xffff);
        assert_eq!(finish(1), 0xfffe);
    }
}
