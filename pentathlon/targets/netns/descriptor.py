"""The kind `netns`: this machine in a network namespace of its own."""

from pentathlon.targets.descriptor import EVERY, End, Kind, Program

KIND = Kind(
    name="netns",
    target="pentathlon.targets.netns.target:NetnsTarget",
    layers=("host",),
    place="here",
    renews="the agent's process and a network namespace",
    needs="root, or any user where the kernel allows user namespaces",
    settings=EVERY,
    concurrent=True,
    movable=True,
    end=End(pair="veth", link="namespace", forwards=True),
    programs=(Program("unshare", "util-linux"), Program("ip", "iproute2")),
)
