"""Which machines measured the same: their plans without what is the machine's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from pentathlon.evaluate.comparability import BUILD_DIGITS
from pentathlon.study.plan import Plan, canonical_json

OWN = ("target", "ssh", "cpus", "boot", "power", "peer", "kernel", "scratch")
"""Keys of a system that say how a machine reaches and boots it, not what is measured."""
FIELDS = ("name", "reference", "weights", "procedure", "evaluation")


def parts(plan: Plan) -> dict[str, str]:
    """What must be the same on every machine, by its name in a sentence."""
    study = plan.study.model_dump(mode="json", by_alias=True)
    systems = {
        one["name"]: {key: value for key, value in one.items() if key not in (*OWN, "title")}
        for one in study["system"]
    }
    found: dict[str, Any] = {
        "its agent's build": plan.agent.get("build"),
        "its version of the catalog": plan.agent.get("catalog_version"),
        **{f"the study's {name}": study.get(name) for name in FIELDS},
        "the systems": systems,
        "the number of blocks": len(plan.blocks),
        "the steps": {
            name: sorted(canonical_json(step.model_dump(mode="json")) for step in steps)
            for name, steps in plan.steps.items()
        },
        "the commands": {name: one.model_dump(mode="json") for name, one in plan.commands.items()},
        "how boots are paired": plan.pairing,
    }
    return {name: canonical_json(value) for name, value in found.items()}


def unlike(plans: Mapping[str, Plan]) -> dict[str, str]:
    """Machines that did not measure what most did, with a sentence for each."""
    known = {name: parts(plan) for name, plan in plans.items()}
    whole = {name: canonical_json(own) for name, own in known.items()}
    counts = Counter(whole.values())
    # Of groups that are equally large the first one named is the campaign.
    most = max(counts, key=lambda text: counts[text])
    first = next(name for name, text in whole.items() if text == most)
    found = {}
    for name, text in whole.items():
        if text == most:
            continue
        differs = [part for part, value in known[name].items() if value != known[first][part]]
        found[name] = (
            f'machine "{name}" is not judged with the others: {differs[0]} differs from that of '
            f'"{first}"{_values(differs[0], known[name], known[first])}; measure it anew with the '
            "campaign's study and agent"
        )
    return found


def _values(part: str, own: Mapping[str, str], other: Mapping[str, str]) -> str:
    """The two values, where they are short enough to be read."""
    texts = [one[part].strip('"') for one in (own, other)]
    if part == "its agent's build":
        texts = [text[:BUILD_DIGITS] for text in texts]
    return f" ({texts[0]} and {texts[1]})" if max(map(len, texts)) <= 40 else ""
