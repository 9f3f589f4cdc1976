"""The kind `gvisor`: gVisor's kernel in a sandbox."""

from pentathlon.targets.descriptor import Kind, Program

KIND = Kind(
    name="gvisor",
    target="pentathlon.targets.gvisor.target:GvisorTarget",
    concurrent=True,
    layers=("gvisor",),
    place="guest",
    renews="a sandbox and its root directory",
    needs="root, or any user where the kernel allows user namespaces",
    keys=("userland",),
    forgets=True,
    programs=(Program("taskset", "util-linux"),),
    doctor="pentathlon.targets.gvisor.doctor:GvisorDoctor",
)
