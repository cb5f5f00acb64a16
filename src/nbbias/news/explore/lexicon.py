"""How far results depend on single words of a list: the words by side, in context, and left out.

A list of group words is a choice, and a few frequent terms ("her") carry most of it. Here every
term is left out in turn, and the differences are estimated again.

>>> import pandas as pd
>>> from nbbias import news, text
>>> article = {"source": "s", "article_id": "1"}
>>> originals = pd.DataFrame([article | {"text": "She met a man."}])
>>> answer = article | {"model": "m", "prompt": "p", "sample": 1, "text": "He met him and her."}
>>> pairs = news.pair(originals, pd.DataFrame([answer]))
>>> read = news.annotate(pairs, lexicon=text.lexicons.load("gender"))
>>> changes = without_each_term(news.words.pair_scores(read), read)
>>> sorted(changes["term"].unique())
['he', 'her', 'him', 'man', 'she']
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from IPython.display import HTML
from markupsafe import Markup

from nbbias.news import claims, words
from nbbias.news.corpus import CELL, SIDES, Read
from nbbias.reading import markup
from nbbias.tables import escape
from nbbias.text import annotate, lexicons

#: Words of a group that a page shows.
_SHOWN = 15

_TITLE = "Look into a word list"
_ABOUT = (
    "Matches in human originals and in answers. Change: of the group's mean signed difference when "
    "the word is left out, in the model where that changes most. Contexts are drawn at random. A "
    "word that means something else in context does not belong on the list."
)
_KEYS = ["bias", "group", "term"]
_CLAIM = [*CELL, "bias", "group"]


def lexicon(read: Read, changes: pd.DataFrame, *, seed: int = 0) -> HTML:
    """Show the most frequent words of each group, with a context and what they change.

    Parameters
    ----------
    read
        What `news.annotate` returned.
    changes
        The table of `without_each_term`.
    seed
        Start of the draw of contexts.
    """
    terms = list_terms(read, changes)
    panels = {bias: _table(rows, read, seed) for bias, rows in terms.groupby("bias")}
    return markup.framed(markup.tabs(panels, called="Bias"), title=_TITLE, about=_ABOUT)


def list_terms(read: Read, changes: pd.DataFrame) -> pd.DataFrame:
    """Count every term that was seen, on both sides, and say what it moves.

    Parameters
    ----------
    read
        What `news.annotate` returned.
    changes
        The table of `without_each_term`.

    Returns
    -------
    DataFrame
        By `bias`, `group`, `term`, most frequent first: `originals` and `answers` (matches in
        distinct texts); `change`: the largest change, over cells, of the group's mean signed
        difference when the term is left out, and the model, `changed_in`.
    """
    usable = read.pairs[read.pairs["lost"].isna()]
    matches = read.matches.astype(dict.fromkeys(_KEYS, str))
    sides = {"originals": usable["original_id"], "answers": usable["generated_id"]}
    counts = pd.DataFrame(
        {
            side: matches[matches["text_id"].isin(texts)].groupby(_KEYS, sort=False).size()
            for side, texts in sides.items()
        }
    )
    counts = counts.fillna(0).astype(int).rename_axis(_KEYS).reset_index()
    known = changes.dropna(subset="change")
    largest = known.loc[known.groupby(_KEYS)["change"].agg(lambda change: change.abs().idxmax())]
    largest = largest[[*_KEYS, "change", "model"]].rename(columns={"model": "changed_in"})
    table = counts.merge(largest, on=_KEYS, how="left")
    order = (-table["originals"] - table["answers"]).argsort(kind="stable")
    return table.iloc[order].reset_index(drop=True)


def _table(terms: pd.DataFrame, read: Read, seed: int) -> str:
    """Return the words of each group that stand most often, each in one context."""
    top = terms.groupby("group", sort=False).head(_SHOWN)
    matches = read.matches.astype(dict.fromkeys(_KEYS, str)).merge(top[_KEYS], on=_KEYS)
    drawn = matches.sample(frac=1, random_state=seed).drop_duplicates(_KEYS).reset_index(drop=True)
    around = annotate.context(read.texts, drawn, width=45)
    context = [
        Markup(
            f"{escape.html(row.left)}<mark>{escape.html(row.match)}</mark>{escape.html(row.right)}"
        )
        for row in around.itertuples()
    ]
    context = pd.Series(context, drawn.index, dtype=object)
    table = top.merge(drawn[_KEYS].assign(context=context), on=_KEYS, how="left")
    table = table.drop(columns="bias").rename(
        columns={"change": "change without it", "changed_in": "changed most in"}
    )
    more = markup.note(f"{len(terms) - len(top)} rarer words are in tables/terms.csv.")
    table = table.sort_values("group", kind="stable", ignore_index=True)
    return markup.table(table) + more


# --- left out ---------------------------------------------------------------------------------


def without_each_term(scores: pd.DataFrame, read: Read) -> pd.DataFrame:
    """Estimate the differences of shares again and again, each time without one term of the list.

    Parameters
    ----------
    scores
        The table of `news.words.pair_scores`.
    read
        What the scores were made from; every phrase of its lexicon is left out on its own.

    Returns
    -------
    DataFrame
        By cell, `bias`, `group` and `term`: `estimate` with the whole list over `n` articles,
        `without` the term (NaN where no article is left), `change` (without minus with) and
        `n_without`, the articles that still count: one that loses all its group words on a side
        drops out. Rounded to 12 digits, so that noise turns no sign.

    Notes
    -----
    Matches are left out, texts are not searched anew: where "black women" hid "women", the shorter
    term does not come up in its place.
    """
    parts = []
    for bias, rows in scores.groupby("bias", sort=False):
        groups = lexicons.groups(read.lexicon, str(bias))
        units = claims.per_article(rows, words.pooling(groups))
        units = units[units["reason"].isna()].reset_index(drop=True)
        if units.empty:
            continue
        terms = _count_terms(units, read, str(bias))
        at = units.loc[terms["unit"]]
        listed = terms["group"].to_numpy()[:, None] == np.array(groups)
        sides = [
            counts - listed * terms[[side]].to_numpy()
            for side, counts in zip("ho", words.sides(at, groups), strict=True)
        ]
        differences = words.subtract_shares(*(side.T for side in sides)).T
        names = [f"difference_{group}" for group in groups]
        moved = pd.DataFrame(np.nan_to_num(differences) - at[names].to_numpy(float), columns=groups)
        moved["lost"] = np.isnan(differences[:, 0]).astype(int)
        keys = [*CELL, "term"]
        moved[keys] = np.column_stack([at[CELL], terms["term"]])
        moved = moved.groupby(keys, sort=False).sum()
        for group, name in zip(groups, names, strict=True):
            whole = units.groupby(CELL)[name].agg(total="sum", n="size")
            table = moved[[group, "lost"]].join(whole, on=CELL).reset_index()
            left = table["n"] - table.pop("lost")
            table["estimate"] = (table["total"] / table["n"]).round(12)
            total = table.pop("total") + table.pop(group)
            table["without"] = (total / left.where(left > 0)).round(12)
            table["change"] = table["without"] - table["estimate"]
            parts.append(table.assign(bias=bias, group=group, n_without=left))
    columns = [*_CLAIM, "term", "estimate", "n", "without", "change", "n_without"]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def _count_terms(units: pd.DataFrame, read: Read, bias: str) -> pd.DataFrame:
    """Count each term in the texts of each unit that has it: `unit`, `term`, `group`, `h`, `o`."""
    matches = read.matches.loc[read.matches["bias"] == bias, ["text_id", "group", "term"]]
    matches = matches.astype({"group": str, "term": str})
    usable = read.pairs[read.pairs["lost"].isna()]
    article = [*CELL, "article_id"]
    texts = usable.merge(units[article].reset_index(names="unit"), on=article)
    counts = [
        texts[["unit", column]]
        .drop_duplicates()
        .merge(matches, left_on=column, right_on="text_id")
        .assign(side=side)
        for side, column in SIDES.items()
    ]
    keys = ["unit", "term", "group", "side"]
    table = pd.concat(counts).groupby(keys, sort=False).size().unstack(fill_value=0)
    return table.reindex(columns=[*SIDES], fill_value=0).reset_index()
