"""The study: its parameters, its texts, its pipeline, its figure, and the record that it is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
from pydantic import Field

from nbbias import params, stats, tables
from nbbias.params import Claims, Draws, Input, InputFile, ModelName, Parameters
from nbbias.reading import Drawn, escape, figures, number, p_value, prose
from nbbias.tables import SAMPLE, Column, DataError
from nbbias.text import lexicons
from nbbias_marked_personas import distances

_COLUMNS = {
    name: Column("text", needed=True)
    for name in ("model", "kind", "race", "gender", "prompt", "text")
}
_GENDERS = {"M": "man", "W": "woman", "N": "nonbinary"}
_PRONOUN = re.compile(
    r"\b(?:himself|herself|themsel(?:f|ves)|him|her|them|his|their|he|she|they)\b", re.I
)
#: Words that name a race or a gender, beside those of the shipped list.
_NAMES = (
    r"african[- ]americans?|asians?|blacks?|caucasians?|hispanics?|latin[aeox]?s?|whites?|"
    r"middle[- ]eastern(?:ers?)?|gentlem[ae]n|husband|ladies|lady|wife|they|them(?:selves)?|theirs?"
)


class MarkedPersonas(Parameters):
    """Which groups are described in the words used for all? (Cheng 2023)"""

    statistics: ClassVar[Mapping[str, tuple[str, ...]]] = dict.fromkeys(
        (distances.TO_CENTROID, distances.TO_GROUP), ("spread", "distance")
    )

    claims: Claims = Field([{"measure": distances.TO_CENTROID, "statistic": "spread"}])
    texts_path: InputFile = Field(
        SAMPLE, description="texts: columns model, kind, race, gender (M, W, N), prompt, text"
    )
    references: dict[str, str] = Field(
        {"race": "White", "gender": "man", "race_gender": "White man"},
        min_length=1,
        description="what texts are grouped by (race, gender, race_gender), and the group that the "
        "others are compared with, beside the centroid of all",
    )
    remove_group_words: bool = Field(
        True,
        description="leave out words that name a race or a gender, and pronouns, which texts "
        "repeat from their prompts; names of persons and places stay",
    )
    embedding_model: ModelName = Field("auto", description="as in the study cogs")
    draws: Draws = Field(1000, description="permutations and resamples")


def read_texts(path: str | Path) -> pd.DataFrame:
    """Read texts whose prompts name a race and a gender, as Marked Personas releases them.

    Returns
    -------
    DataFrame
        `model`, `race`, `gender` (man, woman, nonbinary), `race_gender`, `text`, and `template`:
        the prompt without the group, so that groups are compared on the same prompt.
    """
    if str(path) == SAMPLE:
        return simulate_texts()
    table = tables.read_table(path, _COLUMNS)
    missing = int(table.drop(columns="text").isna().any(axis=1).sum())
    if missing:
        raise DataError(str(path), f"{missing} rows lack a model, kind, race, gender or prompt")
    unknown = sorted(set(table["gender"]) - set(_GENDERS))
    if unknown:
        genders = ", ".join(map(repr, unknown))
        raise DataError(str(path), f"gender {genders} is none of {', '.join(_GENDERS)}")
    # "Latino" and "Latina" are how the prompts say "Latine".
    races = sorted({*table["race"], "Latino", "Latina", "Latinx"}, key=len, reverse=True)
    people = r"(?:man|woman|non-?binary(?:\s+person)?)"
    group = re.compile(rf"\b(?:an?\s+)?(?:{'|'.join(map(re.escape, races))})\s+{people}\b", re.I)
    prompt = table["prompt"].str.replace(group, "a person", regex=True)
    prompt = prompt.str.replace(_PRONOUN, "them", regex=True)
    prompt = prompt.str.replace(r"them (?:is|are)\b", "them is", regex=True)
    gender = table["gender"].map(_GENDERS)
    return table[["model", "race", "text"]].assign(
        gender=gender,
        race_gender=table["race"] + " " + gender,
        template=table["kind"] + ": " + prompt,
    )


def remove_group_words(texts: pd.Series) -> pd.Series:
    """Leave out the words that name a race or a gender, and pronouns.

    Examples
    --------
    >>> remove_group_words(pd.Series(["She is a proud Latina woman."])).tolist()
    ['is a proud .']
    """
    terms = sorted(lexicons.load("gender_nonbinary")["term"], key=len, reverse=True)
    either = "|".join([_NAMES, *map(re.escape, terms)])
    left = texts.str.replace(rf"\b(?:{either})\b", " ", regex=True, case=False)
    return left.str.replace(r"\s+", " ", regex=True).str.strip()


def simulate_texts(seed: int = 1) -> pd.DataFrame:
    """Simulate texts of two models; `marking` adds words of their own to women's texts."""
    rng = np.random.default_rng(seed)
    shared = [
        "works",
        "reads",
        "walks",
        "talks",
        "cooks",
        "travels",
        "studies",
        "plays",
        "sings",
        "writes",
    ]
    marked = ["graceful", "resilient", "gentle", "proud", "vibrant", "warm"]
    rows = []
    for model in ("marking", "even"):
        for race in ("White", "Black"):
            for gender in ("man", "woman"):
                for template in ("Describe a person", "Introduce a person"):
                    for _ in range(6):
                        words = list(rng.choice(shared, 6, replace=False))
                        if model == "marking" and gender == "woman":
                            words[3:] = rng.choice(marked, 3, replace=False)
                        text = f"This person {', '.join(words)}."
                        rows.append((model, race, gender, f"{race} {gender}", template, text))
    columns = ["model", "race", "gender", "race_gender", "template", "text"]
    return pd.DataFrame(rows, columns=columns)


class Results(NamedTuple):
    """What the study measured: ESTIMATES, and how many texts of each group each model wrote."""

    estimates: pd.DataFrame
    texts: pd.DataFrame


def measure(texts: Input = None, **parameters: Any) -> Results:
    """Measure the distances: texts and parameters in, tables out."""
    with params.validate_inputs(MarkedPersonas, parameters, texts_path=texts) as chosen:
        table = read_texts(chosen.texts_path)
    if chosen.remove_group_words:
        table = table.assign(text=remove_group_words(table["text"]))
    inference = stats.InferenceSettings(chosen.confidence, chosen.draws, chosen.seed)
    estimates = distances.estimate(
        table, chosen.references, model=chosen.embedding_model, inference=inference
    )
    counts = table.groupby(["model", "race", "gender"], sort=False).size()
    return Results(estimates, counts.rename("texts").reset_index())


def _to_centroid(estimates: pd.DataFrame) -> pd.DataFrame:
    chosen = estimates["measure"].eq(distances.TO_CENTROID) & estimates["statistic"].eq("distance")
    return estimates[chosen]


def describe_spread(row: Mapping[str, Any]) -> str:
    """Write a spread with its interval, N, p and null value."""
    null = f"null value {number(row['null'], decimals=3)}"
    return f"{_with_interval(row)}; N = {row['n']:,.0f} texts; {p_value(row)}; {null})"


def _with_interval(row: Mapping[str, Any]) -> str:
    """Write an estimate and its interval, within a bracket that stays open."""
    low, high, level = prose.confidence_interval(row)
    value, *ends = (number(one, decimals=3) for one in (row["estimate"], low, high))
    return f"{value} ({level} {' to '.join(ends)}"


def _people(group: str) -> str:
    """Write a group in the plural.

    Examples
    --------
    >>> [_people(group) for group in ("Black man", "White nonbinary", "Asian")]
    ['Black men', 'White nonbinary people', 'Asian people']
    """
    plural = re.sub("man$", "men", escape(group))
    return plural if plural.endswith("men") else f"{plural} people"


def summarize(claims: pd.DataFrame, estimates: pd.DataFrame) -> list[str]:
    """Say where distances to the centroid differ most, and in how many comparisons they differ."""
    tested = claims[claims["p_adjusted"].notna()]
    significant = tested[stats.is_significant(tested["p_adjusted"], tested["confidence"])]
    count = (
        f"Distances differed significantly between groups in {len(significant)} of {len(tested)} "
        f"comparisons ({tested['model'].nunique()} models × race, gender, both)."
    )
    if significant.empty:
        return [count]
    row = significant.loc[significant["estimate"].idxmax()].to_dict()
    rows = _to_centroid(estimates)
    rows = rows[rows["model"].eq(row["model"]) & rows["bias"].eq(row["bias"])]
    rows = rows.sort_values("estimate")
    first, last = rows.iloc[0], rows.iloc[-1]
    return [
        f"In {escape(row['model'])}, descriptions of {_people(last['group'])} were the most "
        f"distant from the average of all groups, mean cosine distance {_with_interval(last)}; "
        f"N = {last['n']:,.0f} texts), those of {_people(first['group'])} the closest, "
        f"{_with_interval(first)}; N = {first['n']:,.0f}).",
        f"The standard deviation of the distances was {describe_spread(row)}.",
        count,
    ]


def plot_distances(estimates: pd.DataFrame) -> Drawn:
    """Draw the distances to the centroid that differ most, those of one model and grouping."""
    rows = _to_centroid(estimates).assign(cell=lambda table: table["group"])
    spreads = estimates[estimates["measure"].eq(distances.TO_CENTROID)]
    spreads = spreads[spreads["statistic"].eq("spread") & spreads["estimate"].notna()]
    if len(spreads):
        widest = spreads.loc[spreads["estimate"].idxmax()]
        rows = rows[rows["model"].eq(widest["model"]) & rows["bias"].eq(widest["bias"])]
        rows = rows.sort_values("estimate", ascending=False, ignore_index=True)
    words = {"band": "range if groups were alike", "missing": "no texts"}
    return Drawn(
        figures.claims(rows, "mean cosine distance", by=("bias", "model"), words=words),
        rows,
        "Mean distance of each group's texts to the centroid of all groups, the furthest first.",
        "Distance of each group's texts to the average of all groups (centroid), where groups "
        "differ most",
        f"Dots: mean cosine distance; lines: {prose.level(estimates)} CIs; grey band: "
        f"{prose.level(estimates)} of the values of permuted groups. Filled: significant after "
        "correction over these groups.",
    )


def check(chosen: MarkedPersonas) -> list[str]:
    """Read the texts before a run starts."""
    read_texts(chosen.texts_path)
    return []


STUDY = params.Study(
    stem=distances.STUDY,
    parameters=MarkedPersonas,
    module="nbbias_marked_personas.study",
    inputs=("texts_path",),
    sample=params.Texts("simulated", "The texts of the sample are simulated; no model wrote them."),
)
