"""The papers' printed figures: shipped as printed, and put beside ours by key."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from nbbias import tables
from nbbias.llmbi import scoring
from nbbias.tables import data_path


@pytest.mark.parametrize("name", list(tables.PAPERS))
def test_every_paper_has_figures(name: str) -> None:
    assert not tables.read_published(name).empty


def test_every_shipped_file_belongs_to_a_paper() -> None:
    shipped = {path.stem for path in data_path("published").glob("*.csv")}
    assert shipped == set(tables.PAPERS)


def test_printed_prompts_of_llmbi_are_the_instruments_prompts() -> None:
    printed = tables.read_published("oketunji2023").rename(columns={"bias_type": "dimension"})
    pd.testing.assert_frame_equal(printed[["dimension", "prompt"]], scoring.prompts())


def test_printed_intervals_hold_their_values() -> None:
    printed = tables.read_published("fang2024").dropna(subset=["ci_low"])
    assert printed["value"].between(printed["ci_low"], printed["ci_high"]).all()


# --- beside -----------------------------------------------------------------------------------

OURS = pd.DataFrame({"key": ["a", "b", "c"], "estimate": [1.0, np.nan, 3.0], "note": list("xyz")})
PRINTED = pd.DataFrame({"key": ["c", "a", "b"], "value": [2.5, 1.0, 9.0], "page": [1, 2, 3]})


def beside(ours: pd.DataFrame, printed: pd.DataFrame) -> pd.DataFrame:
    return tables.compare_with_published(
        ours, printed, on=["key"], value="estimate", printed_value="value"
    )


def test_figures_meet_by_key_not_by_place() -> None:
    table = beside(OURS, PRINTED)
    assert table["printed"].tolist() == [1.0, 9.0, 2.5]
    assert list(table) == ["key", "ours", "note", "printed", "difference"]


def test_difference_is_ours_minus_printed_and_missing_where_either_is() -> None:
    difference = beside(OURS, PRINTED.query("key != 'a'"))["difference"]
    assert difference.isna().tolist() == [True, True, False]
    assert difference[2] == 0.5


def test_every_row_of_ours_stays_without_a_printed_one() -> None:
    table = beside(OURS, PRINTED.head(0))
    assert len(table) == 3
    assert table["printed"].isna().all()


def test_a_figure_printed_twice_is_refused() -> None:
    with pytest.raises(pd.errors.MergeError):
        beside(OURS, pd.concat([PRINTED, PRINTED]))


def test_our_table_is_not_changed() -> None:
    before = OURS.copy()
    beside(OURS, PRINTED)
    pd.testing.assert_frame_equal(OURS, before)
