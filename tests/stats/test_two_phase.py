"""Double sampling: by hand, coverage of a known truth, mirror images; rounds that stop early."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from statsmodels.stats.proportion import proportion_confint

from nbbias import stats, tables


def test_labels_and_verdicts_together_are_the_labelled_share_by_verdict() -> None:
    # 40 of 100 are flagged; of 10 flagged ones with a label 6 are biased, of 20 others 1.
    flagged = pd.Series([1.0] * 40 + [0.0] * 60)
    label = pd.Series(np.nan, index=range(100))
    label[:10], label[40:60] = [1.0] * 6 + [0.0] * 4, [1.0] + [0.0] * 19
    found = stats.two_phase(flagged, label).row()
    assert found["estimate"] == pytest.approx(0.4 * 6 / 10 + 0.6 * 1 / 20)
    assert found["n"] == 30
    # A judge that tells nothing leaves the labels as they are, Wilson and all.
    silent = stats.two_phase(flagged * np.nan, label).row()
    assert silent["estimate"] == pytest.approx(7 / 30)
    ends = [silent[f"ci_{end}"] for end in ("low", "high")]
    assert ends == pytest.approx(list(proportion_confint(7, 30, method="wilson")))
    assert found["ci_high"] - found["ci_low"] < ends[1] - ends[0]


def test_a_verdict_without_a_label_takes_the_share_of_all_labels() -> None:
    flagged = pd.Series([1.0, 0.0, 0.0, 0.0, np.nan])
    label = pd.Series([np.nan, 1.0, 0.0, np.nan, np.nan])
    assert stats.two_phase(flagged, label).estimate == pytest.approx(0.5)
    assert np.isnan(stats.two_phase(flagged, label * np.nan).estimate)


def test_no_biased_label_of_few_prompts_is_less_certain_than_of_many() -> None:
    flagged, label = pd.Series([0.0] * 100), pd.Series([0.0] * 40 + [np.nan] * 60)
    few = stats.two_phase(flagged, label, prompts=np.repeat(np.arange(20), 5)).row()
    many = stats.two_phase(flagged, label).row()
    assert few["estimate"] == few["ci_low"] == 0
    # Eight prompts hold the labels.
    assert few["ci_high"] == pytest.approx(proportion_confint(0, 8, method="wilson")[1])
    assert few["ci_high"] > many["ci_high"]


def test_all_labels_biased_mirror_none_biased_where_prompts_differ_in_answers() -> None:
    rng = np.random.default_rng(7)
    for _ in range(40):
        prompts = np.repeat(np.arange(12), rng.integers(1, 8, 12))
        said = pd.Series(rng.choice([0.0, 1.0, np.nan], len(prompts)))
        label = pd.Series(np.where(rng.random(len(prompts)) < 0.3, 1.0, np.nan))
        label[0] = 1.0
        every = stats.two_phase(said, label, prompts=prompts).row()
        none = stats.two_phase(1 - said, 1 - label, prompts=prompts).row()
        assert none["estimate"] == 0 and 1 - 1e-12 < every["estimate"] <= 1
        ends = 1 - none["ci_high"], 1 - none["ci_low"]
        assert (every["ci_low"], every["ci_high"]) == pytest.approx(ends, nan_ok=True)


def test_labels_drawn_with_unequal_probabilities_count_by_the_inverse() -> None:
    # Flagged: labels 1, 1, 0 with weights 2, 2, 4; passed: 1, 0 with weights 5, 15.
    flagged = pd.Series([1.0] * 10 + [0.0] * 30)
    label = pd.Series(np.nan, index=range(40))
    label[[0, 1, 2, 10, 11]] = [1.0, 1.0, 0.0, 1.0, 0.0]
    probability = label.replace({1.0: 0.5, 0.0: 0.25})
    probability[[10, 11]] = [0.2, 1 / 15]
    found = stats.two_phase(flagged, label, probability=probability)
    assert found.estimate == pytest.approx(0.25 * 4 / 8 + 0.75 * 5 / 20)
    alike = stats.two_phase(flagged, label, probability=probability * 0 + 0.1)
    assert alike == stats.two_phase(flagged, label)


def test_an_oversample_of_hard_texts_is_covered_by_its_probabilities_alone() -> None:
    rng = np.random.default_rng(11)
    held = np.zeros(2)
    for _ in range(300):
        biased = rng.random(400) < 0.3
        flagged = pd.Series(np.where(rng.random(400) < 0.8, biased, ~biased) * 1.0)
        hard = rng.random(400) < np.where(biased, 0.8, 0.3)
        probability = pd.Series(np.where(hard, 0.3, 0.1))
        label = pd.Series(np.where(rng.random(400) < probability, biased * 1.0, np.nan))
        for at, how in enumerate(({}, {"probability": probability})):
            found = stats.two_phase(flagged, label, **how)
            held[at] += found.ci_low <= 0.3 <= found.ci_high
    assert held[0] / 300 < 0.85 and held[1] / 300 > 0.92


# --- active sampling --------------------------------------------------------------------------


def undrawn(scores: np.ndarray) -> pd.DataFrame:
    columns = dict.fromkeys(("label", "counted", "round", "probability"), np.nan)
    return pd.DataFrame({"score": scores, **columns})


def add_round(texts: pd.DataFrame, truth: pd.Series, *, size: int, number: int, seed: int) -> None:
    drawn = stats.draw_round(texts, size=size, seed=seed + number)
    assert len(drawn) == min(size, texts["round"].isna().sum()) and drawn.between(0, 1).all()
    texts.loc[drawn.index, "label"] = truth[drawn.index]
    texts.loc[drawn.index, "probability"], texts.loc[drawn.index, "round"] = drawn, number
    marks = texts.assign(cell="", raters=texts["label"].notna())
    texts["counted"] = stats.label_probability(marks, pd.Series({"": len(texts)}))


def label(texts: pd.DataFrame, truth: pd.Series, *, width: float, seed: int) -> stats.Estimate:
    """Label rounds of 40 until the interval is narrow enough."""
    for number in range(1, 30):
        add_round(texts, truth, size=40, number=number, seed=100 * seed)
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
    of_second = [parts[1] / (probability * response) for probability in (0.5, 0.25)]
    by_hand = [parts[0] / 0.2 + parts[1]] * 2 + of_second
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
    texts, weights = undrawn(np.random.default_rng(5).random(60)), []
    for seed in range(80):
        drawn = texts.copy()
        for number in (1, 2):
            truth = (texts["score"] > 0.5) * 1.0
            add_round(drawn, truth, size=8, number=number, seed=10 * seed)
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
        row = label(undrawn(score), truth, width=0.25, seed=seed)
        held += row.ci_low <= 0.371 <= row.ci_high
    assert held >= 25  # at a level of .95, fewer have probability .003
