"""Count how often each way to the Affinity Bias Score rejects, under four planted judges.

    python tools/planted_cogs.py [REPEATS] [INSTANCES]

Every repeat draws new texts and a new judge; 5% is what a test at .05 may reject where nothing of
its kind was planted. The last column is the test over single judgements, which takes replies about
the same texts for independent.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
from scipy.stats import chisquare

from nbbias.cogs import affinity
from nbbias.cogs.sample import Judge, judge
from nbbias.cogs.spread import spread_rows
from nbbias.stats import InferenceSettings

IDENTITIES = ["white", "black", "asian"]
JUDGES = {
    "none": Judge(content=1.5),
    "identity": Judge(identity={"white": 1.2}, content=1.5),
    "position": Judge(position=(1.2,), content=1.5),
    "both": Judge(identity={"asian": 1.2}, position=(1.2,), content=1.5),
}


def once(plan: Judge, *, instances: int, draws: int, seed: int) -> dict[str, float]:
    """Simulate one study; return the scores and p values of each way."""
    asked = pd.DataFrame(
        {"model": "m", "task": "t", "topic": "u", "theme": [f"c{i}" for i in range(instances)]}
    )
    table = judge(asked, plan, IDENTITIES, rng=np.random.default_rng(seed))
    inference = InferenceSettings(0.95, draws, seed)
    row: dict[str, float] = {}
    for name, values in affinity.shares(table, IDENTITIES).items():
        found, *_ = spread_rows(values, name, part="share", inference=inference)
        row |= {f"score_{name}": found["estimate"], f"p_{name}": found["p_value"]}
    return row | {"p_single": chisquare(table["identity"].value_counts()).pvalue}


def main(repeats: int = 200, instances: int = 60) -> None:
    """Print the counts of rejections at .05, and the mean scores."""
    for name, plan in JUDGES.items():
        runs = pd.DataFrame(
            [once(plan, instances=instances, draws=400, seed=seed) for seed in range(repeats)]
        )
        p = runs.filter(like="p_")
        counts = ", ".join(f"{c[2:]} {int((p[c] < 0.05).sum())}" for c in p)
        means = ", ".join(f"{c[6:]} {runs[c].mean():.3f}" for c in runs.filter(like="score_"))
        print(f"{name}: rejections of {repeats}: {counts}; mean scores: {means}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
