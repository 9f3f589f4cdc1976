//! People who are logged in: `WTSEnumerateSessionsW`. Services, and programs that an SSH server starts,
//! are in session 0.

use crate::call::check;
use std::io;
use windows_sys::Win32::System::RemoteDesktop::{
    WTSActive, WTSEnumerateSessionsW, WTSFreeMemory, WTS_CURRENT_SERVER_HANDLE, WTS_SESSION_INFOW,
};

/// Sessions with somebody before them, at the console or over the network.
pub fn active() -> io::Result<u64> {
    let mut list: *mut WTS_SESSION_INFOW = std::ptr::null_mut();
    let mut count = 0;
    // SAFETY: both places are valid to write to.
    let done =
        unsafe { WTSEnumerateSessionsW(WTS_CURRENT_SERVER_HANDLE, 0, 1, &mut list, &mut count) };
    check(done != 0)?;
    if list.is_null() {
        return Err(io::Error::other("WTSEnumerateSessions gave no list"));
    }
    // SAFETY: a successful call gives as many entries as it says, freed once and not used afterwards.
    unsafe {
        let sessions = std::slice::from_raw_parts(list, count as usize);
        let found = sessions
            .iter()
            .filter(|one| one.State == WTSActive && one.SessionId != 0)
            .count();
        WTSFreeMemory(list.cast());
        Ok(found as u64)
    }
}
