"""Which pairs of texts an estimate comes from, and what each adds to it.

Tables only; `explore_pairs` shows them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from nbbias import news_document_estimates, news_sentences, news_words
from nbbias.news import CELL

#: What a table of scores is of; of several instruments each has its own estimate.
CLAIM = ["measure", "bias", "instrument"]

#: The estimate that the contributions of a measure add up to.
STATISTIC = {
    "word": "share_difference", "sentiment": "mean_difference", "toxicity": "mean_difference",
    "document": "share_difference",
}  # fmt: skip


def contributions(scores: pd.DataFrame, *, group: str) -> pd.DataFrame:
    """Say what each pair adds to the mean signed difference of a group.

    Parameters
    ----------
    scores
        SCORES of one measure, bias and instrument: of `news_words.word_scores`,
        `news_sentences.pair_scores` or `news_fits.scores`.
    group
        The group whose difference is meant.

    Returns
    -------
    DataFrame
        By cell and `article_id`: `pair_id`, `answers` (repeated answers that are one unit),
        `difference` (answer minus original; with several fits of topics their mean), `contribution`
        and `rank` within the cell, 1 for what raises the mean most. The contributions of a
        cell add up to its estimate. Pairs that do not count have no row.
    """
    column = f"difference_{group}"
    scores = scores if "seed" in scores else scores.assign(seed=0)
    # Words and topics: the article is the unit, its repeated answers are pooled.
    pooled = scores["measure"].isin(["word", "document"]).any()
    unit = [*CELL, "article_id", *([] if pooled else ["pair_id"])]
    answers = scores.groupby(unit)["pair_id"].nunique().rename("answers").reset_index()
    units = _units(scores)
    counted = units[units[column].notna() & units["reason"].isna()]
    n = counted.groupby([*CELL, "seed"])[column].transform("size")
    fits = counted.groupby(CELL)["seed"].transform("nunique")
    weighed = counted.assign(contribution=counted[column] / n / fits)
    grouped = weighed.groupby(unit, sort=False)
    table = grouped.agg(difference=(column, "mean"), contribution=("contribution", "sum"))
    first = weighed.drop_duplicates(unit)[[*CELL, "article_id", "pair_id"]]
    keys = [key for key in first if key in unit]
    table = table.reset_index().merge(first, on=keys).merge(answers, on=unit)
    table["rank"] = table.groupby(CELL)["contribution"].rank(method="first", ascending=False)
    table["rank"] = table["rank"].astype(int)
    return table.sort_values([*CELL, "rank"], kind="stable", ignore_index=True)


def _units(scores: pd.DataFrame) -> pd.DataFrame:
    """Return one row a unit of the estimate: repeats are pooled as its own module pools them."""
    measure = scores["measure"].iloc[0] if len(scores) else ""
    groups = [c.removeprefix("difference_") for c in scores if c.startswith("difference_")]
    own = [g for g in groups if scores[f"difference_{g}"].notna().any()]
    if measure == "word" and own:
        return news_words.pooled(scores, own).assign(seed=0)
    if measure == "document":
        by = ["seed", *CELL, "article_id"]
        return news_document_estimates.per_article(scores, own, by=by)
    return scores


def outermost(contributions: pd.DataFrame, *, each: int) -> pd.DataFrame:
    """Return the pairs of every cell that raise its mean most, and those that lower it most.

    Returns
    -------
    DataFrame
        The rows, with `side` (``"raises"`` or ``"lowers"``); a pair that adds nothing is neither.
    """
    up = contributions[contributions["contribution"] > 0].groupby(CELL, sort=False).head(each)
    down = contributions[contributions["contribution"] < 0]
    down = down.iloc[::-1].groupby(CELL, sort=False).head(each)
    return pd.concat([up.assign(side="raises"), down.assign(side="lowers")], ignore_index=True)


def claims(scores: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """List what can be traced to pairs: `measure`, `bias`, `instrument`, `group`."""
    rows = []
    for table in scores:
        for key, own in table.groupby(CLAIM, sort=False):
            columns = [c for c in own if c.startswith("difference_") and own[c].notna().any()]
            rows += [(*key, c.removeprefix("difference_")) for c in columns]
    return pd.DataFrame(rows, columns=[*CLAIM, "group"])


def of_claim(scores: Sequence[pd.DataFrame], claim: dict[str, str]) -> pd.DataFrame:
    """Return the contributions behind one row of `claims`."""
    for table in scores:
        chosen = (table[CLAIM] == [claim[key] for key in CLAIM]).all(axis=1)
        if chosen.any():
            return contributions(table[chosen], group=claim["group"])
    return contributions(scores[0].iloc[:0], group=claim["group"])


def instruments(
    scored: pd.DataFrame | None, claims: pd.DataFrame, claim: Mapping[str, str]
) -> dict[str, tuple[str, str]]:
    """Say which scores of sentences belong to a claim.

    Returns
    -------
    dict
        Of ``"sentiment"`` and ``"toxicity"`` those that there are: the column of `scored` and its
        instrument. With a claim about sentiment it is the claim's own instrument, or none;
        else the first, which leads.
    """
    if scored is None:
        return {}
    found = {}
    listed = news_sentences.measures(scored.drop(columns="toxicity", errors="ignore"))
    if claim["measure"] == "sentiment":
        listed = listed[listed["instrument"] == claim["instrument"]]
    if len(listed):
        found["sentiment"] = (str(listed["column"].iloc[0]), str(listed["instrument"].iloc[0]))
    if "toxicity" in scored:
        named = claims.loc[claims["measure"] == "toxicity", "instrument"]
        found["toxicity"] = ("toxicity", str(named.iloc[0]) if len(named) else "")
    return found


def sentence_scores(
    sentences: pd.DataFrame, scored: pd.DataFrame | None, texts: Sequence[str], *, bias: str,
    columns: Mapping[str, str],
) -> pd.DataFrame:  # fmt: skip
    """Return the sentences of some texts for one bias, with their group and scores.

    Parameters
    ----------
    sentences, scored
        The tables of `news_sentences.assign` and `news_sentences.score`.
    texts, bias
        Whose sentences.
    columns
        Which columns of `scored` are the `sentiment` and the `toxicity`, as `instruments` says.

    Returns
    -------
    DataFrame
        `text_id`, `start`, `end`, `group`, `sentiment` and `toxicity`; NaN where there is none.
    """
    own = sentences[(sentences["bias"] == bias) & sentences["text_id"].isin(list(texts))]
    keys = ["text_id", "sentence_id"]
    table = own[[*keys, "start", "end", "group"]].sort_values(["text_id", "start"], kind="stable")
    if scored is not None:
        values = {name: scored[column] for name, column in columns.items()}
        table = table.merge(scored[keys].assign(**values), on=keys, how="left")
    missing = {name: float("nan") for name in ("sentiment", "toxicity") if name not in table}
    return table.assign(**missing)
