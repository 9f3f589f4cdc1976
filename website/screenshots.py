"""Pictures of a report for the documentation.

    python -m website.screenshots RESULT

makes the report of a result of examples/two-kernels-and-host.toml and pictures of it with Chromium
(Debian: chromium): the first page, the first page with numbers, and a phone's. The numbers are put
beside the parts that `NOTES` selects; docs/annotated-report.md explains them in the same order. A
part that the report does not have is an error, so that page and picture change together with the
report.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from website.staging import DOCS, ROOT

IMAGES = DOCS / "images"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")

NOTES = (
    "#answer h1",
    "#answer .caution",
    "#answer .areas",
    "#answer .areas .whole",
    "#answer .key",
    "#answer .beside .legend",
    "#answer .findings",
    "#answer .open",
)
"""Parts with a number, as CSS selectors; the first of each that is found."""

STUDY_FILE = re.compile(r"(pentathlon run )/[^\s<>]*/")
"""The directory of the study in a command."""

SCRIPT = """
<style>
.note-mark { position: absolute; z-index: 99; width: 30px; height: 30px; border-radius: 50%;
  background: #d1242f; color: #fff; font: bold 17px/30px sans-serif; text-align: center; }
</style>
<script>
addEventListener("load", () => setTimeout(() => {
  const notes = NOTES_HERE;
  const missing = [];
  notes.forEach((selector, index) => {
    const part = document.querySelector(selector);
    if (!part) { missing.push(selector); return; }
    const box = part.getBoundingClientRect();
    const mark = document.createElement("div");
    mark.className = "note-mark";
    mark.textContent = index + 1;
    mark.style.left = Math.max(2, box.left + scrollX - 36) + "px";
    mark.style.top = box.top + scrollY - 2 + "px";
    document.body.append(mark);
  });
  document.documentElement.dataset.missing = missing.join(", ") || "none";
}, 1500));
</script>
"""


@dataclass(frozen=True)
class Shot:
    """One picture.

    Attributes:
        name: of its file.
        width, height: in CSS pixels.
        notes: whether the parts get numbers.
    """

    name: str
    width: int
    height: int
    notes: bool = False


SHOTS = (
    Shot("report.png", 1280, 1100),
    Shot("report-annotated.png", 1280, 3350, notes=True),
    Shot("report-phone.png", 390, 844),
)


def main(result: Path) -> None:
    """Makes all pictures of a result.

    Raises:
        ValueError: there is no browser, or the report lacks a part that has a number.
    """
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise ValueError("there is no Chromium on this machine (Debian: apt-get install chromium)")
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run(
            [sys.executable, "-m", "pentathlon", "report", str(result), "--out", directory],
            check=True, cwd=ROOT, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        page = Path(directory) / "report.html"
        marked = Path(directory) / "marked.html"
        script = SCRIPT.replace("NOTES_HERE", str(list(NOTES)))
        # The directory in which it happened to be measured means nothing to readers.
        text = STUDY_FILE.sub(r"\1examples/", page.read_text(encoding="utf-8"))
        page.write_text(text, encoding="utf-8")
        marked.write_text(text + script, encoding="utf-8")
        shown = _browse(browser, marked, SHOTS[0], "--dump-dom")
        found = re.search(r'data-missing="([^"]*)"', shown)
        if found is None or found[1] != "none":
            lacks = found[1] if found else "everything (its script did not run)"
            raise ValueError(f"the report has no part {lacks}; change NOTES and the page")
        for shot in SHOTS:
            file = IMAGES / shot.name
            _browse(browser, marked if shot.notes else page, shot, f"--screenshot={file}")
            print(file.relative_to(ROOT))


def _browse(browser: str, page: Path, shot: Shot, *options: str) -> str:
    command = [
        browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
        "--virtual-time-budget=6000", f"--window-size={shot.width},{shot.height}", *options,
        page.as_uri(),
    ]  # fmt: skip
    return subprocess.run(
        command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ).stdout


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m website.screenshots RESULT")
    try:
        main(Path(sys.argv[1]))
    except ValueError as error:
        sys.exit(f"error: {error}")
