"""The figures of news: their rows are those of the table; published values beside ours."""

import pandas as pd
import pytest

from nbbias import tables
from nbbias.news import figures, tables as news_tables
from tests.news.test_words import FOUND

pytestmark = pytest.mark.usefixtures("style")


TABLE = pd.concat([FOUND[2].assign(bias="gender"), FOUND[3].assign(bias="race")], ignore_index=True)


def test_differences_and_those_at_equal_length_are_drawn_panel_by_panel() -> None:
    rows = figures.differences(TABLE, "word").rows
    for side, statistic in (("ours", ""), ("further", "_passages")):
        shown = rows[rows["side"] == side]
        # Both biases have a group a; of two that mirror each other one is drawn.
        assert {*shown["panel"]} == {"gender: a", "race: a", "b", "c"}
        of_a = shown[shown["panel"] == "race: a"].set_index("model")["estimate"]
        own = TABLE.query("bias == 'race' and group == 'a'").set_index("statistic")
        own = own.loc[f"share_difference{statistic}"].set_index("model")["estimate"]
        assert of_a.to_dict() == own.to_dict()


# --- the published values -------------------------------------------------------------------

FOCUS = {"gender": "female", "race": "Black"}


def ours(measure: str, instrument: str = "an instrument") -> pd.DataFrame:
    row = {"source": "s", "prompt": "p", "measure": measure, "instrument": instrument, "n": 9}
    rows = [
        row | {"model": model, "bias": bias, "statistic": statistic, "group": group, "estimate": d}
        for model, d in (("x", 0.2), ("y", 0.3))
        for bias, groups in {"race": ["White", "Black"], "gender": ["female", "male"]}.items()
        for statistic in ("bias", "prejudice_share", "share_difference")
        for group in ([None] if statistic == "bias" else groups)
    ]
    return tables.estimates(rows, study="news_bias", confidence=0.95)


def test_ours_are_compared_with_the_published_values_of_the_same_statistic_and_group() -> None:
    table = news_tables.published(ours("word"), focus=FOCUS)
    keys = ["bias", "statistic", "group"]
    paper = tables.read_published("fang2024").query("prompt == 'neutral' and measure == 'word'")
    values = paper.fillna({"group": ""}).groupby(keys)["value"]
    for key, row in table.set_index(keys).iterrows():
        same = values.get_group(key)
        assert (row["ours, min"], row["ours, max"]) == (0.2, 0.3)
        assert (row["published, min"], row["published, max"]) == (same.min(), same.max())
    shown = {*table[keys].itertuples(index=False, name=None)}
    assert {("gender", "bias", ""), ("gender", "prejudice_share", "female")} <= shown
    assert {("race", "share_difference", group) for group in ("White", "Black")} <= shown
    assert ("gender", "prejudice_share", "male") not in shown


def test_a_fallback_of_toxicity_is_not_compared_with_published_values() -> None:
    fallback = ours("toxicity", "profanity (fallback, not Detoxify)")
    assert news_tables.published(fallback, focus=FOCUS).empty
    assert len(news_tables.published(ours("toxicity", "Detoxify 0.5.4 original"), focus=FOCUS))
