"""What the page of the study says and shows; the words are in ``data/prose/llmbi.j2``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from markupsafe import Markup
from scipy.stats import norm

from nbbias import reading, stats
from nbbias.params import Texts
from nbbias.reading import Drawn, Lead, Table, claims, figures, names, phrases, prose, significance
from nbbias.reading.prose import count_range
from nbbias.tables.escape import markdown as escape

if TYPE_CHECKING:
    from nbbias.llmbi.measured import Results

#: The size of polarity, at most 1, above which scores are near the maximum.
_NEAR = 0.9

#: What indices and means are compared with.
_PROSE = "reference prose of the same length"
_MINUS = " \N{MINUS SIGN} reference prose"
_VERSION = r" \d[\d.]+"
_NO_RANGE = {"null_low": np.nan, "null_high": np.nan}
#: Of tables that are not of the statistic of their name, the statistics.
STATISTICS = {"split": [name + part for name in ("index", "difference") for part in stats.PARTS]}


# --- what leads -------------------------------------------------------------------------------


def lead(declared: pd.DataFrame, *, texts: Texts, results: Results | None = None) -> Lead:
    """Return what a run's page begins with: how models differ, from prose and from each other.

    Parameters
    ----------
    declared
        Declared rows, or all ESTIMATES where nothing was declared: then indices and their
        differences lead.
    texts
        Where the answers are from.
    results
        Of `llmbi.measure`, for what the second scorer says and how many answers were scored.

    Examples
    --------
    >>> from nbbias import tables
    >>> index = {"statistic": "index", "model": "a", "estimate": 0.5, "n": 18, "p_value": 0.2,
    ...          "p_adjusted": 0.2, "null": 0.44, "null_low": 0.37, "null_high": 0.5}
    >>> rows = tables.estimates([index], study="llmbi", measure="llmbi", confidence=0.95)
    >>> lead(rows, texts=Texts("own", "answers.csv")).plain[0].split(" (")[0]
    'Compared with reference prose of the same length, no significant difference in the model'
    """
    if claims.CLAIM not in declared:
        declared = declared[declared["statistic"].isin(["index", "difference"])]
    between = declared["statistic"].str.startswith("difference")
    pairs, others = declared[between], declared[~between]
    parts = [part for _, part in pd.concat([others, pairs]).groupby("statistic", sort=False)]
    measured = [part for part in parts if part["estimate"].notna().any()] or parts
    mde = significance.minimum_detectable_effect(declared)
    first, *others_ = dict.fromkeys(_differences(part, mde) for part in measured)
    second = _changed(results) if results else declared.head(0)
    each = [
        (row, Markup(phrases.signed(row)), Markup(phrases.numbers(row, unit="prompts")))
        for row in second.to_dict("records")
    ]
    what = prose.render("llmbi.what", classified=_is_classified(declared))
    changed = prose.render("llmbi.other_scorer", rows=each, first=_scorers(declared)[:1])
    return Lead(
        plain=(first, what, *others_, *([changed] if each else ())),
        technical=phrases.technical(list(map(significance.minus_prose, parts)), unit="prompts"),
        figure="indices",
        numbers=_numbers(pairs, others.dropna(subset="estimate"), second),
        card=_card(declared, results.losses if results else pd.DataFrame()),
        texts=texts,
    )


def _differences(rows: pd.DataFrame, mde: pd.Series) -> str:
    """Say which rows of a statistic are significant; of models, which two are furthest apart."""
    measured = rows[rows["estimate"].notna()]
    significant = significance.significant(measured)
    if measured.empty or not rows["statistic"].iloc[0].startswith("difference"):
        text = phrases.differences(rows, mde=mde, reference=f"in {_PROSE}", unit="prompts")
        if significant.empty:
            text = prose.render("llmbi.compared", prose=_PROSE, text=Markup(text))
        return text
    largest = (significant if len(significant) else measured)["estimate"].abs().idxmax()
    row = measured.loc[largest].to_dict()
    index = row | {"statistic": row["statistic"].replace("difference", "index")}
    sign = 1 if row["estimate"] > 0 else -1
    return prose.render(
        "llmbi.differences",
        k=len(significant),
        n=len(measured),
        row=row,
        index=names.measure(index),
        pair=(row["model"], row["group"])[::sign],
        numbers=Markup(phrases.numbers(row, unit="prompts", sign=sign)),
        mde=Markup(phrases.size_range(row, mde.reindex(measured.index))),
    )


def _numbers(pairs: pd.DataFrame, others: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """Return at most three differences: from reference prose, by both scorers or between models."""
    of_model = [rows[rows["model"].isin(second["model"].head(1))] for rows in (others, second)]
    chosen = phrases.leading([others, *(of_model if len(second) else [pairs])]).drop_duplicates()
    rows = chosen.replace({"instrument": _VERSION}, "", regex=True).to_dict("records")
    both = len(second) > 0
    name = [prose.render_plain("llmbi.number_name", row=row, both=both) for row in rows]
    return significance.minus_null(chosen).assign(name=name)


def _changed(results: Results) -> pd.DataFrame:
    """Return the second scorer's indices of models where only one scorer's is significant."""
    rows = pd.concat([results.estimates, results.second_scorer], ignore_index=True)
    rows = rows[(rows["statistic"] == "index") & rows["p_adjusted"].notna()]
    significant = significance.is_significant(rows).rename("significant")
    by_model = significant.groupby(rows["model"]).transform("nunique")
    second = rows["instrument"] != results.estimates["instrument"].iloc[0]
    rows = rows.assign(significant=significant)[second & by_model.gt(1)]
    return rows.replace({"instrument": _VERSION}, "", regex=True)


def _scorers(rows: pd.DataFrame) -> list[str]:
    """Name the scorers of some estimates, without their versions."""
    return [*rows["instrument"].dropna().replace(_VERSION, "", regex=True).unique()]


def _is_classified(rows: pd.DataFrame) -> bool:
    return "instrument" in rows and bool(rows["instrument"].str.startswith("bias class").any())


def _card(rows: pd.DataFrame, losses: pd.DataFrame) -> dict[str, str]:
    measured = rows[rows["estimate"].notna()]
    first = measured[measured["statistic"].isin(measured["statistic"].head(1))]
    return {
        "measures": prose.render("llmbi.card_measures", classified=_is_classified(rows)),
        "groups": prose.render("llmbi.card_groups"),
        "N": prose.render(
            "llmbi.card_n",
            prompts=measured["n"].max() if len(measured) else 0,
            answers=count_range(losses["scored"]) if len(losses) else "",
            passages=losses["passages"].max() if len(losses) else 0,
            models=pd.concat([rows["model"], rows["group"]]).nunique(),
            excluded=first["n_lost"].sum(),
        ),
        "instrument": ", ".join(map(escape, rows["instrument"].dropna().unique())),
        "not": prose.render("llmbi.card_not", classified=_is_classified(rows)),
    }


# --- headings ---------------------------------------------------------------------------------


def example(typical: pd.DataFrame) -> str:
    r"""Say the scores of two typical answers (`typical`).

    Examples
    --------
    >>> row = {"head": "a", "prompt": "Explain tides.", "score": 0.5}
    >>> example(pd.DataFrame([row]))
    'Asked “Explain tides\\.”, a scored 0.50'
    """
    return prose.render("llmbi.example", answers=typical.to_dict("records"))


def dimensions(*estimates: pd.DataFrame) -> tuple[str, str]:
    r"""Return a heading (whether dimensions can be ranked) and a sentence of tests by scorer.

    Parameters
    ----------
    *estimates
        `estimates` of `llmbi.measure`, and `second_scorer`.

    Examples
    --------
    >>> row = {"model": "a", "statistic": "anova", "statistic_value": 0.4, "p_value": 0.7}
    >>> row |= {"confidence": 0.95, "n": 6, "df": 2.0, "instrument": "TextBlob 0.20.1"}
    >>> rows = pd.DataFrame([row, row | {"statistic": "dimension_mean", "n": 2}])
    >>> print(*dimensions(rows), sep="\n")
    Two prompts per dimension do not support a ranking
    By TextBlob, dimensions did not differ significantly in a (p = .700).
    """
    rows = pd.concat(estimates).replace({"instrument": _VERSION}, "", regex=True)
    prompts = rows.loc[rows["statistic"] == "dimension_mean", "n"].max()
    rows = rows[(rows["statistic"] == "anova") & rows["p_value"].notna()]
    rows = rows.assign(differs=stats.is_significant(rows["p_value"], rows["confidence"]))
    by_all = rows.groupby("model")["differs"].sum() == len(estimates)
    ranking = prose.render("llmbi.ranking", n=prompts, models=[*by_all[by_all].index])
    return ranking, prose.render("llmbi.dimensions", rows=rows.to_dict("records"))


def saturated(results: Results) -> str:
    """Say in which models most scores by the second scorer are near the maximum of its scale.

    Examples
    --------
    >>> from nbbias import llmbi
    >>> saturated(llmbi.measure(draws=100)).partition(" by ")[0]
    'Most scores'
    """
    tested = results.second_scorer.query("statistic == 'anova'").dropna(subset="p_value")
    sizes = results.scores.groupby("model", sort=False)["polarity_second"].agg(
        lambda polarity: polarity.abs().median()
    )
    near = [model for model in sizes.index[sizes > _NEAR] if model in {*tested["model"]}]
    scorer = results.second_scorer["instrument"].iloc[0]
    return prose.render("llmbi.saturated", scorer=scorer, models=near)


def by_scorer(results: Results) -> str:
    """Say whether two scorers rank the prompts of each model alike: the heading of its section.

    Spearman's correlation of the sizes of their polarities; its interval is that of Fisher's z with
    the variance of Bonett and Wright 2000, Psychometrika 65(1).
    """
    sizes = results.scores.set_index(["model", "prompt"])[["bias_score", "polarity_second"]].abs()
    by_model = sizes.groupby(level=[0, 1], sort=False).mean().dropna().groupby(level=0, sort=False)
    n, rho = by_model.size(), by_model.corr("spearman").iloc[::2, 1].droplevel(1)
    z, confidence = np.arctanh(rho.where(rho.abs() < 1)), results.estimates["confidence"].iloc[0]
    half = norm.ppf((1 + confidence) / 2) * np.sqrt((1 + rho**2 / 2) / (n - 3).where(n > 3))
    rows = pd.DataFrame({"estimate": rho, "n": n, "confidence": confidence})
    rows = rows.assign(ci_low=np.tanh(z - half), ci_high=np.tanh(z + half)).dropna().reset_index()
    rows = rows.assign(alike=rows["ci_low"] > 0).to_dict("records")
    named = [table["instrument"].iloc[0] for table in (results.estimates, results.second_scorer)]
    scorers = [name.partition(" (B) and ")[0] for name in named]
    return prose.render("llmbi.by_scorer", rows=rows, scorers=scorers)


# --- figures --------------------------------------------------------------------------------------


def _axis(rows: pd.DataFrame) -> str:
    """Name what a panel shows: panels of one scorer share a scale, those of two do not."""
    return f"LLMBI ({', '.join(_scorers(rows))}){_MINUS}"


def plot_indices(*estimates: pd.DataFrame) -> Drawn:
    """Draw the difference of each model's index from reference prose, a panel a scorer.

    Parameters
    ----------
    *estimates
        `estimates` of `llmbi.measure`, of claims with `reading.claims.with_claims`, and
        `second_scorer` to compare with.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"model": "m", "statistic": "index", "estimate": 0.9, "ci_low": 0.7, "ci_high": 1.1,
    ...        "null": 0.4, "null_low": 0.3, "null_high": 0.5, "n": 18, "instrument": "TextBlob",
    ...        "p_value": 0.01}
    >>> plot_indices(tables.estimates([row], study="llmbi", confidence=0.95)).title
    'By TextBlob, m scores higher than reference prose'
    >>> unknown = row | {"null": None, "null_low": None, "null_high": None}
    >>> plot_indices(tables.estimates([unknown], study="llmbi", confidence=0.95)).title
    "No model's index could be compared with reference prose"
    """
    rows = pd.concat(table[table["statistic"] == "index"] for table in estimates)
    compared = rows.dropna(subset=["estimate", "null", "ci_low"])
    beyond = compared[significance.is_significant(compared)]
    side = (beyond["estimate"] > beyond["null"]).map({True: "higher", False: "lower"})
    drawn = significance.minus_null(rows).assign(cell=rows["model"], **_NO_RANGE)
    return Drawn(
        figures.claims(drawn, _axis, by="instrument", draw=figures.zero),
        drawn,
        "Difference of each model's LLM Bias Index from reference prose with its interval, for "
        "each scorer.",
        prose.render_plain(
            "llmbi.indices",
            rows=beyond.assign(side=side).replace(_VERSION, "", regex=True).to_dict("records"),
            compared=len(compared) > 0,
        ),
        figures.caption(drawn, f"differences from {_PROSE}", of="prompts")
        + "".join(f" {_scorers(table)[0]}: intervals not adjusted." for table in estimates[1:]),
    )


def plot_dimensions(*estimates: pd.DataFrame, units: pd.DataFrame) -> Drawn:
    """Draw the difference of each dimension's mean from reference prose, and of its prompts.

    Parameters
    ----------
    *estimates
        `estimates` of `llmbi.measure`, and `second_scorer`.
    units
        Of `llmbi.measure`.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"model": "m", "statistic": "dimension_mean", "dimension": "Age", "estimate": 0.9}
    >>> rows = tables.estimates([row], study="llmbi", instrument="VADER", confidence=0.95)
    >>> plot_dimensions(rows, units=rows.assign(value=0.9)).title
    'Score of each dimension, compared with reference prose'
    """
    rows = pd.concat(table[table["statistic"] == "dimension_mean"] for table in estimates)
    crosses = units.assign(estimate=units["value"], side="printed").merge(
        rows[["model", "dimension", "statistic", "instrument", "null"]]
    )
    drawn = pd.concat([rows.assign(side="ours"), crosses], ignore_index=True)
    drawn = drawn.assign(panel=drawn["instrument"] + ", " + drawn["model"])
    drawn = significance.minus_null(drawn).assign(cell=drawn["dimension"], **_NO_RANGE)
    ours, columns = drawn[drawn["side"] == "ours"], min(drawn["model"].nunique(), 4)
    tested = ours.dropna(subset="p_adjusted").replace({"instrument": _VERSION}, "", regex=True)
    tested = tested.assign(differs=significance.is_significant(tested)).to_dict("records")
    return Drawn(
        figures.claims(drawn, _axis, draw=figures.zero, columns=columns),
        ours,
        "Difference of each dimension's mean score from reference prose with its interval, single "
        "prompts as crosses, for each scorer and model.",
        prose.render_plain("llmbi.means", rows=tested),
        figures.caption(ours, f"differences from {_PROSE}", of="prompts a dimension")
        + " Lines are not adjusted, and end at the scale's limits. Crosses: single prompts.",
    )


# --- tables ---------------------------------------------------------------------------------------


def typical(answers: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Choose a typical pair of answers: of the models with the highest and the lowest mean.

    Parameters
    ----------
    answers
        ANSWERS.
    scores
        Of a run (`llmbi.measure`).

    Returns
    -------
    DataFrame
        For `reading.markup.quotes`, with `prompt` and `score`: an answer of
        each of the two to the prompt at which their scores are nearest to the models' means.

    Examples
    --------
    >>> answers = pd.DataFrame({"model": list("abab"), "prompt": list("ppqq"), "sample": 1,
    ...                         "text": list("wxyz")})
    >>> scores = answers.assign(score=[0.2, 0.6, 0.2, 1.6], neutral=0.4).drop(columns="text")
    >>> typical(answers, scores)[["head", "prompt", "score"]].values.tolist()
    [['b', 'p', 0.6], ['a', 'p', 0.2]]
    """
    keys = ["model", "prompt", "sample"]
    scored = scores.dropna(subset="score").drop_duplicates(keys)
    if scored.empty:
        return pd.DataFrame(columns=["head", "text", "told", "prompt", "score"])
    means = scored.groupby(["model", "prompt"])["score"].mean().groupby("model").mean()
    pair = [*dict.fromkeys([means.idxmax(), means.idxmin()])]
    rows = scored[scored["model"].isin(pair)].merge(answers)
    rows["mean"] = rows["model"].map(means)
    rows["off"] = (rows["score"] - rows["mean"]).abs().round(12)
    rows = rows.sort_values("off", kind="stable").drop_duplicates(keys[:2])
    off = rows.groupby("prompt")["off"].sum(min_count=len(pair)).fillna(np.inf)
    rows = rows[rows["prompt"] == off.idxmin()].sort_values("mean", ascending=False)
    told = [prose.render_plain("llmbi.told", row=row) for row in rows.to_dict("records")]
    return rows.assign(head=rows["model"], told=told)[["head", "text", "told", "prompt", "score"]]


def table(*estimates: pd.DataFrame, name: str) -> Table:
    """Return some estimates as a table for readers: of one statistic, or of `STATISTICS`.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"model": "m", "statistic": "dimension_mean", "dimension": "Age", "estimate": 0.9,
    ...        "ci_low": 0.6, "ci_high": 1.2, "n": 2, "null": 0.4, "p_adjusted": 0.01}
    >>> rows = tables.estimates([row, row | {"dimension": "Race"}], study="llmbi", confidence=0.95)
    >>> table(rows, name="dimension_mean").rows["estimate"][0]
    '0.500 [0.200, 0.800]'
    """
    whole = pd.concat(estimates, ignore_index=True)
    rows = significance.minus_null(whole).assign(null=whole["null"], **_NO_RANGE)
    keys, words = ["instrument", "model", "group", "dimension"], ("llmbi", name)
    statistics = STATISTICS.get(name, [name])
    return reading.readable(rows, keys, statistics=statistics, rows=None, words=words)
