"""What N can show, derived from the power of the t-test; clauses, from rows with known answers."""

from __future__ import annotations

import pandas as pd

from nbbias import reading, tables
from nbbias.reading import plain
from tests.reading.rows import SOME, rows_of


def test_several_names_are_joined_and_the_rest_is_counted() -> None:
    assert plain.listed(["a"]) == "a"
    assert plain.listed(["a", "b"]) == "a and b"
    assert plain.listed(list("abcde")) == "a, b, c and 2 more"


def test_sizes_are_in_whole_points_with_the_unit_once() -> None:
    row = rows_of(SOME[0]).iloc[0].to_dict()
    assert plain.between(row, [-0.16, 0.09]) == "9 to 16 points"
    assert plain.between(row, [0.101, 0.099]) == "10 points"
    assert plain.between(row, [0.0004, 0.3]) == "0 to 30 points"
    assert plain.size(row, 0.01) == "1 point"


def test_an_interval_that_holds_0_is_not_written_as_a_size() -> None:
    row = rows_of(SOME[0]).iloc[0].to_dict() | {"estimate": -0.1}
    crossing = pd.DataFrame([row | {"ci_low": -0.3, "ci_high": 0.1}])
    assert plain.far(crossing, "less") == "10 points less"
    clear = pd.DataFrame([row | {"ci_low": -0.3, "ci_high": -0.02}])
    assert plain.far(clear, "less") == "10 points less (between 2 and 30)"


def test_equivalence_is_told_with_its_bound() -> None:
    rows = rows_of(*SOME[1:]).assign(claim=1, smallest_effect=0.2, verdict="equivalent within ±0.2")
    first, second = plain.nothing(plain.families(rows), reference="the originals")
    assert first.startswith("In 2 models no difference from the originals larger than what was")
    assert "women's share of the words to within 20 points" in first
    assert "95% confidence" in second


def test_the_key_figure_gives_every_panel_the_same_rows() -> None:
    rows = rows_of(*SOME)
    other = rows.head(2).iloc[::-1].assign(group="Black", bias="race")
    drawn = reading.forest(pd.concat([rows, other]), reference="in the originals")
    by_panel = drawn.rows.groupby("panel", sort=False)["cell"].apply(list)
    assert by_panel.tolist() == [["m0", "m1", "m2"]] * 2
    assert drawn.rows["estimate"].notna().sum() == 5
    assert drawn.title == "No difference could be shown" and "in the originals" in drawn.caption
    shown = reading.forest(rows.assign(p_adjusted=0.001), reference="in the originals")
    assert "in 3 of 3 models" in shown.title or "in 1" in shown.title or "in 2" in shown.title


def test_a_run_without_any_estimate_draws_nothing() -> None:
    nothing = tables.estimates([], study="news_bias")
    assert reading.forest(nothing, reference="in the originals").rows.empty
    assert plain.technical([]) == "" and plain.leading([]).empty
