"""What is inside a release, as CycloneDX JSON."""

from __future__ import annotations

import hashlib
import uuid
from datetime import UTC, datetime

from cyclonedx.factory.license import LicenseFactory
from cyclonedx.model import ExternalReference, ExternalReferenceType, HashType, Property, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component as Part
from cyclonedx.model.component import ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from common import Source
from licences import Component


def name(source: Source) -> str:
    return f"pentathlon-{source.version}.cdx.json"


def write(source: Source, components: list[Component]) -> bytes:
    """The document; its serial number follows from what it lists."""
    licences = LicenseFactory()
    whole = Part(
        name="pentathlon",
        version=source.version,
        type=ComponentType.APPLICATION,
        bom_ref="pentathlon",
        licenses=[licences.make_from_string("Apache-2.0")],
    )
    bom = Bom()
    bom.metadata.component = whole
    bom.metadata.timestamp = datetime.fromtimestamp(source.epoch, UTC)
    parts = []
    for one in components:
        url = PackageURL(one.kind, None, one.name, one.version)
        part = Part(
            name=one.name,
            version=one.version,
            type=ComponentType.LIBRARY,
            bom_ref=url.to_string(),
            purl=url,
            licenses=[licences.make_from_string(one.licence)],
            properties=[Property(name="pentathlon:part", value=part) for part in one.parts],
        )
        # A Python package has a file for each system: those are hashes of files, not of one.
        if len(one.hashes) == 1:
            part.hashes.add(HashType.from_composite_str(f"sha256:{one.hashes[0]}"))
        else:
            for digest in one.hashes:
                part.properties.add(Property(name="pentathlon:locked-sha256", value=digest))
        if one.url:
            part.external_references.add(
                ExternalReference(type=ExternalReferenceType.VCS, url=XsUri(one.url))
            )
        bom.components.add(part)
        parts.append(part)
    bom.register_dependency(whole, parts)
    listed = "\n".join(sorted(f"{one.kind} {one.name} {one.version}" for one in components))
    digest = hashlib.sha256(f"{source.version}\n{source.epoch}\n{listed}".encode()).digest()
    bom.serial_number = uuid.UUID(bytes=digest[:16], version=5)
    return (JsonV1Dot6(bom).output_as_string(indent=1) + "\n").encode()
