//! What the catalog entries of this area have in common.

use super::workdir::Workdir;
use pentathlon_harness::measure::{Context, Failure};
use pentathlon_os::disk::place;
use pentathlon_protocol::catalog::{Metric, Parameter};
use pentathlon_protocol::Case;

pub const PROOF: &str = "seed and size of the file, after every stamp that was read had been \
                         compared with what was written";

/// `directory`, which every workload of the area has.
pub fn directory() -> Parameter {
    Parameter::text("directory", "").described(
        "absolute path of a directory on the file system to measure, such as a mounted remote one; \
         the files go into a private directory inside it, which is removed; empty: the scratch \
         directory",
    )
}

/// `file_bytes`, where 0 stands for the paper's twice the memory.
pub fn file_bytes(default: u64) -> Parameter {
    Parameter::integer("file_bytes", default)
        .unit("B")
        .limits(0.0, 17_592_186_044_416.0)
        .described(
            "size of the file; 0 is twice the memory of the system, as in the paper, so that no \
             cache can hold it",
        )
}

pub fn limit_s(default: f64) -> Parameter {
    Parameter::number("limit_s", default)
        .unit("s")
        .limits(0.0, 86_400.0)
        .described(
            "time after which a pass ends and its rate is that of what it did; 0: every pass goes \
             through the whole file",
        )
}

pub fn chunks(default: &[u64], least: u64, description: &'static str) -> Parameter {
    Parameter::integers("chunk_bytes", default)
        .unit("B")
        .limits(least as f64, 4_294_967_296.0)
        .described(description)
}

pub fn rate(id: &'static str, title: &'static str) -> Metric {
    Metric::higher(id, title, "MB/s")
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

/// What every sweep over chunk sizes is given: the file's size, the chunks that fit into it, and its
/// other factor with the texts requested of it.
pub struct Sweep {
    pub bytes: u64,
    pub chunks: Vec<usize>,
    factor: &'static str,
    texts: Vec<String>,
}

impl Sweep {
    /// `factor` is the name of the one beside `chunk_bytes`.
    pub fn of(
        context: &Context<'_>,
        workdir: &Workdir,
        factor: &'static str,
    ) -> Result<Self, Failure> {
        let bytes = size(context, workdir)?;
        Ok(Self {
            bytes,
            chunks: chunk_sizes(context, bytes)?,
            factor,
            texts: chosen(context, factor),
        })
    }

    /// Every text of the other factor with every chunk, and the case that they are.
    pub fn cases(&self) -> impl Iterator<Item = (&str, usize, Case)> {
        self.texts.iter().flat_map(move |text| {
            self.chunks.iter().map(move |&chunk| {
                let case = Case::new().with(self.factor, text.as_str());
                (text.as_str(), chunk, case.with("chunk_bytes", chunk as u64))
            })
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
