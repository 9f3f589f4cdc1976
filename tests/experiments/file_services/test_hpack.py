"""Headers of HTTP/2 against the examples of RFC 7541, appendix C."""

from __future__ import annotations

import pytest

from pentathlon.experiments.file_services.capture.hpack import HpackError, Unpacker, codes

DATE_21 = ("date", "Mon, 21 Oct 2013 20:13:21 GMT")
DATE_22 = ("date", "Mon, 21 Oct 2013 20:13:22 GMT")
PLACE = ("location", "https://www.example.com")
COOKIE = ("set-cookie", "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1")

REQUESTS = [
    ("828684418cf1e3c2e5f23a6ba0ab90f4ff",
     [(":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "www.example.com")]),
    ("828684be5886a8eb10649cbf",
     [(":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "www.example.com"),
      ("cache-control", "no-cache")]),
    ("828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf",
     [(":method", "GET"), (":scheme", "https"), (":path", "/index.html"),
      (":authority", "www.example.com"), ("custom-key", "custom-value")]),
]  # fmt: skip
"""C.4: requests with Huffman's code."""

RESPONSES = [
    ("488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b9"
     "7c8e9ae82ae43d3",
     [(":status", "302"), ("cache-control", "private"), DATE_21, PLACE]),
    ("4883640effc1c0bf", [(":status", "307"), ("cache-control", "private"), DATE_21, PLACE]),
    ("88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335dfdfc"
     "d5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007",
     [(":status", "200"), ("cache-control", "private"), DATE_22, PLACE,
      ("content-encoding", "gzip"), COOKIE]),
]  # fmt: skip
"""C.6: responses with a table so short that entries leave it."""


@pytest.mark.parametrize(("size", "blocks"), [(4096, REQUESTS), (256, RESPONSES)])
def test_the_examples_of_the_standard(
    size: int, blocks: list[tuple[str, list[tuple[str, str]]]]
) -> None:
    unpacker = Unpacker(size)
    for block, headers in blocks:
        assert unpacker.unpack(bytes.fromhex(block)) == headers


def test_the_code_leaves_nothing_over() -> None:
    # A complete prefix code: the shares of all words add up to the whole (Kraft).
    assert sum(2.0**-bits for bits, _ in codes()) == 1.0


def test_a_table_that_is_made_shorter_forgets() -> None:
    unpacker = Unpacker()
    unpacker.unpack(bytes.fromhex(REQUESTS[0][0]))
    assert unpacker.unpack(b"\xbe") == [(":authority", "www.example.com")]
    with pytest.raises(HpackError, match="entry 62, which is not there"):
        unpacker.unpack(b"\x20\xbe")


@pytest.mark.parametrize(
    ("block", "words"),
    [("418cf1e3", "torn"), ("7f", "torn"), ("7fffffffffffff01", "longer than any"),
     ("4181ff00", "amid a letter|torn|there"), ("80", "entry 0")],
)  # fmt: skip
def test_what_is_no_header_is_refused(block: str, words: str) -> None:
    with pytest.raises(HpackError, match=words):
        Unpacker().unpack(bytes.fromhex(block))
