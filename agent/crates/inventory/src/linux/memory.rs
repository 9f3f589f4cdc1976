//! Memory: sizes, huge pages, NUMA, merging and the settings of `/proc/sys/vm`
//! (admin-guide/mm/, admin-guide/sysctl/vm.rst).

use super::text;
use crate::leaf::{leaf, some, Reason, Reported};
use crate::source::Source;
use pentathlon_os::kernel;
use serde_json::{json, Map, Value};

const MM: &str = "/sys/kernel/mm";

pub fn collect(source: &Source) -> Value {
    let info = |key: &str| {
        let text = source.text("/proc/meminfo")?;
        text::keyed(&text, key)
            .ok_or_else(|| Reason::new(format!("/proc/meminfo has no {key} that is a size")))
    };
    json!({
        "total_bytes": leaf(info("MemTotal")),
        "available_bytes": leaf(info("MemAvailable")),
        "free_bytes": leaf(info("MemFree")),
        "page_cache_bytes": leaf(info("Cached")),
        "swap_total_bytes": leaf(info("SwapTotal")),
        "swap_free_bytes": leaf(info("SwapFree")),
        "commit_limit_bytes": leaf(info("CommitLimit")),
        "committed_bytes": leaf(info("Committed_AS")),
        "page_bytes": leaf(source.ask("sysconf(_SC_PAGESIZE)", || {
            kernel::page_bytes().ok_or_else(|| Reason::new("sysconf(3) reports no page size"))
        })),
        "huge_page_default_bytes": leaf(info("Hugepagesize")),
        "huge_pages": leaf(huge_pages(source)),
        "transparent_huge_pages": transparent(source),
        "numa_nodes": leaf(numa(source)),
        "modules": leaf(super::firmware::memory_modules(source)),
        "same_page_merging": {
            "run": leaf(source.number::<u64>(&format!("{MM}/ksm/run"))),
            "pages_shared": leaf(source.number::<u64>(&format!("{MM}/ksm/pages_shared"))),
            "pages_sharing": leaf(source.number::<u64>(&format!("{MM}/ksm/pages_sharing"))),
        },
        "generational_lru": leaf(source.string(&format!("{MM}/lru_gen/enabled"))),
        "zswap": leaf(source.flag("/sys/module/zswap/parameters/enabled")),
        "settings": settings(source),
    })
}

/// The pools of each size of explicit huge pages.
fn huge_pages(source: &Source) -> Reported<Vec<Value>> {
    let directory = format!("{MM}/hugepages");
    let sizes = source.names(&directory)?;
    let pools: Vec<Value> = sizes
        .iter()
        .filter_map(|name| {
            let kib = name.strip_prefix("hugepages-")?.strip_suffix("kB")?;
            let bytes = kib.parse::<u64>().ok()?.checked_mul(1024)?;
            let count =
                |file: &str| leaf(source.number::<u64>(&format!("{directory}/{name}/{file}")));
            Some(json!({
                "size_bytes": bytes,
                "total": count("nr_hugepages"),
                "free": count("free_hugepages"),
                "reserved": count("resv_hugepages"),
                "overcommit": count("nr_overcommit_hugepages"),
            }))
        })
        .collect();
    Ok(pools)
}

fn transparent(source: &Source) -> Value {
    let directory = format!("{MM}/transparent_hugepage");
    let choice = |file: &str| leaf(selected(source, &format!("{directory}/{file}")));
    json!({
        "enabled": choice("enabled"),
        "defrag": choice("defrag"),
        "shmem_enabled": choice("shmem_enabled"),
        "size_bytes": leaf(source.number::<u64>(&format!("{directory}/hpage_pmd_size"))),
        "zero_page": leaf(source.flag(&format!("{directory}/use_zero_page"))),
        "background_defrag": leaf(source.flag(&format!("{directory}/khugepaged/defrag"))),
        "smaller_sizes": leaf(smaller(source, &directory)),
    })
}

/// The sizes below a PMD that are on, where the kernel has them (Linux 6.8).
fn smaller(source: &Source, directory: &str) -> Reported<Map<String, Value>> {
    let names = source.names(directory)?;
    let sizes = names.iter().filter(|name| name.starts_with("hugepages-"));
    let none = format!("{directory} has no hugepages-*kB");
    Ok(some(sizes.collect(), none)?
        .into_iter()
        .map(|name| {
            let path = format!("{directory}/{name}/enabled");
            (
                name.replace("hugepages-", ""),
                leaf(selected(source, &path)),
            )
        })
        .collect())
}

/// The choice in brackets of a file such as `always [madvise] never`.
pub fn selected(source: &Source, path: &str) -> Reported<String> {
    let text = source.text(path)?;
    text::chosen(&text)
        .map(str::to_owned)
        .ok_or_else(|| Reason::new(format!("{path} marks no choice with brackets")))
}

fn numa(source: &Source) -> Reported<Vec<Value>> {
    let directory = "/sys/devices/system/node";
    let names = source.names(directory)?;
    let nodes: Vec<Value> = names
        .iter()
        .filter_map(|name| {
            let number: u64 = name.strip_prefix("node")?.parse().ok()?;
            let at = |file: &str| format!("{directory}/{name}/{file}");
            // "Node 0 MemTotal:  100 kB"
            let total = source.text(&at("meminfo")).and_then(|text| {
                let plain = text.replace(&format!("Node {number} "), "");
                text::keyed(&plain, "MemTotal")
                    .ok_or_else(|| Reason::new(format!("{} has no MemTotal", at("meminfo"))))
            });
            Some(json!({
                "node": number,
                "cpus": leaf(source.string(&at("cpulist"))),
                "total_bytes": leaf(total),
                "distances": leaf(source.string(&at("distance"))),
            }))
        })
        .collect();
    some(nodes, format!("{directory} lists no node"))
}

fn settings(source: &Source) -> Value {
    const NAMES: [&str; 19] = [
        "compaction_proactiveness",
        "dirty_background_bytes",
        "dirty_background_ratio",
        "dirty_bytes",
        "dirty_expire_centisecs",
        "dirty_ratio",
        "dirty_writeback_centisecs",
        "laptop_mode",
        "max_map_count",
        "min_free_kbytes",
        "mmap_min_addr",
        "overcommit_kbytes",
        "overcommit_memory",
        "overcommit_ratio",
        "page-cluster",
        "swappiness",
        "vfs_cache_pressure",
        "watermark_scale_factor",
        "zone_reclaim_mode",
    ];
    super::sysctl(source, "/proc/sys/vm", &NAMES)
}
