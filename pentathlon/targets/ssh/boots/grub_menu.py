"""The menu of a GRUB configuration as grub-mkconfig(8) writes it.

Only the menu is read: `menuentry` and `submenu` blocks with their titles and ids, and the `linux`
line in each. What a configuration computes when it runs is not known here.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field

from pentathlon.targets.ssh.boots.loader import RELEASE, Entry

LINUX = ("linux", "linuxefi", "linux16")


@dataclass
class Item:
    """A menu entry or a submenu.

    Attributes:
        path: indexes from the top of the menu, as GRUB counts them.
        lines: of its block, as they stand there.
        parents: the submenus around it.
    """

    title: str
    id: str | None
    path: tuple[int, ...]
    is_submenu: bool
    lines: list[str] = field(default_factory=list)
    parents: tuple[Item, ...] = ()

    @property
    def full_id(self) -> str:
        """As `grub-reboot` takes it: the ids, or titles, of the submenus and its own."""
        return ">".join(_escaped(one.id or one.title) for one in (*self.parents, self))

    def linux(self) -> list[str]:
        """The words of the line that loads its kernel: command, file, command line."""
        for line in self.lines:
            words = split(line)
            if words and words[0] in LINUX and len(words) > 1:
                return words
        return []


def _escaped(name: str) -> str:
    """A single ">" separates levels; a doubled one is the character."""
    return name.replace(">", ">>")


def split(line: str) -> list[str]:
    """The words of a line; GRUB quotes as a shell does. Unreadable ones have none."""
    try:
        return shlex.split(line, comments=True)
    except ValueError:
        return []


def items(text: str) -> list[Item]:
    """The entries and submenus of a configuration, in their order."""
    found: list[Item] = []
    stack: list[Item | None] = []  # None: a block that is no part of the menu.
    counts = [0]
    for line in text.splitlines():
        bare = line.strip()
        around = tuple(one for one in stack if one is not None)
        if bare.endswith("{") and bare.split(maxsplit=1)[0] in ("menuentry", "submenu"):
            item = _item(bare, (*(one.path[-1] for one in around), counts[-1]), around)
            counts[-1] += 1
            stack.append(item)
            found.append(item)
            if item.is_submenu:
                counts.append(0)
        elif bare.endswith("{"):
            stack.append(None)
        elif bare == "}" and stack:
            if (ended := stack.pop()) is not None and ended.is_submenu:
                counts.pop()
        elif stack and (inner := stack[-1]) is not None:
            inner.lines.append(line)
    return found


def _item(line: str, path: tuple[int, ...], parents: tuple[Item, ...]) -> Item:
    words = split(line)
    title = words[1] if len(words) > 1 else ""
    own = None
    for index, word in enumerate(words[2:-1], 2):
        # grub-mkconfig writes $menuentry_id_option, which is --id where GRUB knows it.
        if word in ("--id", "$menuentry_id_option", "${menuentry_id_option}"):
            own = words[index + 1]
        elif word.startswith("--id="):
            own = word.removeprefix("--id=")
    return Item(title, own, path, line.startswith("submenu"), parents=parents)


def entries(text: str, default: str) -> Iterator[Entry]:
    """What the menu can boot.

    Args:
        default: what GRUB boots if nothing else is asked for, by id, title or index.
    """
    for item in items(text):
        if item.is_submenu:
            continue
        words = item.linux()
        release = RELEASE.search(words[1]) if words else None
        full, index = item.full_id, ">".join(map(str, item.path))
        names = dict.fromkeys(
            name for name in (item.id, item.title, index, _titles(item)) if name and name != full
        )
        yield Entry(
            id=full,
            title=item.title,
            names=tuple(names),
            release=release[1] if release else None,
            cmdline=" ".join(words[2:]) if words else None,
            default=default in (full, index, *names),
        )


def _titles(item: Item) -> str:
    return ">".join(_escaped(one.title) for one in (*item.parents, item))


def with_words(item: Item, name: str, words: str) -> str:
    """A menu entry like another one, under another name, with more words on its command line."""
    lines = []
    for line in item.lines:
        first = line.split(maxsplit=1)[:1]
        lines.append(f"{line.rstrip()} {words}" if first and first[0] in LINUX else line)
    return "\n".join([f"menuentry '{name}' --id '{name}' {{", *lines, "}"])
