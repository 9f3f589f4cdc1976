"""The OCI image: a minimal Debian with Python as one layer, Pentathlon as another."""

from __future__ import annotations

import hashlib
import json
import os
import time

from common import Entry, ReleaseError, Source, compressed, distribution, run, tar
from installed import PYTHON

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"


def name(source: Source) -> str:
    return f"pentathlon-{source.version}.oci.tar"


def base(source: Source) -> bytes:
    """A minimal system of this machine's distribution, as a tar archive.

    Raises:
        ReleaseError: this machine is no Debian, or mmdebstrap fails.
    """
    system, suite = distribution()
    if system != "debian":
        raise ReleaseError(f"the image is made of a Debian, and this machine is {system}")
    sites = run(["apt-get", "indextargets", "--format", "$(SITE)", "Created-By: Packages"])
    mirrors = [site for site in sites.decode().split() if site.rstrip("/").endswith("/debian")]
    if not mirrors:
        raise ReleaseError("apt names no mirror of Debian here")
    mirror = mirrors[0].rstrip("/")
    made = source.tree.parent / "base.tar"
    needed = f"python{PYTHON},libpython{PYTHON}-stdlib,libgcc-s1,libstdc++6"
    command = ["mmdebstrap", "--variant=minbase", "--quiet", f"--include={needed}"]
    # What differs between two runs, and what an image has no use for.
    for path in ("var/lib/apt/lists/*", "var/log/*", "var/cache/ldconfig/*", "etc/machine-id"):
        command.append(f'--customize-hook=rm -rf "$1"/{path}')
    # How names are resolved here is no part of an image.
    command.append(
        '--customize-hook=rm -f "$1"/etc/resolv.conf; echo pentathlon >"$1"/etc/hostname'
    )
    command.append('--customize-hook=: >"$1"/etc/apt/sources.list')
    lines = [f"deb {mirror} {suite} main", f"deb {mirror}-security {suite}-security main"]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(source.epoch)}
    run([*command, suite, str(made), *lines], env=environment)
    return made.read_bytes()


def write(source: Source, system: bytes, entries: list[Entry]) -> bytes:
    """The image as an archive of an image layout.

    Args:
        source: the commit.
        system: tar archive of what lies below.
        entries: the files on top of it.
    """
    blobs: dict[str, bytes] = {}
    layers, plain = [], []
    for layer in (system, tar(entries, source.epoch)):
        plain.append(f"sha256:{hashlib.sha256(layer).hexdigest()}")
        layers.append(blob(blobs, LAYER, compressed(layer)))
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(source.epoch))
    config = {
        "created": moment,
        "architecture": "amd64",
        "os": "linux",
        "config": {
            "Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
            "Entrypoint": ["/usr/bin/pentathlon"],
            "Cmd": ["--help"],
            "WorkingDir": "/root",
            "Labels": {
                "org.opencontainers.image.title": "pentathlon",
                "org.opencontainers.image.version": source.version,
                "org.opencontainers.image.licenses": "Apache-2.0",
            },
        },
        "rootfs": {"type": "layers", "diff_ids": plain},
        "history": [{"created": moment}, {"created": moment}],
    }
    manifest = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": blob(blobs, CONFIG, written(config)),
        "layers": layers,
    }
    named = blob(blobs, MANIFEST, written(manifest))
    named["annotations"] = {"org.opencontainers.image.ref.name": source.version}
    files = {f"blobs/sha256/{digest}": data for digest, data in blobs.items()}
    files["index.json"] = written({"schemaVersion": 2, "manifests": [named]})
    files["oci-layout"] = written({"imageLayoutVersion": "1.0.0"})
    return tar([Entry(file, data) for file, data in files.items()], source.epoch)


def blob(blobs: dict[str, bytes], kind: str, data: bytes) -> dict[str, object]:
    """Store a blob, and describe it."""
    digest = hashlib.sha256(data).hexdigest()
    blobs[digest] = data
    return {"mediaType": kind, "digest": f"sha256:{digest}", "size": len(data)}


def written(document: object) -> bytes:
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()
