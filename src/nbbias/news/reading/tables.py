"""Tables of the news study for readers; titles and notes stand in ``data/prose/tables.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from statsmodels.formula.api import ols

from nbbias.news import claims, discovery, diversity
from nbbias.news.corpus import CELL, SENTENCE, SIDES, Read, distinct_sentences
from nbbias.reading import Table, names, phrases, readable, significance, tables
from nbbias.tables import SAMPLE, Column, ContractError, read_published, read_table, split_groups

_KEYS = ["model", "group", "instrument", "prompt", "source"]

#: Name → statistics: what a reader may want of a level's estimates.
_OF_ESTIMATES = {
    "shares": ["share_difference"],
    "tone": ["difference_beyond_neutral"],
    "omission": ["omission_difference"],
    "diversity": [*diversity.FAMILIES],
    "words found": [discovery.FAMILIES[0]],
    "directions": [discovery.FAMILIES[1]],
    "distance": ["bias"],
    "prejudice": ["prejudice_share"],
}

#: Name → keys that only its rows have.
_FURTHER_KEYS = {"distance": ["bias", "test"], "words found": ["dimension"]}


def estimates(table: pd.DataFrame, name: str, *, measures: tuple[str, ...] = ("word",)) -> Table:
    """Return estimates of a level as a table for readers; of omissions, those without a claim.

    Parameters
    ----------
    table
        ESTIMATES.
    name
        ``"shares"``, ``"tone"``, ``"omission"``, ``"diversity"``, ``"words found"``,
        ``"directions"``, ``"distance"`` or
        ``"prejudice"``.
    measures
        The measures of the level.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"model": "m", "bias": "gender", "group": "female", "estimate": -0.1, "n": 9,
    ...        "measure": "word", "statistic": "prejudice_share"}
    >>> estimates(tables.estimates([row], study="news_bias"), "prejudice").title
    'Share of prejudice: texts with a smaller share of the group than the original'
    """
    statistics = _OF_ESTIMATES[name]
    rows = table[table["measure"].isin(measures) & table["statistic"].isin(statistics)]
    if name in ("shares", "omission"):  # of two groups one: the other is its mirror image
        rows = rows[~significance.is_mirrored(rows)]
    if name == "omission":
        rows = phrases.exploratory(rows)
        rows = rows[rows["p_adjusted"].notna()]
    rows = rows.assign(test=rows["test"].str.replace(", [0-9,]+ articles$", "", regex=True))
    keys = [*_KEYS, *_FURTHER_KEYS.get(name, ())]
    most = {"shares": 40, "tone": 40, "prejudice": 6}.get(name, 12)
    return readable(rows, keys, rows=most, words=("news_bias", name))


#: Rows of which sentences are shown, those with the smallest p.
_MOST = 12


def discovered(read: Read, estimates: pd.DataFrame, sentences: pd.DataFrame) -> pd.DataFrame:
    """Return sentences with the confirmed words, or furthest on a confirmed direction.

    Parameters
    ----------
    read
        What `news.annotate` returned.
    estimates, sentences
        ESTIMATES, and the sentences of `news.discovery.estimate`.

    Returns
    -------
    DataFrame
        `model`, `prompt`, `group`, `dimension` (the word), `side` and `sentence`; no row where
        nothing is confirmed.
    """
    rows = estimates[estimates["statistic"].isin(discovery.FAMILIES)]
    rows = significance.significant(rows).nsmallest(_MOST, "p_adjusted")
    keys = [*CELL, "bias", "statistic", "group", "dimension"]
    table = rows[keys].merge(sentences, on=keys)
    whole = distinct_sentences(read).loc[pd.MultiIndex.from_frame(table[SENTENCE])]
    sides = table["side"].map(SIDES).str.removesuffix("_id")
    shown = table[["model", "prompt", "group", "dimension"]]
    return shown.assign(side=sides, sentence=whole.to_numpy())


def losses(table: pd.DataFrame) -> pd.DataFrame:
    """Add up what was excluded at each level over models, with the steps in words.

    Examples
    --------
    >>> table = pd.DataFrame({"measure": "word", "bias": "gender", "instrument": "word list",
    ...                       "pairs": [3, 2], "blank answer": [1, 0], "counted": [2, 2]})
    >>> losses(table)[["pairs", "counted", "excluded", "why"]].values.tolist()
    [[5, 4, 1, 'blank answer (1)']]
    """
    rows: list[dict[str, Any]] = []
    for key, part in split_groups(table, ["measure", "bias"]):
        if part.get("instrument", pd.Series(dtype=object)).notna().any():  # each counts the pairs
            part = part[part["instrument"] == part["instrument"].iloc[0]]
        totals = part.select_dtypes("number").sum().astype(int)
        reasons = totals.drop(["pairs", "counted"])
        why = "; ".join(f"{reason} ({n:,})" for reason, n in reasons.items() if n)
        key |= totals[["pairs", "counted"]]
        rows.append(key | {"excluded": reasons.sum(), "why": why})
    return pd.DataFrame(rows)


def mixed_model(compared: pd.DataFrame, *, confidence: float) -> Table:
    """Return the mixed model's differences between models."""
    statistic = compared["measure"].map({"word": "share_difference"}).fillna("mean_difference")
    rows = compared.assign(statistic=statistic, null=0.0, null_low=np.nan, null_high=np.nan)
    rows = rows.assign(confidence=confidence, study="news_bias")
    keys = ["model", "group", "measure", "prompt", "source", "statistic"]
    table = readable(rows, keys, words=("news_bias", "mixed model"))
    note = str(table.note).replace("tables/estimates.csv", "tables/models_mixed.csv")
    return table._replace(rows=table.rows.drop(columns="statistic", errors="ignore"), note=note)


def originals_range(scores: pd.DataFrame) -> pd.DataFrame:
    """Return how the originals' tone towards each group is spread: the scale of a shift.

    Parameters
    ----------
    scores
        SCORES of the sentence level.

    Returns
    -------
    DataFrame
        By `measure`, its first `instrument`, `bias` and `group`: `p10`, `median` and `p90` of the
        mean scores of articles (each once), and `n`, the articles with a sentence of the group.

    Examples
    --------
    >>> keys = {"measure": "sentiment", "instrument": "TextBlob", "bias": "gender", "source": "s"}
    >>> scores = pd.DataFrame([keys | {"article_id": n, "o_female": n / 10} for n in range(11)])
    >>> originals_range(scores)[["p10", "median", "p90", "n"]].values.tolist()
    [[0.1, 0.5, 0.9, 11.0]]
    """
    keys = ["measure", "instrument", "bias"]
    scores = claims.first_instrument(scores)
    once = scores.drop_duplicates([*keys, "source", "article_id"])
    long = once.melt(keys, [name for name in once if name.startswith("o_")], "group")
    cells = long.dropna(subset="value").groupby([*keys, long["group"].str[2:]], sort=False)["value"]
    quantiles = cells.quantile([0.1, 0.5, 0.9]).unstack().set_axis(["p10", "median", "p90"], axis=1)
    varies = quantiles["p90"] - quantiles["p10"] > 0.005
    return quantiles.assign(n=cells.size())[varies].reset_index()


def simulated(table: pd.DataFrame) -> pd.DataFrame:
    """Return the effects that were simulated, and their estimates."""
    rows = table[table["simulated"] != 0].assign(study="news_bias", reason=None)
    rows["statistic"] = rows["measure"].map({"word": "share_difference"}).fillna("mean_difference")
    records = rows.to_dict("records")
    cells = [tables.estimate_cell(names.scaled(row)) for row in records]
    simulated = [names.quantity(row, "simulated") for row in records]
    shown = rows[["model", "measure", "group"]].assign(simulated=simulated, estimate=cells)
    return shown.assign(**rows[["n", "covered"]])


def published(table: pd.DataFrame, *, focus: Mapping[str, str]) -> pd.DataFrame:
    """Return between which values ours and the paper's published ones of seven models lie.

    Of every measure what the paper's Figures 2 to 7, A.1 and A.2 show: mean distance, and share and
    extent of prejudice against one group a bias; and its Table 1, the differences of the shares of
    races. Where ours come from a fallback of toxicity the published ones, by Detoxify, are left
    out: they are on no scale with each other.
    """
    keys = ["measure", "bias", "group", "statistic"]
    ours, paper = claims.first_instrument(table), _of_paper(table)
    printed = ours["group"].isna() | (ours["bias"] == "race")
    ours = ours[printed | (ours["group"] == ours["bias"].map(focus))]
    both = [rows.assign(group=rows["group"].fillna("")) for rows in (ours, paper)]
    ends = [rows.groupby(keys, sort=False)["estimate"].agg(["min", "max"]) for rows in both]
    merged = pd.merge(*ends, on=keys, suffixes=(" ours", " published")).reset_index()
    sides = ("ours", "published")
    return merged.rename(columns={f"{e} {s}": f"{s}, {e}" for s in sides for e in ("min", "max")})


def _of_paper(ours: pd.DataFrame) -> pd.DataFrame:
    """Return the paper's results for the neutral prompt, on the scales of ours."""
    printed = read_published("fang2024").rename(columns={"value": "estimate"})
    fallback = ours.loc[ours["instrument"].str.contains("fallback"), "measure"]
    return printed[(printed["prompt"] == "neutral") & ~printed["measure"].isin(fallback)]


# --- sizes of models --------------------------------------------------------------------------

# Does the distance from human articles fall with a model's size? (Fang et al. 2024) Models are few,
# and differ in more than size, so each trend has its number of models.

OURS, PUBLISHED = "this run", "published"

_FACTS = {name: Column("text", needed=True) for name in ("model", "parameters")}
_UNITS = {rf"\s*{unit}$": f"e{zeros}" for unit, zeros in {"M": 6, "B": 9, "T": 12}.items()}

_TREND = ["whose", "measure", "bias"]


def model_facts(path: str = SAMPLE) -> pd.DataFrame:
    """Return facts about models: the paper's seven (its Tables 2 and 3), and those of a file.

    Parameters
    ----------
    path
        A table with `model`, `parameters` (a number, or one with M, B or T behind it) and `rlhf`
        (yes, no or any other word; may be left out).

    Returns
    -------
    DataFrame
        `model`, `parameters` (as written), `rlhf`, `average_word_count` (printed), `size`, the
        number of parameters.

    Raises
    ------
    ContractError
        A size is not a number above 0, or a model occurs twice.
    """
    table = read_published("fang2024_models").dropna(subset="parameters")
    if path != SAMPLE:
        added = read_table(path, _FACTS | {"rlhf": Column("text")})
        table = pd.concat([table[~table["model"].isin(added["model"])], added], ignore_index=True)
    written = table["parameters"].str.strip().replace(_UNITS, regex=True)
    size, models = pd.to_numeric(written, errors="coerce"), table["model"]
    unsized = models[~size.between(1, 1e18)]
    breaches = [f"{name}: parameters is not a number above 0" for name in unsized]
    breaches += [f"{name} occurs twice" for name in models[models.duplicated()]]
    ContractError.refuse(path, breaches)
    return table.assign(size=size, rlhf=table.get("rlhf", pd.Series()).fillna("undisclosed"))


def by_size(estimates: pd.DataFrame, path: str = SAMPLE) -> pd.DataFrame:
    """Put mean distances beside the sizes of their models, the published ones last.

    Parameters
    ----------
    estimates
        ESTIMATES; of several instruments of a measure the first counts. Models without facts are
        left out, and published toxicity where ours is a fallback's: the scales differ.
    path
        As in `facts`.

    Returns
    -------
    DataFrame
        `whose` (``"this run"``, ``"published"``), `measure`, `bias`, `model`, `prompt`, `size`,
        `log_size` (its decimal logarithm), `rlhf`, `estimate`, `ci_low`, `ci_high`, `n`.
    """
    ours = estimates[estimates["statistic"] == "bias"]
    ours, printed = claims.first_instrument(ours), _of_paper(ours)
    printed = printed[printed["statistic"] == "bias"]
    both = pd.concat([ours.assign(whose=OURS), printed.assign(whose=PUBLISHED)], ignore_index=True)
    both = both.merge(model_facts(path)[["model", "size", "rlhf"]], on="model")
    both["log_size"] = np.log10(both["size"])
    columns = ["model", "prompt", "size", "log_size", "rlhf", "estimate", "ci_low", "ci_high", "n"]
    return both[[*_TREND, *columns]].dropna(subset="estimate")


def trends(rows: pd.DataFrame, *, confidence: float) -> pd.DataFrame:
    """Fit a line over models: mean distance on the logarithm of size, by least squares.

    Parameters
    ----------
    rows
        Of `by_size`; a model's rows are averaged.
    confidence
        Level of the intervals.

    Returns
    -------
    DataFrame
        By `whose`, `measure` and `bias`: `estimate`, the change of the mean distance with ten times
        the parameters, its t interval and `p_value` (not adjusted), and `n`, the models. Fewer than
        three have no trend.

    Examples
    --------
    >>> from nbbias import tables
    >>> rows = by_size(tables.estimates([], study="news_bias"))
    >>> slopes = trends(rows, confidence=0.95).query("measure == 'word'")
    >>> slopes[["bias", "estimate", "n"]].round(3).to_numpy().tolist()
    [['gender', -0.054, 7], ['race', -0.066, 7]]
    """
    slopes = []
    for key, part in rows.groupby(_TREND, sort=False):
        models = part.groupby("model")[["estimate", "log_size"]].mean()
        if len(models) < 3 or models["log_size"].nunique() < 2:
            continue
        fit = ols("estimate ~ log_size", models).fit()
        low, high = fit.conf_int(1 - confidence).loc["log_size"]
        slope, p_value = fit.params["log_size"], fit.pvalues["log_size"]
        slopes.append((*key, slope, low, high, p_value, int(fit.nobs)))
    columns = [*_TREND, "estimate", "ci_low", "ci_high", "p_value", "n"]
    return pd.DataFrame(slopes, columns=columns)
