"""The study without a notebook: articles in, tables out, by the functions that its cells call."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from nbbias import params
from nbbias.news import claims, corpus, fits, labels, tone, topics, words
from nbbias.news.claims import Level
from nbbias.news.corpus import Read
from nbbias.news.params import News, NewsBias
from nbbias.params import Input
from nbbias.stats import InferenceSettings
from nbbias.tables import Measured


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
    with params.validate_inputs(NewsBias, parameters, **inputs) as chosen:
        people, models = corpus.read(chosen.originals_path, chosen.generations_path)
        lexicon = corpus.lexicon(
            chosen.biases, paths=chosen.lexicon_paths, names_path=chosen.names_path
        )
    read = corpus.annotate(corpus.pair(people, models), lexicon=lexicon)
    twins = corpus.annotate(corpus.twins(people), lexicon=lexicon)
    return together(levels(read, chosen, min_pairs=chosen.min_pairs, twins=twins))


def levels(
    read: Read,
    chosen: News,
    *,
    study: str = "news_bias",
    min_pairs: int = 1,
    twins: Read | None = None,
) -> list[Level]:
    """Measure the levels that parameters ask for.

    Parameters
    ----------
    read
        What `news.annotate` returned.
    chosen
        The parameters.
    study, min_pairs, twins
        As in `news.words.level`.
    """
    found = []
    inference = InferenceSettings(chosen.confidence, chosen.draws, chosen.seed)
    common: dict[str, Any] = {"inference": inference, "study": study}
    if "word" in chosen.levels:
        found.append(words.level(read, **common, min_pairs=min_pairs, twins=twins))
    if "sentence" in chosen.levels:
        scored = score(read, chosen)
        human = None if twins is None else (twins, score(twins, chosen, audited=False))
        counted = chosen.groups_counted
        found.append(tone.level(read, scored, **common, groups_counted=counted, twins=human))
    if "document" in chosen.levels:
        number = fits.number(read, candidates=chosen.n_topics, seed=chosen.seed)
        if number.n_topics:  # else the texts are too few for any of them
            fitted = fit(read, number, chosen)
            found.append(topics.level(read, fitted, **common, min_pairs=min_pairs, twins=twins))
    return found


def score(read: Read, chosen: News, *, audited: bool = True) -> tone.Scored:
    """Score the sentences by the instruments that parameters name: `tone.score`."""
    return tone.score(
        read,
        scorers=chosen.sentiment_scorers,
        toxicity_scorer=chosen.toxicity_scorer,
        device=chosen.device,
        audited=audited,
    )


def fit(read: Read, number: fits.Number, chosen: News) -> fits.Fitted:
    """Fit topics as parameters say: `fits.fit`."""
    how = fits.Fitting(
        number.n_topics,
        range(chosen.seed, chosen.seed + chosen.topic_fits),
        chosen.association,
        chosen.residual_threshold,
        chosen.truncated_topics,
    )
    return fits.fit(read, number.tokens, how)


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
        (`labels.accuracy`).
    """
    before = labels.read_sheet(path) if path.exists() else None
    people, models = corpus.read(chosen.originals_path, chosen.generations_path)
    lexicon = corpus.lexicon(
        chosen.biases, paths=chosen.lexicon_paths, names_path=chosen.names_path
    )
    read = corpus.annotate(corpus.pair(people, models), lexicon=lexicon)
    drawn = labels.draw(labels.frame(read), words=words, sentences=sentences)
    sheet = labels.sheet(read, drawn, before=before)
    return sheet, labels.accuracy(labels.labelled(read, sheet), confidence=chosen.confidence)
