//! Packet sockets: frames as they go over the link (packet(7)).

use socket2::{Domain, SockAddr, Socket, Type};
use std::io;
use std::os::fd::AsFd;

/// Do not queue frames in the interface's queueing discipline (linux/if_packet.h).
const PACKET_QDISC_BYPASS: libc::c_int = 20;

/// A socket that sends frames by one interface and receives none.
pub struct FrameSocket {
    pub socket: Socket,
    /// The interface's own address; none if it is no Ethernet device.
    pub address: Option<[u8; 6]>,
}

impl FrameSocket {
    /// `interface`: its index. Needs CAP_NET_RAW.
    pub fn open(interface: u32) -> io::Result<Self> {
        // Protocol 0: the kernel hands nothing to this socket.
        let socket = Socket::new(Domain::PACKET, Type::RAW, None)?;
        socket.bind(&link_address(interface, 0)?)?;
        crate::socket::set(
            socket.as_fd(),
            libc::SOL_PACKET,
            PACKET_QDISC_BYPASS,
            &1_i32,
        )?;
        let own = socket.local_addr()?;
        let address = ethernet_address(&own);
        Ok(Self { socket, address })
    }
}

/// `struct sockaddr_ll` of an interface; `protocol` is an EtherType.
pub fn link_address(interface: u32, protocol: u16) -> io::Result<SockAddr> {
    let index = i32::try_from(interface).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: the storage is longer than sockaddr_ll and aligned for it, and the length states how
    // much of it was filled.
    let ((), address) = unsafe {
        SockAddr::try_init(|storage, length| {
            let place = storage.cast::<libc::sockaddr_ll>();
            (*place).sll_family = libc::AF_PACKET as libc::sa_family_t;
            (*place).sll_protocol = protocol.to_be();
            (*place).sll_ifindex = index;
            *length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
            Ok(())
        })
    }?;
    Ok(address)
}

/// The index of the interface that an address of a packet socket names; none if it is gone.
pub fn interface(own: &SockAddr) -> Option<u32> {
    let own = link_layer(own)?;
    u32::try_from(own.sll_ifindex)
        .ok()
        .filter(|&index| index > 0)
}

fn ethernet_address(own: &SockAddr) -> Option<[u8; 6]> {
    let own = link_layer(own)?;
    let ethernet = own.sll_hatype == libc::ARPHRD_ETHER && own.sll_halen == 6;
    ethernet.then(|| *own.sll_addr.first_chunk().expect("8 bytes"))
}

fn link_layer(own: &SockAddr) -> Option<&libc::sockaddr_ll> {
    if i32::from(own.family()) != libc::AF_PACKET
        || (own.len() as usize) < std::mem::offset_of!(libc::sockaddr_ll, sll_addr)
    {
        return None;
    }
    // SAFETY: the family states which structure lies here; the kernel ends it where the address
    // does, and the storage behind that is zero up to the structure's end.
    Some(unsafe { &*own.as_ptr().cast::<libc::sockaddr_ll>() })
}
