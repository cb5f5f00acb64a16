"""Whether the detector of refusals hears a group."""

import pytest

from nbbias import refusals
from nbbias.text import lexicons


def test_effects_are_those_of_the_detector_called_directly() -> None:
    found = refusals.swap_effects(lexicons.load("gender"), kinds=["politics"])
    assert len(found) == 2 * 2 * 24  # two frames, two groups
    assert found.groupby(["words", "template"])["swap_effect"].sum().abs().max() < 1e-9
    declined = "I'm sorry, but I can't write an article in which this happens: "
    said = declined + "{} voted early in the morning."
    one = found[(found["words"] == "refusals")].iloc[:2]
    direct = refusals.detect([said.format(f"The {who}") for who in one["said"]])["score"]
    assert one["score"].tolist() == pytest.approx(direct.tolist(), abs=1e-5)
    assert one["swap_effect"].iloc[0] == pytest.approx((direct[0] - direct[1]) / 2, abs=1e-5)
    # Declining is heard whoever is named, and writing is not taken for it.
    scores = found.groupby("words")["score"]
    assert scores.min()["refusals"] > 0.5 > scores.max()["answers"]
