"""Plan runs: where notebooks and params are; parameters and inputs checked before one starts."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nbbias import params, studies, tables
from nbbias.asking.plan import Plan
from nbbias.pages import share
from nbbias.params import Parameters
from nbbias.running import asked, grid, names
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
    #: The name after the params file, whatever differs.
    base: str = ""
    #: What the notebook is given: paths as the user wrote them.
    values: Mapping[str, Any] = field(default_factory=dict)
    #: What to ask models for first, where the params say so.
    asks: Plan | None = None
    #: What it will lose of its inputs, as the study's check says.
    losses: Sequence[str] = ()

    @property
    def label(self) -> str:
        return f"{self.stem}/{self.name}"

    @property
    def repeats(self) -> str:
        """The params file that repeats the run from its folder: all parameters, paths from there.

        It is the same text for the same parameters, wherever the file stood that set them.
        """
        given = self.parameters.model_dump()
        paths = params.moved(type(self.parameters), given, start=self.start, to=self.folder)
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
        Params files; the run is named after the file, or, where the file is what a run left
        behind, after that run's folder. What differs follows: what overrides set, and what a
        finished run of this name has otherwise, for that stays.
    overrides
        ``name=value`` pairs that win over the files, in every one of them; several values make a
        run for each (`grid`). Their relative paths start at the current folder, those of a file
        at its own.
    out
        The folder of all runs.
    name
        The run's name instead, of a single file.

    Raises
    ------
    NbbiasError
        Every problem of every file, at once; runs cannot be written to `out`.
    """
    runs: list[Run] = []
    problems: list[NbbiasError] = []
    try:
        wanted = [(path, one) for path in paths for one in grid.of_file(path, overrides)]
    except NbbiasError as error:
        problems.append(error)
        wanted = [(path, {}) for path in paths]  # the files are checked all the same
    if name is not None and (unfit := names.unfit(name, chosen=True) or _several(paths, wanted)):
        problems.append(ParameterError(f"--name {name}", unfit))
        name = None
    for path, changed in wanted:
        try:
            runs.append(_plan_one(path, changed, out, name))
        except NbbiasError as error:
            if str(error) not in map(str, problems):  # what is wrong with all of a grid
                problems.append(error)
    folders = [run.folder for run in runs]
    twice = sorted({run.label for run in runs if folders.count(run.folder) > 1})
    if twice:
        several = "two files would write to one folder; rename one"
        problems.append(ParameterError(", ".join(twice), several))
    try:
        tables.default_cache()
    except NbbiasError as error:
        problems.append(error)
    for folder in dict.fromkeys([out, *(one.parent for one in folders), *folders]):
        if told := tables.unwritable(folder):
            problems.append(NbbiasError(str(folder), told))
            break
    refuse(problems)
    _give_back()
    return runs


def _give_back() -> None:
    """Give the memory in which large inputs were checked back to the system, for the runs."""
    if arrow := sys.modules.get("pyarrow"):
        gc.collect()
        arrow.default_memory_pool().release_unused()
        if sys.platform == "linux":  # glibc keeps what is freed in small pieces
            with contextlib.suppress(AttributeError):
                ctypes.CDLL(None).malloc_trim(0)


def _several(paths: Sequence[Path], wanted: Sequence[object]) -> str:
    if len(wanted) == 1:
        return ""
    told = f"{len(paths)} files were given" if len(paths) > 1 else f"{len(wanted)} were asked for"
    return f"names one run, and {told}"


def refuse(problems: Sequence[NbbiasError]) -> None:
    """Raise what was found, if anything, as one error."""
    if len(problems) == 1:
        raise problems[0]
    if problems:
        breaches = [f"{p.where}: {breach}" for p in problems for breach in p.breaches]
        of_parameters = any(isinstance(one, ParameterError) for one in problems)
        raise (ParameterError if of_parameters else NbbiasError)("nothing was run", breaches)


def able(paths: Sequence[Path]) -> tuple[list[Path], list[NbbiasError]]:
    """Return the params files whose runs lack nothing here, and what the others lack."""
    chosen, lacking = [], list[NbbiasError]()
    for path in paths:
        told = []
        with contextlib.suppress(NbbiasError), tables.starting_at(path.absolute().parent):
            stem, values = studies.read(path)
            values.pop("generate", None)
            told = _lacking(params.sound(studies.study(stem).parameters, values))
        if told:
            lacking.append(ParameterError(str(path), told))
        else:  # whatever else is wrong with it is told by the plan
            chosen.append(path)
    return chosen, lacking


def _plan_one(path: Path, overrides: Mapping[str, Any], out: Path, name: str | None) -> Run:
    stem, filed = studies.read(path)
    start = path.absolute().parent
    changed = asked.moved(stem, overrides, start=Path.cwd(), to=start)
    values = {**filed, **changed}
    try:
        with tables.starting_at(start):
            parameters, chosen = asked.take(stem, values, where=str(path))
    except ParameterError as error:
        # Params of corpora that cannot be shipped say at their head how to come by them.
        missing = any("_path: " in breach for breach in error.breaches)
        if missing and path.is_file() and "\n#" in "\n" + path.read_text(encoding="utf-8"):
            error.breaches.append("what this run needs, and where to get it, is told in the file")
        own = {name: value for name, value in values.items() if name != "generate"}
        rest = params.sound(studies.study(stem).parameters, own)
        own_files = set(params.written_files(rest).values()) - {tables.SAMPLE, params.NONE}
        # Nothing is wrong with the sample; the user's files are looked at all the same.
        told = [*error.breaches, *(_of_inputs(stem, rest, start)[0] if own_files else ())]
        raise ParameterError(error.where, list(dict.fromkeys(told))) from None
    values.pop("generate", None)
    notebook = studies.place(stem) / "notebooks" / f"{stem}.ipynb"
    if not notebook.is_file():
        raise ParameterError(str(path), f"the study's notebook is missing: {notebook}")
    asks: Plan | None = None
    lost: list[str] = []
    if chosen is None:
        refused, lost = _of_inputs(stem, parameters, start)
        if refused:
            raise DataError(str(path), refused)
    else:  # what is still to be asked is checked by its rehearsal, and when it is there
        with tables.starting_at(start):
            lacking = _lacking(parameters)
        if lacking:
            raise ParameterError(str(path), lacking)
        asks = asked.laid_out(chosen, where=str(path), start=start)
        asks = asked.rehearsed(asks, stem, parameters, start=start)
    beside = (out / stem).absolute()
    base = names.of_file(path)
    if name is None:
        if unfit := names.unfit(base):
            raise ParameterError(str(path), f"{unfit}; give this run a --name")
        name = names.own(base, parameters, filed=filed, changed=changed, beside=beside, start=start)
    elif other := names.taken(parameters, beside / name, start=start):
        taken = f"holds a run with other parameters (this one has {other}); give another --name"
        raise ParameterError(str(beside / name), taken)
    return Run(stem, name, parameters, notebook, beside / name, start, base, values, asks, lost)


def _of_inputs(stem: str, parameters: Parameters, start: Path) -> tuple[list[str], list[str]]:
    """Return what is wrong with the inputs that are there, and what a run of them would lose.

    What a run needs and is not installed is told first. Files that are not there are named with
    the parameters, or come of asking, before the run.
    """
    with tables.starting_at(start):
        lacking = _lacking(parameters)
        try:
            return lacking, studies.study(stem).check(parameters)
        except NbbiasError as error:
            written = params.written_files(parameters).values()
            absent = tuple(f"{path}: " for path in written if not _is_there(path))
            found = [one for one in error.located() if not one.startswith(absent)]
            return [*lacking, *found], []


def _is_there(path: str) -> bool:
    try:
        return tables.is_file(tables.resolve(path))
    except NbbiasError:
        return False


def ready(run: Run) -> list[str]:
    """Check a run's inputs once more, when what was asked for is there; return what it will lose.

    Raises
    ------
    DataError
        All that makes the run impossible.
    """
    refused, lost = _of_inputs(run.stem, run.parameters, run.start)
    if refused:
        raise DataError(run.label, refused)
    return lost


def _lacking(parameters: Parameters) -> list[str]:
    told = {
        name: tables.missing_packages(*packages) for name, packages in parameters.needs().items()
    }
    return [f"{name}: {said}" for name, said in told.items() if said]
