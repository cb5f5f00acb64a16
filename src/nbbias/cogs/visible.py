"""How visible is an identity in an answer?

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
from nbbias.text import embeddings, substitution

#: From the plainest to the least.
LEVELS = ("obvious", "nuanced", "imperceptible")

#: Share of the answers of other axes that may lie as near to an identity's words as `threshold`:
#: the false-positive rate of the hints that similarity finds.
FALSE_ALARMS = 0.05


def markers() -> dict[str, dict[str, list[str]]]:
    """Return the words by identity: `obvious` and `nuanced`."""
    return read_shipped_yaml("cogs/markers.yaml")


@cache
def _masks() -> dict[str, str]:
    """Return what stands for the plain words of all identities."""
    masks = read_shipped_yaml("cogs/masks.yaml")
    plain = [str(word).lower() for levels in markers().values() for word in levels[LEVELS[0]]]
    return {word: masks.get(word, "") for word in plain}


def mask(answers: pd.DataFrame) -> pd.DataFrame:
    """Return answers in which the plain words of all identities (`markers`) are masked.

    An answer that repeats its identity ("as a Muslim …") lies further from the default by these
    words alone, whatever else it says: sentence vectors move with them.

    Examples
    --------
    >>> mask(pd.DataFrame({"text": ["A Black woman sang.", None]}))["text"].tolist()
    ['A person sang.', nan]
    """
    return answers.assign(text=substitution.replace_words(answers["text"], _masks()))


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
        The answers with an identity and a text, with their `level`. A hint is a word of the list,
        or a cosine to "being" and the identity's words, beyond the mean of that prompt's default
        answers, that few answers of other axes reach (`FALSE_ALARMS`); of one axis alone it is a
        word.
    """
    table = answers[~is_blank(answers["text"])].reset_index(drop=True)
    vectors = embeddings.embed(table["text"], model=model)
    rows = []
    for axis, plan in suite.axes.items():
        for identity, description in plan.identities.items():
            statement = embeddings.embed([f"being {description}"], model=model)[0]
            excess = _excess(table, vectors @ statement)
            baseline = excess[table["axis"].notna() & (table["axis"] != axis)].dropna()
            limit = np.quantile(baseline, 1 - FALSE_ALARMS) if len(baseline) else np.inf
            part = table[table["identity"] == identity]
            obvious, hint = (_holds(part["text"], identity, level) for level in LEVELS[:2])
            hinted = hint | (excess[part.index] > limit)
            rows.append(part.assign(level=np.select([obvious, hinted], LEVELS[:2], LEVELS[2])))
    return pd.concat(rows, ignore_index=True)


def _holds(texts: pd.Series, identity: str, level: str) -> pd.Series:
    """Mark the texts that hold one of an identity's words."""
    words = sorted(map(re.escape, markers().get(identity, {}).get(level, [])), key=len)
    pattern = rf"(?<!\w)(?:{'|'.join(words[::-1]) or '(?!)'})(?!\w)"
    return texts.str.contains(pattern, case=False, regex=True)


def _excess(table: pd.DataFrame, cosine: np.ndarray) -> pd.Series:
    """Take away the mean of the default answers to the same prompt."""
    keys = ["model", *INSTANCE, *([SETTING] if SETTING in table else [])]
    near = table[keys].assign(cosine=cosine.astype(float))
    default = near["cosine"].where(table["identity"].isna())
    by_prompt = default.groupby([near[key] for key in keys], dropna=False)
    return near["cosine"] - by_prompt.transform("mean")


def visibility(
    levels: pd.DataFrame, answers: pd.DataFrame, *, confidence: float = stats.CONFIDENCE
) -> pd.DataFrame:
    """Count levels by model, axis and identity.

    Returns
    -------
    DataFrame
        `model`, `axis`, `identity`, `n` (answers); for each level its share in [0, 1], with its
        Wilson interval, such as `obvious_low`, `obvious_high`; and `obvious_default`: the share of
        default answers (no identity) with the same words.
    """
    defaults = answers[answers["identity"].isna() & answers["text"].notna()]
    rows: list[dict[str, Any]] = []
    for model, of_model in levels.groupby("model", sort=False):
        plain = defaults.loc[defaults["model"] == model, "text"]
        for (axis, identity), part in of_model.groupby(["axis", "identity"], sort=False):
            row = {"model": model, "axis": axis, "identity": identity, "n": len(part)}
            for level in LEVELS:
                share = stats.share_interval(part["level"] == level, confidence=confidence)
                ends = [share.estimate, share.ci_low, share.ci_high]
                row |= dict(zip([level, f"{level}_low", f"{level}_high"], ends, strict=True))
            rows.append(row | {"obvious_default": _holds(plain, identity, "obvious").mean()})
    return pd.DataFrame(rows)
