"""The corpus of the biased-prompts study: two prompts, their wording, and what is lost.

>>> from nbbias import biased_prompts
>>> biased_prompts.corpus.wording(neutral="neutral", biased="mine")["source"].tolist()[1]
'the corpus'
"""

from __future__ import annotations

import pandas as pd

from nbbias import biasalert, news, stats, tables
from nbbias.asking.prompts import fill_template, load_ideologies, load_wording
from nbbias.biased_prompts import sample
from nbbias.tables import SAMPLE, DataError, missing_packages
from nbbias.text import embeddings

#: The source of a row over all outlets, and the group of headlines that name none.
EVERY, NOBODY = "all", "nobody named"

#: Headlines of which both prompts are classified, at most.
CLASSIFIED = 50

UNKNOWN = "not known here: the corpus' own way of asking"


def read(originals_path: str, generations_path: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read both sides of a corpus; ``"sample"`` is the simulated one, with refusals simulated."""
    if originals_path == SAMPLE:
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
    asked = {"neutral_prompt": neutral, "biased_prompt": biased}
    faults = [
        f"{name}: no answers to the prompt {prompt!r}; {tables.closest_match(prompt, there)}"
        for name, prompt in asked.items()
        if prompt not in there
    ]
    if faults:
        raise DataError("generations", faults)
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
    for ideology in load_ideologies().to_dict("records"):
        words = fill_template(texts["biased"]["template"], ideology=ideology["name"])
        source = texts["biased"]["source"]
        rows[ideology["prompt"]] = (words, f"{source}; ideology: {ideology['source']}")
    table = [(name, *rows.get(name, (UNKNOWN, "the corpus"))) for name in (neutral, biased)]
    return pd.DataFrame(table, columns=["prompt", "wording", "source"])


def classify_prompts(
    originals: pd.DataFrame, *, neutral: str, biased: str, confidence: float, seed: int = 0
) -> pd.DataFrame:
    """Estimate how often the offline classifier of bias flags the prompts themselves.

    Parameters
    ----------
    originals
        ORIGINALS. Of more than `CLASSIFIED` headlines as many are drawn.
    neutral, biased
        As in `wording`.
    confidence, seed
        Level of the Wilson intervals; start of the draw of headlines.

    Returns
    -------
    DataFrame
        By `prompt`: `rate` (sensitivity of the biased, false-positive rate of the neutral one),
        `estimate`, the share of prompts flagged, with `ci_low`, `ci_high`, `n` and `n_lost`, and
        `probability`, the mean over prompts. No row of a prompt whose wording is not known, nor
        where there are no headlines or the classifier's packages are missing.

    Examples
    --------
    >>> articles = pd.DataFrame({"headline": ["Storm hits the coast"]})
    >>> classify_prompts(articles, neutral="mine", biased="other", confidence=0.95).empty
    True
    """
    rates = {neutral: "false-positive rate", biased: "sensitivity"}
    headlines = originals.get("headline", pd.Series(dtype="str"))
    headlines = headlines[~tables.is_blank(headlines)].drop_duplicates()
    headlines = headlines.sample(min(CLASSIFIED, len(headlines)), random_state=seed)
    worded = wording(neutral=neutral, biased=biased).query("wording != @UNKNOWN")
    rows = []
    if len(headlines) and not missing_packages(*embeddings.PACKAGES):
        for row in worded.to_dict("records"):
            texts = [fill_template(row["wording"], headline=line) for line in headlines]
            found = biasalert.detect(texts)
            flagged = found["verdict"].map({"biased": 1.0, "not biased": 0.0})
            share = stats.share_interval(flagged, confidence=confidence).row()
            mean = found["probability"].astype(float).mean()
            row |= {"rate": rates[row["prompt"]], "confidence": confidence, "probability": mean}
            rows.append(row | share)
    columns = ["prompt", "rate", "estimate", "ci_low", "ci_high", "confidence", "n", "n_lost"]
    return pd.DataFrame(rows, columns=[*columns, "probability"])
