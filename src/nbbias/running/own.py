"""A run on texts of one's own: files recognised, and the params file that they would have needed.

What is found out about a file is written behind its path (`tables.notes`), so that the params file
says all that was understood, and runs again without anything being found out anew.
"""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from nbbias import params, studies, tables
from nbbias.params import Study
from nbbias.running import names
from nbbias.running.plan import Run, plan
from nbbias.studies import STUDIES
from nbbias.tables import FileReading, NbbiasError, ParameterError, notes
from nbbias.tables.sniff import DATA, beside, noted

_PARAMS = (".yaml", ".yml")
#: Letters of a name that files give to a run, and of a text that is shown.
_NAME, _SHOWN = 60, 64
#: Rows and models that are shown.
_ROWS, _MODELS = 2, 6
_WORD = re.compile(r"\w+")


class Asked(NamedTuple):
    """What a run was asked for by: params files, or a study's stem and files of texts."""

    paths: list[Path]
    stem: str = ""
    files: Sequence[str] = ()


def asked(targets: Sequence[str]) -> Asked:
    """Tell params files from a study and its files; a study alone is its sample.

    Raises
    ------
    ParameterError
        What is neither, with the nearest name.

    Examples
    --------
    >>> asked(["llmbi"]).paths[0].parts[-2:]
    ('llmbi', 'sample.yaml')
    >>> asked(["news_bias", "o.csv", "g.csv"]).files
    ['o.csv', 'g.csv']
    """
    first, *rest = targets
    named = first in STUDIES and not tables.is_file(Path(first))
    if named and rest and not any(one.lower().endswith(_PARAMS) or one in STUDIES for one in rest):
        return Asked([], first, rest)
    for one in targets:
        if one not in STUDIES and not _is_params(one):
            raise ParameterError(one, _neither(one, rest))
    return Asked([_sample(one) if one in STUDIES else Path(one) for one in targets])


def _is_params(name: str) -> bool:
    lower = name.lower()
    return lower.endswith(_PARAMS) or (tables.is_file(Path(name)) and not lower.endswith(DATA))


def _sample(stem: str) -> Path:
    return studies.place(stem) / "params" / stem / "sample.yaml"


def _neither(name: str, rest: Sequence[str]) -> str:
    known = ", ".join(STUDIES)
    if tables.is_file(Path(name)):
        files = " ".join(map(shlex.quote, [name, *rest]))
        return f"name the study first, such as `nbbias run llmbi {files}`; studies: {known}"
    near = difflib.get_close_matches(name, [*STUDIES, *beside(name, _PARAMS)], n=1)
    meant = f"did you mean {near[0]}?" if near else f"studies: {known}"
    return f"is no study, and no params file (such as mine.yaml); {meant}"


# --- files ------------------------------------------------------------------------------------


def inputs(study: Study, files: Sequence[str], *, columns: Sequence[str]) -> dict[str, str]:
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
    >>> inputs(studies.study("llmbi"), ["a.csv?text=said"], columns=["answers.prompt=asked"])
    Traceback (most recent call last):
        ...
    nbbias.tables.errors.DataError: a.csv: no such file
    """
    known = {one.removesuffix("_path"): one for one in study.inputs}
    given = _assigned(known, files)
    problems: list[NbbiasError] = []
    found = {}
    for name, path in given.items():
        told = tables.attempt(problems, noted, path)
        found[known[name]] = told or path
    for one in columns:
        tables.attempt(problems, _set, found, one, known)
    tables.refuse(problems)
    return found


def _assigned(known: Mapping[str, str], files: Sequence[str]) -> dict[str, str]:
    named = {name: path for name, path in map(_by_name, files) if name in known}
    rest = [one for one in files if _by_name(one)[0] not in known]
    free = [name for name in known if name not in named]
    if len(rest) > len(free) or len(named) + len(rest) < len(files):
        told = f"the study reads {', '.join(known)}, and {len(files)} files were given"
        told += "; texts of several models stand in one file, told apart by its column model"
        raise ParameterError("files", told)
    return {**dict(zip(free, rest, strict=False)), **named}


def _by_name(file: str) -> tuple[str, str]:
    name, _, path = file.partition("=")
    return (name, path) if path and not tables.is_file(Path(file)) else ("", file)


def _set(found: dict[str, str], assignment: str, known: Mapping[str, str]) -> None:
    """Note which column is which behind the path that it is of."""
    whole, equals, own = assignment.partition("=")
    file, dot, role = whole.partition(".")
    there = [name for name, parameter in known.items() if parameter in found]
    if equals and not dot and len(there) == 1:
        file, role = there[0], whole
    if not equals or not role:
        such = f"{there[0]}.text=body" if there else "text=body"
        raise ParameterError(f"--columns {assignment}", f"write it as FILE.name=column, as {such}")
    if file.removesuffix("_path") not in there:
        raise ParameterError(
            f"--columns {assignment}", f"no {file!r}; {tables.closest_match(file, there)}"
        )
    parameter = known[file.removesuffix("_path")]
    found[parameter] = notes.noted(found[parameter], {role: own})


# --- the params file --------------------------------------------------------------------------


class Understood(NamedTuple):
    """Runs on texts of one's own: what was understood, the params file, and the runs of it."""

    lines: list[str]
    path: Path
    runs: list[Run]


def plan_run(
    stem: str,
    files: Sequence[str],
    *,
    columns: Sequence[str],
    overrides: Sequence[str],
    out: Path,
    name: str | None,
) -> Understood:
    """Write the params file that some files need, and plan its runs.

    Parameters
    ----------
    stem, files, columns
        A study, and `inputs` of it.
    overrides, out
        As of `running.plan.plan`.
    name
        The run's name; else the files'.

    Raises
    ------
    NbbiasError
        What makes the run impossible; of columns also which may be meant, and how to say so. The
        params file is not left behind.
    """
    if name is not None and (unfit := names.unfit(name, chosen=True)):
        raise ParameterError(f"--name {name}", unfit)
    study = studies.study(stem)
    given = inputs(study, files, columns=columns)
    problems: list[NbbiasError] = []
    sizes = {
        parameter: 0 if (table := tables.attempt(problems, _all, path)) is None else len(table)
        for parameter, path in given.items()
    }
    tables.refuse(problems)
    further = study.own(sizes)
    path, is_new = _write(study, given, further, name=name)
    try:
        with tables.record_reads() as heard:
            runs = plan([path], overrides=overrides, out=out)
    except BaseException as error:
        if is_new:
            path.unlink(missing_ok=True)
        if not isinstance(error, NbbiasError):
            raise
        asked_for = [
            one
            for parameter, written in given.items()
            if any(file.path == written for file in heard)
            for one in _asks(parameter, written, heard, error.breaches)
        ]
        raise type(error)(f"{stem}", [*error.breaches, *asked_for]) from None
    lines = [
        *_preview(given, heard),
        *(f"{name}: {_flow(value)} ({why})" for name, (value, why) in further.items()),
    ]
    return Understood(lines, path, runs)


def _all(path: str) -> pd.DataFrame:
    return tables.read_table(notes.noted(notes.parted(path)[0], _of_file(path)), {}, rest=True)


def _of_file(path: str) -> dict[str, str]:
    _, told = notes.parted(path)
    return {name: value for name, value in told.items() if name in {"encoding", "separator"}}


def _flow(value: Any) -> str:
    return params.as_yaml(value, flow=True)


def _write(
    study: Study, given: Mapping[str, str], further: params.Own, *, name: str | None
) -> tuple[Path, bool]:
    """Write a params file here, never over another one; say whether it was not there before."""
    stems = [Path(notes.parted(path)[0]).stem for path in given.values()]
    base = name or "+".join(dict.fromkeys(stems))
    if len(base) > _NAME and not name:
        base = stems[-1][:_NAME]
    files = " ".join(" ".join(given.values()).splitlines())
    head = f"# Texts of one's own: nbbias run {study.stem} {files}"
    told = "".join(f"# {one}: {why}\n" for one, (_, why) in further.items())
    values = {"study": study.stem, **given, **{one: value for one, (value, _) in further.items()}}
    content = f"{tables.visible(head)}\n{told}{params.as_yaml(values)}"
    for candidate in _numbered(base):
        if not candidate.exists():
            tables.write(candidate, content)
            return candidate, True
        if tables.is_file(candidate) and candidate.read_bytes() == content.encode():
            return candidate, False
    raise AssertionError


def _numbered(base: str) -> Iterator[Path]:
    yield Path(f"{base}.yaml")
    number = 2
    while True:
        yield Path(f"{base}-{number}.yaml")
        number += 1


# --- what was understood ----------------------------------------------------------------------


def _preview(given: Mapping[str, str], heard: Sequence[FileReading]) -> list[str]:
    """Say how each file was read: its rows, which column is which, first texts, models, pairs."""
    lines: list[str] = []
    read: dict[str, FileReading] = {}
    for parameter, path in given.items():
        # One file may be several inputs, each of which reads it by a form of its own.
        forms = {id(one.form): one for one in heard if one.path == path and one.table is not None}
        before = [name for name in read if given[name] == path]
        if own := list(forms.values())[len(before) :][:1]:
            read[parameter] = own[0]
            lines += _of_one(parameter.removesuffix("_path"), own[0])
    # A name may hold the end of a line, and no more than one may follow from it.
    return [" ".join(one.splitlines()) for one in lines + _pairs(read)]


def _of_one(name: str, file: FileReading) -> list[str]:
    assert file.table is not None
    path, _ = notes.parted(file.path)
    how = _of_file(file.path)
    written = ", ".join([how.get("encoding", "UTF-8"), how.get("separator", "")]).strip(", ")
    lines = [f"{name}: {path} ({written}; {len(file.table):,} rows)"]
    roles = sorted(file.columns.items(), key=lambda one: file.names.index(one[1]))
    renamed = [f"{role} ← {own}" if role != own else role for role, own in roles]
    lines.append(f"  columns: {', '.join(renamed)}")
    if left := [one for one in file.names if one not in file.columns.values()]:
        lines.append(f"  not read: {_some(left, 12)}")
    for role, column in file.form.items():
        if column.without and role not in file.columns:
            told = {"file": f"all of one, {Path(path).stem}", "row": "rows are taken in order"}
            lines.append(f"  no column {role}: {told[column.without]}")
    texts = file.table["text"] if "text" in file.table else pd.Series(dtype="str")
    lines += [f"  row {n}: {_short(one)}" for n, one in enumerate(texts.head(_ROWS), start=1)]
    if "model" in file.table:
        counts = file.table["model"].value_counts(sort=False)
        each = [f"{model} ({n:,})" for model, n in counts.items()]
        lines.append(f"  models: {_some(each, _MODELS)}")
    return lines


def _some(names: Sequence[str], most: int) -> str:
    more = f", … ({len(names)} in all)" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _short(text: object) -> str:
    words = " ".join(str(text).split())
    return words if len(words) <= _SHOWN else f"{words[:_SHOWN].rstrip()} …"


def _pairs(read: Mapping[str, FileReading]) -> list[str]:
    """Say how many rows of one file are about what another one holds."""
    ids = {
        name: one.table["article_id"]
        for name, one in read.items()
        if one.table is not None and "article_id" in one.table
    }
    if len(ids) < 2:
        return []
    first, second = list(ids)[:2]
    met = int(ids[second].isin(set(ids[first])).sum())
    if "article_id" not in read[second].columns:
        return ["pairs: in the order of their rows"]
    there, here = (one.removesuffix("_path") for one in (first, second))
    return [f"pairs: {met:,} of {len(ids[second]):,} {here} have their article in {there}"]


def _asks(
    parameter: str, path: str, heard: Sequence[FileReading], breaches: Sequence[str]
) -> list[str]:
    """Ask for each column that was missing, with the likeliest and the option that names it."""
    told = [one.partition("; it has")[0] for one in breaches if one.startswith(path)]
    missing = {name for one in told if "needs the column" in one for name in _WORD.findall(one)}
    file = max((one for one in heard if one.path == path), key=lambda one: len(one.form))
    free = _all(path).drop(columns=list(file.columns.values()), errors="ignore")
    lines = []
    for role in (one for one in file.form if one in missing and one not in file.columns):
        if guess := _guess(role, free):
            option = shlex.quote(f"{parameter.removesuffix('_path')}.{role}={guess}")
            where = notes.parted(path)[0]
            lines.append(f"if {guess!r} of {where} is its {role}, add: --columns {option}")
            free = free.drop(columns=guess)
    return lines


def _guess(role: str, table: pd.DataFrame) -> str | None:
    """Return the column that is likeliest to be meant: by its name, else by what it holds."""
    near = difflib.get_close_matches(role, list(table), n=1, cutoff=0.6)
    if near or table.empty:
        return near[0] if near else None
    cells = {str(name): table[name].dropna().astype("str") for name in table}
    length = {name: values.str.len().mean() for name, values in cells.items()}
    fits = {
        "text": [max(length, key=lambda name: length[name])],
        "article_id": [n for n, one in cells.items() if one.is_unique and length[n] < _SHOWN],
        "biased": [n for n, one in cells.items() if one.map(tables.parse_flag).notna().all()],
    }
    return next(iter(fits.get(role, [])), None)
