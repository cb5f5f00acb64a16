"""The judges that a run may ask, a line each.

A judge is made by a function of a file of this folder, from `TrainingInput`: a function from TEXTS
and EVIDENCE to JUDGEMENTS, and the name of its instrument. The line in `_OWN` says what the rest
of the study needs to know of it; the parameter's allowed values and its help come from here.
Nothing is imported until a judge is made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import Any, NamedTuple, TypeAlias

import pandas as pd
from pydantic import BaseModel

from nbbias.params import NONE
from nbbias.tables import SAMPLE, Registry

#: Texts and their evidence in, JUDGEMENTS out.
Judge: TypeAlias = "Callable[[pd.DataFrame, pd.DataFrame | None], pd.DataFrame]"


class Settings(NamedTuple):
    """How judges are made and evidence is found; as the study's parameters of these names.

    `drop_same` is True where the knowledge was made from the texts (`retrieval.retrieve`);
    `simulated` where the labelled texts are the sample's.
    """

    embedding_model: str = "auto"
    toxicity_scorer: str = "auto"
    drop_same: bool = True
    device: str = "cpu"
    seed: int = 0
    prompt: str = "ours"
    prompt_parts: Sequence[str] = ("retrieval", "steps", "demonstrations")
    simulated: bool = False


def choose_settings(parameters: BaseModel) -> Settings:
    """Return the settings that the study's parameters name."""
    values = parameters.model_dump()
    fields = {name: values[name] for name in Settings._fields if name in values}
    made = {"drop_same": values["knowledge_path"] == NONE}
    return Settings(**fields, **made, simulated=values["labelled_path"] == SAMPLE)


#: No texts to learn from beside the labelled ones.
NOTHING = pd.DataFrame({"text": [], "biased": [], "weight": []}).astype(
    {"text": "str", "biased": bool, "weight": float}
)


@dataclass(frozen=True)
class TrainingInput:
    """What the judges of a run are made from.

    Attributes
    ----------
    train : DataFrame
        LABELLED to learn from.
    further : DataFrame
        More texts to learn from: `text`, `biased` and `weight`, where a labelled text weighs 1, as
        of `counterfactuals`. No judge is calibrated on them.
    retrieve : callable
        TEXTS in, EVIDENCE out.
    knowledge : str
        The version of the knowledge that the evidence comes from.
    shared : dict
        What one judge fitted and another of the run has in common with it.
    """

    train: pd.DataFrame
    settings: Settings
    further: pd.DataFrame = field(default_factory=NOTHING.copy)
    retrieve: Callable[[pd.DataFrame], pd.DataFrame] | None = None
    knowledge: str = ""
    shared: dict[str, Any] = field(default_factory=dict)


class Entry(NamedTuple):
    """A registered judge: how it is built, and what it needs.

    Attributes
    ----------
    made_by : str
        ``"module:function"`` of this folder, or of a package of its own by its full name;
        `TrainingInput` in, `Judge` and its instrument out.
    help : str
        What it does, in a few words.
    learns : bool
        Whether it is fitted on the texts' words; the last one that is leads the page, unless
        a claim about an accuracy names another.
    reads_evidence : bool
        Whether its verdict depends on the evidence.
    score : str, optional
        What its `confidence` is, where it is no probability that a text is biased.
    """

    made_by: str
    help: str
    learns: bool = False
    reads_evidence: bool = False
    score: str | None = None


_OWN = {
    "majority": Entry("baselines:make_majority", "the majority class of training texts"),
    "keywords": Entry("baselines:make_keywords", "a group and a word that prejudice has for it"),
    "toxicity": Entry(
        "baselines:make_toxicity",
        "Detoxify or its fallback",
        score="its score is toxicity, no probability of bias",
    ),
    "bag_of_words": Entry(
        "baselines:make_bag_of_words", "logistic regression on words", learns=True
    ),
    "classifier": Entry(
        "classifier:make_with_evidence",
        "words, vectors and the evidence, in seconds",
        learns=True,
        reads_evidence=True,
    ),
    "classifier_alone": Entry(
        "classifier:make_alone", "classifier without the evidence", learns=True
    ),
}

#: Every judge by name: ours, and those of plugins.
JUDGES = Registry("nbbias.judges", _OWN, Entry)


def make(name: str, training: TrainingInput) -> tuple[Judge, str]:
    """Make a judge; return it with the name of its instrument.

    Examples
    --------
    >>> judge, instrument = make("keywords", TrainingInput(pd.DataFrame(), Settings()))
    >>> instrument
    "RedditBias' word lists"
    >>> [name for name in _OWN if JUDGES[name].learns]
    ['bag_of_words', 'classifier', 'classifier_alone']
    """
    module, function = JUDGES[name].made_by.split(":")
    home = f"{__package__}.{module}" if name in _OWN else module
    made: tuple[Judge, str] = resolve_name(f"{home}:{function}")(training)
    return made
