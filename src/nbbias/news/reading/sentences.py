"""Sentences about the news study: rows of its tables, chosen for ``data/prose/news.j2``.

>>> from nbbias import news, tables
>>> rows = [{"model": m, "measure": "word", "bias": "gender", "group": "female", "n": 9,
...          "statistic": "share_difference", "estimate": -0.1, "ci_low": -0.15,
...          "ci_high": -0.05, "p_adjusted": p} for m, p in (("a", 0.01), ("b", 0.2))]
>>> table = tables.estimates(rows, study="news_bias", confidence=0.95)
>>> news.sentences.differences(table, "word")[0].split(" points")[0].split(" was ")[1]
'10.0 percentage'
"""

from __future__ import annotations

from typing import Any

import pandas as pd
from markupsafe import Markup

from nbbias import reading, stats
from nbbias.news import claims, discovery
from nbbias.news.corpus import ARTICLE, CELL
from nbbias.news.fits import TEXTS_A_TOPIC, Number
from nbbias.news.tone import CORRELATED
from nbbias.params import Texts
from nbbias.reading import names, phrases, significance
from nbbias.reading.prose import render, render_plain
from nbbias.stats.agreement import DIFFERENCE

#: The statistic of each measure that leads, in the order of what leads a page.
LEADS = {
    "word": "share_difference",
    "document": "share_difference",
    "sentiment": "difference_beyond_neutral",
    "toxicity": "mean_difference",
}

_REFERENCE = "in the human articles"

# --- the first screen -------------------------------------------------------------------------


def lead(
    declared: pd.DataFrame,
    *,
    estimates: pd.DataFrame,
    pairs: pd.DataFrame,
    texts: Texts,
    scores: pd.DataFrame | None = None,
    truth: pd.DataFrame | None = None,
) -> reading.Lead:
    """Say what a run found: what leads its page.

    Parameters
    ----------
    declared
        The declared rows (`reading.claims.declared`), or all estimates where there are none: then
        the first level that was measured leads, and is called exploratory.
    estimates
        ESTIMATES of all levels.
    pairs
        What `news.pair` returned.
    texts
        Where the texts are from.
    scores
        SCORES of words: of differences of shares both shares are shown.
    truth
        The differences that were simulated (`news.Results.simulated`).
    """
    parts = group_leading(declared)
    groups = estimates.dropna(subset="group").groupby("bias", sort=False)["group"].unique()
    measured = estimates["measure"].unique()
    instruments = estimates["instrument"].dropna().str.removesuffix(", descriptors masked")
    card = {
        "measures": render("news.measured", names=[name for name in LEADS if name in measured]),
        "groups": render("news.groups", people=[[*map(names.people, part)] for part in groups]),
        "N": corpus(pairs),
        "instrument": render("news.instruments", names=instruments.unique()),
        "not": render("news.not"),
    }
    simulated = _missed(declared, truth)
    plain = phrases.summarize(parts, reference=_REFERENCE, simulated=simulated)
    significant = [part for part in parts if len(significance.significant(part))]
    numbers = phrases.choose_key_numbers(significant or parts)
    if len(numbers):  # shares of one bias add up to 1, and are one effect
        numbers = numbers.drop_duplicates(["measure", "bias"]).head(2)
        numbers["levels"] = [_levels(row, scores) for row in numbers.to_dict("records")]
    return reading.Lead(plain, phrases.technical(parts), "finding", numbers, card, texts)


def _levels(row: dict[str, Any], scores: pd.DataFrame | None) -> dict[str, str] | None:
    """Return the mean shares in human articles and in answers; of other measures nothing."""
    if scores is None or (row["measure"], row["statistic"]) != ("word", LEADS["word"]):
        return None
    of = render_plain("news.sides", name=names.measure(row), model=row["model"])
    return reading.lead.levels(*reading.lead.shares_of_words(row, scores), of=of)


def _missed(declared: pd.DataFrame, truth: pd.DataFrame | None) -> list[str]:
    """Say how many simulated differences are significant; nothing of texts that people wrote."""
    if truth is None or truth.empty:
        return []
    simulated = truth.rename(columns={"simulated": "truth"})
    rows = declared.assign(mde=significance.minimum_detectable_effect(declared))
    rows = rows[rows["statistic"].isin(LEADS.values())]
    return phrases.missed(rows.merge(simulated[["model", "measure", "bias", "group", "truth"]]))


def select_leading(declared: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of which `lead` speaks: the declared ones, or those of the first measure."""
    if reading.claims.CLAIM in declared:
        return declared
    return next(filter(len, (select_statistic(declared, of) for of in LEADS)), declared.iloc[:0])


def group_leading(declared: pd.DataFrame) -> list[pd.DataFrame]:
    """Return what `lead` speaks of by claim, measure and group, the most important first."""
    return sorted(phrases.families(select_leading(declared)), key=_place)


def _place(part: pd.DataFrame) -> tuple[int, float]:
    """Order what is significant by measure, and within each by size; the rest follows as it is."""
    sizes = significance.significant(part)["estimate"].abs()
    order = [*LEADS, part["measure"].iloc[0]].index(part["measure"].iloc[0])
    return (order, -float(sizes.max())) if len(sizes) else (len(LEADS) + 1, 0.0)


# --- differences ------------------------------------------------------------------------------


def _family(estimates: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return the rows of a measure's leading statistic; of shares that mirror each other one."""
    rows = estimates[estimates["measure"] == measure]
    rows = rows[rows["statistic"] == LEADS[measure]]
    return rows[~significance.is_mirrored(rows)] if LEADS[measure] in claims.MIRRORED else rows


def select_statistic(estimates: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return the rows of a measure's leading statistic by its first instrument."""
    rows = _family(estimates, measure)
    return rows[rows["instrument"].isin(rows["instrument"].head(1))]


def select_further(estimates: pd.DataFrame, measure: str) -> tuple[pd.DataFrame, str]:
    """Return what a measure's leading rows are drawn with, and what that is, if anything.

    Of words the differences at equal length; of tone those by the second scorer.
    """
    rows = estimates[estimates["statistic"] == "share_difference_passages"]
    if measure == "word":
        return rows[~significance.is_mirrored(rows)], "at equal length"
    rows = _family(estimates, measure) if measure == "sentiment" else rows.iloc[:0]
    scorers = [of for of in rows["instrument"].unique() if "masked" not in of][1:2]
    return rows[rows["instrument"].isin(scorers)], f"by {''.join(scorers)}"


def figure_title(rows: pd.DataFrame, further: pd.DataFrame, by: str) -> str:
    """Say of which significant differences a figure's grey ones are significant, too.

    Parameters
    ----------
    rows, further
        Of `select_statistic` and `select_further`. Without the latter all significant ones are
        named.
    by
        What the latter are.
    """
    if further.empty:
        rows = rows.sort_values("estimate", key=abs, ascending=False, ignore_index=True)
        return phrases.heading(rows, what="", none="", most=len(rows))
    keys = ["model", "prompt", "source", "bias", "group"]
    first, second = (
        {*significance.significant(of)[keys].fillna("").itertuples(index=False, name=None)}
        for of in (rows, further)
    )
    counts = {"n": len(first), "k": len(first & second), "more": len(second - first)}
    return render("news.too", **counts, by=by)


def result(estimates: pd.DataFrame, measure: str) -> str:
    """Say in a heading which differences in words, sentiment or topics are significant."""
    rows = select_statistic(estimates, measure)
    significant = significance.significant(rows)
    if measure == "document" and len(significant):
        models = significant["model"].unique()
        return render("news.subject", models=models, only=len(models) < rows["model"].nunique())
    people = significant["group"].drop_duplicates().map(names.people)
    none = render("news.none_significant", measure=measure)
    untested = render("news.untested", measure=measure)
    what = Markup(render("news.differed", measure=measure, people=[*people]))
    return phrases.heading(rows, what=what, none=none, untested=untested)


def differences(estimates: pd.DataFrame, measure: str) -> list[str]:
    """Say of each bias which differences by the first instrument are significant.

    Without the claims, which Figure 1 shows. Toxicity goes with sentiment.
    """
    rows = phrases.exploratory(select_statistic(estimates, measure))
    mde = _detectable(estimates, measure)
    biases = [(str(bias), part) for bias, part in _drop_absent(rows).groupby("bias", sort=False)]
    biases.sort(key=lambda of: significance.significant(of[1]).empty)
    sentences = [_about(bias, part, mde) for bias, part in biases]
    if measure != "sentiment":
        return sentences
    rows = _family(estimates, "toxicity")
    if len(significance.valid_tests(rows)):
        mde = _detectable(estimates, "toxicity")
        sentences.append(_about("toxicity", _drop_absent(rows), mde))
    return [*sentences, *spreads(estimates)]


def _detectable(estimates: pd.DataFrame, measure: str) -> pd.Series:
    """Return what each row of a measure's leading statistic, or of a claim, can detect."""
    mde = significance.minimum_detectable_effect(_family(estimates, measure))
    claimed = estimates.drop(phrases.exploratory(estimates).index)
    return significance.minimum_detectable_effect(claimed).combine_first(mde)


def topics(estimates: pd.DataFrame, table: pd.DataFrame, scores: pd.DataFrame) -> list[str]:
    """Say on which topics the largest significant difference rests, and whether fits agree on it.

    Parameters
    ----------
    estimates
        ESTIMATES.
    table
        The topics of the first fit (`news.explore.topics.summarize`).
    scores
        SCORES of topics, of every fit.
    """
    rows = significance.significant(select_statistic(estimates, "document"))
    if rows.empty:
        return []
    row = rows.loc[rows["estimate"].abs().idxmax()].to_dict()
    of = table[table[row["bias"]].eq(row["group"])]
    human, generated = of[["share, human", f"share, {row['model']}, {row['prompt']}"]].sum()
    words = of["words"].str.split().str[:3].str.join(", ")
    values = {"words": [*words], "human": human, "generated": generated}
    rests = render("news.topics", name=names.measure(row), model=row["model"], **values)
    cell = {key: row[key] for key in (*CELL, "bias") if row[key] != reading.claims.ALL}
    scores = scores[(scores[[*cell]] == pd.Series(cell)).all(axis=1)]
    articles = scores.groupby(["seed", *ARTICLE])[f"difference_{row['group']}"].mean()
    fits = articles.groupby("seed").mean()
    missing = fits.index[fits.isna()]
    low, high = (phrases.signed({**row, "estimate": end}) for end in (fits.min(), fits.max()))
    values = {"fits": len(fits), "missing": len(missing), "high": Markup(high)}
    values["low"] = Markup(low.removesuffix(names.unit(row).name))
    stable = render("news.stability", instrument=scores["instrument"].iloc[0], **values)
    return [f"{rests} {stable}"]


#: Ratios of spreads between which wording counts as equally strong.
_ALIKE = (0.9, 1.1)


def spreads(estimates: pd.DataFrame) -> list[str]:
    """Say where answers are worded more strongly, or weakly, throughout, by the first instrument.

    Examples
    --------
    >>> row = {"statistic": "neutral_spread_ratio", "model": "m", "estimate": 1.6, "ci_low": 1.4,
    ...        "ci_high": 1.8, "confidence": 0.95, "instrument": "i"}
    >>> rows = [row, row | {"model": "n", "ci_low": 0.9}, row | {"model": "o", "estimate": 1.05}]
    >>> spreads(pd.DataFrame(rows))[0].partition(" as in")[0]
    'Sentiment of sentences that name no group varied 1.60 times as much in m (95% CI 1.40 to 1.80)'
    """
    rows = estimates[estimates["statistic"] == "neutral_spread_ratio"]
    rows = rows[rows["instrument"].isin(rows["instrument"].head(1))]
    rows = rows[~rows["estimate"].between(*_ALIKE)].drop_duplicates(["model", "estimate"])
    rows = rows[(rows["ci_low"] > 1) | (rows["ci_high"] < 1)]
    return [render("news.spreads", rows=rows.to_dict("records"))] if len(rows) else []


def scorer_bias(estimates: pd.DataFrame) -> list[str]:
    """Say how much of any difference in tone and toxicity is scorer bias; nothing if not measured.

    Examples
    --------
    >>> row = {"measure": "toxicity", "statistic": "mean_difference_instrument", "estimate": -0.01}
    >>> scorer_bias(pd.DataFrame([row, row | {"estimate": 0.002}]))[0].partition(" (")[0]
    'Scorer bias is at most 0.010 in any difference of toxicity'
    """
    rows = estimates[estimates["statistic"].str.endswith(stats.SCORER_BIAS)]
    most = rows["estimate"].abs().groupby(rows["measure"], sort=False).max().dropna()
    return [render("news.scorer_bias", most=[*most.items()])] if len(most) else []


def agreement(table: pd.DataFrame) -> tuple[str, list[str]]:
    """Say in a heading whether scores of tone follow the group or the scorer; then by how much.

    Of correlations on articles, and of means of models, if these were measured. Either is said
    where the difference is significant and the larger mean correlation is above 0.

    Examples
    --------
    >>> row = {"confidence": 0.95, "n": 40, "instrument": "a, b", "p_value": 0.001}
    >>> names = ["estimate", "ci_low", "ci_high"]
    >>> ends = {"convergent_mean": (0.5, 0.4, 0.6), "discriminant_mean": (0.1, 0, 0.2)}
    >>> ends |= {"validity_difference": (0.4, 0.3, 0.5)}
    >>> rows = [
    ...     row | {"dimension": of, "statistic": name} | dict(zip(names, ends[name]))
    ...     for of in ("articles", "models") for name in ends
    ... ]
    >>> agreement(pd.DataFrame(rows).assign(p_adjusted=0.001))[0]
    'Correlations of tone were higher between scorers than between groups'
    """
    articles, models = (_means(table, level) for level in CORRELATED)
    difference = articles[DIFFERENCE]
    if difference["ci_low"] > 0 and articles["convergent"]["ci_low"] > 0:
        followed = "group"
    elif difference["ci_high"] < 0 and articles["discriminant"]["ci_low"] > 0:
        followed = "scorer"
    else:
        followed = "neither" if pd.notna(difference["estimate"]) else ""
    sentences = [render("news.agreed", followed=followed, means=articles)]
    if followed and pd.notna(models[DIFFERENCE]["ci_low"]):
        sentences.append(render("news.agreed_models", means=models))
    return render("news.agreement", followed=followed), sentences


def _means(table: pd.DataFrame, level: str) -> dict[str, dict[str, Any]]:
    """Return the mean correlations of a level, and their difference, by kind."""
    rows = table[table["dimension"] == level].to_dict("records")
    return {str(row["statistic"]).removesuffix("_mean"): row for row in rows}


def _about(name: str, rows: pd.DataFrame, mde: pd.Series) -> str:
    text = " ".join(phrases.differences(rows, mde=mde, reference=_REFERENCE))
    return render("news.about", name=name, differences=Markup(text))


def _drop_absent(rows: pd.DataFrame) -> pd.DataFrame:
    """Leave out biases of which no text has a word, unless that is all."""
    mask = rows.groupby("bias")["n"].transform("max") > 0
    return rows[mask] if mask.any() else rows


def distances(estimates: pd.DataFrame) -> tuple[str, str]:
    """Say in a heading which distances exceed the same-writer baseline; then what is untested."""
    rows = estimates[(estimates["statistic"] == "bias") & estimates["estimate"].notna()]
    untested = rows[rows["p_adjusted"].isna()]
    n = len(rows) - len(untested)
    heading = render("news.distances", k=len(significance.significant(rows)), n=n)
    if untested.empty:
        return heading, ""
    reason = phrases.commonest_reason(untested[untested["ci_low"].isna()])
    reason = reason or Markup(render("news.no_replicates"))
    counts = {"untested": len(untested), "of": len(rows), "never": []}
    return heading, render("claims.excluded", reason=reason, **counts)


def models(compared: pd.DataFrame) -> str:
    """Say in a heading how many differences between models are significant; none without any."""
    if compared.empty:
        return ""
    k = int(significance.is_significant(compared).sum())
    return render("news.models", k=k, n=len(compared))


def alike(estimates: pd.DataFrame) -> str:
    """Say in a heading about whom answers are more alike than human articles.

    Examples
    --------
    >>> row = {"study": "news_bias", "model": "m", "statistic": "diversity_difference",
    ...        "measure": "diversity", "group": "female", "estimate": -0.1, "p_adjusted": 0.01,
    ...        "confidence": 0.95, "ci_low": -0.15, "ci_high": -0.05, "df": 40.0, "reason": None}
    >>> alike(pd.DataFrame([row, row | {"group": "male", "p_adjusted": 0.2}]))
    "In one of two tests answers were more alike than human articles (m's about women)"
    """
    rows = estimates[estimates["statistic"] == "diversity_difference"].dropna(subset="p_adjusted")
    mde = significance.minimum_detectable_effect(rows).agg(["min", "max"]).tolist()
    flattened = significance.significant(rows[rows["estimate"] < 0])
    flattened = flattened.assign(people=flattened["group"].map(names.people))
    return render("news.alike", rows=flattened.to_dict("records"), n=len(rows), mde=mde)


def discovered(estimates: pd.DataFrame) -> str:
    """Say in a heading how many words and directions that were chosen on one half are confirmed.

    Examples
    --------
    >>> row = {"statistic": discovery.FAMILIES[0], "p_adjusted": 0.01, "confidence": 0.95}
    >>> row |= {"estimate": 0.03, "ci_low": 0.01, "ci_high": 0.05, "df": 40.0, "reason": None}
    >>> discovered(pd.DataFrame([row, row | {"p_adjusted": 0.2}]))
    'One of two words and none of zero directions chosen on half of the articles differed...'
    """
    parts = [estimates[estimates["statistic"] == name] for name in discovery.FAMILIES]
    tested = [part.dropna(subset="p_adjusted") for part in parts]
    mde = significance.minimum_detectable_effect(tested[0]).agg(["min", "max"]).mul(100).tolist()
    words, directions = ((len(significance.significant(part)), len(part)) for part in tested)
    return render("news.discovered", words=words, directions=directions, mde=mde)


# --- what counts, and what was simulated ------------------------------------------------------


def corpus(pairs: pd.DataFrame) -> str:
    """Say how many texts there are, of whom, and how many are excluded everywhere."""
    articles = pairs.loc[pairs["lost"] != "no original", ARTICLE].drop_duplicates()
    values = {"articles": len(articles), "texts": len(pairs), "models": pairs["model"].nunique()}
    return render("news.counts", excluded=int(pairs["lost"].notna().sum()), **values)


def too_few(texts: int, number: Number | None) -> list[str]:
    """Say that texts are too few for topics; nothing where they are enough.

    Parameters
    ----------
    texts
        How many different texts there are.
    number
        Of `news.fits.number`; None where topics are not in the run.

    Examples
    --------
    >>> from nbbias.news.fits import Number
    >>> too_few(36, Number(0, pd.DataFrame({"n_topics": [10, 25]}), None))[0]
    'Topics are left out: 36 texts are too few for 10 topics, which take about 100, and as many...'
    """
    if number is None or number.n_topics:
        return []
    least = int(number.tried["n_topics"].min())
    return [render("news.too_few", texts=texts, topics=least, needed=TEXTS_A_TOPIC * least)]


def recovery_heading(table: pd.DataFrame) -> str:
    """Say in a heading how many intervals contain the true difference; nothing without one."""
    if table.empty:
        return ""
    return render("news.recovered", k=int((table["covered"] == "yes").sum()), n=len(table))
