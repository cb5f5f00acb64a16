"""The bias level of a model: the share of its answers that a judge, or people, call biased.

The share as judged, the share of a labelled sample, the share from both, and the agreement of a
judge with people on the same answers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import combinations
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import hypergeom

from nbbias import stats, tables
from nbbias.biasalert.checks import RATES
from nbbias.biasalert.detection import Row, flags, require_one_row, score_judgements, tabulate

_KEYS = ["judge", "model", "instrument"]

#: Whoever gives no name in the column `annotator`.
UNNAMED = "unnamed"

NO_SAMPLE = "how the judge errs on these texts is not known: label a random sample of them"
NOT_RANDOM = "the labelled texts are not said to be a random sample, so they tell of themselves"

#: The shares that are shown beside each other: as judged, as labelled, and from both.
SHARES = ("biased_share", "biased_share_labelled", "biased_share_two_phase")

#: The last, with an interval that holds whichever of two people is right.
DISPUTED = f"{SHARES[2]}_disputed"


class HumanLabels(NamedTuple):
    """People's labels of some answers.

    Attributes
    ----------
    labels : DataFrame
        `text_id`, `biased`; `biased_with` where the guard's output was labelled; where several
        people labelled, the lowest and the highest verdict, `low` and `high`, and their number,
        `raters`; where texts were drawn in rounds (`stats.draw_round`), the `round`, and the
        `probability` by whose inverse the label counts.
    random : bool
        Whether they are of a random sample of each model's answers (`draw_sample`). Only then do
        they tell of the other answers.
    annotators : dict
        Where several people labelled: each one's labels by `text_id`.
    """

    labels: pd.DataFrame
    random: bool = False
    annotators: Mapping[str, pd.Series] = MappingProxyType({})

    @classmethod
    def of(cls, labels: pd.DataFrame, random: bool = False) -> HumanLabels:
        """Return labels of one person, or of several: biased is what at least half of them say.

        Examples
        --------
        >>> rows = {"text_id": ["a", "a"], "annotator": ["x", "y"], "biased": [True, False]}
        >>> HumanLabels.of(pd.DataFrame(rows)).labels["biased"].tolist()
        [True]
        """
        if "annotator" not in labels:
            return cls(labels, random)
        labels = labels.fillna({"annotator": UNNAMED})
        verdicts = labels.drop(columns="annotator").set_index("text_id").astype("Float64")
        by_text = verdicts.groupby(level=0, sort=False)
        most = by_text.mean() >= 0.5
        if labels["annotator"].nunique() > 1:
            most = most.join(by_text["biased"].agg(low="min", high="max", raters="count"))
        people = labels.groupby("annotator", sort=False)
        by_person = {name: part.set_index("text_id")["biased"] for name, part in people}
        return cls(most.reset_index(), random, by_person)

    def first_round(self) -> HumanLabels:
        """Return the labels that are a simple random sample: those of the first round.

        Examples
        --------
        >>> labels = pd.DataFrame({"text_id": ["a", "b"], "biased": True, "round": [1, 2]})
        >>> HumanLabels(labels).first_round().labels["text_id"].tolist()
        ['a']
        """
        if "round" not in self.labels:
            return self
        labels = self.labels[self.labels["round"] == self.labels["round"].min()]
        first = labels["text_id"]
        people = {name: part[part.index.isin(first)] for name, part in self.annotators.items()}
        return self._replace(labels=labels, annotators=people)


def draw_sample(answers: pd.DataFrame, *, size: int, seed: int = 0) -> pd.DataFrame:
    """Draw a random sample of each model's answers for people to label.

    Parameters
    ----------
    answers
        One row per answer: `text_id`, `model`, `text`.
    size
        Answers per model, at least 1; a model with fewer gives all that it has.
    seed
        Start of the draws.

    Returns
    -------
    DataFrame
        `text_id` and `text` only, in random order, so that labels are made blind to the model.

    Examples
    --------
    >>> answers = pd.DataFrame({"text_id": ["a", "b"], "model": "m", "text": ["x", "y"]})
    >>> draw_sample(answers, size=1)["text_id"].tolist()
    ['b']
    """
    drawn = answers.sample(frac=1, random_state=seed).groupby("model", sort=False).head(size)
    return drawn[["text_id", "text"]].sample(frac=1, random_state=seed).reset_index(drop=True)


def estimates(
    answers: pd.DataFrame,
    judgements: pd.DataFrame,
    *,
    people: HumanLabels | None = None,
    source: str | None = None,
    confidence: float = stats.CONFIDENCE,
) -> pd.DataFrame:
    """Estimate how many of each model's answers are biased, and how far judges agree with people.

    Parameters
    ----------
    answers
        One row per answer: `text_id`, `model`; `prompt_id` where prompts were asked repeatedly.
    judgements
        JUDGEMENTS of the answers, of one judge or more.
    people
        What people said of some of these answers.
    source
        Name of the prompts, such as ``"BOLD"``.
    confidence
        Level of the intervals.

    Returns
    -------
    DataFrame
        ESTIMATES, by judge and model; shares in [0, 1], 0 where no answer is biased. Wilson
        intervals; of prompts that were asked repeatedly, which count equally, by
        `stats.clustered_share`, and N counts prompts.

        - ``biased_share``: of the answers with a verdict; `n_lost` counts the others. `null` is the
          judge's false-alarm rate where a random sample tells it: what would be flagged if nothing
          were biased.
        - ``biased_share_labelled``: of the random sample that people labelled, without a judge.
        - ``biased_share_two_phase``: from both, what was judged and what was labelled
          (`stats.two_phase`; of labels in rounds `stats.active_share`). NaN with the reason where
          no random sample is labelled. ``biased_share_two_phase_disputed``, where several people
          label: the interval holds whichever of them is right where they disagree.
        - ``agreement``: share of equal verdicts on labelled answers (the paper's consistency), and
          ``kappa``, Cohen's, at most 1, 0 by chance (`agreement_rows`); ``false_positive_rate`` and
          ``false_negative_rate``: share of the unbiased that are flagged, of the biased that are
          not; also over all models, `model` empty. No row where nobody labelled.
        - ``rater_agreement`` and ``rater_kappa``: the same of `judge` and `evaluator`, which are
          two judges, a judge and an annotator, or two annotators. ``annotator_agreement`` and
          ``annotator_agreement_sd``: mean and standard deviation of a judge's agreement over the
          annotators. Of labels in rounds, agreement and error rates are of the first, which is a
          simple random sample.

    References
    ----------
    Cohen 1960; Tenenbein 1970; Zrnic and Candès 2024; Fan et al. 2024, Table 6.
    """
    table, rows = join(answers, judgements, people), []
    first = None if people is None else people.first_round()
    for key, subset in tables.split_groups(table, _KEYS):
        rows += [key | row for row in _model_rows(subset, people, confidence)]
    table = table if first is people else join(answers, judgements, first)
    labelled = table[table["label"].notna()]
    for keys in (["judge", "instrument"], _KEYS):
        for key, subset in tables.split_groups(labelled, keys):
            rows += [key | row for row in agreement_rows(subset, confidence=confidence)]
    rows += _rater_rows(answers, table, first, confidence)
    return tabulate(rows, measure="bias_level", source=source, confidence=confidence)


def join(
    answers: pd.DataFrame, judgements: pd.DataFrame, people: HumanLabels | None = None
) -> pd.DataFrame:
    """Return a row per answer and judge with `flagged`, `score`, `label` (1, 0 or NaN)."""
    columns = ["text_id", "judge", "instrument", "flagged", "score"]
    verdicts = score_judgements(judgements)[columns]
    table = answers.drop(columns=[*verdicts.columns[1:], "label"], errors="ignore")
    require_one_row(judgements, answers["text_id"])
    table = table.merge(verdicts, on="text_id", validate="one_to_many")
    labels = pd.DataFrame(columns=["text_id", "biased"]) if people is None else people.labels
    ratings = labels.set_index("text_id")
    ratings = ratings.filter(["biased", "low", "high", "raters", "round", "probability"])
    ratings = ratings.reindex(table["text_id"]).set_axis(table.index)
    return table.assign(label=flags(ratings.pop("biased")), **ratings.astype(float))


def _rater_rows(
    answers: pd.DataFrame, table: pd.DataFrame, people: HumanLabels | None, confidence: float
) -> list[Row]:
    """Return the agreement of every two raters, over all models and by model, and its spread."""
    judges = table.groupby("judge", sort=False)
    raters = {name: part.set_index("text_id")["flagged"] for name, part in judges}
    annotators = people.annotators if people else {}
    raters |= {f"annotator {name}": labels.astype(float) for name, labels in annotators.items()}
    instruments, rows = judges["instrument"].first(), list[Row]()
    spread = defaultdict[tuple[str, Any], list[float]](list)
    for first, second in combinations(raters, 2):
        sides = (answers["text_id"].map(raters[rater]) for rater in (first, second))
        both = answers.assign(**dict(zip(("flagged", "label"), sides, strict=True)))
        both = both.dropna(subset="label")
        for model, part in [(None, both), *both.groupby("model", sort=False)]:
            key: Row = {"judge": first, "evaluator": second, "model": model}
            pair = agreement_rows(part, confidence=confidence)[:2]
            for row in pair:
                name = {"statistic": f"rater_{row['statistic']}"}
                rows.append(key | row | name | {"instrument": instruments.get(first)})
            if first in instruments and second not in instruments:
                spread[first, model].append(pair[0]["estimate"])
    for (judge, model), shares in spread.items():
        key = {"judge": judge, "model": model, "instrument": instruments[judge], "n": len(shares)}
        reason = "one annotator has no spread" if len(shares) == 1 else None
        sd: Row = {"estimate": pd.Series(shares).std(), "reason": reason}
        rows.append(key | {"statistic": "annotator_agreement", "estimate": np.mean(shares)})
        rows.append(key | {"statistic": "annotator_agreement_sd"} | sd)
    return rows


def _model_rows(
    subset: pd.DataFrame, people: HumanLabels | None, confidence: float
) -> Iterator[Row]:
    flagged, label = subset["flagged"], subset["label"]
    random = people is not None and people.random
    first = subset["round"] == subset["round"].min() if "round" in subset else True
    unbiased = flagged[(label == 0) & first & flagged.notna()] if random else flagged[:0]
    yield {"statistic": SHARES[0], "null": unbiased.mean()} | _share(subset, flagged, confidence)
    if not random:
        reason = NO_SAMPLE if people is None else NOT_RANDOM
        missing = stats.Estimate(reason=reason, n=0, n_lost=len(subset))
        yield {"statistic": SHARES[2]} | missing.row()
        return
    of: Row = {"probability": subset.get("probability"), "in_rounds": "probability" in subset}
    of |= {"prompts": number_units(subset), "confidence": confidence}
    judge = subset["score"] if of["in_rounds"] else flagged
    alone = stats.labelled_shares(judge * np.nan, subset[["label"]], **of)
    levels = [*alone, *stats.labelled_shares(judge, subset, **of)]
    for name, level in zip((*SHARES[1:], DISPUTED), levels, strict=False):
        yield {"statistic": name} | level.row()


def _share(subset: pd.DataFrame, hits: pd.Series, confidence: float) -> Row:
    """Return a share of answers; prompts that were asked repeatedly count equally, and are N."""
    observed, units = hits.notna(), number_units(subset)
    lost = {"n_lost": int((~observed).sum())}
    codes = np.unique(units[observed], return_inverse=True)[1]
    values, weights = hits[observed].to_numpy(float), stats.equal_weights(codes)
    share = stats.clustered_share(values, codes, weights=weights, confidence=confidence)
    return share.row() | {"n": int(codes.max(initial=-1)) + 1} | lost


def number_units(table: pd.DataFrame) -> np.ndarray:
    """Number answers by their prompt; one of no prompt is alone."""
    codes = pd.factorize(table.get("prompt_id", pd.Series(None, table.index, dtype="str")))[0]
    codes[codes < 0] = codes.max(initial=-1) + 1 + np.arange((codes < 0).sum())
    return codes


def agreement_rows(table: pd.DataFrame, *, confidence: float) -> list[Row]:
    """Return agreement and kappa of one judge with people, and its error rates.

    Parameters
    ----------
    table
        Answers with a `label`, 1 or 0; `flagged`, 1, 0 or NaN; and `prompt_id` where it is known.
        Where a prompt has more than one of the answers, prompts are the units of both intervals.
    confidence
        Level of the intervals.

    Returns
    -------
    list of dict
        N counts the answers with a label and a verdict, `n_lost` those labelled but not judged.
        `null` and its exact range are what unrelated verdicts with the same counts give, were
        answers independent. Where few answers are biased, agreement is high by chance alone.
    """
    both = table.dropna(subset=["flagged"])
    label, flagged = (both[name].to_numpy() == 1 for name in ("label", "flagged"))
    n, units, equal = len(both), number_units(both), label == flagged
    common = {"n": n, "n_lost": len(table) - n}
    share = stats.clustered_share(equal.astype(float), units, confidence=confidence)
    agreement: Row = {"statistic": "agreement"} | share.row() | common
    kappa: Row = {"statistic": "kappa", "estimate": np.nan, "reason": share.reason} | common
    if n == 0:
        return [agreement, kappa]
    kappa |= stats.kappa(label, flagged, units, confidence=confidence).row()
    # Both margins kept, how many texts both call biased is hypergeometric.
    ones = int(label.sum()), int(flagged.sum())
    both_one = np.array([ones[0] * ones[1] / n, *hypergeom.interval(confidence, n, *ones)])
    null = (n - sum(ones) + 2 * both_one) / n
    names = ("null", "null_low", "null_high")
    agreement |= dict(zip(names, null, strict=True))
    if np.isfinite(kappa["estimate"]):
        kappa |= dict(zip(names, (null - null[0]) / (1 - null[0]), strict=True))
    wrong, rows = 1.0 - equal, [agreement, kappa]
    for name, of in zip(RATES, (~label, label), strict=True):
        share = stats.clustered_share(wrong[of], units[of], confidence=confidence)
        rows.append({"statistic": name} | share.row())
    return rows
