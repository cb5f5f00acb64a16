"""What a run of BiasAlert reads, checked before anything starts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import permutations
from typing import Any

import pandas as pd

from nbbias import params, tables
from nbbias.biasalert import checks, corpus, detection, levels, pairs
from nbbias.biasalert.judges import baselines, classifier, recorded
from nbbias.biasalert.judges.registry import JUDGES
from nbbias.biasalert.unseen import UNSEEN
from nbbias.params import NONE
from nbbias.tables import SAMPLE, ContractError, DataError, NbbiasError, ParameterError
from nbbias.text import embeddings, toxicity

#: More labelled texts than these are not parted before a run: that takes longer than seconds.
_LARGE = 20_000


def check(chosen: Any) -> list[str]:
    """Read what judges learn from, know and judge; refuse what a run cannot be made of."""
    problems: list[NbbiasError] = []
    model, scorer = chosen.embedding_model, chosen.toxicity_scorer
    tables.attempt(problems, tables.check_name, "embedding_model", model, embeddings.NAMES)
    if "toxicity" in chosen.judges:
        tables.attempt(problems, toxicity.choose, scorer)
    labelled = _labelled(problems, chosen)
    told = _known(problems, chosen, labelled)
    answers = _answers(problems, told, chosen)
    paired = None
    if chosen.pairs_path != NONE:
        paired = tables.attempt(problems, pairs.read, chosen.pairs_path)
    test = None if labelled is None else labelled[labelled["split"] == "test"]
    _recorded(problems, chosen, [test, answers, paired])
    tables.attempt(problems, _errors_of_judges, chosen)
    if answers is not None or chosen.answers_path == NONE:
        tables.attempt(problems, params.check_claims, chosen, _cells(chosen, answers))
    tables.refuse(problems)
    return told


# --- what is learnt from ----------------------------------------------------------------------


def _labelled(problems: list[NbbiasError], chosen: Any) -> pd.DataFrame | None:
    """Read and part the labelled texts; of very many only their labels are counted."""
    if chosen.labelled_path == SAMPLE:
        return corpus.texts(SAMPLE, seed=chosen.seed)[0]
    read = tables.attempt(problems, corpus.read_texts, chosen.labelled_path, chosen.evaluation_path)
    if read is None:
        return None
    sides, _ = read
    if sum(map(len, sides)) > _LARGE:
        found = pd.concat(
            [side.assign(split=name) for side, name in zip(sides, _SIDES, strict=False)]
        )
    else:
        parted = _parted(problems, sides, chosen, seed=chosen.seed)
        if parted is None:
            return None
        found = parted
    learning = [name for name in (*chosen.judges, *chosen.held_out_types) if JUDGES[name].learns]
    if learning:
        tables.attempt(problems, _learnable, found, chosen)
    return found


def _parted(
    problems: list[NbbiasError], sides: Sequence[pd.DataFrame], chosen: Any, *, seed: int
) -> pd.DataFrame | None:
    how = {"test_share": chosen.test_share, "near": chosen.near, "seed": seed}
    try:
        return corpus.parted(sides, **how)
    except ParameterError as error:  # which knows of no file
        problems.append(ParameterError(chosen.labelled_path, error.breaches))
        return None


_SIDES = ("train", "test")


def _learnable(labelled: pd.DataFrame, chosen: Any) -> None:
    """Refuse too few texts to learn from, with the numbers that there are and that are needed."""
    try:
        classifier.trainable(labelled[labelled["split"] == "train"])
    except ParameterError as error:
        told = error.breaches[0]
        if chosen.evaluation_path == NONE:
            counts = labelled["biased"].value_counts()
            fewest = math.ceil(classifier.FEWEST / (1 - chosen.test_share))
            told += (
                f"; of {counts.get(True, 0)} biased and {counts.get(False, 0)} not biased, a "
                f"test_share of {chosen.test_share:g} is held out: give about {fewest} of either"
            )
        raise ParameterError(chosen.labelled_path, told) from None


def _known(problems: list[NbbiasError], chosen: Any, labelled: pd.DataFrame | None) -> list[str]:
    """Read the knowledge; of the texts themselves only where they are parted."""
    own = chosen.knowledge_path == NONE
    if own and (labelled is None or len(labelled) > _LARGE):
        return []
    texts = labelled if labelled is not None else pd.DataFrame()
    read = tables.attempt(problems, corpus.knowledge, chosen.knowledge_path, labelled=texts)
    if read is None or len(read[0]):
        return []
    return ["the knowledge is empty: no statement is of a known type or group"]


# --- what is judged ---------------------------------------------------------------------------


def _answers(problems: list[NbbiasError], told: list[str], chosen: Any) -> pd.DataFrame | None:
    """Read the answers, and people's labels of them; add what is lost to what is told."""
    if chosen.answers_path == NONE:
        return None
    answers = tables.attempt(
        problems,
        corpus.read_answers,
        chosen.answers_path,
        size=chosen.answers_size,
        seed=chosen.seed,
    )
    people = None
    if chosen.human_path != NONE:
        people = tables.attempt(problems, corpus.labels, chosen.human_path)
    if answers is None:
        return None
    where = chosen.answers_path
    told += tables.check_blank_texts(problems, answers, where=where)
    if answers["text_id"].duplicated().any():
        twice = answers.loc[answers["text_id"].duplicated(), "text_id"].iloc[0]
        fault = f"the text_id {twice!r} stands twice; each answer needs its own"
        problems.append(ContractError(where, fault))
    elif people is not None:
        own = people[people["text_id"].isin(answers["text_id"])] if chosen.answers_size else people
        _, faults = levels.labels_of(answers, levels.People(own, chosen.human_sample))
        if faults:
            problems.append(DataError(chosen.human_path, faults))
    return answers


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
        told = recorded.repeats(replies[key])
        # Prompts are known once evidence was found: too late to say here whose replies they are.
        if key == "text_id" and not replies[key].isin(known).any():
            such = f"such as {replies[key].iloc[0]!r}"
            told.append(f"none of its {len(replies)} replies is to a text of this run ({such})")
        if told:
            problems.append(DataError(path, told))
    nothing = pd.DataFrame({"text_id": ["-"], "text": ["-"]})
    for name, path in chosen.moderation_paths.items():
        tables.attempt(problems, baselines.recorded, nothing, path=path, name=name)


# --- parameters beside the data ---------------------------------------------------------------


def _judges(chosen: Any) -> list[str]:
    return [*chosen.judges, *chosen.replies_paths, *chosen.moderation_paths]


def _errors_of_judges(chosen: Any) -> None:
    told = [
        f"there is no judge {name!r}; {tables.closest_match(name, _judges(chosen))}"
        for name in chosen.judge_errors
        if name not in _judges(chosen)
    ]
    if told:
        raise ParameterError("judge_errors", told)
    own = [name for name in _judges(chosen) if name in (detection.ALWAYS, detection.NEVER)]
    if own:
        told = [f"{name!r} is what judges are compared with: call it otherwise" for name in own]
        raise ParameterError("replies_paths, moderation_paths", told)


def _cells(chosen: Any, answers: pd.DataFrame | None) -> list[pd.DataFrame]:
    """Return what claims can name: judges and how two of them differ, models, domains."""
    names = [*_judges(chosen), detection.ALWAYS, detection.NEVER]
    names += [name + UNSEEN for name in chosen.held_out_types]
    differences = [f"{one} − {other}" for one, other in permutations(dict.fromkeys(names), 2)]
    found = [pd.DataFrame({"judge": [*names, *differences]})]
    models = [] if answers is None else list(answers["model"].unique())
    found.append(pd.DataFrame({"model": pd.Series(models, dtype="str")}))
    if answers is not None and "domain" in answers:
        found.append(pd.DataFrame({"topic": answers["domain"].dropna().unique()}))
    return found
