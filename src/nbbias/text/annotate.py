"""Sentences, and the group words in them: the hot path of the news studies.

Each piece of text between spaces is tokenised once (`text.tokeniser`), and one pass over the
numbers of pieces finds sentences and group words (`text.spans`), for all biases. `text.plain` does
the same by spaCy alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from nbbias.tables import map_chunks
from nbbias.tables.stages import digest
from nbbias.text.tokens import starts

if TYPE_CHECKING:
    from nbbias.text.spans import Terms

_WORD = re.compile(r"[^\W\d_]+")

MATCH_COLUMNS = ["text_id", "sentence_id", "bias", "group", "term", "kind", "start", "end"]
SENTENCE_COLUMNS = ["text_id", "sentence_id", "start", "end"]


def annotate(texts: pd.Series, lexicon: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Split texts into sentences and find every group word in them.

    Parameters
    ----------
    texts
        Texts by a unique index, best of small integers, since it stands in every row of what is
        found; missing ones have no sentences. Equal texts are read once.
    lexicon
        The expanded terms of one or more biases (`text.lexicons.expand`): `bias`, `group`,
        `term`, `kind`, `case`.

    Returns
    -------
    sentences : DataFrame
        `text_id` (the index of `texts`), `sentence_id` (0, 1, … in a text), and the
        sentence's `start` and `end` as character positions (int32).
    matches : DataFrame
        One row per group word: the sentence it stands in, its `bias`, `group`, `term` and
        `kind` (categories), and its `start` and `end` in the text. Where matches of one bias
        overlap the longest counts, once; a match never crosses a sentence boundary.

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
    known = texts.dropna().astype(str)
    number, distinct = pd.factorize(known)
    found = map_chunks(_rows, pd.Series(distinct), args=(lexicon,))
    # Texts that stand twice get the rows of the one that was read.
    places = [
        _spread(np.concatenate(rows), number, len(distinct)) for rows in zip(*found, strict=True)
    ]
    tables = [
        {
            "text_id": known.index[text],
            "sentence_id": rows[:, 1],
            "start": rows[:, -2],
            "end": rows[:, -1],
        }
        for text, rows in places
    ]
    terms, matches = _terms(lexicon), places[1][1]
    named = {"bias": pd.Series(terms.biases, dtype=object).iloc[matches[:, 2]]}
    for at, name in enumerate(["group", "term", "kind"]):
        told = pd.Series([one[at] for one in terms.found], dtype=object)
        named[name] = told.astype("category").iloc[matches[:, 3]]
    tables[1] |= {name: of.astype("category").array for name, of in named.items()}
    return (
        pd.DataFrame(tables[0], columns=SENTENCE_COLUMNS),
        pd.DataFrame(tables[1], columns=MATCH_COLUMNS),
    )


def _rows(texts: pd.Series, lexicon: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return sentences (text, number, start, end) and matches (text, sentence, bias, term, …)."""
    from nbbias.text import plain, spans, tokeniser  # load spaCy

    own = texts.tolist()
    terms = _terms(lexicon)
    codes, begins = tokeniser.encoded(own)
    codes[np.isin(codes, list(plain.STRAIGHT))] = ord("'")
    split = tokeniser.split(codes, begins[:-1], begins[1:])
    read, doubts = tokeniser.read(split, split.strings(codes))
    found = spans.find(split, read, terms, begins[:-1])
    if len(doubts):
        again = plain.search([own[i] for i in doubts], terms.matchers)
        found = spans.Found(*map(_replaced, found, terms.rows(*again), [doubts, doubts]))
    for rows in found:
        rows[:, 0] += texts.index.min() if len(own) else 0
    return found.sentences, found.matches


def _replaced(rows: np.ndarray, again: np.ndarray, doubts: np.ndarray) -> np.ndarray:
    """Put the rows of texts that were read the plain way in place of the others."""
    again[:, 0] = doubts[again[:, 0]]
    both = np.concatenate([rows[~np.isin(rows[:, 0], doubts)], again])
    return both[np.argsort(both[:, 0], kind="stable")]


def _spread(rows: np.ndarray, number: np.ndarray, distinct: int) -> tuple[np.ndarray, np.ndarray]:
    """Return for every text in turn its place and the rows of the distinct one that it is."""
    counts = np.bincount(rows[:, 0], minlength=distinct)
    begins, sizes = starts(counts)[number], counts[number]
    upto = starts(sizes)
    at = np.repeat(begins - upto[:-1], sizes) + np.arange(upto[-1])
    return np.repeat(np.arange(len(number)), sizes), rows[at]


#: The terms of the last lexicon: chunks of a corpus are searched for the same ones.
_last: dict[str, Terms] = {}


def _terms(lexicon: pd.DataFrame) -> Terms:
    from nbbias.text import spans

    key = digest(lexicon)
    if key not in _last:
        _last.clear()
        _last[key] = spans.terms(lexicon)
    return _last[key]


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
        own.sample(min(per_group, len(own)), random_state=seed)
        for _, own in matches.groupby(["bias", "group"], sort=False)
    ]
    if not drawn:
        return context(texts, matches)
    return context(texts, pd.concat(drawn))


def vocabulary(texts: pd.Series) -> set[str]:
    """Return every word of some texts, in lower case."""
    return {word for text in texts.dropna() for word in _WORD.findall(text.lower())}
