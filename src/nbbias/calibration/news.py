"""Simulated studies of news: words, tone, documents, and families of claims."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
import pandas as pd
from numpy.random import Generator

from nbbias import news, stats
from nbbias.calibration import corpora
from nbbias.calibration.corpora import GROUPS, SCENARIOS, Corpus
from nbbias.calibration.trials import Design, Row, listed, trial_row

# --- words ------------------------------------------------------------------------------------


def _differences(answers: np.ndarray, originals: np.ndarray, bias: str) -> pd.DataFrame:
    """Return each group's difference of shares by the study's own function.

    `answers`, `originals`: counts of group words, stories by groups.
    """
    differences = news.words.subtract_shares(answers.T, originals.T)
    return pd.DataFrame(differences.T, columns=list(GROUPS[bias]))


def words(rng: Generator, design: Design, confidence: float) -> Iterator[Row]:
    """Simulate the word level: women's share has an effect, that of the races has none.

    Only women are measured in a scenario in which they alone are mentioned otherwise.
    """
    scenario, effect = SCENARIOS[design.scenario], design.effect
    nothing = [0.0] * scenario.answers
    sample = corpora.simulate(rng, design, share=[effect] * scenario.answers, tone=nothing)
    groups = [("gender", "female", effect * scenario.named), ("race", "Black", 0.0)]
    for bias, group, shift in groups[: 2 if scenario.named == scenario.mention else 1]:
        counts = sample.words[bias].sum(axis=2)
        values = _differences(counts[:, :-1].sum(axis=1), counts[:, -1], bias)[group]
        columns = {"share_difference": values}
        if group == "female":
            columns["share_difference_passages"] = compare_passages(sample, bias)[:, 0]
        for statistic, shares in columns.items():
            row = stats.sparse_mean(shares, confidence=confidence).row()
            yield trial_row(statistic, row, effect=shift, group=group)


def compare_passages(sample: Corpus, bias: str) -> np.ndarray:
    """Compare texts at equal length by the study's own function: its columns, a row an article."""
    upto = np.pad(sample.words[bias].cumsum(axis=2), [(0, 0), (0, 0), (1, 0), (0, 0)])
    ends = 1 + (~np.isnan(sample.tone)).sum(axis=2)
    whole = [[t[:n] for t, n in zip(texts, ends[i], strict=True)] for i, texts in enumerate(upto)]
    subtract = news.words.subtract_passages
    pairs = [[subtract(answer, texts[-1]) for answer in texts[:-1]] for texts in whole]
    return _mean(np.moveaxis(np.array(pairs), 1, -1))


def omissions(rng: Generator, design: Design, confidence: float) -> Iterator[Row]:
    """Simulate answers that name nobody, as many of those on articles about women as the effect."""
    truth = _true_omission(design._replace(n=_MANY)) if design.effect else 0.0
    row = _omission(rng, design, confidence)
    yield trial_row("omission_difference", row, effect=design.effect, truth=truth)


def _omission(rng: Generator, design: Design, confidence: float) -> Row:
    """Return the study's row of women."""
    nothing = [0.0] * SCENARIOS[design.scenario].answers
    sample = corpora.simulate(rng, design, share=nothing, tone=nothing)
    originals = sample.words["gender"][:, -1].sum(axis=1)
    omitted = (originals[:, 0] > originals[:, 1]) & (rng.random(design.n) < design.effect)
    sample.words["gender"][omitted, :-1] = 0
    units = pd.DataFrame(originals, columns=[f"o_{group}" for group in GROUPS["gender"]])
    omission = compare_passages(sample, "gender")[:, -1]
    units = units.assign(article_id=units.index.astype("str"), omission=omission)
    return news.shares.omissions(units, GROUPS["gender"], confidence=confidence)[0]


#: Articles behind a true value that no formula gives.
_MANY = 20_000


@cache
def _true_omission(design: Design) -> float:
    return float(_omission(np.random.default_rng(0), design, 0.95)["estimate"])


# --- tone -------------------------------------------------------------------------------------


def tone_shift(sample: Corpus, group: str, confidence: float) -> Row:
    """Estimate a group's shift of tone relative to neutral sentences: `news.tone`, answers pooled.

    Neither interval nor test where too few shifts are not 0.
    """
    bias = next(bias for bias, groups in GROUPS.items() if group in groups)
    totals = {name: counts.sum(axis=-1) for name, counts in sample.words.items()}
    total = sum(totals.values(), start=np.zeros(sample.tone.shape))
    at = GROUPS[bias].index(group)
    maximum = np.delete(sample.words[bias], at, axis=-1).max(axis=-1)
    alone = (sample.words[bias][..., at] > maximum) & (total == totals[bias])
    change, neutral = (_change(sample.tone, of) for of in (alone, total == 0))
    values, moved = _mean(change - neutral), _mean(change)
    row: Row = stats.one_sample(values, confidence=confidence, bounds=(-4, 4)).row()
    different = np.abs(moved[~np.isnan(values)]) > stats.intervals.ROUNDING
    if different.sum() < news.tone.FEWEST:
        row |= dict.fromkeys(("ci_low", "ci_high", "p_value"), np.nan)
    return row


def _change(tone: np.ndarray, of: np.ndarray) -> np.ndarray:
    """Return the mean tone of some sentences of each answer minus that of its original."""
    means = _mean(np.where(of, tone, np.nan))
    return np.asarray(means[:, :-1] - means[:, -1:])


def _mean(values: np.ndarray) -> np.ndarray:
    """Return means over the last axis, of those that were measured."""
    n = (~np.isnan(values)).sum(axis=-1)
    return np.divide(np.nansum(values, axis=-1), n, out=np.full(n.shape, np.nan), where=n > 0)


def tone(rng: Generator, design: Design, confidence: float) -> Iterator[Row]:
    """Simulate the sentence level: women's tone has an effect, that of the races has none.

    Sentences that name a race name women as often as others do, so that an effect on women is none
    on the races relative to neutral sentences.
    """
    answers, effect = SCENARIOS[design.scenario].answers, design.effect
    sample = corpora.simulate(rng, design, share=[0.0] * answers, tone=[effect] * answers)
    for group, shift in (("female", effect), ("Black", 0.0)):
        row = tone_shift(sample, group, confidence)
        yield trial_row("difference_beyond_neutral", row, effect=shift, group=group)


# --- documents --------------------------------------------------------------------------------

#: Fits of the topics, as many as by default.
_FITS = news.params.NewsBias.model_fields["topic_fits"].default


def fitted(rng: Generator, design: Design) -> np.ndarray:
    """Simulate women's share of the content of two answers and an original to each story.

    A fit measures some difference where there is none, up or down, 0 on average over fits.

    Parameters
    ----------
    rng, design
        The source of chance; the scenario, and the shift of women's share on average.

    Returns
    -------
    array
        Stories by texts by fits, in [0, 1]; NaN where a text has no content on a group's topic, or
        a fit has no topic of a group.

    Examples
    --------
    >>> shares = fitted(np.random.default_rng(1), Design("topics", 2000, 12, -0.2))
    >>> np.nanmean(shares[:, 0] - shares[:, 2]).round(1)
    np.float64(-0.2)
    """
    shape = (design.n, 3)
    if design.scenario == "topics":
        seen = _mixed(shape, rng)
    else:
        story = rng.beta(4.0, 6.0, design.n)[:, None]
        subset = _around(np.broadcast_to(story, shape), 3.0, rng)
        seen = _around(np.broadcast_to(subset[..., None], (*shape, _FITS)), 10.0, rng)
    moved = design.effect * rng.normal(1.0, 0.3, _FITS)
    camps = design.scenario == "camps"
    moved += rng.choice([0.06, -0.14], _FITS, p=[0.7, 0.3]) if camps else rng.normal(0, 0.04, _FITS)
    mean = float(np.nanmean(seen))
    moved = np.clip(moved, -mean, 1 - mean)
    answers = seen[:, :2]
    down, up = answers * (1 + moved / mean), 1 - (1 - answers) * (1 - moved / (1 - mean))
    seen[:, :2] = np.where(moved < 0, down, up)
    if design.scenario == "gaps":
        seen[rng.random(design.n) < 0.1] = np.nan
        seen[..., rng.random(_FITS) < 0.1] = np.nan
    return seen


def _around(share: np.ndarray, weight: float, rng: Generator) -> np.ndarray:
    return rng.beta(*np.clip([weight * share, weight * (1 - share)], 1e-6, None))


def _mixed(shape: tuple[int, ...], rng: Generator) -> np.ndarray:
    """Mix topics into texts: four about women, six about men, two about nobody."""
    whose = np.repeat([0, 1, 2], [4, 6, 2])
    story = rng.gamma(0.5, size=(shape[0], 1, len(whose)))
    share = story / story.sum(axis=-1, keepdims=True)
    mixed = rng.gamma(20 * share + 1e-6, size=(*shape, len(whose)))
    mixed /= mixed.sum(axis=-1, keepdims=True)
    present = rng.random((1, 1, _FITS, len(whose))) >= 0.25
    content = [
        (mixed[..., None, :] * (present & (whose == group))).sum(axis=-1) for group in (0, 1)
    ]
    total = np.add(*content)
    return np.where(total > 0.02, content[0] / np.maximum(total, 0.02), np.nan)


def documents(rng: Generator, design: Design, confidence: float) -> Iterator[Row]:
    """Simulate the document level: articles crossed with fits; women's share has an effect.

    The truth is the mean over all articles and all fits that could be made.
    """
    shares = fitted(rng, design)
    values = _mean(np.moveaxis(shares[:, :2] - shares[:, 2:], 1, -1))
    row = stats.pooled_mean(pd.DataFrame(values), confidence=confidence, bounds=(-1, 1)).row()
    yield trial_row("share_difference", row, effect=design.effect, group="female")


# --- families ---------------------------------------------------------------------------------

#: Models of a run: the first names fewer women, the second has a lower tone towards them.
_MODELS = 4

#: Counted pairs that a simulated model needs.
_MIN_PAIRS = 10


def family(rng: Generator, design: Design, confidence: float) -> Iterator[Row]:
    """Simulate a run of four models: words of women and races, tone about women and men.

    Of women and men, whose shares of words mirror each other, women are tested.
    """
    effect, nothing = design.effect, [0.0] * (_MODELS - 2)
    share, tone = [effect, 0.0, *nothing], [0.0, effect, *nothing]
    sample = corpora.simulate(rng, design, share=share, tone=tone)
    side = float(np.sign(effect))
    for bias, groups in GROUPS.items():
        counts = sample.words[bias].sum(axis=2)
        models = [_differences(counts[:, i], counts[:, -1], bias) for i in range(_MODELS)]
        for group in groups[:1] if bias == "gender" else groups:
            table = pd.DataFrame({i: model[group] for i, model in enumerate(models)})
            common = table.loc[:, table.count() >= _MIN_PAIRS].dropna()
            for i, values in common.items():
                direction = side * (group == "female" and i == 0)
                row = stats.sparse_mean(values, confidence=confidence).row()
                yield {"null": 0.0, "direction": direction, **row}
    for i in range(_MODELS):
        texts = [i, _MODELS]
        words = {bias: counts[:, texts] for bias, counts in sample.words.items()}
        subset = Corpus(words, sample.tone[:, texts])
        for group in GROUPS["gender"]:
            direction = side * (group == "female" and i == 1)
            yield {"null": 0.0, "direction": direction, **tone_shift(subset, group, confidence)}


MEASURES = (
    listed("news_bias", "words", "articles", (0.0, -0.05, -0.1, -0.2), words, family, share=0.5),
    listed("news_bias", "words_terse", "articles", (0.0,), words, share=8),
    listed("news_bias", "words_rare", "articles", (0.0, -0.2), words, share=2),
    listed("news_bias", "omissions", "articles", (0.0, 0.3), omissions, share=0.5),
    listed("news_bias", "tone", "articles", (0.0, -0.05, -0.1), tone),
    listed("news_bias", "documents", "articles", (0.0, -0.05, -0.1), documents),
)
