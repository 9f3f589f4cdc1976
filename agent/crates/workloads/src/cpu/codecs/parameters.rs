//! The parameters that the codecs share, declared once.

use super::alone::Task;
use super::file;
use super::image::Format;
use pentathlon_protocol::catalog::Parameter;

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
        parameters.push(
            Parameter::integer("bytes", 4 << 20)
                .unit("B")
                .limits(1024.0, f64::from(1 << 28))
                .described("size of the plain file"),
        );
    }
    if any(&[Task::Compress, Task::Decompress]) {
        parameters.push(
            Parameter::texts("file_format", &["zlib"])
                .choices(&file::Format::NAMES)
                .described("format of the packed file: zlib at level 6, Zstandard at level 3"),
        );
    }
    if any(&[Task::Encrypt, Task::Decrypt]) {
        parameters.push(
            Parameter::texts("key_bits", &["128"])
                .choices(&["128", "256"])
                .described("length of the key"),
        );
    }
    if any(&[Task::ImageDecompress]) {
        for (name, default, description) in [
            ("width", 1600, "width of the image"),
            ("height", 1200, "height of the image"),
        ] {
            parameters.push(
                Parameter::integer(name, default)
                    .unit("pixels")
                    .limits(16.0, 16_384.0)
                    .described(description),
            );
        }
        parameters
            .push(Parameter::texts_of("format", &Format::NAMES).described("format of the image"));
    }
    if any(&[Task::AudioCompress, Task::AudioDecompress]) {
        parameters.push(
            Parameter::number("audio_s", 10.0)
                .unit("s")
                .limits(0.1, 600.0)
                .described("length of the music, rounded up to whole FLAC blocks"),
        );
    }
    parameters
}
