"""Designs: what is simulated of each measure; each is simulated once and cached."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from nbbias import params, tables
from nbbias.calibration.params import Calibration
from nbbias.calibration.trials import LISTED, Design, Measure, family_errors, outcomes, repeat

#: Modules of this package that simulate a study.
_STUDIES = ("news", "biased_prompts", "cogs", "llmbi", "biasalert")

#: What identifies a design, of one measure.
DESIGN = ("study", "measure", "unit", "scenario", "held_out", "n", "length", "effect")

#: Sentences of a text.
_LENGTH = 12

_NAMES = LISTED.set_index(["study", "measure", "scenario"])["name"].to_dict()


@cache
def measures() -> Mapping[str, Measure]:
    """Return the measures that are calibrated, by ``study/name``.

    Examples
    --------
    >>> all(name == f"{one.study}/{one.name}" for name, one in measures().items())
    True
    """
    modules = [import_module(f"nbbias.calibration.{name}") for name in _STUDIES]
    return {f"{m.study}/{m.name}": m for module in modules for m in module.MEASURES}


def select_measures(names: list[str], *, where: str = "measures") -> dict[str, Measure]:
    """Return the measures of these names, in this order; all, where none is named.

    Raises
    ------
    ParameterError
        Those that do not exist, each with the nearest.

    Examples
    --------
    >>> select_measures([]) == measures()
    True
    """
    by_name = measures()
    unknown = {name: tables.closest_match(name, by_name) for name in names if name not in by_name}
    if unknown:
        wrong = [f"no measure {name!r}; {nearest}" for name, nearest in unknown.items()]
        raise tables.ParameterError(where, wrong)
    return {name: by_name[name] for name in names or by_name}


def repeats_by_measure(repeats: int | Mapping[str, int]) -> dict[str, int]:
    """Return the simulated studies of a design of each measure; a mapping needs a ``default``.

    Examples
    --------
    >>> repeats_by_measure({"default": 100, "llmbi/index": 1000})["cogs/rbs"]
    100
    """
    numbers = {"default": repeats} if isinstance(repeats, int) else repeats
    if "default" not in numbers:
        raise tables.ParameterError("repeats", ["needs a default"])
    select_measures([name for name in numbers if name != "default"], where="repeats")
    return dict.fromkeys(measures(), numbers["default"]) | {**numbers}


def check(chosen: Any) -> list[str]:
    """Refuse measures that do not exist, repeats of these, and claims on those not chosen.

    Examples
    --------
    >>> from nbbias import calibration
    >>> calibration.check(calibration.params.Calibration())
    []
    """
    problems: list[tables.NbbiasError] = []
    selected = tables.attempt(problems, select_measures, chosen.measures)
    tables.attempt(problems, repeats_by_measure, chosen.repeats)
    if selected is not None:
        rows = [[name.replace("_", " ") for name in key.split("/")] for key in selected]
        cells = pd.DataFrame(rows, columns=["source", "dimension"], dtype="str")
        tables.attempt(problems, params.check_claims, chosen, [cells])
    tables.refuse(problems)
    return []


def list_designs(chosen: Calibration) -> pd.DataFrame:
    """List what is simulated: a row for each design of each measure, and of its families.

    Parameters
    ----------
    chosen
        The parameters. Each measure takes the numbers of units that it has nearest to those of `n`
        and `family_n`, and a slow one a share of `repeats`. Families are whole runs, without an
        effect and with the largest.

    Returns
    -------
    DataFrame
        `DESIGN`, `kind`, which is ``"trial"`` or ``"family"``, and `repeats`.

    Examples
    --------
    >>> from nbbias.calibration.params import Calibration
    >>> list_designs(Calibration(n=[30], family_repeats=0))["kind"].unique().tolist()
    ['trial']
    """
    rows, by_measure = [], repeats_by_measure(chosen.repeats)
    for name, measure in select_measures(chosen.measures).items():
        ends = (0.0, max(measure.effects, key=abs))
        kinds = [("trial", chosen.n, measure.effects, by_measure[name])]
        if measure.family is not None and chosen.family_repeats:
            kinds.append(("family", chosen.family_n, ends, chosen.family_repeats))
        for kind, wanted, effects, repeats in kinds:
            # The nearest by ratio.
            n = dict.fromkeys(
                min(measure.n, key=lambda size: abs(math.log(size / k))) for k in wanted
            )
            n_repeats = max(round(repeats * measure.share), 2)
            for scenario, units, effect in product(measure.scenarios, n, effects):
                design = measure.study, measure.name, measure.unit, scenario
                held_out = scenario in measure.held_out
                rows.append((*design, held_out, units, _LENGTH, float(effect), kind, n_repeats))
    return pd.DataFrame(rows, columns=[*DESIGN, "kind", "repeats"])


def scenarios() -> pd.DataFrame:
    """Return the names and descriptions of all scenarios, and which were held out.

    Examples
    --------
    >>> table = scenarios()
    >>> table.loc[table["study"] == "llmbi", "scenario"].tolist()[:2]
    ['skewed scores', 'unequal dimensions']
    """
    notes = LISTED["held_out"].map({True: " (held out)", False: ""})
    described = LISTED["description"] + notes
    table = LISTED.assign(scenario=LISTED["name"], description=described)
    table["study"] = table["study"].str.replace("_", " ")
    return table[["study", "scenario", "description"]].drop_duplicates(ignore_index=True)


def name_scenario(study: str, measure: str, scenario: str) -> str:
    """Return what a scenario is called; one that is not listed keeps its name.

    Examples
    --------
    >>> name_scenario("news_bias", "words_terse", "terse"), name_scenario("mine", "words", "odd")
    ('short answers', 'odd')
    """
    return _NAMES.get((study, measure, scenario), scenario)


def simulate(designs: pd.DataFrame, *, confidence: float, seed: int) -> pd.DataFrame:
    """Simulate every design, and summarise its repeats.

    Each design is a chunk (`tables.map_chunks`), cached under the hash of what it is, of level and
    seed, and of the source that it rests on: a run that was killed resumes.

    Parameters
    ----------
    designs
        Of `list_designs`, all of one `kind`.
    confidence, seed
        Level of the intervals, and the seed, from which each design has its own.

    Returns
    -------
    DataFrame
        `DESIGN`, and OUTCOMES (`calibration.outcomes`) or `calibration.family_errors`.
    """
    version = ("nbbias." + designs["study"].str.removesuffix("_bias")).map(tables.measuring_version)
    rows = designs.assign(version=version).to_dict("records")
    # One text a design, which is quickly hashed; a byte is less than any has.
    texts = pd.Series([json.dumps(row) for row in rows], dtype="str")
    how = confidence, seed
    results = tables.map_chunks(_simulate, texts, args=how, chunk_bytes=1, label="designs")
    results = [table for table in results if len(table)]
    return pd.concat(results, ignore_index=True) if results else pd.DataFrame(columns=[*DESIGN])


def _simulate(designs: pd.Series, confidence: float, seed: int) -> pd.DataFrame:
    """Simulate the designs of a chunk; the `version` of each is part of its cache key."""
    results = []
    for row in map(json.loads, designs):
        measure = measures()[f"{row['study']}/{row['measure']}"]
        design = Design(row["scenario"], row["n"], row["length"], row["effect"])
        simulated, row_seed = getattr(measure, row["kind"]), _seed(row, seed)
        trials = repeat(simulated, design, row["repeats"], confidence=confidence, seed=row_seed)
        if row["kind"] == "trial":
            table = outcomes(trials, confidence=confidence)
        else:
            table = family_errors(trials, effect=design.effect, confidence=confidence)
        key = pd.DataFrame([{name: row[name] for name in DESIGN}] * len(table))
        results.append(pd.concat([key, table], axis=1))
    return pd.concat(results, ignore_index=True) if results else pd.DataFrame()


def _seed(row: dict[str, object], seed: int) -> int:
    """Return a design's own seed, so that the errors of two designs are independent."""
    name = "/".join(str(row[key]) for key in (*DESIGN, "kind"))
    return int(np.random.SeedSequence([seed, zlib.crc32(name.encode())]).generate_state(1)[0])
