//! Values and keys of the registry below HKEY_LOCAL_MACHINE: `RegGetValueW`, `RegEnumKeyExW`.

use crate::call::numbered;
use crate::filesystem::text;
use std::io;
use windows_sys::Win32::Foundation::ERROR_NO_MORE_ITEMS;
use windows_sys::Win32::System::Registry::{
    RegCloseKey, RegEnumKeyExW, RegGetValueW, RegOpenKeyExW, HKEY_LOCAL_MACHINE, KEY_READ,
    RRF_RT_REG_DWORD, RRF_RT_REG_MULTI_SZ, RRF_RT_REG_SZ,
};

fn wide(text: &str) -> Vec<u16> {
    text.encode_utf16().chain([0]).collect()
}

/// Reads a value of a kind (RRF_*) into a buffer; the bytes that it has.
fn read<T: Copy, const N: usize>(
    key: &str,
    name: &str,
    kind: u32,
    buffer: &mut [T; N],
) -> io::Result<usize> {
    let (key, name) = (wide(key), wide(name));
    let mut bytes = std::mem::size_of_val(buffer) as u32;
    // SAFETY: both names end with NUL, and the buffer is as long as is said; the callers' buffers
    // are of whole numbers, which any bytes are.
    let status = unsafe {
        RegGetValueW(
            HKEY_LOCAL_MACHINE,
            key.as_ptr(),
            name.as_ptr(),
            kind,
            std::ptr::null_mut(),
            buffer.as_mut_ptr().cast(),
            &mut bytes,
        )
    };
    numbered(status as i32)?;
    Ok(bytes as usize)
}

/// A text; an error if there is none or it is another kind of value.
pub fn string(key: &str, name: &str) -> io::Result<String> {
    let mut buffer = [0_u16; 256];
    read(key, name, RRF_RT_REG_SZ, &mut buffer)?;
    Ok(text(&buffer))
}

/// A whole number of 32 bits.
pub fn number(key: &str, name: &str) -> io::Result<u32> {
    let mut value = [0_u32];
    read(key, name, RRF_RT_REG_DWORD, &mut value)?;
    Ok(value[0])
}

/// Texts of a value that holds several; an error if there are none or it is another kind of value.
pub fn strings(key: &str, name: &str) -> io::Result<Vec<String>> {
    let mut buffer = [0_u16; 4096];
    let bytes = read(key, name, RRF_RT_REG_MULTI_SZ, &mut buffer)?;
    Ok(buffer[..(bytes / 2).min(buffer.len())]
        .split(|unit| *unit == 0)
        .filter(|part| !part.is_empty())
        .map(String::from_utf16_lossy)
        .collect())
}

/// The names of the keys below a key; an error if it is not there or may not be read.
pub fn keys(key: &str) -> io::Result<Vec<String>> {
    let path = wide(key);
    let mut opened = std::ptr::null_mut();
    // SAFETY: the name ends with NUL, and the place is valid to write to.
    let status =
        unsafe { RegOpenKeyExW(HKEY_LOCAL_MACHINE, path.as_ptr(), 0, KEY_READ, &mut opened) };
    numbered(status as i32)?;
    let mut found = Vec::new();
    let status = loop {
        // A key's name has at most 255 characters.
        let mut name = [0_u16; 256];
        let mut length = name.len() as u32;
        // SAFETY: the key is open, and the buffer is as long as is said.
        let status = unsafe {
            RegEnumKeyExW(
                opened,
                found.len() as u32,
                name.as_mut_ptr(),
                &mut length,
                std::ptr::null(),
                std::ptr::null_mut(),
                std::ptr::null_mut(),
                std::ptr::null_mut(),
            )
        };
        if status != 0 {
            break status;
        }
        found.push(text(&name));
    };
    // SAFETY: the key was opened above and is not used afterwards.
    unsafe { RegCloseKey(opened) };
    match status {
        ERROR_NO_MORE_ITEMS => Ok(found),
        error => Err(io::Error::from_raw_os_error(error as i32)),
    }
}
