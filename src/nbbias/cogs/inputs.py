"""What a run of CoGS reads, checked before anything starts."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pandas as pd

from nbbias import params, tables
from nbbias.cogs import affinity, people, rbs, suite as suites
from nbbias.tables import NbbiasError
from nbbias.text import embeddings


def check(chosen: Any) -> list[str]:
    """Read answers, judgements and ratings; refuse what a run cannot be made of.

    Examples
    --------
    >>> from nbbias import cogs
    >>> cogs.check(cogs.params.Cogs(parts=["rbs"]))
    []
    """
    problems: list[NbbiasError] = []
    model = chosen.embedding_model
    tables.attempt(problems, tables.check_name, "embedding_model", model, embeddings.NAMES)
    suite = suites.load(chosen.suite_paths, axes=chosen.axes)
    answers = tables.attempt(problems, rbs.read_answers, chosen.answers_path, suite=suite)
    exclusions: list[str] = []
    judged = None
    if answers is not None:
        exclusions = tables.check_blank_texts(problems, answers, where=chosen.answers_path)
        if "abs" in chosen.parts:
            asked = affinity.evaluation_prompts(answers, suite)
            options = {"suite": suite, "prompts": asked}
            path = chosen.judgements_path
            judged = tables.attempt(problems, affinity.read_judgements, path, **options)
    if "people" in chosen.parts:
        tables.attempt(problems, people.read_ratings, chosen.ratings_path, suite=suite)
    tables.refuse(problems)
    texts = pd.concat([answers, judged]).reindex(columns=["model", "evaluator"])
    params.check_claims(chosen, _nameable(suite, texts))
    return exclusions


def _nameable(suite: suites.Suite, texts: pd.DataFrame) -> list[pd.DataFrame]:
    """Return what claims can name: models, judges, tasks, identities, pairs of them, positions."""
    groups = []
    for axis, own in suite.axes.items():
        pairs = [f"{one} - {other}" for one, other in permutations(own.identities, 2)]
        places = [f"position {n}" for n in range(1, len(own.identities) + 1)]
        groups.append(pd.DataFrame({"bias": axis, "group": [*own.identities, *pairs, *places]}))
    names = {
        "model": [rbs.ALL, *texts["model"].unique()],
        "evaluator": [people.PEOPLE, *texts["evaluator"].dropna().unique()],
        "task": list(suite.tasks),
        "topic": [],
    }
    return [pd.concat(groups), *(pd.DataFrame({key: own}) for key, own in names.items())]
