"""What the sentence that leads a page says, against what was planted; and where a trial starts."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from nbbias import tables
from nbbias.calibration.trials import Design
from nbbias.params import Claim, Texts
from nbbias.reading.claims import declared
from nbbias.stats import InferenceSettings

#: Where the texts of simulated runs are from: no study reads it off.
TEXTS = Texts("simulated", "Counts with a known truth; no model wrote anything.")


def start(design: Design, inference: InferenceSettings) -> np.random.Generator:
    """Return the source of chance of a design: the same for the same design and seed.

    Examples
    --------
    >>> design = Design("runs", 30, 12, 0.0)
    >>> one, same, other = (
    ...     start(design._replace(n=n), InferenceSettings()).random() for n in (30, 30, 9)
    ... )
    >>> one == same, one == other
    (True, False)
    """
    return np.random.default_rng([inference.seed, zlib.crc32(repr(tuple(design)).encode())])


def pages(
    runs: Sequence[Sequence[Mapping[str, Any]]],
    *,
    claims: Sequence[Claim],
    study: str,
    **common: Any,
) -> Iterator[pd.DataFrame]:
    """Return of each simulated run the declared rows that lead its page.

    Parameters
    ----------
    runs
        Rows of ESTIMATES, as many as each run has.
    claims
        What was declared, such as a study's by default.
    study, **common
        As in `nbbias.tables.estimates`; with the `confidence`.

    Examples
    --------
    >>> row = {"statistic": "index", "model": "m1", "estimate": 0.5, "n": 18, "p_value": 0.01}
    >>> led = pages([[row], [row | {"p_value": 0.3}]], claims=[{"statistic": "index"}],
    ...             study="llmbi", measure="llmbi", confidence=0.95)
    >>> [rows["verdict"].tolist() for rows in led]
    [['significant'], ['not significant']]
    """
    table = tables.estimates([row for own in runs for row in own], study=study, **common)
    run = np.repeat(np.arange(len(runs)), [len(own) for own in runs])
    for _, own in table.groupby(run, sort=False):
        yield declared(own.reset_index(drop=True), claims, confidence=common["confidence"])


def saying(
    design: Design,
    said: Sequence[str],
    *,
    claimed: Iterable[tuple[str, ...]],
    true: Iterable[tuple[str, ...]],
) -> dict[str, Any]:
    """Return a row of SAYINGS.

    Parameters
    ----------
    design
        What was planted.
    said
        The sentences that lead.
    claimed
        What was read off them, such as the model, the group and the side of each claim.
    true
        All that would be true.

    Examples
    --------
    >>> design = Design("runs", 30, 12, 0.0)
    >>> row = saying(design, ["m1 prefers men."], claimed=[("m1", "man")], true=[])
    >>> row["told"], row["false"]
    (True, True)
    """
    read, truth = set(claimed), set(true)
    return {
        "planted": design.planted,
        "told": bool(read),
        "false": bool(read - truth),
        "sentence": " ".join(said),
    }


def side_of(row: Mapping[str, Any]) -> str:
    """Return on which side of its null value a claim lies.

    Examples
    --------
    >>> side_of({"estimate": 0.2, "null": 0.5})
    'less'
    """
    null = row["null"] if np.isfinite(row["null"]) else 0.0
    return "more" if row["estimate"] > null else "less"


def sayings(rows: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """Return SAYINGS of their rows, as `nbbias.calibration.false_leads` reads them.

    Examples
    --------
    >>> sayings([]).columns.tolist()
    ['planted', 'told', 'false', 'sentence']
    """
    return pd.DataFrame(list(rows), columns=["planted", "told", "false", "sentence"])
