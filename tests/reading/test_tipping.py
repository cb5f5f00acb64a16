"""Tipping points of claims, and their sentences."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from nbbias import stats, tables
from nbbias.reading import lead, tipping

MINUS = " \N{MINUS SIGN} "
#: The numbers of a tipping point: where it lies, and what was measured.
NUMBERS = tipping.COLUMNS[2:]


def rows_of(estimate: float, *, study: str = "news_bias", **keys: Any) -> pd.DataFrame:
    """A claim whose interval is .1 from its estimate, and its null value 0."""
    row = {"n": 40, "p_adjusted": 0.01, "null": 0.0, "source": "s", "model": "m", "prompt": "plain"}
    row |= {"estimate": estimate, "ci_low": estimate - 0.1, "ci_high": estimate + 0.1}
    return tables.estimates([row | keys], study=study, confidence=0.95)


def words(estimate: float, **keys: Any) -> pd.DataFrame:
    return rows_of(estimate, measure="word", bias="gender", group="female", **keys)


def scores(prompt: str, women: int) -> pd.DataFrame:
    keys = {"source": "s", "model": "m", "prompt": prompt, "bias": "gender", "reason": None}
    ids, more = [str(i) for i in range(40)], np.arange(40) % 3
    counts = {"h_female": women + more, "h_male": 6, "o_female": 8 + more, "o_male": 6 - more}
    return pd.DataFrame(keys | {"article_id": ids} | counts)


def test_a_smaller_share_of_words_is_of_recall_in_the_answers() -> None:
    claims, found = words(-0.2, statistic="share_difference"), scores("plain", 4)
    answers, originals = (found[[f"{s}_female", f"{s}_male"]].to_numpy() for s in "ho")
    expected = stats.recall_tipping_point(answers, originals, confidence=0.95)
    key = {"of": "group words", "statistic": "recall", "bias": "gender", "group": "female"}
    recall = pd.DataFrame({"side": ["human", "answers"], "estimate": [0.8, 0.7]} | key)
    recall = recall.assign(ci_low=recall["estimate"] - 0.1, ci_high=recall["estimate"] + 0.1)
    bare = tipping.tipping_points(claims, claims, scores=found)
    assert bare["side"].item() == "answers"
    assert bare[NUMBERS].to_numpy()[0] == pytest.approx([expected, *[np.nan] * 3], nan_ok=True)
    said = tipping.sentences(bare, claims)[0]
    assert said.endswith("more of the words for women in answers than in human texts.")
    point = tipping.tipping_points(claims, claims, scores=found, label_accuracy=recall)
    ends = [0.1 - 0.02**0.5, 0.1 + 0.02**0.5]
    assert point[NUMBERS].to_numpy()[0] == pytest.approx([0.8 * expected, 0.1, *ends])


def test_a_change_between_prompts_is_of_their_answers() -> None:
    claims = words(0.2, statistic="share_difference_change", prompt=f"a{MINUS}b{MINUS}plain")
    both = pd.concat([scores("plain", 3), scores(f"a{MINUS}b", 9)])
    point = tipping.tipping_points(claims, claims, scores=both).iloc[0]
    assert (point["error"], point["side"]) == ("recall", "plain") and 0 < point["tipping_point"] < 1


def test_a_change_of_refusals_is_of_either_error_rate() -> None:
    keys = {"statistic": "refusal_rate_change", "source": "all", "prompt": f"biased{MINUS}plain"}
    claims = rows_of(-0.4, measure="refusal", **keys)
    refused = {"plain": np.repeat([1.0, 0], [24, 16]), "biased": np.repeat([1.0, 0], [8, 32])}
    units = [pd.DataFrame({"prompt": p, "unit": range(40), "value": refused[p]}) for p in refused]
    units = pd.concat(units).assign(statistic="refusal_rate", model="m", source="all", group="")
    points = tipping.tipping_points(claims, claims, units=units)
    assert points["side"].tolist() == ["plain", "biased"]
    expected = stats.verdict_tipping_points(*refused.values(), confidence=0.95)
    assert points["tipping_point"].tolist() == pytest.approx(expected)


def test_an_added_error_stands_beside_the_scorer_bias() -> None:
    claims = rows_of(0.3, measure="sentiment", statistic="mean_difference", group="female")
    bias = claims.assign(statistic="mean_difference_instrument", estimate=0.02, ci_low=0.01)
    points = tipping.tipping_points(claims, pd.concat([claims, bias.assign(ci_high=0.03)]))
    assert points[NUMBERS].to_numpy()[0] == pytest.approx([0.2, 0.02, 0.01, 0.03])
    said = "by 0.200 (its measured bias on group words: 0.020, 95% CI 0.010 to 0.030)."
    assert tipping.sentences(points, claims)[0].endswith(said)
    selected = claims.assign(ci_low_selected=0.15, ci_high_selected=0.45)
    assert tipping.tipping_points(selected, selected)["tipping_point"].item() == 0.15


def test_a_label_is_worth_two_texts_of_a_difference() -> None:
    keys = {"statistic": "accuracy_difference", "judge": f"a{MINUS}b", "study": "biasalert"}
    claims = rows_of(-0.2, measure="detection", **keys)
    point = tipping.tipping_points(claims, claims).iloc[0]
    assert (point["side"], point["tipping_point"]) == ("b", pytest.approx(0.05))


@pytest.mark.parametrize("keys", [{"p_adjusted": 0.5}, {"study": "cogs"}])
def test_what_is_not_significant_or_a_standard_deviation_has_no_tipping_point(keys: Any) -> None:
    rows = rows_of(0.2, measure="rbs", statistic="rbs", **keys)
    points = tipping.tipping_points(rows, rows)
    assert points.empty and tipping.sentences(points, rows) == []


def test_shares_behind_a_difference_are_the_means_of_each_side() -> None:
    scores = pd.DataFrame({"article_id": [1, 2], "o_a": [1, 3], "o_b": [3, 3], "h_a": [1, 0]})
    scores = scores.assign(h_b=[1, 2], source="all", model="m", bias="b", prompt="p", reason=None)
    row = {"source": "all", "model": "m", "bias": "b", "prompt": "p", "group": "a"}
    row |= {"statistic": "share_difference"}
    assert lead.shares_of_words(row, scores) == ((1 / 4 + 1 / 2) / 2, (1 / 2 + 0) / 2)
