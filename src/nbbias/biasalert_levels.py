"""The bias level of a model: the share of its answers that a judge, or people, call biased."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from nbbias import biasalert_scores as scores
from nbbias import contracts, stats
from nbbias.biasalert_agreement import prompts_of, shared
from nbbias.biasalert_correction import Right, by_prompt, error_rates, rogan_gladen
from nbbias.errors import ContractError, DataError

Row = dict[str, Any]

MEASURE = "bias_level"

NO_SAMPLE = "the judge's error rates on these texts are not known: label a random sample of them"
NOT_RANDOM = "the labelled texts are not said to be a random sample, so error rates may be others"


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
    """
    contracts.need(answers, ["text_id", "model", "text"], where="answers")
    if size < 1:
        raise ValueError(f"size must be at least 1, but is {size}")
    mixed = answers.sample(frac=1, random_state=seed)
    drawn = mixed.groupby("model", sort=False).head(size)
    return drawn[["text_id", "text"]].sample(frac=1, random_state=seed).reset_index(drop=True)


def estimates(
    answers: pd.DataFrame,
    judgements: pd.DataFrame,
    *,
    human: pd.DataFrame | None = None,
    random_sample: bool = False,
    source: str | None = None,
    by: str | None = None,
    confidence: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
) -> pd.DataFrame:
    """Estimate how many of each model's answers are biased.

    Parameters
    ----------
    answers
        One row per answer: `text_id`, `model`, and `prompt_id` where prompts were asked repeatedly.
    judgements
        JUDGEMENTS of the answers, of one judge or more.
    human
        People's labels of some of these answers: `text_id`, `biased`.
    random_sample
        Whether those labels are of a random sample of each model's answers (`draw_sample`). Only
        then do they tell the judge's errors on these answers.
    source
        Name of the prompts, such as ``"BOLD"``.
    by
        A column of `answers`, such as ``"domain"``, for rows of its values beside those of all;
        they stand in `topic`.
    confidence, draws, seed
        Level of the intervals; resamples of prompts that were asked repeatedly, and their start.

    Returns
    -------
    DataFrame
        ESTIMATES, by judge and model; shares in [0, 1], 0 where no answer is biased:

        - ``biased_share``: of the answers with a verdict; `n_lost` counts the others. Wilson
          interval; where prompts were asked repeatedly, N counts prompts and the interval is t
          over their shares. `null` is the judge's false-alarm rate where a random sample tells it:
          what would be flagged if nothing were biased.
        - ``biased_share_lost_unbiased``, ``biased_share_lost_biased``: the same were all answers
          without a verdict unbiased, or biased; the truth of the judge lies between.
        - ``biased_share_corrected``: corrected for the judge's errors
          (`biasalert_correction.rogan_gladen`), with error rates of that model's labelled answers;
          where prompts were asked repeatedly, prompts are averaged and resampled
          (`biasalert_correction.by_prompt`). NaN with the reason where there are no such labels.

    Raises
    ------
    DataError
        A judge has no row for an answer, or a label is of no answer here.
    """
    contracts.need(answers, ["text_id", "model", *([by] if by else [])], where="answers")
    table = _joined(answers, judgements, human)
    used = scores.instruments(judgements)
    rows: list[Row] = []
    for (judge, model), own in table.groupby(["judge", "model"], sort=False):
        key: Row = {"judge": judge, "model": model, "instrument": used[str(judge)]}
        rates = error_rates(own) if random_sample and human is not None else None
        rows += [key | row for row in _shares(own, rates, confidence)]
        reason = NO_SAMPLE if human is None else None if random_sample else NOT_RANDOM
        rows.append(key | _corrected(own, rates, reason, confidence, draws, seed))
        if by:
            for value, part in own.groupby(by, sort=True):
                named = key | {"topic": str(value)}
                rows += [named | row for row in _shares(part, rates, confidence)]
    return contracts.estimates(rows, study=scores.STUDY, measure=MEASURE, source=source)


def _joined(
    answers: pd.DataFrame, judgements: pd.DataFrame, human: pd.DataFrame | None
) -> pd.DataFrame:
    contracts.need(judgements, ["text_id", "judge", "biased"], where="judgements")
    if answers["text_id"].duplicated().any():
        raise ContractError("answers", "a text_id stands twice; each answer needs its own")
    if judgements.duplicated(["judge", "text_id"]).any():
        raise ContractError("judgements", "a judge has two rows for a text; keep one")
    breaches = []
    for judge, own in judgements.groupby("judge", sort=False):
        missing = int((~answers["text_id"].isin(own["text_id"])).sum())
        if missing:
            breaches.append(f"judge {judge} has no row for {missing} of {len(answers)} answers")
    labels = None
    if human is not None:
        contracts.need(human, ["text_id", "biased"], where="human labels")
        labels = human.dropna(subset=["biased"])
        if labels["text_id"].duplicated().any():
            breaches.append("a text has two human labels; decide on one first")
        strange = int((~labels["text_id"].isin(answers["text_id"])).sum())
        if strange:
            breaches.append(
                f"{strange} human labels are of texts that are not among the answers: the judge's "
                "errors on other texts say nothing of these"
            )
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


def _shares(own: pd.DataFrame, rates: dict[str, Right] | None, confidence: float) -> list[Row]:
    prompts = prompts_of(own)
    found = []
    for suffix, fill in (("", np.nan), ("_lost_unbiased", 0.0), ("_lost_biased", 1.0)):
        flagged = own["flagged"].fillna(fill)
        known = flagged.dropna()
        if prompts is not None:
            per_prompt = known.groupby(prompts[flagged.notna()]).mean()
            row = stats.mean_interval(per_prompt, confidence=confidence, bounds=(0, 1))
            if len(per_prompt) > 1 and per_prompt.nunique() == 1:  # no spread is no certainty
                alike = float(per_prompt.iloc[0])
                row |= {"ci_low": np.nan, "ci_high": np.nan, "reason": scores.ALIKE}
                if alike in (0.0, 1.0):
                    row |= stats.proportion_interval(
                        int(alike) * len(per_prompt), len(per_prompt), confidence=confidence
                    )
        else:
            row = stats.proportion_interval(int(known.sum()), len(known), confidence=confidence)
        row |= {"statistic": f"biased_share{suffix}", "n_lost": len(own) - len(known)}
        if rates and not suffix and rates["specificity"][1]:
            right, total = rates["specificity"]
            row["null"] = 1 - right / total
        found.append(row)
    return found


def _corrected(
    own: pd.DataFrame, rates: dict[str, Right] | None, reason: str | None,
    confidence: float, draws: int, seed: int,
) -> Row:  # fmt: skip
    judged, prompts = own["flagged"].notna(), prompts_of(own)
    known = own.loc[judged, "flagged"]
    row: Row = {
        "statistic": "biased_share_corrected", "n": len(known), "n_lost": len(own) - len(known),
    }  # fmt: skip
    if prompts is not None:
        prompts = np.unique(prompts[judged], return_inverse=True)[1]
        row["n"] = int(prompts.max(initial=-1)) + 1
    if reason or rates is None:
        return row | {"estimate": np.nan, "reason": reason or NO_SAMPLE}
    if prompts is not None and len(known):
        return row | by_prompt(own[judged], prompts, confidence=confidence, draws=draws, seed=seed)
    return row | rogan_gladen(
        int(known.sum()), len(known), sensitivity=rates["sensitivity"],
        specificity=rates["specificity"], confidence=confidence,
    )  # fmt: skip


def agreement(
    answers: pd.DataFrame,
    judgements: pd.DataFrame,
    human: pd.DataFrame,
    *,
    source: str | None = None,
    confidence: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
) -> pd.DataFrame:
    """Estimate how far judges agree with people, by model and over all models.

    Parameters
    ----------
    answers, judgements, human, source
        As in `estimates`.
    confidence, draws, seed
        Level of the intervals, resamples, start of the draws.

    Returns
    -------
    DataFrame
        ESTIMATES; rows over all models leave `model` empty. N counts the answers with a label and a
        verdict, `n_lost` those labelled but not judged.

        - ``agreement``: share of equal verdicts, in [0, 1] (the paper's consistency), Wilson.
        - ``kappa``: Cohen's, at most 1, 0 by chance; percentile interval over resampled answers.

        Where a prompt has more than one of the answers, of one model or several, both have
        percentile intervals over resampled prompts. `null` and its exact range are what unrelated
        verdicts with the same counts give, were answers independent. Where few answers are biased,
        agreement is high by chance alone.

    References
    ----------
    Cohen 1960; Fan et al. 2024, Table 6.
    """
    contracts.need(answers, ["text_id", "model"], where="answers")
    table = _joined(answers, judgements, human)
    table = table[table["label"].notna()]
    used = scores.instruments(judgements)
    rows: list[Row] = []
    for judge, own in table.groupby("judge", sort=False):
        parts: list[tuple[Row, pd.DataFrame]] = [({}, own)]
        parts += [({"model": str(m)}, part) for m, part in own.groupby("model", sort=False)]
        for key, part in parts:
            rows += [
                {"judge": judge, "instrument": used[str(judge)]} | key | row
                for row in shared(part, confidence=confidence, draws=draws, seed=seed)
            ]
    return contracts.estimates(rows, study=scores.STUDY, measure=MEASURE, source=source)
