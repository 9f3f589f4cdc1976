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
//! A packet whose id is another session's, or whose check byte is wrong, is foreign.

/// Bytes of the header, which are the smallest packet.
pub const HEADER: usize = 32;

/// The longest packet: what a UDP datagram over IPv4 can hold.
pub const LONGEST: usize = 65_507;

/// Flows that one session can tell apart.
pub const FLOWS: u32 = 1 << 24;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Data,
    /// Sent back by an echo receiver.
    Echo,
    /// A question of the clock exchange, and its answer.
    Question,
    Answer,
    /// Tells who answers when the flows begin, on the exchange's socket.
    Plan,
}

impl Kind {
    pub fn number(self) -> u8 {
        match self {
            Self::Data => 0,
            Self::Echo => 1,
            Self::Question => 2,
            Self::Answer => 3,
            Self::Plan => 4,
        }
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

    pub fn same_session(self, other: Self) -> bool {
        self.0 >> 24 == other.0 >> 24
    }
}

impl Header {
    /// Writes the header into the first bytes of a packet.
    ///
    /// # Panics
    /// If the packet is shorter than the header.
    #[inline]
    pub fn write(&self, packet: &mut [u8]) {
        packet[0..8].copy_from_slice(&self.id.0.to_be_bytes());
        packet[8..16].copy_from_slice(&self.sequence.to_be_bytes());
        packet[16..24].copy_from_slice(&self.intended_ns.to_be_bytes());
        packet[24..28].copy_from_slice(&self.late_ns.to_be_bytes());
        packet[28..30].copy_from_slice(&self.length.to_be_bytes());
        packet[30] = self.kind.number();
        packet[31] = check(&packet[..31]);
    }

    /// Reads a header; none if the bytes are too few or are no header of ours.
    #[inline]
    pub fn read(packet: &[u8]) -> Option<Self> {
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
    fn sessions_and_flows_are_told_apart() {
        let (mine, yours) = (Id::new(1, 5), Id::new(2, 5));
        assert!(!mine.same_session(yours));
        assert!(mine.same_session(Id::new(1, 6)));
        assert_eq!(mine.flow(), 5);
    }
}
