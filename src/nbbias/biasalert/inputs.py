"""What a run of BiasAlert reads, checked before anything starts."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations
from typing import Any

import pandas as pd

from nbbias import params, tables
from nbbias.biasalert import checks, corpus, detection, pairs
from nbbias.biasalert.judges import baselines, classifier, recorded
from nbbias.biasalert.judges.registry import JUDGES
from nbbias.biasalert.knowledge.entries import read_knowledge
from nbbias.params import NONE
from nbbias.tables import SAMPLE, DataError, NbbiasError, ParameterError, attempt
from nbbias.text import embeddings, toxicity

#: More labelled texts than these are not split before a run: that takes longer than seconds.
_LARGE = 20_000


def check(chosen: Any) -> list[str]:
    """Read what judges learn from, know and judge; refuse what a run cannot be made of."""
    problems: list[NbbiasError] = []
    model = chosen.embedding_model
    attempt(problems, tables.check_name, "embedding_model", model, embeddings.NAMES)
    if "toxicity" in chosen.judges:
        attempt(problems, toxicity.check_name, chosen.toxicity_scorer)
    labelled = attempt(problems, _read_labelled, chosen)
    notes: list[str] = []
    if labelled is not None or chosen.knowledge_path != NONE:
        texts = pd.DataFrame() if labelled is None else labelled
        read = attempt(problems, read_knowledge, chosen.knowledge_path, labelled=texts)
        if read is not None and read[0].empty:
            notes.append("the knowledge is empty: no statement is of a known type or group")
    answers, paired = None, None
    if chosen.answers_path != NONE:
        options = {"size": chosen.answers_size, "seed": chosen.seed}
        answers = attempt(problems, corpus.read_answers, chosen.answers_path, **options)
    if answers is not None:
        notes += tables.check_blank_texts(problems, answers, where=chosen.answers_path)
        drawn = {"sampled": chosen.human_sample, "drawn": chosen.answers_size > 0}
        people = {"human_path": chosen.human_path, "seed": chosen.seed, **drawn}
        attempt(problems, corpus.read_labels, answers, **people)
    if chosen.pairs_path != NONE:
        paired = attempt(problems, pairs.read_pairs, chosen.pairs_path)
    test = None if labelled is None else labelled[labelled["split"] == "test"]
    _check_recorded(problems, chosen, [test, answers, paired])
    if answers is not None or chosen.answers_path == NONE:
        attempt(problems, params.check_claims, chosen, _claimable(chosen, answers))
    tables.refuse(problems)
    return notes


def _read_labelled(chosen: Any) -> pd.DataFrame:
    """Read and split the labelled texts; refuse too few to learn from."""
    if chosen.labelled_path == SAMPLE:
        return corpus.read_texts(SAMPLE, seed=chosen.seed)[0]
    sides, _ = corpus.read_files(chosen.labelled_path, chosen.evaluation_path)
    if sum(map(len, sides)) > _LARGE:
        named = zip(sides, ("train", "test"), strict=False)
        return pd.concat([side.assign(split=name) for side, name in named])
    try:
        labelled = corpus.split_files(sides, test_share=chosen.test_share, seed=chosen.seed)
        if any(JUDGES[name].learns for name in chosen.judges):
            classifier.require_trainable(labelled[labelled["split"] == "train"])
    except ParameterError as error:  # which knows of no file
        raise ParameterError(chosen.labelled_path, error.breaches) from None
    return labelled


def _check_recorded(
    problems: list[NbbiasError], chosen: Any, judged: Iterable[pd.DataFrame | None]
) -> None:
    """Read what judges and tools said, and see that it is of texts of this run."""
    read = [table for table in judged if table is not None]
    ids = [table.get("text_id", table.get("pair_id")) for table in read]
    known = set(pd.concat([*ids, checks.read_checks()["text_id"]]).astype(str))
    for name, path in chosen.replies_paths.items():
        result = attempt(problems, recorded.read_replies, path, judge=name)
        if result is None:
            continue
        replies, key, _ = result
        breaches = recorded.find_repeats(replies[key])
        # Prompts are known once evidence was found: too late to say here whose replies they are.
        if key == "text_id" and not replies[key].isin(known).any():
            such = f"such as {replies[key].iloc[0]!r}"
            breaches.append(f"none of its {len(replies)} replies is to a text of this run ({such})")
        if breaches:
            problems.append(DataError(path, breaches))
    nothing = pd.DataFrame({"text_id": ["-"], "text": ["-"]})
    for name, path in chosen.moderation_paths.items():
        attempt(problems, baselines.recorded, nothing, path=path, name=name)


def _claimable(chosen: Any, answers: pd.DataFrame | None) -> list[pd.DataFrame]:
    """Return what claims can name: judges, how two of them differ, and models."""
    names = [*chosen.judges, *chosen.replies_paths, *chosen.moderation_paths]
    names += [detection.ALWAYS, detection.NEVER]
    differences = [f"{first} − {second}" for first, second in permutations(names, 2)]
    models = [] if answers is None else list(answers["model"].unique())
    return [
        pd.DataFrame({"judge": [*names, *differences]}),
        pd.DataFrame({"model": pd.Series(models, dtype="str")}),
    ]
