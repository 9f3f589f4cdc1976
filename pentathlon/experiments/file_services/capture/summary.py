"""What a task took, from its packets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from pentathlon.exchange.pcapng import Capture, CaptureError
from pentathlon.experiments.file_services.capture import http, nfs, smb
from pentathlon.experiments.file_services.capture.exchanges import Exchange, mean_response_ns, turns
from pentathlon.experiments.file_services.capture.rounds import round_trips, shortest_ns
from pentathlon.experiments.file_services.capture.segments import UDP, segments
from pentathlon.experiments.file_services.capture.streams import Conversation, conversations

READERS = {"smb": smb.exchanges, "http": http.exchanges, "nfs": nfs.exchanges}
"""Family of protocols -> what finds its exchanges. Others are encrypted, or not read."""


@dataclass
class Summary:
    """One task.

    Attributes:
        task_s: from its first packet to its last, in seconds.
        packets: of both directions.
        up_bytes, down_bytes: frames from and to the client, in bytes, without check sequence.
        retransmitted: packets that were sent again; None without TCP.
        round_trips: one after another (`rounds.round_trips`); None without TCP.
        exchanges: questions and answers; None where the protocol hides them.
        turns: exchanges one after another; None as above.
        handshake_s: the shortest handshake; None for no TCP.
        round_trip_s: the shortest of all, that of the empty link; None as above.
        window: the largest receive window that the client offered, in bytes; None without TCP.
        connections: of TCP.
        dialect: of SMB, as it was agreed.
    """

    task_s: float
    packets: int
    up_bytes: int
    down_bytes: int
    retransmitted: int | None
    round_trips: int | None
    window: int | None
    connections: int
    handshake_s: float | None = None
    round_trip_s: float | None = None
    exchanges: list[Exchange] | None = None
    turns: int | None = None
    dialect: str | None = None
    talks: list[Conversation] = field(default_factory=list, repr=False)

    @property
    def response_s(self) -> float | None:
        """Mean time from a question to its answer, in seconds."""
        found = mean_response_ns(self.exchanges or [])
        return None if found is None else found / 1e9

    @property
    def metadata(self) -> int | None:
        """Exchanges that carry no content of files; None where the protocol hides them."""
        return None if self.exchanges is None else sum(not one.data for one in self.exchanges)

    def least_s(self, rate_bit_s: float, round_trip_s: float, content: int) -> float:
        """The least time in which the link can do the task, in seconds.

        The content in full packets at the link's rate, and a round trip for each step that this
        client did not take before the one ahead of it was answered: the handshake of TCP where it
        belongs to the task, the exchanges that carry no content and lie one after another, and the
        first that carries some.

        Args:
            rate_bit_s: of the link, in bit/s.
            round_trip_s: of the empty link, in seconds.
            content: bytes of the files.
        """
        about = turns(one for one in self.exchanges or [] if not one.data)
        steps = 1 + about + (self.dialect is None)
        full, payload = 1514, 1448
        return content / payload * full * 8 / rate_bit_s + steps * round_trip_s


SETTING_UP: Final = ("TREE_CONNECT", "TREE_CONNECT_ANDX")
LEAVING: Final = ("TREE_DISCONNECT", "LOGOFF", "LOGOFF_ANDX", "ECHO")
"""SMB exchanges that are no part of a task on a drive that is mapped already."""


def summarise(capture: Capture, client: str, server: str, family: str) -> Summary:
    """The summary of everything between client and server.

    With SMB the task begins when the share is connected and ends before it is disconnected, as with
    a drive that was mapped before (tolly2007, Copying Microsoft Office Files over a WAN). With
    others it is everything.

    Args:
        family: "smb", "http", or another one, whose exchanges are hidden.

    Raises:
        CaptureError: the kernel dropped frames, or there are none, or they took no time.
    """
    if capture.dropped:
        raise CaptureError(
            f"the capture lacks {capture.dropped} frames for which the kernel had no room"
        )
    raw = [(frame.time_ns, frame.data, frame.length) for frame in capture.frames]
    talks = conversations(segments(raw, client, server))
    whole = [segment for talk in talks for segment in talk.segments]
    whole += segments(raw, client, server, UDP)
    if not whole:
        raise CaptureError("the capture has no packet between client and server")
    whole.sort(key=lambda one: one.time_ns)
    since, until = whole[0].time_ns, whole[-1].time_ns
    reader = READERS.get(family)
    requests = None if reader is None else [one for talk in talks for one in reader(talk)]
    if family == "smb" and requests:
        mapped = max((one.ended_ns for one in requests if one.name in SETTING_UP), default=since)
        requests = [
            one for one in requests if one.requested_ns >= mapped and one.name not in LEAVING
        ]
        since = min((one.requested_ns for one in requests), default=mapped)
        until = max((one.ended_ns for one in requests), default=until)
    if until <= since:
        raise CaptureError("the packets of the capture took no time, as no task does")
    packets = [one for one in whole if since <= one.time_ns <= until]
    trips = [talk.handshake_ns for talk in talks if talk.handshake_ns is not None]
    shortest = [ns for talk in talks if (ns := shortest_ns(talk)) is not None]
    return Summary(
        task_s=(until - since) / 1e9,
        packets=len(packets),
        up_bytes=sum(one.length for one in packets if one.up),
        down_bytes=sum(one.length for one in packets if not one.up),
        retransmitted=sum(talk.retransmitted for talk in talks) if talks else None,
        round_trips=round_trips(talks, since, until) if talks else None,
        window=max((talk.largest_window for talk in talks), default=None),
        connections=len(talks),
        handshake_s=min(trips) / 1e9 if trips else None,
        round_trip_s=min(shortest) / 1e9 if shortest else None,
        exchanges=requests,
        turns=None if requests is None else turns(requests),
        dialect=next((d for t in talks if (d := smb.dialect(t))), None)
        if family == "smb"
        else None,
        talks=talks,
    )
