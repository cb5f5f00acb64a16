"""What a judge must beat: the majority class, a word list, and toxicity."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, partial

import numpy as np
import pandas as pd

from nbbias.biasalert.contracts import LABELLED, TEXTS
from nbbias.biasalert.judges.attribution import Verdicts, judgements
from nbbias.biasalert.judges.registry import Judge, TrainingInput
from nbbias.biasalert.knowledge.groups import any_word, attributes, canonical, mentions
from nbbias.tables import check
from nbbias.text import toxicity


def make_majority(training: TrainingInput) -> tuple[Judge, str]:
    """Return the judge `majority` of a run, and its instrument."""
    return partial(majority, labelled=training.train), "most frequent label of the training texts"


def make_keywords(_: TrainingInput) -> tuple[Judge, str]:
    """Return the judge `keywords` of a run, and its instrument."""
    return keywords, "RedditBias' word lists"


def make_toxicity(training: TrainingInput) -> tuple[Judge, str]:
    """Return the judge `toxicity` of a run, and its instrument."""
    scorer, device = training.settings.toxicity_scorer, training.settings.device
    return partial(toxic, scorer=scorer, device=device), toxicity.instrument(scorer)


def majority(
    texts: pd.DataFrame, evidence: pd.DataFrame | None = None, *, labelled: pd.DataFrame
) -> pd.DataFrame:
    """Judge every text as most of some labelled texts are.

    Parameters
    ----------
    texts, evidence
        TEXTS; evidence is not read.
    labelled
        LABELLED, training texts. Half and half counts as biased.

    Returns
    -------
    DataFrame
        JUDGEMENTS; `confidence` is the share of labelled texts that are biased.

    Examples
    --------
    >>> texts = pd.DataFrame({"text_id": ["a"], "text": ["It rains."]})
    >>> train = pd.DataFrame({"text_id": ["b"], "text": ["So it goes."], "biased": [False]})
    >>> majority(texts, labelled=train)["biased"].tolist()
    [False]
    """
    texts = check(texts, TEXTS, where="texts").reset_index(drop=True)
    share = float(check(labelled, LABELLED, where="labelled texts")["biased"].mean())
    verdicts = Verdicts([share >= 0.5] * len(texts), [share] * len(texts))
    return judgements(texts, verdicts, judge="majority", attributes_named=False)


def keywords(texts: pd.DataFrame, evidence: pd.DataFrame | None = None) -> pd.DataFrame:
    """Judge a text as biased where it names a group and a word that prejudice has for that group.

    The lists are RedditBias' (`knowledge.groups.attributes`), by which its comments were found: on
    them, this judge says yes almost always. It gives no confidence, and reads no evidence.

    Returns
    -------
    DataFrame
        JUDGEMENTS; the explanation names the group and the word.

    Examples
    --------
    >>> texts = pd.DataFrame({"text_id": ["a"], "text": ["Women make good clerks."]})
    >>> keywords(texts)["explanation"].tolist()
    ["Names women and says 'clerks'."]
    """
    texts = check(texts, TEXTS, where="texts").reset_index(drop=True)
    why = [_name_pair(text) if isinstance(text, str) else None for text in texts["text"]]
    verdicts = Verdicts([reason is not None for reason in why], why=why)
    return judgements(texts, verdicts, judge="keywords")


def _name_pair(text: str) -> str | None:
    named = {canonical(mention.group) for mention in mentions(text)}
    for group, words in _patterns().items():
        if (word := words.search(text)) and canonical(group) in named:
            return f"Names {group} and says '{word[0].lower()}'."
    return None


@cache
def _patterns() -> Mapping[str, re.Pattern[str]]:
    return {group: any_word(words) for group, words in attributes().items()}


def toxic(
    texts: pd.DataFrame,
    evidence: pd.DataFrame | None = None,
    *,
    scorer: str = toxicity.AUTO,
    threshold: float = 0.5,
    device: str = "cpu",
) -> pd.DataFrame:
    """Judge a text as biased where it is toxic: Detoxify, or its fallback (`nbbias.text.toxicity`).

    Parameters
    ----------
    texts, evidence
        TEXTS; evidence is not read.
    scorer, device
        As in `text.toxicity.score`.
    threshold
        The least toxicity of a biased text, in [0, 1].

    Returns
    -------
    DataFrame
        JUDGEMENTS; `confidence` is the toxicity, which is no probability of bias.
    """
    texts = check(texts, TEXTS, where="texts").reset_index(drop=True)
    scores = toxicity.score(texts["text"], scorer=scorer, device=device).to_numpy()
    lost = dict.fromkeys(texts.loc[np.isnan(scores), "text_id"], "the model gave no number")
    why = [None if np.isnan(score) else f"Toxicity {score:.2f}." for score in scores]
    verdicts = Verdicts(scores >= threshold, scores, why, lost)
    return judgements(texts, verdicts, judge="toxicity", attributes_named=False)
