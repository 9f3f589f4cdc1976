"""The kind `qemu`: a virtual machine."""

from typing import Literal, Required

from pydantic import ConfigDict
from typing_extensions import TypedDict

from pentathlon.targets.descriptor import End, Kind, Program


class Disk(TypedDict, total=False):
    """A disk image with a system of the user's own (`disk` of its [[system]]).

    Attributes:
        image: absolute path of the image: raw, qcow2, vmdk, vdi or vhdx.
        user: login on it by ssh(1); None: this user's name.
        key: file of the private key; None: those that ssh(1) tries.
        port: where its ssh server listens; None: 22.
        firmware: "bios" or "uefi"; None: "bios" for x86_64, "uefi" for aarch64.
        devices: "virtio", or "emulated" for a system without drivers for those: a SATA disk and an
            Intel network card.
        machine: its processor; None: x86_64.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]

    image: Required[str]
    user: str
    key: str
    port: int
    firmware: Literal["bios", "uefi"]
    devices: Literal["virtio", "emulated"]
    machine: Literal["x86_64", "aarch64"]


KIND = Kind(
    name="qemu",
    target="pentathlon.targets.qemu.target:make",
    layers=("tcg", "kvm"),
    place="guest",
    renews="a virtual machine, its kernel, memory and root",
    needs="any user; `kvm`: a user with access to `/dev/kvm`",
    keys=("kernel", "memory", "accelerator", "userland"),
    own_keys={"disk": Disk},
    alone="kernel",
    required={"kernel": 'kernel = "6.1"'},
    instead={"kernel": "disk"},
    forgets=True,
    concurrent=True,
    end=End(link="tap", forwards=True),
    programs=(
        Program("qemu-system-x86_64", "qemu-system-x86"),
        Program("qemu-system-aarch64", "qemu-system-arm", "disk images for 64-bit ARM"),
        Program("ssh", "openssh-client", "disk images of your own"),
    ),
    doctor="pentathlon.targets.qemu.doctor:QemuDoctor",
)
