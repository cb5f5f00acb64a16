"""The judges of a run, fitted and side by side, and what is asked of those that are models.

After Fan et al. (2024), *BiasAlert: A Plug-and-play Tool for Social Bias Detection in LLMs*,
EMNLP: what prejudice says is looked up for every text, and a judge decides with it whether the
text is biased, how, and against whom. The paper's judge is a fine-tuned language model of seven
billion parameters; here any judge stands behind one protocol, and the offline ones need no GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd

from nbbias.biasalert.judges import prompt, recorded
from nbbias.biasalert.judges.registry import JUDGES, NOTHING, Judge, Settings, TrainingInput, make
from nbbias.biasalert.knowledge import counterfactuals, entries, retrieval
from nbbias.tables import progress


@dataclass(frozen=True)
class JudgePanel:
    """The judges of a run, by name, and how evidence is found for them."""

    judges: Mapping[str, Judge]
    instruments: Mapping[str, str]
    retrieve: Callable[[pd.DataFrame], pd.DataFrame]
    threshold: float

    def judge(
        self, table: pd.DataFrame, what: str, *, keep_all: bool = False
    ) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Let every judge judge TEXTS; return JUDGEMENTS of all judges, and the EVIDENCE.

        Each row has the judge's `instrument` too. A judge whose replies were recorded for other
        texts only is left out, unless `keep_all`, with what it failed at.
        """
        asked = table[["text_id", "text"]].reset_index(drop=True)
        evidence = self.retrieve(asked)
        parts = [
            self.judges[name](asked, evidence).assign(instrument=self.instruments[name])
            for name in progress(list(self.judges), what)
        ]
        answered = [part for part in parts if keep_all or not (part["outcome"] == "failed").all()]
        return pd.concat(answered or parts, ignore_index=True), evidence


def leading_judge(names: Iterable[str], claims: Iterable[Mapping[str, Any]] = ()) -> str:
    """Return the judge of the first claim about accuracy over all texts; else the last fitted one.

    A recorded judge counts as fitted; without either, it is the last of all. So it is where the
    claim names no judge.

    Examples
    --------
    >>> leading_judge(["classifier", "keywords"])
    'classifier'
    >>> claims = [{"statistic": "accuracy", "judge": "keywords"}]
    >>> leading_judge(["classifier", "keywords"], claims)
    'keywords'
    >>> leading_judge(["classifier", "keywords"], [{"statistic": "accuracy"}])
    'classifier'
    """
    listed = list(names)
    of_all = (claim for claim in claims if claim["statistic"] == "accuracy" and "bias" not in claim)
    judges = (claim.get("judge") for claim in of_all)
    declared = next((judge for judge in judges if judge is None or judge in listed), None)
    able = [name for name in listed if name not in JUDGES or JUDGES[name].learns]
    return declared or (able or listed)[-1]


def fit(
    names: Iterable[str],
    train: pd.DataFrame,
    knowledge: pd.DataFrame,
    *,
    settings: Settings,
    replies_paths: Mapping[str, str] | None = None,
) -> JudgePanel:
    """Fit the judges of a run on the training texts.

    Parameters
    ----------
    names
        Some of `JUDGES`.
    train, knowledge
        LABELLED to learn from; KNOWLEDGE.
    settings
        How judges are made and evidence is found.
    replies_paths
        Judge → file of recorded replies.
    """
    model, seed = settings.embedding_model, settings.seed
    base = retrieval.prepare(knowledge, model=model, seed=seed, device=settings.device)
    retrieve = partial(retrieval.retrieve, base=base, drop_same=settings.drop_same)
    version, further = entries.version(knowledge), NOTHING
    if any(JUDGES[name].learns for name in names):
        further = counterfactuals.training_texts(simulated=settings.simulated)[list(NOTHING)]
    train = train.reset_index(drop=True)
    training = TrainingInput(train, settings, further, retrieve, version)
    in_turn = progress(list(names), "judges")
    made: dict[str, tuple[Judge, str]] = {name: make(name, training) for name in in_turn}
    for name, path in (replies_paths or {}).items():
        form: dict[str, Any] = {"wording": settings.prompt, "parts": settings.prompt_parts}
        # One file holds the replies to all sets of a run: tests, checks, pairs, answers.
        replies = partial(recorded.read_judgements, path, judge=name, knowledge=version, **form)
        made[name] = replies, name_instrument(settings, version)
    judges = {name: judge for name, (judge, _) in made.items()}
    instruments = {name: instrument for name, (_, instrument) in made.items()}
    return JudgePanel(judges, instruments, retrieve, base.threshold)


def name_instrument(settings: Settings, version: str) -> str:
    """Name the instrument of recorded replies: the wording and parts asked, and the knowledge.

    Examples
    --------
    >>> name_instrument(Settings(prompt="fan2024"), "64ed")
    'recorded replies, prompt fan2024, knowledge 64ed'
    """
    missing = [name for name in prompt.PARTS if name not in settings.prompt_parts]
    without = f" without {', '.join(missing)}" if missing else ""
    return f"recorded replies, prompt {settings.prompt}{without}, knowledge {version}"


def write_prompts(
    asked: Mapping[str, tuple[pd.DataFrame, pd.DataFrame | None]],
    *,
    wording: str = prompt.OURS,
    parts: Sequence[str] = prompt.PARTS,
) -> pd.DataFrame:
    """Return what a language model would be asked, for `nbbias generate`.

    Parameters
    ----------
    asked
        Set → TEXTS and their EVIDENCE.
    wording, parts
        The wording of the prompt (`prompt.WORDINGS`), and which of `prompt.PARTS` it has.

    Returns
    -------
    DataFrame
        `prompt_id`, `prompt` (each once), and `set`, the first set that holds it.

    Examples
    --------
    A text that stands in two sets is asked about once, a blank one never:

    >>> test = pd.DataFrame({"text_id": ["a", "b"], "text": ["Women cannot drive.", " "]})
    >>> more = pd.DataFrame({"text_id": ["c", "d"], "text": ["Women cannot drive.", "It rains."]})
    >>> write_prompts({"test": (test, None), "checks": (more, None)})["set"].tolist()
    ['test', 'checks']
    """
    sets = [
        prompt.prompts(texts, evidence, wording=wording, parts=parts).assign(set=name)
        for name, (texts, evidence) in asked.items()
    ]
    distinct = pd.concat(sets).drop_duplicates("prompt_id")
    return distinct[["prompt_id", "set", "prompt"]].reset_index(drop=True)
