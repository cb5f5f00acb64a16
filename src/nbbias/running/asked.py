"""What a params file asks of models: its `generate:` block beside the study's parameters."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from nbbias import params, studies, tables
from nbbias.asking import params as asking_params, recorded
from nbbias.asking.params import Generate
from nbbias.asking.plan import Plan, plan
from nbbias.params import Parameters
from nbbias.studies import STUDIES
from nbbias.tables import DataError, NbbiasError, ParameterError, is_file


def suites() -> dict[str, Callable[[str], pd.DataFrame]]:
    """Return the prompts that studies have of their own, by name."""
    return {name: suite for one in STUDIES.values() for name, suite in one.prompts.items()}


def block(values: Mapping[str, Any], *, where: str) -> Generate:
    """Check a `generate:` block, as `asking.params.block` does, the studies' prompts known."""
    return asking_params.block(values, where=where, suites=suites())


def laid_out(chosen: Generate, *, where: str = "generate", start: Path = Path()) -> Plan:
    """Lay out every call of a block, as `asking.plan` does; relative paths begin at `start`."""
    with tables.starting_at(start):
        found = plan(chosen, where=where, suites=suites())
        elsewhere = "" if is_file(found.store_path) else params.lies_here(chosen.store_path)
    told = f"store_path: no answers yet at {found.store_path}{elsewhere}"
    return found._replace(notes=(*found.notes, told)) if elsewhere else found


def moved(stem: str, values: Mapping[str, Any], *, start: Path, to: Path) -> dict[str, Any]:
    """Return a study's values, its `generate:` block too, as `params.moved` does."""
    found = params.moved(studies.study(stem).parameters, values, start=start, to=to)
    asks = found.get("generate")
    if isinstance(asks, Mapping):
        found["generate"] = params.moved(Generate, asks, start=start, to=to)
    return found


def take(
    stem: str, values: Mapping[str, Any], *, where: str, to_come: Collection[str] = ()
) -> tuple[Parameters, Generate | None]:
    """Check a study's parameters and its `generate:` block together.

    The file that the block exports need not be there yet, nor those in `to_come`, as
    `os.path.realpath` names them.

    Returns
    -------
    parameters, block
        The study's, and the block or None.

    Raises
    ------
    ParameterError
        Every breach of both.
    """
    own = {name: value for name, value in values.items() if name != "generate"}
    found, chosen = params.key_breaches(own), None
    several = stem in STUDIES and STUDIES[stem].at_temperatures
    if "generate" in values:
        try:
            chosen = block(values["generate"], where=where)
        except ParameterError as error:
            found += error.breaches
    if chosen is not None and len(chosen.temperatures) > 1 and not several:
        told = f"{stem} does not tell answers at several apart; give one"
        found.append(f"generate.temperature: {told}")
    absent = {*to_come, *_exported(values.get("generate"))}
    try:
        parameters = studies.validate(stem, own, where=where, to_come=absent)
    except ParameterError as error:
        named = {breach.partition(":")[0] for breach in found}  # a key is told as one, once
        others = [breach for breach in error.breaches if breach.partition(":")[0] not in named]
        found += [params.redact(breach) for breach in others]
    if found:
        raise ParameterError(where, list(dict.fromkeys(found)))
    return parameters, chosen


def _exported(values: Any) -> list[str]:
    """Return the file that a block exports, whether or not the block is in order."""
    default = Generate.model_fields["export_path"].default
    return _places(values.get("export_path", default)) if isinstance(values, Mapping) else []


def _places(values: Any) -> list[str]:
    """Return the files that any texts in parameters would name, each by one spelling."""
    try:
        return [os.path.realpath(tables.resolve(text)) for text in _texts(values)]
    except (NbbiasError, ValueError):  # told where the parameter itself is checked
        return []


def _texts(values: Any) -> Iterator[str]:
    if isinstance(values, str):
        yield values
    elif isinstance(values, Mapping | list):
        for one in values.values() if isinstance(values, Mapping) else values:
            yield from _texts(one)


def of_params(path: Path, *, dry_run: bool = False) -> Plan:
    """Return the plan of a params file, its other parameters checked too, and that they fit it.

    For a dry run the study's own files need not be there yet (the plan's notes name them): what
    asking comes to is worth knowing before the other side of a corpus is got.

    Raises
    ------
    ParameterError
        Everything that is wrong with the file, at once; or it has no `generate:` block.
    DataError
        The answers would not fit the study's other files.
    """
    stem, values = studies.read(path)
    own = {name: value for name, value in values.items() if name != "generate"}
    start = path.absolute().parent
    with tables.starting_at(start):
        absent = _places(own) if dry_run else []
        parameters, chosen = take(stem, values, where=str(path), to_come=absent)
    if chosen is None:
        told = "`nbbias params generate` says what it takes, docs/howto/asking-models.md how to ask"
        raise ParameterError(
            str(path), f"has no 'generate:' block; {told} (`nbbias new DIR` lays the guide out)"
        )
    asked = laid_out(chosen, where=str(path), start=start)
    return rehearsed(asked, stem, parameters, start=start)


def rehearsed(asked: Plan, stem: str, parameters: Parameters, *, start: Path) -> Plan:
    """Let a study read its files with a plan's answers among them, before one is paid for.

    Each answer is a placeholder under the keys that the real one will have, and the study's own
    check reads them. Where files are not there yet, that is noted instead.

    Returns
    -------
    Plan
        Its `notes` say what would be lost in part, or is missing yet.

    Raises
    ------
    DataError
        The answers would be of no use: no original has their articles, the study's suite does not
        hold their prompts.
    """
    with tables.starting_at(start):
        files = params.input_files(parameters)
        mine = {name for name, path in files.items() if _same(path, asked.export_path)}
        notes = [
            f"needed before asking: {name}: no such file: {path.absolute()}"
            for name, path in files.items()
            if name not in mine and not is_file(path)
        ]
        if not mine:
            told = f"{stem} will not read these answers: none of its paths is the export_path"
            notes.append(f"{told}, {asked.block.export_path}")
        if not notes:
            notes = _read_by(stem, parameters, asked, {name.split(".")[0] for name in mine})
    return asked._replace(notes=(*asked.notes, *notes))


def _same(path: Path, other: Path) -> bool:
    """Tell whether two paths name one file, which need not be there, however they are spelt."""
    return os.path.realpath(path) == os.path.realpath(other)


def _read_by(stem: str, parameters: Parameters, asked: Plan, names: Collection[str]) -> list[str]:
    """Check a study with placeholders as its answers; return what it would lose."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / asked.export_path.name

        def named(told: str) -> str:
            return told.replace(str(path), asked.block.export_path)

        def in_place(value: Any) -> Any:
            if isinstance(value, Mapping):
                return {name: in_place(one) for name, one in value.items()}
            if isinstance(value, list):
                return [in_place(one) for one in value]
            return str(path) if _same(tables.resolve(value), asked.export_path) else value

        tables.write_parquet(recorded.placeholders(asked), path)
        update = {name: in_place(getattr(parameters, name)) for name in names}
        try:
            lost = studies.study(stem).check(parameters.model_copy(update=update))
        except NbbiasError as error:
            where = f"{asked.where}: nothing is asked, for its answers could not be used"
            raise DataError(where, [named(told) for told in error.located()]) from None
        return [named(one) for one in lost]
