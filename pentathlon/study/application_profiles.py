"""The traffic of applications, as data with its sources.

A message of a stream carries a header of 32 bytes, so that smaller payloads (a key stroke of
Telnet) are sent as 32 bytes. Times are in seconds, sizes in bytes of payload.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Way:
    """One direction: distributions as `pentathlon.study.distributions` reads them.

    Attributes:
        size: length of the payload, bytes.
        pace: time between packets, s, or with `rate` packets/s.
        rate: whether `pace` is a rate.
    """

    size: str
    pace: str
    rate: bool = False


@dataclass(frozen=True)
class Profile:
    """What an application sends, and what its peer sends meanwhile.

    Attributes:
        protocol: transport protocol.
        forward: from the first host to the second.
        back: the other direction, sent where the study requests both; the same as `forward`
            unless the source states otherwise.
        source: where the numbers come from.
    """

    title: str
    protocol: str
    forward: Way
    back: Way
    source: str


def _alike(title: str, protocol: str, way: Way, source: str) -> Profile:
    return Profile(title, protocol, way, way, source)


PROFILES: dict[str, Profile] = {
    "telnet": Profile(
        "Telnet: a person types, the other host prints",
        "tcp",
        Way("constant 32", "pareto 0.9 0.1"),
        Way("uniform 32 128", "pareto 0.9 0.1"),
        "Paxson and Floyd, Wide-area traffic: the failure of Poisson modeling (IEEE/ACM ToN 3(3), "
        "1995), section 4: gaps follow a Pareto distribution of shape 0.9; the scale (median gap "
        "0.2 s) and the length of the answers are ours",
    ),
    "dns": Profile(
        "DNS: queries and answers by UDP",
        "udp",
        Way("uniform 32 64", "exponential 0.1"),
        Way("uniform 64 512", "exponential 0.1"),
        "RFC 1035, section 4.2.1: messages by UDP are at most 512 bytes; Poisson arrivals, ten "
        "queries a second and the lengths are ours",
    ),
    "voip-g711": _alike(
        "Voice, G.711: 64 kbit/s in packets of 20 ms",
        "udp",
        Way("constant 172", "constant 0.02"),
        "RFC 3551, sections 4.2 and 4.5.14: 160 bytes of samples every 20 ms; RFC 3550: 12 bytes "
        "of RTP header",
    ),
    "voip-g729": _alike(
        "Voice, G.729: 8 kbit/s in packets of 20 ms",
        "udp",
        Way("constant 32", "constant 0.02"),
        "RFC 3551, sections 4.2 and 4.5.6: two frames of 10 bytes every 20 ms; RFC 3550: 12 bytes "
        "of RTP header",
    ),
    "game": Profile(
        "Fast game: a player's moves, the server's states",
        "udp",
        Way("normal 83.3 7.3", "constant 0.04"),
        Way("normal 140.8 46.2", "normal 0.0585 0.0077"),
        "Faerber, Network game traffic modelling (NetGames 2002): client Ext(80, 5.7) bytes every "
        "40 ms, server Ext(120, 36) bytes every Ext(55, 6) ms; given here as normal distributions "
        "of the same mean and standard deviation",
    ),
    "video": _alike(
        "Video: MPEG transport stream of 4 Mbit/s",
        "udp",
        Way("constant 1328", "constant 380", rate=True),
        "RFC 2250, section 2: whole transport packets of 188 bytes, seven of which fit into an "
        "Ethernet frame, after 12 bytes of RTP header; the rate is ours",
    ),
    "bulk": _alike(
        "Bulk transfer: as fast as TCP takes it",
        "tcp",
        Way("constant 1448", "constant 0", rate=True),
        "RFC 9293, section 3.7.1: messages of a segment over Ethernet with the time stamps of "
        "RFC 7323",
    ),
}
