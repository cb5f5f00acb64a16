"""Runs on the user's own files: recognise columns and encodings, and write the params file.

What is recognised of a file is written behind its path (`tables.notes`), so that the params file
says everything, and runs again without recognising anything anew.
"""

from __future__ import annotations

import difflib
import itertools
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from nbbias import params, studies, tables
from nbbias.params import Study
from nbbias.running import names
from nbbias.running.plan import Run, plan
from nbbias.studies import STUDIES
from nbbias.tables import FileReading, NbbiasError, ParameterError, notes
from nbbias.tables.sniff import SUFFIXES, detect, list_neighbours

_PARAMS = (".yaml", ".yml")
#: Longest name of a run that is made of its files' names, and longest text in the preview.
_LONGEST_NAME, _LONGEST_TEXT = 60, 64
#: Rows, models and unused columns in the preview.
_ROWS, _MODELS, _UNUSED = 2, 6, 12


class Targets(NamedTuple):
    """What `nbbias run` is given: params files, or a study's stem and files of texts."""

    paths: list[Path]
    stem: str = ""
    files: Sequence[str] = ()


def parse_targets(targets: Sequence[str]) -> Targets:
    """Distinguish params files from a study and its files; a study alone is its sample.

    Raises
    ------
    ParameterError
        A target is neither; the message has the nearest name.

    Examples
    --------
    >>> parse_targets(["llmbi"]).paths[0].parts[-2:]
    ('llmbi', 'sample.yaml')
    >>> parse_targets(["news_bias", "o.csv", "g.csv"]).files
    ['o.csv', 'g.csv']
    """
    first, *rest = targets
    is_study = first in STUDIES and not tables.is_file(Path(first))
    if is_study and rest and not any(_is_params(name) or name in STUDIES for name in rest):
        return Targets([], first, rest)
    paths = []
    for name in targets:
        if name in STUDIES:
            paths.append(studies.place(name) / "params" / name / "sample.yaml")
        elif _is_params(name) or (_is_file(name) and not name.lower().endswith(SUFFIXES)):
            paths.append(Path(name))
        else:
            raise ParameterError(name, _neither(name, rest))
    return Targets(paths)


def _is_params(name: str) -> bool:
    return name.lower().endswith(_PARAMS)


def _is_file(name: str) -> bool:
    return tables.is_file(Path(name))


def _neither(name: str, rest: Sequence[str]) -> str:
    known = ", ".join(STUDIES)
    if _is_file(name):
        files = " ".join(map(shlex.quote, [name, *rest]))
        return f"name the study first, such as `nbbias run llmbi {files}`; studies: {known}"
    near = difflib.get_close_matches(name, [*STUDIES, *list_neighbours(name, _PARAMS)], n=1)
    hint = f"did you mean {near[0]}?" if near else f"studies: {known}"
    return f"is no study, and no params file (such as mine.yaml); {hint}"


# --- files ------------------------------------------------------------------------------------


def assign_inputs(
    study: Study, files: Sequence[str], *, columns: Sequence[str] = ()
) -> dict[str, str]:
    """Return the parameters that name a study's files, with notes on how each is read.

    Parameters
    ----------
    study
        Its `inputs` are what the files are, in order; ``judgements=mine.csv`` is one by its name.
    files
        Paths.
    columns
        Which column is which: ``originals.text=body``, or ``text=body`` of a single file.

    Raises
    ------
    NbbiasError
        Everything that is wrong with these, at once.

    Examples
    --------
    >>> assign_inputs(studies.study("llmbi"), ["a.csv?text=said"])
    Traceback (most recent call last):
        ...
    nbbias.tables.errors.DataError: a.csv: no such file (looked for ...a.csv)
    """
    parameters = {name.removesuffix("_path"): name for name in study.inputs}
    by_name, in_order = dict[str, str](), list[str]()
    for file in files:
        name, _, path = file.partition("=")
        if name in parameters and name not in by_name and path and not _is_file(file):
            by_name[name] = path
        else:
            in_order.append(file)
    free = [name for name in parameters if name not in by_name]
    if len(in_order) > len(free):
        message = f"the study reads {', '.join(parameters)}, and {len(files)} files were given"
        message += "; texts of several models belong in one file, with a column model"
        raise ParameterError("files", message)
    assigned = {**dict(zip(free, in_order, strict=False)), **by_name}
    problems: list[NbbiasError] = []
    paths = {name: tables.attempt(problems, detect, p) or p for name, p in assigned.items()}
    for assignment in columns:
        tables.attempt(problems, _note_column, paths, assignment)
    tables.refuse(problems)
    return {parameters[name]: path for name, path in paths.items()}


def _note_column(paths: dict[str, str], assignment: str) -> None:
    """Note behind the path of a file which of its columns is which."""
    target, equals, column = assignment.partition("=")
    file, dot, role = target.partition(".")
    if not dot and len(paths) == 1:
        file, role = next(iter(paths)), target
    if not equals or not role:
        example = f"{next(iter(paths), 'answers')}.text=body"
        message = f"write it as FILE.name=column, as {example}"
        raise ParameterError(f"--columns {assignment}", message)
    file = file.removesuffix("_path")
    if file not in paths:
        hint = tables.closest_match(file, paths)
        raise ParameterError(f"--columns {assignment}", f"no {file!r}; {hint}")
    paths[file] = notes.add(paths[file], {role: column})


# --- the params file --------------------------------------------------------------------------


class UserRuns(NamedTuple):
    """Runs on the user's files: a preview of what was recognised, the params file, the runs."""

    preview: list[str]
    path: Path
    runs: list[Run]


def plan_files(
    stem: str,
    files: Sequence[str],
    *,
    columns: Sequence[str] = (),
    overrides: Sequence[str] = (),
    out: Path = Path("runs"),
    name: str | None = None,
) -> UserRuns:
    """Write the params file for a study's files, and plan its runs.

    Parameters
    ----------
    stem, files, columns
        A study, and the arguments of `assign_inputs`.
    overrides, out
        As of `running.plan.plan`.
    name
        The run's name; else it is made of the files' names.

    Raises
    ------
    NbbiasError
        Everything that makes the run impossible, with the column that is likely to be meant where
        one is missing. No params file is left behind.
    """
    if name is not None and (problem := names.name_problem(name, portable=True)):
        raise ParameterError(f"--name {name}", problem)
    study = studies.study(stem)
    paths = assign_inputs(study, files, columns=columns)
    problems: list[NbbiasError] = []
    contents = {name: tables.attempt(problems, _read_all, path) for name, path in paths.items()}
    tables.refuse(problems)
    settings = study.own({name: len(t) for name, t in contents.items() if t is not None})
    path, is_new = _write_params(study, paths, settings, name=name)
    try:
        with tables.record_reads() as readings:
            runs = plan([path], overrides=overrides, out=out)
    except NbbiasError as error:
        if is_new:
            path.unlink()
        hints = [hint for name, file in paths.items() for hint in _hints(name, file, readings)]
        raise type(error)(stem, [*error.breaches, *hints]) from None
    except BaseException:
        if is_new:
            path.unlink(missing_ok=True)
        raise
    reasons = [
        f"{name}: {params.as_yaml(value, flow=True)} ({reason})"
        for name, (value, reason) in settings.items()
    ]
    return UserRuns([*_preview(paths, readings), *reasons], path, runs)


def _read_all(path: str) -> pd.DataFrame:
    """Read all columns of a file as text, by their own names."""
    plain, written = notes.split(path)
    how = {name: v for name, v in written.items() if name in {"encoding", "separator"}}
    return tables.read_table(notes.add(plain, how), {}, rest=True)


def _write_params(
    study: Study, paths: Mapping[str, str], settings: params.Own, *, name: str | None
) -> tuple[Path, bool]:
    """Write a params file here, never over another one; say whether it is new."""
    stems = list(dict.fromkeys(Path(notes.split(path)[0]).stem for path in paths.values()))
    base = name or "+".join(stems)
    if not name and len(base) > _LONGEST_NAME:
        base = stems[-1][:_LONGEST_NAME]
    files = " ".join(" ".join(paths.values()).splitlines())
    head = tables.visible(f"# The user's own texts: nbbias run {study.stem} {files}")
    reasons = "".join(f"# {name}: {reason}\n" for name, (_, reason) in settings.items())
    values = {"study": study.stem, **paths, **{name: v for name, (v, _) in settings.items()}}
    content = f"{head}\n{reasons}{params.as_yaml(values)}"
    for number in itertools.count(1):
        path = Path(f"{base}-{number}.yaml" if number > 1 else f"{base}.yaml")
        if not path.exists():
            tables.write(path, content)
            return path, True
        if tables.is_file(path) and path.read_bytes() == content.encode():
            break
    return path, False


# --- the preview ------------------------------------------------------------------------------


def _preview(paths: Mapping[str, str], readings: Sequence[FileReading]) -> list[str]:
    """Describe how each file was read: its rows, columns, first texts, models, and pairs."""
    lines: list[str] = []
    inputs: dict[str, FileReading] = {}
    for parameter, path in paths.items():
        # One file may be several inputs, each of which reads it by a form of its own.
        forms = {id(r.form): r for r in readings if r.path == path and r.table is not None}
        taken = sum(paths[name] == path for name in inputs)
        if reading := next(iter(list(forms.values())[taken:]), None):
            name = parameter.removesuffix("_path")
            inputs[parameter] = reading
            lines += _describe_file(name, reading, reading.table)
    # A name may hold the end of a line, which must not start a line here.
    return [" ".join(line.splitlines()) for line in [*lines, *_describe_pairs(inputs)]]


def _describe_file(name: str, file: FileReading, table: pd.DataFrame | None) -> list[str]:
    assert table is not None
    path, how = notes.split(file.path)
    written = ", ".join(filter(None, [how.get("encoding", "UTF-8"), how.get("separator")]))
    lines = [f"{name}: {path} ({written}; {len(table):,} rows)"]
    roles = sorted(file.columns, key=lambda role: file.names.index(file.columns[role]))
    columns = [f"{r} ← {file.columns[r]}" if r != file.columns[r] else r for r in roles]
    lines.append(f"  columns: {', '.join(columns)}")
    if unused := [column for column in file.names if column not in file.columns.values()]:
        lines.append(f"  not read: {_list(unused, _UNUSED)}")
    defaults = {"file": f"all of one, {Path(path).stem}", "row": "rows are taken in order"}
    for role, column in file.form.items():
        if column.without and role not in file.columns:
            lines.append(f"  no column {role}: {defaults[column.without]}")
    for number, text in enumerate(table["text"].head(_ROWS) if "text" in table else [], start=1):
        words = " ".join(str(text).split())
        short = words if len(words) <= _LONGEST_TEXT else f"{words[:_LONGEST_TEXT].rstrip()} …"
        lines.append(f"  row {number}: {short}")
    if "model" in table:
        counts = table["model"].value_counts(sort=False)
        lines.append(f"  models: {_list([f'{m} ({n:,})' for m, n in counts.items()], _MODELS)}")
    return lines


def _list(items: Sequence[str], most: int) -> str:
    more = f", … ({len(items)} in all)" if len(items) > most else ""
    return ", ".join(items[:most]) + more


def _describe_pairs(inputs: Mapping[str, FileReading]) -> list[str]:
    """Say how many rows of the second file have their article in the first."""
    ids = {
        name.removesuffix("_path"): (reading, reading.table["article_id"])
        for name, reading in inputs.items()
        if reading.table is not None and "article_id" in reading.table
    }
    if len(ids) < 2:
        return []
    (first, (_, articles)), (second, (reading, rows)) = list(ids.items())[:2]
    if "article_id" not in reading.columns:
        return ["pairs: in the order of their rows"]
    matched = rows.isin(set(articles)).sum()
    return [f"pairs: {matched:,} of {len(rows):,} {second} have their article in {first}"]


#: Columns that a check of a whole study may need, besides those that a file's form needs.
_KEYS = ("text", "article_id", "biased")


def _hints(parameter: str, path: str, readings: Sequence[FileReading]) -> list[str]:
    """Suggest for each missing column the likeliest one, and the option that names it."""
    readings = [reading for reading in readings if reading.path == path]
    if not readings:
        return []
    file = max(readings, key=lambda reading: len(reading.form))
    free = _read_all(path).drop(columns=list(file.columns.values()), errors="ignore")
    hints = []
    for role, column in file.form.items():
        missing = role not in file.columns and (column.needed or role in _KEYS)
        if missing and (name := _likeliest(role, free)):
            option = shlex.quote(f"{parameter.removesuffix('_path')}.{role}={name}")
            where = notes.split(path)[0]
            hints.append(f"if {name!r} of {where} is its {role}, add: --columns {option}")
            free = free.drop(columns=name)
    return hints


def _likeliest(role: str, table: pd.DataFrame) -> str | None:
    """Return the column that is likely to be meant: by its name, else by what it holds."""
    near = difflib.get_close_matches(role, list(table), n=1, cutoff=0.6)
    if near or table.empty:
        return near[0] if near else None
    cells = {str(name): table[name].dropna().astype("str") for name in table}
    length = {name: values.str.len().mean() for name, values in cells.items()}
    if role == "text":
        return max(length, key=lambda name: length[name])
    for name, values in cells.items():
        if role == "article_id" and values.is_unique and length[name] < _LONGEST_TEXT:
            return name
        if role == "biased" and values.map(tables.parse_flag).notna().all():
            return name
    return None
