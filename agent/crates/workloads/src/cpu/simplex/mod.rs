//! `cpu.simplex`: the downhill simplex in about twenty dimensions, the user's program of the
//! forwarding study.

mod functions;
mod method;

use super::checksum::of_words;
use functions::{Function, FUNCTIONS};
use method::Minimum;
use pentathlon_harness::measure::{Body, Context, Failure, Quantity};
use pentathlon_protocol::catalog::{self, Factor, Metric, Parameter, Semantics};
use pentathlon_protocol::Case;

/// Values below this are the minimum.
const REACHED: f64 = 1e-8;

pub struct Simplex;

impl super::Workload for Simplex {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "cpu.simplex",
            title: "Downhill simplex",
            summary: "Minimises a function of many variables by the method of Nelder and Mead: \
                      all computing, no input or output. The minimum found is checked.",
            source: "salah2010 §3.2",
            parameters: vec![
                Parameter::texts("function", &["rosenbrock"])
                    .choices(&FUNCTIONS.iter().map(|f| f.name).collect::<Vec<_>>())
                    .described("function to minimise"),
                Parameter::integer("dimensions", 20)
                    .limits(2.0, 32.0)
                    .described(
                        "variables of the function: a multiple of 2 for rosenbrock, of 4 for \
                         powell",
                    ),
                Parameter::number("step", 1.0)
                    .limits(0.001, 100.0)
                    .described("edge of the first simplex"),
            ],
            factors: vec![Factor::category("function", "function")],
            metrics: vec![Metric::lower("time", "Execution time", "us")],
            checksum: "FNV-1a of the minimum's coordinates and of the number of evaluations",
            semantics: Semantics::alike("no system calls"),
        }
    }

    fn check(&self, parameters: &catalog::Parameters) -> Result<(), String> {
        let dimensions = parameters.integer("dimensions") as usize;
        let requested = parameters.texts("function");
        match FUNCTIONS
            .iter()
            .find(|f| requested.contains(&f.name) && !dimensions.is_multiple_of(f.group))
        {
            Some(function) => Err(format!(
                "'dimensions' is {dimensions}, it must be a multiple of {} for the function {}",
                function.group, function.name
            )),
            None => Ok(()),
        }
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let dimensions = context.parameters.integer("dimensions") as usize;
        let step = context.parameters.number("step");
        let parameters = context.parameters.clone();
        for name in parameters.texts("function") {
            let function = FUNCTIONS
                .iter()
                .find(|f| f.name == name)
                .expect("checked against the choices");
            let case = Case::new().with("function", function.name);
            let quantity = Quantity::NsPer { parts: 1e3 };
            let mut search = Search {
                function,
                start: (function.start)(dimensions),
                step,
                last: None,
            };
            context.measure("time", &case, quantity, &mut search);
        }
        Ok(())
    }
}

struct Search {
    function: &'static Function,
    start: Vec<f64>,
    step: f64,
    last: Option<Minimum>,
}

impl Body for Search {
    fn batch(&mut self, operations: u64) -> u64 {
        let mut sum = 0u64;
        for _ in 0..operations {
            let start = std::hint::black_box(&self.start);
            let found = method::minimise(self.function.value, start, self.step, 50_000_000);
            sum = sum.wrapping_add(checksum(&found));
            self.last = Some(found);
        }
        sum
    }

    fn verify(&mut self, operations: u64, returned: u64) -> Result<u64, Failure> {
        let Some(found) = &self.last else {
            return Err(Failure::Invalid("nothing was searched".into()));
        };
        reached(self.function, found)?;
        let checksum = checksum(found);
        if checksum.wrapping_mul(operations) != returned {
            return Err(Failure::Invalid(
                "searches from one start ended at different points".into(),
            ));
        }
        Ok(checksum)
    }
}

fn checksum(found: &Minimum) -> u64 {
    let coordinates = found.point.iter().map(|x| x.to_bits());
    of_words(coordinates.chain([found.evaluations]))
}

/// Whether the search ended at the function's known minimum.
fn reached(function: &Function, found: &Minimum) -> Result<(), Failure> {
    let near = |x: &f64| (x - function.minimum).abs() <= function.tolerance;
    if found.value <= REACHED && found.point.iter().all(near) {
        return Ok(());
    }
    Err(Failure::Invalid(format!(
        "the search of {} ended at the value {:e} after {} evaluations, and its minimum is 0",
        function.name, found.value, found.evaluations
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(step: f64) -> Search {
        Search {
            function: &FUNCTIONS[0],
            start: (FUNCTIONS[0].start)(8),
            step,
            last: None,
        }
    }

    #[test]
    fn the_checksum_does_not_depend_on_the_batch() {
        let (mut one, mut three) = (search(1.0), search(1.0));
        let (a, b) = (one.batch(1), three.batch(3));
        assert_eq!(one.verify(1, a), three.verify(3, b));
    }

    #[test]
    fn a_search_that_missed_the_minimum_is_invalid() {
        let mut search = search(1.0);
        let returned = search.batch(1);
        search.last.as_mut().expect("searched").point[3] += 0.1;
        assert!(matches!(
            search.verify(1, returned),
            Err(Failure::Invalid(_))
        ));
    }
}
