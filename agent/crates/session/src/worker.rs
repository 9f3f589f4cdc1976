//! The worker: one workload, once, in a process of its own, so that no workload sees another's
//! heap, caches of the C library or crashed threads.

use super::{placement, read_document, Assignment};
use pentathlon_harness::counters::Options;
use pentathlon_harness::measure::{Context, Failure, Place, Settings};
use pentathlon_harness::Emitter;
use pentathlon_harness::{Workload, COMMAND};
use pentathlon_os::parent;
use pentathlon_protocol::catalog::Parameters;
use pentathlon_protocol::{ErrorKind, Event};
use std::io::{self, Write};

/// Runs the assignment on standard input, which is for one of these workloads; events go to
/// standard output. Returns the exit status.
pub fn work(workloads: &[&'static dyn Workload]) -> i32 {
    // Without its supervisor a worker measures for nobody, and nobody would end it.
    parent::die_with_parent();
    if parent::output_is_abandoned() {
        return 1;
    }
    let assignment: Assignment = match read_document(io::stdin().lock()) {
        Ok(assignment) => assignment,
        Err(reason) => {
            eprintln!("pentathlon-agent worker: {reason}");
            return 2;
        }
    };
    let out: Box<dyn Write> = Box::new(io::stdout());
    let mut emitter = Emitter::new(out, assignment.epoch_ns);
    if let Err((kind, reason)) = run(workloads, &assignment, &mut emitter) {
        emitter.push(&Event::Error {
            workload: Some(assignment.task.id.clone()),
            index: Some(assignment.index),
            process: Some(assignment.process),
            kind,
            reason,
            case: None,
        });
    }
    i32::from(emitter.flush().is_err())
}

fn run(
    workloads: &[&'static dyn Workload],
    assignment: &Assignment,
    emitter: &mut Emitter<Box<dyn Write>>,
) -> Result<(), (ErrorKind, String)> {
    let task = &assignment.task;
    if assignment.sources != crate::build::this().sources {
        return Err((
            ErrorKind::Request,
            format!(
                "the agent is made of the sources {}, the program that has {} of {}; install both of \
                 one version",
                assignment.sources,
                task.id,
                crate::build::this().sources
            ),
        ));
    }
    let wanted = if task.command.is_some() {
        COMMAND
    } else {
        &task.id
    };
    let found = workloads.iter().find(|w| w.describe().id == wanted);
    let Some(workload) = found else {
        return Err((
            ErrorKind::Request,
            format!("there is no workload '{}' in this agent's catalog", task.id),
        ));
    };
    let mut description = workload.describe();
    if task.command.is_some() {
        // For the events of this process, which runs nothing else.
        description.id = task.id.clone().leak();
    }
    let parameters = Parameters::resolve(&description.parameters, &task.parameters)
        .and_then(|parameters| workload.check(&parameters).map(|()| parameters))
        .map_err(|reason| (ErrorKind::Request, reason))?;
    placement::apply(&assignment.placement).map_err(kind_and_reason)?;
    let settings = Settings {
        iterations: task.iterations,
        warmup: task.warmup,
        sample_ns: task.sample_ms * 1e6,
    };
    let mut context = Context::new(
        description,
        parameters,
        settings,
        assignment.seed,
        assignment.scratch.clone(),
        Place {
            index: assignment.index,
            count: assignment.count,
            process: assignment.process,
        },
        Options {
            no_cycles: workload.switches(),
            ..Options::default()
        },
        assignment.calibration.clone(),
        emitter,
    );
    context.command.clone_from(&task.command);
    context.files.clone_from(&assignment.files);
    context.gate = assignment.gate;
    context.buffers = workload.buffers();
    context.batches.clone_from(&task.batches);
    workload.run(&mut context).map_err(kind_and_reason)
}

fn kind_and_reason(failure: Failure) -> (ErrorKind, String) {
    let (kind, reason) = failure.kind_and_reason();
    (kind, reason.into())
}
