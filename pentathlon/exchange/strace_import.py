"""A recording of strace(1) as a trace that the agent replays.

Descriptors are followed through open, dup, fork and close, so that reads and writes without a
position get theirs. What the format cannot say is counted, not guessed: reads and writes through
mappings, truncation, holes, copies inside the kernel.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from pentathlon.exchange import strace
from pentathlon.exchange.disk_trace import Step, Trace
from pentathlon.exchange.strace import Call, StraceError

SKIPPED_PLACES = ("/dev/", "/proc/", "/sys/", "/run/")
"""What lies there is no file on a disk."""

_LEFT_OUT = {
    "truncate": "truncation",
    "ftruncate": "truncation",
    "fallocate": "fallocate",
    "sendfile": "copy inside the kernel",
    "copy_file_range": "copy inside the kernel",
    "splice": "copy inside the kernel",
}


@dataclass
class _Handle:
    """An open file description: dup and fork share it, with its position."""

    file: int
    position: int = 0
    append: bool = False
    references: int = 1


@dataclass
class _State:
    """What is known of one file."""

    size: int = 0
    created: bool = False
    """Made by the trace, so that its size is known and not found out."""
    open: int = 0
    changed: bool = False
    doomed: bool = False
    """Removed while open: the removal is written down when it is closed."""


@dataclass
class Imported:
    """The trace, and what of the recording is not in it."""

    trace: Trace
    left_out: Counter[str] = field(default_factory=Counter)


def import_strace(lines: Iterable[str], name: str) -> Imported:
    """Turns a recording into a trace.

    Raises StraceError if a line is none of strace, or nothing in it reads or writes a file.
    """
    importer = _Importer(name)
    for call in strace.read_calls(lines):
        importer.call(call)
    importer.finish()
    trace = importer.imported.trace
    if not trace.moved("read") + trace.moved("write"):
        raise StraceError("nothing in the recording reads or writes a file")
    return importer.imported


class _Importer:
    def __init__(self, name: str) -> None:
        self.imported = Imported(Trace(name))
        self.start_s: float | None = None
        self.numbers: dict[str, int] = {}
        self.states: list[_State] = []
        self.tables: dict[int, dict[int, _Handle]] = {}
        self.directories: dict[int, str] = {}
        """Where each process works, as far as strace printed it."""

    # Files and steps

    def number(self, path: str, *, exists: bool) -> int:
        """The number of the file at `path`, which is new if it was not met before."""
        if path not in self.numbers:
            self.numbers[path] = len(self.states)
            self.states.append(_State(created=not exists))
            self.imported.trace.files.append(0 if exists else None)
        return self.numbers[path]

    def step(self, call: Call, operation: str, file: int, position: int = 0, size: int = 0) -> None:
        if self.start_s is None:
            self.start_s = call.time_s
        time_us = max(round((call.time_s - self.start_s) * 1e6), 0)
        self.imported.trace.steps.append(Step(time_us, operation, file, position, size))

    def left_out(self, reason: str) -> None:
        self.imported.left_out[reason] += 1

    def learn_size(self, file: int, size: int) -> None:
        """Makes the file as large from the beginning as it turns out to have been."""
        state = self.states[file]
        if size > state.size and not state.created and not state.changed:
            state.size = size
            self.imported.trace.files[file] = size

    # Descriptors

    def table(self, pid: int) -> dict[int, _Handle]:
        return self.tables.setdefault(pid, {})

    def handle(self, call: Call, argument: str) -> _Handle | None:
        """The open file behind a descriptor. One that was opened before the recording, or by a
        process whose beginning was not recorded, is met here first if strace reports its path."""
        descriptor = strace.descriptor(argument)
        if descriptor is None:
            return None
        table = self.table(call.pid)
        if descriptor not in table:
            path = strace.descriptor_path(argument)
            if path is None or path.startswith(SKIPPED_PLACES):
                return None
            table[descriptor] = self.opened(call, self.number(path, exists=True))
        return table[descriptor]

    def opened(self, call: Call, file: int, *, append: bool = False) -> _Handle:
        self.states[file].open += 1
        self.step(call, "open", file)
        return _Handle(file, append=append)

    def released(self, call: Call, handle: _Handle) -> None:
        handle.references -= 1
        if handle.references > 0:
            return
        state = self.states[handle.file]
        state.open -= 1
        self.step(call, "close", handle.file)
        if state.doomed and state.open == 0:
            self.step(call, "unlink", handle.file)
            state.doomed = False

    def put(self, call: Call, descriptor: int, handle: _Handle) -> None:
        """A descriptor stands for `handle` from now on."""
        old = self.table(call.pid).pop(descriptor, None)
        self.table(call.pid)[descriptor] = handle
        if old is not None:
            self.released(call, old)

    # Calls

    def call(self, call: Call) -> None:
        """Takes one call that succeeded."""
        if call.result < 0:
            return
        self.learn_directory(call)
        name = call.name
        if name in _LEFT_OUT:
            if self.handle(call, call.argument(0)):
                self.left_out(_LEFT_OUT[name])
        elif action := _ACTIONS.get(name):
            action(self, call)

    def read(self, call: Call) -> None:
        self.move(call, "read")

    def write(self, call: Call) -> None:
        self.move(call, "write")

    def close(self, call: Call) -> None:
        descriptor = strace.descriptor(call.argument(0))
        if descriptor is None:
            return
        if handle := self.table(call.pid).pop(descriptor, None):
            self.released(call, handle)

    def end(self, call: Call) -> None:
        """A process that ends closes what it has, unless a thread of it goes on."""
        table = self.tables.pop(call.pid, {})
        if any(other is table for other in self.tables.values()):
            return
        for handle in table.values():
            self.released(call, handle)

    def seek(self, call: Call) -> None:
        if handle := self.handle(call, call.argument(0)):
            handle.position = call.result

    def duplicate(self, call: Call) -> None:
        if call.name == "fcntl" and "F_DUPFD" not in call.argument(1):
            return
        handle = self.handle(call, call.argument(0))
        if handle and self.table(call.pid).get(call.result) is not handle:
            handle.references += 1
            self.put(call, call.result, handle)

    def sync(self, call: Call) -> None:
        if handle := self.handle(call, call.argument(0)):
            self.step(call, "fsync", handle.file)

    def learn_directory(self, call: Call) -> None:
        """With -y strace writes the working directory beside AT_FDCWD."""
        for argument in call.arguments:
            directory = strace.descriptor_path(argument)
            if directory and argument.startswith("AT_FDCWD<"):
                self.directories[call.pid] = directory
        if call.name == "chdir" and (path := self.path(call, 0)):
            self.directories[call.pid] = path

    def fork(self, call: Call) -> None:
        """A child has its parent's table, or a copy of it."""
        parent, child = self.table(call.pid), call.result
        if child <= 0:
            return
        if call.pid in self.directories:
            self.directories.setdefault(child, self.directories[call.pid])
        if "CLONE_FILES" in " ".join(call.arguments):
            self.tables[child] = parent
            return
        for handle in parent.values():
            handle.references += 1
        # What the child did before the parent's call had returned comes on top.
        early = self.tables.get(child, {})
        self.tables[child] = {**parent, **early}

    def path(self, call: Call, at: int) -> str | None:
        """The path at argument `at`, after the descriptor of its directory if there is one."""
        arguments = call.arguments
        directory = call.argument(at - 1) if at > 0 else ""
        path = strace.string(arguments[at]) if at < len(arguments) else None
        if path is None or path == "":
            return strace.descriptor_path(directory)
        if path.startswith("/"):
            return path
        base = strace.descriptor_path(directory) or self.directories.get(call.pid)
        return f"{base.rstrip('/')}/{path}" if base else path

    def open(self, call: Call) -> None:
        at = 1 if call.name.startswith("openat") else 0
        path = call.result_path or self.path(call, at)
        flags = "O_CREAT|O_TRUNC" if call.name == "creat" else " ".join(call.arguments[at + 1 :])
        if path is None or path.startswith(SKIPPED_PLACES) or "O_DIRECTORY" in flags:
            return
        if "O_PATH" in flags or "O_TMPFILE" in flags:
            self.left_out("file without a name" if "O_TMPFILE" in flags else "O_PATH")
            return
        makes = "O_CREAT" in flags and ("O_TRUNC" in flags or "O_EXCL" in flags)
        file = self.number(path, exists=not makes)
        state = self.states[file]
        if makes or "O_TRUNC" in flags:
            self.step(call, "create", file)
            state.size, state.created, state.changed = 0, True, True
            state.open += 1
            handle = _Handle(file, append="O_APPEND" in flags)
        else:
            handle = self.opened(call, file, append="O_APPEND" in flags)
        self.put(call, call.result, handle)

    def move(self, call: Call, operation: str) -> None:
        handle = self.handle(call, call.argument(0))
        if handle is None or call.result == 0:
            return
        state, size = self.states[handle.file], call.result
        positioned = call.name.startswith("p")
        if positioned:
            at = 3
            position = strace.number(call.arguments[at]) if len(call.arguments) > at else None
            if position is None:
                self.left_out("position that is no number")
                return
        else:
            appends = handle.append and operation == "write"
            position = state.size if appends else handle.position
            handle.position = position + size
        end = position + size
        self.learn_size(handle.file, end if operation == "read" else position)
        if (end if operation == "read" else position) > state.size:
            self.left_out("hole, or bytes that came by a way that was not recorded")
            return
        self.step(call, operation, handle.file, position, size)
        if operation == "write":
            state.size, state.changed = max(state.size, end), True

    def stat(self, call: Call) -> None:
        size = strace.size_of_regular_file(" ".join(call.arguments))
        if size is None:
            return
        if call.name == "fstat" or "AT_EMPTY_PATH" in " ".join(call.arguments):
            if handle := self.handle(call, call.argument(0)):
                self.learn_size(handle.file, size)
            return
        path = self.path(call, 1 if call.name in ("newfstatat", "statx") else 0)
        if path is not None and not path.startswith(SKIPPED_PLACES):
            file = self.number(path, exists=True)
            self.learn_size(file, size)
            self.step(call, "stat", file)

    def unlink(self, call: Call) -> None:
        if "AT_REMOVEDIR" in " ".join(call.arguments):
            return
        path = self.path(call, 1 if call.name == "unlinkat" else 0)
        if path is not None and not path.startswith(SKIPPED_PLACES):
            file = self.number(path, exists=True)
            del self.numbers[path]
            self.remove(call, file)

    def remove(self, call: Call, file: int) -> None:
        state = self.states[file]
        if state.open:
            state.doomed = True
        else:
            self.step(call, "unlink", file)

    def rename(self, call: Call) -> None:
        """A name moves, the file stays; the file that had the name is removed."""
        old_at, new_at = (0, 1) if call.name == "rename" else (1, 3)
        old, new = self.path(call, old_at), self.path(call, new_at)
        if old is None or new is None or old not in self.numbers:
            self.left_out("renaming of a file that was not met before")
            return
        if old == new:
            return
        if new in self.numbers:
            self.remove(call, self.numbers.pop(new))
        self.numbers[new] = self.numbers.pop(old)

    def mmap(self, call: Call) -> None:
        if len(call.arguments) > 4 and self.handle(call, call.argument(4)):
            self.left_out("access through a mapping")

    def finish(self) -> None:
        """Closes what the recording left open."""
        steps = self.imported.trace.steps
        last = steps[-1].time_us if steps else 0
        for file, state in enumerate(self.states):
            for _ in range(state.open):
                steps.append(Step(last, "close", file))
            if state.doomed:
                steps.append(Step(last, "unlink", file))


_ACTIONS: dict[str, Callable[[_Importer, Call], None]] = {
    **dict.fromkeys(("clone", "clone3", "fork", "vfork"), _Importer.fork),
    **dict.fromkeys(("open", "openat", "openat2", "creat"), _Importer.open),
    **dict.fromkeys(("read", "readv", "pread64", "preadv", "preadv2"), _Importer.read),
    **dict.fromkeys(("write", "writev", "pwrite64", "pwritev", "pwritev2"), _Importer.write),
    **dict.fromkeys(("lseek", "_llseek"), _Importer.seek),
    **dict.fromkeys(("dup", "dup2", "dup3", "fcntl"), _Importer.duplicate),
    **dict.fromkeys(("fsync", "fdatasync"), _Importer.sync),
    **dict.fromkeys(("stat", "lstat", "fstat", "newfstatat", "statx"), _Importer.stat),
    **dict.fromkeys(("unlink", "unlinkat"), _Importer.unlink),
    **dict.fromkeys(("rename", "renameat", "renameat2"), _Importer.rename),
    "close": _Importer.close,
    "mmap": _Importer.mmap,
    strace.ENDED: _Importer.end,
}
