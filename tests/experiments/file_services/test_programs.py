"""What the programs of both ends do by themselves."""

from __future__ import annotations

import os
from pathlib import Path
from xml.etree import ElementTree

import pytest

from pentathlon.experiments.file_services import fetch_nfs
from pentathlon.experiments.file_services.protocols import FAMILIES, http, nfs, sftp


def test_a_server_of_http_3_hands_out_its_directory_alone(tmp_path: Path) -> None:
    pytest.importorskip("aioquic")
    from pentathlon.experiments.file_services import serve_http3  # noqa: PLC0415

    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "a & b.doc").write_bytes(b"12345")
    (tmp_path / "secret").write_text("no")
    assert serve_http3.answer(shared, "GET", "/a%20%26%20b.doc")[::2] == (200, b"12345")
    for path in ("/../secret", "/%2e%2e/secret", "/nothing", "/", f"/{tmp_path}/secret"):
        assert serve_http3.answer(shared, "GET", path)[0] == 404
    assert serve_http3.answer(shared, "PUT", "/new")[0] == 405
    status, _, body = serve_http3.answer(shared, "PROPFIND", "/")
    parts = ElementTree.fromstring(body)
    names = [one.text for one in parts.iter("{DAV:}displayname")]
    lengths = [one.text for one in parts.iter("{DAV:}getcontentlength")]
    assert (status, names[1:], lengths[1:]) == (207, ["a & b.doc"], ["5"])


def test_a_disk_that_becomes_full_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    written = bytearray()

    def part(file: int, data: bytes, offset: int) -> int:
        assert offset == 7 + len(written)
        if len(written) >= 6:
            raise OSError(28, os.strerror(28))
        written.extend(data[:3])
        return 3

    monkeypatch.setattr(fetch_nfs.os, "pwrite", part)
    fetch_nfs._write(0, b"abcdef", 7)
    assert written == b"abcdef"
    with pytest.raises(OSError, match="No space left"):
        fetch_nfs._write(0, b"ghi", 13)


def test_no_configuration_names_a_place_of_the_machine(tmp_path: Path) -> None:
    server, shared = tmp_path / "server", tmp_path / "shared"
    texts = [
        http.configuration(server, shared, 65_535, dav=None, second=True),
        sftp.configuration(server, shared),
        nfs.configuration(server, shared, tmp_path / "plugins"),
    ]
    for text in texts:
        places = [word.strip('";') for word in text.split() if word.strip('";').startswith("/")]
        own = [place for place in places if place not in {"/office"}]
        assert own and all(place.startswith(str(tmp_path)) for place in own)
    assert "listen 8080 sndbuf=65535 http2;" in texts[0]


def test_no_two_families_speak_one_protocol() -> None:
    spoken = [protocol for family in FAMILIES for protocol in family.protocols]
    assert len(spoken) == len(set(spoken))
