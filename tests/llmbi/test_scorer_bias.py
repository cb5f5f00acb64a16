"""Scorer bias of the index: raw is corrected plus scorer bias, by hand and by property."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from nbbias import llmbi, stats, tables
from nbbias.llmbi import estimates, scoring
from nbbias.params import Texts
from nbbias.text import sentiment
from tests.llmbi.test_estimates import FORMULA, REFERENCE
from tests.llmbi.test_scoring import answers

PROSE = REFERENCE.assign(polarity_vader=REFERENCE["polarity_textblob"] / 2)
KEYS = ["model", "group", "dimension"]


def swaps_of(*texts: str | None) -> pd.DataFrame:
    measured = scoring.measure(answers(*texts), scorers=["textblob", "vader"])
    return estimates.swap_effects(measured, scorers=["textblob", "vader"])


def size(text: str) -> float:
    return abs(float(sentiment.score([text])["polarity"][0]))


def estimated(table: pd.DataFrame, swaps: pd.DataFrame, **formula: Any) -> pd.DataFrame:
    chosen = {
        "formula": FORMULA | formula,
        "inference": stats.InferenceSettings(n_permutations=100),
    }
    aggregation = chosen["formula"].pop("aggregation", "mean")
    scores = scoring.score_answers(table, **chosen["formula"])
    result = estimates.estimates(scores, PROSE, swaps=swaps, aggregation=aggregation, **chosen)
    return result.estimates


def made(polarity: list[list[float]], *, model: str = "m") -> pd.DataFrame:
    """One dimension a list, one prompt a value."""
    rows = [
        (model, f"d{i}", f"d{i} p{j}", 1, 4, value, value / 2)
        for i, values in enumerate(polarity)
        for j, value in enumerate(values)
    ]
    columns = [
        *("model", "dimension", "prompt", "sample", "n"),
        *("polarity_textblob", "polarity_vader"),
    ]
    return pd.DataFrame(rows, columns=columns)


def test_an_answer_counts_as_the_mean_over_the_groups_that_could_stand_there() -> None:
    found = swaps_of("The black nurse spoke.", "A good day.", None)
    sizes = [size(f"The {who} nurse spoke.") for who in ("black", "white", "Asian")]
    assert sizes[0] > 0.1
    assert found["swap_textblob"].tolist() == pytest.approx([sizes[0] - np.mean(sizes), 0, 0])
    assert found["named"].tolist() == [1, 0, 0]


def test_what_is_left_is_the_same_whoever_is_named() -> None:
    texts = [f"A warm {who} nurse gave a great speech." for who in ("black", "white", "Asian")]
    left = [size(text) for text in texts] - swaps_of(*texts)["swap_textblob"].to_numpy()
    np.testing.assert_allclose(left, left[0], atol=1e-9)


def test_effects_of_two_lists_add_up() -> None:
    """The other list's words stay as they are written while one's are exchanged."""
    text = "The {} nurse met {} in May."
    found = swaps_of(text.format("black", "gay people"), text.format("black", "her"))
    assert found["named"].tolist() == [2, 2]
    own = size(text.format("black", "gay people"))
    races = [size(text.format(who, "gay people")) for who in ("black", "white", "Asian")]
    others = [own, size(text.format("black", "heterosexual people"))]
    expected = own - np.mean(races) + own - np.mean(others)
    assert own != np.mean(others) and found["swap_textblob"][0] == pytest.approx(expected)
    alone = swaps_of("The black nurse met us in May.")["swap_textblob"][0]
    assert found["swap_textblob"][1] == pytest.approx(alone)  # "her" and "him" have no polarity


@pytest.mark.parametrize(
    "formula",
    [
        {},
        {"aggregation": "sum", "weights": {"d0": 2.0}},
        {"sentiment_scorer": "vader", "lambda_factor": 0.5},
    ],
)
def test_raw_is_corrected_plus_instrument_in_every_row(formula: dict[str, Any]) -> None:
    rng = np.random.default_rng(3)
    table = pd.concat(
        [made(rng.uniform(-1, 1, (4, 3)).tolist(), model=model) for model in "ab"],
        ignore_index=True,
    )
    swaps = pd.DataFrame(rng.normal(0, 0.1, (24, 2)), columns=["swap_textblob", "swap_vader"])
    found = estimated(table, swaps, **formula)
    for statistic in estimates.SPLIT:
        raw, corrected, alone = (
            found[found["statistic"] == statistic + of].set_index(KEYS)["estimate"].sort_index()
            for of in ("", estimates.CORRECTED, estimates.SCORER_BIAS)
        )
        assert len(raw) == {"index": 2, "difference": 1, "dimension_mean": 8}[statistic]
        np.testing.assert_allclose(raw, corrected + alone, atol=1e-12)
    # By hand: w B and lambda S are linear in the sizes of polarity.
    chosen = FORMULA | formula
    weight = pd.Series(chosen["weights"]).reindex(table["dimension"]).fillna(1).to_numpy()
    factor = 4 if formula.get("aggregation") == "sum" else 1
    tone = f"swap_{chosen['sentiment_scorer']}"
    added = factor * weight * swaps["swap_textblob"] + chosen["lambda_factor"] * swaps[tone]
    index = found[found["statistic"] == "index_instrument"]["estimate"]
    assert index.tolist() == pytest.approx(added.groupby(table["model"]).mean().tolist())


def test_no_row_that_stood_before_moves() -> None:
    table = made([[0.1, -0.3], [0.5, 0.2], [0.0, 0.4]])
    swaps = pd.DataFrame({"swap_textblob": 0.1, "swap_vader": 0.0}, index=table.index)
    found, before = (
        estimated(table, swaps),
        llmbi.estimates.estimates(
            scoring.score_answers(table, **FORMULA),
            REFERENCE,
            formula=FORMULA,
            inference=stats.InferenceSettings(n_permutations=100),
        ).estimates,
    )
    pd.testing.assert_frame_equal(found.head(len(before)), before, check_dtype=False)


def test_where_few_prompts_are_moved_there_is_no_interval_and_where_none_the_effect_is_0() -> None:
    table = made([[0.1, -0.3, 0.2], [0.5, 0.2, 0.3]])
    moved = pd.Series([0.1] * 4 + [0.0] * 2)
    swaps = pd.DataFrame({"swap_textblob": moved, "swap_vader": 0.0})
    for effects, estimate in ((swaps, 2.5 * 0.1 * 4 / 6), (swaps * 0, 0.0)):
        found = estimated(table, effects)
        row = found[found["statistic"] == "index_instrument"].iloc[0]
        assert row["estimate"] == pytest.approx(estimate)
        assert np.isnan(row["ci_low"]) and np.isnan(row["p_value"])
        assert row["reason"] == "fewer than 5 prompts are moved by the instrument alone"
    found = estimated(table, swaps + 0.01 * np.arange(6)[:, None])
    assert np.isfinite(found[found["statistic"] == "index_instrument"].iloc[0]["ci_low"])


def test_what_was_not_swapped_is_lost_with_a_reason() -> None:
    table = made([[0.1, -0.3], [0.5, 0.2]])
    none = pd.DataFrame(np.nan, index=table.index, columns=["swap_textblob", "swap_vader"])
    found = estimated(table, none).set_index("statistic")
    assert np.isfinite(found.loc["index", "estimate"])
    for statistic in ("index_corrected", "index_instrument"):
        assert np.isnan(found.loc[statistic, "estimate"]) and found.loc[statistic, "reason"]


def test_a_claim_on_the_corrected_index_leads_and_says_so() -> None:
    row = {
        "statistic": "index_corrected",
        "model": "a",
        "estimate": 0.5,
        "n": 18,
        "p_value": 0.2,
        "null": 0.44,
        "null_low": 0.37,
        "null_high": 0.5,
    }
    rows = tables.estimates([row], study="llmbi", confidence=0.95)
    lead = llmbi.sentences.lead(rows, texts=Texts("own", "answers.csv"))
    assert lead.plain[0].startswith("Corrected for scorer bias")
    assert "a scored 0.50" in lead.plain[0]


def test_the_page_shows_raw_corrected_and_scorer_bias() -> None:
    table = made([[0.1, -0.3, 0.2], [0.5, 0.2, 0.3]])
    swaps = pd.DataFrame({"swap_textblob": [0.1, 0.2, 0.3, 0, 0, 0], "swap_vader": 0.0})
    rows = llmbi.tables.split(estimated(table, swaps))
    assert rows["what"].tolist() == ["index", "dimension"]  # d1 does not change
    assert rows["dimension"].tolist()[1:] == ["d0"]
    assert rows["scorer bias"].tolist() == ["0.250", "0.500"]
    assert llmbi.tables.split(estimated(table, swaps * 0)).empty
