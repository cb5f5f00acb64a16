"""What the gate does in thousands of pairs of runs whose truth is known, and its power by N.

Runs are drawn as units: articles with a value of their own, that both runs share, and what each run
adds by chance, correlated as two runs of one model are. Skewed and binary values, too.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats as scipy_stats

from nbbias import stats
from nbbias.stats import PairedMeans
from nbbias.stats.noninferiority import Worse

pytestmark = pytest.mark.nightly

GUIDE = Path(__file__).parents[2] / "docs" / "howto" / "gate.md"

#: Pairs of runs; claims of each, corrected together.
PAIRS, CLAIMS = 4000, 5
ALPHA = 0.05


def drawn(
    rng: np.random.Generator,
    n: int,
    *,
    first: float,
    second: float,
    alike: float = 0.5,
    skewed: bool = False,
    pairs: int = PAIRS,
) -> PairedMeans:
    """Draw the means of pairs of runs of n articles, whose values vary by 1."""

    def noise() -> np.ndarray:
        drawn = rng.gamma(1.0, 1.0, (pairs, n)) - 1 if skewed else rng.normal(size=(pairs, n))
        return np.asarray(drawn, dtype=float)

    common = noise()
    sides = [
        mean + np.sqrt(alike) * common + np.sqrt(1 - alike) * noise() for mean in (first, second)
    ]
    off = [side - side.mean(axis=1, keepdims=True) for side in sides]
    (a, b), size = off, n * (n - 1)
    spread = [(x * y).sum(axis=1) / size for x, y in ((a, a), (b, b), (a, b))]
    return PairedMeans(sides[0].mean(axis=1), sides[1].mean(axis=1), *spread, n - 1, n, 10.0)


def holm_rejects(p: np.ndarray) -> np.ndarray:
    """Say of each pair of runs whether any of its claims is called worse."""
    return np.asarray(p.min(axis=0) * len(p) <= ALPHA)


@pytest.mark.parametrize("worse", ["higher", "apart"])
@pytest.mark.parametrize(("n", "bias", "skewed"), [(20, 0.0, True), (72, 0.4, False)])
def test_a_run_at_the_margin_is_rarely_called_worse_and_rarely_passes(
    worse: Worse, n: int, bias: float, skewed: bool
) -> None:
    rng, margin = np.random.default_rng([n, worse == "apart"]), 0.2
    p = [
        stats.one_sided_tests(
            drawn(rng, n, first=bias, second=bias + margin, skewed=skewed), worse, margin
        )
        for _ in range(CLAIMS)
    ]
    # Three standard errors of so many pairs above 5%.
    most = ALPHA + 3 * np.sqrt(ALPHA * 0.95 / PAIRS)
    assert holm_rejects(np.array([p_worse for p_worse, _ in p])).mean() <= most
    if not skewed:
        assert (p[0][1] <= ALPHA).mean() <= most


@pytest.mark.parametrize(
    ("n", "margin", "changed"), [(15, 0.1, 0.3), (30, 0.05, 0.0), (400, 0.02, 0.05)]
)
def test_of_verdicts_too(n: int, margin: float, changed: float) -> None:
    # Every outcome with its probability: of units that change sides, so many upwards.
    up, down = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    possible = up + down <= n
    up, down = up[possible], down[possible]
    chances = [margin + changed / 2, changed / 2, 1 - margin - changed]
    p = scipy_stats.multinomial(n, chances).pmf(np.column_stack([up, down, n - up - down]))
    p_worse, p_not_worse = stats.tango_tests(up, down, n, margin)
    assert p[p_worse <= ALPHA].sum() <= ALPHA
    assert p[p_not_worse <= ALPHA].sum() <= ALPHA


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
            p = stats.one_sided_tests(means, "apart", 0.2)[which]
            found[n].append(round(100 * float((p <= ALPHA).mean())))
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
