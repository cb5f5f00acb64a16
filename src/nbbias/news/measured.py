"""The study without a notebook: articles in, tables out, by the functions that its cells call."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from nbbias import params, tables
from nbbias.news import claims, corpus, fits, labels, misread, tone, topics, words
from nbbias.news.claims import Level
from nbbias.news.corpus import Read
from nbbias.news.params import News, NewsBias
from nbbias.params import Input
from nbbias.stats import InferenceSettings
from nbbias.tables import Measured


class Fixed(NamedTuple):
    """What differs between the studies whose levels are these.

    `study`: its stem; `min_pairs`: as in `words.level`; `beside`: whether the tone and the topics
    of texts of the same articles by people are a reference, too.

    Examples
    --------
    >>> Fixed().study
    'news_bias'
    """

    study: str = "news_bias"
    min_pairs: int = 1
    beside: bool = True


def measure(originals: Input = None, generations: Input = None, **parameters: Any) -> Measured:
    """Measure which groups generated news names, and in what tone: a run without a notebook.

    Parameters
    ----------
    originals, generations
        Tables, or files, in place of the parameters `originals_path` and `generations_path`.
    **parameters
        As a params file of the study sets them (`nbbias params news_bias`).

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
    >>> from nbbias import news
    >>> found = news.measure(levels=["word"], biases=["gender"], focus={"gender": "female"},
    ...                      draws=100, claims=[])
    >>> found.estimates["measure"].unique().tolist()
    ['word']
    """
    inputs = {"originals_path": originals, "generations_path": generations}
    with params.given(NewsBias, parameters, **inputs) as chosen:
        people, models = corpus.read(chosen.originals_path, chosen.generations_path)
        lexicon = corpus.lexicon(
            chosen.biases, paths=chosen.lexicon_paths, names_path=chosen.names_path
        )
    tables.set_engine(chosen.engine)
    read = corpus.annotate(corpus.pair(people, models), lexicon=lexicon)
    twins = corpus.annotate(corpus.twins(people), lexicon=lexicon)
    return together(levels(read, twins, chosen, Fixed(min_pairs=chosen.min_pairs)))


def levels(read: Read, twins: Read, chosen: News, fixed: Fixed) -> list[Level]:
    """Measure the levels that parameters ask for, of texts that were read."""
    found = []
    inference = InferenceSettings(chosen.confidence, chosen.draws, chosen.seed)
    pairs: dict[str, Any] = {"study": fixed.study, "min_pairs": fixed.min_pairs}
    if "word" in chosen.levels:
        found.append(words.level(read, inference=inference, twins=twins, **pairs))
    if "sentence" in chosen.levels:
        by: dict[str, Any] = {
            "scorers": chosen.sentiment_scorers,
            "toxicity_scorer": chosen.toxicity_scorer,
            "device": chosen.device,
        }
        beside = (twins, tone.score(twins, **by, audited=False)) if fixed.beside else None
        found.append(
            tone.level(
                read,
                tone.score(read, **by),
                inference=inference,
                study=fixed.study,
                twins=beside,
                groups_counted=chosen.groups_counted,
            )
        )
    if "document" in chosen.levels:
        number = fits.number(read, candidates=chosen.n_topics, seed=chosen.seed)
        if not number.n_topics:  # the texts are too few for any of them
            return found
        seeds = range(chosen.seed, chosen.seed + chosen.topic_fits)
        how = fits.Fitting(
            number.n_topics,
            seeds,
            chosen.association,
            chosen.residual_threshold,
            chosen.truncated_topics,
        )
        fitted = fits.fit(read, number.tokens, how)
        few = inference._replace(n_permutations=chosen.deals)
        dealt = topics.chance(read, fitted, sample_pairs=chosen.chance_pairs, inference=few)
        reference = topics.Beside(dealt, twins) if fixed.beside else topics.Beside(dealt)
        found.append(topics.level(read, fitted, reference, inference=inference, **pairs))
    return found


def together(found: Sequence[Level]) -> Measured:
    """Put the levels' tables one below the other."""
    estimates, chance = claims.together(found)
    scores = pd.concat([level.scores for level in found], ignore_index=True)
    lost = [level.losses.reset_index() for level in found]
    return Measured(estimates, chance, scores, pd.concat(lost, ignore_index=True))


def label(
    chosen: News, path: Path, *, words: int, sentences: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw what people are asked about the word lists of a run: a verb of `nbbias label`.

    Parameters
    ----------
    chosen
        The run's parameters.
    path
        The sheet; where it is there already, its labels are kept.
    words, sentences
        How many to ask about, per bias.

    Returns
    -------
    (DataFrame, DataFrame)
        The sheet (`labels.sheet`), and precision and recall by the labels so far
        (`misread.accuracy`).
    """
    before = labels.read_sheet(path) if path.exists() else None
    people, models = corpus.read(chosen.originals_path, chosen.generations_path)
    lexicon = corpus.lexicon(
        chosen.biases, paths=chosen.lexicon_paths, names_path=chosen.names_path
    )
    read = corpus.annotate(corpus.pair(people, models), lexicon=lexicon)
    drawn = labels.draw(labels.frame(read), words=words, sentences=sentences)
    sheet = labels.sheet(read, drawn, before=before)
    return sheet, misread.accuracy(
        labels.labelled(read, sheet), inference=InferenceSettings(seed=chosen.seed)
    )
