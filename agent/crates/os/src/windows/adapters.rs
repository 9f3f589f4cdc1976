//! The network interfaces: `GetIfTable2`.

use crate::call::numbered;
use crate::filesystem::text;
use std::io;
use windows_sys::Win32::NetworkManagement::IpHelper::{FreeMibTable, GetIfTable2};

/// One interface, without its addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adapter {
    pub name: String,
    pub description: String,
    pub mtu_bytes: u32,
    pub receive_bits_per_second: u64,
    pub send_bits_per_second: u64,
    /// Kind of interface as IANA numbers them: 6 Ethernet, 24 loopback, 71 wireless.
    pub kind: u32,
    pub is_up: bool,
    /// Packets in both directions since the interface was made.
    pub packets: u64,
    /// Whether it is a device, and not a filter or driver above one that counts the same packets.
    pub is_hardware: bool,
}

pub fn list() -> io::Result<Vec<Adapter>> {
    let mut table = std::ptr::null_mut();
    // SAFETY: the place is valid to write to.
    numbered(unsafe { GetIfTable2(&mut table) } as i32)?;
    // SAFETY: a successful call gives a table of as many rows as it says, which is freed once and
    // not used afterwards.
    unsafe {
        let count = (*table).NumEntries as usize;
        let first = (&raw const (*table).Table).cast();
        let rows: &[windows_sys::Win32::NetworkManagement::IpHelper::MIB_IF_ROW2] =
            std::slice::from_raw_parts(first, count);
        let found = rows
            .iter()
            .map(|row| Adapter {
                name: text(&row.Alias),
                description: text(&row.Description),
                mtu_bytes: row.Mtu,
                receive_bits_per_second: row.ReceiveLinkSpeed,
                send_bits_per_second: row.TransmitLinkSpeed,
                kind: row.Type,
                is_up: row.OperStatus == 1,
                packets: row
                    .InUcastPkts
                    .wrapping_add(row.InNUcastPkts)
                    .wrapping_add(row.OutUcastPkts)
                    .wrapping_add(row.OutNUcastPkts),
                // The first bit of the flags, HardwareInterface of netioapi.h.
                is_hardware: row.InterfaceAndOperStatusFlags._bitfield & 1 != 0,
            })
            .collect();
        FreeMibTable(table.cast());
        Ok(found)
    }
}
