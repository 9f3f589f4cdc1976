//! Which layers lie between this process and the hardware: a hypervisor, another kernel.

use crate::hypervisor::{self, Hypervisor};
use crate::leaf::{Reason, Reported};
use crate::source::Source;
use pentathlon_os::kernel;

/// The layers as far as the system lets them be seen from inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layers {
    /// What the processor says of a hypervisor; `None` where it states that there is none.
    pub hypervisor: Reported<Option<Hypervisor>>,
    pub kernel: Kernel,
    /// What the answer rests on.
    pub evidence: Vec<String>,
}

/// Which kind of kernel answers the system calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kernel {
    /// Linux as an operating system of its own.
    Linux,
    /// User-mode Linux: a kernel that is a process of another.
    Uml,
    /// gVisor's kernel in user space.
    Gvisor,
}

impl Layers {
    pub fn detect(source: &Source) -> Self {
        let mut evidence = Vec::new();
        let hypervisor = hypervisor::detect(source);
        match &hypervisor {
            Ok(Some(found)) if found.vendor.is_empty() => {
                evidence.push("CPUID says that there is a hypervisor, and not which".to_owned());
            }
            Ok(Some(found)) => {
                evidence.push(format!("CPUID names the hypervisor {:?}", found.vendor));
            }
            Ok(None) => evidence.push("CPUID names no hypervisor".to_owned()),
            Err(reason) => evidence.push(reason.to_string()),
        }
        let kernel = kernel(source, &mut evidence);
        Self {
            hypervisor,
            kernel,
            evidence,
        }
    }

    /// From the outermost to the innermost; empty on bare hardware.
    pub fn names(&self) -> Vec<&'static str> {
        let outer = match &self.hypervisor {
            Ok(Some(found)) => Some(found.layer),
            _ => None,
        };
        let inner = match self.kernel {
            Kernel::Linux => None,
            Kernel::Uml => Some("uml"),
            Kernel::Gvisor => Some("gvisor"),
        };
        outer.into_iter().chain(inner).collect()
    }
}

fn kernel(source: &Source, evidence: &mut Vec<String>) -> Kernel {
    match source.text("/proc/cpuinfo") {
        Ok(cpuinfo) if cpuinfo.contains("User Mode Linux") => {
            evidence.push("/proc/cpuinfo says User Mode Linux".to_owned());
            return Kernel::Uml;
        }
        Ok(_) => {}
        Err(reason) => evidence.push(format!("{reason}, where a user-mode Linux would say so")),
    }
    // gVisor answers uname(2) with one version since it exists (pkg/sentry/syscalls/linux), and
    // its log with lines that no other kernel writes.
    const GVISOR_BUILD: &str = "Sun Jan 10 15:06:54 PST 2016";
    let version = source
        .ask("uname(2)", || Ok(kernel::uname().version))
        .or_else(|_| source.string("/proc/version"));
    if version.is_ok_and(|version| version.contains(GVISOR_BUILD)) {
        evidence.push(format!(
            "the kernel says that it was built {GVISOR_BUILD}, as gVisor does"
        ));
        let log = source.ask("syslog(2)", || {
            kernel::log().ok_or_else(|| Reason::new("syslog(2) failed"))
        });
        if log.is_ok_and(|log| log.contains("Starting gVisor")) {
            evidence.push("the kernel's log says Starting gVisor".to_owned());
        }
        return Kernel::Gvisor;
    }
    Kernel::Linux
}
