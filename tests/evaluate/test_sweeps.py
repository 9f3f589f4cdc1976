"""Sweeps as one claim: equivalent at every size, or different somewhere."""

from __future__ import annotations

from pentathlon.evaluate import Evaluation, evaluate
from pentathlon.evaluate.display import bytes_text
from pentathlon.report.answer import answers
from tests.fakes.synthetic import KIB, Item, Maker, Synthetic, same

SIZES = tuple(KIB << power for power in range(12))
ITEMS = [
    Item(f"memory.{name}", "bandwidth", {"block_bytes": size}, "MB/s", "higher", 5e4, 0.008, 0.004)
    for name in ("read", "write")
    for size in SIZES
]


def large_reads(item: Item) -> float:
    """30 % faster reads of 256 KiB and more."""
    return 1.3 if item.workload == "memory.read" and item.case["block_bytes"] >= 256 * KIB else 1.0


def judged(result: Synthetic, *, moderated: bool = True) -> Evaluation:
    rules = result.plan.study.evaluation.model_copy(update={"moderated": moderated})
    study = result.plan.study.model_copy(update={"evaluation": rules})
    result.plan = result.plan.model_copy(update={"study": study})
    return evaluate(result)


def made(delta: float, factor=large_reads) -> Synthetic:
    return Maker(
        factors={"a": same, "b": factor}, chosen=ITEMS, blocks=6, delta_percent=delta
    ).make()


def test_a_sweep_is_equivalent_as_a_whole_or_differs_somewhere():
    evaluation = judged(made(4.0))
    read, write = sorted(evaluation.sweeps, key=lambda one: one.workload)
    assert (read.verdict, write.verdict) == ("differs", "equivalent")
    assert read.differing == SIZES[8:]
    first, last = bytes_text(256 * KIB), bytes_text(2048 * KIB)
    assert read.words == f"differs at 4 of 12 sizes, {first} to {last}"
    largest = max(
        row.comparison("b").effect.p_equivalent
        for row in evaluation.rows
        if row.workload == "memory.write"
    )
    assert write.p_equivalent == largest
    (answer,) = answers(evaluation)
    assert "equivalent within 4" in answer.sureness


def test_one_size_that_is_not_shown_leaves_the_sweep_undecided():
    evaluation = judged(made(0.5, same))
    assert [one.verdict for one in evaluation.sweeps] == ["inconclusive"] * 2
    assert "None of the 2 sweeps" in answers(evaluation)[0].sureness


def test_studies_of_versions_without_sweeps_have_none():
    evaluation = judged(made(4.0), moderated=False)
    assert evaluation.sweeps == ()
    assert not any("its blocks vary" in one.reason for row in evaluation.rows
                   for one in row.comparisons)  # fmt: skip
