//! Finds the messages in a stream of bytes: each begins with a header that states its length.

use super::packet::{Header, HEADER};

/// Bytes read from a stream and not yet understood.
pub struct Messages {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl Messages {
    pub fn new() -> Self {
        Self {
            buffer: vec![0; 256 * 1024],
            start: 0,
            end: 0,
        }
    }

    /// Where the next bytes of the stream go.
    pub fn room(&mut self) -> &mut [u8] {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        &mut self.buffer[self.end..]
    }

    /// So many bytes were read into the room.
    pub fn filled(&mut self, bytes: usize) {
        self.end += bytes;
    }

    /// The next whole message and its header; an error if the bytes are no message of ours.
    pub fn next(&mut self) -> Result<Option<(Header, &[u8])>, String> {
        let rest = &self.buffer[self.start..self.end];
        if rest.len() < HEADER {
            return Ok(None);
        }
        let header = Header::read(rest).ok_or("the stream holds bytes that are no message")?;
        let length = usize::from(header.length).max(HEADER);
        if rest.len() < length {
            return Ok(None);
        }
        let from = self.start;
        self.start += length;
        Ok(Some((header, &self.buffer[from..from + length])))
    }
}

#[cfg(test)]
mod tests {
    use super::super::packet::{Id, Kind};
    use super::*;

    #[test]
    fn messages_are_found_however_the_stream_is_cut() {
        let mut stream = Vec::new();
        for (sequence, length) in [(0, 32), (1, 1000), (2, 65_507), (3, 33)] {
            let mut message = vec![7; length];
            Header {
                id: Id::new(1, 2),
                sequence,
                intended_ns: 0,
                late_ns: 0,
                length: length as u16,
                kind: Kind::Data,
            }
            .write(&mut message);
            stream.extend(message);
        }
        for piece in [1, 31, 32, 33, 4096, 70_000] {
            let mut messages = Messages::new();
            let mut found = Vec::new();
            for part in stream.chunks(piece) {
                messages.room()[..part.len()].copy_from_slice(part);
                messages.filled(part.len());
                while let Some((header, bytes)) = messages.next().unwrap() {
                    assert_eq!(bytes.len(), usize::from(header.length));
                    found.push(header.sequence);
                }
            }
            assert_eq!(found, [0, 1, 2, 3], "pieces of {piece}");
        }
    }

    #[test]
    fn foreign_bytes_are_an_error() {
        let mut messages = Messages::new();
        messages.room()[..HEADER].fill(9);
        messages.filled(HEADER);
        assert!(messages.next().is_err());
    }
}
