//! Packets of strangers: each header that is read is one that was written.

use super::packet::{Header, COMPACT, HEADER};
use pentathlon_hostile::{attack, corpus, damaged};

#[test]
fn a_header_that_is_read_is_written_as_it_came() {
    let pieces = corpus("packets", ".bin");
    for piece in &pieces {
        Header::read(piece).unwrap();
    }
    attack("packets", |random| {
        let packet = damaged(&pieces, random);
        let Some(header) = Header::read(&packet) else {
            return false;
        };
        let size = if packet.len() < HEADER {
            COMPACT
        } else {
            HEADER
        };
        let mut again = packet[..packet.len().min(HEADER)].to_vec();
        header.write(&mut again);
        assert_eq!(again[..size], packet[..size]);
        true
    });
}
