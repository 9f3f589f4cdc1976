"""A kind of target that no module knows is planned, prepared, booted and looked at as others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pentathlon.doctor import checks
from pentathlon.experiments.systems import make_target
from pentathlon.experiments.two_hosts import PairTarget, no_pair
from pentathlon.machine.undo_journal import leftovers
from pentathlon.protocol import agent
from pentathlon.store.query import load_result
from pentathlon.study.system import Peer, System
from pentathlon.targets import registry
from pentathlon.testbed import hosts
from tests.cli.conftest import FAKE, STUDY, Shop
from tests.fakes.made_up import KIND, MadeUpTarget

OWN = STUDY.replace('target = "local"\ncpus = [0]', 'target = "made-up"\nflavour = "sour"')


@pytest.fixture(autouse=True)
def made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """One kind of the real ones, which the study needs, and the one that is made up."""
    monkeypatch.setattr(registry, "_known", {"local": registry.kind_of("local")})
    registry.register(KIND)


def test_a_plan_has_it_with_its_own_key_and_starts_nothing(shop: Shop) -> None:
    text = OWN.replace("retries = 1\n", 'retries = 1\nsteps = "published"\n')
    shown = json.loads(shop.call("plan", shop.write(text), "--json").out)
    described = shown["plan"]["targets"]["b"]
    assert (described["layer"], described["options"]) == ("imagined", {"flavour": "sour"})
    assert shown["starts"] == ['b: a system of made-up with flavour = "sour", in every boot']
    text = shop.call("plan", shop.write(text)).out
    assert 'nothing that a system of "made-up" learns survives its boot' in text
    assert "idle tasks: sync" in text


def test_a_run_boots_it_and_judges_it(shop: Shop) -> None:
    done = shop.call("run", shop.write(OWN), "--no-pilot", "--yes")
    assert done.code == 0, done.err
    result = load_result(shop.result())
    assert result.finished and result.failures().is_empty()
    assert result.plan.study.system("b").model_extra == {"flavour": "sour"}
    samples = result.samples()
    assert samples.filter(samples["system"] == "b")["block"].n_unique() == 2
    assert "imagined" in (shop.result() / "report.html").read_text()


def test_what_cannot_be_prepared_says_why(shop: Shop) -> None:
    file = shop.write(OWN.replace('"sour"', '"none"'))
    done = shop.call("run", file, "--no-pilot", "--yes")
    assert done.code != 0
    assert 'system "b" (target "made-up") cannot be prepared: there is no such flavour' in done.err


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"made-up"', '"mad-up"', '"mad-up" is not known; use "local" or "made-up"'),
        ('target = "made-up"\n', "", 'is missing; add target = "local" or "made-up"'),
        ('"made-up"', '"local"', 'flavour: is for target "made-up"; this system\'s target is'),
        ("flavour", "flavor", 'flavor: unknown key; did you mean "flavour"?'),
        ('"sour"', "7", "flavour: 7 is the wrong type; it must be text in quotes"),
        ('"sour"', '"sour"\nsettings = { nice = 1 }', 'settings: are for targets "local"; this'),
    ],
)
def test_a_mistake_is_one_sentence(shop: Shop, old: str, new: str, words: str) -> None:
    done = shop.call("plan", shop.write(OWN.replace(old, new)))
    assert done.code == 2
    assert words in done.err, done.err
    assert len(done.err.splitlines()) == 1, done.err


def test_doctor_boots_it_and_gets_what_it_can_get(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(agent.VARIABLE, str(FAKE))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    found = {one.name: one for one in checks.diagnose(quick=False, state_dir=tmp_path / "state")}
    assert found["made-up"].works
    assert found["made-up"].detail.startswith("kernel imagined 1.0, booted in")
    assert found["imagination"].detail == "unlimited"
    lacking = found["made-up-program"]
    assert lacking.detail == "is missing; needed for targets of the kind made-up"
    assert lacking.remedy == "sudo apt-get install made-up-package"
    assert checks.installable() == ["made-up world"]
    sentences: list[str] = []
    (got,) = checks.install(sentences.append, ["made-up world"])
    assert got.works and got.detail == "a world" and sentences == ["made up a world"]


def test_two_of_it_are_a_pair(tmp_path: Path) -> None:
    assert '"made-up"' in no_pair()
    system = System(name="two", target="made-up", peer=Peer())
    target = make_target(system, agent.locate(), tmp_path)
    assert isinstance(target, PairTarget) and isinstance(target.inner, MadeUpTarget)
    assert (target.kind, target.layer, target.persistent) == ("made-up", "imagined", False)
    assert target.make is not None and target.bed is None and target.file_service is None
    pair = target.make(30.0)
    try:
        assert [host.addresses[4] for host in pair] == ["127.0.0.1", "127.0.0.1"]
        assert pair[0].session.pid != pair[1].session.pid
    finally:
        hosts.stop(pair)
    assert leftovers(tmp_path) == []


def test_a_name_is_taken_once() -> None:
    with pytest.raises(ValueError, match='there is a kind of target "made-up" already'):
        registry.register(KIND)
