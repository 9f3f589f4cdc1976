"""The kind `qemu`: a virtual machine."""

from pentathlon.targets.descriptor import End, Kind, Program

KIND = Kind(
    name="qemu",
    target="pentathlon.targets.qemu.target:make",
    layers=("tcg", "kvm"),
    place="guest",
    renews="a virtual machine, its kernel, memory and root",
    needs="any user; `kvm`: a user with access to `/dev/kvm`",
    keys=("kernel", "memory", "accelerator", "userland"),
    alone="kernel",
    required={"kernel": 'kernel = "6.1"'},
    forgets=True,
    concurrent=True,
    end=End(link="tap", forwards=True),
    programs=(Program("qemu-system-x86_64", "qemu-system-x86"),),
    doctor="pentathlon.targets.qemu.doctor:QemuDoctor",
)
