"""The grid: every design of the chosen measures, each simulated once, kept and never made twice."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from nbbias import tables
from nbbias.calibration import measures
from nbbias.calibration.trials import Design, Measure, false_leads, outcomes
from nbbias.stats import InferenceSettings

#: What names a design, of one measure.
DESIGN = ("study", "measure", "unit", "world", "held_out", "n", "length", "size")


def designs(
    names: list[str],
    *,
    n: Sequence[int],
    repeats: int,
    lead_n: Sequence[int] = (),
    lead_repeats: int = 0,
) -> pd.DataFrame:
    """List what is simulated: a row for each design of each measure, and again for its lead.

    Parameters
    ----------
    names
        Measures, as ``study/name``; all where there is none.
    n, repeats
        Numbers of units, of which each measure takes the nearest that it has, and simulated
        studies of each design; a slow measure gets its share.
    lead_n, lead_repeats
        The same of simulated pages, with nothing and with the largest effect planted.

    Returns
    -------
    DataFrame
        `DESIGN` (`size` is what is planted), `of`, which is ``"trial"`` or ``"lead"``, and
        `repeats`.

    Examples
    --------
    >>> designs([], n=[30], repeats=10)["of"].unique().tolist()
    ['trial']
    """
    rows = []
    for one in measures.chosen(names).values():
        rows += _rows(
            one, "trial", product(one.worlds, _nearest(one, n), one.lengths, one.planted), repeats
        )
        ends = (0.0, max(one.planted, key=abs))
        if one.lead is not None and lead_repeats:
            pages = product(one.worlds, _nearest(one, lead_n), one.lengths[:1], ends)
            rows += _rows(one, "lead", pages, lead_repeats)
    return pd.DataFrame(rows, columns=[*DESIGN, "of", "repeats"])


def _rows(
    one: Measure, of: str, cells: Iterable[tuple[str, int, int, float]], times: int
) -> list[dict[str, Any]]:
    return [
        {
            "study": one.study,
            "measure": one.name,
            "unit": one.unit,
            "world": world,
            "held_out": world in one.held_out,
            "n": n,
            "length": length,
            "size": float(size),
            "of": of,
            "repeats": max(round(times * one.share), 2),
        }
        for world, n, length, size in cells
    ]


def _nearest(one: Measure, asked: Sequence[int]) -> list[int]:
    """Return the numbers of units of a measure that are nearest to those asked for, by ratio."""
    return list(dict.fromkeys(min(one.n, key=lambda n: abs(math.log(n / k))) for k in asked))


def simulate(designs: pd.DataFrame, *, inference: InferenceSettings) -> pd.DataFrame:
    """Simulate every design, and say what its repeats gave.

    Each design is a chunk (`tables.map_chunks`), kept under the hash of what it is, of how sure it
    is to be and of the source that it rests on: a run that was killed goes on where it was.

    Parameters
    ----------
    designs
        Of `designs`, all of one kind (`of`).
    inference
        Level, draws in each simulated study, and the seed, from which each design has its own.

    Returns
    -------
    DataFrame
        `DESIGN`, and OUTCOMES (`calibration.outcomes`) or what `calibration.false_leads` returns. A
        design that could not be simulated has no rows.
    """
    rests_on = designs["study"].where(designs["of"] == "trial", "").map(_version)
    rows = designs.assign(version=rests_on).to_dict("records")
    # One text a design, which is quickly told from others; a byte is less than any has.
    texts = pd.Series([json.dumps(row) for row in rows], dtype="str")
    found = tables.map_chunks(
        _simulated, texts, args=(tuple(inference),), chunk_bytes=1, label="designs"
    )
    kept = [one for one in found if len(one)]
    return pd.concat(kept, ignore_index=True) if kept else pd.DataFrame(columns=[*DESIGN])


def _simulated(designs: pd.Series, inference: tuple[float, int, int]) -> pd.DataFrame:
    """Simulate the designs of a chunk; the `version` of each is part of what they are kept by."""
    found = []
    for row in map(json.loads, designs):
        measure = measures.measures()[f"{row['study']}/{row['measure']}"]
        design = Design(row["world"], row["n"], row["length"], row["size"])
        given = InferenceSettings(*inference)._replace(seed=_seed(row, inference[2]))
        if row["of"] == "trial":
            told = outcomes(measure.trial(design, row["repeats"], given), confidence=inference[0])
        else:
            assert measure.lead is not None
            told = false_leads(measure.lead(design, row["repeats"], given), confidence=inference[0])
        for at, name in enumerate(DESIGN):
            told.insert(at, name, row[name])
        found.append(told)
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame()


def _seed(row: dict[str, object], seed: int) -> int:
    """Return a design's own seed, so that the errors of two designs are not the same ones."""
    name = "/".join(str(row[key]) for key in (*DESIGN, "of"))
    return int(np.random.SeedSequence([seed, zlib.crc32(name.encode())]).generate_state(1)[0])


@cache
def _version(study: str) -> str:
    """Hash the source that a study's trials rest on; of no study, all that this package is."""
    package = {"news_bias": "news"}.get(study, study)
    root = Path(tables.data_path("SOURCES.md")).parents[1]
    if package:
        return tables.measuring_version(f"nbbias.{package}")
    return tables.digest([path.read_bytes() for path in sorted(root.rglob("*.py"))])


def left_out(designs: pd.DataFrame, found: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the designs of which nothing came: a world that takes data that are not here.

    Examples
    --------
    >>> asked = pd.DataFrame([dict.fromkeys(DESIGN, 1)])
    >>> len(left_out(asked, [asked])), len(left_out(asked, [asked.iloc[:0]]))
    (0, 1)
    """
    there = pd.concat([one.reindex(columns=[*DESIGN]) for one in found]).drop_duplicates()
    keys = [*DESIGN]
    both = designs.merge(there.astype(designs[keys].dtypes), on=keys, how="left", indicator=True)
    return both.loc[both["_merge"] == "left_only", list(designs)].reset_index(drop=True)


# --- what it can see --------------------------------------------------------------------------

#: How often what can be seen is seen.
POWER = 0.8


def least(outcomes: pd.DataFrame) -> pd.DataFrame:
    """Say which effect a test tells four times of five, by number of units.

    Parameters
    ----------
    outcomes
        OUTCOMES with `DESIGN`, of `simulate`.

    Returns
    -------
    DataFrame
        By `study`, `measure`, `statistic`, `unit`, `n`: `least`, the size at which the mean power
        over worlds and groups passes 80%, on a straight line between the sizes that were planted;
        NaN with a `reason` where none of them is told so often; `largest`, the largest planted.

    Examples
    --------
    >>> row = {"study": "s", "measure": "m", "unit": "articles", "statistic": "d", "n": 30,
    ...        "n_tested": 40}
    >>> rows = [row | {"planted": 0.1, "told": 0.4}, row | {"planted": -0.2, "told": 1.0}]
    >>> round(float(least(pd.DataFrame(rows))["least"].iloc[0]), 3)
    0.167
    """
    keys = ["study", "measure", "statistic", "unit", "n"]
    if outcomes.empty:
        return pd.DataFrame(columns=[*keys, "least", "largest", "reason"])
    own = outcomes[(outcomes["planted"] != 0) & (outcomes["n_tested"] > 0)]
    own = own.assign(size_=own["planted"].abs().round(12))
    rows = []
    for key, some in own.groupby(keys, sort=False):
        power = some.groupby("size_")["told"].mean()
        found = _crossing(power)
        why = None if np.isfinite(found) else f"none planted is told {POWER:.0%} of the time"
        told = {"least": found, "largest": float(power.index.max()), "reason": why}
        rows.append(dict(zip(keys, key, strict=True)) | told)
    return pd.DataFrame(rows, columns=[*keys, "least", "largest", "reason"])


def _crossing(power: pd.Series) -> float:
    sizes, told = power.index.to_numpy(float), power.to_numpy(float)
    above = np.flatnonzero(told >= POWER)
    if not len(above):
        return float("nan")
    at = int(above[0])
    before = (sizes[at - 1], told[at - 1]) if at else (0.0, 0.0)
    return float(np.interp(POWER, [before[1], told[at]], [before[0], sizes[at]]))
