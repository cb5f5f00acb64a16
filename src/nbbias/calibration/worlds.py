"""Worlds of news in which the truth is known: no text, only whom each sentence is about, and how.

A story has a share of women of its own, and whoever writes about it draws from there. In no world
are sentences or texts drawn as a chance level of the studies would draw them: a sentence goes on
about the person of the one before, a text has a focus and a tone of its own, and texts of the two
sides differ in length. One world is made in another way than all others, of persons with a mood;
no method was tuned on it. One is of real articles, cut into parts, which have one writer.

What is planted is the same in each: so many points fewer of the words for people are women's, or
the sentences about women have so much less tone, on average over stories.

>>> corpora = of(Design("focus", 30, 12, 0.0), 5, share=[-0.2], tone=[0], originals=1, seed=1)
>>> corpora.words["gender"].shape[:3], corpora.tone.shape[:3]
((5, 30, 2), (5, 30, 2))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd

from nbbias import news, tables
from nbbias.calibration.counted import counted
from nbbias.calibration.trials import Design

#: The groups that are counted, by bias.
GROUPS = {"gender": ("female", "male"), "race": ("White", "Black", "Asian")}

#: How many people of a story are women, before a writer's shift: a Beta distribution.
_WOMEN = (4.0, 6.0)
WOMEN = _WOMEN[0] / sum(_WOMEN)

#: Shares of the descriptors, and of the sentences that hold one.
_RACES, _DESCRIBED = (0.5, 0.3, 0.2), 0.25

#: TextBlob's polarity of "good", "excellent", "happy", "wonderful", "pleasant", and of "bad",
#: "terrible", "sad", "awful", "unpleasant".
_SCORES = np.array([[0.7, 1, 0.8, 1, 0.733], [-0.7, -1, -0.5, -1, -0.65]])
_GAP = float(np.subtract(*_SCORES.mean(axis=1)))

#: Parts that a real article is cut into, and sentences with a word for women or men that it needs.
_PARTS, _ENOUGH = 4, 8

#: The articles of the world of halves, in the folder of data.
_ARTICLES = "news/llmfake_originals.parquet"


class Corpora(NamedTuple):
    """Repeats of a corpus: arrays of repeats by stories by texts by sentences.

    `words`: by bias, the counts of group words, with the groups of `GROUPS` last; `tone`: the
    score of each sentence, NaN beyond the end of a text. A story's answers come first.
    """

    words: Mapping[str, np.ndarray]
    tone: np.ndarray


class World(NamedTuple):
    """How a world's texts are written, and which there are of a story.

    `runs`: how likely a sentence goes on about the person of the one before; `focus`: the
    correlation that a text's own share of women alone gives two of its sentences; `shorter`: the
    length of answers over that of originals; `toned`: the share of sentences about women, and of
    all others, that have a tone; `answers`, `originals`: of one story.
    """

    told: str
    runs: float
    focus: float = 0.0
    shorter: float = 1.0
    toned: tuple[float, float] = (0.5, 0.5)
    answers: int = 2
    originals: int = 1


WORLDS = {
    "runs": World(
        "sentences in runs about one person; one model asked twice, two people on one story",
        0.5,
        originals=2,
    ),
    "focus": World(
        "runs, and a focus and a tone of each text; one model asked twice", 0.4, focus=0.15
    ),
    "uneven": World(
        "runs and focus; answers are half as long, and sentences about women have a tone more "
        "often; two people on one story",
        0.4,
        focus=0.15,
        shorter=0.5,
        toned=(0.7, 0.3),
        answers=1,
        originals=2,
    ),
    "cast": World(
        "one to four persons in a text, each with a mood and a weight of their own, lengths very "
        "uneven; never used while a method was made; one model asked twice",
        0.7,
        toned=(0.3, 0.3),
    ),
    "halves": World(
        "real articles cut into four parts that are dealt to the two sides, so that one writer is "
        "compared with themself; what is planted is swapped sentences, added tone",
        0.0,
        originals=2,
    ),
}

#: Worlds that no method was tuned on.
HELD_OUT = frozenset({"cast", "halves"})


def told() -> dict[str, str]:
    """Say of each world what it does that a null model does not.

    Examples
    --------
    >>> list(told())
    ['runs', 'focus', 'uneven', 'cast', 'halves']
    """
    return {name: world.told for name, world in WORLDS.items()}


def without() -> str | None:
    """Say why real articles are not among the worlds, or None where they are.

    Examples
    --------
    >>> told_why = without()
    >>> told_why is None or "NBBIAS_DATA" in told_why or "llmfake" in told_why
    True
    """
    try:
        path = tables.datasets.folder() / _ARTICLES
    except tables.DataError as error:
        return f"no real articles: {error}"
    return None if path.is_file() else f"no real articles: {path.name} is not in the data folder"


def of(
    design: Design,
    repeats: int,
    *,
    share: Sequence[float],
    tone: Sequence[float],
    originals: int,
    seed: int | Sequence[int],
) -> Corpora:
    """Simulate repeats of a corpus.

    Parameters
    ----------
    design
        The world, and how many stories and sentences; what is planted is said by answer.
    repeats
        How many corpora.
    share, tone
        Of each answer to a story, what is added to the share of the words for people that are
        women's, and to the mean tone of the sentences about them.
    originals
        Texts by people on each story.
    seed
        Start of every draw.

    Returns
    -------
    Corpora
        Of each story first the answers, then the originals.

    Raises
    ------
    ValueError
        A world cannot hold as much: there are not so many words or tones to be moved.

    Examples
    --------
    >>> design = Design("runs", 2000, 12, 0.0)
    >>> many = of(design, 2, share=[-0.2], tone=[0], originals=1, seed=1)
    >>> women = many.words["gender"].sum(axis=3)
    >>> shift = (women[..., 0].sum(axis=1) / women.sum(axis=(1, 3))) @ [1, -1]
    >>> shift.round(1).tolist()
    [-0.2, -0.2]
    """
    rng = np.random.default_rng(seed)
    nothing = np.zeros(originals)
    shifts = np.append(share, nothing), np.append(tone, nothing)
    if design.world == "halves":
        return _real(design, repeats, shifts, rng)
    world, answers = WORLDS[design.world], np.arange(len(shifts[0])) < len(share)
    women = rng.beta(*_WOMEN, (repeats, design.n))[..., None] * _scale(shifts[0], WOMEN)
    written = _cast if design.world == "cast" else _written
    drawn = written(women, world, np.where(answers, world.shorter, 1.0) * design.length, rng)
    female, about, positive, there = drawn
    n = np.where(about & there, rng.choice([1, 2, 1, 1, 2], female.shape), 0).astype(np.int8)
    toned = np.where(female & about, *world.toned)
    flipped = -shifts[1] / (world.toned[0] * _GAP / 2)
    moved = (female & about) & (rng.random(female.shape) < np.abs(flipped)[:, None])
    if np.abs(flipped).max() > 1:
        raise ValueError(f"{design.world}: a tone cannot be moved by {np.abs(shifts[1]).max():g}")
    good = rng.random(female.shape) < positive
    good = np.where(moved, (flipped < 0)[:, None], good)
    scores = _SCORES[1 - good.astype(int), rng.integers(0, _SCORES.shape[1], female.shape)]
    scores = np.where(rng.random(female.shape) < toned, scores, 0.0)
    words = {"gender": np.stack([n * female, n * ~female], axis=-1), "race": _races(there, rng)}
    return Corpora(words, np.where(there, scores, np.nan))


def _scale(shift: np.ndarray, mean: float) -> np.ndarray:
    """Return by what a share is multiplied so that it is shifted on average."""
    scale = 1 + shift / mean
    if scale.min() < 0 or scale.max() * mean > 1:
        raise ValueError(f"a share of {mean:.2f} cannot be moved by {shift}")
    return scale


_Drawn = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def _written(
    women: np.ndarray, world: World, lengths: np.ndarray, rng: np.random.Generator
) -> _Drawn:
    """Write texts with runs and focus: of each sentence, is it about a woman, or about anybody.

    Then how likely its tone is a good one, and whether the text is as long.
    """
    if world.focus:
        weight = (1 - world.focus) / world.focus
        women = rng.beta(*np.clip([weight * women, weight * (1 - women)], 1e-6, None))
    size = (*women.shape, int(1.5 * lengths.max()) + 1)
    length = rng.integers(lengths // 2, lengths * 3 // 2 + 1, women.shape)
    there = np.arange(size[-1]) < length[..., None]
    female = _goes_on(rng.random(size) < women[..., None], world.runs, rng)
    mood = np.clip(0.5 + rng.normal(0, 0.15, women.shape), 0, 1)[..., None]
    return female, rng.random(size) < 0.6, np.broadcast_to(mood, size), there


def _cast(women: np.ndarray, world: World, lengths: np.ndarray, rng: np.random.Generator) -> _Drawn:
    """Write texts with a cast of persons, as `tests/nightly/test_held_out.py` does in words."""
    most, shape = 4, women.shape
    cast = np.arange(most) <= rng.binomial(most - 1, 0.4, shape)[..., None]
    genders = rng.random((*shape, most)) < women[..., None]
    moods = rng.normal(0, 0.15, (*shape, most))
    weight = rng.exponential(size=(*shape, most)) * cast
    weight = np.cumsum(weight / weight.sum(axis=-1, keepdims=True), axis=-1)
    length = np.clip(rng.lognormal(np.log(lengths), 0.5, shape), 4, 40).astype(int)
    size = (*shape, int(length.max()))
    person = (rng.random(size)[..., None] > weight[..., None, :-1]).sum(axis=-1)
    person = _goes_on(person, world.runs, rng)
    about = rng.random(size) < 0.6
    base = 0.5 + 0.08 * rng.standard_t(4, shape)[..., None]
    positive = base + np.where(about, np.take_along_axis(moods, person, axis=-1), 0.0)
    female = np.take_along_axis(genders, person, axis=-1)
    return female, about, positive, np.arange(size[-1]) < length[..., None]


def _goes_on(drawn: np.ndarray, runs: float, rng: np.random.Generator) -> np.ndarray:
    """Let each sentence have what the one before had, as likely as that."""
    fresh = rng.random(drawn.shape) >= runs
    fresh[..., 0] = True
    last = np.maximum.accumulate(np.where(fresh, np.arange(drawn.shape[-1]), 0), axis=-1)
    return np.take_along_axis(drawn, last, axis=-1)


def _races(there: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Let some sentences hold a descriptor: the story's own share of each, no writer's."""
    own = np.cumsum(rng.dirichlet(4 * np.array(_RACES), there.shape[:2]), axis=-1)
    drawn = (rng.random(there.shape)[..., None] > own[:, :, None, None, :-1]).sum(axis=-1)
    held = there & (rng.random(there.shape) < _DESCRIBED)
    return ((drawn[..., None] == np.arange(len(_RACES))) & held[..., None]).astype(np.int8)


# --- real articles ----------------------------------------------------------------------------


def _real(
    design: Design, repeats: int, shifts: tuple[np.ndarray, np.ndarray], rng: np.random.Generator
) -> Corpora:
    """Draw articles, and deal the parts of each to its texts."""
    (words, scores), (share, tone) = _parts(), shifts
    if len(share) > _PARTS:
        raise ValueError(f"an article is cut into {_PARTS} parts, and {len(share)} are asked for")
    article = rng.integers(0, len(scores), (repeats, design.n))
    part = np.argsort(rng.random((*article.shape, _PARTS)), axis=-1)[..., : len(share)]
    counts = {bias: own[article[..., None], part] for bias, own in words.items()}
    gender, drawn = counts["gender"], scores[article[..., None], part]
    mean = _mean_share(words["gender"])
    goal = (share < 0).astype(int)  # the group that words are given to
    often = np.abs(share) / np.where(share < 0, mean, 1 - mean)
    if often.max() > 1:
        raise ValueError(f"halves: a share of {mean:.2f} cannot be moved by {share}")
    swapped = rng.random(gender.shape[:-1]) < often[:, None]
    every = gender.sum(axis=-1, keepdims=True) * (np.arange(2) == goal[:, None])[:, None, :]
    gender = np.where(swapped[..., None], every, gender).astype(np.int8)
    female = gender[..., 0] > gender[..., 1]
    return Corpora(counts | {"gender": gender}, drawn + np.where(female, tone[:, None], 0.0))


def _mean_share(gender: np.ndarray) -> float:
    """Return women's share of a part's words, on average over those that have any."""
    counts = gender.sum(axis=2)
    total = counts.sum(axis=-1)
    return float((counts[..., 0][total > 0] / total[total > 0]).mean())


@cache
def _parts() -> Corpora:
    """Return the parts of real articles: counts of group words by bias, and tone of sentences.

    Articles by parts by sentences (by groups). Of articles with `_ENOUGH` sentences that name women
    or men; each part has as many sentences as the others, or one more.
    """
    real = sentences()
    gender = [f"n_{group}" for group in GROUPS["gender"]]
    named = real[gender].any(axis=1).groupby(real["text_id"]).sum()
    rows = real.groupby("text_id").indices
    cut = [np.array_split(rows[one], _PARTS) for one in named.index[named >= _ENOUGH]]
    longest = max(len(part) for own in cut for part in own)
    shape = (len(cut), _PARTS, longest)
    at = np.array(
        [np.pad(part, (0, longest - len(part)), constant_values=-1) for own in cut for part in own]
    ).reshape(shape)
    there = at >= 0
    words = {
        bias: np.where(
            there[..., None], real[[f"n_{group}" for group in groups]].to_numpy(np.int8)[at], 0
        )
        for bias, groups in GROUPS.items()
    }
    return Corpora(words, np.where(there, real["tone"].to_numpy()[at], np.nan))


def sentences() -> pd.DataFrame:
    """Return the sentences of the real articles, each article once, in order.

    Returns
    -------
    DataFrame
        `text_id`; `words`, how many it has; `n_<group>` of `GROUPS`; `tone`, by TextBlob. Empty
        where there are no articles (`without`).

    Examples
    --------
    >>> list(sentences())[:3]
    ['text_id', 'words', 'n_female']
    """
    if without():
        groups = [f"n_{group}" for own in GROUPS.values() for group in own]
        return pd.DataFrame(columns=["text_id", "words", *groups, "tone"])
    articles = news.corpus.read_originals(tables.datasets.folder() / _ARTICLES)
    texts = articles["text"].drop_duplicates().reset_index(drop=True)
    return counted(texts, news.lexicon([*GROUPS], paths={}, names_path=tables.SAMPLE), GROUPS)
