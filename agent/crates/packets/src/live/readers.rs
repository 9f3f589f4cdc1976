//! The programs that take arriving frames of a flow. `docs/network.md` says in words what they do.

use super::assembler::Register::{R0, R1, R2, R3, R4, R5, R6, R7, R8, R9};
use super::assembler::{
    Assembler,
    Condition::{Equal, Greater, NotEqual},
    Helper, Operation,
    Width::{Byte, Double, Half, Word},
};
use super::programs::{element, fold, word, XDP_DROP, XDP_PASS};
use crate::frame::HEADERS_4;
use crate::packet::{compact_kind, Id, Kind, COMPACT, HEADER};

/// Words of the receiver's state.
pub mod receiving {
    pub const CAME: usize = 0;
    pub const FOREIGN: usize = 1;
    /// Packets that came by another queue than the only one that there was: not written down.
    pub const ASTRAY: usize = 2;
    /// The last look at the clock: when, at which packet, when that one left by its sender's clock,
    /// and the first packet that may not share the time. The program's own.
    pub const NOW: usize = 3;
    pub const LOOKED: usize = 4;
    pub const LEFT: usize = 5;
    pub const UNTIL: usize = 6;
    pub const WORDS: u32 = 7;
    /// Packets that share a time, at most; and two to the power of this many ns is how close, one with
    /// another, those before them must have come.
    pub const SHARE: i32 = 8;
    pub const DENSE: i32 = 8;
    /// A slot: time on the kernel's clock; the rest, which is 0 while the slot is written.
    pub const TIME: usize = 0;
    pub const REST: usize = 1;
    pub const SLOT_WORDS: u32 = 2;
    /// The rest, from below: payload bytes as UDP states; whether our header states others; the
    /// round of the ring from 1, 15 bits of it; 32 bits of the sequence.
    pub const CUT: u32 = 16;
    pub const ROUND: u32 = 17;
    pub const ROUNDS: u64 = 0x7fff;
    pub const SEQUENCE: u32 = 32;
}

/// What the receiving program is assembled from.
pub struct Receiving {
    pub state: i32,
    /// One value of all slots.
    pub slots: i32,
    /// Slots less one; a power of two less one.
    pub mask: u32,
    pub id: Id,
    /// Headers in front of ours.
    pub headers: usize,
    /// The address that packets are sent to, as in the frame.
    pub address: Vec<u8>,
    pub port: u16,
    /// Whether the interface has one queue only: its packets come one after the other, so they are
    /// counted without a locked step, and those that come close together share a time.
    pub one_queue: bool,
}

/// Where the number of the queue stands in an XDP program's context (linux/bpf.h).
const RX_QUEUE: i16 = 16;

/// Leaves for `pass` unless the frame whose context is in R6 is a whole UDP datagram to this address
/// and port. R4: where the frame begins; R5: where it ends; R3: behind the headers.
fn datagram_of(code: &mut Assembler, headers: usize, address: &[u8], port: u16) {
    let udp = headers as i16 - 8;
    let four = headers == HEADERS_4;
    let memory = |bytes: [u8; 2]| i32::from(u16::from_le_bytes(bytes));
    code.load(Word, R4, R6, 0);
    code.load(Word, R5, R6, 4);
    code.set(R3, R4);
    code.compute(Operation::Add, R3, headers as i32);
    code.jump_if(Greater, R3, R5, "pass");
    let kind: u16 = if four { 0x0800 } else { 0x86dd };
    code.load(Half, R1, R4, 12);
    code.jump_if(NotEqual, R1, memory(kind.to_be_bytes()), "pass");
    if four {
        // No options, no fragments.
        code.load(Byte, R1, R4, 14);
        code.jump_if(NotEqual, R1, 0x45, "pass");
        code.load(Half, R1, R4, 20);
        code.compute(Operation::And, R1, memory([0x3f, 0xff]));
        code.jump_if(NotEqual, R1, 0, "pass");
    }
    code.load(Byte, R1, R4, if four { 23 } else { 20 });
    code.jump_if(NotEqual, R1, 17, "pass");
    let at = if four { 30 } else { 38 };
    for (index, part) in address.chunks_exact(4).enumerate() {
        code.load(Word, R1, R4, at + 4 * index as i16);
        let number = u32::from_le_bytes(part.try_into().expect("4 bytes"));
        code.set_lower(R2, number as i32);
        code.jump_if(NotEqual, R1, R2, "pass");
    }
    code.load(Half, R1, R4, udp + 2);
    code.jump_if(NotEqual, R1, memory(port.to_be_bytes()), "pass");
}

/// Gives the frames of a flow to the AF_XDP socket of their queue, and passes on everything else.
pub fn to_socket(sockets: i32, headers: usize, address: &[u8], port: u16) -> Vec<u8> {
    let mut code = Assembler::default();
    code.set(R6, R1);
    datagram_of(&mut code, headers, address, port);
    code.set_map(R1, sockets);
    code.load(Word, R2, R6, RX_QUEUE);
    // A queue without a socket: the stack takes the frame.
    code.set(R3, XDP_PASS);
    code.call(Helper::RedirectMap);
    code.exit();
    code.label("pass");
    code.set(R0, XDP_PASS);
    code.exit();
    code.finish()
}

/// The time of arrival of packet R6, which left at R5 by its sender's clock, in R0: a new look at
/// the clock, or the last one if fewer than [`receiving::SHARE`] packets share it, the packet left at
/// the very time of the one that looked, and packets came close together up to then. One that left
/// later never gets a time from before it left. R7 is the state; R1 to R5 are lost.
fn shared_time(code: &mut Assembler) {
    code.load(Double, R0, R7, word(receiving::NOW));
    code.load(Double, R1, R7, word(receiving::LEFT));
    code.load(Double, R2, R7, word(receiving::UNTIL));
    code.jump_if(NotEqual, R1, R5, "look");
    code.jump_if(Greater, R2, R6, "reported");
    code.label("look");
    code.store(Double, R7, word(receiving::LEFT), R5);
    code.call(Helper::KtimeGetNs);
    code.load(Double, R1, R7, word(receiving::NOW));
    code.store(Double, R7, word(receiving::NOW), R0);
    code.set(R2, R0);
    code.compute(Operation::Sub, R2, R1);
    code.load(Double, R1, R7, word(receiving::LOOKED));
    code.store(Double, R7, word(receiving::LOOKED), R6);
    code.set(R3, R6);
    code.compute(Operation::Sub, R3, R1);
    code.compute(Operation::ShiftLeft, R3, receiving::DENSE);
    code.set(R1, R6);
    code.jump_if(Greater, R2, R3, "sparse");
    code.compute(Operation::Add, R1, receiving::SHARE);
    code.label("sparse");
    code.store(Double, R7, word(receiving::UNTIL), R1);
    code.label("reported");
}

/// Leaves for `foreign` unless our header is at R3, in the frame at R4 that ends at R5, in a datagram
/// of R8 bytes. Then R9 is the sequence, R5 the time at which the packet left by its sender's clock,
/// and R8 has the bit [`receiving::CUT`] if the header states another length. R1 to R3 are lost.
fn long_header(code: &mut Assembler, of: &Receiving) {
    let ours = of.headers as i16;
    code.compute(Operation::Add, R3, HEADER as i32);
    code.jump_if(Greater, R3, R5, "foreign");
    code.load(Double, R1, R4, ours);
    code.set_wide(R2, u64::from_le_bytes(of.id.bytes()));
    code.jump_if(NotEqual, R1, R2, "foreign");
    code.load(Double, R9, R4, ours + 8);
    code.compute(Operation::Xor, R1, R9);
    for at in [16, 24] {
        code.load(Double, R2, R4, ours + at);
        code.compute(Operation::Xor, R1, R2);
    }
    fold(code, R1, R2);
    code.jump_if(NotEqual, R1, 0xa5, "foreign");
    code.load(Byte, R1, R4, ours + 30);
    code.jump_if(NotEqual, R1, i32::from(Kind::Data.number()), "foreign");
    code.load(Half, R1, R4, ours + 28);
    code.big_endian(R1, 16);
    code.jump_if(Equal, R1, R8, "whole");
    code.compute(Operation::Or, R8, 1 << receiving::CUT);
    code.label("whole");
    code.big_endian(R9, 64);
    // The intended time and the lateness.
    code.load(Double, R5, R4, ours + 16);
    code.big_endian(R5, 64);
    code.load(Word, R1, R4, ours + 24);
    code.big_endian(R1, 32);
    code.compute(Operation::Add, R5, R1);
}

/// As [`long_header`], of a datagram that is too short for that one.
fn compact_header(code: &mut Assembler, of: &Receiving) {
    let ours = of.headers as i16;
    let [session, flow] = of.id.compact_words();
    code.compute(Operation::Add, R3, COMPACT as i32);
    code.jump_if(Greater, R3, R5, "foreign");
    // What follows a shorter datagram only fills up its frame.
    code.set(R1, COMPACT as i32);
    code.jump_if(Greater, R1, R8, "foreign");
    code.load(Double, R9, R4, ours);
    code.load(Double, R5, R4, ours + 8);
    code.load(Half, R3, R4, ours + 16);
    code.set(R1, R9);
    code.compute(Operation::Xor, R1, R5);
    code.compute(Operation::Xor, R1, R3);
    fold(code, R1, R2);
    code.jump_if(NotEqual, R1, 0xa5, "foreign");
    for (register, word, low) in [(R9, session, 40), (R5, flow, 48)] {
        code.big_endian(register, 64);
        code.set(R1, register);
        code.compute(Operation::ShiftRight, R1, low);
        code.set_wide(R2, word >> low);
        code.jump_if(NotEqual, R1, R2, "foreign");
        code.compute(Operation::ShiftLeft, register, 64 - low);
        code.compute(Operation::ShiftRight, register, 64 - low);
    }
    // Kind and length stand in one byte.
    code.compute(Operation::And, R3, 0xff);
    let none = i32::from(compact_kind(Kind::Data, COMPACT as u16));
    code.compute(Operation::Sub, R3, none);
    code.set(R1, (HEADER - COMPACT) as i32 - 1);
    code.jump_if(Greater, R3, R1, "foreign");
    code.compute(Operation::Add, R3, COMPACT as i32);
    code.jump_if(Equal, R3, R8, "compact whole");
    code.compute(Operation::Or, R8, 1 << receiving::CUT);
    code.label("compact whole");
}

/// Writes down every packet of the flow and takes it out of the stack; counts and takes out what
/// comes to the flow's port and is not of it; passes on everything else.
pub fn receiver(of: &Receiving) -> Vec<u8> {
    let udp = of.headers as i16 - 8;
    let mut code = Assembler::default();
    code.set(R6, R1);
    code.set_value(R7, of.state);
    datagram_of(&mut code, of.headers, &of.address, of.port);
    code.load(Half, R8, R4, udp + 4);
    code.big_endian(R8, 16);
    code.compute(Operation::Sub, R8, 8);
    code.compute(Operation::And, R8, 0xffff);
    code.set(R1, HEADER as i32);
    code.jump_if(Greater, R1, R8, "compact");
    long_header(&mut code, of);
    code.jump("read");
    code.label("compact");
    compact_header(&mut code, of);
    code.label("read");
    if of.one_queue {
        code.load(Word, R1, R6, RX_QUEUE);
        code.jump_if(NotEqual, R1, 0, "astray");
        code.load(Double, R6, R7, word(receiving::CAME));
        code.set(R1, R6);
        code.compute(Operation::Add, R1, 1);
        code.store(Double, R7, word(receiving::CAME), R1);
    } else {
        code.set(R6, 1);
        code.fetch_add(R7, word(receiving::CAME), R6);
    }
    code.compute(Operation::ShiftLeft, R9, receiving::SEQUENCE as i32);
    code.compute(Operation::Or, R8, R9);
    element(&mut code, R9, R1, R6, (of.slots, of.mask), 4);
    code.set(R1, R6);
    code.compute(Operation::ShiftRight, R1, of.mask.count_ones() as i32);
    code.compute(Operation::Add, R1, 1);
    code.compute(Operation::And, R1, receiving::ROUNDS as i32);
    code.compute(Operation::ShiftLeft, R1, receiving::ROUND as i32);
    code.compute(Operation::Or, R8, R1);
    if of.one_queue {
        shared_time(&mut code);
    } else {
        code.call(Helper::KtimeGetNs);
    }
    code.store(Double, R9, word(receiving::REST), 0);
    code.store(Double, R9, word(receiving::TIME), R0);
    code.store(Double, R9, word(receiving::REST), R8);
    code.set(R0, XDP_DROP);
    code.exit();
    code.label("foreign");
    code.set(R6, 1);
    code.fetch_add(R7, word(receiving::FOREIGN), R6);
    code.set(R0, XDP_DROP);
    code.exit();
    if of.one_queue {
        code.label("astray");
        code.set(R6, 1);
        code.fetch_add(R7, word(receiving::ASTRAY), R6);
        code.set(R0, XDP_DROP);
        code.exit();
    }
    code.label("pass");
    code.set(R0, XDP_PASS);
    code.exit();
    code.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{Ends, Template};
    use crate::packet::Header;
    use pentathlon_os::bpf::{Array, Program};
    use std::sync::atomic::Ordering::Relaxed;

    const ID: u64 = 7;
    const PLANTED: u64 = 12_345;

    /// A loaded program, which is given frames as a driver would.
    struct Loaded {
        program: Program,
        state: Array,
        slots: Array,
    }

    impl Loaded {
        /// None where the kernel takes no programs from this user.
        fn new(one_queue: bool) -> Option<Self> {
            let state = Array::new(1, receiving::WORDS).ok()?;
            let slots = Array::new(1, 64 * receiving::SLOT_WORDS).ok()?;
            let program = Program::load(&receiver(&Receiving {
                state: state.number(),
                slots: slots.number(),
                mask: 63,
                id: Id::new(ID, 3),
                headers: HEADERS_4,
                address: vec![198, 18, 0, 2],
                port: 5000,
                one_queue,
            }));
            let loaded = Self {
                program: program.expect("maps were allowed"),
                state,
                slots,
            };
            // Kernels before 5.18 run no live frames.
            loaded.program.run_live(&[0; 64], 1, 1).ok()?;
            Some(loaded)
        }

        fn come(&self, frame: &[u8], times: u32) {
            self.program.run_live(frame, times, 1).unwrap();
        }

        fn word(&self, index: usize) -> u64 {
            self.state.words()[index].load(Relaxed)
        }

        fn plant(&self, index: usize, value: u64) {
            self.state.words()[index].store(value, Relaxed);
        }

        fn times(&self) -> Vec<u64> {
            let came = self.word(receiving::CAME) as usize;
            (0..came)
                .map(|at| self.slots.words()[at * receiving::SLOT_WORDS as usize].load(Relaxed))
                .collect()
        }
    }

    fn frame(intended_ns: u64, late_ns: u32) -> Vec<u8> {
        frame_of(64, intended_ns, late_ns)
    }

    fn frame_of(length: usize, intended_ns: u64, late_ns: u32) -> Vec<u8> {
        let template = Template::new(&Ends {
            source_link: [2, 0, 0, 0, 0, 1],
            destination_link: [2, 0, 0, 0, 0, 2],
            source: "198.18.0.1:4000".parse().unwrap(),
            destination: "198.18.0.2:5000".parse().unwrap(),
        });
        let mut frame = vec![0; HEADERS_4 + length];
        Header {
            id: Id::new(ID, 3),
            sequence: 9,
            intended_ns,
            late_ns,
            length: length as u16,
            kind: Kind::Data,
        }
        .write(&mut frame[HEADERS_4..]);
        template.write(&mut frame);
        frame
    }

    #[test]
    fn eight_packets_at_most_share_a_time_and_only_if_they_left_together() {
        let Some(loaded) = Loaded::new(true) else {
            return;
        };
        // The packet before: so many packets ago that they came close together for certain.
        loaded.plant(receiving::LOOKED, 0_u64.wrapping_sub(1 << 40));
        loaded.come(&frame(1000, 50), 1);
        assert_eq!(loaded.word(receiving::UNTIL), 8);
        assert_eq!(loaded.word(receiving::LEFT), 1050);
        loaded.plant(receiving::NOW, PLANTED);
        // It left at the same time, though it was meant for another.
        loaded.come(&frame(1020, 30), 6);
        loaded.plant(receiving::UNTIL, 100);
        loaded.come(&frame(1000, 51), 1);
        let times = loaded.times();
        assert_eq!(times[1..7], [PLANTED; 6]);
        assert!(times[7] > PLANTED, "it left later");
        loaded.plant(receiving::NOW, PLANTED);
        loaded.plant(receiving::UNTIL, 9);
        loaded.come(&frame(1000, 51), 2);
        assert_eq!(loaded.times()[8], PLANTED);
        assert!(loaded.times()[9] > PLANTED, "it is the ninth");
    }

    #[test]
    fn packets_that_come_far_apart_share_no_time() {
        let Some(loaded) = Loaded::new(true) else {
            return;
        };
        loaded.come(&frame(1000, 50), 1);
        // A second ago, by any clock that counts on.
        loaded.plant(
            receiving::NOW,
            loaded.word(receiving::NOW).wrapping_sub(1_000_000_000),
        );
        loaded.come(&frame(1000, 50), 1);
        let until = loaded.word(receiving::UNTIL);
        assert_eq!(until, 1, "nobody shares the time of packet 1");
    }

    #[test]
    fn behind_several_queues_every_packet_has_its_own_look() {
        let Some(loaded) = Loaded::new(false) else {
            return;
        };
        loaded.plant(receiving::UNTIL, 1000);
        loaded.plant(receiving::LEFT, 1050);
        loaded.plant(receiving::NOW, PLANTED);
        loaded.come(&frame(1000, 50), 20);
        let times = loaded.times();
        assert_eq!(times.len(), 20);
        assert!(times.iter().all(|&time| time > PLANTED));
        assert!(times.windows(2).all(|pair| pair[0] <= pair[1]));
    }

    #[test]
    fn damaged_packets_are_foreign() {
        let Some(loaded) = Loaded::new(true) else {
            return;
        };
        let mut damaged = frame(1000, 50);
        damaged[HEADERS_4 + 20] ^= 1;
        loaded.come(&damaged, 3);
        loaded.come(&frame(1000, 50), 2);
        assert_eq!(loaded.word(receiving::FOREIGN), 3);
        assert_eq!(loaded.word(receiving::CAME), 2);
        assert_eq!(loaded.word(receiving::ASTRAY), 0);
    }

    #[test]
    fn compact_headers_are_read_like_long_ones() {
        let Some(loaded) = Loaded::new(true) else {
            return;
        };
        let lengths = [COMPACT, COMPACT + 1, HEADER - 1, HEADER];
        for length in lengths {
            loaded.come(&frame_of(length, 1000, 50), 1);
            assert_eq!(loaded.word(receiving::LEFT), 1050);
            let damaged = |at: usize| {
                let mut damaged = frame_of(length, 1000, 50);
                damaged[HEADERS_4 + at] ^= 0x40;
                damaged
            };
            let before = loaded.word(receiving::FOREIGN);
            for at in 0..length.min(COMPACT) {
                loaded.come(&damaged(at), 1);
            }
            assert_eq!(loaded.word(receiving::FOREIGN), before + COMPACT as u64);
        }
        assert_eq!(loaded.word(receiving::CAME), lengths.len() as u64);
        for (at, length) in lengths.into_iter().enumerate() {
            let slot = at * receiving::SLOT_WORDS as usize + receiving::REST;
            let rest = loaded.slots.words()[slot].load(Relaxed);
            assert_eq!(rest as u16, length as u16);
            assert_eq!(rest >> receiving::CUT & 1, 0, "{length} B are whole");
            assert_eq!(rest >> receiving::SEQUENCE, 9);
        }
        // Cut on its way: UDP states another length than our header.
        let mut cut = frame_of(COMPACT + 2, 1000, 50);
        cut.truncate(HEADERS_4 + COMPACT);
        cut[HEADERS_4 - 3] -= 2;
        loaded.come(&cut, 1);
        let slot = lengths.len() * receiving::SLOT_WORDS as usize + receiving::REST;
        let rest = loaded.slots.words()[slot].load(Relaxed);
        assert_eq!(rest >> receiving::CUT & 1, 1);
        // A datagram that is too short, in a frame that is filled up.
        let mut short = frame_of(COMPACT, 1000, 50);
        short[HEADERS_4 - 3] -= 1;
        let before = loaded.word(receiving::FOREIGN);
        loaded.come(&short, 1);
        assert_eq!(loaded.word(receiving::FOREIGN), before + 1);
    }
}
