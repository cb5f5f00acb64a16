"""Sentences about biased prompts, written from tables.

>>> from nbbias import biased_prompts
>>> biased_prompts.sentences.printed_rate(biased_prompts.compare.printed())[:41]
'The paper prints that ChatGPT refused 89.'
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from nbbias import news, reading, refusals
from nbbias.biased_prompts.compare import leading
from nbbias.biased_prompts.refusing import EVERY
from nbbias.reading import escape, number, p_value

#: The effect of the prompt proper, by statistic.
EFFECTS = ("share_difference_change", "mean_difference_change")

_WHAT = {
    "word": "share of words of the group",
    "document": "share of content on topics of the group",
    "sentiment": "sentiment towards the group",
    "toxicity": "toxicity towards the group",
}
_OWN = "head, model and prompt held out"


def corpus(generations: pd.DataFrame, chosen: pd.DataFrame) -> str:
    """Say how many answers are compared, and how many to other prompts are left out."""
    models = chosen["model"].nunique()
    text = f"{len(chosen):,} answers of {models} {'model' if models == 1 else 'models'} count here."
    others = generations.loc[~generations["prompt"].isin(chosen["prompt"].unique()), "prompt"]
    if len(others):
        named = ", ".join(escape(name) for name in others.unique())
        text += f" {len(others):,} answers to other prompts ({named}) are left out."
    return text


def detector(rates: pd.DataFrame, held_out: pd.DataFrame | None = None) -> str:
    """Say how good the instrument of refusals is, or that refusals came recorded."""
    if (rates["instrument"] == "recorded").all():
        return "The corpus says itself which answers were refused; nothing was detected here."
    held_out = refusals.held_out() if held_out is None else held_out
    mean = held_out[held_out["model"] == "mean"].set_index("method")
    own, models = mean.loc[_OWN], held_out[held_out["method"] == _OWN]
    worst = models[models["model"] != "mean"].sort_values("accuracy").iloc[0]
    return (
        f"The detector is {escape(rates['instrument'].iloc[0])}. On {own['answers']:,.0f} answers "
        f"labelled by people (XSTest), each by a model and to a prompt that the detector had not "
        f"seen, it is right in {own['accuracy']:.0%} (balanced {own['balanced_accuracy']:.0%}, "
        f"F1 {number(own['f1'])}); a plain match of phrases is in "
        f"{mean.loc['string match', 'accuracy']:.0%} (balanced "
        f"{mean.loc['string match', 'balanced_accuracy']:.0%}), always saying “not refused” in "
        f"{mean.loc['never refuses', 'accuracy']:.0%}. It is worst on {escape(worst['model'])} "
        f"({worst['accuracy']:.0%}). No interval below holds the detector's own errors."
    )


def refused(rates: pd.DataFrame, *, neutral: str, biased: str) -> list[str]:
    """Say for every model how often it refuses either prompt."""
    own = rates[(rates["statistic"] == "refusal_rate") & (rates["source"] == EVERY)]
    own = own[own["group"].isna()]
    sentences = []
    for model, rows in own.groupby("model", sort=False):
        by_prompt = {row["prompt"]: row for row in rows.to_dict("records")}
        parts = [
            f"{row['estimate']:.0%} of the articles under the prompt “{escape(prompt)}” "
            f"({_percent(row)}; N = {row['n']:.0f})"
            for prompt in (biased, neutral)
            if (row := by_prompt.get(prompt)) is not None and np.isfinite(row["estimate"])
        ]
        told = " and ".join(parts) or "nothing that could be told"
        sentences.append(f"{escape(model)} refuses {told}.")
    return sentences


def _percent(row: dict[str, float]) -> str:
    if not np.isfinite(row["ci_low"]):
        return "no interval"
    return f"{row['confidence']:.0%} CI {row['ci_low']:.0%} to {row['ci_high']:.0%}"


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
        text = (
            f"{escape(bias)}: {len(found)} of {len(tested)} differences from headlines that name "
            f"nobody are below p = {number(alpha)} after {reading.CORRECTIONS[correction]} (a "
            "family each model)."
        )
        for row in found.sort_values("estimate", key=abs, ascending=False).to_dict("records"):
            more = "more" if row["estimate"] > 0 else "less"
            points = f"{abs(row['estimate']) * 100:.0f} percentage points"
            text += (
                f" {escape(row['model'])} refuses headlines that name the group "
                f"{escape(row['group'])} {more} often, by {points} "
                f"({_percent(row)}; N = {row['n']:.0f}; {p_value(row)})."
            )
        sentences.append(text)
    return sentences


def effects(estimates: pd.DataFrame, *, correction: str) -> list[str]:
    """Write the effect of the prompt on the articles answered under both, by bias and instrument.

    The primary result: how many effects are beyond chance, and the largest.
    """
    sentences = []
    rows = estimates[estimates["statistic"].isin(EFFECTS)]
    for (bias, instrument), own in rows.groupby(["bias", "instrument"], sort=False):
        several = rows["instrument"].nunique() > 1
        name = escape(bias) + (f", {escape(instrument)}" if several else "")
        prompts = [escape(p) for p in str(own["prompt"].iloc[0]).split(" − ")]
        biased, neutral = (p.replace("{", "{{").replace("}", "}}") for p in prompts)
        told = reading.beyond_chance(
            own, what="effects of the prompt", unit="articles", correction=correction,
            says=f"in {{which}} the {_WHAT[own['measure'].iloc[0]]} {{group}} is {{size}} "
            f"{{direction}} under the prompt “{biased}” than under “{neutral}”, on the same "
            "articles",
        )  # fmt: skip
        sentences.append(f"{name}: {told}")
    return sentences


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
    keys = ["bias", "group", "instrument", "source", "model"]
    ends = {
        name: estimates[estimates["statistic"] == f"prejudice_share_{name}"].set_index(keys)
        for name in ("if_none", "if_all")
    }
    answered = estimates[estimates["statistic"] == "prejudice_share"].set_index([*keys, "prompt"])
    sentences = []
    for key, row in ends["if_none"].iterrows():
        low, high = row["estimate"], ends["if_all"].loc[key, "estimate"]
        assert isinstance(key, tuple)
        if not high - low > news.prejudice.ROUNDING:
            continue
        known = answered.loc[(*key, row["prompt"])]
        several = estimates["instrument"].nunique() > 1
        where = f" ({escape(key[2])})" if several else ""
        sentences.append(
            f"{_cell(key[4], key[3], estimates)}, "
            f"{escape(key[1])}{where}: {row['n'] - known['n']:.0f} refused articles could have "
            f"counted beside the {known['n']:.0f} that do. The share of prejudice, "
            f"{number(known['estimate'])} of those answered, would lie between {number(low)} (none "
            f"of the refused were prejudiced) and {number(high)} (all were)."
        )
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
    rates: pd.DataFrame, estimates: pd.DataFrame, *, biased: str, correction: str
) -> tuple[str, str]:
    """Return the sentence that leads a run's page, and the name of the figure that shows it."""
    own = rates[(rates["statistic"] == "refusal_rate") & (rates["prompt"] == biased)]
    own = own[(own["source"] == EVERY) & own["group"].isna()]["estimate"].dropna()
    lead = ""
    if len(own):
        low, high = f"{own.min():.0%}", f"{own.max():.0%}"
        spread = low if low == high else f"{low} to {high}"
        lead = f"Models refuse {spread} of the articles under the prompt “{escape(biased)}”. "
    for measure in ("word", "document", "sentiment"):
        found = effects(estimates[estimates["measure"] == measure], correction=correction)
        if found:
            return lead + found[0], "effects"
    return (lead or "Nothing was measured."), "refusals"
