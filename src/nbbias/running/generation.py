"""Check all parameters of a run: the study's, and the `generate:` block that asks models."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from nbbias import params, studies, tables
from nbbias.asking import params as asking_params, recorded
from nbbias.asking.params import Generate
from nbbias.asking.plan import Plan, make_plan
from nbbias.studies import STUDIES
from nbbias.tables import DataError, NbbiasError, ParameterError, is_file


def suites() -> dict[str, Callable[[str], pd.DataFrame]]:
    """Return the suites of prompts that studies bring, by name."""
    return {name: read for _, study in STUDIES.items() for name, read in study.prompts.items()}


def moved(stem: str, values: Mapping[str, Any], *, start: Path, to: Path) -> dict[str, Any]:
    """Return a study's values and its `generate:` block, as `params.relocate` does."""
    result = params.relocate(studies.study(stem).parameters, values, start=start, to=to)
    if isinstance(block := result.get("generate"), Mapping):
        result["generate"] = params.relocate(Generate, block, start=start, to=to)
    return result


def without_block(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a params file's values without its `generate:` block."""
    return {name: value for name, value in values.items() if name != "generate"}


def check(
    stem: str, values: Mapping[str, Any], *, where: str, to_come: Collection[str] = ()
) -> tuple[params.Parameters, Generate | None]:
    """Check a study's parameters and its `generate:` block together.

    The file that the block exports need not exist yet, nor those in `to_come`, as
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
    study_values, problems = without_block(values), list[NbbiasError]()
    ParameterError.refuse(where, params.key_breaches(study_values))
    absent, block = list(to_come), None
    if "generate" in values:
        block = tables.attempt(
            problems, asking_params.check_block, values["generate"], where=where, suites=suites()
        )
        path = Generate.model_fields["export_path"].default
        if isinstance(values["generate"], Mapping):  # the path counts in a block that is refused
            path = values["generate"].get("export_path", path)
        absent += _real_paths([str(path)])
    if block and len(block.temperature) > 1 and not studies.study(stem).at_temperatures:
        message = f"generate.temperature: {stem} does not tell answers at several apart; give one"
        problems.append(ParameterError(where, message))
    parameters = tables.attempt(
        problems, studies.validate, stem, study_values, where=where, to_come=absent
    )
    if problems or parameters is None:
        raise ParameterError(where, [breach for error in problems for breach in error.breaches])
    return parameters, block


def _real_paths(paths: Collection[str]) -> list[str]:
    try:
        return [os.path.realpath(tables.resolve(path)) for path in paths]
    except (NbbiasError, ValueError):  # reported where the parameter itself is checked
        return []


def plan_file(path: Path, *, dry_run: bool = False) -> Plan:
    """Plan the calls of a params file, and check its other parameters and that they fit them.

    For a dry run the study's own files need not exist yet (the plan's notes name them), so that
    the price is known before the other side of a corpus is fetched.

    Raises
    ------
    ParameterError
        Everything that is wrong with the file, at once; or it has no `generate:` block.
    DataError
        The answers would not fit the study's other files.
    """
    stem, values = studies.read(path)
    start = path.absolute().parent
    with tables.starting_at(start):
        draft = studies.study(stem).parameters.model_construct(**without_block(values))
        absent = _real_paths(params.written_files(draft).values()) if dry_run else []
        parameters, block = check(stem, values, where=str(path), to_come=absent)
    if block is None:
        hint = "docs/howto/asking-models.md (copied by `nbbias new DIR`) shows how"
        message = f"has no 'generate:' block; {hint}, `nbbias params generate` its parameters"
        raise ParameterError(str(path), message)
    return plan_calls(block, stem, parameters, where=str(path), start=start)


def plan_calls(
    block: Generate, stem: str, parameters: params.Parameters, *, where: str, start: Path
) -> Plan:
    """Plan every call of a block, and rehearse: a study reads its files before one is paid for.

    Each answer has a placeholder with the keys that it will have, and the study's own check reads
    it. Where files do not exist yet, that is noted instead. Relative paths begin at `start`.

    Returns
    -------
    Plan
        Of `make_plan`; its `notes` say what would be excluded, or is missing yet.

    Raises
    ------
    DataError
        The answers would be of no use: no original has their articles, or the study's suite does
        not hold their prompts.
    """
    with tables.starting_at(start):
        calls = make_plan(block, where=where, suites=suites())
        files = params.input_files(parameters)
        exported = {name for name, path in files.items() if _is_same(path, calls.export_path)}
        notes = [
            f"needed before asking: {name}: no such file: {path.absolute()}"
            for name, path in files.items()
            if name not in exported and not is_file(path)
        ]
        if not exported:
            message = f"{stem} will not read these answers: none of its paths is the export_path"
            notes.append(f"{message}, {calls.block.export_path}")
        if not notes:
            notes = _check_placeholders(calls, stem, parameters)
    return calls._replace(notes=tuple(notes))


def _is_same(path: Path, other: Path) -> bool:
    """Tell whether two paths name one file, which need not exist, however they are spelt."""
    return os.path.realpath(path) == os.path.realpath(other)


def _check_placeholders(calls: Plan, stem: str, parameters: params.Parameters) -> list[str]:
    """Check a study with placeholders as its answers; return what it would exclude."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / calls.export_path.name
        tables.write_parquet(recorded.make_placeholders(calls), file)

        def replace(_: str, path: str, kind: str) -> str:
            is_input = kind in {"file", "file or none"}
            same = is_input and _is_same(tables.resolve(path), calls.export_path)
            return tables.notes.add(str(file), tables.notes.split(path)[1]) if same else path

        def restore(message: str) -> str:
            return message.replace(str(file), calls.block.export_path)

        values = params.map_paths(type(parameters), dict(parameters), replace)
        try:
            exclusions = studies.study(stem).check(parameters.model_copy(update=values))
        except NbbiasError as error:
            where = f"{calls.where}: nothing is asked, for its answers could not be used"
            raise DataError(where, [restore(message) for message in error.located()]) from None
        return [restore(message) for message in exclusions]
