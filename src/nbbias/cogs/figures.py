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

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from markupsafe import Markup
from matplotlib.axes import Axes

from nbbias.cogs import sentences, tables
from nbbias.cogs.rbs import ALL
from nbbias.cogs.spread import UNITS
from nbbias.cogs.tables import PARTS, by_setting, compared, over_all, pooled, score_parts
from nbbias.reading import Drawn, figures, prose, significance
from nbbias.tables import escape

#: What the scale of each part of a score says.
_AXES = {
    "distance": "cosine distance to default texts",
    "share": "share chosen (dashed: equal share)",
}
#: By score: what it is the spread of, whose it is, and what a page calls it.
_MEANS = {
    "rbs": ("distance", "model", "distance of each identity's texts to default texts"),
    "abs": ("share", "evaluator", "share of comparisons in which each identity's text was chosen"),
    "position": ("position_share", "evaluator", "share of comparisons won by each position"),
}


def both(scores: pd.DataFrame, *, estimates: pd.DataFrame) -> Drawn:
    """Draw the scores that lead a page: distances of identities, and how often judges chose them.

    Parameters
    ----------
    scores
        Rows of ESTIMATES with RBS or ABS, or both, of which `tables.select_leading` chooses.
    estimates
        All ESTIMATES of the run.
    """
    shown, chosen = compared(estimates), tables.select_leading(compared(scores))
    parts = [score_parts(score, shown) for score in chosen.to_dict("records")]
    rows = pd.concat(parts) if parts else shown.head(0).assign(who="")
    equal = rows["null"].where(rows["statistic"] == "share")
    rows = rows.assign(reference=equal, panel=rows["who"] + ", " + rows["bias"])
    rows = _marked(rows, chosen)
    figure = figures.claims(
        rows.assign(cell=sentences.people_of(rows)),
        lambda part: _AXES[part["statistic"].iloc[0]],
        draw=_from_zero,
        columns=2,
    )
    figure.set_figheight(0.93 * figure.get_figheight())  # with it, all is on a first screen
    titles = [sentences.title(chosen, name) for name in chosen["statistic"].unique()]
    return Drawn(
        figure,
        rows,
        "Distances of identities' texts to the default texts, and shares of identities in judges' "
        "choices, with intervals, a panel for each score that leads the page.",
        prose.capitalize("; ".join(titles)),
        _caption(rows, "both"),
    )


def _marked(rows: pd.DataFrame, scores: pd.DataFrame, *, of: Iterable[str] = PARTS) -> pd.DataFrame:
    """Add the `score` of each row, its adjusted p, and if it is `significant` at this identity."""
    scores, keys = scores[scores["statistic"].isin([*of])], ["model", "task", "evaluator", "bias"]
    renamed = {"group": "score_group", "estimate": "score", "p_adjusted": "score_p_adjusted"}
    tests = scores.assign(significant=significance.is_significant(scores)).rename(columns=renamed)
    rows = rows.merge(tests[[*keys, *renamed.values(), "significant"]], how="left", on=keys)
    at = rows["group"].eq(rows["score_group"]) & rows["significant"].eq(True)
    return rows.assign(significant=at)


def _caption(rows: pd.DataFrame, of: str) -> str:
    return figures.caption(rows, "means", of=UNITS, filled=prose.render_plain("cogs.filled", of=of))


def _from_zero(_: pd.DataFrame, ax: Axes) -> None:
    ax.set_xlim(left=0)


def means(estimates: pd.DataFrame, *, of: str) -> Drawn:
    """Draw what a score is the spread of, a panel a writer or judge.

    Parameters
    ----------
    estimates
        Of `cogs.rbs.rbs`, or of `cogs.affinity.abs_estimates`: then all writers together are drawn.
    of
        ``"rbs"``: distances to default texts, with a dashed line at the distance between two of
        these; ``"abs"``: shares of identities, positions counterbalanced; ``"position"``: shares of
        positions, identities balanced.
    """
    statistic, who, what = _MEANS[of]
    part = by_setting(over_all(estimates)) if of == "rbs" else pooled(over_all(estimates))
    rows = _marked(part[part["statistic"] == statistic], part, of=[of])
    baselines = part[part["statistic"] == "baseline"].groupby("model")["estimate"].mean()
    rows = rows.assign(reference=rows["model"].map(baselines))
    position = rows["bias"] + ": " + rows["group"].astype(str)
    drawn = rows.assign(cell=position if of == "position" else sentences.people_of(rows))
    words = {
        "line": "same-writer baseline: two default texts",
        "tick": "mean of the axis" if of == "rbs" else "equal shares",
    }

    def draw(part: pd.DataFrame, ax: Axes) -> None:
        (_from_zero if of == "rbs" else figures.unit)(part, ax)
        for at in _borders(part):
            ax.axhline(len(ax.get_yticks()) - at - 0.5, color=figures.MUTED, lw=0.6)

    axis = _AXES["distance"] if of == "rbs" else "share chosen"
    return Drawn(
        figures.claims(drawn, axis, by=who, words=words, draw=draw),
        rows,
        f"Mean {what}, with intervals, by {who}.",
        prose.capitalize(sentences.title(part, of)),
        _caption(drawn, of),
    )


def _borders(rows: pd.DataFrame) -> np.ndarray:
    """Return the places of cells with which another axis of identity begins."""
    axes = rows.drop_duplicates("cell")["bias"].to_numpy()
    return np.flatnonzero(axes[1:] != axes[:-1]) + 1


def orders(estimates: pd.DataFrame) -> Drawn:
    """Draw the ABS in the paper's order and with positions counterbalanced, a panel a judge.

    Parameters
    ----------
    estimates
        Of `cogs.affinity.abs_estimates`; all writers together are drawn. Intervals are not: they
        leave out the sampling variation that the scores and their range under the null include.
    """
    rows = pooled(over_all(estimates))
    rows = rows[rows["statistic"].isin(["abs", "abs_raw"])]
    balanced, ends = rows["statistic"] == "abs", ["null_low", "null_high"]
    blank = dict.fromkeys(["ci_low", "ci_high", *significance.SELECTED], np.nan)
    drawn = rows.assign(**rows[ends].where(balanced, axis=0), **blank, cell=rows["bias"])
    drawn["significant"] = significance.is_significant(drawn) | ~balanced
    drawn = drawn.assign(side=np.where(balanced, "ours", "further"))
    drawn = drawn.sort_values("side", ascending=False, kind="stable")

    def draw(_: pd.DataFrame, ax: Axes) -> None:
        ax.plot([], [], "o", c=figures.INK, ms=5.5, label="counterbalanced")
        ax.plot([], [], "o", c=figures.MUTED, ms=3.5, label="in the paper's order")
        ax.set_xlim(left=0)

    words = {"band": f"{prose.level(rows)} range under the null, counterbalanced"}
    return Drawn(
        figures.claims(drawn, "ABS", by="evaluator", words=words, draw=draw),
        rows,
        "ABS of each judge and axis, counterbalanced and in the paper's single order.",
        prose.render_plain("cogs.orders", rows=largest_changes(rows)),
        prose.render_plain(
            "cogs.orders_caption", level=prose.level(rows), n=Markup(prose.count_range(rows["n"]))
        ),
    )


def largest_changes(estimates: pd.DataFrame) -> list[dict[str, Any]]:
    """Return where the ABS in the paper's order differs most from the balanced.

    Examples
    --------
    >>> row = {"evaluator": "j", "bias": "race"}
    >>> rows = [row | {"statistic": "abs", "estimate": 0.1},
    ...         row | {"statistic": "abs_raw", "estimate": 0.3}]
    >>> [row["estimate_raw"] for row in largest_changes(pd.DataFrame(rows))]
    [0.3]
    """
    by_order = (estimates[estimates["statistic"] == name] for name in ("abs", "abs_raw"))
    table = pd.merge(*by_order, on=["evaluator", "bias"], suffixes=("", "_raw"))
    differ = (table["estimate"] - table["estimate_raw"]).abs().dropna().nlargest(2)
    return table.loc[differ.index].to_dict("records")


# --- the appendix ---------------------------------------------------------------------------------


def by_task(estimates: pd.DataFrame) -> Drawn:
    """Draw means by task and identity, a panel a judge and writer, or a writer.

    Parameters
    ----------
    estimates
        By task: of `cogs.affinity.abs_estimates` (Kumar et al. 2024, Figures 12 to 20), or of
        `cogs.rbs.rbs`.
    """
    scores = by_setting(estimates[estimates["task"].notna() & (estimates["model"] != ALL)])
    rows = _marked(scores[scores["statistic"].isin(PARTS.values())], scores)
    rows = rows.dropna(subset="estimate")
    text = rows["estimate"].map("{:.2f}".format) + np.where(rows["significant"], "*", "")
    above = rows["estimate"] - rows["null"]
    drawn = rows.assign(above=above, text=text, cell=sentences.people_of(rows).map(escape.drawn))
    tasks, people, most = drawn["task"].unique(), drawn["cell"].unique(), above.abs().max()

    def draw(part: pd.DataFrame, ax: Axes) -> None:
        shades, texts = (
            part.pivot(index="task", columns="cell", values=of).reindex(index=tasks, columns=people)
            for of in ("above", "text")
        )
        # Twice the range: pale colours, on which dark text has a contrast above 4.5.
        style = {"vmin": -2 * most, "vmax": 2 * most, "cbar": False, "cmap": "PuOr_r"}
        style |= {"annot_kws": {"size": 7, "color": ".15"}, "linewidths": 0.5}
        sns.heatmap(shades, annot=texts, fmt="", ax=ax, xticklabels=False, **style)
        for at in _borders(drawn):
            ax.axvline(at, color=".15", lw=1.2)
        ax.set(xlabel="", ylabel="")

    figure = figures.panels(drawn, draw, by=("evaluator", "model"), height=0.4 + 0.22 * len(tasks))
    upper = len(figure.axes) - drawn["model"].nunique()
    for at, ax in enumerate(figure.axes):
        ax.set_xticks(np.arange(len(people)) + 0.5, people, rotation=90)
        ax.tick_params(labelbottom=at >= upper, length=0)
    if len(rows):
        shades, statistic = figure.axes[0].collections[0], rows["statistic"].iloc[0]
        key = figure.colorbar(shades, ax=figure.axes, aspect=20, fraction=0.03, pad=0.02)
        key.ax.set(ylim=(-most, most), ylabel=f"{statistic}\nminus mean")
    figure.set_figheight(figure.get_figheight() + 1)
    tested = scores[scores["statistic"].isin(PARTS) & scores["p_adjusted"].notna()]
    significant = significance.significant(tested)
    significant = significant.assign(people=sentences.people_of(significant)).to_dict("records")
    measure, part = ("".join(table["statistic"].head(1)) for table in (tested, rows))
    n = Markup(prose.count_range(rows["n"]))
    return Drawn(
        figure,
        rows,
        "Means by task and identity, shaded by their difference from all identities equal.",
        prose.render_plain("cogs.by_task", name=measure, rows=significant, n=len(tested)),
        prose.render_plain("cogs.shades", part=part, n=n),
    )
