"""The tables of biasalert: what is refused, and in which words."""

import numpy as np
import pandas as pd
import pytest

from nbbias.biasalert.contracts import EVIDENCE, JUDGEMENTS, KNOWLEDGE, TYPES
from nbbias.tables import ContractError, check
from tests.biasalert.tables import judgements

TWO = judgements(
    [True, None],
    bias_type=["gender", None],
    group=["women", None],
    confidence=[0.75, np.nan],
    evidence_ids=["x y", ""],
    raw=[None, "I cannot"],
)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"biased": [True, False]}, "go together"),
        ({"reason": [None, None]}, "has no reason"),
        ({"confidence": [1.5, np.nan]}, "outside 0 to 1"),
        ({"bias_type": ["sexism", None]}, "not a type of bias"),
    ],
)
def test_faults_of_judgements_are_named(changed: dict[str, object], words: str) -> None:
    with pytest.raises(ContractError, match=words):
        check(TWO.assign(**changed), JUDGEMENTS)


def test_an_entry_has_a_type_of_the_paper_or_age_and_one_place() -> None:
    row = {
        "entry_id": "e",
        "statement": "people of the coast are slow",
        "bias_type": "culture",
        "group": "people of the coast",
        "attribute": "slow",
        "source": "test",
    }
    assert len(TYPES) == 8
    assert len(check(pd.DataFrame([row]), KNOWLEDGE)) == 1
    found = row | {"text_id": "a", "rank": 1, "similarity": 0.5, "used": True}
    with pytest.raises(ContractError, match="text_id, rank occur twice"):
        check(pd.DataFrame([found, found]), EVIDENCE)
