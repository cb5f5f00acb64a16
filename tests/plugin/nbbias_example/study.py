"""How often do answers exclaim? A study of another package: parameters, record, measure, figure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from pydantic import Field

from nbbias import llmbi, params, stats, tables
from nbbias.params import Claims, Input, InputFile, Parameters, Study, Texts
from nbbias.reading import Drawn, figures
from nbbias.tables import SAMPLE, Measured

STEM = "exclamations"


class Exclamations(Parameters):
    """How often do answers exclaim? (Example 2026)"""

    statistics: ClassVar[Mapping[str, tuple[str, ...]]] = {"exclamation": ("mean",)}

    claims: Claims = Field([{"measure": "exclamation", "statistic": "mean"}])
    answers_path: InputFile = Field(SAMPLE, description="answers: columns prompt, model, text")
    draws: int = Field(200, ge=100, le=100_000, description="times that models are dealt anew")


def check(chosen: Exclamations) -> list[str]:
    """Read the answers."""
    llmbi.scoring.read_answers(chosen.answers_path)
    return []


def score(answers: pd.DataFrame) -> pd.DataFrame:
    """Return exclamation marks in a hundred words, the mean by model and prompt."""
    words = answers["text"].str.split().str.len()
    marks = 100 * answers["text"].str.count("!") / words.where(words > 0)
    return answers.assign(score=marks).groupby(["model", "prompt"])["score"].mean().reset_index()


def estimates(scores: pd.DataFrame, *, inference: stats.InferenceSettings) -> pd.DataFrame:
    """Return each model's mean beside what dealing the models' names anew would give."""
    wide = scores.pivot(index="prompt", columns="model", values="score")
    rng = np.random.default_rng(inference.seed)
    dealt = rng.permuted(
        np.repeat(wide.to_numpy()[None], inference.n_permutations, axis=0), axis=2
    ).mean(axis=1)
    rows = [
        {
            "model": name,
            "null": dealt[:, at].mean(),
            **stats.mean_interval(
                wide[name], confidence=inference.confidence, bounds=(0, np.inf)
            ).row(),
        }
        for at, name in enumerate(wide)
    ]
    return tables.estimates(
        rows,
        study=STEM,
        measure="exclamation",
        statistic="mean",
        instrument="count of !",
        confidence=inference.confidence,
    )


def figure(found: pd.DataFrame) -> Drawn:
    """Draw the means."""
    rows = found.assign(panel="exclamation marks in a hundred words")
    drawn = figures.panels(
        rows, lambda own, ax: figures.intervals(own, ax, label="model"), by="panel", height=1.8
    )
    return Drawn(drawn, found, "Mean exclamation marks in a hundred words by model, with intervals")


def measure(answers: Input = None, **parameters: Any) -> Measured:
    """Measure without a notebook."""
    with params.validate_inputs(Exclamations, parameters, answers_path=answers) as chosen:
        scores = score(llmbi.scoring.read_answers(chosen.answers_path))
    inference = stats.InferenceSettings(chosen.confidence, chosen.draws, chosen.seed)
    nothing = tables.chance([], study=STEM)
    return Measured(estimates(scores, inference=inference), nothing, scores, pd.DataFrame())


STUDY = Study(
    stem=STEM,
    parameters=Exclamations,
    check=check,
    inputs=("answers_path",),
    sample=Texts("hand-written", "The texts of the sample are hand-written."),
    measure="nbbias_example.study:measure",
)
