"""A specification curve: choices declared first, each set of them measured, all tested as one.

>>> from nbbias import studies
>>> sample = studies.place("news_bias") / "params/news_bias/sample.yaml"
>>> declared = declare(sample, over=["fewest=1,2", "statistic=share_difference"])
>>> declared.size, declared.over
(2, {'fewest': [1, 2], 'statistic': ['share_difference']})
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from nbbias import params, reading, stats, studies, tables
from nbbias.params import Choices, Parameters, Study
from nbbias.running import grid
from nbbias.stats import Sure
from nbbias.tables import NbbiasError, ParameterError, meant

#: Specifications of one curve.
MOST = 5000

#: Draws of swapped sides.
DRAWS = 2000


class Declared(NamedTuple):
    """What is asked and by which choices, fixed before data are read.

    `stem` the study, `base` the file's name; `values` what the file sets, whose relative paths
    begin at `start`; `claim` what is asked; `over` name → values, the run's own first; `sha256` of
    study, claim and choices, as canonical JSON.
    """

    stem: str
    base: str
    values: dict[str, Any]
    start: Path
    claim: dict[str, Any]
    over: dict[str, list[Any]]

    @property
    def sha256(self) -> str:
        """Return the hash by which these choices are known."""
        return params.claims_sha256([{"study": self.stem, "claim": self.claim, "over": self.over}])

    @property
    def size(self) -> int:
        """Return the number of specifications."""
        return math.prod(map(len, self.over.values()))


class Curve(NamedTuple):
    """What was found: `rows`, a specification each, sorted; `joint`, `stats.Joint`; `values`."""

    rows: pd.DataFrame
    joint: stats.Joint
    values: pd.DataFrame


def declare(
    path: Path, *, over: Sequence[str] = (), claim: int = 1, overrides: Sequence[str] = ()
) -> Declared:
    """Read what is asked and all choices, and check each alone; no data are read.

    Parameters
    ----------
    path
        A params file.
    over
        ``name=a,b,c`` as of `grid.combinations`, or a YAML file of lines ``name: [a, b, c]``.
        Without any the study's own choices (`params.Choices`).
    claim
        The number of the claim that is asked, of those that the parameters declare.
    overrides
        ``name=value`` pairs that win over the file.

    Raises
    ------
    ParameterError
        All that is wrong with parameters, claim and choices.
    """
    stem, values = studies.read(path)
    values.pop("generate", None)
    study, start = studies.study(stem), path.absolute().parent
    choices = _choices(study)
    values |= params.moved(
        study.parameters, dict(params.override(one) for one in overrides), start=Path.cwd(),
        to=start,
    )  # fmt: skip
    with tables.starting_at(start):
        chosen = studies.validate(stem, values, where=str(path))
    claims: list[dict[str, Any]] = chosen.model_dump().get("claims", [])
    if not 1 <= claim <= len(claims):
        told = f"{len(claims)} claims are declared" if claims else "no claim is declared"
        raise ParameterError(f"--claim {claim}", f"{told} in {path}")
    asked = {key: one for key, one in claims[claim - 1].items() if key != params.SMALLEST}
    wrong = choices.breaches(chosen, asked, {})
    if wrong:
        raise ParameterError(f"--claim {claim}", wrong)
    with tables.starting_at(start):
        found = _over(study, over) if over else choices.declared(chosen, asked)
    declared = Declared(stem, path.stem, values, start, asked, found)
    wrong = [*choices.breaches(chosen, asked, found), *_breaches(study, declared)]
    if wrong:
        raise ParameterError("--over", wrong)
    return declared


def _choices(study: Study) -> Choices:
    if study.choices is None:
        able = ", ".join(stem for stem, one in studies.STUDIES.items() if one.choices)
        raise ParameterError("nbbias curve", f"{study.stem} names no choices; {able} does")
    return study.choices()


def _over(study: Study, given: Sequence[str]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for one in given:
        if "=" not in one:
            found |= params.read_yaml(Path(one))
            continue
        several = grid.combinations([one], model=study.parameters)
        name = next(iter(several[0]))
        found[name] = [each[name] for each in several]
    return found


def _breaches(study: Study, declared: Declared) -> list[str]:
    """Return what is wrong with names and values of choices, each parameter's taken alone."""
    own, told = _choices(study).own, []
    known = [*study.parameters.model_fields, *own]
    if declared.size > MOST:
        told.append(f"{declared.size:,} specifications; {MOST:,} are the most")
    for name, values in declared.over.items():
        if not isinstance(values, list) or not values:
            told.append(f"{name}: give the values in a list")
        elif name not in known:
            told.append(f"{name} is no choice of {study.stem}; {meant(name, known)}")
        elif len({json.dumps(one, sort_keys=True) for one in values}) < len(values):
            told.append(f"{name}: a value stands twice")
        elif name in study.parameters.model_fields:
            for one in values:
                try:
                    _parameters(declared, {name: one})
                except NbbiasError as error:
                    told += error.breaches
    return list(dict.fromkeys(told))


def _parameters(declared: Declared, over: Mapping[str, Any]) -> Parameters:
    with tables.starting_at(declared.start):
        return studies.validate(declared.stem, {**declared.values, **over})


def listed(declared: Declared) -> list[str]:
    """Say what is declared, a line a choice, and the hash of it all."""
    asked = ", ".join(str(one) for one in declared.claim.values())
    lines = [f"{declared.stem}: {asked}"]
    lines += [f"  {name}: {', '.join(map(_told, of))}" for name, of in declared.over.items()]
    lines.append(f"{declared.size:,} specifications, declared as sha256 {declared.sha256}")
    return [tables.escape.terminal(line) for line in lines]


# --- measuring --------------------------------------------------------------------------------


def measure(declared: Declared, *, draws: int = DRAWS) -> Curve:
    """Measure every specification, those alike but for what a study needs no new reading for at
    once, over all cores; what is done is kept, so that one that was stopped goes on.

    Raises
    ------
    NbbiasError
        What the study raises of its inputs.
    """
    study = studies.study(declared.stem)
    own = _choices(study).own
    names = list(declared.over)
    every = pd.DataFrame(
        list(itertools.product(*declared.over.values())), columns=names, dtype=object
    )
    outer = [name for name in names if name not in own]
    written = [json.dumps({name: row[name] for name in outer}, sort_keys=True)
               for row in every.to_dict("records")]  # fmt: skip
    keys = list(dict.fromkeys(written))
    base = _parameters(declared, {})
    with tables.starting_at(declared.start):
        stamps = [tables.stamp(str(one)) for one in params.input_files(base).values()]
    inner = [name for name in names if name in own]
    over = {name: declared.over[name] for name in inner}
    given = (declared.stem, declared.values, str(declared.start), declared.claim, over, stamps)
    with tables.environment(NBBIAS_CACHE=tables.default_cache()):
        blocks = tables.map_chunks(measured, pd.Series(keys, dtype=object), given=given, size=1)
    parts = [block.set_index("unit").add_prefix(f"{key}|") for block, key in
             zip(blocks, keys, strict=True)]  # fmt: skip
    whole = pd.concat(parts, axis=1)
    place = {json.dumps(one): str(i) for i, one in enumerate(itertools.product(*over.values()))}
    columns = [f"{key}|{place[json.dumps(tuple(row[name] for name in inner))]}"
               for key, row in zip(written, every.to_dict("records"), strict=True)]  # fmt: skip
    values = whole[columns].set_axis(range(len(columns)), axis=1)
    return of_values(values, every, sure=Sure(base.confidence, draws, base.seed))


def of_values(values: pd.DataFrame, every: pd.DataFrame, *, sure: Sure) -> Curve:
    """Put specifications in order and test them, given units by specifications and their choices.

    Returns
    -------
    Curve
        `rows`: a choice a column, as text; `declared`, whether it is the first of all choices, as a
        run has them; what `stats.curve` finds; and the band of `stats.joint`. Those in which
        nothing was measured stand last, with the reason.
    """
    found = stats.curve(values, confidence=sure.confidence)
    told = every.map(_told).set_axis(found.index)
    rows = pd.concat([told, found], axis=1)
    rows.insert(len(told.columns), "declared", [i == 0 for i in range(len(rows))])
    rows = rows.sort_values("estimate", kind="stable")
    joint = stats.joint(values, sure=sure)
    measured_ones = rows["estimate"].notna()
    for name in ("null", "null_low", "null_high"):
        rows[name] = math.nan
        rows.loc[measured_ones, name] = joint.band[name].to_numpy() if len(joint.band) else []
    rows["confidence"] = sure.confidence
    return Curve(rows.reset_index(drop=True), joint, values)


def _told(value: Any) -> str:
    """Write a value as people read it: a list of one as what it holds."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, str) else params.as_yaml(value, flow=True).strip()


def measured(
    keys: pd.Series, stem: str, values: dict[str, Any], start: str, claim: dict[str, Any],
    over: dict[str, list[Any]], stamps: list[str],
) -> pd.DataFrame:  # fmt: skip
    """Return units by specifications of one set of parameters: `unit`, and a number a column."""
    del stamps  # of the inputs, which what is kept depends on
    parts = []
    for key in keys:
        with tables.starting_at(Path(start)):
            chosen = studies.validate(stem, {**values, **json.loads(key)})
            several = [dict(zip(over, one, strict=True))
                       for one in itertools.product(*over.values())]  # fmt: skip
            parts.append(_choices(studies.study(stem)).values(chosen, claim, several))
    found = pd.concat(parts, axis=1)
    found.columns = [str(i) for i in range(found.shape[1])]
    return found.rename_axis("unit").reset_index()


def told(declared: Declared, curve: Curve) -> list[str]:
    """Return the sentences that say what was found."""
    return reading.curve.sentences(
        curve.rows, claim={"study": declared.stem, **declared.claim}, tests=curve.joint.tests,
        unit=_choices(studies.study(declared.stem)).called,
    )  # fmt: skip


# --- what people get --------------------------------------------------------------------------


def save(declared: Declared, curve: Curve, *, out: Path) -> Path:
    """Write the figure with its CSV twin, the tables and what was declared; return the folder."""
    named = "-".join(str(declared.claim.get(key, "")) for key in ("measure", "bias", "group"))
    folder = out / declared.stem / f"{declared.base}-{named.lower()}"
    called = _choices(studies.study(declared.stem)).called
    tables.write(folder / "declared.yaml", params.as_yaml({
        "study": declared.stem, "claim": declared.claim, "over": declared.over,
        "sha256": declared.sha256,
    }))  # fmt: skip
    tables.save_table(curve.rows, "curve", out=folder)
    tables.save_table(curve.joint.tests, "joint", out=folder)
    drawn = reading.curve.drawn(
        curve.rows, list(declared.over), claim={"study": declared.stem, **declared.claim},
        tests=curve.joint.tests, unit=called,
    )  # fmt: skip
    tables.save_figure(
        drawn.figure, "curve", data=drawn.rows, out=folder, narrow=drawn.narrow,
        words={"alt": drawn.alt, "title": drawn.title, "caption": drawn.caption},
    )  # fmt: skip
    return folder
