"""Permutations of an article's sentences among its texts, and comparisons at one length."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from nbbias.news.prejudice import ROUNDING


def means(scores: np.ndarray, ends: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Permute the scores of several texts among them; return the texts' means.

    Parameters
    ----------
    scores
        Those of all texts, one text's below the other's: sentences by instruments.
    ends
        Where each text's begin, and where the last one's end.
    draws
        Permutations; each gives every text as many scores as it had.
    rng
        The source of chance.

    Returns
    -------
    array
        Texts by draws by instruments; NaN for a text without scores.
    """
    order = rng.random((draws, len(scores))).argsort(axis=1)
    permuted = scores[order]
    result = np.full((len(ends) - 1, draws, scores.shape[1]), np.nan)
    for text, (start, end) in enumerate(pairwise(ends)):
        if end > start:
            result[text] = permuted[:, start:end].sum(axis=1) / (end - start)
    return result


def add(
    rows: np.ndarray,
    ends: np.ndarray,
    worse: np.ndarray,
    rng: np.random.Generator,
    sums: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
) -> None:
    """Permute one article's scores within each group, and add the results to a cell's sums.

    Parameters
    ----------
    rows
        The sentences of its texts, the original's last: the group's number, then the scores. Where
        several instruments have missing scores, each is permuted by itself.
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
    text = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    original = len(ends) - 2
    largest = np.full((original, draws, width), np.nan)
    for group in range(groups):
        in_group = rows[:, 0] == group
        of_text, scores = text[in_group], rows[in_group, 1:]
        if not (of_text == original).any() or not (of_text < original).any():
            continue
        apart = width > 1 and bool(np.isnan(scores).any())
        for part in [slice(at, at + 1) for at in range(width)] if apart else [slice(width)]:
            present = ~np.isnan(scores[:, part]).any(axis=1) | (not apart)
            sizes = np.bincount(of_text[present], minlength=original + 1)
            permuted = means(scores[present, part], np.append(0, np.cumsum(sizes)), draws, rng)
            difference = permuted[:-1] - permuted[-1]
            largest[:, :, part] = np.fmax(largest[:, :, part], np.abs(difference))
            mean = _mean(difference)
            is_worse = mean * worse[part] > ROUNDING
            fell[group][:, part] += is_worse
            change[group][:, part] += np.where(is_worse, mean, 0.0)
    mean = _mean(largest)
    distance += np.nan_to_num(mean)
    measured += ~np.isnan(mean)


def _mean(values: np.ndarray) -> np.ndarray:
    """Return means over the first axis of what is not missing; NaN where all is."""
    present = ~np.isnan(values)
    n = present.sum(axis=0)
    total = np.where(present, values, 0.0).sum(axis=0)
    return np.divide(total, n, out=np.full(n.shape, np.nan), where=n > 0)


def apart(base: np.ndarray, text: np.ndarray, beside: np.ndarray) -> np.ndarray:
    """Return the largest difference over groups, at as many sentences of each as `beside` has.

    Parameters
    ----------
    base, text, beside
        Sentences: the group's number, then the scores.

    Returns
    -------
    array
        By instrument, the mean over all runs of sentences in a row, each group's on its own; NaN
        where no group is in all three.
    """
    by_group = []
    for group in np.unique(base[:, 0]):
        first, second = base[base[:, 0] == group, 1:], text[text[:, 0] == group, 1:]
        size = min(len(second), int((beside[:, 0] == group).sum()))
        if size:
            upto = np.insert(second.cumsum(axis=0), 0, 0.0, axis=0)
            runs = (upto[size:] - upto[: len(upto) - size]) / size
            by_group.append(np.abs(first.mean(axis=0) - runs))
    if not by_group:
        return np.full(base.shape[1] - 1, np.nan)
    # The mean of the largest: of each value, the chance that all groups' runs are at most that.
    values = np.sort(np.concatenate(by_group), axis=0)
    chance = np.ones(values.shape)
    for differences in by_group:
        chance *= (differences[None] <= values[:, None]).mean(axis=1)
    return np.asarray((values * np.diff(chance, axis=0, prepend=0)).sum(axis=0))


def shares(
    base: np.ndarray, text: np.ndarray, beside: np.ndarray, base_answers: bool
) -> np.ndarray:
    """Return how far two texts' shares of groups differ, the second cut to a third's length.

    Parameters
    ----------
    base, text, beside
        Group words: sentences by groups, at least one word a sentence.
    base_answers
        Whether `base` is the answer, and `text` the original.

    Returns
    -------
    array
        Means over all runs of sentences in a row: 1 and the distance; then by group: whether the
        original names it, whether the answer has less of it, and by how much in that case.
    """
    size = min(len(text), len(beside))
    upto = np.insert(text.cumsum(axis=0), 0, 0, axis=0)
    run = upto[size:] - upto[: len(upto) - size]
    whole = np.broadcast_to(base.sum(axis=0), run.shape)
    h, o = (whole, run) if base_answers else (run, whole)
    n_h, n_o = h.sum(axis=1, keepdims=True), o.sum(axis=1, keepdims=True)
    difference = h / n_h - o / n_o
    fell = h * n_o < o * n_h
    by_group = [(o > 0).mean(axis=0), fell.mean(axis=0), np.where(fell, difference, 0).mean(axis=0)]
    distance = np.abs(difference).sum(axis=1).mean() / 2
    return np.concatenate([[1.0, distance], *by_group])
