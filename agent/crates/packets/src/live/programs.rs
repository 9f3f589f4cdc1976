//! The programs of the transmit backend `live`: what runs in the kernel for each frame. `docs/network.md` says
//! in words what they do.

use super::assembler::Register::{R0, R1, R10, R2, R3, R4, R5, R6, R7, R8, R9};
use super::assembler::{
    Assembler,
    Condition::{Greater, GreaterOrEqual, NotEqual},
    Helper, Operation, Register,
    Width::{Double, Half, Word},
};
use crate::frame::{self, Template};
use crate::packet::{compact_kind, Id, Kind, COMPACT, HEADER};

pub const XDP_DROP: i32 = 1;
pub const XDP_PASS: i32 = 2;

/// Words of the sender's state, shared with the process.
pub mod sending {
    /// Packets that were sent; the program counts.
    pub const SENT: usize = 0;
    /// Packets whose slots the process has filled.
    pub const PLANNED: usize = 1;
    /// The kernel's clock less the endpoint's, ns.
    pub const OFFSET: usize = 2;
    /// No packet leaves later than this, ns on the kernel's clock.
    pub const END: usize = 3;
    /// How often the program ran, and when it last looked at the clock; its own.
    pub const RUNS: usize = 4;
    pub const NOW: usize = 5;
    pub const WORDS: u32 = 6;
    /// The clock is looked at in every so many runs, and whenever a packet seems to be early: it takes a
    /// sixth of a packet's time. The kernel runs its batches, which are multiples of this, without
    /// a pause, so a packet that is late by then has a time less than a microsecond old.
    pub const LOOK: i32 = 8;
}

/// What the sending program is assembled from.
pub struct Sending<'a> {
    pub state: i32,
    /// When each packet is due, or 0 for at once, and when it was sent: one value of words for
    /// each, on the kernel's clock. Apart, so that no line of memory is written by both sides.
    pub due: i32,
    pub left: i32,
    /// Words less one; a power of two less one.
    pub mask: u32,
    /// The interface that frames leave by, the only one of its map.
    pub interfaces: i32,
    pub id: Id,
    /// The first frame, whose bytes behind our header stay as they are.
    pub frame: &'a [u8],
    pub template: &'a Template,
}

pub fn word(index: usize) -> i16 {
    8 * index as i16
}

/// The address of element `number & mask` of an array of one value, in `to`; an element has
/// 2^`shift` bytes.
pub fn element(
    code: &mut Assembler,
    to: Register,
    spare: Register,
    number: Register,
    of: (i32, u32),
    shift: i32,
) {
    let (array, mask) = of;
    code.set(spare, number);
    code.compute(Operation::And, spare, mask as i32);
    code.compute(Operation::ShiftLeft, spare, shift);
    code.set_value(to, array);
    code.compute(Operation::Add, to, spare);
}

/// `register ^= register >> bits`.
pub fn fold(code: &mut Assembler, register: Register, spare: Register) {
    for bits in [32, 16, 8] {
        code.set(spare, register);
        code.compute(Operation::ShiftRight, spare, bits);
        code.compute(Operation::Xor, register, spare);
    }
    code.compute(Operation::And, register, 0xff);
}

/// The time, in R8 and in the state, which R7 points to. Calls a function: R1 to R5 are lost.
fn look(code: &mut Assembler) {
    code.call(Helper::KtimeGetNs);
    code.set(R8, R0);
    code.store(Double, R7, word(sending::NOW), R8);
}

/// Writes our header into the frame at R4. R1: intended time on the kernel's clock; R8: the present
/// time; R9: sequence. Then R9 and R1 are what was written of sequence and time, and R5 is `sum`,
/// that of all else that UDP's checksum covers, with what else was written.
fn long_header(code: &mut Assembler, of: &Sending<'_>, sum: u64) {
    let headers = of.template.headers();
    let ours = headers as i16;
    let mut constant = [0; HEADER];
    constant[0..8].copy_from_slice(&of.id.bytes());
    constant[28..30].copy_from_slice(&((of.frame.len() - headers) as u16).to_be_bytes());
    constant[30] = Kind::Data.number();
    let check = constant.iter().fold(0xa5, |all, byte| all ^ byte);
    // R3 = lateness, at most 2^32 - 1; R1 = intended time on the endpoint's clock.
    code.set(R3, R8);
    code.compute(Operation::Sub, R3, R1);
    code.set_lower(R2, -1);
    code.jump_if(GreaterOrEqual, R2, R3, "late");
    code.set(R3, R2);
    code.label("late");
    code.load(Double, R2, R7, word(sending::OFFSET));
    code.compute(Operation::Sub, R1, R2);
    code.store_bytes(R4, ours, &constant[..8]);
    code.big_endian(R9, 64);
    code.store(Double, R4, ours + 8, R9);
    code.big_endian(R1, 64);
    code.store(Double, R4, ours + 16, R1);
    code.big_endian(R3, 32);
    code.set(R0, R9);
    code.compute(Operation::Xor, R0, R1);
    code.compute(Operation::Xor, R0, R3);
    fold(code, R0, R2);
    code.compute(Operation::Xor, R0, i32::from(check));
    // R5 = the sum for the checksum of UDP; the check byte is the upper one of its word.
    code.set_wide(R5, sum + frame::sum(&constant));
    code.compute(Operation::ShiftLeft, R0, 8);
    code.compute(Operation::Add, R5, R0);
    code.compute(Operation::Add, R5, R3);
    // Lateness, length, kind and check byte are one word.
    code.compute(Operation::ShiftLeft, R0, 48);
    code.compute(Operation::Or, R0, R3);
    let tail = u64::from_le_bytes(constant[24..].try_into().expect("8 bytes"));
    code.set_wide(R2, tail);
    code.compute(Operation::Or, R0, R2);
    code.store(Double, R4, ours + 24, R0);
}

/// As [`long_header`], the compact one: its time is the present one.
fn compact_header(code: &mut Assembler, of: &Sending<'_>, sum: u64) {
    let headers = of.template.headers();
    let ours = headers as i16;
    let [session, flow] = of.id.compact_words();
    let kind = compact_kind(Kind::Data, (of.frame.len() - headers) as u16);
    code.set_wide(R2, session);
    code.compute(Operation::Or, R9, R2);
    code.set(R1, R8);
    code.load(Double, R2, R7, word(sending::OFFSET));
    code.compute(Operation::Sub, R1, R2);
    code.compute(Operation::ShiftLeft, R1, 16);
    code.compute(Operation::ShiftRight, R1, 16);
    code.set_wide(R2, flow);
    code.compute(Operation::Or, R1, R2);
    code.big_endian(R9, 64);
    code.store(Double, R4, ours, R9);
    code.big_endian(R1, 64);
    code.store(Double, R4, ours + 8, R1);
    code.set(R0, R9);
    code.compute(Operation::Xor, R0, R1);
    fold(code, R0, R2);
    code.compute(Operation::Xor, R0, i32::from(0xa5 ^ kind));
    code.compute(Operation::ShiftLeft, R0, 8);
    code.compute(Operation::Or, R0, i32::from(kind));
    code.store(Half, R4, ours + 16, R0);
    code.set_wide(R5, sum);
    code.compute(Operation::Add, R5, R0);
}

/// Sends the next packet if it is due; else the frame is dropped and comes again at once, so the
/// program paces itself by being run. Every header is written anew: pages are used again.
pub fn sender(of: &Sending<'_>) -> Vec<u8> {
    let headers = of.template.headers();
    let ours = headers as i16;
    let mut code = Assembler::default();
    let mut lengths = of.frame.to_vec();
    of.template.write_lengths(&mut lengths);
    let length = of.frame.len() - headers;
    let header = if length < HEADER { COMPACT } else { HEADER };

    code.set(R6, R1);
    code.set_value(R7, of.state);
    code.load(Double, R8, R7, word(sending::NOW));
    code.load(Double, R1, R7, word(sending::RUNS));
    code.set(R2, R1);
    code.compute(Operation::Add, R2, 1);
    code.store(Double, R7, word(sending::RUNS), R2);
    code.compute(Operation::And, R1, sending::LOOK - 1);
    code.jump_if(NotEqual, R1, 0, "looked");
    look(&mut code);
    code.label("looked");
    code.load(Double, R1, R7, word(sending::END));
    code.jump_if(GreaterOrEqual, R8, R1, "drop");
    code.load(Double, R9, R7, word(sending::SENT));
    code.load(Double, R1, R7, word(sending::PLANNED));
    code.jump_if(GreaterOrEqual, R9, R1, "drop");
    element(&mut code, R2, R1, R9, (of.due, of.mask), 3);
    code.load(Double, R1, R2, 0);
    code.jump_if(NotEqual, R1, 0, "paced");
    code.set(R1, R8);
    code.label("paced");
    code.jump_if(GreaterOrEqual, R8, R1, "due");
    code.store(Double, R10, -8, R1);
    look(&mut code);
    code.load(Double, R1, R10, -8);
    code.jump_if(Greater, R1, R8, "drop");
    code.label("due");
    // The frame is as long as it was given, which the kernel's checker wants to see.
    code.load(Word, R4, R6, 0);
    code.load(Word, R5, R6, 4);
    code.set(R3, R4);
    code.compute(Operation::Add, R3, (headers + header) as i32);
    code.jump_if(Greater, R3, R5, "drop");
    element(&mut code, R2, R3, R9, (of.left, of.mask), 3);
    code.store(Double, R2, 0, R8);
    code.set(R3, R9);
    code.compute(Operation::Add, R3, 1);
    code.store(Double, R7, word(sending::SENT), R3);
    code.store_bytes(R4, 0, &lengths[..headers]);
    let sum = of.template.fixed_sum(length) + frame::sum(&of.frame[headers + header..]);
    if length < HEADER {
        compact_header(&mut code, of, sum);
    } else {
        long_header(&mut code, of, sum);
    }
    for register in [R9, R1] {
        code.set_lower(R2, register);
        code.compute(Operation::Add, R5, R2);
        code.compute(Operation::ShiftRight, register, 32);
        code.compute(Operation::Add, R5, register);
    }
    for _ in 0..3 {
        code.set(R2, R5);
        code.compute(Operation::ShiftRight, R2, 16);
        code.compute(Operation::And, R5, 0xffff);
        code.compute(Operation::Add, R5, R2);
    }
    code.compute(Operation::Xor, R5, 0xffff);
    code.jump_if(NotEqual, R5, 0, "sum");
    code.set(R5, 0xffff);
    code.label("sum");
    code.store(Half, R4, ours - 2, R5);
    code.set_map(R1, of.interfaces);
    code.set(R2, 0);
    code.set(R3, XDP_DROP);
    code.call(Helper::RedirectMap);
    code.exit();
    code.label("drop");
    code.set(R0, XDP_DROP);
    code.exit();
    code.finish()
}

/// Says the same of every frame.
pub fn verdict(verdict: i32) -> Vec<u8> {
    let mut code = Assembler::default();
    code.set(R0, verdict);
    code.exit();
    code.finish()
}
