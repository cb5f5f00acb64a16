"""The study without a notebook: texts in, tables out, by the functions that its cells call."""

from __future__ import annotations

from typing import Any

import pandas as pd

from nbbias import params, tables
from nbbias.biasalert import (
    audit,
    calibration,
    checks,
    corpus,
    detection,
    guard,
    levels,
    pairs,
    swaps,
    unseen,
)
from nbbias.biasalert.judges import panel as panels, registry
from nbbias.biasalert.judges.panel import JudgePanel
from nbbias.biasalert.params import Biasalert
from nbbias.params import NONE, Input
from nbbias.stats import InferenceSettings
from nbbias.tables import SAMPLE, Measured


def measure(labelled: Input = None, answers: Input = None, **parameters: Any) -> Measured:
    """Measure how good judges are, and the bias level of answers: a run without a notebook.

    Parameters
    ----------
    labelled, answers
        Tables, or files, in place of the parameters `labelled_path` and `answers_path`.
    **parameters
        As a params file of the study sets them (`nbbias params biasalert`).

    Returns
    -------
    Measured
        `estimates` (equal to a run's); as `scores` the judgements of the test texts; `losses` of
        judging; there is no CHANCE.

    Raises
    ------
    NbbiasError
        Parameters or tables are not as they must be; all that is wrong with either.

    Examples
    --------
    >>> from nbbias import biasalert
    >>> measured = biasalert.measure(judges=["keywords"], held_out_types=[], answers="none",
    ...                              draws=100, claims=[])
    >>> measured.scores["judge"].unique().tolist()
    ['keywords']
    """
    inputs = {"labelled_path": labelled, "answers_path": answers}
    with params.validate_inputs(Biasalert, parameters, **inputs) as chosen:
        return _measured(chosen)


def _measured(chosen: Biasalert) -> Measured:
    inference = InferenceSettings(chosen.confidence, chosen.draws, chosen.seed)
    paths = chosen.labelled_path, chosen.evaluation_path
    texts, _ = corpus.texts(
        *paths, test_share=chosen.test_share, near=chosen.near, seed=chosen.seed
    )
    test = texts[texts["split"] == "test"].reset_index(drop=True)
    known, _ = corpus.knowledge(chosen.knowledge_path, labelled=texts)
    settings = registry.settings(chosen)
    panel = panels.fit(
        chosen.judges,
        texts,
        known,
        settings=settings,
        replies_paths=chosen.replies_paths,
        moderation_paths=chosen.moderation_paths,
    )
    judgements, _ = panel.judge(test, "test texts", every=True)
    how: dict[str, Any] = {"source": corpus.source(*paths), "inference": inference}
    parts = [
        detection.estimates(pd.concat([judgements, detection.constants(test)]), test, **how),
        detection.differences(judgements, test, **how),
        detection.by_type(judgements, test, **how),
    ]
    if chosen.held_out_types:
        held_out = unseen.judge(chosen.held_out_types, texts, settings=settings)
        parts.append(unseen.estimates(judgements, held_out, test, **how))
    others = panel.no_probabilities
    parts += [
        calibration.estimates(judgements, test, no_probabilities=others, **how),
        *(_pairs(chosen.pairs_path, panel, inference) if chosen.pairs_path != NONE else []),
        checks.estimates(panel.judge(checks.checks(), "checks")[0], inference=inference),
        swaps.estimates(panel, confidence=chosen.confidence),
        *(_answers(chosen, panel, inference) if chosen.answers_path != NONE else []),
    ]
    nothing = tables.chance([], study=detection.STUDY)
    scores = judgements.drop(columns=["raw", "instrument"])
    estimates = pd.concat(parts, ignore_index=True)
    return Measured(estimates, nothing, scores, detection.losses(judgements))


def _pairs(path: str, panel: JudgePanel, inference: InferenceSettings) -> list[pd.DataFrame]:
    read = pairs.read(path)
    more, less = (
        panel.judge(pairs.texts(read, side=side), side)[0] for side in ("sent_more", "sent_less")
    )
    return [pairs.estimates(pairs.compared(more, less, read), inference=inference)]


def _answers(
    chosen: Biasalert, panel: JudgePanel, inference: InferenceSettings
) -> list[pd.DataFrame]:
    size, confidence = chosen.answers_size, inference.confidence
    answers = corpus.read_answers(chosen.answers_path, size=size, seed=chosen.seed)
    verdicts, _ = panel.judge(answers, "answers")
    people = corpus.people(
        answers, chosen.human_path, sampled=chosen.human_sample, drawn=size > 0, seed=chosen.seed
    )
    source = corpus.source(chosen.answers_path)
    how: dict[str, Any] = {"source": source, "people": people}
    swapped = audit.swap_effects(answers, panel)
    parts = [
        levels.estimates(answers, verdicts, by="domain", confidence=confidence, **how),
        levels.agreement(answers, verdicts, inference=inference, **how),
        audit.estimates(answers, verdicts, swaps=swapped, source=source, confidence=confidence),
    ]
    if chosen.answers_path == SAMPLE:
        parts.append(guard.simulated(answers, panel, inference=inference))
    return parts
