//! A process and everything that it starts, ended together: job objects.

use crate::call::check;
use std::io;
use std::mem::size_of;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::process::{Child, Command};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JobObjectExtendedLimitInformation,
    SetInformationJobObject, TerminateJobObject, JOBOBJECT_EXTENDED_LIMIT_INFORMATION,
    JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
};

/// Nothing has to be requested before the start: the process is put into its job afterwards.
pub fn own_group(_command: &mut Command) {}

/// Whether a child has ended.
pub fn has_ended(child: &mut Child) -> io::Result<bool> {
    child.try_wait().map(|status| status.is_some())
}

/// Waits until a child has ended; its handle stays, and so its id.
pub fn wait_for_end(child: &mut Child) -> io::Result<()> {
    child.wait().map(drop)
}

/// The job of a started process. Everything in it ends when this is dropped, and when the process
/// that holds it ends in any way.
#[derive(Debug)]
pub struct Group(OwnedHandle);

impl Group {
    /// Puts a process, which has started nothing yet, into a job of its own.
    pub fn of(child: &Child) -> io::Result<Self> {
        // SAFETY: no name and no security attributes; the handle is new and ours.
        let job = unsafe {
            let job = CreateJobObjectW(std::ptr::null(), std::ptr::null());
            check(!job.is_null())?;
            OwnedHandle::from_raw_handle(job)
        };
        let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
        // SAFETY: both handles are open, and the structure is as long as is said.
        let done = unsafe {
            SetInformationJobObject(
                job.as_raw_handle(),
                JobObjectExtendedLimitInformation,
                (&raw const limits).cast(),
                size_of::<JOBOBJECT_EXTENDED_LIMIT_INFORMATION>() as u32,
            ) != 0
                && AssignProcessToJobObject(job.as_raw_handle(), child.as_raw_handle()) != 0
        };
        check(done)?;
        Ok(Self(job))
    }

    /// Ends every process of the job.
    pub fn kill(&self) {
        // SAFETY: the handle is open.
        unsafe { TerminateJobObject(self.0.as_raw_handle(), 1) };
    }
}
