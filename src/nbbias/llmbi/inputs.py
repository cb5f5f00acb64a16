"""What a run of LLMBI reads, checked before anything starts."""

from __future__ import annotations

from typing import Any

import pandas as pd

from nbbias import params, tables
from nbbias.llmbi import neutral, scoring
from nbbias.tables import NbbiasError


def check(chosen: Any) -> list[str]:
    """Read answers and reference prose; refuse what a run cannot be made of.

    Examples
    --------
    >>> from nbbias import llmbi
    >>> llmbi.check(llmbi.params.Llmbi())
    []
    """
    problems: list[NbbiasError] = []
    answers = tables.attempt(problems, scoring.read_answers, chosen.answers_path)
    tables.attempt(problems, neutral.read_neutral, chosen.neutral_path)
    exclusions: list[str] = []
    if answers is not None:
        exclusions = tables.check_blank_texts(problems, answers, where=chosen.answers_path)
        tables.attempt(problems, scoring.check_weights, chosen.weights, answers["dimension"])
        models = pd.DataFrame({"model": answers["model"].unique()})
        pairs = models.merge(models.rename(columns={"model": "group"}), how="cross")
        prompts = answers[["dimension", "prompt"]].drop_duplicates()
        nameable = [pd.concat([models, pairs.query("model != group")]), prompts]
        tables.attempt(problems, params.check_claims, chosen, nameable)
    tables.refuse(problems)
    return exclusions
