"""What a run on two prompts reads, checked before anything starts."""

from __future__ import annotations

from typing import Any

import pandas as pd

from nbbias import news, params, tables
from nbbias.biased_prompts import corpus


def check(chosen: Any) -> list[str]:
    """Read both sides of a corpus; refuse what a run cannot be made of, say what it would lose.

    Examples
    --------
    >>> from nbbias import biased_prompts
    >>> biased_prompts.check(biased_prompts.params.BiasedPrompts(levels=["word"]))
    []
    """
    problems = news.inputs.instruments(chosen)
    neutral, biased = chosen.neutral_prompt, chosen.biased_prompt
    sides = tables.attempt(problems, corpus.read, chosen.originals_path, chosen.generations_path)
    excluded: list[str] = []
    if sides:
        originals, generations = sides
        asked = tables.attempt(
            problems, corpus.of_prompts, generations, neutral=neutral, biased=biased
        )
        sources = list(generations["source"].unique())
        if corpus.EVERY in sources and len(sources) > 1:
            why = f"stands for all sources together: rename it; sources are {sources[:3]}"
            problems.append(tables.DataError("generations", f"the source {corpus.EVERY!r} {why}"))
        excluded = news.inputs.paired(problems, originals, generations if asked is None else asked)
        nameable = [_cells(generations, neutral, biased), _groups(chosen)]
        tables.attempt(problems, params.check_claims, chosen, nameable)
    tables.refuse(problems)
    return excluded


def _cells(generations: pd.DataFrame, neutral: str, biased: str) -> pd.DataFrame:
    """Return the cells of a corpus, of what one prompt changes of the other, and of all sources."""
    cells = news.inputs.cells(generations)
    changes = [cells.assign(prompt=one) for one in (f"{biased} − {neutral}", "biased − neutral")]
    both = pd.concat([cells, *changes])
    return pd.concat([both, both.assign(source=corpus.EVERY)])


def _groups(chosen: Any) -> pd.DataFrame:
    """Return each bias with its groups, and that a headline names none."""
    groups = news.inputs.groups(chosen)
    nobody = groups.drop_duplicates("bias").assign(group=corpus.NOBODY)
    return pd.concat([groups, nobody])
