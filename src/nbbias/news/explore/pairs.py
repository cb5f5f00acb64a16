"""The pairs behind an estimate: their differences, and human and generated texts side by side.

>>> import pandas as pd
>>> from nbbias import news
>>> key = {"measure": "sentiment", "bias": "b", "instrument": "i", "statistic": "mean_difference"}
>>> key |= {"source": "s", "model": "m", "prompt": "p", "group": "female"}
>>> units = pd.DataFrame([key | {"unit": i, "value": d} for i, d in (("1", 0.1), ("2", -0.3))])
>>> news.explore.pairs.differences(units, {"group": "female"})["difference"].tolist()
[0.1, -0.3]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from nbbias.news.corpus import CELL, NEUTRAL, SENTENCE, Read
from nbbias.news.explore.interactive import show_controls
from nbbias.news.tone import Scored
from nbbias.reading import markup, names, number
from nbbias.tables import escape
from nbbias.text import lexicons

#: Keys of an estimate; each instrument has its own.
CLAIM = ["study", "measure", "bias", "instrument", "statistic", "group"]

#: The statistics whose values are differences of two texts.
STATISTICS: tuple[str, ...] = ("share_difference", "share_difference_change")
STATISTICS += ("difference_beyond_neutral", "mean_difference", "mean_difference_change")


class Corpus(NamedTuple):
    """What a reader looks into: UNITS of a study, its texts, and their sentences' scores."""

    units: pd.DataFrame
    read: Read
    scored: Scored | None = None


def list_claims(units: pd.DataFrame) -> pd.DataFrame:
    """List what can be traced to pairs, by `CLAIM`."""
    rows = units[units["statistic"].isin(STATISTICS)]
    return rows[CLAIM].drop_duplicates(ignore_index=True)


def choose_claim(listed: pd.DataFrame, focus: Mapping[str, str]) -> dict[str, Any]:
    """Return the claim of the first measure and bias, about the group in focus."""
    first = listed[(listed[CLAIM[:-1]] == listed.iloc[0][CLAIM[:-1]]).all(axis=1)]
    wanted = first[first["group"] == focus.get(first["bias"].iloc[0])]
    return dict((wanted if len(wanted) else first).iloc[0])


def differences(units: pd.DataFrame, claim: Mapping[str, Any]) -> pd.DataFrame:
    """Return the values behind an estimate, by cell and `article_id`: `difference`."""
    rows = units[(units[[*claim]] == pd.Series(claim)).all(axis=1)]
    names = {"unit": "article_id", "value": "difference"}
    return rows[[*CELL, *names]].rename(columns=names)


# --- two texts --------------------------------------------------------------------------------

#: Numbers of pairs to choose from (largest differences first), and of characters shown.
_CHOICES, _CUT = 500, 10_000


def choose(corpus: Corpus, *, focus: Mapping[str, str]) -> None:
    """Choose a pair, in an open notebook, and see its texts with group words and scores marked.

    Parameters
    ----------
    corpus
        UNITS, and what they were made from.
    focus
        The group of a bias that leads; the first where none is named.
    """
    listed = list_claims(corpus.units)
    if listed.empty:
        return
    keys = ["source", "article_id", "model"]
    order = differences(corpus.units, choose_claim(listed, focus))
    order = order.sort_values("difference", key=abs, ascending=False, kind="stable")
    pairs = order[keys].drop_duplicates().head(_CHOICES).itertuples(index=False, name=None)

    def show(pair: tuple[str, ...] | None, estimate: int) -> str:
        if pair is None:
            return markup.note("Choose a pair. Its texts may hold what harms.")
        claim = listed.iloc[estimate].to_dict()
        both = (differences(corpus.units, claim), corpus.read.usable)
        rows, pairs_of_article = (table[(table[keys] == list(pair)).all(axis=1)] for table in both)
        writers = pairs_of_article["model"] + ", " + pairs_of_article["prompt"]
        answers = zip(writers, pairs_of_article["generated_id"], strict=True)
        texts = [("Human", pairs_of_article["original_id"].iloc[0]), *answers]
        legend = markup.legend(lexicons.groups(corpus.read.lexicon, claim["bias"]))
        table = markup.table(rows[["model", "prompt", "difference"]])
        return legend + table + sides(corpus, claim, texts, cut=_CUT)

    rows = listed.assign(group=listed["group"].map(names.people))
    labels = rows[["group", "measure", "statistic", "instrument"]].agg(", ".join, axis=1)
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
    marked = [(name, _text(corpus.read, claim["bias"], text, scores, cut)) for name, text in texts]
    return markup.sides(marked)


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
    columns = listed.drop_duplicates("measure").set_index("column")["measure"]
    scores = corpus.scored.sentences[[*SENTENCE, *columns.index]].rename(columns=dict(columns))
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
        values = [f"{name} {number(row[name], decimals=2)}" for name in measured]
        if row["group"] != NEUTRAL and values:
            badge = " · ".join([escape.html(row["group"]), *values])
            parts.append(f'<wbr><span class="x-score">{badge}</span>')
        at = row["end"]
    parts.append(markup.marked(text, here, groups, start=at, end=end))
    if end < len(text):
        parts.append(f'<span class="x-soft"> … {len(text) - end:,} characters more</span>')
    return "".join(parts)
