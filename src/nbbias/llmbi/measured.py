"""The study's pipeline: answers in, tables out; and what it reads, checked before it starts."""

from __future__ import annotations

from typing import Any, NamedTuple

import pandas as pd

from nbbias import params, reading, tables
from nbbias.llmbi import estimates, scoring
from nbbias.llmbi.params import Llmbi
from nbbias.params import Input


def check(chosen: Any) -> list[str]:
    """Read answers and reference prose; refuse what a run cannot be made of.

    Examples
    --------
    >>> from nbbias import llmbi
    >>> llmbi.check(llmbi.params.Llmbi())
    []
    """
    problems = list[tables.NbbiasError]()
    answers = tables.attempt(problems, scoring.read_answers, chosen.answers_path)
    tables.attempt(problems, scoring.read_neutral, chosen.neutral_path)
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


class Results(NamedTuple):
    """Tables that `measure` returns; a run saves them under these names.

    Attributes
    ----------
    estimates : DataFrame
        ESTIMATES by the first scorers.
    units : DataFrame
        UNITS: the prompts' values behind means, by both scorers.
    scores : DataFrame
        By answer: `bias_score` (-1 to 1), the terms of the formula (`weighted_bias`, `penalty`,
        `sentiment_term`), `score` (at least the penalty), `neutral`, the mean score of reference
        prose of its length, the range of its passages (`neutral_low`, `neutral_high`, at the level
        of the intervals), and `polarity_second`, its polarity by the second scorer.
    losses : DataFrame
        By `model`, how many answers were `read`, `blank`, `unreadable` and `scored`; and
        the `passages` of reference prose.
    second_scorer : DataFrame
        ESTIMATES with the second scorer behind B and S.
    published : DataFrame
        By `dimension` and `prompt`: the score of each model, and the paper's (`printed`).
    """

    estimates: pd.DataFrame
    units: pd.DataFrame
    scores: pd.DataFrame
    losses: pd.DataFrame
    second_scorer: pd.DataFrame
    published: pd.DataFrame

    def _repr_html_(self) -> str:
        return reading.results_html(self)


def measure(answers: Input = None, **parameters: Any) -> Results:
    r"""Measure the LLM Bias Index of each model's answers, compared with reference prose.

    Parameters
    ----------
    answers : DataFrame or path, optional
        ANSWERS, an answer a row: `prompt`, `model` and `text` (or `response`); `dimension` of
        people where prompts are not the paper's, and `sample`, the number of a repeated answer.
        The shipped sample by default.
    **parameters
        As a params file of the study sets them; `nbbias params llmbi` lists them.

    Returns
    -------
    Results
        A tuple of DataFrames. `estimates` (ESTIMATES) has an estimate a row: what it is of
        (`model`, `measure`, `statistic`, `dimension`), then `estimate`, `ci_low`, `ci_high`, `n`,
        `null` and `p_adjusted`. An index is at least 0.2, the penalty, and higher where sentiment
        is stronger, positive or negative. `null` is the index of reference prose of the same
        length. `difference` is `model` minus the model in `group`. See `Results` for the other
        tables. `reading.claims.declared`
        returns the rows of claims with their verdicts.

    Raises
    ------
    NbbiasError
        Parameters or tables are invalid; the message lists every error.

    Notes
    -----
    :math:`\mathrm{LLMBI} = \sum_i w_i B_i + P(D) + \lambda S`. In the paper both :math:`B` and
    :math:`S` are the absolute polarity by TextBlob, :math:`w = 1`, :math:`P = 0.2`,
    :math:`\lambda = 1.5`, and the sum is a mean, so that the index is
    :math:`0.2 + 2.5\,|\mathrm{polarity}|`. It is tested against reference prose by a *t* test over
    prompts and texts.

    References
    ----------
    - A. F. Oketunji, M. Anas and D. Saina (2023). Large Language Model (LLM) Bias Index:
      LLMBI. arXiv:2312.14769.

    Examples
    --------
    >>> import pandas as pd
    >>> from nbbias import llmbi
    >>> texts = ["Women lead well.", "They met on Monday.", "It was a good idea."] * 4
    >>> answers = pd.DataFrame({"prompt": [*range(12)], "model": "mine", "text": texts})
    >>> results = llmbi.measure(answers.assign(dimension="Gender"))
    >>> rows = results.estimates.query("statistic == 'index'")
    >>> rows[["estimate", "ci_low", "ci_high", "n", "null"]].round(2).values.tolist()
    [[0.78, 0.43, 1.69, 12.0, 0.4]]

    Without a table, the shipped sample is measured:

    >>> results = llmbi.measure()
    >>> rows = results.estimates.query("statistic == 'index'")
    >>> rows[["model", "estimate", "null"]].round(2).values.tolist()
    [['plain-register', 0.48, 0.44], ['warm-register', 0.95, 0.43]]
    """
    with params.validate_inputs(Llmbi, parameters, answers_path=answers) as chosen:
        texts = scoring.read_answers(chosen.answers_path)
        prose = scoring.read_neutral(chosen.neutral_path)
    second = chosen.second_scorer
    scorers = [chosen.bias_scorer, chosen.sentiment_scorer, second]
    formula: dict[str, Any] = chosen.model_dump(include={*scoring.FORMULA})
    by_second = formula | {"bias_scorer": second, "sentiment_scorer": second}
    measured = scoring.measure(texts, scorers=scorers)
    reference = scoring.neutral_reference(prose, lengths=measured["n"], scorers=scorers)
    settings: dict[str, Any] = {
        "swaps": estimates.swap_effects(measured, scorers=scorers),
        "aggregation": chosen.aggregation,
        "confidence": chosen.confidence,
    }
    scores, scores_by_second = (scoring.score_answers(measured, **f) for f in (formula, by_second))
    first = estimates.estimates(scores, reference, formula=formula, **settings)
    other = estimates.estimates(scores_by_second, reference, formula=by_second, **settings)
    pools = scoring.neutral_pools(scores, reference, **formula)
    tail = (1 - chosen.confidence) / 2
    scores = scores.assign(
        neutral=[pool.mean() for pool in pools],
        neutral_low=[pool.quantile(tail) for pool in pools],
        neutral_high=[pool.quantile(1 - tail) for pool in pools],
        polarity_second=measured[f"polarity_{second}"],
    )
    return Results(
        first.estimates,
        pd.concat([first.units, other.units], ignore_index=True),
        scores,
        scoring.count_losses(measured, scorer=chosen.bias_scorer).assign(passages=len(prose)),
        other.estimates,
        estimates.compare_with_published(scores),
    )
