//! Planted systems with known answers.

use super::{collect, leaves, machines, reason};
use serde_json::json;

#[test]
fn a_desktop_s_processor() {
    let (tree, cpuid) = machines::desktop();
    let cpu = &collect(&tree, cpuid)["cpu"];
    assert_eq!(cpu["vendor"], "GenuineIntel");
    assert_eq!(cpu["model_name"], "Intel(R) Core(TM) i7 CPU 940 @ 2.93GHz");
    assert_eq!(
        [&cpu["family"], &cpu["model"], &cpu["stepping"]],
        [6, 26, 5]
    );
    assert_eq!([&cpu["sockets"], &cpu["cores"], &cpu["threads"]], [1, 4, 8]);
    assert_eq!(cpu["microcode"], "0x1d");
    assert_eq!(cpu["offline_cpus"], "");
    assert_eq!(cpu["flags"], json!(["fpu", "sse4_2", "aperfmperf"]));
    assert_eq!(cpu["smt"], json!({"control": "on", "active": true}));
    assert_eq!(cpu["tsc"]["invariant"], true);
    let frequency = &cpu["frequency"];
    assert_eq!(frequency["current_khz"], 1_600_000);
    assert_eq!(frequency["current_source"], "scaling_cur_freq");
    assert_eq!(frequency["max_khz"], 2_934_000);
    assert_eq!(frequency["governor"], "schedutil");
    assert_eq!(frequency["turbo"], true);
    assert_eq!(
        frequency["policies"],
        json!([{
            "cpus": "0 1 2 3 4 5 6 7",
            "governor": "schedutil",
            "driver": "acpi-cpufreq",
            "min_khz": 1_600_000,
            "max_khz": 2_934_000,
            "energy_preference": {
                "unsupported": "the policies have no energy_performance_preference"
            },
        }])
    );
}

#[test]
fn a_desktop_s_caches_as_the_system_lists_them() {
    let (tree, cpuid) = machines::desktop();
    let inventory = collect(&tree, cpuid);
    let caches = inventory["caches"].as_array().unwrap();
    let sizes: Vec<_> = caches
        .iter()
        .map(|cache| {
            json!([
                cache["level"],
                cache["type"],
                cache["size_bytes"],
                cache["instances"]
            ])
        })
        .collect();
    assert_eq!(
        json!(sizes),
        json!([
            [1, "data", 32 << 10, 4],
            [1, "instruction", 32 << 10, 4],
            [2, "unified", 256 << 10, 4],
            [3, "unified", 8 << 20, 1]
        ])
    );
    assert_eq!(
        caches[0]["shared_cpus"],
        json!(["0,4", "1,5", "2,6", "3,7"])
    );
    assert_eq!(caches[3]["ways"], 16);
    assert_eq!(caches[3]["source"], "sysfs");
}

#[test]
fn caches_of_cpuid_where_the_system_lists_none() {
    let (_tree, cpuid) = machines::desktop();
    let empty = pentathlon_planted::Tree::empty();
    let inventory = collect(&empty, cpuid);
    let caches = inventory["caches"].as_array().unwrap();
    assert_eq!(caches.len(), 4);
    assert_eq!(caches[0]["size_bytes"], 32 << 10);
    assert_eq!(caches[2]["size_bytes"], 256 << 10);
    assert_eq!(caches[3]["size_bytes"], 8 << 20);
    assert_eq!(caches[3]["sharing_threads_most"], 16);
    assert_eq!(caches[3]["source"], "cpuid");
    assert!(reason(&caches[0]["shared_cpus"]).is_some());

    let inventory = collect(&empty, machines::amd());
    let caches = inventory["caches"].as_array().unwrap();
    assert_eq!(caches.len(), 2);
    assert_eq!(caches[1]["size_bytes"], 32 << 20);
    let cpu = &inventory["cpu"];
    assert_eq!(
        [&cpu["family"], &cpu["model"], &cpu["stepping"]],
        [25, 33, 2]
    );
    assert_eq!(cpu["vendor"], "AuthenticAMD");
}

#[test]
fn a_desktop_s_devices_and_drivers() {
    let (tree, cpuid) = machines::desktop();
    let inventory = collect(&tree, cpuid);
    let disks = inventory["block_devices"].as_object().unwrap();
    assert_eq!(disks.len(), 1, "the empty loop device is left out");
    let disk = &disks["sda"];
    assert_eq!(disk["model"], "ST3500418AS");
    assert_eq!(disk["interface"], "ata");
    assert_eq!(disk["size_bytes"], 500_107_862_016_u64);
    assert_eq!(disk["rotational"], true);
    assert_eq!(disk["scheduler"], "mq-deadline");
    assert_eq!(disk["schedulers"], json!(["none", "mq-deadline", "bfq"]));
    assert_eq!([&disk["read_ahead_kb"], &disk["queue_depth"]], [128, 31]);
    assert_eq!(disk["driver"], "sd");
    assert!(reason(&disk["driver_version"])
        .unwrap()
        .contains("kernel's release"));

    let cards = inventory["network_devices"].as_object().unwrap();
    assert_eq!(cards.len(), 1, "bonding_masters is not a device");
    let card = &cards["eth0"];
    assert_eq!(card["kind"], "ethernet");
    assert_eq!([&card["mtu_bytes"], &card["speed_mbit"]], [1500, 1000]);
    assert_eq!([&card["receive_queues"], &card["send_queues"]], [1, 2]);
    assert_eq!(card["has_hardware_address"], true);
    assert_eq!(card["driver"], "sky2");
    assert_eq!(card["driver_version"], "1.30");
    assert!(reason(&card["offloads"]).is_some());

    let devices = &inventory["drivers"]["devices"];
    assert_eq!(devices["pci 0000:00:00.0"]["component"], "host bridge");
    assert!(reason(&devices["pci 0000:00:00.0"]["driver"]).is_some());
    let graphics = &devices["pci 0000:03:00.0"];
    assert_eq!(graphics["component"], "graphics");
    assert_eq!(graphics["driver"], "nvidia");
    assert_eq!(graphics["driver_version"], "340.108");
    assert_eq!(graphics["provider"], "out of the kernel's tree");
    assert_eq!(
        inventory["drivers"]["module_versions"],
        json!({"nvidia": "340.108", "sky2": "1.30"})
    );
}

#[test]
fn a_desktop_s_system() {
    let (tree, cpuid) = machines::desktop();
    let inventory = collect(&tree, cpuid);
    let memory = &inventory["memory"];
    assert_eq!(memory["total_bytes"], 6_u64 << 30);
    assert_eq!(memory["swap_total_bytes"], 0);
    assert_eq!(memory["transparent_huge_pages"]["enabled"], "madvise");
    assert_eq!(memory["huge_pages"][0]["total"], 4);
    assert_eq!(memory["numa_nodes"][0]["total_bytes"], 6_u64 << 30);
    assert_eq!(inventory["os"]["name"], "Debian GNU/Linux");
    let kernel = &inventory["kernel"];
    assert_eq!(kernel["release"], "6.1.0-13-amd64");
    assert_eq!(
        kernel["build"],
        "gcc-12 (Debian 12.2.0-14) 12.2.0, GNU ld 2.40"
    );
    assert_eq!(kernel["boot_id"], "85c0b06b-b0bf-4243-8a75-f730d7aff774");
    assert_eq!(kernel["preemption"], "full");
    assert_eq!(kernel["taint"], json!({"bits": 12289, "letters": "POE"}));
    assert_eq!(kernel["modules"], json!(["nvidia", "sky2"]));
    assert_eq!(kernel["configuration"]["HZ"], 250);
    assert_eq!(kernel["configuration"]["KASAN"], "n");
    assert_eq!(
        inventory["mitigations"]["l1tf"],
        "Mitigation: PTE Inversion"
    );
    assert_eq!(inventory["firmware"]["version"], "0711");
    let scratch = &inventory["filesystems"]["scratch"];
    assert_eq!(scratch["type"], "ext4");
    assert_eq!(scratch["block_device"], "sda1");
    assert_eq!(scratch["mount_options"], "rw,relatime");
    assert_eq!(inventory["load"]["average_1_min"], 0.5);
    assert_eq!(inventory["load"]["threads"], 345);
    assert_eq!(inventory["security"]["seccomp"], "filter");
    let files = &inventory["limits"]["resources"]["open_files"];
    assert_eq!(
        *files,
        json!({"soft": 1024, "hard": 1_048_576, "unit": "files"})
    );
    let stack = &inventory["limits"]["resources"]["stack_size"];
    assert_eq!(stack["hard"], "unlimited");
    assert_eq!(inventory["virtualization"]["layer"], "host");
}

#[test]
fn nothing_names_a_person_or_an_instance() {
    let (tree, cpuid) = machines::desktop();
    let text = collect(&tree, cpuid).to_string().to_lowercase();
    for secret in ["secret", "hunter2", "00:1f:c6", "abc"] {
        assert!(!text.contains(secret), "{secret} is in the inventory");
    }
    assert!(text.contains("rd.luks.password=(hidden)"));
    let (tree, cpuid) = machines::uml();
    let inventory = collect(&tree, cpuid);
    assert_eq!(
        inventory["cpu"]["kernel_view"]["host_kernel"],
        "Linux 6.18.44 #1 SMP x86_64"
    );
}

#[test]
fn layers_are_seen_from_inside() {
    let layers = |(tree, cpuid): (pentathlon_planted::Tree, machines::Cpuid)| {
        collect(&tree, cpuid)["virtualization"].clone()
    };
    let empty = pentathlon_planted::Tree::empty;
    let guest = |vendor: &str, features| layers((empty(), machines::guest(vendor, features)));

    assert_eq!(layers(machines::desktop())["layers"], json!([]));
    assert_eq!(layers(machines::uml())["layers"], json!(["kvm", "uml"]));
    assert_eq!(layers(machines::gvisor())["layers"], json!(["gvisor"]));
    assert_eq!(layers(machines::gvisor())["layer"], "gvisor");
    assert_eq!(guest("TCGTCGTCGTCG", 0)["layer"], "tcg");
    assert_eq!(guest("Microsoft Hv", 0)["layer"], "hyper-v");
    assert_eq!(guest("SomethingNew", 0)["layer"], "hypervisor");
    assert_eq!(guest("SomethingNew", 0)["hypervisor"], "SomethingNew");
    let kvm = "KVMKVMKVM\0\0\0";
    assert_eq!(guest(kvm, 1 << 5)["hypervisor_tells_steal"], true);
    assert_eq!(guest(kvm, 0)["hypervisor_tells_steal"], false);
    let unnamed = guest("\0\0\0\0\0\0\0\0\0\0\0\0", 0);
    assert!(reason(&unnamed["hypervisor"]).is_some());
    // No CPUID at all, as on other processors.
    let unknown = layers((empty(), machines::Cpuid::new()));
    assert!(reason(&unknown["hypervisor"]).is_some());
}

#[test]
fn zeros_that_say_nothing_are_not_taken_for_values() {
    let (tree, cpuid) = machines::gvisor();
    let inventory = collect(&tree, cpuid);
    for (path, value) in leaves(&inventory["load"]) {
        assert!(reason(value).is_some(), "{path}: {value}");
    }
    assert!(reason(&inventory["cpu"]["kernel_view"]["model_name"]).is_some());
}
