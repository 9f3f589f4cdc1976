"""`pentathlon examples`: what comes with the program can be listed, copied and planned."""

from __future__ import annotations

from tests.cli.conftest import ROOT, Shop


def test_every_example_is_listed(shop: Shop) -> None:
    done = shop.call("examples")
    assert done.code == 0, done.err
    for file in (ROOT / "examples").glob("*.toml"):
        assert f"{file.stem} " in done.out


def test_copies_are_whole_and_nothing_is_overwritten(shop: Shop) -> None:
    assert shop.call("examples", "--to", "mine").code == 0
    mine = shop.directory / "mine"
    for file in (ROOT / "examples").rglob("*"):
        if file.is_file():
            copy = mine / file.relative_to(ROOT / "examples")
            assert copy.read_bytes() == file.read_bytes()
    (mine / "two-kernels.toml").write_text("changed")
    done = shop.call("examples", "--to", "mine")
    assert done.code == 2 and "is there already" in done.err
    assert (mine / "two-kernels.toml").read_text() == "changed"
