"""Sentences about biased prompts: rows of the tables, for ``data/prose/biased_prompts.j2``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from nbbias import news, reading, refusals as refusal_detector, tables
from nbbias.biased_prompts.corpus import NOBODY, UNKNOWN, wording
from nbbias.biased_prompts.refusing import ARTICLE, RECORDED, REFUSED
from nbbias.params import Texts
from nbbias.reading import claims, names, phrases, prose, significance

#: The effect of the prompt proper, by statistic.
EFFECTS = ("share_difference_change", "mean_difference_change")

#: What a run compares, in the order of the card.
MEASURES = ("refusal", "word", "sentiment", "toxicity", "document")

#: Sentences before what was not significant.
_MOST = 3

_RATE_CHANGE, _RATE_DIFFERENCE = "refusal_rate_change", "refusal_difference"


def _render(name: str, **values: Any) -> str:
    return prose.render(f"biased_prompts.{name}", **values)


# --- the first screen -------------------------------------------------------------------------


def lead(
    declared: pd.DataFrame,
    *,
    estimates: pd.DataFrame,
    answers: pd.DataFrame,
    texts: Texts,
    prompts: Mapping[str, str],
    scores: pd.DataFrame | None = None,
    truth: pd.DataFrame | None = None,
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
    scores
        SCORES of words: of differences of shares both shares are shown.
    truth
        The effects that were simulated (`biased_prompts.sample.truth`).
    """
    n_refused = answers[answers["refused"].eq(True)].groupby("model")[ARTICLE[-1]].nunique()
    all_refused = declared["n_lost"].eq(declared["model"].map(n_refused))
    all_refused &= declared["measure"] != "refusal"  # a refusal is no loss there
    declared = declared.assign(lost_as=all_refused.map({True: "refused", False: "excluded"}))
    leading = select_leading(declared)
    parts = phrases.families(leading)
    refusals_first = sorted(parts, key=lambda part: (part["measure"] != "refusal").any())
    under = _render("under", prompt=prompts["neutral"], biased=prompts["biased"])
    recorded = estimates["instrument"].eq(RECORDED).any()
    leading = leading.assign(mde=significance.minimum_detectable_effect(leading))
    missed = [] if truth is None else phrases.missed(leading.merge(truth))
    summary = phrases.summarize(refusals_first, reference=under, simulated=missed)
    by_headline = estimates[estimates["statistic"] == _RATE_DIFFERENCE]
    differences = significance.significant(by_headline).drop_duplicates("bias").to_dict("records")
    exploratory = [_by_headline(row, estimates) for row in differences]
    plain = (*[summary[0], *summary[1:-1], *exploratory][:_MOST], *summary[1:][-1:])
    measured = set(estimates["measure"])
    groups = estimates.loc[estimates["statistic"].isin(EFFECTS), "group"].dropna().unique()
    headlines = [*map(names.people, by_headline["group"].unique())]
    articles, models = len(answers[ARTICLE].drop_duplicates()), answers["model"].nunique()
    by = estimates.loc[estimates["measure"].ne("refusal"), "instrument"].dropna().unique()
    card = {
        "measures": _render("measured", names=[name for name in MEASURES if name in measured]),
        "groups": _render("groups", people=list(map(names.people, groups)), headlines=headlines),
        "N": _render("counts", articles=articles, answers=answers, models=models),
        "instrument": _render("instruments", names=by, recorded=recorded),
        "not": _render("not"),
    }
    significant = [part for part in parts if len(significance.significant(part))]
    technical, numbers = phrases.technical(parts), phrases.choose_key_numbers(significant or parts)
    rows = numbers.to_dict("records")
    numbers["levels"] = [_levels(row, estimates, scores, prompts) for row in rows]
    return reading.Lead(plain, technical, "finding", numbers, card, texts)


def _levels(
    row: dict[str, Any],
    estimates: pd.DataFrame,
    scores: pd.DataFrame | None,
    prompts: Mapping[str, str],
) -> dict[str, str] | None:
    """Return both prompts' refusal rates, or mean shares of words; of other measures nothing."""
    if row["statistic"] == _RATE_CHANGE:
        rates = estimates[estimates["statistic"].eq("refusal_rate") & estimates["group"].isna()]
        rates = rates[rates["model"] == row["model"]].set_index("prompt")["estimate"]
        both = [rates.get(prompts[name], np.nan) for name in ("neutral", "biased")]
        if not np.isclose(both[1] - both[0], row["estimate"]):  # of other articles
            return None
    elif scores is not None and (row["measure"], row["statistic"]) == ("word", EFFECTS[0]):
        both = [*reading.lead.shares_of_words(row, scores)]
    else:
        return None
    values = {"name": names.measure(row), "model": row["model"], **prompts}
    return reading.lead.levels(*both, of=prose.render_plain("biased_prompts.sides", **values))


def _by_headline(row: dict[str, Any], estimates: pd.DataFrame) -> str:
    """Return refusal rates by whom headlines name, the highest first, and a difference of two."""
    key = {name: row[name] for name in ("model", "prompt", "source", "bias")}
    rates = estimates[(estimates[[*key]] == pd.Series(key)).all(axis=1)]
    rates = rates[rates["statistic"] == "refusal_rate"].sort_values("estimate", ascending=False)
    people = ["" if group == NOBODY else names.people(group) for group in rates["group"]]
    pairs, of = [*zip(people, rates["estimate"], strict=True)], names.people(row["group"])
    numbers = Markup(f"{phrases.signed(row)}; {phrases.numbers(row, unit='headlines')}")
    return _render("by_headline", model=row["model"], rates=pairs, people=of, numbers=numbers)


def select_leading(declared: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of which `lead` speaks: the declared ones, or refusals and one measure."""
    if claims.CLAIM in declared:
        return declared
    refusals = declared[declared["statistic"] == _RATE_CHANGE]
    effects = _effects(declared)
    effects = effects[effects["measure"].isin(effects["measure"].head(1))]
    return pd.concat([refusals, effects])


def group_leading(declared: pd.DataFrame) -> list[pd.DataFrame]:
    """Return what `lead` speaks of by claim, measure and group."""
    return phrases.families(select_leading(declared))


# --- the corpus and its refusals ----------------------------------------------------------------


def answered(pairs: pd.DataFrame) -> str:
    """Say in a heading how many answers are refused, and how many are measured.

    Examples
    --------
    >>> answered(pd.DataFrame({"prompt": list("abb"), "lost": [None, "refused", "blank answer"]}))
    '0 of 1 answers to the a prompt and 1 of 2 to the b prompt were classified as refusals; ...'
    """
    refused = pairs["lost"].eq(REFUSED).groupby(pairs["prompt"], sort=False).agg(["sum", "size"])
    return _render("answered", each=[*refused.itertuples()], measured=pairs["lost"].isna().sum())


def shortest_refusal(
    answers: pd.DataFrame, originals: pd.DataFrame, *, prompts: Mapping[str, str]
) -> pd.DataFrame:
    """Return the shortest refusal: what was asked, the answer, and how it was classified.

    Returns
    -------
    DataFrame
        A row for `reading.markup.quotes`; none where no refusal has a text.
    """
    refused = answers[answers["refused"].eq(True) & ~tables.is_blank(answers["text"])]
    if refused.empty:
        return refused
    row = refused.loc[refused["text"].str.len().idxmin()].to_dict()
    article = originals[(originals[ARTICLE] == [row[key] for key in ARTICLE]).all(axis=1)]
    headlines = article.get("headline", pd.Series(dtype="str")).dropna()
    asked = wording(**prompts).set_index("prompt")["wording"][row["prompt"]]
    asked = asked.replace("{headline}", next(iter(headlines), "{headline}"))
    values = {name: row.get(name) for name in ("score", "model", "prompt")}
    caption = prose.render_plain("biased_prompts.classified", **values)
    head = f"Example of a refusal. {row['model']}, {row['prompt']} prompt"
    head += f": {asked}" if asked != UNKNOWN else ""
    return pd.DataFrame([{"head": head, "text": row["text"], "caption": caption, "folded": ""}])


def corpus(generations: pd.DataFrame, answers: pd.DataFrame) -> list[str]:
    """Say how many answers to other prompts are left out, and under which names."""
    prompts = generations.loc[~generations["prompt"].isin(answers["prompt"]), "prompt"]
    return [_render("others", n=len(prompts), prompts=prompts.unique())] if len(prompts) else []


def too_few(topics: pd.DataFrame | None) -> list[str]:
    """Say that the texts are too few for topics, where topics were asked for and there are none."""
    return [] if topics is None or len(topics) else [_render("too_few")]


def result(estimates: pd.DataFrame, name: str) -> str:
    """Say in a heading what the prompt changes, and in which models.

    Parameters
    ----------
    estimates
        ESTIMATES.
    name
        ``"refusals"``, ``"by headline"`` (the group that it names), or ``"effects"``.
    """
    of = {"refusals": [_RATE_CHANGE, _RATE_DIFFERENCE], "by headline": [_RATE_DIFFERENCE]}
    rows = estimates[estimates["statistic"].isin(of[name])] if name in of else _effects(estimates)
    what, none, untested = (_render(part, of=name) for part in ("changed", "unchanged", "untested"))
    rates, more = significance.significant(rows[rows["statistic"] == _RATE_DIFFERENCE]), ""
    if name == "refusals" and rates["group"].nunique() == 1 and rates["estimate"].gt(0).all():
        rows = rows[rows["statistic"] == _RATE_CHANGE]
        only = len(rates) < len(significance.significant(rows))
        people, models = names.people(rates["group"].iloc[0]), [*rates["model"].unique()]
        more = _render("selective", only=only, models=models, people=people)
    return phrases.heading(rows, what=what, none=none, untested=untested) + more


def refusals(rates: pd.DataFrame, *, neutral: str) -> list[str]:
    """Say of models that are no claims how the rate changes."""
    rows = phrases.exploratory(rates[rates["statistic"] == _RATE_CHANGE])
    return [_differences(rows, _render("under", prompt=neutral))] if len(rows) else []


def selective(rates: pd.DataFrame) -> list[str]:
    """Say which models refuse headlines that name a group more often, or less, than others."""
    by_bias = rates[rates["statistic"] == _RATE_DIFFERENCE].groupby("bias", sort=False)
    sentences = [_differences(part, "", unit="headlines") for _, part in by_bias]
    return sentences or [_render("no_headlines")]


def corrected(
    rates: pd.DataFrame, *, truth: pd.DataFrame | None = None, answers: pd.DataFrame | None = None
) -> list[str]:
    """Say of models that refuse significantly more, or less, how much without detector errors.

    Of the simulated sample (`truth`, and `answers` with `simulated_refusal`) also where this fails.
    """
    refused = significance.significant(rates[rates["statistic"] == _RATE_CHANGE])
    rows = rates[rates["statistic"] == f"{_RATE_CHANGE}_corrected"]
    rows = rows.merge(refused[["model", "source", "prompt"]])
    held_out = refusal_detector.unseen()
    ends = held_out[["sensitivity", "specificity"]].agg(["min", "max"]).to_dict("list")
    values = [*map(names.scaled, rows.to_dict("records"))]
    if truth is not None and answers is not None:
        simulated = rows.assign(measure="refusal").merge(truth)
        outside = ~simulated["truth"].between(simulated["ci_low"], simulated["ci_high"])
        refusal, detected = answers["simulated_refusal"], answers["refused"].eq(True)
        drawn = refusal.groupby([answers["model"], answers["prompt"]]).mean().groupby(level=0).max()
        beyond = simulated[outside].join(drawn, on="model")
        ends |= {"wrong": (detected != refusal).sum(), "beyond": beyond.to_dict("records")}
    return [_render("corrected", rows=values, models=len(held_out), **ends)] if values else []


def _differences(
    rows: pd.DataFrame, reference: str, unit: str = "articles", declared: pd.DataFrame | None = None
) -> str:
    families = [phrases.exploratory(rows), *([] if declared is None else [declared])]
    mde = pd.concat(map(significance.minimum_detectable_effect, families))
    return " ".join(phrases.differences(rows, mde=mde, reference=reference, unit=unit))


# --- the effect of the prompt -----------------------------------------------------------------


def effects(estimates: pd.DataFrame, *, neutral: str = "neutral") -> list[str]:
    """Say of each level which effects of the prompt are significant.

    On articles answered under both prompts, by the first instrument of each measure. Pre-specified
    differences of words are in a figure (`biased_prompts.figures.shares`).
    """
    rows, declared = _effects(estimates), estimates.drop(phrases.exploratory(estimates).index)
    rows = rows[rows["measure"].ne("word") | ~rows.index.isin(declared.index)]
    several = rows["bias"].nunique() > 1
    sentences = []
    for (measure, bias), part in rows.groupby(["measure", "bias"], sort=False):
        text = Markup(_differences(part, _render("under", prompt=neutral), declared=declared))
        shown = bias if several else ""
        sentences.append(_render("effect", measure=measure, bias=shown, text=text))
    return sentences


def _effects(estimates: pd.DataFrame) -> pd.DataFrame:
    return news.claims.first_instrument(estimates[estimates["statistic"].isin(EFFECTS)])
