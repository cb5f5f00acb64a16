"""What the page of a calibration says and draws, and the full run whose rows ship."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from nbbias import calibration, reading, tables
from nbbias.calibration import estimates, figures, sentences
from nbbias.calibration.params import STUDY
from nbbias.params.yaml import read_yaml


@pytest.mark.usefixtures("toy")
def test_what_the_page_says(golden: Any) -> None:
    """Of a run, of one that shows nothing, and of families alone."""
    results = calibration.measure(
        n=[10, 30, 80], repeats=120, family_n=[10, 80], family_repeats=20, claims=[]
    )
    summary = calibration.summarize(results.outcomes, results.families, confidence=0.95)
    rows = estimates.name_kinds(summary)
    variants = {
        "a run": rows,
        "undecided": rows.assign(verdict="undecided"),
        "adequate": rows.assign(verdict=estimates.ADEQUATE[0]),
        "families alone": rows.query("kind == 'family'"),
    }
    said = {name: sentences.summarize(rows) for name, rows in variants.items()}
    full = calibration.shipped()
    lead = sentences.lead(full, texts=STUDY.sample)
    said["the full run"] = [*lead.plain, lead.technical]
    said["sections"] = [sentences.usable(full), sentences.held_out(full)]
    said["sections"].append(sentences.power(results.minimum_detectable_effects))
    golden("calibration", said)
    numbers = reading.lead.to_dict(lead)["numbers"]
    assert numbers and all("95% CI" in number["interval"] for number in numbers)


@pytest.mark.parametrize(("kind", "side"), [("interval", 1), ("test", -1)])
def test_the_lines_of_a_figure_give_the_verdicts_that_its_marks_show(kind: str, side: int) -> None:
    drawn = figures.limits(calibration.shipped(), kind)
    (ax,) = drawn.figure.axes
    tolerated, limit = (93, 90) if side > 0 else (7, 10)
    band = ax.patches[0].get_extents().transformed(ax.transData.inverted()).intervalx
    assert [*band] == pytest.approx(sorted((limit, limit + 10 * side)))
    marks = {line.get_ydata()[0]: line for line in ax.lines if line.get_marker() in ("o", "X")}
    assert len(marks) == {"interval": 23, "test": 20}[kind] and len(ax.texts) == 2
    ends: dict[float, list[list[float]]] = {y: [] for y in marks}
    for collection in ax.collections:
        (((one, y), (other, _)),) = collection.get_segments()
        ends[y].append(sorted((side * one, side * other)))
    for (y, mark), verdict in zip(marks.items(), drawn.rows["verdict"], strict=True):
        *worst, (low, _) = ends[y]
        fails = any(line[1] < side * tolerated for line in ends[y]) or not worst
        adequate = not fails and worst[0][0] > side * limit and low > side * tolerated
        assert (fails, adequate) == (verdict in estimates.FAILS, verdict in estimates.ADEQUATE)
        filled = mark.get_markerfacecolor() == reading.figures.INK
        assert (mark.get_marker() == "X", filled) == (fails, fails or adequate)


def test_power_is_drawn_and_shown_as_it_ships() -> None:
    full, table = calibration.shipped(), calibration.shipped_power()
    sound = sentences.exclude_failing(table, full)
    failing = full[full["verdict"].isin(estimates.FAILS) & (full["kind"] != "family")]
    assert sound.merge(failing, on=estimates.STATISTIC).empty
    drawn = figures.power(sound)
    shown = sentences.power_and_errors(sound, full)
    one = sound.query("measure == 'abs' and statistic == 'abs'")
    (ax,) = (ax for ax in drawn.figure.axes if ax.get_title(loc="left") == "CoGS: ABS")
    for curve, marks, row in zip(ax.lines[::2], ax.lines[1::2], one.itertuples(), strict=False):
        assert [*marks.get_xdata()] == [row.smallest, row.largest]
        assert [*marks.get_ydata()] == [100 * row.power_smallest, 100 * row.power_largest]
        at_effect = np.interp([row.smallest, row.effect, row.largest], *curve.get_data())
        # NaN where no effect reaches 80%.
        expected = [100 * row.power_smallest, 80 + 0 * row.effect, 100 * row.power_largest]
        assert at_effect == pytest.approx(expected, abs=1, nan_ok=True)
    many = sound.query("n == 400")["power_largest"].ge(0.8).sum()
    assert f"at N = 400, 8 of the {len(drawn.figure.axes)} tests shown" in drawn.title
    assert f"({many} of {len(sound) // 3} in all, Appendix A2)" in drawn.title
    named = sound.assign(test=sentences.name_statistics(sound))
    shown["test"] = shown["test"].str.removesuffix(" †")
    for row in named.merge(shown, on=["test", "n"], suffixes=("", "_shown")).itertuples():
        few, many = row.power_largest < 0.8, row.power_smallest >= 0.8
        expected = (">", row.largest) if few else ("≤", row.smallest) if many else ("", row.effect)
        assert row.effect_shown == "{} {:.3f}".format(*expected).strip()
        ends = proportion_confint(row.power_largest * row.studies, row.studies, method="wilson")
        interval = "[{:.0f},\xa0{:.0f}]".format(*(100 * end for end in ends))
        assert row.power_largest_shown == f"{row.power_largest:.0%} {interval}"


def outcome(share: float, repeats: int, scenario: str, *, covers: bool) -> dict[str, Any]:
    row = dict.fromkeys(estimates.DESIGN, "s") | {"n": 30, "scenario": scenario, "statistic": "d"}
    counts = dict.fromkeys(("n_covered", "n_tested", "repeats"), repeats)
    shares = {"coverage": share if covers else 0.95, "rejected": 0.05 if covers else 1 - share}
    return row | counts | shares | {"true_effect": 0.0, "estimate": 0.1}


@pytest.mark.parametrize("covers", [True, False])
@pytest.mark.parametrize(
    ("every", "worst", "of", "verdict"),
    [
        (0.85, 0.85, 5000, "fails"),
        (0.99, 0.99, 5000, "adequate (conservative)"),
        (0.95, 0.95, 1000, "adequate"),
        (0.95, 0.90, 60, "undecided"),  # 80% coverage is not ruled out
        (0.95, 0.92, 1000, "adequate"),  # not shown to be below 93%, and above 90%
        (0.95, 0.912, 3000, "fails in one scenario"),  # above 90%, below 93%: fails comes first
    ],
)
def test_verdicts_are_on_one_side_and_on_the_worst_scenario(
    covers: bool, every: float, worst: float, of: int, verdict: str
) -> None:
    rows = [outcome(every, 5000, "s", covers=covers), outcome(worst, of, "hard", covers=covers)]
    table = calibration.summarize(pd.DataFrame(rows), pd.DataFrame(), confidence=0.95)
    table = table[table["rate"] == ("coverage" if covers else "false positives")]
    assert table["verdict"].to_list() == [verdict]
    assert (table["bound"].item() <= table["worst"].item()) == covers


def test_the_table_of_what_fails_has_the_worst_shares_and_a_remedy_for_each() -> None:
    full = calibration.shipped()
    table = sentences.failing(full)
    assert (table["instead"] != "").all() and table["measure"].is_unique
    for kind in ("interval", "test"):
        worst = full.loc[(full["kind"] == kind) & full["verdict"].isin(estimates.FAILS), "worst"]
        shown = table[kind].dropna().str.extract(r"^([\d.]+) \[").astype(float)[0]
        assert {*worst.mul(100).round(1)} <= {*shown}
    balanced = full.query("kind == 'interval' and statistic == 'abs'")["worst"].item()
    by_orders = table.loc[table["measure"].str.contains("one order"), "remedy"].item()
    assert by_orders.startswith(f"{100 * balanced:.1f} [")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["llmbi/index", "cogs/rbs_refused"])  # repeats of its own, default
def test_the_full_run_gives_the_rows_that_ship(name: str) -> None:
    values = read_yaml(Path("params/calibration/full.yaml"))
    values = {key: value for key, value in values.items() if key != "study"}
    results = calibration.measure(**values, measures=[name])
    summary = calibration.summarize(results.outcomes, results.families, confidence=0.95)
    power = results.minimum_detectable_effects
    for table, file in ((summary, "calibration.csv"), (power, "calibration_power.csv")):
        shipped = tables.read_shipped_table(file)
        of_measure = shipped["study"] + "/" + shipped["measure"] == name
        shipped = shipped[of_measure].reset_index(drop=True)
        pd.testing.assert_frame_equal(table.round(4), shipped, check_dtype=False)
