"""Choosing among estimates, against the tables and statsmodels."""

from __future__ import annotations

import numpy as np
import pandas as pd

from nbbias import tables
from nbbias.reading import explorer


def table() -> pd.DataFrame:
    rows = [
        {"model": model, "measure": measure, "bias": "gender", "statistic": statistic,
         "group": group, "estimate": 0.1 * i, "ci_low": 0.1 * i - 0.2, "ci_high": 0.1 * i + 0.1,
         "p_value": p, "p_adjusted": min(2 * p, 1), "n": 5, "instrument": instrument}
        for measure, instruments in (("word", ["list"]), ("sentiment", ["a", "b"]))
        for instrument in instruments
        for statistic in ("bias", "share_difference")
        for i, (model, group, p) in enumerate(
            [("m", "f", 0.01), ("m", "g", 0.02), ("n", "f", 0.03), ("n", "g", np.nan)]
        )
    ]  # fmt: skip
    return tables.estimates(rows, study="x", confidence=0.95)


def test_families_and_claims_hold_every_row_once() -> None:
    whole = table()
    families = explorer.claim_families(whole)
    assert list(families) == ["word, gender", "sentiment, gender"]
    parts = [rows for f in families.values() for rows in explorer.claims(f).values()]
    assert sorted(i for rows in parts for i in rows.index) == list(whole.index)
    assert list(explorer.claims(families["word, gender"])) == ["bias", "share difference"]
    assert "share difference, b" in explorer.claims(families["sentiment, gender"])


def test_a_study_without_biases_has_a_family_too() -> None:
    rows = [{"model": "m", "measure": "llmbi", "statistic": "index", "estimate": 1.0}]
    families = explorer.claim_families(tables.estimates(rows, study="llmbi", confidence=0.95))
    assert list(families) == ["llmbi"]


def test_only_keys_that_tell_rows_apart_are_shown() -> None:
    assert explorer.row_keys(table().iloc[:4]) == ["model", "group"]
    assert explorer.row_keys(table().iloc[:1]) == ["model"]


def test_judges_with_an_instrument_each_stand_in_one_table() -> None:
    rows = [
        {"judge": judge, "measure": "detection", "statistic": statistic, "estimate": 0.5,
         "instrument": f"instrument of {judge}"}
        for judge in ("one", "two") for statistic in ("accuracy", "f1")
    ]  # fmt: skip
    found = explorer.claims(tables.estimates(rows, study="biasalert", confidence=0.95))
    assert {name: len(own) for name, own in found.items()} == {"accuracy": 2, "f1": 2}
    assert explorer.row_keys(found["f1"]) == ["judge"]
    twice = tables.estimates(
        [*rows, {**rows[0], "instrument": "another"}], study="biasalert", confidence=0.95
    )
    assert "accuracy, another" in explorer.claims(twice)


def test_rows_over_all_models_are_named_so() -> None:
    over_all = table().iloc[:1].assign(model=np.nan, p_value=0.04)
    named = explorer.whose_claims(pd.concat([table().iloc[:4], over_all], ignore_index=True))
    assert named.name == "model"
    assert list(named.unique()) == ["m", "n", "all models"]


def test_without_models_rows_are_of_judges() -> None:
    rows = [
        {"judge": judge, "measure": "detection", "statistic": "accuracy", "estimate": 0.5}
        for judge in ("one", "two", None)
    ]
    found = tables.estimates(rows, study="biasalert", confidence=0.95)
    assert explorer.whose_claims(found).name == "judge"
    assert list(explorer.whose_claims(found)) == ["one", "two", "all judges"]
    neither = tables.estimates([rows[2]], study="cogs", confidence=0.95)
    assert list(explorer.whose_claims(neither)) == ["all models"]


def test_the_reach_holds_all_and_zero() -> None:
    low, high = explorer.reach(table().iloc[:4])
    assert (low, round(high, 12)) == (-0.2, 0.4)
    assert explorer.reach(table().iloc[:0]) == (-0.5, 0.5)
    only = table().iloc[:1].assign(estimate=np.nan, ci_low=np.nan, ci_high=np.nan)
    assert explorer.reach(only) == (-0.5, 0.5)
