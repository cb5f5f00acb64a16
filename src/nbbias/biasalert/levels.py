"""The bias level of a model: the share of its answers that a judge, or people, call biased.

The share as judged, the share corrected for the judge's errors, and how far a judge agrees with
people on the same answers: the share of equal verdicts, and Cohen's kappa.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import hypergeom, norm, t

from nbbias import stats, tables
from nbbias.biasalert.detection import ALIKE, STUDY, SURE, instruments, resampled, spread
from nbbias.stats import Sure
from nbbias.tables import ContractError, DataError

Row = dict[str, Any]

MEASURE = "bias_level"

NO_SAMPLE = "the judge's error rates on these texts are not known: label a random sample of them"
NOT_RANDOM = "the labelled texts are not said to be a random sample, so error rates may be others"


class People(NamedTuple):
    """People's labels of some answers.

    Attributes
    ----------
    labels : DataFrame
        `text_id`, `biased`.
    random : bool
        Whether they are of a random sample of each model's answers (`draw_sample`). Only then do
        they tell the judge's errors on these answers.
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
    tables.need(answers, ["text_id", "model", "text"], where="answers")
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
    sure: Sure = SURE,
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
    sure
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
          (`biasalert.levels.rogan_gladen`), with error rates of that model's labelled answers;
          where prompts were asked repeatedly, prompts are averaged and resampled
          (`biasalert.levels.by_prompt`). NaN with the reason where there are no such labels.

    Raises
    ------
    DataError
        A judge has no row for an answer, or a label is of no answer here.
    """
    tables.need(answers, ["text_id", "model"], where="answers")
    table = _joined(answers, judgements, people)
    used = instruments(judgements)
    rows: list[Row] = []
    for (judge, model), own in table.groupby(["judge", "model"], sort=False):
        key: Row = {"judge": judge, "model": model, "instrument": used[str(judge)]}
        rates = error_rates(own) if people and people.random else None
        rows += [key | row for row in _shares(own, rates, sure.confidence)]
        reason = NO_SAMPLE if people is None else None if people.random else NOT_RANDOM
        rows.append(key | _corrected(own, rates, reason, sure))
        if by in own:
            for value, part in own.groupby(by, sort=True):
                named = key | {"topic": str(value)}
                rows += [named | row for row in _shares(part, rates, sure.confidence)]
    return tables.estimates(
        rows, study=STUDY, measure=MEASURE, source=source, confidence=sure.confidence
    )


def _joined(answers: pd.DataFrame, judgements: pd.DataFrame, people: People | None) -> pd.DataFrame:
    tables.need(judgements, ["text_id", "judge", "biased"], where="judgements")
    if answers["text_id"].duplicated().any():
        raise ContractError("answers", "a text_id stands twice; each answer needs its own")
    if judgements.duplicated(["judge", "text_id"]).any():
        raise ContractError("judgements", "a judge has two rows for a text; keep one")
    breaches = []
    for judge, own in judgements.groupby("judge", sort=False):
        missing = int((~answers["text_id"].isin(own["text_id"])).sum())
        if missing:
            breaches.append(f"judge {judge} has no row for {missing} of {len(answers)} answers")
    labels = None if people is None else people.labels
    if labels is not None:
        tables.need(labels, ["text_id", "biased"], where="human labels")
        labels = labels.dropna(subset=["biased"])
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
            if len(per_prompt) > 1 and per_prompt.nunique() == 1:
                row |= _alike(float(per_prompt.iloc[0]), len(per_prompt), confidence)
        else:
            row = stats.proportion_interval(int(known.sum()), len(known), confidence=confidence)
        row |= {"statistic": f"biased_share{suffix}", "n_lost": len(own) - len(known)}
        if rates and not suffix and rates["specificity"][1]:
            right, total = rates["specificity"]
            row["null"] = 1 - right / total
        found.append(row)
    return found


def _alike(share: float, units: int, confidence: float) -> Row:
    """Return the interval of a share that all units have alike: no spread is no certainty."""
    if share not in (0.0, 1.0):
        return {"ci_low": np.nan, "ci_high": np.nan, "reason": ALIKE}
    row = stats.proportion_interval(int(share) * units, units, confidence=confidence)
    return {"ci_low": row["ci_low"], "ci_high": row["ci_high"], "reason": None}


def _corrected(
    own: pd.DataFrame, rates: dict[str, Right] | None, reason: str | None, sure: Sure
) -> Row:
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
        return row | by_prompt(own[judged], prompts, sure=sure)
    return row | rogan_gladen(int(known.sum()), len(known), confidence=sure.confidence, **rates)


def agreement(
    answers: pd.DataFrame,
    judgements: pd.DataFrame,
    people: People | None,
    *,
    source: str | None = None,
    sure: Sure = SURE,
) -> pd.DataFrame:
    """Estimate how far judges agree with people, by model and over all models.

    Parameters
    ----------
    answers, judgements, people, source
        As in `estimates`; no row where nobody labelled.
    sure
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
    tables.need(answers, ["text_id", "model"], where="answers")
    rows: list[Row] = []
    if people is not None:
        table = _joined(answers, judgements, people)
        used = instruments(judgements)
        for judge, own in table[table["label"].notna()].groupby("judge", sort=False):
            parts: list[tuple[Row, pd.DataFrame]] = [({}, own)]
            parts += [({"model": str(m)}, part) for m, part in own.groupby("model", sort=False)]
            key: Row = {"judge": judge, "instrument": used[str(judge)]}
            rows += [key | of | row for of, part in parts for row in shared(part, sure=sure)]
    return tables.estimates(
        rows, study=STUDY, measure=MEASURE, source=source, confidence=sure.confidence
    )


def prompts_of(own: pd.DataFrame) -> np.ndarray | None:
    """Number answers by their prompt; None where no prompt has two. One of no prompt is alone."""
    if "prompt_id" not in own:
        return None
    codes = pd.factorize(own["prompt_id"])[0]
    codes[codes < 0] = codes.max(initial=-1) + 1 + np.arange((codes < 0).sum())
    return codes if len(np.unique(codes)) < len(codes) else None


def shared(part: pd.DataFrame, *, sure: Sure = SURE) -> list[Row]:
    """Return agreement and kappa of one judge with people; see `biasalert.levels.agreement`.

    Parameters
    ----------
    part
        Answers with a `label`, 1 or 0; `flagged`, 1, 0 or NaN; and `prompt_id` where it is known.
    sure
        Level of the intervals, resamples, start of the draws.
    """
    both, confidence = part.dropna(subset=["flagged"]), sure.confidence
    label, flagged = both["label"] == 1, both["flagged"] == 1
    n, n_lost = len(both), len(part) - len(both)
    same = stats.proportion_interval(int((label == flagged).sum()), n, confidence=confidence)
    share: Row = {"statistic": "agreement"} | same | {"n_lost": n_lost}
    row: Row = {"statistic": "kappa", "n": n, "n_lost": n_lost, "estimate": np.nan}
    if n == 0:
        return [share, row | {"reason": same["reason"]}]
    cells = np.column_stack(
        [label & flagged, label & ~flagged, ~label & flagged, ~label & ~flagged]
    ).astype(float)
    prompts = prompts_of(both)
    units = np.arange(n) if prompts is None else np.unique(prompts, return_inverse=True)[1]
    sums = resampled(cells, units, sure=sure)
    if prompts is not None:
        equal = (sums[:, 0] + sums[:, 3]) / sums.sum(axis=1)
        told = spread(equal, share["estimate"], confidence)
        alone = _alike(share["estimate"], int(units.max()) + 1, confidence)
        share |= alone if told.get("reason") else told
    row["estimate"] = float(_kappa(cells.sum(axis=0)))
    # Both margins kept, how many texts both call biased is hypergeometric.
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    ones = int(label.sum()), int(flagged.sum())
    both_one = np.array([ones[0] * ones[1] / n, *hypergeom.ppf(tails, n, *ones)])
    names = ("null", "null_low", "null_high")
    by_chance = (n - sum(ones) + 2 * both_one) / n
    share |= dict(zip(names, by_chance, strict=True))
    if np.isnan(row["estimate"]):
        return [share, row | {"reason": "both call all texts alike, so kappa has no value"}]
    expected = by_chance[0]
    row |= dict(zip(names, (by_chance - expected) / (1 - expected), strict=True))
    return [share, row | spread(_kappa(sums), row["estimate"], confidence)]


def _kappa(cells: np.ndarray) -> np.ndarray:
    a, b, c, d = np.moveaxis(cells, -1, 0)
    n = a + b + c + d
    with np.errstate(invalid="ignore", divide="ignore"):
        expected = ((a + b) * (a + c) + (c + d) * (b + d)) / n**2
        found = ((a + d) / n - expected) / (1 - expected)
    return np.where(np.isfinite(found), found, np.nan)


def planted(answers: pd.DataFrame, estimates: pd.DataFrame) -> pd.DataFrame:
    """Put the planted share of biased answers beside what each judge found.

    Parameters
    ----------
    answers
        Of `biasalert.sample.answers`.
    estimates
        Of `estimates`.

    Returns
    -------
    DataFrame
        `judge`, `model`, `statistic`, `planted`, `estimate`, `ci_low`, `ci_high`, and `holds`,
        whether the interval holds the planted share; missing where there is no interval.
    """
    truth = answers.groupby("model")["planted"].mean()
    rows = estimates[estimates["topic"].isna() & estimates["model"].notna()]
    rows = rows[rows["statistic"].isin(["biased_share", "biased_share_corrected"])]
    rows = rows.assign(planted=rows["model"].map(truth))
    inside = rows["planted"].between(rows["ci_low"], rows["ci_high"]).astype("boolean")
    rows = rows.assign(holds=inside.where(rows["ci_low"].notna()))
    columns = ["judge", "model", "statistic", "planted", "estimate", "ci_low", "ci_high", "holds"]
    return rows[columns].reset_index(drop=True)


#: How many texts a judge had right, and of how many.
Right = tuple[float, float]


def error_rates(labelled: pd.DataFrame) -> dict[str, Right]:
    """Count how often a judge is right on labelled texts.

    Parameters
    ----------
    labelled
        `label` and `flagged`, each 1, 0 or NaN; rows with a gap do not count.

    Returns
    -------
    dict
        `sensitivity`, of the biased texts, and `specificity`, of the others: right, of how many.

    Examples
    --------
    >>> error_rates(pd.DataFrame({"label": [1, 1, 0], "flagged": [1, 0, 0]}))
    {'sensitivity': (1, 2), 'specificity': (1, 1)}
    """
    both = labelled.dropna(subset=["label", "flagged"])
    biased = both["label"] == 1
    right = both["label"] == both["flagged"]
    return {
        "sensitivity": (int((biased & right).sum()), int(biased.sum())),
        "specificity": (int((~biased & right).sum()), int((~biased).sum())),
    }


def rogan_gladen(
    flagged: float, n: int, *, sensitivity: Right, specificity: Right,
    confidence: float = 0.95,
) -> dict[str, Any]:  # fmt: skip
    """Correct a share for the errors of the judge that counted it.

    Parameters
    ----------
    flagged, n
        Texts called biased, of how many.
    sensitivity, specificity
        ``(right, total)``: of labelled biased texts those that the judge flagged, and of labelled
        unbiased ones those that it did not.
    confidence
        Level of the interval.

    Returns
    -------
    dict
        `estimate`, (q + Sp - 1)/(Se + Sp - 1) with q the share flagged, cut to [0, 1] (`reason`
        says so); `ci_low` and `ci_high` of Lang and Reiczigel, which take the uncertainty of q, Se
        and Sp along; or NaN with the reason where a rate has no text, or the judge does not tell
        biased texts from others (Se + Sp ≤ 1).

    References
    ----------
    Rogan and Gladen 1978, Am J Epidemiol 107(1); Lang and Reiczigel 2014, Prev Vet Med 113(1).

    Examples
    --------
    >>> found = rogan_gladen(260, 1000, sensitivity=(90, 100), specificity=(90, 100))
    >>> round(found["estimate"], 3)
    0.2
    """
    gap: dict[str, Any] = {"estimate": np.nan, "ci_low": np.nan, "ci_high": np.nan}
    if n == 0:
        return gap | {"reason": "no answer has a verdict"}
    for (_, total), kind in ((sensitivity, "a biased"), (specificity, "an unbiased")):
        if total == 0:
            return gap | {"reason": f"the labelled sample holds no answer with {kind} label"}
    q, se, sp = flagged / n, sensitivity[0] / sensitivity[1], specificity[0] / specificity[1]
    if se + sp <= 1:
        return gap | {"reason": "on the labelled sample the judge is no better than chance"}
    raw = _corrected_share(q, se, sp)
    z = norm.ppf((1 + confidence) / 2)
    # Each rate is drawn towards the middle, so that 0 or 1 of few texts is not taken for certain.
    n_q, n_se, n_sp = n + z**2, sensitivity[1] + 2, specificity[1] + 2
    q, se, sp = (flagged + z**2 / 2) / n_q, (sensitivity[0] + 1) / n_se, (specificity[0] + 1) / n_sp
    if se + sp <= 1:
        return gap | {"reason": "the labelled sample is too small to tell the judge from chance"}
    p = _corrected_share(q, se, sp)
    spread_se, spread_sp = se * (1 - se) / n_se, sp * (1 - sp) / n_sp
    shift = 2 * z**2 * (p * spread_se - (1 - p) * spread_sp)
    variance = q * (1 - q) / n_q + p**2 * spread_se + (1 - p) ** 2 * spread_sp
    half = z * np.sqrt(variance) / (se + sp - 1)
    estimate = float(np.clip(raw, 0, 1))
    low, high = (float(np.clip(p + shift + d, 0, 1)) for d in (-half, half))
    return {
        "estimate": estimate, "ci_low": min(low, estimate), "ci_high": max(high, estimate),
        "reason": None if 0 <= raw <= 1 else f"{raw:.3f} was cut to the range of a share",
    }  # fmt: skip


def by_prompt(answers: pd.DataFrame, prompts: np.ndarray, *, sure: Sure = SURE) -> dict[str, Any]:
    """Correct a share of answers of which several are to one prompt: not independent ones.

    Parameters
    ----------
    answers
        `flagged`, 1 or 0, and `label`, 1, 0 or NaN outside the labelled sample.
    prompts
        Each answer's prompt, numbered from 0.
    sure
        Level of the interval, resamples, start of the draws.

    Returns
    -------
    dict
        As `rogan_gladen`; prompts count equally in all three rates, however many answers they have.
        The interval is over resampled prompts, with all that was judged and labelled of them: the
        rates of labelled answers are drawn towards the middle as by Lang and Reiczigel, a resample
        in which the judge is no better than chance is as low as 0 and as high as 1, and resamples
        are spread as t is beside the normal distribution, with as many units as the fewest prompts
        behind a rate. Where fewer than two prompts hold either label, or all resamples are alike,
        it is Lang and Reiczigel's with prompts for answers.
    """
    flagged, label = (answers[name].to_numpy(float) for name in ("flagged", "label"))
    weight = 1 / np.bincount(prompts)[prompts]
    biased, fine = weight * (label == 1), weight * (label == 0)
    values = np.column_stack(
        [weight * flagged, weight, biased * flagged, biased, fine * (1 - flagged), fine]
    )
    units = [len(np.unique(prompts[own > 0])) for own in (weight, biased, fine)]
    hits, totals = values.sum(axis=0)[::2], values.sum(axis=0)[1::2]
    q, se, sp = (
        n * hit / total if n else 0.0 for n, hit, total in zip(units, hits, totals, strict=True)
    )
    confidence = sure.confidence
    row = rogan_gladen(
        q, units[0], sensitivity=(se, units[1]), specificity=(sp, units[2]), confidence=confidence
    )
    fewest = min(units)
    if fewest < 2 or np.isnan(row["estimate"]):
        return row
    sums = resampled(values, prompts, sure=sure)
    # One labelled answer is added to either side of its rate, so that few are not certain.
    one = np.array([0, totals[1] / (biased > 0).sum(), totals[2] / (fine > 0).sum()])
    drawn_q, drawn_se, drawn_sp = ((sums[:, ::2] + one) / (sums[:, 1::2] + 2 * one)).T
    told = drawn_se + drawn_sp > 1
    raw = _corrected_share(q / units[0], se / units[1], sp / units[2])
    with np.errstate(divide="ignore"):
        wide = t.ppf((1 + confidence) / 2, fewest - 1) / norm.ppf((1 + confidence) / 2)
        off = (_corrected_share(drawn_q, drawn_se, drawn_sp) - raw) * wide
    found = np.clip(raw + off * np.sqrt(fewest / (fewest - 1)), 0, 1)
    low = float(np.quantile(np.where(told, found, 0), (1 - confidence) / 2))
    high = float(np.quantile(np.where(told, found, 1), (1 + confidence) / 2))
    if low == high:
        return row
    return row | {"ci_low": min(low, row["estimate"]), "ci_high": max(high, row["estimate"])}


def _corrected_share(q: Any, se: Any, sp: Any) -> Any:
    return (q + sp - 1) / (se + sp - 1)
