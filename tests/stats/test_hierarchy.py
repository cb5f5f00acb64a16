"""The crossed hierarchical model: against known truths, against REML, and at its edges."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

from nbbias import stats
from nbbias.stats import Sure


def simulated(
    rng: np.random.Generator, *, articles: int = 40, models: int = 5, prompts: int = 3,
    spread: float = 0.06,
) -> tuple[pd.DataFrame, np.ndarray]:  # fmt: skip
    """Values with gaps, heavy-tailed articles and models' articles of their own; true means."""
    model, prompt = rng.normal(0, spread, models), rng.normal(0, 0.03, prompts)
    both = rng.normal(0, 0.02, (models, prompts))
    article = 0.1 * rng.standard_t(5, articles)
    own = rng.normal(0, 0.06, (models, articles))
    value = (model[:, None, None] + prompt[:, None] + both[:, :, None] + article
             + own[:, None, :] + rng.normal(0, 0.2, (models, prompts, articles)))  # fmt: skip
    at = np.indices(value.shape).reshape(3, -1)
    names = {"model": [f"m{i}" for i in at[0]], "prompt": [f"p{i}" for i in at[1]]}
    table = pd.DataFrame({**names, "article_id": at[2].astype(str), "value": value.ravel()})
    kept = table[rng.random(len(table)) > 0.25].reset_index(drop=True)
    return kept, model + prompt.mean() + both.mean(axis=1)


def test_means_come_back_nearer_than_plain_ones_and_intervals_hold_them() -> None:
    rng = np.random.default_rng(2)
    inside, near, plain, told, right = [], [], [], [], []
    for seed in range(12):
        table, truth = simulated(rng, articles=25)
        ranks = stats.hierarchy(table, value="value", sure=Sure(seed=seed)).ranks
        inside += list((ranks["ci_low"] <= truth) & (truth <= ranks["ci_high"]))
        near.append(((ranks["estimate"] - truth) ** 2).mean())
        plain.append(((ranks["plain"] - truth) ** 2).mean())
        told.append(ranks["worst"].max())
        right.append(ranks["worst"].idxmax() == np.abs(truth).argmax())
    assert np.mean(inside) > 0.85  # 60 of them; .95 less three standard errors
    assert np.mean(near) < np.mean(plain)
    assert abs(np.mean(told) - np.mean(right)) < 0.4  # sure of the worst as often as right


def test_shrunken_means_are_those_of_reml_where_models_are_many() -> None:
    """One value a model and article: effects against statsmodels' predictors by REML."""
    rng = np.random.default_rng(8)
    table, _ = simulated(rng, models=12, prompts=1, articles=30, spread=0.08)
    found = stats.hierarchy(table, value="value", sure=Sure(seed=1)).ranks
    parts = {"model": "0 + C(model)", "article": "0 + C(article_id)"}
    fit = smf.mixedlm("value ~ 1", table, groups=np.ones(len(table)), vc_formula=parts).fit()
    effects = fit.random_effects[1.0]
    expected = [fit.params["Intercept"] + effects[f"model[C(model)[{name}]]"] for name in
                found["model"]]  # fmt: skip
    assert found["estimate"].to_numpy() == pytest.approx(np.array(expected), abs=0.01)
    assert found["estimate"].std() < found["plain"].std()


def test_probabilities_and_ranks_are_of_one_whole() -> None:
    table, _ = simulated(np.random.default_rng(3))
    far = table.assign(value=table["value"] - 0.5 * (table["model"] == "m2"))
    one = stats.hierarchy(far, value="value", sure=Sure(seed=1)).ranks.set_index("model")
    assert one["worst"].sum() == pytest.approx(1) and one["rank"].sum() == pytest.approx(15)
    assert one.loc["m2", "worst"] > 0.95 and one.loc["m2", "rank"] < 1.1
    higher = stats.hierarchy(far, value="value", sure=Sure(seed=1), worst="higher").ranks
    assert higher.set_index("model").loc["m2", "worst"] < 0.05
    # The other side of 0 is as far.
    turned = stats.hierarchy(far.assign(value=-far["value"]), value="value", sure=Sure(seed=1))
    assert turned.ranks["worst"].to_numpy() == pytest.approx(one["worst"].to_numpy(), abs=0.03)


def test_where_models_are_alike_they_are_pulled_together() -> None:
    table, _ = simulated(np.random.default_rng(4), spread=0.0)
    ranks = stats.hierarchy(table, value="value", sure=Sure(seed=1)).ranks
    assert ranks["worst"].max() < 0.9
    assert np.ptp(ranks["estimate"]) < 0.8 * np.ptp(ranks["plain"])


def test_outlets_with_the_same_ids_are_other_articles_and_terms_are_named() -> None:
    table, _ = simulated(np.random.default_rng(5), models=3)
    both = pd.concat([table.assign(source="a"), table.assign(source="b", value=0.1)])
    both["value"] += np.random.default_rng(1).normal(0, 0.1, len(both))
    found = stats.hierarchy(both.assign(measure="word"), value="value", sure=Sure(seed=1))
    assert found.ranks["articles"].max() == 2 * table["article_id"].nunique()
    assert found.spreads["term"].tolist() == [
        "model", "prompt", "source", "model × prompt", "model × source", "article",
        "model × article", "residual",
    ]  # fmt: skip
    assert found.spreads["share"].sum() == pytest.approx(1)
    assert found.ranks["measure"].eq("word").all()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda t: t[t["model"] == "m0"], "fewer than two models have a value"),
        (lambda t: t[t["article_id"].isin(["1", "2"])], "needs five articles"),
        (lambda t: t.assign(value=0.0), "all values are alike"),
        (lambda t: t.assign(value=np.nan), "fewer than two models have a value"),
    ],
)
def test_what_cannot_be_ranked_says_why(change: object, reason: str) -> None:
    table, _ = simulated(np.random.default_rng(6))
    found = stats.hierarchy(change(table), value="value", sure=Sure(seed=1))  # type: ignore[operator]
    assert found.ranks["reason"].eq(reason).all() and found.ranks["worst"].isna().all()
    assert found.spreads.empty


def test_a_model_without_a_value_has_no_rank_and_an_empty_table_none() -> None:
    table, _ = simulated(np.random.default_rng(7), models=3)
    gone = table.assign(value=table["value"].where(table["model"] != "m1"))
    ranks = stats.hierarchy(gone, value="value", sure=Sure(seed=1)).ranks.set_index("model")
    assert ranks.loc["m1", "reason"] == "no value was measured" and ranks.loc["m1", "n"] == 0
    assert ranks["worst"].sum() == pytest.approx(1)
    empty = stats.hierarchy(table.head(0).assign(measure=""), value="value", sure=Sure(seed=1))
    assert empty.ranks.empty and "worst" in empty.ranks
