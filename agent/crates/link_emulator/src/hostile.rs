//! Directions of a line: each carries frames, or is refused with one sentence.

use super::direction::Direction;
use super::profile::Way;
use pentathlon_hostile::{attack, corpus, damaged, one_of, Random};

fn carried(text: &[u8], random: &mut Random) -> Result<(), String> {
    let way: Way = serde_json::from_slice(text).map_err(|e| e.to_string())?;
    let mut direction = Direction::new(&way, 7, 1)?;
    let mut now = 0;
    let mut left = 0_u64;
    for _ in 0..40 {
        now += *one_of(&[0, 1, 1_000, 1_000_000, 10_000_000_000], random);
        let length = *one_of(&[0, 60, 1514, 65_549, u32::MAX], random);
        left += u64::from(direction.offer(now, length, ()).is_none());
        while let Some(due) = direction.due(now) {
            assert!(due.at_ns <= now);
            left -= 1;
        }
        direction.advance(now);
        direction.next_ns();
    }
    assert!(left <= 40, "more frames came than went");
    Ok(())
}

#[test]
fn no_damaged_way_is_anything_but_taken_or_refused() {
    let pieces = corpus("ways", ".json");
    attack("ways", |random| {
        let piece = damaged(&pieces, random);
        let outcome = carried(&piece, random);
        outcome
            .map_err(|reason| assert!(!reason.is_empty()))
            .is_ok()
    });
}
