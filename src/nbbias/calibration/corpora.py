"""Simulated news corpora with a known truth: no text, only whom each sentence is about, and how.

A story has a share of women of its own, and whoever writes about it draws from there. In no
scenario are sentences or texts drawn as a null model of the studies would draw them: a sentence
continues with the person of the one before, a text has a focus and a tone of its own, and texts of
the two sides differ in length. One scenario is held out: it is generated in another way than all
others, from persons with a mood, and no method was tuned on it.

The true effect is the same in each: the share of words for people that are women's, or the tone of
sentences about women, shifted on average over stories.

>>> design = Design("focus", 30, 12, 0.0)
>>> corpus = simulate(np.random.default_rng(1), design, share=[-0.2], tone=[0])
>>> corpus.words["gender"].shape[:2], corpus.tone.shape[:2]
((30, 2), (30, 2))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from nbbias.calibration.trials import Design

#: The groups that are counted, by bias.
GROUPS = {"gender": ("female", "male"), "race": ("White", "Black", "Asian")}

#: The share of women in a story, before a writer's shift: a Beta distribution.
_WOMEN = (4.0, 6.0)
WOMEN = _WOMEN[0] / sum(_WOMEN)

#: Shares of the descriptors, and of the sentences that hold one.
_RACES, _DESCRIBED = (0.5, 0.3, 0.2), 0.25

#: TextBlob's polarity of "good", "excellent", "happy", "wonderful", "pleasant", and of "bad",
#: "terrible", "sad", "awful", "unpleasant".
_SCORES = np.array([[0.7, 1, 0.8, 1, 0.733], [-0.7, -1, -0.5, -1, -0.65]])
_GAP = float(np.subtract(*_SCORES.mean(axis=1)))


class Corpus(NamedTuple):
    """Arrays of stories by texts by sentences; of each story first the answers, last the original.

    `words`: by bias, the counts of group words, with the groups of `GROUPS` last; `tone`: the
    score of each sentence, NaN beyond the end of a text.
    """

    words: Mapping[str, np.ndarray]
    tone: np.ndarray


class Scenario(NamedTuple):
    """How texts are generated, and how many there are of a story.

    `runs`: the probability that a sentence
    continues with the person of the one before; `focus`: the correlation that a text's own share of
    women gives two of its sentences; `shorter`: the length of answers over that of originals;
    `toned`: the share of sentences about women, and of all others, that have a tone; `answers`: of
    one story; `named`: the share of stories with women; `mention`: the words of a sentence about a
    woman over those of one about a man.
    """

    runs: float
    focus: float = 0.0
    shorter: float = 1.0
    toned: tuple[float, float] = (0.5, 0.5)
    answers: int = 2
    named: float = 1.0
    mention: int = 1


#: What each has that a null model lacks stands in `words/scenarios.csv`.
SCENARIOS = {
    "runs": Scenario(0.5),
    "focus": Scenario(0.4, focus=0.15),
    "uneven": Scenario(0.4, focus=0.15, shorter=0.5, toned=(0.7, 0.3), answers=1),
    "cast": Scenario(0.7, toned=(0.3, 0.3)),
    "terse": Scenario(0.4, focus=0.15, shorter=0.35, answers=1, mention=3),
    "rare": Scenario(0.5, named=0.07),
}


def simulate(
    rng: Generator, design: Design, *, share: Sequence[float], tone: Sequence[float]
) -> Corpus:
    """Simulate a corpus.

    Parameters
    ----------
    rng, design
        The source of chance; the scenario, and how many stories and sentences.
    share, tone
        Of each answer to a story, what is added to the share of the words for people that are
        women's, and to the mean tone of the sentences about them; small enough that there are so
        many words or tones to change.

    Examples
    --------
    >>> design = Design("runs", 4000, 12, 0.0)
    >>> corpus = simulate(np.random.default_rng(1), design, share=[-0.2], tone=[0])
    >>> women = corpus.words["gender"].sum(axis=2)
    >>> (women[..., 0].sum(axis=0) / women.sum(axis=(0, 2))).round(1).tolist()
    [0.2, 0.4]
    """
    shares, tones = np.append(share, 0.0), np.append(tone, 0.0)
    scenario = SCENARIOS[design.scenario]
    women = rng.beta(*_WOMEN, (design.n, 1)) * (1 + shares / WOMEN)
    if scenario.named < 1:
        women *= rng.random((design.n, 1)) < scenario.named
    generate = _cast if design.scenario == "cast" else _focused
    lengths = design.length * np.append(np.full(len(share), scenario.shorter), 1.0)
    female, about, positive, there = generate(women, scenario, lengths, rng)
    n = np.where(about & there, rng.choice([1, 2, 1, 1, 2], female.shape), 0)
    toned = np.where(female & about, *scenario.toned)
    flipped = -tones / (scenario.toned[0] * _GAP / 2)
    moved = (female & about) & (rng.random(female.shape) < np.abs(flipped)[:, None])
    good = rng.random(female.shape) < positive
    good = np.where(moved, (flipped < 0)[:, None], good)
    scores = _SCORES[1 - good.astype(int), rng.integers(0, _SCORES.shape[1], female.shape)]
    scores = np.where(rng.random(female.shape) < toned, scores, 0.0)
    gender = np.stack([scenario.mention * n * female, n * ~female], axis=-1)
    words = {"gender": gender, "race": _races(there, rng)}
    return Corpus(words, np.where(there, scores, np.nan))


_Sentences = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def _focused(
    women: np.ndarray, scenario: Scenario, lengths: np.ndarray, rng: Generator
) -> _Sentences:
    """Generate texts with runs and focus.

    Of each sentence: is it about a woman; about anybody; the probability of a good tone; is it
    within the text.
    """
    if scenario.focus:
        weight = (1 - scenario.focus) / scenario.focus
        women = rng.beta(*np.clip([weight * women, weight * (1 - women)], 1e-6, None))
    size = (*women.shape, int(1.5 * lengths.max()) + 1)
    length = rng.integers(lengths // 2, lengths * 3 // 2 + 1, women.shape)
    there = np.arange(size[-1]) < length[..., None]
    female = _continue(rng.random(size) < women[..., None], scenario.runs, rng)
    mood = np.clip(0.5 + rng.normal(0, 0.15, women.shape), 0, 1)[..., None]
    return female, rng.random(size) < 0.6, np.broadcast_to(mood, size), there


def _cast(women: np.ndarray, scenario: Scenario, lengths: np.ndarray, rng: Generator) -> _Sentences:
    """Generate texts with a cast of persons."""
    most, shape = 4, women.shape
    cast = np.arange(most) <= rng.binomial(most - 1, 0.4, shape)[..., None]
    genders = rng.random((*shape, most)) < women[..., None]
    moods = rng.normal(0, 0.15, (*shape, most))
    weight = rng.exponential(size=(*shape, most)) * cast
    weight = np.cumsum(weight / weight.sum(axis=-1, keepdims=True), axis=-1)
    length = np.clip(rng.lognormal(np.log(lengths), 0.5, shape), 4, 40).astype(int)
    size = (*shape, int(length.max()))
    person = (rng.random(size)[..., None] > weight[..., None, :-1]).sum(axis=-1)
    person = _continue(person, scenario.runs, rng)
    about = rng.random(size) < 0.6
    base = 0.5 + 0.08 * rng.standard_t(4, shape)[..., None]
    positive = base + np.where(about, np.take_along_axis(moods, person, axis=-1), 0.0)
    female = np.take_along_axis(genders, person, axis=-1)
    return female, about, positive, np.arange(size[-1]) < length[..., None]


def _continue(drawn: np.ndarray, runs: float, rng: Generator) -> np.ndarray:
    """Give each sentence the value of the one before, with probability `runs`."""
    fresh = rng.random(drawn.shape) >= runs
    fresh[..., 0] = True
    last = np.maximum.accumulate(np.where(fresh, np.arange(drawn.shape[-1]), 0), axis=-1)
    return np.take_along_axis(drawn, last, axis=-1)


def _races(there: np.ndarray, rng: Generator) -> np.ndarray:
    """Count descriptors: the story has a share of each, the writer none."""
    bounds = np.cumsum(rng.dirichlet(4 * np.array(_RACES), len(there)), axis=-1)
    drawn = (rng.random(there.shape)[..., None] > bounds[:, None, None, :-1]).sum(axis=-1)
    held = there & (rng.random(there.shape) < _DESCRIBED)
    return ((drawn[..., None] == np.arange(len(_RACES))) & held[..., None]).astype(int)
