"""Tables that a reader of the LLMBI study needs, each with its title and its note."""

from __future__ import annotations

import pandas as pd

from nbbias import reading, stats
from nbbias.llmbi import audit
from nbbias.reading import Table


def answers(table: pd.DataFrame) -> Table:
    """Count answers by model: `prompts`, `answers`, `samples` (the most of one prompt), `words`.

    Examples
    --------
    >>> from nbbias import llmbi
    >>> table = llmbi.tables.answers(llmbi.scoring.read_answers("sample"))
    >>> table.rows[["model", "prompts", "samples"]].to_dict("records")[0]
    {'model': 'plain-register', 'prompts': 18, 'samples': 2}
    """
    counted = table.assign(words=table["text"].fillna("").str.split().str.len())
    grouped = counted.groupby("model", sort=False)
    rows = pd.DataFrame(
        {
            "dimensions": grouped["dimension"].nunique(),
            "prompts": grouped["prompt"].nunique(),
            "answers": grouped.size(),
            "samples": counted.groupby(["model", "prompt"]).size().groupby("model").max(),
            "words": grouped["words"].mean(),
        }
    ).reset_index()
    return Table(rows, "Answers by model", "Words: mean length of an answer.", decimals=1)


def losses(measured: pd.DataFrame, *, scorer: str) -> Table:
    """Count what was read, lost and scored, by model; lost and scored add up to read.

    `unknown` are answers without a word that the instrument knows, which the formula gives P(D)
    alone.

    Examples
    --------
    >>> measured = pd.DataFrame({"model": "m", "polarity_textblob": [0.5, 0.0, None],
    ...                          "n_assessed_textblob": [1, 0, 0]})
    >>> losses(measured, scorer="textblob").rows.to_dict("records")
    [{'model': 'm', 'read': 3, 'blank': 1, 'scored': 2, 'unknown': 1}]
    """
    polarity, known = measured[f"polarity_{scorer}"], measured[f"n_assessed_{scorer}"]
    counted = measured.assign(
        read=1,
        blank=polarity.isna(),
        scored=polarity.notna(),
        unknown=polarity.notna() & (known == 0),
    )
    grouped = counted.groupby("model", sort=False)[["read", "blank", "scored", "unknown"]]
    return Table(
        grouped.sum().astype(int).reset_index(),
        "What was read, lost and scored",
        "read = blank + scored. Unknown: scored, but without a word that the instrument knows, so "
        "its score is the penalty alone.",
    )


def scores(table: pd.DataFrame) -> Table:
    """Show the score of every answer beside neutral prose, as `llmbi.neutral.add_neutral`."""
    columns = ["model", "dimension", "prompt", "sample", "n", "score", "neutral"]
    labels = {"n": "words", "neutral_low": "2.5%", "neutral_high": "97.5%"}
    labels["neutral_windows"] = "windows"
    return Table(
        table[[*columns, *list(labels)[1:]]],
        "Score of every answer, beside neutral prose of the same length",
        "Neutral: mean score of that many windows of neutral prose; 95% of them lie between the "
        "two quantiles.",
        labels,
    )


def typical(answers: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Choose the answers that stand for a run: the two furthest models' to a typical prompt.

    Parameters
    ----------
    answers
        ANSWERS.
    scores
        Of `llmbi.neutral.add_neutral`.

    Returns
    -------
    DataFrame
        For `reading.quotes.quotes`, with `prompt` and `score`. Of the models with the highest and
        the lowest mean, the prompt on which they differ most nearly as on average; of one model,
        that whose score is nearest to its mean.

    Examples
    --------
    >>> answers = pd.DataFrame({"model": list("abab"), "prompt": list("ppqq"), "sample": 1,
    ...                         "text": list("wxyz")})
    >>> scores = answers.assign(score=[0.2, 0.6, 0.2, 1.6], neutral=0.4).drop(columns="text")
    >>> typical(answers, scores)[["head", "prompt", "score"]].values.tolist()
    [['b', 'p', 0.6], ['a', 'p', 0.2]]
    """
    keys = ["model", "prompt", "sample"]
    known = scores.dropna(subset="score").drop_duplicates(keys)
    means = known.groupby("model", sort=False)["score"].mean().sort_values(ascending=False)
    wide = known.groupby(["prompt", "model"], sort=False)["score"].mean().unstack()
    models = [means.index[0], means.index[-1]][: len(means)] if len(means) else []
    if not models:
        return pd.DataFrame(columns=["head", "text", "told", "prompt", "score"])
    apart = wide[models[0]] - (wide[models[-1]] if len(models) > 1 else 0.0)
    off = (apart - apart.mean()).abs().dropna()
    prompt = off.idxmin() if len(off) else known["prompt"].iloc[0]
    own = known[(known["prompt"] == prompt) & known["model"].isin(models)]
    own = own.drop_duplicates("model").merge(answers[[*keys, "text"]], on=keys)
    own = own.set_index("model").reindex(models).reset_index().dropna(subset="text")
    return pd.DataFrame(
        {
            "head": own["model"],
            "text": own["text"],
            "told": [
                f"{reading.number(row.score)} on the index; ordinary prose as long has "
                f"{reading.number(row.neutral)}"
                for row in own.itertuples()
            ],
            "prompt": own["prompt"],
            "score": own["score"],
        }
    )


def components(table: pd.DataFrame) -> Table:
    """Show the terms of the index, as `llmbi.estimates.components`."""
    return Table(
        table,
        "Mean terms by model and dimension",
        "Score = weighted bias + penalty + sentiment term. Mean polarity is signed: above 0 is "
        "praise.",
    )


def dimensions(estimates: pd.DataFrame, *, rows: int | None = 12) -> Table:
    """Show the score of each dimension beside neutral prose.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"model": "m", "statistic": "dimension_mean", "dimension": "Age", "estimate": 0.9,
    ...        "ci_low": 0.6, "ci_high": 1.2, "n": 2, "null": 0.4, "p_adjusted": 0.01}
    >>> found = tables.estimates([row, row | {"dimension": "Race"}], study="llmbi", confidence=0.95)
    >>> dimensions(found).rows["estimate"][0]
    '0.900 [0.600, 1.200]'
    """
    return reading.readable(
        estimates,
        ["model", "dimension"],
        statistics=["dimension_mean"],
        rows=rows,
        title="Score by dimension" if rows else "Score by dimension, all, and every estimate",
        labels={"estimate": "score", "n": "prompts", "null": "neutral prose"},
        note="Neutral prose: what the formula gives to it at the same length, with the range in "
        "which a dimension's mean is not told apart from it. p adjusted: Holm, over the dimensions "
        "of a model; both the prompts and the texts of the prose are samples.",
    )


def checks(table: pd.DataFrame) -> Table:
    """Show `llmbi.estimates.anova_checks`."""
    title = "Assumptions of the analysis of variance, and the same question without them"
    return Table(table, title)


def agreement(table: pd.DataFrame) -> Table:
    """Show `llmbi.estimates.agreement`."""
    return Table(
        table,
        "Rank correlation of absolute polarity, prompt by prompt",
        "Spearman's ρ over prompts and its interval: 1 is the same order, 0 none, −1 the reverse.",
        {"rho": "ρ", "ci_low": "from", "ci_high": "to", "n": "prompts", "p_value": "p"},
    )


def swaps(table: pd.DataFrame) -> Table:
    """Show `llmbi.ranking.ranking_swaps`."""
    return Table(
        table,
        "Share of pairs of dimensions that change order",
        "Weights: each drawn between 1/2 and 2. Prompts: one of a dimension's prompts drawn, as if "
        "each had been asked only one. 0: the order never changes. No difference: what the prompts "
        "row would be if the dimensions did not differ at all.",
    )


def parted(estimates: pd.DataFrame) -> Table:
    """Show what of the index is the instrument's: raw, corrected and by the instrument alone.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"model": "m", "statistic": "index", "estimate": 0.5, "ci_low": 0.4, "ci_high": 0.6}
    >>> rows = [row | {"statistic": f"index{of}"} for of in ("", "_corrected", "_instrument")]
    >>> found = tables.estimates(rows, study="llmbi", confidence=0.95)
    >>> parted(found).rows.drop(columns="N").iloc[0].tolist()
    ['index', 'm', '0.500 [0.400, 0.600]', '0.500 [0.400, 0.600]', '0.500 [0.400, 0.600]']
    """
    names = {"": "raw", audit.CORRECTED: "corrected", audit.INSTRUMENT: "instrument"}
    keys = ["model", "group", "dimension"]
    found = []
    for statistic in audit.STATISTICS:
        by = {
            name: estimates[estimates["statistic"] == statistic + of].set_index(keys)
            for of, name in names.items()
        }
        moved = by["instrument"]["estimate"]
        told = by["instrument"][moved.isna() | (moved.abs() > 0)].index
        cells = {name: by[name].reindex(told).apply(_cell, axis=1) for name in by if len(told)}
        part = pd.DataFrame(cells, index=told).assign(N=by["instrument"]["n"].reindex(told))
        found.append(part.reset_index().assign(of=statistic.replace("_mean", "")))
    rows = pd.concat(found, ignore_index=True).rename(columns={"group": "less", "of": "what"})
    named = [key for key in ("what", "model", "less", "dimension") if rows[key].notna().any()]
    return Table(
        rows.reindex(columns=[*(named or ["what"]), *names.values(), "N"]),
        "What of the index is the instrument's: raw, corrected, and by the instrument alone",
        "Corrected: every answer counts as the mean of its score about each group in turn, of "
        "each word list that it names. The two add up to raw where all words have counterparts; "
        "left out is what the instrument adds nothing to. N: prompts. No interval where it moves "
        f"fewer than {stats.MIN_MOVED} prompts. p: in the table of all estimates.",
    )


def _cell(row: pd.Series) -> str:
    estimate, *ends = (reading.number(row[name], decimals=3) for name in _ENDS)
    if pd.isna(row["estimate"]):
        return "not measured"
    return f"{estimate} [{', '.join(ends)}]" if pd.notna(row["ci_low"]) else estimate


_ENDS = ("estimate", "ci_low", "ci_high")
