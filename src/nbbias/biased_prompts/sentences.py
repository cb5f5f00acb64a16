"""Sentences about biased prompts: rows of the tables, for ``data/prose/biased_prompts.j2``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from markupsafe import Markup

from nbbias import reading
from nbbias.biased_prompts.compare import first_instrument
from nbbias.biased_prompts.corpus import EVERY
from nbbias.biased_prompts.refusing import ARTICLE
from nbbias.params import Texts
from nbbias.reading import claims, names, phrases, prose, significance
from nbbias.tables.escape import markdown as escape

#: The effect of the prompt proper, by statistic.
EFFECTS = ("share_difference_change", "mean_difference_change")

#: What a run compares, in the order of the card.
MEASURES = ("refusal", "word", "sentiment", "toxicity", "document")

_REFUSES = "refusal_rate_change"


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
    significant = [part for part in parts if len(significance.significant(part))]
    refusals_first = sorted(parts, key=lambda part: (part["measure"] != "refusal").any())
    under = _render("under", prompt=prompts["neutral"])
    first, *rest = phrases.summarize(refusals_first, reference=under)
    plain = (first, *never_refused(estimates), *rest, *_few_answered(declared))
    measured = set(estimates["measure"])
    groups = estimates.loc[estimates["statistic"].isin(EFFECTS), "group"].dropna().unique()
    articles, models = len(answers[ARTICLE].drop_duplicates()), answers["model"].nunique()
    instruments = estimates["instrument"].dropna().str.split(" (", regex=False).str[0]
    card = {
        "measures": _render("measured", names=[name for name in MEASURES if name in measured]),
        "groups": _render("groups", people=list(map(names.people, groups))),
        "N": _render("counts", articles=articles, answers=len(answers), models=models),
        "instrument": ", ".join(map(escape, instruments.unique())),
        "not": _render("not"),
    }
    technical, numbers = phrases.technical(parts), phrases.leading(significant or parts)
    return reading.Lead(plain, technical, "finding", numbers, card, texts)


def leading_rows(declared: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of which `lead` speaks: the declared ones, or refusals and one measure."""
    if claims.CLAIM in declared:
        return declared
    refusals = declared[declared["statistic"] == _REFUSES]
    effects = first_instrument(declared[declared["statistic"].isin(EFFECTS)])
    effects = effects[effects["measure"].isin(effects["measure"].head(1))]
    return pd.concat([refusals, effects])


# --- the corpus and its refusals ----------------------------------------------------------------


def answered(steps: pd.DataFrame) -> str:
    """Say in a heading how many answers are refused, and how many are measured.

    Examples
    --------
    >>> answered(pd.DataFrame({"answers": [9], "refused": [4], "measured": [5]}))
    '4 of 9 answers were refusals; 5 were analysed'
    """
    columns = steps.reindex(columns=["answers", "refused", "measured"], fill_value=0)
    return _render("answered", **columns.sum())


def corpus(generations: pd.DataFrame, answers: pd.DataFrame) -> list[str]:
    """Say how many answers to other prompts are left out, and under which names."""
    others = generations.loc[~generations["prompt"].isin(answers["prompt"]), "prompt"]
    return [_render("others", n=len(others), prompts=others.unique())] if len(others) else []


def too_few(topics: pd.DataFrame) -> list[str]:
    """Say that the texts are too few for topics; nothing where there are topics."""
    return [] if len(topics) else [_render("too_few")]


def refusals_result(rates: pd.DataFrame, *, biased: str) -> str:
    """Say in a heading in which models the refusal rate changes under the biased prompt."""
    rows, none = rates[rates["statistic"] == _REFUSES], _render("no_refusals", prompt=biased)
    return phrases.heading(rows, what=_render("refusal_rates"), none=none)


def refusals(rates: pd.DataFrame, *, neutral: str) -> list[str]:
    """Say of models that are no claims how the rate changes; the lead says which never refuse."""
    rows = phrases.exploratory(rates[rates["statistic"] == _REFUSES])
    return [_differences(rows, _render("under", prompt=neutral))] if len(rows) else []


def never_refused(rates: pd.DataFrame) -> list[str]:
    """Say which models refused no article under either prompt; nothing where all refused some.

    Examples
    --------
    >>> row = {"statistic": "refusal_rate", "group": None, "source": "s", "model": "m",
    ...        "estimate": 0.0, "ci_high": 0.1, "confidence": 0.95, "prompt": "neutral", "n": 30}
    >>> rows = [row, row | {"prompt": "biased", "n": 10, "ci_high": 0.28}]
    >>> never_refused(pd.DataFrame([*rows, row | {"model": "asked once"}]))
    ['Under both prompts, m refused no article (0 of 10 to 30; 95% CI 0% to 28%).']
    """
    rows = rates[(rates["statistic"] == "refusal_rate") & rates["group"].isna()]
    rows = rows[rows["source"].isin([EVERY]) | ~rates["source"].eq(EVERY).any()]
    of_model = rows.dropna(subset=["estimate", "ci_high"]).groupby("model")
    rows = of_model.filter(lambda own: own["prompt"].nunique() == 2 and own["estimate"].eq(0).all())
    if rows.empty:
        return []
    row = rows.loc[rows["ci_high"].idxmax()]
    models, n = [*rows["model"].unique()], prose.count_range(rows["n"])
    return [_render("never_refused", models=models, n=n, row=row)]


def _few_answered(declared: pd.DataFrame) -> list[str]:
    """Say where a significant difference of texts rests on fewer than half of the articles.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"measure": "word", "statistic": "share_difference_change", "p_value": 0.001,
    ...        "bias": "gender", "group": "male", "model": "m", "estimate": -0.2, "null": 0.0,
    ...        "p_adjusted": 0.001, "confidence": 0.95, "n": 9, "n_lost": 21}
    >>> table = tables.estimates([row], study="biased_prompts", confidence=0.95)
    >>> _few_answered(table)[0].partition(" rests on ")[2]
    'the 9 of 30 articles with an analysed answer to both prompts.'
    """
    rows = significance.significant(declared[declared["measure"] != "refusal"])
    few = rows[rows["n_lost"] > rows["n"]].to_dict("records")
    said = [_render("few_answered", measure=names.measure(row), row=row) for row in few]
    return [" ".join(said)] if said else []


def selective_result(rates: pd.DataFrame) -> str:
    """Say in a heading whether refusals depend on the group in the headline, if measured."""
    rows = rates[rates["statistic"] == "refusal_difference"]
    return _result(rows, what=_render("refusal_rates"), none=_render("not_selective"), untested="")


def selective(rates: pd.DataFrame) -> list[str]:
    """Say which models refuse headlines that name a group more often, or less, than others."""
    rows = rates[rates["statistic"] == "refusal_difference"]
    by_bias = [part for _, part in rows.groupby("bias", sort=False)]
    said = [_differences(part, _render("nobody")) for part in by_bias]
    return said or [_render("no_headlines")]


def _result(rows: pd.DataFrame, *, what: str, none: str, untested: str) -> str:
    """Say in a heading what is significant, that nothing is, or that nothing was tested."""
    if significance.valid_tests(rows).empty:
        return untested
    return phrases.heading(rows, what=what, none=none)


def _differences(rows: pd.DataFrame, reference: str) -> str:
    mde = significance.minimum_detectable_effect(rows)
    return phrases.differences(rows, mde=mde, reference=reference)


# --- the effect of the prompt -----------------------------------------------------------------


def effects(estimates: pd.DataFrame, *, neutral: str = "neutral") -> list[str]:
    """Say of each level, but of claims, which effects of the prompt are significant.

    On articles answered under both prompts, by the first instrument of each measure; the table has
    the others.
    """
    rows = first_instrument(estimates[estimates["statistic"].isin(EFFECTS)])
    rows = phrases.exploratory(rows)
    several = rows["bias"].nunique() > 1
    said = []
    for (measure, bias), part in rows.groupby(["measure", "bias"], sort=False):
        text = Markup(_differences(part, _render("under", prompt=neutral)))
        said.append(_render("effect", measure=measure, bias=bias if several else "", text=text))
    return said or [prose.render("claims.all_claims")]


def effects_result(estimates: pd.DataFrame) -> str:
    """Say in a heading what the prompt changes."""
    rows = first_instrument(estimates[estimates["statistic"].isin(EFFECTS)])
    none, untested = _render("no_effect"), _render("effect_untested")
    return _result(rows, what=_render("texts"), none=none, untested=untested)


def two_samples_result(estimates: pd.DataFrame) -> str:
    """Say in a heading in which models the share of prejudice changes."""
    none, untested = _render("no_change"), _render("change_untested")
    return _result(_changes(estimates), what=_render("shares"), none=none, untested=untested)


def two_samples(estimates: pd.DataFrame, *, prompts: Mapping[str, str]) -> list[str]:
    """Say both shares of prejudice where they differ significantly."""
    said = []
    for row in significance.significant(_changes(estimates)).to_dict("records"):
        keys = ["model", "source", "measure", "bias", "group", "instrument"]
        same = (estimates[keys] == [row[key] for key in keys]).all(axis=1)
        shares = estimates[same & (estimates["statistic"] == "prejudice_share")]
        both = shares.set_index("prompt").reindex([prompts["biased"], prompts["neutral"]])
        values = {"shares": both["estimate"].tolist(), "ns": both["n"].tolist(), "row": row}
        said.append(_render("two_shares", of=names.of_people(row["group"]), **values))
    return said


def _changes(estimates: pd.DataFrame) -> pd.DataFrame:
    rows = first_instrument(estimates[estimates["statistic"] == "prejudice_share_change"])
    return rows[rows["measure"].isin(rows["measure"].head(1))]
