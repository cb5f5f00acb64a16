"""`text.pipeline` for large corpora: each distinct piece between spaces is tokenised once.

spaCy's tokeniser reads what stands between spaces without regard to what stands around it, so the
tokens of a corpus are those of its distinct pieces. One thing reaches across a space: a rule such
as ":(" also matches ": (", where it may hide another rule. Texts in which that could happen are
read by `text.pipeline`. Sentences follow spaCy's sentencizer, group words its phrase matcher.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from spacy.tokenizer import Tokenizer  # type: ignore[import-not-found]
from spacy.util import filter_spans

from nbbias.text import pipeline

#: A piece, or a gap with a blank line in it, which is a token of its own.
_PIECE = re.compile(r"\S+|\n\s*\n\s*")
_BLANK = "\n\n"

_ATTRIBUTES = ["ORTH", "LOWER", "IDX", "LENGTH", "IS_PUNCT", "IS_ALPHA"]
_COLUMNS = [*_ATTRIBUTES, "IS_END", "IS_DASH", "IS_NON"]
_MEANING = ["group", "term", "kind"]


# --- tokens -----------------------------------------------------------------------------------


class Tokens(NamedTuple):
    """Tokens of texts, one after the other.

    `text`: its number; `start`, `end`: the token's place in it; `row`: the token's row in `kinds`,
    with its spelling and attributes (`_COLUMNS`); `space`: a space follows it.
    """

    text: np.ndarray
    start: np.ndarray
    end: np.ndarray
    row: np.ndarray
    space: np.ndarray
    kinds: pd.DataFrame


class _Pieces:
    """The distinct pieces that were tokenised so far in this process.

    `kinds`: their tokens, end to end; `first`: the first row of each piece, and the end; `edges`:
    the first and the last token of each piece by the tokeniser without its special cases.
    """

    def __init__(self) -> None:
        nlp: Any = pipeline.load_pipeline()
        self.tokenizer, strings = nlp.tokenizer, nlp.vocab.strings
        self.bare = Tokenizer(
            nlp.vocab,
            prefix_search=self.tokenizer.prefix_search,
            suffix_search=self.tokenizer.suffix_search,
            infix_finditer=self.tokenizer.infix_finditer,
            url_match=self.tokenizer.url_match,
        )
        ends = nlp.get_pipe("sentencizer").punct_chars
        marks = [ends, pipeline.DASHES, [pipeline.NON]]
        self.marks = [np.array([strings.add(word) for word in words], np.uint64) for words in marks]
        #: Neighbouring tokens that a special case may join, the left ones by the right ones.
        pairs = {
            pair
            for case in self.tokenizer.rules
            for pair in pairwise(token.orth for token in self.bare(case))
        }
        self.joined = pd.crosstab(*zip(*sorted(pairs), strict=True)).astype(bool)
        self.numbers: defaultdict[str, int] = defaultdict()
        self.numbers.default_factory = self.numbers.__len__
        blank = dict.fromkeys(_COLUMNS, 0) | {"ORTH": strings.add(_BLANK), "LENGTH": len(_BLANK)}
        self.numbers[_BLANK]
        self.kinds = pd.DataFrame([blank | {"LOWER": blank["ORTH"]}]).astype(np.uint64)
        self.first = np.array([0, 1])
        self.edges = np.zeros((1, 2), np.uint64)

    def read(self, pieces: list[str]) -> np.ndarray:
        """Number pieces; new ones are tokenised."""
        before = len(self.numbers)
        numbers = np.fromiter(map(self.numbers.__getitem__, pieces), np.int32, len(pieces))
        new = list(self.numbers)[before:]
        if new:
            kinds, sizes = self._tokenize(new, self.tokenizer)
            self.kinds = pd.concat([self.kinds, kinds], ignore_index=True)
            self.first = np.append(self.first, self.first[-1] + np.cumsum(sizes))
            bare, sizes = self._tokenize(new, self.bare)
            orth, last = bare["ORTH"].to_numpy(), np.cumsum(sizes)
            edges = np.column_stack([orth[last - sizes], orth[last - 1]])
            self.edges = np.concatenate([self.edges, edges])
        return numbers

    def may_join(self, numbers: np.ndarray) -> np.ndarray:
        """Return for each piece but the last whether a special case may join it to the next."""
        left = self.joined.index.get_indexer(self.edges[:, 1])[numbers[:-1]]
        right = self.joined.columns.get_indexer(self.edges[:, 0])[numbers[1:]]
        return (left >= 0) & (right >= 0) & self.joined.to_numpy()[left, right]

    def _tokenize(self, pieces: list[str], tokenizer: Any) -> tuple[pd.DataFrame, np.ndarray]:
        """Return the tokens of pieces, and how many each piece has."""
        array = tokenizer(_BLANK.join(pieces)).to_array(_ATTRIBUTES)
        table = pd.DataFrame(array, columns=_ATTRIBUTES)
        lengths = np.array([len(piece) for piece in pieces])
        begins = np.append(0, np.cumsum(lengths + len(_BLANK)))[:-1]
        start = table["IDX"].to_numpy(np.int64)
        piece = np.searchsorted(begins, start, side="right") - 1
        table["IDX"] = (start - begins[piece]).astype(np.uint64)
        keys = ("ORTH", "LOWER", "LOWER")
        for name, marks, key in zip(_COLUMNS[-3:], self.marks, keys, strict=True):
            table[name] = table[key].isin(marks).astype(np.uint64)
        inside = start - begins[piece] < lengths[piece]  # not a blank line between two pieces
        return table[inside], np.bincount(piece[inside], minlength=len(pieces))


_load_pieces = cache(_Pieces)


def _tokenize(texts: list[str]) -> tuple[Tokens, list[int]]:
    """Return the tokens of texts, and the numbers of the texts that spaCy has to read itself."""
    cached = _load_pieces()
    words: list[str] = []
    places: list[tuple[int, int]] = []
    sizes = []
    for text in texts:
        pieces = list(_PIECE.finditer(text))
        pieces = pieces[bool(pieces and pieces[0][0].isspace()) :]
        pieces = pieces[: len(pieces) - bool(pieces and pieces[-1][0].isspace())]
        words += [_BLANK if piece[0].isspace() else piece[0] for piece in pieces]
        places += [piece.span() for piece in pieces]
        sizes.append(len(pieces))
    numbers = cached.read(words)
    of_text = np.repeat(np.arange(len(texts), dtype=np.int32), sizes)
    begin, end = np.array(places, dtype=np.int32).reshape(-1, 2).T
    within = of_text[:-1] == of_text[1:]
    counts = np.diff(cached.first)[numbers]
    upto = np.append(0, np.cumsum(counts))
    row = np.repeat(cached.first[numbers] - upto[:-1], counts) + np.arange(upto[-1])
    start = np.repeat(begin, counts) + cached.kinds["IDX"].to_numpy(np.int32)[row]
    stop = start + cached.kinds["LENGTH"].to_numpy(np.int32)[row]
    blank = numbers == 0
    stop[upto[:-1][blank]] = end[blank]
    space = np.zeros(len(row), dtype=bool)
    space[upto[1:-1] - 1] = within & ~blank[:-1] & ~blank[1:]
    tokens = Tokens(np.repeat(of_text, counts), start, stop, row, space, cached.kinds)
    return tokens, np.unique(of_text[:-1][within & cached.may_join(numbers)]).tolist()


# --- sentences and group words ----------------------------------------------------------------


def annotate(texts: list[str], lexicon: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Do as `text.pipeline.annotate`.

    Examples
    --------
    >>> lexicon = pd.DataFrame({"bias": "b", "group": "g", "term": ["she"], "kind": "word",
    ...                         "case": "any"})
    >>> annotate(["He ran. She sat."], lexicon)[1][["sentence_id", "start"]].to_numpy().tolist()
    [[1, 8]]
    """
    tokens, doubtful = _tokenize([text.translate(pipeline.STRAIGHT) for text in texts])
    sentence = _sentences(tokens)
    first = np.flatnonzero(np.diff(sentence, prepend=-1))
    last = np.append(first[1:], len(sentence))[: len(first)] - 1
    text = tokens.text[first]
    # Sentences are numbered within their text.
    number = np.arange(len(first)) - np.searchsorted(text, text)
    sentences = np.column_stack([text, number, tokens.start[first], tokens.end[last]])
    matches = [pd.DataFrame(columns=pipeline.MATCH_COLUMNS)]
    for bias, matchers in pipeline.load_matchers(lexicon).items():
        table = _find(tokens, sentence, matchers).assign(bias=bias)
        begin, end = table["start"].to_numpy(int), table["end"].to_numpy(int) - 1
        places = {"text": tokens.text[begin], "sentence_id": number[sentence[begin]]}
        places |= {"start": tokens.start[begin], "end": tokens.end[end]}
        matches.append(table.assign(**places)[pipeline.MATCH_COLUMNS])
    tables = pipeline.as_tables(sentences, pd.concat(matches))
    again = pipeline.annotate([texts[at] for at in doubtful], lexicon)
    return _replace(tables[0], again[0], doubtful), _replace(tables[1], again[1], doubtful)


def _replace(table: pd.DataFrame, again: pd.DataFrame, numbers: list[int]) -> pd.DataFrame:
    """Put the rows of texts that spaCy read itself in place of those that were made here."""
    again = again.assign(text=np.array(numbers, "int32")[again["text"]])
    both = pd.concat([table[~table["text"].isin(numbers)], again])
    return both.sort_values("text", kind="stable", ignore_index=True)


def _sentences(tokens: Tokens) -> np.ndarray:
    """Number the sentences of all texts, by token, as spaCy's sentencizer does.

    A sentence starts at the first token after a full stop that is no punctuation, at a text's
    first token, and after a blank line.
    """
    kinds, row = tokens.kinds, tokens.row
    ends = kinds["IS_END"].to_numpy(bool)[row]
    blank = row == 0
    word = ~kinds["IS_PUNCT"].to_numpy(bool)[row] & ~ends
    begins = np.append(True, np.diff(tokens.text) != 0)[: len(row)]
    begins[1:] |= blank[:-1]
    # A full stop counts from the word before it on, and within its text or paragraph.
    stops = np.cumsum(ends)
    before = np.maximum.accumulate(np.where(word | begins, stops - ends, 0))
    previous = np.append(0, before[:-1])[: len(row)]
    begins |= word & ~blank & (stops > previous)
    return np.cumsum(begins) - 1


def _find(tokens: Tokens, sentence: np.ndarray, matchers: list[pipeline.Matcher]) -> pd.DataFrame:
    """Find the matches of one bias: their tokens from `start` to `end`, group, term and kind."""
    parts = []
    for matcher in matchers:
        words, edges, meanings = _trie(matcher)
        codes = words.get_indexer(tokens.kinds[matcher.attribute].to_numpy())[tokens.row]
        codes = np.append(codes, -1)  # no word stands behind the last
        start, state, depth = np.flatnonzero(codes >= 0), 0, 0
        while len(start) or not depth:
            code = codes[start + depth]
            edge = edges.get_indexer(state * len(words) + code)
            reached = (edge >= 0) & (code >= 0)
            start, state, depth = start[reached], edge[reached] + 1, depth + 1
            within = sentence[start] == sentence[start + depth - 1]
            ends = pd.DataFrame({"start": start, "end": start + depth, "state": state})[within]
            parts.append(ends.merge(meanings, on="state"))
    rows = pd.concat(parts, ignore_index=True)
    negated = (rows["kind"] == "descriptor") & _is_negated(tokens, rows["start"].to_numpy())
    rows = rows[~negated].drop_duplicates(["start", "end"], keep="last")
    longest: Any = filter_spans(rows.itertuples(index=False))
    return pd.DataFrame(longest, columns=rows.columns)


@lru_cache(maxsize=64)
def _trie(matcher: pipeline.Matcher) -> tuple[pd.Index, pd.Index, pd.DataFrame]:
    """Return the words of phrases, the edges of their prefix tree, and what its states mean.

    The edge at place i, (state times the number of words) plus the word's place, leads from a
    state to the state i + 1.
    """
    phrases = {
        meaning: phrase.to_array(matcher.attribute).tolist()
        for meaning, phrase in matcher.phrases.values()
    }
    words = pd.Index(sorted(set().union(*phrases.values())), dtype=np.uint64)
    place = {word: at for at, word in enumerate(words)}
    edges: dict[int, int] = {}
    meanings = {}
    for meaning, phrase in phrases.items():
        state = 0
        for word in phrase:
            state = edges.setdefault(state * len(words) + place[word], len(edges) + 1)
        meanings[state] = (state, *meaning)
    return words, pd.Index(edges), pd.DataFrame(meanings.values(), columns=["state", *_MEANING])


def _is_negated(tokens: Tokens, at: np.ndarray) -> np.ndarray:
    """Return for tokens whether a prefix such as "non-" stands before them, in their text."""
    text, space, kinds = tokens.text, tokens.space, tokens.kinds
    before, second = np.maximum(at - 1, 0), np.maximum(at - 2, 0)
    inside = (at > 0) & (text[before] == text[at])
    alone = (at < 2) | (text[second] != text[at])
    tight = ~space[before] & (alone | ~space[second])
    non, dash = (kinds[name].to_numpy(bool)[tokens.row[before]] for name in ("IS_NON", "IS_DASH"))
    return inside & (non | (tight & dash))


# --- lemmas -----------------------------------------------------------------------------------


def lemmatize(texts: list[str]) -> pd.DataFrame:
    """Do as `text.pipeline.lemmatize`.

    Examples
    --------
    >>> lemmatize(["she left.", "mice!"])["lemma"].tolist()
    ['she', 'leave', 'mouse']
    """
    tokens, doubtful = _tokenize(texts)
    alpha = tokens.kinds["IS_ALPHA"].to_numpy(bool)[tokens.row]
    word = tokens.kinds["ORTH"].to_numpy()[tokens.row[alpha]]
    table = pipeline.lemma_table(tokens.text[alpha], tokens.start[alpha], word)
    if not doubtful:
        return table
    table = _replace(table, pipeline.lemmatize(texts[at] for at in doubtful), doubtful)
    return table.assign(lemma=table["lemma"].astype("category"))
