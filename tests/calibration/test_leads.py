"""Claims of leads against the truth, and pages corrected one by one."""

from __future__ import annotations

import pytest

from nbbias.calibration.leads import pages, saying, sayings, start
from nbbias.calibration.trials import Design, false_leads
from nbbias.stats import InferenceSettings


def test_a_lead_is_false_where_anything_that_it_says_is_not_so() -> None:
    design = Design("w", 10, 12, 0.1)
    true = [("a", "man"), ("b", "man")]
    rows = [
        saying(design, ["s"], claimed=claimed, true=true)
        for claimed in ([], [("a", "man")], [("a", "man"), ("c", "man")], [("a", "woman")])
    ]
    assert [(row["told"], row["false"]) for row in rows] == [
        (False, False),
        (True, False),
        (True, True),
        (True, True),
    ]
    found = false_leads(sayings(rows), confidence=0.95).iloc[0]
    assert found["false"] == 0.5 and found["false_of_told"] == pytest.approx(2 / 3)


def test_pages_are_corrected_each_on_its_own() -> None:
    row = {"statistic": "index", "estimate": 0.5, "n": 9, "p_value": 0.02}
    runs = [[row | {"model": "a"}], [row | {"model": one} for one in "abc"]]
    led = list(pages(runs, claims=[{"statistic": "index"}], study="llmbi", confidence=0.95))
    assert [own["p_adjusted"].round(2).tolist() for own in led] == [[0.02], [0.06] * 3]


def test_every_design_and_seed_starts_elsewhere() -> None:
    design = Design("w", 10, 12, 0.1)
    others = [design._replace(world="v"), design._replace(planted=0.2), design._replace(length=3)]
    drawn = [start(one, InferenceSettings()).random() for one in (design, *others)]
    drawn.append(start(design, InferenceSettings(seed=1)).random())
    assert len(set(drawn)) == 5 and start(design, InferenceSettings()).random() == drawn[0]
