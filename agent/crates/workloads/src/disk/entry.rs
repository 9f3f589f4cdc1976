//! What the catalog entries of this area have in common.

use super::workdir::Workdir;
use pentathlon_harness::measure::{Context, Failure};
use pentathlon_os::disk::place;
pub use pentathlon_protocol::catalog::parameter;
use pentathlon_protocol::catalog::{Direction, Factor, Metric, Parameter, Type};
use serde_json::json;

pub const AREA: &str = "disk";
pub const PROOF: &str = "seed and size of the file, after every stamp that was read had been \
                         compared with what was written";

/// `directory`, which every workload of the area has.
pub fn directory() -> Parameter {
    parameter(
        "directory",
        Type::Text,
        json!(""),
        None,
        None,
        "absolute path of a directory on the file system to measure, such as a mounted remote one; \
         the files go into a private directory inside it, which is removed; empty: the scratch \
         directory",
    )
}

/// `file_bytes`, where 0 stands for the paper's twice the memory.
pub fn file_bytes(default: u64) -> Parameter {
    parameter(
        "file_bytes",
        Type::Integer,
        json!(default),
        Some("B"),
        Some((0.0, 17_592_186_044_416.0)),
        "size of the file; 0 is twice the memory of the system, as in the paper, so that no cache \
         can hold it",
    )
}

pub fn limit_s(default: f64) -> Parameter {
    parameter(
        "limit_s",
        Type::Number,
        json!(default),
        Some("s"),
        Some((0.0, 86_400.0)),
        "time after which a pass ends and its rate is that of what it did; 0: every pass goes \
         through the whole file",
    )
}

pub fn chunks(default: &[u64], least: u64, description: &'static str) -> Parameter {
    parameter(
        "chunk_bytes",
        Type::Integers,
        json!(default),
        Some("B"),
        Some((least as f64, 4_294_967_296.0)),
        description,
    )
}

/// A list of texts out of `choices`; all of them by default.
pub fn texts(name: &'static str, choices: &[&'static str], description: &'static str) -> Parameter {
    Parameter {
        choices: Some(choices.to_vec()),
        ..parameter(name, Type::Texts, json!(choices), None, None, description)
    }
}

pub fn category(name: &'static str, title: &'static str) -> Factor {
    Factor {
        name,
        title,
        unit: None,
        scale: "category",
    }
}

pub fn bytes_factor(name: &'static str, title: &'static str) -> Factor {
    Factor {
        name,
        title,
        unit: Some("B"),
        scale: "log2",
    }
}

pub fn rate(id: &'static str, title: &'static str) -> Metric {
    Metric {
        id,
        title,
        unit: "MB/s",
        direction: Direction::Higher,
    }
}

/// The size of the file that the parameter `file_bytes` requests, in whole chunks of the longest.
pub fn size(context: &Context<'_>, workdir: &Workdir) -> Result<u64, Failure> {
    let requested = context.parameters.integer("file_bytes");
    let bytes = if requested > 0 {
        requested
    } else {
        let memory = place::memory_bytes().ok_or_else(|| {
            Failure::Unsupported(
                "the system does not say how much memory it has: give file_bytes a number".into(),
            )
        })?;
        memory.saturating_mul(2)
    };
    workdir.require(bytes)?;
    Ok(bytes)
}

/// What every sweep over chunk sizes is given: the file's size, the chunks that fit into it, and the
/// texts of its other factor.
pub struct Sweep {
    pub bytes: u64,
    pub chunks: Vec<usize>,
    pub others: Vec<String>,
}

impl Sweep {
    /// `other` is the name of the factor beside `chunk_bytes`.
    pub fn of(context: &Context<'_>, workdir: &Workdir, other: &str) -> Result<Self, Failure> {
        let bytes = size(context, workdir)?;
        Ok(Self {
            bytes,
            chunks: chunk_sizes(context, bytes)?,
            others: chosen(context, other),
        })
    }
}

/// The texts that the request gives for a parameter.
pub fn chosen(context: &Context<'_>, name: &str) -> Vec<String> {
    let texts = context.parameters.texts(name);
    texts.into_iter().map(str::to_owned).collect()
}

/// The chunk sizes requested, each of which must fit into the file.
fn chunk_sizes(context: &Context<'_>, file_bytes: u64) -> Result<Vec<usize>, Failure> {
    let chunks = context.parameters.integers("chunk_bytes");
    if let Some(chunk) = chunks.iter().find(|&&chunk| chunk > file_bytes) {
        return Err(Failure::Failed(format!(
            "a chunk of {chunk} B does not fit into a file of {file_bytes} B: ask for a larger \
             file_bytes"
        )));
    }
    Ok(chunks.into_iter().map(|chunk| chunk as usize).collect())
}
