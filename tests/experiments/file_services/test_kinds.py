"""Which kinds of target have file services: the others report it, each in its way."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from pentathlon.experiments.systems import make_target
from pentathlon.experiments.two_hosts import PairTarget, no_file_services
from pentathlon.machine.errors import TargetError
from pentathlon.protocol import agent
from pentathlon.protocol.requests.session import Request, WorkloadRequest
from pentathlon.study.system import Peer, System
from tests.fakes.messages import documents
from tests.fakes.scripted import ScriptedSession


@pytest.mark.parametrize("kind", ["local", "wine"])
@pytest.mark.parametrize("workload", ["files.copy", "files.open", "files.roaming", "files.portal"])
def test_hosts_without_links_have_no_file_services(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: Literal["local", "wine"], workload: str
) -> None:
    target = make_target(System(name="two", target=kind, peer=Peer()), agent.locate(), tmp_path)
    assert isinstance(target, PairTarget)
    done = {"event": "done", "samples": 0, "errors": 0}
    first = ScriptedSession(lambda *_: [done], 0)
    monkeypatch.setattr(target.inner, "boot", lambda _: first)
    entry = WorkloadRequest(id=workload, parameters={"links": ["none"]}, warmup=0, iterations=1)
    request = Request(session="0" * 16, seed=7, workloads=[entry])
    with target.boot(1.0) as session:
        events = documents(session.run(request, 1.0, 1.0))
    (error,) = (event for event in events if event["event"] == "error")
    assert (error["kind"], error["reason"]) == ("unsupported", no_file_services())
    assert error["workload"] == workload
    assert events[-1]["event"] == "done" and events[-1]["errors"] == 1


def test_a_sandbox_has_no_peer_at_all(tmp_path: Path) -> None:
    system = System(name="two", target="gvisor", peer=Peer())
    with pytest.raises(TargetError, match='"two" has a peer, which targets of the kind "gvisor"'):
        make_target(system, agent.locate(), tmp_path)
