"""What a judge must beat: the majority class, a word list, toxicity, and recorded outputs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, partial

import numpy as np
import pandas as pd

from nbbias.biasalert.contracts import LABELLED, TEXTS
from nbbias.biasalert.judges.attribution import Verdicts, judgements
from nbbias.biasalert.judges.registry import Judge, TrainingInput
from nbbias.biasalert.knowledge.groups import any_word, attributes, mentions, same_group
from nbbias.tables import Column, DataError, ParameterError, check, read_table, require_columns
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
    truth = check(labelled, LABELLED, where="labelled texts")["biased"]
    if truth.empty:
        raise ParameterError("majority", "there is no labelled text")
    share = float(truth.mean())
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
    for group, words in _patterns().items():
        word = words.search(text)
        if word and any(same_group(mention.group, group) for mention in mentions(text)):
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
    """Judge a text as biased where it is toxic: Detoxify, or its fallback (`nbbias.toxicity`).

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
    unscored = np.isnan(scores)
    lost = dict.fromkeys(texts.loc[unscored, "text_id"], "the model gave no number")
    why = [None if np.isnan(score) else f"Toxicity {score:.2f}." for score in scores]
    verdicts = Verdicts(scores >= threshold, scores, why, lost)
    return judgements(texts, verdicts, judge="toxicity", attributes_named=False)


#: What a file of a tool's output holds.
_FILE = {
    "text_id": Column("text"),
    "text": Column("text"),
    "flagged": Column("flag"),
    "score": Column("number"),
}


def recorded(
    texts: pd.DataFrame, evidence: pd.DataFrame | None = None, *, path: str, name: str
) -> pd.DataFrame:
    """Read a moderation tool's recorded output.

    Parameters
    ----------
    texts, evidence
        TEXTS; evidence is not read.
    path
        A table (CSV, JSON, JSON Lines, Parquet): `text_id` or `text`; `flagged` (true or false),
        and where there is one `score` in [0, 1]. Texts that are not in it are lost, with a reason.
    name
        The tool, as tables and figures show it.

    Returns
    -------
    DataFrame
        JUDGEMENTS.

    Raises
    ------
    ContractError, DataError
        Columns are missing, a flag is none, a text stands twice with two verdicts.
    """
    texts = check(texts, TEXTS, where="texts").reset_index(drop=True)
    table = read_table(path, _FILE)
    key = "text_id" if "text_id" in table else "text"
    require_columns(table, [key, "flagged"], where=path)
    table = table.dropna(subset=["flagged", key])
    if (table.groupby(key)["flagged"].nunique() > 1).any():
        raise DataError(path, "a text stands twice, with two verdicts; keep one")
    table = table.drop_duplicates(key).set_index(key).reindex(texts[key].astype("str"))
    scores = table.get("score")
    if scores is not None and not scores.dropna().between(0, 1).all():
        raise DataError(path, "a score lies outside 0 to 1")
    missing = table["flagged"].isna().to_numpy()
    lost = dict.fromkeys(texts.loc[missing, "text_id"], f"not in {path}")
    flagged = [None if pd.isna(flag) else bool(flag) for flag in table["flagged"]]
    verdicts = Verdicts(flagged, None if scores is None else scores.to_numpy(float), lost=lost)
    return judgements(texts, verdicts, judge=name, attributes_named=False)
