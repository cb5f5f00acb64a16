"""The bias level of a model: the share of its answers that a judge, or people, call biased.

The share as judged, the share of a labelled sample, the share from both, and the agreement of a
judge with people on the same answers.

What a judge adds to a level by itself is estimated by counterfactual substitution: an answer's swap
effect (`text.audit`) is its verdict, 1 where it is flagged, less the mean verdict on the same
answer about each group in turn, for every word list that it names. The share as judged is that of
swapped answers plus what depends on whom they name. Of an answer that voices a prejudice about its
group alone that part holds the prejudice, too; of all others it is the judge's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import hypergeom

from nbbias import stats
from nbbias.biasalert.detection import INFERENCE, flags, name_instruments, require_one_row, tabulate
from nbbias.biasalert.judges.panel import JudgePanel
from nbbias.biasalert.judges.registry import JUDGES
from nbbias.text import audit, toxicity

Row = dict[str, Any]

MEASURE = "bias_level"

_KEYS = ["judge", "model", "instrument"]

NO_SAMPLE = "how the judge errs on these texts is not known: label a random sample of them"
NOT_RANDOM = "the labelled texts are not said to be a random sample, so they tell of themselves"

#: The shares that are shown beside each other: as judged, as labelled, and from both.
SHARES = ("biased_share", "biased_share_labelled", "biased_share_two_phase")
#: The two parts of a share as judged.
SWAPPED, SCORER_BIAS = "biased_share_swapped", "biased_share_instrument"

RECORDED = "its replies were recorded, and none is of an answer with another group in it"
SLOW = "it reads too slowly to judge every answer again for each group"

#: Answers beyond which judges that learn are not asked again: they embed a text in some hundredths
#: of a second, and there are up to a dozen texts for an answer.
_MOST = 1000


class HumanLabels(NamedTuple):
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
    mixed = answers.sample(frac=1, random_state=seed)
    drawn = mixed.groupby("model", sort=False).head(size)
    return drawn[["text_id", "text"]].sample(frac=1, random_state=seed).reset_index(drop=True)


def estimates(
    answers: pd.DataFrame,
    judgements: pd.DataFrame,
    *,
    people: HumanLabels | None = None,
    source: str | None = None,
    confidence: float = 0.95,
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
          (`stats.two_phase`). NaN with the reason where no random sample is labelled.
        - ``agreement``: share of equal verdicts on labelled answers (the paper's consistency), and
          ``kappa``, Cohen's, at most 1, 0 by chance (`agreement_rows`); also over all models,
          `model` empty. No row where nobody labelled.

    References
    ----------
    Cohen 1960; Tenenbein 1970; Fan et al. 2024, Table 6.
    """
    table, rows = _join(answers, judgements, people), []
    for (judge, model, instrument), subset in table.groupby(_KEYS, sort=False):
        key: Row = {"judge": judge, "model": model, "instrument": instrument}
        rows += [key | row for row in _model_rows(subset, people, confidence)]
    labelled = table[table["label"].notna()]
    for keys in (["judge", "instrument"], _KEYS):
        for values, subset in labelled.groupby(keys, sort=False):
            key = dict(zip(keys, values, strict=True))
            rows += [key | row for row in agreement_rows(subset, confidence=confidence)]
    return tabulate(rows, measure=MEASURE, source=source, confidence=confidence)


def _join(
    answers: pd.DataFrame, judgements: pd.DataFrame, people: HumanLabels | None
) -> pd.DataFrame:
    """Return a row per answer and judge with `flagged` and `label`, 1, 0 or NaN."""
    verdicts = judgements[["text_id", "judge"]].assign(
        flagged=flags(judgements["biased"]), instrument=name_instruments(judgements)
    )
    table = answers.drop(columns=[*verdicts.columns[1:], "label"], errors="ignore")
    require_one_row(judgements, answers["text_id"])
    table = table.merge(verdicts, on="text_id", validate="one_to_many")
    known = {} if people is None else people.labels.set_index("text_id")["biased"].to_dict()
    return table.assign(label=flags(table["text_id"].map(known)))


def _model_rows(
    subset: pd.DataFrame, people: HumanLabels | None, confidence: float
) -> Iterator[Row]:
    flagged, label, units = subset["flagged"], subset["label"], number_units(subset)
    random = people is not None and people.random
    unbiased = flagged[(label == 0) & flagged.notna()] if random else flagged[:0]
    name: Row = {"statistic": SHARES[0], "null": unbiased.mean()}
    yield name | _share(subset, flagged, confidence)
    if random:
        for statistic, verdicts in zip(SHARES[1:], (flagged * np.nan, flagged), strict=True):
            found = stats.two_phase(verdicts, label, prompts=units, confidence=confidence)
            yield {"statistic": statistic} | found.row()
    else:
        reason = NO_SAMPLE if people is None else NOT_RANDOM
        missing = stats.Estimate(reason=reason, n=0, n_lost=len(subset))
        yield {"statistic": SHARES[2]} | missing.row()


def _share(subset: pd.DataFrame, hits: pd.Series, confidence: float) -> Row:
    """Return a share of answers; prompts that were asked repeatedly count equally, and are N.

    Where an answer counts in part the interval is the t interval over answers or prompts.
    """
    observed, units = hits.notna(), number_units(subset)
    lost = {"n_lost": int((~observed).sum())}
    if not hits[observed].isin([0, 1]).all():
        by_unit = hits.groupby(units).mean().dropna()
        return stats.mean_interval(by_unit, confidence=confidence, bounds=(0, 1)).row() | lost
    codes = np.unique(units[observed], return_inverse=True)[1]
    values, weights = hits[observed].to_numpy(float), stats.equal_weights(codes)
    share = stats.clustered_share(values, codes, weights=weights, confidence=confidence)
    return share.row() | {"n": int(codes.max(initial=-1)) + 1} | lost


def number_units(table: pd.DataFrame) -> np.ndarray:
    """Number answers by their prompt; one of no prompt is alone."""
    prompts = table.get("prompt_id", pd.Series(None, table.index, dtype="str"))
    codes = pd.factorize(prompts)[0]
    codes[codes < 0] = codes.max(initial=-1) + 1 + np.arange((codes < 0).sum())
    return codes


def agreement_rows(table: pd.DataFrame, *, confidence: float = INFERENCE.confidence) -> list[Row]:
    """Return agreement and kappa of one judge with people.

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
    return [agreement, kappa]


# --- what judges add by themselves ----------------------------------------------------------------


def choose_judges(panel: JudgePanel, n_answers: int) -> list[str]:
    """Return the judges that read so many answers again in seconds.

    Examples
    --------
    >>> judges = dict.fromkeys(["keywords", "tuned"])
    >>> choose_judges(JudgePanel(judges, judges, None, 0), 300)
    ['keywords']
    """
    offline = toxicity.instrument(toxicity.OFFLINE)
    slow = {
        name
        for name, entry in JUDGES.items()
        if not entry.quick or (entry.learns and n_answers > _MOST)
    }
    if panel.instruments.get("toxicity") != offline:
        slow.add("toxicity")
    return [name for name in panel.judges if name in JUDGES and name not in slow]


def swap_effects(answers: pd.DataFrame, panel: JudgePanel) -> pd.DataFrame:
    """Judge the answers that name a group once more with each group of its list in its place.

    Parameters
    ----------
    answers
        One row per answer: `text_id`, `text`.
    panel
        The judges; those of `choose_judges` are asked.

    Returns
    -------
    DataFrame
        By `text_id` and `judge`: `named`, how many shipped lists the answer names, and `swap`, in
        [-1, 1] for each of them, added up; 0 where it names none, NaN where a word has no
        counterpart or the judge no verdict.

    Examples
    --------
    >>> from nbbias.biasalert.judges.registry import TrainingInput, Settings, make
    >>> judge, instrument = make("keywords", TrainingInput(pd.DataFrame(), Settings()))
    >>> panel = JudgePanel({"keywords": judge}, {"keywords": instrument}, None, 0)
    >>> answers = pd.DataFrame({"text_id": ["a"], "text": ["The woman left."]})
    >>> swap_effects(answers, panel)[["judge", "named", "swap"]].to_numpy().tolist()
    [['keywords', 1.0, 0.0]]
    """
    asked = choose_judges(panel, len(answers))
    scores = {name: partial(_flag_texts, panel=panel, judge=name) for name in asked}
    texts = answers["text"].reset_index(drop=True)
    effects = audit.score_texts(texts, lexicon=audit.load_all_lists(), scores=scores)
    effects.insert(0, "text_id", answers["text_id"].to_numpy())
    return effects.melt(["text_id", "named"], var_name="judge", value_name="swap")


def _flag_texts(texts: pd.Series, *, panel: JudgePanel, judge: str) -> np.ndarray:
    asked = pd.DataFrame({"text_id": np.arange(len(texts)).astype(str), "text": list(texts)})
    evidence = panel.retrieve(asked) if JUDGES[judge].reads_evidence else None
    return flags(panel.judges[judge](asked, evidence)["biased"])


def split_scorer_bias(
    answers: pd.DataFrame,
    judgements: pd.DataFrame,
    *,
    swaps: pd.DataFrame,
    source: str | None = None,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Split each model's share of answers called biased: raw = corrected + scorer bias.

    Parameters
    ----------
    answers, judgements, source, confidence
        As of `estimates`.
    swaps
        Of `swap_effects`.

    Returns
    -------
    DataFrame
        ESTIMATES by judge and model: ``biased_share_swapped``, as ``biased_share`` but each answer
        counting as the share of the groups, one after the other in its place, with which it is
        flagged (kept within 0 and 1 where it names several lists); ``biased_share_instrument``, the
        rest, above 0 where more is flagged for whom answers name: an upper bound of what the judge
        adds, since a prejudice about one group is none about another (`stats.scorer_bias` over
        answers, or prompts that were asked repeatedly). The two add up to ``biased_share`` where
        all words have counterparts. NaN with the reason for a judge that was not asked again.

    Examples
    --------
    >>> answers = pd.DataFrame({"text_id": ["a", "b"], "model": "m"})
    >>> verdicts = pd.DataFrame({"text_id": ["a", "b"], "judge": "j", "biased": [True, False]})
    >>> swaps = pd.DataFrame({"text_id": ["a", "b"], "judge": "j", "swap": [0.5, 0.0]})
    >>> split_scorer_bias(answers, verdicts, swaps=swaps)["estimate"].tolist()
    [0.25, 0.25]
    """
    table = _join(answers, judgements, None)
    table = table.merge(swaps[["text_id", "judge", "swap"]], on=["text_id", "judge"], how="left")
    rows: list[Row] = []
    for (judge, model, instrument), subset in table.groupby(_KEYS, sort=False):
        if judge in set(swaps["judge"]):
            swapped = (subset["flagged"] - subset["swap"]).clip(0, 1)
            units = number_units(subset)
            added = (subset["flagged"] - swapped).groupby(units).mean()
            what, limits = "prompts" if len(added) < len(units) else "answers", (-1.0, 1.0)
            own = stats.scorer_bias(added, units=what, confidence=confidence, bounds=limits)
            parts = [_share(subset, swapped, confidence), own.row()]
        else:
            reason = SLOW if judge in JUDGES else RECORDED
            parts = [stats.Estimate(reason=reason, n=0, n_lost=len(subset)).row()] * 2
        key: Row = {"judge": judge, "model": model, "instrument": instrument}
        for statistic, row in zip((SWAPPED, SCORER_BIAS), parts, strict=True):
            rows.append(key | {"statistic": statistic} | row)
    return tabulate(rows, measure=MEASURE, source=source, confidence=confidence)
