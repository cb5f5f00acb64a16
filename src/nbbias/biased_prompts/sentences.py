"""Sentences about biased prompts, written from tables.

>>> from nbbias import biased_prompts
>>> biased_prompts.sentences.printed_rate(biased_prompts.compare.printed())[:41]
'The paper prints that ChatGPT refused 89.'
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from nbbias import news, reading, refusals, stats
from nbbias.biased_prompts.compare import leading
from nbbias.biased_prompts.corpus import EVERY
from nbbias.biased_prompts.refusing import RECORDED
from nbbias.reading import escape, number, p_value
from nbbias.tables import UNTOLD

Row = Mapping[str, Any]

#: The effect of the prompt proper, by statistic.
EFFECTS = ("share_difference_change", "mean_difference_change")

_CLAIM = ["measure", "bias", "group", "instrument", "source", "model"]

_WHAT = {
    "word": "share of words of the group",
    "document": "share of content on topics of the group",
    "sentiment": "sentiment towards the group",
    "toxicity": "toxicity towards the group",
}


def corpus(generations: pd.DataFrame, chosen: pd.DataFrame) -> str:
    """Say how many answers are compared, and how many to other prompts are left out."""
    models = chosen["model"].nunique()
    text = f"{len(chosen):,} answers of {models} {'model' if models == 1 else 'models'} count here."
    others = generations.loc[~generations["prompt"].isin(chosen["prompt"].unique()), "prompt"]
    if len(others):
        named = ", ".join(escape(name) for name in others.unique())
        text += f" {len(others):,} answers to other prompts ({named}) are left out."
    return text


def detector(rates: pd.DataFrame) -> str:
    """Say how good the instrument of refusals is on new models, or that refusals came recorded."""
    if (rates["instrument"] == RECORDED).all():
        return "The corpus says itself which answers were refused; nothing was detected here."
    models, means = refusals.unseen(), refusals.held_out().query("model == 'mean'")
    mean, plain = (
        means.set_index("method").loc[name] for name in (refusals.UNSEEN, "string match")
    )
    known = stats.error_rates(models)
    level = float(rates["confidence"].iloc[0])
    low, high = (1 + known.quantiles([(1 - level) / 2, (1 + level) / 2])) / 2
    spans = {
        rate: f"{mean[rate]:.0%} ({models[rate].min():.0%} to {models[rate].max():.0%} by model)"
        for rate in ("sensitivity", "specificity")
    }
    answers = int(mean[refusals.COUNTS].sum())
    return (
        f"The detector is {escape(rates['instrument'].iloc[0])}. On {answers:,} answers of "
        f"{known.models} models, labelled by people (XSTest), each by a model and to a kind of "
        f"prompt that the detector had not seen, it tells {spans['sensitivity']} of the "
        f"refusals and {spans['specificity']} of the other answers, on average "
        f"{mean['balanced_accuracy']:.0%}; a plain match of phrases, "
        f"{plain['balanced_accuracy']:.0%}. So few models tell little of a new one: there that "
        f"average is expected between {low:.0%} and {high:.0%} ({level:.0%}). Rates stand as told, "
        "and corrected for these errors."
    )


def refused(rates: pd.DataFrame, *, neutral: str, biased: str) -> list[str]:
    """Say for every model how often it refuses either prompt, as told and corrected."""
    sentences = []
    for model, rows in _overall(rates).groupby("model", sort=False):
        told, corrected = (
            rows[rows["statistic"] == name].set_index("prompt").to_dict("index")
            for name in ("refusal_rate", "refusal_rate_corrected")
        )
        parts = [
            f"{row['estimate']:.0%} of the articles under the prompt “{escape(prompt)}” "
            f"({_percent(row)}; N = {row['n']:.0f}{_corrected(corrected.get(prompt))})"
            for prompt in (biased, neutral)
            if (row := told.get(prompt)) is not None and np.isfinite(row["estimate"])
        ]
        what = " and ".join(parts) or "nothing that could be told"
        sentences.append(f"{escape(model)} refuses {what}.")
    return sentences


def _overall(rates: pd.DataFrame) -> pd.DataFrame:
    return rates[(rates["source"] == EVERY) & rates["group"].isna()]


def _percent(row: Mapping[str, Any]) -> str:
    if not np.isfinite(row["ci_low"]):
        return "no interval"
    return f"{row['confidence']:.0%} CI {row['ci_low']:.0%} to {row['ci_high']:.0%}"


def _corrected(row: Mapping[str, Any] | None) -> str:
    """Write a corrected share or difference behind the one as told; nothing where there is none."""
    if row is None or not np.isfinite(row["estimate"]):
        return ""
    return f"; corrected {row['estimate']:.0%}, {_percent(row)}"


def selective(rates: pd.DataFrame, *, correction: str) -> list[str]:
    """Say which models refuse headlines that name a group more often, or less, than others."""
    rows = rates[rates["statistic"] == "refusal_difference"]
    if rows.empty:
        return ["Whether refusals are selective was not measured: the corpus has no headlines."]
    sentences = []
    for bias, own in rows.groupby("bias", sort=False):
        tested = own[own["p_adjusted"].notna()]
        if tested.empty:
            why = own["reason"].dropna()
            told = escape(why.iloc[0]) if len(why) else "nothing to compare"
            sentences.append(f"{escape(bias)}: not tested ({told}).")
            continue
        alpha = 1 - tested["confidence"].iloc[0]
        found = tested[tested["p_adjusted"] < alpha]
        untold = int(tested["reason"].fillna("").str.startswith(UNTOLD).sum())
        few = f"; {untold} cannot be told, since too few or too many are refused" if untold else ""
        text = (
            f"{escape(bias)}: {len(found)} of {len(tested)} differences from headlines that name "
            f"nobody are below p = {number(alpha)} after {reading.CORRECTIONS[correction]} "
            f"(exploratory){few}."
        )
        corrected = rates[rates["statistic"] == "refusal_difference_corrected"]
        corrected = corrected.set_index(["model", "bias", "group"]).to_dict("index")
        for row in found.sort_values("estimate", key=abs, ascending=False).to_dict("records"):
            more = "more" if row["estimate"] > 0 else "less"
            points = f"{abs(row['estimate']) * 100:.0f} percentage points"
            text += (
                f" {escape(row['model'])} refuses headlines that name the group "
                f"{escape(row['group'])} {more} often, by {points} "
                f"({_percent(row)}; N = {row['n']:.0f}; {p_value(row)}"
                f"{_corrected(corrected.get((row['model'], bias, row['group'])))})."
            )
        sentences.append(text)
    return sentences


def effects(
    estimates: pd.DataFrame, *, correction: str, bounds: pd.DataFrame | None = None
) -> list[str]:
    """Write the effect of the prompt on the articles answered under both, by bias and instrument.

    The primary result: how many effects are beyond chance, and the largest. Where articles were
    refused, the same sentence says between what the share of prejudice lies if they counted: by the
    rows of `bounds`, or of `estimates`, where these are all.
    """
    sentences = []
    rows = estimates[estimates["statistic"].isin(EFFECTS)]
    open_ends = _open(estimates if bounds is None else bounds)
    for (bias, instrument), own in rows.groupby(["bias", "instrument"], sort=False):
        several = rows["instrument"].nunique() > 1
        name = escape(bias) + (f", {escape(instrument)}" if several else "")
        prompts = [escape(p) for p in str(own["prompt"].iloc[0]).split(" − ")]
        biased, neutral = (p.replace("{", "{{").replace("}", "}}") for p in prompts)
        words = (
            f"in {{which}} the {_WHAT[own['measure'].iloc[0]]} {{group}} is {{size}} "
            f"{{direction}} under the prompt “{biased}” than under “{neutral}”, on the same "
            "articles {numbers}"
        )
        told = reading.beyond_chance(
            own, what="effects of the prompt", unit="articles", correction=correction,
            says=partial(_with_bounds, words, open_ends),
        )  # fmt: skip
        sentences.append(f"{name}: {told}")
    return sentences


def _with_bounds(
    words: str, open_ends: Mapping[tuple[Hashable, ...], Mapping[str, float]], row: Row
) -> str:
    return words + _left_open(row, open_ends)


def _left_open(
    row: Mapping[str, Any], open_ends: Mapping[tuple[Hashable, ...], Mapping[str, float]]
) -> str:
    """Say between what the share of prejudice lies; nothing where no refused article counts."""
    ends = open_ends.get(tuple(row[key] for key in _CLAIM))
    if ends is None:
        return ""
    return (
        f"; the {ends['n_refused']:.0f} refused that could count leave the share in which the "
        f"group fares worse, {number(ends['estimate'])} of those answered, between "
        f"{number(ends['low'])} and {number(ends['high'])}"
    )


def _open(estimates: pd.DataFrame) -> dict[tuple[Hashable, ...], dict[str, float]]:
    """Return by claim what refused articles leave open: the share of prejudice and its two ends.

    Claims without a refused article that could have counted are left out.
    """
    shares = {
        name: estimates[estimates["statistic"] == f"prejudice_share{name}"]
        for name in ("", "_if_none", "_if_all")
    }
    ends = shares["_if_none"].merge(shares["_if_all"], on=[*_CLAIM, "prompt"])
    both = ends.merge(shares[""], on=[*_CLAIM, "prompt"])
    found = pd.DataFrame(
        {"low": both["estimate_x"], "high": both["estimate_y"], "estimate": both["estimate"],
         "n": both["n"], "n_refused": both["n_x"] - both["n"]}
    )  # fmt: skip
    found.index = pd.MultiIndex.from_frame(both[_CLAIM])
    left_open = found[found["high"] - found["low"] > news.prejudice.ROUNDING]
    return left_open.to_dict("index")


def two_samples(estimates: pd.DataFrame) -> list[str]:
    """Say what the paper's tests find, taking both prompts' articles as two samples."""
    sentences = []
    kinds = ["prejudice_share_change", "prejudice_extent_change"]
    rows = estimates[estimates["statistic"].isin(kinds)]
    for (bias, instrument), own in rows.groupby(["bias", "instrument"], sort=False):
        alpha = 1 - own["confidence"].iloc[0]
        several = rows["instrument"].nunique() > 1
        name = escape(bias) + (f", {escape(instrument)}" if several else "")
        shares = own[(own["statistic"] == kinds[0]) & own["p_value"].notna()]
        extent = own[own["statistic"] == kinds[1]]
        wide = extent.pivot_table(index=["source", "model"], columns="test", values="p_value")
        if shares.empty and wide.empty:
            sentences.append(f"{name}: neither share nor extent could be compared.")
            continue
        text = (
            f"{name}: before correction, Δ of the share is below p = {number(alpha)} in "
            f"{int((shares['p_value'] < alpha).sum())} of {len(shares)} cells"
        )
        if len(wide):
            counts = [f"{int((wide[test] < alpha).sum())} by {escape(test)}" for test in wide]
            text += f", Δ of the extent in {' and '.join(counts)}, of {len(wide)}"
            apart = int(((wide < alpha).nunique(axis=1) > 1).sum())
            text += f"; the two tests disagree in {apart}" if apart else "; the two tests agree"
        sentences.append(text + ".")
    return sentences


def bounds(estimates: pd.DataFrame) -> list[str]:
    """Say between what the biased prompt's share of prejudice lies if refused articles counted.

    By the first instrument of each measure, toxicity apart.
    """
    estimates = leading(estimates)
    several = estimates["instrument"].nunique() > 1
    sentences = [
        f"{_cell(str(model), str(source), estimates)}, {escape(group)}"
        f"{f' ({escape(instrument)})' if several else ''}: {ends['n_refused']:.0f} refused "
        f"articles could have counted beside the {ends['n']:.0f} that do. The share of prejudice, "
        f"{number(ends['estimate'])} of those answered, would lie between {number(ends['low'])} "
        f"(none of the refused were prejudiced) and {number(ends['high'])} (all were)."
        for (*_, group, instrument, source, model), ends in _open(estimates).items()
    ]
    return sentences or ["No refused article could have counted, so nothing is left open."]


def printed_rate(printed: pd.DataFrame) -> str:
    """Say which refusal rate the paper prints."""
    row = printed[printed["statistic"] == "refusal_rate"].iloc[0]
    return (
        f"The paper prints that {escape(row['model'])} refused {row['estimate']:.2%} of biased "
        "prompts, and the other six models none; how a refusal was told is not said."
    )


def detected(answers: pd.DataFrame) -> str:
    """Say how many planted refusals were told, where the corpus is simulated."""
    if "planted_refusal" not in answers:
        return "This corpus was not simulated, so which answers truly refuse is not known."
    planted, said = answers["planted_refusal"], answers["refused"].fillna(False).astype(bool)
    return (
        f"{int((planted & said).sum())} of {int(planted.sum())} planted refusals were told, and "
        f"{int((~planted & said).sum())} of {int((~planted).sum())} articles were called refusals. "
        "The planted ones are plainly worded; real ones are harder, as the table above says."
    )


def _cell(model: str, source: str, rows: pd.DataFrame) -> str:
    several = rows["source"].nunique() > 1
    return escape(model) + (f" / {escape(source)}" if several else "")


def finding(
    rates: pd.DataFrame, estimates: pd.DataFrame, *, biased: str, correction: str,
    bounds: pd.DataFrame | None = None,
) -> tuple[str, str]:  # fmt: skip
    """Return the sentences that lead a run's page, and the name of the figure that shows them.

    One of the changes of refusal, one of the effects at the first level. `estimates` are those that
    lead, such as the declared ones; `bounds` as in `effects`.
    """
    method = "holm" if "claim" in estimates else correction
    lead = []
    changes = estimates[estimates["statistic"] == "refusal_rate_change"]
    if len(changes):
        others = rates[rates["statistic"] == "refusal_rate_change_corrected"]
        corrected = others.set_index("model").to_dict("index")

        def change(row: Row, numbers: str) -> str:
            true = corrected.get(row["model"], {"estimate": np.nan})
            more = "more" if row["estimate"] > 0 else "less"
            if np.isfinite(true["estimate"]):
                numbers += f"; corrected {number(true['estimate'])}, {reading.interval(true)}"
            return (
                f"{escape(row['model'])} refuses {number(abs(row['estimate']))} of the articles "
                f"{more} under the prompt “{escape(biased)}” ({numbers})"
            )

        lead.append(_in_one(changes, change, what="changes of refusal", method=method))
    effect = estimates[estimates["statistic"].isin(EFFECTS)]
    open_ends = _open(estimates if bounds is None else bounds)
    for measure in ("word", "document", "sentiment"):
        own = effect[effect["measure"] == measure]
        if own.empty:
            continue
        own = own[(own[["bias", "instrument"]] == own[["bias", "instrument"]].iloc[0]).all(axis=1)]

        def says(row: Row, numbers: str, what: str = _WHAT[measure]) -> str:
            way = "lower" if row["estimate"] < 0 else "higher"
            size = number(abs(row["estimate"]), decimals=3)
            return (
                f"in {escape(row['model'])} the {what} {escape(row['group'])} is {size} {way} "
                f"({numbers}){_left_open(row, open_ends)}"
            )

        lead.append(_in_one(own, says, what="effects of the prompt", method=method))
        return " ".join(lead), "effects"
    return " ".join(lead) or reading.claims.lead(estimates, "Nothing was measured."), "refusals"


def _in_one(
    rows: pd.DataFrame, says: Callable[[Row, str], str], *, what: str, method: str
) -> str:  # fmt: skip
    """Say in one sentence how many rows of one family are told apart from 0, and the largest."""
    tested = rows[rows["p_adjusted"].notna()].reset_index(drop=True)
    if tested["reason"].fillna("").str.startswith(UNTOLD).all():  # or none was tested
        why = rows["reason"].dropna()
        return f"No {what} could be told ({escape(why.iloc[0]) if len(why) else 'no test'})."
    found = tested[tested["p_adjusted"] < 1 - tested["confidence"]]
    of = found if len(found) else tested
    at = of["estimate"].abs().idxmax()
    row = of.loc[at].to_dict()
    lost = f" of {row['n'] + row['n_lost']:,.0f}" if row["n_lost"] else ""
    numbers = [reading.interval(row), f"N = {row['n']:,.0f}{lost} articles", p_value(row)]
    asked = "declared" if "claim" in rows else "exploratory"
    return (
        f"{len(found)} of {len(rows)} {what} are told apart from 0 ({asked}, "
        f"{reading.CORRECTIONS[method]}); {'the largest' if len(found) != 1 else 'this one'}: "
        f"{says(row, '; '.join([*numbers, *reading.selected(tested, at)]))}."
    )
