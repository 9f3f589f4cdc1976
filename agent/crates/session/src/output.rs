//! What a worker writes, in whole lines, for no longer than it may take.

use std::io::BufRead;

#[cfg(target_os = "linux")]
#[path = "output_linux.rs"]
mod platform;
#[cfg(not(target_os = "linux"))]
#[path = "output_thread.rs"]
mod platform;

pub use platform::Output;

/// What comes next.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// At least one line, each with its end.
    Lines(Vec<u8>),
    /// The worker has closed its output. A line without its end is what a killed worker was writing:
    /// it is dropped.
    End,
    /// Nothing came in time.
    Late,
}

/// What one read gives: moves the bytes up to the last end of a line behind those that were `held`,
/// or all of them where there is none, and states whether there is one; none at the end.
fn take(output: &mut impl BufRead, held: &mut Vec<u8>) -> Option<bool> {
    let read = output.fill_buf().ok()?;
    if read.is_empty() {
        return None;
    }
    let end = read.iter().rposition(|&byte| byte == b'\n');
    let taken = end.map_or(read.len(), |place| place + 1);
    held.extend_from_slice(&read[..taken]);
    output.consume(taken);
    Some(end.is_some())
}

#[cfg(test)]
mod tests {
    use super::take;
    use std::io::BufReader;

    #[test]
    fn lines_are_taken_together_and_whole() {
        // A buffer of eight bytes: lines come in pieces, and several at once.
        let mut output = BufReader::with_capacity(8, &b"a\nb\ncdefghijkl\nm\nno end"[..]);
        let (mut taken, mut held) = (Vec::new(), Vec::new());
        while let Some(whole) = take(&mut output, &mut held) {
            if whole {
                assert_eq!(held.last(), Some(&b'\n'));
                taken.push(std::mem::take(&mut held));
            }
        }
        assert_eq!(taken.concat(), b"a\nb\ncdefghijkl\nm\n");
        assert!(taken.len() < 4, "{taken:?}");
        assert_eq!(taken[0], b"a\nb\n");
    }
}

#[cfg(all(test, unix))]
mod of_a_process {
    use super::{Next, Output};
    use std::io::Write;
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    #[test]
    fn a_line_in_pieces_is_waited_for_until_it_is_late() {
        let mut writer = Command::new("cat")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = writer.stdin.take().unwrap();
        let mut output = Output::new(writer.stdout.take().unwrap());
        let soon = || Instant::now() + Duration::from_millis(20);
        let later = || Instant::now() + Duration::from_secs(60);
        input.write_all(b"one\ntw").unwrap();
        assert_eq!(output.next(later()), Next::Lines(b"one\n".into()));
        assert_eq!(output.next(soon()), Next::Late);
        input.write_all(b"o\nno end").unwrap();
        assert_eq!(output.next(later()), Next::Lines(b"two\n".into()));
        drop(input);
        assert_eq!(output.next(later()), Next::End);
        output.close();
        assert!(writer.wait().unwrap().success());
    }
}
