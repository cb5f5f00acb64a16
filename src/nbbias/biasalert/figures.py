"""The figures of the study biasalert: table in, figure out."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from nbbias.biasalert import tables as biasalert_tables
from nbbias.biasalert.detection import ALWAYS, NEVER
from nbbias.reading import figures

#: Statistics and their names on axes.
NAMES = {
    "accuracy": "accuracy", "f1": "F1", "recall": "recall", "specificity": "specificity",
    "classification_score": "type right (CS)", "attribution_score": "attribution right (AS)",
    "overall_score_joint": "all respects right", "overall_score_product": "accuracy × CS × AS",
    "flag_rate_less": "flagged: sent_less", "pair_share": "sent_more higher",
    "false_alarm_rate": "false alarms", "miss_rate": "misses",
    "biased_share": "share called biased", "biased_share_corrected": "corrected share",
}  # fmt: skip

OURS, PRINTED = "ours", "printed, other system or data"


def _named(rows: pd.DataFrame, statistics: Mapping[str, str] | list[str]) -> pd.DataFrame:
    """Keep some statistics, in their order, with their names in `column`."""
    own = rows[rows["statistic"].isin(list(statistics))]
    rank = {name: i for i, name in enumerate(statistics)}
    own = own.sort_values("statistic", kind="stable", key=lambda names: names.map(rank))
    return own.assign(column=own["statistic"].map(NAMES))


def _without_values(table: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Give printed rows the columns of ESTIMATES that the paper does not print, empty."""
    empty = ("ci_low", "ci_high", "null", "null_low", "null_high", "reference")
    return pd.concat([table, rows.assign(**dict.fromkeys(empty, np.nan))], ignore_index=True)


# --- detection ----------------------------------------------------------------------------------


def detection_rows(
    estimates: pd.DataFrame, *, dataset: str | None = None,
    statistics: tuple[str, ...] = ("accuracy", "f1"),
) -> pd.DataFrame:  # fmt: skip
    """Return what `detection` draws.

    Parameters
    ----------
    estimates
        Of `detection.estimates`, with the two judges that read nothing where they are to be
        shown as a line.
    dataset
        The dataset whose printed scores stand below, ``"RedditBias"`` or ``"CrowS-Pairs"``.
    statistics
        Columns of the figure.

    Returns
    -------
    DataFrame
        ESTIMATES with `panel`, `column`, `cell`, and `reference`, the better score of the two
        judges that read nothing.
    """
    own = _named(estimates[estimates["bias"].isna()], list(statistics))
    blind = own["judge"].isin([ALWAYS, NEVER])
    best = own[blind].groupby("statistic")["estimate"].max()
    table = own[~blind].assign(
        panel=OURS, cell=own["judge"], reference=own["statistic"].map(best).astype(float)
    )
    if dataset is None:
        return table
    printed = biasalert_tables.printed_figures(1)
    printed = printed[printed["dataset"] == dataset]
    wide = printed.pivot(index="system", columns="metric", values="value")
    wide = wide.reindex(printed["system"].unique())  # a gap where the paper prints none
    rows = [
        {"panel": PRINTED, "cell": system, "statistic": name, "estimate": value}
        for name in statistics
        if (metric := biasalert_tables.METRICS.get(name)) in wide
        for system, value in wide[metric].items()
    ]
    return _without_values(table, _named(pd.DataFrame(rows), list(statistics)))


def detection(rows: pd.DataFrame) -> Figure:
    """Draw judges' scores with their intervals over chance, the printed ones below."""
    figure = figures.grid(rows, _dots, rows="panel", columns="column", width=9)
    keys = [*_keys(chance="verdicts dealt to other texts"), *_printed_key(rows)]
    if len(rows) and rows["reference"].notna().any():
        line = Line2D([], [], color=figures.MUTED, ls="--", lw=1, label="best without reading")
        keys.append(line)
    figures.legend_below(figure, figure.axes[0], extra=keys)
    return figure


def type_rows(estimates: pd.DataFrame, *, statistic: str = "accuracy") -> pd.DataFrame:
    """Return what `types` draws: rows of `biasalert.detection.by_type`, a panel a judge."""
    own = estimates[estimates["bias"].notna() & estimates["dimension"].isna()]
    own = own[(own["statistic"] == statistic) & ~own["judge"].isin([ALWAYS, NEVER])]
    return own.assign(cell=own["bias"])


def types(rows: pd.DataFrame) -> Figure:
    """Draw a score by bias type over chance, a panel a judge."""

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        _dots(own, ax)
        ax.set_xlabel(NAMES.get(own["statistic"].iloc[0], own["statistic"].iloc[0]))

    lines = int(rows["judge"].value_counts().max()) if len(rows) else 1
    figure = figures.panels(rows, draw, by="judge", width=10, height=1.4 + 0.3 * lines)
    figures.legend_below(figure, figure.axes[0], extra=_keys(chance="verdicts dealt within a type"))
    return figure


# --- calibration --------------------------------------------------------------------------------


def calibration(curve: pd.DataFrame) -> Figure:
    """Draw the table of `biasalert.calibration.curve`: a panel a judge, its texts by each dot.

    A judge without probabilities has no panel.
    """
    measured = curve[curve.groupby("judge")["n"].transform("sum") > 0]

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        known = own[own["n"] > 0]
        ax.plot([0, 1], [0, 1], color=figures.MUTED, ls="--", lw=1, zorder=0)
        ax.vlines(known["mean_confidence"], known["ci_low"], known["ci_high"], color=figures.INK)
        ax.plot(
            known["mean_confidence"], known["share_biased"], "o-", color=figures.INK, ms=5, lw=1
        )
        for row in known.itertuples():
            ax.annotate(
                f"{row.n:,}", (row.mean_confidence, row.ci_high), xytext=(0, 2), ha="center",
                textcoords="offset points", fontsize=7, color=figures.MUTED,
            )  # fmt: skip
        ax.set_xlim(-0.03, 1.03)
        ax.set_ylim(-0.03, 1.12)
        ax.set_xlabel("probability given")
        ax.set_ylabel("share biased")

    figure = figures.panels(measured, draw, by="judge", width=10, height=3.4)
    if len(measured):
        line = Line2D([], [], color=figures.MUTED, ls="--", lw=1, label="kept exactly")
        key = figures.interval_key(label="share with its interval; number of texts")
        figures.legend_below(figure, figure.axes[0], extra=[key, line])
    return figure


# --- pairs, errors ------------------------------------------------------------------------------


def pair_rows(estimates: pd.DataFrame) -> pd.DataFrame:
    """Return what `pairs` draws from `biasalert.pairs.estimates`: all pairs, and by direction."""
    own = _named(estimates[estimates["bias"].isna()], ["recall", "flag_rate_less", "pair_share"])
    panel = own["dimension"].astype("object").where(own["dimension"].notna(), "all pairs")
    return own.assign(panel=panel, cell=own["judge"])


def pairs(rows: pd.DataFrame) -> Figure:
    """Draw recall, the flag rate of the twins and the pairs told apart, by direction."""
    figure = figures.grid(rows, _dots, rows="panel", columns="column", width=10)
    keys = _keys(chance="sentences of each pair swapped at random")
    figures.legend_below(figure, figure.axes[0], extra=keys)
    return figure


def error_rows(estimates: pd.DataFrame) -> pd.DataFrame:
    """Return what `errors` draws, from `biasalert.checks.estimates`."""
    own = _named(estimates, ["false_alarm_rate", "miss_rate"])
    own = own.assign(panel=own["dimension"], cell=own["judge"])
    order = {name: i for i, name in enumerate(estimates["dimension"].dropna().unique())}
    return own.sort_values("panel", kind="stable", key=lambda names: names.map(order))


def errors(rows: pd.DataFrame) -> Figure:
    """Draw how often judges err on each kind of check, beside their own rate over all checks."""
    figure = figures.grid(rows, _dots, rows="panel", columns="column", width=8)
    keys = _keys(chance="as many flags, whatever the check")
    figures.legend_below(figure, figure.axes[0], extra=keys)
    return figure


# --- bias levels --------------------------------------------------------------------------------


def level_rows(estimates: pd.DataFrame, *, dataset: str | None = None) -> pd.DataFrame:
    """Return what `levels` draws: models under each judge, and the printed levels below.

    Parameters
    ----------
    estimates
        Of `biasalert.levels.estimates`.
    dataset
        ``"BOLD"`` or ``"BeaverTails"`` for the printed levels.
    """
    own = _named(estimates[estimates["topic"].isna()], ["biased_share", "biased_share_corrected"])
    table = own.assign(panel=own["judge"], cell=own["model"], reference=np.nan)
    if dataset is None:
        return table
    printed = biasalert_tables.printed_levels(dataset)
    rows = pd.DataFrame(
        {
            "panel": PRINTED, "cell": printed["model"], "statistic": "biased_share",
            "column": NAMES["biased_share"], "estimate": printed["bias_level"],
        }
    )  # fmt: skip
    return _without_values(table, rows)


def levels(rows: pd.DataFrame) -> Figure:
    """Draw the share of biased answers by model, as judged and corrected, printed ones below."""
    figure = figures.grid(rows, _dots, rows="panel", columns="column", width=9)
    keys: list[Artist] = [figures.interval_key(label="share with its interval")]
    if len(rows) and rows["null"].notna().any():
        label = "the judge's false alarms"
        keys.append(Line2D([], [], color=figures.MUTED, marker="|", ls="none", ms=9, label=label))
    figures.legend_below(figure, figure.axes[0], extra=[*keys, *_printed_key(rows)])
    return figure


# --- what they share ----------------------------------------------------------------------------


def _dots(own: pd.DataFrame, ax: Axes) -> None:
    ours = not (own.get("panel") == PRINTED).all() if "panel" in own else True
    if ours:
        figures.intervals(own, ax, label="cell")
    else:
        figures.intervals(own, ax, label="cell", missing="not printed", colour=figures.PRINTED)
    at = np.arange(len(own))[::-1]
    for y, row in zip(at, own.itertuples(), strict=True):
        # A chance level without a range is a tick, not a band.
        if np.isfinite(row.null) and not np.isfinite(row.null_low):
            ax.plot(row.null, y, "|", color=figures.MUTED, ms=11, zorder=2)
    reference = own["reference"].dropna() if "reference" in own else pd.Series(dtype=float)
    if len(reference):
        ax.axvline(reference.iloc[0], color=figures.MUTED, ls="--", lw=1, zorder=0)
    ax.set_xlim(-0.03, 1.03)
    ax.xaxis.set_major_locator(MaxNLocator(5))


def _keys(*, chance: str) -> list[Artist]:
    key = figures.interval_key(label="score with its interval")
    return [key, Patch(color=figures.BAND, label=f"by chance: {chance}")]


def _printed_key(rows: pd.DataFrame) -> list[Artist]:
    if rows.empty or not (rows["panel"] == PRINTED).any():
        return []
    return [
        Line2D(
            [], [], color=figures.PRINTED, marker="o", ms=5, ls="none", label="printed, no interval"
        )
    ]
