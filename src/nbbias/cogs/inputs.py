"""What a run of CoGS reads, checked before anything starts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import permutations
from typing import Any

import pandas as pd

from nbbias import params, tables
from nbbias.cogs import affinity, people, rbs
from nbbias.cogs.suite import Suite, load
from nbbias.tables import DataError, NbbiasError
from nbbias.text import embeddings

#: What stands in a claim for all models together.
_ALL = "all"


def check(chosen: Any) -> list[str]:
    """Read answers, judgements and ratings; refuse what a run cannot be made of."""
    problems: list[NbbiasError] = []
    model = chosen.embedding_model
    tables.attempt(problems, tables.check_name, "embedding_model", model, embeddings.NAMES)
    try:
        suite = load(chosen.suite_paths, axes=chosen.axes)
    except NbbiasError:  # which the parameters tell
        return []
    exclusions = _answers(problems, chosen, suite)
    tables.refuse(problems)
    return exclusions


def _answers(problems: list[NbbiasError], chosen: Any, suite: Suite) -> list[str]:
    answers = tables.attempt(problems, rbs.read_answers, chosen.answers_path, suite=suite)
    told: list[str] = []
    asked: pd.DataFrame | None = None
    if answers is not None:
        told = tables.check_blank_texts(problems, answers, where=chosen.answers_path)
        asked = affinity.evaluation_prompts(answers, suite, design=chosen.orders)
    judged: pd.DataFrame | None = None
    if "abs" in chosen.parts:
        judged = _judgements(problems, chosen.judgements_path, suite, asked)
    if judged is not None and answers is not None:
        tables.attempt(problems, _meet, judged, answers, where=chosen.judgements_path)
    if "people" in chosen.parts:
        rated = tables.attempt(problems, people.read_ratings, chosen.ratings_path, suite=suite)
        if rated is not None and judged is not None:
            tables.attempt(problems, _meet, rated, judged, where=chosen.ratings_path)
    if answers is not None and ("abs" not in chosen.parts or judged is not None):
        tables.attempt(problems, params.check_claims, chosen, _cells(suite, answers, judged))
    return told


def _judgements(
    problems: list[NbbiasError], path: str, suite: Suite, asked: pd.DataFrame | None
) -> pd.DataFrame | None:
    """Read judgements; without answers only those that say themselves what was judged."""
    if asked is None:
        table = tables.attempt(problems, tables.read_table, path, affinity.FILE)
        if table is None or not {"evaluator", "reply"} & set(table):
            return None
    judged = tables.attempt(problems, affinity.read_judgements, path, suite=suite, prompts=asked)
    if (
        judged is not None
        and (judged["model"] == affinity.ALL).any()
        and judged["model"].nunique() > 1
    ):
        told = f"the model {affinity.ALL!r} stands for all models together; call it otherwise"
        problems.append(DataError(path, told))
    return judged


def _meet(table: pd.DataFrame, other: pd.DataFrame, *, where: str) -> None:
    """Refuse a table none of whose rows is about what another one is about."""
    keys = [key for key in ("model", "task", "theme") if key in table and key in other]
    if not table[keys].merge(other[keys]).empty:
        return
    own, theirs = (_examples(one[keys]) for one in (table, other))
    raise DataError(where, f"shares no {' / '.join(keys)} with the answers: {own}, not {theirs}")


def _examples(keys: pd.DataFrame) -> str:
    return "; ".join(" / ".join(map(str, row)) for row in keys.drop_duplicates().head(2).to_numpy())


def _cells(suite: Suite, answers: pd.DataFrame, judged: pd.DataFrame | None) -> list[pd.DataFrame]:
    """Return what claims can name: models, tasks, themes' topics, judges, identities, positions."""
    names = [*answers["model"].unique(), _ALL]
    judges: list[str] = [people.PEOPLE]
    if judged is not None:
        names += list(judged["model"].unique())
        judges += list(judged["evaluator"].unique())
    groups = pd.concat(
        [
            pd.DataFrame({"bias": axis, "group": list(_groups(list(own.identities)))})
            for axis, own in suite.axes.items()
        ]
    )
    known: dict[str, Sequence[str]] = {
        "model": names,
        "evaluator": judges,
        "task": list(suite.tasks),
        "topic": list(suite.topics),
    }
    return [groups, *(pd.DataFrame({key: values}) for key, values in known.items())]


def _groups(identities: list[str]) -> Iterable[str]:
    yield from identities
    yield from (f"{one} - {other}" for one, other in permutations(identities, 2))
    yield from (f"position {n}" for n in range(1, len(identities) + 1))
