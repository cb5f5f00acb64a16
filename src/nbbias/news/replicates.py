"""How far two texts by one writer differ: the same-writer baseline, and permuted sentences.

A text has a focus of its own, and its sentences come in runs about one person, so any two texts
lie apart. What that alone gives is seen where a story was written twice by the same kind of writer:
by two humans, or by one model asked twice. The text of the other side takes the place of one of the
two, cut to its length (in sentences with group words, over all places where the cut can begin). If
it is of the same kind, that changes nothing on average, whatever runs and focus there are and
however long the texts are: the article's difference is a paired one with expectation 0.

Texts of one side may vary less than those of the other, and then lie nearer to anything. Where both
sides have replicates the excess is over their mean (half an energy distance), which that cannot
lower: it is 0 on average where writers do not differ, and above 0 where they do.

Where a corpus has no replicates, the sentences of a story's texts are permuted among them. Runs and
focus are lost in that, so it is a lower bound of what two texts differ by, and allows no test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import permutations
from typing import Any, NamedTuple, TypeAlias

import joblib
import numpy as np
import pandas as pd
from scipy.stats import t

from nbbias import stats, tables
from nbbias.news import claims
from nbbias.news.corpus import CELL, SIDES, Read
from nbbias.stats.intervals import ROUNDING

BOTH = "two human texts on one story, and one model asked twice"
ORIGINALS = "two human texts on one story"
ANSWERS = "one model asked twice"

#: The kinds of replicates in order of what they can see.
KINDS = (BOTH, ORIGINALS, ANSWERS)

#: What the permutation is called, and what a figure calls a reference that is missing.
PERMUTED, NOTHING = "sentences permuted between the texts", "texts without a difference of writers"

#: Articles that a kind needs before a poorer one stands in, or all that there are.
ENOUGH = 10

#: The sentences of texts, by the text's number: sentences by columns.
Texts: TypeAlias = Mapping[Any, np.ndarray]

#: Compares a text with a second one, cut to the length of a third: a value a column.
Compare: TypeAlias = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


class Article(NamedTuple):
    """The texts on one story, each as its sentences.

    `answers`: of one model and prompt; `originals`: the pair's first, then further human texts.
    """

    answers: list[np.ndarray]
    originals: list[np.ndarray]


#: From so many stories on, permutations gain more from several processes than these cost to start.
_MANY = 5_000


class Distance(NamedTuple):
    """How a level measures distances of texts by their sentences.

    `texts`: the sentences of a corpus for a bias; `compare`: the distance of two texts, the second
    cut to a third one's length; `permute`: the distances after permutations of two texts'
    sentences: draws by columns; `pooled`: whether all answers to an article are one text;
    `columns`: `measure`, `instrument`, and the largest distance `reach` of each column; `fewest`:
    articles that must differ from their replicates for a test.
    """

    texts: Callable[[Read, str], Texts]
    compare: Compare
    permute: Callable[[np.ndarray, np.ndarray, int, np.random.Generator], np.ndarray]
    columns: list[dict[str, Any]]
    pooled: bool
    fewest: int = 0


def references(
    estimates: pd.DataFrame,
    scores: pd.DataFrame,
    read: Read,
    distance: Distance,
    *,
    second_texts: Read | None,
    inference: stats.InferenceSettings,
) -> pd.DataFrame:
    """Return what mean distances are where no difference between writers sets texts apart.

    Parameters
    ----------
    estimates, scores, read
        ESTIMATES of a level, the SCORES behind them, and the corpus.
    distance
        How the level measures distances.
    second_texts
        Further human texts on the same stories: what `news.annotate` made of `news.second_texts`.
    inference
        Level of the ranges, permutations and their start.

    Returns
    -------
    DataFrame
        CHANCE of ``bias``. By ``"permutation"``: mean and range over permutations of sentences, a
        lower bound without a p. By ``"replicate"``: `null` is the estimate less what it exceeds the
        replicates by, the range where the estimate would lie (t over articles); `test` names the
        replicates and how many articles have them; `p_value` is one-sided, `p_adjusted` Holm's over
        all cells, biases and instruments of a measure. No p where fewer than `fewest` articles
        differ from their replicates.
    """
    rows: list[claims.Row] = []
    claim = estimates[estimates["statistic"] == "bias"].set_index([*CELL, "bias", "instrument"])
    estimate_of = claim["estimate"].to_dict()
    confidence = inference.confidence
    for bias, of_bias in scores.groupby("bias", sort=False):
        texts = distance.texts(read, str(bias))
        further = second_texts and (second_texts.pairs, distance.texts(second_texts, str(bias)))
        first = of_bias[of_bias["instrument"] == distance.columns[0]["instrument"]]
        cells = list(stories(first, read.pairs, texts, further))
        is_parallel = sum(len(articles) for _, articles in cells) >= _MANY
        tasks = [joblib.delayed(permute)(articles, distance, inference) for _, articles in cells]
        with joblib.parallel_config("loky", idle_worker_timeout=5):
            null_values = joblib.Parallel(tables.count_workers() if is_parallel else 1)(tasks)
        for (cell, articles), permuted in zip(cells, null_values, strict=True):
            kind = choose(articles)
            excess = compare(articles, kind, distance.compare) if kind else None
            for number, column in enumerate(distance.columns):
                key = cell | {"bias": bias, "instrument": column["instrument"]}
                estimate = estimate_of.get(tuple(key.values()))
                if estimate is None:
                    continue
                key |= {"measure": column["measure"], "statistic": "bias"}
                null = stats.null_range(permuted[:, number], confidence=confidence)
                rows.append(key | null | {"reference": "permutation", "test": PERMUTED})
                values = np.empty(0) if excess is None else excess[:, number]
                values = values[~np.isnan(values)]
                if len(values) < 2:
                    continue
                beyond = stats.one_sample(values, confidence=confidence)
                null = exceed(estimate, beyond, reach=column["reach"])
                if (np.abs(values) > ROUNDING).sum() < distance.fewest:
                    null["p_value"] = np.nan
                test = f"{kind}, {len(values)} articles"
                rows.append(key | null | {"reference": "replicate", "test": test})
    table = tables.chance(rows, study="news_bias", confidence=confidence)
    return stats.adjust(table, family=["measure"], where={"reference": "replicate"})


def stories(
    scores: pd.DataFrame,
    pairs: pd.DataFrame,
    texts: Texts,
    second_texts: tuple[pd.DataFrame, Texts] | None,
) -> Iterator[tuple[claims.Row, list[Article]]]:
    """Yield, of every cell that has counted pairs, its key and its stories.

    Parameters
    ----------
    scores
        SCORES of one bias and instrument.
    pairs, texts
        The pairs of `Read`, and the sentences of its texts, by `text_id`.
    second_texts
        The same of further human texts (`news.second_texts`), or None.
    """
    further: dict[Any, list[np.ndarray]] = {}
    if second_texts is not None:
        for row in second_texts[0][second_texts[0]["lost"].isna()].itertuples():
            if row.generated_id in second_texts[1]:
                story = (row.source, row.article_id)
                further.setdefault(story, []).append(second_texts[1][row.generated_id])
    by_id = pairs.set_index("pair_id")[["source", "article_id", *SIDES.values()]]
    for key, rows in claims.cells(scores, None):
        counted = by_id.loc[rows.loc[rows["reason"].isna(), "pair_id"]]
        articles: dict[Any, Article] = {}
        # Equal answers have one number, and are one.
        for source, number, answer, original in counted.drop_duplicates().itertuples(index=False):
            story = (source, number)
            if story not in articles:
                articles[story] = Article([], [texts[original], *further.get(story, [])])
            articles[story].answers.append(texts[answer])
        if articles:
            yield key, [*articles.values()]


# --- replicates -------------------------------------------------------------------------------


def choose(articles: Sequence[Article]) -> str | None:
    """Return the best kind of replicates that enough articles have, or None where there is none.

    Examples
    --------
    >>> text = np.array([[1, 0], [0, 1]])
    >>> choose([Article([text], [text, text])] * 2)
    'two human texts on one story'
    """
    enough = max(2, min(ENOUGH, len(articles)))
    have = {kind: sum(bool(_roles(article, kind)) for article in articles) for kind in KINDS}
    return next((kind for kind, n in have.items() if n >= enough), None)


def compare(articles: Sequence[Article], kind: str, compare: Compare) -> np.ndarray:
    """Return by how much the other side's text lies further off than a replicate.

    Parameters
    ----------
    articles
        The stories that count; those without replicates of this kind are left out.
    kind
        One of `KINDS`.
    compare
        Compares a text with a second one, cut to the length of a third.

    Returns
    -------
    array
        Articles by columns of `compare`: means over the roles that the texts of a story can take;
        sides weigh the same.
    """
    excess = []
    for sides in filter(None, (_roles(article, kind) for article in articles)):
        swapped = [[(base, other, second) for base, second, other in roles] for roles in sides]
        excess.append(_mean(swapped, compare) - _mean(sides, compare))
    return np.array(excess)


def exceed(estimate: float, excess: stats.Estimate, *, reach: float) -> dict[str, float]:
    """Return the baseline of an estimate, the range around it, and the one-sided p.

    Examples
    --------
    >>> excess = stats.one_sample([0.1, 0.0, 0.2], confidence=0.95)
    >>> {name: round(value, 3) for name, value in exceed(0.4, excess, reach=1).items()}
    {'null': 0.3, 'null_low': 0.052, 'null_high': 0.548, 'p_value': 0.113}
    """
    null, half = estimate - excess.estimate, (excess.ci_high - excess.ci_low) / 2
    low, high = np.clip([null - half, null + half], 0, reach).tolist()
    p = float(t.sf(excess.statistic_value, excess.df))
    return {"null": null, "null_low": low, "null_high": high, "p_value": p}


#: A text, the one beside it, and the one that says how long that may be.
_Role = tuple[np.ndarray, np.ndarray, np.ndarray]


def _roles(article: Article, kind: str) -> list[list[_Role]]:
    """Return for each side with replicates every text, its replicate and the other side's text.

    Empty where the article lacks a replicate.
    """
    answers, originals = article
    human = [(*pair, other) for pair in permutations(originals, 2) for other in answers]
    model = [(*pair, other) for pair in permutations(answers, 2) for other in originals]
    sides = {BOTH: [human, model], ORIGINALS: [human], ANSWERS: [model]}[kind]
    return sides if all(sides) else []


def _mean(sides: list[list[_Role]], compare: Compare) -> np.ndarray:
    means = [sum(compare(*role) for role in roles) / len(roles) for roles in sides]
    return np.asarray(sum(means) / len(means))


# --- permutation ------------------------------------------------------------------------------


def permute(
    articles: Sequence[Article], distance: Distance, inference: stats.InferenceSettings
) -> np.ndarray:
    """Permute the sentences of every story's texts; return the mean distances: draws by columns."""
    rng = np.random.default_rng(inference.seed)
    shape = (inference.n_permutations, len(distance.columns))
    total, measured = np.zeros(shape), np.zeros(shape)
    for article in articles:
        answers = [np.vstack(article.answers)] if distance.pooled else article.answers
        original, draws = article.originals[0], inference.n_permutations
        drawn = np.stack([distance.permute(answer, original, draws, rng) for answer in answers])
        present = (~np.isnan(drawn)).sum(axis=0)
        total += np.nansum(drawn, axis=0) / np.maximum(present, 1)
        measured += present > 0
    return np.asarray(claims.ratio(total, measured))
