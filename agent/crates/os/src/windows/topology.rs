//! Packages, cores, nodes and caches of the processor: `GetLogicalProcessorInformationEx`.

use crate::call::check;
use std::io;
use windows_sys::Win32::System::SystemInformation::{
    CacheData, CacheInstruction, CacheUnified, GetLogicalProcessorInformationEx, RelationAll,
    RelationCache, RelationNumaNode, RelationProcessorCore, RelationProcessorPackage,
    SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX,
};

/// One cache, with the CPUs of its group of 64 that share it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cache {
    pub level: u8,
    pub kind: &'static str,
    pub size_bytes: u32,
    pub line_bytes: u16,
    pub ways: u8,
    pub group: u16,
    pub cpus: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Topology {
    pub packages: usize,
    pub cores: usize,
    pub nodes: usize,
    pub caches: Vec<Cache>,
}

pub fn topology() -> io::Result<Topology> {
    let mut length = 0;
    // SAFETY: requests the length alone.
    unsafe { GetLogicalProcessorInformationEx(RelationAll, std::ptr::null_mut(), &mut length) };
    // 64-bit words, which is how the entries are aligned.
    let mut buffer = vec![0_u64; length as usize / 8 + 1];
    // SAFETY: the buffer has room for the length that the system requested.
    let done = unsafe {
        GetLogicalProcessorInformationEx(RelationAll, buffer.as_mut_ptr().cast(), &mut length)
    };
    check(done != 0)?;
    let mut topology = Topology::default();
    let mut at = 0;
    while at + 8 <= length as usize {
        // SAFETY: entries follow each other without gap, aligned to 8, and each states its length.
        // The largest part of the union that is read is the one that the relation names.
        unsafe {
            let entry = buffer
                .as_ptr()
                .byte_add(at)
                .cast::<SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX>();
            let size = (&raw const (*entry).Size).read() as usize;
            if size < 8 {
                break;
            }
            match (&raw const (*entry).Relationship).read() {
                relation if relation == RelationProcessorPackage => topology.packages += 1,
                relation if relation == RelationProcessorCore => topology.cores += 1,
                relation if relation == RelationNumaNode => topology.nodes += 1,
                relation if relation == RelationCache => {
                    let cache = (&raw const (*entry).Anonymous.Cache).read_unaligned();
                    let mask = cache.Anonymous.GroupMask;
                    topology.caches.push(Cache {
                        level: cache.Level,
                        kind: match cache.Type {
                            kind if kind == CacheData => "data",
                            kind if kind == CacheInstruction => "instruction",
                            kind if kind == CacheUnified => "unified",
                            _ => "trace",
                        },
                        size_bytes: cache.CacheSize,
                        line_bytes: cache.LineSize,
                        ways: cache.Associativity,
                        group: mask.Group,
                        cpus: mask.Mask as u64,
                    });
                }
                _ => {}
            }
            at += size;
        }
    }
    Ok(topology)
}
