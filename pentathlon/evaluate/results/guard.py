"""The comparability guard: what two sides must share, what it means where they do not.

"refused" rules the rows out, "qualified" leaves them in with a sentence, "same" means that it was
looked at. An empty comparison is explained by what emptied it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from pentathlon.evaluate.comparability import BUILD_DIGITS, MEMORY_TOLERANCE, layer_caution
from pentathlon.evaluate.display import bytes_text
from pentathlon.evaluate.model import Comparison, SystemFacts
from pentathlon.evaluate.model_aggregate import Guard
from pentathlon.evaluate.results.differing import Parameters, differing
from pentathlon.evaluate.verdict import Verdict

SAME, QUALIFIED, REFUSED, UNKNOWN = "same", "qualified", "refused", "not known"
MOST_NAMED = 3


def guards(
    system: SystemFacts,
    baseline: SystemFacts,
    parameters: tuple[Parameters, Parameters],
    plans: tuple[str, str],
) -> tuple[Guard, ...]:
    """Everything that is looked at before two sides are compared.

    Args:
        parameters: workload -> parameters it ran with, of the system and of the baseline.
        plans: the hashes of their plans.
    """
    return (
        _build(system, baseline),
        _catalog(system, baseline),
        _parameters(system, baseline, *parameters),
        *_machine(system, baseline),
        _layer(system, baseline),
        _settings(system, baseline),
        _plan(*plans),
    )


def _build(system: SystemFacts, baseline: SystemFacts) -> Guard:
    builds = tuple(dict.fromkeys((*baseline.agent_builds, *system.agent_builds)))
    if not builds:
        return Guard(what="build", outcome=UNKNOWN, words="no boot reported the build of its agent")
    text = ", ".join(build[:BUILD_DIGITS] for build in builds)
    if len(builds) > 1:
        return Guard(what="build", outcome=QUALIFIED, words=f"the agents are of builds {text}")
    return Guard(what="build", outcome=SAME, words=f"agent of build {text}")


def _catalog(system: SystemFacts, baseline: SystemFacts) -> Guard:
    versions = (baseline.catalog_version, system.catalog_version)
    if None in versions:
        return Guard(what="catalog", outcome=UNKNOWN, words="a side did not report its version")
    if versions[0] != versions[1]:
        words = f"the catalogs have the versions {versions[0]} and {versions[1]}"
        return Guard(what="catalog", outcome=REFUSED, words=words)
    return Guard(what="catalog", outcome=SAME, words=f"version {versions[0]}")


def _parameters(
    system: SystemFacts, baseline: SystemFacts, own: Parameters, other: Parameters
) -> Guard:
    names = differing(own, other)
    if not names:
        return Guard(what="parameters", outcome=SAME, words="every workload ran with the same")
    text = ", ".join(names[:MOST_NAMED]) + (", …" if len(names) > MOST_NAMED else "")
    words = f"{system.name} and {baseline.name} ran {text} with different parameters"
    return Guard(what="parameters", outcome=QUALIFIED, words=words)


def _machine(system: SystemFacts, baseline: SystemFacts) -> Iterator[Guard]:
    if layer_caution(system, baseline) is not None:
        words = "not looked at: across layers a guest does not show the machine that it runs on"
        yield Guard(what="machine", outcome=UNKNOWN, words=words)
        return
    if not system.cpu or not baseline.cpu:
        yield Guard(what="machine", outcome=UNKNOWN, words="a side did not report its CPU")
    elif system.cpu != baseline.cpu:
        words = f"the CPUs are {baseline.cpu} and {system.cpu}"
        yield Guard(what="machine", outcome=QUALIFIED, words=words)
    else:
        yield Guard(what="machine", outcome=SAME, words=system.cpu)
    own, other = system.memory_bytes, baseline.memory_bytes
    if own and other and abs(own / other - 1) > MEMORY_TOLERANCE:
        words = f"the memory is {bytes_text(other)} and {bytes_text(own)}"
        yield Guard(what="memory", outcome=QUALIFIED, words=words)


def _layer(system: SystemFacts, baseline: SystemFacts) -> Guard:
    text = layer_caution(system, baseline)
    if text is None:
        return Guard(what="layer", outcome=SAME, words=system.layer or "not known")
    return Guard(what="layer", outcome=QUALIFIED, words=text)


def _settings(system: SystemFacts, baseline: SystemFacts) -> Guard:
    names = sorted(
        name
        for name in system.settings.keys() | baseline.settings.keys()
        if system.settings.get(name) != baseline.settings.get(name)
    )
    if not names:
        return Guard(what="settings", outcome=SAME, words="none was changed for one side alone")
    text = ", ".join(
        f"{name} is {baseline.settings.get(name, 'unchanged')} and "
        f"{system.settings.get(name, 'unchanged')}"
        for name in names
    )
    return Guard(what="settings", outcome=QUALIFIED, words=text)


def _plan(own: str, other: str) -> Guard:
    if own == other:
        return Guard(what="plan", outcome=SAME, words=own[:12])
    words = f"measured by the plans {other[:12]} and {own[:12]}, so procedures may differ"
    return Guard(what="plan", outcome=QUALIFIED, words=words)


def emptied_by(comparisons: Iterable[Comparison]) -> str:
    """Why no row could be judged: how many rows each reason took; "" if some could."""
    reasons: Counter[str] = Counter()
    for one in comparisons:
        if one.verdict not in (Verdict.INVALID, Verdict.NOT_MEASURED):
            return ""
        reasons[f"{one.words}, {one.reason}" if one.reason else one.words] += 1
    if not reasons:
        return "no metric was measured on either"
    parts = [
        f"{count} {'row' if count == 1 else 'rows'} {reason}"
        for reason, count in reasons.most_common(MOST_NAMED)
    ]
    more = len(reasons) - len(parts)
    return "; ".join(parts) + (f"; and {more} more reasons" if more > 0 else "")
