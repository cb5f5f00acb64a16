"""Many simulated studies with a known truth: intervals hold it as often as they say.

And where nothing was planted, chance levels leave nothing over. Each test simulates tens to
hundreds of corpora, so they are for `make test-all` alone.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest

from nbbias import stats, tables
from nbbias.news import corpus, sample, topics, words
from nbbias.text import lexicons
from tests.build import GENDER, lexicon_of, word_estimates

pytestmark = pytest.mark.nightly

Models = Mapping[str, Mapping[str, float]]


# --- the word level of news -------------------------------------------------------------------


def many(n: int, models: Models, *, writing: sample.Writing = sample.PLAIN) -> pd.DataFrame:
    """The pairs of n corpora, each a source of its own."""
    tables = [
        corpus.pair(*sample.corpus(models, writing=writing, seed=seed)).assign(
            source=f"corpus {seed}"
        )
        for seed in range(n)
    ]
    pairs = pd.concat(tables, ignore_index=True)
    return pairs.assign(pair_id=range(len(pairs)))


ONE = stats.InferenceSettings(n_permutations=1)


def mean_and_error(values: pd.Series) -> tuple[float, float]:
    return values.mean(), values.std() / np.sqrt(len(values))


def test_intervals_hold_what_was_planted_as_often_as_they_say() -> None:
    race = lexicons.expand(lexicons.load("race"))
    lexicon = pd.concat([GENDER, race[race["kind"] == "descriptor"]], ignore_index=True)
    # Both at once: a sentence about a person and one with a descriptor are drawn apart.
    planted = {"female": -0.15, "White": 0.2}
    read = corpus.annotate(many(200, {"m": planted}), lexicon=lexicon)
    table = word_estimates(words.pair_scores(read), lexicon=lexicon, inference=ONE)
    for group, shift in planted.items():
        rows = table[(table["statistic"] == "share_difference") & (table["group"] == group)]
        assert len(rows) == 200
        covered = ((rows["ci_low"] <= shift) & (shift <= rows["ci_high"])).sum()
        print(f"{group}: {covered} of 200 intervals hold {shift}")
        # Binomial(200, .95) lies in 180 to 197 with probability .9965.
        assert 180 <= covered <= 197
        mean, error = mean_and_error(rows["estimate"])
        assert mean == pytest.approx(shift, abs=4 * error)


def test_runs_and_focus_are_not_beyond_the_floor_and_leave_signed_intervals_true() -> None:
    """What the chance levels of words and of sentences call a difference between equal writers."""
    n, clustered = 60, sample.Writing(runs=0.4, focus=0.15, originals=2)
    tables_of: list[list[pd.DataFrame]] = [[], []]
    for seed in range(n):
        both = sample.corpus({"even": {}, "fewer": {"female": -0.15}}, writing=clustered, seed=seed)
        for found, table in zip(tables_of, both, strict=True):
            found.append(table.assign(source=f"corpus {seed}"))
    originals, generations = (pd.concat(one, ignore_index=True) for one in tables_of)
    read = corpus.annotate(corpus.pair(originals, generations), lexicon=GENDER)
    twins = corpus.annotate(corpus.twins(originals), lexicon=GENDER)
    level = words.level(read, inference=stats.InferenceSettings(n_permutations=100), twins=twins)
    even = level.estimates[level.estimates["model"] == "even"]
    for statistic in ("bias", "prejudice_share", "prejudice_extent"):
        own = even[(even["statistic"] == statistic) & (even["group"].fillna("female") == "female")]
        excess, error = mean_and_error(own["excess"])
        beyond = (own["estimate"] > own["null_high"]) | (own["estimate"] < own["null_low"])
        print(f"{statistic}: excess {excess:.4f} ± {error:.4f}, {beyond.sum()} of {n} beyond")
        assert excess == pytest.approx(0, abs=4 * error)
        assert beyond.sum() <= 9  # a binomial of 60 and .05 exceeds 9 once in a thousand times
    distance = even[even["statistic"] == "bias"]
    assert (distance["p_value"] < 0.05).sum() <= 9
    lower = level.chance[(level.chance["model"] == "even") & (level.chance["statistic"] == "bias")]
    highest = lower[lower["reference"] == "permutation"]["null_high"].to_numpy()
    far = (distance["estimate"].to_numpy() > highest).sum()
    print(f"beyond the range of permuted sentences: {far} of {n}")
    assert far > n / 2
    for model, planted in (("even", 0.0), ("fewer", -0.15)):
        of_model = level.estimates[level.estimates["model"] == model]
        signed = of_model[
            (of_model["statistic"] == "share_difference") & (of_model["group"] == "female")
        ]
        held = ((signed["ci_low"] <= planted) & (planted <= signed["ci_high"])).sum()
        print(f"{model}: {held} of {n} intervals hold {planted}")
        assert held >= 51


# --- topics of news ---------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "of_fits"), [(10, 0.5), (30, 0.0), (400, 1.0)])
def test_means_over_articles_and_fits_are_held_as_often_as_they_say(n: int, of_fits: float) -> None:
    """Five fits, of which every tenth measures nothing; beside it what one fit would have held."""
    rng, repeats = np.random.default_rng(n), 400
    covered, alone, told = 0, 0, 0
    for _ in range(repeats):
        values = rng.normal(0.5, 1, (n, 1)) + rng.normal(0, of_fits, 5)
        table = pd.DataFrame(values + rng.normal(0, 0.5, (n, 5)))
        one = stats.pooled_mean(table[[0]], confidence=0.95).row()
        alone += one["ci_low"] < 0.5 < one["ci_high"]
        table.loc[:, rng.random(5) < 0.1] = np.nan
        row = stats.pooled_mean(table, confidence=0.95).row()
        told += np.isfinite(row["ci_low"])
        covered += row["ci_low"] < 0.5 < row["ci_high"]
    print(f"{n}, {of_fits}: {covered / told:.3f} of {told}; by one fit {alone / repeats:.3f}")
    # 400 draws at .95: three standard errors are .033.
    assert 0.917 <= covered / told <= 0.983
    assert of_fits < 0.5 or alone / repeats < 0.9


@pytest.mark.parametrize(("kind", "n"), [("originals", 80), ("answers", 10)])
def test_a_distance_seldom_exceeds_replicates_where_writers_are_alike(kind: str, n: int) -> None:
    """Three texts on every story, each with a focus of its own, seen by the topics of five fits."""
    rng, repeats = np.random.default_rng(n), 200
    cell = {"source": "s", "model": "m", "prompt": "p", "bias": "b", "instrument": "i"}
    row = cell | {"measure": "document", "statistic": "bias", "estimate": 0.5}
    found = tables.estimates([row], study="news_bias")
    p_values = []
    for _ in range(repeats):
        focus = rng.normal(rng.normal(0, 1, (n, 1)), 1.0, (n, 3))
        seen = focus + rng.normal(0, 0.5, (5, 1, 1)) + rng.normal(0, 0.5, (5, n, 3))
        h, o, third = np.moveaxis(1 / (1 + np.exp(-seen)), 2, 0).reshape(3, -1)
        own = pd.DataFrame({"h_a": h, "h_b": 1 - h, "o_a": o, "o_b": 1 - o})
        own = own.assign(**cell, reason=None, seed=np.repeat(np.arange(5), n))
        own = own.assign(article_id=np.tile(np.arange(n), 5), pair_id=np.tile(np.arange(n), 5))
        other = own.assign(h_a=third, h_b=1 - third, pair_id=own["pair_id"] + n)
        twice = kind == "answers"
        scores = pd.concat([own, other], ignore_index=True) if twice else own
        floor = topics.replicated(
            found, scores, None if twice else other, lexicon=lexicon_of(2), confidence=0.95
        )
        p_values.append(floor["p_value"].item())
    rate = float(np.mean(np.array(p_values) < 0.05))
    print(f"{kind}, {n}: {rate:.3f} below .05, the least {min(p_values):.2g}")
    # 200 draws of .05: three standard errors are .046.
    assert 0.004 <= rate <= 0.096 and min(p_values) > 1e-5
