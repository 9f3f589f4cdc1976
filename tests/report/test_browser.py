"""The pictures are drawn in a real browser, from a file and without a network."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
import synthetic_papers as planted
from synthetic import Maker, items

from pentathlon.evaluate import evaluate
from pentathlon.report import html

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no chromium: apt install chromium")


def after_scripts(path, profile):
    """The document as the browser has it after all scripts, and what it complained about."""
    done = subprocess.run(
        [
            BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
            "--no-first-run", "--disable-background-networking", "--disable-component-update",
            "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr",
            f"--user-data-dir={profile}", "--window-size=1280,20000",
            "--virtual-time-budget=20000", "--dump-dom", path.as_uri(),
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    complaints = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return done.stdout, complaints


def test_every_picture_is_drawn(tmp_path):
    chosen = items(sizes=tuple(1 << power for power in range(10, 24)))
    result = Maker(chosen=[*chosen, *planted.sub_looping(), *planted.order()]).make()
    evaluation = evaluate(result)
    path = tmp_path / "report.html"
    # Pictures wait until they come into view; the test brings all of them into view at once.
    page = html.render(evaluation, result).replace(
        "</body>", "<script>dispatchEvent(new Event('beforeprint'))</script></body>"
    )
    path.write_text(page, encoding="utf-8")
    document, complaints = after_scripts(path, tmp_path / "profile")
    assert complaints == []
    pictures = re.findall(r'<figure class="picture" data-kind="(\w+)".*?</figure>', document, re.S)
    assert {"forest", "curve", "ratio", "scaling", "samples", "sweep"} <= set(pictures)
    for figure in re.findall(r'<figure class="picture".*?</figcaption>', document, re.S):
        assert figure.count("<svg") >= 1, figure[:200]
        assert "NaN" not in figure
        assert "undefined" not in figure
    spots = re.search(r'data-kind="samples".*?</figcaption>', document, re.S)[0]
    key = re.search(r"([\w.]+): (\d+) samples", spots)
    assert int(key[2]) == result.samples().filter(result.samples()["key"] == key[1]).height
