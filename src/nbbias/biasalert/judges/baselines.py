"""What a judge must beat: the majority, a word list, toxicity, and recorded outputs of tools."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from nbbias.biasalert.contracts import LABELLED, TEXTS
from nbbias.biasalert.groups import attributes, mentions, same_group
from nbbias.biasalert.judges.attribution import Verdicts, judgements
from nbbias.biasalert.judges.registry import Judge, TrainingInput
from nbbias.tables import (
    Column,
    DataError,
    ParameterError,
    check,
    convert_columns,
    read_table,
    require_columns,
)
from nbbias.text import toxicity


def of_majority(given: TrainingInput) -> tuple[Judge, str]:
    """Return the judge `majority` of a run, and its instrument."""
    judge = lambda texts, _: majority(texts, given.train)  # noqa: E731
    return judge, "most frequent label of the training texts"


def of_keywords(given: TrainingInput) -> tuple[Judge, str]:
    """Return the judge `keywords` of a run, and its instrument."""
    return lambda texts, _: keywords(texts), "RedditBias' word lists"


def of_toxicity(given: TrainingInput) -> tuple[Judge, str]:
    """Return the judge `toxicity` of a run, and its instrument."""
    scorer, device = given.settings.toxicity_scorer, given.settings.device
    return (
        lambda texts, _: toxic(texts, scorer=scorer, device=device),
        toxicity.instrument(scorer),
    )


def majority(
    texts: pd.DataFrame, labelled: pd.DataFrame, *, name: str = "majority"
) -> pd.DataFrame:
    """Judge every text as most of some labelled texts are.

    Parameters
    ----------
    texts
        TEXTS.
    labelled
        LABELLED, training texts. Half and half counts as biased.
    name
        What the judge is called.

    Returns
    -------
    DataFrame
        JUDGEMENTS; `confidence` is the share of labelled texts that are biased.

    Examples
    --------
    >>> texts = pd.DataFrame({"text_id": ["a"], "text": ["It rains."]})
    >>> learnt = pd.DataFrame({"text_id": ["b"], "text": ["So it goes."], "biased": [False]})
    >>> majority(texts, learnt)["biased"].tolist()
    [False]
    """
    texts = check(texts, TEXTS, where="texts").reset_index(drop=True)
    truth = check(labelled, LABELLED, where="labelled texts")["biased"]
    if truth.empty:
        raise ParameterError("majority", "there is no labelled text")
    share = float(truth.mean())
    return judgements(
        texts,
        Verdicts([share >= 0.5] * len(texts), [share] * len(texts)),
        judge=name,
        attributes_named=False,
    )


def keywords(texts: pd.DataFrame, *, name: str = "keywords") -> pd.DataFrame:
    """Judge a text as biased where it names a group and a word that prejudice has for that group.

    The lists are RedditBias' (`biasalert.groups.attributes`), by which its comments were found: on
    them, this judge says yes almost always. It gives no confidence.

    Parameters
    ----------
    texts
        TEXTS.
    name
        What the judge is called.

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
    found = [_pair(text) if isinstance(text, str) else None for text in texts["text"]]
    why = [f"Names {pair[0]} and says '{pair[1]}'." if pair else None for pair in found]
    return judgements(texts, Verdicts([pair is not None for pair in found], why=why), judge=name)


def _pair(text: str) -> tuple[str, str] | None:
    for group, words in _lists().items():
        said = words.search(text)
        if said and any(same_group(one.group, group) for one in mentions(text)):
            return group, said[0].lower()
    return None


@cache
def _lists() -> Mapping[str, re.Pattern[str]]:
    patterns = {}
    for group, words in attributes().items():
        listed = "|".join(re.escape(one).replace(r"\*", r"\w*") for one in words)
        patterns[group] = re.compile(rf"\b(?:{listed})\b", re.IGNORECASE)
    return patterns


def toxic(
    texts: pd.DataFrame,
    *,
    scorer: str = toxicity.AUTO,
    threshold: float = 0.5,
    device: str = "cpu",
    name: str = "toxicity",
) -> pd.DataFrame:
    """Judge a text as biased where it is toxic: Detoxify, or its fallback (`nbbias.toxicity`).

    Parameters
    ----------
    texts
        TEXTS.
    scorer, device
        As in `text.toxicity.score`.
    threshold
        The least toxicity of a biased text, in [0, 1].
    name
        What the judge is called.

    Returns
    -------
    DataFrame
        JUDGEMENTS; `confidence` is the toxicity, which is no probability of bias.
    """
    if not 0 <= threshold <= 1:
        raise ParameterError("threshold", f"must lie in [0, 1], not {threshold}")
    texts = check(texts, TEXTS, where="texts").reset_index(drop=True)
    scores = toxicity.score(texts["text"], scorer=scorer, device=device).to_numpy()
    unscored = np.isnan(scores)
    lost = dict.fromkeys(texts.loc[unscored, "text_id"], "the model gave no number")
    why = [None if np.isnan(one) else f"Toxicity {one:.2f}." for one in scores]
    return judgements(
        texts, Verdicts(scores >= threshold, scores, why, lost), judge=name, attributes_named=False
    )


#: What a file of a tool's output holds.
_FILE = {
    "text_id": Column("text"),
    "text": Column("text"),
    "flagged": Column("flag"),
    "score": Column("number"),
    "results": Column("nested"),
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
        and where there is one `score` in [0, 1]. Or the replies of OpenAI's moderation as they
        came: `results`, whose first entry has `categories` and `category_scores`; those of hate
        and hate/threatening count, as in the paper. Texts that are not in it are lost, with a
        reason.
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
    if "results" in table:
        opened = pd.DataFrame([_first(one) for one in table["results"]], index=table.index)
        table = table.drop(columns=["flagged", "score"], errors="ignore").join(opened)
        table = convert_columns(table, _FILE, where=path)
    key = "text_id" if "text_id" in table else "text"
    require_columns(table, [key, "flagged"], where=path)
    table = table[table["flagged"].notna() & table[key].notna()]
    if (table.groupby(key)["flagged"].nunique() > 1).any():
        raise DataError(path, "a text stands twice, with two verdicts; keep one")
    own = table.drop_duplicates(key).set_index(key)
    score = own.get("score")
    if score is not None and not score.dropna().between(0, 1).all():
        raise DataError(path, "a score lies outside 0 to 1")
    wanted = texts[key].astype("str")
    verdicts = wanted.map(own["flagged"].astype(object))
    missing = verdicts.isna()
    lost = dict.fromkeys(texts.loc[missing, "text_id"], f"not in {path}")
    flagged = [None if pd.isna(one) else bool(one) for one in verdicts]
    scores = None if score is None else wanted.map(score).to_numpy(float)
    said = Verdicts(flagged, scores, lost=lost)
    return judgements(texts, said, judge=name, attributes_named=False)


#: Categories of OpenAI's moderation that count (Fan et al. 2024, section 4.1).
_HATE = ("hate", "hate/threatening")


def _first(results: Any) -> dict[str, Any]:
    """Return the flag and the score of hate of a reply of OpenAI's moderation."""
    if not isinstance(results, list) or not results or not isinstance(results[0], dict):
        return {"flagged": None, "score": np.nan}
    flags, scores = (
        inside if isinstance(inside := results[0].get(name), dict) else {}
        for name in ("categories", "category_scores")
    )
    flagged = [flags[name] for name in _HATE if isinstance(flags.get(name), bool)]
    told = [scores[name] for name in _HATE if name in scores]
    # A number of hundreds of digits is none; whatever is beyond 1 is refused later.
    numbers = [
        np.inf if abs(one) > 2 else float(one) for one in told if isinstance(one, int | float)
    ]
    return {"flagged": any(flagged) if flagged else None, "score": max(numbers, default=np.nan)}
