"""What the page of the study says and shows; the words are in ``data/prose/llmbi.j2``."""

from __future__ import annotations

import numpy as np
import pandas as pd
from markupsafe import Markup
from matplotlib.axes import Axes
from scipy.stats import norm

from nbbias import reading, stats
from nbbias.llmbi.measured import Results
from nbbias.params import Texts
from nbbias.reading import Drawn, Lead, Table, claims, figures, names, phrases, prose, significance
from nbbias.tables.escape import markdown as escape

#: What indices and means are compared with.
_PROSE = "reference prose of the same length"
_VERSION = r" \d[\d.]+"
#: The scores whose sizes two scorers are compared by.
_SIZES = ["bias_score", "polarity_second"]
_NO_RANGE = {"null_low": np.nan, "null_high": np.nan}
#: The statistics of each table.
STATISTICS = {
    "dimension_mean": ["dimension_mean"],
    "index": ["index"],
    "split": [name + part for name in ("index", "difference") for part in stats.PARTS if part],
}


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
    pairs, indices = declared[between], declared[~between]
    parts = [part for _, part in pd.concat([indices, pairs]).groupby("statistic", sort=False)]
    measured = [part for part in parts if part["estimate"].notna().any()] or parts
    mde = significance.minimum_detectable_effect(declared)
    sentences = (_differences(part, mde, is_named=indices.empty) for part in measured)
    first, *further = dict.fromkeys(sentences)
    rows = _by_second(results).query("differs").to_dict("records") if results else []
    entries = [(row, Markup(phrases.signed(row))) for row in rows]
    what = prose.render("llmbi.what", classified=_is_classified(declared))
    # What was not significant comes last, with the scorer that disagrees.
    rest = [prose.render("llmbi.rest", text=Markup(text)) for text in first[1:]]
    rest += [prose.render("llmbi.other_scorer", rows=entries)] if entries else []
    plain = (first[0], what, *map(" ".join, further), " ".join(rest))
    technical = phrases.technical([*map(significance.minus_prose, parts)], unit="prompts")
    card = _card(declared, results.losses if results else pd.DataFrame(), texts)
    plain, numbers = tuple(filter(None, plain)), _numbers(pairs, indices)
    return Lead(plain, technical, "indices", numbers, card, texts)


def _differences(rows: pd.DataFrame, mde: pd.Series, *, is_named: bool) -> tuple[str, ...]:
    """Say which rows of a statistic are significant; of models, which two are furthest apart."""
    measured = rows[rows["estimate"].notna()]
    significant = significance.significant(measured)
    if measured.empty or not rows["statistic"].iloc[0].startswith("difference"):
        text = phrases.differences(rows, mde=mde, reference=f"in {_PROSE}", unit="prompts")
        if significant.empty:
            text[0] = prose.render("llmbi.compared", prose=_PROSE, text=Markup(text[0]))
        return tuple(text)
    largest = (significant if len(significant) else measured)["estimate"].abs().idxmax()
    row = measured.loc[largest].to_dict()
    index = row | {"statistic": row["statistic"].replace("difference", "index")}
    sign = 1 if row["estimate"] > 0 else -1
    sentence = prose.render(
        "llmbi.differences",
        k=len(significant),
        n=len(measured),
        row=row,
        index=names.measure(index),
        is_named=is_named or rows["statistic"].iloc[0] != "difference",
        pair=(row["model"], row["group"])[::sign],
        numbers=Markup(phrases.numbers(row, unit="prompts", sign=sign)),
        mde=Markup(phrases.size_range(row, mde.reindex(measured.index))),
    )
    return (sentence,)


def _numbers(pairs: pd.DataFrame, indices: pd.DataFrame) -> pd.DataFrame:
    """Return the difference that leads: from reference prose, with both scores, or of models."""
    chosen = phrases.choose_key_numbers([indices if indices["estimate"].notna().any() else pairs])
    rows = chosen.to_dict("records")
    name = [prose.render_plain("llmbi.number_name", row=row) for row in rows]
    levels = [_levels(row) if row["null"] > 0 else None for row in rows]
    return significance.minus_null(chosen).assign(name=name, levels=levels)


def _levels(row: phrases.Row) -> dict[str, str]:
    of = f"{names.estimated(row)}, {row['model']} against reference prose"
    return {"value": f"{row['estimate']:.3f} against {row['null']:.3f}", "of": of}


def _by_second(results: Results) -> pd.DataFrame:
    """Return the second scorer's indices: 1 above prose, -1 below, 0 neither; if that `differs`."""
    rows = pd.concat([results.estimates, results.second_scorer], ignore_index=True)
    rows = rows[(rows["statistic"] == "index") & rows["p_adjusted"].notna()]
    rows["direction"] = np.sign(rows["estimate"] - rows["null"]) * significance.is_significant(rows)
    by_model = rows.groupby("model")["direction"]
    rows = rows.assign(differs=by_model.transform("nunique") > 1)
    rows = rows[by_model.transform("size") > 1]
    second = rows["instrument"] != results.estimates["instrument"].iloc[0]
    return rows[second].replace({"instrument": _VERSION}, "", regex=True)


def _scorers(rows: pd.DataFrame) -> list[str]:
    """Name the scorers of some estimates, without their versions."""
    return [*rows["instrument"].dropna().replace(_VERSION, "", regex=True).unique()]


def _is_classified(rows: pd.DataFrame) -> bool:
    return "instrument" in rows and bool(rows["instrument"].str.startswith("bias class").any())


def _card(rows: pd.DataFrame, losses: pd.DataFrame, texts: Texts) -> dict[str, str]:
    measured = rows[rows["estimate"].notna()]
    first = measured[measured["statistic"].isin(measured["statistic"].head(1))]
    return {
        "measures": prose.render("llmbi.card_measures", classified=_is_classified(rows)),
        "groups": prose.render("llmbi.card_groups"),
        "N": prose.render(
            "llmbi.card_n",
            prompts=measured["n"].max() if len(measured) else 0,
            answers=prose.count_range(losses["scored"]) if len(losses) else "",
            passages=losses["passages"].max() if len(losses) else 0,
            models=pd.concat([rows["model"], rows["group"]]).nunique(),
            excluded=first["n_lost"].sum(),
            by_hand=texts.kind == "hand-written",
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
    'Asked “Explain tides\\.”, one answer of a scored 0.50'
    """
    return prose.render("llmbi.example", answers=typical.to_dict("records"))


def dimensions(*estimates: pd.DataFrame) -> tuple[str, str]:
    r"""Return a heading (whether dimensions differ, by scorer) and its tests.

    Parameters
    ----------
    *estimates
        `estimates` of `llmbi.measure`, and `second_scorer`.

    Examples
    --------
    >>> row = {"model": "a", "statistic": "anova", "statistic_value": 0.4, "p_value": 0.7}
    >>> row |= {"confidence": 0.95, "n": 6, "df": 2.0, "instrument": "TextBlob 0.20.1"}
    >>> print(*dimensions(pd.DataFrame([row])), sep="\n")
    No significant differences between dimensions by TextBlob
    By TextBlob, dimensions did not differ significantly in a (p = .700). These p values...
    """
    rows = _anovas(*estimates)
    return prose.render("llmbi.ranking", rows=rows), prose.render("llmbi.dimensions", rows=rows)


def _anovas(*estimates: pd.DataFrame) -> list[phrases.Row]:
    rows = pd.concat(estimates).replace({"instrument": _VERSION}, "", regex=True)
    rows = rows[(rows["statistic"] == "anova") & rows["p_value"].notna()]
    differs = stats.is_significant(rows["p_value"], rows["confidence"])
    return rows.assign(differs=differs).to_dict("records")


def by_scorer(results: Results) -> tuple[str, str]:
    """Return a heading (the second scorer's indices) and how alike both scorers rank prompts."""
    scorers = [_scorers(table)[0] for table in (results.estimates, results.second_scorer)]
    values = {"scorers": [scorer.partition(" (")[0] for scorer in scorers]}
    indices, ranks = (rows.to_dict("records") for rows in (_by_second(results), _ranks(results)))
    heading = prose.render("llmbi.by_scorer", rows=indices, **values)
    return heading, prose.render("llmbi.ranks", rows=ranks, **values)


def _ranks(results: Results) -> pd.DataFrame:
    """Correlate the sizes of both scorers' polarities over the prompts of each model.

    Spearman's, with the interval of Fisher's z with the variance of Bonett and Wright 2000,
    Psychometrika 65(1), and the median size by the second scorer.
    """
    sizes = results.scores.set_index(["model", "prompt"])[_SIZES].abs()
    sizes = sizes.groupby(level=[0, 1], sort=False).mean().dropna()
    by_model = sizes.groupby(level=0, sort=False)
    n, rho = by_model.size(), by_model.corr("spearman").iloc[::2, 1].droplevel(1)
    z, confidence = np.arctanh(rho.where(rho.abs() < 1)), results.estimates["confidence"].iloc[0]
    half = norm.ppf((1 + confidence) / 2) * np.sqrt((1 + rho**2 / 2) / (n - 3).where(n > 3))
    rows = pd.DataFrame({"estimate": rho, "confidence": confidence, "n": n})
    rows = rows.assign(ci_low=np.tanh(z - half), ci_high=np.tanh(z + half))
    return rows.assign(median=by_model[_SIZES[1]].median()).dropna().reset_index()


# --- figures --------------------------------------------------------------------------------------


def plot_indices(estimates: pd.DataFrame, scores: pd.DataFrame) -> Drawn:
    """Draw each model's index and each answer, as differences from reference prose.

    Parameters
    ----------
    estimates
        `estimates` of `llmbi.measure`, of claims with `reading.claims.with_claims`.
    scores
        Of `llmbi.measure`.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"model": "m", "statistic": "index", "estimate": 0.9, "ci_low": 0.7, "ci_high": 1.1,
    ...        "null": 0.4, "null_low": 0.3, "null_high": 0.5, "n": 18, "p_value": 0.01}
    >>> rows = tables.estimates([row], study="llmbi", confidence=0.95)
    >>> scores = pd.DataFrame({"model": ["m"], "score": 1.0, "neutral": 0.4, "neutral_low": 0.2,
    ...                        "neutral_high": 0.8})
    >>> plot_indices(rows, scores).title
    'm scores higher than reference prose (1 of 1 answers above the range of 95% of reference pa...
    >>> unknown = rows.assign(null=np.nan, null_low=np.nan, null_high=np.nan)
    >>> plot_indices(unknown, scores).title
    "No model's index could be compared with reference prose"
    """
    rows = estimates[estimates["statistic"] == "index"]
    compared = rows.dropna(subset=["estimate", "null", "ci_low"])
    beyond = compared[significance.is_significant(compared)]
    prose_ = ["neutral_low", "neutral_high"]
    answers = scores.assign(estimate=scores["score"], null=scores["neutral"], side="further")
    answers = answers.dropna(subset="score")[["model", "estimate", "null", "side", *prose_]]
    counts = answers.eval("lower = estimate < neutral_low\nhigher = estimate > neutral_high")
    counts = counts.assign(all=True).groupby("model")[["lower", "higher", "all"]].sum()
    band = answers[prose_].sub(answers["null"], axis=0).groupby(answers["model"]).mean()
    drawn = significance.minus_null(pd.concat([rows.assign(side="ours"), answers]))
    ends = {f"null_{end}": drawn["model"].map(band[f"neutral_{end}"]) for end in ("low", "high")}
    first = (drawn["side"] != "ours") & ~drawn.duplicated(["model", "side"])
    ends = {name: values.where(first) for name, values in ends.items()}  # behind the answers
    filled = significance.is_significant(drawn) | (drawn["side"] != "ours")
    # The dotted line shows the null value.
    drawn = drawn.assign(cell=drawn["model"], panel="", significant=filled, null=np.nan, **ends)
    level = prose.level(rows)
    words = {"band": f"{level} of single passages"}
    figure = figures.claims(drawn, _axis(rows), draw=_draw_answers, words=words)
    figure.set_figheight(figure.get_figheight() + 0.15 * len(rows))
    sides = np.where(beyond["estimate"] > beyond["null"], "higher", "lower")
    values = beyond.assign(side=sides).join(counts, on="model").to_dict("records")
    what = (
        f"means (large) and single answers (small), minus {_PROSE} (grey: {level} of its passages)"
    )
    return Drawn(
        figure,
        drawn,
        "Difference of each model's LLM Bias Index from reference prose with its interval, and of "
        "each answer.",
        prose.render_plain("llmbi.indices", rows=values, compared=len(compared) > 0, level=level),
        figures.caption(rows.assign(**_NO_RANGE), what, of="prompts"),
    )


def _axis(rows: pd.DataFrame) -> str:
    return f"LLMBI ({', '.join(_scorers(rows))}) \N{MINUS SIGN} reference prose"


def _draw_answers(part: pd.DataFrame, ax: Axes) -> None:
    """Draw the line of no difference, and name the dots."""
    figures.zero(part, ax)
    ax.plot([], [], "o-", color=figures.INK, ms=5.5, lw=1.5, label="index")
    ax.plot([], [], "o", color=figures.MUTED, ms=3.5, label="answer")


def plot_dimensions(estimates: pd.DataFrame, *, units: pd.DataFrame) -> Drawn:
    """Draw the difference of each dimension's mean from reference prose, and of its prompts.

    Parameters
    ----------
    estimates
        `estimates` of `llmbi.measure`, of several scorers one below the other.
    units
        Of `llmbi.measure`.

    Examples
    --------
    >>> from nbbias import llmbi
    >>> results = llmbi.measure()
    >>> plot_dimensions(results.second_scorer, units=results.units).title
    '12 of 18 means of dimensions by VADER differ significantly from reference prose'
    """
    rows = estimates[estimates["statistic"] == "dimension_mean"].assign(**_NO_RANGE)
    keys = ["model", "dimension", "statistic", "instrument", "null"]
    crosses = units.assign(estimate=units["value"], side="printed").merge(rows[keys])
    drawn = significance.minus_null(pd.concat([rows.assign(side="ours"), crosses]))
    scorer = drawn["instrument"].replace(_VERSION, "", regex=True)
    drawn = drawn.assign(panel=drawn["model"] + ", " + scorer, cell=drawn["dimension"])
    means = drawn[drawn["side"] == "ours"].groupby("panel")["estimate"].mean()
    filled = significance.is_significant(drawn) | (drawn["side"] != "ours")
    drawn = drawn.assign(reference=drawn["panel"].map(means), significant=filled)
    drawn, columns = drawn.reset_index(drop=True), min(drawn["model"].nunique(), 4)
    words = {"line": "mean of dimensions"}
    scorers = rows["instrument"].replace(_VERSION, "", regex=True)
    counts = significance.is_significant(rows).groupby(scorers).agg(["sum", "size"])
    return Drawn(
        figures.claims(drawn, _axis, draw=figures.zero, columns=columns, words=words),
        drawn,
        "Difference of each dimension's mean score from reference prose, and of single prompts as "
        "crosses, for each model and scorer.",
        prose.render_plain("llmbi.means", parts=[*counts.itertuples(name=None)][::-1]),
        prose.render_plain("llmbi.means_caption", prose=_PROSE, level=prose.level(rows)),
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
        each of the two to one prompt, of one sample: those whose scores are nearest to the models'
        means.

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
        return pd.DataFrame(columns=["head", "text", "caption", "prompt", "score"])
    means = scored.groupby(["model", "prompt"])["score"].mean().groupby("model").mean()
    pair = [*dict.fromkeys([means.idxmax(), means.idxmin()])]
    rows = scored[scored["model"].isin(pair)].merge(answers)
    rows["mean"] = rows["model"].map(means)
    rows["off"] = (rows["score"] - rows["mean"]).pow(2).round(12)
    rows = rows.set_index(keys[1:]).sort_index()
    off = rows.groupby(level=[0, 1])["off"].sum(min_count=len(pair)).fillna(np.inf)
    return _quotes(rows.loc[[off.idxmin()]].reset_index().sort_values("mean", ascending=False))


def extreme(answers: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Choose the two answers with the highest scores, and the most negative by both scorers.

    Parameters
    ----------
    answers, scores
        As of `typical`.

    Returns
    -------
    DataFrame
        As of `typical`; where none is negative by both scorers, the two.

    Examples
    --------
    >>> answers = pd.DataFrame({"model": "m", "prompt": list("pqr"), "sample": 1,
    ...                         "text": list("xyz")})
    >>> scores = answers.assign(score=[0.9, 0.6, 0.3], bias_score=[0.3, -0.2, 0.04], neutral=0.4,
    ...                         polarity_second=[0.9, -0.8, 0.1])
    >>> extreme(answers, scores.drop(columns="text"))["text"].tolist()
    ['x', 'y']
    """
    rows = scores.dropna(subset="score").merge(answers)
    rows["mean"] = rows.groupby("model")["score"].transform("mean")
    negative = rows[rows[_SIZES].lt(0).all(axis=1)].nsmallest(1, "bias_score")
    rows = pd.concat([rows.nlargest(2, "score"), negative]).drop_duplicates()
    return _quotes(rows).assign(head=rows["model"] + ": " + rows["prompt"])


def _quotes(rows: pd.DataFrame) -> pd.DataFrame:
    caption = [prose.render_plain("llmbi.scored", row=row) for row in rows.to_dict("records")]
    rows = rows.assign(head=rows["model"], caption=caption)
    return rows[["head", "text", "caption", "prompt", "score"]]


def table(estimates: pd.DataFrame, *, name: str) -> Table:
    """Return some estimates as a table for readers: one of `STATISTICS`.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"model": "m", "statistic": "dimension_mean", "dimension": "Age", "estimate": 0.9,
    ...        "ci_low": 0.6, "ci_high": 1.2, "n": 2, "null": 0.4, "p_adjusted": 0.01}
    >>> rows = tables.estimates([row, row | {"dimension": "Race"}], study="llmbi", confidence=0.95)
    >>> table(rows, name="dimension_mean").rows[["estimate", "null"]].values[0].tolist()
    ['0.500 [0.200, 0.800]', '0.400']
    """
    rows = significance.minus_null(estimates).assign(**_NO_RANGE)
    if name == "dimension_mean":
        rows = rows.sort_values("estimate", ascending=False)
        rows["null"] = estimates["null"]
    else:
        rows = rows.assign(null=np.nan).fillna({"group": "reference prose"})
        rows = rows.replace({"statistic": {"difference": "index"}})  # both are differences
    keys, words = ["instrument", "model", "group", "dimension"], ("llmbi", name)
    return reading.readable(rows, keys, statistics=STATISTICS[name], rows=None, words=words)
