//! The pcapng format (draft-ietf-opsawg-pcapng): one section, one interface, times in ns.

use std::io::{self, BufWriter, Write};

/// Small writes are gathered: one system call for each frame would cost more than the frame.
const BUFFER_BYTES: usize = 1 << 20;

const SECTION_HEADER: u32 = 0x0A0D_0D0A;
const INTERFACE_DESCRIPTION: u32 = 1;
const INTERFACE_STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;

const ETHERNET: u16 = 1;
const OPTION_END: u16 = 0;
const IF_NAME: u16 = 2;
const IF_TIME_RESOLUTION: u16 = 9;
const SEEN: u16 = 4;
const DROPPED: u16 = 5;

pub struct Writer<W: Write> {
    out: BufWriter<W>,
    last_ns: u64,
}

impl<W: Write> Writer<W> {
    /// Writes the headers; `name` is the interface's.
    pub fn new(out: W, name: &str) -> io::Result<Self> {
        let mut writer = Self {
            out: BufWriter::with_capacity(BUFFER_BYTES, out),
            last_ns: 0,
        };
        let mut section = Vec::new();
        section.extend_from_slice(&0x1A2B_3C4D_u32.to_le_bytes());
        section.extend_from_slice(&1_u16.to_le_bytes());
        section.extend_from_slice(&0_u16.to_le_bytes());
        section.extend_from_slice(&u64::MAX.to_le_bytes()); // The section's length is not known.
        writer.block(SECTION_HEADER, &section)?;
        let mut interface = Vec::new();
        interface.extend_from_slice(&ETHERNET.to_le_bytes());
        interface.extend_from_slice(&0_u16.to_le_bytes());
        interface.extend_from_slice(&0_u32.to_le_bytes()); // No limit on the captured length.
        option(&mut interface, IF_NAME, name.as_bytes());
        option(&mut interface, IF_TIME_RESOLUTION, &[9]);
        option(&mut interface, OPTION_END, &[]);
        writer.block(INTERFACE_DESCRIPTION, &interface)?;
        Ok(writer)
    }

    /// One frame, of which `bytes` were captured and which had `length` bytes.
    pub fn frame(&mut self, time_ns: u64, bytes: &[u8], length: u32) -> io::Result<()> {
        self.last_ns = time_ns;
        let padding = bytes.len().next_multiple_of(4) - bytes.len();
        let total = (32 + bytes.len() + padding) as u32;
        for word in [
            ENHANCED_PACKET,
            total,
            0,
            (time_ns >> 32) as u32,
            time_ns as u32,
            bytes.len() as u32,
            length,
        ] {
            self.out.write_all(&word.to_le_bytes())?;
        }
        self.out.write_all(bytes)?;
        self.out.write_all(&[0; 3][..padding])?;
        self.out.write_all(&total.to_le_bytes())
    }

    /// The interface's counts at the end of the capture.
    pub fn finish(&mut self, seen: u64, dropped: u64) -> io::Result<()> {
        let mut body = Vec::new();
        for word in [0, (self.last_ns >> 32) as u32, self.last_ns as u32] {
            body.extend_from_slice(&word.to_le_bytes());
        }
        option(&mut body, SEEN, &seen.to_le_bytes());
        option(&mut body, DROPPED, &dropped.to_le_bytes());
        option(&mut body, OPTION_END, &[]);
        self.block(INTERFACE_STATISTICS, &body)?;
        self.out.flush()
    }

    fn block(&mut self, kind: u32, body: &[u8]) -> io::Result<()> {
        let total = (12 + body.len()) as u32;
        self.out.write_all(&kind.to_le_bytes())?;
        self.out.write_all(&total.to_le_bytes())?;
        self.out.write_all(body)?;
        self.out.write_all(&total.to_le_bytes())
    }
}

fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    body.extend_from_slice(&code.to_le_bytes());
    body.extend_from_slice(&(value.len() as u16).to_le_bytes());
    body.extend_from_slice(value);
    body.resize(body.len().next_multiple_of(4), 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_reports_its_length_twice_and_the_frame_lies_where_the_format_states() {
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file, "eth0").unwrap();
        writer.frame(0x1_0000_0002, b"frame", 60).unwrap();
        writer.finish(3, 2).unwrap();
        drop(writer);
        let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
        let mut at = 0;
        let mut kinds = Vec::new();
        while at < file.len() {
            let total = word(at + 4) as usize;
            assert_eq!(total % 4, 0);
            assert_eq!(word(at + total - 4) as usize, total);
            kinds.push((word(at), at));
            at += total;
        }
        let names: Vec<u32> = kinds.iter().map(|kind| kind.0).collect();
        assert_eq!(names, [SECTION_HEADER, 1, 6, 5]);
        let frame = kinds[2].1;
        assert_eq!((word(frame + 12), word(frame + 16)), (1, 2));
        assert_eq!((word(frame + 20), word(frame + 24)), (5, 60));
        assert_eq!(&file[frame + 28..frame + 33], b"frame");
    }
}
