"""Calibration of the news studies: words, tone, documents, and the sentence that leads a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import sem, t

from nbbias import news, reading, tables
from nbbias.calibration import repeated, worlds
from nbbias.calibration.leads import TEXTS, saying, sayings, side_of
from nbbias.calibration.trials import Design, Measure, Trial
from nbbias.calibration.worlds import GROUPS, WORLDS, Corpora
from nbbias.reading import names
from nbbias.stats import InferenceSettings

#: Sentences of a world that are held at a time.
_HELD = 2_000_000

#: Numbers of articles as pages print them.
N = (10, 30, 80, 400)


def _drawn(
    design: Design,
    repeats: int,
    inference: InferenceSettings,
    reduce: Callable[[Corpora], tuple[np.ndarray, ...]],
    **planted: float,
) -> tuple[np.ndarray, ...]:
    """Simulate as many repeats at a time as memory holds, and keep what `reduce` makes of them."""
    world = WORLDS[design.world]
    shifts = {name: [planted.get(name, 0.0)] * world.answers for name in ("share", "tone")}
    most = max(1, _HELD // (design.n * design.length * (world.answers + world.originals)))
    parts = []
    for number, done in enumerate(range(0, repeats, most)):
        size, seed = min(most, repeats - done), [inference.seed, number]
        parts.append(
            reduce(worlds.of(design, size, **shifts, originals=world.originals, seed=seed))
        )
    return tuple(map(np.concatenate, zip(*parts, strict=True)))


def _rows(found: pd.DataFrame, statistic: str, group: Any = None, **known: Any) -> pd.DataFrame:
    """Return TRIALS of one statistic: what is not `known` is not."""
    row = {"statistic": statistic, "group": group, "planted": 0.0, "truth": np.nan, "null": 0.0}
    values = {"p_value": np.nan} | {name: found[name] for name in found}
    table = pd.DataFrame(row | values | known, index=found.index)
    return table[[*row, "estimate", "ci_low", "ci_high", "p_value"]]


def _possible(trial: Trial) -> Trial:
    """Let a trial give nothing where its world cannot be had: `worlds.without` says why."""

    @wraps(trial)
    def tried(design: Design, repeats: int, inference: InferenceSettings) -> pd.DataFrame:
        if design.world == "halves" and worlds.without():
            return pd.DataFrame()
        return trial(design, repeats, inference)

    return tried


# --- words ------------------------------------------------------------------------------------


def _scored(counts: np.ndarray, bias: str) -> dict[str, np.ndarray]:
    """Score the pairs of all repeats at once by the study's own function.

    `counts`: repeats by stories by sides by groups.
    """
    groups = GROUPS[bias]
    flat = counts.reshape(-1, 2, len(groups)).astype(int)
    names = [f"{side}_{group}" for side in "ho" for group in groups]
    table = pd.DataFrame(flat.reshape(len(flat), -1), columns=names)
    table["lost"] = pd.Series(pd.NA, table.index, dtype="str")
    scored = news.words.measure(table, groups)
    wanted = ["score", *(name for name in scored if name.startswith("difference_"))]
    return {name: scored[name].to_numpy(float).reshape(counts.shape[:2]) for name in wanted}


def _sides(corpora: Corpora, answers: int) -> tuple[np.ndarray, ...]:
    """Count the words of all answers to a story, and of its original: by bias."""
    found = []
    for bias in GROUPS:
        words = corpora.words[bias].sum(axis=3, dtype=int)
        found.append(np.stack([words[:, :, :answers].sum(axis=2), words[:, :, answers]], axis=2))
    return tuple(found)


@_possible
def words(design: Design, repeats: int, inference: InferenceSettings) -> pd.DataFrame:
    """Repeat the word level: women's share is planted, that of the races is left as it is.

    The truth of the mean distance and of prejudice is their expectation at these lengths, the mean
    over all repeats: what their intervals are of.
    """
    confidence, planted, world = inference.confidence, design.planted, WORLDS[design.world]
    counts = _drawn(
        design, repeats, inference, lambda one: _sides(one, world.answers), share=planted
    )
    of = {bias: _scored(own, bias) for bias, own in zip(GROUPS, counts, strict=True)}
    gender, rows = of["gender"], []
    for bias, group, shift in (("gender", "female", planted), ("race", "Black", 0.0)):
        found = repeated.means(
            of[bias][f"difference_{group}"], confidence=confidence, bounds=(-1, 1)
        )
        rows.append(_rows(found, "share_difference", group, planted=shift, truth=shift))
    same = {"p_value": np.nan, "planted": planted}
    score = gender["score"]
    found = repeated.means(score, confidence=confidence, bounds=(0, 1))
    rows.append(_rows(found, "bias", null=np.nan, truth=np.nanmean(score), **same))
    change = np.where(counts[0][:, :, 1, 0] > 0, gender["difference_female"], np.nan)
    rows += _prejudice(change, "female", confidence, reach=1.0, **same)
    return pd.concat(rows, ignore_index=True)


def _prejudice(
    change: np.ndarray, group: str, confidence: float, *, reach: float, **same: Any
) -> list[pd.DataFrame]:
    fell = np.where(np.isnan(change), np.nan, change < -news.prejudice.ROUNDING)
    found = []
    for kind, table, values in (
        ("prejudice_share", repeated.shares(fell, confidence=confidence), fell),
        (
            "prejudice_extent",
            repeated.means(
                falls := np.where(fell == 1, change, np.nan),
                confidence=confidence,
                bounds=(-reach, 0),
            ),
            falls,
        ),
    ):
        truth = np.nanmean(values) if np.isfinite(values).any() else np.nan
        found.append(_rows(table, kind, group, null=np.nan, truth=truth, **same))
    return found


def articles(words: np.ndarray, *, answers: int) -> list[Any]:
    """Return the stories of one corpus as `news.replicates` takes them.

    `words`: stories by texts by sentences by groups. Sentences and texts without a word drop out,
    and with them a story that has no answer or no original left.
    """
    told, found = np.asarray(words.any(axis=-1)), []
    for story, there in zip(words.astype(np.int64), told, strict=True):
        texts = [own[some] for own, some in zip(story, there, strict=True)]
        mine = [one for one in texts[:answers] if len(one)]
        people = [one for one in texts[answers + 1 :] if len(one)]
        if mine and len(texts[answers]):
            found.append(news.replicates.Article(mine, [texts[answers], *people]))
    return found


def _distances(
    design: Design,
    repeats: int,
    inference: InferenceSettings,
    reduce: Callable[[Corpora], tuple[np.ndarray, ...]],
    **planted: float,
) -> pd.DataFrame:
    """Return TRIALS of a mean distance beside its floor.

    `reduce` gives of every corpus the estimate with its interval, then the excess with its error,
    the articles behind that, and whether it may be tested.
    """
    (found,) = _drawn(design, repeats, inference, reduce, **planted)
    names = ["estimate", "ci_low", "ci_high", "excess", "error", "n", "tested"]
    table = pd.DataFrame(found, columns=names)
    known = (table["error"] > 0) & (table["tested"] > 0)
    ratio = (table["excess"] / table["error"]).where(known)
    table["p_value"] = t.sf(ratio, table.pop("n") - 1)
    null = table["estimate"] - table.pop("excess")
    return _rows(
        table, "bias", planted=abs(design.planted), truth=table["estimate"].mean(), null=null
    )


@_possible
def words_distance(design: Design, repeats: int, inference: InferenceSettings) -> pd.DataFrame:
    """Repeat the distance of the words beside what replicates give: its test against the floor."""
    answers = WORLDS[design.world].answers

    def reduce(corpora: Corpora) -> tuple[np.ndarray]:
        counts, _ = _sides(corpora, answers)
        score = _scored(counts, "gender")["score"]
        means = repeated.means(score, confidence=inference.confidence, bounds=(0, 1))
        beyond = []
        for words in corpora.words["gender"]:
            stories = articles(words, answers=answers)
            kind = news.replicates.choose(stories)
            excess = news.replicates.compare(stories, kind, news.words.compare) if kind else None
            beyond.append(_NOTHING if excess is None else (*_mean_error(excess[:, 0]), True))
        own = means[["estimate", "ci_low", "ci_high"]].to_numpy()
        return (np.column_stack([own, np.array(beyond, dtype=float)]),)

    return _distances(design, repeats, inference, reduce, share=design.planted)


#: Excess, its error, articles, and whether it is tested, where there are no replicates.
_NOTHING = (np.nan, np.nan, 0, False)


def _mean_error(excess: np.ndarray) -> tuple[float, float, int]:
    return float(excess.mean()), float(sem(excess)), len(excess)


# --- tone -------------------------------------------------------------------------------------


def tones(corpora: Corpora, *, answers: int) -> dict[str, np.ndarray]:
    """Compare the tone of every story's answers with its original: `news.tone.pair_scores`, pooled.

    Returns
    -------
    dict
        By `difference_<group>`, `alone_<group>` and `beyond_neutral_<group>`, and `score_<bias>`:
        repeats by stories, means over a story's answers.
    """
    counts = {bias: own.sum(axis=-1) for bias, own in corpora.words.items()}
    total: np.ndarray = np.add.reduce(list(counts.values()))
    neutral = _change(corpora.tone, np.asarray(total == 0), answers)
    found: dict[str, np.ndarray] = {}
    for bias, groups in GROUPS.items():
        own, largest = corpora.words[bias], []
        alone = np.asarray(total == counts[bias])
        for i, group in enumerate(groups):
            most = np.all(own[..., i, None] > np.delete(own, i, axis=-1), axis=-1)
            change = _change(corpora.tone, most, answers)
            by_itself = _change(corpora.tone, most & alone, answers)
            largest.append(np.abs(change))
            found[f"difference_{group}"] = _mean(change)
            found[f"alone_{group}"] = _mean(by_itself)
            found[f"beyond_neutral_{group}"] = _mean(by_itself - neutral)
        found[f"score_{bias}"] = _mean(np.fmax.reduce(largest))
    return found


def _change(tone: np.ndarray, of: np.ndarray, answers: int) -> np.ndarray:
    """Return the mean tone of some sentences of each answer less that of its original."""
    of = of & ~np.isnan(tone)
    n = of.sum(axis=3)
    total = np.where(of, tone, 0.0).sum(axis=3)
    means = np.divide(total, n, out=np.full(n.shape, np.nan), where=n > 0)
    return np.asarray(means[:, :, :answers] - means[:, :, answers, None])


def _mean(values: np.ndarray) -> np.ndarray:
    """Return means over a story's answers, of those that were measured."""
    n = (~np.isnan(values)).sum(axis=2)
    return np.divide(np.nansum(values, axis=2), n, out=np.full(n.shape, np.nan), where=n > 0)


def _told(found: pd.DataFrame, moved: np.ndarray) -> pd.DataFrame:
    """Leave out interval and test where too few differences are not 0, as the study does."""
    few = (np.abs(np.nan_to_num(moved)) > news.prejudice.ROUNDING).sum(axis=1) < news.tone.FEWEST
    gaps = [name for name in ("ci_low", "ci_high", "p_value") if name in found]
    return found.assign(**{name: found[name].mask(few) for name in gaps})


def _signed(of: dict[str, np.ndarray], group: str, confidence: float) -> dict[str, pd.DataFrame]:
    """Return of a group the two signed statistics of tone."""
    found = {}
    for statistic, column, moves, reach in (
        ("mean_difference", "difference", "difference", 2),
        ("difference_beyond_neutral", "beyond_neutral", "alone", 4),
    ):
        values, moved = of[f"{column}_{group}"], of[f"{moves}_{group}"]
        means = repeated.means(values, confidence=confidence, bounds=(-reach, reach))
        found[statistic] = _told(means, np.where(np.isnan(values), np.nan, moved))
    return found


@_possible
def tone(design: Design, repeats: int, inference: InferenceSettings) -> pd.DataFrame:
    """Repeat the sentence level: women's tone is planted, that of the races is left as it is.

    Sentences that name a race name women as often as others do, so that what is said of women is
    not to be told of the races beyond neutral.
    """
    confidence, planted, answers = (
        inference.confidence,
        design.planted,
        WORLDS[design.world].answers,
    )
    names = [
        f"{column}_{group}"
        for group in ("female", "Black")
        for column in ("difference", "alone", "beyond_neutral")
    ]
    names.append("score_gender")

    def reduce(corpora: Corpora) -> tuple[np.ndarray, ...]:
        found = tones(corpora, answers=answers)
        return tuple(found[name] for name in names)

    of = dict(zip(names, _drawn(design, repeats, inference, reduce, tone=planted), strict=True))
    rows = []
    for group, shift in (("female", planted), ("Black", 0.0)):
        for statistic, found in _signed(of, group, confidence).items():
            if group == "Black" and statistic == "mean_difference" and planted:
                continue  # what is said of women is in these sentences, too
            rows.append(_rows(found, statistic, group, planted=shift, truth=shift))
    same = {"p_value": np.nan, "planted": planted}
    score, truth = of["score_gender"], np.nanmean(of["score_gender"])
    found = _told(repeated.means(score, confidence=confidence, bounds=(0, 2)), score)
    rows.append(_rows(found, "bias", null=np.nan, truth=truth, **same))
    rows += _prejudice(of["difference_female"], "female", confidence, reach=2.0, **same)
    return pd.concat(rows, ignore_index=True)


@_possible
def tone_distance(design: Design, repeats: int, inference: InferenceSettings) -> pd.DataFrame:
    """Repeat the distance of the tone beside what replicates give: its test against the floor."""
    answers = WORLDS[design.world].answers

    def reduce(corpora: Corpora) -> tuple[np.ndarray]:
        score = tones(corpora, answers=answers)["score_gender"]
        means = repeated.means(score, confidence=inference.confidence, bounds=(0, 2))
        means = _told(means, score)
        both = zip(corpora.words["gender"], corpora.tone, strict=True)
        beyond = [_tone_beyond(sentences(*one), answers) for one in both]
        own = means[["estimate", "ci_low", "ci_high"]].to_numpy()
        return (np.column_stack([own, np.array(beyond, dtype=float)]),)

    return _distances(design, repeats, inference, reduce, tone=design.planted)


def sentences(words: np.ndarray, tone: np.ndarray) -> list[list[np.ndarray]]:
    """Return the sentences with a group of each story's texts: its number, then the score.

    Parameters
    ----------
    words, tone
        Of one corpus: stories by texts by sentences (by groups).

    Examples
    --------
    >>> words = np.array([[[[1, 0], [1, 1], [0, 2]]]])
    >>> sentences(words, np.array([[[0.5, 0.1, -0.5]]]))[0][0].tolist()
    [[0.0, 0.5], [1.0, -0.5]]
    """
    ordered = np.sort(words, axis=-1)
    told = (ordered[..., -1] > ordered[..., -2]) & ~np.isnan(tone)
    rows = np.stack([words.argmax(axis=-1), tone], axis=-1)
    return [
        [own[some] for own, some in zip(story, there, strict=True)]
        for story, there in zip(rows, told, strict=True)
    ]


def _tone_beyond(stories: list[list[np.ndarray]], answers: int) -> tuple[float, ...]:
    """Say by how much one corpus' texts exceed their replicates, as `news.replicates` does."""
    kept = []
    for texts in stories:
        original = texts[answers]
        mine = [own for own in texts[:answers] if np.intersect1d(own[:, 0], original[:, 0]).size]
        if mine:
            people = [own for own in texts[answers + 1 :] if len(own)]
            kept.append(news.replicates.Article(mine, [original, *people]))
    kind = news.replicates.choose(kept)
    if kind is None:
        return _NOTHING
    excess = news.replicates.compare(kept, kind, news.tone.compare)[:, 0]
    excess = excess[~np.isnan(excess)]
    many = (np.abs(excess) > news.prejudice.ROUNDING).sum() >= news.tone.FEWEST
    return (*_mean_error(excess), many) if len(excess) > 1 else _NOTHING


# --- documents --------------------------------------------------------------------------------

#: Fits of the topics, as many as by default.
_FITS = news.params.NewsBias.model_fields["topic_fits"].default

#: What fits of topics do, by world: none fits anything, and all differ from each other.
FITS = {
    "crossed": "fits differ in what they see of a text, and in how much of a difference",
    "gaps": "the same, and one of ten fits measures nothing, one of ten articles lacks content",
    "camps": "the same as crossed, but fits fall into two camps of opposite sign",
    "topics": (
        "texts mix twelve topics, of which each fit gives a quarter to nobody; never used while a "
        "method was made"
    ),
}


def fitted(design: Design, repeats: int, *, biased: bool, seed: int | Sequence[int]) -> np.ndarray:
    """Simulate women's share of the content of two answers and an original to each story.

    Parameters
    ----------
    design
        A world of `FITS`; `planted` is how much less of it is women's, on average over fits.
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
    if design.world == "topics":
        seen = _mixed(shape, rng)
    else:
        story = rng.beta(4.0, 6.0, shape[:2])[..., None]
        own = _around(np.broadcast_to(story, shape), 3.0, rng)
        seen = _around(np.broadcast_to(own[..., None], (*shape, _FITS)), 10.0, rng)
    moved = design.planted * rng.normal(1.0, 0.3, (repeats, _FITS))
    if biased:
        camps = np.where(rng.random(moved.shape) < 0.7, 0.06, -0.14)
        moved += camps if design.world == "camps" else rng.normal(0, 0.04, moved.shape)
    mean = float(np.nanmean(seen))
    moved = np.clip(moved, -mean, 1 - mean)[:, None, None]
    down, up = seen * (1 + moved / mean), 1 - (1 - seen) * (1 - moved / (1 - mean))
    answers = np.arange(3)[:, None] < 2
    seen = np.where(answers, np.where(moved < 0, down, up), seen)
    if design.world == "gaps":
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
    """Repeat the document level over articles crossed with fits; women's share is planted.

    A fit measures some difference where there is none, up or down; the truth is the mean over all
    articles and all fits that could be made.
    """
    confidence, planted = inference.confidence, design.planted
    shares = _fitted(design, repeats, inference, biased=True)
    change = shares[:, :, :2] - shares[:, :, 2, None]
    found = repeated.pooled(_mean(change), confidence=confidence, bounds=(-1, 1))
    rows = [_rows(found, "share_difference", "female", planted=planted, truth=planted)]
    distance = _mean(np.abs(change))
    found = repeated.pooled(distance, confidence=confidence, bounds=(0, 1))
    truth = np.nanmean(distance)
    rows.append(_rows(found, "bias", p_value=np.nan, null=np.nan, planted=planted, truth=truth))
    return pd.concat(rows, ignore_index=True)


def documents_distance(design: Design, repeats: int, inference: InferenceSettings) -> pd.DataFrame:
    """Repeat the distance of documents beside one model asked twice: its test against the floor."""
    shares = _fitted(design, repeats, inference, biased=False)
    between = _mean(np.abs(shares[:, :, :2] - shares[:, :, 2, None]))
    estimate = repeated.pooled(between, confidence=inference.confidence, bounds=(0, 1))
    excess = between - np.abs(shares[:, :, 0] - shares[:, :, 1])
    beyond = repeated.pooled(excess, confidence=inference.confidence)
    kept = ~np.isnan(excess).all(axis=2)
    enough = np.minimum(news.replicates.ENOUGH, (~np.isnan(between).all(axis=2)).sum(axis=1))
    beyond[kept.sum(axis=1) < np.maximum(2, enough)] = np.nan
    ratio = (beyond["estimate"] / beyond["error"]).where(beyond["error"] > 0)
    estimate["p_value"] = t.sf(ratio, beyond["df"])
    null, truth = estimate["estimate"] - beyond["estimate"], estimate["estimate"].mean()
    return _rows(estimate, "bias", planted=abs(design.planted), truth=truth, null=null)


def _fitted(
    design: Design, repeats: int, inference: InferenceSettings, *, biased: bool
) -> np.ndarray:
    most = max(1, _HELD // (design.n * 3 * _FITS * 4))
    sizes = [min(most, repeats - done) for done in range(0, repeats, most)]
    return np.concatenate(
        [
            fitted(design, size, biased=biased, seed=[inference.seed, number])
            for number, size in enumerate(sizes)
        ]
    )


# --- what leads -------------------------------------------------------------------------------

#: Models of a simulated run: the first has fewer women, the second is colder on them.
_WHO = ("m1", "m2", "m3", "m4")

#: What is declared by default, and by which instrument it is measured.
_CLAIMS = news.params.NewsBias.model_fields["claims"].default
_INSTRUMENTS = {"word": "word list", "sentiment": "TextBlob"}

#: Counted pairs that a model needs to be compared with the others.
_MIN_PAIRS = news.params.NewsBias.model_fields["min_pairs"].default


@_possible
def lead(design: Design, repeats: int, inference: InferenceSettings) -> pd.DataFrame:
    """Repeat whole runs of several models, and read what the sentence that leads each says.

    One model names fewer women, one is colder on them, the others differ from people in nothing.
    Where the declared tests cannot tell anything, the sentence does not either, and is not written.
    """
    # Real articles have parts for three models and one text by people.
    who = _WHO[:3] if design.world == "halves" else _WHO
    share = [design.planted, *np.zeros(len(who) - 1)]
    tone = [0.0, design.planted, *np.zeros(len(who) - 2)]
    rows = []
    most = max(1, _HELD // (design.n * design.length * (len(who) + 1)))
    for number, done in enumerate(range(0, repeats, most)):
        corpora = worlds.of(
            design,
            min(most, repeats - done),
            share=share,
            tone=tone,
            originals=1,
            seed=[inference.seed, number],
        )
        rows += [
            _said(design, own, who, inference) for own in runs(corpora, who, inference.confidence)
        ]
    return sayings(rows)


def runs(corpora: Corpora, who: Sequence[str], confidence: float) -> list[list[dict[str, Any]]]:
    """Return of every repeat the rows of ESTIMATES that a run's claims are chosen from.

    The last text of each story is the original, the others are the models'.

    Examples
    --------
    >>> design = Design("runs", 12, 12, 0.0)
    >>> corpora = worlds.of(design, 2, share=[0, 0], tone=[0, 0], originals=1, seed=1)
    >>> [len(rows) for rows in runs(corpora, ["a", "b"], 0.95)]
    [14, 14]
    """
    found = []
    common = {"source": "simulated", "prompt": "neutral", "test": "one-sample t", "null": 0.0}
    for bias, groups in GROUPS.items():
        counts = corpora.words[bias].sum(axis=3, dtype=int)
        own = [_scored(counts[:, :, [i, len(who)]], bias) for i in range(len(who))]
        counted = np.stack([~np.isnan(one["score"]) for one in own], axis=1)
        enough = counted.sum(axis=2, keepdims=True) >= _MIN_PAIRS
        used = enough & (counted | ~enough).all(axis=1, keepdims=True)
        for group in groups:
            for i, model in enumerate(who):
                values = np.where(used[:, i], own[i][f"difference_{group}"], np.nan)
                means = repeated.means(values, confidence=confidence, bounds=(-1, 1))
                key = {"measure": "word", "statistic": "share_difference_common", "bias": bias}
                found.append(means.assign(**common, **key, group=group, model=model))
    for i, model in enumerate(who):
        texts = [i, len(who)]
        words = {bias: own[:, :, texts] for bias, own in corpora.words.items()}
        of = tones(Corpora(words, corpora.tone[:, :, texts]), answers=1)
        for group in GROUPS["gender"]:
            means = _signed(of, group, confidence)["difference_beyond_neutral"]
            key = {"measure": "sentiment", "statistic": "difference_beyond_neutral"}
            found.append(means.assign(**common, **key, bias="gender", group=group, model=model))
    table = pd.concat(found)
    table["statistic_value"] = (table["estimate"] / table["error"]).where(table["p_value"].notna())
    table["instrument"] = table["measure"].map(_INSTRUMENTS)
    table["reason"] = table["p_value"].isna().map({True: "too few articles", False: None})
    table = table.drop(columns="error").sort_index(kind="stable")
    return [own.to_dict("records") for _, own in table.groupby(level=0)]


def _said(
    design: Design, rows: list[dict[str, Any]], who: Sequence[str], inference: InferenceSettings
) -> dict[str, Any]:
    """Write the lead of a run where it can say anything, and judge it."""
    # Of two groups whose shares of words mirror each other the first is tested.
    mirrored = ("word", "gender", GROUPS["gender"][1])
    p = np.array(
        [row["p_value"] for row in rows if (row["measure"], row["bias"], row["group"]) != mirrored]
    )
    p = p[~np.isnan(p)]
    if not len(p) or p.min() * len(p) >= 1 - inference.confidence:
        return saying(design, [], claimed=[], true=[])
    estimates = tables.estimates(rows, study="news_bias", confidence=inference.confidence)
    declared = reading.claims.declared(estimates, _CLAIMS, confidence=inference.confidence)
    pairs = pd.DataFrame({"source": "simulated", "article_id": range(design.n), "model": who[0]})
    lead = news.sentences.lead(declared, estimates=estimates, pairs=pairs, texts=TEXTS)
    side = "less" if design.planted < 0 else "more"
    true = [(who[0], "word", "women", side), (who[1], "sentiment", "women", side)]
    claimed = {
        (row["model"], row["measure"], names.people(row["group"]), side_of(row))
        for row in lead.claims.to_dict("records")
    }
    return saying(design, lead.plain, claimed=claimed, true=true if design.planted else [])


MEASURES = (
    Measure(
        "news_bias",
        "words",
        "articles",
        worlds.told(),
        worlds.HELD_OUT,
        planted=(0.0, -0.05, -0.1, -0.2),
        n=N,
        trial=words,
        lead=lead,
    ),
    Measure(
        "news_bias",
        "words_distance",
        "articles",
        worlds.told(),
        worlds.HELD_OUT,
        planted=(0.0, -0.1, -0.2),
        n=N,
        trial=words_distance,
        share=0.5,
    ),
    Measure(
        "news_bias",
        "tone",
        "articles",
        worlds.told(),
        worlds.HELD_OUT,
        planted=(0.0, -0.05, -0.1),
        n=N,
        trial=tone,
    ),
    Measure(
        "news_bias",
        "tone_distance",
        "articles",
        worlds.told(),
        worlds.HELD_OUT,
        planted=(0.0, -0.1),
        n=N,
        trial=tone_distance,
        share=0.5,
    ),
    Measure(
        "news_bias",
        "documents",
        "articles",
        FITS,
        frozenset({"topics"}),
        planted=(0.0, -0.05, -0.1),
        n=N,
        trial=documents,
    ),
    Measure(
        "news_bias",
        "documents_distance",
        "articles",
        {name: told for name, told in FITS.items() if name != "camps"},
        frozenset({"topics"}),
        planted=(0.0, -0.1),
        n=N,
        trial=documents_distance,
    ),
)
