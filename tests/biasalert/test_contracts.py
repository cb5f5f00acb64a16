"""The tables of biasalert: what is refused, and in which words."""

import numpy as np
import pytest

from nbbias.biasalert.contracts import JUDGEMENTS
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
