"""Plan runs: where notebooks and params are; parameters and inputs checked before one starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nbbias import params, studies, tables
from nbbias.asking.plan import Plan
from nbbias.pages import manifest, share
from nbbias.params import Parameters
from nbbias.running import asked
from nbbias.studies import home
from nbbias.tables import NbbiasError, ParameterError


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
    paths: Sequence[Path], *, overrides: Sequence[str] = (), out: Path = Path("runs")
) -> list[Run]:
    """Check every parameter and every input of every run before anything starts.

    Parameters
    ----------
    paths
        Params files; the run is named after the file, or, where the file is what a run left
        behind, after that run's folder.
    overrides
        ``name=value`` pairs that win over the files, in every one of them. Their relative paths
        start at the current folder, those of a file at its own.
    out
        The folder of all runs.

    Raises
    ------
    NbbiasError
        Every problem of every file, at once; runs cannot be written to `out`.
    """
    runs: list[Run] = []
    problems: list[NbbiasError] = []
    changed: dict[str, Any] = {}
    for assignment in overrides:
        try:
            changed |= [params.override(assignment)]
        except NbbiasError as error:
            problems.append(error)
    for path in paths:
        try:
            runs.append(_plan_one(path, changed, out))
        except NbbiasError as error:
            problems.append(error)
    folders = [run.folder for run in runs]
    twice = sorted({run.label for run in runs if folders.count(run.folder) > 1})
    if twice:
        problems.append(
            ParameterError(", ".join(twice), "two files would write to one folder; rename one")
        )
    try:
        tables.default_cache()
    except NbbiasError as error:
        problems.append(error)
    for folder in dict.fromkeys([out, *folders]):
        if told := tables.unwritable(folder):
            problems.append(NbbiasError(str(folder), told))
            break
    if len(problems) == 1:
        raise problems[0]
    if problems:
        breaches = [f"{p.where}: {breach}" for p in problems for breach in p.breaches]
        raise ParameterError("nothing was run", breaches)
    return runs


def _plan_one(path: Path, changed: Mapping[str, Any], out: Path) -> Run:
    stem, values = studies.read(path)
    start = path.absolute().parent
    values |= asked.moved(stem, changed, start=Path.cwd(), to=start)
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
        told = [*error.breaches, *_of_inputs(stem, rest, start)[0]]
        raise ParameterError(error.where, list(dict.fromkeys(told))) from None
    values.pop("generate", None)
    notebook = home() / "notebooks" / f"{stem}.ipynb"
    if not notebook.is_file():
        raise ParameterError(str(path), f"the study's notebook is missing: {notebook}")
    asks: Plan | None = None
    lost: list[str] = []
    if chosen is None:
        refused, lost = _of_inputs(stem, parameters, start)
        if refused:
            raise ParameterError(str(path), refused)
    else:  # what is still to be asked is checked by its rehearsal, and when it is there
        asks = asked.laid_out(chosen, where=str(path), start=start)
        asks = asked.rehearsed(asks, stem, parameters, start=start)
    name = _name(path)
    folder = (out / stem / name).absolute()
    return Run(stem, name, parameters, notebook, folder, start, values, asks, lost)


def _of_inputs(stem: str, parameters: Parameters, start: Path) -> tuple[list[str], list[str]]:
    """Return what is wrong with the inputs that are there, and what a run of them would lose.

    Files that are not there are named with the parameters, or come of asking, before the run.
    """
    with tables.starting_at(start):
        try:
            return [], studies.study(stem).check(parameters)
        except NbbiasError as error:
            written = params.written_files(parameters).values()
            absent = tuple(f"{path}: " for path in written if not _is_there(path))
            return [one for one in error.located() if not one.startswith(absent)], []


def _is_there(path: str) -> bool:
    try:
        return tables.is_file(tables.resolve(path))
    except NbbiasError:
        return False


def ready(run: Run) -> list[str]:
    """Check a run's inputs once more, when what was asked for is there; return what it will lose.

    Raises
    ------
    ParameterError
        All that makes the run impossible.
    """
    refused, lost = _of_inputs(run.stem, run.parameters, run.start)
    if refused:
        raise ParameterError(run.label, refused)
    return lost


def _name(path: Path) -> str:
    """Name a run after its params file, or after the folder of the run that it repeats."""
    repeats = path.name == share.PARAMS and (path.parent / manifest.NAME).is_file()
    return (path.resolve().parent.name if repeats else "") or path.stem
