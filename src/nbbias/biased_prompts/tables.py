"""Tables of the biased-prompts study for readers: which rows and columns, and their notes.

>>> from nbbias import biased_prompts
>>> biased_prompts.tables.held_out().title
"How well refusals are told: full refusal or not, on XSTest's human labels"
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from nbbias import refusals, stats
from nbbias.biased_prompts import audit, corpus
from nbbias.biased_prompts.corpus import NOBODY
from nbbias.reading import Table, p_column, readable

_KEYS = ["measure", "instrument", "bias", "group", "model", "source", "prompt"]

#: Name → statistics, title, note: what a reader may want of the estimates.
_OF_ESTIMATES: Mapping[str, tuple[list[str], str, str]] = {
    "refusals": (
        ["refusal_rate", "refusal_rate_corrected"],
        "Refusal rates, over all outlets and by outlet",
        "As told: Wilson intervals over articles. Corrected: for the detector's errors, which "
        "differ between models. Source all: over all outlets. Lost: articles without an answer.",
    ),
    "refusals changed": (
        ["refusal_rate_change", "refusal_rate_change_corrected"],
        "What the prompt changes: the refusal rate, biased less neutral",
        "Over the articles asked about under both prompts; paired t-test of what was told, which "
        "holds for the corrected change if the detector errs alike under both prompts: where next "
        "to none is called refused under one, few are called so wrongly under the other. Without "
        "any spread there is no interval and no test. Corrected rates do not subtract "
        "to the corrected change: it is over a median of the errors, they over the mean.",
    ),
    "parted": (
        ["mean_difference_change_corrected", "mean_difference_change_instrument"],
        "The effect of the prompt on tone, without what the instrument adds by itself",
        "Corrected: every sentence counts as the mean of what it scores about each group in turn. "
        "Instrument: the rest, which hangs only on whom the sentences name. Together they are the "
        "effect.",
    ),
    "effects": (
        ["share_difference_change", "mean_difference_change"],
        "The effect of the prompt on the same articles",
        "Biased less neutral; below 0: less of the group, or colder; toxicity above 0: worse. N: "
        "articles measured under both prompts; lost: all others. Paired t-test.",
    ),
    "prejudice": (
        ["prejudice_share", "prejudice_extent"],
        "Share and extent of prejudice under both prompts",
        "Words: of the articles whose original names the group. Tone: it is worse than in the "
        "original. Topics: of all scored articles, as the paper counts at this level. Null: "
        "replicates at equal lengths; of tone and topics, scores or words of pairs dealt out anew.",
    ),
    "changes": (
        ["prejudice_share_change", "prejudice_share_change_paired", "prejudice_extent_change"],
        "Δ of share and extent, biased less neutral",
        "Change: as of two samples, N of both together; the articles are the same, so these tests "
        "find less than they could. Paired: on the articles that count under both prompts. For "
        "toxicity a positive extent is the worse one.",
    ),
    "bounds": (
        ["prejudice_share_if_none", "prejudice_share_if_all"],
        "The biased prompt's share of prejudice, had none or all of the refused articles been "
        "prejudiced",
        "N: with the articles told as refused that can count for the group. Wilson intervals.",
    ),
}


def wording(*, neutral: str, biased: str) -> Table:
    """Return how news is asked for."""
    return Table(corpus.wording(neutral=neutral, biased=biased), "How news is asked for")


def of(estimates: pd.DataFrame, name: str, *, rows: int | None = None) -> Table:
    """Return some estimates as a table for readers.

    Parameters
    ----------
    estimates
        ESTIMATES of the study.
    name
        ``"refusals"``, ``"refusals changed"``, ``"effects"``, ``"prejudice"``, ``"changes"``,
        ``"parted"`` or ``"bounds"``.
    rows
        The most rows to show; all where None.
    """
    statistics, title, note = _OF_ESTIMATES[name]
    if name == "refusals":
        estimates = estimates[estimates["group"].isna()]
    if name == "effects":  # the measure says which statistic it is
        estimates = estimates[estimates["statistic"].isin(statistics)].assign(statistic=name)
        statistics = [name]
    keys = [*_KEYS, "test"] if name == "changes" else _KEYS
    told = {"title": title, "note": note} | ({"gap": ""} if name == "refusals changed" else {})
    return readable(estimates, keys, statistics=statistics, rows=rows, **told)


def swaps(lexicon: pd.DataFrame, *, confidence: float) -> Table:
    """Return how far the name of each group moves the detector of refusals."""
    found = stats.estimate_swap_effects(refusals.swap_effects(lexicon), confidence=confidence)
    return Table(
        found,
        "The detector of refusals on sentences in which only who is spoken of changes",
        "Of the probability of a full refusal: the score less the mean over the groups, 0 where "
        "whom an answer names does not matter; of a sentence as an answer, and in one that "
        "declines to write it.",
    )


def swapped_refusals(answers: pd.DataFrame, swaps: pd.DataFrame, parted: pd.DataFrame) -> Table:
    """Return in one row what whom an answer names adds to refusal rates.

    Parameters
    ----------
    answers, swaps, parted
        Of `refusing.answered`, `audit.swap_effects` and `audit.estimates`.
    """
    alone = parted.loc[parted["statistic"].str.endswith(audit.INSTRUMENT), "estimate"]
    row = {
        "answers": len(answers),
        "name a group": int((swaps["named"] > 0).sum()),
        "told otherwise": int((swaps["swap"].abs() > 0).sum()),
        "not exchanged": int(swaps["swap"].isna().sum()),
        "least part of a rate": alone.min(),
        "largest part": alone.max(),
    }
    return Table(
        pd.DataFrame([row] if len(parted) else [], columns=list(row)),
        "What the detector adds to refusal rates by whom answers name",
        "Answers that name a group of the word lists are read once more with each group in its "
        "place. Not exchanged: a word has no counterpart. Parts: the instrument's alone, of rates "
        "and of their change; all stand, with the rates of swapped answers, in tables/estimates.",
    )


def held_out() -> Table:
    """Return how well refusals are told."""
    shown = ["method", "model", "sensitivity", "specificity", "accuracy", "balanced_accuracy"]
    found = refusals.held_out()
    found["answers"] = found[refusals.COUNTS].sum(axis=1)
    found["refusals"] = found["tp"] + found["fn"]
    return Table(
        found[[*shown[:2], "answers", "refusals", *shown[2:]]],
        "How well refusals are told: full refusal or not, on XSTest's human labels",
        "Sensitivity, specificity: shares of refusals, and of others, told rightly; balanced: the "
        "mean. Each answer was scored by a detector that had seen neither its model nor its prompt "
        "(or area: the last is what rates are corrected by). Patterns were revised after looking "
        "at these models' errors, and XSTest asks about unsafe things, not for news, so the "
        "detector may do worse here.",
    )


def by_headline(rates: pd.DataFrame) -> Table:
    """Return the refusal rates by whom a headline names, beside the difference from nobody's."""
    named = rates[rates["group"].notna() & (rates["statistic"] == "refusal_rate")]
    keys = ["bias", "model", "prompt", "group"]
    tested = rates[rates["statistic"] == "refusal_difference"].set_index(keys)
    shown = ["estimate", "ci_low", "ci_high", "p_value", "p_adjusted"]
    texts = {name: p_column(tested, name) for name in ("p_value", "p_adjusted")}
    beside = (
        tested[shown]
        .assign(**texts)
        .rename(columns={"estimate": "difference", "ci_low": "d_low", "ci_high": "d_high"})
    )
    rate = named[[*keys, "estimate", "ci_low", "ci_high", "n"]].rename(columns={"estimate": "rate"})
    table = rate.join(beside, on=keys)
    return Table(
        table.assign(group=table["group"].replace({NOBODY: "nobody"})),
        "Refusals by whom the headline names",
        "As told; what is corrected for the detector's errors stands in tables/refusals.csv. Rate: "
        "Wilson interval. Difference: the biased prompt's rate less that of headlines that name "
        "nobody; Newcombe's interval, Fisher's exact test, one family.",
        gap="",
    )


def steps(found: pd.DataFrame) -> Table:
    """Return what became of the answers."""
    note = "answers = all columns to its right. Each level tells what it loses beyond this."
    return Table(found, "What became of the answers", note)


def printed(found: pd.DataFrame) -> Table:
    """Return the printed changes with their p values."""
    kinds = ["prejudice_share_change", "prejudice_extent_change"]
    return readable(
        found,
        ["measure", "group", "model"],
        statistics=kinds,
        rows=None,
        gap="",
        title="Printed: Δ and p, biased less neutral (other corpus)",
        note="N: articles of both prompts together. p of the extent, where it is a number.",
    )


def planted(truth: pd.DataFrame) -> Table:
    """Return what was planted beside what was found."""
    title = "Planted and estimated: refusal rates of the biased prompt, effects on word shares"
    return Table(truth, title)
