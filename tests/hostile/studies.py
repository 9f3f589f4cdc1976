"""Study files and profiles of links with damage in their text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

from pentathlon.safeio.escaping import one_line
from pentathlon.study.catalog import Catalog
from pentathlon.study.link_profile import PROFILES, ProfileError, parse_profile
from pentathlon.study.load import load_study
from pentathlon.study.plan import make_plan
from pentathlon.study.problems import StudyError
from tests.hostile.mutate import damaged, damaged_text

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


def texts() -> list[str]:
    """The examples, which have every table and key that studies have."""
    return [one.read_text("utf-8") for one in sorted(EXAMPLES.glob("*.toml"))]


def studies(count: int, seed: int, directory: Path, catalog: Catalog) -> Counter[str]:
    """How damaged studies end: as a plan, or refused with one sentence for each problem.

    Args:
        directory: where the file is written.

    Raises:
        Exception: whatever else the reader raises, with the number of the study as a note.
    """
    random, whole = Random(seed), texts()
    file = directory / "study.toml"
    ends: Counter[str] = Counter()
    for number in range(count):
        text = damaged_text(random.choice(whole), random)
        data = text.encode("utf-8", "surrogatepass")
        file.write_bytes(damaged(data, random, 2) if random.random() < 0.2 else data)
        ends[_end(lambda: _planned(file, catalog), f"study {number} of seed {seed}")] += 1
    return ends


def _planned(file: Path, catalog: Catalog) -> None:
    study = load_study(file, catalog).study
    if study.procedure.blocks > 100:
        return
    make_plan(study, catalog, {one.name: {"layer": "host"} for one in study.systems})


def _end(what: Callable[[], object], note: str) -> str:
    try:
        what()
    except StudyError as error:
        lines = str(error).splitlines()
        assert lines and all("study.toml" in line for line in lines)
        assert len(str(error)) < 200_000
        return "refused"
    except ProfileError as error:
        assert one_line(str(error)) == str(error) and len(str(error)) < 2000
        return "refused"
    except BaseException as error:
        error.add_note(note)
        raise
    return "read"


def profiles(count: int, seed: int) -> Counter[str]:
    """How damaged profiles of links end."""
    random = Random(seed)
    whole = [one.read_text("utf-8") for one in sorted(PROFILES.glob("*.toml"))]
    ends: Counter[str] = Counter()
    for number in range(count):
        text = damaged_text(random.choice(whole), random)
        ends[_end(lambda t=text: parse_profile(t, "x"), f"profile {number} of seed {seed}")] += 1
    return ends
