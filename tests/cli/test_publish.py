"""A result as an RO-Crate: whole, judged the same elsewhere, and every change of it is found."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from pentathlon.cli.exits import Exit
from tests.cli.conftest import STUDY, Shop

ORGANISATION = "Example University <https://ror.org/03yrm5c26>"
AUTHOR = "Ada Example <https://orcid.org/0000-0002-1825-0097>"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    shop = Shop(tmp_path_factory.mktemp("crate"))
    done = shop.call("run", shop.write(STUDY), "--yes", "--no-pilot", "--no-report", "--out", "r")
    assert done.code == 0, done.err
    words = ("--license", "CC-BY-4.0", "--author", AUTHOR, "--author", "B", "--date", "2026-01-31")
    done = shop.call("publish", "r", *words, "--organisation", ORGANISATION)
    assert done.code == 0, done.err
    assert (shop.directory / "r-crate" / "ro-crate-metadata.json").is_file()
    return shop


def graph(shop: Shop) -> dict[str, dict[str, Any]]:
    text = (shop.directory / "r-crate" / "ro-crate-metadata.json").read_text(encoding="utf-8")
    return {one["@id"]: one for one in json.loads(text)["@graph"]}


def test_the_metadata_are_those_of_the_specification(shop: Shop) -> None:
    found = graph(shop)
    about = found["ro-crate-metadata.json"]
    assert about["@type"] == "CreativeWork" and about["about"] == {"@id": "./"}
    assert about["conformsTo"] == {"@id": "https://w3id.org/ro/crate/1.1"}
    root = found["./"]
    assert root["@type"] == "Dataset" and root["datePublished"] == "2026-01-31"
    assert root["license"] == {"@id": "https://spdx.org/licenses/CC-BY-4.0"}
    assert {"name", "description"} <= set(root)
    ada = found["https://orcid.org/0000-0002-1825-0097"]
    assert ada["name"] == "Ada Example"
    assert ada["affiliation"] == root["publisher"] == {"@id": "https://ror.org/03yrm5c26"}
    university = found["https://ror.org/03yrm5c26"]
    assert university["@type"] == "Organization" and university["name"] == "Example University"
    # One reference stands for itself, as RO-Crate recommends.
    assert not [
        (one["@id"], name)
        for one in found.values()
        for name, value in one.items()
        if isinstance(value, list) and len(value) == 1
    ]

    # Every reference leads to an entity.
    def references(value: Any) -> list[str]:
        if isinstance(value, dict):
            if set(value) == {"@id"}:
                return [value["@id"]]
            return [one for own in value.values() for one in references(own)]
        return [one for own in value for one in references(own)] if isinstance(value, list) else []

    outside = {"https://w3id.org/ro/crate/1.1"}
    assert set(references(list(found.values()))) - outside <= set(found)


def test_every_file_is_listed_with_its_digest_and_the_builds_of_the_agent(shop: Shop) -> None:
    crate, found = shop.directory / "r-crate", graph(shop)
    listed = {unquote(one["@id"]) for one in found["./"]["hasPart"]}
    there = {str(one.relative_to(crate)) for one in crate.rglob("*") if one.is_file()}
    assert {"plan.json", "journal.jsonl", "catalog.json", "study.toml", "report.html"} <= listed
    assert there - listed == {"ro-crate-metadata.json"}
    for name in listed:
        data = (crate / name).read_bytes()
        assert found[name]["sha256"] == hashlib.sha256(data).hexdigest()
        assert found[name]["contentSize"] == str(len(data))
    plan = (crate / "plan.json").read_bytes().removesuffix(b"\n")
    assert found["#plan-hash"]["value"] == hashlib.sha256(plan).hexdigest()
    agents = [one for one in found["#run"]["instrument"] if one["@id"].startswith("#agent-")]
    assert len(agents) == 1 and found[agents[0]["@id"]]["identifier"]


def test_a_crate_is_judged_elsewhere_as_here(shop: Shop, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(shop.directory / "r-crate", elsewhere)
    here, there = shop.call("compare", "r"), shop.call("compare", str(elsewhere))
    assert here.code == there.code == 0 and here.out == there.out
    done = shop.call("publish", "--check", str(elsewhere))
    assert done.code == 0 and "judged again with the same outcome" in done.out


def copied(shop: Shop, tmp_path: Path) -> Path:
    shutil.copytree(shop.directory / "r-crate", tmp_path / "crate")
    return tmp_path / "crate"


def test_an_edited_judgement_is_found(shop: Shop, tmp_path: Path) -> None:
    crate = copied(shop, tmp_path)
    path = crate / "evaluation.json"
    document = json.loads(path.read_text())
    row = next(one for one in document["rows"] if one["comparisons"])
    row["summaries"][0]["mean"] *= 1.001
    path.write_text(json.dumps(document))
    done = shop.call("publish", "--check", str(crate))
    assert done.code == Exit.FAILURES
    assert f"{row['key']} is judged otherwise here" in done.out
    assert "evaluation.json is not the file that was published" in done.out


@pytest.mark.parametrize("name", ["plan.json", "journal.jsonl"])
def test_edited_data_are_refused(shop: Shop, tmp_path: Path, name: str) -> None:
    crate = copied(shop, tmp_path)
    text = (crate / name).read_text()
    assert '"a"' in text
    (crate / name).write_text(text.replace('"a"', '"z"', 1))
    for words in (("publish", "--check"), ("compare",)):
        done = shop.call(*words, str(crate))
        assert done.code == Exit.BAD_INPUT and name in done.err, words


def test_a_file_that_is_missing_or_outside_is_named(shop: Shop, tmp_path: Path) -> None:
    crate = copied(shop, tmp_path)
    (crate / "methods.md").unlink()
    path = crate / "ro-crate-metadata.json"
    document = json.loads(path.read_text())
    document["@graph"].append({"@id": "../r/plan.json", "@type": "File", "sha256": "0"})
    path.write_text(json.dumps(document))
    done = shop.call("publish", "--check", str(crate))
    assert done.code == Exit.FAILURES
    assert "methods.md cannot be read" in done.out
    assert "../r/plan.json lies outside of the crate" in done.out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("r", "--out", "r"), "r is not empty"),
        (("r", "--out", "new", "--license", "do what you want"), "is no licence"),
        (("r", "--out", "new", "--date", "yesterday"), '"yesterday" is no day'),
        (("--check", "r"), "r is no crate"),
        (("--check",), "name the crate"),
    ],
)
def test_wrong_words_are_one_sentence(shop: Shop, words: tuple[str, ...], sentence: str) -> None:
    done = shop.call("publish", *words)
    assert done.code == Exit.BAD_INPUT and sentence in done.err
    assert not (shop.directory / "new").exists()
