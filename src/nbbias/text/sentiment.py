"""Sentiment of texts, by several instruments behind one function.

Every instrument takes texts and returns one row per text: `polarity` from -1
(negative) to 1 (positive) and `n_assessed`, how many words or phrases the
instrument knew. A text without any known word has polarity 0 by both
lexicons; `n_assessed` tells that 0 from a balance of praise and blame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from nbbias.tables import DataError, map_chunks, require_packages
from nbbias.text.instruments import Instrument, listed, loading, registry

#: What an instrument opens to: texts in, their polarities and how many words it knew out.
Assess = Callable[[Sequence[str]], tuple[Sequence[float] | np.ndarray, Sequence[int] | np.ndarray]]


@cache
def _textblob() -> Assess:
    from nbbias.text.blob import Blob

    return Blob()


@cache
def _vader() -> Assess:
    from nbbias.text.vader import Vader

    return Vader()


#: Every instrument with words of its own; any other name is a classifier's.
INSTRUMENTS = registry(
    {
        "textblob": Instrument("TextBlob {}", "textblob", _textblob, "the papers'"),
        "vader": Instrument("VADER {}", "vaderSentiment", _vader),
    },
    family="sentiment",
)

if TYPE_CHECKING:
    Scorer = str
else:
    #: What a parameter may be that takes no classifier.
    Scorer = Literal[tuple(INSTRUMENTS)]

#: What the help of a parameter says that takes all.
CHOICES = f"{listed(INSTRUMENTS)}, or the folder of a Hugging Face classifier"


@cache
def _classifier(path: str) -> Assess:
    """Load a Hugging Face text classifier whose labels say positive and negative."""
    require_packages(*packages(path), where=path)
    from transformers import pipeline

    with loading(path, "cannot be loaded as a text classifier"):
        classify = pipeline(
            "text-classification",
            model=path,
            top_k=None,
            truncation=True,
            trust_remote_code=False,  # or a folder's code would be run when someone says yes
        )
    signs = {label: _sign(label) for label in classify.model.config.id2label.values()}
    if {1, -1} - set(signs.values()):
        told = ", ".join(signs)
        raise DataError(path, f"needs a label with 'pos' and one with 'neg' in it; it has {told}")

    def polarity(text: str) -> float:
        return sum(signs[one["label"]] * one["score"] for one in classify([text])[0])

    return lambda texts: ([*map(polarity, texts)], [len(text.split()) for text in texts])


def _sign(label: str) -> int:
    lower = label.lower()
    return 1 if "pos" in lower else -1 if "neg" in lower else 0


def packages(scorer: str) -> tuple[str, ...]:
    """Return what has to be installed for an instrument.

    Examples
    --------
    >>> packages("vader"), packages("my-classifier")
    ((), ('transformers', 'torch'))
    """
    return () if scorer in INSTRUMENTS else ("transformers", "torch")


def instrument(scorer: str) -> str:
    """Return an instrument's name with its version, as tables and figures show it.

    Examples
    --------
    >>> instrument("vader").split()[0]
    'VADER'
    """
    if scorer not in INSTRUMENTS:
        require_packages(*packages(scorer), where=scorer)
        return f"classifier {Path(scorer).name} (transformers {version('transformers')})"
    return INSTRUMENTS[scorer].named()


def score(texts: Iterable[str | None], *, scorer: str = "textblob") -> pd.DataFrame:
    """Score the polarity of texts.

    Parameters
    ----------
    texts
        Texts; a Series keeps its index. Missing and blank texts are not scored.
    scorer
        ``"textblob"`` (the papers' instrument: the polarity of TextBlob's pattern analyser),
        ``"vader"`` (the compound score of VADER), or the name or folder of a Hugging Face text
        classifier (probability of positive minus probability of negative).

    Returns
    -------
    DataFrame
        `polarity` in [-1, 1], NaN where there is no text; `n_assessed`, the
        words or phrases that the instrument knew. Each distinct text is scored once.

    Raises
    ------
    DataError
        A classifier cannot be loaded, or its labels do not say positive and negative.

    Examples
    --------
    >>> score(["A wonderful day.", "The box.", None])["polarity"].tolist()
    [1.0, 0.0, nan]
    >>> score(["The box."])["n_assessed"].tolist()
    [0]
    """
    given = pd.Series(texts, dtype=object)
    at, distinct = pd.factorize(given)
    written = np.array([bool(text.strip()) for text in distinct], dtype=bool)
    if scorer in INSTRUMENTS:
        by = (scorer, INSTRUMENTS[scorer].named())
        parts: list[Any] = map_chunks(
            _assessed, pd.Series(distinct[written], dtype=object), args=by
        )
    else:
        parts = [_classifier(scorer)(distinct[written])]
    # The last row is that of no text.
    table = pd.DataFrame({"polarity": np.full(len(distinct) + 1, np.nan), "n_assessed": 0})
    for name, found in zip(table, zip(*parts, strict=True), strict=True):
        table.loc[np.flatnonzero(written), name] = np.concatenate(found)
    return table.iloc[at].set_axis(given.index)


def _assessed(texts: pd.Series, scorer: str, named: str) -> tuple[np.ndarray, np.ndarray]:
    """Score texts by an instrument of some version."""
    polarity, known = INSTRUMENTS[scorer].load()(texts.to_numpy(object))
    return np.asarray(polarity, dtype=float), np.asarray(known, dtype=int)
