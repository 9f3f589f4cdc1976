"""What breaks a task gives one sentence, and the next task runs."""

from __future__ import annotations

import re
import shutil

import pytest

from pentathlon.experiments.file_services import protocols, trial
from pentathlon.experiments.file_services.programs import HERE
from pentathlon.experiments.file_services.protocols.base import Call, Family, Service
from pentathlon.experiments.file_services.protocols.sftp import Sftp
from pentathlon.experiments.file_services.protocols.smb import Smb, SmbService
from pentathlon.experiments.file_services.spec import Setup
from tests.experiments.file_services.conftest import (
    LAN,
    WAN,
    Bench,
    Benches,
    after,
    failure,
    samples,
    small_disk,
    wrong_password,
)


@pytest.fixture
def wan(benches: Benches) -> Bench:
    bench = benches(WAN)
    bench.testbeds.given_up.clear()
    return bench


COPIES = [("files.copy", one) for one in ("smb", "http1.1", "http2", "http3", "sftp", "nfs")]
OTHERS = [
    *(("files.open", one) for one in ("smb", "smb1", "nfs")),
    *(("files.roaming", one) for one in ("smb", "sftp", "nfs")),
    *(("files.portal", one) for one in ("http1.1", "http2", "http3")),
]
OF_SMB = [("files.copy", "smb"), ("files.open", "smb"), ("files.open", "smb1"),
          ("files.roaming", "smb")]  # fmt: skip
EACH = pytest.mark.parametrize(("workload", "protocol"), [*COPIES, *OTHERS])
EACH_OF_SMB = pytest.mark.parametrize(("workload", "protocol"), OF_SMB)

JOBS = {
    "smb": ("smbd", "smbd"), "smb1": ("smbd", "smbd"), "http1.1": ("nginx", "nginx"),
    "http2": ("nginx", "nginx"), "http3": ("http3", "aioquic"), "sftp": ("sshd", "sshd"),
    "nfs": ("nfs-ganesha", "nfs-ganesha"),
}  # fmt: skip
"""Protocol -> the server's job on its host, and its program."""

LARGE = 7_000_000
"""Bytes that take seconds on the link of `WAN`, so that a fault comes in their middle also where
this machine is busy."""


def reason(
    bench: Bench, workload: str = "files.copy", protocol: str = "smb", size: int = 2_000_000
) -> str:
    """The only error of a task, and nothing else of it."""
    message = failure(bench.run(workload, protocols=[protocol], document_bytes=[size]))
    # What it left on the link is not for the next task.
    assert bench.testbeds.given_up == ["test"]
    return message


@pytest.fixture
def lan(benches: Benches) -> Bench:
    bench = benches(LAN)
    bench.testbeds.given_up.clear()
    return bench


@EACH
def test_a_link_that_is_cut_in_mid_task(
    wan: Bench, monkeypatch: pytest.MonkeyPatch, workload: str, protocol: str
) -> None:
    monkeypatch.setattr(trial, "limit_s", lambda testbed, held: 4.0)
    assert wan.testbed.link is not None
    bed = wan.testbed.link.bed
    try:
        with after(wan, 30_000, bed.cut):
            message = reason(wan, workload, protocol)
    finally:
        bed.mend()
    came = re.fullmatch(
        "the link was cut in mid-task; ([0-9,]+) of 2,000,000 bytes had come", message
    )
    # An open has the end of its document before the rest.
    assert came and int(came[1].replace(",", "")) < 2_000_000, message


@EACH
def test_a_server_that_is_killed_in_mid_task(
    wan: Bench, monkeypatch: pytest.MonkeyPatch, workload: str, protocol: str
) -> None:
    monkeypatch.setattr(trial, "limit_s", lambda testbed, held: 8.0)
    job, server = JOBS[protocol]
    with after(wan, 100_000, lambda: wan.testbed.server.finish_job(job)):
        message = reason(wan, workload, protocol, LARGE)
    assert message.startswith(f"the server {server} ended in mid-task; ")


def test_the_same_hosts_serve_the_task_after_a_killed_server(wan: Bench) -> None:
    with after(wan, 100_000, lambda: wan.testbed.server.finish_job("smbd")):
        reason(wan, size=LARGE)
    assert samples(wan.run("files.copy"))["task_time"] > 0


@EACH_OF_SMB
def test_a_connection_that_breaks_while_the_server_goes_on(
    lan: Bench, workload: str, protocol: str
) -> None:
    with after(lan, 100_000, lambda: end_connections(lan)):
        message = reason(lan, workload, protocol, 4 * LARGE)
    assert message.startswith("the connection broke (NT_STATUS_"), message


def end_connections(bench: Bench) -> None:
    """Destroy what is connected at the server's port (ss(8), SOCK_DESTROY)."""
    done = bench.testbed.server.perform(["ss", "-K", "state", "established", "sport", "445"], 10.0)
    assert done["status"] == 0, done["error"]


@EACH_OF_SMB
def test_a_wrong_password(
    lan: Bench, monkeypatch: pytest.MonkeyPatch, workload: str, protocol: str
) -> None:
    wrong_password(monkeypatch)
    message = reason(lan, workload, protocol)
    assert message.startswith("the server refused the user's name or password (NT_STATUS_")
    assert message.endswith("; 0 of 2,000,000 bytes had come")


HOLD = r"""
smbclient=$1 conf=$2 there=$3 user=$4 held=$5; shift 5
wait="while [ ! -e $held.over ]; do sleep 0.05; done"
printf '%s\n' "open document.doc" "!touch $held" "!$wait" |
    "$smbclient" --configfile="$conf" "$there" -p 445 -U "$user" >"$held.log" 2>&1 &
while [ ! -e "$held" ]; do sleep 0.05; done
"$@"
status=$?
touch "$held.over"
wait
exit $status
"""
"""A program runs while smbclient has the document open for reading and writing."""


@pytest.mark.parametrize("protocol", ["smb", "smb1"])
def test_a_document_that_another_client_writes_cannot_be_opened(
    lan: Bench, monkeypatch: pytest.MonkeyPatch, protocol: str
) -> None:
    right = Smb.call

    def beside(self: Smb, setup: Setup, service: Service) -> Call:
        call = right(self, setup, service)
        assert isinstance(service, SmbService)
        words = [
            HERE.need("smbclient", "smbclient"), str(setup.client.own / "client.conf"),
            f"//{setup.testbed.addresses[1]}/office",
            f"{service.login.user}%{service.login.password}", str(setup.client.own / "held"),
        ]  # fmt: skip
        return Call(["sh", "-c", HOLD, "sh", *words, *call.command], input=call.input)

    monkeypatch.setattr(Smb, "call", beside)
    message = reason(lan, "files.open", protocol)
    assert message.startswith("the file is locked by another client (NT_STATUS_SHARING_VIOLATION)")


@EACH
def test_a_document_that_the_server_has_not(
    lan: Bench, monkeypatch: pytest.MonkeyPatch, workload: str, protocol: str
) -> None:
    kind = type(protocols.family(protocol))
    right = kind.call

    def without(self: Family, setup: Setup, service: Service) -> Call:
        for path in setup.shared.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        return right(self, setup, service)

    monkeypatch.setattr(kind, "call", without)
    message = reason(lan, workload, protocol)
    assert message.startswith("the server does not have the file ("), message
    assert message.endswith("; 0 of 2,000,000 bytes had come")


def test_a_wrong_key(lan: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    right = Sftp.call

    def wrong(self: Sftp, setup: Setup, service: Service) -> Call:
        setup.server.write("authorized_keys", "")
        return right(self, setup, service)

    monkeypatch.setattr(Sftp, "call", wrong)
    message = reason(lan, protocol="sftp")
    assert message.startswith("the server refused the user's key (Permission denied")
    assert message.endswith("; 0 of 2,000,000 bytes had come")


@EACH
def test_a_full_disk_of_the_client(
    lan: Bench, monkeypatch: pytest.MonkeyPatch, workload: str, protocol: str
) -> None:
    small_disk(lan, monkeypatch)
    assert reason(lan, workload, protocol).startswith("the client's disk is full")
