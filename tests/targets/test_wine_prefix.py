"""How a prefix of Wine is made, by a program that stands for wineboot."""

from pathlib import Path

import pytest

from pentathlon.machine.errors import TargetError
from pentathlon.targets.wine import prefix
from pentathlon.targets.wine.program import Wine

MAKES = """#!/bin/sh
mkdir -p "$WINEPREFIX/drive_c/windows"
: >"$WINEPREFIX/system.reg"
"""
FAILS = "#!/bin/sh\nmkdir -p $WINEPREFIX\necho it has no room >&2\nexit 1\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return prefix.directory()


def wine(directory: Path, script: str) -> Wine:
    path = directory / "wine"
    path.write_text(script)
    path.chmod(0o755)
    return Wine(path=path, version="8.0 (test)")


def test_what_a_killed_maker_left_is_removed(place: Path, tmp_path: Path) -> None:
    left = place / prefix.MAKING / "prefix" / "drive_c" / "half"
    left.mkdir(parents=True)
    lines: list[str] = []
    made = prefix.make(wine(tmp_path, MAKES), lines.append)
    assert made == place / "prefix-8.0-test"
    assert sorted(path.name for path in made.iterdir()) == [
        "drive_c", prefix.DONE, "system.reg",
    ]  # fmt: skip
    assert not (made / "drive_c" / "half").exists()
    assert not (place / prefix.MAKING).exists()
    assert len(lines) == 2
    assert prefix.make(wine(tmp_path, FAILS), lines.append) == made, "it is made once"
    assert len(lines) == 2


def test_a_prefix_that_is_not_made_leaves_nothing(place: Path, tmp_path: Path) -> None:
    with pytest.raises(TargetError, match=r"`wineboot --init` .* failed: it has no room"):
        prefix.make(wine(tmp_path, FAILS), lambda line: None)
    assert [path.name for path in place.iterdir()] == [".lock"]
