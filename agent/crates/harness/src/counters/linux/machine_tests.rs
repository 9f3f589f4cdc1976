use super::*;
use pentathlon_inventory::hypervisor::Hypervisor;
use pentathlon_inventory::leaf::Reason;

const HOST: &[u8] = b"cpu  12931 7 24994 325825 460 0 54 39 5 0\n\
    cpu0 3528 0 12064 166816 41 0 12 16 0 0\n\
    intr 13394278 0 0 25\nctxt 28726518\nbtime 1795204504\n";
const GVISOR: &[u8] = b"cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\nintr 0 0 0\nctxt 0\n";
const UML: &[u8] = b"cpu  162 0 11 0 0 0 0 0 0 0\ncpu0 162 0 11 0 0 0 0 0 0 0\nintr 175 175 0\n";

fn layers(kernel: Kernel, hypervisor: Result<Option<bool>, &str>) -> Layers {
    Layers {
        hypervisor: hypervisor
            .map(|found| {
                found.map(|tells_steal| Hypervisor {
                    vendor: "Microsoft Hv".into(),
                    layer: "hyper-v",
                    tells_steal,
                })
            })
            .map_err(Reason::new),
        kernel,
        evidence: Vec::new(),
    }
}

#[test]
fn the_fields_are_where_proc_5_states() {
    assert_eq!(
        Stat::parse(HOST),
        Stat {
            ticks: Some(12931 + 7 + 24994 + 325_825 + 460 + 54 + 39),
            steal_ticks: Some(39),
            interrupts: Some(13_394_278),
        }
    );
}

#[test]
fn what_is_malformed_is_none_and_never_zero() {
    for text in [
        &b""[..],
        b"\n\n\n",
        b"cpu",
        b"cpu \nintr \n",
        b"cpu  a b c d e f g h\nintr x\n",
        b"cpu  1 2 3 4 5 6 7\nintr -5\n",
        b"cpu0 1 2 3 4 5 6 7 8\n intr 5\n",
        b"cpu  99999999999999999999 2 3 4 5 6 7 1e3 9\nintr 99999999999999999999\n",
        b"\xff\xfe\0cpu  1 2 3 4 5 6 7 8\n",
    ] {
        let stat = Stat::parse(text);
        let shown = String::from_utf8_lossy(text);
        assert_eq!(stat.steal_ticks, None, "{shown}");
        assert_eq!(stat.interrupts, None, "{shown}");
        assert!(steal_support(&stat, &layers(Kernel::Linux, Ok(None))).is_err());
        assert!(interrupt_support(&stat).is_err());
    }
}

#[test]
fn a_number_cut_off_by_the_buffer_is_not_taken_for_a_smaller_one() {
    let whole = Stat::parse(HOST);
    for length in 0..HOST.len() {
        let part = Stat::parse(&HOST[..length]);
        assert!(part.steal_ticks.is_none() || part.steal_ticks == whole.steal_ticks);
        assert!(part.interrupts.is_none() || part.interrupts == whole.interrupts);
    }
}

#[test]
fn any_bytes_are_survived() {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    for _ in 0..20_000 {
        let mut text = HOST.to_vec();
        for _ in 0..3 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let at = (state >> 16) as usize % text.len();
            text[at] = state as u8;
        }
        text.truncate(1 + (state >> 32) as usize % text.len());
        Stat::parse(&text);
    }
}

#[test]
fn a_counter_that_cannot_move_is_refused_with_the_reason() {
    let host = Stat::parse(HOST);
    let gvisor = Stat::parse(GVISOR);
    let uml = Stat::parse(UML);
    let bare = layers(Kernel::Linux, Ok(None));
    let refusal = |stat: &Stat, layers: &Layers| steal_support(stat, layers).unwrap_err();

    // It has moved, so it can.
    assert!(steal_support(&host, &layers(Kernel::Linux, Ok(Some(false)))).is_ok());
    // Nobody to steal: zero is true.
    assert!(steal_support(&uml, &bare).is_ok());
    assert!(steal_support(&uml, &layers(Kernel::Linux, Ok(Some(true)))).is_ok());
    assert!(refusal(&uml, &layers(Kernel::Linux, Ok(Some(false)))).contains("Microsoft Hv"));
    assert!(refusal(&uml, &layers(Kernel::Linux, Err("no CPUID"))).contains("not known"));
    assert!(refusal(&uml, &layers(Kernel::Uml, Ok(Some(true)))).contains("user-mode Linux"));
    assert!(refusal(&gvisor, &bare).contains("no time at all"));

    assert!(interrupt_support(&host).is_ok());
    assert!(interrupt_support(&uml).is_ok());
    assert!(interrupt_support(&gvisor).is_err());
}

#[test]
fn the_open_file_gives_the_same_as_a_fresh_read() {
    let Ok((mut machine, _)) = Machine::try_open() else {
        eprintln!("skipped: no readable /proc/stat here");
        return;
    };
    machine.interrupts = true;
    machine.steal = true;
    let now = || Stat::parse(&std::fs::read("/proc/stat").unwrap());
    let before = now();
    let mut delta = Delta::default();
    machine.read(&mut delta);
    let after = now();
    assert!(before.interrupts <= delta.interrupts && delta.interrupts <= after.interrupts);
    assert!(delta.interrupts.is_some() || before.interrupts.is_none());
    assert!(delta.steal_ns.is_some() || before.steal_ticks.is_none());
}
