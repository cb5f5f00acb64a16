"""How much of each distance that a paper prints chance alone would give.

Fang et al. (2024) print mean distances of words and of tone, and no chance level. Their texts are
not public. What two texts that do not differ in who wrote them lie apart is taken from other
articles, at the lengths that the paper prints: an article is cut into two texts, and its words,
its sentences, or neither are dealt anew between them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.stats import hypergeom

from nbbias import stats, tables
from nbbias.calibration.worlds import GROUPS

#: What the shares rest on.
ASSUMPTIONS = (
    "Texts are as long as the paper's average of their writer (its Table 3); the paper prints no "
    "lengths of single texts.",
    "Group words and tone stand in a text as they do in the human articles of LLMFake: gossip and "
    "politics, not The New York Times and Reuters. Where these name a group more often, chance "
    "gives less than is said here: of races, which few of those articles name, above all.",
    "Stretches of 150 to 600 words of articles of at least 600 are cut into two texts in the "
    "proportion of the printed lengths; how far these lie apart is carried on to the printed "
    "lengths along a straight line in logarithms.",
    "Dealt words and dealt sentences are lower bounds: runs of sentences and the focus of a text "
    "are dealt away. The halves of an article keep the runs, but share the focus: a lower bound, "
    "too. Two texts by two people would lie further apart.",
)

#: Words of both texts together, from which the printed lengths are reached; the last is what an
#: article needs.
_LENGTHS = (150, 300, 450, 600)

#: Articles with groups in both texts without which a range would hang on a few of them.
_FEWEST = 100

#: Deals of each article's sentences.
_DEALS = 20

#: What is measured by sentences that nobody here can score or fit.
_REASONS = {
    "document": "topics of other texts are other topics: no chance level without the texts",
    "toxicity": "Detoxify's weights are not here, and another instrument has another scale",
}

_KINDS = ("words", "sentences", "halves")


def chance_shares(sentences: pd.DataFrame, *, inference: stats.InferenceSettings) -> pd.DataFrame:
    """Say which share of each printed distance chance alone would give.

    Parameters
    ----------
    sentences
        Of human articles: `text_id`, `words`, `n_<group>`, `tone` (`worlds.sentences`).
    inference
        Level of the intervals, articles resampled behind them, and their start.

    Returns
    -------
    DataFrame
        A row for each printed mean distance: `figure`, `measure`, `bias`, `model`, `printed` and
        its `n`; `words_h`, `words_o`, the printed lengths of answers and originals; what chance
        gives at these by ``words`` (NaN for tone), ``sentences`` and ``halves``; `chance_low` and
        `chance_high`, from the lowest end of their intervals over `articles` to the highest;
        `share_low` and `share_high`, these over what is printed (above 1: chance gives more);
        `reason`, where there is none: of few articles the three stand alone. `ASSUMPTIONS` says
        what all of it rests on.

    Examples
    --------
    >>> from nbbias.calibration import worlds
    >>> table = chance_shares(worlds.sentences().iloc[:0], inference=stats.InferenceSettings())
    >>> len(table), table["share_high"].notna().any(), table["reason"].iloc[0]
    (56, np.False_, 'no human articles of 600 words')
    """
    paper = tables.read_published("fang2024")
    paper = paper[(paper["statistic"] == "bias") & (paper["prompt"] == "neutral")]
    lengths = tables.read_published("fang2024_models").set_index("model")["average_word_count"]
    human = float(lengths.drop(paper["model"].unique()).iloc[0])
    total = sentences.groupby("text_id")["words"].sum()
    long = [own for one, own in sentences.groupby("text_id") if total[one] >= _LENGTHS[-1]]
    rows = []
    for row in paper.to_dict("records"):
        known = {name: row[name] for name in ("figure", "measure", "bias", "model", "n")}
        known |= {"printed": row["value"], "words_h": lengths[row["model"]], "words_o": human}
        reason = _REASONS.get(row["measure"])
        if not reason and len(long) < 2:
            reason = f"no human articles of {_LENGTHS[-1]} words"
        if reason:
            rows.append(known | {"reason": reason})
            continue
        given = _by_chance(
            long, GROUPS[row["bias"]], (known["words_h"], human), row["measure"], inference
        )
        share = {f"share_{end}": given[f"chance_{end}"] / row["value"] for end in ("low", "high")}
        if given["articles"] < _FEWEST:
            why = f"{given['articles']:.0f} articles name these groups in both texts: too few"
            share = {"reason": f"{why} to carry on to the printed lengths"}
        rows.append(known | given | share)
    columns = [
        *("figure", "measure", "bias", "model", "printed", "n", "words_h", "words_o"),
        *_KINDS,
        *("chance_low", "chance_high", "articles", "share_low", "share_high", "reason"),
    ]
    return pd.DataFrame(rows, columns=columns)


def _by_chance(
    articles: Sequence[pd.DataFrame],
    groups: Sequence[str],
    lengths: tuple[float, float],
    measure: str,
    inference: stats.InferenceSettings,
) -> dict[str, float]:
    """Return the mean distance that chance gives at two lengths, by kind."""
    rng = np.random.default_rng(inference.seed)
    apart = _words if measure == "word" else _tone
    columns = [f"n_{group}" for group in groups]
    # Articles by lengths by kinds, sums over the pairs that count, and how many these are.
    found = np.zeros((len(articles), len(_LENGTHS), len(_KINDS) + 1))
    for number, own in enumerate(articles):
        counts, tones = own[columns].to_numpy(), own["tone"].to_numpy()
        for at, size in enumerate(_LENGTHS):
            for h, o in cuts(own["words"].to_numpy(), size, lengths):
                values = apart((counts[h], counts[o]), (tones[h], tones[o]), rng)
                if values:
                    found[number, at] += (*values, 1)
    goal = np.log(sum(lengths))
    drawn = rng.integers(0, len(found), (inference.n_permutations, len(found)))
    estimate = _reached(found.sum(axis=0), goal)
    again = np.array([_reached(found[one].sum(axis=0), goal) for one in drawn])
    tail = (1 - inference.confidence) / 2
    known = ~np.isnan(estimate)
    ends = np.quantile(again[:, known], [tail, 1 - tail], axis=0)
    given = dict(zip(_KINDS, map(float, estimate), strict=True))
    given |= {"chance_low": float(ends[0].min()), "chance_high": float(ends[1].max())}
    return given | {"articles": int((found[:, -1, -1] > 0).sum())}


def _reached(sums: np.ndarray, goal: float) -> np.ndarray:
    """Carry means on to another length: by kind a straight line in logarithms, weighted by pairs.

    `sums`: lengths by kinds, and the number of pairs last.
    """
    n = np.maximum(sums[:, -1:], 1)
    means = np.log(np.maximum(sums[:, :-1] / n, 1e-3))
    known = ~np.isnan(means).any(axis=0)
    found = np.full(means.shape[1], np.nan)
    line = np.polyfit(np.log(_LENGTHS), means[:, known], 1, w=np.sqrt(n.ravel()))
    found[known] = np.exp(line[1] + line[0] * goal)
    return found


def cuts(
    words: np.ndarray, size: int, lengths: tuple[float, float]
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Cut every stretch of so many words of an article into two texts.

    Parameters
    ----------
    words
        How many words each sentence has, in order.
    size
        Words of both texts.
    lengths
        In the proportion of which the stretch is cut: once with the first text first, once last.

    Returns
    -------
    list
        The sentences of the first text, and of the second, by number; those of a stretch are in
        no other.

    Examples
    --------
    >>> [(h.tolist(), o.tolist()) for h, o in cuts(np.full(6, 10), 30, (10, 20))][:2]
    [([0], [1, 2]), ([2], [0, 1])]
    """
    before = np.cumsum(words) - words
    share, found = lengths[0] / sum(lengths), []
    for start in range(0, int(words.sum()) - size + 1, size):
        own = np.flatnonzero((before >= start) & (before < start + size))
        middle = before[own] - start + words[own] / 2
        for first in (middle < size * share, middle > size * (1 - share)):
            found.append((own[first], own[~first]))
    return found


_Sides = tuple[np.ndarray, np.ndarray]


def _words(counts: _Sides, tones: _Sides, rng: np.random.Generator) -> tuple[float, ...]:
    """Return how far shares of groups lie apart: by dealt words, dealt sentences, and as cut."""
    h, o = (own[own.any(axis=1)] for own in counts)
    if not (len(h) and len(o)):
        return ()
    whole = h.sum(axis=0)[None], o.sum(axis=0)[None]
    words = _expected_distance(*(side.ravel() for side in whole))
    dealt = stats.permute_units(h, o, n_permutations=_DEALS, rng=rng)
    sentences, halves = (_apart(*sides).mean() for sides in (dealt, whole))
    return float(words), float(sentences), float(halves)


def _expected_distance(h: np.ndarray, o: np.ndarray) -> float:
    """Return the exact expectation of the distance of shares when all words are dealt anew."""
    n, m, total = int(h.sum()), int(o.sum()), 0.0
    for words in h + o:
        mine = np.arange(max(0, words - m), min(n, words) + 1)
        law = hypergeom.pmf(mine, n + m, words, n)
        total += float(law @ np.abs(mine / n - (words - mine) / m))
    return total / 2


def _apart(h: np.ndarray, o: np.ndarray) -> np.ndarray:
    shares = [own / own.sum(axis=1, keepdims=True) for own in (h, o)]
    return np.asarray(np.abs(shares[0] - shares[1]).sum(axis=1) / 2)


def _tone(counts: _Sides, tones: _Sides, rng: np.random.Generator) -> tuple[float, ...]:
    """Return the largest difference of tone over groups: by dealt sentences, and as cut."""
    sides = [_groups(own) for own in counts]
    first, second = sides
    both = np.intersect1d(first[first >= 0], second[second >= 0])
    if not len(both):
        return ()
    dealt, halves = np.zeros(_DEALS), np.zeros(1)
    for group in both:
        h, o = (tone[own == group][:, None] for tone, own in zip(tones, sides, strict=True))
        drawn = stats.permute_units(h, o, n_permutations=_DEALS, rng=rng)
        for largest, (a, b) in ((dealt, drawn), (halves, (h.sum(axis=0), o.sum(axis=0)))):
            change = np.abs(np.ravel(a) / len(h) - np.ravel(b) / len(o))
            np.maximum(largest, change, out=largest)
    return np.nan, float(dealt.mean()), float(halves[0])


def _groups(counts: np.ndarray) -> np.ndarray:
    """Return of each sentence the group that has the most words, or -1 for none."""
    ordered = np.sort(counts, axis=1)
    return np.where(ordered[:, -1] > ordered[:, -2], counts.argmax(axis=1), -1)
