"""Scorer bias by group, estimated from swap effects of sentences."""

from __future__ import annotations

import pandas as pd

from nbbias.stats.estimate import Estimate
from nbbias.stats.intervals import mean_interval, one_sample

#: Words that are named as those that move an instrument most.
WORST = 3

#: Ends the name of a statistic that is corrected for scorer bias, and that of the scorer bias.
CORRECTED, SCORER_BIAS = "_corrected", "_instrument"

#: The endings of raw, corrected and scorer bias.
PARTS = ("", CORRECTED, SCORER_BIAS)

#: Units that an instrument alone must move before that has an interval: most are not moved.
MIN_MOVED = 5


def estimate_swap_effects(effects: pd.DataFrame, *, confidence: float) -> pd.DataFrame:
    """Estimate how much naming each group changes a score.

    Parameters
    ----------
    effects
        Of `text.substitution.score_templates`, of several instruments one below the other, with
        `instrument`.
    confidence
        Level of the intervals.

    Returns
    -------
    DataFrame
        By `instrument`, `bias`, `words` and `group`: `swap_effect`, the mean, with `ci_low`,
        `ci_high` (t over templates: the words are those of the list, the sentences a sample of
        what can be said) and `n`; `beside_nobody`, the mean difference from sentences that name no
        group; `worst_words`, who moves the instrument most, with the means (beside nobody, names
        beside names). 0: the instrument is moved by no group more than by another.

    Examples
    --------
    >>> effects = pd.DataFrame({"instrument": "i", "bias": "b", "words": "words", "group": "g",
    ...                         "said": list("xyyvw"), "swap_effect": [0.0, 0.2, 0.4, 0.1, 0.3],
    ...                         "beside_nobody": [0.1, 0.3, 0.5, -0.6, 0.2]})
    >>> row = estimate_swap_effects(effects, confidence=0.95).iloc[0]
    >>> float(row["swap_effect"].round(3)), int(row["n"]), row["worst_words"]
    (0.2, 5, 'v (-0.60), y (+0.40), w (+0.20)')
    """
    rows = []
    keys = ["instrument", "bias", "words", "group"]
    moved = effects["beside_nobody"].fillna(effects["swap_effect"])
    for key, subset in effects.assign(moved=moved).groupby(keys, sort=False):
        result = mean_interval(subset["swap_effect"], confidence=confidence)
        by_word = subset.groupby("said", sort=False)["moved"].mean()
        by_word = by_word[by_word.abs() >= 0.005]
        worst = by_word.loc[by_word.abs().sort_values(ascending=False, kind="stable").index]
        most_moved = ", ".join(f"{who} ({mean:+.2f})" for who, mean in worst.head(WORST).items())
        numbers = (result.estimate, result.ci_low, result.ci_high, result.n)
        rows.append((*key, *numbers, subset["beside_nobody"].mean(), most_moved or None))
    columns = [*keys, "swap_effect", "ci_low", "ci_high", "n", "beside_nobody", "worst_words"]
    return pd.DataFrame(rows, columns=columns)


def decompose(raw: pd.Series, swap: pd.Series) -> dict[str, pd.Series]:
    """Decompose values: raw = corrected + scorer bias.

    Parameters
    ----------
    raw
        Each unit's value.
    swap
        Each unit's mean swap effect, by the same index; NaN where words have no counterparts.

    Returns
    -------
    dict
        By the ending of a statistic (`PARTS`): the values, those corrected for scorer bias, and the
        scorer bias of the units that have a value.

    Examples
    --------
    >>> parts = decompose(pd.Series([0.5, float("nan")]), pd.Series([0.1, 0.2]))
    >>> {name: part.tolist() for name, part in parts.items()}
    {'': [0.5, nan], '_corrected': [0.4, nan], '_instrument': [0.1, nan]}
    """
    added = swap.astype(float).where(raw.notna())
    return dict(zip(PARTS, (raw, raw - added, added), strict=True))


def scorer_bias(values: pd.Series, *, units: str, confidence: float) -> Estimate:
    """Test scorer bias against 0.

    Parameters
    ----------
    values
        Each unit's mean swap effect; NaN where it was not swapped.
    units
        What they are, as readers call them.
    confidence
        Level of the interval.

    Returns
    -------
    Estimate
        As of `one_sample`, with `null`; with neither interval nor test where fewer than `MIN_MOVED`
        units are moved at all.

    Examples
    --------
    >>> result = scorer_bias(pd.Series([0.0, 0.5, 0.0]), units="articles", confidence=0.95)
    >>> round(result.estimate, 3), result.ci_low, result.reason
    (0.167, nan, 'fewer than 5 articles are moved by the instrument alone')
    """
    result = one_sample(values, confidence=confidence).replace(null=0.0)
    if not result.n:
        return result.replace(reason="words of the answers have no counterparts")
    if (values.abs() > 1e-9).sum() < MIN_MOVED:
        reason = f"fewer than {MIN_MOVED} {units} are moved by the instrument alone"
        return result.without_test(reason)
    return result
