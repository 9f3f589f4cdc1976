"""Archives and layouts of images, made by hand so that every part of them can be wrong."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import lzma
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pentathlon.images import oci

KINDS = {
    "file": tarfile.REGTYPE, "directory": tarfile.DIRTYPE, "link": tarfile.SYMTYPE,
    "hard": tarfile.LNKTYPE, "pipe": tarfile.FIFOTYPE, "device": tarfile.CHRTYPE,
}  # fmt: skip

Entry = tuple[str, str, str]
"""Kind, name, and the content or where it leads."""


def tar(*entries: Entry, mode: int = 0o755, end: bool = True) -> bytes:
    """A tar archive."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for kind, name, text in entries:
            one = tarfile.TarInfo(name)
            one.type, one.mode, one.mtime = KINDS[kind], mode, 1_000_000_000
            data = text.encode() if kind == "file" else b""
            one.size = len(data)
            if kind in {"link", "hard"}:
                one.linkname = text
            archive.addfile(one, io.BytesIO(data))
        size = archive.offset
    return buffer.getvalue() if end else buffer.getvalue()[:size]


def zstd(data: bytes) -> bytes:
    import zstandard  # noqa: PLC0415  where it is used alone

    return zstandard.ZstdCompressor().compress(data)


COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes, ".gz": gzip.compress, ".xz": lzma.compress, ".zst": zstd,
}  # fmt: skip
SUFFIX = {"": "", ".gz": "+gzip", ".zst": "+zstd", ".xz": ""}


class Layout:
    """An image layout in a directory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        (path / "blobs" / "sha256").mkdir(parents=True)
        (path / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
        self.listed: list[dict[str, Any]] = []

    def blob(self, data: bytes | dict[str, Any], kind: str) -> dict[str, Any]:
        """Add a part, and return what names it."""
        data = data if isinstance(data, bytes) else json.dumps(data).encode()
        name = hashlib.sha256(data).hexdigest()
        (self.path / "blobs" / "sha256" / name).write_bytes(data)
        return {"mediaType": kind, "digest": f"sha256:{name}", "size": len(data)}

    def image(
        self, *layers: bytes, suffix: str = ".gz", architecture: str | None = None
    ) -> dict[str, Any]:
        """Add an image, and return what names it."""
        kind = f"application/vnd.oci.image.layer.v1.tar{SUFFIX[suffix]}"
        digests = [f"sha256:{hashlib.sha256(one).hexdigest()}" for one in layers]
        machine = architecture or oci.architecture()
        config = {
            "os": "linux",
            "architecture": machine,
            "rootfs": {"type": "layers", "diff_ids": digests},
        }
        manifest = {
            "schemaVersion": 2,
            "config": self.blob(config, "application/vnd.oci.image.config.v1+json"),
            "layers": [self.blob(COMPRESSIONS[suffix](one), kind) for one in layers],
        }
        return self.blob(manifest, "application/vnd.oci.image.manifest.v1+json")

    def list(self, *images: dict[str, Any], names: Sequence[str | None] = ()) -> Layout:
        """Write the list of images."""
        for image, name in zip(images, [*names, *[None] * len(images)], strict=False):
            notes = {"annotations": {oci.NAME: name}} if name else {}
            self.listed.append({**image, **notes})
        text = json.dumps({"schemaVersion": 2, "manifests": self.listed})
        (self.path / "index.json").write_text(text)
        return self

    def archive(self, path: Path) -> Path:
        """The layout as a tar archive."""
        with tarfile.open(path, "w") as archive:
            archive.add(self.path, ".")
        return path
