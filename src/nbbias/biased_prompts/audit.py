"""What the detector of refusals adds by itself: answers with other people in them.

An answer's swap effect (`text.audit`) is its verdict, 1 where it is told as refused, less the mean
verdict on the same answer about each group in turn. A rate is the one of swapped answers plus
what the detector alone adds. Not to be taken for the rate corrected for the detector's errors.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from nbbias import refusals, stats, tables
from nbbias.biased_prompts import refusing
from nbbias.biased_prompts.corpus import EVERY
from nbbias.biased_prompts.refusing import ARTICLE, RECORDED, STUDY

SWAPPED, INSTRUMENT = "_swapped", "_instrument"
#: What stands of swapped answers, and by the detector alone, too.
STATISTICS = ("refusal_rate", "refusal_rate_change")

Row = dict[str, Any]


def swap_effects(answers: pd.DataFrame, *, lexicon: pd.DataFrame) -> pd.DataFrame:
    """Read the answers that name a group once more with each group of its list in its place.

    Parameters
    ----------
    answers
        The table of `refusing.answered`.
    lexicon
        The expanded terms of the study's biases.

    Returns
    -------
    DataFrame
        By the index of `answers`: `named`, how many lists the answer names, and `swap`, in
        [-1, 1] for each list that it names, added up; 0 where it names none, NaN where a word has
        no counterpart, and everywhere where refusals came recorded.

    Examples
    --------
    >>> from nbbias.text import lexicons
    >>> answers = pd.DataFrame({"text": ["She won.", "I can't write that."], "reason": "read",
    ...                         "refused": [False, True]})
    >>> found = swap_effects(answers, lexicon=lexicons.expand(lexicons.load("gender")))
    >>> found.to_numpy().tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    if (answers["reason"] == RECORDED).all():
        return pd.DataFrame(np.nan, index=answers.index, columns=["named", "swap"])
    texts, told = (answers[name].reset_index(drop=True) for name in ("text", "refused"))
    found = refusals.swapped_answers(texts, told.astype("boolean"), lexicon, refusals.instrument())
    return found.set_axis(answers.index)


def estimates(
    answers: pd.DataFrame,
    *,
    swaps: pd.DataFrame,
    neutral: str = "neutral",
    biased: str = "biased",
    confidence: float = 0.95,
    correction: str = "holm",
) -> pd.DataFrame:
    """Part rates of refusals: of swapped answers, and what the detector adds by itself.

    Parameters
    ----------
    answers
        The table of `refusing.answered`.
    swaps
        Of `swap_effects`.
    neutral, biased, confidence, correction
        As of `refusing.rates`.

    Returns
    -------
    DataFrame
        ESTIMATES, no row where refusals came recorded. Of `STATISTICS`, over all outlets and by
        outlet: ``…_swapped``, as `refusing.rates` but each answer counting as the share of the
        groups, one after the other in its place, with which it is told as refused (kept within 0
        and 1 where it names several lists); ``…_instrument``, the rest, above 0 where
        more is told as refused for whom answers name (`stats.scorer_bias` over articles). The
        two add up to what is told where all words have counterparts. Each changed rate is a family
        of its own.

    Examples
    --------
    >>> answers = pd.DataFrame({"source": "s", "article_id": ["1", "2"], "model": "m",
    ...                         "prompt": "biased", "refused": [True, False], "reason": "read"})
    >>> swaps = pd.DataFrame({"named": 1, "swap": [0.5, 0.0]})
    >>> found = estimates(answers, swaps=swaps).set_index("statistic")["estimate"]
    >>> found["refusal_rate_swapped"].item(), found["refusal_rate_instrument"].item()
    (0.25, 0.25)
    """
    if (answers["reason"] == RECORDED).all():
        return tables.estimates([], study=STUDY)
    told = answers["refused"].astype("Float64").astype(float)
    swapped = (told - swaps["swap"]).clip(0, 1)
    rest = refusing.rates(
        answers.assign(refused=swapped),
        neutral=neutral,
        biased=biased,
        confidence=confidence,
        correction=correction,
    )
    rest = rest[rest["statistic"].isin(STATISTICS)]
    rest = rest.assign(statistic=rest["statistic"] + SWAPPED)
    added = answers.assign(added=told - swapped)
    alone = tables.estimates(
        [*_alone(added, (neutral, biased), confidence)],
        study=STUDY,
        measure="refusal",
        instrument=refusals.instrument(),
        confidence=confidence,
    )
    changed = {"statistic": f"refusal_rate_change{INSTRUMENT}"}
    alone = stats.adjust(alone, where=changed, method=correction)
    return pd.concat([rest, alone], ignore_index=True)


def _alone(answers: pd.DataFrame, prompts: tuple[str, str], confidence: float) -> Iterator[Row]:
    how: Row = {"units": "articles", "confidence": confidence}
    units = answers.groupby([*ARTICLE, "model", "prompt"], sort=False)["added"].mean()
    several = answers["source"].nunique() > 1
    for (model, prompt), own in units.groupby(["model", "prompt"], sort=False):
        parts: list[tuple[Any, pd.Series]] = [(EVERY, own)]
        parts += list(own.groupby("source", sort=False)) if several else []
        for source, part in parts:
            key = {"model": model, "prompt": prompt, "source": source}
            row = stats.scorer_bias(part, bounds=(-1.0, 1.0), **how).row()
            yield key | {"statistic": f"refusal_rate{INSTRUMENT}"} | row
    neutral, biased = prompts
    for model, own in units.groupby("model", sort=False):
        wide = own.droplevel("model").unstack("prompt").reindex(columns=[biased, neutral])
        change = stats.scorer_bias(wide[biased] - wide[neutral], bounds=(-2.0, 2.0), **how).row()
        row = change | {"test": "paired t"}
        key = {"model": model, "prompt": f"{biased} − {neutral}", "source": EVERY}
        yield key | {"statistic": f"refusal_rate_change{INSTRUMENT}"} | row
