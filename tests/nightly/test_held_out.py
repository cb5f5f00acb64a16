"""Corpora by a generator that no method here was tuned on: texts with a cast of persons.

A text has one to four persons, each with a gender and a mood of its own; sentences stay with a
person by turns; lengths are log-normal, and most sentences have no tone. Both writers write about
one story, whose share of women is its own; nothing is planted between them.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from nbbias import news, stats
from tests.build import GENDER

pytestmark = pytest.mark.nightly

POSITIVE = ["good", "excellent", "happy", "wonderful", "pleasant"]
NEGATIVE = ["bad", "terrible", "sad", "awful", "unpleasant"]
PRONOUNS = [("He", "his"), ("She", "her")]
PEOPLE = [
    "{S} spoke of the {t}harvest",
    "{S} said that {p} plan was ready, a {t}plan",
    "{S} opened the {t}office",
    "In the town {p} {t}report was read",
    "{S} wrote a {t}letter and kept {p} copy",
]
PLAIN = ["The council met on the {t}matter", "Rain fell over the {t}valley", "A {t}budget passed"]


def text(rng: np.random.Generator, women: float) -> str:
    """Write one text about a story in which that share of the persons are women."""
    k = 1 + rng.binomial(3, 0.4)
    genders, moods = rng.random(k) < women, rng.normal(0, 0.15, k)
    prominence, base = rng.dirichlet(np.ones(k)), 0.5 + 0.08 * rng.standard_t(4)
    person, lines = rng.choice(k, p=prominence), []
    for _ in range(int(np.clip(rng.lognormal(np.log(14), 0.5), 4, 60))):
        if rng.random() < 0.3:
            person = rng.choice(k, p=prominence)
        about = rng.random() < 0.6
        tone = ""
        if rng.random() < 0.3:
            positive = rng.random() < base + (moods[person] if about else 0)
            tone = str(rng.choice(POSITIVE if positive else NEGATIVE)) + " "
        subject, possessive = PRONOUNS[int(genders[person])]
        line = str(rng.choice(PEOPLE if about else PLAIN))
        lines.append(line.format(S=subject, p=possessive, t=tone))
    return ". ".join(lines) + "."


def read(corpora: int, articles: int, answers: int, seed: int) -> news.Read:
    """Annotate many corpora, each a source of its own."""
    rng, humans, models = np.random.default_rng(seed), [], []
    for corpus in range(corpora):
        for article in range(articles):
            women, key = rng.beta(4, 6), (f"corpus {corpus}", str(article))
            humans.append((*key, "", text(rng, women)))
            models += [(*key, "m", "neutral", n + 1, text(rng, women)) for n in range(answers)]
    key = ["source", "article_id"]
    pairs = news.pair(
        pd.DataFrame(humans, columns=[*key, "headline", "text"]),
        pd.DataFrame(models, columns=[*key, "model", "prompt", "sample", "text"]),
    )
    return news.annotate(pairs, lexicon=GENDER)


def test_writers_without_a_difference_stay_within_the_floor_and_signed_intervals_hold() -> None:
    articles = 10
    found = news.words.level(
        read(100, articles, 2, seed=5), inference=stats.InferenceSettings(n_permutations=100)
    ).estimates
    distance = found[found["statistic"] == "bias"]
    signed = found[(found["statistic"] == "share_difference") & (found["group"] == "female")]
    beyond = (distance["p_value"] < 0.05).sum()
    held = ((signed["ci_low"] <= 0) & (signed["ci_high"] >= 0)).sum()
    print(f"N {articles}: beyond the floor {beyond}, 0 held by {held} of {len(signed)}")
    assert distance["p_value"].notna().mean() > 0.9
    # Binomial(100, .05) is 12 or less, Binomial(100, .95) 88 or more, with probability .9985.
    assert beyond <= 12
    assert held >= 88
