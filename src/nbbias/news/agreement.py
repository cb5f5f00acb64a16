"""Do scorers of sentiment agree on the tone towards a group, or is the scorer measured?

A multitrait–multimethod matrix: tone towards one group by two scorers should be correlated, tone
towards groups of two biases by one scorer should not.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from nbbias import stats, tables
from nbbias.news import claims, tone
from nbbias.news.corpus import CELL
from nbbias.news.scoring import MASKED
from nbbias.stats.agreement import MEASURE

#: What is correlated, and its key in the column `dimension`.
LEVELS = ("articles", "models")

#: Scorers that hold others: they agree with these by construction.
_DERIVED = "sentiment_combined"

#: Models that a correlation of means needs.
_FEWEST_MODELS = 4

_KEYS = {"part": "group", "method": "instrument"}
_ENDS = ("first", "second")


def estimates(
    scores: pd.DataFrame, measured: pd.DataFrame, *, confidence: float, study: str = "news_bias"
) -> pd.DataFrame:
    """Correlate the tone towards groups between scorers and biases, on articles and on models.

    Parameters
    ----------
    scores
        SCORES of `news.tone.pair_scores`.
    measured
        By what sentences were scored (`news.scoring.Scored.measured`). Left out are scores without
        descriptors, and the mean of other scorers.
    confidence
        Level of the intervals.
    study
        Whose table this is.

    Returns
    -------
    DataFrame
        ESTIMATES of `stats.multitrait_multimethod`; `group` and `instrument` are of the first
        measure, `second_group` and `second_instrument` of the second. `dimension` ``"articles"``:
        Pearson's, of an article's shift less its mean by model and prompt; N counts articles.
        ``"models"``: Spearman's, of mean shifts by model and prompt; N counts models. The shift is
        of sentences that name this group and none of another bias. The neutral sentences' is not
        subtracted, since one subtrahend would correlate all groups.

    Examples
    --------
    >>> from nbbias import news, text
    >>> pairs = news.pair(*news.sample.corpus({"colder": {"tone_female": -0.4}}, seed=1))
    >>> read = news.annotate(pairs, lexicon=text.lexicons.load("gender"))
    >>> scored = news.scoring.score(
    ...     read, scorers=["textblob", "vader"], toxicity_scorer="offline", swapped=False
    ... )
    >>> scores = news.tone.pair_scores(read, scored)
    >>> rows = estimates(scores, scored.measured, confidence=0.95).set_index("statistic")
    >>> bool(rows.loc["convergent_mean", "estimate"].iloc[0] > 0.3)
    True
    >>> rows.loc["validity_difference", "reason"].iloc[0]
    'needs two traits by one method'
    """
    scorers = measured[measured["measure"] == "sentiment"]
    scorers = scorers[~scorers["column"].str.endswith(MASKED)]
    used = scorers["column"].ne(_DERIVED) | (len(scorers) == 1)
    wide = _shifts(scores[scores["instrument"].isin(scorers.loc[used, "instrument"])])
    index = wide.index.to_frame(index=False)
    cells = index.groupby(list(CELL)).ngroup()
    means = wide.groupby(level=list(CELL)).mean()
    means = means.where(wide.groupby(level=list(CELL)).count() >= tone.FEWEST)
    articles = index.groupby(["source", "article_id"]).ngroup()
    parts = [
        stats.multitrait_multimethod(wide, clusters=articles, strata=cells, confidence=confidence),
        stats.multitrait_multimethod(
            means.rank(),
            clusters=means.index.get_level_values("model").to_numpy(),
            confidence=confidence,
            fewest=_FEWEST_MODELS,
        ),
    ]
    named = [part.assign(dimension=of) for of, part in zip(LEVELS, parts, strict=True)]
    rows = pd.concat(named, ignore_index=True)
    keys = wide.columns.to_frame(index=False).rename(columns=_KEYS)[[*_KEYS.values()]]
    first, second = (keys.reindex(rows.pop(end)).set_axis(rows.index) for end in _ENDS)
    first["instrument"] = first["instrument"].fillna(", ".join(keys["instrument"].unique()))
    common: dict[str, Any] = {"study": study, "measure": "sentiment", "confidence": confidence}
    result = tables.estimates(pd.concat([rows, first], axis=1).to_dict("records"), **common)
    result = stats.adjust(result, family=["dimension"])
    return result.assign(**second.add_prefix("second_").reset_index(drop=True))


def _shifts(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the shift of an article's sentences about one group alone, by `MEASURE`."""
    keys, parts = [*CELL, "article_id"], []
    for (bias, scorer), of in scores.groupby(["bias", "instrument"], sort=False):
        rows = claims.per_article(of, tone.POOLING).set_index(keys).filter(regex=f"^{tone.ALONE}")
        groups = rows.dropna(axis=1, how="all").rename(columns=lambda name: name.partition("_")[2])
        measures = [(str(bias), group, str(scorer)) for group in groups]
        parts.append(groups.set_axis(pd.MultiIndex.from_tuples(measures, names=MEASURE), axis=1))
    return pd.concat(parts, axis=1)
