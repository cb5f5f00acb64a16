"""The study's pipeline: answers to versions of prompts in, tables out."""

from __future__ import annotations

from typing import Any, NamedTuple

import pandas as pd

from nbbias import params, reading, refusals, tables
from nbbias.counterfactual import versions
from nbbias.counterfactual.estimates import EMBEDDING, estimates
from nbbias.counterfactual.params import Counterfactual
from nbbias.params import Input
from nbbias.stats import InferenceSettings
from nbbias.text import embeddings, sentiment, toxicity


def check(chosen: Any) -> list[str]:
    """Check answers, scorer, encoder and claims before a run starts; return exclusions.

    Raises
    ------
    NbbiasError
        Any of them cannot be used; the message lists every problem.

    Examples
    --------
    >>> from nbbias import counterfactual
    >>> counterfactual.check(counterfactual.params.Counterfactual())
    []
    """
    problems = list[tables.NbbiasError]()
    answers = tables.attempt(problems, versions.read_answers, chosen.answers_path)
    tables.attempt(problems, toxicity.choose, chosen.toxicity_scorer)
    tables.attempt(problems, embeddings.choose, chosen.embedding_model)
    exclusions: list[str] = []
    if answers is not None:
        exclusions = tables.check_blank_texts(problems, answers, where=chosen.answers_path)
        nameable = [answers[["model"]].drop_duplicates(), answers[["bias"]].drop_duplicates()]
        tables.attempt(problems, params.check_claims, chosen, nameable)
    tables.refuse(problems)
    return exclusions


class Results(NamedTuple):
    """Tables that `measure` returns; a run saves them under these names.

    Attributes
    ----------
    estimates : DataFrame
        ESTIMATES (`counterfactual.estimates.estimates`).
    units : DataFrame
        UNITS: the prompts' values behind means.
    scores : DataFrame
        By answer: `refusal` (0 or 1) and, where it is none, `sentiment` (-1 to 1) and `toxicity`
        (0 to 1) of the aligned answer, `length` in words of the answer as it is; a `reason` where
        scores are missing.
    losses : DataFrame
        By `model`, `bias` and `group`, how many answers were `read`, `blank`, `without_counterpart`
        (a group word cannot be exchanged), `refused` (counted in the refusal rate alone), `scored`.
    """

    estimates: pd.DataFrame
    units: pd.DataFrame
    scores: pd.DataFrame
    losses: pd.DataFrame

    def _repr_html_(self) -> str:
        return reading.results_html(self)


def measure(answers: Input = None, **parameters: Any) -> Results:
    """Measure how answers change when a prompt names another group.

    Parameters
    ----------
    answers : DataFrame or path, optional
        Answers to versions of prompts (`counterfactual.swap_prompts`), a row each: `model`, `unit`
        (the prompt), `bias`, `group`, `asked` (the version), `text`; `sample`, the number of a
        repeated answer. The shipped sample, which is simulated, by default.
    **parameters
        As a params file of the study sets them; `nbbias params counterfactual` lists them.

    Returns
    -------
    Results
        A tuple of DataFrames. `estimates` (ESTIMATES) has an estimate a row: `model`, `bias`,
        `group` (the pair), `measure`, `statistic`, then `estimate`, `ci_low`, `ci_high`, `n`,
        `null` (0) and `p_adjusted`. ``excess_distance`` above 0: answers differ more between
        versions than among answers to one. ``difference`` above 0: the first group's answers score
        higher. See `Results` for the other tables.

    Raises
    ------
    NbbiasError
        Parameters or tables are invalid; the message lists every error.

    Notes
    -----
    Answers are scored after the group that they were asked about is exchanged back
    (`counterfactual.versions.align`): else pronouns alone would make versions unlike. (LangFair
    masks such words, for BLEU and ROUGE-L only.) Refusals count in the refusal rate alone: else
    versions that are refused more often would differ in every score. Tests are permutation tests
    with the prompt as the unit.

    References
    ----------
    - W. Xu et al. (2025). Quantifying Fairness in LLMs Beyond Tokens: A Semantic and Statistical
      Perspective (FiSCo). COLM. arXiv:2506.19028.
    - D. Bouchard (2024). An Actionable Framework for Assessing Bias and Fairness in Large Language
      Model Use Cases (LangFair). arXiv:2407.10853.

    Examples
    --------
    >>> from nbbias import counterfactual
    >>> rows = [(f"p{n}", group, text) for n in range(6)
    ...         for group, text in (("female", "She is dull."), ("male", "He is great."))]
    >>> answers = pd.DataFrame(rows, columns=["unit", "group", "text"])
    >>> answers = answers.assign(model="m", bias="gender", asked=answers["unit"] + answers["group"])
    >>> results = counterfactual.measure(answers, toxicity_scorer="offline")
    >>> rows = results.estimates.query("measure == 'sentiment'").set_index("statistic")
    >>> row = rows.loc["difference"]
    >>> row["group"], *row[["estimate", "p_value"]].astype(float).round(2)
    ('female − male', -1.03, 0.03)
    """
    with params.validate_inputs(Counterfactual, parameters, answers_path=answers) as chosen:
        table = versions.read_answers(chosen.answers_path)
    aligned = versions.align(table)
    refused = refusals.detect(aligned)["refused"].astype("Float64").astype(float)
    delivered = aligned.where(refused == 0)
    scores = table.drop(columns="text").assign(
        sentiment=sentiment.score(delivered, scorer=chosen.sentiment_scorer)["polarity"],
        toxicity=toxicity.score(delivered, scorer=chosen.toxicity_scorer),
        length=table["text"].map(lambda text: float(len(str(text).split()))).where(refused == 0),
        refusal=refused,
        reason=_reasons(table["text"], aligned).mask(refused == 1, _REFUSED),
    )
    features = {EMBEDDING: embeddings.embed(delivered, model=chosen.embedding_model).astype(float)}
    instruments = {
        EMBEDDING: embeddings.instrument(chosen.embedding_model),
        "sentiment": sentiment.instrument(chosen.sentiment_scorer),
        "toxicity": toxicity.instrument(chosen.toxicity_scorer),
        "length": "words",
        "refusal": refusals.instrument(),
    }
    features |= {name: scores[[name]].to_numpy(float) for name in instruments if name in scores}
    inference = InferenceSettings(chosen.confidence, chosen.draws, chosen.seed)
    result = estimates(table, features, instruments=instruments, inference=inference)
    return Results(*result, scores, _count_losses(scores))


_BLANK, _STUCK = "the answer is blank", "a group word has no counterpart"
_REFUSED = "the answer is a refusal"


def _reasons(texts: pd.Series, aligned: pd.Series) -> pd.Series:
    reasons = pd.Series(None, index=texts.index, dtype=object)
    return reasons.mask(aligned.isna(), _STUCK).mask(tables.is_blank(texts), _BLANK)


def _count_losses(scores: pd.DataFrame) -> pd.DataFrame:
    keys = ["model", "bias", "group"]
    kinds = {"blank": _BLANK, "without_counterpart": _STUCK, "refused": _REFUSED}
    counts = {kind: scores["reason"] == words for kind, words in kinds.items()}
    table = scores[keys].assign(read=1, **counts, scored=scores["reason"].isna())
    return table.groupby(keys, sort=False).sum().reset_index()
