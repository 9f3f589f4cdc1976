//! The processor's caches: `/sys/devices/system/cpu/cpu*/cache`, or CPUID where the system does
//! not list them.

use super::text;
use crate::leaf::{leaf, some, unsupported, Reason, Reported};
use crate::source::Source;
use serde_json::{json, Value};

/// One kind of cache, with every instance of it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Cache {
    level: u64,
    kind: String,
    size_bytes: Reported<u64>,
    line_bytes: Reported<u64>,
    ways: Reported<u64>,
    sets: Reported<u64>,
    /// For each instance, the CPUs that share it.
    shared: Vec<String>,
}

pub fn collect(source: &Source) -> Value {
    let refusal = match from_sysfs(source) {
        Ok(caches) => return list(&caches, "sysfs"),
        Err(reason) => reason,
    };
    match from_cpuid(source) {
        Ok(caches) => caches,
        Err(reason) => unsupported(format_args!("{refusal}; {reason}")),
    }
}

fn list(caches: &[Cache], origin: &str) -> Value {
    caches
        .iter()
        .map(|cache| {
            json!({
                "level": cache.level,
                "type": cache.kind,
                "size_bytes": leaf(cache.size_bytes.clone()),
                "line_bytes": leaf(cache.line_bytes.clone()),
                "ways": leaf(cache.ways.clone()),
                "sets": leaf(cache.sets.clone()),
                "instances": cache.shared.len(),
                "shared_cpus": cache.shared,
                "source": origin,
            })
        })
        .collect()
}

fn from_sysfs(source: &Source) -> Reported<Vec<Cache>> {
    let online = source.text("/sys/devices/system/cpu/online")?;
    let cpus = text::cpu_list(&online)
        .ok_or_else(|| Reason::new("/sys/devices/system/cpu/online is not a list of CPUs"))?;
    let mut caches: Vec<Cache> = Vec::new();
    for cpu in &cpus {
        let directory = format!("/sys/devices/system/cpu/cpu{cpu}/cache");
        for index in source.names(&directory)? {
            if !index.starts_with("index") {
                continue;
            }
            let at = |file: &str| format!("{directory}/{index}/{file}");
            let level: u64 = source.number(&at("level"))?;
            let kind = source.string(&at("type"))?.to_lowercase();
            let shared = source.string(&at("shared_cpu_list"))?;
            let known = |cache: &Cache| {
                cache.level == level && cache.kind == kind && cache.shared.contains(&shared)
            };
            if caches.iter().any(known) {
                continue;
            }
            let size = source.text(&at("size"))?;
            let cache = Cache {
                level,
                kind,
                size_bytes: text::bytes(&size)
                    .ok_or_else(|| Reason::new(format!("{} is not a size", at("size")))),
                line_bytes: source.number(&at("coherency_line_size")),
                ways: source.number(&at("ways_of_associativity")),
                sets: source.number(&at("number_of_sets")),
                shared: vec![shared],
            };
            merge(&mut caches, cache);
        }
    }
    some(caches, "/sys/devices/system/cpu/cpu*/cache lists no cache")
}

/// Adds a cache to the entry of its kind: the performance and efficiency cores of one processor
/// have caches of two kinds.
fn merge(caches: &mut Vec<Cache>, cache: Cache) {
    let same = |known: &&mut Cache| {
        (known.level, &known.kind) == (cache.level, &cache.kind)
            && known.size_bytes.as_ref().ok() == cache.size_bytes.as_ref().ok()
            && known.ways.as_ref().ok() == cache.ways.as_ref().ok()
    };
    match caches.iter_mut().find(same) {
        Some(known) => known.shared.extend(cache.shared),
        None => caches.push(cache),
    }
}

/// The deterministic cache parameters: leaf 4 (Intel) or 8000001Dh (AMD), of the CPU that runs
/// this. CPUID reports how many CPUs could share a cache, not which do.
fn from_cpuid(source: &Source) -> Reported<Value> {
    let refusal = match walk(source, 4) {
        Ok(caches) => return Ok(caches),
        Err(reason) => reason,
    };
    walk(source, 0x8000_001D).map_err(|_| refusal)
}

fn walk(source: &Source, number: u32) -> Reported<Value> {
    let mut caches = Vec::new();
    // No processor has 16 caches; a hypervisor that answers every subleaf alike must not hold us.
    for subleaf in 0..16 {
        let [a, b, c, _] = source.cpuid(number, subleaf)?;
        let kind = match a & 0x1F {
            0 => break,
            1 => "data",
            2 => "instruction",
            3 => "unified",
            _ => continue,
        };
        let ways = u64::from(b >> 22 & 0x3FF) + 1;
        let partitions = u64::from(b >> 12 & 0x3FF) + 1;
        let line_bytes = u64::from(b & 0xFFF) + 1;
        let sets = u64::from(c) + 1;
        let not_reported = "CPUID does not report which CPUs share a cache";
        caches.push(json!({
            "level": a >> 5 & 0x7,
            "type": kind,
            "size_bytes": ways * partitions * line_bytes * sets,
            "line_bytes": line_bytes,
            "ways": ways,
            "sets": sets,
            "instances": unsupported(not_reported),
            "shared_cpus": unsupported(not_reported),
            "sharing_threads_most": (a >> 14 & 0xFFF) + 1,
            "source": "cpuid",
        }));
    }
    some(caches, format!("CPUID leaf {number:X}h lists no cache")).map(Value::from)
}
