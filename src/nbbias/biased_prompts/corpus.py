"""The corpus of the biased-prompts study: two prompts, their wording, and what is lost.

>>> from nbbias import biased_prompts
>>> biased_prompts.corpus.wording(neutral="neutral", biased="mine")["source"].tolist()[1]
'the corpus'
"""

from __future__ import annotations

import pandas as pd

from nbbias import news, tables
from nbbias.asking.prompts import fill_template, load_wording
from nbbias.biased_prompts import sample

#: The source of a refusal rate, and the group of headlines that name none.
EVERY, NOBODY = "all", "nobody named"

UNKNOWN = "not known here: the corpus' own way of asking"


def read(originals_path: str, generations_path: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read both sides of a corpus; ``"sample"`` is the simulated one, with refusals simulated."""
    if originals_path == tables.SAMPLE:
        return sample.corpus(desks_apart=True, seed=news.corpus.SAMPLE_SEED)
    return news.corpus.read(originals_path, generations_path)


def of_prompts(generations: pd.DataFrame, *, neutral: str, biased: str) -> pd.DataFrame:
    """Return the answers to the two prompts that are compared.

    Raises
    ------
    DataError
        There is no answer to one of them; the message names what may be meant instead.
    """
    there = list(generations["prompt"].unique())
    faults = [
        f"{name}: no answers to the prompt {prompt!r}; {tables.closest_match(prompt, there)}"
        for name, prompt in {"neutral_prompt": neutral, "biased_prompt": biased}.items()
        if prompt not in there
    ]
    tables.DataError.refuse("generations", faults)
    return generations[generations["prompt"].isin([neutral, biased])].reset_index(drop=True)


def wording(*, neutral: str, biased: str) -> pd.DataFrame:
    """Return how both prompts are worded, where they are prompts that nbbias asks.

    Returns
    -------
    DataFrame
        `prompt`, `wording` (with ``{headline}``; what is not known says so) and `source`.
    """
    texts = load_wording()
    rows = {"neutral": (texts["neutral"]["template"], texts["neutral"]["source"])}
    for ideology in texts["ideologies"]:
        words = fill_template(texts["biased"]["template"], ideology=ideology["name"])
        source = texts["biased"]["source"]
        rows[ideology["prompt"]] = (words, f"{source}; ideology: {ideology['source']}")
    table = [(name, *rows.get(name, (UNKNOWN, "the corpus"))) for name in (neutral, biased)]
    return pd.DataFrame(table, columns=["prompt", "wording", "source"])
