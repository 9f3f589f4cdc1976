//! Planted systems: a desktop like that of martinovic2012, Tab. 17, with Linux; a user-mode Linux;
//! gVisor.

use pentathlon_planted::Tree;
use std::collections::HashMap;

pub type Cpuid = HashMap<(u32, u32), [u32; 4]>;

/// Four letters of a CPUID string.
fn word(text: &str) -> u32 {
    u32::from_le_bytes(text.as_bytes().try_into().expect("four letters"))
}

/// A cache as leaf 4 reports it.
fn cache(kind: u32, level: u32, sharing: u32, ways: u32, sets: u32) -> [u32; 4] {
    [
        kind | level << 5 | (sharing - 1) << 14,
        (ways - 1) << 22 | 63,
        sets - 1,
        0,
    ]
}

fn intel() -> Cpuid {
    let brand = "Intel(R) Core(TM) i7 CPU         940  @ 2.93GHz\0";
    let mut cpuid = Cpuid::from([
        ((0, 0), [11, word("Genu"), word("ntel"), word("ineI")]),
        ((1, 0), [0x0001_06A5, 0, 0, 0]),
        ((4, 0), cache(1, 1, 2, 8, 64)),
        ((4, 1), cache(2, 1, 2, 4, 128)),
        ((4, 2), cache(3, 2, 2, 8, 512)),
        ((4, 3), cache(3, 3, 16, 16, 8192)),
        ((4, 4), [0; 4]),
        ((0x8000_0007, 0), [0, 0, 0, 1 << 8]),
    ]);
    for leaf in 0..3 {
        let at = leaf as usize * 16;
        let part = |index: usize| word(&brand[at + index * 4..at + index * 4 + 4]);
        cpuid.insert(
            (0x8000_0002 + leaf, 0),
            [part(0), part(1), part(2), part(3)],
        );
    }
    cpuid
}

/// The same processor under a hypervisor that names itself `vendor`.
pub fn guest(vendor: &str, features: u32) -> Cpuid {
    let mut cpuid = intel();
    cpuid.insert((1, 0), [0x0001_06A5, 0, 1 << 31, 0]);
    let part = |index: usize| word(&vendor[index * 4..index * 4 + 4]);
    cpuid.insert((0x4000_0000, 0), [0x4000_0001, part(0), part(1), part(2)]);
    cpuid.insert((0x4000_0001, 0), [features, 0, 0, 0]);
    cpuid
}

/// An AMD processor with the caches in leaf 8000001Dh.
pub fn amd() -> Cpuid {
    Cpuid::from([
        ((0, 0), [13, word("Auth"), word("cAMD"), word("enti")]),
        ((1, 0), [0x00A2_0F12, 0, 0, 0]),
        ((4, 0), [0; 4]),
        ((0x8000_001D, 0), cache(1, 1, 2, 8, 64)),
        ((0x8000_001D, 1), cache(3, 3, 16, 16, 32768)),
        ((0x8000_001D, 2), [0; 4]),
    ])
}

pub fn desktop() -> (Tree, Cpuid) {
    desktop_of(4)
}

/// The same with `cores` cores of two threads each.
pub fn desktop_of(cores: usize) -> (Tree, Cpuid) {
    let tree = Tree::empty();
    processors(&tree, cores);
    caches(&tree, cores);
    devices(&tree);
    system(&tree);
    (tree, intel())
}

fn processors(tree: &Tree, cores: usize) {
    let mut cpuinfo = String::new();
    for cpu in 0..cores * 2 {
        cpuinfo += &format!(
            "processor\t: {cpu}\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 26\n\
             model name\t: Intel(R) Core(TM) i7 CPU 940 @ 2.93GHz\nstepping\t: 5\n\
             microcode\t: 0x1d\ncpu MHz\t\t: 2933.421\nphysical id\t: 0\ncore id\t\t: {}\n\
             flags\t\t: fpu sse4_2 aperfmperf\nbugs\t\t: spectre_v1 l1tf\nbogomips\t: 5866.84\n\
             address sizes\t: 36 bits physical, 48 bits virtual\n\n",
            cpu % cores
        );
        let policy = format!("sys/devices/system/cpu/cpufreq/policy{cpu}");
        tree.file(&format!("{policy}/scaling_governor"), "schedutil\n")
            .file(&format!("{policy}/scaling_driver"), "acpi-cpufreq\n")
            .file(&format!("{policy}/scaling_min_freq"), "1600000\n")
            .file(&format!("{policy}/scaling_max_freq"), "2934000\n")
            .file(&format!("{policy}/affected_cpus"), format!("{cpu}\n"));
    }
    let base = "sys/devices/system/cpu";
    tree.file("proc/cpuinfo", cpuinfo)
        .file(&format!("{base}/online"), format!("0-{}\n", cores * 2 - 1))
        .file(&format!("{base}/offline"), "\n")
        .file(&format!("{base}/smt/control"), "on\n")
        .file(&format!("{base}/smt/active"), "1\n")
        .file(&format!("{base}/cpufreq/boost"), "1\n")
        .file(
            &format!("{base}/cpu0/cpufreq/scaling_cur_freq"),
            "1600000\n",
        )
        .file(
            &format!("{base}/cpu0/cpufreq/scaling_governor"),
            "schedutil\n",
        )
        .file(
            &format!("{base}/cpu0/cpufreq/cpuinfo_min_freq"),
            "1600000\n",
        )
        .file(
            &format!("{base}/cpu0/cpufreq/cpuinfo_max_freq"),
            "2934000\n",
        )
        .file(
            &format!("{base}/vulnerabilities/l1tf"),
            "Mitigation: PTE Inversion\n",
        );
}

fn caches(tree: &Tree, cores: usize) {
    let kinds = [
        (1, "Data", "32K", 8, 64),
        (1, "Instruction", "32K", 4, 128),
        (2, "Unified", "256K", 8, 512),
        (3, "Unified", "8192K", 16, 8192),
    ];
    for cpu in 0..cores * 2 {
        for (index, (level, kind, size, ways, sets)) in kinds.iter().enumerate() {
            let base = format!("sys/devices/system/cpu/cpu{cpu}/cache/index{index}");
            let shared = match level {
                3 => format!("0-{}\n", cores * 2 - 1),
                _ => format!("{},{}\n", cpu % cores, cpu % cores + cores),
            };
            tree.file(&format!("{base}/level"), format!("{level}\n"))
                .file(&format!("{base}/type"), format!("{kind}\n"))
                .file(&format!("{base}/size"), format!("{size}\n"))
                .file(&format!("{base}/coherency_line_size"), "64\n")
                .file(
                    &format!("{base}/ways_of_associativity"),
                    format!("{ways}\n"),
                )
                .file(&format!("{base}/number_of_sets"), format!("{sets}\n"))
                .file(&format!("{base}/shared_cpu_list"), shared);
        }
    }
}

fn devices(tree: &Tree) {
    let disk = "sys/devices/pci0000:00/0000:00:1f.2/ata1/host0/block/sda";
    tree.link(
        "sys/block/sda",
        "../devices/pci0000:00/0000:00:1f.2/ata1/host0/block/sda",
    )
    .file(&format!("{disk}/size"), "976773168\n")
    .file(&format!("{disk}/removable"), "0\n")
    .file(&format!("{disk}/ro"), "0\n")
    .file(&format!("{disk}/device/model"), "ST3500418AS     \n")
    .file(&format!("{disk}/device/vendor"), "ATA     \n")
    .file(&format!("{disk}/device/rev"), "CC38\n")
    .file(&format!("{disk}/device/queue_depth"), "31\n")
    .link(&format!("{disk}/device/driver"), "../bus/scsi/drivers/sd")
    .file(&format!("{disk}/queue/rotational"), "1\n")
    .file(
        &format!("{disk}/queue/scheduler"),
        "none [mq-deadline] bfq\n",
    )
    .file(&format!("{disk}/queue/read_ahead_kb"), "128\n")
    .file(&format!("{disk}/queue/logical_block_size"), "512\n");
    // A loop device without a file holds nothing.
    tree.file("sys/block/loop0/size", "0\n");
    let card = "sys/class/net/eth0";
    tree.file(&format!("{card}/ifindex"), "2\n")
        .file(&format!("{card}/type"), "1\n")
        .file(&format!("{card}/address"), "00:1f:c6:00:11:22\n")
        .file(&format!("{card}/mtu"), "1500\n")
        .file(&format!("{card}/speed"), "1000\n")
        .file(&format!("{card}/duplex"), "full\n")
        .file(&format!("{card}/operstate"), "up\n")
        .directory(&format!("{card}/queues/rx-0"))
        .directory(&format!("{card}/queues/tx-0"))
        .directory(&format!("{card}/queues/tx-1"))
        .link(
            &format!("{card}/device/driver"),
            "../../bus/pci/drivers/sky2",
        )
        .file("sys/class/net/bonding_masters", "\n")
        .file("sys/module/sky2/version", "1.30\n")
        .file("sys/module/nvidia/version", "340.108\n")
        .file("sys/module/nvidia/taint", "POE\n")
        .directory("sys/module/scsi_mod");
    let graphics = "sys/bus/pci/devices/0000:03:00.0";
    tree.file(&format!("{graphics}/class"), "0x030000\n")
        .file(&format!("{graphics}/vendor"), "0x10de\n")
        .file(&format!("{graphics}/device"), "0x05e0\n")
        .link(
            &format!("{graphics}/driver"),
            "../../../bus/pci/drivers/nvidia",
        )
        .file("sys/bus/pci/devices/0000:00:00.0/class", "0x060000\n");
}

fn system(tree: &Tree) {
    tree.file(
        "etc/os-release",
        "NAME=\"Debian GNU/Linux\"\nVERSION_ID=\"12\"\nID=debian\n",
    )
    .file(
        "proc/meminfo",
        "MemTotal:        6291456 kB\nMemFree:         5242880 kB\nMemAvailable:    5767168 kB\n\
             SwapTotal:             0 kB\nHugepagesize:       2048 kB\n",
    )
    .file(
        "sys/kernel/mm/transparent_hugepage/enabled",
        "always [madvise] never\n",
    )
    .file(
        "sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages",
        "4\n",
    )
    .file("sys/devices/system/node/node0/cpulist", "0-7\n")
    .file(
        "sys/devices/system/node/node0/meminfo",
        "Node 0 MemTotal:        6291456 kB\n",
    )
    .file("proc/sys/kernel/ostype", "Linux\n")
    .file("proc/sys/kernel/osrelease", "6.1.0-13-amd64\n")
    .file(
        "proc/version",
        "Linux version 6.1.0-13-amd64 (who@where) (gcc-12 (Debian 12.2.0-14) 12.2.0, \
             GNU ld 2.40) #1 SMP PREEMPT_DYNAMIC Debian 6.1.55-1\n",
    )
    .file(
        "proc/cmdline",
        "BOOT_IMAGE=/vmlinuz root=/dev/sda1 quiet preempt=full rd.luks.password=hunter2 -- \
             --token abc\n",
    )
    .file(
        "boot/config-6.1.0-13-amd64",
        "CONFIG_HZ=250\nCONFIG_PREEMPT_DYNAMIC=y\n# CONFIG_KASAN is not set\n",
    )
    .file(
        "proc/modules",
        "nvidia 1 2 - Live 0x0 (POE)\nsky2 1 0 - Live 0x0\n",
    )
    .file("proc/sys/kernel/tainted", "12289\n")
    .file(
        "proc/sys/kernel/random/boot_id",
        "85c0b06b-b0bf-4243-8a75-f730d7aff774\n",
    )
    .file(
        "proc/self/mountinfo",
        "22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw,errors=remount-ro\n",
    )
    .link("sys/dev/block/8:1", "../../devices/sda/sda1")
    .file("sys/class/dmi/id/bios_version", "0711\n")
    .file("sys/class/dmi/id/board_name", "P6T WS PRO\n")
    .file("sys/class/dmi/id/product_serial", "SECRET-SERIAL\n")
    .file("sys/class/dmi/id/product_uuid", "SECRET-UUID\n")
    .file("proc/sys/kernel/hostname", "secret-host\n")
    .file("proc/loadavg", "0.50 0.25 0.10 2/345 6789\n")
    .file("proc/uptime", "3600.25 28000.00\n")
    .file(
        "proc/self/status",
        "Name:\tagent\nSeccomp:\t2\nSeccomp_filters:\t1\nNoNewPrivs:\t0\n",
    )
    .file(
        "proc/self/limits",
        "Limit                     Soft Limit           Hard Limit           Units     \n\
             Max open files            1024                 1048576              files     \n\
             Max stack size            8388608              unlimited            bytes     \n",
    );
}

pub fn uml() -> (Tree, Cpuid) {
    let tree = Tree::empty();
    tree.file(
        "proc/cpuinfo",
        "processor\t: 0\nvendor_id\t: User Mode Linux\nmodel name\t: UML\nmode\t\t: skas\n\
         host\t\t: Linux secret-host 6.18.44 #1 SMP x86_64\nbogomips\t: 6041.60\n",
    )
    .file("proc/sys/kernel/osrelease", "6.1.176\n");
    (tree, guest("KVMKVMKVM\0\0\0", 1 << 5))
}

pub fn gvisor() -> (Tree, Cpuid) {
    let tree = Tree::empty();
    tree.file(
        "proc/version",
        "Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016\n",
    )
    .file(
        "proc/cpuinfo",
        "processor\t: 0\nmodel name\t: unknown\nstepping\t: unknown\n",
    )
    .file("proc/loadavg", "0.00 0.00 0.00 0/0 0\n");
    (tree, intel())
}
