"""The mean distance of two texts: all pairs by scipy, and the jackknife by leaving one out."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import pdist

from nbbias import stats


def unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def test_jackknife_values_are_those_of_leaving_one_text_out() -> None:
    texts = unit(np.random.default_rng(1).standard_normal((2, 7, 5)) + 0.5)
    values = stats.pairwise_distances(texts)
    for of, found in zip(texts, values, strict=True):
        every = pdist(of, "cosine").mean()
        left = [pdist(np.delete(of, i, axis=0), "cosine").mean() for i in range(7)]
        np.testing.assert_allclose(found, 7 * every - 6 * np.array(left))
        np.testing.assert_allclose(found.mean(), np.trace(np.cov(of.T)))
    assert np.isnan(stats.pairwise_distances(texts[:, :2])).all()


def test_neither_number_of_texts_nor_of_repeats_moves_the_mean() -> None:
    rng, means = np.random.default_rng(2), {}
    for texts, repeats in ((3, 1), (12, 1), (6, 4)):
        drawn = unit(rng.standard_normal((4000, texts, repeats, 6)) + np.eye(6)[0])
        # Texts on one theme share it: what differs between its repeats is averaged.
        means[texts, repeats] = stats.pairwise_distances(drawn.mean(axis=2)).mean(axis=1)
    true = 1 - np.linalg.norm(unit(rng.standard_normal((400_000, 6)) + np.eye(6)[0]).mean(0)) ** 2
    for found in means.values():
        assert abs(found.mean() - true) < 4 * found.std() / np.sqrt(len(found))
