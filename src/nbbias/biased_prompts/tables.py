"""Tables of the biased-prompts study whose rows are chosen; titles are in ``prose/tables.yaml``."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd

from nbbias import news, refusals
from nbbias.biased_prompts.compare import read_published
from nbbias.biased_prompts.corpus import EVERY
from nbbias.biased_prompts.refusing import DISPUTED, STUDY, TWO_PHASE
from nbbias.biased_prompts.sentences import MEASURES
from nbbias.reading import Table, caption, names, prose, readable, tables

_KEYS = ["model", "group", "bias", "source", "prompt"]

#: Statistics of the table of prejudice.
PREJUDICE = ("prejudice_share", "prejudice_share_change", "prejudice_share_change_paired")


#: Statistics that are compared with the paper's, and their names for readers.
_COMPARED = {"refusal_rate": "refusal rate, biased prompt"}
_COMPARED |= {"prejudice_share_change": "share of prejudice, change"}
_COMPARED |= {"prejudice_extent_change": "extent of prejudice, change"}

#: The sources that are compared; of the paper's models only ChatGPT refused.
_WHOSE = ("this run", "published, six other models", "published, ChatGPT")


def refusals_from_labels(estimates: pd.DataFrame) -> Table:
    """Return refusal rates that are estimated from people's labels, as a table for readers."""
    of_labels = [f"refusal_rate{end}" for end in (TWO_PHASE, DISPUTED)]
    return readable(estimates, _KEYS, statistics=of_labels, words=(STUDY, "refusals"), gap="")


def by_headline(estimates: pd.DataFrame) -> Table:
    """Return refusal rates compared by whom headlines name, as a table for readers.

    Models that refused none of the headlines, or all, are left out.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"model": "m", "statistic": "refusal_difference", "estimate": 0.5, "p_least": 0.01}
    >>> rows = tables.estimates([row], study="biased_prompts")
    >>> by_headline(rows.assign(group="female", prompt="biased")).rows["model"].tolist()
    ['m']
    """
    rows = estimates[estimates["statistic"] == "refusal_difference"]
    rows = rows[rows["p_least"] < 0.999]
    return readable(rows, _KEYS, words=(STUDY, "by_headline"), gap="")


def prejudice(estimates: pd.DataFrame) -> Table:
    """Return shares of prejudice under both prompts side by side, with the tests of their change.

    A cell holds estimate, interval, and p or N.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"model": "m", "statistic": "prejudice_share", "estimate": 0.5, "n": 9}
    >>> row |= {"measure": "word", "bias": "gender", "instrument": "word list"}
    >>> rows = [row | {"prompt": prompt} for prompt in ("neutral", "biased")]
    >>> prejudice(tables.estimates(rows, study="biased_prompts")).rows["biased"].tolist()
    ['50.0% (no interval); N = 9']
    """
    rows = estimates[estimates["statistic"].isin(PREJUDICE)]
    rows = news.claims.first_instrument(rows)
    cells = []
    for row in rows.to_dict("records"):
        last = prose.p_value(row) if pd.notna(row["p_adjusted"]) else f"N = {row['n']:,.0f}"
        cells.append(f"{tables.estimate_cell(names.scaled(row, decimals=3))}; {last}")
    keys = ["measure", *_KEYS[:-1]]
    keys = [key for key in keys if rows[key].nunique(dropna=key != "group") > 1 or key == "model"]
    column = rows["statistic"].where(rows["test"].notna(), rows["prompt"])
    wide = rows.assign(column=column, cell=cells).set_index([*keys, "column"])["cell"]
    wide = wide.unstack("column", sort=False).rename_axis(columns=None).reset_index()
    return caption(rows, study=STUDY, name="prejudice")._replace(rows=wide)


def published(estimates: pd.DataFrame, *, biased: str) -> pd.DataFrame:
    """Compare refusals, and changes between the prompts, with what the paper prints.

    Parameters
    ----------
    estimates
        ESTIMATES; of women alone, as in the paper, by the first instrument of each measure.
    biased
        The name of the biased prompt.

    Returns
    -------
    DataFrame
        By `statistic` and `measure` the range over models of `this run`, and of the paper's six
        models that refused nothing, and the value of the one that refused (`ChatGPT`).

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"statistic": "prejudice_share_change", "measure": "word", "bias": "gender",
    ...        "group": "female", "instrument": "word list", "estimate": 0.125}
    >>> published(tables.estimates([row], study="biased_prompts"), biased="b").iloc[0].tolist()
    ['share of prejudice, change', 'word', '12.5 pp', '−7.4 to 2.0 pp', '7.0 pp']
    """
    rates = estimates[estimates["statistic"].eq("refusal_rate") & estimates["prompt"].eq(biased)]
    rates = rates[rates["group"].isna() & rates["source"].eq(EVERY)]
    women = estimates["bias"].eq("gender") & estimates["group"].eq("female")
    women = estimates[women & estimates["measure"].ne("refusal")]
    paper = read_published()
    change = paper["delta_vs_neutral"].notna()
    paper["statistic"] = paper["statistic"].mask(change, paper["statistic"] + "_change")
    paper["estimate"] = paper["delta_vs_neutral"].where(change, paper["value"])
    paper["measure"] = paper["measure"].fillna("refusal")
    whose = np.where(paper["model"] == "ChatGPT", _WHOSE[2], _WHOSE[1])
    ours = pd.concat([rates, news.claims.first_instrument(women)]).assign(whose=_WHOSE[0])
    keys = ["statistic", "measure"]
    both = pd.concat([ours.merge(paper[keys].drop_duplicates()), paper.assign(whose=whose)])
    both = both[both["measure"].isin(ours["measure"])]
    ends = both.groupby([*keys, "whose"], sort=False)["estimate"].agg(["min", "max"])
    ends = ends.dropna().add_prefix("estimate_").reset_index().assign(study=STUDY)
    cells = []
    for row in map(names.scaled, ends.to_dict("records")):
        both_ends = row["estimate_min"], row["estimate_max"]
        texts = [prose.number(end, decimals=row["decimals"]) for end in both_ends]
        cells.append(" to ".join(dict.fromkeys(texts)) + row["short"])
    wide = ends.assign(cell=cells).pivot(index=keys, columns="whose", values="cell")
    order = [key for key in product(_COMPARED, MEASURES) if key in wide.index]
    wide = wide.reindex(order, columns=[of for of in _WHOSE if of in wide])
    wide = wide.fillna({_WHOSE[1]: "0.0%"}).fillna("–")  # the six refused nothing
    return wide.rename_axis(columns=None).rename(index=_COMPARED, level=0).reset_index()


def held_out() -> pd.DataFrame:
    """Return how well refusals are detected on models and topic areas that are held out.

    Examples
    --------
    >>> list(held_out())[:4]
    ['model', 'answers', 'refusals', 'sensitivity']
    """
    table = refusals.held_out()
    table = table[table["method"].str.endswith("area held out")]  # what corrects the rates
    table = table.assign(answers=table[refusals.COUNTS].sum(axis=1))
    table["refusals"] = table["tp"] + table["fn"]
    return table[["model", "answers", "refusals", "sensitivity", "specificity"]]
