"""hyperfine: what `--export-json` writes (its README and `src/benchmark/benchmark_result.rs`).

The file does not name the version. User and system time are means over the runs.
"""

from __future__ import annotations

from collections.abc import Iterator

from pentathlon.extraction.tools.json_document import Node, document
from pentathlon.extraction.tools.rows import (
    CaseValue,
    Extracted,
    ExtractError,
    Extractor,
    Metric,
    Options,
    Row,
)
from pentathlon.safeio.clipping import described

WANTED = "the file of hyperfine --export-json"
TIME = Metric("time", "Wall time", "s", "lower")
CONTEXT = {
    "user": Metric("user_time", "User CPU time", "s", "lower", "context", zero_allowed=True),
    "system": Metric("system_time", "System CPU time", "s", "lower", "context",
                     zero_allowed=True),
}  # fmt: skip
MEMORY = Metric("peak_memory", "Peak memory", "B", "lower", "context", zero_allowed=True)


def read(text: str, _options: Options) -> Extracted:
    """Every command; its runs are repetitions within one boot.

    Raises:
        ExtractError: it is no such file, or a command failed.
    """
    rows: list[Row] = []
    for result in document(text, WANTED)["results"].each():
        rows += _command(result)
    return Extracted(None, tuple(rows))


def _command(result: Node) -> Iterator[Row]:
    command = result["command"].text()
    case: dict[str, CaseValue] = {"command": command}
    if (parameters := result.find("parameters")) is not None:
        for name in parameters.members():
            case[f"parameter_{name}"] = str(parameters[name].value)
    statuses = result.find("exit_codes")
    for status in () if statuses is None else statuses.each():
        if status.value not in (0, None):
            raise ExtractError(
                f"has a run of {described(command)} that ended with status "
                f"{described(status.value)} ({status.place}); what failed did not do the work"
            )
    times = result.find("times")
    if times is None:
        mean = result["mean"]
        yield Row("hyperfine", "Command", TIME, case, (mean.number(),), mean.place)
    else:
        values = tuple(one.number() for one in times.each())
        if not values:
            raise ExtractError(f"has no run of {described(command)} at {times.place}")
        yield Row("hyperfine", "Command", TIME, case, values, times.place)
    for name, metric in CONTEXT.items():
        if (value := result.find(name)) is not None:
            yield Row("hyperfine", "Command", metric, case, (value.number(),), value.place)
    memory = result.find("memory_usage_byte")
    if memory is not None:
        values = tuple(one.number() for one in memory.each())
        if values:
            yield Row("hyperfine", "Command", MEMORY, case, values, memory.place)


EXTRACTOR = Extractor("hyperfine", "the file of hyperfine --export-json", read)
