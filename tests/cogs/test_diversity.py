"""Whose texts are more alike: by hand, at equal length, and where one identity is flattened."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist

from nbbias import cogs
from tests.build import encode_as, random_vector


def answers(text: Callable[[str, int, str], str], themes: int = 6, tasks: int = 3) -> pd.DataFrame:
    identities = [None, "man", "woman"]
    rows = [
        {"model": "m", "task": f"task {t}", "topic": "x", "theme": f"theme {n}", "sample": 1}
        | {"axis": "gender" if who else None, "identity": who}
        | {"text": text(f"task {t}", n, who or "default")}
        for t in range(tasks)
        for n in range(themes)
        for who in identities
    ]
    return pd.DataFrame(rows)


def vector(text: str) -> np.ndarray:
    """A text's own vector; texts about the same story share its direction."""
    return random_vector(text) + 3 * np.eye(8)[0] * text.startswith("same")


def test_diversity_is_the_mean_distance_between_themes(monkeypatch: pytest.MonkeyPatch) -> None:
    encode_as(monkeypatch, vector)
    said = answers(lambda task, n, who: f"{task} {n} {who}")  # three words each but for the task
    said.loc[(said["theme"] == "theme 5") & (said["identity"] == "man"), "text"] = " "
    found = cogs.diversity.diversity(said)
    lost = found[found["diversity"].isna()]
    assert set(lost["theme"]) == {"theme 5"} and len(lost) == 9  # of all identities and the default
    means = found.groupby(["task", "identity"])["diversity"].mean()
    for (task, who), mean in means.items():
        vectors = [vector(f"{task} {n} {who}") for n in range(5)]
        assert mean == pytest.approx(pdist(np.array(vectors), "cosine").mean())
    rows = cogs.diversity.estimate(found, confidence=0.95).estimates
    by = rows.set_index(["statistic", "group"])["estimate"]
    man, default = (means.xs(who, level="identity").mean() for who in ("man", "default"))
    assert by["diversity", "man"] == pytest.approx(man)
    assert by["diversity_difference", "man"] == pytest.approx(man - default)


def test_a_flattened_identity_is_most_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    encode_as(monkeypatch, vector)
    said = answers(lambda t, n, who: f"{'same' if who == 'woman' else 'other'} {t} {n} {who}", 10)
    found = cogs.diversity.diversity(said)
    rows = cogs.diversity.estimate(found, confidence=0.95).estimates.set_index("statistic")
    assert rows.loc["diversity_spread", "group"] == "woman"
    assert rows.loc["diversity_spread", "p_adjusted"] < 0.01
    beyond = rows.loc["diversity_difference"].set_index("group")
    assert beyond.loc["woman", "ci_high"] < 0
    assert beyond.loc["man", "ci_low"] < 0 < beyond.loc["man", "ci_high"]


def test_length_is_adjusted_as_in_an_analysis_of_covariance() -> None:
    rng = np.random.default_rng(3)
    index = pd.MultiIndex.from_product([["a", "b"], range(30)], names=["task", "theme"])
    lengths = pd.DataFrame(rng.normal([4, 4.5], 0.3, (60, 2)), index, ["man", "woman"])
    theme = rng.normal(0, 1, (60, 1))
    values = 5 - 2 * lengths + theme + rng.normal(0, 0.01, (60, 2))
    assert values["man"].mean() - values["woman"].mean() > 0.8  # by length alone
    adjusted = cogs.diversity.adjust_length(values, lengths)
    assert adjusted["man"].mean() == pytest.approx(adjusted["woman"].mean(), abs=0.01)
    assert adjusted.to_numpy().mean() == pytest.approx(values.to_numpy().mean())
