"""One trial: the receivers are opened, the flows are sent, and both ends' records are fetched."""

from __future__ import annotations

import secrets
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from pentathlon.experiments import transmit_backends
from pentathlon.experiments.transmit_backends import Receiving
from pentathlon.packets.clocks import Counter
from pentathlon.packets.records import RecordsError
from pentathlon.protocol.events import JsonObject
from pentathlon.protocol.requests.commands import (
    Exchange,
    Listen,
    ReceiveFlow,
    Send,
    SendFlow,
)
from pentathlon.study.flows import Flow
from pentathlon.testbed.endpoint import CommandError, Endpoint
from pentathlon.testbed.replies.counters import HostCounters
from pentathlon.testbed.replies.trials import FlowReceived, FlowSent
from pentathlon.testbed.trial import Task

QUIET_MS = 200
"""Time after the last packet in which late ones are waited for, ms."""


@dataclass
class Trial:
    """What one trial left.

    Attributes:
        flows: the flows by their number.
        seconds: its length.
        ports: of the receivers, by flow.
        addresses: of both hosts.
        sent, received, echoed: counts that the ends gave, by flow.
        files: records by host (0, 1), kind and flow.
        hosts: counters of both hosts over the flows; empty where they are unknown.
        announced: the hosts that send and have told the other one when.
        transmit_backend: how the packets are handed over.
        timers: of both hosts.
        one_kernel: both hosts are one to what their counters count.
    """

    flows: list[Flow]
    seconds: float
    addresses: tuple[str, str]
    ports: dict[int, int] = field(default_factory=dict)
    sent: dict[int, FlowSent] = field(default_factory=dict)
    received: dict[int, FlowReceived] = field(default_factory=dict)
    echoed: dict[int, FlowReceived] = field(default_factory=dict)
    files: dict[tuple[int, str, int], bytes] = field(default_factory=dict)
    hosts: list[HostCounters] = field(default_factory=lambda: [{}, {}])
    announced: set[int] = field(default_factory=set)
    transmit_backend: str = "send"
    timers: tuple[Counter | None, Counter | None] = (None, None)
    one_kernel: bool = False

    def sends(self, host: int) -> bool:
        """Whether the host (0 or 1) sends a flow of the trial."""
        return any(flow.back == bool(host) for flow in self.flows)


def run_trial(
    task: Task, case: JsonObject, requests: list[Flow], first: Endpoint, second: Endpoint
) -> Trial:
    """Run the flows of a case together.

    Raises:
        CommandError: an endpoint cannot do it; its reason.
        RecordsError: what an endpoint wrote down is damaged.
    """
    ends = (first, second)
    name = secrets.token_hex(4)
    version = case["ip_version"]
    addresses = (first.addresses[version], second.addresses[version])
    trial = Trial(requests, max(flow.end_s for flow in requests), addresses)
    session = task.session[:16]
    trial.timers = (first.timer, second.timer)
    # Hosts whose systems do not report (Wine) are programs of this machine.
    trial.one_kernel = first.kernel == second.kernel
    backend = trial.transmit_backend = case.get("transmit_backend", "send")
    receiving = transmit_backends.receiving(backend, task.parameters["receiver"])
    if not task.parameters["echo"] or backend in transmit_backends.MUTE:
        receiving["role"] = "receive"
    if task.parameters["kernel_times"]:
        receiving |= {"stamps": True, "reader": "recv"}
    commands: dict[int, Send] = {}
    listening: list[int] = []
    try:
        for sender in (0, 1):
            if not trial.sends(sender):
                continue
            own = {n: flow for n, flow in enumerate(requests) if flow.back == bool(sender)}
            ready = ends[1 - sender].listen(
                Listen(
                    trial=name,
                    session=session,
                    address=addresses[1 - sender],
                    flows=[
                        _received(number, flow, trial, version, receiving)
                        for number, flow in own.items()
                    ],
                )
            )
            listening.append(1 - sender)
            trial.ports |= {one["flow"]: one["port"] for one in ready["flows"]}
            commands[sender] = Send(
                trial=name,
                session=session,
                seed=task.seed,
                quiet_ms=QUIET_MS,
                exchange=Exchange(address=addresses[1 - sender], port=ready["exchange_port"]),
                flows=[
                    _sent(number, flow, trial, version, receiving)
                    for number, flow in own.items()
                    if flow.hears is None
                ],
            )
        _send(trial, commands, ends)
    except CommandError:
        # The receivers wait for their end; nobody wants their records.
        for host in listening:
            ends[host].finish(name, 0)
        for end in ends:
            end.fetch(name)
        raise
    for sender in commands:
        answer = ends[1 - sender].finish(name, QUIET_MS)
        trial.received |= {one["flow"]: one for one in answer["flows"]}
        # A host that sends too has told of the same time already. One that did not hear when the
        # flows begin has read its counters at some other time, or not at all.
        heard = answer["host"] if sender in trial.announced else None
        trial.hosts[1 - sender] = trial.hosts[1 - sender] or heard or {}
    wrong: RecordsError | None = None
    for host, end in enumerate(ends):
        try:
            trial.files |= {(host, one.kind, one.flow): one.data for one in end.fetch(name)}
        except RecordsError as error:
            # The other host hands its files out all the same: it keeps none.
            wrong = wrong or error
    if wrong is not None:
        raise wrong
    return trial


def _received(
    number: int, flow: Flow, trial: Trial, version: int, receiving: Receiving
) -> ReceiveFlow:
    """The command to the receiver of a flow."""
    command = receiving.copy()
    if flow.protocol != "udp":
        command.pop("stamps", None)
        # What only datagrams can be read by is refused by the endpoint, in its words.
        if command.get("reader") == "recvmmsg":
            command.pop("reader")
    to_group = flow.group is not None
    if to_group:
        command["role"] = "receive"
    return ReceiveFlow(
        flow=number,
        protocol=flow.protocol,
        address=trial.addresses[1 - int(flow.back)],
        group=flow.address[version] if to_group else None,
        hears=flow.hears if to_group else None,
        **command,
    )


def _sent(number: int, flow: Flow, trial: Trial, version: int, receiving: Receiving) -> SendFlow:
    """The command to the sender of a flow."""
    own, peer = trial.addresses[int(flow.back)], trial.addresses[1 - int(flow.back)]
    to_group = flow.group is not None
    return SendFlow(
        flow=number,
        protocol=flow.protocol,
        peer=flow.address[version] if to_group else peer,
        port=trial.ports[number],
        size=flow.size,
        gap=flow.gap,
        start_s=flow.start_s,
        duration_s=flow.duration_s,
        echo=receiving["role"] == "echo" and not to_group,
        transmit_backend=receiving["transmit_backend"],
        source=own if to_group else None,
        stamps=receiving.get("stamps", False) and flow.protocol == "udp",
    )


def _send(trial: Trial, commands: dict[int, Send], ends: tuple[Endpoint, Endpoint]) -> None:
    """Send both directions at once; each endpoint has a thread that waits for it."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        waiting = {
            sender: pool.submit(ends[sender].send, command, trial.seconds)
            for sender, command in commands.items()
        }
    for sender, answer in waiting.items():
        sent = answer.result()
        trial.sent |= {one["flow"]: one for one in sent["flows"]}
        trial.echoed |= {one["flow"]: one for one in sent["echoes"]}
        trial.hosts[sender] = sent["host"] or {}
        trial.announced |= {sender} if sent["announced"] else set()
