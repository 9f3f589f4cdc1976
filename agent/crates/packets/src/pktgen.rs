//! The transmit backend `pktgen`: the kernel's own generator (kernel documentation, networking/pktgen), where
//! its module is loaded. Its packets carry its own header, and it keeps no record of each: it reports
//! how many it sent, and from when to when.

/// Begins every packet of the generator, then come 4 bytes of its sequence and 8 of a time.
const MAGIC: [u8; 4] = 0xbe9b_e955_u32.to_be_bytes();

/// The sequence of a packet from 0 on, as ours; none if the packet is foreign. The generator
/// counts from 1 in 32 bits.
pub fn sequence(packet: &[u8]) -> Option<u64> {
    let counted = packet.strip_prefix(&MAGIC)?.get(..4)?;
    let counted = u32::from_be_bytes(counted.try_into().expect("4 bytes"));
    counted.checked_sub(1).map(u64::from)
}

#[cfg(target_os = "linux")]
pub use generator::PktgenTx;

#[cfg(target_os = "linux")]
mod generator {
    use crate::flow::SendFlow;
    use crate::frame::{HEADERS_4, HEADERS_6};
    use crate::link::{self, Link};
    use crate::live::clock_offset;
    use crate::model::Model;
    use crate::records::Recorder;
    use crate::send::{Packets, Sent};
    use crate::tx::unsupported;
    use crate::Timer;
    use std::io;
    use std::net::UdpSocket;
    use std::path::{Path, PathBuf};

    const PLACE: &str = "/proc/net/pktgen";

    /// The generator waits so long between the order and the first packet.
    const LEAD_NS: u64 = 125_000_000;

    /// The flow's own socket, which holds the port, and the way of its frames.
    pub struct PktgenTx {
        _socket: UdpSocket,
        link: Link,
        name: String,
        length: usize,
    }

    impl PktgenTx {
        pub fn open(socket: UdpSocket, flow: &SendFlow) -> io::Result<Self> {
            if !Path::new(PLACE).exists() {
                return Err(unsupported(format!(
                    "there is no {PLACE}: this kernel has no packet generator, or its module is \
                     not loaded (modprobe pktgen)"
                )));
            }
            let Some(length) = flow.length() else {
                return Err(unsupported(
                    "the transmit backend 'pktgen' sends packets of one size only",
                ));
            };
            let constant = matches!(flow.gap.of, Model::Constant { .. });
            if !constant || flow.gap.on.is_some() {
                return Err(unsupported(
                    "the transmit backend 'pktgen' sends at a constant rate only",
                ));
            }
            let link = Link::open(&socket, &flow.size)?;
            let name = link::name(link.interface)?;
            Ok(Self {
                _socket: socket,
                link,
                name,
                length,
            })
        }

        /// Sends one flow; as [`crate::send::run`]. `times`: its start and its end, ns.
        ///
        /// The generator begins when it likes, so the schedule is moved to its beginning. Nobody
        /// knows when each packet left: the records share out the time that all took.
        pub fn run(
            &self,
            times: (u64, u64),
            mut packets: Packets,
            timer: &Timer,
            mut recorder: Recorder,
        ) -> io::Result<Sent> {
            let (start_ns, end_ns) = times;
            let mut dues = Vec::new();
            let mut unpaced = false;
            // Without a rate one is enough to know that there is none.
            while let Some(due) = packets.take(end_ns) {
                unpaced = due.is_none();
                if unpaced {
                    break;
                }
                dues.extend(due);
            }
            let count = match unpaced {
                // No end but that of the flow, unless so many packets were requested.
                true if packets.most() == u64::MAX => 0,
                true => packets.most(),
                false => dues.len() as u64,
            };
            let gap_ns = match dues[..] {
                [first, .., last] => (last - first) as f64 / (dues.len() - 1) as f64,
                _ => 0.0,
            };
            let run = Run::prepare(self, count, gap_ns.round() as u64)?;
            timer.wait_until(start_ns.saturating_sub(LEAD_NS));
            let longest = end_ns - start_ns + 2 * LEAD_NS;
            let report = run.go(longest)?;
            let began = report.started_ns.wrapping_sub(clock_offset(timer));
            let each =
                (report.stopped_ns - report.started_ns) as f64 / report.packets.max(1) as f64;
            for sequence in 0..report.packets {
                let left = (sequence as f64 * each) as u64;
                let planned = match unpaced {
                    true => left,
                    false => (sequence as f64 * gap_ns) as u64,
                };
                let late = left.saturating_sub(planned).min(u64::from(u32::MAX)) as u32;
                recorder.record_in_time(sequence, began + planned, late, self.length as u16);
            }
            Ok(Sent {
                packets: report.packets,
                planned: (!unpaced).then_some(dues.len() as u64),
                bytes: report.packets * self.length as u64,
                refused: report.errors,
                first_ns: began,
                last_ns: began + (report.stopped_ns - report.started_ns),
                lost_records: recorder.finish(),
                ..Sent::default()
            })
        }

        /// The parameters of the flow for the generator; `count` 0: without end.
        fn orders(&self, count: u64, gap_ns: u64) -> Vec<String> {
            let ends = &self.link.ends;
            let (six, headers) = if ends.source.is_ipv4() {
                ("", HEADERS_4)
            } else {
                ("6", HEADERS_6)
            };
            let (source, destination) = (ends.source, ends.destination);
            let mut orders = vec![
                format!("count {count}"),
                "clone_skb 0".into(),
                format!("pkt_size {}", headers + self.length),
                format!("delay {gap_ns}"),
                format!("src_mac {}", mac(ends.source_link)),
                format!("dst_mac {}", mac(ends.destination_link)),
            ];
            orders.extend(match six {
                "" => vec![
                    format!("src_min {}", source.ip()),
                    format!("src_max {}", source.ip()),
                ],
                _ => vec![format!("src6 {}", source.ip())],
            });
            orders.push(format!("dst{six} {}", destination.ip()));
            for (name, port) in [("src", source.port()), ("dst", destination.port())] {
                orders.push(format!("udp_{name}_min {port}"));
                orders.push(format!("udp_{name}_max {port}"));
            }
            orders.push("flag UDPCSUM".into());
            orders
        }
    }

    fn mac(address: [u8; 6]) -> String {
        address.map(|byte| format!("{byte:02x}")).join(":")
    }

    /// The generator with the flow's interface, which it gives back when this goes.
    struct Run {
        interface: PathBuf,
        thread: PathBuf,
    }

    impl Run {
        fn prepare(tx: &PktgenTx, count: u64, gap_ns: u64) -> io::Result<Self> {
            // The generator has a thread for each CPU; the first that is there sends.
            let thread = std::fs::read_dir(PLACE)?
                .filter_map(|entry| Some(entry.ok()?.path()))
                .filter(|path| path.to_string_lossy().contains("kpktgend_"))
                .min()
                .ok_or_else(|| unsupported("the kernel's generator has no thread"))?;
            let run = Self {
                interface: Path::new(PLACE).join(&tx.name),
                thread,
            };
            write_control(&run.thread, &format!("add_device {}", tx.name))?;
            for order in tx.orders(count, gap_ns) {
                write_control(&run.interface, &order)?;
            }
            Ok(run)
        }

        /// Sends until the count is full, but no longer than `longest_ns`.
        fn go(&self, longest_ns: u64) -> io::Result<Report> {
            let control = Path::new(PLACE).join("pgctrl");
            let over = std::sync::Mutex::new(false);
            let ended = std::sync::Condvar::new();
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    let guard = over.lock().expect("nobody panics with it");
                    let longest = std::time::Duration::from_nanos(longest_ns);
                    let (guard, _) = ended
                        .wait_timeout_while(guard, longest, |over| !*over)
                        .expect("nobody panics with it");
                    if !*guard {
                        write_control(&control, "stop").ok();
                    }
                });
                let outcome = write_control(&control, "start");
                *over.lock().expect("nobody panics with it") = true;
                ended.notify_all();
                outcome
            })?;
            let text = std::fs::read_to_string(&self.interface)?;
            report(&text).ok_or_else(|| {
                let line = text.lines().last().unwrap_or("nothing");
                io::Error::other(format!("the generator says: {line}"))
            })
        }
    }

    impl Drop for Run {
        fn drop(&mut self) {
            write_control(&self.thread, "rem_device_all").ok();
        }
    }

    /// The kernel takes the last character off, so that it must be the end of the line.
    fn write_control(file: &Path, order: &str) -> io::Result<()> {
        std::fs::write(file, format!("{order}\n"))
            .map_err(|e| unsupported(format!("the generator refuses '{order}': {e}")))
    }

    /// What the generator says at its end; times by CLOCK_MONOTONIC.
    #[derive(Debug, PartialEq, Eq)]
    struct Report {
        packets: u64,
        errors: u64,
        started_ns: u64,
        stopped_ns: u64,
    }

    fn report(text: &str) -> Option<Report> {
        let number = |name: &str| -> Option<u64> {
            let rest = text.split_once(name)?.1.trim_start();
            let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
            digits.parse().ok()
        };
        let parsed = Report {
            packets: number("pkts-sofar:")?,
            errors: number("errors:")?,
            started_ns: number("started:")? * 1000,
            stopped_ns: number("stopped:")? * 1000,
        };
        (parsed.stopped_ns >= parsed.started_ns).then_some(parsed)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        /// As the kernel of Linux 6.1 prints it.
        const END: &str = "Params: count 1000  min_pkt_size: 106  max_pkt_size: 106\n\
            Current:\n     pkts-sofar: 1000  errors: 3\n\
            \x20    started: 48313011us  stopped: 48413015us idle: 99160us\n\
            \x20    seq_num: 1001  cur_dst_mac_offset: 0  cur_src_mac_offset: 0\n\
            Result: OK: 100003(c843+d99160) usec, 1000 (106byte,0frags)\n\
            \x20 9999pps 8Mb/sec (8479152bps) errors: 3\n";

        #[test]
        fn what_the_generator_reports_is_understood() {
            let expected = Report {
                packets: 1000,
                errors: 3,
                started_ns: 48_313_011_000,
                stopped_ns: 48_413_015_000,
            };
            assert_eq!(report(END), Some(expected));
            assert_eq!(report("Result: Idle\n"), None);
            assert_eq!(report(&END.replace("48413015", "1")), None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_packets_are_distinguished_from_all_others() {
        let mut packet = [0; 64];
        packet[..8].copy_from_slice(&[0xbe, 0x9b, 0xe9, 0x55, 0, 0, 1, 1]);
        assert_eq!(sequence(&packet), Some(256));
        packet[6..8].fill(0);
        assert_eq!(sequence(&packet), None, "it counts from 1");
        packet[7] = 1;
        assert_eq!(sequence(&packet), Some(0));
        packet[3] ^= 1;
        assert_eq!(sequence(&packet), None);
        assert_eq!(sequence(&packet[..6]), None);
    }
}
