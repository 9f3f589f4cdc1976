"""The kind `ssh`: another machine."""

from pentathlon.targets.descriptor import EVERY, End, Kind, Program

KIND = Kind(
    name="ssh",
    target="pentathlon.targets.ssh.target:SshTarget",
    layers=("ssh",),
    place="elsewhere",
    renews="the agent's process; with `reboot` the machine's boot",
    needs="a login there without a prompt",
    keys=("ssh", "agent", "boot", "power"),
    alone="ssh.host",
    required={"ssh": 'ssh = { host = "NAME" }'},
    # Those that the agent makes for itself, those of Linux, and those of Windows, which the guard
    # puts back over there.
    settings=EVERY,
    # Whether it is Linux or Windows shows when it is reached; each has reasons for the other's.
    idle_tasks=("sync", "fstrim", "drop_caches", "process_idle_tasks"),
    end=End(link="cable", forwards=True),
    movable=True,
    programs=(
        Program("ssh", "openssh-client"),
        Program("ipmitool", "ipmitool", "power controllers by IPMI"),
    ),
    doctor="pentathlon.targets.ssh.doctor:SshDoctor",
)
