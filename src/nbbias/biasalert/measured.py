"""The study without a notebook: texts in, tables out, by the functions that its cells call."""

from __future__ import annotations

from typing import Any

import pandas as pd

from nbbias import params, tables
from nbbias.biasalert import (
    ablation,
    audit,
    calibration,
    checks,
    corpus,
    detection,
    guard,
    levels,
    pairs,
    repeated,
    swaps,
    unseen,
)
from nbbias.biasalert.judges import bench, registry
from nbbias.biasalert.judges.bench import Bench
from nbbias.biasalert.params import Biasalert
from nbbias.params import Input
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
    >>> found = biasalert.measure(judges=["keywords"], held_out_types=[], repeated_judges=[],
    ...                           answers="none", draws=100, claims=[])
    >>> found.scores["judge"].unique().tolist()
    ['keywords']
    """
    inputs = {"labelled_path": labelled, "answers_path": answers}
    with params.given(Biasalert, parameters, **inputs) as chosen:
        return _measured(chosen)


def _measured(chosen: Biasalert) -> Measured:
    inference = InferenceSettings(chosen.confidence, chosen.draws, chosen.seed)
    paths = chosen.labelled_path, chosen.evaluation_path
    how: dict[str, Any] = {"test_share": chosen.test_share, "near": chosen.near}
    texts, _ = corpus.texts(*paths, **how, seed=chosen.seed)
    test = texts[texts["split"] == "test"].reset_index(drop=True)
    known, _ = corpus.knowledge(chosen.knowledge_path, labelled=texts)
    settings = registry.settings(chosen)
    judges = bench.fit(
        chosen.judges,
        texts,
        known,
        settings=settings,
        replies_paths=chosen.replies_paths,
        moderation_paths=chosen.moderation_paths,
    )
    said, evidence = judges.judge(test, "test texts", every=True)
    of: dict[str, Any] = {"source": corpus.source(*paths), "inference": inference}
    blind = detection.constants(test)
    found = [
        detection.estimates(pd.concat([said, blind]), test, **of),
        detection.differences(said, test, **of),
    ]
    left_out = chosen.left_out()
    if "part:repeated" not in left_out:
        runs = repeated.runs(
            chosen.repeated_judges,
            times=chosen.training_runs,
            settings=settings,
            knowledge_path=chosen.knowledge_path,
            labelled_path=chosen.labelled_path,
            evaluation_path=chosen.evaluation_path,
            **how,
        )
        found.append(repeated.estimates(runs, source=of["source"]))
    if "part:ablation" not in left_out:
        parts = ablation.judge(
            said, test, evidence, replies_paths=chosen.replies_paths, worded=chosen.prompt
        )
        found.append(ablation.estimates(parts, test, **of))
    found.append(detection.by_type(said, test, **of))
    if "part:unseen" not in left_out:
        others = unseen.judge(chosen.held_out_types, texts, settings=settings)
        found.append(unseen.estimates(said, others, test, **of))
    probable = judges.no_probabilities
    found.append(calibration.estimates(said, test, no_probabilities=probable, **of))
    if "part:pairs" not in left_out:
        found.append(_pairs(chosen.pairs_path, judges, inference))
    found.append(checks.estimates(judges.judge(checks.checks(), "checks")[0], inference=inference))
    found.append(swaps.estimates(judges, confidence=chosen.confidence))
    if "part:answers" not in left_out:
        found += _answers(chosen, judges, inference)
    estimates = pd.concat(found, ignore_index=True)
    scores = said.drop(columns=["raw", "instrument"])
    nothing = tables.chance([], study=detection.STUDY)
    return Measured(estimates, nothing, scores, detection.losses(said))


def _pairs(path: str, judges: Bench, inference: InferenceSettings) -> pd.DataFrame:
    read = pairs.read(path)
    more, less = (
        judges.judge(pairs.texts(read, side=side), side)[0] for side in ("sent_more", "sent_less")
    )
    return pairs.estimates(pairs.compared(more, less, read), inference=inference)


def _answers(chosen: Biasalert, judges: Bench, inference: InferenceSettings) -> list[pd.DataFrame]:
    size = chosen.answers_size
    read = corpus.read_answers(chosen.answers_path, size=size, seed=chosen.seed)
    said, _ = judges.judge(read, "answers")
    people = corpus.people(
        read, chosen.human_path, sampled=chosen.human_sample, drawn=size > 0, seed=chosen.seed
    )
    of: dict[str, Any] = {"source": corpus.source(chosen.answers_path), "people": people}
    found = [
        levels.estimates(
            read,
            said,
            by="domain",
            errors=chosen.judge_errors,
            confidence=inference.confidence,
            **of,
        ),
        levels.agreement(read, said, inference=inference, **of),
        audit.estimates(
            read,
            said,
            swaps=audit.swap_effects(read, judges),
            source=of["source"],
            confidence=inference.confidence,
        ),
    ]
    if chosen.answers_path == SAMPLE:
        found.append(guard.planted(read, judges, inference=inference)[1])
    return found
