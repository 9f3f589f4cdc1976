"""The directory that MkDocs renders: docs/, what is generated, and the files that pages link to.

Pages of docs/ link to files of the repository (`../examples/x.toml`). A site has no repository, so
each of these becomes a page of the site that shows the file, and the link leads there.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from website.markdown import relinked
from website.reference import commands, messages, study_keys, workloads

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"

LANGUAGES = {
    ".toml": "toml", ".py": "python", ".rs": "rust", ".c": "c", ".json": "json", ".yml": "yaml",
    ".sh": "sh", "": "sh",
}  # fmt: skip
"""Language of a shown file by its suffix."""

PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
    "benches/README.md": "project/benches.md",
}
"""Pages outside of docs/, and where they are on the site."""

COPIED = {"LICENSE": "project/LICENSE.txt", "NOTICES.txt": "project/NOTICES.txt"}
"""Files that a link downloads, and where they are on the site."""

GENERATED = {
    "reference/commands.md": commands.page,
    "reference/study-keys.md": study_keys.page,
    "reference/workloads.md": workloads.page,
    "reference/messages.md": messages.page,
}
"""Pages that nobody writes, and what makes each."""


def place(path: Path) -> Path:
    """Where a file of the repository is on the site, relative to the site's root."""
    inside = path.relative_to(ROOT)
    named = PAGES.get(str(inside)) or COPIED.get(str(inside))
    if named is not None:
        return Path(named)
    if inside.parts[0] == "docs":
        return inside.relative_to("docs")
    if path.suffix == ".md":
        return Path("repository") / inside
    return Path("repository") / f"{inside}.md"


class Stage:
    """One writing of all pages.

    Attributes:
        out: the directory.
        shown: files of the repository that a page links to.
    """

    def __init__(self, out: Path) -> None:
        self.out = out
        self.shown: dict[Path, Path] = {}

    def page(self, source: Path, where: Path) -> None:
        """A page of the repository with its links led to the site."""
        text = source.read_text(encoding="utf-8")
        self.write(where, relinked(text, lambda target: self.led(target, source, where)))

    def led(self, target: str, source: Path, where: Path) -> str:
        """A link's target on the site.

        Raises:
            ValueError: it leads to a file that is not there.
        """
        path, hash_, anchor = target.partition("#")
        if not path or "://" in target or path.startswith("mailto:"):
            return target
        file = Path(os.path.normpath(source.parent / path))
        generated = file.is_relative_to(DOCS) and str(file.relative_to(DOCS)) in GENERATED
        if generated:
            there = file.relative_to(DOCS)
        elif not file.exists():
            raise ValueError(f"{source.relative_to(ROOT)}: {target}: there is no such file")
        else:
            there = place(file)
            if there.parts[0] == "repository":
                self.shown[file] = there
        return os.path.relpath(there, where.parent) + hash_ + anchor

    def write(self, where: Path, text: str) -> None:
        """Writes one page."""
        file = self.out / where
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def copy(self, file: Path) -> None:
        """A file as it is."""
        there = self.out / place(file)
        there.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, there)

    def shown_file(self, file: Path, where: Path) -> None:
        """The page that shows a file, or the names of a directory's files."""
        name = file.relative_to(ROOT)
        if file.suffix == ".md":
            self.page(file, where)
        elif file.is_dir():
            names = sorted(f"{one.name}{'/' * one.is_dir()}" for one in file.iterdir())
            self.write(where, f"# {name}/\n\n" + "".join(f"- `{one}`\n" for one in names))
        else:
            text = file.read_text(encoding="utf-8").rstrip("\n")
            language = LANGUAGES.get(file.suffix, "")
            self.write(where, f"# {name}\n\n````{language}\n{text}\n````\n")


def stage(out: Path) -> None:
    """Writes every page of the site into a directory, which is emptied first."""
    shutil.rmtree(out, ignore_errors=True)
    stage = Stage(out)
    for file in sorted(DOCS.rglob("*")):
        if file.suffix == ".md":
            stage.page(file, place(file))
        elif file.is_file():
            stage.copy(file)
    for name in COPIED:
        stage.copy(ROOT / name)
    for name, where in PAGES.items():
        if name != "README.md":
            stage.page(ROOT / name, Path(where))
    for name, made in GENERATED.items():
        stage.write(Path(name), made())
    done: set[Path] = set()
    while left := stage.shown.keys() - done:
        for file in sorted(left):
            stage.shown_file(file, stage.shown[file])
            done.add(file)


__all__ = ["GENERATED", "PAGES", "Stage", "place", "stage"]
