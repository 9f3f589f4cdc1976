//! The parameters that the codecs share, declared once.

use super::alone::Task;
use super::file;
use super::image::Format;
use pentathlon_protocol::catalog::{Parameter, Type};
use serde_json::json;

/// The parameters that `tasks` need.
pub fn of(tasks: &[Task]) -> Vec<Parameter> {
    let any = |wanted: &[Task]| tasks.iter().any(|task| wanted.contains(task));
    let mut parameters = Vec::new();
    if any(&[
        Task::Compress,
        Task::Decompress,
        Task::Encrypt,
        Task::Decrypt,
    ]) {
        parameters.push(Parameter {
            name: "bytes",
            kind: Type::Integer,
            default: json!(4 << 20),
            unit: Some("B"),
            minimum: Some(1024.0),
            maximum: Some(f64::from(1 << 28)),
            choices: None,
            description: "size of the plain file",
        });
    }
    if any(&[Task::Compress, Task::Decompress]) {
        parameters.push(choices(
            "file_format",
            json!(["zlib"]),
            &file::Format::NAMES,
            "format of the packed file: zlib at level 6, Zstandard at level 3",
        ));
    }
    if any(&[Task::Encrypt, Task::Decrypt]) {
        parameters.push(choices(
            "key_bits",
            json!(["128"]),
            &["128", "256"],
            "length of the key",
        ));
    }
    if any(&[Task::ImageDecompress]) {
        for (name, default, description) in [
            ("width", 1600, "width of the image"),
            ("height", 1200, "height of the image"),
        ] {
            parameters.push(Parameter {
                name,
                kind: Type::Integer,
                default: json!(default),
                unit: Some("pixels"),
                minimum: Some(16.0),
                maximum: Some(16_384.0),
                choices: None,
                description,
            });
        }
        let formats = json!(Format::NAMES);
        parameters.push(choices(
            "format",
            formats,
            &Format::NAMES,
            "format of the image",
        ));
    }
    if any(&[Task::AudioCompress, Task::AudioDecompress]) {
        parameters.push(Parameter {
            name: "audio_s",
            kind: Type::Number,
            default: json!(10.0),
            unit: Some("s"),
            minimum: Some(0.1),
            maximum: Some(600.0),
            choices: None,
            description: "length of the music, rounded up to whole FLAC blocks",
        });
    }
    parameters
}

fn choices(
    name: &'static str,
    default: serde_json::Value,
    choices: &[&'static str],
    description: &'static str,
) -> Parameter {
    Parameter {
        name,
        kind: Type::Texts,
        default,
        unit: None,
        minimum: None,
        maximum: None,
        choices: Some(choices.to_vec()),
        description,
    }
}
