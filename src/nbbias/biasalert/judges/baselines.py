"""Baseline judges: the majority class, a word list, toxicity, and a bag of words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, partial
from importlib.metadata import version

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline

from nbbias.biasalert.contracts import LABELLED, TEXTS
from nbbias.biasalert.judges.attribution import Verdicts, judgements
from nbbias.biasalert.judges.classifier import require_trainable
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


def make_bag_of_words(training: TrainingInput) -> tuple[Judge, str]:
    """Return the judge `bag_of_words` of a run, and its instrument."""
    train = require_trainable(training.train)
    model = make_pipeline(CountVectorizer(), LogisticRegression(max_iter=1000))
    model.fit(train["text"], train["biased"])
    return partial(bag_of_words, model=model), f"scikit-learn {version('scikit-learn')} on words"


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


def bag_of_words(
    texts: pd.DataFrame, evidence: pd.DataFrame | None = None, *, model: Pipeline
) -> pd.DataFrame:
    """Judge texts by a logistic regression on their words, fitted to the labelled texts alone.

    Parameters
    ----------
    texts, evidence
        TEXTS; evidence is not read.
    model
        A fitted classifier of scikit-learn, from texts to labels.

    Returns
    -------
    DataFrame
        JUDGEMENTS; `confidence` is the probability of ``biased``, which is true from .5.
    """
    texts = check(texts, TEXTS, where="texts").reset_index(drop=True)
    words = texts["text"].fillna("")
    chances = model.predict_proba(words)[:, 1] if len(texts) else np.empty(0)
    verdicts = Verdicts(chances >= 0.5, chances)
    return judgements(texts, verdicts, judge="bag_of_words", attributes_named=False)


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
    device: str = "cpu",
) -> pd.DataFrame:
    """Judge a text as biased where its toxicity is .5 or more (`nbbias.text.toxicity`).

    Parameters
    ----------
    texts, evidence
        TEXTS; evidence is not read.
    scorer, device
        As in `text.toxicity.score`.

    Returns
    -------
    DataFrame
        JUDGEMENTS; `confidence` is the toxicity, which is no probability of bias.
    """
    texts = check(texts, TEXTS, where="texts").reset_index(drop=True)
    scores = toxicity.score(texts["text"], scorer=scorer, device=device).to_numpy()
    lost = dict.fromkeys(texts.loc[np.isnan(scores), "text_id"], "the model gave no number")
    why = [None if np.isnan(score) else f"Toxicity {score:.2f}." for score in scores]
    verdicts = Verdicts(scores >= 0.5, scores, why, lost)
    return judgements(texts, verdicts, judge="toxicity", attributes_named=False)
