"""What `nbbias watch` says of simulated series of runs whose truth is known, beside a rolling test.

Each unit has a mean of its own; a model's answers vary about it, and the judge's scores about the
answers. Anchors are one answer for each unit, recorded before the first run.
`python -m tests.nightly.test_watch` prints the table of the decision page.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import special

from nbbias import stats

pytestmark = pytest.mark.nightly

PAGE = Path(__file__).parents[2] / "docs" / "decisions" / "did-the-model-or-the-judge-drift.md"
LOOKS, THRESHOLD = 200, np.log10(20)

#: What changes, when, and how many units, runs and series: a row of the table each.
SCENARIOS: dict[str, dict[str, Any]] = {
    "judge shifts, new answers twice as much as anchors": {"judge": 0.4, "unlike": 2.0, "at": 20},
    "judge shifts and stretches its scores by half": {"judge": 0.4, "scale": 1.5, "at": 20},
    "judge shifts at run 3": {"judge": 0.4, "at": 3},
    "judge shifts at run 20": {"judge": 0.4, "at": 20},
    "model shifts at run 3": {"model": 0.4, "at": 3},
    "model shifts at run 20": {"model": 0.4, "at": 20},
    "both shift at run 20": {"model": 0.4, "judge": 0.4, "at": 20},
    "nothing; 60 units, yes or no, 5% yes": {"n": 60, "kind": "binary"},
    "nothing; 18 units, skewed": {"n": 18, "kind": "skewed"},
    "nothing; 36 units, judge without noise": {"judge_noise": 0.0},
}


def series(
    rng: np.random.Generator,
    *,
    n: int = 36,
    looks: int = LOOKS,
    kind: str = "normal",
    model: float = 0.0,
    judge: float = 0.0,
    scale: float = 1.0,
    unlike: float = 1.0,
    at: int = 0,
    judge_noise: float = 0.2,
) -> tuple[np.ndarray, np.ndarray]:
    """Draw the scores of new answers and of anchors: a row for each unit, a column for each run.

    The model's answers shift by `model` from run `at` on; the judge's scores of anchors by `judge`,
    those of new answers by `unlike` times that, and their spread by `scale`.
    """
    changed = np.arange(looks + 1) >= at if at else np.zeros(looks + 1, bool)
    if kind == "binary":
        rate = rng.beta(0.5, 9.5, (n, 1))
        new, recorded = rng.random((n, looks + 1)), np.repeat(rng.random((n, 1)), looks + 1, 1)
        sides = [drawn < rate for drawn in (new, recorded)]
        read = [np.where(rng.random(side.shape) < 0.01, ~side, side) for side in sides]
        return read[0].astype(float), read[1].astype(float)

    def noise(*shape: int) -> np.ndarray:
        return rng.gamma(0.5, 1.4, shape) - 0.7 if kind == "skewed" else rng.normal(size=shape)

    centre = rng.normal(size=(n, 1))
    answers = centre + 0.5 * noise(n, looks + 1) + model * changed
    anchors = np.repeat(centre + 0.5 * noise(n, 1), looks + 1, axis=1)
    read = [
        side * np.where(changed, scale, 1) + shift * changed + judge_noise * noise(n, looks + 1)
        for side, shift in ((answers, judge * unlike), (anchors, judge))
    ]
    return read[0], read[1]


def scores(series: np.ndarray, rng: np.random.Generator, draws: int = 99) -> np.ndarray:
    """Return `stats.drift_scores` of many series at once: by series, unit, and run."""
    n_series, n, runs = series.shape
    whole, place = series.reshape(n_series * n, runs), np.arange(n_series * n)
    found = np.zeros((n_series, runs - 1))
    for look in range(1, runs):
        bags = whole[:, : look + 1]
        drawn = bags[place, rng.integers(0, look + 1, (draws, len(place)))]
        change = np.vstack([bags[:, -1], drawn]) - bags.mean(axis=1)
        change = change.reshape(draws + 1, n_series, n)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.nan_to_num(change.mean(axis=2) / change.std(axis=2), nan=0.0).round(9)
        above, equal = (t[1:] > t[0]).sum(axis=0), (t[1:] == t[0]).sum(axis=0)
        p = (above + rng.random(n_series) * (1 + equal)) / (draws + 1)
        varies = np.ptp(bags, axis=1).reshape(n_series, n).any(axis=1)
        found[:, look - 1] = np.where(varies, -special.ndtri(p), 0.0)
    return found


def rolling_z(series: np.ndarray) -> np.ndarray:
    """Say of each series whether the mean of any later week differs from the first, at 5%."""
    window = 7
    windows = np.lib.stride_tricks.sliding_window_view(series, window, axis=2).mean(axis=3)
    change = windows[:, :, window:] - windows[:, :, :1]
    with np.errstate(divide="ignore", invalid="ignore"):
        z = change.mean(axis=1) / (change.std(axis=1, ddof=1) / np.sqrt(series.shape[1]))
    return np.asarray((np.abs(z) > 1.96).any(axis=1))


def summarize(name: str, n_series: int = 200, looks: int = LOOKS) -> dict[str, float]:
    """Return how often, in percent, each part is said to drift, both, and just what did.

    `runs` is the median number of runs from a change to its detection; `z`: what the rolling test
    says of the system and the judge.
    """
    truth = {"looks": looks, **SCENARIOS[name]}
    rng = np.random.default_rng([list(SCENARIOS).index(name), looks])
    answers, anchors = map(
        np.array, zip(*(series(rng, **truth) for _ in range(n_series)), strict=True)
    )
    said, at, z = {}, {}, {}
    for part, values in (("system", answers - anchors), ("judge", anchors)):
        reached = np.array([stats.drift_evidence(z) >= THRESHOLD for z in scores(values, rng)])
        said[part], z[f"z {part}"] = reached.any(axis=1), rolling_z(values)
        at[part] = np.where(said[part], reached.argmax(axis=1) + 1, np.inf)
    changed = {"system": "model" in truth, "judge": "judge" in truth}
    right = np.all([said[part] == changed[part] for part in changed], axis=0)
    said |= {"both": said["system"] & said["judge"], "right": right, **z}
    shares = {key: round(100 * float(values.mean()), 1) for key, values in said.items()}
    last = max((np.median(at[part]) for part in changed if changed[part]), default=np.nan)
    return shares | {"runs": last - truth.get("at", 0) + 1}


def test_the_scores_of_many_series_are_those_of_each() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(size=(3, 20, 6))
    expected = [stats.drift_scores(pd.DataFrame(one)) for one in values]
    assert scores(values, rng, draws=4000) == pytest.approx(np.array(expected), abs=0.3)


def test_the_page_prints_the_rates_that_are_found() -> None:
    rows = [line.split(" | ") for line in PAGE.read_text("utf-8").splitlines()]
    printed = {row[0].removeprefix("| "): row[1:] for row in rows if len(row) == 8}
    for name, truth in SCENARIOS.items():
        found = summarize(name)
        shares = [float(cell.strip(" |%")) for cell in printed[name][:6]]
        keys = ("system", "judge", "both", "right", "z system", "z judge")
        assert shares == pytest.approx([found[key] for key in keys], abs=2), name
        if not {"unlike", "scale"} & {*truth}:  # anchors are scored as new answers are
            false = [
                share
                for share, of in zip(shares[:2], ("model", "judge"), strict=True)
                if of not in truth
            ]
            assert max(false, default=0) <= 5 and shares[3] >= 95, name


if __name__ == "__main__":
    for scenario in SCENARIOS:
        print(scenario, summarize(scenario), flush=True)
