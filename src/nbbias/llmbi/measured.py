"""The study's pipeline: answers in, tables out."""

from __future__ import annotations

from typing import Any, NamedTuple

import pandas as pd

from nbbias import params, reading
from nbbias.llmbi import estimates, neutral, ranking, scoring
from nbbias.llmbi.params import Llmbi
from nbbias.params import Input
from nbbias.stats import InferenceSettings


class Results(NamedTuple):
    """What the study measured, one table each; a run saves them under these names.

    Attributes
    ----------
    estimates, units : DataFrame
        ESTIMATES, and the prompts' values behind its means, of the first scorers.
    scores : DataFrame
        Each answer's score (`scoring.score_answers`), with `neutral`, the mean score of reference
        prose of its length, and `polarity_second`, its polarity by the second scorer.
    losses : DataFrame
        Answers read, blank and scored, by model.
    second_scorer : DataFrame
        ESTIMATES with the second scorer behind B and S.
    ranking_swaps : DataFrame
        How often dimensions change order under other settings (`ranking.ranking_swaps`).
    published : DataFrame
        The paper's printed scores beside ours (`estimates.compare_with_published`).
    """

    estimates: pd.DataFrame
    units: pd.DataFrame
    scores: pd.DataFrame
    losses: pd.DataFrame
    second_scorer: pd.DataFrame
    ranking_swaps: pd.DataFrame
    published: pd.DataFrame

    def _repr_html_(self) -> str:
        return reading.results_html(self)


def measure(answers: Input = None, **parameters: Any) -> Results:
    """Measure the index of models.

    Parameters
    ----------
    answers
        A table, or a file, in place of the parameter `answers_path`.
    **parameters
        As a params file of the study sets them (`nbbias params llmbi`).

    Raises
    ------
    NbbiasError
        Parameters or answers are not as they must be; all that is wrong with either.

    Examples
    --------
    >>> from nbbias import llmbi
    >>> results = llmbi.measure(draws=100)
    >>> results.estimates.query("statistic == 'index'")["model"].tolist()
    ['plain-register', 'warm-register']
    """
    with params.validate_inputs(Llmbi, parameters, answers_path=answers) as chosen:
        texts = scoring.read_answers(chosen.answers_path)
        prose = neutral.read_neutral(chosen.neutral_path)
    second = chosen.second_scorer
    scorers = [chosen.bias_scorer, chosen.sentiment_scorer, second]
    inference = InferenceSettings(chosen.confidence, chosen.draws, chosen.seed)
    formula: dict[str, Any] = chosen.model_dump(include={*scoring.FORMULA})
    by_second = formula | {"bias_scorer": second, "sentiment_scorer": second}
    measured = scoring.measure(texts, scorers=scorers)
    reference = neutral.neutral_reference(prose, lengths=measured["n"], scorers=scorers)
    settings: dict[str, Any] = {
        "swaps": estimates.swap_effects(measured, scorers=scorers),
        "aggregation": chosen.aggregation,
        "inference": inference,
    }
    scores, scores_by_second = (scoring.score_answers(measured, **f) for f in (formula, by_second))
    result = estimates.estimates(scores, reference, formula=formula, **settings)
    pools = neutral.neutral_pools(scores, reference, **formula)
    scores = scores.assign(
        neutral=[pool.mean() for pool in pools], polarity_second=measured[f"polarity_{second}"]
    )
    return Results(
        *result,
        scores,
        scoring.count_losses(measured, scorer=chosen.bias_scorer),
        estimates.estimates(scores_by_second, reference, formula=by_second, **settings).estimates,
        ranking.ranking_swaps(measured, formula=formula, inference=inference),
        estimates.compare_with_published(scores),
    )
