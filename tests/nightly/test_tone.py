"""The tone of news over many corpora that hold what real texts do, with a known truth.

Sentences are drawn as groups and scores, without words: most score 0, every text has a tone of its
own, repeated answers share their original, and sentences that name a race may name women or men.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from nbbias import stats
from nbbias.news import scoring, tone
from nbbias.news.corpus import NEUTRAL, Read
from tests.news.test_tone import of

pytestmark = pytest.mark.nightly

LEXICON = pd.DataFrame(
    [("gender", "female"), ("gender", "male"), ("race", "White"), ("race", "Black")],
    columns=["bias", "group"],
).assign(kind="word")
SIZES = np.array([0.1, 0.2, 0.35, 0.5, 0.7, 0.8])
TONED = 0.4


def simulated(
    *,
    corpora: int,
    articles: int,
    answers: int,
    colder: float,
    overlap: float = 0.45,
    toned: float = TONED,
    spread: float = 0.1,
) -> pd.DataFrame:
    """Estimates of many corpora, each a source: answers choose the good word for women less.

    `overlap`: share of the sentences with a race that name a gender; of the others 45% do. `toned`:
    share of the sentences that do not score 0. `spread`: of the texts' own tones.
    """
    rng = np.random.default_rng(0)
    whole, length = corpora * articles, 14
    shape = (whole, 1 + answers, length)  # the original comes first
    race = rng.choice([NEUTRAL, "White", "Black"], size=shape, p=[0.74, 0.14, 0.12])
    gender = rng.choice(["female", "male"], size=shape).astype(object)
    gender[rng.random(shape) > np.where(race == NEUTRAL, 0.45, overlap)] = NEUTRAL
    good = np.full(shape, 0.5)
    good[:, 1:] -= colder * (gender[:, 1:] == "female")
    sign = np.where(rng.random(shape) < good, 1, -1)
    scores = np.where(rng.random(shape) < toned, sign * rng.choice(SIZES, size=shape), 0)
    scores = scores + spread * rng.normal(size=(*shape[:2], 1))
    text, sentence = np.divmod(np.arange(scores.size), length)
    keys = pd.DataFrame({"text_id": text, "sentence_id": sentence})
    parts = [
        keys.assign(bias=bias, group=group.ravel(), n=(group.ravel() != NEUTRAL).astype(int))
        for bias, group in (("gender", gender), ("race", race))
    ]
    texts = np.arange(whole * (1 + answers)).reshape(whole, -1)
    article = np.repeat(np.arange(whole), answers)
    pairs = pd.DataFrame(
        {
            "pair_id": np.arange(len(article)),
            "source": [f"c{i // articles}" for i in article],
            "model": "m",
            "prompt": "p",
            "article_id": article.astype(str),
            "sample": np.tile(np.arange(answers), whole),
            "original_id": texts[article, 0],
            "generated_id": texts[:, 1:].ravel(),
            "lost": pd.Series(pd.NA, range(len(article)), "str"),
        }
    )
    read = Read(pairs, pd.Series(dtype=str), pd.concat(parts), pd.DataFrame(), LEXICON)
    scored = keys.assign(sentiment_textblob=scores.ravel())
    scored = scoring.Scored(scored, scoring.measures(scored))
    return tone.level(read, scored, inference=stats.InferenceSettings(n_permutations=20)).estimates


def rejected(table: pd.DataFrame) -> float:
    return (table["p_value"] < 0.05)[table["p_value"].notna()].mean()


def test_answers_colder_on_women_are_no_colder_on_a_race() -> None:
    table = simulated(corpora=120, articles=40, answers=1, colder=0.4)
    races = of(table, "difference_beyond_neutral", bias="race")
    mean, error = races["estimate"].mean(), races["estimate"].sem()
    print(f"{rejected(races):.3f} below .05; mean {mean:.4f} ± {error:.4f}")
    assert 0.02 < rejected(races) < 0.09  # 240 at .05: standard error .014
    assert abs(mean) < 3 * error
    women = of(table, "difference_beyond_neutral", "female")
    planted = -TONED * 2 * 0.4 * SIZES.mean()
    covered = ((women["ci_low"] <= planted) & (planted <= women["ci_high"])).mean()
    print(f"women: {covered:.3f} of intervals hold {planted:.3f}")
    assert covered > 0.89  # 120 at .95: standard error .02
