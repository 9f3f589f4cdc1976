//! The program of a command: where it is, and why a system does not start it.

use super::environment;
use super::run::visible;
use pentathlon_harness::measure::Failure;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Bytes of a program that are looked at: its header, and where its interpreter is named.
const HEAD: u64 = 64 << 10;

/// Ends the line by which a script states that it lacks a program.
const MISSING: &str = " is missing on this system";

/// Processors by their numbers in ELF headers (elf(5)).
const MACHINES: [(u16, &str); 7] = [
    (3, "x86"),
    (40, "arm"),
    (62, "x86_64"),
    (183, "aarch64"),
    (21, "powerpc64"),
    (22, "s390x"),
    (243, "riscv64"),
];

/// The file of the program: in the run's directory if its name has a slash, else by the search path.
pub fn find(directory: &Path, words: &[String]) -> Result<PathBuf, Failure> {
    let name = words
        .first()
        .ok_or_else(|| Failure::Failed("a command without words".into()))?;
    if name.contains(std::path::is_separator) {
        let path = directory.join(name);
        if !path.exists() {
            return Err(Failure::Unsupported(format!(
                "the program \"{}\" is missing: this system has no such file",
                visible(name)
            )));
        }
        return Ok(path);
    }
    let places = environment::path();
    let names = [name.clone(), format!("{name}.exe")];
    let names = &names[..if cfg!(windows) { 2 } else { 1 }];
    std::env::split_paths(&places)
        .flat_map(|place| names.iter().map(move |name| place.join(name)))
        .find(|path| path.is_file())
        .ok_or_else(|| {
            Failure::Unsupported(format!(
                "the program \"{}\" is missing: it is in no directory of the search path",
                visible(name),
            ))
        })
}

/// What the program finds as its own name: what the study says, wherever its file is.
pub fn name(command: &mut Command, name: &str) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::arg0(command, name);
    #[cfg(not(unix))]
    let _ = (command, name);
}

/// Why a program that is there did not start.
pub fn refused(program: &Path, name: &str, error: &io::Error) -> Failure {
    let name = visible(name);
    match lack(program, error) {
        Some(lack) => Failure::Unsupported(format!("\"{name}\" does not start: {lack}")),
        None => Failure::Failed(format!("\"{name}\" does not start: {error}")),
    }
}

fn lack(program: &Path, error: &io::Error) -> Option<String> {
    let head = head(program);
    let elf = Elf::of(&head);
    if program.is_dir() {
        return Some("it is a directory".into());
    }
    match error.kind() {
        io::ErrorKind::NotFound => {
            let interpreter = elf
                .as_ref()
                .and_then(|elf| elf.interpreter.clone())
                .or_else(|| script_interpreter(&head))?;
            Some(format!(
                "what it starts with, {}, is missing on this system",
                visible(&interpreter)
            ))
        }
        io::ErrorKind::PermissionDenied => Some(format!(
            "it is not executable: {error} (its mode, or a file system mounted noexec)"
        )),
        _ if is_foreign(error) => Some(match (elf, head.starts_with(b"MZ")) {
            (Some(elf), _) if elf.machine != std::env::consts::ARCH => format!(
                "it is a program for {}, and this system runs on {}",
                elf.machine,
                std::env::consts::ARCH
            ),
            (Some(_), _) => "this system does not run this kind of program".into(),
            (None, true) if cfg!(unix) => {
                "it is a program for Windows, and this system is none".into()
            }
            _ => "it is no program of this system: it begins neither with the header of one nor \
                  with #!"
                .into(),
        }),
        _ => None,
    }
}

#[cfg(unix)]
fn is_foreign(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ENOEXEC)
}

#[cfg(windows)]
fn is_foreign(error: &io::Error) -> bool {
    const ERROR_BAD_EXE_FORMAT: i32 = 193;
    error.raw_os_error() == Some(ERROR_BAD_EXE_FORMAT)
}

fn head(program: &Path) -> Vec<u8> {
    let mut head = Vec::new();
    if let Ok(file) = std::fs::File::open(program) {
        file.take(HEAD).read_to_end(&mut head).ok();
    }
    head
}

/// What the first line of a script names.
fn script_interpreter(head: &[u8]) -> Option<String> {
    let line = head
        .strip_prefix(b"#!")?
        .split(|byte| *byte == b'\n')
        .next()?;
    let line = String::from_utf8_lossy(line);
    Some(
        line.trim_end_matches('\r')
            .split_whitespace()
            .next()?
            .into(),
    )
}

/// What of a program's header states where it can run (elf(5)).
struct Elf {
    machine: String,
    interpreter: Option<String>,
}

impl Elf {
    fn of(head: &[u8]) -> Option<Self> {
        if head.get(..4)? != b"\x7fELF" {
            return None;
        }
        let (wide, little) = (*head.get(4)? == 2, *head.get(5)? == 1);
        let number = |at: usize, bytes: usize| -> Option<usize> {
            let field = head.get(at..at.checked_add(bytes)?)?;
            let fold = |sum: usize, byte: &u8| (sum << 8) | usize::from(*byte);
            Some(if little {
                field.iter().rev().fold(0, fold)
            } else {
                field.iter().fold(0, fold)
            })
        };
        let machine = number(18, 2)?;
        let machine = MACHINES
            .iter()
            .find(|(known, _)| usize::from(*known) == machine)
            .map_or_else(
                || format!("another processor (number {machine})"),
                |(_, name)| (*name).into(),
            );
        let table = if wide {
            (32, 8, 54, 8, 32)
        } else {
            (28, 4, 42, 4, 16)
        };
        let (at, width, entries, offset_at, size_at) = table;
        let interpreter = || -> Option<String> {
            let start = number(at, width)?;
            let (size, count) = (number(entries, 2)?, number(entries + 2, 2)?);
            let entry = (0..count)
                .map(|place| start + place * size)
                .find(|entry| number(*entry, 4) == Some(3))?;
            let offset = number(entry + offset_at, width)?;
            let length = number(entry + size_at, width)?;
            let text = head.get(offset..offset.checked_add(length)?)?;
            let text = text.split(|byte| *byte == 0).next()?;
            Some(String::from_utf8_lossy(text).into_owned())
        };
        Some(Self {
            machine,
            interpreter: interpreter(),
        })
    }
}

/// What a program misses, by what its loader wrote (it ended before the program began), or a script
/// that ends with 127 for want of a program and states which.
pub fn lacks(status: i32, error: &str) -> Option<String> {
    // STATUS_DLL_NOT_FOUND
    if cfg!(windows) && status as u32 == 0xc000_0135 {
        return Some("a library (DLL) that it needs is missing on this system".into());
    }
    let last = error.lines().rfind(|line| !line.trim().is_empty());
    if let Some(name) = last.and_then(|line| line.trim().strip_suffix(MISSING)) {
        if status == 127 && !name.is_empty() && !name.contains(char::is_whitespace) {
            return Some(format!("the program \"{}\"{MISSING}", visible(name)));
        }
    }
    let line = error.lines().find(|line| {
        (status == 127
            && (line.contains("error while loading shared libraries: ")
                || line.contains("Error loading shared library ")))
            || (status == 1 && line.contains(": version `") && line.contains("' not found"))
    })?;
    let stated = visible(line);
    let library = ["shared libraries: ", "shared library ", ": version `"]
        .into_iter()
        .find_map(|mark| line.split_once(mark))
        .map(|(_, rest)| rest.split([':', '\'']).next().unwrap_or(rest));
    Some(format!(
        "the library {} is missing on this system ({stated})",
        visible(library.unwrap_or("that it needs"))
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_loader_misses_is_named() {
        let glibc = "./x: error while loading shared libraries: libz.so.9: cannot open shared \
                     object file: No such file or directory\n";
        let musl = "Error loading shared library libz.so.9: No such file (needed by ./x)";
        for stated in [glibc, musl] {
            let lack = lacks(127, stated).unwrap();
            assert!(
                lack.starts_with("the library libz.so.9 is missing"),
                "{lack}"
            );
        }
        let old = "./x: /lib/libc.so.6: version `GLIBC_2.99' not found (required by ./x)";
        assert!(lacks(1, old).unwrap().contains("GLIBC_2.99"));
        assert_eq!(lacks(1, "no such thing"), None);
        assert_eq!(lacks(3, glibc), None);
    }

    #[test]
    fn what_a_script_says_that_it_misses_is_named() {
        let stated = "looked in 3 places\npostgres is missing on this system\n";
        assert_eq!(
            lacks(127, stated).as_deref(),
            Some("the program \"postgres\" is missing on this system")
        );
        assert_eq!(lacks(1, stated), None);
        // A shell's own sentence may come of a mistake in the script.
        assert_eq!(lacks(127, "sh: 1: postgres: not found"), None);
        assert_eq!(lacks(127, "it is missing on this system\nlater"), None);
        assert_eq!(lacks(127, "all that is missing on this system"), None);
    }

    #[test]
    fn the_interpreter_of_a_script_is_read() {
        assert_eq!(
            script_interpreter(b"#! /usr/bin/env python3\nx").as_deref(),
            Some("/usr/bin/env")
        );
        assert_eq!(script_interpreter(b"plain"), None);
        assert!(Elf::of(b"\x7fELF").is_none());
    }
}
