//! The factor of workloads whose loops or code exist at every optimisation level.

use pentathlon_code::{levels, Level};
use pentathlon_harness::measure::Context;
use pentathlon_protocol::catalog::{Factor, Parameter};

/// What is measured where nobody requests levels: the agent's own.
pub const OWN: [&str; 1] = ["3"];

/// The two that the paper compares.
pub const WITHOUT_AND_WITH: [&str; 2] = ["0", "3"];

/// The levels as a parameter's choices.
pub fn parameter(default: &[&str]) -> Parameter {
    Parameter::texts("opt_levels", default)
        .choices(&levels().map(|level| level.name))
        .described("optimisation levels of the compiler (rustc -C opt-level)")
}

/// All of them by default.
pub fn every() -> Parameter {
    parameter(&levels().map(|level| level.name))
}

pub fn factor() -> Factor {
    Factor::category("opt_level", "optimisation level")
}

/// The levels that were requested.
pub fn chosen(context: &Context<'_>) -> Vec<Level> {
    let requested = context.parameters.texts("opt_levels");
    levels()
        .into_iter()
        .filter(|level| requested.contains(&level.name))
        .collect()
}
