"""Every study has its measurement card, and every calibrated measure its row on it."""

from __future__ import annotations

import pytest

from nbbias import calibration
from nbbias.calibration import designs, sentences
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
    kinds = sentences.overall(calibration.shipped())["kind"]
    words = {"too low": "harmful", "too high": "harmful", "undecided": "undecided"}
    words |= {f"too {side} in one scenario": "scenario" for side in ("low", "high")}
    words |= {"at least 93%": "within", "at most 7%": "within"}
    words |= {"above 97%": "conservative", "below 3%": "conservative"}
    assert (shipped["worst_low"] <= shipped["worst"]).all()
    assert (shipped["worst"] <= shipped["worst_high"]).all()
    assert kinds.tolist() == shipped["verdict"].map(words).fillna("undecided").tolist()


def test_shares_stand_with_their_intervals_and_the_worst() -> None:
    study = "biasalert"
    rows = read_shipped_table("calibration.csv").query("study == @study").to_dict("records")
    table = cards.calibrated(study).rows
    found = [f"{row['share']:.1%} [{row['low']:.1%}, {row['high']:.1%}]" for row in rows]
    assert table["found"].tolist() == found
    assert table["worst"].tolist() == [
        f"{row['worst']:.1%} [{row['worst_low']:.1%}, {row['worst_high']:.1%}; "
        f"N = {row['worst_n']}] ({row['at']})"
        for row in rows
    ]
