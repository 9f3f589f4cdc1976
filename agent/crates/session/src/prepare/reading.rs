//! One look at how busy the system is (proc(5), kernel documentation admin-guide/iostats).

use super::quiet::Reading;

#[cfg(windows)]
pub fn read() -> Reading {
    windows::read()
}

#[cfg(not(any(target_os = "linux", windows)))]
pub fn read() -> Reading {
    let lacking = || format!("not read on {} yet", std::env::consts::OS);
    Reading {
        at_s: pentathlon_harness::clock::monotonic_ns() as f64 / 1e9,
        uptime_s: Err(lacking()),
        cpu: Err(lacking()),
        disk_kb: Err(lacking()),
        packets: Err(lacking()),
        temperature_c: Err(lacking()),
        frequency_khz: Err(lacking()),
        users: Err(lacking()),
    }
}

#[cfg(target_os = "linux")]
pub fn read() -> Reading {
    linux::read(&pentathlon_inventory::source::Source::system())
}

#[cfg(windows)]
mod windows {
    use super::Reading;
    use pentathlon_os::{adapters, disk_performance, machine, sessions, system};
    use std::io;

    pub fn read() -> Reading {
        let wine = system::wine().is_some();
        Reading {
            at_s: pentathlon_harness::clock::monotonic_ns() as f64 / 1e9,
            uptime_s: Ok(machine::uptime_ms() as f64 / 1000.0),
            cpu: cpu(wine),
            disk_kb: asked("IOCTL_DISK_PERFORMANCE", disk_performance::bytes())
                .map(|bytes| bytes as f64 / 1000.0),
            packets: packets(),
            temperature_c: Err("Windows has no sensor that every machine answers to".into()),
            frequency_khz: Err("Windows reports the nominal frequency, not the present one".into()),
            users: asked("WTSEnumerateSessions", sessions::active()),
        }
    }

    fn asked<T>(call: &str, answer: io::Result<T>) -> Result<T, String> {
        answer.map_err(|error| format!("{call}: {error}"))
    }

    /// Busy and whole time of all CPUs, in units of 100 ns.
    fn cpu(wine: bool) -> Result<(u64, u64), String> {
        if wine {
            return Err("idle time does not move under Wine".into());
        }
        let [idle, kernel, user] = asked("GetSystemTimes", machine::times())?;
        // Kernel time includes idle time.
        let all = kernel + user;
        Ok((all.saturating_sub(idle) / 100, all / 100))
    }

    fn packets() -> Result<u64, String> {
        let adapters = asked("GetIfTable2", adapters::list())?;
        let (mut hardware, mut others) = (Vec::new(), Vec::new());
        // 24 is the loopback device.
        for adapter in adapters.into_iter().filter(|one| one.kind != 24) {
            let list = if adapter.is_hardware {
                &mut hardware
            } else {
                &mut others
            };
            list.push(adapter.packets);
        }
        let counted = if hardware.is_empty() {
            others
        } else {
            hardware
        };
        if counted.is_empty() {
            return Err("there is no network interface but loopback".into());
        }
        Ok(counted.into_iter().fold(0, u64::wrapping_add))
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn what_is_counted_never_runs_backwards() {
            let (before, after) = (read(), read());
            assert!(after.uptime_s.unwrap() >= before.uptime_s.unwrap());
            if let (Ok(before), Ok(after)) = (before.packets, after.packets) {
                assert!(after >= before);
            }
            if let (Ok((busy, all)), Ok(later)) = (before.cpu, after.cpu) {
                assert!(busy <= all && later.1 >= all);
            }
        }
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use super::Reading;
    use pentathlon_inventory::leaf::{Reason, Reported};
    use pentathlon_inventory::linux::load;
    use pentathlon_inventory::source::Source;

    pub fn read(source: &Source) -> Reading {
        let text = |reported: Reason| reported.to_string();
        Reading {
            at_s: pentathlon_harness::clock::monotonic_ns() as f64 / 1e9,
            uptime_s: load::uptime(source).map_err(text),
            cpu: cpu(source).map_err(text),
            disk_kb: disk_kb(source).map_err(text),
            packets: packets(source).map_err(text),
            temperature_c: temperature_c(source).map_err(text),
            frequency_khz: frequency_khz(source).map_err(text),
            users: load::logged_in(source).map_err(text),
        }
    }

    /// Ticks that the CPUs were busy, and all ticks. Time that the hypervisor gave to others
    /// (steal) counts as busy: a noisy neighbour disturbs as a program does.
    pub fn cpu(source: &Source) -> Reported<(u64, u64)> {
        let text = source.text("/proc/stat")?;
        let ticks: Vec<u64> = text
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("cpu "))
            .map(|line| {
                line.split_whitespace()
                    .filter_map(|n| n.parse().ok())
                    .collect()
            })
            .unwrap_or_default();
        // user nice system idle iowait irq softirq steal; guest times are in user and nice.
        let all: u64 = ticks.iter().take(8).sum();
        if ticks.len() < 5 || all == 0 {
            return Err(Reason::new("/proc/stat counts no CPU time"));
        }
        Ok((all - ticks[3] - ticks[4], all))
    }

    /// Data of whole devices; a device mapper's or a partition's data is its disk's too.
    pub fn disk_kb(source: &Source) -> Reported<f64> {
        let text = source.text("/proc/diskstats")?;
        let mut sectors = 0;
        let mut devices = 0;
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let Some(&name) = words.get(2) else { continue };
            let virtual_device = ["loop", "ram", "dm-", "md", "zram"]
                .iter()
                .any(|kind| name.starts_with(kind));
            if virtual_device
                || source
                    .names("/sys/block")
                    .is_ok_and(|all| !all.iter().any(|d| d == name))
            {
                continue;
            }
            devices += 1;
            sectors += [5, 9]
                .iter()
                .filter_map(|&field| words.get(field)?.parse::<u64>().ok())
                .sum::<u64>();
        }
        if devices == 0 {
            return Err(Reason::new("/proc/diskstats lists no disk"));
        }
        Ok(sectors as f64 * 512.0 / 1000.0)
    }

    pub fn packets(source: &Source) -> Reported<u64> {
        let text = source.text("/proc/net/dev")?;
        let mut interfaces = 0;
        let mut packets = 0;
        for line in text.lines() {
            let Some((name, rest)) = line.split_once(':') else {
                continue;
            };
            if name.trim() == "lo" {
                continue;
            }
            interfaces += 1;
            let fields: Vec<u64> = rest
                .split_whitespace()
                .filter_map(|n| n.parse().ok())
                .collect();
            packets += fields.get(1).unwrap_or(&0) + fields.get(9).unwrap_or(&0);
        }
        if interfaces == 0 {
            return Err(Reason::new("there is no network interface but loopback"));
        }
        Ok(packets)
    }

    /// The hottest sensor.
    fn temperature_c(source: &Source) -> Reported<f64> {
        let zones = source.names("/sys/class/thermal")?;
        zones
            .iter()
            .filter(|name| name.starts_with("thermal_zone"))
            .filter_map(|name| {
                let path = format!("/sys/class/thermal/{name}/temp");
                source.number::<f64>(&path).ok()
            })
            .reduce(f64::max)
            .map(|milli| milli / 1000.0)
            .ok_or_else(|| Reason::new("no sensor in /sys/class/thermal reports a temperature"))
    }

    /// The mean of all CPUs.
    fn frequency_khz(source: &Source) -> Reported<f64> {
        let cpus = source.names("/sys/devices/system/cpu")?;
        let values: Vec<f64> = cpus
            .iter()
            .filter_map(|name| {
                let path = format!("/sys/devices/system/cpu/{name}/cpufreq/scaling_cur_freq");
                source.number::<f64>(&path).ok()
            })
            .collect();
        if values.is_empty() {
            return Err(Reason::new("no CPU has cpufreq/scaling_cur_freq"));
        }
        Ok(values.iter().sum::<f64>() / values.len() as f64)
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use pentathlon_planted::Tree;

        fn planted(tree: &Tree) -> Source {
            Source::planted(tree.path(), |_, _| None)
        }

        #[test]
        fn cpu_time_disks_and_packets_are_summed_as_proc_5_states() {
            let tree = Tree::empty();
            tree.file("proc/stat", "cpu  10 20 30 400 50 6 7 8 3 1\ncpu0 1 1 1 1\n")
                .file("proc/diskstats", "8 0 vda 1 0 1000 0 1 0 1000 0 0 0 0\n8 1 vda1 1 0 900 0 1 0 900 0 0 0 0\n7 0 loop0 1 0 9 0 1 0 9 0\n")
                .file("sys/block/vda/size", "1")
                .file("sys/block/loop0/size", "1")
                .file("proc/net/dev", "Inter-| Receive\n face |bytes\n    lo: 1 100 0 0 0 0 0 0 1 100 0 0 0 0 0 0\n  eth0: 1 30 0 0 0 0 0 0 1 12 0 0 0 0 0 0\n")
                .file("sys/class/thermal/thermal_zone0/temp", "41000")
                .file("sys/class/thermal/thermal_zone1/temp", "52500");
            let source = planted(&tree);
            assert_eq!(cpu(&source).unwrap(), (81, 531));
            assert_eq!(disk_kb(&source).unwrap(), 1024.0);
            assert_eq!(packets(&source).unwrap(), 42);
            assert_eq!(temperature_c(&source).unwrap(), 52.5);
            assert!(frequency_khz(&source).is_err());
        }

        #[test]
        fn counters_that_count_nothing_are_reasons() {
            let tree = Tree::empty();
            tree.file("proc/stat", "cpu  0 0 0 0 0 0 0 0 0 0\n")
                .file("proc/diskstats", "7 0 loop0 1 0 9 0 1 0 9 0\n")
                .file("proc/net/dev", "    lo: 1 100 0 0 0 0 0 0 1 100 0\n");
            let source = planted(&tree);
            assert!(
                cpu(&source).is_err() && disk_kb(&source).is_err() && packets(&source).is_err()
            );
        }
    }
}
