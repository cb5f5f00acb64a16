"""The study without a notebook: articles in, tables out, by the functions that its cells call."""

from __future__ import annotations

from typing import Any

import pandas as pd

from nbbias import news, params
from nbbias.biased_prompts import audit, compare, corpus, refusing
from nbbias.biased_prompts.params import BiasedPrompts
from nbbias.params import Input
from nbbias.tables import Measured


def measure(originals: Input = None, generations: Input = None, **parameters: Any) -> Measured:
    """Measure what biased prompts do to generated news: a run without a notebook.

    Parameters
    ----------
    originals, generations
        Tables, or files, in place of the parameters `originals_path` and `generations_path`.
    **parameters
        As a params file of the study sets them (`nbbias params biased_prompts`).

    Returns
    -------
    Measured
        `estimates` and `chance` (equal to a run's); `scores` of pairs and `losses`, the levels one
        below the other.

    Raises
    ------
    NbbiasError
        Parameters or tables are not as they must be; all that is wrong with either.

    Examples
    --------
    >>> from nbbias import biased_prompts
    >>> results = biased_prompts.measure(levels=["word"])  # doctest: +SKIP
    """
    inputs = {"originals_path": originals, "generations_path": generations}
    with params.validate_inputs(BiasedPrompts, parameters, **inputs) as chosen:
        people, models = corpus.read(chosen.originals_path, chosen.generations_path)
        lexicon = news.lexicon(
            chosen.biases, paths=chosen.lexicon_paths, names_path=chosen.names_path
        )
    prompts: dict[str, Any] = {"neutral": chosen.neutral_prompt, "biased": chosen.biased_prompt}
    family: dict[str, Any] = {"confidence": chosen.confidence, "correction": chosen.correction}
    answers = refusing.answered(corpus.of_prompts(models, **prompts))
    named = refusing.headline_groups(people, lexicon)
    rates = refusing.rates(answers, headlines=named, **prompts, **family)
    swaps = audit.swap_effects(answers, lexicon=lexicon)
    parted = audit.estimates(answers, swaps=swaps, **prompts, **family)
    pairs = refusing.without_refusals(news.pair(people, answers), answers)
    read = news.annotate(pairs, lexicon=lexicon)
    levels = news.measured.levels(read, chosen, study="biased_prompts")
    compared = compare.compare(levels, chosen.focus, **prompts, **family)
    found: pd.DataFrame = news.claims.stacked([rates, compared, parted])
    return news.measured.together(levels)._replace(estimates=found)
