"""How far a word-level result hangs on one term of the list.

A list of group words is a choice, and a few frequent terms ("her") carry most of
it. Here every term is left out in turn, and the estimates are made again.

>>> import pandas as pd
>>> from nbbias import news, text
>>> article = {"source": "s", "article_id": "1"}
>>> originals = pd.DataFrame([article | {"text": "She met a man."}])
>>> answer = article | {"model": "m", "prompt": "p", "sample": 1, "text": "He met him and her."}
>>> pairs = news.pair(originals, pd.DataFrame([answer]))
>>> read = news.annotate(pairs, lexicon=text.lexicons.load("gender"))
>>> changes = news.robustness.without_each_term(news.words.pair_scores(read), read)
>>> sorted(changes["term"].unique())
['he', 'her', 'him', 'man', 'she']
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from nbbias.news import claims, words
from nbbias.news.corpus import CELL, SIDES, Read
from nbbias.text import lexicons

_COLUMNS = [
    *(*CELL, "bias", "statistic", "group", "estimate"),
    *("lowest", "lowest_without", "highest", "highest_without", "keeps_sign"),
    *("n", "n_lowest", "n_highest", "terms", "reason"),
]


def without_each_term(scores: pd.DataFrame, read: Read) -> pd.DataFrame:
    """Estimate word-level bias again and again, each time without one term of the list.

    Parameters
    ----------
    scores
        The table of `news.words.pair_scores`.
    read
        What the scores were made from. With a lexicon as `lexicons.load` gives it, a descriptor is
        left out with all that it was written out to ("white" with "white teacher"); as
        `text.lexicons.expand` gives it, every phrase is left out on its own.

    Returns
    -------
    DataFrame
        By cell, `bias`, `statistic`, `group` and `term`: `estimate` with the whole list, `without`
        the term (NaN where no pair is left), `change` (without minus with) and `n_without`, the
        pairs that still count.

    Notes
    -----
    Matches are left out, texts are not searched anew: where "black women" hid "women", the shorter
    term does not come up in its place.
    """
    columns = [*CELL, "bias", "statistic", "group", "term"]
    columns += ["estimate", "without", "change", "n_without"]
    tables = []
    for bias, of_bias in scores.groupby("bias", sort=False):
        groups = lexicons.groups(read.lexicon, str(bias))
        own = _as_listed(*(table[table["bias"] == bias] for table in (read.matches, read.lexicon)))
        units = claims.per_article(of_bias, words.pooling(groups))
        counted = units[units["reason"].isna()]
        changes = _changes(counted, _by_pair(counted, read.pairs, own), groups)
        for key, here in _cells(of_bias, read.lexicon):
            changed = changes[changes["pair_id"].isin(here["pair_id"])]
            moved = changed.drop(columns="pair_id").groupby("term").sum()
            for statistic, group, column, name in _plans(groups):
                estimate = _mean(here, column)
                table = _without(here, moved, column, name)
                table["change"] = table["without"] - estimate
                found = key | {"statistic": statistic, "group": group, "estimate": estimate}
                tables.append(table.assign(**found)[columns])
    if not tables:
        return pd.DataFrame(columns=columns)
    return pd.concat(tables, ignore_index=True).astype({"group": "str", "term": "str"})


def leave_one_word_out(
    scores: pd.DataFrame, changes: pd.DataFrame, *, lexicon: pd.DataFrame
) -> pd.DataFrame:
    """Say between which values an estimate lies when one term of the list is left out.

    Parameters
    ----------
    scores
        The table of `news.words.pair_scores`.
    changes
        The table of `without_each_term`.
    lexicon
        The lists behind both.

    Returns
    -------
    DataFrame
        One row per cell (`source`, `model`, `prompt`), `bias`, `statistic` (``"bias"``: mean
        distance in [0, 1]; ``"share_difference"``: mean signed difference in [-1, 1] of a `group`):

        - `estimate`: with the whole list, over `n` pairs;
        - `lowest`, `highest`: the smallest and largest estimate with one term left out;
          `lowest_without`, `highest_without`: that term (of equal ones the first by name);
          `n_lowest`, `n_highest`: the pairs that still count then. A pair that loses all its group
          words on a side drops out, as in the measure;
        - `keeps_sign`: whether ``share_difference`` has one sign, not 0, with the whole list and
          without any one term (``"yes"``, ``"no"``);
        - `terms`: those left out in turn: all that the cell's counted pairs have;
        - `reason`: why an estimate is NaN, or that without some term no pair is left.
    """
    keys = [*CELL, "bias", "statistic", "group"]
    of_claim = dict(list(changes.assign(group=changes["group"].fillna("")).groupby(keys)))
    rows = []
    for key, here in _cells(scores, lexicon):
        for statistic, group, column, _ in _plans(lexicons.groups(lexicon, key["bias"])):
            own = of_claim.get((*key.values(), statistic, group or ""), changes.head(0))
            row = _one_claim(here, own.set_index("term"), column, signed=group is not None)
            rows.append(key | {"statistic": statistic, "group": group} | row)
    return pd.DataFrame(rows, columns=_COLUMNS)


def _cells(
    scores: pd.DataFrame, lexicon: pd.DataFrame
) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Yield the key of each bias and cell, and the articles that count there."""
    for bias, of_bias in scores.groupby("bias", sort=False):
        pooling = words.pooling(lexicons.groups(lexicon, str(bias)))
        for key, rows in claims.cells(of_bias, pooling):
            yield key | {"bias": bias}, rows[rows["reason"].isna()]


def _as_listed(matches: pd.DataFrame, lexicon: pd.DataFrame) -> pd.DataFrame:
    """Name each match by the entry of the list that it comes from."""
    listed = set(lexicon["term"])
    stems = sorted(lexicon.loc[lexicon["kind"] == "descriptor", "term"], key=len, reverse=True)
    entry = {
        term: next((stem for stem in stems if term.startswith(f"{stem} ")), term)
        for term in matches["term"].unique()
        if term not in listed
    }
    return matches.assign(term=matches["term"].astype("str").replace(entry))


def _by_pair(counted: pd.DataFrame, pairs: pd.DataFrame, matches: pd.DataFrame) -> pd.DataFrame:
    """Count every term in both texts of every counted pair: `pair_id`, `term`, `group`, `h`, `o`.

    Only terms that a pair has make a row, so the table is no longer than the matches. Repeated
    answers to an article are one pair, as in the scores.
    """
    keys = ["text_id", "group", "term"]
    seen = matches.groupby(keys, sort=False).size().rename("n").reset_index()
    unit = [*CELL, "article_id"]
    usable = pairs[pairs["lost"].isna()].drop(columns="pair_id")
    own = usable.merge(counted[[*unit, "pair_id"]], on=unit)
    sides = [
        own[["pair_id", column]]
        .drop_duplicates()
        .rename(columns={column: "text_id"})
        .merge(seen)
        .assign(side=side)
        for side, column in SIDES.items()
    ]
    keys = ["pair_id", "group", "term", "side"]
    wide = pd.concat(sides).groupby(keys, sort=False)["n"].sum().unstack("side", fill_value=0)
    return wide.reindex(columns=list(SIDES), fill_value=0).reset_index()


def _changes(counted: pd.DataFrame, terms: pd.DataFrame, groups: Sequence[str]) -> pd.DataFrame:
    """Say what each pair adds to each sum when one of its terms is left out.

    Pairs without the term stay as they are, so the estimates follow from the whole sums
    and these changes: `pair_id`, `term`, `n` (-1: the pair drops out), `bias` and every group.
    """
    at = counted.set_index("pair_id").loc[terms["pair_id"]]
    out = terms["group"].to_numpy()[:, None] == np.array(groups)
    shares, left = [], np.ones(len(terms), dtype=bool)
    for side in SIDES:
        counts = at[[f"{side}_{group}" for group in groups]].to_numpy(float)
        counts = counts - out * terms[side].to_numpy()[:, None]
        total = counts.sum(axis=1, keepdims=True)
        left &= total[:, 0] > 0
        shares.append(np.divide(counts, total, out=np.zeros_like(counts), where=total > 0))
    d = (shares[0] - shares[1]) * left[:, None]
    old = at[[f"difference_{group}" for group in groups]].to_numpy(float)
    table = terms[["pair_id", "term"]].assign(n=left.astype(int) - 1)
    table["bias"] = np.abs(d).sum(axis=1) / 2 - at["score"].to_numpy(float)
    return table.assign(
        **{f"share_difference {g}": d[:, i] - old[:, i] for i, g in enumerate(groups)}
    )


def _one_claim(
    here: pd.DataFrame, changed: pd.DataFrame, column: str, *, signed: bool
) -> dict[str, Any]:
    """Find the lowest and the highest of one claim's estimates without a term."""
    estimate, n = _mean(here, column), changed["n_without"]
    row: dict[str, Any] = {"estimate": estimate, "lowest": np.nan, "highest": np.nan}
    row |= {"n": len(here), "terms": len(changed), "n_lowest": np.nan, "n_highest": np.nan}
    emptied = list(changed.index[n == 0])
    if not len(here):
        row["reason"] = "no pair counts with the whole list"
    elif emptied:
        row["reason"] = f"no pair is left without {' or without '.join(map(repr, emptied))}"
    without = changed["without"].dropna()
    if len(without):
        low, high = without.idxmin(), without.idxmax()
        row |= {"lowest": without[low], "lowest_without": low, "n_lowest": n[low]}
        row |= {"highest": without[high], "highest_without": high, "n_highest": n[high]}
        if signed:
            signs = np.sign([estimate, row["lowest"], row["highest"]])
            row["keeps_sign"] = "yes" if abs(signs.sum()) == 3 else "no"
    return row


def _plans(groups: Sequence[str]) -> list[tuple[str, str | None, str, str]]:
    """Return statistic, group, its column of the scores and its name among the changes."""
    plans: list[tuple[str, str | None, str, str]] = [("bias", None, "score", "bias")]
    named = [("share_difference", g, f"difference_{g}", f"share_difference {g}") for g in groups]
    return [*plans, *named]


def _mean(here: pd.DataFrame, column: str) -> float:
    """Rounded: noise in the last digits must neither choose a term nor turn a sign."""
    return round(here[column].sum() / len(here), 12) if len(here) else np.nan


def _without(here: pd.DataFrame, moved: pd.DataFrame, column: str, name: str) -> pd.DataFrame:
    """Return `term`, the mean `without` it (rounded as `_mean` is) and the pairs left."""
    n = len(here) + moved["n"]
    without = ((here[column].sum() + moved[name]) / n.where(n > 0)).round(12)
    return pd.DataFrame({"without": without, "n_without": n}).reset_index(names="term")
