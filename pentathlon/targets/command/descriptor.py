"""The kind `command`: a program of the user's own that starts the agent."""

from pentathlon.targets.descriptor import Kind

KIND = Kind(
    name="command",
    target="pentathlon.targets.command.target:CommandTarget",
    layers=("command",),
    place="here",
    renews="what your command starts",
    needs="who may use the command",
    keys=("agent",),
    own_keys={"command": list[str], "copy_command": list[str], "placed": str},
    alone="command",
    required={"command": 'command = ["incus", "exec", "box", "--", "{agent}"]'},
)
