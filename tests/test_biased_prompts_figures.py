"""The figures by structure: what is drawn is the rows of the table."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib as mpl
import matplotlib.pyplot as plt
import pandas as pd
import pytest

from nbbias import biased_prompts, contracts, figures
from nbbias import biased_prompts_figures as drawn
from tests.test_biased_prompts import BIASED, NEUTRAL, compared, scores_of
from tests.test_figures import markers
from tests.test_news_figures import names, panels


@pytest.fixture(autouse=True)
def _style() -> Iterator[None]:
    with mpl.rc_context():
        mpl.use("Agg")
        figures.use_style()
        yield
    plt.close("all")


PRINTED = biased_prompts.printed()
OURS = pd.concat(
    [compared(scores_of(NEUTRAL, BIASED)), compared(scores_of(NEUTRAL, ["refused"], model="n"))],
    ignore_index=True,
).replace({"group": {"a": "female"}})


def rates() -> pd.DataFrame:
    rows = [
        {"model": m, "source": source, "prompt": prompt, "bias": bias, "group": group,
         "statistic": "refusal_rate", "estimate": rate, "ci_low": 0.0, "ci_high": 1.0, "n": 9}
        for m, rate in (("m", 0.2), ("n", 0.9)) for prompt in ("neutral", "biased")
        for source, bias, group in (
            ("all", None, None), ("nyt", None, None), ("all", "gender", "female"),
            ("all", "gender", "nobody named"),
        )
    ]  # fmt: skip
    return contracts.estimates(rows, study="biased_prompts", measure="refusal")


def xs(ax: plt.Axes) -> list[float]:
    return [float(x) for x, _ in markers(ax)]


def test_refusals_have_a_panel_for_all_and_for_each_group_named() -> None:
    rows = drawn.refusal_rows(rates())
    found = panels(drawn.refusals(rows))
    assert list(found) == ["all headlines", "gender: female", "gender: nobody"]
    for title, ax in found.items():
        own = rows[rows["panel"] == title]
        assert sorted(xs(ax)) == sorted(own["estimate"])


def test_outlets_have_a_panel_each() -> None:
    rows = drawn.outlet_rows(rates())
    assert list(panels(drawn.refusals(rows))) == ["nyt"]


def test_both_prompts_of_a_model_stand_together_neutral_first() -> None:
    rows = drawn.prejudice_rows(OURS, measure="sentiment", group="female")
    found = panels(drawn.prejudice(rows))
    assert list(found) == ["female: share", "female: extent"]
    assert names(found["female: share"]) == ["m, neutral", "m, biased", "n, neutral", "n, biased"]
    for title, ax in found.items():
        own = rows[rows["panel"] == title]
        assert sorted(xs(ax)) == pytest.approx(sorted(own["estimate"].dropna()))


def test_what_was_not_measured_is_written_and_not_drawn_at_0() -> None:
    rows = drawn.prejudice_rows(OURS, measure="sentiment", group="female")
    ax = panels(drawn.prejudice(rows))["female: share"]
    assert [t.get_text() for t in ax.texts] == ["not measured"]


def test_printed_changes_are_in_panels_of_their_own_and_marked() -> None:
    rows = drawn.change_rows(OURS, PRINTED, measure="sentiment", group="female")
    found = panels(drawn.changes(rows))
    assert list(found) == [
        "Δ share (ours)", "Δ share (printed, other corpus)",
        "Δ extent (ours)", "Δ extent (printed, other corpus)",
    ]  # fmt: skip
    printed = PRINTED[
        (PRINTED["measure"] == "sentiment") & (PRINTED["statistic"] == "prejudice_share_change")
    ]
    ax = found["Δ share (printed, other corpus)"]
    assert sorted(xs(ax)) == pytest.approx(sorted(printed["estimate"]))
    assert names(ax) == printed["model"].tolist()


def test_input_is_not_changed() -> None:
    before = OURS.copy()
    drawn.prejudice_rows(OURS, measure="sentiment", group="female")
    drawn.change_rows(OURS, PRINTED, measure="sentiment", group="female")
    pd.testing.assert_frame_equal(OURS, before)
