"""The study without a notebook: answers in, tables out, by the functions that its cells call."""

from __future__ import annotations

from typing import Any

from nbbias import params, tables
from nbbias.llmbi import audit, neutral, scoring, tables as printed
from nbbias.llmbi.params import Llmbi
from nbbias.params import Input
from nbbias.stats import InferenceSettings
from nbbias.tables import Measured


def measure(answers: Input = None, **parameters: Any) -> Measured:
    """Measure the index of models: the tables of a run, without a notebook.

    Parameters
    ----------
    answers
        A table, or a file, in place of the parameter `answers_path`.
    **parameters
        As a params file of the study sets them (`nbbias params llmbi`).

    Returns
    -------
    Measured
        `estimates` (equal to a run's), `scores` of answers, and `losses`; there is no CHANCE.

    Raises
    ------
    NbbiasError
        Parameters or answers are not as they must be; all that is wrong with either.

    Examples
    --------
    >>> from nbbias import llmbi
    >>> found = llmbi.measure(draws=100)
    >>> found.estimates.query("statistic == 'index'")["model"].tolist()
    ['plain-register', 'warm-register']
    """
    with params.given(Llmbi, parameters, answers_path=answers) as chosen:
        read = scoring.read_answers(chosen.answers_path)
        prose = neutral.read_neutral(chosen.neutral_path)
    scorers = [chosen.bias_scorer, chosen.sentiment_scorer, chosen.second_scorer]
    measured = scoring.measure(read, scorers=scorers)
    formula: dict[str, Any] = {
        "bias_scorer": chosen.bias_scorer,
        "sentiment_scorer": chosen.sentiment_scorer,
        "diversity_penalty": chosen.diversity_penalty,
        "lambda_factor": chosen.lambda_factor,
        "weights": chosen.weights,
    }
    reference = neutral.neutral_reference(prose, lengths=measured["n"], scorers=scorers)
    scores = scoring.score_answers(measured, **formula)
    scores = neutral.add_neutral(scores, neutral.neutral_pools(scores, reference, **formula))
    found = audit.estimates(
        scores,
        reference,
        swaps=audit.swap_effects(measured, scorers=scorers),
        formula=formula,
        aggregation=chosen.aggregation,
        inference=InferenceSettings(chosen.confidence, chosen.draws, chosen.seed),
    )
    lost = printed.losses(measured, scorer=chosen.bias_scorer).rows
    return Measured(found, tables.chance([], study="llmbi"), scores, lost)
