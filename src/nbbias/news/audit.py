"""What the instruments of tone add by themselves: on the study's sentences, and on templates.

A sentence's swap effect (`text.audit`) is the part of its score that hangs on whom it names. Of a
group's sentences it is averaged like the score, answer less original: that is what the instrument
alone would tell of a corpus, and the rest is the corrected shift.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import pandas as pd

from nbbias import stats, tables
from nbbias.news.corpus import NEUTRAL, SENTENCE, Read, said
from nbbias.text import audit, sentiment, toxicity


class By(NamedTuple):
    """The instruments: those of sentiment, that of toxicity (none where empty), and where it runs.

    Examples
    --------
    >>> By(["textblob"]).device
    'cpu'
    """

    scorers: Sequence[str]
    toxicity_scorer: str = ""
    device: str = "cpu"


def _polarity(texts: pd.Series, scorer: str) -> pd.Series:
    return sentiment.score(texts, scorer=scorer)["polarity"]


def _scores(by: By) -> dict[str, Callable[[pd.Series], pd.Series]]:
    """Return each instrument's function, by the column that holds its scores of sentences."""
    found: dict[str, Callable[[pd.Series], pd.Series]] = {
        f"sentiment_{scorer}": partial(_polarity, scorer=scorer) for scorer in by.scorers
    }
    if by.toxicity_scorer:
        chosen = toxicity.choose(by.toxicity_scorer)
        found["toxicity"] = partial(toxicity.score, scorer=chosen, device=by.device)
    return found


def _versions(by: By) -> list[str]:
    chosen = [toxicity.choose(by.toxicity_scorer)] if by.toxicity_scorer else []
    return [tables.stamp(name) for name in [*by.scorers, *chosen]]


# --- the study's own sentences ----------------------------------------------------------------


def swap_effects(read: Read, by: By) -> pd.DataFrame:
    """Score the sentences that name a group once more for each group that could stand there.

    Parameters
    ----------
    read
        What `news.annotate` returned.
    by
        The instruments.

    Returns
    -------
    DataFrame
        A row for each sentence and bias that gives it a group: `text_id`, `sentence_id`, `bias`,
        and the swap effect by the column that holds an instrument's scores (`tone.Scored`): NaN
        where a word has no counterpart.

    Examples
    --------
    >>> from nbbias import news, text
    >>> pairs = news.pair(*news.sample.corpus({"even": {}}, seed=1))
    >>> read = news.annotate(pairs, lexicon=text.lexicons.load("gender"))
    >>> bool(news.audit.swap_effects(read, By(["vader"]))["sentiment_vader"].eq(0).all())
    True
    """
    about = read.sentences[read.sentences["group"] != NEUTRAL]
    words = said(read._replace(sentences=about))
    about = about[[*SENTENCE, "start", "bias", "group"]].astype({"bias": str, "group": str})
    columns = [*SENTENCE, "start", "end", "bias", "group", "term", "kind"]
    kinds = dict.fromkeys(("bias", "group", "term", "kind"), str)
    matches = read.matches.merge(about[[*SENTENCE, "bias"]], on=[*SENTENCE, "bias"])
    return _swap_effects(
        words, about, matches[columns].astype(kinds), read.lexicon, by, _versions(by)
    )


@tables.stage
def _swap_effects(
    words: pd.Series,
    about: pd.DataFrame,
    matches: pd.DataFrame,
    lexicon: pd.DataFrame,
    by: By,
    versions: list[str],
) -> pd.DataFrame:
    parts = []
    for bias, own in about.groupby("bias", sort=False):
        own = own.reset_index(drop=True)
        texts = words.loc[pd.MultiIndex.from_frame(own[SENTENCE])].set_axis(own.index)
        places = matches[matches["bias"] == bias].merge(
            own[[*SENTENCE, "start"]].reset_index(names="row"), on=SENTENCE, suffixes=("", "_of")
        )
        for end in ("start", "end"):
            places[end] = places[end] - places["start_of"]
        listed = lexicon[lexicon["bias"] == bias]
        swaps = audit.swap_groups(texts, own["group"], places, lexicon=listed)
        found = {
            column: audit.swap_effects(texts, swaps, score=score)
            for column, score in _scores(by).items()
        }
        parts.append(own[[*SENTENCE, "bias"]].assign(**found))
    none = pd.DataFrame(columns=[*SENTENCE, "bias", *_scores(by)])
    return pd.concat(parts, ignore_index=True) if parts else none


# --- templates --------------------------------------------------------------------------------


def templates(listed: pd.DataFrame, by: By, *, confidence: float) -> pd.DataFrame:
    """Say how far each group's name moves each instrument in the project's own sentences.

    Parameters
    ----------
    listed
        The word lists, not written out (`text.lexicons.load_all`).
    by
        The instruments.
    confidence
        Level of the intervals.

    Returns
    -------
    DataFrame
        Of `stats.estimate_swap_effects`.

    Examples
    --------
    TextBlob's list has a polarity for "black":

    >>> from nbbias import news, text
    >>> found = news.audit.templates(text.lexicons.load("race"), By(["textblob"]), confidence=0.95)
    >>> found.set_index("group")["swap_effect"].round(3).to_dict()
    {'Asian': 0.043, 'Black': -0.086, 'White': 0.043}
    """
    return stats.estimate_swap_effects(
        _of_templates(listed, by, _versions(by)), confidence=confidence
    )


@tables.stage
def _of_templates(listed: pd.DataFrame, by: By, versions: list[str]) -> pd.DataFrame:
    filled = audit.fill_templates(listed)
    named = instruments(by)
    parts = [
        audit.score_templates(filled, score=score).assign(instrument=named[column])
        for column, score in _scores(by).items()
    ]
    return pd.concat(parts, ignore_index=True)


def instruments(by: By) -> Mapping[str, str]:
    """Name the instruments, by the column that holds their scores of sentences.

    Examples
    --------
    >>> instruments(By(["vader"]))["sentiment_vader"].split()[0]
    'VADER'
    """
    found = {f"sentiment_{scorer}": sentiment.instrument(scorer) for scorer in by.scorers}
    toxic = {"toxicity": toxicity.instrument(by.toxicity_scorer)} if by.toxicity_scorer else {}
    return found | toxic
