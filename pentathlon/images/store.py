"""Images in the cache: each is unpacked once, into a directory with the name of its digest."""

from __future__ import annotations

import functools
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from pentathlon.images import oci
from pentathlon.images.archive import unpack
from pentathlon.images.layout import layout
from pentathlon.images.reference import Reference
from pentathlon.images.stream import DamagedError, Stream, decompressed, opened
from pentathlon.images.tree import MOST_BYTES, RefusedError, Tree
from pentathlon.machine.cache import RECORD, cache_dir, digest, locked, publish
from pentathlon.machine.errors import TargetUnavailable
from pentathlon.safeio.escaping import complaint

ROOT: Final = "root"
MOUNTED: Final = ("run", "proc", "sys", "dev", "tmp")
"""Directories of a root over which a guest has file systems of its own."""
UNPACKING: Final = ".unpack-"


@dataclass(frozen=True)
class Identity:
    """Which image it is.

    Attributes:
        image: as the study names it.
        digest: of the archive, or of the manifest.
        architecture: as images name it; None where an archive does not say it.
    """

    image: str
    digest: str
    architecture: str | None

    def record(self) -> dict[str, str]:
        """For the plan."""
        return {key: value for key, value in asdict(self).items() if value is not None}


def directory() -> Path:
    """Where unpacked images lie."""
    return cache_dir() / "images"


def identify(reference: Reference) -> Identity:
    """Which image a study means. Nothing is unpacked.

    Raises:
        TargetUnavailable: there is none, or it is none for this machine.
    """
    with _sentences(reference):
        if reference.oci:
            # The documents that identify it are small and read again each time.
            source = layout(reference.path)
            try:
                found = oci.find(source, reference.tag)
            finally:
                source.close()
            return Identity(str(reference), found.digest, found.architecture)
        opened(reference.path).close()
        return Identity(str(reference), f"sha256:{digest(reference.path)}", None)


def unpacked(reference: Reference) -> Path:
    """The root directory of an image, which is unpacked now if it is not in the cache.

    Raises:
        TargetUnavailable: it cannot be.
    """
    identity = identify(reference)
    place = directory() / identity.digest.replace(":", "-")
    if (place / RECORD).is_file():
        return place / ROOT
    with _sentences(reference):
        directory().mkdir(parents=True, exist_ok=True)
        # Files of any owner lie there, some of which others may write to.
        directory().chmod(0o700)
        with locked(directory()):
            if not (place / RECORD).is_file():
                _unpack(reference, identity, place)
    return place / ROOT


def _unpack(reference: Reference, identity: Identity, place: Path) -> None:
    for left in directory().glob(f"{UNPACKING}*"):  # Of a run that was ended.
        shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(
        prefix=UNPACKING, dir=directory(), ignore_cleanup_errors=True
    ) as scratch:
        fresh = Path(scratch) / "image"
        (fresh / ROOT).mkdir(parents=True)
        tree = Tree(fresh / ROOT)
        if reference.oci:
            _put_layers(reference, identity, tree)
        else:
            _put_archive(reference, identity, tree)
        if not tree.entries:
            raise RefusedError("holds no file")
        mount_points(tree)
        record: dict[str, Any] = identity.record() | {
            "files": tree.entries,
            "bytes": tree.size,
            "left_out": tree.left_out,
        }
        publish(fresh, place, record)


def _put_archive(reference: Reference, identity: Identity, tree: Tree) -> None:
    with opened(reference.path) as file:
        whole = Stream(decompressed(file), MOST_BYTES)
        unpack(whole, tree, layer=False)
        whole.finish()
    if tree.is_file(["oci-layout"]):
        raise RefusedError(f"holds an OCI image; write it as oci:{reference.path}")
    if tree.is_file(["manifest.json"]) and not tree.is_directory(["bin"]):
        raise RefusedError(
            "holds an image as docker save once wrote it; "
            f"skopeo copy docker-archive:{reference.path} oci:DIRECTORY makes one that can be read"
        )
    if f"sha256:{digest(reference.path)}" != identity.digest:
        raise RefusedError("was changed while it was unpacked")


def _put_layers(reference: Reference, identity: Identity, tree: Tree) -> None:
    source = layout(reference.path)
    try:
        found = oci.find(source, reference.tag)
        if found.digest != identity.digest:
            raise RefusedError("was changed while it was unpacked")
        for layer, inner in found.layers:
            with oci.blob(source, layer) as file:
                stream = Stream(decompressed(file), MOST_BYTES, inner.partition(":")[0])
                unpack(stream, tree, layer=True)
                if stream.finish() != inner:
                    raise RefusedError(
                        f"is damaged: its layer {layer.digest[:19]}... has another digest when it "
                        "is decompressed"
                    )
    finally:
        source.close()


def mount_points(tree: Tree) -> None:
    """Give a root the directories that a guest mounts its own file systems on. A link there could
    lead anywhere in the guest, before the root is its own."""
    for name in MOUNTED:
        if not tree.is_directory([name]):
            mode = 0o1777 if name == "tmp" else 0o755
            tree.put_directory([name], mode, (os.geteuid(), os.getegid()))
    if not tree.names(["var"]) or tree.is_directory(["var"]):
        above = tree.directory(["var"], make=True)
        if not tree.is_directory([*above, "tmp"]):
            tree.put_directory([*above, "tmp"], 0o1777, (os.geteuid(), os.getegid()))


@contextmanager
def _sentences(reference: Reference) -> Iterator[None]:
    """What is wrong with an image, as one sentence that names it."""
    try:
        yield
    except (RefusedError, DamagedError) as error:
        raise TargetUnavailable(complaint(f"the image {reference} {error}")) from error
    except TargetUnavailable:
        raise
    except (OSError, RecursionError) as error:
        reason = str(getattr(error, "strerror", None) or error).lower()
        raise TargetUnavailable(
            complaint(f"the image {reference} cannot be unpacked: {reason}")
        ) from error


@functools.cache
def known(text: Reference) -> dict[str, str]:
    """`identify` for descriptions, which may not fail: what is wrong instead of the digest."""
    try:
        return identify(text).record()
    except TargetUnavailable as error:
        return {"image": str(text), "error": error.reason}
