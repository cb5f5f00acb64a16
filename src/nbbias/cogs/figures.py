"""The figures of the CoGS study: distances and scores, preferences, who judged whom.

>>> import pandas as pd
>>> from nbbias import cogs
>>> seen = {"model": "m", "identity": "white", "obvious": 0.2, "nuanced": 0.3, "imperceptible": 0.5}
>>> drawn = cogs.figures.visibility(pd.DataFrame([seen]))
>>> len(drawn.figure.axes[0].patches)
3
"""

from __future__ import annotations

from typing import Any, Literal

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from nbbias.cogs.tables import by_setting, grid as who_judged_whom, printed_rows, together, whole
from nbbias.reading import Drawn, figures, names
from nbbias.tables import escape

_DISTANCE = "mean distance, 1 − cosine (lower: nearer)"
_MEANT = "if identities meant nothing"
_WORDS = {"band": _MEANT}

#: The two scores: what they are of, and what their scale says.
_SCORES = {
    "RBS": ("writers", "RBS (0: all identities alike)"),
    "ABS": ("judges", "ABS (0: none preferred)"),
}


def both(estimates: pd.DataFrame) -> Drawn:
    """Draw both halves: how unlike each writer writes of identities, how unevenly judges choose.

    A panel a half and axis; what lies beyond chance is named by its identity: the nearest to the
    default, the favourite.

    Parameters
    ----------
    estimates
        All ESTIMATES of a run, which may have either half only: RBS, and ABS with orders balanced,
        of all writers together. People's choices are not drawn.
    """
    own = whole(estimates[estimates["instrument"] != "people"])
    writers = by_setting(own[(own["measure"] == "rbs") & (own["statistic"] == "rbs")])
    judges = together(own[(own["measure"] == "abs") & (own["statistic"] == "abs")])
    halves = [
        writers.assign(score="RBS", cell=writers["model"]),
        judges.assign(score="ABS", cell=judges["evaluator"]),
    ]
    rows = pd.concat(halves, ignore_index=True)
    out = figures.is_beyond_null(rows)
    rows = rows.assign(
        panel=rows["score"].map({name: whose for name, (whose, _) in _SCORES.items()})
        + ": "
        + rows["bias"],
        identity=rows["group"].where(out),
    )
    ends = rows.groupby("score")[["ci_high", "null_high", "estimate"]].max().max(axis=1)

    def name(own: pd.DataFrame, ax: Axes) -> None:
        ax.set_xlim(0, 1.08 * ends[own["score"].iloc[0]])
        _name_identities(own, ax)

    counts = []
    for score, own in rows.assign(out=out).groupby("score", sort=False):
        beyond = own.groupby("cell", sort=False)["out"].any()
        of = f"{beyond.sum()} of {len(beyond)}"
        counts.append(
            f"unlike in the texts of {of} writers"
            if score == "RBS"
            else f"preferred in the choices of {of} judges"
        )
    return Drawn(
        figures.claims(
            rows,
            lambda own: _SCORES[own["score"].iloc[0]][1],
            words=_WORDS,
            draw=name,
            hue="identity",
        ),
        rows,
        "Representative Bias Score of each writer and Affinity Bias Score of each judge, with "
        "intervals and chance, by axis; the identity is named where the score is beyond chance.",
        f"Beyond chance, identities are {' and '.join(counts)}" if counts else "",
        figures.caption(rows, "scores", of="units", band=_MEANT) + " Named: the identity nearest "
        "to the default, and the favourite, where a score is beyond chance.",
    )


def _name_identities(own: pd.DataFrame, ax: Axes) -> None:
    """Write at each dot the identity at the end of its score."""
    measured = own.assign(y=np.arange(len(own))[::-1]).dropna(subset=["estimate", "identity"])
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

    A dot with its interval over the range of permuted identities; a dashed line at the floor,
    the distance between two default answers, where there is one.

    Parameters
    ----------
    estimates
        Of `cogs.rbs.rbs`.
    """
    own = by_setting(whole(estimates))
    floors = own[own["statistic"] == "floor"].groupby("model")["estimate"].mean()
    rows = own[own["statistic"] == "distance"]
    rows = rows.assign(cell=_people(rows), reference=rows["model"].map(floors))
    words = {**_WORDS, "line": "two default answers"}

    def describe(row: dict[str, Any], up: bool, first: bool) -> str:
        side = "further from" if up else "nearer to"
        if not first:
            return f"{names.people(row['group'])} {side.split()[0]}"
        return f"answers for {names.people(row['group'])} lie {side} the default than others"

    return Drawn(
        figures.claims(rows, _DISTANCE, by="model", words=words, hue="group"),
        estimates[estimates["statistic"].isin(["distance", "floor"])],
        "Mean distance of each identity's answers to the default, with intervals, what permuted "
        "names give, and the distance between two default answers, by model.",
        figures.finding_title(
            rows,
            by="group",
            describe=describe,
            otherwise=(
                "No significant difference between identities in the distance to the default"
            ),
        ),
        figures.caption(
            rows, "mean distance of an identity's answers to the default", of="units", band=_MEANT
        ),
    )


def _people(rows: pd.DataFrame) -> pd.Series:
    return rows["group"].astype(object).map(names.people)


def spreads(estimates: pd.DataFrame) -> Drawn:
    """Draw the RBS of each axis, and task or topic, with its interval and its chance level.

    Parameters
    ----------
    estimates
        Of `cogs.rbs.rbs`.
    """
    own = estimates[estimates["statistic"] == "rbs"]
    rows = by_setting(own)
    part = next((name for name in ("task", "topic") if rows[name].notna().any()), None)
    rows = rows.assign(cell=rows["bias"] if part is None else rows["bias"] + ", " + rows[part])

    def draw(_: pd.DataFrame, ax: Axes) -> None:
        ax.set_xlim(left=0)

    figure = figures.claims(rows, _SCORES["RBS"][1], by="model", words=_WORDS, draw=draw)
    parts = f"axes by {part}" if part else "axes"

    def describe(row: dict[str, Any], up: bool, first: bool) -> str:
        begin = "identities are unlike beyond chance in the texts of " if first else ""
        return f"{begin}{row['model']}"

    return Drawn(
        figure,
        own,
        f"Representative Bias Score of each axis{f' and {part}' if part else ''} with its "
        "interval and what permuted identities give, by model.",
        figures.finding_title(
            rows,
            by="model",
            describe=describe,
            of=parts,
            sides=(True,),
            otherwise=("No score lies beyond chance"),
        ),
        figures.caption(rows, "RBS", of="units", band=_MEANT),
    )


def references(estimates: pd.DataFrame) -> Drawn:
    """Draw each group's distance to the centroid, or to a group: a row a reference, a column a
    model.

    Parameters
    ----------
    estimates
        Of `cogs.reference.groupings`.
    """
    own = estimates[estimates["statistic"] == "distance"]
    told = own["instrument"].str.split("reference: ").str[-1]
    panel = own["bias"].str.replace("_", " and ") + ": to " + told
    rows = own.assign(cell=own["group"], panel=panel)
    rows = figures.align_rows(rows, down="panel", across="model")
    words = {"band": "if groups meant nothing", "missing": "no texts"}

    def found(row: dict[str, Any], up: bool, first: bool) -> str:
        side = "further" if up else "nearer"
        begin = f"texts of {row['group']} lie {side}" if first else f"of {row['group']} {side}"
        return f"{begin} ({row['panel']})"

    measured = rows[rows["estimate"].notna()].assign(both=lambda t: t["panel"] + t["cell"])
    return Drawn(
        figures.claims(rows, _DISTANCE, by=("panel", "model"), words=words, hue="cell"),
        own,
        "Mean distance of each group's texts to the centroid of all groups, and to a reference "
        "group, with intervals and what shuffled names give, by model.",
        figures.finding_title(
            measured,
            by="both",
            describe=found,
            otherwise=("No group's distance differs significantly from permuted names"),
        ),
        figures.caption(
            own, "mean distance of a group's texts", of="texts", band="what shuffled names give"
        ),
    )


#: What is printed, and what sets it apart.
_PRINTED = {
    "RBS": (
        "of other models, by another embedding",
        "Representative Bias Scores with intervals "
        "and chance, above those that the paper prints for three models, with the nearest",
    ),
    "ABS": (
        "of other judges, in one order",
        "Affinity Bias Scores as published, with intervals "
        "and chance, above those that the paper prints for three judges, with the favourite",
    ),
}


def printed(estimates: pd.DataFrame, *, score: Literal["RBS", "ABS"]) -> Drawn:
    """Draw our scores and the printed ones on one scale, with the identity at the end of each.

    Parameters
    ----------
    estimates, score
        As in `cogs.tables.printed_rows`, whose rows are drawn.
    """
    rows = printed_rows(estimates, score=score)

    def name(own: pd.DataFrame, ax: Axes) -> None:
        ax.set_xlim(left=0)
        _name_identities(own, ax)

    other, what = _PRINTED[score]
    aligned = figures.align_rows(rows.assign(cell=rows["who"]), down="side", across="axis")
    printed = rows[rows["side"] == "printed"].groupby("axis")["estimate"].max()
    ours = rows[(rows["side"] == "ours") & rows["estimate"].notna()]
    above = int((ours["estimate"] > ours["axis"].map(printed)).sum())
    return Drawn(
        figures.claims(aligned, _SCORES[score][1], by=("side", "axis"), words=_WORDS, draw=name),
        rows,
        f"Our {what} identity, by axis.",
        f"{above} of our {len(ours)} scores are above all that the paper prints",
        figures.caption(rows, "our scores", band=_MEANT) + f" Rings: printed scores, {other}.",
    )


def visibility(table: pd.DataFrame) -> Drawn:
    """Draw the shares of obvious, nuanced and imperceptible answers, a panel a model.

    Parameters
    ----------
    table
        Of `cogs.visible.visibility`.
    """
    colours = [figures.INK, figures.PALETTE[7], figures.BAND]
    levels = ["obvious", "nuanced", "imperceptible"]

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        named = own.assign(identity=own["identity"].map(names.people))
        bars = named.set_index("identity")[levels][::-1]
        bars.plot.barh(ax=ax, stacked=True, color=colours, width=0.7, legend=False)
        figures.name_rows(ax, named["identity"])
        ax.set_ylabel("")
        figures.unit(own, ax)
        ax.set_xlabel("share of answers")

    figure = figures.panels(
        table,
        draw,
        by="model",
        height=lambda own: figures.rows_height(own["identity"].map(names.people)),
    )
    known = table["obvious"].dropna()
    return Drawn(
        figure,
        table,
        "Shares of answers in which the identity is obvious, nuanced or imperceptible, by identity "
        "and model.",
        f"The identity is obvious in {known.min():.0%} to {known.max():.0%} of answers"
        if len(known)
        else "",
        "Bars: shares of an identity's answers.",
    )


_PREFERRED = {
    "share": "Share of judgements in which each identity was preferred, orders balanced, with "
    "intervals and the range of permuted identities, by judge.",
    "position_share": "Share of judgements in which the text at each position was preferred, "
    "identities balanced, with intervals and chance ranges, by judge and axis.",
    "people": "Share of each identity among the choices of each person, of all people together "
    "and of each judge on the same instances, with intervals and chance ranges.",
}


def preferences(
    estimates: pd.DataFrame, *, statistic: Literal["share", "position_share"] = "share"
) -> Drawn:
    """Draw each judge's shares as dots with intervals over what chance gives, a panel a judge.

    Parameters
    ----------
    estimates
        Of `cogs.affinity.abs_estimates`, of which all writers together are drawn, or of
        `cogs.people.beside_models`.
    statistic
        Which shares: of identities (orders balanced) or of positions (identities balanced).
    """
    own = together(whole(estimates))
    own = own[own["statistic"] == statistic]
    places = statistic == "position_share"
    rows = own.assign(cell=own["bias"] + ", " + own["group"] if places else _people(own))

    def describe(row: dict[str, Any], up: bool, first: bool) -> str:
        what = f"the text at {row['group']}" if places else f"texts of {names.people(row['group'])}"
        side = "preferred" if up else "passed over"
        return (
            f"{what} {'is' if places else 'are'} {side} beyond chance"
            if first
            else (f"{what} {side}")
        )

    return Drawn(
        figures.claims(
            rows,
            "share preferred",
            by="evaluator",
            words=_WORDS,
            draw=figures.unit,
            hue=None if places else "group",
        ),
        own,
        _PREFERRED["people" if "kind" in own else statistic],
        figures.finding_title(
            rows,
            by="group",
            describe=describe,
            of="choices by axis" if places else "judges",
            otherwise="No share differs significantly from chance",
        ),
        figures.caption(
            rows, "share of judgements in which it was preferred", of="units", band=_MEANT
        ),
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
    ways = {"abs_raw": "as published", "abs": "orders balanced", "position": "position"}
    own = together(whole(estimates))
    own = own[own["statistic"].isin(list(ways))]
    rows = own.assign(cell=own["statistic"].map(ways))
    for key in ("statistic", "evaluator", "bias"):
        first = list(ways) if key == "statistic" else list(own[key].unique())
        rows = rows.sort_values(key, kind="stable", key=lambda s, first=first: s.map(first.index))
    ends = rows[["estimate", "ci_high", "null_high"]].max().max()

    def scaled(_: pd.DataFrame, ax: Axes) -> None:
        ax.set_xlim(0, 1.05 * ends if np.isfinite(ends) else 1)

    beyond = rows[figures.is_beyond_null(rows)]
    judges = rows["evaluator"].nunique()
    by = {
        name: beyond.loc[beyond["statistic"] == name, "evaluator"].nunique()
        for name in ("abs", "position")
    }
    return Drawn(
        figures.claims(
            rows,
            "spread of shares (0: all alike)",
            by=("bias", "evaluator"),
            words=_WORDS,
            draw=scaled,
        ),
        own,
        "For each judge and axis: the Affinity Bias Score as published and balanced over orders, "
        "and the spread over positions, with intervals and chance levels.",
        f"Of {judges} judges {by['abs']} go by identity beyond chance, and {by['position']} by "
        "position",
        figures.caption(
            rows,
            "spread of the shares over identities, as published and with orders balanced, "
            "and over positions",
            of="units",
            band=_MEANT,
        ),
    )


def grid(estimates: pd.DataFrame) -> Drawn:
    """Draw who judged whose texts: ABS beyond chance, and the favourite, a panel an axis.

    Parameters
    ----------
    estimates
        Of `cogs.affinity.abs_estimates`. A cell that was not measured is left blank and says so.
    """
    table = who_judged_whom(estimates).rows
    judges, writers = list(table["evaluator"].unique()), list(table["model"].unique())
    top = float(np.nanmax([0.01, *table["excess"].abs()]))
    shade = mpl.colormaps["PuOr_r"]

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        own = own.set_index(["evaluator", "model"])
        for (judge, writer), row in own.iterrows():
            x, y = writers.index(writer), len(judges) - 1 - judges.index(judge)
            measured = np.isfinite(row["excess"])
            # Tints, on which ink is read on paper and in the dark.
            paint = shade(0.5 + 0.22 * row["excess"] / top) if measured else figures.PAPER
            ax.barh(
                y, 1, left=x - 0.5, height=1, color=paint, edgecolor=figures.PAPER, linewidth=1.5
            )
            excess = f"{row['excess']:+.2f}".replace("-", "−")
            said = f"{row['favourite']}\n{excess}"
            ax.text(
                x,
                y,
                escape.drawn(said if measured else "not\nmeasured"),
                ha="center",
                va="center",
                fontsize=8.5,
                color=figures.INK,
                fontweight="bold" if row["own"] == "yes" else "normal",
            )
        ax.set_xlim(-0.5, len(writers) - 0.5)
        ax.set_xticks(range(len(writers)), [figures.wrapped(name, 14) for name in writers])
        ax.tick_params(length=0)
        figures.name_rows(ax, pd.Series(judges))
        ax.set_ylim(-0.5, len(judges) - 0.5)
        ax.set_xlabel("who wrote")

    figure = figures.panels(table, draw, by="axis", height=1.0 + 0.42 * len(judges))
    best = table[table["excess"] == table["excess"].max()].head(1).to_dict("records")
    return Drawn(
        figure,
        table,
        "Affinity Bias Score beyond chance of every judge on the texts of every writer, with the "
        "favourite identity in each cell, by axis.",
        "".join(
            f"The strongest preference: {one['evaluator']} for {one['favourite']} in the texts of "
            f"{one['model']}"
            for one in best
        ),
        "Cells: the favourite of a judge (row) in the texts of a writer (column), and ABS less "
        "what chance gives; bold: its own texts.",
    )
