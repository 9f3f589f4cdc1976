//! What a trace must do, worked out before it is replayed: which stamps its reads bring, and what
//! the files hold at the end. It refuses traces that cannot be replayed.

use super::format::{Operation, Trace};
use crate::disk::content::{stamps, Content, STAMPED};

/// A file as the model sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct File {
    /// Its size; none while it is not there.
    pub bytes: Option<u64>,
    /// What each of its pages begins with. The rest of a page is the same in every generation.
    pub stamps: Vec<u64>,
    pub open: u32,
    /// Whether any operation changes it.
    pub changes: bool,
}

/// What a whole replay does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub read_bytes: u64,
    pub written_bytes: u64,
    /// Sum of the stamps that the reads bring.
    pub sum: u64,
    /// The most bytes of one operation.
    pub longest: u64,
    /// The files at the end.
    pub files: Vec<File>,
    /// The most bytes that all files take together, at any time.
    pub peak_bytes: u64,
}

/// The generation of a file's content before the trace, and of what the trace writes to it.
pub fn generation(file: usize, written: bool) -> u64 {
    (file as u64) << 1 | u64::from(written)
}

/// Plays the trace on the model.
pub fn play(trace: &Trace, content: &Content) -> Result<Outcome, String> {
    let mut files: Vec<File> = trace
        .files
        .iter()
        .enumerate()
        .map(|(number, &bytes)| {
            let mut file = File {
                bytes,
                ..File::default()
            };
            file.grow(bytes.unwrap_or(0), content, number);
            file
        })
        .collect();
    let total = |files: &[File]| files.iter().filter_map(|file| file.bytes).sum::<u64>();
    let mut outcome = Outcome {
        read_bytes: 0,
        written_bytes: 0,
        sum: 0,
        longest: 0,
        files: Vec::new(),
        peak_bytes: total(&files),
    };
    let mut present = outcome.peak_bytes;
    for (n, step) in trace.steps.iter().enumerate() {
        let number = step.file;
        let file = &mut files[number];
        let before = file.bytes.unwrap_or(0);
        file.step(step.operation, content, number, &mut outcome)
            .map_err(|reason| {
                format!(
                    "operation {} of the trace, on file {number}: {reason}",
                    n + 1
                )
            })?;
        present = present - before + file.bytes.unwrap_or(0);
        outcome.peak_bytes = outcome.peak_bytes.max(present);
    }
    outcome.files = files;
    if outcome.read_bytes + outcome.written_bytes == 0 {
        return Err("the trace neither reads nor writes".into());
    }
    Ok(outcome)
}

impl File {
    /// Takes the stamps of the file as it is made.
    fn grow(&mut self, bytes: u64, content: &Content, number: usize) {
        let generation = generation(number, false);
        self.stamps = (0..bytes.div_ceil(STAMPED))
            .map(|page| content.stamp(page * STAMPED, generation))
            .collect();
    }

    fn step(
        &mut self,
        operation: Operation,
        content: &Content,
        number: usize,
        outcome: &mut Outcome,
    ) -> Result<(), String> {
        match operation {
            Operation::Open => {
                self.present()?;
                self.open += 1;
            }
            Operation::Create => {
                *self = Self {
                    bytes: Some(0),
                    stamps: Vec::new(),
                    open: self.open + 1,
                    changes: true,
                };
            }
            Operation::Close => {
                self.opened()?;
                self.open -= 1;
            }
            Operation::Stat => {
                self.present()?;
            }
            Operation::Unlink => {
                self.present()?;
                if self.open > 0 {
                    return Err("it is removed while it is open; close it before".into());
                }
                self.bytes = None;
                self.stamps.clear();
                self.changes = true;
            }
            Operation::Sync => self.opened()?,
            Operation::Read { position, bytes } => {
                self.opened()?;
                let size = self.present()?;
                let end = end(position, bytes)?;
                if end > size {
                    return Err(format!("it is read to byte {end} and has {size}"));
                }
                outcome.read_bytes += bytes;
                outcome.longest = outcome.longest.max(bytes);
                outcome.sum = stamps(position, bytes as usize).fold(outcome.sum, |sum, at| {
                    sum.wrapping_add(self.stamps[(at / STAMPED) as usize])
                });
            }
            Operation::Write { position, bytes } => {
                self.opened()?;
                let size = self.present()?;
                let end = end(position, bytes)?;
                if position > size {
                    return Err(format!(
                        "it is written from byte {position} on and has {size}: holes are not \
                         replayed"
                    ));
                }
                self.bytes = Some(size.max(end));
                self.changes = true;
                self.write(position, end, content, generation(number, true));
                outcome.written_bytes += bytes;
                outcome.longest = outcome.longest.max(bytes);
            }
        }
        Ok(())
    }

    /// Lays the new stamps over the old ones, byte by byte where a write cuts one.
    fn write(&mut self, position: u64, end: u64, content: &Content, generation: u64) {
        self.stamps
            .resize(self.stamps.len().max(end.div_ceil(STAMPED) as usize), 0);
        for page in position / STAMPED..end.div_ceil(STAMPED) {
            let at = page * STAMPED;
            let fresh = content.stamp(at, generation).to_le_bytes();
            let mut bytes = self.stamps[page as usize].to_le_bytes();
            for (place, byte) in (at..).zip(0..bytes.len()) {
                if (position..end).contains(&place) {
                    bytes[byte] = fresh[byte];
                }
            }
            self.stamps[page as usize] = u64::from_le_bytes(bytes);
        }
    }

    fn present(&self) -> Result<u64, String> {
        self.bytes.ok_or_else(|| "it is not there".into())
    }

    fn opened(&self) -> Result<(), String> {
        if self.open == 0 {
            return Err("it is not open".into());
        }
        Ok(())
    }
}

fn end(position: u64, bytes: u64) -> Result<u64, String> {
    /// The most that one call of Linux moves (read(2)).
    const MOST: u64 = 0x7fff_f000;
    match position.checked_add(bytes) {
        Some(end) if bytes > 0 && bytes <= MOST => Ok(end),
        _ => Err(format!("{bytes} B is no size of one operation")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn play_text(files: &str, steps: &[&str]) -> Result<Outcome, String> {
        let header = format!(
            r#"{{"format":"pentathlon-disk-trace","version":1,"name":"x","files":{files}}}"#
        );
        let trace = Trace::parse(&format!("{header}\n{}", steps.join("\n"))).unwrap();
        play(&trace, &Content::new(1, 0))
    }

    #[test]
    fn what_cannot_be_replayed_is_refused_with_its_place() {
        for (steps, expected) in [
            (
                vec!["[0,\"read\",0,0,1]"],
                "operation 1 of the trace, on file 0: it is not open",
            ),
            (vec!["[0,\"open\",1]"], "it is not there"),
            (
                vec!["[0,\"open\",0]", "[0,\"read\",0,4000,97]"],
                "read to byte 4097 and has 4096",
            ),
            (
                vec!["[0,\"open\",0]", "[0,\"write\",0,4097,1]"],
                "holes are not replayed",
            ),
            (vec!["[0,\"open\",0]", "[0,\"read\",0,0,0]"], "no size"),
            (
                vec!["[0,\"open\",0]", "[0,\"unlink\",0]"],
                "close it before",
            ),
            (vec!["[0,\"stat\",0]"], "neither reads nor writes"),
        ] {
            let error = play_text("[4096,null]", &steps).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn sizes_and_sums_follow_the_operations() {
        let outcome = play_text(
            "[8192,null]",
            &[
                "[0,\"open\",0]",
                "[1,\"read\",0,0,8192]",
                "[2,\"create\",1]",
                "[3,\"write\",1,0,5000]",
                "[4,\"close\",1]",
                "[5,\"unlink\",1]",
                "[6,\"write\",0,8192,100]",
            ],
        )
        .unwrap();
        assert_eq!((outcome.read_bytes, outcome.written_bytes), (8192, 5100));
        assert_eq!(outcome.longest, 8192);
        assert_eq!(outcome.peak_bytes, 8192 + 5000);
        assert_eq!(outcome.files[0].bytes, Some(8292));
        assert_eq!(outcome.files[1].bytes, None);
        let content = Content::new(1, 0);
        let stamp = |page: u64| content.stamp(page * 4096, generation(0, false));
        assert_eq!(outcome.sum, stamp(0).wrapping_add(stamp(1)));
    }

    #[test]
    fn a_write_that_cuts_a_stamp_changes_its_own_bytes_of_it_only() {
        let outcome = play_text("[8192]", &["[0,\"open\",0]", "[0,\"write\",0,4099,10]"]).unwrap();
        let content = Content::new(1, 0);
        let old = content.stamp(4096, generation(0, false)).to_le_bytes();
        let new = content.stamp(4096, generation(0, true)).to_le_bytes();
        let expected = [&old[..3], &new[3..]].concat();
        assert_eq!(outcome.files[0].stamps[1].to_le_bytes(), *expected);
    }
}
