"""Every study has its measurement card, and every calibrated measure its row on it."""

from __future__ import annotations

import pandas as pd
import pytest

from nbbias.calibration import measures
from nbbias.reading import cards
from nbbias.studies import STUDIES
from nbbias.tables import read_shipped_table


@pytest.mark.parametrize("stem", STUDIES)
def test_every_study_has_a_whole_card(stem: str) -> None:
    card = cards.card(stem).rows
    assert set(card["what"]) == {*cards.ASKED.values(), "Direction"}
    assert card["answer"].str.len().gt(20).all()
    # What nobody may read off a number stands on the card of each.
    assert not card["answer"].str.contains("unbiased").any()


@pytest.mark.parametrize("stem", [stem for stem in STUDIES if stem != "calibration"])
def test_every_study_was_calibrated(stem: str) -> None:
    assert len(cards.calibrated(stem).rows)


def test_every_measure_that_is_calibrated_has_its_row() -> None:
    shipped = read_shipped_table("calibration.csv")
    assert set(shipped["study"] + "/" + shipped["measure"]) == set(measures.measures())
    assert not shipped.duplicated(["study", "measure", "statistic"]).any()
    shares = shipped.filter(regex=r"^(coverage|false_positives)(_low|_high|_worst)?$")
    assert shares.stack().dropna().between(0, 1).all()
    assert (shipped["coverage_worst"].dropna() <= shipped["coverage"].dropna() + 1e-9).all()


def test_a_study_of_another_package_has_none_and_nothing_breaks() -> None:
    assert cards.card("exclamations").rows.empty
    assert cards.calibrated("exclamations").rows.empty


def test_a_share_that_is_not_known_is_empty() -> None:
    own = pd.DataFrame({name: [None] for name in ("a", "a_low", "a_high", "a_worst", "a_at")})
    assert cards._share(own, "a") == [""]
    assert cards._worst(own, "a") == [""]
