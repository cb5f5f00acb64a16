"""Distances of instances by identities with a known truth that is not what any test takes for null.

Skewed, as distances are; one identity may vary more than the others, and identities may differ from
task to task. Sample answers (`nbbias.cogs.sample`) go through texts and an embedding, and take
seconds; these take none.
"""

import numpy as np
import pandas as pd


def distances(
    rng: np.random.Generator,
    n: int = 30,
    *,
    means: tuple[float, ...] = (0.4, 0.4, 0.4),
    uneven: float = 1.0,
    tasks: int = 1,
    by_task: float = 0.0,
    skewed: bool = True,
) -> pd.DataFrame:
    """Return one table.

    Parameters
    ----------
    n
        Instances in all, an equal number of each task.
    means
        Of each identity.
    uneven
        How many times as much the first identity varies as the others.
    tasks, by_task
        How many tasks, and the standard deviation of what a task adds to each identity.
    skewed
        Gamma noise (skewness 2), else normal noise.
    """
    k = len(means)
    noise = rng.gamma(1.0, 1.0, (n, k)) - 1 if skewed else rng.normal(size=(n, k))
    noise[:, 0] *= uneven
    task = np.arange(n) % tasks
    moved = rng.normal(0, by_task, (tasks, k))[task]
    prompt = rng.normal(0, 0.05, (n, 1))  # some prompts move every answer
    index = pd.MultiIndex.from_arrays(
        [[f"task {i}" for i in task], range(n)], names=["task", "theme"]
    )
    return pd.DataFrame(
        np.array(means) + prompt + moved + 0.03 * noise, index, list("abcdefgh")[:k]
    )
