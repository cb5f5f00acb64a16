"""The counterfactual texts: what the file holds, and what they weigh."""

import pandas as pd
import pytest

from nbbias.biasalert.knowledge import counterfactuals as texts, split

TEXTS = texts.counterfactuals()


def test_the_parts_share_no_set_and_no_near_duplicate() -> None:
    train, test = texts.counterfactuals(part="train"), texts.counterfactuals(part="test")
    assert not set(train["set"]) & set(test["set"])
    pd.testing.assert_frame_equal(
        pd.concat([train, test]).sort_values("text", ignore_index=True),
        TEXTS.sort_values("text", ignore_index=True),
    )
    pairs = split.near_pairs(TEXTS["text"])
    part = TEXTS["part"].to_numpy()
    assert (part[pairs["first"]] == part[pairs["second"]]).all()


def test_beside_others_the_biased_ones_weigh_as_much_as_the_rest() -> None:
    for simulated, mean in ((False, 0.2), (True, 1.0)):
        found = texts.training_texts(simulated=simulated)
        assert found["text"].tolist() == texts.counterfactuals(part="train")["text"].tolist()
        for biased in (True, False):
            own = found.loc[found["biased"] == biased, "weight"]
            assert own.nunique() == 1 and own.iloc[0] > 0
            assert own.sum() == pytest.approx(mean * len(found) / 2)
