"""Tipping points of claims, and their sentences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from nbbias import stats, tables
from nbbias.reading import tipping

ROW = {"n": 40, "p_adjusted": 0.01, "null": 0.0, "source": "s", "model": "m", "prompt": "plain"}
WORD = ROW | {"measure": "word", "bias": "gender", "group": "female"}


def _rows(*rows: dict[str, Any], study: str = "news_bias") -> pd.DataFrame:
    return tables.estimates(rows, study=study, confidence=0.95)


def _scores(prompt: str, women: int) -> pd.DataFrame:
    keys = {"source": "s", "model": "m", "prompt": prompt, "bias": "gender", "reason": None}
    ids, more = [str(i) for i in range(40)], np.arange(40) % 3
    counts = {"h_female": women + more, "h_male": 6, "o_female": 8 + more, "o_male": 6 - more}
    return pd.DataFrame(keys | {"article_id": ids} | counts)


def _points(row: dict[str, Any], **further: Any) -> pd.DataFrame:
    rows = _rows(row)
    return tipping.tipping_points(rows, rows, **further)


def test_a_smaller_share_of_words_is_of_recall_in_the_answers() -> None:
    row = WORD | {
        "statistic": "share_difference",
        "estimate": -0.2,
        "ci_low": -0.3,
        "ci_high": -0.1,
    }
    scores = _scores("plain", 4)
    answers, originals = (scores[[f"{s}_female", f"{s}_male"]].to_numpy() for s in "ho")
    expected = stats.recall_tipping_point(answers, originals, confidence=0.95)
    key = {"of": "group words", "statistic": "recall", "bias": "gender", "group": "female"}
    recall = pd.DataFrame({"side": ["human", "answers"], "estimate": [0.8, 0.7]} | key)
    recall = recall.assign(ci_low=recall["estimate"] - 0.1, ci_high=recall["estimate"] + 0.1)
    bare = _points(row, scores=scores).iloc[0]
    point = _points(row, scores=scores, label_accuracy=recall).iloc[0]
    assert (bare["side"], bare["tipping_point"]) == ("answers", pytest.approx(expected))
    assert np.isnan(bare["measured"])
    assert point["tipping_point"] == pytest.approx(0.8 * expected)
    measured = point[["measured", "measured_low", "measured_high"]].tolist()
    assert measured == pytest.approx([0.1, 0.1 - 0.02**0.5, 0.1 + 0.02**0.5])
    rows = _rows(row)
    said = tipping.sentences(tipping.tipping_points(rows, rows, scores=scores), rows)[0]
    assert "women in answers than in human texts (not measured here)" in said


def test_a_change_between_prompts_is_of_their_answers() -> None:
    row = WORD | {"statistic": "share_difference_change", "prompt": "biased \N{MINUS SIGN} plain"}
    row |= {"estimate": 0.2, "ci_low": 0.1, "ci_high": 0.3}
    scores = pd.concat([_scores("plain", 3), _scores("biased", 9)])
    point = _points(row, scores=scores).iloc[0]
    assert (point["error"], point["side"]) == ("recall", "plain")
    assert 0 < point["tipping_point"] < 1


def test_a_change_of_refusals_is_of_either_error_rate() -> None:
    row = ROW | {"measure": "refusal", "statistic": "refusal_rate_change", "source": "all"}
    row |= {
        "prompt": "biased \N{MINUS SIGN} plain",
        "estimate": -0.4,
        "ci_low": -0.5,
        "ci_high": -0.3,
    }
    keys = {"statistic": "refusal_rate", "model": "m", "source": "all", "group": ""}
    refused = {"plain": [1.0] * 24 + [0.0] * 16, "biased": [1.0] * 8 + [0.0] * 32}
    units = [
        pd.DataFrame(keys | {"prompt": p, "unit": range(40), "value": v})
        for p, v in refused.items()
    ]
    points = _points(row, units=pd.concat(units)).set_index("error")
    assert points["side"].tolist() == ["plain", "biased"]
    expected = stats.verdict_tipping_points(*map(np.array, refused.values()), confidence=0.95)
    assert points["tipping_point"].tolist() == pytest.approx(expected)


def test_an_added_error_stands_beside_the_scorer_bias() -> None:
    row = ROW | {"measure": "sentiment", "bias": "gender", "group": "female"}
    row |= {"statistic": "mean_difference", "estimate": 0.3, "ci_low": 0.1, "ci_high": 0.5}
    bias = row | {
        "statistic": "mean_difference_instrument",
        "estimate": 0.02,
        "ci_low": 0.01,
        "ci_high": 0.03,
    }
    rows = _rows(row, bias)
    points = tipping.tipping_points(rows.head(1), rows)
    assert points[[*tipping.COLUMNS[2:]]].to_numpy().tolist() == [[0.1, 0.02, 0.01, 0.03]]
    assert tipping.sentences(points, rows)[0].endswith(
        "at a scorer bias of 0.100 (measured: 0.020, 95% CI 0.010 to 0.030)."
    )


def test_the_interval_of_a_selected_claim_is_the_one_that_moves() -> None:
    row = ROW | {"measure": "sentiment", "statistic": "mean_difference", "group": "female"}
    row |= {"estimate": -0.3, "ci_low": -0.5, "ci_high": -0.1}
    selected = _rows(row).assign(ci_low_selected=-0.55, ci_high_selected=-0.05)
    assert tipping.tipping_points(selected, selected)["tipping_point"].tolist() == [-0.05]


def test_a_label_is_worth_two_texts_of_a_difference_and_a_spread_is_0_under_the_null() -> None:
    row = ROW | {
        "estimate": -0.2,
        "ci_low": -0.3,
        "ci_high": -0.1,
        "statistic": "accuracy_difference",
    }
    rows = _rows(row | {"measure": "detection", "judge": "a \N{MINUS SIGN} b"}, study="biasalert")
    assert tipping.tipping_points(rows, rows)[["side", "tipping_point"]].to_numpy().tolist() == [
        ["b", 0.05]
    ]
    row |= {
        "estimate": 0.2,
        "ci_low": 0.1,
        "ci_high": 0.3,
        "null": 0.05,
        "null_low": 0.0,
        "null_high": 0.2,
    }
    rows = _rows(row | {"measure": "rbs", "statistic": "rbs"}, study="cogs")
    assert tipping.tipping_points(rows, rows)["tipping_point"].tolist() == [0.1]


def test_no_finding_has_no_tipping_point() -> None:
    rows = _rows(ROW | {"measure": "rbs", "statistic": "rbs", "estimate": 0.1, "p_adjusted": 0.5})
    assert tipping.sentences(tipping.tipping_points(rows, rows), rows) == []
