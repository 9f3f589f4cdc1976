"""The kind `wine`: the Win32 interface on this machine's kernel."""

from pentathlon.targets.descriptor import End, Kind

KIND = Kind(
    name="wine",
    target="pentathlon.targets.wine.target:WineTarget",
    layers=("wine",),
    place="guest",
    renews="a prefix with its registry, and a server",
    needs="any user",
    keys=("agent",),
    forgets=True,
    idle_tasks=("process_idle_tasks",),
    concurrent=True,
    end=End(pair="loopback"),
    doctor="pentathlon.targets.wine.doctor:WineDoctor",
)
