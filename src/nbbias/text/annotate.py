"""Sentences, and the group words in them, as tables."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pandas as pd

from nbbias.text.distinct import read_distinct


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
    sentences, matches = read_distinct(texts, "nbbias.text.pipeline:annotate", lexicon)
    return sentences, matches.astype(dict.fromkeys(["bias", "group", "term", "kind"], "category"))


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
    # "İ" alone has two letters in lower case; without its dot, places stay what they are.
    lower = texts.dropna().astype(str).str.replace("İ", "I").str.lower()
    return read_distinct(lower, "nbbias.text.pipeline:lemmatize")[0]


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
    """Show matches in their context: `left`, `match`, `right`, with what was matched.

    Parameters
    ----------
    texts
        Texts by id.
    matches
        Matches, as `annotate` returns them.
    width
        Characters shown on each side.
    """
    rows = []
    for row in matches.itertuples():
        text = texts[row.text_id]
        left, right = text[max(0, row.start - width) : row.start], text[row.end : row.end + width]
        # No part of a word.
        left = left if row.start <= width else f"… {left.partition(' ')[2] or left}"
        right = right if row.end + width >= len(text) else f"{right.rpartition(' ')[0] or right} …"
        left, right = (re.sub(r"\s+", " ", side) for side in (left, right))
        rows.append((row.group, left.lstrip(), text[row.start : row.end], right.rstrip()))
    return pd.DataFrame(rows, columns=["group", "left", "match", "right"])
