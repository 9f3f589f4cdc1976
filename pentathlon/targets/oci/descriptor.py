"""The kind `oci`: a container by runc or crun."""

from typing import Literal

from pydantic import ConfigDict
from typing_extensions import TypedDict

from pentathlon.targets.descriptor import Kind, Program


class Container(TypedDict, total=False):
    """How the container is made (`container` of its [[system]]).

    Attributes:
        runtime: the program; None: runc, else crun.
        seccomp: "off", "default" (the profile of podman and docker), or the path of a profile.
        network: "none": a namespace with the loopback device only; "host": this machine's.
        cpu_percent: CPU bandwidth in percent of one CPU.
        memory: bytes of memory, such as "512M".
        pids: processes and threads.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]

    runtime: Literal["runc", "crun"]
    seccomp: str
    network: Literal["none", "host"]
    cpu_percent: float
    memory: str
    pids: int


KIND = Kind(
    name="oci",
    target="pentathlon.targets.oci.target:OciTarget",
    concurrent=True,
    layers=("container",),
    place="guest",
    renews="a container: its namespaces, its control group and its root directory",
    needs="root",
    keys=("userland",),
    own_keys={"container": Container},
    alone="userland",
    forgets=True,
    programs=(Program("unshare", "util-linux"),),
    doctor="pentathlon.targets.oci.doctor:OciDoctor",
)
