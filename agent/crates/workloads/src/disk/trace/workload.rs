//! `disk.trace`: traces of file input and output, replayed as fast as the system can.

use super::format::Trace as Recording;
use super::generate::{generate, PROFILES};
use super::model;
use super::replay::Stage;
use crate::cpu::checksum::of_words;
use crate::disk::content::Content;
use crate::disk::workdir::Workdir;
use crate::disk::{entry, report};
use pentathlon_harness::measure::{Context, Failure, Reading};
use pentathlon_protocol::catalog::{self, Factor, Parameter, Semantics};
use pentathlon_protocol::Case;

pub struct Trace;

impl pentathlon_harness::Workload for Trace {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "disk.trace",
            title: "Replay of disk traces",
            summary: "The file operations of a trace (a start-up, applications loading, general \
                      usage, a virus scan, files being written, or one recorded by the user) are \
                      done one after the other, without the pauses of the recording; bytes read \
                      and written per second.",
            source: "martinovic2012 §4.1, Tab. 1, 8 and 15 (PCMark05 HDD suite); the \
                     shares of reads and writes are those that Futuremark stated",
            parameters: parameters(),
            factors: vec![Factor::category("trace", "Trace")],
            metrics: vec![entry::rate("rate", "Bytes read and written")],
            checksum: "the trace's bytes and the stamps of its reads, after all of them and every \
                       file that was changed had been compared with a model of the trace",
            semantics: Semantics {
                linux: "open(2), pread64(2), pwrite64(2), fsync(2), statx(2), unlink(2), \
                        close(2) on files in one directory tree, by one thread; before each \
                        replay the cache forgets the files' own pages, and at its end all that \
                        was written is made durable inside the timed region. PCMark05 replays \
                        requests to the drive below the file system; here the file system and the \
                        cache take part, as they do at work",
                windows:
                    "CreateFile, ReadFile, WriteFile, FlushFileBuffers, DeleteFile; the cache \
                          cannot be made to forget single files",
            },
        }
    }

    fn switches(&self) -> bool {
        true
    }

    fn timeout_s(&self) -> Option<f64> {
        Some(300.0)
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let traces = traces(context)?;
        let workdir = Workdir::of(context)?;
        for trace in &traces {
            let case = Case::new().with("trace", trace.name.as_str());
            if let Err(failure) = replay(context, &workdir, trace, &case) {
                context.fail(Some(&case), &failure);
            }
        }
        Ok(())
    }
}

fn parameters() -> Vec<Parameter> {
    let text = |name, description| Parameter::text(name, "").described(description);
    const NAMES: [&str; 5] = [
        PROFILES[0].name,
        PROFILES[1].name,
        PROFILES[2].name,
        PROFILES[3].name,
        PROFILES[4].name,
    ];
    vec![
        Parameter::texts_of("trace", &NAMES).described("the generated traces to replay"),
        Parameter::integer("trace_seed", 2005)
            .described("seed of the generated traces; systems are compared on equal traces only"),
        text(
            "trace_file",
            "path of a recorded trace on the system under test, replayed instead of the generated \
             ones (docs/disk-traces.md)",
        ),
        text(
            "trace_text",
            "the text of a recorded trace, for systems that cannot see the file",
        ),
        entry::directory(),
    ]
}

fn traces(context: &Context<'_>) -> Result<Vec<Recording>, Failure> {
    let parameters = &context.parameters;
    let (file, text) = (parameters.text("trace_file"), parameters.text("trace_text"));
    if !file.is_empty() && !text.is_empty() {
        return Err(Failure::Failed(
            "'trace_file' and 'trace_text' are both given: one of them must be empty".into(),
        ));
    }
    let recorded = if file.is_empty() {
        text.to_owned()
    } else {
        std::fs::read_to_string(file)
            .map_err(|e| Failure::Failed(format!("'trace_file' {file} cannot be read: {e}")))?
    };
    if !recorded.is_empty() {
        return Ok(vec![Recording::parse(&recorded).map_err(Failure::Failed)?]);
    }
    let seed = parameters.integer("trace_seed");
    let wanted = parameters.texts("trace");
    Ok(PROFILES
        .iter()
        .filter(|profile| wanted.contains(&profile.name))
        .map(|profile| generate(profile, seed))
        .collect())
}

fn replay(
    context: &mut Context<'_>,
    workdir: &Workdir,
    trace: &Recording,
    case: &Case,
) -> Result<(), Failure> {
    let outcome = model::play(trace, &Content::new(context.seed, 0)).map_err(Failure::Failed)?;
    workdir.require(outcome.peak_bytes)?;
    let mut content = Content::new(context.seed, (outcome.longest as usize).max(1 << 20));
    let bytes = outcome.read_bytes + outcome.written_bytes;
    let mut stage = Stage::new(trace, &outcome, workdir.file("trace"), workdir);
    report::rounds(context, case, |clock, seen| {
        stage.prepare(&mut content)?;
        let played = stage.play(&mut content, clock)?;
        if played.sum != outcome.sum {
            return Err(Failure::Invalid(
                "the bytes that were read are not those that the trace expects".into(),
            ));
        }
        stage.verify(&mut content)?;
        if outcome.read_bytes > 0 {
            seen.note("rate", played.observation);
        }
        Ok(vec![Reading {
            metric: "rate",
            case: case.clone(),
            value: bytes as f64 / played.elapsed_ns * 1e3,
            operations: trace.steps.len() as u64,
            elapsed_ns: played.elapsed_ns,
            checksum: of_words([outcome.read_bytes, outcome.written_bytes, outcome.sum]),
        }])
    });
    Ok(())
}
