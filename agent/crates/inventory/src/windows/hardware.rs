//! Processor, caches and memory.

use super::{counted, reported, settings};
use crate::identity::{self, Identity};
use crate::leaf::{leaf, unsupported, Reported};
use crate::source::Source;
use pentathlon_os::topology::{self, Topology};
use pentathlon_os::{machine, registry, system};
use serde_json::{json, Value};

fn requested() -> Reported<Topology> {
    reported("GetLogicalProcessorInformationEx", topology::topology())
}

pub fn cpu(source: &Source) -> Value {
    let identity = Identity::read(source);
    let id =
        |field: fn(&Identity) -> Reported<Value>| leaf(identity.clone().and_then(|id| field(&id)));
    let topology = requested();
    let count =
        |field: fn(&Topology) -> usize| leaf(topology.as_ref().map(field).map_err(Clone::clone));
    let nominal = registry::number("HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0", "~MHz");
    json!({
        "architecture": std::env::consts::ARCH,
        "vendor": id(|id| Ok(id.vendor.clone().into())),
        "model_name": id(|id| id.model_name.clone().map(Into::into)),
        "family": id(|id| Ok(id.family.into())),
        "model": id(|id| Ok(id.model.into())),
        "stepping": id(|id| Ok(id.stepping.into())),
        "sockets": count(|topology| topology.packages),
        "cores": count(|topology| topology.cores),
        "numa_nodes": count(|topology| topology.nodes),
        "threads": leaf(reported(
            "GetSystemInfo",
            std::thread::available_parallelism().map(|count| count.get() as u64),
        )),
        "instruction_level": leaf(identity::level()),
        "frequency": {
            "base_khz": leaf(reported("the registry's ~MHz", nominal).map(|mhz| u64::from(mhz) * 1000)),
        },
        "tsc": {
            "invariant": leaf(identity::tsc_invariant(source)),
            "frequency_khz": leaf(identity::tsc_khz(source)),
        },
    })
}

/// Every kind of cache once, with the CPUs that share each instance.
pub fn caches() -> Value {
    let mut caches = match requested() {
        Ok(topology) if topology.caches.is_empty() => {
            return unsupported("GetLogicalProcessorInformationEx lists no caches")
        }
        Ok(topology) => topology.caches,
        Err(reason) => return unsupported(reason),
    };
    caches.sort_by_key(|cache| {
        (
            cache.level,
            cache.kind,
            cache.size_bytes,
            cache.group,
            cache.cpus,
        )
    });
    let same = |a: &topology::Cache, b: &topology::Cache| {
        (a.level, a.kind, a.size_bytes) == (b.level, b.kind, b.size_bytes)
    };
    caches
        .chunk_by(same)
        .map(|alike| {
            let (one, line) = (&alike[0], u32::from(alike[0].line_bytes));
            let ways = u32::from(one.ways);
            let shared: Vec<String> = alike.iter().map(shared).collect();
            let sets = (line > 0 && ways > 0 && one.ways != 0xFF)
                .then(|| json!(one.size_bytes / line / ways));
            json!({
                "level": one.level,
                "type": one.kind,
                "size_bytes": one.size_bytes,
                "line_bytes": line,
                "ways": match one.ways {
                    // CACHE_FULLY_ASSOCIATIVE.
                    0xFF => unsupported("the cache is fully associative"),
                    0 => unsupported("the system does not report the ways"),
                    ways => ways.into(),
                },
                "sets": sets.unwrap_or_else(|| unsupported("the ways are not reported")),
                "instances": shared.len(),
                "shared_cpus": shared,
                "source": "GetLogicalProcessorInformationEx",
            })
        })
        .collect()
}

/// The CPUs of a mask, counted over all groups of 64.
fn shared(cache: &topology::Cache) -> String {
    let first = u32::from(cache.group) * 64;
    let cpus = (0..64).filter(|bit| cache.cpus >> bit & 1 == 1);
    let names: Vec<String> = cpus.map(|bit| (first + bit).to_string()).collect();
    names.join(",")
}

pub fn memory() -> Value {
    let memory = reported("GlobalMemoryStatusEx", machine::memory());
    let part =
        |field: fn(&machine::Memory) -> u64| leaf(memory.as_ref().map(field).map_err(Clone::clone));
    let performance = reported("GetPerformanceInfo", machine::performance());
    let kept = |field: fn(&machine::Performance) -> u64| {
        let requested = performance.as_ref().map(field).map_err(Clone::clone);
        leaf(requested.and_then(|bytes| counted("GetPerformanceInfo", bytes)))
    };
    let (page_bytes, granularity_bytes, _) = system::native();
    json!({
        "total_bytes": part(|memory| memory.total),
        "available_bytes": part(|memory| memory.available),
        "commit_limit_bytes": part(|memory| memory.commit_limit),
        "commit_available_bytes": part(|memory| memory.commit_available),
        "load_percent": part(|memory| memory.load_percent.into()),
        "installed_bytes": leaf(reported(
            "GetPhysicallyInstalledSystemMemory",
            machine::installed_bytes(),
        )),
        "page_bytes": page_bytes,
        "granularity_bytes": granularity_bytes,
        "cache_bytes": kept(|performance| performance.cache_bytes),
        "kernel_paged_bytes": kept(|performance| performance.kernel_paged_bytes),
        "kernel_nonpaged_bytes": kept(|performance| performance.kernel_nonpaged_bytes),
        "commit_peak_bytes": kept(|performance| performance.commit_peak_bytes),
        "page_files": settings::page_files(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_counted_over_the_groups() {
        let cache = topology::Cache {
            level: 1,
            kind: "data",
            size_bytes: 1,
            line_bytes: 64,
            ways: 8,
            group: 1,
            cpus: 0b101,
        };
        assert_eq!(shared(&cache), "64,66");
    }
}
