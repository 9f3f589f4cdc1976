//! `arithmetic.operations`: how many operations a second, and how long one takes; and
//! `arithmetic.loop`, the published loop over them.

mod body;
mod chains;
#[allow(unsafe_code)]
pub mod kernels;
mod loops;
mod operation;

pub use body::Chains;
use kernels::Rate;
use pentathlon_harness::measure::{Context, Failure, Quantity};
use pentathlon_protocol::catalog::{self, Factor, Metric, Parameter, Semantics};
use pentathlon_protocol::Case;

pub use operation::{Kind, Operation};

pub const WORKLOADS: &[&dyn super::Workload] = &[&Operations, &loops::Loop];

struct Operations;

impl super::Workload for Operations {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "arithmetic.operations",
            title: "Arithmetic operations",
            summary: "Additions, subtractions, multiplications and divisions of integers and \
                      floating-point numbers in registers: many independent chains for the \
                      throughput, one dependent chain for the latency.",
            source: "venkata2003 §6.1, Fig. 31 and 32; lmbench lat_ops, par_ops",
            parameters: choices().to_vec(),
            factors: vec![
                Factor::category("operation", "operation"),
                Factor::category("type", "type of the numbers"),
            ],
            metrics: vec![
                Metric::higher("throughput", "Operations per second", "Mops/s"),
                Metric::lower(
                    "latency",
                    "Time of one operation in a dependent chain",
                    "ns",
                ),
            ],
            checksum: "state of all chains after one block, mixed to 64 bits",
            semantics: Semantics::alike("no system calls"),
        }
    }

    fn buffers(&self) -> u8 {
        1
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let (operations, kinds) = requested(context);
        context.log(format!("arithmetic.operations: {}", kernels::NAME));
        for &operation in &operations {
            for &kind in &kinds {
                let case = Case::new()
                    .with("operation", operation.name())
                    .with("type", kind.name());
                for (metric, rate) in [("throughput", Rate::Throughput), ("latency", Rate::Latency)]
                {
                    let count = kernels::per_block(operation, kind, rate) as f64;
                    let quantity = match rate {
                        Rate::Throughput => Quantity::MegaPerSecond { units: count },
                        Rate::Latency => Quantity::NsPer { parts: count },
                    };
                    match Chains::new(operation, kind, rate) {
                        Ok(mut body) => context.measure(metric, &case, quantity, &mut body),
                        Err(failure) => context.fail(Some(&case), &failure),
                    }
                }
            }
        }
        Ok(())
    }
}

/// The parameters: which operations and types are measured.
fn choices() -> [Parameter; 2] {
    [
        Parameter::texts_of("operations", &Operation::ALL.map(Operation::name))
            .described("operations to measure"),
        Parameter::texts_of("types", &Kind::ALL.map(Kind::name)).described(
            "types of the numbers: integers of 32 and 64 bits, IEEE 754 binary32 and binary64",
        ),
    ]
}

/// What the parameters request.
fn requested(context: &Context<'_>) -> (Vec<Operation>, Vec<Kind>) {
    let texts = |name| context.parameters.texts(name);
    (
        chosen(&texts("operations"), Operation::ALL, Operation::name),
        chosen(&texts("types"), Kind::ALL, Kind::name),
    )
}

/// What was named, each once, in the order of the catalog.
fn chosen<T: Copy, const N: usize>(
    names: &[&str],
    all: [T; N],
    name: fn(T) -> &'static str,
) -> Vec<T> {
    all.into_iter()
        .filter(|&item| names.contains(&name(item)))
        .collect()
}
