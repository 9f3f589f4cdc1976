//! Frames of strangers: whatever they hold, the file of a capture has one block for each, which states
//! its length twice.

use super::pcapng::Writer;
use pentathlon_hostile::{attack, corpus, damaged, one_of};

/// The kinds of a file's blocks and their bodies; none if it is no sequence of blocks.
fn blocks(mut file: &[u8]) -> Option<Vec<(u32, &[u8])>> {
    let mut found = Vec::new();
    while !file.is_empty() {
        let word = |at: usize| Some(u32::from_le_bytes(file.get(at..at + 4)?.try_into().ok()?));
        let total = word(4)? as usize;
        if total < 12 || !total.is_multiple_of(4) || word(total - 4)? as usize != total {
            return None;
        }
        found.push((word(0)?, &file[8..total - 4]));
        file = &file[total..];
    }
    Some(found)
}

#[test]
fn a_captured_frame_lies_in_the_file_as_it_came() {
    let pieces = corpus("frames", ".bin");
    attack("frames", |random| {
        let frames: Vec<_> = (0..random.below(4))
            .map(|_| damaged(&pieces, random))
            .collect();
        let mut file = Vec::new();
        let mut writer = Writer::new(
            &mut file,
            one_of::<&str>(&["", "eth0", "ethernet-15-xyz"], random),
        )
        .unwrap();
        for frame in &frames {
            let time = *one_of(&[0, 1 << 40, u64::MAX], random);
            writer.frame(time, frame, u32::MAX).unwrap();
        }
        writer.finish(frames.len() as u64, u64::MAX).unwrap();
        drop(writer);
        let found = blocks(&file).expect("every block states its length twice");
        assert_eq!(found.len(), frames.len() + 3);
        for (frame, (kind, body)) in frames.iter().zip(&found[2..]) {
            assert_eq!((*kind, &body[20..20 + frame.len()]), (6, &frame[..]));
        }
        // "Refused" are the damaged files: cut off, they must not be taken for whole ones.
        let cut = &file[..random.below(file.len())];
        blocks(cut).is_some()
    });
}
