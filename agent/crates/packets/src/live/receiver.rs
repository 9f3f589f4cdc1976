//! Reads what the receiving program wrote down.

use super::age::Ages;
use super::programs;
use super::readers::{self, receiving};
use super::{check_order_of_bytes, clock_offset, refused};
use crate::frame::headers_to;
use crate::link;
use crate::packet::Id;
use crate::receive::Receiver;
use crate::tx::unsupported;
use pentathlon_os::bpf::{Array, Program};
use pentathlon_os::ethtool::Ethtool;
use pentathlon_os::route;
use std::io;
use std::net::{IpAddr, UdpSocket};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Slots between the program and this process: at 10 million packets a second, 100 ms.
const SLOTS: u32 = 1 << 20;

/// How often slots are emptied by a receiver that sleeps.
const PERIOD: Duration = Duration::from_millis(1);

/// The flow's own socket, which holds its port and gets what the program passes on, and the
/// program on the interface that has the flow's address.
pub struct XdpRx {
    pub socket: UdpSocket,
    state: Array,
    slots: Array,
    _link: OwnedFd,
}

/// The interface that has an address.
pub(crate) fn interface_of(address: IpAddr) -> io::Result<u32> {
    route::interface_of(address)?
        .ok_or_else(|| unsupported(format!("no interface has the address {address}")))
}

/// Attaches a program that passes everything on, so that the interface takes frames that were not
/// made by a stack; none if another program is there already.
pub fn open_for_frames(address: IpAddr) -> io::Result<Option<OwnedFd>> {
    let program = Program::load(&programs::verdict(programs::XDP_PASS))
        .map_err(refused("a program for arriving frames"))?;
    match program.attach(interface_of(address)?) {
        Ok(link) => Ok(Some(link)),
        Err(error) if error.raw_os_error() == Some(libc::EBUSY) => Ok(None),
        Err(error) => Err(refused("a program on the interface")(error)),
    }
}

impl XdpRx {
    pub fn open(socket: UdpSocket, id: Id) -> io::Result<Self> {
        check_order_of_bytes()?;
        let own = socket.local_addr()?;
        let state = Array::new(1, receiving::WORDS).map_err(refused("a shared map"))?;
        let slots =
            Array::new(1, SLOTS * receiving::SLOT_WORDS).map_err(refused("a shared map"))?;
        let (headers, address) = headers_to(own.ip());
        let interface = interface_of(own.ip())?;
        let program = Program::load(&readers::receiver(&readers::Receiving {
            state: state.number(),
            slots: slots.number(),
            mask: SLOTS - 1,
            id,
            headers,
            address,
            port: own.port(),
            one_queue: has_one_queue(interface),
        }))
        .map_err(refused("the receiving program"))?;
        let link = program
            .attach(interface)
            .map_err(refused("a program on the interface"))?;
        Ok(Self {
            socket,
            state,
            slots,
            _link: link,
        })
    }
}

/// Whether the packets of an interface come by one queue; a driver that does not report may have many.
fn has_one_queue(interface: u32) -> bool {
    let queues = || Ethtool::open()?.receive_queues(&link::name(interface)?);
    queues().is_ok_and(|count: u32| count == 1)
}

fn round_of(rest: u64) -> u64 {
    rest >> receiving::ROUND & receiving::ROUNDS
}

impl Receiver {
    /// Receives until `over`.
    pub(crate) fn program(
        &mut self,
        spinning: bool,
        rx: &XdpRx,
        over: &AtomicBool,
    ) -> io::Result<()> {
        let mut passed = vec![0; crate::packet::LONGEST + 1];
        rx.socket.set_nonblocking(true)?;
        let (state, slots) = (rx.state.words(), rx.slots.words());
        let (mut read, mut sequence, mut ages) = (0, 0_u64, Ages::default());
        loop {
            let last = over.load(Ordering::Acquire);
            let offset = clock_offset(&self.timer);
            let until = state[receiving::CAME].load(Ordering::Acquire);
            while read < until {
                let at = (read % u64::from(SLOTS)) as usize * receiving::SLOT_WORDS as usize;
                let round = read / u64::from(SLOTS) + 1;
                let rest = slots[at + receiving::REST].load(Ordering::Acquire);
                let ahead = round_of(rest).wrapping_sub(round) & receiving::ROUNDS;
                let unfinished = rest == 0 || ahead > receiving::ROUNDS / 2;
                if unfinished && !last {
                    break; // The program has not written this one yet.
                }
                let time = slots[at + receiving::TIME].load(Ordering::Relaxed);
                std::sync::atomic::fence(Ordering::Acquire);
                let still = slots[at + receiving::REST].load(Ordering::Relaxed);
                read += 1;
                if ahead == 0 && !unfinished && still == rest {
                    let low = (rest >> receiving::SEQUENCE) as u32;
                    // The nearest number to the last one with these lower bits.
                    let step = low.wrapping_sub(sequence as u32) as i32;
                    sequence = sequence.wrapping_add_signed(i64::from(step));
                    let cut = rest >> receiving::CUT & 1 == 1;
                    ages.add(time);
                    self.write_down(time.wrapping_sub(offset), sequence, rest as u16, cut);
                } else {
                    // A later packet has taken the slot: this one came, but is not written down.
                    self.lose(1);
                }
            }
            // What the program passed on is foreign, or came in a form that it leaves alone.
            self.take_passed(&rx.socket, &mut passed)?;
            if last {
                self.add_foreign(state[receiving::FOREIGN].load(Ordering::Relaxed));
                self.lose(state[receiving::ASTRAY].load(Ordering::Relaxed));
                ages.finish();
                self.shared_times(ages.worst_ns, ages.stale);
                return Ok(());
            }
            if spinning {
                std::hint::spin_loop();
            } else {
                std::thread::sleep(PERIOD);
            }
        }
    }
}
