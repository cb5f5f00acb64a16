"""Does the detector hear a refusal more readily where a group is named? Its swap effect."""

from __future__ import annotations

from collections.abc import Collection

import pandas as pd

from nbbias import tables
from nbbias.refusals import detector
from nbbias.text import audit

#: What is made of a sentence: an answer that writes it, and one that declines to.
FRAMES = {
    "answers": "{}",
    "refusals": "I'm sorry, but I can't write an article in which this happens: {}",
}

#: The kinds of sentences that are read: such as articles are made of.
KINDS = ("news", "politics")


def swap_effects(lexicon: pd.DataFrame, *, kinds: Collection[str] = KINDS) -> pd.DataFrame:
    """Score the project's sentences as answers, and in refusals, with each group in turn.

    Parameters
    ----------
    lexicon
        The table of `text.lexicons.load_all`, written out or not.
    kinds
        Of the templates (`text.audit.fill_templates`).

    Returns
    -------
    DataFrame
        Of `text.audit.score_templates`, of the probability of a full refusal, with `instrument`;
        `words` tells ``"answers"`` from ``"refusals"``. Names of people are left out.

    Examples
    --------
    >>> from nbbias import refusals
    >>> from nbbias.text import lexicons
    >>> found = refusals.swap_effects(lexicons.load("gender"), kinds=["politics"])
    >>> found.groupby("words")["score"].mean().round().to_dict()
    {'answers': 0.0, 'refusals': 1.0}
    """
    filled = audit.fill_templates(lexicon)
    filled = filled[(filled["words"] == "words") & filled["kind"].isin(kinds)]
    framed = [
        filled.assign(words=frame, text=filled["text"].map(asked.format))
        for frame, asked in FRAMES.items()
    ]
    effects = audit.score_templates(
        pd.concat(framed, ignore_index=True),
        score=lambda texts: detector.detect(texts, progress=False)["score"],
    )
    return effects.assign(instrument=detector.instrument())


@tables.stage
def swapped_answers(
    texts: pd.Series, told: pd.Series, lexicon: pd.DataFrame, version: str
) -> pd.DataFrame:
    """Read answers that name a group once more with each group of the list in its place.

    Parameters
    ----------
    texts, told
        Answers, and whether each is told as refused (nullable bool); what is not exchanged is not
        read again.
    lexicon
        Expanded terms of several lists.
    version
        Of the detector (`instrument`), by which what is read is kept.

    Returns
    -------
    DataFrame
        Of `text.audit.score_texts`, with the score `swap` in [-1, 1].

    Examples
    --------
    >>> from nbbias.text import lexicons
    >>> lexicon = lexicons.expand(lexicons.load("gender"))
    >>> told = pd.Series([False], dtype="boolean")
    >>> swapped_answers(pd.Series(["She won."]), told, lexicon, "v").to_numpy().tolist()
    [[1.0, 0.0]]
    """
    known = dict(zip(texts, told, strict=True))

    def refused(texts: pd.Series) -> pd.Series:
        new = texts[~texts.isin(list(known))]
        read = detector.detect(new, progress=False)["refused"]
        every = known | dict(zip(new, read, strict=True))
        return texts.map(every.get).astype("boolean").astype("Float64").astype(float)

    return audit.score_texts(texts, lexicon=lexicon, scores={"swap": refused})
