//! The header that every packet and every message of a stream carries, big-endian (RFC 1700):
//!
//! | byte | length | what |
//! |---|---|---|
//! | 0 | 8 | id: 40 random bits of the session, 24 bits of the flow |
//! | 8 | 8 | sequence, from 0 in each flow |
//! | 16 | 8 | intended time of sending, ns on the sender's timer |
//! | 24 | 4 | how much later it was sent, ns, at most 2^32 − 1 |
//! | 28 | 2 | length of the whole packet or message, bytes |
//! | 30 | 1 | kind |
//! | 31 | 1 | exclusive or of the 31 bytes before and 0xa5 |
//!
//! A datagram that is too short for it carries a compact header instead, big-endian too, so that
//! an Ethernet frame of 64 bytes with UDP over IPv4 can be one of ours. The length alone decides which:
//!
//! | byte | length | what |
//! |---|---|---|
//! | 0 | 3 | lower 24 of the session's bits |
//! | 3 | 5 | sequence |
//! | 8 | 2 | lower 16 bits of the flow |
//! | 10 | 6 | time of sending, ns on the sender's timer, modulo 2^48 (78 hours) |
//! | 16 | 1 | 128, plus 16 times the kind, plus the packet's length less 18 bytes |
//! | 17 | 1 | exclusive or of the 17 bytes before and 0xa5 |
//!
//! It does without the intended time, which the sender's record has, and has fewer bits of the
//! session, the flow and the sequence.
//!
//! A packet whose id is another session's, or whose check byte is wrong, is foreign.

/// Bytes of the header.
pub const HEADER: usize = 32;

/// Bytes of the compact header, which are the smallest packet.
pub const COMPACT: usize = 18;

/// Sequences and flows that the compact header can distinguish.
pub const COMPACT_SEQUENCES: u64 = 1 << 40;
pub const COMPACT_FLOWS: u32 = 1 << 16;

/// What the compact header keeps of a time.
const COMPACT_TIME: u64 = (1 << 48) - 1;

/// In the byte of the compact header that holds kind and length.
const COMPACT_MARK: u8 = 0x80;

/// The longest packet: what a UDP datagram over IPv4 can hold.
pub const LONGEST: usize = 65_507;

/// Flows that one session can distinguish.
pub const FLOWS: u32 = 1 << 24;

/// What a packet is for, by the number in its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Data = 0,
    /// Sent back by an echo receiver.
    Echo = 1,
    /// A question of the clock exchange, and its answer.
    Question = 2,
    Answer = 3,
    /// Tells who answers when the flows begin, on the exchange's socket.
    Plan = 4,
}

impl Kind {
    pub fn number(self) -> u8 {
        self as u8
    }

    fn from_number(number: u8) -> Option<Self> {
        [
            Self::Data,
            Self::Echo,
            Self::Question,
            Self::Answer,
            Self::Plan,
        ]
        .into_iter()
        .find(|kind| kind.number() == number)
    }
}

/// What a header says. Read from a compact one, the id is [`Id::in_packet`], and the intended time
/// is that of sending, with no lateness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    pub id: Id,
    pub sequence: u64,
    pub intended_ns: u64,
    pub late_ns: u32,
    pub length: u16,
    pub kind: Kind,
}

/// Session and flow of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Id(u64);

impl Id {
    /// `session`: a random number, of which 40 bits are used.
    pub fn new(session: u64, flow: u32) -> Self {
        Self(session << 24 | u64::from(flow % FLOWS))
    }

    /// As the header holds it.
    pub fn bytes(self) -> [u8; 8] {
        self.0.to_be_bytes()
    }

    pub fn flow(self) -> u32 {
        (self.0 & u64::from(FLOWS - 1)) as u32
    }

    /// As the header of a packet of so many bytes keeps it.
    #[inline]
    pub fn in_packet(self, length: usize) -> Self {
        if length < HEADER {
            Self(self.0 & 0xffff_ff00_ffff)
        } else {
            self
        }
    }

    /// The words of a compact header, but for sequence and time.
    pub fn compact_words(self) -> [u64; 2] {
        [
            self.0 >> 24 << 40,
            u64::from(self.flow() % COMPACT_FLOWS) << 48,
        ]
    }
}

impl Header {
    /// Writes the header into the first bytes of a packet, as its length allows.
    ///
    /// # Panics
    /// If the packet is shorter than the compact header.
    #[inline]
    pub fn write(&self, packet: &mut [u8]) {
        if packet.len() < HEADER {
            return self.write_compact(packet);
        }
        packet[0..8].copy_from_slice(&self.id.0.to_be_bytes());
        packet[8..16].copy_from_slice(&self.sequence.to_be_bytes());
        packet[16..24].copy_from_slice(&self.intended_ns.to_be_bytes());
        packet[24..28].copy_from_slice(&self.late_ns.to_be_bytes());
        packet[28..30].copy_from_slice(&self.length.to_be_bytes());
        packet[30] = self.kind.number();
        packet[31] = check(&packet[..31]);
    }

    fn write_compact(&self, packet: &mut [u8]) {
        let [session, flow] = self.id.compact_words();
        let sequence = self.sequence % COMPACT_SEQUENCES;
        let left = self.intended_ns.wrapping_add(self.late_ns.into()) & COMPACT_TIME;
        packet[0..8].copy_from_slice(&(session | sequence).to_be_bytes());
        packet[8..16].copy_from_slice(&(flow | left).to_be_bytes());
        packet[16] = compact_kind(self.kind, self.length);
        packet[17] = check(&packet[..17]);
    }

    fn read_compact(packet: &[u8]) -> Option<Self> {
        let bytes: &[u8; COMPACT] = packet.get(..COMPACT)?.try_into().ok()?;
        let length = u16::from(bytes[16] & 0xf) + COMPACT as u16;
        if bytes[17] != check(&bytes[..17]) || usize::from(length) >= HEADER {
            return None;
        }
        let eight = |at: usize| u64::from_be_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
        let (first, second) = (eight(0), eight(8));
        Some(Self {
            id: Id(first >> 40 << 24 | second >> 48),
            sequence: first % COMPACT_SEQUENCES,
            intended_ns: second & COMPACT_TIME,
            late_ns: 0,
            length,
            kind: Kind::from_number((bytes[16] ^ COMPACT_MARK) >> 4)?,
        })
    }

    /// Reads a header; none if the bytes are too few or are no header of ours.
    #[inline]
    pub fn read(packet: &[u8]) -> Option<Self> {
        if packet.len() < HEADER {
            return Self::read_compact(packet);
        }
        let bytes: &[u8; HEADER] = packet.get(..HEADER)?.try_into().ok()?;
        if bytes[31] != check(&bytes[..31]) {
            return None;
        }
        let eight = |at: usize| u64::from_be_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
        Some(Self {
            id: Id(eight(0)),
            sequence: eight(8),
            intended_ns: eight(16),
            late_ns: u32::from_be_bytes(bytes[24..28].try_into().expect("4 bytes")),
            length: u16::from_be_bytes(bytes[28..30].try_into().expect("2 bytes")),
            kind: Kind::from_number(bytes[30])?,
        })
    }
}

/// The byte of a compact header that holds kind and length.
pub fn compact_kind(kind: Kind, length: u16) -> u8 {
    COMPACT_MARK | kind.number() << 4 | (length - COMPACT as u16) as u8
}

/// Exclusive or by words, so that it costs some instructions and not thirty.
#[inline]
fn check(bytes: &[u8]) -> u8 {
    let mut words = bytes.chunks_exact(8);
    let mut folded = words.by_ref().fold(0, |all, word| {
        all ^ u64::from_ne_bytes(word.try_into().expect("8 bytes"))
    });
    for &byte in words.remainder() {
        folded ^= u64::from(byte);
    }
    folded ^= folded >> 32;
    folded ^= folded >> 16;
    folded ^= folded >> 8;
    folded as u8 ^ 0xa5
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        Header {
            id: Id::new(0x0012_3456_789a_bcde, 77),
            sequence: 0x0102_0304_0506_0708,
            intended_ns: 9,
            late_ns: u32::MAX,
            length: 1500,
            kind: Kind::Echo,
        }
    }

    #[test]
    fn a_header_is_read_as_it_was_written() {
        let mut packet = [0; 40];
        header().write(&mut packet);
        assert_eq!(Header::read(&packet), Some(header()));
        assert_eq!(&packet[8..16], &[1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(
            packet[31],
            packet[..31].iter().fold(0xa5, |all, byte| all ^ byte)
        );
    }

    #[test]
    fn each_changed_byte_makes_it_foreign() {
        let mut packet = [0; HEADER];
        header().write(&mut packet);
        for at in 0..HEADER {
            let mut damaged = packet;
            damaged[at] ^= 0x40;
            assert_eq!(Header::read(&damaged), None, "byte {at}");
        }
        assert_eq!(Header::read(&packet[..31]), None);
    }

    #[test]
    fn a_short_packet_has_the_compact_header() {
        for length in COMPACT..HEADER {
            let written = Header {
                sequence: 0x01_0203_0405,
                intended_ns: 0xfedc_ba98_7654_3210,
                late_ns: 0x10,
                length: length as u16,
                ..header()
            };
            let mut packet = vec![7; length];
            written.write(&mut packet);
            assert_eq!(
                packet[..16],
                [0x9a, 0xbc, 0xde, 1, 2, 3, 4, 5, 0, 77, 0xba, 0x98, 0x76, 0x54, 0x32, 0x20]
            );
            assert_eq!(
                packet[17],
                packet[..17].iter().fold(0xa5, |all, byte| all ^ byte)
            );
            assert!(packet[COMPACT..].iter().all(|&byte| byte == 7));
            let read = Header::read(&packet).unwrap();
            let expected = Header {
                id: written.id.in_packet(length),
                intended_ns: 0xba98_7654_3220,
                late_ns: 0,
                ..written
            };
            assert_eq!(read, expected);
            // Sent back: the same with another kind.
            let back = Header {
                kind: Kind::Data,
                ..read
            };
            back.write(&mut packet);
            assert_eq!(Header::read(&packet), Some(back));
        }
    }

    #[test]
    fn each_changed_bit_makes_a_compact_packet_foreign() {
        let mut packet = [0; COMPACT];
        Header {
            length: COMPACT as u16,
            sequence: 5,
            ..header()
        }
        .write(&mut packet);
        for bit in 0..8 * COMPACT {
            let mut damaged = packet;
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Header::read(&damaged), None, "bit {bit}");
        }
        assert_eq!(Header::read(&packet[..17]), None);
        // A long packet that was cut is no compact one.
        let mut long = [0; 64];
        header().write(&mut long);
        assert_eq!(Header::read(&long[..31]), None);
    }

    #[test]
    fn sessions_and_flows_are_distinguished() {
        assert_eq!(Id::new(1, 5).flow(), 5);
        for length in [COMPACT, HEADER] {
            let of = |session, flow| Id::new(session, flow).in_packet(length);
            assert_ne!(of(1, 5), of(2, 5), "{length}");
            assert_ne!(of(1, 5), of(1, 6), "{length}");
            assert_eq!(of(1, 5).flow(), 5);
        }
    }
}
