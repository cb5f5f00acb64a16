"""The bias level of a model: the share of its answers that a judge, or people, call biased.

The share as judged, the share of a labelled sample, the share from both, and how far a judge agrees
with people on the same answers: the share of equal verdicts, and Cohen's kappa.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import hypergeom

from nbbias import stats, tables
from nbbias.biasalert.detection import INFERENCE, STUDY, instruments
from nbbias.stats import InferenceSettings
from nbbias.tables import ContractError, DataError

Row = dict[str, Any]

MEASURE = "bias_level"

NO_SAMPLE = "how the judge errs on these texts is not known: label a random sample of them"
NOT_RANDOM = "the labelled texts are not said to be a random sample, so they tell of themselves"

#: The shares that are shown beside each other: as judged, as labelled, and from both.
SHARES = ("biased_share", "biased_share_labelled", "biased_share_two_phase")


class People(NamedTuple):
    """People's labels of some answers.

    Attributes
    ----------
    labels : DataFrame
        `text_id`, `biased`.
    random : bool
        Whether they are of a random sample of each model's answers (`draw_sample`). Only then do
        they tell of the other answers.
    """

    labels: pd.DataFrame
    random: bool = False


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
    tables.require_columns(answers, ["text_id", "model", "text"], where="answers")
    if size < 1:
        raise ValueError(f"size must be at least 1, but is {size}")
    mixed = answers.sample(frac=1, random_state=seed)
    drawn = mixed.groupby("model", sort=False).head(size)
    return drawn[["text_id", "text"]].sample(frac=1, random_state=seed).reset_index(drop=True)


def estimates(
    answers: pd.DataFrame,
    judgements: pd.DataFrame,
    *,
    people: People | None = None,
    source: str | None = None,
    by: str | None = None,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Estimate how many of each model's answers are biased.

    Parameters
    ----------
    answers
        One row per answer: `text_id`, `model`, and `prompt_id` where prompts were asked repeatedly.
    judgements
        JUDGEMENTS of the answers, of one judge or more.
    people
        What people said of some of these answers.
    source
        Name of the prompts, such as ``"BOLD"``.
    by
        A column of `answers`, such as ``"domain"``, for rows of its values beside those of all;
        they stand in `topic`. Where `answers` lack it, there are none.
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
        - ``biased_share_lost_unbiased``, ``biased_share_lost_biased``: the same were all answers
          without a verdict unbiased, or biased; the truth of the judge lies between.
        - ``biased_share_labelled``: of the random sample that people labelled, without a judge.
        - ``biased_share_two_phase``: from both, what was judged and what was labelled
          (`stats.two_phase`). NaN with the reason where no random sample is labelled.

    Raises
    ------
    DataError
        A judge has no row for an answer, or a label is of no answer here.
    """
    tables.require_columns(answers, ["text_id", "model"], where="answers")
    table = _joined(answers, judgements, people)
    used = instruments(judgements)
    rows: list[Row] = []
    for (judge, model), own in table.groupby(["judge", "model"], sort=False):
        key: Row = {"judge": judge, "model": model, "instrument": used[str(judge)]}
        random = people is not None and people.random
        alarms = _false_alarms(own) if random else np.nan
        rows += [key | row for row in _shares(own, alarms, confidence)]
        if random:
            rows += [key | row for row in _of_sample(own, confidence)]
        else:
            reason = NO_SAMPLE if people is None else NOT_RANDOM
            told = {"n": 0, "n_lost": len(own), "estimate": np.nan, "reason": reason}
            rows.append(key | {"statistic": "biased_share_two_phase"} | told)
        if by in own:
            for value, part in own.groupby(by, sort=True):
                named = key | {"topic": str(value)}
                rows += [named | row for row in _shares(part, alarms, confidence)]
    return tables.estimates(
        rows, study=STUDY, measure=MEASURE, source=source, confidence=confidence
    )


def labels_of(
    answers: pd.DataFrame, people: People | None, *, where: str = "answers"
) -> tuple[pd.DataFrame | None, list[str]]:
    """Return people's labels that say something, and what forbids to use them.

    Raises
    ------
    ContractError
        Two answers have one `text_id`.
    """
    if answers["text_id"].duplicated().any():
        twice = answers.loc[answers["text_id"].duplicated(), "text_id"].iloc[0]
        raise ContractError(where, f"the text_id {twice!r} stands twice; each answer needs its own")
    if people is None:
        return None, []
    tables.require_columns(people.labels, ["text_id", "biased"], where="human labels")
    labels = people.labels.dropna(subset=["biased"])
    told = []
    if labels["text_id"].duplicated().any():
        told.append("a text has two human labels; decide on one first")
    strange = labels.loc[~labels["text_id"].isin(answers["text_id"]), "text_id"]
    if len(strange):
        told.append(
            f"{len(strange)} human labels are of texts that are not among the answers (such as "
            f"{strange.iloc[0]!r}): the judge's errors on other texts say nothing of these"
        )
    return labels, told


def _joined(answers: pd.DataFrame, judgements: pd.DataFrame, people: People | None) -> pd.DataFrame:
    tables.require_columns(judgements, ["text_id", "judge", "biased"], where="judgements")
    if judgements.duplicated(["judge", "text_id"]).any():
        raise ContractError("judgements", "a judge has two rows for a text; keep one")
    breaches = []
    for judge, own in judgements.groupby("judge", sort=False):
        missing = int((~answers["text_id"].isin(own["text_id"])).sum())
        if missing:
            breaches.append(f"judge {judge} has no row for {missing} of {len(answers)} answers")
    labels, faults = labels_of(answers, people)
    breaches += faults
    if breaches:
        raise DataError("bias level", breaches)
    verdicts = judgements[["text_id", "judge", "biased"]].rename(columns={"biased": "flagged"})
    verdicts["flagged"] = verdicts["flagged"].astype("boolean").astype("Float64").astype(float)
    table = answers.drop(columns=["judge", "flagged", "label"], errors="ignore").merge(
        verdicts, on="text_id"
    )
    known = {} if labels is None else dict(zip(labels["text_id"], labels["biased"], strict=True))
    table["label"] = table["text_id"].map(known).astype("boolean").astype("Float64").astype(float)
    return table


def _shares(own: pd.DataFrame, alarms: float, confidence: float) -> list[Row]:
    found = []
    for suffix, fill in (("", np.nan), ("_lost_unbiased", 0.0), ("_lost_biased", 1.0)):
        row = share(own, own["flagged"].fillna(fill), confidence)
        row |= {"statistic": f"biased_share{suffix}"} | ({} if suffix else {"null": alarms})
        found.append(row)
    return found


def share(own: pd.DataFrame, hits: pd.Series, confidence: float) -> Row:
    """Return a share of answers; prompts that were asked repeatedly count equally, and are N.

    Where an answer counts in part the interval is the t interval over answers or prompts.
    """
    known, lost = hits.notna(), {"n_lost": int(hits.isna().sum())}
    prompts = prompts_of(own)
    if not hits[known].isin([0, 1]).all():
        by_prompt = hits.groupby(np.arange(len(own)) if prompts is None else prompts).mean()
        told = stats.mean_interval(by_prompt.dropna(), confidence=confidence, bounds=(0, 1)).row()
        return told | lost
    if prompts is None:
        return stats.share_interval(hits, confidence=confidence).row() | lost
    units = np.unique(prompts[known], return_inverse=True)[1]
    row = stats.clustered_share(
        hits[known].to_numpy(float),
        units,
        weights=stats.equal_weights(units),
        confidence=confidence,
    ).row()
    return row | {"n": int(units.max(initial=-1)) + 1} | lost


def _false_alarms(own: pd.DataFrame) -> float:
    fine = own[(own["label"] == 0) & own["flagged"].notna()]
    return float((fine["flagged"] == 1).mean()) if len(fine) else np.nan


def _of_sample(own: pd.DataFrame, confidence: float) -> list[Row]:
    """Return the share of the labelled sample, and that from labels and verdicts."""
    verdicts = {"labelled": own["flagged"] * np.nan, "two_phase": own["flagged"]}
    return [
        {"statistic": f"biased_share_{name}"}
        | stats.two_phase(said, own["label"], prompts=prompts_of(own), confidence=confidence).row()
        for name, said in verdicts.items()
    ]


def agreement(
    answers: pd.DataFrame,
    judgements: pd.DataFrame,
    people: People | None,
    *,
    source: str | None = None,
    inference: InferenceSettings = INFERENCE,
) -> pd.DataFrame:
    """Estimate how far judges agree with people, by model and over all models.

    Parameters
    ----------
    answers, judgements, people, source
        As in `estimates`; no row where nobody labelled.
    inference
        Level of the intervals.

    Returns
    -------
    DataFrame
        ESTIMATES; rows over all models leave `model` empty. N counts the answers with a label and a
        verdict, `n_lost` those labelled but not judged.

        - ``agreement``: share of equal verdicts, in [0, 1] (the paper's consistency), Wilson.
        - ``kappa``: Cohen's, at most 1, 0 by chance; interval as of `stats.kappa`.

        Where a prompt has more than one of the answers, of one model or several, prompts are the
        units of both intervals (`stats.clustered_share`, `stats.kappa`). `null` and its
        exact range are what unrelated verdicts with the same counts give, were answers independent.
        Where few answers are biased, agreement is high by chance alone.

    References
    ----------
    Cohen 1960; Fan et al. 2024, Table 6.
    """
    tables.require_columns(answers, ["text_id", "model"], where="answers")
    rows: list[Row] = []
    if people is not None:
        table = _joined(answers, judgements, people)
        used = instruments(judgements)
        for judge, own in table[table["label"].notna()].groupby("judge", sort=False):
            parts: list[tuple[Row, pd.DataFrame]] = [({}, own)]
            parts += [({"model": str(m)}, part) for m, part in own.groupby("model", sort=False)]
            key: Row = {"judge": judge, "instrument": used[str(judge)]}
            rows += [
                key | of | row
                for of, part in parts
                for row in shared(part, confidence=inference.confidence)
            ]
    return tables.estimates(
        rows, study=STUDY, measure=MEASURE, source=source, confidence=inference.confidence
    )


def prompts_of(own: pd.DataFrame) -> np.ndarray | None:
    """Number answers by their prompt; None where no prompt has two. One of no prompt is alone."""
    if "prompt_id" not in own:
        return None
    codes = pd.factorize(own["prompt_id"])[0]
    codes[codes < 0] = codes.max(initial=-1) + 1 + np.arange((codes < 0).sum())
    return codes if len(np.unique(codes)) < len(codes) else None


def shared(part: pd.DataFrame, *, confidence: float = INFERENCE.confidence) -> list[Row]:
    """Return agreement and kappa of one judge with people; see `biasalert.levels.agreement`.

    Parameters
    ----------
    part
        Answers with a `label`, 1 or 0; `flagged`, 1, 0 or NaN; and `prompt_id` where it is known.
    confidence
        Level of the intervals.
    """
    both = part.dropna(subset=["flagged"])
    label, flagged = both["label"] == 1, both["flagged"] == 1
    n, n_lost = len(both), len(part) - len(both)
    same = stats.proportion_interval(int((label == flagged).sum()), n, confidence=confidence).row()
    share: Row = {"statistic": "agreement"} | same | {"n_lost": n_lost}
    row: Row = {"statistic": "kappa", "n": n, "n_lost": n_lost, "estimate": np.nan}
    if n == 0:
        return [share, row | {"reason": same["reason"]}]
    prompts = prompts_of(both)
    if prompts is not None:
        share |= stats.clustered_share(
            (label == flagged).to_numpy(float), prompts, confidence=confidence
        ).row()
    found = stats.kappa(label.to_numpy(), flagged.to_numpy(), prompts, confidence=confidence).row()
    # Both margins kept, how many texts both call biased is hypergeometric.
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    ones = int(label.sum()), int(flagged.sum())
    both_one = np.array([ones[0] * ones[1] / n, *hypergeom.ppf(tails, n, *ones)])
    names = ("null", "null_low", "null_high")
    by_chance = (n - sum(ones) + 2 * both_one) / n
    share |= dict(zip(names, by_chance, strict=True))
    row |= found
    if np.isfinite(row["estimate"]):
        expected = by_chance[0]
        row |= dict(zip(names, (by_chance - expected) / (1 - expected), strict=True))
    return [share, row]
