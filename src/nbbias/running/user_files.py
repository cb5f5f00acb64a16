"""Runs on the user's own files: recognise columns and encodings, and write the params file.

What is recognised of a file is written behind its path (`tables.notes`), so that the params file
says everything, and runs again without recognising anything anew.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import shorten
from typing import Any

from nbbias import params, studies, tables
from nbbias.running import place
from nbbias.running.plan import Run, plan
from nbbias.studies import STUDIES
from nbbias.tables import FileReading, NbbiasError, ParameterError, notes
from nbbias.tables.sniff import detect

_PARAMS = (".yaml", ".yml")
#: Longest name of a run that is made of its files' names, and longest text in the preview.
_LONGEST_NAME, _LONGEST_TEXT = 60, 64


def parse_targets(targets: Sequence[str]) -> tuple[list[Path], str, list[str]]:
    """Distinguish params files from a study and its files; a study alone is its sample.

    Raises
    ------
    ParameterError
        A target is neither; the message has the nearest name.

    Examples
    --------
    >>> parse_targets(["llmbi"])[0][0].parts[-2:]
    ('llmbi', 'sample.yaml')
    >>> parse_targets(["news_bias", "o.csv", "g.csv"])
    ([], 'news_bias', ['o.csv', 'g.csv'])
    """
    first, *rest = targets
    has_studies = any(name in STUDIES or name.lower().endswith(_PARAMS) for name in rest)
    if first in STUDIES and rest and not has_studies and not tables.is_file(Path(first)):
        return [], first, rest
    paths = []
    for name in targets:
        path = Path(name)
        if name in STUDIES:
            path = studies.place(name) / "params" / name / "sample.yaml"
        elif not name.lower().endswith(_PARAMS):
            message = "is not a study or a params file; files of texts follow their study, as in "
            message += f"`nbbias run llmbi answers.csv`; {tables.closest_match(name, STUDIES)}"
            raise ParameterError(name, message)
        paths.append(path)
    return paths, "", []


# --- files ------------------------------------------------------------------------------------


def assign_inputs(study: params.Study, files: Sequence[str]) -> dict[str, str]:
    """Return the parameters that name a study's files, with notes on how each is read.

    Parameters
    ----------
    study
        Its `inputs` are what the files are, in order; ``judgements=mine.csv`` is one by its name.
    files
        Paths; ``mine.csv?text=body`` says which column is which (`tables.notes`).

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
        if name in parameters and name not in by_name and path and not tables.is_file(Path(file)):
            by_name[name] = path
        else:
            in_order.append(file)
    if len(in_order) > len(free := [name for name in parameters if name not in by_name]):
        message = f"the study reads {', '.join(parameters)}, and {len(files)} files were given"
        message += "; `nbbias data combine` writes texts of several models to one file"
        raise ParameterError("files", message)
    paths = dict(zip(free, in_order, strict=False)) | by_name
    detected = tables.attempt_all(detect, paths.values())
    return {parameters[name]: path for name, path in zip(paths, detected, strict=True)}


def recognize(study: params.Study, files: Sequence[str]) -> tuple[dict[str, str], params.Settings]:
    """Return `assign_inputs` of a study's files, and the parameters that texts of this size take.

    Raises
    ------
    NbbiasError
        Everything that is wrong with these, at once.
    """
    paths = assign_inputs(study, files)
    read = tables.attempt_all(lambda path: tables.read_table(path, {}, rest=True), paths.values())
    return paths, study.choose_settings(dict(zip(paths, map(len, read), strict=True)))


# --- the params file --------------------------------------------------------------------------


def plan_files(
    stem: str,
    files: Sequence[str],
    *,
    overrides: Sequence[str] = (),
    out: Path = Path("runs"),
    name: str | None = None,
) -> tuple[list[str], Path, list[Run]]:
    """Write the params file for a study's files, and plan its runs.

    Parameters
    ----------
    stem, files
        A study, and the files of `assign_inputs`.
    overrides, out
        As of `running.plan.plan`.
    name
        The run's name, and that of the params file here; else it is made of the files' names.

    Returns
    -------
    preview, path, runs
        In lines what was recognised; the params file; and the runs.

    Raises
    ------
    NbbiasError
        Everything that makes the run impossible, with the note that names a column that is
        missing. No params file is left behind.
    """
    if name is not None and (problem := place.name_problem(name, portable=True)):
        raise ParameterError(f"--name {name}", problem)
    paths, settings = recognize(studies.study(stem), files)
    stems = list(dict.fromkeys(Path(notes.split(path)[0]).stem for path in paths.values()))
    base = name or "+".join(stems)[:_LONGEST_NAME].rstrip(" .")
    head = f"# The user's own texts: nbbias run {stem} {' '.join(paths.values())}"
    values = {"study": stem, **paths}
    with tables.record_reads() as readings:
        path, runs = plan_values(
            values, settings, head=head, path=Path(f"{base}.yaml"), overrides=overrides, out=out
        )
    lines = []
    # How each file was read, once; one file may be several inputs, each by its form.
    for reading in {(item.path, id(item.form)): item for item in readings}.values():
        inputs = [name.removesuffix("_path") for name in paths if paths[name] == reading.path]
        lines += _describe(reading, " and ".join(inputs)) if inputs else []
    lines += [
        f"{name}: {params.as_yaml(value, flow=True)} ({reason})"
        for name, (value, reason) in settings.items()
    ]
    # A name may hold the end of a line, which must not start a line here.
    return [" ".join(line.splitlines()) for line in lines], path, runs


def plan_values(
    values: Mapping[str, Any],
    settings: params.Settings,
    *,
    head: str,
    path: Path,
    overrides: Sequence[str] = (),
    out: Path = Path("runs"),
) -> tuple[Path, list[Run]]:
    """Write a params file, never over another one, and plan its runs.

    Parameters
    ----------
    values, settings
        What the file sets, `study` among it; of settings the reasons are written, too.
    head
        Its first line, a comment.
    path
        The file; a number is added where another one is there.
    overrides, out
        As of `running.plan.plan`.

    Raises
    ------
    NbbiasError
        Everything that makes the runs impossible; no params file is left behind.
    """
    lines = [head, *(f"# {name}: {reason}" for name, (_, reason) in settings.items())]
    head = "".join(tables.visible(" ".join(line.splitlines())) + "\n" for line in lines)
    content = head + params.as_yaml({**values, **{name: v for name, (v, _) in settings.items()}})
    first = path
    for number in itertools.count(2):
        if is_new := not path.exists():
            tables.write(path, content)
        if is_new or (tables.is_file(path) and path.read_bytes() == content.encode()):
            break
        path = first.with_name(f"{first.stem}-{number}.yaml")
    try:
        return path, plan([path], overrides=overrides, out=out)
    except NbbiasError as error:
        if is_new:
            path.unlink(missing_ok=True)
        raise type(error)(str(values["study"]), error.breaches) from None


# --- the preview ------------------------------------------------------------------------------


def _describe(file: FileReading, inputs: str) -> list[str]:
    """Describe how a file was read: its rows, columns, what stands for those it lacks, a text."""
    if file.table is None:
        return []
    plain, layout = notes.split(file.path)
    written = ", ".join(filter(None, [layout.get("encoding", "UTF-8"), layout.get("separator")]))
    columns = [f"{r} ← {column}" if r != column else r for r, column in file.columns.items()]
    unused = [column for column in file.names if column not in file.columns.values()]
    without = {"file": f"all of one, {Path(plain).stem}", "row": "rows are taken in order"}
    texts = file.table["text"].dropna().head(1) if "text" in file.table else []
    return [
        f"{inputs}: {plain} ({written}; {len(file.table):,} rows)",
        f"  columns: {', '.join(columns)}",
        *[f"  not read: {', '.join(unused)}"] * bool(unused),
        *(
            f"  no column {role}: {without[column.without]}"
            for role, column in file.form.items()
            if column.without and role not in file.columns
        ),
        *(f"  first text: {shorten(str(text), _LONGEST_TEXT, placeholder=' …')}" for text in texts),
    ]
