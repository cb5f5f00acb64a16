"""What sets a model's texts about a group apart from human articles, without a list of words?

Words, and a direction of sentence embeddings, are chosen on one half of the articles (discovery)
and tested on the other (confirmation), so that the choice has no effect on the tests.

>>> halve(["a", "b", "c", "d"], seed=1)
array([ True,  True, False, False])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer

from nbbias import tables
from nbbias.news import claims
from nbbias.news.claims import Row
from nbbias.news.corpus import ARTICLE, CELL, NEUTRAL, SENTENCE, SIDES, Read, distinct_sentences
from nbbias.stats.estimate import Estimate
from nbbias.stats.intervals import ROUNDING, all_alike
from nbbias.text import embeddings, lexicons

#: What is tested, each a family: single words, and a direction of embeddings.
FAMILIES = ("word_rate_difference_beyond_others", "direction_difference_beyond_others")

#: Words that are tested, by source, model, prompt and bias; and words that are read at most.
TESTED, VOCABULARY = 5, 3000

#: Articles that must differ in a word, and whose two texts must name the group, or another one.
FEWEST = 5

#: Sentences that are shown of a row.
SHOWN = 3

DIRECTION = "direction of embeddings"

_FEW = f"fewer than {FEWEST} articles have sentences about the group, or others, that differ"

Matrix: TypeAlias = csr_array | np.ndarray
Groups: TypeAlias = Sequence[str]


class Shifts(NamedTuple):
    """Answer minus original by article, of a group's sentences and of those about other groups."""

    group: pd.DataFrame
    others: pd.DataFrame


class Chosen(NamedTuple):
    """A word or direction: its shifts on the second half, and every sentence's value."""

    group: str
    name: str
    second: Shifts
    values: np.ndarray


def halve(articles: Sequence[Any], *, seed: int) -> np.ndarray:
    """Draw the half of the articles on which words and directions are chosen: True."""
    return np.random.default_rng(seed).permutation(len(articles)) < len(articles) // 2


def estimate(
    read: Read, *, model: str = embeddings.AUTO, device: str = "cpu", seed: int, confidence: float
) -> tuple[tables.Estimated, pd.DataFrame]:
    """Choose words and directions on half of the articles, and test them on the other half.

    Parameters
    ----------
    read
        What `news.annotate` returned.
    model, device
        As in `text.embeddings.embed`, of sentences.
    seed
        Start of the draw of the halves.
    confidence
        Level of the intervals.

    Returns
    -------
    (Estimated, DataFrame)
        ESTIMATES and UNITS of the measure ``discovery`` by `statistic`, over articles of the second
        half; exploratory. `dimension` names the word.

        - ``word_rate_difference_beyond_others``: share of the group's sentences that hold the word,
          answer minus original, minus the same of the other groups' sentences (-2 to 2; above 0:
          the answers' sentences about this group hold it more often). The `TESTED` words with the
          largest absolute *t* on the first half; words of the lists and stop words are left out.
        - ``direction_difference_beyond_others``: the same of the sentences' positions on the
          direction in which these differences of mean embeddings point on the first half (-4 to 4;
          above 0: the answers differ in the second half as they do in the first).

        *t* test of `beyond_others`; `p_adjusted` is Holm's over all rows of a statistic. Of a bias
        with two groups one is tested, since the other is its mirror image.

        The DataFrame has the sentences that show a row: its keys, `text_id` and `sentence_id`, at
        most `SHOWN` of the second half about the group, one a text. They are of the answers where
        the estimate is above 0 (`side` ``"h"``), else of the originals (``"o"``); they hold the
        word, or lie furthest on the direction.
    """
    articles = read.pairs[ARTICLE].drop_duplicates().sort_values(ARTICLE)
    halves = articles.assign(first=halve(articles.to_numpy(), seed=seed))
    pairs = read.usable.merge(halves, on=ARTICLE)
    first = pairs.loc[pairs["first"], [*SIDES.values()]].to_numpy().ravel()
    text, instruments = distinct_sentences(read), ("words", embeddings.instrument(model))
    rows: list[Row] = []
    shown: list[Row] = []
    for bias, sentences in read.sentences.groupby("bias", sort=False, observed=True):
        sentences = sentences[sentences["group"] != NEUTRAL].reset_index(drop=True)
        texts = text.loc[pd.MultiIndex.from_frame(sentences[SENTENCE])].tolist()
        words = _mark_words(texts, sentences["text_id"].isin(first).to_numpy(), read)
        vectors = embeddings.embed(texts, model=model, device=device)
        groups = lexicons.groups(read.lexicon, str(bias))
        groups = groups if len(groups) > 2 else groups[:1]  # the second is its mirror image
        for keys, cell in claims.cells(pairs, None):
            chosen = choose_words(*words, sentences, cell, groups)
            chosen += [_direction(vectors, sentences, cell, group) for group in groups]
            for item in chosen:
                key = keys | {"measure": "discovery", "bias": bias, "group": item.group}
                key |= {"statistic": FAMILIES[item.name == DIRECTION], "dimension": item.name}
                row = confirm(item.second, confidence=confidence)
                rows.append(key | row | {"instrument": instruments[item.name == DIRECTION]})
                shown += [key | of for of in _quoted(item, sentences, cell, sign=row["estimate"])]
    result = claims.tested(rows, FAMILIES, confidence=confidence)
    columns = [*CELL, "bias", "group", "statistic", "dimension", "side", *SENTENCE]
    return result, pd.DataFrame(shown, columns=columns)


# --- words and directions ---------------------------------------------------------------------


def _mark_words(docs: Sequence[str], first: np.ndarray, read: Read) -> tuple[csr_array, np.ndarray]:
    """Return which words sentences hold: words of the first half that no list names."""
    listed = {word for term in read.lexicon["term"].str.lower() for word in term.split()}
    options = {"token_pattern": r"[^\W\d_]{3,}", "min_df": 2 * FEWEST, "max_features": VOCABULARY}
    counter = CountVectorizer(binary=True, stop_words="english", **options)
    try:
        counter.fit([sentence for sentence, half in zip(docs, first, strict=True) if half])
    except ValueError:  # no sentence, or nothing but stop words
        return csr_array((len(docs), 0)), np.array([], dtype=str)
    names = counter.get_feature_names_out()
    unlisted = [at for at, name in enumerate(names) if name not in listed]
    return csr_array(counter.transform(docs), dtype=float)[:, unlisted], names[unlisted]


def shifts(features: Matrix, sentences: pd.DataFrame, pairs: pd.DataFrame, group: str) -> Shifts:
    """Return by article how the mean features of sentences differ, answer minus original.

    Parameters
    ----------
    features
        Sentences by features, such as whether they hold a word.
    sentences
        Of each sentence `text_id` and `group`.
    pairs
        Of each pair `article_id`, `generated_id` and `original_id`; repeated answers to an article
        are averaged.
    group
        Whose sentences are compared; the others are about other groups.

    Examples
    --------
    >>> sentences = pd.DataFrame({"text_id": [0, 0, 1, 1], "group": ["a", "b", "a", "b"]})
    >>> pairs = pd.DataFrame({"article_id": ["x"], "generated_id": [1], "original_id": [0]})
    >>> features = np.array([[0.0], [1.0], [1.0], [1.0]])
    >>> [float(part.iloc[0, 0]) for part in shifts(features, sentences, pairs, "a")]
    [1.0, 0.0]
    """
    parts = []
    about = (sentences["group"] == group).to_numpy()
    for chosen in (about, ~about):
        texts, means = _means(features[chosen], sentences["text_id"].to_numpy()[chosen])
        places = [texts.get_indexer(pairs[side]) for side in SIDES.values()]
        both = np.minimum(*places) >= 0
        answer, original = (means[place[both]] for place in places)
        articles, change = _means(answer - original, pairs["article_id"].to_numpy()[both])
        change = change.toarray() if isinstance(change, csr_array) else change
        parts.append(pd.DataFrame(change, articles))
    return Shifts(*parts)


def _means(rows: Matrix, names: np.ndarray) -> tuple[pd.Index, Matrix]:
    """Return the names of rows, each once, and the mean of the rows of each."""
    codes, index = pd.factorize(names, sort=True)
    weights = 1 / np.bincount(codes)[codes], (codes, np.arange(len(codes)))
    return pd.Index(index), csr_array(weights, shape=(len(index), len(codes))) @ rows


def beyond_others(changes: Shifts) -> pd.DataFrame | None:
    """Return by article and feature values whose mean is the group's mean shift minus the others'.

    Parameters
    ----------
    changes
        Of `shifts`. Many articles have both; the values of an article are added up, so that it is
        the unit, as in a variance that is robust to clusters.

    Returns
    -------
    DataFrame or None
        None where fewer than `FEWEST` articles have shifts of the group, or of others.
    """
    if min(map(len, changes)) < FEWEST:
        return None
    articles = changes.group.index.union(changes.others.index)
    influence = [(part - part.mean()) * len(articles) / len(part) for part in changes]
    group, others = (part.reindex(articles, fill_value=0.0) for part in influence)
    return group - others + (changes.group.mean() - changes.others.mean())


def confirm(changes: Shifts, *, confidence: float) -> Row:
    """Test one feature: *t* over articles, its degrees of freedom those of the smaller sample."""
    values = beyond_others(changes)
    if values is None:
        return {**Estimate(reason=_FEW, n=0).row(), "null": 0.0}
    of = values.iloc[:, 0]
    result = Estimate(float(of.mean()), n=len(of), null=0.0, test="t over articles, linearized")
    if _differ(changes).iloc[0] < FEWEST or all_alike(of.to_numpy()):
        return result.without_test(_FEW).row()
    error, df = float(of.sem()), min(map(len, changes)) - 1
    result = result.with_t_interval(error, df, confidence=confidence).with_t_test(error, df)
    return {**result.row(), "values": of}


def _differ(changes: Shifts) -> pd.Series:
    """Return by feature the number of shifts that are not 0."""
    group, others = ((part.abs() > ROUNDING).sum() for part in changes)
    return group + others


def _halves(
    features: Matrix, sentences: pd.DataFrame, cell: pd.DataFrame, group: str
) -> tuple[Shifts, Shifts]:
    changes = shifts(features, sentences, cell, group)
    articles = (cell.loc[cell["first"] == of, "article_id"] for of in (True, False))
    first, second = (Shifts(*(part[part.index.isin(of)] for part in changes)) for of in articles)
    return first, second


def choose_words(
    words: csr_array, names: np.ndarray, sentences: pd.DataFrame, cell: pd.DataFrame, groups: Groups
) -> list[Chosen]:
    """Choose the words with the largest absolute *t* on the first half, of all groups together."""
    chosen = []
    for group in groups:
        first, second = _halves(words, sentences, cell, group)
        values = beyond_others(first)
        if values is not None:
            t = (values.mean() / values.sem()).abs()[_differ(first) >= 2 * FEWEST]
            for at, size in t.nlargest(TESTED).items():
                of, holds = Shifts(*(part[[at]] for part in second)), words[:, [at]].toarray()
                chosen.append((size, Chosen(group, names[at], of, holds[:, 0])))
    return [item for _, item in sorted(chosen, key=lambda pair: -pair[0])[:TESTED]]


def _direction(
    vectors: np.ndarray, sentences: pd.DataFrame, cell: pd.DataFrame, group: str
) -> Chosen:
    """Take the direction of the difference of mean vectors on the first half; 0 without one."""
    first, second = _halves(vectors, sentences, cell, group)
    values = beyond_others(first)
    direction = np.zeros(vectors.shape[1]) if values is None else values.mean().to_numpy()
    direction = direction / max(float(np.linalg.norm(direction)), ROUNDING)
    on = Shifts(*((part @ direction).to_frame() for part in second))
    return Chosen(group, DIRECTION, on, vectors @ direction)


def _quoted(item: Chosen, sentences: pd.DataFrame, cell: pd.DataFrame, *, sign: float) -> list[Row]:
    """Choose sentences about the group with the largest values, one a text of the second half."""
    side = "h" if sign > 0 else "o"
    chosen = (sentences["group"] == item.group) & (item.values > 0)
    chosen &= sentences["text_id"].isin(cell.loc[~cell["first"], SIDES[side]])
    of = sentences.loc[chosen, SENTENCE].assign(side=side, value=item.values[chosen])
    of = of.sort_values("value", ascending=False, kind="stable").drop_duplicates("text_id")
    return of.head(SHOWN).drop(columns="value").to_dict("records")
