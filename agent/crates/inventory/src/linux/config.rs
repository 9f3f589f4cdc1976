//! The kernel's build configuration: `/proc/config.gz`, or the file that distributions put beside
//! the kernel.

use crate::leaf::{first, unsupported, Reason, Reported};
use crate::source::Source;
use flate2::read::GzDecoder;
use pentathlon_os::kernel;
use serde_json::{Map, Value};
use std::io::Read;

/// The options that bear on what is measured: time, scheduling, memory, hardening, debugging.
const OPTIONS: [&str; 58] = [
    "64BIT",
    "SMP",
    "NR_CPUS",
    "HZ",
    "HZ_PERIODIC",
    "NO_HZ_IDLE",
    "NO_HZ_FULL",
    "HIGH_RES_TIMERS",
    "PREEMPT_NONE",
    "PREEMPT_VOLUNTARY",
    "PREEMPT",
    "PREEMPT_LAZY",
    "PREEMPT_RT",
    "PREEMPT_DYNAMIC",
    "TICK_CPU_ACCOUNTING",
    "VIRT_CPU_ACCOUNTING_GEN",
    "IRQ_TIME_ACCOUNTING",
    "SCHED_AUTOGROUP",
    "FAIR_GROUP_SCHED",
    "CFS_BANDWIDTH",
    "SCHED_CORE",
    "PSI",
    "NUMA_BALANCING",
    "TRANSPARENT_HUGEPAGE",
    "TRANSPARENT_HUGEPAGE_ALWAYS",
    "TRANSPARENT_HUGEPAGE_MADVISE",
    "HUGETLBFS",
    "KSM",
    "ZSWAP",
    "LRU_GEN",
    "SLUB",
    "SLAB",
    "SLAB_FREELIST_HARDENED",
    "SLAB_FREELIST_RANDOM",
    "INIT_ON_ALLOC_DEFAULT_ON",
    "INIT_ON_FREE_DEFAULT_ON",
    "HARDENED_USERCOPY",
    "STACKPROTECTOR_STRONG",
    "VMAP_STACK",
    "RANDOMIZE_BASE",
    "RANDOMIZE_KSTACK_OFFSET_DEFAULT",
    "PAGE_TABLE_ISOLATION",
    "MITIGATION_PAGE_TABLE_ISOLATION",
    "SPECULATION_MITIGATIONS",
    "CPU_MITIGATIONS",
    "CC_OPTIMIZE_FOR_SIZE",
    "LTO_CLANG_THIN",
    "CFI_CLANG",
    "IO_URING",
    "BPF_JIT_ALWAYS_ON",
    "PARAVIRT",
    "PARAVIRT_SPINLOCKS",
    "DEBUG_KERNEL",
    "DEBUG_PAGEALLOC",
    "PROVE_LOCKING",
    "KASAN",
    "KCSAN",
    "CC_VERSION_TEXT",
];

pub fn collect(source: &Source) -> Reported<Value> {
    let (path, text) = read(source)?;
    let mut options = Map::new();
    options.insert("source".into(), path.into());
    for name in OPTIONS {
        let value = option(&text, name).unwrap_or_else(|| {
            unsupported(format_args!(
                "this kernel's configuration does not mention CONFIG_{name}"
            ))
        });
        options.insert(name.into(), value);
    }
    Ok(Value::Object(options))
}

/// The configuration and where it was found.
fn read(source: &Source) -> Reported<(String, String)> {
    let compressed = "/proc/config.gz";
    let running = source.bytes(compressed).and_then(|bytes| {
        let mut text = String::new();
        // 4 MiB: ten times the longest configuration, should the file not be what it seems.
        GzDecoder::new(&bytes[..])
            .take(4 << 20)
            .read_to_string(&mut text)
            .map_err(|error| Reason::new(format!("{compressed} cannot be unpacked: {error}")))?;
        Ok((compressed.to_owned(), text))
    });
    let release = source.ask("uname(2)", || Ok(kernel::uname().release));
    let release = release.or_else(|_| source.string("/proc/sys/kernel/osrelease"));
    let plain = |path: String| Ok((path.clone(), source.string(&path)?));
    let beside = match release {
        Ok(release) => first([
            plain(format!("/boot/config-{release}")),
            plain(format!("/lib/modules/{release}/config")),
        ]),
        Err(reason) => Err(reason),
    };
    match (running, beside) {
        (Ok(found), _) | (_, Ok(found)) => Ok(found),
        (Err(running), Err(beside)) => Err(Reason::new(format!("{running}; {beside}"))),
    }
}

/// `CONFIG_X=y`, `CONFIG_X="text"` or `# CONFIG_X is not set`.
fn option(text: &str, name: &str) -> Option<Value> {
    for line in text.lines() {
        if let Some(value) = line
            .strip_prefix("CONFIG_")
            .and_then(|line| line.strip_prefix(name)?.strip_prefix('='))
        {
            return Some(
                value
                    .parse::<u64>()
                    .map_or_else(|_| value.trim_matches('"').into(), Value::from),
            );
        }
        let off = line
            .strip_prefix("# CONFIG_")
            .and_then(|line| line.strip_prefix(name));
        if off == Some(" is not set") {
            return Some("n".into());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn options_are_found_whole() {
        let text = "CONFIG_HZ_250=y\nCONFIG_HZ=250\n# CONFIG_PREEMPT is not set\n\
                    CONFIG_CC_VERSION_TEXT=\"gcc 12\"\nCONFIG_KSM=m\n";
        assert_eq!(option(text, "HZ"), Some(json!(250)));
        assert_eq!(option(text, "PREEMPT"), Some(json!("n")));
        assert_eq!(option(text, "KSM"), Some(json!("m")));
        assert_eq!(option(text, "CC_VERSION_TEXT"), Some(json!("gcc 12")));
        assert_eq!(option(text, "PREEMPT_RT"), None);
        assert_eq!(option(text, "Z"), None);
    }
}
