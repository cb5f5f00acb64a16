"""Every study has its measurement card, and every calibrated measure its row on it."""

from __future__ import annotations

import pandas as pd
import pytest

from nbbias.calibration import designs
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
    assert not shipped.duplicated(["study", "measure", "statistic"]).any()
    shares = shipped.filter(regex=r"^(coverage|false_positives)(_low|_high|_worst)?$")
    assert shares.stack().dropna().between(0, 1).all()
    assert (shipped["coverage_worst"].dropna() <= shipped["coverage"].dropna() + 1e-9).all()


def test_shares_stand_with_their_intervals_and_missing_ones_are_empty() -> None:
    study = "biasalert"
    rows = read_shipped_table("calibration.csv").query("study == @study").to_dict("records")
    for name, extreme in (("coverage", "lowest"), ("false_positives", "highest")):
        table = cards.calibrated(study).rows
        expected = [
            ""
            if pd.isna(row[name])
            else f"{row[name]:.1%} [{row[f'{name}_low']:.1%}, {row[f'{name}_high']:.1%}]"
            for row in rows
        ]
        assert table[name.replace("_", " ")].tolist() == expected
        worst = [row[f"{name}_worst"] for row in rows]
        starts = ["" if pd.isna(share) else f"{share:.1%} (" for share in worst]
        assert all(map(str.startswith, table[extreme], starts))
