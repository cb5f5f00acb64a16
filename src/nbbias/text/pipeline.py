"""Sentences, group words and lemmas of texts by spaCy: a blank language and its phrase matcher."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from nbbias.tables.packages import hide_package
from nbbias.tables.stages import digest

with hide_package("torch"):  # which takes a second and 200 MB, for models that are not loaded here
    import spacy
    from spacy.language import Language
    from spacy.lookups import Table, load_lookups
    from spacy.matcher import PhraseMatcher
    from spacy.tokens import Doc, Span
    from spacy.util import filter_spans

SENTENCE_COLUMNS = ["text", "sentence_id", "start", "end"]
MATCH_COLUMNS = ["text", "sentence_id", "bias", "group", "term", "kind", "start", "end"]

#: Typographic apostrophes, and the straight one that terms are written with.
STRAIGHT = {ord("\N{RIGHT SINGLE QUOTATION MARK}"): "'", ord("\N{LEFT SINGLE QUOTATION MARK}"): "'"}

#: What negates or narrows the descriptor that follows: "non white", "non-white", "off-white".
NON, DASHES = "non", ("-", "\N{EN DASH}")

_PIECE = re.compile(r"\S+")


@Language.component("blank_lines_end_sentences")
def _blank_lines_end_sentences(doc: Doc) -> Doc:
    """End a sentence at a blank line: a headline without a full stop is a sentence of its own."""
    for token in doc[:-1]:
        if token.is_space and token.text.count("\n") > 1:
            doc[token.i + 1].is_sent_start = True
            if token.i > 0:  # the blank line belongs to the sentence above it
                token.is_sent_start = False
    return doc


@cache
def load_pipeline(language: str = "en") -> Language:
    """Return spaCy's tokeniser of a language with a rule-based sentence splitter."""
    nlp = spacy.blank(language)
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("blank_lines_end_sentences")
    nlp.max_length = 10_000_000
    tokenizer: Any = nlp.tokenizer
    tokenizer.max_cache_size = 1_000_000  # by default 10,000 pieces, fewer than a corpus has
    return nlp


# --- sentences and group words ----------------------------------------------------------------


def annotate(texts: Iterable[str], lexicon: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Split texts into sentences and find every group word in them.

    Parameters
    ----------
    texts
        Texts, numbered from 0.
    lexicon
        Expanded terms of one or more biases, in the language of the texts (`language`, English
        by default).

    Returns
    -------
    sentences : DataFrame
        `text`, `sentence_id`, `start`, `end`.
    matches : DataFrame
        `text`, `sentence_id`, `bias`, `group`, `term`, `kind`, `start`, `end`.

    Examples
    --------
    >>> lexicon = pd.DataFrame({"bias": "b", "group": "g", "term": ["she"], "kind": "word",
    ...                         "case": "any"})
    >>> sentences, matches = annotate(["He ran. She sat."], lexicon)
    >>> sentences[["start", "end"]].to_numpy().tolist()
    [[0, 7], [8, 16]]
    >>> matches[["sentence_id", "term", "start", "end"]].to_numpy().tolist()
    [[1, 'she', 8, 11]]
    """
    matchers = load_matchers(lexicon)
    sentences: list[tuple[int, ...]] = []
    matches: list[tuple[int | str, ...]] = []
    flat = enumerate(map(flatten, texts))
    pairs = ((text, (number, places)) for number, (text, places) in flat)
    for doc, (number, places) in load_pipeline(_language(lexicon)).pipe(pairs, as_tuples=True):
        order = {}
        for sentence_id, sentence in enumerate(doc.sents):
            order[sentence.start] = sentence_id
            sentences.append((number, sentence_id, *_locate(sentence, places)))
        for bias, pair in matchers.items():
            for span, meaning in _find(doc, pair):
                sentence_id = order[span.sent.start]
                matches.append((number, sentence_id, bias, *meaning, *_locate(span, places)))
    whole = dict.fromkeys(SENTENCE_COLUMNS, "int32")
    return (
        pd.DataFrame(sentences, columns=SENTENCE_COLUMNS).astype(whole),
        pd.DataFrame(matches, columns=MATCH_COLUMNS).astype(whole),
    )


def _language(lexicon: pd.DataFrame) -> str:
    """Return the language of a list; terms that were added to one may lack it."""
    return str(next(iter(lexicon.get("language", pd.Series(dtype=object)).dropna()), "en"))


def flatten(text: str) -> tuple[str, list[int]]:
    """Write every gap as one space (a blank line as two line breaks), apostrophes straight.

    Phrases then match however a text is wrapped. Also return where each character of the flat
    text stands in the original.
    """
    pieces: list[str] = []
    places: list[int] = []
    for piece in _PIECE.finditer(text):
        if pieces:
            gap = text[places[-1] + 1 : piece.start()]
            joint = "\n\n" if gap.count("\n") > 1 else " "
            pieces.append(joint)
            places += [piece.start() - 1] * len(joint)
        pieces.append(piece.group())
        places += range(piece.start(), piece.end())
    return "".join(pieces).translate(STRAIGHT), places


def _locate(span: Span, places: list[int]) -> tuple[int, int]:
    """Return where a span of the flat text stands in the original."""
    return places[span.start_char], places[span.end_char - 1] + 1


Meaning = tuple[str, str, str]


#: A phrase matcher, and what its keys mean.
Matcher = tuple[PhraseMatcher, dict[int, Meaning]]

#: The matchers of the last lexicon by its hash: the chunks of a corpus have the same one.
_matchers: dict[str, dict[str, list[Matcher]]] = {}


def load_matchers(lexicon: pd.DataFrame) -> dict[str, list[Matcher]]:
    """Return the matchers of each bias of a lexicon, which take seconds to build."""
    key = digest(lexicon)
    if key not in _matchers:
        _matchers.clear()
        by_bias = lexicon.groupby("bias", sort=False)
        _matchers[key] = {str(bias): _build(terms) for bias, terms in by_bias}
    return _matchers[key]


def _build(terms: pd.DataFrame) -> list[Matcher]:
    """Build one matcher for the terms of a bias in any case, one for those whose case matters."""
    nlp = load_pipeline(_language(terms))
    matchers: list[Matcher] = []
    for case, attribute in (("any", "LOWER"), ("exact", "ORTH")):
        matcher, meanings = PhraseMatcher(nlp.vocab, attr=attribute), dict[int, Meaning]()
        for row in terms[terms["case"] == case].itertuples():
            key = f"{row.group}\t{row.term}"
            matcher.add(key, [nlp.make_doc(row.term.translate(STRAIGHT))])
            meanings[nlp.vocab.strings[key]] = (row.group, row.term, row.kind)
        if meanings:
            matchers.append((matcher, meanings))
    return matchers


def _find(doc: Doc, matchers: list[Matcher]) -> Iterator[tuple[Span, Meaning]]:
    """Yield the matches of one bias: the longest where several overlap, none across sentences."""
    matches: dict[tuple[int, int], Meaning] = {}
    for matcher, meanings in matchers:
        for key, start, end in matcher(doc):
            if meanings[key][2] != "descriptor" or not _is_negated(doc, start):
                matches[start, end] = meanings[key]
    spans = [doc[start:end] for start, end in matches]
    spans = [span for span in spans if span[0].sent.start == span[-1].sent.start]
    for span in filter_spans(spans):
        yield span, matches[span.start, span.end]


def _is_negated(doc: Doc, start: int) -> bool:
    """Tell "non-white teachers" from "white teachers"."""
    if start == 0:
        return False
    before = doc[start - 1]
    # A dash between clauses has spaces around it; a hyphen has none.
    tight = not before.whitespace_ and (start == 1 or not doc[start - 2].whitespace_)
    return before.lower_ == NON or (tight and before.lower_ in DASHES)


# --- lemmas -----------------------------------------------------------------------------------


def lemmatize(texts: Iterable[str]) -> pd.DataFrame:
    """Return the lemmas of the alphabetic tokens of texts.

    Returns
    -------
    DataFrame
        `text` (its number), `start` (of the token in the text), `lemma` (a category).

    Examples
    --------
    >>> table = lemmatize(["she left.", "mice!"])
    >>> table[["text", "start", "lemma"]].to_numpy().tolist()
    [[0, 0, 'she'], [0, 4, 'leave'], [1, 0, 'mouse']]
    """
    nlp = load_pipeline()
    rows = [
        (number, token.idx, token.orth)
        for number, text in enumerate(texts)
        for token in nlp.make_doc(text)
        if token.is_alpha
    ]
    number, start, word = np.array(rows, np.uint64).reshape(-1, 3).T
    codes, words = pd.factorize(word)
    spelling, lookup = [nlp.vocab.strings[int(orth)] for orth in words], _load_lemmas()
    lemmas = np.array([lookup.get(word, word) for word in spelling], dtype=object)
    of_words, distinct = pd.factorize(lemmas, sort=True)
    table = pd.DataFrame({"text": number.astype("int32"), "start": start.astype("int32")})
    return table.assign(lemma=pd.Categorical.from_codes(of_words[codes], distinct))


@cache
def _load_lemmas() -> Table:
    """Return spaCy's table of lemmas, which needs no context."""
    return load_lookups("en", ["lemma_lookup"]).get_table("lemma_lookup")
