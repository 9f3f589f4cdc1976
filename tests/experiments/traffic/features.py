"""Switches a feature of a network device: features.py DEVICE NAME on|off (linux/ethtool.h).

A program of its own, so that it can run in another network namespace; ethtool(8) may be missing.
"""

import array
import fcntl
import socket
import struct
import sys

SIOCETHTOOL = 0x8946
GSTRINGS, GSSET_INFO, GFEATURES, SFEATURES = 0x1B, 0x37, 0x3A, 0x3B
FEATURES = 4
"""The set of names that are features."""


def ask(device: str, words: list[int], room: int = 0) -> bytes:
    """The answer to a command, which begins as the command does."""
    data = array.array("I", [*words, *[0] * room])
    address, _ = data.buffer_info()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as via:
        fcntl.ioctl(via, SIOCETHTOOL, struct.pack("16sQ16x", device.encode(), address))
    return data.tobytes()


def names(device: str) -> list[str]:
    """Of all features, in the kernel's order."""
    count = struct.unpack_from("I", ask(device, [GSSET_INFO, 0, 1 << FEATURES, 0], 1), 16)[0]
    reported = ask(device, [GSTRINGS, FEATURES, count], 8 * count)[12:]
    return [reported[32 * n : 32 * n + 32].split(b"\0")[0].decode() for n in range(count)]


def switch(device: str, name: str, on: bool) -> None:
    """Switch it; the kernel may refuse, then it is as it was."""
    known = names(device)
    place, blocks = known.index(name), -(-len(known) // 32)
    words = [SFEATURES, blocks, *[0] * (2 * blocks)]
    words[2 + place // 32 * 2] = 1 << place % 32
    words[3 + place // 32 * 2] = int(on) << place % 32
    ask(device, words)
    # Each block: available, requested, active, never changed.
    reported = ask(device, [GFEATURES, blocks], 4 * blocks)
    active = struct.unpack_from("I", reported, 8 + place // 32 * 16 + 8)[0] >> place % 32 & 1
    if active != on:
        raise SystemExit(f"{device} keeps {name} {'on' if active else 'off'}")


if __name__ == "__main__":
    try:
        switch(sys.argv[1], sys.argv[2], sys.argv[3] == "on")
    except (OSError, ValueError) as error:
        raise SystemExit(f"{sys.argv[2]} of {sys.argv[1]}: {error}") from error
