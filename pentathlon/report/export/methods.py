"""A methods paragraph for a paper, generated from the plan, with its citations.

Every sentence states what this study really did: a procedure that was not used is not cited. The
text is for Markdown (citations as Pandoc reads them, `[@holm1979]`) and for LaTeX (`\\cite`), with
one BibTeX file for both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from importlib import resources

from pentathlon import __version__
from pentathlon.evaluate.display import bytes_text, percent_text, trim
from pentathlon.evaluate.facts import ResultLike
from pentathlon.evaluate.model import Evaluation, SystemFacts
from pentathlon.report import posthoc, starts
from pentathlon.safeio import escaping
from pentathlon.study.counting import count_text, listed
from pentathlon.study.plan import Plan

HASH_DIGITS = 16
"""Digits of the plan's hash, which in full is wider than a column."""

_CITED = re.compile(r" ?⟦([a-z0-9,]+)⟧")
_ENTRY = re.compile(r"^@\w+\{(\w+),.*?^\}\n", re.M | re.S)


def to_markdown(evaluation: Evaluation, result: ResultLike) -> str:
    """The paragraphs as Markdown with citations for Pandoc."""
    return _rendered(
        evaluation, result, escaping.markdown, lambda keys: f" [{'; '.join(f'@{k}' for k in keys)}]"
    )


def to_latex(evaluation: Evaluation, result: ResultLike) -> str:
    """The paragraphs as LaTeX."""
    plan_hash = escaping.latex_comment(evaluation.study.plan_hash)
    head = f"% Methods, generated from the plan {plan_hash}.\n"
    return head + _rendered(
        evaluation, result, escaping.latex, lambda keys: rf"~\cite{{{','.join(keys)}}}"
    )


def to_bibtex(evaluation: Evaluation, result: ResultLike) -> str:
    """The entries that the paragraphs cite."""
    text = "\n".join(paragraphs(evaluation, result.plan))
    cited = {key for found in _CITED.finditer(text) for key in found[1].split(",")}
    known = bibliography()
    return "\n".join(known[key] for key in known if key in cited).replace(
        "note    = {Software}", f"note    = {{Software, version {__version__}}}"
    )


def bibliography() -> dict[str, str]:
    """Every entry that can be cited, by its key."""
    text = resources.files("pentathlon.report.export").joinpath("assets", "methods.bib").read_text()
    return {found[1]: found[0] for found in _ENTRY.finditer(text)}


def _rendered(
    evaluation: Evaluation,
    result: ResultLike,
    escape: Callable[[str], str],
    cite: Callable[[Sequence[str]], str],
) -> str:
    out = []
    for text in paragraphs(evaluation, result.plan):
        made, last = "", 0
        for found in _CITED.finditer(text):
            made += _kept(text[last : found.start()], escape) + cite(found[1].split(","))
            last = found.end()
        out.append(made + _kept(text[last:], escape))
    return "\n\n".join(out) + "\n"


def _kept(text: str, escape: Callable[[str], str]) -> str:
    """An escaped part of a sentence with the space before it."""
    return f"{' ' if text.startswith(' ') else ''}{escape(text.removeprefix(' '))}"


def paragraphs(evaluation: Evaluation, plan: Plan) -> list[str]:
    """What was compared, how it was measured, how it was judged; with marks for citations."""
    every = [
        _compared(evaluation),
        () if evaluation.study.imported else _measured(evaluation, plan),
        _judged(evaluation, plan),
    ]
    return [" ".join(sentences) for sentences in every if sentences]


def _compared(evaluation: Evaluation) -> tuple[str, ...]:
    study = evaluation.study
    names = [_system(one) for one in evaluation.systems]
    reference = f"; {study.reference} is the reference" if len(names) > 1 else ""
    workloads = len({row.workload for row in evaluation.rows})
    scores = sum(row.score for row in evaluation.rows)
    builds = sorted({build for one in evaluation.systems for build in one.agent_builds})
    build = f" (agent build {listed(builds)})" if builds else ""
    verb = "Compared were" if len(names) > 1 else "Measured was"
    found = [f"{verb} {listed(names)}{reference}."]
    if machine := _machine(evaluation.systems):
        found.append(machine)
    by = "imported from other tools into" if study.imported else "measured with"
    found.append(
        f"{count_text(workloads, 'workload')} from the areas {listed(evaluation.areas)} with "
        f"{count_text(scores, 'metric')} were {by} Pentathlon {__version__} ⟦pentathlon⟧{build}."
        if evaluation.areas
        else f"Nothing was measured with Pentathlon {__version__} ⟦pentathlon⟧{build}."
    )
    layers = {one.layer for one in evaluation.systems}
    if len(layers) > 1:
        found.append(
            f"The systems lie on different layers ({listed(sorted(layers))}), so a comparison "
            "across them is one of layers and not of kernels."
        )
    return tuple(found)


def _system(one: SystemFacts) -> str:
    kernel = f", kernel {one.kernel}" if one.kernel else ""
    settings = "".join(f", {name} = {value}" for name, value in one.settings.items())
    return f"{one.name} ({one.target}{kernel}{settings})"


def _machine(systems: Sequence[SystemFacts]) -> str:
    cpus = dict.fromkeys(one.cpu for one in systems if one.cpu)
    memory = [one.memory_bytes for one in systems if one.memory_bytes]
    if not cpus:
        return ""
    size = f" with up to {bytes_text(max(memory))} of memory" if memory else ""
    return f"They ran on {listed(list(cpus))}{size}."


def _timed(plan: Plan, sample_ms: float) -> str:
    """How one iteration was timed; a command is run once in it."""
    measured = {step.workload for steps in plan.steps.values() for step in steps}
    batches = f"timed in batches of about {trim(sample_ms)} ms"
    if not measured & plan.commands.keys():
        return f", {batches}"
    if measured <= plan.commands.keys():
        return "; an iteration was one run of a command"
    return f", {batches}; of the commands, an iteration was one run"


def _measured(evaluation: Evaluation, plan: Plan) -> Iterator[str]:
    study = evaluation.study
    start = starts.noun(evaluation.systems)
    yield (
        f"The study consisted of {count_text(study.blocks, 'block')}; each block held one {start} "
        f"of every system in random order (seed {study.seed})."
    )
    if study.installs > 1:
        yield f"Every system was installed {study.installs} times."
    if plan.pairing == "steps":
        yield "Within a block the systems were alive at once and took each case in turn."
    elif plan.pairing == "turns":
        yield (
            "Within a block the systems were alive at once; batches of small working sets "
            "alternated between them."
        )
    if study.cpu_latency_us is not None:
        when = "in cases whose batches took turns" if study.awake_in_turns else "in the whole run"
        yield (
            "The CPUs of the experimenter's machine might enter only idle states with an exit "
            f"latency of at most {study.cpu_latency_us} µs {when} (CPU latency QoS of Linux)."
        )
    visits = max(step.visit for own in plan.steps.values() for step in own) + 1
    apart = f", divided into up to {visits} visits spread over the {start}" if visits > 1 else ""
    yield (
        f"In each {start} every workload ran in {count_text(study.processes, 'process')} with "
        f"{count_text(study.warmup, 'iteration')} of warm-up and "
        f"{count_text(study.iterations, 'counted iteration')} each"
        f"{_timed(plan, study.sample_ms)}{apart}."
    )
    if study.stopping and plan.study.procedure.stopping.rule == "looks":
        yield f"The study could stop early ({study.stopping}) ⟦lan1983⟧."
    elif plan.study.procedure.stopping.rule == "precision":
        yield f"The study was measured {study.stopping} ⟦anscombe1953⟧."
    if study.stopped:
        yield f"It stopped by this rule: {study.stopped}."
    if study.unfinished:
        yield f"The study is {study.unfinished}."


def _judged(evaluation: Evaluation, plan: Plan) -> Iterator[str]:
    study = evaluation.study
    if len(evaluation.systems) < 2:
        return
    unit = starts.noun(evaluation.systems)
    if study.in_blocks:
        yield (
            f"The iterations of a {unit} were averaged; each block gave the logarithm of the ratio "
            "of speeds of system and reference, and the mean over the blocks has the interval of "
            "Student's t ⟦student1908⟧."
        )
        if any(
            one.effect is not None and one.effect.moderated is not None
            for row in evaluation.rows
            for one in row.comparisons
        ):
            yield (
                "Metrics of one workload lent each other strength by moderated variances "
                "⟦smyth2004⟧."
            )
    else:
        yield (
            f"The values of a {unit} were averaged; the logarithms of both systems' means were "
            "compared unpaired, with Welch's interval ⟦welch1947⟧."
        )
    confidence, delta = percent_text(study.confidence * 100), percent_text(study.delta_percent)
    error = percent_text((1 - study.confidence) * 100)
    rows = max((one.rows for one in evaluation.pairs), default=0)
    yield (
        f"Differences were tested with a family-wise error rate of {error} over "
        f"{count_text(rows, 'declared metric')} of each system by Holm's procedure ⟦holm1979⟧, "
        f"equivalence within ±{delta} by two one-sided tests ⟦schuirmann1987⟧."
    )
    if any(one.exploratory_rows for one in evaluation.pairs):
        yield (
            "Metrics that were not declared are exploratory; for them the false discovery rate was "
            f"kept at {error} ⟦benjamini1995⟧."
        )
    if any(one.everything is not None for one in evaluation.aggregates):
        stated = ", ".join(f"{name} {weight:g}" for name, weight in study.weights.items())
        weights = f"the weights {stated}" if stated else "equal weights of areas"
        yield (
            "Areas and the whole are summarised by weighted geometric means of the ratios "
            f"⟦fleming1986⟧ with {weights}, their {confidence} intervals over the blocks."
        )
    yield "Minimum detectable effects are those found with a power of 80 % ⟦cohen1988⟧."
    if not study.imported:
        digest = study.plan_hash[:HASH_DIGITS]
        yield f"The plan (SHA-256 {digest}…) was fixed before the measurement."
    if marked := posthoc.words(evaluation):
        yield marked
