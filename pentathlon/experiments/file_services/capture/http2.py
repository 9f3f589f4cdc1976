"""HTTP/2 (RFC 9113) without encryption: the messages of one direction, stream by stream."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from hpack import Decoder, HPACKError, OversizedHeaderListError
from hyperframe.exceptions import HyperframeError, InvalidPaddingError
from hyperframe.frame import ContinuationFrame, DataFrame, Frame, HeadersFrame

from pentathlon.exchange.pcapng import CaptureError
from pentathlon.experiments.file_services.capture.streams import Stream

PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
FRAME_HEADER: Final = 9
"""Bytes (section 4.1)."""
PRIORITY: Final = 5
"""Bytes that the flag of this name adds to HEADERS (section 6.2)."""
MOST_HEADERS: Final = 1 << 16
"""Bytes of a message's headers, unpacked, and of the table of recent ones, each header with 32
more (RFC 7541, section 4.1). Browsers allow as much; one byte can name all that a table holds."""


class Http2Error(CaptureError):
    """A frame or its headers cannot be read; one sentence."""


@dataclass(frozen=True)
class Part:
    """A request or a response: its method or status, and its place in the stream of bytes."""

    name: str
    number: int
    first: int
    last: int


@dataclass
class _Open:
    """A message whose end has not come.

    Attributes:
        name: its method or status, empty until it is known.
        first: where it begins.
        ends: its last frame, or the one whose headers go on, ends it.
    """

    name: str
    first: int
    ends: bool = False


def parts(stream: Stream, up: bool) -> Iterator[Part]:
    """Every whole message, in the order in which they end.

    Raises:
        Http2Error: a frame or its headers cannot be read.
    """
    data, decoder = memoryview(stream.data), Decoder(MOST_HEADERS)
    decoder.max_allowed_table_size = MOST_HEADERS
    wanted = b":method" if up else b":status"
    at = len(PREFACE) if up else 0
    begun: dict[int, _Open] = {}
    block = bytearray()
    while at + FRAME_HEADER <= len(data):
        try:
            frame, length = Frame.parse_frame_header(data[at : at + FRAME_HEADER])
            end = at + FRAME_HEADER + length
            if end > len(data):
                return
            if isinstance(frame, HeadersFrame | ContinuationFrame):
                frame.parse_body(data[at + FRAME_HEADER : end])
            if isinstance(frame, HeadersFrame):
                _check_padding(frame)
        except HyperframeError as error:
            reason = str(error).rstrip(".")
            raise Http2Error(
                f"the frame of HTTP/2 at byte {at} of its stream cannot be read: {reason}"
            ) from error
        number = frame.stream_id
        if isinstance(frame, DataFrame | HeadersFrame):
            message = begun.setdefault(number, _Open("", at))
            message.ends = "END_STREAM" in frame.flags
        over = isinstance(frame, DataFrame)
        if isinstance(frame, HeadersFrame | ContinuationFrame):
            if isinstance(frame, HeadersFrame):
                block.clear()
            block += frame.data
            if "END_HEADERS" in frame.flags and number in begun:
                over = True
                # Trailers name neither, and an interim answer (1xx) is followed by the final one.
                reported = _headers(decoder, bytes(block), at).get(wanted, b"")
                begun[number].name = reported.decode("latin-1") or begun[number].name
                block.clear()
        if over and begun[number].ends:
            message = begun.pop(number)
            yield Part(message.name, number, message.first, end - 1)
        at = end


def _check_padding(frame: HeadersFrame) -> None:
    """Compare the padding with what the priority leaves of the frame, as hyperframe does not.

    Raises:
        InvalidPaddingError: it is longer.
    """
    if "PRIORITY" in frame.flags and frame.pad_length > frame.body_len - PRIORITY:
        raise InvalidPaddingError("Padding is too long.")


def _headers(decoder: Decoder, block: bytes, at: int) -> dict[bytes, bytes]:
    """The headers of a message, of which the frame at this byte of the stream is the last.

    Raises:
        Http2Error: they are damaged, or longer than `MOST_HEADERS`.
    """
    where = f"the headers of HTTP/2 that end in the frame at byte {at} of their stream"
    try:
        return dict(decoder.decode(block, raw=True))
    except OversizedHeaderListError as error:
        raise Http2Error(f"{where} unpack to more than {MOST_HEADERS} bytes") from error
    except HPACKError as error:
        raise Http2Error(f"{where} are no header block of RFC 7541") from error
