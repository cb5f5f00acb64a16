"""An article's sentences dealt anew between its texts, or cut to one length: the compiled loops.

They are asked of every article: the first a thousand times over, of every group and instrument.
`tests/news/test_deals.py` holds them against the same in plain numpy, with the same random numbers.
"""

from __future__ import annotations

import numba
import numpy as np

from nbbias.news.prejudice import ROUNDING

_compiled = numba.njit(cache=True, nogil=True)

#: Up to so many scores are put in order by insertion.
_FEW = 24


@_compiled
def means(scores, ends, draws, rng):  # type: ignore[no-untyped-def]
    """Deal the scores of several texts out anew; return the texts' means.

    Parameters
    ----------
    scores
        Those of all texts, one text's below the other's: sentences by instruments.
    ends
        Where each text's begin, and where the last one's end.
    draws
        Deals; each gives every text as many scores as it had.
    rng
        The source of chance, which gives each deal a number for every sentence.

    Returns
    -------
    array
        Texts by draws by instruments; NaN for a text without scores.
    """
    n, width = scores.shape
    found = np.full((len(ends) - 1, draws, width), np.nan)
    keys, order = np.empty(n), np.empty(n, np.int64)
    for draw in range(draws):
        if n > _FEW:
            for i in range(n):
                keys[i] = rng.random()
            order = np.argsort(keys)
        else:
            for i in range(n):
                key, at = rng.random(), i
                while at and keys[at - 1] > key:
                    keys[at], order[at] = keys[at - 1], order[at - 1]
                    at -= 1
                keys[at], order[at] = key, i
        for text in range(len(ends) - 1):
            size = ends[text + 1] - ends[text]
            for column in range(width if size else 0):
                total = 0.0
                for at in range(ends[text], ends[text + 1]):
                    total += scores[order[at], column]
                found[text, draw, column] = total / size
    return found


@_compiled
def add(rows, ends, worse, rng, sums):  # type: ignore[no-untyped-def]
    """Deal one article's scores within each group, and add what came of it to a cell's sums.

    Parameters
    ----------
    rows
        The sentences of its texts, the original's last: the group's number, then the scores. Where
        several instruments have gaps, each is dealt by itself.
    ends
        Where each text's begin, and where the last one's end.
    worse
        The bad direction, by instrument.
    rng
        The source of chance.
    sums
        By draws and instruments: how often a group fares worse and by how much (groups first), the
        largest difference over groups, and how often it was measured.
    """
    fell, change, distance, measured = sums
    groups, draws, width = fell.shape
    original = len(ends) - 2
    largest = np.full((original, draws, width), np.nan)
    own_ends = np.zeros(len(ends), np.int64)
    for group in range(groups):
        counts = np.zeros(original + 1, np.int64)
        gaps = False
        for text in range(original + 1):
            for row in rows[ends[text] : ends[text + 1]]:
                if row[0] == group:
                    counts[text] += 1
                    gaps = gaps or np.isnan(row[1:]).any()
        if not counts[original] or not counts[:original].any():
            continue
        apart = gaps and width > 1
        for low in range(width if apart else 1):
            high = low + 1 if apart else width
            scores = np.empty((counts.sum(), high - low))
            n = 0
            for text in range(original + 1):
                for row in rows[ends[text] : ends[text + 1]]:
                    if row[0] == group and not (apart and np.isnan(row[1 + low])):
                        scores[n] = row[1 + low : 1 + high]
                        n += 1
                own_ends[text + 1] = n
            dealt = means(scores[:n], own_ends, draws, rng)
            for draw in range(draws):
                for column in range(low, high):
                    total, there = 0.0, 0
                    for text in range(original):
                        d = dealt[text, draw, column - low] - dealt[original, draw, column - low]
                        if not np.isnan(d):
                            total, there = total + d, there + 1
                            before = largest[text, draw, column]
                            if not before >= abs(d):
                                largest[text, draw, column] = abs(d)
                    mean = total / max(there, 1)
                    if there and mean * worse[column] > ROUNDING:
                        fell[group, draw, column] += 1
                        change[group, draw, column] += mean
    for draw in range(draws):
        for column in range(width):
            total, there = 0.0, 0
            for text in range(original):
                if not np.isnan(largest[text, draw, column]):
                    total, there = total + largest[text, draw, column], there + 1
            if there:
                distance[draw, column] += total / there
                measured[draw, column] += 1


@_compiled
def apart(base, text, beside):  # type: ignore[no-untyped-def]
    """Return the largest difference over groups, of each as many sentences as `beside` has.

    Parameters
    ----------
    base, text, beside
        Sentences: the group's number, then the scores.

    Returns
    -------
    array
        By instrument, the mean over all cuts of the groups' sentences, each group's on its own; NaN
        where no group is in all three.
    """
    width = base.shape[1] - 1
    groups = np.unique(base[:, 0])
    ends = np.zeros(len(groups) + 1, np.int64)
    cuts = np.empty((len(text), width))
    n = 0
    for number, group in enumerate(groups):
        own, other = base[base[:, 0] == group, 1:], text[text[:, 0] == group, 1:]
        size = min(len(other), (beside[:, 0] == group).sum())
        whole = np.zeros((len(other) + 1, width))
        for i in range(len(other)):
            whole[i + 1] = whole[i] + other[i]
        for column in range(width if size else 0):
            mean = 0.0
            for one in own[:, column]:
                mean += one
            mean /= len(own)
            for i in range(len(other) - size + 1):
                cut = (whole[i + size, column] - whole[i, column]) / size
                cuts[n + i, column] = abs(mean - cut)
        n += len(other) - size + 1 if size else 0
        ends[number + 1] = n
    found = np.full(width, np.nan)
    # The largest of cuts, not of their means: these vary less the longer a text is.
    for column in range(width if n else 0):
        found[column], before = 0.0, 0.0
        for value in np.sort(cuts[:n, column]):
            reached = 1.0
            for number in range(len(groups)):
                low, high = ends[number], ends[number + 1]
                if high > low:
                    reached *= (cuts[low:high, column] <= value).sum() / (high - low)
            found[column] += value * (reached - before)
            before = reached
    return found


@_compiled
def shares(base, text, beside, base_answers):  # type: ignore[no-untyped-def]
    """Return how far two texts' shares of groups lie apart, the second cut to a third's length.

    Parameters
    ----------
    base, text, beside
        Group words: sentences by groups, at least one word a sentence.
    base_answers
        Whether `base` is the answer, and `text` the original.

    Returns
    -------
    array
        Means over all cuts: 1 and the distance; then by group: whether the original names it,
        whether the answer has less of it, and by how much in that case.
    """
    groups = base.shape[1]
    size = min(len(text), len(beside))
    cuts = len(text) - size + 1
    found = np.zeros(2 + 3 * groups)
    kept, cut = np.zeros(groups, np.int64), np.zeros(groups, np.int64)
    for i in range(len(base)):
        kept += base[i]
    for i in range(len(text)):
        cut += text[i]
        if i < size - 1:
            continue
        h, o = (kept, cut) if base_answers else (cut, kept)
        n_h, n_o = h.sum(), o.sum()
        distance = 0.0
        for group in range(groups):
            d = h[group] / n_h - o[group] / n_o
            distance += abs(d)
            found[2 + group] += o[group] > 0
            if h[group] * n_o < o[group] * n_h:
                found[2 + groups + group] += 1
                found[2 + 2 * groups + group] += d
        found[0] += 1
        found[1] += distance / 2
        cut -= text[i - size + 1]
    return found / cuts
