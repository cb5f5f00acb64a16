"""The figures of the CoGS study: distances and scores, preferences, who judged whom.

>>> import numpy as np
>>> import pandas as pd
>>> from nbbias import cogs, tables
>>> index = pd.MultiIndex.from_product([range(4), range(5)], names=["task", "theme"])
>>> men = np.random.default_rng(0).uniform(0.6, 0.9, 20)
>>> shares = pd.DataFrame({"man": men, "woman": 1 - men}, index)
>>> rows = cogs.spread.spread_rows(shares, "abs", part="share", confidence=0.95)
>>> who = {"study": "cogs", "measure": "abs", "model": "m", "evaluator": "j", "bias": "gender"}
>>> estimates = tables.estimates_and_units(rows, confidence=0.95, **who).estimates
>>> cogs.figures.both(estimates, estimates=estimates).rows["panel"].unique().tolist()
['j, gender']
"""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from nbbias.cogs import sentences
from nbbias.cogs.spread import UNITS
from nbbias.cogs.tables import PARTS, by_setting, compared, leading, over_all, pooled, score_parts
from nbbias.reading import Drawn, figures, names, prose, significance

_NULL = "range under the null (unadjusted)"

#: What the scale of each part of a score says, and what its dots are.
_AXES = {
    "distance": "cosine distance to default texts",
    "share": "share chosen (dashed: equal share)",
}
#: What is filled among what a score is the spread of.
_MARKED = "Filled: the closest, or most chosen, identity of a significant score (Holm)."
_UNADJUSTED = "CIs: not adjusted for selection."
#: Models whose baseline a caption names.
_MOST_NAMED = 3
_TITLES = {
    "rbs": "distance of each identity's texts to the default texts",
    "abs": "share of comparisons in which a judge chose each identity's text",
}


def both(scores: pd.DataFrame, *, estimates: pd.DataFrame) -> Drawn:
    """Draw the scores that lead a page: distances of identities, and how often judges chose them.

    Parameters
    ----------
    scores
        Rows of ESTIMATES with RBS or ABS, or both, of which `tables.leading` chooses.
    estimates
        All ESTIMATES of the run.
    """
    shown, drawn = compared(estimates), []
    chosen = leading(compared(scores))
    significant = significance.is_significant(chosen)
    for score in chosen.to_dict("records"):
        rows = score_parts(score, shown)
        equal = rows["null"].where(rows["statistic"] == "share")
        drawn.append(rows.assign(reference=equal, panel=rows["who"] + ", " + rows["bias"]))
    rows = _marked(pd.concat(drawn) if drawn else shown.head(0), chosen)
    figure = figures.claims(
        rows.assign(cell=_people(rows)),
        lambda part: _AXES[part["statistic"].iloc[0]],
        draw=_from_zero,
        columns=2,
    )
    halves = significant.groupby(chosen["statistic"], sort=False).any()
    titles = [_TITLES[name] + " (not significant)" * (not any_) for name, any_ in halves.items()]
    return Drawn(
        figure,
        rows,
        "Distances of identities' texts to the default texts, and shares of identities in judges' "
        "choices, with intervals, a panel for each score that leads the page.",
        prose.capitalize("; ".join(titles)),
        f"{figures.caption(rows, 'means', of=UNITS, filled=_MARKED)} {_UNADJUSTED}",
    )


def _marked(rows: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Add `significant`: whether a significant score is at this identity."""
    found = scores[scores["statistic"].isin(PARTS) & significance.is_significant(scores)]
    keys = ["model", "task", "evaluator", "bias", "group"]
    at, of = (pd.MultiIndex.from_frame(part[keys].fillna("")) for part in (rows, found))
    return rows.assign(significant=at.isin(of))


def _from_zero(_: pd.DataFrame, ax: Axes) -> None:
    ax.set_xlim(left=0)


def distances(estimates: pd.DataFrame) -> Drawn:
    """Draw each identity's mean distance to the default, a panel a model.

    A dot with its interval; a dashed line at the baseline, the distance between two default
    answers, where there is one: the caption compares it with the identities.

    Parameters
    ----------
    estimates
        Of `cogs.rbs.rbs`.
    """
    part = by_setting(over_all(estimates))
    baselines = part[part["statistic"] == "baseline"].groupby("model")["estimate"].mean()
    rows = _marked(part[part["statistic"] == "distance"], part)
    rows = rows.assign(cell=_people(rows), reference=rows["model"].map(baselines))
    words = {"band": _NULL, "line": "same-writer baseline: two default answers"}
    baselines = baselines.dropna().head(_MOST_NAMED).reset_index().to_dict("records")
    return Drawn(
        figures.claims(rows, _AXES["distance"], by="model", words=words),
        estimates[estimates["statistic"].isin(["distance", "baseline"])],
        "Mean distance of each identity's answers to the default, with intervals, and the distance "
        "between two default answers, by model.",
        "Distance of each identity's texts to the default texts, by model",
        f"{figures.caption(rows, 'means', of=UNITS, band=_NULL, filled=_MARKED)} {_UNADJUSTED}"
        + " " * bool(baselines)
        + prose.render_plain("cogs.baselines", rows=baselines),
    )


def _people(rows: pd.DataFrame) -> pd.Series:
    return rows["group"].astype(object).map(names.people)


def preferences(estimates: pd.DataFrame) -> Drawn:
    """Draw each judge's shares of identities, orders balanced, a panel a judge.

    Parameters
    ----------
    estimates
        Of `cogs.affinity.abs_estimates`, of which all writers together are drawn.
    """
    rows = pooled(over_all(estimates))
    rows = _marked(rows[rows["statistic"] == "share"], rows)
    drawn, words = rows.assign(cell=_people(rows)), {"tick": "equal share"}
    return Drawn(
        figures.claims(drawn, "share chosen", by="evaluator", words=words, draw=figures.unit),
        rows,
        "Share of comparisons in which each identity's text was chosen, with intervals, by judge.",
        "Share of comparisons in which each identity's text was chosen, by judge",
        f"{figures.caption(drawn, 'means', of=UNITS, filled=_MARKED)} {_UNADJUSTED}",
    )


def identity_or_position(estimates: pd.DataFrame) -> Drawn:
    """Draw the ABS in two ways and the spread over positions, by axis, a panel a judge.

    A judge that goes by position has an ABS as published and a spread over positions, and no
    ABS where orders are balanced; one that goes by identity has the ABS in both ways.

    Parameters
    ----------
    estimates
        Of `cogs.affinity.abs_estimates`; all writers together are drawn.
    """
    ways = {"abs_raw": "paper's order", "abs": "counterbalanced", "position": "positions"}
    part = pooled(over_all(estimates))
    part = part[part["statistic"].isin(list(ways))]
    rows = part.assign(cell=part["bias"] + ": " + part["statistic"].map(ways))
    order = [*part["evaluator"].unique(), *part["bias"].unique(), *ways]
    keys = ["evaluator", "bias", "statistic"]
    rows = rows.sort_values(keys, key=lambda names: names.map(order.index))
    return Drawn(
        figures.claims(
            rows,
            "standard deviation of shares",
            by="evaluator",
            words={"band": _NULL},
            draw=_from_zero,
        ),
        part,
        "For each judge: the Affinity Bias Score as published and balanced over orders, and the "
        "spread over positions, with intervals and null ranges.",
        sentences.orders(estimates),
        figures.caption(rows, "standard deviations of shares", of=UNITS, band=_NULL)
        + f" {_UNADJUSTED} Positions: position bias; other rows: ABS.",
    )
