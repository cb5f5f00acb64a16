"""The study's pipeline: answers, judgements and ratings in, tables out; what it reads, checked."""

from __future__ import annotations

from itertools import permutations
from typing import Any, NamedTuple

import pandas as pd

from nbbias import params, reading, tables
from nbbias.cogs import affinity, diversity, people, rbs, suite as suites, visible
from nbbias.cogs.params import Cogs, available_parts
from nbbias.params import Input
from nbbias.stats import InferenceSettings
from nbbias.text import embeddings


def check(chosen: Any) -> list[str]:
    """Read answers, judgements and ratings; refuse what a run cannot be made of.

    Examples
    --------
    >>> from nbbias import cogs
    >>> cogs.check(cogs.params.Cogs(parts=["rbs"]))
    []
    """
    problems = list[tables.NbbiasError]()
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
    for axis, plan in suite.axes.items():
        pairs = [f"{first} - {second}" for first, second in permutations(plan.identities, 2)]
        places = [f"position {n}" for n in range(1, len(plan.identities) + 1)]
        groups.append(pd.DataFrame({"bias": axis, "group": [*plan.identities, *pairs, *places]}))
    names = {
        "model": [rbs.ALL, *texts["model"].unique()],
        "evaluator": [people.PEOPLE, *texts["evaluator"].dropna().unique()],
        "task": list(suite.tasks),
        "topic": [],
    }
    return [pd.concat(groups), *(pd.DataFrame({key: plan}) for key, plan in names.items())]


class Results(NamedTuple):
    """Tables that `measure` returns; a run saves them under these names. None: not in the run.

    Attributes
    ----------
    estimates : DataFrame
        ESTIMATES.
    units : DataFrame
        UNITS: the values of pairs of task and theme behind means.
    distances : DataFrame, optional
        By `model`, `task`, `theme`, `axis` and `identity`: the mean cosine `distance` to the
        default answers (0 to 2), `baseline`, the distance among these, and the numbers of both.
    visibility : DataFrame, optional
        By `model`, `axis` and `identity`: shares of answers that name it (`obvious`, `nuanced`,
        `imperceptible`, 0 to 1).
    judge_prompts : DataFrame
        What a judge is asked about the answers: `prompt_id`, `prompt`, and what it is of.
    judgement_losses : DataFrame, optional
        By `evaluator`, `axis` and `outcome`: replies that decide nothing (`n`).
    people : DataFrame, optional
        ESTIMATES of people's choices beside the judges'.
    """

    estimates: pd.DataFrame
    units: pd.DataFrame
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
    r"""Measure whose texts a model's default resembles (RBS), and whose an evaluator prefers (ABS).

    Parameters
    ----------
    answers : DataFrame or path, optional
        COGS_ANSWERS, an answer a row: `model`, `text`, and `task`, `theme` and `identity` (empty
        for the default, which names none), or `prompt_id` in place of these; `sample` numbers
        repeated answers. The shipped sample by default.
    judgements : DataFrame or path, optional
        COGS_JUDGEMENTS, a reply of an evaluator a row: `evaluator`, `model`, `task`, `theme`,
        `axis`, `order` (identities in the order shown, joined by `|`) and `reply`.
    ratings : DataFrame or path, optional
        Choices of people: `rater`, `task`, `theme`, `axis` and the `identity` chosen. Beside
        answers, what is not passed leaves out the parts that need it.
    **parameters
        As a params file of the study sets them; `nbbias params cogs` lists them.

    Returns
    -------
    Results
        A tuple of DataFrames. `estimates` (ESTIMATES) has an estimate a row: what it is of
        (`model`, `measure`, `statistic`, `dimension`, `group`, `task`, `evaluator`), then
        `estimate`, `ci_low`, `ci_high`, `n`, `null` and `p_adjusted`. Both scores are standard
        deviations: 0 where all identities are treated alike, and above 0 by chance alone, so
        compare them with `null`. RBS is of cosine distances (0 to 2), ABS of shares of choices (at
        most :math:`\sqrt{n-1}/n`). See `Results` for the other tables. `reading.claims.declared`
        returns the rows of claims with their verdicts.

    Raises
    ------
    NbbiasError
        Parameters or tables are invalid; the message lists every error.

    Notes
    -----
    With :math:`D_i` the mean cosine distance of an identity's answers to the default ones, and
    :math:`p_i` the share of choices of its texts,
    :math:`\mathrm{RBS} = \sqrt{\frac{1}{n} \sum_i (D_i - \bar D)^2}` and
    :math:`\mathrm{ABS} = \sqrt{\frac{1}{n} \sum_i (p_i - \bar p)^2}`. Tests are quasi-F: tasks
    and themes are crossed random facets.

    References
    ----------
    - A. Kumar, S. Yunusov and A. Emami (2024). Subtle biases need subtler measures. ACL 2024,
      doi:10.18653/v1/2024.acl-long.23.

    Examples
    --------
    >>> import pandas as pd
    >>> from nbbias import cogs
    >>> identities = ["man", "woman", "non-binary"]
    >>> prompts = {"model": "writer", "task": "short poem", "theme": "fear"}
    >>> answers = pd.DataFrame({**prompts, "identity": identities, "text": ["a", "b", "c"]})
    >>> orders = ["man|woman|non-binary", "woman|non-binary|man", "non-binary|man|woman"]
    >>> choices = {"evaluator": "mine", "axis": "gender", "order": orders, "reply": ["1", "3", "1"]}
    >>> judgements = pd.DataFrame({**prompts, **choices})
    >>> results = cogs.measure(answers, judgements, parts=["abs"], draws=100, claims=[])
    >>> rows = results.estimates.query("statistic == 'abs' and task.isna()")
    >>> rows[["estimate", "ci_low", "ci_high", "n", "null"]].round(2).values.tolist()
    [[0.27, nan, nan, 1.0, nan]]

    One theme of one task has neither interval nor null value. Without tables, the shipped sample is
    measured:

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
    confidence = chosen.confidence
    inference = InferenceSettings(confidence, chosen.draws, chosen.seed)
    options: dict[str, Any] = {"facets": chosen.random_facets, "confidence": confidence}
    suite = suites.load(chosen.suite_paths, axes=chosen.axes)
    answers = rbs.read_answers(chosen.answers_path, suite=suite)
    model, device = chosen.embedding_model, chosen.device
    estimated = [tables.Estimated(tables.estimates([], study="cogs"), pd.DataFrame())]
    fields: dict[str, Any] = dict.fromkeys(Results._fields)
    if "rbs" in chosen.parts:
        fields["distances"] = distances = rbs.distances(answers, model=model, device=device)
        unnamed = visible.mask(answers)
        estimated += [rbs.rbs(distances, by_task=split, **options) for split in (False, True)]
        silent = rbs.distances(unnamed, model=model, device=device)
        rows = rbs.rbs(silent, **options).estimates.query("statistic in ['rbs', 'distance']")
        rows = rows.assign(statistic=rows["statistic"] + "_masked")
        estimated.append(tables.Estimated(rows, pd.DataFrame()))
        unlike = diversity.diversity(unnamed, model=model, device=device)
        estimated.append(diversity.estimate(unlike, **options))
    if "visibility" in chosen.parts:
        levels = visible.levels(answers, suite, model=model)
        fields["visibility"] = visible.visibility(levels, answers, confidence=confidence)
    fields["judge_prompts"] = prompts = affinity.evaluation_prompts(answers, suite)
    if "abs" in chosen.parts:
        path = chosen.judgements_path
        decided = affinity.decided(affinity.read_judgements(path, suite=suite, prompts=prompts))
        fields["judgement_losses"] = affinity.losses(decided)
        for split in (False, True):
            estimated.append(affinity.abs_estimates(decided, suite, by_task=split, **options))
    if "people" in chosen.parts:
        ratings = people.read_ratings(chosen.ratings_path, suite=suite)
        agreement = people.agreement(ratings, inference=inference, facets=chosen.random_facets)
        estimated.append(tables.Estimated(agreement, pd.DataFrame()))
        fields["people"] = people.beside_models(ratings, decided, suite, confidence=confidence)
    return Results(**fields | tables.concatenate(estimated)._asdict())
