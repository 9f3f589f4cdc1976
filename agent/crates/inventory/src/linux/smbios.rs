//! The tables in which firmware describes the board (DMTF DSP0134, "SMBIOS Reference
//! Specification", clause 6 and 7): here the processors' sockets and the memory modules.

/// One structure of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Structure<'a> {
    pub kind: u8,
    formatted: &'a [u8],
    strings: &'a [u8],
}

impl<'a> Structure<'a> {
    pub fn byte(&self, at: usize) -> Option<u8> {
        self.formatted.get(at).copied()
    }

    pub fn word(&self, at: usize) -> Option<u16> {
        let bytes = self.formatted.get(at..at + 2)?;
        Some(u16::from_le_bytes(bytes.try_into().ok()?))
    }

    pub fn double_word(&self, at: usize) -> Option<u32> {
        let bytes = self.formatted.get(at..at + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    }

    /// The string whose number, from 1, is in the byte at `at`.
    pub fn string(&self, at: usize) -> Option<String> {
        let number = usize::from(self.byte(at)?).checked_sub(1)?;
        let text = self.strings.split(|&byte| byte == 0).nth(number)?;
        let text = String::from_utf8_lossy(text).trim().to_owned();
        (!text.is_empty()).then_some(text)
    }
}

/// The structures of a table, as far as they are whole.
pub fn structures(table: &[u8]) -> Vec<Structure<'_>> {
    const END_OF_TABLE: u8 = 127;
    let mut found = Vec::new();
    let mut rest = table;
    while let [kind, length, ..] = *rest {
        let length = usize::from(length);
        if length < 4 || length > rest.len() || kind == END_OF_TABLE {
            break;
        }
        let (formatted, after) = rest.split_at(length);
        // The strings end with an empty one; a structure without strings has two zero bytes.
        let Some(end) = after.windows(2).position(|pair| pair == [0, 0]) else {
            break;
        };
        found.push(Structure {
            kind,
            formatted,
            strings: &after[..end],
        });
        rest = &after[end + 2..];
    }
    found
}

/// A processor's socket (type 4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Processor {
    pub socket: Option<String>,
    pub version: Option<String>,
    pub external_clock_mhz: Option<u16>,
    pub max_mhz: Option<u16>,
    pub current_mhz: Option<u16>,
    pub millivolts: Option<u16>,
}

impl Processor {
    /// None where the socket is empty.
    pub fn read(structure: &Structure) -> Option<Self> {
        if structure.kind != 4 || structure.byte(0x18)? & 1 << 6 == 0 {
            return None;
        }
        let reported = |at| structure.word(at).filter(|&value| value != 0);
        let millivolts = match structure.byte(0x11)? {
            tenths @ 0x80.. => Some(u16::from(tenths & 0x7F) * 100),
            1 => Some(5000),
            2 => Some(3300),
            4 => Some(2900),
            _ => None,
        };
        Some(Self {
            socket: structure.string(0x04),
            version: structure.string(0x10),
            external_clock_mhz: reported(0x12),
            max_mhz: reported(0x14),
            current_mhz: reported(0x16),
            millivolts,
        })
    }
}

/// A memory module (type 17).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    pub locator: Option<String>,
    pub kind: Option<&'static str>,
    pub size_bytes: u64,
    pub speed_mt_s: Option<u32>,
    pub configured_mt_s: Option<u32>,
    pub millivolts: Option<u16>,
    pub manufacturer: Option<String>,
    pub part: Option<String>,
}

impl Module {
    /// None where the slot is empty.
    pub fn read(structure: &Structure) -> Option<Self> {
        if structure.kind != 17 {
            return None;
        }
        let size_bytes = match structure.word(0x0C)? {
            0 | 0xFFFF => return None,
            0x7FFF => u64::from(structure.double_word(0x1C)? & 0x7FFF_FFFF) << 20,
            kib @ 0x8000.. => u64::from(kib & 0x7FFF) << 10,
            mib => u64::from(mib) << 20,
        };
        let speed = |at, extended| match structure.word(at)? {
            0 => None,
            0xFFFF => structure
                .double_word(extended)
                .map(|speed| speed & 0x7FFF_FFFF),
            speed => Some(u32::from(speed)),
        };
        Some(Self {
            locator: structure.string(0x10),
            kind: structure.byte(0x12).and_then(memory_kind),
            size_bytes,
            speed_mt_s: speed(0x15, 0x54),
            configured_mt_s: speed(0x20, 0x58),
            millivolts: structure.word(0x26).filter(|&value| value != 0),
            manufacturer: structure.string(0x17),
            part: structure.string(0x1A),
        })
    }
}

fn memory_kind(code: u8) -> Option<&'static str> {
    Some(match code {
        0x07 => "RAM",
        0x0F => "SDRAM",
        0x12 => "DDR",
        0x13 => "DDR2",
        0x18 => "DDR3",
        0x1A => "DDR4",
        0x1B => "LPDDR",
        0x1C => "LPDDR2",
        0x1D => "LPDDR3",
        0x1E => "LPDDR4",
        0x1F => "non-volatile",
        0x20 => "HBM",
        0x21 => "HBM2",
        0x22 => "DDR5",
        0x23 => "LPDDR5",
        0x24 => "HBM3",
        _ => return None,
    })
}

#[cfg(test)]
#[path = "smbios_tests.rs"]
mod tests;
