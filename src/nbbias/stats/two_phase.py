"""Double sampling: a judge's scores of all texts, and people's labels of some of them.

Where labels are of a random sample of the same texts, verdicts make them worth more (`two_phase`).
In active sampling people label the texts about which a judge is unsure, round by round, and each
label counts by the inverse of its probability of being drawn (`active_share`): a bad judge costs
more labels. The error rates of an instrument on other texts are for `known_errors`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd
from scipy.special import logit
from sklearn.linear_model import LogisticRegression

from nbbias.stats import intervals
from nbbias.stats.estimate import Estimate
from nbbias.tables import CONFIDENCE, DataError

#: Why an interval cannot hold whichever of two people is right.
ONE_PERSON = "no answer has the labels of two people, so their errors are not known"

#: Labels that each stratum's share is drawn by towards the share of all labels, for the spread
#: alone: a stratum in which none of few is positive is not certain.
_PRIOR = 2


def two_phase(
    flagged: pd.Series,
    label: pd.Series,
    *,
    prompts: np.ndarray | None = None,
    probability: pd.Series | None = None,
    confidence: float = CONFIDENCE,
) -> Estimate:
    """Estimate a share from a classifier's verdicts on all texts and human labels on some.

    Parameters
    ----------
    flagged
        The instrument's verdict on each text: 1, 0, or NaN where it gave none.
    label
        People's label: 1, 0 (or between, where people disagree), or NaN outside the labelled
        sample, which is a random one.
    prompts
        Each text's prompt, where prompts were asked repeatedly: they count equally.
    probability
        With which each labelled text was drawn, where not all were alike: labels count by the
        inverse (Horvitz and Thompson 1952).
    confidence
        Level of the interval.

    Returns
    -------
    Estimate
        `estimate`: over the verdicts (flagged, passed, none), the share of answers with that
        verdict times the share biased of those labelled; a verdict with no label takes the share of
        all labels. `ci_low` and `ci_high`: Wilson's, with as many labels as would be worth as much
        without a judge. A judge that says nothing of the labels leaves those that there are; one
        that is right every time makes every answer worth a label. `n` counts the labels, or their
        prompts; `n_lost` is 0, since an answer without a verdict counts among its like.

    References
    ----------
    Tenenbein 1970, JASA 65(331) (double sampling); Korn and Graubard 1998, Survey Methodology
    24(2) (Wilson with an effective size); Angelopoulos et al. 2023, Science 382.

    Examples
    --------
    Of 100 answers 30 are flagged; 20 are labelled, and the judge is right on each of them:

    >>> flagged = pd.Series([1.0] * 30 + [0.0] * 70)
    >>> label = flagged.where(flagged.index % 5 == 0)
    >>> row = two_phase(flagged, label)
    >>> [round(value, 2) for value in (row.estimate, row.ci_low, row.ci_high)], row.n
    ([0.3, 0.18, 0.45], 20)
    """
    labelled = label.notna().to_numpy()
    units = np.arange(len(label)) if prompts is None else prompts
    n = len(np.unique(units[labelled]))
    if not labelled.any():
        return Estimate(reason="no answer has a label", n=n, n_lost=0)
    weight = intervals.equal_weights(units) / len(np.unique(units))
    strata = flagged.map({1.0: 0, 0.0: 1}).fillna(2).to_numpy(int)

    drawn = weight * labelled
    if probability is not None:
        drawn = drawn / probability.where(label.notna(), 1.0).to_numpy(float)

    def summed(values: np.ndarray) -> np.ndarray:
        return np.bincount(strata, weights=values, minlength=3)

    biased = label.fillna(0).to_numpy(float)
    size, labelled_weight, positive = summed(weight), summed(drawn), summed(drawn * biased)
    overall = positive.sum() / labelled_weight.sum()
    has_labels = labelled_weight > 0
    rate = np.divide(positive, labelled_weight, out=np.full(3, overall), where=has_labels)
    estimate = float(np.clip(size @ rate, 0, 1))
    # How much one label and one answer are worth, were all of them equal and independent.
    labels = labelled_weight.sum() ** 2 / float(drawn @ drawn)
    answers = 1 / float(weight @ weight)
    count = labels * labelled_weight / labelled_weight.sum()
    middle = (overall * labels + 0.5) / (labels + 1)
    smoothed = (count * rate + _PRIOR * middle) / (count + _PRIOR)
    about = float(size @ smoothed)
    within, between = size @ (smoothed * (1 - smoothed)), size @ (smoothed - about) ** 2
    effective = about * (1 - about) / (within / labels + between / answers)
    effective = float(np.clip(effective, labels, answers))
    influence = weight * (rate[strata] - estimate)
    share = np.divide(size, labelled_weight, out=np.zeros(3), where=has_labels)
    influence = influence + share[strata] * drawn * (biased - rate[strata])
    # Answers to one prompt are alike; of none, or all, of the labels: as many as prompts with one.
    if np.allclose(influence, 0, rtol=0, atol=1e-12):  # unequal weights leave rounding
        influence, units = np.zeros(labelled.sum()), units[labelled]
    effective = intervals.effective_size(influence, units, size=effective, confidence=confidence)
    return intervals.wilson(estimate, effective, confidence=confidence).replace(n=n, n_lost=0)


def labelled_shares(
    judge: pd.Series,
    labels: pd.DataFrame,
    *,
    in_rounds: bool,
    probability: pd.Series | None,
    prompts: np.ndarray | None,
    confidence: float,
) -> Iterator[Estimate]:
    """Yield the share by labels of some texts and a judge of all, and what people's errors change.

    Parameters
    ----------
    judge
        Verdicts, or scores where texts were drawn in rounds.
    labels
        `label`, 1, 0 or between; where several people label also the lowest and the highest one,
        `low` and `high`, and how many there are, `raters`.
    in_rounds
        Whether texts were drawn in rounds: by `active_share`, else by `two_phase`.
    probability, prompts, confidence
        As in `active_share`.

    Yields
    ------
    Estimate
        The share; then, where several people label, the same with an interval that holds whichever
        of two is right. `n` of the second counts labels of two people, `n_lost` those of one.

    Examples
    --------
    >>> labels = pd.DataFrame({"label": [0.5, 1], "low": [0, 1], "high": 1, "raters": [2, 1]})
    >>> how = {"in_rounds": False, "probability": None, "prompts": None, "confidence": 0.95}
    >>> share, disputed = labelled_shares(labels["high"], labels, **how)
    >>> disputed.ci_low < share.ci_low, disputed.n, disputed.n_lost
    (True, 1, 1)
    """
    combine = partial(active_share if in_rounds else two_phase, judge, confidence=confidence)
    columns = [labels[name] for name in ("label", "low", "high") if name in labels]
    share, *ends = (combine(column, probability=probability, prompts=prompts) for column in columns)
    yield share
    if ends:
        n = int((labels["raters"] > 1).sum())
        disputed = Estimate(n=0, reason=ONE_PERSON)
        if n:
            disputed = share.around(ends[0].ci_low, ends[1].ci_high)
        yield disputed.replace(n=n, n_lost=int(labels["label"].count()) - n)


# --- active sampling -----------------------------------------------------------------------------

#: Share of a round's probability that is the same for all texts.
_UNIFORM = 0.5

#: Labels by which the share of all labels is drawn towards one half, as Agresti and Coull's, and
#: calibrated scores towards that share: a judge without an error in few labels may err.
_DRAWN = 4

#: Scores nearer to 0 or 1 count as these, and how much the slope of their log-odds is penalised.
_SCORES, _PENALTY = (0.005, 0.995), 4.0


def draw_round(texts: pd.DataFrame, *, size: int, seed: int) -> pd.Series:
    """Draw the texts that people label next, most often those about which the judge is unsure.

    Parameters
    ----------
    texts
        One row per text: the judge's `score` in [0, 1] or NaN, which need not be calibrated; the
        `label` so far, 1, 0 (or between, where people disagree) or NaN; `counted`, the probability
        by whose inverse it counts (`label_probability`); and `round`, NaN where it was not drawn.
    size
        Texts to draw, at least 1.
    seed
        Start of the draw.

    Returns
    -------
    Series
        Probability with which each drawn text was drawn. Without labels it is uniform; else half
        of it is, and half is proportional to √(p(1 − p)), where p is the score calibrated on the
        labels.

    References
    ----------
    Zrnic and Candès 2024 (arXiv 2403.03208); Hartley and Rao 1962 (systematic draws).

    Examples
    --------
    >>> texts = pd.DataFrame({"score": [0.5, 0.9, 0.1, 0.5], "round": [None, 1, None, None]})
    >>> drawn = draw_round(texts.assign(label=None, counted=None), size=2, seed=1)
    >>> drawn.round(2).tolist(), 1 in drawn.index
    ([0.67, 0.67], False)
    """
    spread = pd.Series(1.0, texts.index)
    if texts["label"].notna().any():
        rate = calibrate(texts["score"], texts["label"], 1 / texts["counted"])
        spread = np.sqrt(rate * (1 - rate))
    rng = np.random.default_rng(seed)
    spread = spread[rng.permutation(texts.index[texts["round"].isna()])]
    share = _UNIFORM + (1 - _UNIFORM) * spread / spread.mean()
    chance, certain = share / share.sum() * min(size, len(share)), share > np.inf
    while (chance > 1).any():  # nothing is drawn twice
        certain |= chance > 1
        rest = share.where(~certain, 0.0)
        rest *= (min(size, len(share)) - certain.sum()) / max(rest.sum(), intervals.ROUNDING)
        chance = rest.where(~certain, 1.0)
    # Systematic: exactly `size` texts, each with its probability.
    place = rng.random() + np.r_[0, np.cumsum(chance)]
    return chance[np.diff(np.floor(place * (1 + intervals.ROUNDING))) > 0]


def summarize_labels(
    sheet: pd.DataFrame, verdict: str, *, cells: pd.Series, where: str = "labels"
) -> pd.DataFrame:
    """Return what people say of each text of a sheet that was drawn in rounds.

    Parameters
    ----------
    sheet
        One row per text and person: `text_id`, the verdict (true, false or missing), `round` and
        `probability` (in its round); where several people label, `annotator`.
    verdict
        The column of the verdict.
    cells
        The cell (such as the model) of every text, by its id; labels of other texts are left aside.
    where
        What errors name: the sheet's file.

    Returns
    -------
    DataFrame
        By `text_id`: `round`, `probability`; the least and the highest verdict, `low` and `high`,
        their `mean` over people, and the number of `raters`; `cell`, and `counted`, the probability
        by whose inverse the label counts (`label_probability`).

    Raises
    ------
    DataError
        Rounds or probabilities are not those of a draw, or a person labelled a text twice.

    Examples
    --------
    >>> sheet = pd.DataFrame({"text_id": ["a", "a"], "biased": [True, False], "round": 1})
    >>> sheet = sheet.assign(probability=0.5, annotator=["ann", "bob"])
    >>> row = summarize_labels(sheet, "biased", cells=pd.Series("m", index=["a", "b"])).loc["a"]
    >>> row[["low", "high", "mean", "raters", "counted"]].astype(float).tolist()
    [0.0, 1.0, 0.5, 2.0, 0.5]
    """
    marks = sheet.assign(mark=sheet[verdict].astype("Float64").astype(float))
    marks = marks[marks["text_id"].isin(cells.index)]
    texts = marks.groupby("text_id", sort=False)
    drawn = texts[["round", "probability"]].first().astype(float)
    rounds = drawn["round"].groupby(cells.reindex(drawn.index)).agg(["min", "max", "nunique"])
    possible = marks["probability"].between(0, 1, inclusive="right")
    gaps = rounds["min"].ne(1) | rounds["max"].ne(rounds["nunique"])
    several = texts[["round", "probability"]].nunique(dropna=False).ne(1)
    keys = [name for name in ("text_id", "annotator") if name in marks]
    faults = {
        "column probability: expected a number above 0, and at most 1": ~possible,
        "column round: rounds of a model are 1, 2, 3 … without a gap": gaps,
        "a text has two rounds, or two probabilities": several,
        "a text has two labels by one person; name people in column annotator": (
            marks.dropna(subset="mark").duplicated(keys)
        ),
    }
    DataError.refuse(where, [fault for fault, there in faults.items() if there.to_numpy().any()])
    drawn = drawn.join(texts["mark"].agg(low="min", high="max", mean="mean", raters="count"))
    drawn = drawn.join(cells.rename("cell"), how="inner")
    return drawn.assign(counted=label_probability(drawn, cells.value_counts()))


def label_probability(drawn: pd.DataFrame, sizes: pd.Series) -> pd.Series:
    """Return the probability by whose inverse each label counts, over all rounds.

    Parameters
    ----------
    drawn
        One row per text: `cell` (such as its model), `round` and `probability` (in its round; NaN
        where it was not drawn), and the number of `raters`. Texts that were drawn and have no
        label count as missing at random in their round.
    sizes
        Texts in each cell.

    Returns
    -------
    Series
        By the index of `drawn`; NaN without a label. Were all draws uniform, it would be the share
        of texts with a label; where all have one it is 1.

    References
    ----------
    Farquhar, Gal and Rainforth 2021, ICLR (weights of draws without replacement).

    Examples
    --------
    >>> rounds = {"cell": "m", "round": [1, 1, 2], "probability": [0.5, 0.5, 0.5], "raters": 1}
    >>> label_probability(pd.DataFrame(rounds), pd.Series({"m": 4})).tolist()
    [0.75, 0.75, 0.75]
    """
    parts = [pd.Series(dtype=float)]
    for cell, rows in drawn.dropna(subset="round").groupby("cell", sort=False):
        labelled, number = rows["raters"] > 0, np.unique(rows["round"], return_inverse=True)[1]
        labels, asked = np.bincount(number, labelled), np.bincount(number)
        after = sizes[cell] - labels.cumsum()
        later = after[-1] / np.maximum(after, 1)
        later[-1] = 1.0
        uniform = asked / np.maximum(after + labels, 1)  # of those that answer in a round alike
        weight = (later * uniform)[number] / rows["probability"] + 1 - later[number]
        parts.append(((1 - after[-1] / sizes[cell]) / weight)[labelled])
    return pd.concat(parts).reindex(drawn.index)


def calibrate(score: pd.Series, label: pd.Series, weight: pd.Series) -> pd.Series:
    """Return each text's probability of a positive label, from its score and the labels.

    A logistic regression of the labels on the scores' log-odds; a text without a score has a
    term of its own. `weight` is read where there is a label.

    Examples
    --------
    A judge that is always wrong tells as much as one that is always right:

    >>> score = pd.Series([0.9] * 20 + [0.1] * 20)
    >>> rate = calibrate(score, 1 - score.round(), pd.Series(1.0, score.index))
    >>> rate[[0, 39]].round(1).tolist()
    [0.1, 0.9]
    """
    is_labelled = label.notna().to_numpy()
    truth, weight = label[is_labelled].to_numpy(float), weight[is_labelled].to_numpy(float)
    n, weight = len(truth), weight / weight.mean()
    about = (truth @ weight + _DRAWN / 2) / (n + _DRAWN)
    truth = (n * truth + _DRAWN * about) / (n + _DRAWN)
    features = np.column_stack([logit(score.clip(*_SCORES).fillna(0.5)), score.isna()])
    weights = np.r_[weight * truth, weight * (1 - truth)]
    rows, classes = np.tile(features[is_labelled], (2, 1)), np.repeat([1, 0], n)
    fitted = LogisticRegression(C=1 / _PENALTY).fit(rows, classes, sample_weight=weights)
    return pd.Series(fitted.predict_proba(features)[:, 1], score.index)


def active_share(
    score: pd.Series,
    label: pd.Series,
    *,
    probability: pd.Series,
    prompts: np.ndarray | None = None,
    confidence: float = CONFIDENCE,
) -> Estimate:
    """Estimate a share from a judge's scores of all texts and actively sampled labels of some.

    Parameters
    ----------
    score, label
        As in `draw_round`.
    probability
        Of each label, from `label_probability`.
    prompts
        Each text's prompt, where prompts were asked repeatedly: they count equally.
    confidence
        Level of the interval.

    Returns
    -------
    Estimate
        `estimate`: the mean calibrated score of all texts, plus the labels' mean difference from
        it, each by the inverse of its probability. `ci_low` and `ci_high`: Wilson's, with as many
        labels as would be worth as much without a judge. The variance of the differences is the
        larger of the observed one and p (1 − p), that of calibrated scores p. In simulations the
        interval covers where labelling ends once it is narrow, from the second round on.
        `n` counts the labels, or their prompts; `n_lost` is 0.

    References
    ----------
    Zrnic and Candès 2024, ICML; Gligorić et al. 2025, NAACL (confidence-driven inference); Särndal,
    Swensson and Wretman 1992 (the difference estimator).

    Examples
    --------
    The judge is right on 36 of 40 texts, each drawn with probability 0.4:

    >>> score = pd.Series([0.9, 0.1] * 50)
    >>> label = score.round().where(score.index < 40).mask(score.index < 4, 1 - score.round())
    >>> row = active_share(score, label, probability=score * 0 + 0.4)
    >>> [round(value, 2) for value in (row.estimate, row.ci_low, row.ci_high)], row.n
    ([0.5, 0.37, 0.63], 40)
    """
    is_labelled = label.notna().to_numpy()
    units = np.arange(len(label)) if prompts is None else prompts
    n, labels = len(np.unique(units[is_labelled])), int(is_labelled.sum())
    if not labels:
        return Estimate(reason="no answer has a label", n=n, n_lost=0)
    weight = intervals.equal_weights(units) / len(np.unique(units))
    counted = np.where(is_labelled, 1 / probability.where(is_labelled, 1.0).to_numpy(float), 0.0)
    rate = calibrate(score, label, pd.Series(counted, label.index)).to_numpy()
    off = np.where(is_labelled, label.to_numpy(float) - rate, 0.0)
    estimate = float(np.clip(weight @ (rate + counted * off), 0, 1))
    # Of a weight that is 0 unless a text is drawn, and 1 on average, E(w²) − 1 is the variance.
    varied = weight**2 * counted * (counted - 1)
    observed = varied @ off**2 * labels / max(labels - 2, 1)
    within = max(observed, varied @ (rate * (1 - rate)), 0.0)
    about = float(weight @ rate)  # drawn by as many labels as the variance is
    effective = about * (1 - about) / (within + about * (1 - about) * weight @ weight)
    influence = weight * (rate - estimate + counted * off)  # answers to one prompt are alike
    effective = intervals.effective_size(influence, units, size=effective, confidence=confidence)
    return intervals.wilson(estimate, effective, confidence=confidence).replace(n=n, n_lost=0)
