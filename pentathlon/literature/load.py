"""Reading the data files, with errors that say where and what would be right."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from pentathlon.literature.claims import Claim, ClaimFile
from pentathlon.literature.expression import formula
from pentathlon.literature.lookup import locate, subjects, terms
from pentathlon.literature.model import Study, StudyFile
from pentathlon.literature.printed import is_number
from pentathlon.literature.problems import PublishedError, unknown
from pentathlon.literature.tables import Row, Table

STUDY = "study.toml"
CLAIMS = "claims.toml"
STUDIES = ("martinovic2012", "vdovjak2021", "tolly2007", "venkata2003", "salah2010")
"""The studies, in the order of the documents."""

Model = TypeVar("Model", bound=BaseModel)


def data_root() -> Traversable:
    """The directory of the data files."""
    return files("pentathlon.literature") / "data"


@lru_cache(maxsize=1)
def load_all() -> tuple[Study, ...]:
    """Every published study.

    Raises:
        PublishedError: a data file is wrong.
    """
    return tuple(load_study(data_root() / name) for name in STUDIES)


def find_study(name: str) -> Study:
    """The study of that short name.

    Raises:
        PublishedError: there is none.
    """
    for study in load_all():
        if study.id == name:
            return study
    raise unknown("published study", name, STUDIES)


def load_study(directory: Traversable) -> Study:
    """Read one study from its directory and check it as a whole.

    Raises:
        PublishedError: a file is wrong; the text names the file and the place.
    """
    names = sorted(one.name for one in directory.iterdir() if one.name.endswith(".toml"))
    facts = read(directory / STUDY, StudyFile)
    tables = [read(directory / name, Table) for name in names if name not in (STUDY, CLAIMS)]
    claim_file = read(directory / CLAIMS, ClaimFile) if CLAIMS in names else ClaimFile()
    study = Study(
        facts=facts,
        tables=tuple(tables),
        claims=claim_file.claim,
        choices=claim_file.choice,
        statements=claim_file.statement,
        announcements=claim_file.announcement,
    )
    _check_study(study, directory.name)
    return study


def read(file: Traversable, model: type[Model]) -> Model:
    """Read one TOML file as a model.

    Raises:
        PublishedError: it cannot be read, or does not have the form.
    """
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise PublishedError(f"{file} cannot be read: {error.strerror}") from error
    except tomllib.TOMLDecodeError as error:
        raise PublishedError(f"{file} is no TOML: {error}") from error
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        place = _place(first["loc"], data)
        raise PublishedError(f"{file.name}: {place}: {first['msg']}") from error


def _place(loc: Iterable[str | int], data: Any) -> str:
    """A place in a file; parts of lists are named by their id where they have one."""
    text = []
    for part in loc:
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):
            data = None
        name = data.get("id") if isinstance(data, dict) and isinstance(part, int) else None
        text.append(str(name if name is not None else part))
    return ".".join(text)


def _check_study(study: Study, directory: str) -> None:
    if study.id != directory:
        raise PublishedError(
            f'{directory}/{STUDY}: id must be "{directory}", the directory\'s name'
        )
    _distinct((table.id for table in study.tables), f"{directory}: table")
    rules = [rule for table in study.tables for rule in table.rule]
    sentences = [*(claim.id for claim in study.claims), *(choice.id for choice in study.choices)]
    _distinct([*sentences, *(rule.id for rule in rules)], f"{directory}: claim")
    for table in study.tables:
        _check_table(table, directory)
    for table in study.tables:
        for row in table.row:
            _check_restates(study, table, row)
    for claim in (*study.claims, *rules):
        _check_claim(study, claim)
    for table in study.tables:
        if table.clock is not None:
            locate(study, table.clock, None)
    for choice in study.choices:
        for name in choice.rows:
            study.table(choice.table).find_row(name).cell(choice.column)
    _check_figures(study)
    targets = [target.id for target in study.facts.target]
    for reference in study.facts.reference:
        if reference.target not in targets:
            raise unknown(f"reference target in {directory}", reference.target, targets)


def _check_figures(study: Study) -> None:
    for series in (one for figure in study.facts.figure for one in figure.series):
        table = study.table(series.table)
        for name in series.rows or tuple(row.id for row in table.row):
            table.find_row(name).cell(series.y)


def _check_table(table: Table, directory: str) -> None:
    where = f"{directory}/{table.id}"
    if table.study != directory:
        raise PublishedError(f'{where}: study must be "{directory}"')
    _distinct((column.id for column in table.column), f"{where}: column")
    _distinct((row.id for row in table.row), f"{where}: row")
    columns = {column.id: column for column in table.column}
    for column in table.column:
        for name in formula(column.derived).names if column.derived is not None else ():
            if name not in columns:
                raise unknown(f"column in {where} (formula of {column.id})", name, columns)
    for row in table.row:
        if set(row.values) != set(columns):
            wrong = sorted(set(row.values) ^ set(columns))
            raise PublishedError(
                f"{where}: row {row.id}: every row has one cell for each column; "
                f"check {', '.join(wrong)}"
            )
        for name, cell in row.values.items():
            if columns[name].kind == "text" or cell.printed is None:
                continue
            if not is_number(cell.printed) and cell.printed not in table.words:
                raise PublishedError(
                    f'{where}: row {row.id}: "{cell.printed}" in {name} is no number; '
                    'words that are allowed there are listed in "words"'
                )
        for name, text in row.factors.items():
            if not is_number(text) or name in columns:
                raise PublishedError(
                    f"{where}: row {row.id}: factor {name} must be a number and no column's name"
                )


def _check_restates(study: Study, table: Table, row: Row) -> None:
    if row.restates is None:
        return
    other_table, _, other_row = row.restates.partition("/")
    other = study.table(other_table).find_row(other_row)
    if not set(row.values) <= set(other.values):
        raise PublishedError(
            f"{study.id}/{table.id}: row {row.id}: {row.restates} lacks one of its columns"
        )


def _check_claim(study: Study, claim: Claim) -> None:
    try:
        names = study.table(claim.table).row if claim.table is not None else ()
        rows = {row.id for row in names}
        for name in (*(claim.rows if isinstance(claim.rows, tuple) else ()), *claim.skip):
            if name not in rows:
                raise unknown(f"row in {claim.table}", name, sorted(rows))
        for subject in subjects(study, claim):
            terms(study, claim, subject)
    except PublishedError as error:
        raise PublishedError(f"{study.id}: claim {claim.id}: {error}") from error


def _distinct(names: Iterable[str], what: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise PublishedError(f"{what} {name} is given twice; each id stands for one thing")
        seen.add(name)
