"""Statistics across models against scipy and statsmodels, known values and simulation."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from statsmodels.stats.multitest import multipletests

from nbbias import stats


def scores_of(**models: Any) -> pd.DataFrame:
    """Scores of models, the same articles in order; a NaN was not measured."""
    tables = [
        pd.DataFrame({"model": name, "article_id": [f"a{i}" for i in range(len(v))], "score": v})
        for name, v in models.items()
    ]
    table = pd.concat(tables, ignore_index=True).astype({"score": float})
    return table.assign(source="s", prompt="p", measure="word", bias="gender")


def clustered(rng: np.random.Generator, *, shift: float = 0.0) -> pd.DataFrame:
    """Three models on the same articles; the second differs by `shift`, a fifth is missing."""
    article = rng.normal(0, 1, 60)
    values = {
        name: article + move + rng.normal(0, 1, 60)
        for name, move in (("a", 0), ("b", shift), ("c", 0))
    }
    table = scores_of(**values)
    return table.assign(score=table["score"].where(rng.random(len(table)) > 0.2))


NOISE = np.random.default_rng(1).normal(size=(3, 40))
#: Scores whose articles differ less than chance has it: all have one mean.
ALIKE = scores_of(**dict(zip("abc", NOISE - NOISE.mean(axis=0), strict=True)))

RNG = np.random.default_rng(5)
THREE = clustered(RNG, shift=0.8)


def mixed(table: pd.DataFrame, **settings: Any) -> pd.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return stats.mixed_model(table, value="score", **settings).set_index("model")


def test_mixed_model_is_statsmodels_with_sums_of_deviations_zero() -> None:
    kept = THREE.dropna()
    a, b, c = ((kept["model"] == name).astype(float) for name in "abc")
    table = mixed(THREE, confidence=0.9)
    for names, design in (("ab", [a - c, b - c]), ("bc", [b - a, c - a])):  # each leaves one out
        exogenous = np.column_stack([np.ones(len(kept)), *design])
        model = sm.MixedLM(kept["score"].to_numpy(), exogenous, groups=kept["article_id"])
        expected = model.fit(method="powell")
        rows = table.loc[list(names)]
        assert rows["estimate"].tolist() == pytest.approx(expected.fe_params[1:3], abs=1e-6)
        limits = np.asarray(expected.conf_int(alpha=0.1))[1:3]
        assert rows[["ci_low", "ci_high"]].to_numpy() == pytest.approx(limits, abs=1e-6)
        assert rows["p_value"].tolist() == pytest.approx(expected.pvalues[1:3], abs=1e-6)
    between = np.asarray(expected.cov_re)[0, 0]
    share = between / (between + expected.scale)
    assert table["article_share"].tolist() == pytest.approx([share] * 3, abs=1e-6)
    assert table["n"].tolist() == kept.groupby("model").size().tolist()
    assert (table["n"] + table["n_lost"]).tolist() == [60, 60, 60]


def test_holm_is_over_the_differences_of_all_prompts() -> None:
    both = pd.concat([THREE, THREE.assign(prompt="q", score=THREE["score"] * 2)])
    tested = mixed(both).dropna(subset=["p_value"])
    assert len(tested) == 6
    expected = multipletests(tested["p_value"], method="holm")[1]
    assert tested["p_adjusted"].tolist() == pytest.approx(expected.tolist())


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (scores_of(a=[1, 2, 3]), "fewer than two models"),
        (scores_of(a=[1, 2], b=[np.nan, np.nan]), "fewer than two models"),
        (scores_of(a=[1], b=[2]), "needs two articles"),
        (scores_of(a=[1, np.nan], b=[np.nan, 3]), "needs two articles"),
        (scores_of(a=[1, 1, 1], b=[2, 2, 2]), "no variance within models"),
        (ALIKE, "the fit is singular: no variance between articles"),
        (scores_of(a=[1, 2, 4], b=[2, 3, 5]), "the fit is singular: no variance within articles"),
    ],
)
def test_a_mixed_model_that_cannot_be_fitted_is_nan_with_a_reason(
    table: pd.DataFrame, reason: str
) -> None:
    found = mixed(table)
    assert found[["estimate", "ci_low", "p_value", "p_adjusted"]].isna().all(axis=None)
    assert found["reason"].iloc[0].startswith(reason)
