"""Null ranges by percentiles, and units permuted alike."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from nbbias import stats

VALUES = st.lists(st.floats(-5, 5), min_size=1, max_size=30).map(np.array)


@given(VALUES)
def test_the_range_is_that_of_the_percentiles_and_missing_draws_do_not_count(
    values: np.ndarray,
) -> None:
    result = stats.null_range(np.append(values, [np.nan] * 3), confidence=0.8)
    limits = np.quantile(values, [0.1, 0.9]).tolist()
    assert [result["null_low"], result["null_high"]] == pytest.approx(limits)
    assert result["null"] == pytest.approx(values.mean())


@pytest.mark.parametrize("values", [[], [np.nan] * 4])
def test_without_a_draw_nothing_is_known(values: list[float]) -> None:
    result = stats.null_range(np.array(values, float), confidence=0.9)
    assert list(result) == ["null", "null_low", "null_high"]
    assert np.isnan(list(result.values())).all()


# --- permute_units ----------------------------------------------------------------------------


@given(st.integers(0, 6), st.integers(0, 6), st.integers(1, 4), st.integers(0, 10**6))
def test_the_first_side_takes_the_units_with_the_smallest_numbers(
    n: int, m: int, g: int, seed: int
) -> None:
    first, second = (np.random.default_rng(seed).integers(0, 9, (size, g)) for size in (n, m))
    h, o = stats.permute_units(first, second, n_permutations=20, rng=np.random.default_rng(seed))
    both, numbers = np.vstack([first, second]), np.random.default_rng(seed).random((20, n + m))
    order = numbers.argsort(axis=1)
    assert (h == both[order[:, :n]].sum(axis=1)).all()
    assert (o == both[order[:, n:]].sum(axis=1)).all()
