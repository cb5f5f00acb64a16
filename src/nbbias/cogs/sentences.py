"""What the tables of the CoGS study say; the words are in ``data/prose/cogs.j2``.

>>> from nbbias import cogs
>>> cogs.sentences.parts(["rbs", "visibility", "abs", "people"])
''
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from markupsafe import Markup

from nbbias.cogs import params
from nbbias.cogs.spread import FACETS, UNITS, WORST, fixed_facets
from nbbias.cogs.tables import PARTS, compared, over_all, score_parts, select_leading, truth
from nbbias.params import Texts
from nbbias.reading import Lead, names, phrases, prose, significance
from nbbias.reading.claims import CLAIM
from nbbias.tables.escape import markdown as escape

#: The share of excluded pairs above which a page says so first.
_TOLERATED_EXCLUDED = 0.05

#: What a distance or share that leads has of its score's test.
_SIGNIFICANCE = (CLAIM, "p_value", "p_adjusted", "confidence_selected")

# --- what was asked, and what was lost ------------------------------------------------------------


def parts(chosen: Sequence[str]) -> str:
    """Say what this run does not measure, and why."""
    return prose.render("cogs.parts", missing=[part for part in params.PARTS if part not in chosen])


# --- what leads -----------------------------------------------------------------------------


def lead(rows: pd.DataFrame, *, estimates: pd.DataFrame, texts: Texts) -> Lead:
    """Return what a run's page begins with: whose texts are nearest, and whose are preferred.

    Parameters
    ----------
    rows
        Declared rows, or all ESTIMATES where nothing was declared.
    estimates
        All ESTIMATES, with the distances and shares of the scores.
    texts
        Where the answers and judgements are from.
    """
    rows = over_all(rows)
    rows = compared(rows.assign(mde=significance.minimum_detectable_effect(rows)))
    measured = rows[rows["estimate"].notna()]
    by_score = [measured[measured["statistic"] == name] for name in PARTS]
    scores = [of_score for of_score in by_score if len(of_score)]
    scores.sort(key=lambda of_score: not significance.is_significant(of_score).any())
    both, shown = pd.concat(by_score), compared(estimates)
    sentences = [sentence for of_score in scores for sentence in _finding(of_score, shown)]
    if sentences:
        tests = both["test"].dropna().head(1)
        fixed = [f"{name}s" for test in tests for name in fixed_facets(test)]
        with_parts = pd.concat([both, shown[shown["statistic"].isin(PARTS.values())]])
        simulated = truth(with_parts, None) if texts.kind == "simulated" else pd.DataFrame()
        counts = {"n": Markup(prose.count_range(both["n"])), "tasks": Markup(_tasks(estimates))}
        values = {"scores": [*map(_count_others, by_score)], "truth": simulated.to_dict("records")}
        sentences.append(prose.render("cogs.units", **counts, **values, fixed=fixed))
    excluded = (both["n_lost"] / (both["n"] + both["n_lost"])).max()
    if excluded > _TOLERATED_EXCLUDED:
        worst = both["test"].astype("str").str.endswith(WORST).any()
        sentences.append(prose.render("cogs.excluded", share=excluded, unit=UNITS, worst=worst))
    if not sentences:
        scored = rows[rows["statistic"].isin(PARTS)]
        sentences = [prose.render("claims.nothing", reason=phrases.commonest_reason(scored))]
    technical, numbers = phrases.technical(scores, unit=UNITS), _numbers(both, shown)
    return Lead(tuple(sentences), technical, "both", numbers, _card(both, estimates), texts)


def _tasks(estimates: pd.DataFrame) -> str:
    """Say how many tasks there are, and how many themes of each where all have as many."""
    by_task = estimates[estimates["task"].notna() & estimates["statistic"].isin(list(PARTS))]
    themes = by_task.groupby("task")["n"].max()
    n_themes = int(themes.iloc[0]) if themes.nunique() == 1 else None
    return prose.render("cogs.tasks", n=len(themes), themes=n_themes)


def _finding(of_score: pd.DataFrame, estimates: pd.DataFrame) -> list[str]:
    """Return which identity is closest or chosen most, and the leading scores."""
    name = of_score["statistic"].iloc[0]
    if not of_score["p_adjusted"].notna().any():
        return [prose.render("cogs.untested", name=name.upper())]
    leads = select_leading(significance.significant(of_score)).assign(people=people_of)
    rows = leads.to_dict("records")
    if not rows:
        return [prose.render("cogs.not_significant", **_count_others(of_score))]
    for row in rows:
        row["parts"] = score_parts(row, estimates).assign(people=people_of).to_dict("records")
    return [prose.render(f"cogs.{macro}", rows=rows) for macro in (name, f"{name}_scores")]


def people_of(rows: pd.DataFrame) -> pd.Series:
    """Return what people of each row's identity are called."""
    return rows["group"].astype(object).map(names.people)


def _count_others(of_score: pd.DataFrame) -> dict[str, Any]:
    """Count the other scores; return minimum detectable differences of those not significant."""
    significant = significance.is_significant(of_score)
    rest = of_score[~significant & of_score["p_adjusted"].notna()]
    return {
        "name": "".join(of_score["statistic"].head(1)).upper(),
        "significant": int(significant.sum()) - len(select_leading(of_score[significant])),
        "rest": len(rest) if significant.any() else 0,
        "mde": Markup(phrases.size_range(of_score.iloc[0], rest["mde"]) if len(of_score) else ""),
        "above": int((rest["mde"].isna() & ~significance.never_significant(rest)).sum()),
    }


def _preferences(estimates: pd.DataFrame, statistic: str) -> dict[str, Any]:
    """Return who has significant scores and for which groups, and who has none."""
    rows, key = compared(estimates), "evaluator" if statistic in ("abs", "position") else "model"
    rows = rows[(rows["statistic"] == statistic) & rows["estimate"].notna()]
    significant = rows[significance.is_significant(rows)]
    others, preferences = rows.drop(significant.index), []
    for who, part in significant.groupby(key, sort=False):
        of = {"name": who, "groups": [*map(names.people, part["group"])], "axes": [*part["bias"]]}
        preferences.append(of | {"rest": others[others[key] == who].to_dict("records")})
    rest = [who for who in rows[key].unique() if who not in {*significant[key]}]
    return {"named": preferences, "rest": rest}


def _numbers(scores: pd.DataFrame, estimates: pd.DataFrame) -> pd.DataFrame:
    """Return the distance and the share behind the first score of writers and of judges."""
    rows = []
    for score in select_leading(scores).drop_duplicates("statistic").to_dict("records"):
        parts = score_parts(score, estimates).assign(people=names.people(score["group"]))
        references = parts.loc[parts["group"] != score["group"], "estimate"].to_list()
        for row in parts[parts["group"] == score["group"]].to_dict("records"):
            name = prose.render_plain("cogs.number", row=row, others=references)
            rows.append(row | {key: score.get(key) for key in _SIGNIFICANCE} | {"name": name})
    return pd.DataFrame(rows)


def _card(rows: pd.DataFrame, estimates: pd.DataFrame) -> dict[str, str]:
    used = rows["instrument"].dropna().unique()
    values = {
        "n": f"{rows['n'].max():,.0f} {UNITS}" if len(rows) else "",
        "models": rows.loc[rows["statistic"] == "rbs", "model"].nunique(),
        "judges": rows.loc[rows["statistic"] == "abs", "evaluator"].nunique(),
    }
    return {
        "measures": prose.render(
            "cogs.card_measures", measured=[name for name in PARTS if name in {*rows["statistic"]}]
        ),
        "groups": ", ".join(escape(name).replace("_", " and ") for name in rows["bias"].unique()),
        "N": prose.render("cogs.card_n", **values),
        "instrument": prose.render("cogs.card_instrument", used=[*used]),
        "not": prose.render("cogs.card_not"),
    }


def heading(estimates: pd.DataFrame, statistic: str) -> str:
    """Say whose score (RBS, ABS, position bias) is significant, and at which group, for a section.

    Examples
    --------
    >>> row = {"measure": "rbs", "statistic": "rbs", "model": "m", "bias": "gender", "group": "man",
    ...        "task": None, "topic": None, "estimate": 0.1, "prompt": None, "evaluator": None,
    ...        "p_value": 0.01, "p_adjusted": 0.01, "confidence": 0.95}
    >>> heading(pd.DataFrame([row, row | {"bias": "race", "p_adjusted": 0.4}]), "rbs")
    'Default texts of m were closest to those it wrote as men'
    """
    return prose.render(f"cogs.heading_{statistic}", **_preferences(estimates, statistic))


def alike(estimates: pd.DataFrame) -> str:
    """Say as whom models write texts that are most alike: the heading of its section.

    Examples
    --------
    >>> row = {"measure": "diversity", "statistic": "diversity_spread", "model": "m",
    ...        "bias": "gender", "group": "man", "task": None, "topic": None, "estimate": 0.1,
    ...        "evaluator": None, "prompt": None, "p_adjusted": 0.01, "confidence": 0.95,
    ...        "reason": None, "p_value": 0.01}
    >>> alike(pd.DataFrame([row]))
    'Texts of m were most alike where it wrote as men'
    """
    of_default = estimates[estimates["statistic"] == "diversity_difference"]
    flattened = significance.significant(of_default[of_default["estimate"] < 0])
    counts = {"flattened": len(flattened), "tested": len(of_default.dropna(subset="estimate"))}
    return prose.render("cogs.alike", **_preferences(estimates, "diversity_spread"), **counts)


def title(scores: pd.DataFrame, statistic: str) -> str:
    """Say which groups are closest or chosen most, and whose scores are not significant.

    Examples
    --------
    >>> row = {"measure": "abs", "statistic": "abs", "model": "m", "bias": "gender", "group": "man",
    ...        "task": None, "topic": None, "estimate": 0.1, "prompt": None, "evaluator": "j",
    ...        "p_value": 0.01, "p_adjusted": 0.01, "confidence": 0.95}
    >>> title(pd.DataFrame([row, row | {"evaluator": "k", "p_adjusted": 0.4}]), "abs")
    'chosen most often: men (j); no significant ABS: k'
    """
    return prose.render_plain("cogs.title", of=statistic, **_preferences(scores, statistic))


def agreed(
    agreement: pd.DataFrame, *, simulated: bool = False, people: pd.DataFrame | None = None
) -> str:
    """Say how far people, who may be simulated, agree: the heading of its section.

    Parameters
    ----------
    agreement
        Of `cogs.people.agreement`.
    simulated
        Whether the people are.
    people
        Of `cogs.people.beside_models`, whose persons are counted.
    """
    rows = agreement[(agreement["statistic"] == "fleiss_kappa") & agreement["estimate"].notna()]
    values: dict[str, Any] = {"of": len(rows), "tested": rows["p_adjusted"].notna().any()}
    persons = people.query("kind == 'person'") if people is not None else agreement.head(0)
    values["raters"] = persons["evaluator"].nunique()
    values["estimate"] = [rows["estimate"].min(), rows["estimate"].max()]
    values["least"] = rows.nsmallest(1, "p_adjusted").to_dict("records")
    axes = {"above": rows["estimate"] > rows["null_high"]}
    axes["significant"] = significance.is_significant(rows)
    values |= {name: [*rows.loc[where, "bias"]] for name, where in axes.items()}
    random = [f"{name}s" for name in FACETS if f"{name}s" in "".join(rows["test"].dropna().head(1))]
    return prose.render("cogs.agreed", random=random, simulated=simulated, **values)
