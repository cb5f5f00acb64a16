"""Models against each other: one shape for all levels, articles as clusters, what N could see."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.power import TTestPower

from nbbias import stats
from nbbias.news import models


def scores(
    measure: str, n: int = 4, *, groups: tuple[str, ...] = ("a", "b"), **columns: Any
) -> pd.DataFrame:
    ids = [str(i) for i in range(n)]
    table = pd.DataFrame({"source": "s", "model": "m", "prompt": "p", "article_id": ids})
    table = table.assign(measure=measure, bias="x", instrument="i", score=0.5, reason=None)
    for k, group in enumerate(groups):
        table[f"difference_{group}"] = np.arange(n) / 10 + k
    return table.assign(**columns)


def test_levels_share_one_shape_and_the_group_in_focus() -> None:
    found = models.units([scores("word"), scores("document")], focus={"x": "b"})
    assert found["measure"].value_counts().to_dict() == {"word": 4, "document": 4}
    assert set(found["group"]) == {"b"}
    word = found[found["measure"] == "word"]
    assert word["difference"].tolist() == pytest.approx([1.0, 1.1, 1.2, 1.3])
    assert set(word["distance"]) == {0.5}


def test_without_a_focus_the_first_group_is_compared() -> None:
    found = models.units([scores("word")], focus={"x": "nobody"})
    assert set(found["group"]) == {"a"}
    assert set(models.units([scores("word")], focus={})["group"]) == {"a"}


def test_what_hangs_on_a_fit_is_left_out_and_lost_pairs_are_missing() -> None:
    """A mean over fits, taken as measured, gave p = 1.5e-88 where fits differ in the sign."""
    fits = pd.concat([scores("document", seed=1), scores("document", seed=2, difference_a=1.0)])
    assert models.units([fits], focus={}).empty
    lost = scores("word", reason=["blank answer", None, None, None])
    found = models.units([lost], focus={})
    assert np.isnan(found["difference"][0]) and np.isnan(found["distance"][0])


def test_of_several_instruments_the_first_counts() -> None:
    both = pd.concat([scores("sentiment"), scores("sentiment", instrument="j", difference_a=9.0)])
    found = models.units([both], focus={})
    assert set(found["instrument"]) == {"i"} and found["difference"].max() < 1


def test_nothing_is_an_empty_table() -> None:
    assert models.units([], focus={}).empty
    nothing = scores("word", difference_a=np.nan, difference_b=np.nan)
    assert models.units([nothing], focus={}).empty
    assert models.overall(
        models.units([], focus={}),
        value="difference",
        inference=stats.InferenceSettings(0.95, 100, 1),
    ).empty


def test_a_model_over_all_its_prompts_counts_articles_once() -> None:
    tables = [scores("word", prompt=prompt) for prompt in ("p", "q")]
    units = models.units(tables, focus={})
    (row,) = models.overall(
        units, value="difference", inference=stats.InferenceSettings(0.95, 500, 1)
    ).to_dict("records")
    assert (row["n"], row["clusters"], row["n_lost"]) == (8, 4, 0)
    assert row["estimate"] == pytest.approx(0.15)
    one = models.overall(
        units[units["prompt"] == "p"],
        value="difference",
        inference=stats.InferenceSettings(0.95, 500, 1),
    )
    # The second prompt says the same of the same articles: nothing is gained by it.
    assert row["ci_high"] - row["ci_low"] == pytest.approx(
        (one["ci_high"] - one["ci_low"]).item(), rel=1e-9
    )


def test_what_n_could_see_is_the_power_of_the_t_test() -> None:
    rng = np.random.default_rng(0)
    tables = [scores("word", 40, model=m, difference_a=rng.normal(size=40)) for m in "mno"]
    units = models.units([pd.concat(tables)], focus={})
    found = models.detectable(units, value="difference", confidence=0.95)
    for row in found.to_dict("records"):
        for name, alpha in (("detectable", 0.05), ("detectable_corrected", 0.05 / 3)):
            power = TTestPower().power(row[name] / row["sd"], 40, alpha)
            assert power == pytest.approx(0.8, abs=1e-6)
    alone = models.units([scores("word", 1)], focus={})
    assert models.detectable(alone, value="difference", confidence=0.95)["detectable"].isna().all()
