"""What a run of BiasAlert reads, checked before anything starts."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pandas as pd

from nbbias import params, tables
from nbbias.biasalert import checks, corpus, pairs
from nbbias.biasalert.judges import classifier, recorded
from nbbias.biasalert.judges.registry import JUDGES
from nbbias.biasalert.knowledge.entries import read_knowledge
from nbbias.biasalert.levels import HumanLabels
from nbbias.tables import DataError, NbbiasError, ParameterError, attempt
from nbbias.text import embeddings, toxicity


def check(chosen: Any) -> list[str]:
    """Read what judges learn from, know and judge; refuse what a run cannot be made of.

    Examples
    --------
    >>> from nbbias import biasalert
    >>> biasalert.check(biasalert.params.Biasalert())
    []
    """
    problems: list[NbbiasError] = []
    notes: list[str] = []
    model = chosen.embedding_model
    attempt(problems, tables.check_name, "embedding_model", model, embeddings.NAMES)
    if "toxicity" in chosen.judges:
        attempt(problems, toxicity.choose, chosen.toxicity_scorer)
    labelled = attempt(problems, _read_labelled, chosen)
    if labelled is not None or chosen.knowledge_path != params.NONE:
        read = attempt(problems, read_knowledge, chosen.knowledge_path, labelled=labelled)
        if read is not None and read[0].empty:
            notes.append("the knowledge is empty: no statement is of a known type or group")
    answers, paired = None, None
    if chosen.answers_path != params.NONE:
        answers = attempt(problems, read_answers, chosen)
    if answers is not None:
        notes += tables.check_blank_texts(problems, answers, where=chosen.answers_path)
        attempt(problems, read_labels, answers, chosen)
    if chosen.pairs_path != params.NONE:
        paired = attempt(problems, pairs.read_pairs, chosen.pairs_path)
    judged = [checks.read_checks(), labelled, answers, paired]
    text_ids = pd.concat([table["text_id"] for table in judged if table is not None]).astype(str)
    for name, path in chosen.replies_paths.items():
        attempt(problems, _check_replies, path, name, text_ids)
    if answers is not None or chosen.answers_path == params.NONE:
        attempt(problems, params.check_claims, chosen, _claimable(chosen, answers))
    tables.refuse(problems)
    return notes


def _read_labelled(chosen: Any) -> pd.DataFrame:
    """Read and split the labelled texts; refuse too few to learn from."""
    try:
        paths = chosen.labelled_path, chosen.evaluation_path
        labelled, _ = corpus.read_texts(*paths, seed=chosen.seed)
        if any(JUDGES[name].learns for name in chosen.judges):
            classifier.require_trainable(labelled[labelled["split"] == "train"])
    except ParameterError as error:  # which knows of no file
        raise ParameterError(chosen.labelled_path, error.breaches) from None
    return labelled


def read_answers(chosen: Any) -> pd.DataFrame:
    """Read the answers whose bias level parameters ask for (`corpus.read_answers`)."""
    return corpus.read_answers(chosen.answers_path, size=chosen.answers_size, seed=chosen.seed)


def read_labels(answers: pd.DataFrame, chosen: Any) -> HumanLabels | None:
    """Read people's labels of answers, if there are any (`corpus.read_labels`)."""
    drawn = {"sampled": chosen.human_sample, "drawn": chosen.answers_size > 0}
    return corpus.read_labels(answers, chosen.human_path, seed=chosen.seed, **drawn)


def _check_replies(path: str, name: str, text_ids: pd.Series) -> None:
    """Read what a judge said, and see that it is of texts of this run."""
    replies, key, _ = recorded.read_replies(path, judge=name)
    # Prompts are known once evidence was found: too late to say here whose replies they are.
    if key == "text_id" and not replies[key].isin(text_ids).any():
        problem = f"none of its {len(replies)} replies is to a text of this run"
        raise DataError(path, f"{problem} (such as {replies[key].iloc[0]!r})")


def _claimable(chosen: Any, answers: pd.DataFrame | None) -> list[pd.DataFrame]:
    """Return what claims can name: judges and how two of them differ, and models."""
    names = [*chosen.judges, *chosen.replies_paths]
    differences = [f"{first} − {second}" for first, second in permutations(names, 2)]
    models = pd.DataFrame(columns=["model"]) if answers is None else answers[["model"]]
    return [pd.DataFrame({"judge": [*names, *differences]}), models]
