//! What ties a process to the one that started it: `prctl(2)`, `poll(2)`.

/// Lets the kernel kill this process when its parent ends (Linux; nothing elsewhere).
pub fn die_with_parent() {
    #[cfg(target_os = "linux")]
    // SAFETY: plain integers.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong);
    }
}

/// Whether standard output is a pipe that nobody can read any more.
pub fn output_is_abandoned() -> bool {
    let mut output = libc::pollfd {
        fd: 1,
        events: 0,
        revents: 0,
    };
    // SAFETY: one pollfd is given and one is counted; the call returns at once.
    let ready = unsafe { libc::poll(&mut output, 1, 0) };
    ready == 1 && output.revents & libc::POLLERR != 0
}
