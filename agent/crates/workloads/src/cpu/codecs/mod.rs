//! The CPU suite of PCMark05: codecs of files, images and audio, alone, two at once and four at
//! once.

mod alone;
mod audio;
mod file;
mod image;
mod job;
mod parameters;
mod secret;
mod together;
mod zstandard;

use alone::{Single, Task};
use pentathlon_harness::Workload;
use together::Together;

pub const WORKLOADS: &[&dyn Workload] = &[
    &Single(Task::Compress),
    &Single(Task::Decompress),
    &Single(Task::Encrypt),
    &Single(Task::Decrypt),
    &Single(Task::ImageDecompress),
    &Single(Task::AudioCompress),
    &Single(Task::AudioDecompress),
    &Together {
        id: "cpu.two_at_once",
        title: "Two tasks at once",
        tasks: &[Task::Compress, Task::Encrypt],
    },
    &Together {
        id: "cpu.four_at_once",
        title: "Four tasks at once",
        tasks: &[
            Task::Decompress,
            Task::Decrypt,
            Task::AudioDecompress,
            Task::ImageDecompress,
        ],
    },
];
