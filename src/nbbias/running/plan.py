"""Plan runs: parameters and inputs of every run are checked before one of them starts."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nbbias import params, studies, tables
from nbbias.asking.plan import Plan
from nbbias.pages import share
from nbbias.params import Parameters
from nbbias.running import generation, grid, names
from nbbias.tables import DataError, NbbiasError, ParameterError


@dataclass
class Run:
    """One notebook to execute: which study, with which parameters, into which folder."""

    stem: str
    name: str
    parameters: Parameters
    notebook: Path
    folder: Path
    #: Where relative paths start: the folder of the params file.
    start: Path
    #: The name after the params file, without what differs.
    base: str = ""
    #: What the notebook is given: paths as the user wrote them.
    values: Mapping[str, Any] = field(default_factory=dict)
    #: The calls of models that the run needs first, where the params have a `generate:` block.
    calls: Plan | None = None
    #: What the run will exclude of its inputs, as the study's check says.
    exclusions: Sequence[str] = ()

    @property
    def label(self) -> str:
        return f"{self.stem}/{self.name}"

    @property
    def repeats(self) -> str:
        """The params file that repeats the run from its folder: all parameters, paths from there.

        It is the same text for the same parameters, wherever the file lay that set them.
        """
        values = self.parameters.model_dump()
        paths = params.moved(type(self.parameters), values, start=self.start, to=self.folder)
        return share.yaml_of(self.stem, paths)


def plan(
    paths: Sequence[Path],
    *,
    overrides: Sequence[str] = (),
    out: Path = Path("runs"),
    name: str | None = None,
) -> list[Run]:
    """Check every parameter and every input of every run before anything starts.

    Parameters
    ----------
    paths
        Params files. A run is named after its file, or, where an earlier run left the file behind,
        after that run's folder. What differs follows: what overrides set, and what a finished run
        of this name has otherwise, so that no run replaces one with other parameters.
    overrides
        ``name=value`` pairs that win over every file; several values make a run for each (`grid`).
        Their relative paths start at the current folder, those of a file at its own.
    out
        The folder of all runs.
    name
        The run's name instead, of a single file.

    Raises
    ------
    NbbiasError
        Every problem of every file, at once; or runs cannot be written to `out`.
    """
    runs, problems = list[Run](), list[NbbiasError]()
    try:
        wanted = [(path, changes) for path in paths for changes in grid.of_file(path, overrides)]
    except NbbiasError as error:
        problems.append(error)
        wanted = [(path, {}) for path in paths]  # the files are checked all the same
    if name is not None:
        several = f"names one run, but {len(wanted)} were given" if len(wanted) > 1 else ""
        if problem := names.name_problem(name, portable=True) or several:
            problems.append(ParameterError(f"--name {name}", problem))
            name = None
    for path, changes in wanted:
        try:
            runs.append(_plan_run(path, changes, out, name))
        except NbbiasError as error:
            if str(error) not in map(str, problems):  # the same mistake in all runs of a grid
                problems.append(error)
    folders = [run.folder for run in runs]
    if twice := sorted({run.label for run in runs if folders.count(run.folder) > 1}):
        message = "two files would write to one folder; rename one"
        problems.append(ParameterError(", ".join(twice), message))
    tables.attempt(problems, tables.default_cache)
    for folder in dict.fromkeys([out, *(run.folder.parent for run in runs), *folders]):
        if unwritable := tables.unwritable(folder):
            problems.append(NbbiasError(str(folder), unwritable))
            break
    tables.refuse(problems, where="nothing was run")
    return runs


def runnable(paths: Sequence[Path]) -> tuple[list[Path], list[NbbiasError]]:
    """Return the params files whose runs have all packages they need, and what others lack."""
    chosen, problems = [], list[NbbiasError]()
    for path in paths:
        missing: list[str] = []
        # Whatever else is wrong with a file is reported by its plan.
        with contextlib.suppress(NbbiasError), tables.starting_at(path.absolute().parent):
            stem, values = studies.read(path)
            model = studies.study(stem).parameters
            missing = _missing_packages(params.sound(model, generation.without_block(values)))
        if missing:
            problems.append(ParameterError(str(path), missing))
        else:
            chosen.append(path)
    return chosen, problems


def _plan_run(path: Path, overrides: Mapping[str, Any], out: Path, name: str | None) -> Run:
    stem, file_values = studies.read(path)
    start = path.absolute().parent
    changed = generation.moved(stem, overrides, start=Path.cwd(), to=start)
    values = {**file_values, **changed}
    try:
        with tables.starting_at(start):
            parameters, block = generation.check(stem, values, where=str(path))
    except ParameterError as error:
        breaches = [*error.breaches, *_further_problems(error, path, stem, values, start)]
        raise ParameterError(error.where, list(dict.fromkeys(breaches))) from None
    notebook = studies.place(stem) / "notebooks" / f"{stem}.ipynb"
    if not notebook.is_file():
        raise ParameterError(str(path), f"the study's notebook is missing: {notebook}")
    calls: Plan | None = None
    exclusions: list[str] = []
    if block is None:
        problems, exclusions = _check_inputs(stem, parameters, start)
        if problems:
            raise DataError(str(path), problems)
    else:  # answers that are still to come are rehearsed now, and checked when they are there
        with tables.starting_at(start):
            if missing := _missing_packages(parameters):
                raise ParameterError(str(path), missing)
        calls = generation.plan_block(block, where=str(path), start=start)
        calls = generation.rehearse(calls, stem, parameters, start=start)
    study = (out / stem).absolute()
    base = names.file_name(path)
    if name is None:
        if problem := names.name_problem(base):
            raise ParameterError(str(path), f"{problem}; give this run a --name")
        name = names.choose_name(
            base, parameters, values=file_values, changed=changed, study=study, start=start
        )
    elif difference := names.difference(parameters, study / name, start=start):
        message = f"holds a run with other parameters (this one has {difference})"
        raise ParameterError(str(study / name), f"{message}; give another --name")
    return Run(
        stem,
        name,
        parameters,
        notebook,
        study / name,
        start,
        base,
        generation.without_block(values),
        calls,
        exclusions,
    )


def _further_problems(
    error: ParameterError, path: Path, stem: str, values: Mapping[str, Any], start: Path
) -> list[str]:
    """Return what else a refused params file needs, and what is wrong with the user's files."""
    problems = []
    # Params of corpora that cannot be shipped say in comments how to get them.
    missing = any("_path: " in breach for breach in error.breaches)
    if missing and path.is_file() and "\n#" in "\n" + path.read_text(encoding="utf-8"):
        problems.append("the comments in the file say what this run needs, and where to get it")
    draft = params.sound(studies.study(stem).parameters, generation.without_block(values))
    if set(params.written_files(draft).values()) - {tables.SAMPLE, params.NONE}:
        problems += _check_inputs(stem, draft, start)[0]
    return problems


def _check_inputs(stem: str, parameters: Parameters, start: Path) -> tuple[list[str], list[str]]:
    """Return what is wrong with the inputs, missing packages first, and what a run excludes.

    Files that do not exist are named with the parameters, or come of asking before the run.
    """
    with tables.starting_at(start):
        missing = _missing_packages(parameters)
        try:
            return missing, studies.study(stem).check(parameters)
        except NbbiasError as error:
            files = params.written_files(parameters).values()
            absent = tuple(f"{path}: " for path in files if not _exists(path))
            problems = [breach for breach in error.located() if not breach.startswith(absent)]
            return [*missing, *problems], []


def _exists(path: str) -> bool:
    try:
        return tables.is_file(tables.resolve(path))
    except NbbiasError:
        return False


def recheck(run: Run) -> list[str]:
    """Check a run's inputs again when its answers are there; return what it will exclude.

    Raises
    ------
    DataError
        Everything that makes the run impossible.
    """
    problems, exclusions = _check_inputs(run.stem, run.parameters, run.start)
    if problems:
        raise DataError(run.label, problems)
    return exclusions


def _missing_packages(parameters: Parameters) -> list[str]:
    missing = {name: tables.missing_packages(*names) for name, names in parameters.needs().items()}
    return [f"{name}: {message}" for name, message in missing.items() if message]
