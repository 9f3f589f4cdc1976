"""Images in a layout: which one is meant, for which architecture, and its layers.

Every part but the list of images is named by its digest, which is verified before it is used
(OCI image-spec 1.1, "Content Descriptors"; Docker's manifests of version 2 have the same parts).
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any, Final

from pentathlon.images.layout import Layout
from pentathlon.images.stream import MOST_READ
from pentathlon.images.tree import RefusedError

MOST_DOCUMENT: Final = 8 << 20
"""Bytes of a manifest, or of another document."""
MOST_LAYERS: Final = 1000
MOST_NESTED: Final = 4
MOST_IMAGES: Final = 1000

INDEXES: Final = {
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
}
MANIFESTS: Final = {
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
}
LAYER: Final = re.compile(
    r"application/vnd\.(oci\.image\.layer\.(nondistributable\.)?v1\.tar|"
    r"docker\.image\.rootfs\.(foreign\.)?diff\.tar)([.+](gzip|zstd))?"
)
"""Types of layers; an encrypted one is none of them."""
NAME: Final = "org.opencontainers.image.ref.name"
OTHER_NAMES: Final = ("io.containerd.image.name",)

DIGEST: Final = re.compile(r"(sha256):([0-9a-f]{64})|(sha512):([0-9a-f]{128})")

ARCHITECTURES: Final = {
    "x86_64": "amd64",
    "aarch64": "arm64",
    "armv7l": "arm",
    "armv6l": "arm",
    "i686": "386",
}
"""Names of uname(2), and those of images where they differ."""


@dataclass(frozen=True)
class Descriptor:
    """A part of an image by its digest; `size` in bytes."""

    kind: str
    digest: str
    size: int
    names: tuple[str, ...] = ()
    platform: tuple[str, str] | None = None
    """Operating system and architecture."""


@dataclass(frozen=True)
class Image:
    """One image.

    Attributes:
        digest: of its manifest, which names everything else.
        layers: from the lowest, each with the digest of its archive without compression.
    """

    digest: str
    architecture: str
    layers: tuple[tuple[Descriptor, str], ...]


def architecture() -> str:
    """The architecture of this machine, as images name it."""
    machine = platform.machine()
    return ARCHITECTURES.get(machine, machine)


def find(layout: Layout, tag: str | None) -> Image:
    """The image with a tag, or the only one, for this machine's architecture.

    Raises:
        RefusedError: there is none, or it is no image that can be used.
    """
    marker = _whole(layout, "oci-layout")
    if marker is None:
        raise RefusedError(
            'is no OCI image layout: it lacks the file "oci-layout"; '
            "skopeo copy docker-archive:FILE oci:DIRECTORY makes one"
        )
    version = str(_document(marker, "oci-layout").get("imageLayoutVersion"))
    if not version.startswith("1."):
        raise RefusedError(f'has the layout version "{version}", and 1.0.0 can be read')
    index = _whole(layout, "index.json")
    if index is None:
        raise RefusedError('is no OCI image layout: it lacks the file "index.json"')
    listed = _descriptors(_document(index, "index.json"), "manifests")
    wanted = _tagged(listed, tag)
    images = list(_manifests(layout, wanted, MOST_NESTED))
    return _fitting(layout, images)


def _tagged(listed: list[Descriptor], tag: str | None) -> list[Descriptor]:
    """The entries of a layout that are meant."""
    names = sorted({name for one in listed for name in one.names})
    if tag is not None:
        found = [
            one
            for one in listed
            if any(name == tag or name.endswith(f":{tag}") for name in one.names)
        ]
        if not found:
            raise RefusedError(f'has no image "{tag}"; it has {_list(names)}')
        return found
    if not listed:
        raise RefusedError("holds no image")
    # Those of several platforms may stand beside each other, under one name or none.
    if len(names) > 1 and len({one.names for one in listed}) > 1:
        raise RefusedError(f"has several images; name one of {_list(names)} behind a colon")
    return listed


def _list(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names[:10]) or "none with a name"


def _manifests(layout: Layout, listed: list[Descriptor], depth: int) -> Iterator[Descriptor]:
    """The manifests that indexes lead to."""
    if len(listed) > MOST_IMAGES:
        raise RefusedError(f"lists more than {MOST_IMAGES:,} images")
    for one in listed:
        if one.kind in MANIFESTS:
            yield one
        elif one.kind in INDEXES:
            if not depth:
                raise RefusedError(f"has more than {MOST_NESTED} lists of images in one another")
            inner = _descriptors(_document(_blob(layout, one), one.digest), "manifests")
            yield from _manifests(layout, inner, depth - 1)


def _fitting(layout: Layout, listed: list[Descriptor]) -> Image:
    """The first image for this machine. Whatever is no image, such as a signature, is none."""
    own = ("linux", architecture())
    others: set[str] = set()
    for one in listed[:MOST_IMAGES]:
        if one.platform is not None and one.platform != own:
            others.add("/".join(one.platform))
            continue
        manifest = _document(_blob(layout, one), one.digest)
        config = _descriptor(manifest.get("config"))
        layers = _descriptors(manifest, "layers")
        if "image" not in config.kind:
            raise RefusedError(f'is no image of files: its configuration is a "{config.kind}"')
        settings = _document(_blob(layout, config), config.digest)
        found = (_text(settings.get("os")), _text(settings.get("architecture")))
        if found != own:
            others.add("/".join(found))
            continue
        return Image(one.digest, found[1], tuple(_layers(settings, layers)))
    if not others:
        raise RefusedError("holds no image")
    raise RefusedError(
        f"is for {', '.join(sorted(others)[:10])}, and this system is {'/'.join(own)}"
    )


def _layers(settings: dict[str, Any], layers: list[Descriptor]) -> Iterator[tuple[Descriptor, str]]:
    files = settings.get("rootfs")
    named = files.get("diff_ids") if isinstance(files, dict) else None
    if not isinstance(named, list) or len(named) != len(layers):
        count = len(named) if isinstance(named, list) else 0
        raise RefusedError(f"names {len(layers)} layers and the digests of {count} of them")
    if not 0 < len(layers) <= MOST_LAYERS:
        raise RefusedError(f"has {len(layers)} layers, and 1 to {MOST_LAYERS} can be read")
    for layer, digest in zip(layers, named, strict=True):
        if not LAYER.fullmatch(layer.kind):
            raise RefusedError(f'has a layer of the type "{layer.kind}", which cannot be read')
        yield layer, _digest(digest)


def blob(layout: Layout, one: Descriptor) -> IO[bytes]:
    """A part of the image, at its beginning, its size and digest verified.

    Raises:
        RefusedError: it is missing, or another one.
    """
    algorithm, _, value = one.digest.partition(":")
    file = layout.open(f"blobs/{algorithm}/{value}")
    if file is None:
        raise RefusedError(f"lacks its part {one.digest[:19]}...")
    found, size = hashlib.new(algorithm), 0
    while data := file.read(MOST_READ):
        found.update(data)
        size += len(data)
        if size > one.size:
            break
    if size != one.size or found.hexdigest() != value:
        file.close()
        raise RefusedError(f"is damaged: its part {one.digest[:19]}... has another digest or size")
    file.seek(0)
    return file


def _blob(layout: Layout, one: Descriptor) -> bytes:
    if one.size > MOST_DOCUMENT:
        raise RefusedError(f"has a document of {one.size:,} bytes")
    with blob(layout, one) as file:
        return file.read(MOST_DOCUMENT + 1)


def _whole(layout: Layout, name: str) -> bytes | None:
    file = layout.open(name)
    if file is None:
        return None
    with file:
        return file.read(MOST_DOCUMENT + 1)


def _document(data: bytes, name: str) -> dict[str, Any]:
    try:
        found = json.loads(data) if len(data) <= MOST_DOCUMENT else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise RefusedError(f'has a part "{name[:19]}" that is no JSON object')
    return found


def _descriptors(document: dict[str, Any], key: str) -> list[Descriptor]:
    listed = document.get(key)
    if not isinstance(listed, list):
        raise RefusedError(f'has a part without the list "{key}"')
    return [_descriptor(one) for one in listed]


def _descriptor(value: Any) -> Descriptor:
    one = value if isinstance(value, dict) else {}
    size = one.get("size")
    if not isinstance(size, int) or isinstance(size, bool) or size < 0:
        raise RefusedError("has a part whose size is not stated")
    notes = one.get("annotations")
    notes = notes if isinstance(notes, dict) else {}
    names = [notes[key] for key in (NAME, *OTHER_NAMES) if isinstance(notes.get(key), str)]
    place = one.get("platform")
    known = place if isinstance(place, dict) else None
    return Descriptor(
        _text(one.get("mediaType")),
        _digest(one.get("digest")),
        size,
        tuple(names),
        None if known is None else (_text(known.get("os")), _text(known.get("architecture"))),
    )


def _digest(value: Any) -> str:
    if not isinstance(value, str) or not DIGEST.fullmatch(value):
        raise RefusedError(f'names a part by the digest "{_text(value)}", which is none')
    return value


def _text(value: Any) -> str:
    return value[:80] if isinstance(value, str) else ""
