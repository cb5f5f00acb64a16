"""Sentences, and the group words in them, as tables."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib import import_module
from typing import Any

import pandas as pd

from nbbias.text.accelerate import is_worth
from nbbias.text.distinct import read_distinct

_WORD = re.compile(r"[^\W\d_]+")

SENTENCE_COLUMNS = ["text_id", "sentence_id", "start", "end"]
MATCH_COLUMNS = ["text_id", "sentence_id", "bias", "group", "term", "kind", "start", "end"]


def annotate(texts: pd.Series, lexicon: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Split texts into sentences and find every group word in them.

    Parameters
    ----------
    texts
        Texts by a unique index; missing ones have no sentences. Equal texts are read once.
    lexicon
        The expanded terms of one or more biases (`text.lexicons.expand`): `bias`, `group`,
        `term`, `kind`, `case`.

    Returns
    -------
    sentences : DataFrame
        `text_id` (the index of `texts`), `sentence_id` (0, 1, … in a text), and the
        sentence's `start` and `end` as character positions (int32).
    matches : DataFrame
        One row per group word: its sentence, `bias`, `group`, `term` and `kind` (categories), and
        its `start` and `end` in the text. Of overlapping matches of one bias only the longest
        counts; a match never crosses a sentence boundary.

    Examples
    --------
    >>> from nbbias import text
    >>> texts = pd.Series(["She met her son. He left."])
    >>> sentences, matches = text.annotate.annotate(texts, text.lexicons.load("gender"))
    >>> sentences[["start", "end"]].to_numpy().tolist()
    [[0, 16], [17, 25]]
    >>> matches[["sentence_id", "group", "term"]].to_numpy().tolist()
    [[0, 'female', 'she'], [0, 'female', 'her'], [0, 'male', 'son'], [1, 'male', 'he']]
    """
    fast = _is_large(texts)
    sentences, matches = read_distinct(texts, _annotate_chunk, lexicon, fast)
    categories = dict.fromkeys(["bias", "group", "term", "kind"], "category")
    return sentences[SENTENCE_COLUMNS], matches[MATCH_COLUMNS].astype(categories)


def _annotate_chunk(
    texts: pd.Series, lexicon: pd.DataFrame, fast: bool
) -> tuple[pd.DataFrame, pd.DataFrame]:
    sentences, matches = _reader(fast).annotate(texts.tolist(), lexicon)
    return _number(sentences, texts), _number(matches, texts)


def _number(table: pd.DataFrame, texts: pd.Series) -> pd.DataFrame:
    """Number texts as the corpus does, of which they are a chunk."""
    first = texts.index[0] if len(texts) else 0
    return table.assign(text=(table["text"] + first).astype("int32"))


def _reader(fast: bool) -> Any:
    """Return the module that reads texts by spaCy, loaded where it is needed."""
    return import_module("nbbias.fast.tokens" if fast else "nbbias.text.pipeline")


def lemmatize(texts: pd.Series) -> pd.DataFrame:
    """Split texts into lemmas.

    Parameters
    ----------
    texts
        Texts by a unique index; a missing text has no tokens. Equal texts are read once.

    Returns
    -------
    DataFrame
        One row per alphabetic token, in order: `text_id` (the index of `texts`), `start` (its
        place in the text) and `lemma` (a category, in lower case). Stop words are kept, as in
        Fang et al. (2024). Lemmas are looked up in spaCy's table, without regard to the part of
        speech ("left" is always "leave").

    Examples
    --------
    >>> lemmatize(pd.Series(["Cats chased mice.", None]))["lemma"].tolist()
    ['cat', 'chase', 'mouse']
    """
    return read_distinct(texts, _lemmatize_chunk, _is_large(texts))[0]


def _lemmatize_chunk(texts: pd.Series, fast: bool) -> tuple[pd.DataFrame]:
    # "İ" alone has two letters in lower case; without its dot, places stay what they are.
    lower = texts.str.replace("İ", "I").str.lower()
    return (_number(_reader(fast).lemmatize(lower.tolist()), texts),)


def _is_large(texts: pd.Series) -> bool:
    return is_worth("tokens", size=int(texts.dropna().astype(str).str.len().sum()))


def count(matches: pd.DataFrame, *, by: list[str], groups: Iterable[str]) -> pd.DataFrame:
    """Count group words: one row per unit that has any, a column ``n_<group>`` per group.

    Parameters
    ----------
    matches
        The matches of one bias.
    by
        ``["text_id"]`` for texts, ``["text_id", "sentence_id"]`` for sentences.
    groups
        The bias's groups; one that never occurs gets a column of zeros.
    """
    table = matches.groupby([*by, "group"]).size().unstack("group", fill_value=0)
    return table.reindex(columns=list(groups), fill_value=0).add_prefix("n_").reset_index()


def context(texts: pd.Series, matches: pd.DataFrame, *, width: int = 60) -> pd.DataFrame:
    """Show matches in their context: `left`, `match`, `right`, with what was matched."""
    rows = []
    for row in matches.itertuples():
        text = texts[row.text_id]
        rows.append(
            {
                "group": row.group,
                "left": " ".join(text[max(0, row.start - width) : row.start].split()),
                "match": text[row.start : row.end],
                "right": " ".join(text[row.end : row.end + width].split()),
            }
        )
    return pd.DataFrame(rows, columns=["group", "left", "match", "right"])


def sample_context(
    texts: pd.Series, matches: pd.DataFrame, *, per_group: int, seed: int
) -> pd.DataFrame:
    """Draw a few matches of every bias and group, with their context, to look at by eye."""
    drawn = [
        part.sample(min(per_group, len(part)), random_state=seed)
        for _, part in matches.groupby(["bias", "group"], sort=False)
    ]
    if not drawn:
        return context(texts, matches)
    return context(texts, pd.concat(drawn))


def vocabulary(texts: pd.Series) -> set[str]:
    """Return every word of some texts, in lower case."""
    return {word for text in texts.dropna() for word in _WORD.findall(text.lower())}
