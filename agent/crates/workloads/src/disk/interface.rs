//! The ways to reach a file, each as a timed pass over it in order, chunk by chunk.
//!
//! Opening and closing are not timed, as in the paper. Every read pass copies the chunk into the
//! same buffer, so the ways differ in how the bytes get there and in nothing else.

use super::content::{observed, Aligned};
use super::file::{system, TestFile};
use super::served;
use super::sweep::{timed, timed_to_end, Pass, Shape};
use pentathlon_harness::clock::Clock;
use pentathlon_harness::measure::Failure;
use pentathlon_os::disk::map::{boundary, Map};
use pentathlon_os::disk::open::{open, How};
use pentathlon_os::disk::stream::Stream;
use std::fs::File;
use std::io::{Read, Write};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interface {
    Stdio,
    StdioUnbuffered,
    Descriptor,
    DescriptorSync,
    Mmap,
    Direct,
}

pub const ALL: [(&str, Interface); 6] = [
    ("stdio", Interface::Stdio),
    ("stdio_unbuffered", Interface::StdioUnbuffered),
    ("descriptor", Interface::Descriptor),
    ("descriptor_sync", Interface::DescriptorSync),
    ("mmap", Interface::Mmap),
    ("direct", Interface::Direct),
];

pub const NAMES: [&str; 6] = [ALL[0].0, ALL[1].0, ALL[2].0, ALL[3].0, ALL[4].0, ALL[5].0];

impl Interface {
    pub fn named(name: &str) -> Self {
        ALL.iter()
            .find(|(known, _)| *known == name)
            .expect("one of the choices")
            .1
    }

    /// Whether every write waits until its data are on the device.
    pub fn write_waits(self) -> bool {
        matches!(self, Self::DescriptorSync | Self::Mmap | Self::Direct)
    }

    fn how(self, write: bool) -> How {
        How {
            write,
            create: false,
            sync: self == Self::DescriptorSync,
            direct: self == Self::Direct,
            queued: false,
        }
    }

    /// Opens the measured file for a pass by descriptor.
    pub fn open(self, file: &TestFile, write: bool) -> Result<File, Failure> {
        if self == Self::Direct {
            return open_direct(file, write);
        }
        file.reopen(self.how(write))
    }
}

/// Opens the file past the cache, or states why this file system cannot.
pub fn open_direct(file: &TestFile, write: bool) -> Result<File, Failure> {
    direct(file, Interface::Direct.how(write))
}

/// The same for a queue of requests.
#[cfg(any(target_os = "linux", windows))]
pub fn open_queued(file: &TestFile, write: bool) -> Result<File, Failure> {
    let queued = How {
        queued: true,
        ..Interface::Direct.how(write)
    };
    direct(file, queued)
}

fn direct(file: &TestFile, how: How) -> Result<File, Failure> {
    if served::is_memory(file.kind.as_deref()) {
        return Err(Failure::Unsupported(format!(
            "{} keeps its files in memory: there is no device to go to past the cache",
            file.kind.as_deref().unwrap_or("this file system")
        )));
    }
    open(file.path(), how).map_err(|error| match error.kind() {
        // open(2): EINVAL where the file system does not know O_DIRECT.
        std::io::ErrorKind::InvalidInput => Failure::Unsupported(format!(
            "direct input and output is refused by {}: {error}",
            file.kind.as_deref().unwrap_or("this file system")
        )),
        _ => system("opening the file past the cache", &error),
    })
}

/// A direct read or write whose size is no multiple of the device's block is refused with EINVAL.
fn sized(failure: Failure, interface: Interface, chunk: usize) -> Failure {
    match failure {
        Failure::Failed(reason)
            if interface == Interface::Direct && reason.contains("Invalid argument") =>
        {
            Failure::Unsupported(format!(
                "direct input and output in chunks of {chunk} B is refused: the device's blocks \
                 are larger"
            ))
        }
        other => other,
    }
}

/// Reads the file from its start.
pub fn read(
    interface: Interface,
    file: &TestFile,
    clock: &Clock,
    shape: Shape,
) -> Result<Pass, Failure> {
    let chunk = shape.chunk;
    let mut buffer = Aligned::new(chunk);
    let at = |n: u64| n * chunk as u64;
    let pass = match interface {
        Interface::Stdio | Interface::StdioUnbuffered => {
            let buffered = interface == Interface::Stdio;
            let mut stream = Stream::open(file.path(), false, buffered)
                .map_err(|e| system("opening a stream", &e))?;
            timed(clock, shape, "fread", |n| {
                let read = stream.read(buffer.bytes_mut())?;
                Ok((read, observed(at(n), buffer.bytes())))
            })
        }
        Interface::Descriptor | Interface::DescriptorSync | Interface::Direct => {
            let mut open = interface.open(file, false)?;
            timed(clock, shape, "read", |n| {
                let read = open.read(buffer.bytes_mut())?;
                Ok((read, observed(at(n), buffer.bytes())))
            })
        }
        Interface::Mmap => {
            let open = file.reopen(How::READ)?;
            let boundary = boundary();
            timed(clock, shape, "reading a mapping", |n| {
                let map = Map::new(&open, at(n), chunk, false, boundary)?;
                buffer.bytes_mut().copy_from_slice(map.bytes());
                Ok((chunk, observed(at(n), buffer.bytes())))
            })
        }
    };
    pass.map_err(|failure| sized(failure, interface, chunk))
}

/// Writes the file anew from its start, with content of `generation`.
pub fn write(
    interface: Interface,
    file: &mut TestFile,
    clock: &Clock,
    shape: Shape,
    generation: u64,
) -> Result<Pass, Failure> {
    let chunk = shape.chunk;
    let at = |n: u64| n * chunk as u64;
    let shape = Shape {
        waits: interface.write_waits(),
        ..shape
    };
    let pass = match interface {
        Interface::Stdio | Interface::StdioUnbuffered => {
            let buffered = interface == Interface::Stdio;
            let stream = Stream::open(file.path(), true, buffered)
                .map_err(|e| system("opening a stream", &e))?;
            let stream = std::cell::RefCell::new(stream);
            let content = &mut file.content;
            timed_to_end(
                clock,
                shape,
                "fwrite",
                |n| {
                    let bytes = content.fresh(at(n), chunk, generation);
                    Ok((stream.borrow_mut().write(bytes)?, 0))
                },
                || stream.borrow_mut().flush(),
            )
        }
        Interface::Descriptor | Interface::DescriptorSync | Interface::Direct => {
            let mut open = interface.open(file, true)?;
            let content = &mut file.content;
            timed(clock, shape, "write", |n| {
                Ok((open.write(content.fresh(at(n), chunk, generation))?, 0))
            })
        }
        Interface::Mmap => {
            let open = file.reopen(How::WRITE)?;
            let boundary = boundary();
            let content = &mut file.content;
            timed(clock, shape, "writing a mapping", |n| {
                let mut map = Map::new(&open, at(n), chunk, true, boundary)?;
                map.bytes_mut()
                    .copy_from_slice(content.fresh(at(n), chunk, generation));
                map.sync()?;
                Ok((chunk, 0))
            })
        }
    }
    .map_err(|failure| sized(failure, interface, chunk))?;
    file.content.rewritten(pass.bytes, generation);
    Ok(pass)
}
