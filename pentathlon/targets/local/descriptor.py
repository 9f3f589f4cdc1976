"""The kind `local`: this machine itself."""

from pentathlon.targets.descriptor import EVERY, End, Kind

KIND = Kind(
    name="local",
    target="pentathlon.targets.local.target:LocalTarget",
    layers=("host",),
    place="here",
    renews="the agent's process",
    needs="any user; most settings need root",
    settings=EVERY,
    concurrent=True,
    movable=True,
    scheduled="pentathlon.targets.local.scheduled:ScheduledTarget",
    end=End(pair="loopback"),
)
