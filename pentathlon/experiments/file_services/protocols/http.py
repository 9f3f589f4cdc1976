"""HTTP/1.1 and HTTP/2: nginx as the server, its folder with WebDAV, curl as the client."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import ClassVar, Final

from pentathlon.experiments.file_services.programs import HERE, Programs
from pentathlon.experiments.file_services.protocols.base import Call, Family, Refused, Service
from pentathlon.experiments.file_services.server import Server
from pentathlon.experiments.file_services.spec import Setup
from pentathlon.machine.errors import TargetUnavailable

PORT: Final = 8080

DAV_MODULE: Final = "ngx_http_dav_ext_module.so"
DAV_PACKAGE: Final = "libnginx-mod-http-dav-ext"
MODULES: Final = ("/usr/lib/nginx/modules", "/usr/lib64/nginx/modules")

LONGEST_NUMBER: Final = 20
"""Digits of a number that a kernel prints."""

REUSES: Final = (8, 0)
"""From this version on curl asks twice on a connection of which it knows that it is HTTP/2
(curl's issue 10634); earlier ones do if only the first request insists on it."""

PROPERTIES: Final = (
    '<?xml version="1.0" encoding="utf-8"?><D:propfind xmlns:D="DAV:"><D:prop>'
    "<D:displayname/><D:getcontentlength/><D:getlastmodified/><D:resourcetype/>"
    "</D:prop></D:propfind>"
)
"""What a folder view requests (RFC 4918, section 9.1)."""


class Http(Family):
    """A document from a web server.

    *copy* is one GET. *portal* is what an office program does to show a document of a folder that
    it may not change: OPTIONS, to know that the server speaks WebDAV; PROPFIND of the folder and
    what is in it (Depth 1); GET. All on one connection, each when the one before was answered.
    Nothing is encrypted: HTTP/2 by prior knowledge (RFC 9113, section 3.3).
    """

    name: ClassVar[str] = "http"
    protocols: ClassVar[tuple[str, ...]] = ("http1.1", "http2")
    programs: ClassVar[tuple[tuple[str, str], ...]] = (("nginx", "nginx"), ("curl", "curl"))
    words: ClassVar[tuple[tuple[str, str], ...]] = (
        (r"returned error: 40[13]", "the server denied access"),
        (r"returned error: 404", "the server does not have the file"),
        (r"curl: \((7|16|18|28|52|55|56|92)\)", "the connection broke"),
    )

    def check(self) -> None:
        super().check()
        _dav_module(HERE)

    def start(self, setup: Setup) -> Service:
        """Start nginx over the files; ready when it listens.

        Raises:
            Refused: the send buffer is longer than the server's kernel lets a program request.
            TargetUnavailable: it or its module is not installed.
            TargetError: it does not start.
        """
        place = setup.server
        nginx = place.programs.need("nginx", "nginx")
        buffer = setup.spec.server.buffer
        if buffer:
            _allowed(setup, buffer)
        dav = _dav_module(place.programs) if setup.spec.task == "portal" else None
        second = setup.spec.protocol == "http2"
        text = configuration(place.own, setup.shared, buffer, dav, second)
        file, log = place.write("nginx.conf", text), "error.log"
        command = [nginx, "-p", str(place.own), "-c", str(file), "-e", str(place.own / log)]
        return Service("nginx", Server.start(place, "nginx", command, PORT, log=log))

    def call(self, setup: Setup, service: Service) -> Call:
        """The command for curl: one process, whose requests go over one connection."""
        curl = setup.client.programs.need("curl", "curl")
        name = setup.held.names[0]
        site = f"http://{setup.testbed.addresses[1]}:{PORT}"
        get = ["--output", str(setup.into / name), f"{site}/{name}"]
        steps = [get]
        if setup.spec.task == "portal":
            away = ["--output", os.devnull]
            body = ["--header", "Content-Type: application/xml", "--data-binary", PROPERTIES]
            steps = [
                ["--request", "OPTIONS", *away, f"{site}/"],
                ["--request", "PROPFIND", "--header", "Depth: 1", *body, *away, f"{site}/"],
                get,
            ]
        return Call([curl, *_joined(steps, _versions(setup, curl))])


def _joined(steps: list[list[str]], versions: tuple[list[str], list[str]]) -> list[str]:
    """Several requests of one process; `--next` forgets the options before it (curl(1))."""
    words = ["--disable", "--fail-early"]
    for number, step in enumerate(steps):
        version = versions[min(number, 1)]
        words += ["--next"] if number else []
        words += ["--silent", "--show-error", "--fail", "--noproxy", "*", *version, *step]
    return words


def _versions(setup: Setup, curl: str) -> tuple[list[str], list[str]]:
    """Options that choose the version of HTTP: for the first request, and for the others."""
    if setup.spec.protocol == "http1.1":
        return ["--http1.1"], ["--http1.1"]
    found = setup.testbed.client.perform([curl, "--version"], 10.0)["output"]
    version = re.match(r"curl ([0-9]{1,9})\.([0-9]{1,9})", found)
    if version is None or "HTTP2" not in found:
        raise Refused("the client's curl speaks no HTTP/2")
    knows = ["--http2-prior-knowledge"]
    return knows, knows if (int(version[1]), int(version[2])) >= REUSES else []


def _allowed(setup: Setup, buffer: int) -> None:
    """Refuse a buffer that setsockopt(2) would cut without a word (socket(7), SO_SNDBUF)."""
    text = setup.testbed.server.perform(["cat", "/proc/sys/net/core/wmem_max"], 10.0)["output"]
    most = text.strip()
    if most.isascii() and most.isdigit() and len(most) < LONGEST_NUMBER and buffer > int(most):
        raise Refused(
            f"the server's kernel lets a program ask for a send buffer of {int(most):,} bytes at "
            f"most (net.core.wmem_max), and {buffer:,} are wanted"
        )


def configuration(
    directory: Path, shared: Path, buffer: int, dav: Path | None, second: bool
) -> str:
    """nginx.conf: nothing of it lies outside of `directory`, and its log holds errors only.

    Args:
        buffer: SO_SNDBUF of each connection, in bytes; 0 leaves it to the kernel, which tunes it.
        dav: the module by which the folder answers OPTIONS and PROPFIND, if it shall.
        second: HTTP/2 is served, and HTTP/1.1 is not.
    """
    load = f'load_module "{dav}";\n' if dav else ""
    # Its workers stay who it is: root, also the one of a user namespace, which has nobody else.
    user = "user root root;\n"
    places = "".join(
        f'    {kind}_temp_path "{directory}/{kind}";\n'
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    listen = f"listen {PORT}{f' sndbuf={buffer}' if buffer else ''}{' http2' if second else ''}"
    return (
        f"{load}{user}daemon off;\nworker_processes 1;\npid pid;\n"
        "events { worker_connections 64; }\n"
        f"http {{\n{places}"
        "    access_log off;\n    sendfile on;\n    tcp_nopush on;\n"
        "    default_type application/msword;\n"
        f'    server {{\n        {listen};\n        root "{shared}";\n'
        + ("        dav_ext_methods PROPFIND OPTIONS;\n" if dav else "")
        + "    }\n}\n"
    )


def _dav_module(programs: Programs) -> Path:
    if found := programs.find([f"{directory}/{DAV_MODULE}" for directory in MODULES]):
        return found
    raise TargetUnavailable(
        f"nginx's module {DAV_MODULE} is not installed", f"sudo apt-get install {DAV_PACKAGE}"
    )
