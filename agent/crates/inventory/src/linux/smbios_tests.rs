use super::*;

/// A structure of `kind` with fields at their offsets and its strings.
fn structure(kind: u8, length: u8, fields: &[(usize, &[u8])], strings: &[&str]) -> Vec<u8> {
    let mut bytes = vec![0; usize::from(length)];
    bytes[..2].copy_from_slice(&[kind, length]);
    for (at, value) in fields {
        bytes[*at..at + value.len()].copy_from_slice(value);
    }
    for text in strings {
        bytes.extend_from_slice(text.as_bytes());
        bytes.push(0);
    }
    if strings.is_empty() {
        bytes.push(0);
    }
    bytes.push(0);
    bytes
}

fn table() -> Vec<u8> {
    [
        structure(0, 0x18, &[], &[]),
        structure(
            4,
            0x30,
            &[
                (0x04, &[1]),
                (0x10, &[2]),
                (0x11, &[0x80 | 12]),
                (0x12, &133_u16.to_le_bytes()),
                (0x14, &3800_u16.to_le_bytes()),
                (0x16, &2930_u16.to_le_bytes()),
                (0x18, &[0x41]),
            ],
            &["LGA1366", "Core i7 940"],
        ),
        structure(4, 0x30, &[(0x18, &[0])], &[]),
        structure(
            17,
            0x5C,
            &[
                (0x0C, &2048_u16.to_le_bytes()),
                (0x10, &[1]),
                (0x12, &[0x18]),
                (0x15, &1333_u16.to_le_bytes()),
                (0x17, &[2]),
                (0x1A, &[9]),
                (0x20, &1066_u16.to_le_bytes()),
                (0x26, &1500_u16.to_le_bytes()),
            ],
            &["DIMM_A1", "Corsair  "],
        ),
        structure(17, 0x5C, &[], &["DIMM_A2"]),
        structure(
            17,
            0x5C,
            &[
                (0x0C, &0x7FFF_u16.to_le_bytes()),
                (0x1C, &65536_u32.to_le_bytes()),
                (0x12, &[0x22]),
                (0x15, &0xFFFF_u16.to_le_bytes()),
                (0x54, &70000_u32.to_le_bytes()),
            ],
            &[],
        ),
        structure(127, 4, &[], &[]),
        structure(17, 0x5C, &[(0x0C, &1_u16.to_le_bytes())], &[]),
    ]
    .concat()
}

#[test]
fn sockets_and_modules_are_read_and_empty_ones_left_out() {
    let table = table();
    let all = structures(&table);
    assert_eq!(all.len(), 6);
    let processors: Vec<_> = all.iter().filter_map(Processor::read).collect();
    assert_eq!(
        processors,
        [Processor {
            socket: Some("LGA1366".into()),
            version: Some("Core i7 940".into()),
            external_clock_mhz: Some(133),
            max_mhz: Some(3800),
            current_mhz: Some(2930),
            millivolts: Some(1200),
        }]
    );
    let modules: Vec<_> = all.iter().filter_map(Module::read).collect();
    assert_eq!(
        modules[0],
        Module {
            locator: Some("DIMM_A1".into()),
            kind: Some("DDR3"),
            size_bytes: 2 << 30,
            speed_mt_s: Some(1333),
            configured_mt_s: Some(1066),
            millivolts: Some(1500),
            manufacturer: Some("Corsair".into()),
            part: None,
        }
    );
    assert_eq!(modules[1].size_bytes, 64 << 30);
    assert_eq!(modules[1].speed_mt_s, Some(70000));
    assert_eq!(modules[1].kind, Some("DDR5"));
    assert_eq!(modules.len(), 2);
}

#[test]
fn any_bytes_are_survived() {
    let good = table();
    for at in 0..good.len() {
        for value in [0, 1, 4, 17, 0x7F, 0xFF] {
            let mut bad = good.clone();
            bad[at] = value;
            for table in [&bad[..], &bad[at..], &bad[..at]] {
                for structure in structures(table) {
                    let _ = (Processor::read(&structure), Module::read(&structure));
                }
            }
        }
    }
}
