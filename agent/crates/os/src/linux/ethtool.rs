//! Settings of a network device: the `SIOCETHTOOL` ioctl (netdevice(7), linux/ethtool.h). The crate
//! `ethtool` asks by generic netlink, which kernels before 5.6 do not answer, by way of an
//! asynchronous runtime, and not for a driver's name.

use crate::call::check;
use socket2::{Domain, Socket, Type};
use std::io;
use std::os::fd::AsRawFd;

const SIOCETHTOOL: libc::c_ulong = 0x8946;
const GDRVINFO: u32 = 0x03;
const GCOALESCE: u32 = 0x0E;
const GRINGPARAM: u32 = 0x10;
const GSTRINGS: u32 = 0x1B;
const GSSET_INFO: u32 = 0x37;
const GFEATURES: u32 = 0x3A;
const GCHANNELS: u32 = 0x3C;
const SS_FEATURES: u32 = 4;
const STRING_BYTES: usize = 32;
/// No kernel has as many features as this; a larger answer is not believed.
const MOST_FEATURES: u32 = 1024;

/// Driver, its version, and the firmware of the device; empty where the driver does not say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriverInfo {
    pub driver: String,
    pub version: String,
    pub firmware: String,
}

/// Interrupt moderation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coalescing {
    pub receive_us: u32,
    pub receive_frames: u32,
    pub send_us: u32,
    pub send_frames: u32,
    pub adaptive_receive: bool,
    pub adaptive_send: bool,
}

/// Lengths of the descriptor rings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rings {
    pub receive: u32,
    pub receive_most: u32,
    pub send: u32,
    pub send_most: u32,
}

/// A socket to ask through.
#[derive(Debug)]
pub struct Ethtool(Socket);

impl Ethtool {
    pub fn open() -> io::Result<Self> {
        Socket::new(Domain::IPV4, Type::DGRAM, None).map(Self)
    }

    pub fn driver(&self, device: &str) -> io::Result<DriverInfo> {
        // struct ethtool_drvinfo: cmd, driver[32], version[32], fw_version[32], ...
        let mut data = vec![0_u32; 49];
        data[0] = GDRVINFO;
        self.ask(device, &mut data)?;
        let bytes = bytes(&data[1..]);
        let text = |index: usize| string(&bytes[index * 32..(index + 1) * 32]);
        Ok(DriverInfo {
            driver: text(0),
            version: text(1),
            firmware: text(2),
        })
    }

    pub fn coalescing(&self, device: &str) -> io::Result<Coalescing> {
        // struct ethtool_coalesce: cmd and 22 words.
        let mut data = vec![0_u32; 23];
        data[0] = GCOALESCE;
        self.ask(device, &mut data)?;
        Ok(Coalescing {
            receive_us: data[1],
            receive_frames: data[2],
            send_us: data[5],
            send_frames: data[6],
            adaptive_receive: data[10] != 0,
            adaptive_send: data[11] != 0,
        })
    }

    pub fn rings(&self, device: &str) -> io::Result<Rings> {
        // struct ethtool_ringparam: cmd, four maxima, four present lengths.
        let mut data = vec![0_u32; 9];
        data[0] = GRINGPARAM;
        self.ask(device, &mut data)?;
        Ok(Rings {
            receive_most: data[1],
            send_most: data[4],
            receive: data[5],
            send: data[8],
        })
    }

    /// Queues that packets come in by.
    pub fn receive_queues(&self, device: &str) -> io::Result<u32> {
        // struct ethtool_channels: cmd, four maxima, then receiving, sending, other and combined
        // ones in use.
        let mut data = vec![0_u32; 9];
        data[0] = GCHANNELS;
        self.ask(device, &mut data)?;
        Ok(data[5] + data[8])
    }

    /// Every offload that the kernel knows, in its order, and whether it is on.
    pub fn features(&self, device: &str) -> io::Result<Vec<(String, bool)>> {
        // struct ethtool_sset_info: cmd, reserved, sset_mask (64 bits), data[1].
        let mut info = vec![GSSET_INFO, 0, 1 << SS_FEATURES, 0, 0];
        self.ask(device, &mut info)?;
        let count = info[4];
        if info[2] & 1 << SS_FEATURES == 0 || count == 0 || count > MOST_FEATURES {
            return Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP));
        }
        // struct ethtool_gstrings: cmd, string_set, len, then 32 bytes for each name.
        let count = count as usize;
        let mut names = vec![0_u32; 3 + count * STRING_BYTES / 4];
        names[..3].copy_from_slice(&[GSTRINGS, SS_FEATURES, count as u32]);
        self.ask(device, &mut names)?;
        // struct ethtool_gfeatures: cmd, size, then available, requested, active, never_changed
        // for each 32 features.
        let blocks = count.div_ceil(32);
        let mut features = vec![0_u32; 2 + blocks * 4];
        features[..2].copy_from_slice(&[GFEATURES, blocks as u32]);
        self.ask(device, &mut features)?;
        let names = bytes(&names[3..]);
        Ok(names
            .chunks_exact(STRING_BYTES)
            .enumerate()
            .map(|(index, name)| {
                let active = features[2 + index / 32 * 4 + 2];
                (string(name), active >> (index % 32) & 1 == 1)
            })
            .filter(|(name, _)| !name.is_empty())
            .collect())
    }

    /// `data` starts with the command and is as long as the answer that its fields announce.
    fn ask(&self, device: &str, data: &mut [u32]) -> io::Result<()> {
        let mut request = named(device)?;
        request.ifr_ifru.ifru_data = data.as_mut_ptr().cast();
        // SAFETY: ifr_data points at `data`, which is as long as every command above announces and
        // lives longer than the call. The request's type differs between C libraries.
        let done = unsafe { libc::ioctl(self.0.as_raw_fd(), SIOCETHTOOL as _, &mut request) };
        check(done >= 0)
    }
}

/// A request about a device, everything else zero.
fn named(device: &str) -> io::Result<libc::ifreq> {
    // SAFETY: ifreq is plain data, for which all zeros is a value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    let name = device.as_bytes();
    if name.is_empty() || name.len() >= request.ifr_name.len() || name.contains(&0) {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    for (place, &byte) in request.ifr_name.iter_mut().zip(name) {
        *place = byte as libc::c_char;
    }
    Ok(request)
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

fn string(bytes: &[u8]) -> String {
    let end = bytes
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}
