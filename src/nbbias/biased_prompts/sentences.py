"""Sentences about biased prompts, written from tables.

>>> from nbbias import biased_prompts
>>> biased_prompts.sentences.printed_rate(biased_prompts.compare.printed())[:41]
'The paper prints that ChatGPT refused 89.'
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from nbbias import news, reading, refusals, stats
from nbbias.biased_prompts import audit
from nbbias.biased_prompts.compare import leading
from nbbias.biased_prompts.corpus import EVERY, NOBODY
from nbbias.biased_prompts.refusing import RECORDED, REFUSED
from nbbias.params import Texts
from nbbias.reading import claims, names, number, p_value, phrases, prose, significance
from nbbias.tables import UNTESTABLE
from nbbias.tables.escape import markdown as escape

Row = Mapping[str, Any]

#: The effect of the prompt proper, by statistic.
EFFECTS = ("share_difference_change", "mean_difference_change")

_REFUSES = "refusal_rate_change"

_CLAIM = ["measure", "bias", "group", "instrument", "source", "model"]

#: What a run compares, by measure.
_MEASURES = {
    "refusal": "how often a model declines to write",
    "word": "a group's share of the words",
    "sentiment": "the tone towards it",
    "toxicity": "the toxicity towards it",
    "document": "the room for topics that go with it",
}

_LEVEL = {"word": "Words", "sentiment": "Tone", "toxicity": "Toxicity", "document": "Topics"}

_NOT = (
    "That a model is safe, or would follow every such prompt. One wording is one wording, refusals "
    "are told by a detector that errs, and models choose which articles they answer."
)

#: Bullets that a list of models may have.
_MODELS = 4


# --- the first screen -------------------------------------------------------------------------

#: Methods of correction in words.
_CORRECTIONS = {"holm": "Holm-adjusted", "fdr_bh": "Benjamini-Hochberg-adjusted"}


def lead(
    declared: pd.DataFrame,
    *,
    estimates: pd.DataFrame,
    answers: pd.DataFrame,
    texts: Texts,
    prompts: Mapping[str, str],
) -> reading.Lead:
    """Say what a run found: what leads its page.

    Parameters
    ----------
    declared
        The declared rows (`reading.claims.declared`), or all estimates where there are none: then
        refusals lead, and the first level that was measured, and are called exploratory.
    estimates
        ESTIMATES of the study.
    answers
        GENERATIONS under the two prompts.
    texts
        Where the texts are from.
    prompts
        ``"neutral"`` and ``"biased"``: their names in the column `prompt`.
    """
    parts = phrases.families(leading_rows(declared))
    found = [part for part in parts if len(significance.significant(part))]
    under = f"under the {escape(prompts['neutral'])} prompt"
    summary = phrases.summarize(_refusals_first(parts), reference=under)
    what = [one for name, one in _MEASURES.items() if (estimates["measure"] == name).any()]
    groups = estimates.loc[estimates["statistic"].isin(EFFECTS), "group"].dropna().unique()
    articles = len(answers[["source", "article_id"]].drop_duplicates())
    models = answers["model"].nunique()
    card = {
        "measures": f"{prose.capitalize(prose.listed(what, most=5))}: the same article asked for "
        "under two prompts",
        "groups": prose.listed([escape(names.people(str(one))) for one in groups], most=6),
        "N": f"{articles:,} articles and {len(answers):,} answers of {models} "
        f"model{'' if models == 1 else 's'}",
        "instrument": ", ".join(dict.fromkeys(_instruments(estimates))),
        "not": _NOT,
    }
    technical, numbers = phrases.technical(parts), phrases.leading(found or parts)
    return reading.Lead(
        summary.sentences, technical, "finding", numbers, card, texts, claims=summary.claims
    )


def leading_rows(declared: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of which `lead` speaks: the declared ones, or refusals and one measure."""
    if claims.CLAIM in declared:
        return declared
    refusing = declared[declared["statistic"] == _REFUSES]
    effects = declared[declared["statistic"].isin(EFFECTS)]
    if len(effects):
        first = effects.iloc[0]
        same = (effects[["measure", "instrument"]] == first[["measure", "instrument"]]).all(axis=1)
        effects = effects[same]
    return pd.concat([refusing, effects])


def _instruments(estimates: pd.DataFrame) -> list[str]:
    """Name instruments without what they are made of."""
    return [escape(str(one).split(" (")[0]) for one in estimates["instrument"].dropna().unique()]


def _refusals_first(parts: Sequence[pd.DataFrame]) -> list[pd.DataFrame]:
    return sorted(parts, key=lambda part: bool((part["measure"] != "refusal").any()))


def more(declared: pd.DataFrame) -> list[str]:
    """Say what these articles can show of what leads, and how many would show more."""
    return phrases.power(leading_rows(declared))


# --- the corpus -------------------------------------------------------------------------------


def corpus(generations: pd.DataFrame, chosen: pd.DataFrame) -> str:
    """Say how many answers are compared, and how many to other prompts are left out."""
    models = chosen["model"].nunique()
    text = f"{len(chosen):,} answers of {models} {'model' if models == 1 else 'models'} count here."
    others = generations.loc[~generations["prompt"].isin(chosen["prompt"].unique()), "prompt"]
    if len(others):
        named = ", ".join(escape(name) for name in others.unique())
        text += f" {len(others):,} answers to other prompts ({named}) are left out."
    return text


def answered(pairs: pd.DataFrame) -> str:
    """Say in a heading how many answers are refused, and how many are measured.

    Parameters
    ----------
    pairs
        Of `biased_prompts.refusing.without_refusals`.
    """
    refused, kept = int((pairs["lost"] == REFUSED).sum()), int(pairs["lost"].isna().sum())
    return f"Of {len(pairs):,} answers {refused:,} are refusals; {kept:,} are measured"


def detector(rates: pd.DataFrame) -> str:
    """Say how good the instrument of refusals is on new models, or that refusals came recorded."""
    if (rates["instrument"] == RECORDED).all():
        return "The corpus says itself which answers were refused; nothing was detected here."
    models, means = refusals.unseen(), refusals.held_out().query("model == 'mean'")
    mean, plain = (
        means.set_index("method").loc[name] for name in (refusals.UNSEEN, "string match")
    )
    worst = models.loc[models["balanced_accuracy"].idxmin()]
    known = stats.estimate_error_rates(models)
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
        f"refusals and {spans['specificity']} of the other answers, the mean of both being "
        f"{worst['balanced_accuracy']:.0%} on the worst model ({escape(worst['model'])}) and "
        f"{mean['balanced_accuracy']:.0%} on average; of a plain match of phrases, "
        f"{plain['balanced_accuracy']:.0%}. So few models tell little of a new one: there that "
        f"average is expected between {low:.0%} and {high:.0%} ({level:.0%}). Rates stand as told, "
        "and corrected for these errors."
    )


def swapped(swaps: pd.DataFrame, parted: pd.DataFrame) -> list[str]:
    """Say whether it moves refusal rates whom an answer names; nothing if refusals were recorded.

    Parameters
    ----------
    swaps, parted
        Of `audit.swap_effects` and `audit.estimates`.
    """
    if parted.empty:
        return []
    named, moved = int((swaps["named"] > 0).sum()), int((swaps["swap"].abs() > 0).sum())
    if not named:
        return ["No answer names a group of the word lists, so none was read with another in it."]
    told = (
        f"With each group in turn in the place of the one that they name, {moved:,} of {named:,} "
    )
    told += "answers are told otherwise by the detector"
    alone = parted.loc[parted["statistic"].str.endswith(audit.INSTRUMENT), "estimate"].abs()
    if not moved:
        return [f"{told}: whom an answer names adds nothing to these rates."]
    return [f"{told}; that adds at most {100 * alone.max():.1f} points to a rate or its change."]


def refused(rates: pd.DataFrame, *, neutral: str, biased: str) -> list[str]:
    """Say how often models refuse either prompt, as told and corrected; alike ones together."""
    of_model: dict[str, tuple[float, str]] = {}
    for model, rows in _overall(rates).groupby("model", sort=False):
        told, corrected = (
            rows[rows["statistic"] == name].set_index("prompt").to_dict("index")
            for name in ("refusal_rate", "refusal_rate_corrected")
        )
        parts = [
            f"{row['estimate']:.0%} of the articles under the {escape(prompt)} prompt "
            f"({_percent(row)}; N = {row['n']:.0f}{_corrected(corrected.get(prompt))})"
            for prompt in (biased, neutral)
            if (row := told.get(prompt)) is not None and np.isfinite(row["estimate"])
        ]
        rate = told.get(biased, {"estimate": np.nan})["estimate"]
        what = " and ".join(parts) or "nothing that could be told"
        of_model[escape(model)] = (float(np.nan_to_num(rate, nan=-1)), what)
    order = sorted(of_model, key=lambda model: -of_model[model][0])
    alike: dict[str, list[str]] = {}
    for model in order:
        alike.setdefault(of_model[model][1], []).append(model)
    lines = [
        f"**{prose.listed(own, most=9)}** refuse{'' if len(own) > 1 else 's'} {what}."
        for what, own in alike.items()
    ]
    left = len(lines) - _MODELS
    return lines if left < 1 else [*lines[:_MODELS], f"{left} more in the appendix."]


def refusals_result(rates: pd.DataFrame, *, biased: str) -> str:
    """Say in a heading which models refuse more under the biased prompt."""
    rows = rates[rates["statistic"] == _REFUSES]
    found = significance.significant(rows)
    if found.empty:
        some = _overall(rates)
        some = some[(some["statistic"] == "refusal_rate") & (some["estimate"] > 0)]
        none = "No model refuses" if some.empty else "No model is shown to refuse more"
        return f"{none} under the {escape(biased)} prompt"
    of, parts = phrases.models(rows), []
    for more, own in (
        ("more", found[found["estimate"] > 0]),
        ("less", found[found["estimate"] < 0]),
    ):
        if len(own):
            refuse = "refuses" if len(own) == 1 else "refuse"
            who = prose.listed([phrases.subject(row, rows) for row in own.to_dict("records")])
            count = f"{len(own)} of {of} {refuse} {more} often ({who})"
            parts.append(count if len(rows) > 1 else f"{who} refuses {more} often")
    return f"Under the {escape(biased)} prompt {' and '.join(parts)}"


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
    corrected = rates[rates["statistic"] == "refusal_difference_corrected"]
    true = corrected.set_index(["model", "bias", "group"]).to_dict("index")
    sentences = []
    for bias, own in rows.groupby("bias", sort=False):
        head = f"**{prose.capitalize(escape(bias))}.**"
        tested = own[own["p_adjusted"].notna()]
        if tested.empty:
            why = own["reason"].dropna()
            told = escape(why.iloc[0]) if len(why) else "nothing to compare"
            sentences.append(f"{head} Not tested ({told}).")
            continue
        found = significance.significant(tested)
        parts = []
        for row in found.to_dict("records"):
            more = "more" if row["estimate"] > 0 else "less"
            parts.append(
                f"headlines about {escape(names.people(str(row['group'])))} are refused "
                f"{phrases.size(row, row['estimate'])} {more} often by "
                f"{phrases.subject(row, rows)} than headlines that name nobody ({_percent(row)}; "
                f"N = {row['n']:.0f}; {p_value(row)}"
                f"{_corrected(true.get((row['model'], bias, row['group'])))})"
            )
        text = f"{head} {prose.capitalize('; '.join(parts))}. " if parts else f"{head} "
        left = len(tested) - len(found)
        if left:
            text += f"In {'the other ' if parts else ''}{left} comparisons no difference could be "
            text += f"shown (after {_CORRECTIONS[correction]})."
        untold = int(tested["reason"].fillna("").str.startswith(UNTESTABLE).sum())
        if untold:
            text += f" {untold} of these cannot be told: too few or too many are refused."
        sentences.append(text.strip())
    return sentences


def selective_result(rates: pd.DataFrame) -> str:
    """Say in a heading whether refusals depend on whom a headline names; nothing if unmeasured."""
    rows = rates[(rates["statistic"] == "refusal_difference") & (rates["group"] != NOBODY)]
    if significance.valid_tests(rows).empty:
        return ""
    found = significance.significant(rows).head(1).to_dict("records")
    if not found:
        return "No model is shown to refuse by whom a headline names"
    more = "more" if found[0]["estimate"] > 0 else "less"
    whom = escape(names.people(str(found[0]["group"])))
    return f"Headlines about {whom} are refused {more} often than others by " + phrases.subject(
        found[0], rows
    )


# --- the effect of the prompt -----------------------------------------------------------------


def effects(estimates: pd.DataFrame, *, neutral: str = "neutral") -> list[str]:
    """Say of each level which effects of the prompt are shown, on articles answered under both.

    The primary result. By the first instrument of each measure; what others say stands in one
    sentence.
    """
    rows = estimates[estimates["statistic"].isin(EFFECTS)]
    first = rows["instrument"] == rows.groupby("measure")["instrument"].transform("first")
    reference = f"under the {escape(neutral)} prompt"
    sentences, quiet = [], []
    for (measure, bias), own in rows[first].groupby(["measure", "bias"], sort=False):
        family = rows[
            (rows["measure"] == measure) & (rows["statistic"] == own["statistic"].iloc[0])
        ]
        mde = significance.minimum_detectable_effect(family).reindex(own.index)
        name = _LEVEL.get(str(measure), str(measure))
        name += f", {escape(bias)}" if rows["bias"].nunique() > 1 else ""
        if len(significance.valid_tests(own)) == len(own) and significance.significant(own).empty:
            quiet.append((name, phrases.size_range(own.iloc[0].to_dict(), mde)))
            continue
        told = phrases.differences(own, mde=mde, reference=reference)
        sentences.append(f"**{name}.** {told}")
    if quiet:
        named = prose.listed([quiet[0][0], *(name.lower() for name, _ in quiet[1:])], most=9)
        sizes = prose.listed([f"{size} in {name.lower()}" for name, size in quiet], most=9)
        sentences.append(
            f"**{named}.** No significant difference in any model (minimum detectable difference "
            f"at 80% power: {sizes})."
        )
    other = rows[~first]
    if len(significance.valid_tests(other)):
        by = prose.listed([escape(one) for one in other["instrument"].unique()])
        found = significance.significant(other)
        told = (
            phrases.differences(
                found, mde=significance.minimum_detectable_effect(found), reference=reference
            )
            if len(found)
            else "No significant difference."
        )
        sentences.append(f"By {by}: {told}")
    return sentences


def effects_result(estimates: pd.DataFrame) -> str:
    """Say in a heading what the prompt changes at the first level that was measured."""
    rows = estimates[estimates["statistic"].isin(EFFECTS)]
    if significance.valid_tests(rows).empty:
        return "The prompt's effect on the texts could not be tested"
    first = rows[rows["instrument"] == rows.groupby("measure")["instrument"].transform("first")]
    return phrases.heading(first, none="No significant effect of the prompt on the texts")


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
        {
            "low": both["estimate_x"],
            "high": both["estimate_y"],
            "estimate": both["estimate"],
            "n": both["n"],
            "n_refused": both["n_x"] - both["n"],
        }
    )
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


def two_samples_result(estimates: pd.DataFrame) -> str:
    """Say in a heading in how many models the share of prejudice changes; nothing if unmeasured."""
    rows = estimates[estimates["statistic"] == "prejudice_share_change"]
    rows = leading(rows)
    rows = rows[rows["measure"] == rows["measure"].iloc[0]] if len(rows) else rows
    if significance.valid_tests(rows).empty:
        return "Whether the share of prejudice changes cannot be told from these texts"
    found = len(significance.significant(rows))
    if not found:
        return "No change of the share of prejudice could be shown"
    one = len(rows) == 1
    where = phrases.subject(rows.iloc[0], rows) if one else f"{found} of {phrases.models(rows)}"
    return f"The share of prejudice changes in {where}"


def changes(estimates: pd.DataFrame) -> bool:
    """Tell whether any change of the share of prejudice is shown: what a figure shows."""
    rows = estimates[estimates["statistic"] == "prejudice_share_change"]
    return len(significance.significant(leading(rows))) > 0


def bounds(estimates: pd.DataFrame) -> list[str]:
    """Say what the share of prejudice would be if refused articles counted, by the first measure.

    The table of bounds has all measures.
    """
    shares = estimates["statistic"].str.startswith("prejudice_share")
    rows = leading(estimates[shares])
    rows = rows[rows["measure"] == rows["measure"].iloc[0]] if len(rows) else rows
    parts = [
        f"{_cell(str(model), str(source), rows)} {ends['estimate']:.0%} ({ends['low']:.0%} to "
        f"{ends['high']:.0%} if the {ends['n_refused']:.0f} refused beside {ends['n']:.0f} counted)"
        if np.isfinite(ends["estimate"])
        else f"{_cell(str(model), str(source), rows)} unknown, all {ends['n_refused']:.0f} being "
        "refused"
        for (*_, source, model), ends in _open(rows).items()
    ]
    if not parts:
        return ["No refused article could have counted, so nothing is left open."]
    whom = escape(names.people(str(rows["group"].iloc[0])))
    return [
        "**What refusals leave open.** The share of articles under that prompt in which "
        f"{whom} fare worse than in the original: {prose.listed(parts)}."
    ]


def printed_rate(printed: pd.DataFrame) -> str:
    """Say which refusal rate the paper prints."""
    row = printed[printed["statistic"] == "refusal_rate"].iloc[0]
    return (
        f"The paper prints that {escape(row['model'])} refused {row['estimate']:.2%} of biased "
        "prompts, and the other six models none; how a refusal was told is not said."
    )


def planted(table: pd.DataFrame, estimates: pd.DataFrame) -> list[str]:
    """Say how many intervals hold what was planted, and which effects on words are shown."""
    told = news.sentences.planted(table, estimates)
    if table.empty:
        return told
    own = estimates[estimates["statistic"].isin(EFFECTS) & (estimates["measure"] == "word")]
    keys = ["model", "statistic", "group"]
    return told + news.sentences.came_back(own.merge(table[[*keys, "planted"]], on=keys))


def detected(answers: pd.DataFrame) -> str:
    """Say how many planted refusals were told, where the corpus is simulated."""
    if "planted_refusal" not in answers:
        return "This corpus was not simulated, so which answers truly refuse is not known."
    planted, said = answers["planted_refusal"], answers["refused"].fillna(False).astype(bool)
    return (
        f"{int((planted & said).sum())} of {int(planted.sum())} planted refusals were told, and "
        f"{int((~planted & said).sum())} of {int((~planted).sum())} articles were called refusals. "
        "The planted ones are plainly worded; real ones are harder, as the appendix says."
    )


def _cell(model: str, source: str, rows: pd.DataFrame) -> str:
    several = rows["source"].nunique() > 1
    return escape(model) + (f" / {escape(source)}" if several else "")
