"""What the gate does in thousands of pairs of runs whose truth is known, and its power by N.

Runs are drawn as units: articles with a value of their own, that both runs share, and what each run
adds by chance, correlated as two runs of one model are.
"""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from nbbias import stats
from nbbias.stats import PairedMeans

pytestmark = pytest.mark.nightly

GUIDE = Path(__file__).parents[2] / "docs" / "howto" / "gate.md"

#: Pairs of runs.
PAIRS = 4000
ALPHA = 0.05


def drawn(
    rng: np.random.Generator,
    n: int,
    *,
    first: float,
    second: float,
    alike: float = 0.5,
    pairs: int = PAIRS,
) -> list[PairedMeans]:
    """Draw the means of pairs of runs of n articles, whose values vary by 1."""

    def noise() -> np.ndarray:
        return rng.normal(size=(pairs, n))

    common = noise()
    sides = [
        mean + np.sqrt(alike) * common + np.sqrt(1 - alike) * noise() for mean in (first, second)
    ]
    off = [side - side.mean(axis=1, keepdims=True) for side in sides]
    (a, b), size = off, n * (n - 1)
    spread = [(x * y).sum(axis=1) / size for x, y in ((a, a), (b, b), (a, b))]
    columns = (*(side.mean(axis=1) for side in sides), *spread)
    return [PairedMeans(*pair, n - 1, n, 10.0) for pair in np.column_stack(columns).tolist()]


# --- the table of power in the guide -------------------------------------------------------------


def power_table() -> dict[int, list[int]]:
    """Return, by N, how often in a hundred the gate opens, and how often it is shut, by shift.

    One claim whose values vary by 1 from article to article and by 0.5 in both runs together
    (`alike`), with a margin of 0.2: opened where nothing changed; shut where it got worse by 0.4
    and by 0.6.
    """
    found = {}
    for n in (25, 50, 100, 200, 400, 800):
        rng = np.random.default_rng(n)
        pairs = {0.0: 1, 0.4: 0, 0.6: 0}
        found[n] = []
        for shift, which in pairs.items():
            means = drawn(rng, n, first=0.5, second=0.5 + shift)
            p = [stats.one_sided_tests(pair, "apart", 0.2)[which] for pair in means]
            found[n].append(round(100 * float(np.mean(np.array(p) <= ALPHA))))
    return found


def test_the_guide_prints_the_power_that_is_found() -> None:
    rows = re.findall(
        r"^\| ([\d,]+) \| (\d+)% \| (\d+)% \| (\d+)% \|$", GUIDE.read_text("utf-8"), re.MULTILINE
    )
    printed = {int(n.replace(",", "")): [int(a), int(b), int(c)] for n, a, b, c in rows}
    found = power_table()
    assert printed.keys() == found.keys()
    for n, shares in found.items():
        assert printed[n] == pytest.approx(shares, abs=3), n


@pytest.mark.parametrize("n", [30, 80])
def test_a_worse_run_of_clusters_of_unequal_size_seldom_passes(n: int) -> None:
    """Clusters of lognormal size, whose texts are alike; worse by the margin, or not at all."""
    rng, passed = np.random.default_rng(n), {0.05: 0, 0.0: 0}
    for worse in passed:
        for _ in range(400):
            cluster = np.repeat(np.arange(n), 1 + rng.lognormal(0, 1, n).astype(int))
            alike, own = rng.normal(size=n)[cluster], rng.normal(size=(2, len(cluster)))
            right = 0.6 * alike + 0.8 * own < norm.ppf([[0.8], [0.8 - worse]])
            both = pd.DataFrame(
                {"first": right[0], "second": right[1], "cluster": cluster}, dtype=float
            )
            row = stats.noninferiority_test(both, worse="lower", margin=0.05)
            passed[worse] += row["p_not_worse"] < ALPHA
    assert passed[0.05] <= 33 < passed[0.0]  # .05 of 400, and three errors
