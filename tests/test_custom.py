"""`nbbias.measure`: a user's function from texts to scores, against scipy and by hand."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats

import nbbias
from nbbias.tables import NbbiasError


@nbbias.measure
def number(texts: list[str]) -> Sequence[float | None]:
    """The number that a text holds; "none" was not measured."""
    assert all(text.strip() for text in texts)
    return [None if text == "none" else float(text) for text in texts]


def table(*values: float | str, **columns: Any) -> pd.DataFrame:
    return pd.DataFrame({"text": list(map(str, values)), **columns})


def rows(texts: pd.DataFrame | Path, statistic: str) -> pd.DataFrame:
    estimates = number(texts).estimates
    return estimates[estimates["statistic"] == statistic].reset_index(drop=True)


def test_texts_are_compared_with_their_references_in_pairs() -> None:
    texts, references = [3.0, 5, 4, 9, 7], [2.0, 3, 5, 6, 2]
    (row,) = rows(table(*texts, reference=references), "reference_difference").to_dict("records")
    test = scipy.stats.ttest_rel(texts, references)
    low, high = test.confidence_interval(0.95)
    assert (row["estimate"], row["null"], row["n"]) == (2.0, 0.0, 5)
    assert [row["p_value"], row["ci_low"], row["ci_high"]] == pytest.approx(
        [test.pvalue, low, high]
    )
    units = number(table(*texts, reference=references)).units
    assert units.groupby("statistic")["value"].mean()["reference_difference"] == 2.0


def test_three_groups_are_compared_with_the_others_and_two_once() -> None:
    values, groups = np.random.default_rng(0).normal(size=12), list("aabbcc") * 2
    found = rows(table(*values, group=groups), "group_difference")
    within = pd.Series(groups) == "a"
    test = scipy.stats.ttest_ind(values[within], values[~within], equal_var=False)
    assert found["p_value"][0] == pytest.approx(test.pvalue)
    assert list(found["group"]) == list("abc") and (found["p_adjusted"] >= found["p_value"]).all()
    assert len(rows(table(*values, group=list("ab") * 6), "group_difference")) == 1
    versions = table(*values, group=list("ab") * 6, id=np.repeat(range(6), 2))
    assert rows(versions, "group_difference")["test"].tolist() == ["paired t"]


def test_models_are_compared_on_common_units_whose_repeats_are_averaged(tmp_path: Path) -> None:
    answers = table(*[1, 3, 2, 4, 5, 1], llm=list("aaabbb"), id=[1, 1, 2, 1, 2, 3])
    answers.rename(columns={"text": "response"}).to_csv(tmp_path / "a.csv", index=False)
    (row,) = rows(tmp_path / "a.csv", "difference").to_dict("records")
    assert (row["model"], row["group"], row["n"], row["n_lost"]) == ("a", "b", 2, 1)
    assert row["estimate"] == pytest.approx((2 - 4 + 2 - 5) / 2)


def test_scores_of_0_and_1_are_shares() -> None:
    texts = table(*[1, 0, 1, 1, 0, 0], model=list("aaabbb"), id=range(6))
    means = rows(texts, "mean")
    assert means["ci_low"].between(0, 1).all() and means["ci_high"].between(0, 1).all()
    assert rows(texts, "difference")["test"].tolist() == ["two shares, pooled z"]
    assert rows(texts.assign(id=[1, 2, 3] * 2), "difference")["test"].tolist() == ["McNemar"]


def test_what_was_not_measured_is_counted_and_equal_scores_have_no_interval() -> None:
    (row,) = rows(table(7, 7, " ", "none", 7), "mean").to_dict("records")
    assert (row["estimate"], row["n"], row["n_lost"]) == (7.0, 3, 2)
    assert np.isnan(row["ci_low"]) and row["reason"] == "all values are equal"
    (row,) = rows(table(" ", "none"), "mean").to_dict("records")
    assert np.isnan(row["estimate"]) and row["reason"]


@pytest.mark.parametrize("returned", [[1.0], [1.0, float("inf")], ["a", "b"], None, [[1, 2], [3]]])
def test_a_function_that_returns_no_scores_is_refused(returned: Any) -> None:
    def broken(_: list[str]) -> Any:
        return returned

    with pytest.raises(NbbiasError, match="broken: must return a finite number or None for each"):
        nbbias.measure(broken)(table(1, 2))
    with pytest.raises(NbbiasError, match="needs the column text"):
        number(pd.DataFrame({"words": ["a"]}))
