"""What a run on news reads, checked before anything starts."""

from __future__ import annotations

from typing import Any

import pandas as pd

from nbbias import params, tables
from nbbias.news import corpus, labels, sizes
from nbbias.params import NONE
from nbbias.tables import NbbiasError
from nbbias.text import lexicons, toxicity

#: More prompts than these, with fewer than three answers each, are hardly conditions.
_PROMPTS = 5


def check(chosen: Any) -> list[str]:
    """Read both sides of a corpus; refuse what a run cannot be made of, say what it would lose.

    Examples
    --------
    >>> from nbbias import news
    >>> news.check(news.params.NewsBias(levels=["word"]))
    ['1 of 361 answers have no original']
    """
    problems = instruments(chosen)
    sides = tables.attempt(problems, corpus.read, chosen.originals_path, chosen.generations_path)
    warnings: list[str] = []
    if sides:
        warnings = paired(problems, *sides)
        there = [cells(sides[1]), groups(chosen)]
        tables.attempt(problems, params.check_claims, chosen, there)
        if chosen.labels_path != NONE:
            tables.attempt(problems, _labels, chosen, sides)
        tables.attempt(problems, sizes.facts, chosen.models_path)
    tables.refuse(problems)
    return warnings


def _labels(chosen: Any, sides: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    """Refuse labels that are none, or of other texts than these."""
    sheet = labels.read_sheet(chosen.labels_path)
    pairs = corpus.pair(*sides)
    there = pairs.loc[pairs["lost"].isna(), ["original_text", "generated_text"]]
    lexicon = corpus.lexicon(chosen.biases, **chosen.lists())
    texts = pd.Series(there.to_numpy().ravel(), dtype=object)
    labels.drawn_here(sheet, texts, lexicon, where=chosen.labels_path)


def instruments(chosen: Any) -> list[NbbiasError]:
    """Return what is wrong with the names of instruments that a run would use."""
    problems: list[NbbiasError] = []
    if "sentence" in chosen.levels:
        tables.attempt(problems, toxicity.check_name, chosen.toxicity_scorer)
    return problems


def paired(
    problems: list[NbbiasError], originals: pd.DataFrame, generations: pd.DataFrame
) -> list[str]:
    """Pair the two sides of a corpus; add what forbids it to the problems, return what is lost."""
    pairs = tables.attempt(problems, corpus.pair, originals, generations)
    if pairs is None:
        return []
    tables.attempt(
        problems,
        tables.require_measurable,
        pairs["model"],
        pairs["lost"].isna(),
        where="generations",
    )
    orphans = int((pairs["lost"] == "no original").sum())
    warnings = [f"{orphans} of {len(pairs)} answers have no original"] if orphans else []
    prompts = pairs["prompt"].nunique()
    if prompts > max(_PROMPTS, len(pairs) / 3):
        warnings.append(
            f"{len(pairs)} answers stand under {prompts} prompts, each of which is measured alone; "
            "a column of whole prompts is left out by 'generations.csv?prompt='"
        )
    return warnings


def cells(generations: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of a corpus: each source, model and prompt that answers are of."""
    return generations[corpus.CELL].drop_duplicates()


def groups(chosen: Any) -> pd.DataFrame:
    """Return each bias with its groups."""
    lists = lexicons.load_all(chosen.biases, **chosen.lists())
    return lists[["bias", "group"]].drop_duplicates()
