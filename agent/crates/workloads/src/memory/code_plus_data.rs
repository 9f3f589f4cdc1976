//! `memory.code_plus_data`: the loops of the published program over data of a growing size,
//! compiled at four levels.

use super::code_size::sizes;
use super::{second_cache, sizes as blocks};
use crate::opt_level;
use pentathlon_code::Level;
use pentathlon_harness::measure::{Body, Context, Failure, Quantity};
use pentathlon_protocol::catalog::{self, Metric, Parameter, Semantics};
use pentathlon_protocol::Case;
use serde_json::json;

pub struct CodePlusData;

impl pentathlon_harness::Workload for CodePlusData {
    fn describe(&self) -> catalog::Workload {
        let metric = |id, title| Metric::higher(id, title, "MB/s");
        catalog::Workload {
            id: "memory.code_plus_data",
            title: "Code plus data",
            summary: "Writes and reads an array of 32-bit integers of a growing size with the \
                      published loops: the rate falls where code and data outgrow a cache.",
            source: "venkata2003 §3.2 and §7.1, Fig. 3 and 34 to 36",
            parameters: vec![
                Parameter {
                    default: json!(sizes()),
                    ..blocks::parameter()
                },
                second_cache::parameter(),
                opt_level::every(),
            ],
            factors: vec![blocks::factor(), opt_level::factor()],
            metrics: vec![
                metric("write", "Write bandwidth"),
                metric("read", "Read bandwidth"),
            ],
            checksum: "wrapping sum of the array as the first pass leaves it, element i holding i",
            semantics: Semantics {
                linux: "memory of the C library's allocator, written before anything is timed",
                windows: "memory of the process heap, written before anything is timed",
            },
        }
    }

    fn timeout_s(&self) -> Option<f64> {
        Some(300.0)
    }

    fn buffers(&self) -> u8 {
        1
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let requested = context.parameters.integers("block_bytes");
        let sizes = blocks::rounded(&second_cache::followed(context, &requested));
        for level in opt_level::chosen(context) {
            for &bytes in &sizes {
                let case = Case::new()
                    .with("block_bytes", bytes as u64)
                    .with("opt_level", level.name);
                if let Some(spare) = super::available::bytes().filter(|&b| bytes as u64 > b) {
                    let reason = format!("{bytes} B are wanted, the system can spare {spare} B");
                    context.fail(Some(&case), &Failure::Unsupported(reason));
                    continue;
                }
                let mut data = vec![0u32; bytes / size_of::<u32>()];
                let quantity = Quantity::MegaPerSecond {
                    units: bytes as f64,
                };
                context.measure("write", &case, quantity, &mut Write(level, &mut data));
                level.write(&mut data, 0);
                context.measure("read", &case, quantity, &mut Read(level, &data));
            }
        }
        Ok(())
    }
}

/// The sum of 0 to `count` - 1.
fn sum(count: usize) -> u32 {
    let count = count as u64;
    (count * count.saturating_sub(1) / 2) as u32
}

struct Write<'a>(Level, &'a mut [u32]);

impl Body for Write<'_> {
    fn batch(&mut self, operations: u64) -> u64 {
        for pass in 0..operations {
            self.0.write(self.1, pass as u32);
        }
        operations
    }

    fn verify(&mut self, operations: u64, _returned: u64) -> Result<u64, Failure> {
        let last = operations.wrapping_sub(1) as u32;
        for (index, &value) in self.1.iter().enumerate() {
            let expected = last.wrapping_add(index as u32);
            if value != expected {
                return Err(Failure::Invalid(format!(
                    "element {index} holds {value}, not {expected} of the last pass"
                )));
            }
        }
        Ok(u64::from(sum(self.1.len())))
    }
}

struct Read<'a>(Level, &'a [u32]);

impl Body for Read<'_> {
    fn batch(&mut self, operations: u64) -> u64 {
        (0..operations).fold(0u32, |all, _| {
            all.rotate_left(1) ^ std::hint::black_box(self.0.read(std::hint::black_box(self.1)))
        }) as u64
    }

    fn verify(&mut self, operations: u64, returned: u64) -> Result<u64, Failure> {
        let sum = sum(self.1.len());
        // 32 turns make every bit the parity of the sum, 32 more take that away again.
        let expected = (0..operations % 64).fold(0u32, |all, _| all.rotate_left(1) ^ sum);
        if returned == u64::from(expected) {
            Ok(u64::from(sum))
        } else {
            Err(Failure::Invalid(format!(
                "{operations} passes add up to {returned:#x}, not to {expected:#x}"
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pentathlon_code::levels;

    #[test]
    fn every_level_writes_and_reads_the_same() {
        for level in levels() {
            let mut data = vec![0; 1000];
            let mut write = Write(level, &mut data);
            for passes in [1, 70] {
                let returned = write.batch(passes);
                assert_eq!(write.verify(passes, returned), Ok(499_500));
            }
            assert!(matches!(write.verify(71, 71), Err(Failure::Invalid(_))));
            level.write(&mut data, 0);
            let mut read = Read(level, &data);
            for passes in [0, 1, 31, 32, 63, 64, 65, 1000] {
                let returned = read.batch(passes);
                assert_eq!(read.verify(passes, returned), Ok(499_500));
            }
            let returned = read.batch(3);
            assert!(matches!(read.verify(2, returned), Err(Failure::Invalid(_))));
        }
    }
}
