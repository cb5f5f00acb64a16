"""What a params file asks of models: its `generate:` block beside the study's parameters."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from nbbias import params, studies, tables
from nbbias.asking import params as asking_params
from nbbias.asking.params import Generate
from nbbias.asking.plan import Plan, plan
from nbbias.params import Parameters
from nbbias.studies import STUDIES
from nbbias.tables import SAMPLE, NbbiasError, ParameterError, is_file, resolve

#: The prompts that studies have of their own, by name.
SUITES = {name: suite for one in STUDIES.values() for name, suite in one.prompts.items()}


def block(values: Mapping[str, Any], *, where: str) -> Generate:
    """Check a `generate:` block, as `asking.params.block` does, the studies' prompts known."""
    return asking_params.block(values, where=where, suites=SUITES)


def laid_out(chosen: Generate, *, where: str = "generate", start: Path = Path()) -> Plan:
    """Lay out every call of a block, as `asking.plan` does; relative paths begin at `start`."""
    with tables.starting_at(start):
        return plan(chosen, where=where, suites=SUITES)


def moved(stem: str, values: Mapping[str, Any], *, start: Path, to: Path) -> dict[str, Any]:
    """Return a study's values, its `generate:` block too, as `params.moved` does."""
    found = params.moved(studies.study(stem).parameters, values, start=start, to=to)
    asks = found.get("generate")
    if isinstance(asks, Mapping):
        found["generate"] = params.moved(Generate, asks, start=start, to=to)
    return found


def take(
    stem: str, values: Mapping[str, Any], *, where: str, to_come: Collection[Path] = ()
) -> tuple[Parameters, Generate | None]:
    """Check a study's parameters and its `generate:` block together.

    The file that the block exports need not be there yet, nor those in `to_come`.

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
    absent = {*to_come, *_named(values.get("generate"))}
    try:
        parameters = studies.validate(stem, own, where=where, to_come=absent)
    except ParameterError as error:
        found += [params.redact(breach) for breach in error.breaches]
    if found:
        raise ParameterError(where, list(dict.fromkeys(found)))
    return parameters, chosen


def _named(values: Any) -> frozenset[Path]:
    """Return the file that a block exports, whether or not the block is in order."""
    default = Generate.model_fields["export_path"].default
    path = values.get("export_path", default) if isinstance(values, Mapping) else None
    try:
        return frozenset({resolve(path).absolute()}) if isinstance(path, str) else frozenset()
    except NbbiasError:
        return frozenset()


def of_params(path: Path, *, dry_run: bool = False) -> Plan:
    """Return the plan of a params file, its other parameters checked too.

    For a dry run the study's own files need not be there yet (`not_there` names them): what asking
    comes to is worth knowing before the other side of a corpus is got.

    Raises
    ------
    ParameterError
        Everything that is wrong with the file, at once; or it has no `generate:` block.
    """
    stem, values = studies.read(path)
    start = path.absolute().parent
    with tables.starting_at(start):
        absent = list(_absent(stem, values).values()) if dry_run else []
        chosen = take(stem, values, where=str(path), to_come=absent)[1]
    if chosen is None:
        told = "`nbbias params generate` says what it takes, docs/asking-models.md how to ask"
        raise ParameterError(
            str(path), f"has no 'generate:' block; {told} (`nbbias new DIR` lays the guide out)"
        )
    return laid_out(chosen, where=str(path), start=start)


def not_there(asked: Plan, path: Path) -> list[str]:
    """Return what must be there before anything is asked: the study's files that are not."""
    with tables.starting_at(path.absolute().parent):
        absent = _absent(*studies.read(path)).items()
    return [f"{name}: no such file: {f}" for name, f in absent if f != asked.export_path]


def _absent(stem: str, values: Mapping[str, Any]) -> dict[str, Path]:
    """Return the input files that a study's parameters name and that are not there."""
    fields = studies.study(stem).parameters.model_json_schema()["properties"]
    named = {
        name: resolve(value).absolute()
        for name, value in values.items()
        if fields.get(name, {}).get("format") == "file" and isinstance(value, str)
    }
    return {name: f for name, f in named.items() if values[name] != SAMPLE and not is_file(f)}
