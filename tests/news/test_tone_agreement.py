"""Agreement of scorers on corpora whose scores are simulated: the tone of groups, or a scorer's."""

import numpy as np
import pandas as pd
import pytest

from nbbias import news, tables, text
from nbbias.news.corpus import NEUTRAL, SENTENCE

PAIRS = news.pair(*news.sample.corpus({"a": {}, "b": {}}, seed=1))
READ = news.annotate(PAIRS, lexicon=pd.concat(map(text.lexicons.load, ["gender", "race"])))
SCORERS = ["first", "second", "combined"]
MEASURED = pd.DataFrame({"instrument": SCORERS, "measure": "sentiment"})
MEASURED["column"] = "sentiment_" + MEASURED["instrument"]


def agreement(*, follows: str) -> pd.DataFrame:
    """Estimates where a sentence's score is its text's tone of a group, or the scorer's of it."""
    rng = np.random.default_rng(5)
    groups = READ.sentences.groupby(SENTENCE)["group"].agg(
        lambda group: next((g for g in group if g != NEUTRAL), NEUTRAL)
    )
    table = groups.astype(str).reset_index()
    for scorer in SCORERS[:2]:
        by = table["group"] if follows == "group" else scorer
        key = table["text_id"].astype(str) + by
        effects = np.random.default_rng(6 if follows == "group" else len(scorer))
        effect = pd.Series(effects.normal(size=key.nunique()), index=key.unique())
        table[f"sentiment_{scorer}"] = key.map(effect) + rng.normal(size=len(table))
    table["sentiment_combined"] = table[["sentiment_first", "sentiment_second"]].mean(axis=1)
    scored = news.scoring.Scored(table.drop(columns="group"), MEASURED)
    scores = news.tone.pair_scores(READ, scored)
    return news.tone.agreement(scores, MEASURED, confidence=0.95)


@pytest.mark.parametrize("follows", ["group", "scorer"])
def test_what_the_scores_follow_is_said(follows: str) -> None:
    table = agreement(follows=follows)
    heading, _ = news.sentences.agreement(table)
    assert heading.endswith("between scorers" if follows == "scorer" else "between groups")
    tables.check(table, tables.ESTIMATES)
    # The mean of both scorers is none of its own: it agrees with them by construction.
    assert set(table["second_instrument"].dropna()) == {"first", "second"}
    # Articles have two texts each, and are counted once.
    assert table.loc[table["dimension"] == "articles", "n"].max() <= PAIRS["article_id"].nunique()


@pytest.mark.parametrize(
    ("scorer", "biases"),
    [("vader", ["gender", "race"]), ("vader", ["gender"]), ("combined", ["race"])],
)
def test_one_scorer_is_not_measured(scorer: str, biases: list[str]) -> None:
    scored = news.scoring.score(READ, scorers=[scorer], toxicity_scorer="offline", swapped=False)
    scores = news.tone.pair_scores(READ, scored)
    scores = scores[scores["bias"].isin(biases)]
    table = news.tone.agreement(scores, scored.measured, confidence=0.95)
    heading, said = news.sentences.agreement(table)
    assert heading == "Agreement between scorers was not measured"
    assert "needs two methods" in said[0]
    assert table.loc[table["statistic"] == "validity_difference", "estimate"].isna().all()
