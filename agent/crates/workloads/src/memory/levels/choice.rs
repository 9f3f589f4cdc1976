//! Which block shows a level: as large as half of it, so that other data has room, and small enough
//! to stay in it; larger than the level before, so that that one cannot hold it.

use super::caches::Cache;

/// A block of so many times the level before spends at most 1/16 of its accesses there.
const BEYOND: usize = 16;
/// Main memory is seen with blocks of so many times the last level, all threads together.
const MEMORY: usize = 4;
/// Less than this is not "well beyond" the last level.
const LEAST_MEMORY: usize = 2;

/// Bytes of one thread's data in `level` ("L1" to "L3" or "memory") when `threads` run at once. The
/// error is a sentence: why the level cannot be shown.
pub fn bytes(
    level: &str,
    caches: &[Cache],
    threads: usize,
    most_memory: usize,
) -> Result<usize, String> {
    if level == "memory" {
        return memory(caches, threads, most_memory);
    }
    let number = match level {
        "L1" => 1,
        "L2" => 2,
        _ => 3,
    };
    let Some(cache) = caches.iter().find(|cache| cache.level == number) else {
        return Err(format!("the processor reports no cache of level {number}"));
    };
    let share = share(cache, threads);
    let before = caches
        .iter()
        .filter(|cache| cache.level < number)
        .map(|cache| self::share(cache, threads))
        .max();
    let bytes = before.map_or(share / 2, |before| (share / 2).min(before * BEYOND));
    match before {
        Some(before) if bytes <= before => Err(format!(
            "half of a thread's share of the cache of level {number}, {share} B for {threads} \
             threads, is not more than the {before} B of the level before"
        )),
        _ => Ok(whole_pages(bytes)),
    }
}

fn memory(caches: &[Cache], threads: usize, most: usize) -> Result<usize, String> {
    let Some(last) = caches.iter().map(|cache| cache.bytes).max() else {
        return Err("the processor reports no cache, so no block lies beyond one".into());
    };
    // As many instances of the last level as the threads can use.
    let sharing = caches.last().map_or(1, |cache| cache.sharing);
    let last = last * threads.div_ceil(sharing);
    let all = (MEMORY * last).min(most);
    if all < LEAST_MEMORY * last {
        return Err(format!(
            "blocks of {LEAST_MEMORY} times the last cache need {} B, the most allowed is {most} B \
             (memory_bytes_most)",
            LEAST_MEMORY * last
        ));
    }
    Ok(whole_pages(all / threads))
}

/// What one of the threads has of a cache if those that share it share it equally.
fn share(cache: &Cache, threads: usize) -> usize {
    cache.bytes / cache.sharing.min(threads).max(1)
}

fn whole_pages(bytes: usize) -> usize {
    const PAGE: usize = 4096;
    (bytes / PAGE * PAGE).max(PAGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(level: u64, bytes: usize, sharing: usize) -> Cache {
        Cache {
            level,
            bytes,
            sharing,
        }
    }

    fn desktop() -> [Cache; 3] {
        [
            cache(1, 32 << 10, 1),
            cache(2, 256 << 10, 1),
            cache(3, 8 << 20, 4),
        ]
    }

    #[test]
    fn a_block_lies_between_its_level_and_the_one_before() {
        let caches = desktop();
        let of = |level, threads| bytes(level, &caches, threads, 1 << 30);
        assert_eq!(of("L1", 1), Ok(16 << 10));
        assert_eq!(of("L2", 1), Ok(128 << 10));
        assert_eq!(of("L3", 1), Ok(4 << 20));
        assert_eq!(of("memory", 1), Ok(32 << 20));
        // Four threads share the third level, and no other.
        assert_eq!(of("L1", 4), Ok(16 << 10));
        assert_eq!(of("L3", 4), Ok(1 << 20));
        assert_eq!(of("memory", 4), Ok(8 << 20));
    }

    #[test]
    fn a_huge_level_is_not_filled_by_half() {
        let caches = [cache(2, 2 << 20, 1), cache(3, 480 << 20, 2)];
        assert_eq!(bytes("L3", &caches, 1, 1 << 30), Ok(32 << 20));
    }

    #[test]
    fn what_cannot_be_shown_has_a_reason() {
        let caches = desktop();
        let two = &caches[..2];
        assert!(bytes("L3", two, 1, 1 << 30)
            .unwrap_err()
            .contains("level 3"));
        assert_eq!(bytes("memory", two, 1, 1 << 30), Ok(1 << 20));
        let shared = [cache(2, 1 << 20, 1), cache(3, 8 << 20, 8)];
        assert!(bytes("L3", &shared, 8, 1 << 30)
            .unwrap_err()
            .contains("not more than"));
        assert!(bytes("memory", &caches, 1, 12 << 20)
            .unwrap_err()
            .contains("memory_bytes_most"));
        assert!(bytes("memory", &[], 1, 1 << 30).is_err());
    }
}
