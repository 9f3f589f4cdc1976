//! One flow as the experimenter requests it, at its sender and at its receiver.

use super::model::{Gap, Model};
use super::packet::{COMPACT, COMPACT_FLOWS, COMPACT_SEQUENCES, HEADER, LONGEST};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    Udp,
    Tcp,
    /// Echo requests, which the receiver's kernel answers.
    Icmp,
    /// One stream in order, messages as they were sent (RFC 9260).
    Sctp,
    /// Datagrams of a connection (RFC 4340), without order or repetition.
    Dccp,
}

impl Protocol {
    pub fn name(self) -> &'static str {
        match self {
            Self::Udp => "UDP",
            Self::Tcp => "TCP",
            Self::Icmp => "ICMP",
            Self::Sctp => "SCTP",
            Self::Dccp => "DCCP",
        }
    }

    /// Bytes of the shortest packet: only what comes packet by packet can have a compact header.
    pub fn shortest(self) -> usize {
        match self {
            Self::Udp | Self::Icmp => COMPACT,
            Self::Tcp | Self::Sctp | Self::Dccp => HEADER,
        }
    }
}

/// How packets are handed to the system; each measures another layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TransmitBackend {
    /// One send(2) a packet.
    #[default]
    Send,
    /// One sendmmsg(2) for the packets that are due, at most 64.
    Sendmmsg,
    /// One send(2) for the packets that are due, which the system cuts apart (UDP_SEGMENT).
    Gso,
    /// As `sendmmsg`, whole frames by a packet socket past the queueing discipline.
    Packet,
    /// As `packet`, by the rings of an AF_XDP socket.
    Afxdp,
    /// Frames that a program makes and paces in the kernel (BPF live frames).
    Live,
    /// The kernel's own generator (kernel documentation, networking/pktgen).
    Pktgen,
}

/// How the receiver takes packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Reader {
    /// One recv(2) a packet.
    #[default]
    Recv,
    /// One recvmmsg(2) for the packets that have come, at most 64; they share a time of arrival.
    Recvmmsg,
    /// The kernel writes frames into a ring that this process reads (packet(7), TPACKET_V3).
    Ring,
    /// A program at the interface gives the frames to the rings of an AF_XDP socket.
    Afxdp,
    /// A program at the interface (XDP) writes down each packet and takes it out of the stack.
    Xdp,
}

/// What the receiver does with a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    #[default]
    Receive,
    /// Writes it down and sends it back.
    Echo,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReceiveFlow {
    pub flow: u32,
    pub protocol: Protocol,
    /// Address to receive at.
    pub address: IpAddr,
    /// 0: the system chooses.
    #[serde(default)]
    pub port: u16,
    #[serde(default)]
    pub role: Role,
    /// Ask again and again instead of sleeping until a packet comes.
    #[serde(default)]
    pub spinning: bool,
    #[serde(default)]
    pub reader: Reader,
    /// How the packets are sent: frames that no stack has made need an interface that takes them.
    #[serde(default)]
    pub transmit_backend: TransmitBackend,
    /// SO_RCVBUF, bytes.
    #[serde(default)]
    pub buffer_bytes: Option<usize>,
    /// A multicast group to join at the interface that has the address.
    #[serde(default)]
    pub group: Option<IpAddr>,
    /// The flow whose packets this one hears, at the same port, if not its own: a further receiver
    /// of a group.
    #[serde(default)]
    pub hears: Option<u32>,
    /// Write down the kernel's times of arrival too (SO_TIMESTAMPING).
    #[serde(default)]
    pub stamps: bool,
}

impl ReceiveFlow {
    /// The flow whose packets are received.
    pub fn heard(&self) -> u32 {
        self.hears.unwrap_or(self.flow)
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SendFlow {
    pub flow: u32,
    pub protocol: Protocol,
    /// Where the receiver listens.
    pub peer: IpAddr,
    pub port: u16,
    /// Length of a packet's or message's payload, bytes; at least [`Protocol::shortest`].
    pub size: Model,
    pub gap: Gap,
    pub duration_s: f64,
    /// The flow ends after so many packets, if that comes first.
    #[serde(default)]
    pub packets: Option<u64>,
    /// Delay of the flow's start, s.
    #[serde(default)]
    pub start_s: f64,
    #[serde(default)]
    pub transmit_backend: TransmitBackend,
    /// Whether the receiver sends packets back, whose arrival is written down.
    #[serde(default)]
    pub echo: bool,
    /// SO_SNDBUF, bytes.
    #[serde(default)]
    pub buffer_bytes: Option<usize>,
    /// This host's own address, for a peer that is a multicast group.
    #[serde(default)]
    pub source: Option<IpAddr>,
    /// Write down the kernel's times of sending too (SO_TIMESTAMPING).
    #[serde(default)]
    pub stamps: bool,
}

impl SendFlow {
    /// The one length of all packets; none if they have several.
    pub fn length(&self) -> Option<usize> {
        match self.size {
            Model::Constant { value } => {
                Some((value.round() as usize).clamp(self.protocol.shortest(), LONGEST))
            }
            _ => None,
        }
    }

    /// Why no header that is short enough holds what the flow needs; none if one does.
    pub fn too_short(&self) -> Option<String> {
        let shortest = self.protocol.shortest();
        if let Model::Constant { value } = self.size {
            if value < shortest as f64 {
                return Some(format!(
                    "packets of {} have at least {shortest} B, the header that they carry",
                    self.protocol.name()
                ));
            }
        }
        if shortest == HEADER || self.length().is_some_and(|all| all >= HEADER) {
            return None;
        }
        let many = self.packets.is_some_and(|all| all > COMPACT_SEQUENCES);
        (many || self.flow >= COMPACT_FLOWS).then(|| {
            format!(
                "packets below {HEADER} B have a compact header, which numbers {COMPACT_SEQUENCES} \
                 packets and {COMPACT_FLOWS} flows and no more"
            )
        })
    }
}
