"""The kind `uml`: user-mode Linux."""

from pentathlon.targets.descriptor import End, Kind, Program

KIND = Kind(
    name="uml",
    target="pentathlon.targets.uml.target:UmlTarget",
    layers=("uml",),
    place="guest",
    renews="a kernel, its memory and its root directory",
    needs="any user",
    keys=("kernel", "memory", "uml_args", "userland"),
    alone="kernel",
    required={"kernel": 'kernel = "6.1"'},
    concurrent=True,
    end=End(pair="sockets", link="packets", forwards=True),
    programs=(
        Program("setarch", "util-linux"),
        Program("taskset", "util-linux"),
        Program("cc", "gcc libc6-dev", "UML kernels up to 6.12"),
    ),
    doctor="pentathlon.targets.uml.doctor:UmlDoctor",
)
