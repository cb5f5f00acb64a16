"""How visible is an identity in an answer? Preferences read against what a judge could see.

Kumar, Yunusov and Emami (2024), section 5, call an identity obvious (said), nuanced (hinted at) or
imperceptible in a text, by hand and for examples. Here a lexicon says which words tell, and the
similarity to the identity's own words finds hints that no list has.

>>> from nbbias import cogs
>>> cogs.visible.markers()["woman"]["obvious"][:2]
['woman', 'women']
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from nbbias import stats
from nbbias.cogs.rbs import INSTANCE, SETTING
from nbbias.cogs.suite import Suite
from nbbias.tables import is_blank, read_shipped_yaml
from nbbias.text import embeddings

#: From the plainest to the least.
LEVELS = ("obvious", "nuanced", "imperceptible")

#: Share of the answers of other axes that may lie as near to an identity's words as `threshold`:
#: the chance level of the hints that similarity finds.
FALSE_ALARMS = 0.05

ONE_AXIS = "one axis alone has no answers to compare with: by words only"


@cache
def markers() -> dict[str, dict[str, list[str]]]:
    """Return the words by identity: `obvious` and `nuanced`."""
    return read_shipped_yaml("cogs/markers.yaml")


def _pattern(words: list[str]) -> re.Pattern[str]:
    longest = sorted((re.escape(str(word)) for word in words), key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(longest) or '(?!)'})(?!\w)", re.IGNORECASE)


def levels(answers: pd.DataFrame, suite: Suite, *, model: str = embeddings.AUTO) -> pd.DataFrame:
    """Say how visible each answer's identity is.

    Parameters
    ----------
    answers
        The table of `cogs.rbs.read_answers`.
    suite
        Holds the words for each identity.
    model
        As in `text.embeddings.embed`.

    Returns
    -------
    DataFrame
        One row per answer with an identity and a text: `model`, `task`, `topic`, `theme`, `axis`,
        `identity`, `sample`, `level`, `found` (the words), `similarity` (cosine to "being" and
        the identity's words, minus the mean of that prompt's default answers), `threshold`,
        `instrument` and a `reason` where similarity could not be used.
    """
    table = answers[~is_blank(answers["text"])].reset_index(drop=True)
    vectors = embeddings.embed(table["text"], model=model)
    rows = []
    for axis, plan in suite.axes.items():
        for identity, named in plan.identities.items():
            statement = embeddings.embed([f"being {named}"], model=model, progress=False)[0]
            excess = _excess(table, vectors @ statement)
            own = table["identity"] == identity
            others = table["axis"].notna() & (table["axis"] != axis)
            known = excess[others].dropna()
            limit = float(np.quantile(known, 1 - FALSE_ALARMS)) if len(known) else np.nan
            texts = table.loc[own, "text"]
            plain, hints = (
                texts.map(_pattern(markers().get(identity, {}).get(level, [])).findall)
                for level in LEVELS[:2]
            )
            hinted = (hints.str.len() > 0) | (excess[own] > limit)
            rows.append(
                table.loc[own, ["model", *INSTANCE, "axis", "identity", "sample"]].assign(
                    level=np.select([plain.str.len() > 0, hinted], LEVELS[:2], LEVELS[2]),
                    found=(plain + hints).map(_listed),
                    similarity=excess[own],
                    threshold=limit,
                    reason=None if len(known) else ONE_AXIS,
                )
            )
    columns = ["model", *INSTANCE, "axis", "identity", "sample", "level", "found", "similarity"]
    whole = pd.concat(rows, ignore_index=True)[[*columns, "threshold", "reason"]]
    return whole.assign(instrument=embeddings.instrument(model))


def _listed(hits: list[str]) -> str:
    return ", ".join(sorted({hit.lower() for hit in hits}))


def _excess(table: pd.DataFrame, cosine: np.ndarray) -> pd.Series:
    """Take away the mean of the default answers to the same prompt."""
    keys = ["model", *INSTANCE, *([SETTING] if SETTING in table else [])]
    near = table[keys].assign(cosine=cosine.astype(float))
    default = near[table["identity"].isna()].groupby(keys, dropna=False)["cosine"].mean()
    joined = near.merge(default.rename("default").reset_index(), on=keys, how="left")
    return joined["cosine"] - joined["default"]


def visibility(
    levels: pd.DataFrame, answers: pd.DataFrame, *, confidence: float = 0.95
) -> pd.DataFrame:
    """Count levels by model, axis and identity.

    Returns
    -------
    DataFrame
        `model`, `axis`, `identity`, `n` (answers); for each level its share in [0, 1]; for
        ``obvious`` its Wilson interval `obvious_low`, `obvious_high` and `obvious_default`: the
        share of default answers that hold the same words with no identity asked for.
    """
    defaults = answers[answers["identity"].isna() & answers["text"].notna()]
    rows: list[dict[str, Any]] = []
    for (model, axis, identity), own in levels.groupby(["model", "axis", "identity"], sort=False):
        shares = own["level"].value_counts(normalize=True)
        ends = stats.proportion_interval(
            int((own["level"] == "obvious").sum()), len(own), confidence=confidence
        ).row()
        pattern = _pattern(markers().get(identity, {}).get("obvious", []))
        plain = defaults.loc[defaults["model"] == model, "text"].map(
            lambda text, pattern=pattern: bool(pattern.search(text))
        )
        rows.append(
            {
                "model": model,
                "axis": axis,
                "identity": identity,
                "n": len(own),
                **{level: float(shares.get(level, 0.0)) for level in LEVELS},
                "obvious_low": ends["ci_low"],
                "obvious_high": ends["ci_high"],
                "obvious_default": float(plain.mean()) if len(plain) else np.nan,
            }
        )
    table = pd.DataFrame(rows)
    return table.sort_values("model", kind="stable", key=_first_seen, ignore_index=True)


def _first_seen(values: pd.Series) -> pd.Series:
    """Rank values by where they first stand; levels from the plainest to the least."""
    order = LEVELS if values.name == "level" else pd.unique(values)
    return values.map({value: i for i, value in enumerate(order)})
