"""A system with a peer is made anew as its hosts are."""

from __future__ import annotations

from pathlib import Path

import pytest

from pentathlon.experiments.systems import make_target
from pentathlon.experiments.two_hosts import PairTarget
from pentathlon.protocol import agent
from pentathlon.study.reach import Ssh
from pentathlon.study.system import Peer, System
from pentathlon.targets.contract import Target
from pentathlon.targets.ssh.target import SshTarget
from pentathlon.targets.uml.target import UmlTarget


def pair(tmp_path: Path, system: System) -> PairTarget:
    target = make_target(system, agent.locate(), tmp_path)
    assert isinstance(target, PairTarget)
    return target


@pytest.mark.parametrize("kernel", ["6.1", "7.2"])
def test_guests_keep_their_files_for_an_install_and_no_longer(tmp_path: Path, kernel: str) -> None:
    system = System(name="guests", target="uml", kernel="6.1", peer=Peer(kernel=kernel))
    target = pair(tmp_path, system)
    assert not target.persistent
    assert target.renew(None, 1.0)[0] == "done"
    assert target.lost(0)
    outcome, text = target.renew(None, 1.0, 0)
    assert outcome == "done" and text is not None and "new files of the guest" in text
    assert not target.lost(0) and target.lost(1)
    guests = [one for one in dict.fromkeys(target.ends.targets) if isinstance(one, UmlTarget)]
    assert len(guests) == (1 if kernel == "6.1" else 2)
    kept = [guest.files(tmp_path) for guest in guests]
    assert all(own.is_dir() and own != tmp_path for own in kept)
    assert len(set(kept)) == len(guests)
    target.renew(None, 1.0, 1)
    assert not any(own.exists() for own in kept)
    kept = [guest.files(tmp_path) for guest in guests]
    target.discard()
    assert not any(own.exists() for own in kept) and target.lost(1)


@pytest.mark.parametrize("guest_first", [True, False])
def test_the_end_that_lasts_runs_the_command(tmp_path: Path, guest_first: bool) -> None:
    runs = tmp_path / "runs"
    command = f"echo run >> {runs}"
    if guest_first:
        system = System(name="mixed", target="uml", kernel="6.1", peer=Peer(target="netns"))
    else:
        system = System(name="mixed", target="netns", peer=Peer(target="uml", kernel="6.1"))
    target = pair(tmp_path, system)
    assert target.persistent
    assert target.renew(command, 10.0) == ("done", command)
    assert runs.read_text() == "run\n"
    assert target.renew(None, 10.0)[0] == "unsupported"


def test_another_machine_is_made_anew_there_and_not_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts: list[tuple[Target, str]] = []

    def there(self: SshTarget, command: str, timeout_s: float) -> tuple[str, str | None]:
        parts.append((self, command))
        return "done", command

    monkeypatch.setattr(SshTarget, "_renew_by", there)
    peer = Peer(interfaces=("in0", "out0"), joined_to=("gen0", "gen1"))
    system = System(name="far", target="ssh", ssh=Ssh(host="nowhere.invalid"), peer=peer)
    target = pair(tmp_path, system)
    here = tmp_path / "here"
    assert target.renew(f"touch {here}", 10.0)[0] == "done"
    assert parts == [(target.inner, f"touch {here}")] and not here.exists()
