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

from nbbias.text import pipeline

#: A piece, or a gap with a blank line in it, which is a token of its own.
_PIECE = re.compile(r"\S+|\n\s*\n\s*")
_BLANK = "\n\n"

#: Pieces that spaCy tokenises in one call.
_BATCH = 2000

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
        self.marks = [
            np.array([strings.add(word) for word in words], dtype=np.uint64)
            for words in (ends, pipeline.DASHES, [pipeline.NON])
        ]
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
        batches = [new[at : at + _BATCH] for at in range(0, len(new), _BATCH)]
        parts = [self._tokenize(batch, self.tokenizer) for batch in batches]
        if parts:
            self.kinds = pd.concat([self.kinds, *(kinds for kinds, _ in parts)], ignore_index=True)
            sizes = np.concatenate([np.diff(self.first), *(sizes for _, sizes in parts)])
            self.first = np.append(0, np.cumsum(sizes))
            edges = [self._edges(batch) for batch in batches]
            self.edges = np.concatenate([self.edges, *edges])
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
        for name, marks, key in zip(
            _COLUMNS[-3:], self.marks, ("ORTH", "LOWER", "LOWER"), strict=True
        ):
            table[name] = table[key].isin(marks).astype(np.uint64)
        inside = start - begins[piece] < lengths[piece]  # not a blank line between two pieces
        return table[inside], np.bincount(piece[inside], minlength=len(pieces))

    def _edges(self, pieces: list[str]) -> np.ndarray:
        table, sizes = self._tokenize(pieces, self.bare)
        last = np.cumsum(sizes)
        orth = table["ORTH"].to_numpy()
        return np.column_stack([orth[last - sizes], orth[last - 1]])


@cache
def _cached_pieces() -> _Pieces:
    return _Pieces()


def _tokenize(texts: list[str]) -> tuple[Tokens, list[int]]:
    """Return the tokens of texts, and the numbers of the texts that spaCy has to read itself."""
    cached = _cached_pieces()
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
    tokens, doubtful = _tokenize([_straighten(text) for text in texts])
    sentence = _sentences(tokens)
    first = np.flatnonzero(np.diff(sentence, prepend=-1))
    last = np.append(first[1:], len(sentence))[: len(first)] - 1
    text = tokens.text[first]
    # Sentences are numbered within their text.
    number = np.arange(len(first)) - np.searchsorted(text, text)
    sentences = np.column_stack([text, number, tokens.start[first], tokens.end[last]])
    matches = []
    for bias, matchers in pipeline.load_matchers(lexicon).items():
        table = _find(tokens, sentence, matchers).assign(bias=bias)
        at, stop = table["at"].to_numpy(), table["stop"].to_numpy() - 1
        places = {"text": tokens.text[at], "sentence_id": number[sentence[at]]}
        places |= {"start": tokens.start[at], "end": tokens.end[stop]}
        matches.append(table.assign(**places))
    rows = pd.concat(matches)[pipeline.MATCH_COLUMNS] if matches else []
    tables = pipeline.as_tables(sentences, rows)
    again = pipeline.annotate([texts[at] for at in doubtful], lexicon)
    return _replace(tables[0], again[0], doubtful), _replace(tables[1], again[1], doubtful)


def _straighten(text: str) -> str:
    for code, straight in pipeline.STRAIGHT.items():  # many times as fast as `str.translate`
        text = text.replace(chr(code), straight)
    return text


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
    """Find the matches of one bias: their tokens from `at` to `stop`, group, term and kind."""
    parts = []
    for matcher in matchers:
        words, edges, meanings = _trie(matcher)
        codes = words.get_indexer(tokens.kinds[matcher.attribute].to_numpy())[tokens.row]
        codes = np.append(codes, -1)  # no word stands behind the last
        at, state, depth = np.flatnonzero(codes >= 0), 0, 0
        while len(at) or not depth:
            code = codes[at + depth]
            edge = edges.get_indexer(state * len(words) + code)
            reached = (edge >= 0) & (code >= 0)
            at, state, depth = at[reached], edge[reached] + 1, depth + 1
            within = sentence[at] == sentence[at + depth - 1]
            reached_rows = pd.DataFrame({"at": at, "state": state})[within]
            parts.append(reached_rows.merge(meanings, on="state").assign(stop=lambda t: t["at"]))
            parts[-1]["stop"] += depth
    rows = pd.concat(parts, ignore_index=True)
    negated = (rows["kind"] == "descriptor") & _is_negated(tokens, rows["at"].to_numpy())
    return _longest(rows[~negated].drop_duplicates(["at", "stop"], keep="last"), len(sentence))


@lru_cache(maxsize=64)
def _trie(matcher: pipeline.Matcher) -> tuple[pd.Index, pd.Index, pd.DataFrame]:
    """Return the words of phrases, the edges of their prefix tree, and what its states mean.

    The edge at place i, (state times the number of words) plus the word's place, leads from a
    state to the state i + 1.
    """
    phrases = [phrase.to_array(matcher.attribute).tolist() for phrase in matcher.phrases]
    words = pd.Index(sorted({word for phrase in phrases for word in phrase}), dtype=np.uint64)
    place = {word: at for at, word in enumerate(words)}
    edges: dict[int, int] = {}
    rows = {}
    for phrase, doc in zip(phrases, matcher.phrases, strict=True):
        state = 0
        for word in phrase:
            state = edges.setdefault(state * len(words) + place[word], len(edges) + 1)
        # Where two groups have one term, the last match of spaCy's counts.
        rows[state] = [
            (state, *matcher.meanings[key])
            for key, start, end in matcher.matcher(doc)
            if end - start == len(doc)
        ]
    meanings = [row for listed in rows.values() for row in listed]
    return words, pd.Index(edges), pd.DataFrame(meanings, columns=["state", *_MEANING])


def _is_negated(tokens: Tokens, at: np.ndarray) -> np.ndarray:
    """Return for tokens whether a prefix such as "non-" stands before them, in their text."""
    text, space, kinds = tokens.text, tokens.space, tokens.kinds
    before, second = np.maximum(at - 1, 0), np.maximum(at - 2, 0)
    inside = (at > 0) & (text[before] == text[at])
    alone = (at < 2) | (text[second] != text[at])
    tight = ~space[before] & (alone | ~space[second])
    non, dash = (kinds[name].to_numpy(bool)[tokens.row[before]] for name in ("IS_NON", "IS_DASH"))
    return inside & (non | (tight & dash))


def _longest(rows: pd.DataFrame, n_tokens: int) -> pd.DataFrame:
    """Keep the longest of overlapping matches; of equally long ones the first."""
    length = rows["stop"] - rows["at"]
    order = rows.assign(length=-length).sort_values(["length", "at"])
    free, chosen = np.ones(n_tokens, dtype=bool), []
    for index, at, stop in zip(order.index, order["at"], order["stop"], strict=True):
        if free[at] and free[stop - 1]:
            free[at:stop] = False
            chosen.append(index)
    return rows.loc[chosen].sort_values("at")


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
