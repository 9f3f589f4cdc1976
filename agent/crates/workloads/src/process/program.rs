//! The smallest program there is: it exits with status 42. Starting it costs what the system needs
//! to start a program, and nothing for a dynamic linker or a C library.

/// The exit status of the program: not 0, and not an error number that execve(2) can give.
pub const STATUS: i32 = 42;

/// exit(42) in machine code, and the number of the architecture in ELF; none where it is not
/// written down.
const CODE: Option<(u16, &[u8])> = if cfg!(target_arch = "x86_64") {
    // mov edi, 42; mov eax, 60 (exit); syscall
    Some((62, b"\xbf\x2a\0\0\0\xb8\x3c\0\0\0\x0f\x05"))
} else if cfg!(target_arch = "aarch64") {
    // mov x0, #42; mov x8, #93 (exit); svc #0
    Some((183, b"\x40\x05\x80\xd2\xa8\x0b\x80\xd2\x01\0\0\xd4"))
} else if cfg!(target_arch = "riscv64") {
    // li a0, 42; li a7, 93 (exit); ecall
    Some((243, b"\x13\x05\xa0\x02\x93\x08\xd0\x05\x73\0\0\0"))
} else {
    None
};

const HEADER: u64 = 64;
const SEGMENT: u64 = 56;
const BASE: u64 = 0x40_0000;
/// Alignment that suits the pages of every system.
const ALIGNMENT: u64 = 0x1_0000;

/// The program in the form that this system starts.
pub fn image() -> Option<Vec<u8>> {
    if cfg!(windows) {
        super::program_pe::image()
    } else {
        elf()
    }
}

/// The program as an ELF file (System V ABI, chapters 4 and 5): a header, a segment to load, the
/// mark of a stack that is not executable, and the code.
fn elf() -> Option<Vec<u8>> {
    let (machine, code) = CODE?;
    let start = HEADER + 2 * SEGMENT;
    let length = start + code.len() as u64;
    let mut file = Vec::with_capacity(length as usize);
    // e_ident: magic, 64 bits, little endian, version 1, System V.
    file.extend_from_slice(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
    halves(&mut file, &[2, machine]); // e_type (executable), e_machine
    words(&mut file, &[1]); // e_version
    longs(&mut file, &[BASE + start, HEADER, 0]); // e_entry, e_phoff, e_shoff
    words(&mut file, &[0]); // e_flags
                            // e_ehsize, e_phentsize, e_phnum, e_shentsize, e_shnum, e_shstrndx
    halves(&mut file, &[HEADER as u16, SEGMENT as u16, 2, 0, 0, 0]);
    words(&mut file, &[1, 5]); // PT_LOAD, readable and executable
    longs(&mut file, &[0, BASE, BASE, length, length, ALIGNMENT]);
    words(&mut file, &[0x6474_e551, 6]); // PT_GNU_STACK, readable and writable
    longs(&mut file, &[0, 0, 0, 0, 0, 16]);
    file.extend_from_slice(code);
    Some(file)
}

fn halves(file: &mut Vec<u8>, values: &[u16]) {
    values.iter().for_each(|v| file.extend(v.to_le_bytes()));
}

fn words(file: &mut Vec<u8>, values: &[u32]) {
    values.iter().for_each(|v| file.extend(v.to_le_bytes()));
}

fn longs(file: &mut Vec<u8>, values: &[u64]) {
    values.iter().for_each(|v| file.extend(v.to_le_bytes()));
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn the_offsets_in_the_headers_are_those_of_the_file() {
        let file = elf().unwrap();
        let long = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().unwrap());
        assert_eq!(file.len(), 64 + 2 * 56 + 12);
        assert_eq!(
            long(24) - BASE,
            176,
            "the entry is the first byte of the code"
        );
        assert_eq!(long(32), 64, "the segments follow the header");
        assert_eq!(
            long(64 + 32),
            file.len() as u64,
            "all of the file is loaded"
        );
        assert_eq!(&file[176..178], b"\xbf\x2a");
    }
}
