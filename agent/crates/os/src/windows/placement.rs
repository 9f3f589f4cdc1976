//! Where and with which priority this process runs: affinity masks and priority classes.

use crate::call::check;
use std::io;
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetCurrentThread, GetPriorityClass, GetProcessAffinityMask,
    SetPriorityClass, SetProcessAffinityMask, SetThreadAffinityMask, ABOVE_NORMAL_PRIORITY_CLASS,
    BELOW_NORMAL_PRIORITY_CLASS, HIGH_PRIORITY_CLASS, IDLE_PRIORITY_CLASS, NORMAL_PRIORITY_CLASS,
    REALTIME_PRIORITY_CLASS,
};

/// The priority classes by name, from the lowest to the highest.
pub const CLASSES: [(&str, u32); 6] = [
    ("idle", IDLE_PRIORITY_CLASS),
    ("below_normal", BELOW_NORMAL_PRIORITY_CLASS),
    ("normal", NORMAL_PRIORITY_CLASS),
    ("above_normal", ABOVE_NORMAL_PRIORITY_CLASS),
    ("high", HIGH_PRIORITY_CLASS),
    ("realtime", REALTIME_PRIORITY_CLASS),
];

/// Restricts this process to `cpus`, which lie in the first group of 64.
pub fn set_cpus(cpus: &[usize]) -> io::Result<()> {
    let mask = mask(cpus)?;
    // SAFETY: plain integers; the pseudo handle is always valid.
    check(unsafe { SetProcessAffinityMask(GetCurrentProcess(), mask) } != 0)
}

/// Restricts this thread to one CPU.
pub fn bind_thread(cpu: usize) -> io::Result<()> {
    let mask = mask(&[cpu])?;
    // SAFETY: plain integers; the pseudo handle is always valid.
    check(unsafe { SetThreadAffinityMask(GetCurrentThread(), mask) } != 0)
}

fn mask(cpus: &[usize]) -> io::Result<usize> {
    let bit = |cpu: usize| {
        u32::try_from(cpu)
            .ok()
            .and_then(|cpu| 1_usize.checked_shl(cpu))
    };
    cpus.iter()
        .map(|&cpu| bit(cpu))
        .try_fold(0, |mask, bit| Some(mask | bit?))
        .filter(|&mask| mask != 0)
        .ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidInput,
                "CPUs beyond the first group of 64 cannot be chosen",
            )
        })
}

/// The CPUs that this process may run on, of its group of 64.
pub fn cpus() -> io::Result<Vec<usize>> {
    let (mut own, mut system) = (0, 0);
    // SAFETY: both masks are valid to write to.
    check(unsafe { GetProcessAffinityMask(GetCurrentProcess(), &mut own, &mut system) } != 0)?;
    Ok((0..usize::BITS as usize)
        .filter(|cpu| own >> cpu & 1 == 1)
        .collect())
}

/// Sets the priority class. Windows lowers a class that the user may not have without saying so:
/// the caller compares.
pub fn set_class(class: u32) -> io::Result<()> {
    // SAFETY: plain integers.
    check(unsafe { SetPriorityClass(GetCurrentProcess(), class) } != 0)
}

/// The priority class in force.
pub fn class() -> io::Result<u32> {
    // SAFETY: plain integers.
    let class = unsafe { GetPriorityClass(GetCurrentProcess()) };
    check(class != 0)?;
    Ok(class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_has_a_bit_for_each_cpu() {
        assert_eq!(mask(&[0, 3]).unwrap(), 0b1001);
        assert!(mask(&[64]).is_err() && mask(&[]).is_err());
    }
}
