"""Simulated corpora have their effects, and cluster as they say."""

import numpy as np
import pytest

from nbbias.calibration import corpora
from nbbias.calibration.trials import Design

MADE = [name for name in corpora.SCENARIOS if name not in {"terse", "rare"}]


def shares(words: np.ndarray) -> np.ndarray:
    """Each group's share of a text's words: stories by texts by groups."""
    counts = words.sum(axis=2)
    return counts / np.where(counts.sum(axis=-1) > 0, counts.sum(axis=-1), np.nan)[..., None]


def error(values: np.ndarray) -> float:
    return float(np.nanstd(values) / np.sqrt(np.isfinite(values).sum()))


@pytest.mark.parametrize("scenario", MADE)
def test_women_have_the_share_and_the_tone_of_their_effect(scenario: str) -> None:
    design = Design(scenario, 3000, 12, 0.0)
    rng = np.random.default_rng(1)
    found = corpora.simulate(rng, design, share=[-0.2, 0.1], tone=[-0.1, 0.05])
    women = shares(found.words["gender"])[..., 0]
    for answer, effect in enumerate([-0.2, 0.1]):
        shift = women[:, answer] - women[:, 2]
        assert np.nanmean(shift) == pytest.approx(effect, abs=4 * error(shift))
    assert np.nanmean(women[:, 2]) == pytest.approx(corpora.WOMEN, abs=4 * error(women[:, 2]))
    gender = found.words["gender"]
    female = np.where(gender[..., 0] > 0, found.tone, np.nan)
    for answer, effect in enumerate([-0.1, 0.05]):
        means = [female[:, text] for text in (answer, 2)]
        shift = np.nanmean(means[0]) - np.nanmean(means[1])
        assert shift == pytest.approx(effect, abs=8 * max(map(error, means)))
    others = np.where(gender.sum(axis=-1) == 0, found.tone, np.nan)
    shift = np.nanmean(others[:, 0]) - np.nanmean(others[:, 2])
    assert shift == pytest.approx(0, abs=8 * error(others[:, 0]))
    races = shares(found.words["race"])
    assert np.nanmean(races[:, 0] - races[:, 2], axis=0) == pytest.approx(0, abs=0.05)


def test_women_are_rare_or_have_more_words() -> None:
    for scenario, effect in (("rare", -0.2), ("terse", 0.0)):
        rng, design = np.random.default_rng(3), Design(scenario, 6000, 12, 0.0)
        found = corpora.simulate(rng, design, share=[effect], tone=[0.0]).words["gender"]
        own = corpora.SCENARIOS[scenario]
        shift = shares(found)[:, 0, 0] - shares(found)[:, 1, 0]
        if scenario == "rare":
            assert np.nanmean(shift) == pytest.approx(effect * own.named, abs=4 * error(shift))
            named = (found[:, -1, :, 0] > 0).any(axis=1).mean()
            assert named == pytest.approx(own.named, abs=0.015)
        mentions = [found[..., i][found[..., i] > 0].mean() for i in (0, 1)]
        assert mentions[0] / mentions[1] == pytest.approx(own.mention, rel=0.05)


@pytest.mark.parametrize("scenario", ["runs", "uneven", "cast"])
def test_sentences_of_a_text_are_more_alike_than_chance(scenario: str) -> None:
    """A text's sentences share more of their gender than those of two texts on its story."""
    design = Design(scenario, 2000, 12, 0)
    found = corpora.simulate(np.random.default_rng(2), design, share=[0], tone=[0])
    women = shares(found.words["gender"])[..., 0]
    n = found.words["gender"].sum(axis=(2, 3))
    story = np.nanmean((women[:, 0] - corpora.WOMEN) * (women[:, 1] - corpora.WOMEN))
    inner = corpora.WOMEN * (1 - corpora.WOMEN) - story
    by_words = inner * np.nanmean(1 / n[:, 0][n[:, 0] > 0])
    assert np.nanvar(women[:, 0]) - story > 1.5 * by_words
