"""Families of tests: against statsmodels family by family, and what must hold of any family."""

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given, strategies as st
from statsmodels.stats.multitest import multipletests

from nbbias import stats, tables

P = st.floats(0, 1) | st.just(np.nan)
ROWS = st.lists(st.tuples(P, st.sampled_from(["x", "y", None])), min_size=1)


def table(p: list[float], **columns: list) -> pd.DataFrame:
    return pd.DataFrame({"p_value": p, **columns})


@given(ROWS)
def test_each_family_is_corrected_as_statsmodels_does_a_gap_being_one_too(
    rows: list[tuple],
) -> None:
    p, names = map(list, zip(*rows, strict=True))
    found = stats.adjust(table(p, task=names), family=["task"])
    assert found.loc[np.isnan(p), "p_adjusted"].isna().all()
    for name in set(names):
        own = found[[one == name for one in names]].dropna(subset=["p_value"])
        if len(own):
            expected = multipletests(own["p_value"], method="holm")[1]
            assert own["p_adjusted"].tolist() == pytest.approx(expected)


def test_rows_outside_keep_what_they_have_and_do_not_count() -> None:
    rows = table([0.01, 0.02, 0.03], statistic=["a", "b", "c"])
    once = stats.adjust(rows, where={"statistic": ["a", "b"]})
    assert once["p_adjusted"].tolist() == pytest.approx([0.02, 0.02, np.nan], nan_ok=True)
    twice = stats.adjust(once, where=rows["statistic"] == "c")
    assert twice["p_adjusted"].tolist() == pytest.approx([0.02, 0.02, 0.03])
    assert "p_adjusted" not in rows


def test_images_are_matched_within_their_own_family_instrument_and_cell() -> None:
    columns = {"group": ["she", "he"] * 2, "instrument": list("iijj"), "statistic": ["d"] * 4}
    rows = table([0.01, 0.01, 0.03, 0.03], **columns)
    found = stats.adjust(rows, family=["instrument"], mirror="group")
    assert found["p_adjusted"].tolist() == pytest.approx([0.01, 0.01, 0.03, 0.03])
    whole = stats.adjust(rows, mirror="group")
    assert whole["p_adjusted"].tolist() == pytest.approx([0.02, 0.02, 0.03, 0.03])


def test_no_row_is_no_error() -> None:
    none = table([]).astype(float)
    assert stats.adjust(none.assign(group=[]), mirror="group")["p_adjusted"].tolist() == []
    assert stats.adjust(none)["p_adjusted"].tolist() == []
    assert stats.adjust(none.assign(task=[]), family=["task"])["p_adjusted"].tolist() == []


def test_a_row_that_no_outcome_could_bring_below_the_level_says_so() -> None:
    rows = [{"estimate": 1.0, "p_value": 1 / 16, "p_least": 1 / 16, "n": 4}] * 3
    rows += [{"estimate": 1.0, "p_value": 0.3, "p_least": 1e-4, "n": 30}]
    table = stats.adjust(tables.estimates(rows, study="cogs", confidence=0.95))
    assert table["reason"][:3].tolist() == [f"{tables.UNTESTABLE}0.19"] * 3
    assert table["reason"].isna().tolist()[3]  # it can be told, and was not
    assert table["p_adjusted"].tolist() == pytest.approx([4 / 16] * 3 + [0.3])
    # Alone, and at a lower level, one sixteenth is enough.
    alone = stats.adjust(tables.estimates(rows[:1], study="cogs", confidence=0.9))
    assert alone["reason"].isna().all()


def test_what_was_not_tested_takes_no_p_from_another_group() -> None:
    rows = table([0.01, 0.2, np.nan], group=list("abc"), statistic=["d"] * 3)
    found = stats.adjust(rows, where={"statistic": "d"}, mirror="group")
    assert found["p_adjusted"].tolist()[:2] == pytest.approx([0.02, 0.2])
    assert np.isnan(found["p_adjusted"][2])


# --- selection --------------------------------------------------------------------------------


@given(st.lists(st.floats(-6, 6), min_size=1, max_size=12))
def test_no_interval_of_a_claim_that_holm_selects_holds_0(t: list[float]) -> None:
    rows = pd.DataFrame({"estimate": t, "df": 30.0, "confidence": 0.95})
    half = scipy.stats.t.isf(0.025, 30)
    rows = rows.assign(ci_low=rows["estimate"] - half, ci_high=rows["estimate"] + half)
    rows = stats.adjust(rows.assign(p_value=2 * scipy.stats.t.sf(np.abs(t), 30)))
    ends = stats.selection_interval(rows).dropna()
    assert len(ends) == (rows["p_adjusted"] < 0.05).sum()
    assert (np.sign(ends["ci_low_selected"]) == np.sign(ends["ci_high_selected"])).all()
    # Benjamini and Yekutieli (2005): of m, R selected, each at 1 - alpha R / m.
    halves = ends["ci_high_selected"] - rows.loc[ends.index, "estimate"]
    expected = scipy.stats.t.isf(0.025 * len(ends) / len(rows), 30)
    assert halves.tolist() == pytest.approx([expected] * len(ends))
