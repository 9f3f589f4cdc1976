//! Records of two ends: each pair of files is joined, or refused with one sentence. Half of the
//! damaged files have right checksums, as one that somebody made has.

use super::blocks::{blocks, HEADER};
use super::{joined, Clocks, Request};
use crc32fast::Hasher;
use pentathlon_hostile::{attack, corpus, damaged, one_of, Random};

/// Writes the checksums again, as far as the blocks can be distinguished.
fn sealed(mut file: Vec<u8>) -> Vec<u8> {
    let mut at = 0;
    while let Some(head) = file.get(at..at + HEADER) {
        let count = u32::from_le_bytes(head[12..16].try_into().expect("4 bytes")) as usize;
        let end = (at + HEADER + count * 16).min(file.len());
        let mut hasher = Hasher::new();
        hasher.update(&file[at..at + HEADER - 4]);
        hasher.update(&file[at + HEADER..end]);
        let sum = hasher.finalize().to_le_bytes();
        file[at + HEADER - 4..at + HEADER].copy_from_slice(&sum);
        at = end;
    }
    file
}

fn request(random: &mut Random) -> Request {
    let shares = [0.0, 0.5, 0.99, 1.0, -1.0, 1e300];
    let numbers = [0, 1, -1, i64::MIN, i64::MAX];
    Request {
        sent: "sent".into(),
        received: "received".into(),
        clocks: (random.below(2) == 0).then(|| Clocks {
            origin_ns: *one_of(&numbers, random),
            offset_ns: *one_of(&numbers, random) as f64,
            drift: *one_of(&[0.0, 1e-6, -1.0, 1e300], random),
        }),
        delay_shares: vec![*one_of(&shares, random), *one_of(&shares, random)],
        late_shares: vec![*one_of(&shares, random)],
    }
}

#[test]
fn no_damaged_records_are_anything_but_joined_or_refused() {
    let sent = corpus("records", "-sent.bin");
    let received = corpus("records", "-received.bin");
    attack("records", |random| {
        let mut files = [damaged(&sent, random), damaged(&received, random)];
        if random.below(2) == 0 {
            files = files.map(sealed);
        }
        let whole = blocks(&files[0]).and_then(|sent| Ok((sent, blocks(&files[1])?)));
        let outcome = whole.and_then(|(sent, received)| {
            let arrivals: usize = received.iter().map(|block| block.records.len()).sum();
            let joined = joined(&sent, &received, &request(random))?;
            assert!(joined.received.packets <= arrivals as u64);
            // As `join` prints it.
            serde_json::to_string(&joined).unwrap();
            Ok(())
        });
        outcome
            .map_err(|reason| assert!(!reason.is_empty()))
            .is_ok()
    });
}

#[test]
fn a_forged_sequence_takes_no_memory() {
    let sent = corpus("records", "plain-sent.bin").remove(0);
    for sequence in [1_u64 << 20, 1 << 40, 1 << 61, u64::MAX] {
        let mut forged = sent.clone();
        // Of the second block: the first has six records.
        let at = HEADER + 6 * 16 + 16;
        forged[at..at + 8].copy_from_slice(&sequence.to_le_bytes());
        let forged = sealed(forged);
        let request = serde_json::from_str(r#"{"sent": "", "received": ""}"#).unwrap();
        let outcome = joined(&blocks(&forged).unwrap(), &[], &request);
        let reason = outcome.map(|_| ()).unwrap_err();
        assert!(
            reason.contains("9 records have sequences up to"),
            "{reason}"
        );
    }
}
