"""Baseline judges: the majority class, a word list, toxicity, and a bag of words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from importlib.metadata import version

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from nbbias.biasalert.judges.attribution import Verdicts, judgements
from nbbias.biasalert.judges.classifier import require_trainable
from nbbias.biasalert.judges.registry import Judge, TrainingInput
from nbbias.biasalert.knowledge.groups import any_word, attributes, canonical, mentions
from nbbias.text import toxicity


def make_majority(training: TrainingInput) -> tuple[Judge, str]:
    """Return the judge `majority` of a run, and its instrument.

    It judges every text as most training texts are; half and half counts as biased. `confidence`
    is the share of training texts that are biased.
    """
    share = float(training.train["biased"].mean())
    return (
        _by_score("majority", lambda texts: np.full(len(texts), share)),
        "most frequent label of the training texts",
    )


def make_keywords(_: TrainingInput) -> tuple[Judge, str]:
    """Return the judge `keywords` of a run, and its instrument."""
    return keywords, "RedditBias' word lists"


def make_toxicity(training: TrainingInput) -> tuple[Judge, str]:
    """Return the judge `toxicity` of a run, and its instrument.

    A text is biased where its toxicity is .5 or more (`nbbias.text.toxicity`). `confidence` is the
    toxicity, which is no probability of bias.
    """
    scorer, device = training.settings.toxicity_scorer, training.settings.device
    score = partial(toxicity.score, scorer=scorer, device=device)
    return _by_score("toxicity", score, explained="Toxicity"), toxicity.instrument(scorer)


def make_bag_of_words(training: TrainingInput) -> tuple[Judge, str]:
    """Return the judge `bag_of_words` of a run, and its instrument.

    A logistic regression on words, fitted to the labelled texts alone; `confidence` is the
    probability of ``biased``.
    """
    train = require_trainable(training.train)
    model = make_pipeline(CountVectorizer(), LogisticRegression(max_iter=1000))
    model.fit(train["text"], train["biased"])

    def score(texts: pd.Series) -> np.ndarray:
        return model.predict_proba(texts.fillna(""))[:, 1] if len(texts) else np.empty(0)

    return _by_score("bag_of_words", score), f"scikit-learn {version('scikit-learn')} on words"


def _by_score(
    name: str, score: Callable[[pd.Series], Iterable[float]], *, explained: str = ""
) -> Judge:
    """Return a judge that calls a text biased where its score is .5 or more."""

    def judge(texts: pd.DataFrame, evidence: pd.DataFrame | None = None) -> pd.DataFrame:
        scores = np.asarray(score(texts["text"]), dtype=float)
        lost = dict.fromkeys(texts.loc[np.isnan(scores), "text_id"], "the model gave no number")
        why = [f"{explained} {score:.2f}." for score in scores] if explained else None
        verdicts = Verdicts(scores >= 0.5, scores, why, lost)
        return judgements(texts, verdicts, judge=name, attributes_named=False)

    return judge


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
    why = [_name_pair(text) if isinstance(text, str) else None for text in texts["text"]]
    verdicts = Verdicts([reason is not None for reason in why], why=why)
    return judgements(texts, verdicts, judge="keywords")


def _name_pair(text: str) -> str | None:
    groups = {canonical(mention.group) for mention in mentions(text)}
    for group, words in _patterns().items():
        if (word := words.search(text)) and canonical(group) in groups:
            return f"Names {group} and says '{word[0].lower()}'."
    return None


@cache
def _patterns() -> Mapping[str, re.Pattern[str]]:
    return {group: any_word(words) for group, words in attributes().items()}
