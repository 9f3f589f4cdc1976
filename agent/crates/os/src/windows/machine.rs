//! What the system counts of the whole machine: `NtQuerySystemInformation`, `GetSystemTimes`,
//! `GlobalMemoryStatusEx`, `GetPerformanceInfo`.

use crate::call::check;
use crate::usage::nanoseconds;
use std::io;
use std::mem::size_of;
use windows_sys::Wdk::System::SystemInformation::{
    NtQuerySystemInformation, SystemPerformanceInformation, SystemProcessorPerformanceInformation,
    SystemTimeOfDayInformation, SYSTEM_INFORMATION_CLASS,
};
use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::System::ProcessStatus::{GetPerformanceInfo, PERFORMANCE_INFORMATION};
use windows_sys::Win32::System::SystemInformation::{
    GetPhysicallyInstalledSystemMemory, GetTickCount64, GlobalMemoryStatusEx, MEMORYSTATUSEX,
};
use windows_sys::Win32::System::Threading::GetSystemTimes;

/// SYSTEM_PROCESSOR_PERFORMANCE_INFORMATION of winternl.h; the places that it calls reserved are
/// the times of deferred calls and interrupts, and the number of interrupts.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Processor {
    times: [i64; 5],
    interrupts: u32,
}

/// Reads what the system knows into a buffer of whole numbers or of structures of them; the bytes
/// that it wrote.
fn query<T: Copy>(what: SYSTEM_INFORMATION_CLASS, buffer: &mut [T]) -> io::Result<usize> {
    let length = size_of_val(buffer) as u32;
    let mut written = 0;
    // SAFETY: the buffer is as long as is said; the call writes whole entries of plain data.
    let status =
        unsafe { NtQuerySystemInformation(what, buffer.as_mut_ptr().cast(), length, &mut written) };
    match status {
        0 => Ok(written as usize),
        _ => Err(io::Error::other(format!(
            "NtQuerySystemInformation answered {status:#x}"
        ))),
    }
}

/// A reader of the interrupts that all CPUs have served; its buffer is kept.
#[derive(Debug)]
pub struct Interrupts(Vec<Processor>);

impl Interrupts {
    pub fn new() -> Self {
        Self(vec![Processor::default(); 64])
    }

    /// The sum over the CPUs of this group; each CPU counts to 2^32 and begins again.
    pub fn read(&mut self) -> io::Result<u64> {
        let entries = self.processors()?;
        Ok(entries
            .iter()
            .map(|processor| u64::from(processor.interrupts))
            .sum())
    }

    /// Of each CPU of this group, in units of 100 ns: idle, kernel, user, deferred calls,
    /// interrupts; kernel time holds all others but user time. And the number of interrupts.
    pub fn times(&mut self) -> io::Result<Vec<([u64; 5], u32)>> {
        let entries = self.processors()?;
        Ok(entries
            .iter()
            .map(|processor| {
                (
                    processor.times.map(|time| time.max(0) as u64),
                    processor.interrupts,
                )
            })
            .collect())
    }

    fn processors(&mut self) -> io::Result<&[Processor]> {
        let written = query(SystemProcessorPerformanceInformation, &mut self.0)?;
        let count = written / size_of::<Processor>();
        Ok(&self.0[..count.min(self.0.len())])
    }
}

impl Default for Interrupts {
    fn default() -> Self {
        Self::new()
    }
}

/// How often the machine has faulted since its start; each count begins again at 2^32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paging {
    /// Faults of both kinds.
    pub faults: u32,
    /// Reads from a device that faults waited for, and the pages that they brought.
    pub read_requests: u32,
    pub pages_read: u32,
    /// Faults of the cache of files, found elsewhere in memory or read from a device.
    pub cache_faults: u32,
}

/// SYSTEM_PERFORMANCE_INFORMATION, which winternl.h keeps closed; its beginning has been the same
/// since Windows NT 3.5: four times of 8 bytes, then counts of 4 bytes.
pub fn paging() -> io::Result<Paging> {
    // Longer than the structure of any system so far (312 bytes, 344 from Windows 8 on).
    let mut counts = [0u32; 256];
    query(SystemPerformanceInformation, &mut counts)?;
    let [faults, cache_soft, pages_read, read_requests, cache_hard] =
        [60, 72, 80, 84, 88].map(|byte| counts[byte / 4]);
    Ok(Paging {
        faults,
        read_requests,
        pages_read,
        cache_faults: cache_soft.wrapping_add(cache_hard),
    })
}

/// Time of all CPUs since the start of the machine, in ns: idle, in the kernel (with idle), user.
pub fn times() -> io::Result<[u64; 3]> {
    let mut times = [FILETIME::default(); 3];
    let [idle, kernel, user] = &mut times;
    // SAFETY: the three places are valid to write to.
    check(unsafe { GetSystemTimes(idle, kernel, user) } != 0)?;
    Ok(times.map(nanoseconds))
}

/// Memory as the system accounts it, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    pub total: u64,
    pub available: u64,
    pub commit_limit: u64,
    pub commit_available: u64,
    pub load_percent: u32,
}

pub fn memory() -> io::Result<Memory> {
    let mut status = MEMORYSTATUSEX {
        dwLength: size_of::<MEMORYSTATUSEX>() as u32,
        ..Default::default()
    };
    // SAFETY: the structure states its own length.
    check(unsafe { GlobalMemoryStatusEx(&mut status) } != 0)?;
    Ok(Memory {
        total: status.ullTotalPhys,
        available: status.ullAvailPhys,
        commit_limit: status.ullTotalPageFile,
        commit_available: status.ullAvailPageFile,
        load_percent: status.dwMemoryLoad,
    })
}

/// RAM that the firmware says is fitted, in bytes.
pub fn installed_bytes() -> io::Result<u64> {
    let mut kib = 0;
    // SAFETY: the place is valid to write to.
    check(unsafe { GetPhysicallyInstalledSystemMemory(&mut kib) } != 0)?;
    Ok(kib * 1024)
}

/// What `GetPerformanceInfo` reports the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Performance {
    pub page_bytes: u64,
    pub cache_bytes: u64,
    pub kernel_paged_bytes: u64,
    pub kernel_nonpaged_bytes: u64,
    pub commit_peak_bytes: u64,
    pub processes: u32,
    pub threads: u32,
    pub handles: u32,
}

pub fn performance() -> io::Result<Performance> {
    let mut information = PERFORMANCE_INFORMATION::default();
    let length = size_of::<PERFORMANCE_INFORMATION>() as u32;
    // SAFETY: the structure is as long as is said.
    check(unsafe { GetPerformanceInfo(&mut information, length) } != 0)?;
    let page = information.PageSize as u64;
    Ok(Performance {
        page_bytes: page,
        cache_bytes: information.SystemCache as u64 * page,
        kernel_paged_bytes: information.KernelPaged as u64 * page,
        kernel_nonpaged_bytes: information.KernelNonpaged as u64 * page,
        commit_peak_bytes: information.CommitPeak as u64 * page,
        processes: information.ProcessCount,
        threads: information.ThreadCount,
        handles: information.HandleCount,
    })
}

/// When the machine was started, in units of 100 ns since 1601, UTC. What the clock has been set by
/// since then is taken out, so it is one number throughout a boot.
pub fn started() -> io::Result<u64> {
    // SYSTEM_TIMEOFDAY_INFORMATION, of which winternl.h names the length alone: time of the start,
    // present time, time zone (8 bytes and 8), what the clock was set by since the start, sleep.
    let mut times = [0_i64; 6];
    query(SystemTimeOfDayInformation, &mut times)?;
    let [boot, _, _, _, set_by, _] = times;
    Ok(boot.saturating_sub(set_by).max(0) as u64)
}

/// Time since the start of the machine, in ms.
pub fn uptime_ms() -> u64 {
    // SAFETY: takes no argument.
    unsafe { GetTickCount64() }
}
