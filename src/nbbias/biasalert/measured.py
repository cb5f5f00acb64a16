"""The study's pipeline: texts in, tables out."""

from __future__ import annotations

from typing import Any, NamedTuple

import pandas as pd

from nbbias import params, reading, tables
from nbbias.biasalert import calibration, checks, corpus, detection, guard, inputs, levels, pairs
from nbbias.biasalert.judges import panel as panels
from nbbias.biasalert.judges.registry import choose_settings
from nbbias.biasalert.knowledge import entries, retrieval
from nbbias.biasalert.params import Biasalert
from nbbias.params import NONE, Input
from nbbias.stats import InferenceSettings
from nbbias.text import embeddings


class Results(NamedTuple):
    """Tables that `measure` returns; a run saves them under these names.

    Attributes
    ----------
    estimates : DataFrame
        ESTIMATES.
    units : DataFrame
        UNITS: by text, whether a verdict agrees with the label (0 or 1).
    texts : DataFrame
        By `split` and `bias_type`: labelled `texts`, how many are `biased`, and `clusters` of
        near-duplicates.
    excluded : DataFrame
        Rows of labelled files and of the knowledge that were left out: `file`, `reason`, `n`.
    knowledge : DataFrame
        By `source`, `version` and `bias_type`: how many `entries` can be retrieved.
    test : DataFrame
        The test texts' labels, without texts.
    judgements : DataFrame
        JUDGEMENTS of the test texts, without texts.
    losses : DataFrame
        By `judge` and `outcome`: how many verdicts (`n`) and their `share`.
    retrieval : DataFrame
        By text: entries retrieved (`n`) and used (`n_used`), the `best` and `mean` similarity, and
        the `threshold` below which an entry is not used.
    judge_prompts : DataFrame
        What a language model would be asked: `prompt_id`, `set`, `prompt`.
    guarded : DataFrame
        Labelled answers with the guard (`guard.measure`); empty without one.
    """

    estimates: pd.DataFrame
    units: pd.DataFrame
    texts: pd.DataFrame
    excluded: pd.DataFrame
    knowledge: pd.DataFrame
    test: pd.DataFrame
    judgements: pd.DataFrame
    losses: pd.DataFrame
    retrieval: pd.DataFrame
    judge_prompts: pd.DataFrame
    guarded: pd.DataFrame

    def _repr_html_(self) -> str:
        return reading.results_html(self)


def measure(labelled: Input = None, answers: Input = None, **parameters: Any) -> Results:
    """Measure how often classifiers agree with reference labels, and the bias level of answers.

    Parameters
    ----------
    labelled : DataFrame or path, optional
        LABELLED, a text a row with its reference label: `text` and `biased` (true or false); where
        known `bias_type`, `group`, `attribute`. Three tenths are held out to test the classifiers.
        The shipped sample by default.
    answers : DataFrame or path, optional
        ANSWERS of models, whose bias level is measured: `text_id`, `model`, `text`; `"none"` leaves
        them out.
    **parameters
        As a params file of the study sets them; `nbbias params biasalert` lists them.

    Returns
    -------
    Results
        A tuple of DataFrames. `estimates` (ESTIMATES) has an estimate a row: what it is of
        (`model`, `measure`, `statistic`, `judge`, `group`), then `estimate`, `ci_low`, `ci_high`,
        `n`, `null` and `p_adjusted`. Accuracy, F1, recall and shares of flagged texts are 0 to 1.
        Differences of accuracy are of the first judge named minus the second, in -1 to 1.
        `judgements` (JUDGEMENTS) has a verdict of a judge a row. See `Results` for the other
        tables. `reading.claims.declared`
        returns the rows of claims with their verdicts.

    Raises
    ------
    NbbiasError
        Parameters or tables are invalid; the message lists every error.

    Notes
    -----
    Accuracy is the share of verdicts that agree with the reference label; near-duplicates
    count once (Wilson's interval). It is compared with permuted verdicts and with the majority
    class. Two classifiers are compared by McNemar's test. The overall score is accuracy times the
    shares of right types and of right groups and attributes.

    References
    ----------
    - Z. Fan, R. Chen, R. Xu and Z. Liu (2024). BiasAlert: A plug-and-play tool for social bias
      detection in LLMs. EMNLP 2024, arXiv:2407.10241.

    Examples
    --------
    >>> import pandas as pd
    >>> from nbbias import biasalert
    >>> biased = ["Women are bad drivers.", "Men never listen.", "Women gossip.", "Men are stupid."]
    >>> harmless = ["It rains.", "The bridge opened.", "We had lunch.", "A cat slept."]
    >>> labelled = pd.DataFrame({"text": biased + harmless, "biased": [True] * 4 + [False] * 4})
    >>> results = biasalert.measure(labelled, "none", judges=["keywords"], draws=100, claims=[])
    >>> rows = results.estimates.query("statistic == 'accuracy' and judge == 'keywords'")
    >>> rows[["estimate", "ci_low", "ci_high", "n", "null"]].round(2).values.tolist()
    [[0.67, 0.21, 0.94, 3.0, 0.67]]

    Without a table, the shipped sample is measured:

    >>> results = biasalert.measure(judges=["keywords"], answers="none", draws=100, claims=[])
    >>> results.judgements["judge"].unique().tolist()
    ['keywords']
    """
    files = {"labelled_path": labelled, "answers_path": answers}
    with params.validate_inputs(Biasalert, parameters, **files) as chosen:
        return _measure(chosen)


def _measure(chosen: Biasalert) -> Results:
    inference = InferenceSettings(chosen.confidence, chosen.draws, chosen.seed)
    confidence = chosen.confidence
    paths = chosen.labelled_path, chosen.evaluation_path
    texts, excluded = corpus.read_texts(*paths, seed=chosen.seed)
    knowledge, unused = entries.read_knowledge(chosen.knowledge_path, labelled=texts)
    settings = choose_settings(chosen)
    panel = _fit(chosen, texts, knowledge)
    asked: dict[str, tuple[pd.DataFrame, pd.DataFrame]] = {}  # of each set, with its evidence

    def judge(name: str, table: pd.DataFrame, **how: Any) -> pd.DataFrame:
        judgements, evidence = panel.judge(table, name, **how)
        asked[name] = table, evidence
        return judgements

    test = texts[texts["split"] == "test"].reset_index(drop=True)
    judgements = judge("test", test, keep_all=True)
    evidence = asked["test"][1]
    of_judges = detection.estimates, detection.estimate_differences, detection.estimate_by_type
    detected = tables.concatenate([of(judgements, test, inference=inference) for of in of_judges])
    answered: list[pd.DataFrame] = []
    guarded = pd.DataFrame()
    if chosen.answers_path != NONE:
        answers = inputs.read_answers(chosen)
        answered, guarded = _measure_answers(chosen, panel, answers, judge("answers", answers))
    version = entries.version(knowledge)
    encoder = f"{embeddings.instrument(settings.embedding_model)}, knowledge {version}"
    of_test = [
        detected.estimates,
        detection.estimate_retrieval(evidence, test, instrument=encoder, inference=inference),
        calibration.estimates(judgements, test, inference=inference),
    ]
    source = corpus.source(*paths)
    parts = [table.assign(source=source) for table in of_test]
    if chosen.pairs_path != NONE:
        paired = pairs.read_pairs(chosen.pairs_path)
        more, less = (judge(side, paired.assign(text=paired[side])) for side in pairs.SIDES)
        matched = pairs.match_pairs(more, less, paired)
        parts.append(pairs.estimates(matched, confidence=confidence))
    checked = checks.read_checks()
    parts += [
        checks.estimates(judge("checks", checked), checked, confidence=confidence),
        checks.swap_differences(panel, confidence=confidence),
        *answered,
    ]
    counted = knowledge.value_counts(["source", "bias_type"], sort=False).rename("entries")
    summary = retrieval.summarize_evidence(test, evidence).assign(threshold=panel.threshold)
    return Results(
        pd.concat(parts, ignore_index=True),
        detected.units.assign(source=source),
        corpus.count_texts(texts),
        pd.concat([excluded, unused.assign(file="knowledge")])[["file", "reason", "n"]],
        counted.reset_index().assign(version=version),
        test[["text_id", "biased", "bias_type", "group", "comment_id"]],
        judgements.drop(columns=["raw", "instrument"]),
        detection.count_losses(judgements),
        summary,
        panels.write_prompts(asked, wording=settings.prompt, parts=settings.prompt_parts),
        guarded,
    )


def _fit(chosen: Biasalert, texts: pd.DataFrame, knowledge: pd.DataFrame) -> panels.JudgePanel:
    train, settings = texts[texts["split"] == "train"], choose_settings(chosen)
    replies = chosen.replies_paths
    return panels.fit(chosen.judges, train, knowledge, settings=settings, replies_paths=replies)


def score_answers(chosen: Biasalert) -> pd.DataFrame:
    """Return the answers as people label them in rounds, with the leading judge's scores.

    Returns
    -------
    DataFrame
        `text_id` (a hash), `text`, `cell` (the model), `unit` (the prompt) and `score`.

    Examples
    --------
    >>> list(score_answers(Biasalert(judges=["keywords"])))
    ['text_id', 'text', 'cell', 'unit', 'score']
    """
    texts, _ = corpus.read_texts(chosen.labelled_path, chosen.evaluation_path, seed=chosen.seed)
    knowledge, _ = entries.read_knowledge(chosen.knowledge_path, labelled=texts)
    answers = inputs.read_answers(chosen)
    leading = panels.leading_judge([*chosen.judges, *chosen.replies_paths], chosen.claims)
    judges = [name for name in chosen.judges if name == leading]
    replies = {name: path for name, path in chosen.replies_paths.items() if name == leading}
    alone = chosen.model_copy(update={"judges": judges, "replies_paths": replies})
    judgements, _ = _fit(alone, texts, knowledge).judge(answers, "answers")
    table = levels.join(answers, judgements).rename(columns={"model": "cell"})
    ids, units = table["text_id"].map(tables.hash_text), levels.number_units(table)
    return table.assign(text_id=ids, unit=units)[["text_id", "text", "cell", "unit", "score"]]


def _measure_answers(
    chosen: Biasalert, panel: panels.JudgePanel, answers: pd.DataFrame, judgements: pd.DataFrame
) -> tuple[list[pd.DataFrame], pd.DataFrame]:
    people = inputs.read_labels(answers, chosen)
    source, confidence = corpus.source(chosen.answers_path), chosen.confidence
    options: dict[str, Any] = {"source": source, "confidence": confidence}
    parts = [levels.estimates(answers, judgements, people=people, **options)]
    if people is None or not chosen.guard:
        return parts, pd.DataFrame()
    judge = panels.leading_judge(chosen.judges)
    if chosen.human_path != NONE:  # people's labels, also of simulated answers
        answers = answers.drop(columns="stereotype", errors="ignore")
    labels = people.first_round().labels
    effects, guarded = guard.measure(answers, panel, labels, judge=judge, confidence=confidence)
    return [*parts, effects], guarded
