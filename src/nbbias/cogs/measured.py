"""The study without a notebook: answers in, tables out, by the functions that its cells call."""

from __future__ import annotations

from typing import Any

import pandas as pd

from nbbias import params
from nbbias.cogs import affinity, masked, people, rbs, reference, suite as suites, tables
from nbbias.cogs.params import PARTS, Cogs
from nbbias.params import Input
from nbbias.stats import InferenceSettings
from nbbias.tables import Measured


def measure(
    answers: Input = None, judgements: Input = None, ratings: Input = None, **parameters: Any
) -> Measured:
    """Measure representative and affinity bias: the tables of a run, without a notebook.

    Parameters
    ----------
    answers, judgements, ratings
        Tables, or files, in place of the parameters `answers_path`, `judgements_path` and
        `ratings_path`. Beside answers, what is not given leaves out the parts that need it.
    **parameters
        As a params file of the study sets them (`nbbias params cogs`).

    Returns
    -------
    Measured
        `estimates` and `chance` (equal to a run's), `scores`: the distances of answers, and
        `losses` of judgements.

    Raises
    ------
    NbbiasError
        Parameters or tables are not as they must be; all that is wrong with either.

    Examples
    --------
    >>> from nbbias import cogs
    >>> found = cogs.measure(parts=["abs"], draws=100)
    >>> sorted(found.estimates["statistic"].unique())[:2]
    ['abs', 'abs_raw']
    """
    given = {"answers_path": answers, "judgements_path": judgements, "ratings_path": ratings}
    there = {name for name, one in (given | parameters).items() if one is not None}
    if "answers_path" in there and "parts" not in parameters:
        needs = {"abs": {"judgements_path"}, "people": {"judgements_path", "ratings_path"}}
        parts = [part for part in PARTS if part != "reference" and needs.get(part, set()) <= there]
        parameters = {**parameters, "parts": parts}
    with params.validate_inputs(Cogs, parameters, **given) as chosen:
        return _measured(chosen)


def _measured(chosen: Cogs) -> Measured:
    inference = InferenceSettings(chosen.confidence, chosen.draws, chosen.seed)
    suite = suites.load(chosen.suite_paths, axes=chosen.axes)
    found: list[pd.DataFrame] = []
    scores = losses = pd.DataFrame()
    if "reference" in chosen.parts:
        texts = reference.read_personas(chosen.answers_path)
        groups, model = chosen.references, chosen.embedding_model
        found.append(reference.groupings(texts, groups, model=model, inference=inference))
    else:
        answers = rbs.read_answers(chosen.answers_path, suite=suite)
    if "rbs" in chosen.parts:
        model, device = chosen.embedding_model, chosen.device
        scores = rbs.distances(answers, model=model, device=device)
        ways: list[dict[str, Any]] = [
            {"tasks": chosen.tasks},
            {"by": "task"},
            {"by": "topic", "tasks": chosen.tasks},
        ]
        found += [rbs.rbs(scores, **way, inference=inference) for way in ways]
        silent = rbs.distances(masked.answers(answers), model=model, device=device)
        parted = masked.estimates(scores, silent, tasks=chosen.tasks, inference=inference)
        found.insert(-2, parted)
    if "abs" in chosen.parts:
        asked = affinity.evaluation_prompts(
            answers, suite, design=chosen.orders, described=chosen.described
        )
        path = chosen.judgements_path
        decided = affinity.decided(affinity.read_judgements(path, suite=suite, prompts=asked))
        losses = affinity.losses(decided)
        found.append(
            affinity.abs_estimates(decided, suite, tasks=chosen.tasks, inference=inference)
        )
        found.append(affinity.abs_estimates(decided, suite, by="task", inference=inference))
    if "people" in chosen.parts:
        ratings = people.read_ratings(chosen.ratings_path, suite=suite)
        found.append(people.agreement(ratings, inference=inference))
    estimates = pd.concat(found, ignore_index=True)
    return Measured(estimates, tables.chance(estimates), scores, losses)
