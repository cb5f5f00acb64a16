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

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from nbbias.biasalert import printed
from nbbias.biasalert.detection import ALWAYS, NEVER
from nbbias.biasalert.levels import SHARES
from nbbias.reading import Drawn, figures, names, prose

#: Statistics and their names on axes.
NAMES = {
    "accuracy": "accuracy",
    "f1": "F1",
    "recall": "biased texts found",
    "specificity": "other texts passed",
    "flag_rate_less": "flagged: sent_less",
    "pair_share": "sent_more higher",
    "false_alarm_rate": "false alarms",
    "miss_rate": "misses",
    "biased_share": "share called biased",
    "biased_share_labelled": "labels alone",
    "biased_share_two_phase": "labels and verdicts",
}

_LABELLED = "biased_share_labelled"

OURS, PRINTED = "ours", "printed, other system or data"

_PRINTED = " Rings: printed, without intervals."


def _of(rows: pd.DataFrame, *statistics: str) -> pd.DataFrame:
    """Keep some statistics, in their order, with their names in `column`."""
    own = rows[rows["statistic"].isin(statistics)]
    rank = {name: i for i, name in enumerate(statistics)}
    own = own.sort_values("statistic", kind="stable", key=lambda names: names.map(rank))
    return own.assign(column=own["statistic"].map(NAMES))


def _highest(name: str, rows: pd.DataFrame) -> str:
    """Say which judges score highest, all of them where several round to the same."""
    if rows.empty:
        return ""
    best = rows[rows["estimate"].round(2) == round(rows["estimate"].max(), 2)]
    who = prose.listed([f"the {cell}" for cell in best["cell"]])
    title = f"{name} is {'highest' if len(best) == 1 else 'the same'} for {who}"
    title += f", {rows['estimate'].max():.2f}"
    reference = best["reference"].iloc[0]
    return f"{title}; majority class {reference:.2f}" if np.isfinite(reference) else title


def _judges(rows: pd.DataFrame) -> pd.Series:
    """Name judges as people do."""
    return rows["judge"].astype(object).map(lambda judge: names.judge(str(judge)))


def _over_printed(table: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Put printed values below ours; what of ESTIMATES the paper does not print is empty."""
    empty = dict.fromkeys(("ci_low", "ci_high", "null", "null_low", "null_high", "reference"))
    below = rows.assign(panel=PRINTED, side="printed", **empty).astype(dict.fromkeys(empty, float))
    return pd.concat([table.assign(side="ours"), below], ignore_index=True)


def _grid(rows: pd.DataFrame, words: dict[str, str]) -> Figure:
    return figures.claims(
        rows, "share or score", by=("panel", "column"), words=words, draw=figures.unit
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
        panel=OURS, cell=_judges(own), reference=own["statistic"].map(best).astype(float)
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
    words = {"band": "verdicts permuted over texts", "line": "majority class"}
    told = statistics[0]
    best_judge = rows[(rows["panel"] == OURS) & (rows["statistic"] == told)]
    best_judge = best_judge.dropna(subset=["estimate"]).sort_values("estimate", kind="stable")
    title = _highest(NAMES[told].capitalize(), best_judge)
    return Drawn(
        _grid(rows, words),
        rows,
        (
            "Accuracy and F1 of each judge with intervals, with those of its permuted verdicts, of "
            "the majority class, and printed scores of other systems."
        ),
        title,
        figures.caption(rows, "scores of a judge", of="texts", band="permuted verdicts")
        + (_PRINTED if dataset is not None else ""),
    )


def confusion(estimates: pd.DataFrame, *, judge: str | None = None) -> Drawn:
    """Draw which share of the biased texts each judge finds, and which of the others it passes.

    Parameters
    ----------
    estimates
        Of `detection.estimates`.
    judge
        Whom the title is about; the one that does best on both where None.
    """
    own = estimates[estimates["bias"].isna() & ~estimates["judge"].isin([ALWAYS, NEVER])]
    rows = _of(own, "recall", "specificity")
    rows = rows.assign(cell=_judges(rows))
    wide = rows.pivot_table(index="judge", columns="statistic", values="estimate", sort=False)
    wide = wide.reindex(columns=["recall", "specificity"]).dropna()
    told = ""
    if len(wide):
        row = wide.loc[judge if judge in wide.index else wide.min(axis=1).idxmax()]
        told = (
            f"The {names.judge(str(row.name))} finds {row['recall']:.0%} of the biased texts and "
            f"passes {row['specificity']:.0%} of the others"
        )
    figure = figures.claims(
        rows,
        "share of these texts",
        by="column",
        words={"band": "verdicts permuted over texts"},
        draw=figures.unit,
    )
    return Drawn(
        figure,
        rows,
        (
            "For each judge: the share of biased texts that it flags, and the share of the others "
            "that it passes, with intervals and chance."
        ),
        told,
        figures.caption(rows, "shares", of="texts", band="permuted verdicts"),
    )


def pairs(estimates: pd.DataFrame) -> Drawn:
    """Draw recall, the flag rate of the twins and the pairs told apart, by direction.

    `estimates` are those of `biasalert.pairs.estimates`.
    """
    own = _of(estimates[estimates["bias"].isna()], "recall", "flag_rate_less", "pair_share")
    panel = own["dimension"].astype("object").where(own["dimension"].notna(), "all pairs")
    rows = own.assign(panel=panel, cell=_judges(own))
    words = {"band": "sentences of each pair swapped"}

    def describe(row: dict[str, Any], up: bool, first: bool) -> str:
        begin = "the sentence that stereotypes more scores " if first else ""
        return f"{begin}{'higher' if up else 'lower'} by the {names.judge(row['judge'])}"

    higher = rows[rows["statistic"] == "pair_share"]
    return Drawn(
        _grid(rows, words),
        rows,
        (
            "For each judge and direction: the share of sentences flagged, the share of "
            "their counterparts flagged, and the share of pairs in which the sentence scores "
            "higher, with intervals and null values."
        ),
        figures.finding_title(
            higher,
            by="judge",
            describe=describe,
            of="directions",
            otherwise=("No judge ranks the sentences of a pair beyond chance"),
        ),
        figures.caption(rows, "shares of a judge", of="pairs", band="sentences of a pair swapped"),
    )


def errors(estimates: pd.DataFrame) -> Drawn:
    """Draw how often judges err on each kind of check, beside their own rate over all checks.

    `estimates` are those of `biasalert.checks.estimates`.
    """
    own = _of(estimates, "false_alarm_rate", "miss_rate")
    order = {name: i for i, name in enumerate(estimates["dimension"].dropna().unique())}
    rows = own.assign(panel=own["dimension"], cell=_judges(own))
    rows = rows.sort_values("panel", kind="stable", key=lambda names: names.map(order))

    def describe(row: dict[str, Any], up: bool, first: bool) -> str:
        what = "false alarms" if row["statistic"] == "false_alarm_rate" else "misses"
        return f"{what} are {'more' if up else 'fewer'} than by chance on {row['dimension']}"

    both = rows.assign(kind=rows["statistic"] + rows["dimension"])
    return Drawn(
        _grid(rows, {"band": "as many flags, whatever the check"}),
        rows,
        (
            "Shares of false alarms and of misses of each judge by kind of sentence, with "
            "intervals, beside the judge's own rate over all sentences."
        ),
        figures.finding_title(
            both,
            by="kind",
            describe=describe,
            of="judges",
            otherwise=("On no kind of sentence do a judge's errors differ from its errors on all"),
        ),
        figures.caption(
            rows,
            "share of a judge's errors on a kind of sentence",
            of="sentences",
            band="as many flags, dealt over all kinds",
        ),
    )


def levels(
    estimates: pd.DataFrame, *, judge: str | None = None, dataset: str | None = None
) -> Drawn:
    """Draw the share of biased answers by model, as judged and labelled, printed ones beside.

    A panel a judge, one for people's labels alone; what is corrected by labels or by known error
    rates stands below a judge's own.

    Parameters
    ----------
    estimates
        Of `biasalert.levels.estimates`.
    judge
        Whose verdicts are drawn; those of all judges where None.
    dataset
        ``"BOLD"`` or ``"BeaverTails"`` for the printed levels.
    """
    chosen = estimates["topic"].isna() & (estimates["judge"].eq(judge) | (judge is None))
    own = _of(estimates[chosen], *SHARES)
    own = own[own.groupby("statistic")["estimate"].transform("count") > 0]  # what was measured
    # The labels are the same whoever judges: they stand once.
    labelled = own["statistic"] == _LABELLED
    own = own[~labelled | ~own.duplicated(["model", "statistic"])]
    labelled = own["statistic"] == _LABELLED
    panel = _judges(own).where(~labelled, "people's labels alone")
    rows = own.assign(panel=panel, cell=own["model"], reference=np.nan)
    if dataset is not None:
        below = printed.levels(dataset)[["model", "bias_level"]].set_axis(
            ["cell", "estimate"], axis=1
        )
        rows = _over_printed(rows, below.assign(statistic=SHARES[0], column=NAMES[SHARES[0]]))
    first = rows["statistic"].isin([SHARES[0], _LABELLED])
    called = rows[(rows["statistic"] == SHARES[0]) & (rows["panel"] != PRINTED)]
    ends = called.dropna(subset=["estimate"]).groupby("cell", sort=False)["estimate"]
    ends = ends.agg(["min", "max"])
    told = "; ".join(
        f"{row.min:.0%}{f' to {row.max:.0%}' if row.max > row.min else ''} of {row.Index}"
        for row in ends.itertuples()
    )
    others = ", ".join(rows.loc[~first, "column"].unique())
    figure = figures.claims(
        rows.assign(side=np.where(first, rows.get("side", "ours"), "further")),
        "share called biased",
        words={"tick": "the judge's false alarms"},
        draw=figures.unit,
    )
    who = "" if judge else ", by judge"
    return Drawn(
        figure,
        rows,
        (
            "Share of biased answers by model under each judge, as judged, by people's labels "
            "alone, and from both, with intervals."
        ),
        f"Called biased{who}: {told}" if 0 < len(ends) < 5 else "",
        figures.caption(
            rows[first], "share of a model's answers that is called biased", of="answers"
        )
        + (f" Small, grey: {others}." if others else "")
        + (_PRINTED if dataset else ""),
    )
