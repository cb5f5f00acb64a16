"""The pairs behind an estimate: their differences, and human and generated texts side by side.

>>> import pandas as pd
>>> from nbbias import news
>>> key = {"source": "s", "model": "m", "prompt": "p", "measure": "sentiment", "reason": None}
>>> rows = [key | {"article_id": str(i), "pair_id": i, "difference_female": d}
...         for i, d in enumerate([0.1, -0.3])]
>>> news.explore.pairs.differences(pd.DataFrame(rows), group="female")["difference"].tolist()
[0.1, -0.3]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from nbbias import reading
from nbbias.news import claims, tone, topics, words
from nbbias.news.corpus import CELL, NEUTRAL, SENTENCE, Read
from nbbias.news.explore.interactive import show_controls
from nbbias.news.tone import Scored
from nbbias.reading import markup, names
from nbbias.tables import escape
from nbbias.text import lexicons

#: What a table of scores is of; of several instruments each has its own estimate.
CLAIM = ["measure", "bias", "instrument"]


class Corpus(NamedTuple):
    """What a reader looks into: the pairs' scores of some levels, their texts, their sentences."""

    scores: Sequence[pd.DataFrame]
    read: Read
    scored: Scored | None = None


def leading(listed: pd.DataFrame, focus: Mapping[str, str]) -> dict[str, str]:
    """Return the claim of the first measure and bias, about the group in focus."""
    first = listed[(listed[CLAIM] == listed.iloc[0][CLAIM]).all(axis=1)]
    wanted = first[first["group"] == focus.get(first["bias"].iloc[0])]
    return dict((wanted if len(wanted) else first).iloc[0])


# --- what an estimate is of ---------------------------------------------------------------------


def list_claims(scores: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """List what can be traced to pairs: `measure`, `bias`, `instrument`, `group`."""
    rows = []
    for table in scores:
        for key, subset in table.groupby(CLAIM, sort=False):
            columns = [c for c in subset if c.startswith("difference_") and subset[c].notna().any()]
            rows += [(*key, column.removeprefix("difference_")) for column in columns]
    return pd.DataFrame(rows, columns=[*CLAIM, "group"])


def differences_of(scores: Sequence[pd.DataFrame], claim: Mapping[str, str]) -> pd.DataFrame:
    """Return the differences behind one row of `list_claims`."""
    chosen = ((table[CLAIM] == [claim[key] for key in CLAIM]).all(axis=1) for table in scores)
    parts = [table[rows] for table, rows in zip(scores, chosen, strict=True) if rows.any()]
    return differences(parts[0], group=claim["group"])


def differences(scores: pd.DataFrame, *, group: str) -> pd.DataFrame:
    """Return the signed differences of a group whose means the estimates are.

    Parameters
    ----------
    scores
        SCORES of one measure, bias and instrument.
    group
        The group whose difference is meant.

    Returns
    -------
    DataFrame
        By cell and `article_id`: `pair_id` (of repeated answers, which are one unit, the first) and
        `difference` (answer minus original; mean over fits of topics). Pairs that do not count have
        no row.
    """
    column = f"difference_{group}"
    groups = [name.removeprefix("difference_") for name in scores if name.startswith("difference_")]
    groups = [name for name in groups if scores[f"difference_{name}"].notna().any()]
    pooling = {"word": words.pooling(groups), "document": topics.POOLING}
    measure = scores["measure"].iloc[0] if len(scores) else ""
    units = claims.per_article(scores, pooling.get(measure, tone.POOLING))
    units = units[units[column].notna() & units["reason"].isna()]
    of_articles = units.groupby([*CELL, "article_id"], sort=False)
    return of_articles.agg(pair_id=("pair_id", "first"), difference=(column, "mean")).reset_index()


# --- two texts --------------------------------------------------------------------------------

#: Numbers of pairs to choose from (largest differences first), and of characters shown.
_CHOICES, _CUT = 500, 10_000


def choose(corpus: Corpus, *, focus: Mapping[str, str]) -> None:
    """Choose a pair, in an open notebook, and see its texts with group words and scores marked.

    Parameters
    ----------
    corpus
        Scores of one level or several, and what they were made from.
    focus
        The group of a bias that leads; the first where none is named.
    """
    listed = list_claims(corpus.scores)
    if listed.empty:
        return
    keys = ["source", "article_id", "model"]
    usable = corpus.read.pairs[corpus.read.pairs["lost"].isna()]
    order = differences_of(corpus.scores, leading(listed, focus))
    order = order.sort_values("difference", key=abs, ascending=False, kind="stable")
    pairs = order[keys].drop_duplicates().head(_CHOICES).itertuples(index=False, name=None)

    def show(pair: tuple[str, ...] | None, estimate: int) -> str:
        if pair is None:
            return markup.note("Choose a pair. Its texts may hold what harms.")
        claim = listed.iloc[estimate].to_dict()
        both = (differences_of(corpus.scores, claim), usable)
        rows, pairs_of_article = (table[(table[keys] == list(pair)).all(axis=1)] for table in both)
        writers = pairs_of_article["model"] + ", " + pairs_of_article["prompt"]
        answers = zip(writers, pairs_of_article["generated_id"], strict=True)
        texts = [("Human", pairs_of_article["original_id"].iloc[0]), *answers]
        legend = markup.legend(lexicons.groups(corpus.read.lexicon, claim["bias"]))
        table = markup.table(rows[["model", "prompt", "difference"]])
        return legend + table + sides(corpus, claim, texts, cut=_CUT)

    named = listed.assign(group=listed["group"].map(names.people))
    labels = named[["group", "measure", "instrument"]].agg(", ".join, axis=1)
    estimates = [(label, at) for at, label in enumerate(labels)]
    choices = [("none", None), *((", ".join(pair), pair) for pair in pairs)]
    show_controls(show, pair=choices, estimate=estimates)


def sides(
    corpus: Corpus, claim: Mapping[str, str], texts: Sequence[tuple[str, int]], *, cut: int
) -> str:
    """Return texts beside each other as HTML, each below its name, with the groups' words marked.

    Parameters
    ----------
    corpus, claim
        What is shown, and which bias and instrument are meant.
    texts
        Name and number of each text.
    cut
        Characters of a text, at most.
    """
    scores = sentence_scores(corpus, claim, [text for _, text in texts])
    return markup.sides(
        [(name, _text(corpus.read, claim["bias"], text, scores, cut)) for name, text in texts]
    )


def sentence_scores(corpus: Corpus, claim: Mapping[str, str], texts: Sequence[int]) -> pd.DataFrame:
    """Return the sentences of some texts for a claim's bias, with their group and scores.

    Returns
    -------
    DataFrame
        Rows of `read.sentences`, and `sentiment` and `toxicity` where they were measured: with a
        claim about sentiment by its own instrument, else by the first.
    """
    sentences = corpus.read.sentences
    sentences = sentences[(sentences["bias"] == claim["bias"]) & sentences["text_id"].isin(texts)]
    sentences = sentences.sort_values(["text_id", "start"], kind="stable")
    if corpus.scored is None:
        return sentences
    listed = corpus.scored.measured
    if claim["measure"] == "sentiment":
        same = listed["instrument"] == claim["instrument"]
        listed = listed[same | (listed["measure"] == "toxicity")]
    named = listed.drop_duplicates("measure").set_index("column")["measure"]
    scores = corpus.scored.sentences[[*SENTENCE, *named.index]].rename(columns=dict(named))
    return sentences.merge(scores, on=SENTENCE, how="left")


def _text(read: Read, bias: str, text_id: int, scores: pd.DataFrame, cut: int) -> str:
    text, matches = read.texts[text_id], read.matches
    here = matches[(matches["text_id"] == text_id) & (matches["bias"] == bias)]
    groups = lexicons.groups(read.lexicon, bias)
    end = min(cut, len(text))
    parts, at = [], 0
    for row in scores[scores["text_id"] == text_id].to_dict("records"):
        if row["end"] > end:
            break
        parts.append(markup.marked(text, here, groups, start=at, end=row["end"]))
        measured = [name for name in ("sentiment", "toxicity") if pd.notna(row.get(name))]
        values = [f"{name} {reading.number(row[name], decimals=2)}" for name in measured]
        if row["group"] != NEUTRAL and values:
            badge = " · ".join([escape.html(row["group"]), *values])
            parts.append(f'<wbr><span class="x-score">{badge}</span>')
        at = row["end"]
    parts.append(markup.marked(text, here, groups, start=at, end=end))
    if end < len(text):
        parts.append(f'<span class="x-soft"> … {len(text) - end:,} characters more</span>')
    return "".join(parts)
