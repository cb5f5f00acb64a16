"""The floor: what two texts differ by that no difference between their writers sets apart.

A text has a focus of its own, and its sentences come in runs about one person, so any two texts
lie further apart than dealt words or dealt sentences do. What that alone gives is seen where a
story was written twice by one hand, so to speak: by two humans, or by one model asked twice. Where
a corpus has neither, the two halves of an original stand in; they have the runs, but share the
text's focus, so they are a lower bound once more.

The text of the other side takes the place of one of the two, cut to its length (in sentences with
group words, over all places where the cut can begin). If it belongs to the same kind of text, that
changes nothing on average, whatever runs and focus there are and however long the texts of the
two sides: the article's difference is a paired one with expectation 0.

Texts of one side may vary less than those of the other, and then lie nearer to anything. Where both
sides have replicates the excess is over their mean (half an energy distance), which that cannot
lower: it is 0 on average where writers do not differ, and above 0 where they do.

>>> import numpy as np
>>> alike, apart = np.array([[1, 0], [0, 1]] * 2), np.array([[1, 0]] * 4)
>>> article = Article(answers=[apart], originals=[alike, alike])
>>> kind = choose([article] * 3)
>>> kind, round(differences([article] * 3, kind)["bias", None].excess, 3)
('two human texts on one story', 0.5)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import permutations
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from scipy.stats import t

from nbbias.news import claims, prejudice
from nbbias.news.corpus import SIDES

BOTH = "two human texts on one story, and one model asked twice"
ORIGINALS = "two human texts on one story"
ANSWERS = "one model asked twice"
HALVES = "halves of the originals"

#: The references in order of what they can see.
KINDS = (BOTH, ORIGINALS, ANSWERS, HALVES)

#: Articles that a reference needs before a poorer one stands in, or all that there are.
ENOUGH = 10


Measure: TypeAlias = Callable[[np.ndarray, np.ndarray, np.ndarray, bool], np.ndarray]


class Article(NamedTuple):
    """The texts on one story, each as its sentences with group words: sentences by groups.

    Or whatever the rows of a text hold for a `Measure`. `answers`: of one model and prompt;
    `originals`: the pair's first, then further human texts.
    """

    answers: list[np.ndarray]
    originals: list[np.ndarray]


class Difference(NamedTuple):
    """By how much a statistic exceeds its floor, over `n` articles.

    `excess`; `error`: its standard error over articles (NaN with one).
    """

    excess: float
    error: float
    n: int


def named(test: str) -> str:
    """Return which of `KINDS` the `test` of a row by replicates names.

    Examples
    --------
    >>> named(f"{ANSWERS}, 12 articles")
    'one model asked twice'
    """
    return next(kind for kind in KINDS if test.startswith(kind))


Texts: TypeAlias = Mapping[Any, np.ndarray]


def stories(
    scores: pd.DataFrame,
    pairs: pd.DataFrame,
    texts: Texts,
    twins: tuple[pd.DataFrame, Texts] | None,
) -> Iterator[tuple[claims.Row, list[Article]]]:
    """Yield, of every cell that has counted pairs, its key and its stories.

    Parameters
    ----------
    scores
        SCORES of one bias and instrument.
    pairs, texts
        The pairs of `Read`, and the sentences of its texts, by `text_id`.
    twins
        The same of further human texts (`news.twins`), or None.
    """
    further: dict[Any, list[np.ndarray]] = {}
    if twins is not None:
        for row in twins[0][twins[0]["lost"].isna()].itertuples():
            if row.generated_id in twins[1]:
                story = (row.source, row.article_id)
                further.setdefault(story, []).append(twins[1][row.generated_id])
    by_id = pairs.set_index("pair_id")[["source", "article_id", *SIDES.values()]]
    for key, own in claims.cells(scores, None):
        counted = by_id.loc[own.loc[own["reason"].isna(), "pair_id"]]
        articles: dict[Any, Article] = {}
        # Equal answers have one number, and are one.
        for source, number, answer, original in counted.drop_duplicates().itertuples(index=False):
            story = (source, number)
            if story not in articles:
                articles[story] = Article([], [texts[original], *further.get(story, [])])
            articles[story].answers.append(texts[answer])
        if articles:
            yield key, [*articles.values()]


def choose(articles: Sequence[Article]) -> str | None:
    """Return the best reference that enough articles have, or None where none can be had."""
    enough = max(2, min(ENOUGH, len(articles)))
    for kind in KINDS:
        if sum(bool(_roles(one, kind)) for one in articles) >= enough:
            return kind
    return None


def differences(articles: Sequence[Article], kind: str) -> dict[tuple[str, int | None], Difference]:
    """Compare the texts of the two sides with texts of one side.

    Parameters
    ----------
    articles
        The stories that count.
    kind
        One of `KINDS`; stories without it are left out.

    Returns
    -------
    dict
        By statistic and number of the group: ``bias``, ``prejudice_share`` and
        ``prejudice_extent``, ratios of sums over articles whose error is linearised.
    """
    sums = measured(articles, kind, _measured)
    groups = (sums[0].shape[1] - 2) // 3
    found: dict[tuple[str, int | None], Difference] = {("bias", None): _difference(sums, 1, 0)}
    for i in range(groups):
        named, fell, change = (2 + part * groups + i for part in range(3))
        for statistic, part, whole in zip(
            prejudice.KINDS, (fell, change), (named, fell), strict=True
        ):
            found[statistic, i] = _difference(sums, part, whole)
    return found


def measured(
    articles: Sequence[Article], kind: str, measure: Measure
) -> tuple[np.ndarray, np.ndarray]:
    """Measure the other side's text in a replicate's place, and the replicate.

    Parameters
    ----------
    articles
        The stories that count; texts may be any arrays whose rows are sentences.
    kind
        One of `KINDS`; stories without it are left out.
    measure
        Measures a text against a second one, cut to the length of a third; its last argument says
        whether the first is an answer.

    Returns
    -------
    (observed, floor) : arrays, articles by columns of `measure`
        Means over the roles that the texts of a story can take; sides weigh the same.
    """
    observed, floor = [], []
    for article in articles:
        sides = _roles(article, kind)
        if sides:
            swapped = [[(b, x, twin, h) for b, twin, x, h in own] for own in sides]
            observed.append(_mean(swapped, measure))
            floor.append(_mean(sides, measure))
    return np.array(observed), np.array(floor)


def beside(
    estimate: float, found: Difference, *, bounds: tuple[float, float], confidence: float
) -> dict[str, float]:
    """Return the floor of an estimate, the range around it, and the one-sided p.

    Examples
    --------
    >>> level = beside(0.4, Difference(0.1, 0.02, 30), bounds=(0, 1), confidence=0.95)
    >>> {name: round(float(value), 3) for name, value in level.items()}
    {'null': 0.3, 'null_low': 0.259, 'null_high': 0.341, 'p_value': 0.0}
    """
    null = estimate - found.excess
    half = t.ppf((1 + confidence) / 2, found.n - 1) * found.error
    low, high = np.clip([null - half, null + half], *bounds)
    p = t.sf(found.excess / found.error, found.n - 1) if found.error > 0 else np.nan
    return {"null": null, "null_low": low, "null_high": high, "p_value": float(p)}


#: A text, the one beside it, the one that says how long that may be, and whether the first is an
#: answer.
Role = tuple[np.ndarray, np.ndarray, np.ndarray, bool]


def _roles(article: Article, kind: str) -> list[list[Role]]:
    """Return, for each side whose replicates count, every text with its twin and the other's text.

    Empty where the article lacks a replicate.
    """
    answers, originals = article
    if kind == HALVES:
        middle = (len(originals[0]) + 1) // 2
        cut = (originals[0][:middle], originals[0][middle:])
        originals = [half for half in cut if len(half)]
    human = [(*pair, x, False) for pair in permutations(originals, 2) for x in answers]
    model = [(*pair, x, True) for pair in permutations(answers, 2) for x in originals]
    sides = {BOTH: [human, model], ANSWERS: [model]}.get(kind, [human])
    return sides if all(sides) else []


def _mean(sides: list[list[Role]], measure: Measure) -> np.ndarray:
    # Of one or two small arrays numpy's mean takes ten times as long.
    measured = [sum(measure(*role) for role in own) / len(own) for own in sides]
    return np.asarray(sum(measured) / len(measured))


def _measured(
    base: np.ndarray, text: np.ndarray, beside: np.ndarray, base_answers: bool
) -> np.ndarray:
    from nbbias.news import deals

    return np.asarray(deals.shares(base, text, beside, base_answers))


def _difference(sums: Sequence[np.ndarray], part: int, whole: int) -> Difference:
    """Return how far one ratio of sums over articles lies from the other, with its error."""
    ratios, pulls = [], []
    for side in sums:
        ratio = float(claims.ratio(side[:, part].sum(), side[:, whole].sum()))
        ratios.append(ratio)
        pulls.append((side[:, part] - ratio * side[:, whole]) / (side[:, whole].mean() or np.nan))
    pull, n = pulls[0] - pulls[1], len(sums[0])
    error = float(pull.std(ddof=1) / np.sqrt(n)) if n > 1 else np.nan
    return Difference(ratios[0] - ratios[1], error, n)
