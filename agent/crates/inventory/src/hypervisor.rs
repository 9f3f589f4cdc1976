//! What the processor says of a hypervisor (CPUID leaves 1, 40000000h and 40000001h).

use super::leaf::Reported;
use super::source::Source;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hypervisor {
    /// The vendor string of CPUID leaf 40000000h.
    pub vendor: String,
    /// The word for the layer: `kvm`, `tcg`, `hyper-v`, `vmware`, `xen`, ... or `hypervisor`.
    pub layer: &'static str,
    /// Whether it states how much time it takes from its guests (KVM: CPUID 40000001h EAX[5]).
    pub tells_steal: bool,
}

/// The hypervisor that the processor names; `None` where it states that there is none.
pub fn detect(source: &Source) -> Reported<Option<Hypervisor>> {
    let [_, _, features, _] = source.cpuid(1, 0)?;
    if features & (1 << 31) == 0 {
        return Ok(None);
    }
    let Ok([_, b, c, d]) = source.cpuid(0x4000_0000, 0) else {
        return Ok(Some(Hypervisor {
            vendor: String::new(),
            layer: "hypervisor",
            tells_steal: false,
        }));
    };
    let bytes: Vec<u8> = [b, c, d].iter().flat_map(|r| r.to_le_bytes()).collect();
    let vendor = String::from_utf8_lossy(&bytes)
        .trim_matches(|c: char| c == '\0' || c == ' ')
        .to_owned();
    let layer = match vendor.as_str() {
        "KVMKVMKVM" | "Linux KVM Hv" => "kvm",
        "TCGTCGTCGTCG" => "tcg",
        "Microsoft Hv" => "hyper-v",
        "VMwareVMware" => "vmware",
        "XenVMMXenVMM" => "xen",
        "bhyve bhyve" => "bhyve",
        "ACRNACRNACRN" => "acrn",
        "VBoxVBoxVBox" => "virtualbox",
        _ => "hypervisor",
    };
    // Documentation/virt/kvm/x86/cpuid.rst: KVM_FEATURE_STEAL_TIME.
    let tells_steal = match layer {
        "kvm" => matches!(source.cpuid(0x4000_0001, 0), Ok([a, ..]) if a & (1 << 5) != 0),
        "xen" => true,
        _ => false,
    };
    Ok(Some(Hypervisor {
        vendor,
        layer,
        tells_steal,
    }))
}
