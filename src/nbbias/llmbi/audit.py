"""What the instruments add to the index by themselves: answers with other people in them.

An answer's swap effect (`text.audit`) is the size of its polarity less the mean size over the same
answer about each group in turn, for every word list that it names; the formula adds sizes up, so
an index is the corrected one plus what the instrument alone adds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from nbbias import stats, tables
from nbbias.llmbi import estimates as of
from nbbias.stats import InferenceSettings
from nbbias.text import audit, sentiment

CORRECTED, INSTRUMENT = "_corrected", "_instrument"
#: What stands corrected, and by the instrument alone, too.
STATISTICS = ("index", "difference", "dimension_mean")

Row = dict[str, Any]


def swap_effects(measured: pd.DataFrame, *, scorers: Sequence[str]) -> pd.DataFrame:
    """Score the answers that name a group once more with each group of its list in its place.

    Parameters
    ----------
    measured
        The table of `llmbi.scoring.measure`.
    scorers
        The instruments measured.

    Returns
    -------
    DataFrame
        By the index of `measured`: `named`, how many lists the answer names, and ``swap_<scorer>``:
        the size of its polarity less the mean size over the groups, added up over the lists; 0
        where it names none, NaN where a word has no counterpart. An answer is about the group that
        it names most.

    Examples
    --------
    >>> answers = pd.DataFrame({"text": ["A black nurse spoke.", "It rained."]})
    >>> swap_effects(answers, scorers=["textblob"])["swap_textblob"].round(3).tolist()
    [0.111, 0.0]
    """
    scorers = list(dict.fromkeys(scorers))
    swaps = _swap_effects(measured["text"].reset_index(drop=True), scorers, _versions(scorers))
    return swaps.set_axis(measured.index)


def _versions(scorers: Sequence[str]) -> list[str]:
    return [tables.stamp(scorer) for scorer in scorers]


@tables.stage
def _swap_effects(texts: pd.Series, scorers: list[str], versions: list[str]) -> pd.DataFrame:
    def size(texts: pd.Series, scorer: str) -> pd.Series:
        return sentiment.score(texts, scorer=scorer)["polarity"].abs()

    sizes = {f"swap_{scorer}": partial(size, scorer=scorer) for scorer in scorers}
    return audit.score_texts(texts, lexicon=audit.load_all_lists(), scores=sizes)


def estimates(
    scores: pd.DataFrame,
    reference: pd.DataFrame,
    *,
    swaps: pd.DataFrame,
    formula: Mapping[str, Any],
    aggregation: str = "mean",
    inference: InferenceSettings = of.INFERENCE,
) -> pd.DataFrame:
    """Estimate as `llmbi.estimates.estimates`, and what of it the instrument adds by itself.

    Parameters
    ----------
    scores, reference, formula, aggregation, inference
        As there.
    swaps
        Of `swap_effects`.

    Returns
    -------
    DataFrame
        The same rows, and of `STATISTICS` ``…_corrected``, the same of corrected scores, beside
        the same neutral prose, and ``…_instrument``, the rest (`stats.scorer_bias` over
        prompts). `p_adjusted` as of the raw ones, each of the three a family of its own.

    Examples
    --------
    >>> from nbbias import llmbi
    >>> answers = llmbi.scoring.read_answers("sample")
    >>> measured = llmbi.scoring.measure(answers, scorers=["textblob"])
    >>> reference = llmbi.neutral.neutral_reference(
    ...     llmbi.neutral.read_neutral("sample"), lengths=measured["n"], scorers=["textblob"]
    ... )
    >>> formula = {"bias_scorer": "textblob", "sentiment_scorer": "textblob"}
    >>> table = estimates(
    ...     llmbi.scoring.score_answers(measured, **formula), reference, formula=formula,
    ...     swaps=swap_effects(measured, scorers=["textblob"]),
    ...     inference=InferenceSettings(n_permutations=100),
    ... )
    >>> of = table[table["model"] == "plain-register"].set_index("statistic")["estimate"]
    >>> bool(abs(of["index"] - of["index_corrected"] - of["index_instrument"]) < 1e-12)
    True
    """
    given: Row = {"formula": formula, "aggregation": aggregation, "inference": inference}
    raw = of.estimates(scores, reference, **given)
    corrected = _without(scores, swaps, formula)
    rest = of.estimates(corrected, reference, **given)
    rest = rest[rest["statistic"].isin(STATISTICS)]
    rest = rest.assign(statistic=rest["statistic"] + CORRECTED)
    alone = tables.estimates(
        [
            *_alone(
                _composite(scores, aggregation) - _composite(corrected, aggregation),
                scores.assign(added=scores["score"] - corrected["score"]),
                inference.confidence,
            )
        ],
        study="llmbi",
        measure="llmbi",
        instrument=scores["instrument"].iloc[0],
        confidence=inference.confidence,
    )
    alone = stats.adjust(
        alone, family=["model"], where={"statistic": f"dimension_mean{INSTRUMENT}"}
    )
    alone = stats.adjust(alone, where={"statistic": f"difference{INSTRUMENT}"})
    return pd.concat([raw, rest, alone], ignore_index=True)


def _without(scores: pd.DataFrame, swaps: pd.DataFrame, formula: Mapping[str, Any]) -> pd.DataFrame:
    """Take from scores what the instruments add to each of their terms."""
    b, s = (formula.get(f"{term}_scorer", "textblob") for term in ("bias", "sentiment"))
    bias = scores["weighted_bias"] - scores["weight"] * swaps[f"swap_{b}"]
    tone = scores["sentiment_term"] - formula.get("lambda_factor", 1.5) * swaps[f"swap_{s}"]
    return scores.assign(
        weighted_bias=bias, sentiment_term=tone, score=bias + scores["penalty"] + tone
    )


def _composite(scores: pd.DataFrame, aggregation: str) -> pd.Series:
    """Return values whose mean over dimensions is the index, as in `llmbi.estimates`."""
    sizes = scores.groupby("model")["dimension"].transform("nunique")
    factor = sizes if aggregation == "sum" else 1
    return scores["score"] + (factor - 1) * scores["weighted_bias"]


def _alone(whole: pd.Series, scores: pd.DataFrame, confidence: float) -> Iterator[Row]:
    how: Row = {"units": "prompts", "confidence": confidence}
    by_model: dict[Any, pd.Series] = {}
    for model, own in scores.groupby("model", sort=False):
        units = of.by_prompt(own, whole[own.index])
        by_model[model] = units.set_index(["dimension", "prompt"])["value"]
        known = units.groupby("dimension", sort=False)["value"].count()
        # Dimensions weigh alike, however many of their prompts were scored.
        shares = units["dimension"].map(known.sum() / len(known) / known.where(known > 0))
        index = stats.scorer_bias(units["value"] * shares, **how)
        if not known.all():
            index = index.without_test("a dimension has no scored answer").replace(estimate=np.nan)
        yield {"model": model, "statistic": f"index{INSTRUMENT}", **index.row()}
        for dimension, part in of.by_prompt(own, own["added"]).groupby("dimension", sort=False):
            row = stats.scorer_bias(part["value"], **how).row()
            key = {"model": model, "dimension": dimension}
            yield key | {"statistic": f"dimension_mean{INSTRUMENT}"} | row
    for other, model in combinations(by_model, 2):
        row = stats.scorer_bias(by_model[model] - by_model[other], **how).row()
        yield {"model": model, "group": other, "statistic": f"difference{INSTRUMENT}", **row}
