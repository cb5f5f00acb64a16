"""Active sampling: weights by hand, shares by statsmodels, coverage where labelling stops early."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from statsmodels.stats.proportion import proportion_confint

from nbbias import stats, tables


def label(texts: pd.DataFrame, truth: pd.Series, *, width: float, seed: int) -> stats.Estimate:
    """Label rounds of 40 until the interval is narrow enough."""
    texts = texts.assign(label=np.nan, counted=np.nan, round=np.nan, probability=np.nan)
    for number in range(1, 30):
        drawn = stats.draw_round(texts, size=40, seed=100 * seed + number)
        assert len(drawn) == min(40, texts["round"].isna().sum()) and drawn.between(0, 1).all()
        texts.loc[drawn.index, "label"] = truth[drawn.index]
        texts.loc[drawn.index, "probability"], texts.loc[drawn.index, "round"] = drawn, number
        marks = texts.assign(cell="", raters=texts["label"].notna())
        texts["counted"] = stats.label_probability(marks, pd.Series({"": len(texts)}))
        row = stats.active_share(texts["score"], texts["label"], probability=texts["counted"])
        if row.ci_high - row.ci_low <= width and number > 1:
            break
    return row


def test_a_label_counts_by_the_rounds_in_which_its_text_could_be_drawn() -> None:
    # Of 10 texts, 2 are drawn alike, then 3 of 8 with unequal chances; one of these has no label.
    rounds = pd.DataFrame({"cell": "m", "round": [1, 1, 2, 2, 2], "raters": [1, 1, 1, 1, 0]})
    rounds["probability"] = [0.2, 0.2, 0.5, 0.25, 0.4]
    weight = 1 / stats.label_probability(rounds, pd.Series({"m": 10}))
    assert np.isnan(weight[4])
    # A round counts by the precision that a uniform draw of its size would have had.
    parts = np.array([1 / 8 - 1 / 10, 1 / 6 - 1 / 8]) / (1 / 6 - 1 / 10)
    response = 2 / 3
    by_hand = [parts[0] / 0.2 + parts[1]] * 2 + [
        parts[1] / (0.5 * response),
        parts[1] / (0.25 * response),
    ]
    assert weight[:4].tolist() == pytest.approx(by_hand)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("probability", 0.0, "above 0"),
        ("probability", 1.5, "at most 1"),
        ("probability", None, "above 0"),
        ("round", 0, "without a gap"),
        ("round", 4, "without a gap"),
        ("round", None, "two rounds"),
        ("annotator", "bob", "two labels by one person"),
    ],
)
def test_a_sheet_whose_draw_was_edited_is_refused(column: str, value: object, message: str) -> None:
    rows = [[name, person, 1 + (name == "c")] for name in "abc" for person in ("ann", "bob")]
    sheet = pd.DataFrame(rows, columns=["text_id", "annotator", "round"])
    sheet = sheet.assign(biased=True, probability=0.5).astype({"round": "Int64"})
    cells = pd.Series("m", index=list("abcd"))
    assert stats.summarize_labels(sheet, "biased", cells=cells)["raters"].eq(2).all()
    sheet.loc[0, column] = value
    with pytest.raises(tables.NbbiasError, match=message):
        stats.summarize_labels(sheet, "biased", cells=cells, where="s.csv")
    # Labels of other texts are left aside.
    stats.summarize_labels(sheet, "biased", cells=cells.drop("a"))


def test_weights_are_1_on_average_whatever_the_probabilities() -> None:
    rng, n = np.random.default_rng(5), 60
    texts = pd.DataFrame({"score": rng.random(n), "cell": "m", "raters": 1.0})
    texts = texts.assign(label=np.nan, counted=np.nan, round=np.nan, probability=np.nan)
    weights = []
    for seed in range(80):
        drawn = texts.copy()
        for number in (1, 2):
            chance = stats.draw_round(drawn, size=8, seed=10 * seed + number)
            drawn.loc[chance.index, "label"] = (drawn["score"] > 0.5)[chance.index] * 1.0
            drawn.loc[chance.index, "round"], drawn.loc[chance.index, "probability"] = (
                number,
                chance,
            )
            drawn["counted"] = stats.label_probability(drawn, pd.Series({"m": n}))
        weights.append((1 / drawn["counted"]).fillna(0))
    unsure = (texts["score"] - 0.5).abs() < 0.2
    by_text = pd.concat(weights, axis=1)
    for part in (by_text[unsure], by_text[~unsure]):
        means = part.mean()
        assert means.mean() == pytest.approx(1, abs=3.5 * means.sem())
    assert (by_text > 0)[unsure].mean(axis=None) > (by_text > 0)[~unsure].mean(axis=None)


def test_a_judge_without_scores_leaves_wilsons_interval_of_the_labels() -> None:
    truth = pd.Series([1.0] * 9 + [0.0] * 21)
    label = pd.concat([truth, pd.Series([np.nan] * 270)], ignore_index=True)
    row = stats.active_share(label * np.nan, label, probability=label * 0 + 0.1)
    assert row.n == 30 and row.estimate == pytest.approx(0.3)
    # Of a finite corpus the labels say more, and its texts are a sample themselves.
    ends = proportion_confint(9, 30, method="wilson")
    assert (row.ci_low, row.ci_high) == pytest.approx(ends, abs=0.006)
    every = stats.active_share(truth * np.nan, truth, probability=truth * 0 + 1)
    assert (every.ci_low, every.ci_high) == pytest.approx(ends, abs=1e-6)


@pytest.mark.parametrize("judge", ["inverted", "noise"])
def test_intervals_hold_where_labelling_stops_as_soon_as_they_are_narrow(judge: str) -> None:
    rng = np.random.default_rng(3)
    held = 0
    for seed in range(30):
        chance = expit(2.5 * rng.normal(size=600) - 1)
        truth = pd.Series((rng.random(600) < chance) * 1.0)
        score = {"inverted": 1 - chance, "noise": rng.random(600)}[judge]
        row = label(pd.DataFrame({"score": score}), truth, width=0.25, seed=seed)
        held += row.ci_low <= 0.371 <= row.ci_high
    assert held >= 25  # at a level of .95, fewer have probability .003
