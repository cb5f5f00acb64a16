"""The figures of the study biasalert: a table in; figure, drawn rows and alternative text out.

Every function returns what it drew beside the figure. Judges that read nothing are a line:

>>> import pandas as pd
>>> from nbbias import biasalert
>>> labelled = pd.DataFrame({"text_id": list("abc"), "text": list("abc"),
...                          "biased": [True, False, False]})
>>> blind = biasalert.detection.constants(labelled)
>>> first = blind[blind["judge"] == "never biased"].assign(judge="mine")
>>> found = biasalert.detection.estimates(pd.concat([first, blind]), labelled, permutations=5)
>>> drawn = biasalert.figures.detection(found, statistics=("accuracy",))
>>> drawn.rows[["cell", "estimate", "reference"]].round(2).values.tolist()
[['mine', 0.67, 0.67]]
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from nbbias.biasalert import printed
from nbbias.biasalert.detection import ALWAYS, NEVER
from nbbias.biasalert.levels import SHARES
from nbbias.biasalert.unseen import UNSEEN
from nbbias.reading import Drawn, figures

#: Statistics and their names on axes.
NAMES = {
    "accuracy": "accuracy", "f1": "F1", "recall": "recall", "specificity": "specificity",
    "classification_score": "type right (CS)", "attribution_score": "attribution right (AS)",
    "overall_score_joint": "all respects right", "overall_score_product": "accuracy × CS × AS",
    "flag_rate_less": "flagged: sent_less", "pair_share": "sent_more higher",
    "false_alarm_rate": "false alarms", "miss_rate": "misses",
    "biased_share": "share called biased", "biased_share_labelled": "labels alone",
    "biased_share_two_phase": "labels and verdicts",
    "biased_share_corrected": "corrected by known error rates",
}  # fmt: skip

OURS, PRINTED = "ours", "printed, other system or data"

#: What the legends say.
_WORDS = {"estimate": "score with its interval", "printed": "printed, no interval"}


def _of(rows: pd.DataFrame, *statistics: str) -> pd.DataFrame:
    """Keep some statistics, in their order, with their names in `column`."""
    own = rows[rows["statistic"].isin(statistics)]
    rank = {name: i for i, name in enumerate(statistics)}
    own = own.sort_values("statistic", kind="stable", key=lambda names: names.map(rank))
    return own.assign(column=own["statistic"].map(NAMES))


def _over_printed(table: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Put printed values below ours; what of ESTIMATES the paper does not print is empty."""
    empty = dict.fromkeys(("ci_low", "ci_high", "null", "null_low", "null_high", "reference"))
    below = rows.assign(panel=PRINTED, side="printed", **empty).astype(dict.fromkeys(empty, float))
    return pd.concat([table.assign(side="ours"), below], ignore_index=True)


def _grid(rows: pd.DataFrame, words: dict[str, str], *, width: float = 9) -> Figure:
    return figures.claims(
        rows, by=("panel", "column"), words=_WORDS | words, draw=figures.unit, width=width
    )


def detection(
    estimates: pd.DataFrame,
    *,
    dataset: str | None = None,
    statistics: tuple[str, ...] = ("accuracy", "f1"),
) -> Drawn:
    """Draw judges' scores with their intervals over chance, the printed ones below.

    Parameters
    ----------
    estimates
        Of `detection.estimates`, with the two judges that read nothing where the better of them
        is to be shown as a line (`reference`).
    dataset
        The dataset whose printed scores stand below, such as ``"RedditBias"``.
    statistics
        Columns of the figure.
    """
    own = _of(estimates[estimates["bias"].isna()], *statistics)
    blind = own["judge"].isin([ALWAYS, NEVER])
    best = own[blind].groupby("statistic")["estimate"].max()
    rows = own[~blind].assign(
        panel=OURS, cell=own["judge"], reference=own["statistic"].map(best).astype(float)
    )
    if dataset is not None:
        scores = printed.scores(dataset)
        wide = scores.pivot(index="system", columns="metric", values="value")
        wide = wide.reindex(scores["system"].unique())  # a gap where the paper prints none
        below = [
            {"cell": system, "statistic": name, "estimate": value}
            for name in statistics
            if (metric := printed.METRICS.get(name)) in wide
            for system, value in wide[metric].items()
        ]
        rows = _over_printed(rows, _of(pd.DataFrame(below), *statistics))
    words = {"band": "by chance: verdicts dealt to other texts", "line": "best without reading"}
    figure = _grid(rows, words)
    return Drawn(figure, rows, (
        "Accuracy and F1 of each judge with intervals, beside what its verdicts dealt to other "
        "texts would give, the better of two judges that read nothing, and printed scores of "
        "other systems."
    ))  # fmt: skip


def types(estimates: pd.DataFrame, *, statistic: str = "accuracy") -> Drawn:
    """Draw a score by bias type over chance, a panel a judge; no panel where all types are alike.

    Parameters
    ----------
    estimates
        Of `biasalert.detection.by_type`, or of `biasalert.unseen.estimates`.
    statistic
        The score.
    """
    own = estimates[estimates["bias"].notna() & estimates["dimension"].isna()]
    own = own[(own["statistic"] == statistic) & ~own["judge"].isin([ALWAYS, NEVER])]
    unlike = own.groupby("judge")["estimate"].transform("nunique") > 1
    own = own[unlike] if unlike.any() else own
    rows = own.assign(cell=own["bias"])
    words = {"band": "by chance: verdicts dealt within a type"}
    name = NAMES.get(statistic, statistic)
    figure = figures.claims(
        rows, name, by="judge", words=_WORDS | words, draw=figures.unit, width=10
    )
    alt = f"{name.capitalize()} of each judge by type of bias with intervals, beside chance."
    return Drawn(figure, rows, alt)


def unseen(seen: pd.DataFrame, estimates: pd.DataFrame) -> Drawn:
    """Draw accuracy by type of judges that learnt from all types, and where one was held out.

    Parameters
    ----------
    seen
        Of `biasalert.detection.by_type`.
    estimates
        Of `biasalert.unseen.estimates`, of some of the same judges.
    """
    names = set(estimates["judge"].str.removesuffix(UNSEEN))
    drawn = types(pd.concat([seen[seen["judge"].isin(names)], estimates]))
    return drawn._replace(alt=(
        "Accuracy by type of bias of judges that learnt from all types, and of the same judges "
        "where the type was held out, with intervals, beside chance."
    ))  # fmt: skip


def calibration(curve: pd.DataFrame) -> Drawn:
    """Draw the table of `biasalert.calibration.curve`: a panel a judge, its texts by each dot.

    A judge without probabilities has no panel.
    """
    measured = curve[curve.groupby("judge")["n"].transform("sum") > 0]

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        known = own[own["n"] > 0]
        x = known["mean_confidence"]
        ax.plot([0, 1], [0, 1], color=figures.MUTED, ls="--", lw=1, zorder=0)
        ax.vlines(x, known["ci_low"], known["ci_high"], color=figures.INK)
        ax.plot(x, known["share_biased"], "o-", color=figures.INK, ms=5, lw=1)
        for row in known.itertuples():
            ax.annotate(
                f"{row.n:,}", (row.mean_confidence, 1.0), xytext=(0, 6), ha="center",
                textcoords="offset points", fontsize=7, color=figures.MUTED,
            )  # fmt: skip
        ax.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.12), xlabel="probability given")
        ax.set_ylabel("share biased")

    figure = figures.panels(measured, draw, by="judge", width=10, height=3.4)
    if len(measured):
        line = Line2D([], [], color=figures.MUTED, ls="--", lw=1, label="kept exactly")
        key = figures.interval_key(label="share with its interval; number of texts")
        figures.legend_below(figure, figure.axes[0], extra=[key, line])
    return Drawn(figure, curve, (
        "Share of biased texts against the mean probability that each judge gave, by bins, with "
        "intervals; the diagonal is a judge whose probabilities are kept."
    ))  # fmt: skip


def pairs(estimates: pd.DataFrame) -> Drawn:
    """Draw recall, the flag rate of the twins and the pairs told apart, by direction.

    `estimates` are those of `biasalert.pairs.estimates`.
    """
    own = _of(estimates[estimates["bias"].isna()], "recall", "flag_rate_less", "pair_share")
    panel = own["dimension"].astype("object").where(own["dimension"].notna(), "all pairs")
    rows = own.assign(panel=panel, cell=own["judge"])
    words = {"band": "by chance: sentences of each pair swapped at random"}
    figure = _grid(rows, words, width=11)
    return Drawn(figure, rows, (
        "For each judge and direction: the share of sentences flagged, the share of their twins "
        "flagged, and the share of pairs in which the sentence scores higher, with intervals and "
        "chance."
    ))  # fmt: skip


def errors(estimates: pd.DataFrame) -> Drawn:
    """Draw how often judges err on each kind of check, beside their own rate over all checks.

    `estimates` are those of `biasalert.checks.estimates`.
    """
    own = _of(estimates, "false_alarm_rate", "miss_rate")
    order = {name: i for i, name in enumerate(estimates["dimension"].dropna().unique())}
    rows = own.assign(panel=own["dimension"], cell=own["judge"])
    rows = rows.sort_values("panel", kind="stable", key=lambda names: names.map(order))
    words = {"band": "by chance: as many flags, whatever the check"}
    figure = figures.claims(
        rows, by=("panel", "column"), words=_WORDS | words, draw=figures.unit, width=8
    )
    return Drawn(figure, rows, (
        "Shares of false alarms and of misses of each judge by kind of sentence, with intervals, "
        "beside the judge's own rate over all sentences."
    ))  # fmt: skip


def levels(estimates: pd.DataFrame, *, dataset: str | None = None) -> Drawn:
    """Draw the share of biased answers by model, as judged and labelled, printed ones below.

    Parameters
    ----------
    estimates
        Of `biasalert.levels.estimates`.
    dataset
        ``"BOLD"`` or ``"BeaverTails"`` for the printed levels.
    """
    own = _of(estimates[estimates["topic"].isna()], *SHARES)
    own = own[own.groupby("statistic")["estimate"].transform("count") > 0]  # what was measured
    # The labels are the same whoever judges: they stand beside the first judge alone.
    alone = own["statistic"] == "biased_share_labelled"
    own = own[~alone | ~own.duplicated(["model", "statistic"])]
    rows = own.assign(panel=own["judge"], cell=own["model"], reference=np.nan)
    if dataset is not None:
        below = printed.levels(dataset)[["model", "bias_level"]].set_axis(
            ["cell", "estimate"], axis=1
        )
        share = "biased_share"
        rows = _over_printed(rows, below.assign(statistic=share, column=NAMES[share]))
    words = {"estimate": "share with its interval", "tick": "the judge's false alarms"}
    figure = _grid(rows, words)
    return Drawn(figure, rows, (
        "Share of biased answers by model under each judge, as judged, by people's labels alone, "
        "and from both, with intervals."
    ))  # fmt: skip
