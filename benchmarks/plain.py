"""The plain ways: what everyone would write first, by the libraries themselves.

Each is an oracle as well: what the package finds must be equal, or as near as its row says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import spacy
from spacy.language import Language
from spacy.matcher import PhraseMatcher
from spacy.tokens import Doc, Span
from spacy.util import filter_spans

_STRAIGHT = {ord("\N{RIGHT SINGLE QUOTATION MARK}"): "'", ord("\N{LEFT SINGLE QUOTATION MARK}"): "'"}

# --- sentences and group words ----------------------------------------------------------------


@cache
def splitter() -> Language:
    """Return spaCy's tokeniser and sentence splitter; a blank line ends a sentence, too."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.max_length = 10_000_000
    return nlp


def sentences_and_matches(
    texts: pd.Series, lexicon: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Split texts by spaCy, and find group words by its matcher, text by text.

    Returns
    -------
    sentences, matches : DataFrame
        As of `text.annotate.annotate`.
    """
    matchers = {bias: _matchers(own) for bias, own in lexicon.groupby("bias", sort=False)}
    sentences, matches = [], []
    for text_id, text in texts.items():
        flat, back = _flatten(text)
        doc = splitter()(flat)
        for token in doc[:-1]:
            if token.text.count("\n") > 1:
                doc[token.i + 1].is_sent_start = True
                if token.i > 0:
                    token.is_sent_start = False
        at = {}
        for number, span in enumerate(doc.sents):
            at[span.start_char] = number
            sentences.append((text_id, number, *_place(span, back)))
        for bias, own in matchers.items():
            for span, found in _found(doc, own):
                place = at[span.sent.start_char], bias, *found, *_place(span, back)
                matches.append((text_id, *place))
    places = ["text_id", "sentence_id"]
    found_columns = [*places, "bias", "group", "term", "kind", "start", "end"]
    return (
        pd.DataFrame(sentences, columns=[*places, "start", "end"]),
        pd.DataFrame(matches, columns=found_columns),
    )


def _place(span: Span, back: Sequence[int]) -> tuple[int, int]:
    return back[span.start_char], back[span.end_char - 1] + 1


def _flatten(text: str) -> tuple[str, list[int]]:
    """Write gaps as one space, blank lines as two breaks; say where each character stood."""
    pieces: list[str] = []
    back: list[int] = []
    for found in re.finditer(r"\S+", text):
        if pieces:
            gap = text[back[-1] + 1 : found.start()]
            joint = "\n\n" if gap.count("\n") > 1 else " "
            pieces.append(joint)
            back += [found.start() - 1] * len(joint)
        pieces.append(found.group())
        back += range(found.start(), found.end())
    return "".join(pieces).translate(_STRAIGHT), back


def _matchers(terms: pd.DataFrame) -> list[tuple[PhraseMatcher, dict[int, tuple[str, str, str]]]]:
    nlp, built = splitter(), []
    for case, attribute in (("any", "LOWER"), ("exact", "ORTH")):
        matcher, meaning = PhraseMatcher(nlp.vocab, attr=attribute), {}
        for row in terms[terms["case"] == case].itertuples():
            key = f"{row.group}\t{row.term}"
            matcher.add(key, [nlp.make_doc(row.term.translate(_STRAIGHT))])
            meaning[nlp.vocab.strings[key]] = (row.group, row.term, row.kind)
        built.append((matcher, meaning))
    return built


def _found(doc: Doc, matchers: Any) -> Iterable[tuple[Span, tuple[str, str, str]]]:
    """Yield what matches within one sentence; of what overlaps the longest."""
    found = {}
    for matcher, meaning in matchers:
        for key, start, end in matcher(doc):
            if not (meaning[key][2] == "descriptor" and _is_negated(doc, start)):
                found[start, end] = meaning[key]
    spans = [doc[start:end] for start, end in found]
    for span in filter_spans([one for one in spans if one[0].sent.start == one[-1].sent.start]):
        yield span, found[span.start, span.end]


def _is_negated(doc: Doc, start: int) -> bool:
    if start == 0:
        return False
    before = doc[start - 1]
    tight = not before.whitespace_ and (start == 1 or not doc[start - 2].whitespace_)
    return before.lower_ == "non" or (tight and before.lower_ in {"-", "\N{EN DASH}"})


# --- words ------------------------------------------------------------------------------------


@cache
def lemmatiser() -> Language:
    """Return spaCy's tokeniser with the lemmas of its table."""
    nlp = spacy.blank("en")
    nlp.add_pipe("lemmatizer", config={"mode": "lookup"})
    nlp.initialize()
    nlp.max_length = 10_000_000
    return nlp


def lemmas(texts: pd.Series) -> pd.Series:
    """Return each text's lemmas: of its alphabetical tokens, in lower case."""
    nlp = lemmatiser()
    found = [[t.lemma_ for t in doc if t.is_alpha] for doc in nlp.pipe(texts.str.lower())]
    return pd.Series(found, index=texts.index, dtype=object)


# --- tone -------------------------------------------------------------------------------------


def textblob(texts: Iterable[str]) -> np.ndarray:
    """Return each text's polarity and what TextBlob assessed of it."""
    from textblob import TextBlob

    found = (TextBlob(text).sentiment_assessments for text in texts)
    return np.array([(one.polarity, len(one.assessments)) for one in found])


def vader(texts: Iterable[str]) -> np.ndarray:
    """Return each text's compound score, and how many of its words VADER knows."""
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer, SentiText

    analyzer = SentimentIntensityAnalyzer()
    rows = []
    for text in texts:
        words = SentiText(text).words_and_emoticons
        known = sum(word.lower() in analyzer.lexicon for word in words)
        rows.append((analyzer.polarity_scores(text)["compound"], known))
    return np.array(rows)


def profanity(texts: Sequence[str], *, batch: int = 32) -> np.ndarray:
    """Return each text's probability of being offensive, some texts at a time."""
    from profanity_check import predict_prob

    texts = list(texts)
    parts = [predict_prob(texts[i : i + batch]) for i in range(0, len(texts), batch)]
    return np.concatenate(parts)


# --- topics -----------------------------------------------------------------------------------


def bags(tokens: pd.Series, *, no_below: int = 5) -> tuple[Any, list[Any]]:
    """Return gensim's dictionary of some texts, and their bags of words."""
    from gensim.corpora import Dictionary

    dictionary = Dictionary(tokens)
    dictionary.filter_extremes(no_below=no_below, no_above=1.0, keep_n=None)
    return dictionary, [bow for bow in map(dictionary.doc2bow, tokens) if bow]


def lda(tokens: pd.Series, *, workers: int | None = None, **settings: Any) -> Any:
    """Fit topics by LdaModel, or by LdaMulticore with some workers."""
    from gensim.models import LdaModel, LdaMulticore

    dictionary, bows = bags(tokens)
    if workers:
        return LdaMulticore(bows, id2word=dictionary, workers=workers, **settings)
    return LdaModel(bows, id2word=dictionary, **settings)


def same_model(topics: Any) -> Any:
    """Return gensim's own LdaModel with the topics and the fixed start of one of ours."""
    from gensim.models import LdaModel

    own = topics.model
    model = LdaModel(
        id2word=topics.dictionary, num_topics=own.num_topics, alpha=own.alpha, eta=own.eta
    )
    model.state.sstats = own.state.sstats
    model.sync_state()
    model.random_state = own.random_state
    return model


def largest_topics(model: Any, dictionary: Any, tokens: pd.Series) -> np.ndarray:
    """Give each sentence its largest topic by `get_document_topics`; -1 without a known word."""
    found = []
    for words in tokens:
        bow = dictionary.doc2bow(words)
        shares = model.get_document_topics(bow, minimum_probability=0) if bow else [(-1, 1.0)]
        found.append(max(shares, key=lambda one: one[1])[0])
    return np.array(found)


# --- chance and models ------------------------------------------------------------------------


def expected_differences(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return what `stats.expected_differences` does, by scipy's probabilities: 4 by pairs by groups."""
    from scipy.stats import hypergeom

    n, m = first.sum(axis=1), second.sum(axis=1)
    found = np.empty((4, *first.shape))
    known: dict[tuple[int, int, int], Any] = {}
    for pair, group in np.ndindex(*first.shape):
        key = int(n[pair]), int(m[pair]), int(first[pair, group] + second[pair, group])
        if key not in known:
            a, b, k = key
            x = np.arange(max(0, k - b), min(a, k) + 1)
            p = hypergeom.pmf(x, a + b, k, a)
            d = x / a - (k - x) / b
            down = x * b < (k - x) * a
            known[key] = p @ np.abs(d), p[down].sum(), p[down] @ d[down], p[k > x].sum()
        found[:, pair, group] = known[key]
    return found


def mixed_model(scores: pd.DataFrame, *, value: str) -> pd.DataFrame:
    """Fit a random intercept for every article by statsmodels; models against the first."""
    from statsmodels.formula.api import mixedlm

    spread = scores[value].std()
    data = pd.DataFrame({"y": scores[value] / spread, "model": scores["model"].astype(str)})
    model = mixedlm("y ~ C(model)", data, groups=scores["article_id"].astype(str))
    found = model.fit(reml=True, method="powell")
    both = {"estimate": found.fe_params * spread, "error": found.bse_fe * spread}
    return pd.DataFrame(both).reset_index(drop=True)
