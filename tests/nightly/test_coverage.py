"""Many simulated studies with a known truth: intervals hold it as often as they say.

And where nothing was planted, chance levels leave nothing over. Each test simulates tens to
hundreds of corpora, so they are for `make test-all` alone.
"""

import numpy as np
import pandas as pd
import pytest

from nbbias import stats, tables
from nbbias.news import corpus, sample, topics, words
from tests.build import GENDER, lexicon_of

pytestmark = pytest.mark.nightly

# --- the word level of news -------------------------------------------------------------------


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
    second_texts = corpus.annotate(corpus.second_texts(originals), lexicon=GENDER)
    level = words.level(
        read, inference=stats.InferenceSettings(n_permutations=100), second_texts=second_texts
    )
    even = level.estimates[level.estimates["model"] == "even"]
    for statistic in ("bias", "prejudice_share", "prejudice_extent"):
        own = even[(even["statistic"] == statistic) & (even["group"].fillna("female") == "female")]
        excess, error = own["excess"].mean(), own["excess"].std() / np.sqrt(len(own))
        beyond = (own["estimate"] > own["null_high"]) | (own["estimate"] < own["null_low"])
        assert excess == pytest.approx(0, abs=4 * error)
        assert beyond.sum() <= 9  # a binomial of 60 and .05 exceeds 9 once in a thousand times
    distance = even[even["statistic"] == "bias"]
    assert (distance["p_value"] < 0.05).sum() <= 9
    lower = level.chance[(level.chance["model"] == "even") & (level.chance["statistic"] == "bias")]
    highest = lower[lower["reference"] == "permutation"]["null_high"].to_numpy()
    assert (distance["estimate"].to_numpy() > highest).sum() > n / 2
    for model, planted in (("even", 0.0), ("fewer", -0.15)):
        signed = level.estimates.query(f"model == '{model}' and group == 'female'")
        signed = signed[signed["statistic"] == "share_difference"]
        held = ((signed["ci_low"] <= planted) & (planted <= signed["ci_high"])).sum()
        assert held >= 51


# --- topics of news ---------------------------------------------------------------------------


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
    # 200 draws of .05: three standard errors are .046.
    assert 0.004 <= rate <= 0.096 and min(p_values) > 1e-5
