"""The number of articles that a plan names, against studies by another generator.

The planner draws stories, foci and words from distributions. Here texts have a cast of persons
whose sentences come in runs; a pilot of them, with nothing planted, says what is assumed, and each
study goes through the study's own functions to its declared claims.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from nbbias import news, tables
from nbbias.calibration import Design, measures, plannable, planning, worlds
from nbbias.calibration.plannable import NewsWords
from nbbias.reading import claims
from nbbias.stats import InferenceSettings

pytestmark = pytest.mark.nightly

MODELS, GROUPS = 3, list(worlds.GROUPS["gender"])
CLAIM = {"statistic": "share_difference_common", "bias": "gender", "group": "female"}


def counted(world: str, articles: int, repeats: int, shares: list[float], seed: int) -> np.ndarray:
    """Group words: repeats by stories by texts (the original last) by groups."""
    design, nothing = Design(world, articles, 12, 0.0), [0.0] * len(shares)
    drawn = worlds.of(design, repeats, share=shares, tone=nothing, originals=1, seed=seed)
    found: np.ndarray = drawn.words["gender"].sum(axis=3)
    return found


def tells(counts: np.ndarray) -> bool:
    """Whether a study declares the first model told apart."""
    stories, parts = [str(i) for i in range(len(counts))], []
    for model in range(MODELS):
        sides = {"h": counts[:, model], "o": counts[:, -1]}
        own = {f"{s}_{g}": sides[s][:, i].astype(int) for s in "ho" for i, g in enumerate(GROUPS)}
        key = {"source": "s", "model": f"m{model}", "prompt": "p", "sample": 1, "bias": "gender"}
        parts.append(pd.DataFrame({"article_id": stories} | own).assign(**key))
    table = pd.concat(parts, ignore_index=True)
    table["lost"] = pd.Series(pd.NA, table.index, dtype="str")
    scores = news.words.measure(table, GROUPS)
    rows = news.shares.on_common_articles(
        scores, news.words.pooling(GROUPS), GROUPS, confidence=0.95, min_pairs=10
    )
    (table, _) = tables.estimates_and_units(
        rows, study="news_bias", measure="word", bias="gender", confidence=0.95
    )
    found = claims.declared(table, [CLAIM], confidence=0.95)
    return bool(found.set_index("model").loc["m0", "p_adjusted"] < 0.05)


@pytest.mark.parametrize(("world", "effect"), [("cast", -0.2), ("focus", -0.1)])
def test_the_number_of_articles_reaches_its_power(world: str, effect: float) -> None:
    pilot = counted(world, 6000, 1, [0.0], seed=99)[0].astype(float)
    with np.errstate(invalid="ignore"):
        shares = pilot[..., 0] / pilot.sum(axis=2)
    kept = shares[np.isfinite(shares).all(axis=1)]
    chosen = NewsWords.model_validate(
        {
            "effect": effect,
            "models": MODELS,
            "claims": 1,
            "share": float(kept[:, 1].mean()),
            "spread": float((kept[:, 0] - kept[:, 1]).std()),
            "story": float(np.corrcoef(kept.T)[0, 1]),
            "lost": 1 - len(kept) / len(shares) + 1e-4,
        }
    )
    found = planning.needed(chosen.told(), wanted=0.8, inference=chosen.inference)
    assert found is not None
    told = [
        tells(study)
        for start in range(0, 500, 20)
        for study in counted(world, found.n, 20, [effect, 0.0, 0.0], seed=1000 + start)
    ]
    print(f"{world} {effect}: {found.n} articles, {found.power:.3f}; in truth {np.mean(told):.3f}")
    assert abs(np.mean(told) - 0.8) < 0.05


def share_told(study: str, name: str, statistic: str, design: Design, repeats: int) -> float:
    """Return how often the calibration's own studies tell a statistic of its first group."""
    measure = measures.measures()[f"{study}/{name}"]
    trials = measure.trial(design, repeats, InferenceSettings(n_permutations=100, seed=7))
    own = trials[(trials["statistic"] == statistic) & (trials["planted"] != 0)]
    own = own[own["group"].isna() | (own["group"] == own["group"].iloc[0])]
    return float((own["p_value"] < 0.05).mean())


@pytest.mark.parametrize(
    ("claim", "given", "world", "of"),
    [
        ("cogs/rbs", {"effect": 0.01, "spread": 0.0245, "axes": 1}, "skewed", "rbs"),
        (
            "biased_prompts/refusals",
            {"effect": 0.1, "rate": 0.02, "alike": 0.5},
            "rare",
            "refusal_rate_change",
        ),
        (
            "biasalert/accuracy",
            {"effect": 0.1, "apart": 0.37, "test_share": 0.999999},
            "single",
            "accuracy_difference",
        ),
    ],
)
def test_plans_of_other_studies(claim: str, given: dict[str, float], world: str, of: str) -> None:
    study, name = claim.split("/")
    chosen = plannable.PLANS[study][name].model_validate(given | {"claims": 1})
    found = planning.needed(chosen.told(), wanted=0.8, inference=chosen.inference)
    assert found is not None
    measure = {"accuracy": "judges"}.get(name, name)
    told = share_told(study, measure, of, Design(world, found.n, 12, given["effect"]), 500)
    print(f"{claim} {world} {given['effect']}: {found.n}, {found.power:.3f}; in truth {told:.3f}")
    assert abs(told - 0.8) < 0.05
