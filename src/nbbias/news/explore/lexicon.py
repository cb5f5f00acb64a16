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

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import pandas as pd
from IPython.display import HTML
from markupsafe import Markup

from nbbias.news import claims, corpus, words
from nbbias.news.corpus import CELL, SIDES, Read
from nbbias.news.explore.interactive import show_controls
from nbbias.reading import markup, names, prose, tables
from nbbias.tables import ContractError, escape
from nbbias.text import annotate, lexicons

#: Words of a group that a page shows.
_SHOWN = 5

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
    shown, about = markup.tabs(panels, called="Bias"), prose.render_plain("news.about_list")
    return markup.framed(shown, title="Look into a word list", about=about)


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
    matches = read.matches.astype(dict.fromkeys(_KEYS, str))
    sides = {"originals": read.usable["original_id"], "answers": read.usable["generated_id"]}
    by_side = {
        side: matches[matches["text_id"].isin(texts)].groupby(_KEYS, sort=False).size()
        for side, texts in sides.items()
    }
    counts = pd.DataFrame(by_side).fillna(0).astype(int).rename_axis(_KEYS).reset_index()
    valid = changes.dropna(subset="change")
    largest = valid.loc[valid.groupby(_KEYS)["change"].agg(lambda change: change.abs().idxmax())]
    largest = largest[[*_KEYS, "change", "model"]].rename(columns={"model": "changed_in"})
    table = counts.merge(largest, on=_KEYS, how="left")
    order = (-table["originals"] - table["answers"]).argsort(kind="stable")
    return table.iloc[order].reset_index(drop=True)


def _table(terms: pd.DataFrame, read: Read, seed: int) -> str:
    """Return the words of each group that stand most often, each in one context."""
    top = terms.groupby("group", sort=False).head(_SHOWN)
    matches = read.matches.astype(dict.fromkeys(_KEYS, str)).merge(top[_KEYS], on=_KEYS)
    drawn = matches.sample(frac=1, random_state=seed).drop_duplicates(_KEYS).reset_index(drop=True)
    drawn = drawn.assign(context=_contexts(read, drawn))
    table = top.merge(drawn[[*_KEYS, "context"]], on=_KEYS, how="left")
    table["change"] *= 100
    headers = {"change": "change without it, pp", "changed_in": "changed most in"}
    table = table.drop(columns="bias").rename(columns=headers)
    more = markup.note(f"{len(terms) - len(top)} rarer words are in tables/terms.csv.")
    table = table.sort_values("group", kind="stable", ignore_index=True)
    return markup.table(table, decimals=1) + more


def _contexts(read: Read, matches: pd.DataFrame) -> pd.Series:
    around = annotate.context(read.texts, matches, width=45)
    parts = around[["left", "match", "right"]].map(escape.html).to_numpy()
    context = [Markup(f"{left}<mark>{match}</mark>{right}") for left, match, right in parts]
    return pd.Series(context, matches.index, dtype=object)


# --- changed in an open notebook --------------------------------------------------------------

#: Numbers of terms to choose from, and of characters of a new term.
_CHOICES, _LONGEST = 500, 60
_CHANGED = "Differences of shares, estimated again with the changed list; exploratory, not saved."
_DIFFERENCES = ("share_difference", "share_difference_change")


def edit(read: Read, estimate: Callable[[Read], pd.DataFrame]) -> None:
    """Leave a term out or add one, in an open notebook, and see the differences move.

    Parameters
    ----------
    read
        What `news.annotate` returned.
    estimate
        Returns the study's ESTIMATES of texts that were read with the list of one bias.
    """

    @lru_cache(maxsize=8)
    def measure(bias: str, without: str, term: str, group: str) -> pd.DataFrame:
        changed = change(read, bias, without=without, term=term, group=group)
        rows = estimate(changed).assign(p_value=np.nan, p_adjusted=np.nan)
        return rows[rows["statistic"].isin(_DIFFERENCES)]

    def show(group: tuple[str, str], leave_out: str, add: str) -> str:
        before = measure(group[0], "", "", "")
        after = measure(group[0], leave_out, " ".join(add.split()), group[1])
        both = pd.concat([before.assign(list="whole"), after.assign(list="changed")])
        of_group = both[both["group"] == group[1]]
        both = of_group if len(of_group) else both
        table = tables.readable(both, [*CELL, "group", "list"], rows=None, note=_CHANGED)
        return tables.table_html(table)

    seen = lexicons.term_counts(read.lexicon, read.matches).query("matches > 0").head(_CHOICES)
    terms = [(f"{t} ({names.people(group)})", t) for t, group in seen[["term", "group"]].to_numpy()]
    pairs = read.lexicon[["bias", "group"]].drop_duplicates().to_numpy()
    groups = [(f"{bias}: {names.people(group)}", (bias, group)) for bias, group in pairs]
    show_controls(show, group=groups, leave_out=[("nothing", ""), *terms], add="")


def change(read: Read, bias: str, *, without: str, term: str, group: str) -> Read:
    """Read the texts again with the list of one bias, without one term and with another.

    Raises
    ------
    ContractError
        The list cannot be changed so.
    """
    listed = read.lexicon[read.lexicon["bias"] == bias]
    remaining = listed[listed["term"] != without]
    same = remaining[remaining["term"].str.lower() == term.lower()]
    if term and same.empty:
        row = {"bias": bias, "group": group, "term": term, "kind": "word", "case": "any"}
        remaining = pd.concat([remaining, pd.DataFrame([row])], ignore_index=True)
    faults = {
        f"choose the group of {without!r}": without and without not in set(listed["term"]),
        f"{term!r} is in the list of another group": (same["group"] != group).any(),
        f"a term has at most {_LONGEST} characters": len(term) > _LONGEST,
        "a term has letters": term and not any(map(str.isalnum, term)),
        "a group needs a term": set(remaining["group"]) != set(listed["group"]),
    }
    ContractError.refuse(bias, [fault for fault, is_there in faults.items() if is_there])
    sentences, matches = annotate.annotate(read.texts, remaining)
    grouped = corpus.grouped(sentences, matches, lexicon=remaining)
    return read._replace(sentences=grouped, matches=matches, lexicon=remaining)


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
            left = table["n"] - table["lost"]
            estimate = (table["total"] / table["n"]).round(12)
            without = ((table["total"] + table[group]) / left.where(left > 0)).round(12)
            of = {"estimate": estimate, "without": without, "change": without - estimate}
            parts.append(table.assign(bias=bias, group=group, n_without=left, **of))
    columns = [*_CLAIM, "term", "estimate", "n", "without", "change", "n_without"]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def _count_terms(units: pd.DataFrame, read: Read, bias: str) -> pd.DataFrame:
    """Count each term in the texts of each unit that has it: `unit`, `term`, `group`, `h`, `o`."""
    matches = read.matches.loc[read.matches["bias"] == bias, ["text_id", "group", "term"]]
    matches = matches.astype({"group": str, "term": str})
    article = [*CELL, "article_id"]
    texts = read.usable.merge(units[article].reset_index(names="unit"), on=article)
    sides = {side: texts[["unit", column]] for side, column in SIDES.items()}
    parts = [of.set_axis(["unit", "text_id"], axis=1).assign(side=s) for s, of in sides.items()]
    counted = pd.concat(parts).drop_duplicates().merge(matches, on="text_id")
    keys = ["unit", "term", "group", "side"]
    table = counted.groupby(keys, sort=False).size().unstack(fill_value=0)
    return table.reindex(columns=[*SIDES], fill_value=0).reset_index()
