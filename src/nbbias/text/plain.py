"""Texts read the plain way, each whole by spaCy: what `text.annotate` and `text.topics` must equal.

They read the texts here that the faster way is in doubt about, and the tests read all. Group words
are found by spaCy's phrase matcher on whole tokens, for all biases in the same pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

import pandas as pd
import spacy
from spacy.language import Language
from spacy.matcher import PhraseMatcher
from spacy.tokenizer import Tokenizer as Tokenizer  # type: ignore[import-not-found]
from spacy.tokens import Doc, Span
from spacy.util import filter_spans

_PIECE = re.compile(r"\S+")
STRAIGHT = {ord("\N{RIGHT SINGLE QUOTATION MARK}"): "'", ord("\N{LEFT SINGLE QUOTATION MARK}"): "'"}

#: What turns or narrows a descriptor that it stands before.
NON, DASHES = "non", ("-", "\N{EN DASH}")


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


def annotate(
    texts: Iterable[str], lexicon: pd.DataFrame
) -> tuple[list[tuple[int, ...]], list[tuple[int | str, ...]]]:
    """Split texts into sentences and find every group word in them.

    Returns
    -------
    list, list
        Sentences: the text's and the sentence's number, `start`, `end`. Matches: the text's and
        the sentence's number, `bias`, `group`, `term`, `kind`, `start`, `end`.
    """
    by_bias = lexicon.groupby("bias", sort=False)
    return search(texts, {str(bias): matchers(own) for bias, own in by_bias})


def search(
    texts: Iterable[str], found: dict[str, list[Matcher]]
) -> tuple[list[tuple[int, ...]], list[tuple[int | str, ...]]]:
    """Do as `annotate` with the matchers of every bias, which take seconds to build."""
    sentences: list[tuple[int, ...]] = []
    matches: list[tuple[int | str, ...]] = []
    flat = ((flatten(text), number) for number, text in enumerate(texts))
    read = pipeline().pipe(((one, (number, back)) for (one, back), number in flat), as_tuples=True)
    for doc, (number, back) in read:
        at = {sentence.start_char: i for i, sentence in enumerate(doc.sents)}
        sentences += [(number, i, *_place(one, back)) for i, one in enumerate(doc.sents)]
        for bias, pair in found.items():
            for span, found_as in _find(doc, pair):
                sentence = at[span.sent.start_char]
                matches.append((number, sentence, bias, *found_as, *_place(span, back)))
    return sentences, matches


def _place(span: Span, back: list[int]) -> tuple[int, int]:
    """Return where a span of the flat text stands in the original."""
    return back[span.start_char], back[span.end_char - 1] + 1


def flatten(text: str) -> tuple[str, list[int]]:
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
    return "".join(pieces).translate(STRAIGHT), back


Found = tuple[str, str, str]


class Matcher(NamedTuple):
    """A matcher by one attribute of tokens, what its keys mean, and the terms it was given."""

    matcher: PhraseMatcher
    meaning: dict[int, Found]
    attribute: str
    docs: list[Doc]


def matchers(terms: pd.DataFrame) -> list[Matcher]:
    """Build one matcher for terms in any case and one for those whose case matters."""
    nlp = pipeline()
    built: list[Matcher] = []
    for case, attribute in (("any", "LOWER"), ("exact", "ORTH")):
        own = terms[terms["case"] == case]
        if own.empty:
            continue
        matcher = PhraseMatcher(nlp.vocab, attr=attribute)
        meaning: dict[int, Found] = {}
        docs = [nlp.make_doc(term.translate(STRAIGHT)) for term in own["term"]]
        keys = zip(own["group"], own["term"], own["kind"], strict=True)
        for doc, (group, term, kind) in zip(docs, keys, strict=True):
            key = f"{group}\t{term}"
            matcher.add(key, [doc])
            meaning[nlp.vocab.strings[key]] = (group, term, kind)
        built.append(Matcher(matcher, meaning, attribute, docs))
    return built


def _find(doc: Doc, matchers: list[Matcher]) -> Iterator[tuple[Span, Found]]:
    found: dict[tuple[int, int], Found] = {}
    for matcher, meaning, *_ in matchers:
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
    return before.lower_ == NON or (tight and before.lower_ in DASHES)


def _in_one_sentence(span: Span) -> bool:
    return span[0].sent.start == span[-1].sent.start


# --- lemmas -----------------------------------------------------------------------------------


@cache
def _lookup() -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("lemmatizer", config={"mode": "lookup"})
    nlp.initialize()
    return nlp


def tokens(texts: Iterable[str]) -> list[list[str]]:
    """Return the lemmas of the alphabetical words of texts, which are in lower case."""
    read = pipeline().tokenizer
    found = [[token.text for token in read(text) if token.is_alpha] for text in texts]
    vocabulary = sorted({word for words in found for word in words})
    known = dict(zip(vocabulary, lemmas(vocabulary), strict=True))
    return [[known[word] for word in words] for words in found]


def lemmas(words: list[str]) -> list[str]:
    """Look words up in spaCy's table of lemmas; that needs no context."""
    nlp = _lookup()
    return [token.lemma_ for token in nlp.get_pipe("lemmatizer")(Doc(nlp.vocab, words))]
