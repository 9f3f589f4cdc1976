"""A stored result judged by today's rule for old studies and by that of new ones.

    python benches/rejudge.py RESULT[.tar.xz] [--delta PERCENT] [--system NAME] [--exclude RULE...]

With `--exclude` the moderated rule is also shown with samples left out by counters, such as
`"run_delay_percent > 20"`. Prints for each system against the reference how many rows each verdict
got, the median spread of the blocks and detectable difference of all rows, how many sweeps are
decided, and the rows that one rule decides and the other does not. Nothing is measured.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pentathlon.evaluate import Evaluation, Verdict, evaluate
from pentathlon.store.query import Result, load_result
from pentathlon.study.exclusion import parse_exclusion


def judged(
    result: Result, delta: float | None, *, moderated: bool, exclude: Sequence[str] = ()
) -> Evaluation:
    """The result, judged by one of the rules."""
    rules = result.study.evaluation
    update = {
        "moderated": moderated,
        "exclude": tuple(exclude),
        "delta_percent": rules.delta_percent if delta is None else delta,
    }
    return evaluate(result.narrowed(rules.model_copy(update=update), lambda _: True))


def spread(evaluation: Evaluation, system: str) -> float:
    """Median standard deviation of the blocks' log-ratios, in percent."""
    return 100.0 * statistics.median(
        one.effect.sd
        for row in evaluation.rows
        if (one := row.comparison(system)) is not None
        and one.effect is not None
        and one.effect.sd is not None
    )


def detectable(evaluation: Evaluation, system: str) -> float:
    """Median detectable difference over all rows of a system, in percent."""
    return statistics.median(
        one.effect.mde_percent
        for row in evaluation.rows
        if (one := row.comparison(system)) is not None
        and one.effect is not None
        and one.effect.mde_percent is not None
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("result", type=Path)
    parser.add_argument("--delta", type=float)
    parser.add_argument("--system", help="only this one against the reference")
    parser.add_argument("--exclude", nargs="+", default=[], metavar="RULE")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        path = given.result
        if path.is_file():
            with tarfile.open(path) as archive:
                archive.extractall(scratch, filter="data")
            path = next(Path(scratch).rglob("plan.json")).parent
        result = load_result(path)
        both = {
            name: judged(result, given.delta, moderated=moderated)
            for name, moderated in (("own variances", False), ("moderated", True))
        }
        if given.exclude:
            rules = [parse_exclusion(rule).text for rule in given.exclude]
            own = judged(result, given.delta, moderated=True, exclude=rules)
            left = sum(one.excluded for one in own.excluded)
            whole = sum(one.samples for one in own.excluded) / len(rules)
            print(f"{', '.join(rules)}: {left / whole:.1%} of the samples left out, at most")
            both["moderated, without"] = own
    console = Console(width=150)
    first = next(iter(both.values()))
    for pair in first.pairs:
        if given.system in (None, pair.system):
            _show(both, pair.system, console)


def _show(both: dict[str, Evaluation], system: str, console: Console) -> None:
    table = Table("rule", "rows", "differences", "equivalent or negligible", "unstable",
                  "inconclusive", "median SD", "median detectable",
                  "sweeps: equivalent, differ")  # fmt: skip
    for name, evaluation in both.items():
        words = Counter(
            one.verdict
            for row in evaluation.rows
            if (one := row.comparison(system)) is not None and row.score
        )
        sweeps = Counter(one.verdict for one in evaluation.sweeps if one.system == system)
        table.add_row(
            name,
            str(sum(words.values())),
            str(sum(number for word, number in words.items() if word.is_shown)),
            str(words[Verdict.EQUIVALENT] + words[Verdict.NEGLIGIBLE]),
            str(words[Verdict.UNSTABLE]),
            str(words[Verdict.INCONCLUSIVE]),
            f"{spread(evaluation, system):.2f} %",
            f"{detectable(evaluation, system):.1f} %",
            f"{sweeps['equivalent']}, {sweeps['differs']} of {sum(sweeps.values())}",
        )
    console.print(f"{system} against {both['moderated'].study.reference}", style="bold")
    console.print(table)
    pair = next(one for one in both["moderated"].pairs if one.system == system)
    for caution in pair.cautions:
        console.print(f"  {caution}")
    for row in both["moderated"].rows:
        own = both["own variances"].row(row.key).comparison(system)
        new = row.comparison(system)
        if own is not None and new is not None and own.verdict.is_shown != new.verdict.is_shown:
            console.print(f"  {row.key}: {own.words}, now {new.words}")


if __name__ == "__main__":
    main()
