"""Follows the tutorial word by word, and puts what it printed into its pages.

    python -m website.follow DIRECTORY

makes a fresh directory, writes the files that the pages show there, runs their shell blocks in
their order, and replaces each ```text block that directly follows a shell block by the output. A
block whose last line is "..." keeps its number of lines, and one whose first line is "..." as many
lines of the end. Ends with the first command that fails.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

from website.staging import DOCS

PAGES = ("install", "first-study", "read-the-report", "your-own-program", "decide")

FILE = re.compile(r'^```(\w+) title="([^"]+)"\n(.*?)^```$', re.M | re.S)
SHELL = re.compile(r"^```sh\n(?P<call>.*?)^```\n(?:\n```text\n(?P<shown>.*?)^```\n)?", re.M | re.S)
SKIPPED = "<!-- not followed -->\n"
"""Stands before a block for other machines."""
CUT = "..."
SHOWN = "/home/me/study/"
"""What the pages show as the directory in which they were followed."""


def follow(directory: Path) -> None:
    """Follows every page and rewrites its outputs.

    Raises:
        subprocess.CalledProcessError: a command failed.
    """
    directory.mkdir(parents=True)
    begun = time.monotonic()
    for name in PAGES:
        file = DOCS / "tutorial" / f"{name}.md"
        text = file.read_text(encoding="utf-8")
        for _language, title, content in FILE.findall(text):
            (directory / title).write_text(content, encoding="utf-8")
            (directory / title).chmod(0o755 if content.startswith("#!") else 0o644)
        file.write_text(_followed(text, directory), encoding="utf-8")
        print(f"{name}: {time.monotonic() - begun:.0f} s after the beginning", file=sys.stderr)


def _followed(text: str, directory: Path) -> str:
    out, last = "", 0
    for found in SHELL.finditer(text):
        out += text[last : found.start()]
        last = found.end()
        if text[: found.start()].endswith(SKIPPED):
            out += found[0]
            continue
        printed = _run(found["call"], directory).replace(f"{directory.resolve()}/", SHOWN)
        if found["shown"] is None:
            out += found[0]
        else:
            out += (
                f"```sh\n{found['call']}```\n\n```text\n{_shortened(printed, found['shown'])}```\n"
            )
    return out + text[last:]


def _run(call: str, directory: Path) -> str:
    environment = {**os.environ, "COLUMNS": "100"}
    print(f"$ {call}", file=sys.stderr, end="")
    done = subprocess.run(
        ["sh", "-e", "-c", call], cwd=directory, env=environment, check=False,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    if done.returncode:
        print(done.stdout, file=sys.stderr)
        raise subprocess.CalledProcessError(done.returncode, call)
    return done.stdout


def _shortened(printed: str, shown: str) -> str:
    lines = [line.rstrip() for line in printed.strip("\n").splitlines()]
    before = shown.splitlines()
    if before and before[-1] == CUT and len(lines) >= len(before):
        lines = [*lines[: len(before) - 1], CUT]
    elif before and before[0] == CUT and len(lines) >= len(before):
        lines = [CUT, *lines[1 - len(before) :]]
    return "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m website.follow DIRECTORY")
    follow(Path(sys.argv[1]))
