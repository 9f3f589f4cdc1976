"""Settings of another Linux machine: governor, turbo, huge pages, sysctl, CPU quota and others.

Each is read there, the command that puts it back is written there for the guard (its words, a line
of JSON: agent/crates/session/src/home.rs), it is set, and read again. The guard puts everything
back when the session ends, in whatever way; where the guard was killed too, the next session's
does. What a power cut ended needs no putting back: these settings are in the kernel's memory.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pentathlon.machine import sysfs
from pentathlon.machine.cgroup import PERIOD_US
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.targets.ssh.copies import Run, write_copy
from pentathlon.targets.ssh.windows.settings import KEYS as WINDOWS

BY_AGENT = ("scheduler", "nice")
"""Those that the agent makes for itself."""

QUOTA = "cpu_quota_percent"

MARK = "pentathlon-setting"

LOOKED_AT: dict[str, tuple[str, ...]] = {
    "transparent_hugepage": (sysfs.SINGLE["transparent_hugepage"],),
    "transparent_hugepage_defrag": (sysfs.SINGLE["transparent_hugepage_defrag"],),
    "aslr": (sysfs.SINGLE["aslr"],),
    "swappiness": (sysfs.SINGLE["swappiness"],),
    "tcp_congestion_control": (
        sysfs.SINGLE["tcp_congestion_control"],
        "proc/sys/net/ipv4/tcp_available_congestion_control",
    ),
    "governor": (
        f"{sysfs.CPUS}/cpu[0-9]*/cpufreq/scaling_governor",
        f"{sysfs.CPUS}/cpu[0-9]*/cpufreq/scaling_available_governors",
    ),
    "turbo": (sysfs.NO_TURBO, sysfs.BOOST),
    "smt": (sysfs.SMT,),
    "irq_affinity": ("proc/irq/[0-9]*/smp_affinity_list",),
}
"""The files of each setting that say what the machine has, as patterns of a shell."""

ROOT = 'if [ "$(id -u)" = 0 ]; then S=; else S="sudo -n"; fi\n'

# Words: patterns of files. A value of several lines is not one of these settings.
LOOK = rf"""
for pattern; do for file in $pattern; do
    [ -f "$file" ] || continue
    printf '{MARK} %s %s\n' "$file" "$(tr -s '\n\t' '  ' <"$file" 2>/dev/null)"
done; done
{ROOT}
$S true 2>/dev/null && echo "{MARK} root"
for one in $(sed -n 's/^[^ ]* \([^ ]*\) cgroup2 .*/\1/p' /proc/mounts); do
    grep -qsw cpu "$one/cgroup.controllers" && echo "{MARK} quota"
done
grep -qE '^[^ ]+ [^ ]+ cgroup ([^ ]*,)?cpu[, ]' /proc/mounts && echo "{MARK} quota"
:
"""

CURRENT = r"""
current() {
    value=$(tr -s '\n\t' '  ' <"$1") || return
    case $value in *\[*\]*) value=${value#*\[}; value=${value%%\]*} ;; esac
    echo "${value% }"
}
"""
"""Defines `current FILE`: its value, as `machine.restore.current` has it."""

# Words of what it is run with: file, value, value before. Lies in the session's directory.
PUT_BACK = rf"""
{ROOT}{CURRENT}[ -e "$1" ] || exit 0
# Somebody else may have changed it since, and knows why.
[ "$(current "$1")" = "$2" ] || exit 0
printf '%s\n' "$3" | $S tee "$1" >/dev/null
[ "$(current "$1")" = "$3" ]
"""

COMMON = rf"""
{ROOT}{CURRENT}# The words of a command, one line of JSON: the guard runs the last line first.
list() {{
    comma=
    for word; do
        printf '%s"%s"' "$comma" "$(printf %s "$word" | sed 's/[\\"]/\\&/g')"
        comma=,
    done
}}
note() {{ printf '[%s]\n' "$(list "$@")" >>"$directory/undo"; }}
"""

# Words: the session's directory, the script PUT_BACK; then for each file: its path, its value, and
# "any" where the kernel may refuse it.
SET = (
    COMMON
    + rf"""
directory=$1
printf '%s' "$2" >"$directory/put-back" || exit 3
shift 2
while [ $# -ge 3 ]; do
    file=$1 wanted=$2 may=$3
    shift 3
    now=$(current "$file")
    [ "$now" = "$wanted" ] && continue
    note /bin/sh "$directory/put-back" "$file" "$wanted" "$now" || exit 3
    why=$(printf '%s\n' "$wanted" | $S tee "$file" 2>&1 >/dev/null)
    reads=$(current "$file")
    if [ "$reads" != "$wanted" ] && [ "$may" != any ]; then
        printf '{MARK} %s reads %s after %s was written%s\n' "$file" "$reads" "$wanted" "${{why:+ ($why)}}"
        exit 0
    fi
done
echo "{MARK} done"
"""  # noqa: E501
)

# Words: the session's directory, its token, quota and period in microseconds.
GROUP = (
    COMMON
    + rf"""
directory=$1 token=$2 quota=$3 period=$4
second=$(sed -n 's/^[^ ]* \([^ ]*\) cgroup2 .*/\1/p' /proc/mounts | head -n 1)
first=$(sed -nE 's/^[^ ]+ ([^ ]+) cgroup (([^ ]*,)?cpu[, ].*)/\1/p' /proc/mounts | head -n 1)
parent=$first
[ -n "$parent" ] || parent=$second
group=$parent/pentathlon-$token
if [ -z "$first" ] && ! grep -qw cpu "$second/cgroup.subtree_control"; then
    note /bin/sh -c "echo -cpu | $S tee \"\$0\"" "$second/cgroup.subtree_control" || exit 3
    echo +cpu | $S tee "$second/cgroup.subtree_control" >/dev/null || exit 4
fi
# A process that has just ended leaves its group a little later.
note /bin/sh -c "for i in 1 2 3 4 5 6; do $S rmdir \"\$0\" && break; sleep 0.3; done; [ ! -d \"\$0\" ]" "$group" || exit 3
$S mkdir "$group" || exit 4
if [ -n "$first" ]; then
    echo "$period" | $S tee "$group/cpu.cfs_period_us" >/dev/null &&
    echo "$quota" | $S tee "$group/cpu.cfs_quota_us" >/dev/null || exit 4
else
    echo "$quota $period" | $S tee "$group/cpu.max" >/dev/null || exit 4
fi
# The guard starts its verb by this command.
join="echo \$\$ | $S tee \"\$0/cgroup.procs\" >/dev/null && exec \"\$@\""
printf '[%s]' "$(list /bin/sh -c "$join" "$group")" >"$directory/before"
echo "{MARK} done"
"""  # noqa: E501
)


def looked(run: Run, names: Iterable[str]) -> list[str]:
    """What `LOOK` finds on a machine: a line for each file with its value, "root" and "quota"."""
    lines = run(LOOK, *names).splitlines()
    return [line[len(MARK) + 1 :] for line in lines if line.startswith(MARK)]


def copied(lines: Iterable[str], root: Path) -> None:
    """Copies of the files of such lines below a directory."""
    for line in lines:
        name, _, value = line.partition(" ")
        write_copy(root, name, value)


class LinuxSettings:
    """The settings that a study gives one system, for the Linux machine that it is.

    Args:
        host: the machine, for sentences.
        cpu_count: how many CPUs it has, for those that are counted from the last.
    """

    def __init__(self, host: str, values: Mapping[str, Any], cpu_count: int) -> None:
        self._host = host
        self._values = {k: v for k, v in values.items() if k not in (*BY_AGENT, *WINDOWS)}
        if "irq_affinity" in self._values:
            cpus = [cpu + cpu_count if cpu < 0 else cpu for cpu in self._values["irq_affinity"]]
            for cpu in cpus:
                if not 0 <= cpu < cpu_count:
                    raise TargetUnavailable(
                        f"irq_affinity names a CPU that is not on {host}, which has {cpu_count}"
                    )
            self._values["irq_affinity"] = sorted(set(cpus))

    def __bool__(self) -> bool:
        return bool(self._values)

    def writes(self, run: Run) -> list[tuple[str, str, str]]:
        """The files of the settings over there, the value of each, and "any" where the kernel may
        refuse it; changes nothing.

        Raises:
            TargetUnavailable: the machine lacks a setting, or this user may not change it.
        """
        names = [f"/{name}" for key in self._values for name in self._patterns(key)]
        lines = looked(run, names)
        if "root" not in lines:
            raise TargetUnavailable(
                f"{', '.join(self._values)} cannot be set on {self._host}: the login there is "
                "neither root's, nor may it call `sudo -n`"
            )
        if QUOTA in self._values and "quota" not in lines:
            raise TargetUnavailable(
                f"the kernel of {self._host} offers no cgroup `cpu` controller, so a CPU quota "
                "cannot be set"
            )
        found: list[tuple[str, str, str]] = []
        # Which files a setting has is decided as for this machine, on a copy of the other's files.
        with tempfile.TemporaryDirectory(prefix="pentathlon-") as place:
            root = Path(place)
            copied(lines, root)
            for key in sysfs.KNOWN:
                if key not in self._values:
                    continue
                may = "any" if key in sysfs.PARTIAL else "all"
                try:
                    files = sysfs.writes(key, self._values[key], root)
                except TargetUnavailable as error:
                    reason = error.reason.replace(place, "")
                    raise TargetUnavailable(f"{self._host}: {reason}") from error
                found += [(f"/{file.relative_to(root)}", value, may) for file, value in files]
        return found

    def _patterns(self, key: str) -> tuple[str, ...]:
        if key == "sysctl":
            return tuple(sysfs.sysctl_file(name) for name in self._values[key])
        return LOOKED_AT.get(key, ())

    def apply(self, run: Run, directory: str, token: str) -> None:
        """Change the machine.

        Args:
            directory: the session's over there, which the guard looks after.
            token: the session's.

        Raises:
            TargetUnavailable: a setting cannot be made there.
        """
        if not self:
            return
        words = [word for one in self.writes(run) for word in one]
        self._made(run(SET, directory, PUT_BACK, *words))
        if (percent := self._values.get(QUOTA)) is not None:
            quota = round(PERIOD_US * float(percent) / 100)
            try:
                self._made(run(GROUP, directory, token, str(quota), str(PERIOD_US)))
            except TargetUnavailable:
                raise
            except TargetError as error:
                raise TargetUnavailable(
                    f"the kernel of {self._host} refuses a CPU quota of {percent:g} %: {error}"
                ) from error

    def _made(self, output: str) -> None:
        last = (output.strip().splitlines() or [""])[-1].removeprefix(f"{MARK} ")
        if last != "done":
            raise TargetUnavailable(f"a setting cannot be made on {self._host}: {last}")
