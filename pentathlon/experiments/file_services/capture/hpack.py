"""The headers of HTTP/2, unpacked (RFC 7541)."""

from __future__ import annotations

from collections import deque
from functools import cache
from typing import Final

from pentathlon.exchange.pcapng_reader import CaptureError

Header = tuple[str, str]

STATIC: Final[tuple[Header, ...]] = (
    (":authority", ""), (":method", "GET"), (":method", "POST"), (":path", "/"),
    (":path", "/index.html"), (":scheme", "http"), (":scheme", "https"), (":status", "200"),
    (":status", "204"), (":status", "206"), (":status", "304"), (":status", "400"),
    (":status", "404"), (":status", "500"), ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"),
    *((name, "") for name in (
        "accept-language", "accept-ranges", "accept", "access-control-allow-origin", "age",
        "allow", "authorization", "cache-control", "content-disposition", "content-encoding",
        "content-language", "content-length", "content-location", "content-range", "content-type",
        "cookie", "date", "etag", "expect", "expires", "from", "host", "if-match",
        "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "last-modified",
        "link", "location", "max-forwards", "proxy-authenticate", "proxy-authorization", "range",
        "referer", "refresh", "retry-after", "server", "set-cookie", "strict-transport-security",
        "transfer-encoding", "user-agent", "vary", "via", "www-authenticate",
    )),
)  # fmt: skip
"""Appendix A; the first has the index 1."""

LENGTHS: Final = (
    "ISXXXXXXXTZXXZXXXXXXXXZXXXXXXXXXBFFHIBDGFFDGDBBBAAABBBBBBBCDKBHF"
    "IBCCCCCCCCCCCCCCCCCCCCCCDCDIOIJBKABABABBBACCBBBABCBAABCCCCCKGJIX"
    "PRPPRRRSRSSSSSTSTTRSTSSSSQRSRSSTRQPRRSSQSRRTQRSSQQRQSRSSPRRRSRRS"
    "VVPORSRUVVVWWVTUOQVWWVWTQQVVXWWWPTPQRQQSRRUUTTVSVWVVWWWWWXWWWWWV"
    "Z"
)
"""Bits of Huffman's code of each byte and of the end mark (appendix B): "A" is 5, "Z" 30. The code
is canonical, so its lengths say all of it."""

END_MARK: Final = 256
MOST_SHIFTS: Final = 28


class HpackError(CaptureError):
    """The bytes are no headers; one sentence."""


@cache
def codes() -> dict[tuple[int, int], int]:
    """(bits, code) -> symbol."""
    bits = [ord(letter) - ord("A") + 5 for letter in LENGTHS]
    found: dict[tuple[int, int], int] = {}
    code = before = 0
    for symbol in sorted(range(len(bits)), key=lambda one: (bits[one], one)):
        code <<= bits[symbol] - before
        before = bits[symbol]
        found[before, code] = symbol
        code += 1
    return found


def unpack_text(data: bytes) -> bytes:
    """A string in Huffman's code.

    Raises:
        HpackError: it is padded with other bits than the end mark's, or holds that mark.
    """
    known, out = codes(), bytearray()
    code = bits = 0
    for byte in data:
        for place in range(7, -1, -1):
            code, bits = code << 1 | byte >> place & 1, bits + 1
            symbol = known.get((bits, code))
            if symbol is not None:
                if symbol == END_MARK:
                    raise HpackError("a string of the headers holds the end mark")
                out.append(symbol)
                code = bits = 0
    if bits > 7 or code != (1 << bits) - 1:
        raise HpackError("a string of the headers ends amid a letter")
    return bytes(out)


class Unpacker:
    """Unpacks the header blocks of one direction of a connection, in their order."""

    def __init__(self, size: int = 4096) -> None:
        self._recent: deque[Header] = deque()
        self._size = size
        self._held = 0

    def unpack(self, block: bytes) -> list[Header]:
        """The headers of a block.

        Raises:
            HpackError: it is torn, or names what is not there.
        """
        try:
            return self._unpack(block)
        except IndexError as error:
            raise HpackError("the headers are torn") from error

    def _unpack(self, block: bytes) -> list[Header]:
        found, at = [], 0
        while at < len(block):
            first = block[at]
            if first & 0x80:
                index, at = _number(block, at, 7)
                found.append(self._named(index))
            elif first & 0x40:
                header, at = self._literal(block, at, 6)
                found.append(header)
                self._remember(header)
            elif first & 0x20:
                self._size, at = _number(block, at, 5)
                self._forget()
            else:
                header, at = self._literal(block, at, 4)
                found.append(header)
        return found

    def _named(self, index: int) -> Header:
        if not 0 < index <= len(STATIC) + len(self._recent):
            raise HpackError(f"the headers name entry {index}, which is not there")
        return STATIC[index - 1] if index <= len(STATIC) else self._recent[index - 1 - len(STATIC)]

    def _literal(self, block: bytes, at: int, bits: int) -> tuple[Header, int]:
        index, at = _number(block, at, bits)
        if index:
            name = self._named(index)[0]
        else:
            name, at = _text(block, at)
        value, at = _text(block, at)
        return (name, value), at

    def _remember(self, header: Header) -> None:
        self._recent.appendleft(header)
        self._held += _size(header)
        self._forget()

    def _forget(self) -> None:
        while self._held > self._size:
            self._held -= _size(self._recent.pop())


def _size(header: Header) -> int:
    """What an entry counts for (section 4.1)."""
    return len(header[0]) + len(header[1]) + 32


def _number(block: bytes, at: int, bits: int) -> tuple[int, int]:
    """A number of which the first `bits` bits lie in this byte, and what follows (section 5.1)."""
    most = (1 << bits) - 1
    value, at = block[at] & most, at + 1
    if value < most:
        return value, at
    shift = 0
    while True:
        byte = block[at]
        value, at = value + ((byte & 0x7F) << shift), at + 1
        if not byte & 0x80:
            return value, at
        shift += 7
        if shift > MOST_SHIFTS:
            raise HpackError("a number of the headers is longer than any length can be")


def _text(block: bytes, at: int) -> tuple[str, int]:
    packed = block[at] & 0x80
    length, at = _number(block, at, 7)
    data = block[at : at + length]
    if len(data) < length:
        raise HpackError("the headers are torn")
    return (unpack_text(data) if packed else data).decode("latin-1"), at + length
