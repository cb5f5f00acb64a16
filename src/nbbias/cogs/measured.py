"""The study's pipeline: answers, judgements and ratings in, tables out."""

from __future__ import annotations

from typing import Any, NamedTuple

import pandas as pd

from nbbias import params, reading, tables as contracts
from nbbias.cogs import affinity, masked, people, rbs, suite as suites, tables, visible
from nbbias.cogs.params import Cogs, available_parts
from nbbias.params import Input
from nbbias.stats import InferenceSettings


class Results(NamedTuple):
    """What the study measured; a run saves the tables under these names. None: not in the run.

    Attributes
    ----------
    estimates, units, chance : DataFrame
        ESTIMATES, the instances' values behind their means, and CHANCE.
    distances : DataFrame, optional
        Of each identity's answers to the default (`rbs.distances`).
    visibility : DataFrame, optional
        How visible identities are in answers (`visible.visibility`).
    judge_prompts : DataFrame
        What a judge is asked about the answers (`affinity.evaluation_prompts`).
    judgement_losses : DataFrame, optional
        Replies that decide nothing (`affinity.losses`).
    people : DataFrame, optional
        People's choices beside the judges' (`people.beside_models`).
    """

    estimates: pd.DataFrame
    units: pd.DataFrame
    chance: pd.DataFrame
    distances: pd.DataFrame | None
    visibility: pd.DataFrame | None
    judge_prompts: pd.DataFrame
    judgement_losses: pd.DataFrame | None
    people: pd.DataFrame | None

    def _repr_html_(self) -> str:
        return reading.results_html(self)


def measure(
    answers: Input = None, judgements: Input = None, ratings: Input = None, **parameters: Any
) -> Results:
    """Measure representative and affinity bias.

    Parameters
    ----------
    answers, judgements, ratings
        Tables, or files, in place of the parameters `answers_path`, `judgements_path` and
        `ratings_path`. Beside answers, what is not passed leaves out the parts that need it.
    **parameters
        As a params file of the study sets them (`nbbias params cogs`).

    Raises
    ------
    NbbiasError
        Parameters or tables are not as they must be; all that is wrong with either.

    Examples
    --------
    >>> from nbbias import cogs
    >>> results = cogs.measure(parts=["abs"], draws=100)
    >>> sorted(results.estimates["statistic"].unique())[:2]
    ['abs', 'abs_raw']
    """
    files = {"answers_path": answers, "judgements_path": judgements, "ratings_path": ratings}
    present = {name for name, value in (files | parameters).items() if value is not None}
    if "answers_path" in present and "parts" not in parameters:
        parameters = {**parameters, "parts": available_parts(present)}
    with params.validate_inputs(Cogs, parameters, **files) as chosen:
        return _measure(chosen)


def _measure(chosen: Cogs) -> Results:
    inference = InferenceSettings(chosen.confidence, chosen.draws, chosen.seed)
    options: dict[str, Any] = {"facets": chosen.random_facets, "confidence": chosen.confidence}
    suite = suites.load(chosen.suite_paths, axes=chosen.axes)
    answers = rbs.read_answers(chosen.answers_path, suite=suite)
    model, device = chosen.embedding_model, chosen.device
    found = [contracts.estimates([], study="cogs")]
    units: list[pd.DataFrame] = []
    distances = visibility = losses = choices = None
    if "rbs" in chosen.parts:
        distances = rbs.distances(answers, model=model, device=device)
        whole = rbs.rbs(distances, **options)
        silent = rbs.distances(masked.answers(answers), model=model, device=device)
        parted = masked.estimates(distances, silent, **options)
        by_task = rbs.rbs(distances, by_task=True, **options)
        found += [whole.estimates, parted, by_task.estimates]
        units += [whole.units, by_task.units]
    if "visibility" in chosen.parts:
        levels = visible.levels(answers, suite, model=model)
        visibility = visible.visibility(levels, answers, confidence=chosen.confidence)
    prompts = affinity.evaluation_prompts(answers, suite)
    if "abs" in chosen.parts:
        path = chosen.judgements_path
        decided = affinity.decided(affinity.read_judgements(path, suite=suite, prompts=prompts))
        losses = affinity.losses(decided)
        judged = affinity.abs_estimates(decided, suite, **options)
        by_task = affinity.abs_estimates(decided, suite, by_task=True, **options)
        found += [judged.estimates, by_task.estimates]
        units += [judged.units, by_task.units]
    if "people" in chosen.parts:
        ratings = people.read_ratings(chosen.ratings_path, suite=suite)
        found.append(people.agreement(ratings, inference=inference))
        choices = people.beside_models(ratings, decided, suite, confidence=chosen.confidence)
    estimates = pd.concat(found, ignore_index=True)
    return Results(
        estimates=estimates,
        units=pd.concat(units, ignore_index=True) if units else pd.DataFrame(),
        chance=tables.chance(estimates),
        distances=distances,
        visibility=visibility,
        judge_prompts=prompts,
        judgement_losses=losses,
        people=choices,
    )
