"""cpu.pi beside a Gauss–Legendre program on GMP; ciphers beside `openssl speed`; the file codecs
beside zlib and `zstd -b`.

Every row is `one / two`: of rates, so that above 1 one is faster, and of CPU time for π, where two
is ours. The file codecs get the same bytes as their peers (`corpus.py`). Programs that are missing
(openssl, zstd; for π and the twins a C compiler with libgmp-dev, libssl-dev and libzstd-dev) are
named and left out; zlib-ng (the package `zlib-ng` of PyPI) is compared where it can be imported.
Exit status: 0 compared, 1 no peer was found or a run failed.

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
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import corpus
import turns
from turns import Measure, Place, Ratio, number

from pentathlon import agent

try:
    from zlib_ng import zlib_ng
except ImportError:
    zlib_ng = None

AES_BYTES = 1 << 20
SECRET_BYTES = 4 << 20
"""The default of cpu.encrypt and of cpu.compress."""
RSA = (512, 1024)


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
    """The agent's figure in one case: the median of its samples, as openssl tells the mean of a
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
    return turns.said([*command, *options])


def cipher(place: Place, length: int, *options: str) -> float:
    """MB/s of openssl."""
    text = openssl(place, "-bytes", str(length), *options)
    return number(r"^\+F:.*:([\d.]+)$", text) / 1e6


def rsa(place: Place, bits: int, private: bool) -> float:
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
        return number(r": ([\d.]+) s", turns.said([*place.command(), peer, str(digits)]))

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
    text = turns.said([*place.command(), str(turns.find("zstd")), "-b3", "-e3", "-i1", str(file)])
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
    for workload, option in (("cpu.encrypt", []), ("cpu.decrypt", ["-decrypt"])):
        verb = workload.removeprefix("cpu.")
        secret = partial(ours, program, place, workload, {"bytes": SECRET_BYTES})
        sides: dict[str, Measure] = {
            "ours": secret,
            "ours without VAES": partial(secret, NO_VAES),
            "openssl": partial(cipher, place, SECRET_BYTES, "-evp", "aes-128-gcm", *option),
        }
        what = f"AES-128-GCM, {verb}, 4 MiB, MB/s"
        remark = "AWS-LC takes the vector instructions for AES, openssl 3.0 does not"
        rows = [
            Ratio(what, "ours", "openssl", remark),
            Ratio(what, "ours without VAES", "openssl", "these instructions hidden from ours"),
        ]
        turns.tell(turns.measured(sides, rounds), rows)
    for bits in (128, 256):
        for direction, option in (("encrypt", []), ("decrypt", ["-decrypt"])):
            parameters = {"algorithm": [f"aes-{bits}"], "bytes": AES_BYTES}
            name = ["-evp", f"aes-{bits}-cbc"]
            sides = {
                "ours": partial(
                    ours, program, place, "cpu.cipher", parameters, direction=direction
                ),
                "openssl": partial(cipher, place, AES_BYTES, *name, *option),
            }
            what = f"AES-{bits}-CBC, {direction}, 1 MiB, MB/s"
            turns.tell(turns.measured(sides, rounds), [Ratio(what, "ours", "openssl", "")])
    with tempfile.TemporaryDirectory() as folder:
        twin = turns.built("rsa.c", Path(folder) / "rsa", "-lcrypto")
        for bits in RSA:
            for direction in ("encrypt", "decrypt"):
                sides, rows = rsa_rows(program, place, bits, direction, twin)
                turns.tell(turns.measured(sides, rounds), rows)
    return 1


def rsa_rows(
    program: Path, place: Place, bits: int, direction: str, twin: str | None
) -> tuple[dict[str, Measure], list[Ratio]]:
    """One direction of one length of key."""
    key = "private" if direction == "decrypt" else "public"
    parameters = {"algorithm": [f"rsa-{bits}"]}

    def twins(work: str) -> float:
        command = [*place.command(), str(twin), str(bits), work]
        return number(r"^rate: ([\d.]+)$", turns.said(command))

    sides: dict[str, Measure] = {
        "ours": partial(ours, program, place, "cpu.cipher", parameters, direction=direction),
        "openssl": partial(rsa, place, bits, key == "private"),
    }
    what = f"RSA-{bits}, {key} key, us"
    rows = [Ratio(what, "ours", "openssl", "ours: the bare primitive; openssl pads and blinds")]
    if twin is not None:
        sides["bare twin"] = partial(twins, key)
        rows.append(Ratio(what, "ours", "bare twin", "libcrypto's bare primitive"))
        if key == "public":
            sides["power twin"] = partial(twins, "power")
            remark = "the power alone: what is not conversions, locks and memory"
            rows.append(Ratio(what, "ours", "power twin", remark))
            rows.append(Ratio(what, "bare twin", "power twin", "the same of libcrypto's"))
    return sides, rows


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
    twin = turns.built("zstandard.c", folder / "zstandard", "-lzstd")
    next_twin = turns.built("zlib.c", folder / "zlib", "-lz-ng")

    def by_library(twin: str | None, *arguments: str | int | Path) -> float:
        command = [*place.command(), str(twin), str(file), *map(str, arguments)]
        return number(r"^rate: ([\d.]+)$", turns.said(command))

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
        if next_twin is not None:
            sides["zlib-ng twin"] = partial(by_library, next_twin, number_)
            remark = "the library called as ours calls its own"
            rows.append(Ratio(what, "ours, zlib", "zlib-ng twin", remark))
            if verb == "decompress":
                sides["zlib's stream"] = partial(by_library, next_twin, 1, by_zlib_too)
                remark = "that twin, restoring what zlib made as the peer does"
                rows.append(Ratio(what, "zlib-ng twin", "zlib's stream", remark))
                rows.append(Ratio(what, "zlib's stream", "zlib-ng", "a new buffer in each call"))
        if turns.find("zstd"):
            sides["zstd -b3"] = partial(zstd, place, file, number_)
            sides["ours, zstd"] = partial(by, size | {"file_format": ["zstd"]})
            rows.append(Ratio(what, "ours, zstd", "zstd -b3", "one format, level and text"))
            if twin is not None:
                sides["twin"] = partial(by_library, twin, number_)
                remark = "the peer's library, called as ours calls its own"
                rows.append(Ratio(what, "twin", "zstd -b3", remark))
                rows.append(Ratio(what, "ours, zstd", "twin", "two versions of one library"))
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
