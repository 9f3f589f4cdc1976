"""`python -m website DIRECTORY`: write every page of the site, and what is appended to each."""

import sys
from pathlib import Path

from website.abbreviations import abbreviations
from website.staging import DOCS, stage

if len(sys.argv) != 2:
    sys.exit("usage: python -m website DIRECTORY")
out = Path(sys.argv[1])
stage(out / "pages")
glossary = (DOCS / "glossary.md").read_text(encoding="utf-8")
(out / "abbreviations.md").write_text(abbreviations(glossary), encoding="utf-8")
