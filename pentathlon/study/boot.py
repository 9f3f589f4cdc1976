"""Which kernel a machine boots, and what switches it off and on (`[[system]]` `boot`, `power`)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from pentathlon.study.table import Table

FIRMWARE: tuple[str, ...] = ("grub", "bootctl", "efi", "command")
"""Methods by which the firmware starts the kernel; `command` is taken for one."""

PRINTABLE = r"^[^\x00-\x1f\x7f]+$"


class Expect(Table):
    """What every boot of a system must be; what is left out is what its first boot was."""

    release: str | None = Field(default=None, min_length=1)
    """uname -r, with `*`, `?` and `[...]` as in a shell."""
    version: str | None = Field(default=None, min_length=1)
    """uname -v, likewise."""
    cmdline: str | None = Field(default=None, min_length=1)
    """Words that must be on the kernel's command line, in any order."""


Method = Literal["grub", "bootctl", "efi", "kexec", "command"]


class Boot(Table):
    """Which of a machine's kernels each boot of a system starts, and how it is chosen."""

    method: Method
    """`grub` (grub-reboot), `bootctl` (set-oneshot), `efi` (BootNext), `kexec`, or a `command`."""
    entry: str | None = Field(default=None, pattern=PRINTABLE)
    """`grub`: id or title of a menu entry; `bootctl`: id of an entry; `efi`: number or title of a
    boot option; `kexec`: release of a kernel in /boot; `command`: whatever it is for the
    command."""
    kernel: str | None = Field(default=None, pattern=r"^/[^\x00-\x1f\x7f]+$")
    """`kexec`: file of the kernel on the machine, instead of `entry`."""
    initrd: str | None = Field(default=None, pattern=r"^/[^\x00-\x1f\x7f]+$")
    """`kexec`: file of its initial memory file system; none if `kernel` is named without it."""
    cmdline: str | None = Field(default=None, pattern=PRINTABLE)
    """`grub`, `bootctl`: words added to the entry's command line; `kexec`: to that of the kernel
    that the machine runs in its default entry."""
    command: str | None = Field(default=None, min_length=1)
    """`command`: shell command on the experimenter's machine that makes the machine's next start,
    and only that one, the wanted one. The restart itself is not its work."""
    back: str | None = Field(default=None, min_length=1)
    """`command`: shell command that makes the next start the default again."""
    expect: Expect = Expect()

    @model_validator(mode="after")
    def _keys_of_method(self) -> Boot:
        problem = _problem(self)
        if problem is not None:
            raise ValueError(problem)
        return self

    @property
    def by_firmware(self) -> bool:
        """Whether the firmware starts the kernel, and not the kernel before it."""
        return self.method in FIRMWARE


def _problem(boot: Boot) -> str | None:
    """What of a method's keys is missing, or belongs to another method."""
    method = boot.method
    own: dict[str, tuple[str, ...]] = {
        "kernel": ("kexec",),
        "initrd": ("kexec",),
        "command": ("command",),
    }
    own |= {"back": ("command",), "cmdline": ("grub", "bootctl", "kexec")}
    for key, methods in own.items():
        if getattr(boot, key) is not None and method not in methods:
            takers = " or ".join(f'"{one}"' for one in methods)
            return f'the key "{key}" is for the method {takers}, and this one is "{method}"'
    if method == "command":
        return None if boot.command else 'the method "command" needs command = "..."'
    if method == "kexec":
        if (boot.entry is None) == (boot.kernel is None):
            return (
                'the method "kexec" needs either entry = "RELEASE" of a kernel in /boot, or '
                'kernel = "FILE"'
            )
        if boot.initrd is not None and boot.kernel is None:
            return 'the key "initrd" belongs to "kernel"; with "entry" it is found in /boot'
        return None
    return None if boot.entry else f'the method "{method}" needs entry = "..."'


Controller = Literal["redfish", "ipmi", "command"]


class Power(Table):
    """What switches a machine off and on that does not come back by itself."""

    controller: Controller
    """`redfish` and `ipmi`: its management controller; `command`: a command of yours."""
    address: str | None = Field(default=None, pattern=r"^[^\s\x00-\x1f\x7f]+$")
    """`redfish`: "https://HOST[:PORT]"; `ipmi`: host name or address."""
    port: int | None = Field(default=None, ge=1, le=65535)
    """`ipmi`: UDP port, 623 if None."""
    system: str | None = Field(default=None, min_length=1)
    """`redfish`: id of the computer system, where the controller has several."""
    user: str | None = Field(default=None, min_length=1)
    password_file: str | None = Field(default=None, min_length=1)
    """File whose first line is the password; no password is written into a study."""
    verify: bool | str = True
    """`redfish`: whether the controller's certificate is checked, or the file of its authority."""
    command: str | None = Field(default=None, min_length=1)
    """`command`: shell command on the experimenter's machine that switches it off and on."""

    @model_validator(mode="after")
    def _keys_of_controller(self) -> Power:
        if self.controller == "command":
            if self.command is None:
                raise ValueError('the controller "command" needs command = "..."')
        elif self.address is None:
            raise ValueError(f'the controller "{self.controller}" needs address = "..."')
        elif self.command is not None:
            raise ValueError(
                f'the key "command" is for the controller "command", and this one is '
                f'"{self.controller}"'
            )
        if self.controller == "redfish" and not (self.address or "").startswith(
            ("https://", "http://")
        ):
            raise ValueError(
                'the address of a Redfish service begins with "https://", such as '
                '"https://bmc1.example.org"'
            )
        return self
