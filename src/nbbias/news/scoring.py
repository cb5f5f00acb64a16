"""Sentences scored for sentiment and toxicity, and what the scorers add by whom a sentence names.

A sentence's swap effect (`text.substitution`) is the part of its score that depends on the group
that it names. Averaged over a group's sentences like the score, answer minus original, it is scorer
bias; the rest of a shift is the corrected shift.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import pandas as pd

from nbbias import tables
from nbbias.news.corpus import NEUTRAL, SENTENCE, Read, distinct_sentences
from nbbias.text import sentiment, substitution, toxicity

#: Ends the name of the column in which descriptors were taken out before scoring.
MASKED = "_masked"

#: What scoring reads of a match.
_MATCH = [*SENTENCE, "start", "end", "bias", "group", "term", "kind"]

#: Sentences that are held as Python's strings at a time.
_BLOCK = 200_000


class Scorers(NamedTuple):
    """The scorers of sentiment, that of toxicity (of `text.toxicity.choose`), and where it runs.

    `versions` tell files of one name apart (`tables.stamp`).

    Examples
    --------
    >>> Scorers(["textblob"], "offline").device
    'cpu'
    """

    sentiment: Sequence[str]
    toxicity: str
    device: str = "cpu"
    versions: Sequence[str] = ()


class Scored(NamedTuple):
    """Sentences with their scores, and by what they were scored: what `score` returns.

    Attributes
    ----------
    sentences
        One row per distinct sentence: `text_id`, `sentence_id`, `sentiment_<scorer>` in [-1, 1]
        (below 0: negative), `sentiment_<first>_masked` where there are descriptors, and `toxicity`
        in [0, 1] (higher is worse), NaN where the sentence has no group in any bias.
    measured
        A row for each column of scores in `sentences`: `column`, `measure` and `instrument`.
    swaps
        Swap effects (`swap_effects`), None where they were not asked for.
    """

    sentences: pd.DataFrame
    measured: pd.DataFrame
    swaps: pd.DataFrame | None = None


def score(
    read: Read,
    *,
    scorers: Sequence[str],
    toxicity_scorer: str,
    device: str = "cpu",
    swapped: bool = True,
) -> Scored:
    """Score the sentences: sentiment of all, toxicity of those that some bias gives a group.

    Parameters
    ----------
    read
        What `news.annotate` returned.
    scorers
        The scorers of sentiment. Where descriptors ("black") stand in sentences, the first one
        scores them once more without: lexicons give such words a valence of their own.
    toxicity_scorer
        The scorer of toxicity, as in `text.toxicity.score`: the costly one, so neutral sentences
        are left out.
    device
        Where Detoxify runs.
    swapped
        Whether the sentences that name a group are scored with each other group in its place, too.
    """
    names, toxic = list(dict.fromkeys(scorers)), toxicity.choose(toxicity_scorer)
    by = Scorers(names, toxic, device, [*map(tables.stamp, [*names, toxic])])
    descriptors = read.matches.loc[read.matches["kind"] == "descriptor", _MATCH]
    table = _score(distinct_sentences(read), read.sentences, descriptors, by)
    swaps = swap_effects(read, table, by) if swapped else None
    return Scored(table, _measures(table, by), swaps)


@tables.stage
def _score(
    words: pd.Series, sentences: pd.DataFrame, descriptors: pd.DataFrame, by: Scorers
) -> pd.DataFrame:
    table = sentences.drop_duplicates(SENTENCE)[[*SENTENCE, "start"]].reset_index(drop=True)
    texts = words.set_axis(table.index)
    for scorer in by.sentiment:
        table[f"sentiment_{scorer}"] = _polarity(texts, scorer)
    places = _places(table, descriptors).drop_duplicates(["row", "start"])  # of two biases' lists
    masked = substitution.mask_descriptors(texts, places)
    if len(masked):
        first = f"sentiment_{by.sentiment[0]}"
        table[first + MASKED] = table[first]
        table.loc[masked.index, first + MASKED] = _polarity(masked, by.sentiment[0])
    grouped = pd.MultiIndex.from_frame(sentences.loc[sentences["group"] != NEUTRAL, SENTENCE])
    wanted = pd.MultiIndex.from_frame(table[SENTENCE]).isin(grouped)
    table["toxicity"] = toxicity.score(texts[wanted], scorer=by.toxicity, device=by.device)
    return table.drop(columns="start")


def _polarity(words: pd.Series, scorer: str) -> pd.Series:
    """Score sentences, a block at a time: as Python's strings they take several times the room."""
    starts = range(0, max(len(words), 1), _BLOCK)
    parts = [sentiment.score(words.iloc[first : first + _BLOCK], scorer=scorer) for first in starts]
    return pd.concat(parts)["polarity"]


def _places(sentences: pd.DataFrame, matches: pd.DataFrame) -> pd.DataFrame:
    """Return matches with the `row` of their sentence, and their places in it."""
    keyed = sentences[[*SENTENCE, "start"]].reset_index(names="row")
    places = matches.merge(keyed, on=SENTENCE, suffixes=("", "_of"))
    return places.assign(**{end: places[end] - places["start_of"] for end in ("start", "end")})


def _measures(scored: pd.DataFrame, by: Scorers) -> pd.DataFrame:
    """List what was measured: `measured` of `Scored`."""
    rows = []
    for name in scored.columns:
        if name.startswith("sentiment_"):
            scorer = name.removeprefix("sentiment_").removesuffix(MASKED)
            label = sentiment.instrument(scorer)
            label += ", descriptors masked" if name.endswith(MASKED) else ""
            rows.append((name, "sentiment", label))
    rows.append(("toxicity", "toxicity", toxicity.instrument(by.toxicity)))
    return pd.DataFrame(rows, columns=["column", "measure", "instrument"])


# --- scorer bias ------------------------------------------------------------------------------


def swap_effects(read: Read, scored: pd.DataFrame, by: Scorers) -> pd.DataFrame:
    """Score the sentences that name a group once more for each group that could stand there.

    Parameters
    ----------
    read
        What `news.annotate` returned.
    scored
        Scores of its sentences (`sentences` of `Scored`).
    by
        The scorers.

    Returns
    -------
    DataFrame
        A row for each sentence and bias that gives it a group: `text_id`, `sentence_id`, `bias`,
        and the swap effect by the column that holds a scorer's scores (`Scored`): NaN where a word
        has no counterpart.

    Examples
    --------
    >>> from nbbias import news, text
    >>> pairs = news.pair(*news.sample.corpus({"even": {}}, seed=1))
    >>> read = news.annotate(pairs, lexicon=text.lexicons.load("gender"))
    >>> scored = score(read, scorers=["vader"], toxicity_scorer="offline")
    >>> bool(scored.swaps["sentiment_vader"].eq(0).all())
    True
    """
    about = read.sentences[read.sentences["group"] != NEUTRAL]
    words = distinct_sentences(read._replace(sentences=about))
    about = about[[*SENTENCE, "start", "bias", "group"]].astype({"bias": str, "group": str})
    kinds = dict.fromkeys(("bias", "group", "term", "kind"), object)
    matches = read.matches.merge(about[[*SENTENCE, "bias"]], on=[*SENTENCE, "bias"])
    matches = matches[_MATCH].astype(kinds)
    scored = scored.set_index(SENTENCE).loc[words.index].assign(text=words)
    return _swap_effects(scored, about, matches, read.lexicon, by)


@tables.stage
def _swap_effects(
    scored: pd.DataFrame,
    about: pd.DataFrame,
    matches: pd.DataFrame,
    lexicon: pd.DataFrame,
    by: Scorers,
) -> pd.DataFrame:
    functions: dict[str, Callable[[pd.Series], pd.Series]] = {
        f"sentiment_{scorer}": partial(_polarity, scorer=scorer) for scorer in by.sentiment
    }
    functions["toxicity"] = partial(toxicity.score, scorer=by.toxicity, device=by.device)
    parts = [pd.DataFrame(columns=[*SENTENCE, "bias", *functions])]
    for bias, sentences in about.groupby("bias", sort=False):
        sentences = sentences.reset_index(drop=True)
        subset = scored.loc[pd.MultiIndex.from_frame(sentences[SENTENCE])].set_axis(sentences.index)
        texts = subset["text"]
        places = _places(sentences, matches[matches["bias"] == bias])
        listed = lexicon[lexicon["bias"] == bias]
        swaps = substitution.swap_groups(texts, sentences["group"], places, lexicon=listed)
        effects = {
            column: substitution.swap_effects(texts, swaps, score=function, values=subset[column])
            for column, function in functions.items()
        }
        parts.append(sentences[[*SENTENCE, "bias"]].assign(**effects))
    return pd.concat(parts[1:], ignore_index=True) if parts[1:] else parts[0]
