//! Assembles eBPF (RFC 9669): the few instructions that the programs of this folder are made of.
//! Programs are assembled for each flow, so its constants stand in the code, and users need no
//! compiler.

use std::collections::HashMap;

/// The registers: the result, arguments 1 to 5, four that calls keep, the frame pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Register {
    R0,
    R1,
    R2,
    R3,
    R4,
    R5,
    R6,
    R7,
    R8,
    R9,
    R10,
}

/// Width of a load or store.
#[derive(Debug, Clone, Copy)]
#[repr(u8)]
pub enum Width {
    Word = 0x00,
    Half = 0x08,
    Byte = 0x10,
    Double = 0x18,
}

/// Arithmetic on 64 bits.
#[derive(Debug, Clone, Copy)]
#[repr(u8)]
pub enum Operation {
    Add = 0x00,
    Sub = 0x10,
    Or = 0x40,
    And = 0x50,
    ShiftLeft = 0x60,
    ShiftRight = 0x70,
    Xor = 0xa0,
    Move = 0xb0,
}

/// Conditions of jumps, on unsigned numbers.
#[derive(Debug, Clone, Copy)]
#[repr(u8)]
pub enum Condition {
    Equal = 0x10,
    Greater = 0x20,
    GreaterOrEqual = 0x30,
    NotEqual = 0x50,
}

/// Functions of the kernel, by their numbers in linux/bpf.h.
#[derive(Debug, Clone, Copy)]
#[repr(i32)]
pub enum Helper {
    KtimeGetNs = 5,
    RedirectMap = 51,
}

/// Either a register or a number, as the second operand.
#[derive(Debug, Clone, Copy)]
pub enum Operand {
    Register(Register),
    Number(i32),
}

impl From<Register> for Operand {
    fn from(register: Register) -> Self {
        Self::Register(register)
    }
}

impl From<i32> for Operand {
    fn from(number: i32) -> Self {
        Self::Number(number)
    }
}

const FROM_REGISTER: u8 = 0x08;

/// A program that is being written.
#[derive(Debug, Default)]
pub struct Assembler {
    code: Vec<[u8; 8]>,
    labels: HashMap<&'static str, usize>,
    jumps: Vec<(usize, &'static str)>,
}

impl Assembler {
    fn push(&mut self, opcode: u8, to: u8, from: u8, offset: i16, number: i32) {
        let [o0, o1] = offset.to_le_bytes();
        let [n0, n1, n2, n3] = number.to_le_bytes();
        self.code
            .push([opcode, to | from << 4, o0, o1, n0, n1, n2, n3]);
    }

    fn with(&mut self, opcode: u8, to: Register, operand: Operand, offset: i16) {
        match operand {
            Operand::Register(from) => {
                self.push(opcode | FROM_REGISTER, to as u8, from as u8, offset, 0);
            }
            Operand::Number(number) => self.push(opcode, to as u8, 0, offset, number),
        }
    }

    /// `to = to OPERATION operand`; a number is extended with its sign.
    pub fn compute(&mut self, operation: Operation, to: Register, operand: impl Into<Operand>) {
        self.with(0x07 | operation as u8, to, operand.into(), 0);
    }

    /// `to = operand`.
    pub fn set(&mut self, to: Register, operand: impl Into<Operand>) {
        self.compute(Operation::Move, to, operand);
    }

    /// `to = operand`'s lower 32 bits.
    pub fn set_lower(&mut self, to: Register, operand: impl Into<Operand>) {
        self.with(0x04 | Operation::Move as u8, to, operand.into(), 0);
    }

    /// `to =` a number of 64 bits.
    pub fn set_wide(&mut self, to: Register, number: u64) {
        self.wide(to, 0, number as u32, (number >> 32) as u32);
    }

    /// `to =` the map of a descriptor, as [`Helper::RedirectMap`] takes it.
    pub fn set_map(&mut self, to: Register, descriptor: i32) {
        self.wide(to, 1, descriptor as u32, 0);
    }

    /// `to =` the address of the first value of an array.
    pub fn set_value(&mut self, to: Register, descriptor: i32) {
        self.wide(to, 2, descriptor as u32, 0);
    }

    fn wide(&mut self, to: Register, kind: u8, low: u32, high: u32) {
        self.push(0x18, to as u8, kind, 0, low as i32);
        self.push(0, 0, 0, 0, high as i32);
    }

    /// `to = memory[from + offset]`, the rest zero.
    pub fn load(&mut self, width: Width, to: Register, from: Register, offset: i16) {
        self.push(0x61 | width as u8, to as u8, from as u8, offset, 0);
    }

    /// `memory[to + offset] = operand`.
    pub fn store(&mut self, width: Width, to: Register, offset: i16, operand: impl Into<Operand>) {
        match operand.into() {
            Operand::Register(from) => {
                self.push(0x63 | width as u8, to as u8, from as u8, offset, 0);
            }
            Operand::Number(number) => self.push(0x62 | width as u8, to as u8, 0, offset, number),
        }
    }

    /// `memory[to + offset] =` these bytes.
    pub fn store_bytes(&mut self, to: Register, mut offset: i16, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let (width, length) = match rest.len() {
                4.. => (Width::Word, 4),
                2.. => (Width::Half, 2),
                _ => (Width::Byte, 1),
            };
            let mut number = [0; 4];
            number[..length].copy_from_slice(&rest[..length]);
            self.store(width, to, offset, i32::from_le_bytes(number));
            offset += length as i16;
            rest = &rest[length..];
        }
    }

    /// Adds `from` to `memory[to + offset]` as one step, and gives the old value in `from`.
    pub fn fetch_add(&mut self, to: Register, offset: i16, from: Register) {
        self.push(0xdb, to as u8, from as u8, offset, 1);
    }

    /// Turns the lower `bits` of a register into network order, or back; the rest is zero.
    pub fn big_endian(&mut self, register: Register, bits: i32) {
        self.push(0xdc, register as u8, 0, 0, bits);
    }

    pub fn call(&mut self, helper: Helper) {
        self.push(0x85, 0, 0, 0, helper as i32);
    }

    pub fn exit(&mut self) {
        self.push(0x95, 0, 0, 0, 0);
    }

    /// Goes to a label further on if `left CONDITION right`.
    pub fn jump_if(
        &mut self,
        condition: Condition,
        left: Register,
        right: impl Into<Operand>,
        label: &'static str,
    ) {
        self.jumps.push((self.code.len(), label));
        self.with(0x05 | condition as u8, left, right.into(), 0);
    }

    /// Goes to a label further on.
    pub fn jump(&mut self, label: &'static str) {
        self.jumps.push((self.code.len(), label));
        self.push(0x05, 0, 0, 0, 0);
    }

    /// The next instruction is the label's.
    pub fn label(&mut self, label: &'static str) {
        let old = self.labels.insert(label, self.code.len());
        assert!(old.is_none(), "the label '{label}' stands once");
    }

    /// The program's bytes.
    ///
    /// # Panics
    /// If a jump has no label, or one behind it.
    pub fn finish(mut self) -> Vec<u8> {
        for (at, label) in self.jumps {
            let place = self.labels[label];
            let steps = place.checked_sub(at + 1).expect("jumps go forward");
            let steps = i16::try_from(steps).expect("a short program");
            self.code[at][2..4].copy_from_slice(&steps.to_le_bytes());
        }
        self.code.concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Encodings as `llvm-objdump` shows them for the same instructions.
    #[test]
    fn instructions_are_encoded_as_the_standard_states() {
        let mut code = Assembler::default();
        code.set(Register::R6, Register::R1);
        code.set(Register::R0, 1);
        code.load(Width::Word, Register::R2, Register::R6, 4);
        code.store(Width::Double, Register::R7, 8, Register::R9);
        code.store(Width::Half, Register::R4, -2, 0x1234);
        code.jump_if(Condition::Greater, Register::R1, Register::R2, "end");
        code.set_wide(Register::R5, 0x1122_3344_5566_7788);
        code.set_value(Register::R7, 5);
        code.fetch_add(Register::R7, 16, Register::R1);
        code.big_endian(Register::R9, 64);
        code.call(Helper::RedirectMap);
        code.set_lower(Register::R2, Register::R9);
        code.jump("end");
        code.set(Register::R0, 1);
        code.label("end");
        code.exit();
        let expected: [[u8; 8]; 17] = [
            [0xbf, 0x16, 0, 0, 0, 0, 0, 0],
            [0xb7, 0x00, 0, 0, 1, 0, 0, 0],
            [0x61, 0x62, 4, 0, 0, 0, 0, 0],
            [0x7b, 0x97, 8, 0, 0, 0, 0, 0],
            [0x6a, 0x04, 0xfe, 0xff, 0x34, 0x12, 0, 0],
            [0x2d, 0x21, 10, 0, 0, 0, 0, 0],
            [0x18, 0x05, 0, 0, 0x88, 0x77, 0x66, 0x55],
            [0, 0, 0, 0, 0x44, 0x33, 0x22, 0x11],
            [0x18, 0x27, 0, 0, 5, 0, 0, 0],
            [0; 8],
            [0xdb, 0x17, 16, 0, 1, 0, 0, 0],
            [0xdc, 0x09, 0, 0, 64, 0, 0, 0],
            [0x85, 0, 0, 0, 51, 0, 0, 0],
            [0xbc, 0x92, 0, 0, 0, 0, 0, 0],
            [0x05, 0x00, 1, 0, 0, 0, 0, 0],
            [0xb7, 0x00, 0, 0, 1, 0, 0, 0],
            [0x95, 0, 0, 0, 0, 0, 0, 0],
        ];
        assert_eq!(code.finish(), expected.concat());
    }

    #[test]
    fn bytes_are_stored_by_the_widest_stores() {
        let mut code = Assembler::default();
        code.store_bytes(Register::R4, 10, &[1, 2, 3, 4, 5, 6, 7]);
        let expected: [[u8; 8]; 3] = [
            [0x62, 0x04, 10, 0, 1, 2, 3, 4],
            [0x6a, 0x04, 14, 0, 5, 6, 0, 0],
            [0x72, 0x04, 16, 0, 7, 0, 0, 0],
        ];
        assert_eq!(code.finish(), expected.concat());
    }
}
