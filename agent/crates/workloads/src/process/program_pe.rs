//! The smallest Windows program that ends in the documented way: it calls ExitProcess with status
//! 42 and has no other import. Returning from its entry would end the first thread only, and the
//! loader may have made more.

use super::program::STATUS;

const HEADERS: u32 = 0x200;
/// Where the only section lies in memory, and how long it is in the file.
const SECTION: u32 = 0x1000;
const SECTION_FILE_BYTES: u32 = 0x200;
// What lies in the section, from its beginning on.
const ADDRESSES: u32 = 0x20;
const LOOKUP: u32 = 0x30;
const DESCRIPTOR: u32 = 0x40;
const FUNCTION: u32 = 0x70;
const LIBRARY: u32 = 0x80;

/// The program as a file of the form Portable Executable (PE32+; Microsoft, "PE Format"); none for
/// another architecture than x86-64.
pub fn image() -> Option<Vec<u8>> {
    if !cfg!(target_arch = "x86_64") {
        return None;
    }
    let mut file = vec![0_u8; (HEADERS + SECTION_FILE_BYTES) as usize];
    headers(&mut file);
    section(&mut file[HEADERS as usize..]);
    Some(file)
}

fn headers(file: &mut [u8]) {
    put(file, 0, b"MZ");
    word(file, 0x3C, 0x40); // where the PE header lies
    put(file, 0x40, b"PE\0\0");
    half(file, 0x44, 0x8664); // machine
    half(file, 0x46, 1); // sections
    half(file, 0x54, 240); // length of the optional header
    half(file, 0x56, 0x23); // executable, large addresses, no relocations
    let optional = 0x58;
    half(file, optional, 0x20B); // PE32+
    word(file, optional + 4, SECTION_FILE_BYTES);
    word(file, optional + 16, SECTION); // entry
    word(file, optional + 20, SECTION); // code
    put(file, optional + 24, &0x1_4000_0000_u64.to_le_bytes()); // base
    word(file, optional + 32, 0x1000); // alignment in memory
    word(file, optional + 36, 0x200); // alignment in the file
    half(file, optional + 40, 6); // version of the system
    half(file, optional + 48, 6); // version of the subsystem
    word(file, optional + 56, 2 * SECTION); // length in memory
    word(file, optional + 60, HEADERS);
    half(file, optional + 68, 2); // a program without a console
    half(file, optional + 70, 0x8100); // no execution of data, aware of terminal servers
    for (at, bytes) in [
        (72, 0x10_0000_u64),
        (80, 0x1000),
        (88, 0x10_0000),
        (96, 0x1000),
    ] {
        put(file, optional + at, &bytes.to_le_bytes()); // stack and heap: reserved, committed
    }
    word(file, optional + 108, 16); // directories, of which only the imports are filled in
    word(file, optional + 120, SECTION + DESCRIPTOR);
    word(file, optional + 124, 40);
    let header = optional + 240;
    put(file, header, b".text");
    word(file, header + 8, SECTION_FILE_BYTES); // length in memory
    word(file, header + 12, SECTION);
    word(file, header + 16, SECTION_FILE_BYTES);
    word(file, header + 20, HEADERS);
    word(file, header + 36, 0xE000_0020); // code, executable, readable, writable
}

fn section(bytes: &mut [u8]) {
    put(bytes, 0, b"\x48\x83\xEC\x28"); // sub rsp, 40
    put(bytes, 4, b"\xB9"); // mov ecx, STATUS
    word(bytes, 5, STATUS as u32);
    put(bytes, 9, b"\xFF\x15"); // call [rip + distance]
    word(bytes, 11, ADDRESSES - 15);
    word(bytes, ADDRESSES as usize, SECTION + FUNCTION);
    word(bytes, LOOKUP as usize, SECTION + FUNCTION);
    let descriptor = DESCRIPTOR as usize;
    word(bytes, descriptor, SECTION + LOOKUP);
    word(bytes, descriptor + 12, SECTION + LIBRARY);
    word(bytes, descriptor + 16, SECTION + ADDRESSES);
    put(bytes, FUNCTION as usize + 2, b"ExitProcess\0");
    put(bytes, LIBRARY as usize, b"KERNEL32.dll\0");
}

fn put(file: &mut [u8], at: usize, bytes: &[u8]) {
    file[at..at + bytes.len()].copy_from_slice(bytes);
}

fn half(file: &mut [u8], at: usize, value: u16) {
    put(file, at, &value.to_le_bytes());
}

fn word(file: &mut [u8], at: usize, value: u32) {
    put(file, at, &value.to_le_bytes());
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    fn word_at(file: &[u8], at: usize) -> u32 {
        u32::from_le_bytes(file[at..at + 4].try_into().unwrap())
    }

    #[test]
    fn the_call_goes_through_the_address_of_the_imported_function() {
        let file = image().unwrap();
        assert_eq!(file.len(), 1024);
        let pe = word_at(&file, 0x3C) as usize;
        assert_eq!(&file[pe..pe + 4], b"PE\0\0");
        let in_file = |rva: u32| (rva - SECTION + HEADERS) as usize;
        let entry = in_file(word_at(&file, pe + 24 + 16));
        assert_eq!(&file[entry + 9..entry + 11], b"\xFF\x15");
        let slot = entry + 15 + word_at(&file, entry + 11) as usize;
        let imports = in_file(word_at(&file, pe + 24 + 120));
        assert_eq!(in_file(word_at(&file, imports + 16)), slot);
        let named = in_file(word_at(&file, slot));
        assert_eq!(&file[named + 2..named + 14], b"ExitProcess\0");
        let library = in_file(word_at(&file, imports + 12));
        assert_eq!(&file[library..library + 13], b"KERNEL32.dll\0");
    }
}
