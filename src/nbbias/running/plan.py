"""Plan runs: where notebooks and params are, and every parameter checked before anything starts."""

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
    """Check every parameter of every run before anything starts.

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
        raise ParameterError(error.where, error.breaches) from None
    values.pop("generate", None)
    notebook = home() / "notebooks" / f"{stem}.ipynb"
    if not notebook.is_file():
        raise ParameterError(str(path), f"the study's notebook is missing: {notebook}")
    asks = None
    if chosen is not None:
        asks = asked.laid_out(chosen, where=str(path), start=start)
        asks = asked.rehearsed(asks, stem, parameters, start=start)
    name = _name(path)
    folder = (out / stem / name).absolute()
    return Run(stem, name, parameters, notebook, folder, start, values, asks)


def _name(path: Path) -> str:
    """Name a run after its params file, or after the folder of the run that it repeats."""
    repeats = path.name == share.PARAMS and (path.parent / manifest.NAME).is_file()
    return (path.resolve().parent.name if repeats else "") or path.stem
