"""Every question to an archive, in the SQL that DuckDB and Spark both run.

Views: results (`schema.INDEX`), systems, boots and samples. Where an engine may differ (logarithms
of zero, NaN in minima), the query does not leave it to the engine.
"""

from __future__ import annotations

from collections.abc import Sequence

from pentathlon.archive.where import ALWAYS, quoted


def listed(where: str) -> str:
    """Results in the order of time."""
    return f"select r.* from results r where {where} order by r.started, r.result"


def newest(where: str) -> str:
    """The last of these."""
    return f"select r.* from results r where {where} order by r.started desc, r.result desc limit 1"


def origins(where: str) -> str:
    """The studies and the machines of results."""
    return f"select distinct r.study, r.machine from results r where {where}"


def last_good(where: str, before: str, but: str, count: int) -> str:
    """The newest results before a time in which nothing failed for good."""
    return f"""
        select * from results
        where {where} and failures = 0 and started < {quoted(before)} and result <> {quoted(but)}
        order by started desc, result limit {count:d}"""


def of_systems(table: str, ids: Sequence[str], system: str) -> str:
    """The rows of one system in results."""
    return f"select * from {table} where system = {quoted(system)} and {_among('result', ids)}"


def systems(where: str, system: str) -> str:
    """One system in the results that a filter chooses; parameters by their digest alone."""
    return f"""
        select r.result, r.started, r.machine, r.name, s.system, s.layer, s.cpu, s.kernel,
            s.catalog_version, s.build, s.parameters_sha256
        from results r join systems s on s.result = r.result
        where s.system = {quoted(system)} and {where}
        order by r.started, r.result"""


def parameters(digests: Sequence[str]) -> str:
    """The text of parameters by their digests."""
    return f"""
        select parameters_sha256, min(parameters_json) as parameters_json
        from systems where {_among("parameters_sha256", digests)}
        group by parameters_sha256"""


def keys(where: str, system: str) -> str:
    """Every row that a system has somewhere."""
    return f"""
        select distinct b.key from boots b {_results(where)}
        where b.system = {quoted(system)} and {where} order by b.key"""


def levels(where: str, system: str, chosen: Sequence[str] | None) -> str:
    """Mean logarithm of the boot means of every row and result.

    `bad` counts boots with a sample that is not a positive finite number.
    """
    among = ALWAYS if chosen is None else _among("b.key", chosen)
    return f"""
        select b.result, b.key, min(b.workload) as workload, min(b.metric) as metric,
            min(b.area) as area, min(b.role) as role, min(b.unit) as unit,
            min(b.direction) as direction, max(b.units) as units, min(b.lowest) as lowest,
            avg(case when b.mean > 0 then ln(b.mean) end) as log_mean,
            sum(case when isnan(b.lowest) or b.lowest <= 0 then 1 else 0 end) as bad
        from boots b {_results(where)}
        where b.system = {quoted(system)} and {among} and {where}
        group by b.result, b.key"""


def spreads(where: str, system: str) -> str:
    """How far the boots of a row lie apart within each result."""
    return f"""
        select b.result, b.key, count(*) as boots,
            stddev_samp(case when b.mean > 0 then ln(b.mean) end) as log_sd
        from boots b join results r on r.result = b.result
        where b.system = {quoted(system)} and {where}
        group by b.result, b.key having count(*) > 1"""


def summaries(where: str) -> str:
    """Every row of every system over all chosen results: how many, where, how spread."""
    return f"""
        with means as (
            select b.study, b.system, b.key, b.result, min(b.unit) as unit,
                count(*) as boots, sum(b.n) as samples,
                avg(case when b.mean > 0 then ln(b.mean) end) as log_mean
            from boots b join results r on r.result = b.result
            where {where}
            group by b.study, b.system, b.key, b.result)
        select study, system, key, min(unit) as unit, count(*) as results,
            sum(boots) as boots, sum(samples) as samples, avg(log_mean) as log_mean,
            stddev_samp(log_mean) as log_sd
        from means group by study, system, key order by study, system, key"""


def _results(where: str) -> str:
    """Joins the results of boots, where a condition needs them."""
    return "" if where == ALWAYS else "join results r on r.result = b.result"


def _among(column: str, values: Sequence[str]) -> str:
    if not values:
        return "1 = 0"
    return f"{column} in ({', '.join(map(quoted, values))})"
