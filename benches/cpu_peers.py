"""cpu.pi beside a Gauss–Legendre program on GMP; ciphers beside `openssl speed`; the file codecs
beside zlib and `zstd -b`.

Every row is `one / two`: of rates, so that above 1 one is faster, and of CPU time for π, where two
is ours. The file codecs get the same bytes as their peers (`corpus.py`). Programs that are missing
(openssl, zstd; for π and the counterparts a C compiler with libgmp-dev, libssl-dev and libzstd-dev)
are named and left out; zlib-ng (the package `zlib-ng` of PyPI) is compared where it can be
imported. Exit status: 0 compared, 1 no peer was found or a run failed.

    python benches/cpu_peers.py --digits 1048576 4194304 --only pi
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import corpus
import turns
from turns import Measure, Place, Ratio, number

from pentathlon.protocol import agent

try:
    from zlib_ng import zlib_ng
except ImportError:
    zlib_ng = None

AES_BYTES = 1 << 20
SECRET_BYTES = 4 << 20
"""The default of cpu.encrypt and of cpu.compress."""
RSA = (512, 1024)
Counterparts = dict[tuple[str, str], str | None]
"""Compiled counterparts by their source and the library in them."""
Compared = tuple[dict[str, Measure], list[Ratio]]
"""Sides, and the rows that they make."""


NO_VAES = {"OPENSSL_ia32cap": f":~{1 << 41 | 1 << 42:#x}"}
"""What hides the vector instructions for AES and for its tag (VAES, VPCLMULQDQ) from AWS-LC: bits 9
and 10 of ECX of CPUID's leaf 7."""


def ours(
    program: Path,
    place: Place,
    workload: str,
    parameters: dict[str, Any],
    environment: dict[str, str] | None = None,
    **case: str,
) -> float:
    """The agent's figure in one case: the median of its samples, as openssl reports the mean of a
    second; the best one of the file codecs, as their peers tell."""
    found = turns.samples(
        program,
        workload,
        parameters,
        place=place,
        tries=7,
        sample_ms=50,
        environment=environment,
    )
    chosen = [e for e in found if case.items() <= e["case"].items()]
    values = [float(event["value"]) for event in chosen]
    return max(values) if "file_format" in parameters else statistics.median(values)


def openssl(place: Place, *options: str) -> str:
    command = [*place.command(), str(turns.find("openssl")), "speed", "-mr", "-seconds", "1"]
    return turns.output([*command, *options])


def cipher(place: Place, length: int, *options: str) -> float:
    """MB/s of openssl."""
    text = openssl(place, "-bytes", str(length), *options)
    return number(r"^\+F:.*:([\d.]+)$", text) / 1e6


def rsa_speed(place: Place, bits: int, private: bool) -> float:
    """Microseconds of one operation."""
    text = openssl(place, f"rsa{bits}")
    rate = r"([\d.]+):[\d.]+" if private else r"[\d.]+:([\d.]+)"
    return 1e6 / number(rf"^\+F2:\d+:{bits}:{rate}$", text)


def pi_rows(program: Path, place: Place, digits: int, peer: str) -> tuple[dict[str, Measure], ...]:
    def own() -> float:
        found = turns.samples(program, "cpu.pi", {"digits": [digits]}, place=place, tries=1)
        return min(
            (s["counters"]["cpu_user_ns"] + s["counters"]["cpu_system_ns"]) / s["batch"] / 1e9
            for s in found
        )

    def gmp() -> float:
        return number(r": ([\d.]+) s", turns.output([*place.command(), peer, str(digits)]))

    return ({"GMP": gmp, "ours": own},)


def best(work: Callable[[], object], length: int) -> float:
    """MB/s of the fastest of some calls."""
    times = []
    for _ in range(5):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return length / min(times) / 1e6


def zstd(place: Place, file: Path, which: int) -> float:
    """MB/s (10^6) of level 3, to compress (0) or to restore (1)."""
    text = turns.output([*place.command(), str(turns.find("zstd")), "-b3", "-e3", "-i1", str(file)])
    found = re.findall(r"([\d.]+) MB/s, +([\d.]+) MB/s", text.replace("\r", "\n"))
    if not found:
        raise RuntimeError(f"zstd said: {text.strip()!r}")
    return float(found[-1][which])


def pi(program: Path, place: Place, rounds: int, digits: list[int], folder: Path) -> int:
    peer = turns.built("../pi/gauss_legendre_gmp.c", folder / "pi", "-lgmp")
    if peer is None:
        print("π: it needs a C compiler and libgmp-dev")
        return 0
    for count in digits:
        (sides,) = pi_rows(program, place, count, peer)
        remark = "the same algorithm; ours in decimal by a Fourier transform"
        rows = [Ratio(f"π, {count} digits, CPU s", "GMP", "ours", remark)]
        turns.tell(turns.measured(sides, rounds), rows)
    return len(digits)


def ciphers(program: Path, place: Place, rounds: int) -> int:
    if not turns.find("openssl"):
        print("ciphers: openssl is missing: install the package openssl")
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sources = {"openssl": ["-lcrypto"], "AWS-LC": aws_lc()}
        counterparts = {
            (source, library): turns.built(f"{source}.c", folder / f"{source}-{library}", *flags)
            for source in ("evp", "rsa")
            for library, flags in sources.items()
            if flags is not None
        }
        if sources["AWS-LC"] is None:
            print("no counterparts by AWS-LC: its sources and library are missing")
        for sides, rows in (*aes(program, place, counterparts), *rsa(program, place, counterparts)):
            turns.tell(turns.measured(sides, rounds), rows)
    return 1


def aws_lc() -> list[str] | None:
    """What compiles a counterpart with the agent's own library: `aws-lc-sys`, the sources of that
    crate, and libaws_lc_*_crypto.a, which cargo made of them, in PENTATHLON_PEERS."""
    peers = Path(os.environ.get("PENTATHLON_PEERS", "."))
    sources = peers / "aws-lc-sys"
    built = next(peers.glob("libaws_lc_*_crypto.a"), None)
    if built is None or not sources.is_dir():
        return None
    headers = ("generated-include", "include", "aws-lc/include")
    return [*(f"-I{sources / name}" for name in headers), str(built), "-pthread"]


def by_counterpart(place: Place, program: str, *arguments: str | int) -> float:
    command = [*place.command(), program, *map(str, arguments)]
    return number(r"^rate: ([\d.]+)$", turns.output(command))


def aes(program: Path, place: Place, counterparts: Counterparts) -> Iterator[Compared]:
    """Files by AES-GCM, blocks by AES-CBC."""
    directions: tuple[tuple[str, list[str], int], ...] = (
        ("encrypt", [], 1),
        ("decrypt", ["-decrypt"], 0),
    )
    own, theirs = counterparts.get(("evp", "AWS-LC")), counterparts.get(("evp", "openssl"))
    for direction, option, flag in directions:
        name = "aes-128-gcm"
        secret = partial(ours, program, place, f"cpu.{direction}", {"bytes": SECRET_BYTES})
        sides: dict[str, Measure] = {
            "ours": secret,
            "ours without VAES": partial(secret, NO_VAES),
            "openssl": partial(cipher, place, SECRET_BYTES, "-evp", name, *option),
        }
        remark = "AWS-LC takes the vector instructions for AES, openssl 3.0 does not"
        rows = [
            ("ours", "openssl", remark),
            ("ours without VAES", "openssl", "these instructions hidden from ours"),
        ]
        if theirs:
            sides["counterpart"] = partial(by_counterpart, place, theirs, name, SECRET_BYTES, flag)
            sides["apart counterpart"] = partial(
                by_counterpart, place, theirs, name, SECRET_BYTES, flag, "apart"
            )
            rows += [
                ("openssl", "counterpart", "user CPU time of a second beside the median of 5 ms"),
                (
                    "ours without VAES",
                    "apart counterpart",
                    "libcrypto from one buffer to another, as ours",
                ),
            ]
        if own:
            sides["AWS-LC counterpart"] = partial(
                by_counterpart, place, own, name, SECRET_BYTES, flag
            )
            sides["AWS-LC apart counterpart"] = partial(
                by_counterpart, place, own, name, SECRET_BYTES, flag, "apart"
            )
            rows += [
                ("ours", "AWS-LC apart counterpart", "ours' library, from one buffer to another"),
                (
                    "AWS-LC apart counterpart",
                    "AWS-LC counterpart",
                    "one buffer to another beside in place",
                ),
            ]
        what = f"AES-128-GCM, {direction}, 4 MiB, MB/s"
        yield sides, [Ratio(what, *row) for row in rows]
    for bits in (128, 256):
        for direction, option, flag in directions:
            name = f"aes-{bits}-cbc"
            parameters = {"algorithm": [f"aes-{bits}"], "bytes": AES_BYTES}
            sides = {
                "ours": partial(
                    ours, program, place, "cpu.cipher", parameters, direction=direction
                ),
                "openssl": partial(cipher, place, AES_BYTES, "-evp", name, *option),
            }
            rows = [("ours", "openssl", "")]
            if theirs:
                sides["counterpart"] = partial(by_counterpart, place, theirs, name, AES_BYTES, flag)
                rows += [
                    ("ours", "counterpart", "libcrypto, timed as ours"),
                    (
                        "openssl",
                        "counterpart",
                        "user CPU time of a second beside the median of 5 ms",
                    ),
                ]
            what = f"AES-{bits}-CBC, {direction}, 1 MiB, MB/s"
            yield sides, [Ratio(what, *row) for row in rows]


def rsa(program: Path, place: Place, counterparts: Counterparts) -> Iterator[Compared]:
    """Both directions of both lengths of key."""
    own, theirs = counterparts.get(("rsa", "AWS-LC")), counterparts.get(("rsa", "openssl"))
    for bits in RSA:
        for direction, key, padded in (
            ("encrypt", "public", "verify"),
            ("decrypt", "private", "sign"),
        ):
            parameters = {"algorithm": [f"rsa-{bits}"]}
            sides: dict[str, Measure] = {
                "ours": partial(
                    ours, program, place, "cpu.cipher", parameters, direction=direction
                ),
                "openssl": partial(rsa_speed, place, bits, key == "private"),
            }
            rows = [("ours", "openssl", "ours: the bare primitive; openssl pads and blinds")]
            if own:
                sides["AWS-LC counterpart"] = partial(by_counterpart, place, own, bits, key)
                rows.append(("ours", "AWS-LC counterpart", "the primitive of ours' library, in C"))
            if theirs:
                sides["bare counterpart"] = partial(by_counterpart, place, theirs, bits, key)
                sides["padding counterpart"] = partial(by_counterpart, place, theirs, bits, padded)
                rows += [
                    ("ours", "bare counterpart", "libcrypto's bare primitive"),
                    ("openssl", "padding counterpart", "the same, timed as ours"),
                    ("padding counterpart", "bare counterpart", "what padding and blinding cost"),
                ]
            if key == "public" and own and theirs:
                sides["AWS-LC's power"] = partial(by_counterpart, place, own, bits, "power")
                sides["openssl's power"] = partial(by_counterpart, place, theirs, bits, "power")
                rows += [
                    ("ours", "AWS-LC's power", "what is not conversions, locks and memory"),
                    ("bare counterpart", "openssl's power", "the same of libcrypto's"),
                    ("AWS-LC's power", "openssl's power", "two libraries"),
                ]
            yield sides, [Ratio(f"RSA-{bits}, {key} key, us", *row) for row in rows]


def zlib_ng_flags() -> list[str]:
    """What compiles a counterpart with zlib-ng: a build in the folder `zlib-ng` of
    PENTATHLON_PEERS, or the one installed."""
    made = Path(os.environ.get("PENTATHLON_PEERS", ".")) / "zlib-ng"
    return [f"-I{made}", str(made / "libz-ng.a")] if made.is_dir() else ["-lz-ng"]


def zstd_sys() -> list[str] | None:
    """What compiles a counterpart with the agent's own version: `zstd-sys`, the sources of that
    crate, in PENTATHLON_PEERS."""
    library = Path(os.environ.get("PENTATHLON_PEERS", ".")) / "zstd-sys/zstd/lib"
    if not library.is_dir():
        print("no counterpart by the agent's version of Zstandard: its sources are missing")
        return None
    parts = [library / part for part in ("common", "compress", "decompress")]
    sources = sorted(str(file) for part in parts for file in part.glob("*.[cS]"))
    return ["-O3", f"-I{library}", *sources, "-pthread"]


def by_zlib(module: Any, verb: str, plain: bytes, packed: bytes) -> Callable[[], object]:
    """One call of zlib or of zlib-ng, with all the room that the result needs."""
    if verb == "compress":
        return partial(module.compress, plain, 6)
    return partial(module.decompress, packed, bufsize=len(plain))


def codec(program: Path, place: Place, rounds: int, folder: Path) -> int:
    plain = corpus.text(SECRET_BYTES)
    (own,) = {
        event["checksum"]
        for event in turns.samples(program, "cpu.decompress", {"bytes": SECRET_BYTES}, tries=1)
    }
    if int(own, 16) != corpus.checksum(plain):
        raise RuntimeError("the text made here is not the agent's")
    packed = zlib.compress(plain, 6)
    file = folder / "text"
    file.write_bytes(plain)
    by_zlib_too = folder / "text.zlib"
    by_zlib_too.write_bytes(packed)
    counterpart = turns.built("zstandard.c", folder / "zstandard", "-lzstd")
    flags = zstd_sys()
    same_counterpart = flags and turns.built("zstandard.c", folder / "zstandard-sys", *flags)
    next_counterpart = turns.built("zlib.c", folder / "zlib", *zlib_ng_flags())

    def by_library(counterpart: str | None, *arguments: str | int | Path) -> float:
        command = [*place.command(), str(counterpart), str(file), *map(str, arguments)]
        return number(r"^rate: ([\d.]+)$", turns.output(command))

    for number_, verb in enumerate(("compress", "decompress")):
        by = partial(ours, program, place, f"cpu.{verb}")
        size = {"bytes": SECRET_BYTES}
        sides: dict[str, Measure] = {
            "ours, zlib": partial(by, size | {"file_format": ["zlib"]}),
            "zlib": partial(best, by_zlib(zlib, verb, plain, packed), len(plain)),
        }
        what = f"file, {verb}, MB/s"
        version = f"zlib-rs and zlib {zlib.ZLIB_RUNTIME_VERSION}: one format, two programs, level 6"
        rows = [Ratio(what, "ours, zlib", "zlib", version)]
        if zlib_ng is not None:
            sides["zlib-ng"] = partial(best, by_zlib(zlib_ng, verb, plain, packed), len(plain))
            remark = f"zlib-rs and zlib-ng {zlib_ng.ZLIBNG_VERSION}, which it is a port of"
            rows.append(Ratio(what, "ours, zlib", "zlib-ng", remark))
        if next_counterpart is not None:
            sides["zlib-ng counterpart"] = partial(by_library, next_counterpart, number_)
            remark = "the library called as ours calls its own"
            rows.append(Ratio(what, "ours, zlib", "zlib-ng counterpart", remark))
            if verb == "decompress":
                sides["zlib's stream"] = partial(by_library, next_counterpart, 1, by_zlib_too)
                remark = "that counterpart, restoring what zlib made as the peer does"
                rows.append(Ratio(what, "zlib-ng counterpart", "zlib's stream", remark))
                rows.append(Ratio(what, "zlib's stream", "zlib-ng", "a new buffer in each call"))
        if turns.find("zstd"):
            sides["zstd -b3"] = partial(zstd, place, file, number_)
            sides["ours, zstd"] = partial(by, size | {"file_format": ["zstd"]})
            rows.append(Ratio(what, "ours, zstd", "zstd -b3", "one format, level and text"))
            if counterpart is not None:
                sides["counterpart"] = partial(by_library, counterpart, number_)
                remark = "the peer's library, called as ours calls its own"
                rows.append(Ratio(what, "counterpart", "zstd -b3", remark))
                rows.append(Ratio(what, "ours, zstd", "counterpart", "two versions of one library"))
            if same_counterpart:
                sides["same counterpart"] = partial(by_library, same_counterpart, number_)
                rows.append(Ratio(what, "ours, zstd", "same counterpart", "the same version"))
        turns.tell(turns.measured(sides, rounds), rows)
    return 1


def main() -> int:
    """Compares with every peer that is there."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("--digits", type=int, nargs="+", default=[1 << 20])
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each pair (default 5)")
    parser.add_argument("--cpu", type=int, default=max(os.sched_getaffinity(0)))
    parser.add_argument("--realtime", action="store_true", help="at a real-time priority (root)")
    parser.add_argument("--only", nargs="+", choices=("pi", "cipher", "codec"))
    options = parser.parse_args()
    program = agent.locate()
    place = Place(options.cpu, options.realtime)
    chosen = options.only or ("pi", "cipher", "codec")
    # zlib runs in this process: where the others run, and as they do.
    os.sched_setaffinity(0, {options.cpu})
    if options.realtime:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    turns.heading()
    compared = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            if "pi" in chosen:
                compared += pi(program, place, options.rounds, options.digits, folder)
            if "cipher" in chosen:
                compared += ciphers(program, place, options.rounds)
            if "codec" in chosen:
                compared += codec(program, place, options.rounds, folder)
        except (RuntimeError, subprocess.SubprocessError) as error:
            print(f"cpu_peers: {error}", file=sys.stderr)
            return 1
    return 0 if compared else 1


if __name__ == "__main__":
    sys.exit(main())
