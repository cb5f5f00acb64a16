"""What a run of LLMBI reads, checked before anything starts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from nbbias import params, tables
from nbbias.llmbi import neutral, scoring
from nbbias.tables import NbbiasError


def check(chosen: Any) -> list[str]:
    """Read answers and neutral prose; refuse what a run cannot be made of."""
    problems: list[NbbiasError] = []
    answers = tables.attempt(problems, scoring.read_answers, chosen.answers_path)
    tables.attempt(problems, neutral.read_neutral, chosen.neutral_path)
    told: list[str] = []
    if answers is not None:
        told = tables.check_blank_texts(problems, answers, where=chosen.answers_path)
        tables.attempt(problems, scoring.weigh, chosen.weights, answers["dimension"])
        tables.attempt(problems, params.claims_hold, chosen, _cells(answers, chosen.claims))
    tables.refuse(problems)
    return told


def _cells(answers: pd.DataFrame, claims: Sequence[params.Claim]) -> list[pd.DataFrame]:
    """Return what claims can name: models, with those they are compared with, and prompts."""
    models = list(answers["model"].unique())
    # Pairs of all with all would be too many: those that are named, and two that name every other.
    named = {claim.get("model") for claim in claims}
    own = dict.fromkeys([*(one for one in models if one in named), *models[:2]])
    compared = [(one, other) for one in own for other in models if other != one]
    pairs = pd.DataFrame(compared, columns=["model", "group"], dtype="str")
    alone = pd.DataFrame({"model": models})
    return [pd.concat([alone, pairs]), answers[["dimension", "prompt"]].drop_duplicates()]
