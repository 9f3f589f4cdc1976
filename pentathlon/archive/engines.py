"""What runs the queries: DuckDB in this program, or Spark on a cluster, with the same numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Protocol, cast

from pentathlon.archive.format import BOOTS, INDEX, SAMPLES, SYSTEMS, UNMERGED, UNMERGED_NAME
from pentathlon.archive.log import Archive, Contents
from pentathlon.archive.stores import Remote
from pentathlon.archive.where import ALWAYS, quoted
from pentathlon.safeio.clipping import clip
from pentathlon.store.problems import StoreError

VIEWS: Mapping[str, str] = {
    "results": INDEX,
    "systems": SYSTEMS,
    "boots": BOOTS,
    "samples": SAMPLES,
}
"""Name of a view in the queries -> kind of files. "index" is a word of SQL."""
_NAMED = re.compile(rf"\b(?:from|join)\s+({'|'.join(VIEWS)})\b", re.IGNORECASE)


class Engine(Protocol):
    """Runs SQL over the views of an archive."""

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """Every row of the answer.

        Raises:
            StoreError: it cannot be answered.
        """

    def columns(self, sql: str) -> dict[str, list[Any]]:
        """The answer by columns."""


def views_in(sql: str) -> set[str]:
    """The views that a query may name. A view is made when it is asked for, as an engine opens
    files for it: those of samples may be the most of a disk, and few questions need them."""
    return set(_NAMED.findall(sql))


def condition(contents: Contents) -> str:
    """Which rows count: those of a result that two writers added at once only once."""
    if not contents.twice:
        return ALWAYS
    pairs = [f"(result = {quoted(one)} and batch = {quoted(two)})" for one, two in contents.twice]
    return f"not ({' or '.join(pairs)})"


class DuckDB:
    """DuckDB in this process."""

    def __init__(self, archive: Archive, contents: Contents) -> None:
        import duckdb  # noqa: PLC0415  0.2 s

        self._error = duckdb.Error
        self._where = archive.place.text
        self._connection = duckdb.connect(":memory:")
        self._connection.execute("set preserve_insertion_order = false")
        if isinstance(archive.place, Remote):
            self._connection.register_filesystem(archive.place.system)
        self._archive, self._contents = archive, contents
        self._made: set[str] = set()

    def _view(self, view: str) -> None:
        kind = VIEWS[view]
        source = self._files(kind, "")
        if source is not None and kind == INDEX:
            source = _with_branch(source)
        if kind == SAMPLES:
            each = self._files(UNMERGED, ", filename = true")
            if each is not None:
                source = _with_unmerged(source, each)
        if source is None:
            empty = ", ".join(f"null::{one} as {name}" for name, one in _types(kind).items())
            source = f"(select {empty} limit 0)"
        where = condition(self._contents)
        # Every question joins the index, which is small: it is read once.
        what = "table" if kind == INDEX else "view"
        self._execute(f"create {what} {view} as select * from {source} where {where}")
        self._made.add(view)

    def _files(self, kind: str, options: str) -> str | None:
        """The rows of all files of a kind; None if there are none."""
        urls = [self._archive.place.url(file.name) for file in self._contents.files[kind]]
        if not urls:
            return None
        # Brackets, stars and question marks of a path would be wildcards.
        names = ", ".join("'" + _literal(one) + "'" for one in urls)
        options += f", hive_partitioning = false, union_by_name = {kind == INDEX}"
        return f"read_parquet([{names}]{options})"

    def _run(self, sql: str) -> Any:
        for view in sorted(views_in(sql) - self._made):
            self._view(view)
        return self._execute(sql)

    def _execute(self, sql: str) -> Any:
        try:
            return self._connection.execute(sql)
        except self._error as error:
            text = clip(str(error).partition("\n")[0], 200)
            raise StoreError(f"{self._where} cannot be read: {text}") from error

    def rows(self, sql: str) -> list[dict[str, Any]]:
        found = self.columns(sql)
        return [dict(zip(found, row, strict=True)) for row in zip(*found.values(), strict=True)]

    def columns(self, sql: str) -> dict[str, list[Any]]:
        run = self._run(sql)
        names = [one[0] for one in run.description]
        try:
            rows = run.fetchall()
        except self._error as error:
            raise StoreError(f"{self._where} cannot be read: {clip(str(error), 200)}") from error
        by_column = zip(*rows, strict=True) if rows else ([] for _ in names)
        return {name: list(column) for name, column in zip(names, by_column, strict=True)}


class Spark:
    """Spark, where pyspark and Java are; a cluster by the session that is running."""

    def __init__(self, archive: Archive, contents: Contents, master: str | None = None) -> None:
        try:
            from pyspark.sql import SparkSession  # noqa: PLC0415  an extra
        except ImportError as error:
            raise StoreError(
                "the engine spark needs the Python package pyspark, which is not installed: "
                "pip install pyspark"
            ) from error
        self._where = archive.place.text
        builder = SparkSession.builder.appName("pentathlon archive")
        builder = builder.config("spark.ui.showConsoleProgress", "false")
        if master is not None:
            builder = builder.master(master).config("spark.sql.shuffle.partitions", "4")
        try:
            self.session = builder.getOrCreate()
        except Exception as error:  # Py4J's, Java's, or a missing Java
            raise StoreError(f"Spark cannot be started: {clip(str(error), 200)}") from error
        self._archive, self._contents = archive, contents
        self._tables: dict[str, Any] = {}

    def _frame(self, sql: str) -> Any:
        for view in sorted(views_in(sql)):
            if view not in self._tables:
                self._tables[view] = self._table(VIEWS[view])
            # Another archive of this session may have taken the name.
            self._tables[view].createOrReplaceTempView(view)
        return self.session.sql(sql)

    def _table(self, kind: str) -> Any:
        table = self._files(kind)
        if kind == INDEX and table is not None:
            table = self._with_branch(table)
        each = self._files(UNMERGED) if kind == SAMPLES else None
        if each is not None:
            each = self._with_origin(each)
            table = each if table is None else table.unionByName(each, allowMissingColumns=True)
        if table is not None:
            return table.where(condition(self._contents))
        columns = ", ".join(f"{name} {one}" for name, one in _types(kind).items())
        return self.session.createDataFrame([], columns)

    def _files(self, kind: str) -> Any:
        """The rows of all files of a kind; None if there are none."""
        urls = [self._archive.place.url(file.name) for file in self._contents.files[kind]]
        read = self.session.read.option("mergeSchema", kind == INDEX)
        return read.parquet(*urls) if urls else None

    @staticmethod
    def _with_origin(table: Any) -> Any:
        """As for DuckDB."""
        from pyspark.sql.functions import input_file_name, regexp_extract  # noqa: PLC0415

        file = input_file_name()
        return (
            table.withColumnRenamed("batch", "batch_size")
            .withColumn("result", regexp_extract(file, UNMERGED_NAME, 1))
            .withColumn("batch", regexp_extract(file, UNMERGED_NAME, 2))
        )

    @staticmethod
    def _with_branch(table: Any) -> Any:
        """As for DuckDB."""
        if "branch" not in table.columns:
            from pyspark.sql.functions import lit  # noqa: PLC0415

            return table.withColumn("branch", lit(""))
        return table.fillna("", subset=["branch"])

    def rows(self, sql: str) -> list[dict[str, Any]]:
        try:
            return [cast("dict[str, Any]", row.asDict()) for row in self._frame(sql).collect()]
        except Exception as error:
            text = clip(str(error).partition("\n")[0], 200)
            raise StoreError(f"{self._where} cannot be read by Spark: {text}") from error

    def columns(self, sql: str) -> dict[str, list[Any]]:
        rows = self.rows(sql)
        return {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}

    def plan(self, sql: str) -> str:
        """How Spark would run a query."""
        frame = self._frame(sql)
        return str(frame._jdf.queryExecution().toString())


def engine(archive: Archive, contents: Contents | None = None, name: str = "duckdb") -> Engine:
    """The engine of a name, over what is in an archive."""
    contents = contents or archive.contents()
    if name == "duckdb":
        return DuckDB(archive, contents)
    if name == "spark":
        return Spark(archive, contents)
    raise StoreError(f'there is no engine "{name}"; use duckdb or spark')


def _with_branch(source: str) -> str:
    """The index with its column for a branch, which files of formats 1 and 2 lack."""
    none = "(select null::varchar as branch limit 0)"
    return (
        "(select * replace (coalesce(branch, '') as branch) from "
        f"(select * from {none} union all by name select * from {source}))"
    )


def _with_unmerged(merged: str | None, each: str) -> str:
    """The samples, with those of files that hold one result each."""
    origin = ", ".join(
        f"regexp_extract(filename, '{UNMERGED_NAME}', {place}) as {name}"
        for place, name in ((1, "result"), (2, "batch"))
    )
    rows = f"select {origin}, * exclude (filename, batch), batch as batch_size from {each}"
    return f"({rows})" if merged is None else f"(select * from {merged} union all by name {rows})"


def _literal(path: str) -> str:
    for sign in "[*?":
        path = path.replace(sign, f"[{sign}]")
    return path.replace("'", "''")


def _types(kind: str) -> dict[str, str]:
    """Columns of a table that has no file, with their types in SQL."""
    import polars as pl  # noqa: PLC0415  0.1 s

    from pentathlon.archive.schema import KINDS  # noqa: PLC0415

    words = {pl.String(): "string", pl.Boolean(): "boolean", pl.Float64(): "double"}
    return {name: words.get(one, "bigint") for name, one in KINDS[kind].items()}
