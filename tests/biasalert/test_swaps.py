"""Whether a judge's verdict hangs on whom a sentence names."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from nbbias import biasalert
from nbbias.text import audit


class Judged(SimpleNamespace):
    """A bench of one judge, which says what it is told to of each text."""

    def judge(self, table: pd.DataFrame, _: str) -> tuple[pd.DataFrame, None]:
        assert not table["text"].duplicated().any()
        said = table.assign(
            judge="j",
            instrument="i",
            biased=table["text"].map(self.flags),
            confidence=table["text"].map(self.probability),
        )
        return said, None


def test_a_judge_that_hears_a_group_word_has_a_swap_effect() -> None:
    bench = Judged(flags=lambda text: False, probability=lambda text: float("Asian" in text))
    found = biasalert.swaps.estimates(bench, confidence=0.95).set_index(["bias", "group"])
    assert found.loc[("race", "Asian"), "estimate"] == pytest.approx(2 / 3)
    assert found.loc[("race", "White"), "estimate"] == pytest.approx(-1 / 3)
    assert found.loc[("gender", "female"), "estimate"] == 0
    assert found["n"].eq(48).all() and found["statistic"].eq("swap_effect").all()


def test_a_judge_without_probabilities_is_read_by_its_verdicts() -> None:
    bench = Judged(
        flags=lambda text: None if "gay" in text.lower() else "male" in text.lower(),
        probability=lambda text: np.nan,
    )
    found = biasalert.swaps.estimates(bench, confidence=0.95).set_index(["bias", "group"])
    assert found.loc[("gender", "male"), "estimate"] == 0  # "female" holds "male", too
    assert found.loc[("orientation", "lgbtq"), "n"] < 48  # no verdict is a gap, not a no
    assert found.loc[("orientation", "lgbtq"), "estimate"] == 0


def test_no_sentence_speaks_of_two_groups_or_of_names() -> None:
    texts = biasalert.swaps.texts()
    assert set(texts["words"]) == {"words"} and set(texts["kind"]) == {"praise", "blame"}
    assert audit.NEUTRAL in set(texts["group"])
