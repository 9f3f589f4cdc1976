"""Missing programs of commands, and the list of packs."""

from __future__ import annotations

import re
import tomllib

from pentathlon.packs import pack as packs
from tests.cli.conftest import Shop
from tests.cli.test_try import real  # noqa: F401

STUDY = """name = "s"
reference = "a"
procedure = { blocks = 2 }
[[system]]
name = "a"
target = "local"
[[workload]]
id = "my.x"
command = ["no-such-program"]
install = "apt-get install no-such-package"
"""


def test_a_missing_program_is_unsupported_with_its_installation(real: Shop) -> None:  # noqa: F811
    (real.directory / "study.toml").write_text(STUDY)
    done = real.real("run", "study.toml", "--yes", "--no-pilot", "--out", "result")
    text = re.sub(r"\s+", " ", done.out + done.err)
    reason = 'unsupported, the program "no-such-program" is missing: it is in no directory of the'
    assert f"{reason} search path; apt-get install no-such-package" in text, text


def test_the_packs_are_listed_and_shown(shop: Shop) -> None:
    listed = shop.call("catalog", "--packs")
    assert listed.code == 0
    rows = [line for line in listed.out.splitlines()[1:] if not line.startswith(" ")]
    assert [row.split()[0] for row in rows[: len(packs.names())]] == packs.names()
    shown = shop.call("catalog", "--packs", "sqlite")
    assert "apt-get install sqlite3" in shown.out and 'id = "sqlite.script"' in shown.out
    shop.environment["COLUMNS"] = "40"
    narrow = shop.call("catalog", "--packs", "fio").out
    tables = tomllib.loads(narrow[narrow.index("[[workload]]") :])
    pack = packs.find("fio")
    assert pack is not None
    assert tables == {"workload": tomllib.loads(pack.file.read_text())["workload"]}
    whole = pack.file.read_text()
    assert narrow.endswith(whole[whole.index("[[workload]]") :].rstrip("\n") + "\n"), (
        "byte for byte"
    )
    wrong = shop.call("catalog", "--packs", "fi")
    assert wrong.code == 2 and '"fi" is no pack' in wrong.err
    both = shop.call("try", "--pack", "sqlite", "--", "true")
    assert both.code == 2 and "--pack defines command and metrics itself" in both.err
