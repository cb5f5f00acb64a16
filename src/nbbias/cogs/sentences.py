"""What the tables of the CoGS study say; the words are in ``data/prose/cogs.j2``.

>>> from nbbias import cogs
>>> cogs.sentences.parts(["rbs", "visibility", "abs", "people"])
''
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from nbbias import reading
from nbbias.cogs.params import PARTS
from nbbias.cogs.spread import UNITS, fixed_facets
from nbbias.cogs.tables import by_setting, over_all, pooled
from nbbias.params import Texts
from nbbias.reading import Lead, names, number, phrases, prose, significance
from nbbias.tables.escape import markdown as escape

#: The share of excluded pairs above which a page says so first.
_TOLERATED_EXCLUDED = 0.05

# --- what was asked, and what was lost ------------------------------------------------------------


def parts(chosen: Sequence[str]) -> str:
    """Say what this run does not measure, and why."""
    return prose.render("cogs.parts", missing=[part for part in PARTS if part not in chosen])


def _of_tasks(rows: pd.DataFrame) -> str:
    if rows["task"].notna().any():
        return " by task"
    fixed = _fixed(rows)
    return f" on these {' and '.join(fixed)}" if fixed else ""


def _fixed(rows: pd.DataFrame) -> list[str]:
    """Return the facets that rows are conditional on, in the plural."""
    tests = rows["test"].dropna()
    return [f"{name}s" for name in fixed_facets(tests.iloc[0])] if len(tests) else []


def _people(row: Mapping[str, Any]) -> str:
    """Name a row's group as people do, for a sentence whose braces are read again."""
    return escape(names.people(row["group"])).replace("{", "{{").replace("}", "}}")


def rbs(estimates: pd.DataFrame) -> str:
    """Count significant RBS, and name the largest with the identity nearest to the default."""
    rows = estimates[estimates["statistic"] == "rbs"]
    return reading.count_significant(
        rows,
        what=f"representative bias scores{_of_tasks(rows)}",
        unit=UNITS,
        says=lambda row: f"{{which}}: RBS {{estimate}}, nearest to the default: {_people(row)}",
    )


def abs_scores(estimates: pd.DataFrame) -> str:
    """Count significant ABS, and name the largest with the identity that is most preferred."""
    rows = pooled(estimates)
    rows = rows[rows["statistic"] == "abs"].assign(model=None)  # the writers, all of them
    return reading.count_significant(
        rows,
        what=f"affinity bias scores{_of_tasks(rows)}, positions counterbalanced,",
        unit=UNITS,
        says=lambda row: f"{{which}}: ABS {{estimate}}, most preferred: {_people(row)}",
    )


# --- what leads -----------------------------------------------------------------------------


def lead(rows: pd.DataFrame, *, texts: Texts) -> Lead:
    """Return what a run's page begins with: whose texts are nearest, and whose are preferred.

    Parameters
    ----------
    rows
        Declared rows, or all ESTIMATES where nothing was declared.
    texts
        Where the answers and judgements are from.
    """
    rows = over_all(rows)
    mde = significance.minimum_detectable_effect(rows)
    measured = rows.assign(mde=mde)[rows["estimate"].notna()]
    spreads = by_setting(measured[measured["statistic"] == "rbs"])
    judged = measured[measured["statistic"] == "abs"]
    judged = pooled(judged) if len(judged) else judged
    halves = [(spreads, "model", "writers"), (judged, "evaluator", "judges")]
    before = [_scope(spreads) if len(spreads) else "", ""]
    sentences = [
        _preferring(part, key, macro, before=before[macro == "writers"])
        for part, key, macro in halves
        if len(part)
    ]
    technical = [rbs(rows)] if len(spreads) else []
    technical += [abs_scores(judged)] if len(judged) else []
    both = pd.concat([spreads, judged])
    if len(sentences) == 1 and both["null"].notna().any():
        ends = both["null"].min(), both["null"].max()
        low, high = (Markup(number(end, decimals=3)) for end in ends)
        sentences.append(prose.render("cogs.null", low=low, high=high))
    excluded = (both["n_lost"] / (both["n"] + both["n_lost"])).max()
    if excluded > _TOLERATED_EXCLUDED:
        sentences.append(prose.render("cogs.excluded", share=excluded, unit=UNITS))
    if not sentences:
        reason = rows["reason"].dropna().head(1).tolist()
        sentences = [prose.render("claims.nothing", reason=reason[0] if reason else "")]
    return Lead(
        plain=tuple(sentences),
        technical=" ".join(technical),
        figure="both",
        numbers=_numbers(both),
        card=_card(both),
        texts=texts,
    )


def _preferences(rows: pd.DataFrame, key: str) -> dict[str, Any]:
    """Return who (a column) has significant scores for which groups, and who has none."""
    significant = rows[significance.is_significant(rows)]
    named = [
        {"name": who, "groups": [names.people(group) for group in part["group"]]}
        for who, part in significant.groupby(key, sort=False)
    ]
    with_any = {who["name"] for who in named}
    others = rows.drop(significant.index).dropna(subset="p_adjusted")
    axes = others.groupby(key, sort=False)["bias"].agg(list)
    rest = [f"{who} ({', '.join(axes[who])})" if who in with_any else who for who in axes.index]
    return {"named": named, "rest": rest, "of": rows[key].nunique(), "significant": significant}


def _scope(rows: pd.DataFrame) -> str:
    n = f"{rows['n'].max():.0f}"
    return prose.render("cogs.scope", n=n, unit=UNITS, fixed=_fixed(rows))


def _preferring(rows: pd.DataFrame, key: str, macro: str, *, before: str) -> str:
    """Say who has significant scores, of which identities, and what the others could detect."""
    values = _preferences(rows, key)
    significant = values.pop("significant")
    groups = significant["group"].map(names.people).value_counts()
    mde = rows.loc[~rows.index.isin(significant.index), "mde"]
    ends = [number(end, decimals=3) for end in (mde.min(), mde.max())]
    return prose.render(
        f"cogs.{macro}",
        **values,
        most=groups.index[0] if len(groups) else "",
        p=Markup(phrases.largest_p(significant.to_dict("records"))),
        scope=Markup(_scope(rows)),
        show_scope=bool(_fixed(rows)) or _scope(rows) != before,
        # No score is above 0.5: of few tasks or themes not even that could be detected.
        mde=Markup(" to ".join(dict.fromkeys(ends))) if mde.max() < 0.5 else "",
    )


def _numbers(rows: pd.DataFrame) -> pd.DataFrame:
    """Choose three rows: of writers and of judges those with the largest significant excess."""
    significant = rows[significance.is_significant(rows)]
    rows = significant if len(significant) else rows
    sides = [rows[rows["statistic"] == name] for name in ("rbs", "abs")]
    several = all(len(side) for side in sides)
    leading = pd.concat(
        side.nlargest(most if several else 3, "excess", keep="first")
        for side, most in zip(sides, (1, 2), strict=True)
    )
    named = leading.assign(group=leading["group"].map(names.people)).to_dict("records")
    return leading.assign(name=[prose.render_plain("cogs.number", row=row) for row in named])


def _card(rows: pd.DataFrame) -> dict[str, str]:
    measured = [name for name in ("rbs", "abs") if (rows["statistic"] == name).any()]
    values = {
        "n": f"{rows['n'].max():,.0f} {UNITS}" if len(rows) else "",
        "models": rows.loc[rows["statistic"] == "rbs", "model"].nunique(),
        "judges": rows.loc[rows["statistic"] == "abs", "evaluator"].nunique(),
    }
    return {
        "measures": prose.render("cogs.card_measures", measured=measured),
        "groups": ", ".join(escape(name).replace("_", " and ") for name in rows["bias"].unique()),
        "N": prose.render("cogs.card_n", **values),
        "instrument": escape("; ".join(rows["instrument"].dropna().unique())),
        "not": prose.render("cogs.card_not"),
    }


def nearest(estimates: pd.DataFrame) -> str:
    """Say as whom models write closest to their default texts: the heading of its section.

    Examples
    --------
    >>> row = {"statistic": "rbs", "model": "m", "bias": "gender", "group": "man", "task": None,
    ...        "topic": None, "estimate": 0.1, "prompt": None, "p_value": 0.01,
    ...        "p_adjusted": 0.01, "confidence": 0.95}
    >>> nearest(pd.DataFrame([row, row | {"bias": "race", "p_adjusted": 0.4}]))
    'Closest to the default texts of m: men'
    """
    rows = by_setting(over_all(estimates))
    rows = rows[(rows["statistic"] == "rbs") & rows["estimate"].notna()]
    values = _preferences(rows, "model")
    return prose.render("cogs.nearest", named=values["named"], of=values["of"])


def preferred(estimates: pd.DataFrame) -> str:
    """Say which judges prefer the texts of some identity: the heading of its section."""
    rows = over_all(estimates)
    rows = pooled(rows[(rows["statistic"] == "abs") & rows["estimate"].notna()])
    values = _preferences(rows, "evaluator")
    return prose.render("cogs.preferred", named=values["named"], of=values["of"])


def orders(estimates: pd.DataFrame) -> str:
    """Say how many scores are significant in one order, and how many counterbalanced."""
    scores = pooled(over_all(estimates))
    scores = scores[scores["estimate"].notna()]
    counts = {
        str(name): {"k": int(significance.is_significant(rows).sum()), "n": len(rows)}
        for name, rows in scores.groupby("statistic")
    }
    return prose.render("cogs.orders", counts=counts)


def floors(estimates: pd.DataFrame) -> list[str]:
    """Write the same-writer baseline with the identities' distances."""
    rows = by_setting(over_all(estimates)).dropna(subset="estimate")
    sentences = []
    for model, part in rows.groupby("model", sort=False):
        means = part.loc[part["statistic"] == "distance", "estimate"]
        floor = part.loc[part["statistic"] == "floor", "estimate"].mean()
        values = {"low": means.min(), "high": means.max(), "floor": floor}
        sentences.append(prose.render("cogs.floor", model=model, **values))
    return sentences


def seen(table: pd.DataFrame) -> str:
    """Say in how many answers the identity is visible: the heading of its section.

    Examples
    --------
    >>> row = {"model": "m", "identity": "white", "n": 10, "obvious": 0.2, "nuanced": 0.1}
    >>> seen(pd.DataFrame([row]))
    'The identity is obvious in 20% of the answers and nuanced in 10%'
    """
    if not table["n"].sum():
        return prose.render("cogs.unseen")
    means = np.average(table[["obvious", "nuanced"]], axis=0, weights=table["n"])
    return prose.render("cogs.seen", obvious=means[0], nuanced=means[1])


def agreed(agreement: pd.DataFrame, *, simulated: bool = False) -> str:
    """Say how far people, who may be simulated, agree: the heading of its section."""
    rows = agreement[(agreement["statistic"] == "fleiss_kappa") & agreement["estimate"].notna()]
    low, high = (Markup(number(end)) for end in (rows["estimate"].min(), rows["estimate"].max()))
    k = int(significance.is_significant(rows).sum())
    return prose.render("cogs.agreed", simulated=simulated, k=k, of=len(rows), low=low, high=high)
