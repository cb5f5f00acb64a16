"""Plan runs: parameters and inputs of every run are checked before one of them starts."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nbbias import params, studies, tables
from nbbias.asking.plan import Plan
from nbbias.params import Parameters
from nbbias.running import generation, place
from nbbias.tables import DataError, ExtraError, NbbiasError, ParameterError

#: Runs of one grid.
_MOST = 100


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
        paths = params.relocate(type(self.parameters), values, start=self.start, to=self.folder)
        return params.as_yaml({"study": self.stem, **paths})


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
        ``name=value`` pairs that win over every file; several values make a run for each
        (`combine_values`). Their relative paths start at the current folder, those of a file at its
        own.
    out
        The folder of all runs.
    name
        The run's name instead, of a single file.

    Raises
    ------
    NbbiasError
        The first step of each file that fails, with all its problems; of all files together. Or
        runs cannot be written to `out`.
    """
    runs, problems = list[Run](), list[NbbiasError]()
    # Where overrides cannot be read, the files are checked all the same.
    changes = tables.attempt(problems, combine_values, overrides) or [{}]
    wanted = list(itertools.product(paths, changes))
    if name is not None:
        several = f"names one run, but {len(wanted)} were given" if len(wanted) > 1 else ""
        if problem := place.name_problem(name, portable=True) or several:
            problems.append(ParameterError(f"--name {name}", problem))
            name = None
    for path, values in wanted:
        if run := tables.attempt(problems, _plan_run, path, values, out, name):
            runs.append(run)
    folders = [run.folder for run in runs]
    if twice := sorted({run.label for run in runs if folders.count(run.folder) > 1}):
        message = "two files would write to one folder; rename one"
        problems.append(ParameterError(", ".join(twice), message))
    tables.attempt(problems, tables.default_cache)
    for folder in dict.fromkeys([out, *(folder.parent for folder in folders), *folders]):
        if unwritable := tables.unwritable(folder):
            problems.append(NbbiasError(str(folder), unwritable))
            break
    # The same mistake in all runs of a grid is one.
    tables.refuse(list({str(e): e for e in problems}.values()), where="nothing was run")
    return runs


def _plan_run(path: Path, overrides: Mapping[str, Any], out: Path, name: str | None) -> Run:
    stem, file_values = studies.read(path)
    start = path.absolute().parent
    changed = generation.moved(stem, overrides, start=Path.cwd(), to=start)
    values = {**file_values, **changed}
    with tables.starting_at(start):
        parameters, block = generation.check(stem, values, where=str(path))
    if not (notebook := studies.place(stem) / "notebooks" / f"{stem}.ipynb").is_file():
        raise ParameterError(str(path), f"the study's notebook is missing: {notebook}")
    with tables.starting_at(start):  # a model may be a folder there
        needs = parameters.needs()
    missing = {name: tables.missing_packages(*names) for name, names in needs.items()}
    ExtraError.refuse(str(path), [f"{name}: {why}" for name, why in missing.items() if why])
    calls, exclusions = None, list[str]()
    if block is None:
        exclusions = _check_inputs(stem, parameters, where=str(path), start=start)
    else:  # answers that are still to come are rehearsed now, and checked when they are there
        calls = generation.plan_calls(block, stem, parameters, where=str(path), start=start)
    study, base = (out / stem).absolute(), place.file_name(path)
    if name is None:
        if problem := place.name_problem(base):
            raise ParameterError(str(path), f"{problem}; give this run a --name")
        name = place.choose_name(
            base, parameters, values=file_values, changed=changed, study=study, start=start
        )
    elif difference := place.difference(parameters, study / name, start=start):
        message = f"holds a run with other parameters (this one has {difference})"
        raise ParameterError(str(study / name), f"{message}; give another --name")
    return Run(
        *(stem, name, parameters, notebook, study / name, start),
        values=generation.without_block(values),
        calls=calls,
        exclusions=exclusions,
    )


def check_inputs_again(run: Run) -> list[str]:
    """Check a run's inputs again when its answers are there; return what it will exclude.

    Raises
    ------
    DataError
        Everything that makes the run impossible.
    """
    return _check_inputs(run.stem, run.parameters, where=run.label, start=run.start)


def _check_inputs(stem: str, parameters: Parameters, *, where: str, start: Path) -> list[str]:
    try:
        with tables.starting_at(start):
            return studies.study(stem).check(parameters)
    except NbbiasError as error:
        raise DataError(where, error.located()) from None


def combine_values(assignments: Sequence[str]) -> list[dict[str, Any]]:
    """Return every combination of the values that ``name=value`` pairs give.

    Parameters
    ----------
    assignments
        ``name=a,b,c`` gives three values, ``name=[a, b]`` one and ``name=[a],[a, b]`` two. Commas
        within quotes, or in the name of an existing file, separate nothing.

    Raises
    ------
    ParameterError
        All pairs that cannot be read; or there are more than 100 combinations.

    Examples
    --------
    >>> combine_values(["lambda_factor=0.5,1", "seed=1,2"])[1:3]
    [{'lambda_factor': 0.5, 'seed': 2}, {'lambda_factor': 1, 'seed': 1}]
    >>> combine_values(["weights={Age: 2, Race: 1}"])
    [{'weights': {'Age': 2, 'Race': 1}}]
    """
    choices = dict(tables.attempt_all(_read_values, assignments))
    if (size := math.prod(map(len, choices.values()))) > _MOST:
        raise ParameterError("-p", f"makes {size:,} runs; {_MOST} are the most")
    products = itertools.product(*choices.values())
    return [dict(zip(choices, values, strict=True)) for values in products]


def _read_values(assignment: str) -> tuple[str, list[Any]]:
    name, _, text = (part.strip() for part in assignment.partition("="))
    if "," in text and not tables.is_file(Path(text)):
        with contextlib.suppress(ParameterError):
            _, values = params.override(f"{name}=[{text}]")
            return name, list({str(value): value for value in values}.values())
    name, value = params.override(assignment)
    return name, [value]
