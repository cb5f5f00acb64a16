"""The detector's own bias: does naming a group change how often it calls an answer a refusal?"""

from __future__ import annotations

from collections.abc import Collection

import pandas as pd

from nbbias.refusals import detector
from nbbias.text import substitution

#: An answer that writes a sentence, and one that declines to.
FRAMES = {
    "answers": "{}",
    "refusals": "I'm sorry, but I can't write an article in which this happens: {}",
}

#: The kinds of sentences that are read: such as articles are made of.
KINDS = ("news", "politics")


def swap_effects(lexicon: pd.DataFrame, *, kinds: Collection[str] = KINDS) -> pd.DataFrame:
    """Return the swap effects of groups on the detector, in sentences of this project.

    Parameters
    ----------
    lexicon
        The table of `text.lexicons.load_all`, written out or not.
    kinds
        Of the templates (`text.substitution.fill_templates`).

    Returns
    -------
    DataFrame
        Of `text.substitution.score_templates`, of the probability of a full refusal, with
        `instrument`; `words` is ``"answers"`` or ``"refusals"``. Names of people are left out.

    Examples
    --------
    >>> from nbbias import refusals
    >>> from nbbias.text import lexicons
    >>> effects = refusals.swap_effects(lexicons.load("gender"), kinds=["politics"])
    >>> effects.groupby("words")["score"].mean().round().to_dict()
    {'answers': 0.0, 'refusals': 1.0}
    """
    filled = substitution.fill_templates(lexicon)
    filled = filled[filled["kind"].isin(kinds)]
    framed = [
        filled.assign(words=name, text=filled["text"].map(frame.format))
        for name, frame in FRAMES.items()
    ]
    effects = substitution.score_templates(
        pd.concat(framed, ignore_index=True), score=lambda texts: detector.detect(texts)["score"]
    )
    return effects.assign(instrument=detector.instrument())
