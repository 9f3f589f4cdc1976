"""The page's own reading of what it carries compressed, against zlib."""

import base64
import json
import random
import shutil
import subprocess
import zlib

import pytest

from pentathlon.report.html import page

NODE = shutil.which("node") or shutil.which("nodejs")

RUN = """
const texts = JSON.parse(require("fs").readFileSync(0, "utf8"));
let at = 0;
globalThis.document = { getElementById: () => ({ textContent: texts[at] }) };
const made = texts.map((_, i) => { at = i; return unpack("x"); });
process.stdout.write(JSON.stringify(made));
"""


@pytest.mark.skipif(NODE is None, reason="no JavaScript outside a browser: apt install nodejs")
def test_texts_come_back_whatever_way_they_were_packed():
    drawn = random.Random(3)
    texts = [
        "",
        "a",
        "one and the same " * 5000,
        "".join(chr(drawn.choice((33, 0x3B1, 0x20AC, 0x1F600)) + drawn.randrange(30))
                for _ in range(40_000)),
        json.dumps([drawn.gauss(0, 1) for _ in range(5000)]),
    ]  # fmt: skip
    streams = []
    for text in texts:
        for level in (0, 1, 9):  # stored, and found by short and long searches
            streams.append((text, zlib.compress(text.encode(), level)))
        maker = zlib.compressobj(9, zlib.DEFLATED, 15, 9, zlib.Z_FIXED)
        streams.append((text, maker.compress(text.encode()) + maker.flush()))
        streams.append((text, base64.b64decode(page.packed(text))))
    done = subprocess.run(
        [str(NODE), "-e", page.asset("unpack.js") + RUN],
        input=json.dumps([base64.b64encode(stream).decode() for _, stream in streams]),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert json.loads(done.stdout) == [text for text, _ in streams]
