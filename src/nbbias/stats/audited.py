"""From swap effects of sentences to what an instrument adds to a group, and how surely."""

from __future__ import annotations

import pandas as pd

from nbbias.stats.intervals import mean_interval

#: Words that are named as those that move an instrument most.
WORST = 3


def swap_effects(effects: pd.DataFrame, *, confidence: float) -> pd.DataFrame:
    """Say of each group how far its name moves an instrument.

    Parameters
    ----------
    effects
        Of `text.audit.template_effects`, of several instruments one below the other, with
        `instrument`.
    confidence
        Level of the intervals.

    Returns
    -------
    DataFrame
        By `instrument`, `bias`, `words` and `group`: `swap_effect`, the mean, with `ci_low`,
        `ci_high` (t over templates: the words are those of the list, the sentences a sample of
        what can be said) and `n`; `beside_nobody`, the mean distance from sentences that name no
        group; `worst_words`, who moves the instrument most, with the means (beside nobody, names
        beside names). 0: the instrument is moved by no group more than by another.

    Examples
    --------
    >>> effects = pd.DataFrame({"instrument": "i", "bias": "b", "words": "words", "group": "g",
    ...                         "said": ["x", "y", "y"], "swap_effect": [0.0, 0.2, 0.4],
    ...                         "beside_nobody": [0.0, 0.3, 0.5]})
    >>> found = swap_effects(effects, confidence=0.95).iloc[0]
    >>> float(found["swap_effect"].round(3)), int(found["n"]), found["worst_words"]
    (0.2, 3, 'y (+0.40)')
    """
    rows = []
    keys = ["instrument", "bias", "words", "group"]
    moved = effects["beside_nobody"].fillna(effects["swap_effect"])
    for key, own in effects.assign(moved=moved).groupby(keys, sort=False):
        found = mean_interval(own["swap_effect"], confidence=confidence)
        by_word = own.groupby("said", sort=False)["moved"].mean()
        by_word = by_word[by_word.abs() >= 0.005]
        worst = by_word.loc[by_word.abs().sort_values(ascending=False, kind="stable").index]
        told = ", ".join(f"{who} ({mean:+.2f})" for who, mean in worst.head(WORST).items())
        rows.append(
            dict(zip(keys, key, strict=True))
            | {"swap_effect": found["estimate"], "ci_low": found["ci_low"]}
            | {"ci_high": found["ci_high"], "n": found["n"]}
            | {"beside_nobody": own["beside_nobody"].mean(), "worst_words": told or None}
        )
    columns = [*keys, "swap_effect", "ci_low", "ci_high", "n", "beside_nobody", "worst_words"]
    return pd.DataFrame(rows, columns=columns)
