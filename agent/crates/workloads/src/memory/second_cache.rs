//! Sizes around the second cache that the processor claims: the paper samples finely near the cache
//! of its machine (venkata2003 §3.2.1), and goes on to twice its size.

use super::levels::caches::{self, Cache};
use pentathlon_harness::measure::Context;
use pentathlon_protocol::catalog::Parameter;

/// Parts of the cache that are sizes, in eighths.
const EIGHTHS: [u64; 10] = [5, 6, 7, 8, 9, 10, 11, 12, 14, 16];
/// Up to the first of them sizes double from here on.
const DOUBLED: u64 = 1 << 20;

pub fn parameter() -> Parameter {
    Parameter::boolean("follow_cache", true).described(
        "whether sizes around the second cache that the processor claims are measured too: by \
         eighths of it, from five eighths to twice its size",
    )
}

/// The sizes that were requested and, unless that was refused, those around the cache; ascending
/// where there are any of these.
pub fn followed(context: &mut Context<'_>, requested: &[u64]) -> Vec<u64> {
    if !context.parameters.boolean("follow_cache") {
        return requested.to_vec();
    }
    let (added, remark) = match caches::find() {
        Ok((caches, teller)) => match second(&caches) {
            Some(cache) => (
                around(cache),
                format!("follows the second cache, {cache} B according to {teller}"),
            ),
            None => (
                Vec::new(),
                format!("{teller} reports no second cache to follow"),
            ),
        },
        Err(reason) => (Vec::new(), reason),
    };
    context.log(format!("{}: {remark}", context.workload.id));
    joined(requested, added)
}

fn second(caches: &[Cache]) -> Option<u64> {
    let cache = caches.iter().find(|cache| cache.level == 2)?;
    Some(cache.bytes as u64)
}

fn around(cache: u64) -> Vec<u64> {
    let near = EIGHTHS.map(|eighths| cache / 8 * eighths);
    let doubled = std::iter::successors(Some(DOUBLED), |size| Some(2 * size));
    let mut sizes: Vec<u64> = doubled.take_while(|&size| size < near[0]).collect();
    sizes.extend(near);
    sizes
}

/// All sizes, each once. What was requested keeps its order if nothing is added.
fn joined(requested: &[u64], added: Vec<u64>) -> Vec<u64> {
    if added.is_empty() {
        return requested.to_vec();
    }
    let mut sizes = [requested, &added].concat();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: u64 = 1 << 10;

    #[test]
    fn sizes_reach_to_twice_the_second_cache_and_are_finest_near_it() {
        for cache in [256 * KIB, 512 * KIB, 2 << 20, 3 << 20, 16 << 20] {
            let sizes = joined(&super::super::code_size::sizes(), around(cache));
            assert!(*sizes.last().unwrap() >= 2 * cache);
            assert!(sizes.windows(2).all(|pair| pair[0] < pair[1]));
            // No gap is wider than a doubling, and near the cache none is wider than a quarter.
            for pair in sizes.windows(2).filter(|pair| pair[0] >= 12 * KIB) {
                assert!(pair[1] <= 2 * pair[0], "{cache}: {pair:?}");
                if pair[0] >= cache / 8 * 5 && pair[1] <= cache / 2 * 3 {
                    assert!(pair[1] - pair[0] <= cache / 4, "{cache}: {pair:?}");
                }
            }
        }
    }

    #[test]
    fn the_cache_of_the_paper_is_followed_to_the_paper_s_last_size() {
        assert_eq!(around(512 * KIB)[0], 320 * KIB);
        assert_eq!(around(512 * KIB).last(), Some(&(1024 * KIB)));
    }

    #[test]
    fn nothing_is_added_without_a_second_cache() {
        let first = Cache {
            level: 1,
            bytes: 32 << 10,
            sharing: 1,
        };
        let other = Cache {
            level: 2,
            bytes: 2 << 20,
            sharing: 2,
        };
        assert_eq!(second(&[first]), None);
        assert_eq!(second(&[first, other]), Some(2 << 20));
        assert_eq!(joined(&[8, 4, 8], Vec::new()), [8, 4, 8]);
        assert_eq!(joined(&[8, 4, 8], vec![6]), [4, 6, 8]);
    }
}
