//! The parameter `block_bytes`.

use pentathlon_protocol::catalog::{Factor, Parameter};

/// Blocks are whole cache lines of this many bytes.
pub const LINE_BYTES: usize = 64;

/// 1 KiB to 512 MiB in powers of two (venkata2003 §3.1).
const SMALLEST_LOG2: u32 = 10;
const LARGEST_LOG2: u32 = 29;

pub fn parameter() -> Parameter {
    let default: Vec<u64> = (SMALLEST_LOG2..=LARGEST_LOG2).map(|log| 1 << log).collect();
    Parameter::integers("block_bytes", &default)
        .unit("B")
        .limits(1024.0, (1u64 << 40) as f64)
        .described(
            "sizes of the block; each is rounded up to whole cache lines of 64 B, and the case \
             states the rounded size",
        )
}

pub fn factor() -> Factor {
    Factor::bytes("block_bytes", "block size")
}

/// The sizes requested, rounded up to whole lines; each once, in the order given.
pub fn rounded(requested: &[u64]) -> Vec<usize> {
    let sizes = requested.iter().map(|&bytes| bytes as usize);
    let sizes: Vec<usize> = sizes
        .map(|size| size.next_multiple_of(LINE_BYTES))
        .collect();
    distinct(&sizes)
}

/// The values of a list parameter, each once, in the order given.
pub fn distinct<T: Copy + PartialEq>(requested: &[T]) -> Vec<T> {
    let mut values = Vec::with_capacity(requested.len());
    for &value in requested {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_whole_lines_and_keep_their_order() {
        assert_eq!(
            rounded(&[4096, 1025, 1024, 1088, 196_608]),
            [4096, 1088, 1024, 196_608]
        );
    }

    #[test]
    fn the_default_is_the_published_range() {
        let parameter = parameter();
        let default = parameter.default.as_array().unwrap();
        assert_eq!(default.len(), 20);
        assert_eq!(default[0], 1024);
        assert_eq!(default[19], 512 << 20);
    }

    #[test]
    fn repeated_values_count_once() {
        assert_eq!(distinct(&["b", "a", "b"]), ["b", "a"]);
    }
}
