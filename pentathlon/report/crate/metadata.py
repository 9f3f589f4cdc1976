"""`ro-crate-metadata.json` of a result (RO-Crate 1.1, https://w3id.org/ro/crate/1.1).

The crate is the result directory with its report: the root data set, a file entity with size and
SHA-256 for each of them, the run as a CreateAction whose instruments are this program and the
builds of the agent, and the plan hash as the identifier.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from pentathlon import __version__
from pentathlon.evaluate.model import Evaluation
from pentathlon.report import posthoc
from pentathlon.report.areas import overviews
from pentathlon.safeio.escaping import json_document
from pentathlon.store.provenance import Provenance

METADATA = "ro-crate-metadata.json"
CONFORMS = "https://w3id.org/ro/crate/1.1"
CONTEXT = [
    f"{CONFORMS}/context",
    {"sha256": "https://w3id.org/ro/terms/workflow-run#sha256"},
]
ORCID = re.compile(r"^(.*\S)\s*<(https://orcid\.org/\d{4}-\d{4}-\d{4}-\d{3}[\dX])>$")
"""How an author is named with an identifier."""
ADDRESSED = re.compile(r"^(.*\S)\s*<(https?://[^\s<>]+)>$")
"""How an organisation is named with its address."""
NO_LICENSE = "#license"

TYPES: Mapping[str, tuple[str, str]] = {
    ".json": ("application/json", "JSON"),
    ".jsonl": ("application/jsonl", "JSON Lines"),
    ".toml": ("application/toml", "TOML"),
    ".html": ("text/html", "HTML"),
    ".csv": ("text/csv", "CSV"),
    ".md": ("text/markdown", "Markdown"),
    ".bib": ("text/x-bibtex", "BibTeX"),
    ".tex": ("application/x-tex", "LaTeX"),
    ".parquet": ("application/vnd.apache.parquet", "Apache Parquet"),
    ".pcapng": ("application/vnd.tcpdump.pcap", "pcapng"),
}
MEANINGS: Mapping[str, str] = {
    "plan.json": "The plan: every boot and step, made before anything was measured",
    "study.toml": "The study file",
    "catalog.json": "The agent's workloads and metrics at the time of the run",
    "journal.jsonl": "Everything that happened; all other data are derived from it",
    "report.html": "The report",
    "evaluation.json": "The judgement in full precision",
    "evaluation.csv": "The judgement as a table",
    "effects.csv": "The effects of the factorial design as a table",
    "methods.md": "What was compared, how it was measured and judged",
    "methods.bib": "What the methods cite",
}


@dataclass(frozen=True)
class Published:
    """Who publishes a crate, when, and under which terms.

    Attributes:
        authors: names, with an ORCID in angle brackets where there is one.
        license: an SPDX identifier, or an address; "" where none is stated.
        date: day of the publication, as ISO 8601.
        organisation: publisher, and affiliation of the authors; with an address in angle
            brackets, such as its ROR; "" where none is stated.
    """

    authors: tuple[str, ...]
    license: str
    date: str
    organisation: str = ""


@dataclass(frozen=True)
class Entry:
    """One file of a crate."""

    path: str
    size: int
    sha256: str


def document(
    evaluation: Evaluation, run: Provenance, entries: Sequence[Entry], published: Published
) -> str:
    """The metadata as JSON-LD."""
    study = evaluation.study
    agents = [_agent(build, one) for build, one in sorted(run.agents.items())]
    organisation = _organisation(published.organisation)
    authors = [_person(name, organisation) for name in published.authors]
    license_ = _license(published.license)
    root = _entity(
        "./",
        "Dataset",
        name=study.title,
        description=_description(evaluation),
        datePublished=published.date,
        license={"@id": license_["@id"]},
        identifier={"@id": "#plan-hash"},
        keywords=["benchmark", "operating systems", *evaluation.areas],
        hasPart=[{"@id": quote(one.path)} for one in entries],
        mentions={"@id": "#run"},
    )
    if authors:
        root["author"] = _references(str(one["@id"]) for one in authors)
    if organisation:
        root["publisher"] = {"@id": organisation["@id"]}
    names = {one.path for one in entries}
    graph: list[dict[str, Any]] = [
        _entity(METADATA, "CreativeWork", conformsTo={"@id": CONFORMS}, about={"@id": "./"}),
        root,
        license_,
        _entity(
            "#plan-hash",
            "PropertyValue",
            propertyID="SHA-256 of plan.json without its final newline",
            value=study.plan_hash,
        ),
        *authors,
        *([organisation] if organisation else []),
        *map(_file, entries),
        _entity(
            "#run",
            "CreateAction",
            name=f"Run of {study.name}",
            startTime=run.started,
            endTime=run.ended,
            instrument=_references(["#pentathlon", *(str(one["@id"]) for one in agents)]),
            object=_references(name for name in ("study.toml", "plan.json") if name in names),
            result={"@id": "journal.jsonl"},
        ),
        _program("#pentathlon", run.version),
        *agents,
        _entity(
            "#judgement",
            "CreateAction",
            name="Judgement and report",
            instrument={"@id": "#judge"},
            object={"@id": "journal.jsonl"},
            result=_references(
                name for name in ("evaluation.json", "report.html") if name in names
            ),
        ),
        _program("#judge", __version__),
    ]
    text = json.dumps({"@context": CONTEXT, "@graph": graph}, indent=1, ensure_ascii=False)
    return json_document(text) + "\n"


def _entity(id_: str, type_: str, **properties: Any) -> dict[str, Any]:
    return {"@id": id_, "@type": type_, **properties}


def _program(id_: str, version: str) -> dict[str, Any]:
    return _entity(id_, "SoftwareApplication", name="Pentathlon", softwareVersion=version)


def _description(evaluation: Evaluation) -> str:
    """The question and the answer, as the report has them."""
    study = evaluation.study
    parts = [study.question] if study.question else []
    for one in overviews(evaluation):
        parts.append(f"{one.system} against {one.reference}: ")
        parts[-1] += " ".join(line.sentence for line in one.lines)
    if marked := posthoc.words(evaluation):
        parts.append(marked)
    if study.unfinished:
        parts.append(f"The study is {study.unfinished}.")
    return " ".join(parts) or study.title


def _references(ids: Iterable[str]) -> dict[str, str] | list[dict[str, str]]:
    """One reference as it is, several as a list: the compact form of JSON-LD."""
    found = [{"@id": one} for one in ids]
    return found[0] if len(found) == 1 else found


def _file(entry: Entry) -> dict[str, Any]:
    suffix = f".{entry.path.rpartition('.')[2]}"
    media, words = TYPES.get(suffix, ("application/octet-stream", "a file"))
    return _entity(
        quote(entry.path),
        "File",
        name=entry.path,
        description=MEANINGS.get(entry.path, words),
        encodingFormat=media,
        contentSize=str(entry.size),
        sha256=entry.sha256,
    )


def _agent(build: str, stated: Mapping[str, Any]) -> dict[str, Any]:
    """One build of the agent, by its hashes: of the program and of its sources."""
    id_ = f"#agent-{quote(build)}"
    found = _entity(id_, "SoftwareApplication", name="pentathlon-agent", identifier=build)
    if version := stated.get("version"):
        found["softwareVersion"] = str(version)
    details = [
        f"{name} {stated[name]}" for name in ("sources", "target", "rustc") if stated.get(name)
    ]
    if details:
        found["description"] = ", ".join(details)
    return found


def _person(name: str, organisation: Mapping[str, Any] | None) -> dict[str, Any]:
    found = ORCID.match(name)
    id_, shown = (found[2], found[1]) if found else (f"#{quote(name)}", name)
    person = _entity(id_, "Person", name=shown)
    if organisation:
        person["affiliation"] = {"@id": organisation["@id"]}
    return person


def _organisation(name: str) -> dict[str, Any] | None:
    if not name:
        return None
    if found := ADDRESSED.match(name):
        return _entity(found[2], "Organization", name=found[1], url=found[2])
    return _entity(f"#organisation-{quote(name)}", "Organization", name=name)


def _license(name: str) -> dict[str, Any]:
    if not name:
        what = "Ask who published these data before you reuse them."
        return _entity(NO_LICENSE, "CreativeWork", name="No licence is stated", description=what)
    address = name if "://" in name else f"https://spdx.org/licenses/{quote(name)}"
    return _entity(address, "CreativeWork", name=name)
