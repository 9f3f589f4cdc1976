//! The x86 instruction CPUID, which reports the processor even where the system does not
//! (Intel SDM vol. 2A, "CPUID"; AMD APM vol. 3, appendix E).

/// EAX, EBX, ECX and EDX of a leaf.
pub type Registers = [u32; 4];

/// Reads `leaf` and `subleaf`; none if this processor (or hypervisor) has no such leaf.
#[cfg(target_arch = "x86_64")]
pub fn read(leaf: u32, subleaf: u32) -> Option<Registers> {
    use std::arch::x86_64::__cpuid_count;
    // SAFETY: every x86-64 processor has CPUID. Leaf 0 of each range (basic, hypervisor,
    // extended) reports the last leaf of that range. The call became safe in later compilers.
    #[allow(unused_unsafe)]
    let ask = |leaf, subleaf| unsafe { __cpuid_count(leaf, subleaf) };
    let range = leaf & 0xC000_0000;
    // The hypervisor's leaves exist only if leaf 1 states that there is one: without it the
    // processor answers with the data of its last basic leaf.
    if range == 0x4000_0000 && ask(1, 0).ecx & (1 << 31) == 0 {
        return None;
    }
    let last = match ask(range, 0).eax {
        // KVM before Linux 2.6.34 left it empty and meant leaf 40000001h.
        0 if range == 0x4000_0000 => 0x4000_0001,
        last => last,
    };
    if leaf > last {
        return None;
    }
    let answer = ask(leaf, subleaf);
    Some([answer.eax, answer.ebx, answer.ecx, answer.edx])
}

#[cfg(not(target_arch = "x86_64"))]
pub fn read(_leaf: u32, _subleaf: u32) -> Option<Registers> {
    None
}
