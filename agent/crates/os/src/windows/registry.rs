//! Values of the registry below HKEY_LOCAL_MACHINE: `RegGetValueW`.

use crate::filesystem::text;
use std::io;
use windows_sys::Win32::System::Registry::{
    RegGetValueW, HKEY_LOCAL_MACHINE, RRF_RT_REG_DWORD, RRF_RT_REG_SZ,
};

fn wide(text: &str) -> Vec<u16> {
    text.encode_utf16().chain([0]).collect()
}

/// A text; an error if there is none or it is another kind of value.
pub fn string(key: &str, name: &str) -> io::Result<String> {
    let (key, name) = (wide(key), wide(name));
    let mut buffer = [0_u16; 256];
    let mut bytes = std::mem::size_of_val(&buffer) as u32;
    // SAFETY: both names end with NUL, and the buffer is as long as is said.
    let status = unsafe {
        RegGetValueW(
            HKEY_LOCAL_MACHINE,
            key.as_ptr(),
            name.as_ptr(),
            RRF_RT_REG_SZ,
            std::ptr::null_mut(),
            buffer.as_mut_ptr().cast(),
            &mut bytes,
        )
    };
    match status {
        0 => Ok(text(&buffer)),
        error => Err(io::Error::from_raw_os_error(error as i32)),
    }
}

/// A whole number of 32 bits.
pub fn number(key: &str, name: &str) -> io::Result<u32> {
    let (key, name) = (wide(key), wide(name));
    let mut value = 0_u32;
    let mut bytes = std::mem::size_of::<u32>() as u32;
    // SAFETY: both names end with NUL, and the place is as long as is said.
    let status = unsafe {
        RegGetValueW(
            HKEY_LOCAL_MACHINE,
            key.as_ptr(),
            name.as_ptr(),
            RRF_RT_REG_DWORD,
            std::ptr::null_mut(),
            (&raw mut value).cast(),
            &mut bytes,
        )
    };
    match status {
        0 => Ok(value),
        error => Err(io::Error::from_raw_os_error(error as i32)),
    }
}
