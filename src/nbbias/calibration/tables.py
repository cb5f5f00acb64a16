"""Tables that a reader of the calibration needs, each with its title and its note."""

from __future__ import annotations

import pandas as pd

from nbbias import reading
from nbbias.calibration import measures
from nbbias.calibration.grid import POWER
from nbbias.reading import Table

#: Rows of a table that is read, not looked up.
_MOST = 12


#: Studies by one word, where a row has little room.
_SHORT = {"news bias": "news", "biased prompts": "prompts"}


def called(rows: pd.DataFrame, *, statistic: bool = True) -> pd.Series:
    """Name what is calibrated: study, measure and statistic, in words.

    Examples
    --------
    >>> rows = pd.DataFrame({"source": ["news_bias"], "dimension": ["words"],
    ...                      "task": ["share_difference"]})
    >>> called(rows).tolist(), called(rows, statistic=False).tolist()
    (['news words: share difference'], ['news words'])
    """
    names = {"study": "source", "measure": "dimension", "statistic": "task"}
    own = rows if "source" in rows else rows.rename(columns=names)
    words = own[["source", "dimension", "task"]] if statistic else own[["source", "dimension"]]
    words = words.astype("str").apply(lambda one: one.str.replace("_", " "))
    text = words["source"].replace(_SHORT) + " " + words["dimension"]
    return text + ": " + words["task"] if statistic else text


def simulated(designs: pd.DataFrame) -> Table:
    """Say of each measure in what it was simulated, how large, and how often.

    Examples
    --------
    >>> from nbbias.calibration import grid
    >>> simulated(grid.designs([], n=[10, 30], repeats=4)).title
    'What was simulated'
    """
    trials = designs[designs["of"] == "trial"]
    rows = []
    for _, own in trials.groupby(["study", "measure"], sort=False):
        held = own.loc[own["held_out"], "world"].unique()
        rows.append(
            {
                "measure": called(own, statistic=False).iloc[0],
                "of": own["unit"].iloc[0],
                "N": _listed(own["n"]),
                "planted": _listed(own["size"]),
                "worlds": ", ".join(w for w in own["world"].unique() if w not in held),
                "held out": ", ".join(held),
                "studies": int(own["repeats"].sum()),
            }
        )
    return Table(
        pd.DataFrame(rows),
        "What was simulated",
        "N: units of a simulated study. Planted: sizes of the effect, in the measure's own unit; 0 "
        "is none. Held out: worlds that were not looked at while a method was made.",
    )


def _listed(values: pd.Series) -> str:
    return ", ".join(f"{one:g}" for one in values.drop_duplicates())


def worlds(designs: pd.DataFrame) -> Table:
    """Say of each world what it does that a null model does not."""
    found = measures.measures()
    own = designs[["study", "measure", "world", "held_out"]].drop_duplicates()
    told = [found[f"{row.study}/{row.measure}"].worlds[str(row.world)] for row in own.itertuples()]
    rows = own.assign(told=told).drop_duplicates(["study", "world", "told"])
    held = rows["held_out"].map({True: "yes", False: ""})
    rows = rows.assign(study=rows["study"].str.replace("_", " "), held_out=held)
    labels = {"held_out": "held out", "told": "what it does that a null model does not"}
    return Table(rows[["study", "world", "told", "held_out"]], "Worlds", labels=labels)


def misses(estimates: pd.DataFrame, *, rows: int | None = _MOST) -> Table:
    """Show by number of units what misses its level, the surest first.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"source": "s", "dimension": "m", "task": "d", "topic": "N = 30", "estimate": -0.1,
    ...        "ci_low": -0.2, "ci_high": -0.05, "n": 40, "measure": "interval", "null": 0.0,
    ...        "statistic": "coverage_error", "p_value": 0.001, "p_adjusted": 0.001}
    >>> found = tables.estimates([row], study="calibration", confidence=0.95)
    >>> misses(found).rows["estimate"].tolist()
    ['−10.0 [−20.0, −5.0]']
    """
    own = estimates[estimates["topic"].notna()].copy()
    own["task"] = called(own)
    if rows is not None:
        own = reading.significance.significant(own)
    ends = ["estimate", "ci_low", "ci_high", "null"]
    own[ends] = 100 * own[ends]
    title = (
        "What misses its level, by number of units" if rows else "Every miss, by number of units"
    )
    return reading.readable(
        own,
        ["task", "topic", "statistic"],
        rows=rows,
        title=title,
        decimals=1,
        labels={
            "estimate": "points off its level",
            "n": "studies",
            "task": "what",
            "topic": "units",
            "statistic": "of",
        },
        note="Coverage less its level: below 0, too narrow. False positives and false first "
        "sentences (leads) less theirs: above 0, too many.",
    )


def selected(outcomes: pd.DataFrame) -> Table:
    """Show what selection does to what is told: wrong signs, and sizes that grew.

    Examples
    --------
    >>> row = {"study": "s", "measure": "m", "statistic": "d", "n": 10, "planted": 0.1,
    ...        "told": 0.2, "n_tested": 40, "wrong_sign": 0.125, "exaggeration": 2.0}
    >>> selected(pd.DataFrame([row])).rows["too large by"].tolist()
    ['2.0 times']
    """
    keys = ["study", "measure", "statistic", "n"]
    if outcomes.empty:
        return Table(pd.DataFrame(), "What was told, and how far off it was")
    own = outcomes[(outcomes["planted"] != 0) & (outcomes["n_tested"] > 0)]
    own = own[own["exaggeration"].notna()].assign(size_=own["planted"].abs())
    small = own[own["size_"] == own.groupby(keys)["size_"].transform("min")]
    found = small.groupby(keys, sort=False)[["told", "wrong_sign", "exaggeration"]].mean()
    found = found.reset_index().sort_values("exaggeration", ascending=False).head(_MOST)
    rows = pd.DataFrame(
        {
            "what": called(found),
            "N": found["n"],
            "power": [f"{one:.0%}" for one in found["told"]],
            "wrong sign": [f"{one:.0%}" for one in found["wrong_sign"]],
            "too large by": [f"{one:.1f} times" for one in found["exaggeration"]],
        }
    )
    note = (
        "Of the smallest effect that was planted, among the simulated studies that told it: how "
        "many have the wrong sign, and how much too large the estimate is on average."
    )
    return Table(rows, "What was told, and how far off it was", note)


def least(table: pd.DataFrame) -> Table:
    """Show the least effect that is told four times of five (`grid.least`)."""
    wide = table.assign(
        what=called(table),
        told=[
            f"{one:.3g}" if one == one else f"> {top:.3g}"
            for one, top in zip(table["least"], table["largest"], strict=True)
        ],
    ).pivot_table(index=["what", "unit"], columns="n", values="told", aggfunc="first", sort=False)
    wide.columns = [f"N = {one}" for one in wide.columns]
    return Table(
        wide.reset_index().fillna(""),
        f"The least effect that is told {POWER:.0%} of the time",
        "In the measure's own unit; > : not even the largest that was planted.",
        {"unit": "of"},
    )


def leads(table: pd.DataFrame) -> Table:
    """Show how often a page's first sentence is false, by study and what was planted.

    Examples
    --------
    >>> row = {"study": "s", "planted": 0.0, "n": 30, "repeats": 40, "told": 0.05, "false": 0.05}
    >>> leads(pd.DataFrame([row])).rows["false"].tolist()
    ['5.0%']
    """
    if table.empty:
        return Table(pd.DataFrame(), "First sentences of simulated pages")
    own = table.assign(what=table["planted"].ne(0).map({True: "something", False: "nothing"}))
    rows = []
    for (study, what), some in own.groupby(["study", "what"], sort=False):
        n = int(some["repeats"].sum())
        told, false = ((some[name] * some["repeats"]).sum() / n for name in ("told", "false"))
        rows.append(
            {
                "study": str(study).replace("_", " "),
                "planted": what,
                "pages": n,
                "say something": f"{told:.1%}",
                "false": f"{false:.1%}",
                "of those that say something": f"{false / told:.1%}" if told else "",
            }
        )
    return Table(
        pd.DataFrame(rows),
        "First sentences of simulated pages",
        "False: anything that the sentence says is not so, or is so the other way round. Of "
        "several models that a page compares, some have nothing planted.",
    )


def printed(shares: pd.DataFrame) -> Table:
    """Show how much of the printed distances chance alone would give, by measure and bias.

    Examples
    --------
    >>> row = {"measure": "word", "bias": "gender", "printed": 0.2, "chance_low": 0.05,
    ...        "chance_high": 0.1, "share_low": 0.25, "share_high": 0.5, "reason": None}
    >>> printed(pd.DataFrame([row])).rows["of what is printed"].tolist()
    ['25% to 50%']
    """
    rows = []
    for (measure, bias), own in shares.groupby(["measure", "bias"], sort=False):
        known = own[own["share_low"].notna()]
        row = {"level": measure, "bias": bias, "models": len(own)}
        row["printed"] = f"{own['printed'].min():.3f} to {own['printed'].max():.3f}"
        if known.empty:
            row |= {"by chance": own["reason"].dropna().iloc[0], "of what is printed": ""}
        else:
            low, high = known["chance_low"].min(), known["chance_high"].max()
            row["by chance"] = f"{low:.3f} to {high:.3f}"
            low, high = known["share_low"].min(), known["share_high"].max()
            row["of what is printed"] = f"{low:.0%} to {high:.0%}"
        rows.append(row)
    return Table(
        pd.DataFrame(rows),
        "What chance gives of the distances that Fang et al. (2024) print",
        "Ranges over the paper's models, over words dealt, sentences dealt and halves of human "
        "articles, and over their 95% intervals. Above 100%: chance gives more than is printed.",
    )
