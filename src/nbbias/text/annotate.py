"""Sentences, and the group words in them: the hot path of the news studies.

Texts are tokenised once by spaCy (a blank English pipeline with the rule-based
sentence splitter, so nothing is downloaded). Group words are found by spaCy's
phrase matcher on whole tokens, for all biases in the same pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import pandas as pd
import spacy
from spacy.language import Language
from spacy.matcher import PhraseMatcher
from spacy.tokens import Doc, Span
from spacy.util import filter_spans

from nbbias.tables import stage

_WORD = re.compile(r"[^\W\d_]+")

_PIECE = re.compile(r"\S+")
_STRAIGHT = {
    ord("\N{RIGHT SINGLE QUOTATION MARK}"): "'",
    ord("\N{LEFT SINGLE QUOTATION MARK}"): "'",
}

MATCH_COLUMNS = ["text_id", "sentence_id", "bias", "group", "term", "kind", "start", "end"]
SENTENCE_COLUMNS = ["text_id", "sentence_id", "start", "end"]


@Language.component("blank_lines_end_sentences")
def _blank_lines_end_sentences(doc: Doc) -> Doc:
    """A headline without a full stop is no part of the sentence below it."""
    for token in doc[:-1]:
        if token.text.count("\n") > 1:
            doc[token.i + 1].is_sent_start = True
            if token.i > 0:  # the blank line itself belongs to what stands above it
                token.is_sent_start = False
    return doc


@cache
def pipeline() -> Language:
    """Return the tokeniser and sentence splitter."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("blank_lines_end_sentences")
    nlp.max_length = 10_000_000
    return nlp


@stage
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
        sentence's `start` and `end` as character positions.
    matches : DataFrame
        One row per group word: the sentence it stands in, its `bias`, `group`, `term` and
        `kind`, and its `start` and `end` in the text. Where matches of one bias overlap the
        longest counts, once; a match never crosses a sentence boundary.

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
    distinct = known.drop_duplicates()
    matchers = {bias: _matchers(own) for bias, own in lexicon.groupby("bias", sort=False)}
    sentences: list[tuple[Any, ...]] = []
    matches: list[tuple[Any, ...]] = []
    flat = ((_flatten(text), first) for first, text in distinct.items())
    read = pipeline().pipe(((one, (first, back)) for (one, back), first in flat), as_tuples=True)
    for doc, (first, back) in read:
        at = {sentence.start_char: i for i, sentence in enumerate(doc.sents)}
        sentences += [(first, i, *_place(one, back)) for i, one in enumerate(doc.sents)]
        for bias, pair in matchers.items():
            for span, found_as in _find(doc, pair):
                sentence = at[span.sent.start_char]
                matches.append((first, sentence, bias, *found_as, *_place(span, back)))
    found = pd.DataFrame(sentences, columns=SENTENCE_COLUMNS)
    hits = pd.DataFrame(matches, columns=MATCH_COLUMNS)
    # Texts that stand twice get the rows of the one that was read.
    first_of = pd.Series(distinct.index, index=distinct.to_numpy())
    twins = pd.DataFrame({"text_id": known.index, "first": first_of[known].to_numpy()})
    return _spread(found, twins), _spread(hits, twins)


def _place(span: Span, back: list[int]) -> tuple[int, int]:
    """Return where a span of the flat text stands in the original."""
    return back[span.start_char], back[span.end_char - 1] + 1


def _flatten(text: str) -> tuple[str, list[int]]:
    """Write every gap as one space (a blank line as two breaks), apostrophes straight.

    Phrases then match however a text is wrapped. Also returned: where each character of the flat
    text stands in the original.
    """
    pieces: list[str] = []
    back: list[int] = []
    for found in _PIECE.finditer(text):
        if pieces:
            gap = text[back[-1] + 1 : found.start()]
            joint = "\n\n" if gap.count("\n") > 1 else " "
            pieces.append(joint)
            back += [found.start() - 1] * len(joint)
        pieces.append(found.group())
        back += range(found.start(), found.end())
    return "".join(pieces).translate(_STRAIGHT), back


def _spread(rows: pd.DataFrame, twins: pd.DataFrame) -> pd.DataFrame:
    spread = twins.merge(rows.rename(columns={"text_id": "first"}), on="first", how="inner")
    return spread.drop(columns="first")[list(rows.columns)]


Found = tuple[str, str, str]
Matchers = list[tuple[PhraseMatcher, dict[int, Found]]]


def _matchers(terms: pd.DataFrame) -> Matchers:
    """Build one matcher for terms in any case and one for those whose case matters."""
    nlp = pipeline()
    built: Matchers = []
    for case, attribute in (("any", "LOWER"), ("exact", "ORTH")):
        own = terms[terms["case"] == case]
        if own.empty:
            continue
        matcher = PhraseMatcher(nlp.vocab, attr=attribute)
        meaning: dict[int, Found] = {}
        docs = (nlp.make_doc(term.translate(_STRAIGHT)) for term in own["term"])
        keys = zip(own["group"], own["term"], own["kind"], strict=True)
        for doc, (group, term, kind) in zip(docs, keys, strict=True):
            key = f"{group}\t{term}"
            matcher.add(key, [doc])
            meaning[nlp.vocab.strings[key]] = (group, term, kind)
        built.append((matcher, meaning))
    return built


def _find(doc: Doc, matchers: Matchers) -> Iterator[tuple[Span, Found]]:
    found: dict[tuple[int, int], Found] = {}
    for matcher, meaning in matchers:
        for key, start, end in matcher(doc):
            if not (meaning[key][2] == "descriptor" and _is_negated(doc, start)):
                found[start, end] = meaning[key]
    spans = [span for start, end in found if (span := doc[start:end]) and _in_one_sentence(span)]
    for span in filter_spans(spans):
        yield span, found[span.start, span.end]


def _is_negated(doc: Doc, start: int) -> bool:
    """Tell "non-white teachers" from "white teachers": a prefix turns or narrows the descriptor."""
    if start == 0:
        return False
    before = doc[start - 1]
    # A dash between clauses stands apart; a hyphen stands tight.
    tight = not before.whitespace_ and (start == 1 or not doc[start - 2].whitespace_)
    return before.lower_ == "non" or (tight and before.lower_ in {"-", "\N{EN DASH}"})


def _in_one_sentence(span: Span) -> bool:
    return span[0].sent.start == span[-1].sent.start


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
