"""What a run of BiasAlert reads, checked before anything starts."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations
from typing import Any

import pandas as pd

from nbbias import params, tables
from nbbias.biasalert import checks, corpus, detection, levels, pairs
from nbbias.biasalert.judges import baselines, classifier, recorded
from nbbias.biasalert.judges.registry import JUDGES
from nbbias.biasalert.unseen import UNSEEN
from nbbias.params import NONE
from nbbias.tables import SAMPLE, DataError, NbbiasError, ParameterError
from nbbias.text import embeddings, toxicity

#: More labelled texts than these are not split before a run: that takes longer than seconds.
_LARGE = 20_000


def check(chosen: Any) -> list[str]:
    """Read what judges learn from, know and judge; refuse what a run cannot be made of."""
    problems: list[NbbiasError] = []
    attempt = tables.attempt
    attempt(
        problems, tables.check_name, "embedding_model", chosen.embedding_model, embeddings.NAMES
    )
    if "toxicity" in chosen.judges:
        attempt(problems, toxicity.check_name, chosen.toxicity_scorer)
    labelled = attempt(problems, _labelled, chosen)
    notes: list[str] = []
    if labelled is not None or chosen.knowledge_path != NONE:
        texts = pd.DataFrame() if labelled is None else labelled
        read = attempt(problems, corpus.knowledge, chosen.knowledge_path, labelled=texts)
        if read is not None and read[0].empty:
            notes.append("the knowledge is empty: no statement is of a known type or group")
    answers = None
    if chosen.answers_path != NONE:
        how = {"size": chosen.answers_size, "seed": chosen.seed}
        answers = attempt(problems, corpus.read_answers, chosen.answers_path, **how)
    if answers is not None:
        notes += tables.check_blank_texts(problems, answers, where=chosen.answers_path)
        attempt(problems, _labels_fit, chosen, answers)
    paired = attempt(problems, pairs.read, chosen.pairs_path) if chosen.pairs_path != NONE else None
    test = None if labelled is None else labelled[labelled["split"] == "test"]
    _recorded(problems, chosen, [test, answers, paired])
    if answers is not None or chosen.answers_path == NONE:
        attempt(problems, params.check_claims, chosen, _claimable(chosen, answers))
    tables.refuse(problems)
    return notes


def _labelled(chosen: Any) -> pd.DataFrame:
    """Read and split the labelled texts; refuse too few to learn from."""
    how = {"test_share": chosen.test_share, "near": chosen.near, "seed": chosen.seed}
    if chosen.labelled_path == SAMPLE:
        return corpus.texts(SAMPLE, seed=chosen.seed)[0]
    sides, _ = corpus.read_texts(chosen.labelled_path, chosen.evaluation_path)
    if sum(map(len, sides)) > _LARGE:
        return pd.concat(
            [side.assign(split=name) for side, name in zip(sides, ("train", "test"), strict=False)]
        )
    try:
        labelled = corpus.parted(sides, **how)
        if any(JUDGES[name].learns for name in (*chosen.judges, *chosen.held_out_types)):
            classifier.trainable(labelled[labelled["split"] == "train"])
    except ParameterError as error:  # which knows of no file
        raise ParameterError(chosen.labelled_path, error.breaches) from None
    return labelled


def _labels_fit(chosen: Any, answers: pd.DataFrame) -> None:
    """Refuse people's labels that are not of these answers."""
    drawn = {"sampled": chosen.human_sample, "drawn": chosen.answers_size > 0}
    people = corpus.people(answers, chosen.human_path, **drawn, seed=chosen.seed)
    _, faults = levels.labels_of(answers, people, where=chosen.answers_path)
    if faults:
        raise DataError(chosen.human_path, faults)


def _recorded(
    problems: list[NbbiasError], chosen: Any, judged: Iterable[pd.DataFrame | None]
) -> None:
    """Read what judges and tools said, and see that it is of texts of this run."""
    ids = [one.get("text_id", one.get("pair_id")) for one in judged if one is not None]
    known = {str(one) for own in [*ids, checks.checks()["text_id"]] for one in own}
    for name, path in chosen.replies_paths.items():
        read = tables.attempt(problems, recorded.read_replies, path, judge=name)
        if read is None:
            continue
        replies, key, _ = read
        faults = recorded.repeats(replies[key])
        # Prompts are known once evidence was found: too late to say here whose replies they are.
        if key == "text_id" and not replies[key].isin(known).any():
            such = f"such as {replies[key].iloc[0]!r}"
            faults.append(f"none of its {len(replies)} replies is to a text of this run ({such})")
        if faults:
            problems.append(DataError(path, faults))
    nothing = pd.DataFrame({"text_id": ["-"], "text": ["-"]})
    for name, path in chosen.moderation_paths.items():
        tables.attempt(problems, baselines.recorded, nothing, path=path, name=name)


def _claimable(chosen: Any, answers: pd.DataFrame | None) -> list[pd.DataFrame]:
    """Return what claims can name: judges and how two of them differ, models, domains."""
    names = [*chosen.judges, *chosen.replies_paths, *chosen.moderation_paths]
    names += [detection.ALWAYS, detection.NEVER]
    names += [name + UNSEEN for name in chosen.held_out_types]
    differences = [f"{one} − {other}" for one, other in permutations(dict.fromkeys(names), 2)]
    models = [] if answers is None else list(answers["model"].unique())
    claimable = [
        pd.DataFrame({"judge": [*names, *differences]}),
        pd.DataFrame({"model": pd.Series(models, dtype="str")}),
    ]
    if answers is not None and "domain" in answers:
        claimable.append(pd.DataFrame({"topic": answers["domain"].dropna().unique()}))
    return claimable
