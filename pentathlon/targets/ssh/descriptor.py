"""The kind `ssh`: another machine."""

from pentathlon.targets.descriptor import End, Kind, Program

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
    # Those that the agent makes for itself, and that need no undoing over there; and those of
    # Windows, which the agent's guard puts back there.
    settings=("scheduler", "nice", "power_plan", "core_parking", "defender"),
    end=End(link="cable", forwards=True),
    programs=(
        Program("ssh", "openssh-client"),
        Program("ipmitool", "ipmitool", "power controllers by IPMI"),
    ),
    doctor="pentathlon.targets.ssh.doctor:SshDoctor",
)
