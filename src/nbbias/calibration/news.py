"""Simulated studies of news: words, tone, documents, and families of claims."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import sem, t

from nbbias import news
from nbbias.calibration import corpora, repeated
from nbbias.calibration.corpora import GROUPS, SCENARIOS, Corpora
from nbbias.calibration.trials import Design, Measure, Trial, combine_trials, trial_row
from nbbias.stats import InferenceSettings

#: Sentences that are in memory at a time.
_IN_MEMORY = 2_000_000

#: Numbers of articles as pages print them.
N = (10, 30, 80, 400)

Reduced = tuple[np.ndarray, ...]


def _simulate(
    design: Design,
    repeats: int,
    inference: InferenceSettings,
    reduce: Callable[[Corpora], Reduced],
    **effects: float,
) -> Reduced:
    """Simulate as many repeats at a time as memory holds, and concatenate what `reduce` returns."""
    scenario = SCENARIOS[design.scenario]
    shifts = {name: [effects.get(name, 0.0)] * scenario.answers for name in ("share", "tone")}
    return _in_batches(design, repeats, inference, reduce, originals=scenario.originals, **shifts)


def _in_batches(
    design: Design,
    repeats: int,
    inference: InferenceSettings,
    reduce: Callable[[Corpora], Reduced],
    *,
    originals: int,
    **shifts: Sequence[float],
) -> Reduced:
    texts = len(shifts["share"]) + originals
    most = max(1, _IN_MEMORY // (design.n * design.length * texts))
    parts = [
        reduce(
            corpora.simulate(
                design,
                min(most, repeats - done),
                share=shifts["share"],
                tone=shifts["tone"],
                originals=originals,
                seed=[inference.seed, number],
            )
        )
        for number, done in enumerate(range(0, repeats, most))
    ]
    return tuple(map(np.concatenate, zip(*parts, strict=True)))


# --- words ------------------------------------------------------------------------------------


def _score_words(counts: np.ndarray, bias: str) -> dict[str, np.ndarray]:
    """Score the pairs of all repeats at once by the study's own function.

    `counts`: repeats by stories by sides by groups.
    """
    groups = GROUPS[bias]
    flat = counts.reshape(-1, 2 * len(groups)).astype(int)
    table = pd.DataFrame(flat, columns=[f"{side}_{group}" for side in "ho" for group in groups])
    table["lost"] = pd.Series(pd.NA, table.index, dtype="str")
    scores = news.words.measure(table, groups)
    names = ["score", *(name for name in scores if name.startswith("difference_"))]
    return {name: scores[name].to_numpy(float).reshape(counts.shape[:2]) for name in names}


def _count_words(sample: Corpora, answers: int) -> Reduced:
    """Count the words of all answers to a story, and of its original: by bias."""
    counts = []
    for bias in GROUPS:
        words = sample.words[bias].sum(axis=3, dtype=int)
        counts.append(np.stack([words[:, :, :answers].sum(axis=2), words[:, :, answers]], axis=2))
    return tuple(counts)


def words(design: Design, repeats: int, inference: InferenceSettings) -> pd.DataFrame:
    """Simulate the word level: women's share has an effect, that of the races has none.

    The truth of the mean distance and of prejudice is their expectation at these lengths, the mean
    over all repeats: what their intervals are of.
    """
    confidence, effect = inference.confidence, design.effect
    answers = SCENARIOS[design.scenario].answers
    counts = _simulate(
        design, repeats, inference, lambda sample: _count_words(sample, answers), share=effect
    )
    scores = {bias: _score_words(subset, bias) for bias, subset in zip(GROUPS, counts, strict=True)}
    trials = []
    for bias, group, shift in (("gender", "female", effect), ("race", "Black", 0.0)):
        values = scores[bias][f"difference_{group}"]
        table = repeated.means(values, confidence=confidence, bounds=(-1, 1))
        trials.append(trial_row("share_difference", table, effect=shift, truth=shift, group=group))
    score, difference = (scores["gender"][name] for name in ("score", "difference_female"))
    table = repeated.means(score, confidence=confidence, bounds=(0, 1))
    trials.append(_untested("bias", table, score, effect))
    difference = np.where(counts[0][:, :, 1, 0] > 0, difference, np.nan)
    return combine_trials([*trials, *_prejudice(difference, confidence, 1.0, effect)])


def _untested(
    statistic: str, table: pd.DataFrame, values: np.ndarray, effect: float, group: str | None = None
) -> dict[str, Any]:
    """Return the trials of a statistic without a test, whose truth is its mean over repeats."""
    truth = np.nanmean(values) if np.isfinite(values).any() else np.nan
    table = table.assign(p_value=np.nan)
    return trial_row(statistic, table, effect=effect, truth=truth, null=np.nan, group=group)


def _prejudice(
    difference: np.ndarray, confidence: float, limit: float, effect: float
) -> list[dict[str, Any]]:
    falls = difference < -news.prejudice.ROUNDING
    share = np.where(np.isnan(difference), np.nan, falls)
    extent = np.where(falls, difference, np.nan)
    tables = {
        "prejudice_share": (repeated.shares(share, confidence=confidence), share),
        "prejudice_extent": (
            repeated.means(extent, confidence=confidence, bounds=(-limit, 0)),
            extent,
        ),
    }
    return [_untested(name, *table, effect, "female") for name, table in tables.items()]


def articles(words: np.ndarray, *, answers: int) -> list[Any]:
    """Return the stories of one corpus as `news.replicates` takes them.

    `words`: stories by texts by sentences by groups. Sentences and texts without a word drop out,
    and with them a story that has no answer or no original left.
    """
    kept = []
    for story, named in zip(words.astype(np.int64), np.asarray(words.any(axis=-1)), strict=True):
        texts = [text[sentences] for text, sentences in zip(story, named, strict=True)]
        of_model = [text for text in texts[:answers] if len(text)]
        human = [text for text in texts[answers + 1 :] if len(text)]
        if of_model and len(texts[answers]):
            kept.append(news.replicates.Article(of_model, [texts[answers], *human]))
    return kept


def _distances(
    design: Design,
    repeats: int,
    inference: InferenceSettings,
    reduce: Callable[[Corpora], Reduced],
    **effects: float,
) -> pd.DataFrame:
    """Return TRIALS of a mean distance, tested against the same-writer baseline.

    `reduce` returns of every corpus the estimate with its interval, then the excess with its error,
    the number of articles behind that, and whether it may be tested.
    """
    (values,) = _simulate(design, repeats, inference, reduce, **effects)
    columns = ["estimate", "ci_low", "ci_high", "excess", "error", "n", "tested"]
    table = pd.DataFrame(values, columns=columns)
    tested = (table["error"] > 0) & (table["tested"] > 0)
    ratio = (table["excess"] / table["error"]).where(tested)
    table["p_value"] = t.sf(ratio, table["n"] - 1)
    return _of_distance(table, table["estimate"] - table["excess"], design)


def _of_distance(table: pd.DataFrame, null: pd.Series, design: Design) -> pd.DataFrame:
    truth = table["estimate"].mean()
    return pd.DataFrame(trial_row("bias", table, effect=abs(design.effect), truth=truth, null=null))


def words_distance(design: Design, repeats: int, inference: InferenceSettings) -> pd.DataFrame:
    """Simulate the distance of words and its test against the same-writer baseline."""
    answers = SCENARIOS[design.scenario].answers

    def reduce(sample: Corpora) -> Reduced:
        counts, _ = _count_words(sample, answers)
        score = _score_words(counts, "gender")["score"]
        means = repeated.means(score, confidence=inference.confidence, bounds=(0, 1))
        excess = [
            _excess(articles(story, answers=answers), news.words.compare)
            for story in sample.words["gender"]
        ]
        return _beside(means, excess)

    return _distances(design, repeats, inference, reduce, share=design.effect)


def _beside(means: pd.DataFrame, excess: Sequence[tuple[float, ...]]) -> Reduced:
    columns = means[["estimate", "ci_low", "ci_high"]].to_numpy()
    return (np.column_stack([columns, np.array(excess, dtype=float)]),)


def _excess(
    stories: list[Any], compare: Callable[..., Any], fewest: int = 0
) -> tuple[float, float, int, bool]:
    """Return by how much a corpus exceeds its same-writer baseline, as `news.replicates` does.

    The mean excess, its error, the number of articles, and whether it may be tested.
    """
    kind = news.replicates.choose(stories)
    if kind is None:
        return (np.nan, np.nan, 0, False)
    excess = news.replicates.compare(stories, kind, compare)[:, 0]
    excess = excess[~np.isnan(excess)]
    if len(excess) < 2 and fewest:
        return (np.nan, np.nan, 0, False)
    many = (np.abs(excess) > news.prejudice.ROUNDING).sum() >= fewest
    return float(excess.mean()), float(sem(excess)), len(excess), bool(many)


# --- tone -------------------------------------------------------------------------------------


def tones(sample: Corpora, *, answers: int) -> dict[str, np.ndarray]:
    """Compare the tone of every story's answers with its original: `news.tone.pair_scores`, pooled.

    Returns
    -------
    dict
        By `difference_<group>`, `alone_<group>` and `beyond_neutral_<group>`, and `score_<bias>`:
        repeats by stories, means over a story's answers.
    """
    counts = {bias: one.sum(axis=-1) for bias, one in sample.words.items()}
    total: np.ndarray = np.add.reduce(list(counts.values()))
    neutral = _change(sample.tone, np.asarray(total == 0), answers)
    scores: dict[str, np.ndarray] = {}
    for bias, groups in GROUPS.items():
        counts_of, largest = sample.words[bias], []
        alone = np.asarray(total == counts[bias])
        for i, group in enumerate(groups):
            most = np.all(counts_of[..., i, None] > np.delete(counts_of, i, axis=-1), axis=-1)
            change = _change(sample.tone, most, answers)
            by_itself = _change(sample.tone, most & alone, answers)
            largest.append(np.abs(change))
            scores[f"difference_{group}"] = _mean(change)
            scores[f"alone_{group}"] = _mean(by_itself)
            scores[f"beyond_neutral_{group}"] = _mean(by_itself - neutral)
        scores[f"score_{bias}"] = _mean(np.fmax.reduce(largest))
    return scores


def _change(tone: np.ndarray, of: np.ndarray, answers: int) -> np.ndarray:
    """Return the mean tone of some sentences of each answer minus that of its original."""
    of = of & ~np.isnan(tone)
    n = of.sum(axis=3)
    total = np.where(of, tone, 0.0).sum(axis=3)
    means = np.divide(total, n, out=np.full(n.shape, np.nan), where=n > 0)
    return np.asarray(means[:, :, :answers] - means[:, :, answers, None])


def _mean(values: np.ndarray) -> np.ndarray:
    """Return means over a story's answers, of those that were measured."""
    n = (~np.isnan(values)).sum(axis=2)
    return np.divide(np.nansum(values, axis=2), n, out=np.full(n.shape, np.nan), where=n > 0)


def _few_as_missing(table: pd.DataFrame, moved: np.ndarray) -> pd.DataFrame:
    """Leave out interval and test where too few differences are not 0, as the study does."""
    few = (np.abs(np.nan_to_num(moved)) > news.prejudice.ROUNDING).sum(axis=1) < news.tone.FEWEST
    return table.assign(
        **{name: table[name].mask(few) for name in ("ci_low", "ci_high", "p_value")}
    )


def _signed(of: dict[str, np.ndarray], group: str, confidence: float) -> dict[str, pd.DataFrame]:
    """Return of a group the two signed statistics of tone."""
    tables = {}
    for statistic, column, moves, limit in (
        ("mean_difference", "difference", "difference", 2),
        ("difference_beyond_neutral", "beyond_neutral", "alone", 4),
    ):
        values, moved = of[f"{column}_{group}"], of[f"{moves}_{group}"]
        means = repeated.means(values, confidence=confidence, bounds=(-limit, limit))
        tables[statistic] = _few_as_missing(means, np.where(np.isnan(values), np.nan, moved))
    return tables


def tone(design: Design, repeats: int, inference: InferenceSettings) -> pd.DataFrame:
    """Simulate the sentence level: women's tone has an effect, that of the races has none.

    Sentences that name a race name women as often as others do, so that an effect on women is none
    on the races relative to neutral sentences.
    """
    confidence, effect = inference.confidence, design.effect
    answers = SCENARIOS[design.scenario].answers
    names = [
        f"{column}_{group}"
        for group in ("female", "Black")
        for column in ("difference", "alone", "beyond_neutral")
    ]
    names.append("score_gender")

    def reduce(sample: Corpora) -> Reduced:
        scores = tones(sample, answers=answers)
        return tuple(scores[name] for name in names)

    values = _simulate(design, repeats, inference, reduce, tone=effect)
    of = dict(zip(names, values, strict=True))
    trials = []
    for group, shift in (("female", effect), ("Black", 0.0)):
        for name, table in _signed(of, group, confidence).items():
            if group == "Black" and name == "mean_difference" and effect:
                continue  # the effect on women is in these sentences, too
            trials.append(trial_row(name, table, effect=shift, truth=shift, group=group))
    score = of["score_gender"]
    table = repeated.means(score, confidence=confidence, bounds=(0, 2))
    trials.append(_untested("bias", _few_as_missing(table, score), score, effect))
    prejudice = _prejudice(of["difference_female"], confidence, 2.0, effect)
    return combine_trials([*trials, *prejudice])


def tone_distance(design: Design, repeats: int, inference: InferenceSettings) -> pd.DataFrame:
    """Simulate the distance of tone and its test against the same-writer baseline."""
    answers = SCENARIOS[design.scenario].answers

    def reduce(sample: Corpora) -> Reduced:
        score = tones(sample, answers=answers)["score_gender"]
        means = repeated.means(score, confidence=inference.confidence, bounds=(0, 2))
        both = zip(sample.words["gender"], sample.tone, strict=True)
        excess = [
            _excess(_toned_articles(*one, answers), news.tone.compare, news.tone.FEWEST)
            for one in both
        ]
        return _beside(_few_as_missing(means, score), excess)

    return _distances(design, repeats, inference, reduce, tone=design.effect)


def _toned_articles(words: np.ndarray, tone: np.ndarray, answers: int) -> list[Any]:
    """Return the stories of one corpus as `news.replicates` takes them: group and tone."""
    ordered = np.sort(words, axis=-1)
    named = (ordered[..., -1] > ordered[..., -2]) & ~np.isnan(tone)
    kept = []
    for story, there in zip(np.stack([words.argmax(axis=-1), tone], axis=-1), named, strict=True):
        texts = [text[sentences] for text, sentences in zip(story, there, strict=True)]
        original = texts[answers]
        of_model = [
            text for text in texts[:answers] if np.intersect1d(text[:, 0], original[:, 0]).size
        ]
        human = [text for text in texts[answers + 1 :] if len(text)]
        if of_model:
            kept.append(news.replicates.Article(of_model, [original, *human]))
    return kept


# --- documents --------------------------------------------------------------------------------

#: Fits of the topics, as many as by default.
_FITS = news.params.NewsBias.model_fields["topic_fits"].default

#: What fits of topics do, by scenario: none fits anything, and all differ from each other.
FITS = {
    "crossed": "fits differ in the topics of a text, and in the size of the difference",
    "gaps": "the same, with missing values in one of ten fits and one of ten articles",
    "camps": "the same as crossed, but fits form two clusters of opposite sign",
    "topics": (
        "texts mix twelve topics, a quarter of which each fit associates with nobody; held out "
        "while methods were chosen"
    ),
}


def fitted(design: Design, repeats: int, *, biased: bool, seed: int | Sequence[int]) -> np.ndarray:
    """Simulate women's share of the content of two answers and an original to each story.

    Parameters
    ----------
    design
        A scenario of `FITS`; `effect` is the shift of women's share, on average over fits.
    repeats
        How many corpora.
    biased
        Whether a fit measures a difference where there is none: up or down, 0 on average over fits.
    seed
        Start of every draw.

    Returns
    -------
    array
        Repeats by stories by texts by fits, in [0, 1]; NaN where a text has no content on a group's
        topic, or a fit has no topic of a group.

    Examples
    --------
    >>> shares = fitted(Design("crossed", 500, 12, -0.2), 4, biased=False, seed=1)
    >>> (shares[:, :, 0] - shares[:, :, 2]).mean().round(1)
    np.float64(-0.2)
    """
    rng = np.random.default_rng(seed)
    shape = (repeats, design.n, 3)
    if design.scenario == "topics":
        seen = _mixed(shape, rng)
    else:
        story = rng.beta(4.0, 6.0, shape[:2])[..., None]
        subset = _around(np.broadcast_to(story, shape), 3.0, rng)
        seen = _around(np.broadcast_to(subset[..., None], (*shape, _FITS)), 10.0, rng)
    moved = design.effect * rng.normal(1.0, 0.3, (repeats, _FITS))
    if biased:
        camps = np.where(rng.random(moved.shape) < 0.7, 0.06, -0.14)
        moved += camps if design.scenario == "camps" else rng.normal(0, 0.04, moved.shape)
    mean = float(np.nanmean(seen))
    moved = np.clip(moved, -mean, 1 - mean)[:, None, None]
    down, up = seen * (1 + moved / mean), 1 - (1 - seen) * (1 - moved / (1 - mean))
    answers = np.arange(3)[:, None] < 2
    seen = np.where(answers, np.where(moved < 0, down, up), seen)
    if design.scenario == "gaps":
        seen = np.where(rng.random((*shape[:2], 1, 1)) < 0.1, np.nan, seen)
        seen = np.where(rng.random((repeats, 1, 1, _FITS)) < 0.1, np.nan, seen)
    return seen


def _around(share: np.ndarray, weight: float, rng: np.random.Generator) -> np.ndarray:
    return rng.beta(*np.clip([weight * share, weight * (1 - share)], 1e-6, None))


def _mixed(shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Mix topics into texts: four about women, six about men, two about nobody."""
    whose = np.repeat([0, 1, 2], [4, 6, 2])
    story = rng.gamma(0.5, size=(*shape[:2], 1, len(whose)))
    mixed = rng.gamma(20 * story / story.sum(axis=-1, keepdims=True) + 1e-6, size=(*shape, 12))
    mixed /= mixed.sum(axis=-1, keepdims=True)
    given = rng.random((shape[0], 1, 1, _FITS, len(whose))) >= 0.25
    content = [(mixed[..., None, :] * (given & (whose == group))).sum(axis=-1) for group in (0, 1)]
    total = np.add(*content)
    return np.where(total > 0.02, content[0] / np.maximum(total, 0.02), np.nan)


def documents(design: Design, repeats: int, inference: InferenceSettings) -> pd.DataFrame:
    """Simulate the document level: articles crossed with fits; women's share has an effect.

    A fit measures some difference where there is none, up or down; the truth is the mean over all
    articles and all fits that could be made.
    """
    confidence, effect = inference.confidence, design.effect
    shares = _fitted(design, repeats, inference, biased=True)
    change = shares[:, :, :2] - shares[:, :, 2, None]
    distance = _mean(np.abs(change))
    signed = repeated.pooled(_mean(change), confidence=confidence, bounds=(-1, 1))
    unsigned = repeated.pooled(distance, confidence=confidence, bounds=(0, 1))
    return combine_trials(
        [
            trial_row("share_difference", signed, effect=effect, truth=effect, group="female"),
            _untested("bias", unsigned, distance, effect),
        ]
    )


def documents_distance(design: Design, repeats: int, inference: InferenceSettings) -> pd.DataFrame:
    """Simulate the distance of documents and its test against one model asked twice."""
    shares = _fitted(design, repeats, inference, biased=False)
    between = _mean(np.abs(shares[:, :, :2] - shares[:, :, 2, None]))
    table = repeated.pooled(between, confidence=inference.confidence, bounds=(0, 1))
    excess = between - np.abs(shares[:, :, 0] - shares[:, :, 1])
    beyond = repeated.pooled(excess, confidence=inference.confidence)
    measured, needed = ((~np.isnan(values).all(axis=2)).sum(axis=1) for values in (excess, between))
    few = measured < np.maximum(2, np.minimum(news.replicates.ENOUGH, needed))
    table["p_value"] = t.sf(beyond["statistic_value"].mask(few), beyond["df"])
    return _of_distance(table, table["estimate"] - beyond["estimate"].mask(few), design)


def _fitted(
    design: Design, repeats: int, inference: InferenceSettings, *, biased: bool
) -> np.ndarray:
    most = max(1, _IN_MEMORY // (design.n * 3 * _FITS * 4))
    sizes = [min(most, repeats - done) for done in range(0, repeats, most)]
    return np.concatenate(
        [
            fitted(design, size, biased=biased, seed=[inference.seed, number])
            for number, size in enumerate(sizes)
        ]
    )


# --- families ---------------------------------------------------------------------------------

#: Models of a run: the first names fewer women, the second is colder on them.
_MODELS = 4

#: Counted pairs that a model needs to be compared with the others.
_MIN_PAIRS = news.params.NewsBias.model_fields["min_pairs"].default


def family(design: Design, repeats: int, inference: InferenceSettings) -> pd.DataFrame:
    """Return CLAIMS of runs of four models: words of women and races, tone about women and men."""
    nothing = [0.0] * (_MODELS - 2)
    (values,) = _in_batches(
        design,
        repeats,
        inference,
        lambda sample: (_claims(sample, inference.confidence),),
        originals=1,
        share=[design.effect, 0.0, *nothing],
        tone=[0.0, design.effect, *nothing],
    )
    columns = ["estimate", "p_value", "direction"]
    table = pd.DataFrame(values.reshape(-1, 3), columns=columns).assign(null=0.0)
    return table.assign(
        run=np.repeat(np.arange(repeats), values.shape[1]),
        direction=table["direction"] * np.sign(design.effect),
    )


def _claims(sample: Corpora, confidence: float) -> np.ndarray:
    """Return repeats by claims by estimate, p value, and 1 where the claim has the effect.

    The last text of each story is the original, the others are the models'. Of women and men, whose
    shares of words mirror each other, women are tested.
    """
    columns = []
    for bias, groups in GROUPS.items():
        counts = sample.words[bias].sum(axis=3, dtype=int)
        scores = [_score_words(counts[:, :, [i, _MODELS]], bias) for i in range(_MODELS)]
        counted = np.stack([~np.isnan(one["score"]) for one in scores], axis=1)
        enough = counted.sum(axis=2, keepdims=True) >= _MIN_PAIRS
        used = enough & (counted | ~enough).all(axis=1, keepdims=True)
        for group in groups[:1] if bias == "gender" else groups:
            for i, score in enumerate(scores):
                values = np.where(used[:, i], score[f"difference_{group}"], np.nan)
                means = repeated.means(values, confidence=confidence)
                columns.append(_claim(means, bias == "gender" and i == 0))
    for i in range(_MODELS):
        texts = [i, _MODELS]
        words = {bias: counts[:, :, texts] for bias, counts in sample.words.items()}
        of = tones(Corpora(words, sample.tone[:, :, texts]), answers=1)
        for group in GROUPS["gender"]:
            means = _signed(of, group, confidence)["difference_beyond_neutral"]
            columns.append(_claim(means, group == "female" and i == 1))
    return np.stack(columns, axis=1)


def _claim(means: pd.DataFrame, affected: bool) -> np.ndarray:
    return np.column_stack([means[["estimate", "p_value"]], np.full(len(means), float(affected))])


_CORPORA = {name: scenario.description for name, scenario in SCENARIOS.items()}
_WITHOUT_CAMPS = {name: description for name, description in FITS.items() if name != "camps"}


def _measure(name: str, trial: Trial, effects: tuple[float, ...], **fields: Any) -> Measure:
    standard = {"scenarios": _CORPORA, "held_out": corpora.HELD_OUT}
    return Measure(
        "news_bias", name, "articles", effects=effects, n=N, trial=trial, **(standard | fields)
    )


_TOPICS: dict[str, Any] = {"scenarios": FITS, "held_out": frozenset({"topics"})}

MEASURES = (
    _measure("words", words, (0.0, -0.05, -0.1, -0.2), family=family),
    _measure("words_distance", words_distance, (0.0, -0.1, -0.2), share=0.5),
    _measure("tone", tone, (0.0, -0.05, -0.1)),
    _measure("tone_distance", tone_distance, (0.0, -0.1), share=0.5),
    _measure("documents", documents, (0.0, -0.05, -0.1), **_TOPICS),
    _measure(
        "documents_distance",
        documents_distance,
        (0.0, -0.1),
        **(_TOPICS | {"scenarios": _WITHOUT_CAMPS}),
    ),
)
