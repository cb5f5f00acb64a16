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
>>> cogs.figures.both(estimates).title
'Significant differences between identities: ABS in 1 of 1 judges'
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from nbbias.cogs.spread import UNITS
from nbbias.cogs.tables import by_setting, over_all, pooled
from nbbias.reading import Drawn, figures, names, significance
from nbbias.tables import escape

_DISTANCE = "mean distance, 1 − cosine (lower: nearer)"
_NULL = "range under the null"
_WORDS = {"band": _NULL}

#: What the scale of each score says.
_SCORES = {"RBS": "RBS (0: all identities alike)", "ABS": "ABS (0: none preferred)"}


def both(estimates: pd.DataFrame) -> Drawn:
    """Draw both halves: how unlike each writer writes of identities, how unevenly judges choose.

    A panel a half and axis; a significant score is named by its identity: the nearest to the
    default, the favourite.

    Parameters
    ----------
    estimates
        All ESTIMATES of a run, which may have either half only: RBS, and ABS with orders balanced,
        of all writers together.
    """
    part = significance.with_selection(over_all(estimates))
    writers = by_setting(part[part["statistic"] == "rbs"])
    judges = pooled(part[part["statistic"] == "abs"])
    halves = [
        writers.assign(score="RBS", cell=writers["model"], panel="writers: " + writers["bias"]),
        judges.assign(score="ABS", cell=judges["evaluator"], panel="judges: " + judges["bias"]),
    ]
    rows = pd.concat(halves, ignore_index=True)
    out = figures.is_beyond_null(rows)
    rows = rows.assign(identity=rows["group"].where(out))
    ends = rows.groupby("score")[["ci_high", "null_high", "estimate"]].max().max(axis=1)

    def name(part: pd.DataFrame, ax: Axes) -> None:
        ax.set_xlim(0, 1.08 * ends[part["score"].iloc[0]])
        _name_identities(part, ax)

    counts = []
    for score, who in {"RBS": "writers", "ABS": "judges"}.items():
        significant = out[rows["score"] == score].groupby(rows["cell"]).any()
        if len(significant):
            counts.append(f"{score} in {significant.sum()} of {len(significant)} {who}")
    return Drawn(
        figures.claims(
            rows,
            lambda part: _SCORES[part["score"].iloc[0]],
            words=_WORDS,
            draw=name,
            hue="identity",
        ),
        rows,
        "Representative Bias Score of each writer and Affinity Bias Score of each judge, with "
        "intervals and null ranges, by axis; the identity is named where the score is significant.",
        f"Significant differences between identities: {', '.join(counts)}" if counts else "",
        figures.caption(rows, "scores", of=UNITS, band=_NULL)
        + " Intervals of significant claims are adjusted for selection. Labels: the identity "
        "closest to the default, and the one chosen most, where significant.",
    )


def _name_identities(part: pd.DataFrame, ax: Axes) -> None:
    """Write at each dot the identity at the end of its score."""
    measured = part.assign(y=np.arange(len(part))[::-1]).dropna(subset=["estimate", "identity"])
    low, high = ax.get_xlim()
    for row in measured.to_dict("records"):
        at, half = (row["estimate"] - low) / (high - low), len(names.people(row["identity"])) / 50
        side = "left" if at < half else "right" if at > 1 - half else "center"
        ax.annotate(
            escape.drawn(names.people(row["identity"])),
            (row["estimate"], row["y"] + 0.2),
            xytext=(0, 1),
            textcoords="offset points",
            ha=side,
            fontsize=8.5,
            color=figures.INK,
            zorder=6,
        )


def distances(estimates: pd.DataFrame) -> Drawn:
    """Draw each identity's mean distance to the default, a panel a model.

    A dot with its interval; a dashed line at the floor, the distance between two default
    answers, where there is one.

    Parameters
    ----------
    estimates
        Of `cogs.rbs.rbs`.
    """
    part = by_setting(over_all(estimates))
    floors = part[part["statistic"] == "floor"].groupby("model")["estimate"].mean()
    rows = part[part["statistic"] == "distance"]
    rows = rows.assign(cell=_people(rows), reference=rows["model"].map(floors))
    words = {**_WORDS, "line": "two default answers"}
    return Drawn(
        figures.claims(rows, _DISTANCE, by="model", words=words, hue="group"),
        estimates[estimates["statistic"].isin(["distance", "floor"])],
        "Mean distance of each identity's answers to the default, with intervals, and the distance "
        "between two default answers, by model.",
        "Mean distance of each identity's answers to the default, by model",
        figures.caption(
            rows, "mean distance of an identity's answers to the default", of=UNITS, band=_NULL
        ),
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
    rows = rows[rows["statistic"] == "share"]
    drawn, what = (
        rows.assign(cell=_people(rows)),
        "share of judgements in which an identity was preferred",
    )
    return Drawn(
        figures.claims(
            drawn, "share preferred", by="evaluator", words=_WORDS, draw=figures.unit, hue="group"
        ),
        rows,
        "Share of judgements in which each identity was preferred, positions counterbalanced, with "
        "intervals, by judge.",
        "Share of judgements in which each identity was preferred, by judge",
        figures.caption(drawn, what, of=UNITS, band=_NULL),
    )


def identity_or_position(estimates: pd.DataFrame) -> Drawn:
    """Draw the ABS in two ways and the spread over positions: a row an axis, a column a judge.

    A judge that goes by position has an ABS as published and a spread over positions, and no
    ABS where orders are balanced; one that goes by identity has the ABS in both ways.

    Parameters
    ----------
    estimates
        Of `cogs.affinity.abs_estimates`; all writers together are drawn.
    """
    ways = {"abs_raw": "as published", "abs": "counterbalanced", "position": "position"}
    part = pooled(over_all(estimates))
    part = part[part["statistic"].isin(list(ways))]
    rows = part.assign(cell=part["statistic"].map(ways))
    names_in_order = [*part["bias"].unique(), *part["evaluator"].unique(), *ways]
    order = {name: at for at, name in enumerate(names_in_order)}
    rows = rows.sort_values(["bias", "evaluator", "statistic"], key=lambda names: names.map(order))
    ends = rows[["estimate", "ci_high", "null_high"]].max().max()

    def scaled(_: pd.DataFrame, ax: Axes) -> None:
        ax.set_xlim(0, 1.05 * ends if np.isfinite(ends) else 1)

    beyond = rows[figures.is_beyond_null(rows)].groupby("statistic")["evaluator"].nunique()
    judges = rows["evaluator"].nunique()
    k, position = (beyond.get(name, 0) for name in ("abs", "position"))
    return Drawn(
        figures.claims(
            rows,
            "standard deviation of shares",
            by=("bias", "evaluator"),
            words=_WORDS,
            draw=scaled,
        ),
        part,
        "For each judge and axis: the Affinity Bias Score as published and balanced over orders, "
        "and the spread over positions, with intervals and null ranges.",
        f"Of {judges} judges {k} prefer an identity, and {position} a position",
        figures.caption(
            rows,
            "standard deviation of shares over identities, as published and counterbalanced, "
            "and over positions",
            of=UNITS,
            band=_NULL,
        ),
    )
