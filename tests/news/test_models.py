"""Models against each other: words and tone in one shape, and statsmodels' mixed model of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

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
    found = models.units([scores("word"), scores("sentiment")], focus={"x": "b"})
    assert found["measure"].value_counts().to_dict() == {"word": 4, "sentiment": 4}
    assert set(found["group"]) == {"b"}
    word = found[found["measure"] == "word"]
    assert word["difference"].tolist() == pytest.approx([1.0, 1.1, 1.2, 1.3])
    assert set(models.units([scores("word")], focus={"x": "nobody"})["group"]) == {"a"}


def test_what_hangs_on_a_fit_is_left_out_and_lost_pairs_are_missing() -> None:
    """A mean over fits, taken as measured, gave p = 1.5e-88 where fits differ in the sign."""
    fits = pd.concat([scores("document", seed=1), scores("document", seed=2, difference_a=1.0)])
    assert models.units([fits], focus={}).empty
    lost = scores("word", reason=["blank answer", None, None, None])
    assert models.units([lost], focus={})["difference"].isna().tolist() == [True, *[False] * 3]


def test_of_several_instruments_the_first_counts_and_repeats_are_pooled() -> None:
    both = pd.concat([scores("sentiment"), scores("sentiment", instrument="j", difference_a=9.0)])
    found = models.units([both], focus={})
    assert set(found["instrument"]) == {"i"} and found["difference"].max() < 1
    twice = pd.concat([scores("sentiment"), scores("sentiment", difference_a=1.0)])
    found = models.units([twice], focus={})
    assert found["difference"].tolist() == pytest.approx([0.5, 0.55, 0.6, 0.65])


def test_nothing_is_an_empty_table() -> None:
    assert models.units([], focus={}).empty
    nothing = scores("word", difference_a=np.nan, difference_b=np.nan)
    assert models.units([nothing], focus={}).empty
