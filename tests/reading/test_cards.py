"""Every study has its measurement card, and every calibrated measure its row on it."""

import numpy as np
import pytest

from nbbias.calibration import designs, estimates
from nbbias.reading import cards
from nbbias.studies import STUDIES
from nbbias.tables import read_shipped_table


@pytest.mark.parametrize("stem", STUDIES)
def test_every_study_has_a_whole_card(stem: str) -> None:
    card = cards.card(stem).rows
    assert {"Construct", "Direction", "What not to conclude"} < set(card["what"])
    assert len(card) == 10
    assert card["answer"].str.len().gt(20).all()
    # What nobody may read off a number stands on the card of each.
    assert not card["answer"].str.contains("unbiased").any()


def test_every_measure_that_is_calibrated_has_its_row() -> None:
    shipped = read_shipped_table("calibration.csv")
    assert set(shipped["study"] + "/" + shipped["measure"]) == set(designs.measures())
    assert not shipped.duplicated(["study", "measure", "statistic", "rate"]).any()
    assert shipped[["share", "low", "high", "worst"]].stack().between(0, 1).all()
    covers = shipped["rate"] == "coverage"
    error = (shipped["worst"] - shipped["share"]) * covers.map({True: 1, False: -1})
    assert (error < 1e-9).all()
    # The rule by hand, on errors whose positive side is the harmful one.
    side = covers.map({True: -1, False: 1})
    ends = ["low", "high", "worst_low", "worst_high", "bound"]
    error = shipped[ends].sub(shipped["nominal"], axis=0).mul(side, axis=0)
    least, most = error[["low", "high"]].min(axis=1), error[["low", "high"]].max(axis=1)
    fails = error[["worst_low", "worst_high"]].min(axis=1) > 0.02
    decided = (most < 0.02) & (error["bound"] <= 0.05)
    rules = [least > 0.02, fails, decided & (most < -0.02), decided]
    names = [*estimates.FAILS, *reversed(estimates.ADEQUATE)]
    assert shipped["verdict"].to_list() == np.select(rules, names, "undecided").tolist()
    assert (shipped["worst_low"] <= shipped["worst"]).all()
    assert (shipped["worst"] <= shipped["worst_high"]).all()


def test_shares_stand_with_their_intervals_and_the_worst() -> None:
    study = "biasalert"
    rows = read_shipped_table("calibration.csv").query("study == @study")
    table, rows = cards.calibrated(study).rows, (100 * rows.select_dtypes(float)).to_dict("records")
    for column, ends in {"found": "share low high", "worst": "worst worst_low worst_high"}.items():
        shares = [[row[end] for end in ends.split()] for row in rows]
        expected = [f"{share:.1f} [{low:.1f},\xa0{high:.1f}]" for share, low, high in shares]
        assert sorted(table[column]) == sorted(expected)
    assert table.groupby("rate")["bound"].first().to_dict() == {
        "coverage": f"{min(row['bound'] for row in rows if row['nominal'] > 50):.1f}",
        "false positives": f"{max(row['bound'] for row in rows if row['nominal'] < 50):.1f}",
    }
