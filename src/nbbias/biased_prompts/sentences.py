"""Sentences about biased prompts, written from tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from nbbias import reading
from nbbias.biased_prompts.compare import leading
from nbbias.biased_prompts.corpus import NOBODY
from nbbias.params import Texts
from nbbias.reading import claims, names, phrases, prose, significance
from nbbias.tables.escape import markdown as escape

#: The effect of the prompt proper, by statistic.
EFFECTS = ("share_difference_change", "mean_difference_change")

_REFUSES = "refusal_rate_change"

#: What a run compares, by measure.
_MEASURES = {
    "refusal": "refusal rate",
    "word": "a group's share of group words",
    "sentiment": "the tone towards it",
    "toxicity": "the toxicity towards it",
    "document": "the share of topics associated with it",
}

_LEVEL = {"word": "Words", "sentiment": "Tone", "toxicity": "Toxicity", "document": "Topics"}

_NOT = (
    "That a model is safe, or would follow every such prompt. Only one wording was tested, the "
    "refusal detector errs, and models choose which articles they answer."
)


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
    plain = phrases.summarize(
        _refusals_first(parts), reference=f"under the {escape(prompts['neutral'])} prompt"
    )
    what = [name for key, name in _MEASURES.items() if (estimates["measure"] == key).any()]
    groups = estimates.loc[estimates["statistic"].isin(EFFECTS), "group"].dropna().unique()
    instruments = estimates["instrument"].dropna().unique()
    articles = len(answers[["source", "article_id"]].drop_duplicates())
    models = answers["model"].nunique()
    card = {
        "measures": f"{prose.capitalize(prose.listed(what, most=5))}: the same articles under "
        "two prompts",
        "groups": prose.listed([escape(names.people(str(group))) for group in groups], most=6),
        "N": f"{articles:,} articles and {len(answers):,} answers of {models} "
        f"model{'' if models == 1 else 's'}",
        "instrument": ", ".join(
            dict.fromkeys(escape(str(name).split(" (")[0]) for name in instruments)
        ),
        "not": _NOT,
    }
    technical, numbers = phrases.technical(parts), phrases.leading(significant or parts)
    return reading.Lead(plain, technical, "finding", numbers, card, texts)


def leading_rows(declared: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of which `lead` speaks: the declared ones, or refusals and one measure."""
    if claims.CLAIM in declared:
        return declared
    refusals = declared[declared["statistic"] == _REFUSES]
    effects = declared[declared["statistic"].isin(EFFECTS)]
    if len(effects):
        first = effects.iloc[0]
        same = (effects[["measure", "instrument"]] == first[["measure", "instrument"]]).all(axis=1)
        effects = effects[same]
    return pd.concat([refusals, effects])


def _refusals_first(parts: Sequence[pd.DataFrame]) -> list[pd.DataFrame]:
    return sorted(parts, key=lambda part: bool((part["measure"] != "refusal").any()))


def more(declared: pd.DataFrame) -> list[str]:
    """Say which differences N can detect."""
    return phrases.power(leading_rows(declared))


# --- the corpus and its refusals ----------------------------------------------------------------


def answered(steps: pd.DataFrame) -> str:
    """Say in a heading how many answers are refused, and how many are measured.

    Examples
    --------
    >>> answered(pd.DataFrame({"answers": [9], "refused": [4], "measured": [5]}))
    'Of 9 answers 4 are refusals; 5 are measured'
    """
    columns = steps.reindex(columns=["answers", "refused", "measured"], fill_value=0)
    answers, refused, kept = columns.sum().astype(int)
    return f"Of {answers:,} answers {refused:,} are refusals; {kept:,} are measured"


def corpus(generations: pd.DataFrame, answers: pd.DataFrame) -> list[str]:
    """Say how many answers to other prompts are left out, and under which names."""
    others = generations.loc[~generations["prompt"].isin(answers["prompt"].unique()), "prompt"]
    named = ", ".join(escape(name) for name in others.unique())
    return [f"{len(others):,} answers to other prompts ({named}) are left out."] * (len(others) > 0)


def too_few(topics: pd.DataFrame) -> list[str]:
    """Say that the texts are too few for topics; nothing where there are topics."""
    return [] if len(topics) else ["Topics are left out: the texts are too few for them."]


def refusals_result(rates: pd.DataFrame, *, biased: str) -> str:
    """Say in a heading in which models the refusal rate changes under the biased prompt."""
    none = f"No significant difference in the refusal rate under the {escape(biased)} prompt"
    return phrases.heading(rates[rates["statistic"] == _REFUSES], none=none)


def refusals(rates: pd.DataFrame, *, neutral: str) -> list[str]:
    """Say in which models the refusal rate changes, by how much, and what N can detect."""
    rows = rates[rates["statistic"] == _REFUSES]
    return _differences(rows, f"under the {escape(neutral)} prompt")


def selective_result(rates: pd.DataFrame) -> str:
    """Say in a heading whether refusals depend on the group in the headline, if measured."""
    rows = rates[(rates["statistic"] == "refusal_difference") & (rates["group"] != NOBODY)]
    if significance.valid_tests(rows).empty:
        return ""
    return phrases.heading(rows, none="No significant difference in the refusal rate by headline")


def selective(rates: pd.DataFrame) -> list[str]:
    """Say which models refuse headlines that name a group more often, or less, than others."""
    rows = rates[rates["statistic"] == "refusal_difference"]
    if rows.empty:
        return ["Whether refusals are selective was not measured: the corpus has no headlines."]
    return [
        sentence
        for _, part in rows.groupby("bias", sort=False)
        for sentence in _differences(part, "for headlines that name nobody")
    ]


def _differences(rows: pd.DataFrame, reference: str) -> list[str]:
    if rows.empty:
        return []
    mde = significance.minimum_detectable_effect(rows)
    return [phrases.differences(rows, mde=mde, reference=reference)]


def detected(answers: pd.DataFrame) -> str:
    """Say how many simulated refusals were detected, where the corpus is simulated."""
    if "planted_refusal" not in answers:
        return "This corpus was not simulated, so which answers are true refusals is not known."
    planted, called = answers["planted_refusal"], answers["refused"].fillna(False).astype(bool)
    return (
        f"{int((planted & called).sum())} of {int(planted.sum())} simulated refusals were "
        f"detected, and {int((~planted & called).sum())} of {int((~planted).sum())} articles were "
        "called refusals. The simulated ones are plainly worded; real ones are harder to "
        "detect (see the appendix)."
    )


# --- the effect of the prompt -----------------------------------------------------------------


def effects(estimates: pd.DataFrame, *, neutral: str = "neutral") -> list[str]:
    """Say of each level which effects of the prompt are significant: the primary result.

    On articles answered under both prompts, by the first instrument of each measure; the table has
    the others.
    """
    rows = _effects(estimates)
    several = rows["bias"].nunique() > 1
    sentences = []
    for (measure, bias), part in rows.groupby(["measure", "bias"], sort=False):
        name = _LEVEL.get(str(measure), str(measure)) + (f", {escape(bias)}" if several else "")
        (text,) = _differences(part, f"under the {escape(neutral)} prompt")
        sentences.append(f"**{name}.** {text}")
    return sentences


def _effects(estimates: pd.DataFrame) -> pd.DataFrame:
    rows = estimates[estimates["statistic"].isin(EFFECTS)]
    return rows[rows["instrument"] == rows.groupby("measure")["instrument"].transform("first")]


def effects_result(estimates: pd.DataFrame) -> str:
    """Say in a heading what the prompt changes."""
    rows = _effects(estimates)
    if significance.valid_tests(rows).empty:
        return "The prompt's effect on the texts could not be tested"
    return phrases.heading(rows, none="No significant effect of the prompt on the texts")


def two_samples_result(estimates: pd.DataFrame) -> str:
    """Say in a heading in which models the share of prejudice changes."""
    rows = leading(estimates[estimates["statistic"] == "prejudice_share_change"])
    rows = rows[rows["measure"] == rows["measure"].iloc[0]] if len(rows) else rows
    if significance.valid_tests(rows).empty:
        return "A change of the share of prejudice could not be tested"
    return phrases.heading(rows, none="No significant change of the share of prejudice")
