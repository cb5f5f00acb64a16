"""The tables of the LLMBI study: counted by hand, and with all that a reader needs."""

import pandas as pd

from nbbias import llmbi
from nbbias.llmbi import scoring
from nbbias.reading.tables import p_column
from tests.llmbi.test_estimates import THREE, estimated, one_model
from tests.llmbi.test_scoring import BOTH, COLD, PLAIN, WARM, answers


def test_lost_and_scored_add_up_to_read() -> None:
    table = answers(WARM, None, PLAIN, "", COLD, model=["a", "a", "a", "b", "b"])
    losses = scoring.count_losses(scoring.measure(table, scorers=BOTH), scorer="textblob")
    assert losses.to_dict("records") == [
        {"model": "a", "read": 3, "blank": 1, "unreadable": 0, "scored": 2, "unknown": 1},
        {"model": "b", "read": 2, "blank": 1, "unreadable": 0, "scored": 1, "unknown": 0},
    ]


def test_every_dimension_is_shown_with_its_adjusted_p() -> None:
    measured = pd.concat([THREE, one_model([0.9, 0.8], [0.1], [0.0], model="k")]).reset_index()
    table = estimated(measured)
    means = table[table["statistic"] == "dimension_mean"]
    above = (means["estimate"] - means["null"]).sort_values(ascending=False)
    means = means.loc[above.index].sort_values(
        "model", key=lambda v: pd.factorize(v)[0], kind="stable"
    )
    shown = llmbi.page.table(table, name="dimension_mean").rows
    assert list(shown) == ["model", "dimension", "estimate", "n", "null", "p_adjusted"]
    assert shown["p_adjusted"].tolist() == p_column(means).tolist()
    index = llmbi.page.table(table, name="index").rows
    assert index["group"].tolist() == ["reference prose", "reference prose", "m"]
