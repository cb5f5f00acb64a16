"""What each measure is by chance, or by the tone of ordinary prose: deals, draws, and one tail.

A study deals what it measures (words, sentences, identities, verdicts), scores every deal as it
scored what was observed, and puts the two beside each other by `tail`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Literal

import numpy as np
from scipy.special import gammaln

from nbbias.stats.inference import InferenceSettings

#: What `tail` returns.
_TAIL = ("null", "null_low", "null_high", "p_value", "p_least")


def tail(
    observed: float,
    drawn: np.ndarray,
    *,
    confidence: float,
    sided: Literal["greater", "two"] = "greater",
    null: float | None = None,
    tolerance: float = 1e-12,
) -> dict[str, float]:
    """Put an observed value beside what it was in draws that chance alone made.

    Parameters
    ----------
    observed
        The value that was measured; NaN where only the chance level is asked for.
    drawn
        Its values under permutation or in drawn samples. NaN, where a draw measured nothing, does
        not count.
    confidence
        Share of the draws between `null_low` and `null_high`.
    sided
        ``"greater"``: draws at least as large count against `observed`; ``"two"``: draws at least
        as far from `null`, on either side.
    null
        The expected value, where it is known exactly; else the mean of the draws.
    tolerance
        Values this close are ties, which rounding must not break: a tie counts as reached.

    Returns
    -------
    dict
        `null`; `null_low` and `null_high`, the percentile range; and `p_value` = (1 + draws that
        reach `observed`) / (1 + draws), so that it is never below what so many draws can tell;
        and `p_least` = 1 / (1 + draws), which is that. NaN where nothing was observed or no draw
        measured anything.

    References
    ----------
    Phipson and Smyth 2010, *Permutation p-values should never be zero*.

    Examples
    --------
    Of nine draws two reach .5, the observed one counted in these are three of ten:

    >>> drawn = np.array([0.1, 0.2, 0.2, 0.3, 0.3, 0.3, 0.4, 0.5, 0.6])
    >>> tail(0.5, drawn, confidence=0.8)["p_value"]
    0.3

    As far from an expected .3 as .5 lie .1, .5 and .6:

    >>> tail(0.5, drawn, confidence=0.8, sided="two", null=0.3)["p_value"]
    0.4
    """
    known = drawn[~np.isnan(drawn)]
    found = dict.fromkeys(_TAIL, np.nan)
    if null is not None:
        found["null"] = float(null)
    if not len(known):
        return found
    low, high = np.quantile(known, [(1 - confidence) / 2, (1 + confidence) / 2])
    expected = float(known.mean()) if null is None else float(null)
    found |= {"null": expected, "null_low": float(low), "null_high": float(high)}
    if not np.isnan(observed):
        reached = _reaching(observed, known, sided, expected, tolerance)
        found |= {"p_value": (1 + reached) / (1 + len(known)), "p_least": 1 / (1 + len(known))}
    return found


def _reaching(
    observed: float, drawn: np.ndarray, sided: str, null: float, tolerance: float = 1e-12
) -> int:
    """Count the draws that are at least as large as, or as far from the null as, the observed."""
    if sided == "two":
        observed, drawn = abs(observed - null), np.abs(drawn - null)
    return int((drawn >= observed - tolerance).sum())


#: Draws that must reach what was observed before a p is sure enough to stop (Besag and Clifford's
#: h), and by which a p of its level in a family is told: its standard error is then about a fifth.
_REACHED = 20
#: Draws dealt at once: what a test holds in memory does not grow with its draws.
_AT_ONCE = 1000
#: Numbers that an array of draws may hold.
_HELD = 2**21


def draws_needed(inference: InferenceSettings, family: int) -> int:
    """Return how many draws can tell a p in a family: 20 · family / (1 - confidence), or more.

    Examples
    --------
    >>> draws_needed(InferenceSettings(0.95, n_permutations=1000), 108)
    43200
    """
    return max(
        inference.n_permutations, math.ceil(_REACHED * family / (1 - inference.confidence) - 1e-6)
    )


def permuted(
    observed: float,
    deal: Callable[[np.random.Generator, int], np.ndarray],
    *,
    inference: InferenceSettings,
    family: int = 1,
    sided: Literal["greater", "two"] = "greater",
    null: float | None = None,
) -> dict[str, float]:
    """Put an observed value beside as many deals as its family of tests needs.

    `inference.n_permutations` deals come first and give the chance level and its range. While fewer
    than 20 deals have reached what was observed, more are dealt, up to `draws_needed`: a value that
    chance often reaches costs no more than before, and one that it hardly ever reaches gets a p
    fine enough to be corrected over its family.

    Parameters
    ----------
    observed
        The value that was measured; NaN where only the chance level is asked for.
    deal
        Takes a source of chance and a number of deals, 1,000 at most, and returns the value in each
        (NaN, where a deal measured nothing, does not count).
    inference
        Level and start; the least number of deals.
    family
        How many tests are corrected together.
    sided, null
        As in `tail`; where a two-sided test is given no `null`, it is the mean of the first deals.

    Returns
    -------
    dict
        As `tail`; `p_least` is that of the most deals that there could have been.

    Notes
    -----
    The p is valid in spite of the stopping. A stop needs 20 deals that reached, so after n deals it
    gives a p of 21 / (n + 1) or more; for any level u, let n be the first look at which that is at
    most u. Whoever stopped before has a p above u, and so has whoever has a p above u at n, where
    the test is one of a fixed number of deals. So the p is at most u no more often than that of n
    deals.

    References
    ----------
    Besag and Clifford 1991, *Sequential Monte Carlo p-values*. Phipson and Smyth 2010, as `tail`.

    Examples
    --------
    >>> rolls = lambda rng, n: rng.random(n)
    >>> found = permuted(
    ...     0.9999, rolls, inference=InferenceSettings(0.95, n_permutations=200), family=100
    ... )
    >>> found["p_least"] == 1 / 40_001, found["p_value"] < 0.0005
    (True, True)
    """
    rng = np.random.default_rng(inference.seed)
    first = np.concatenate([deal(rng, n) for n in _batches(inference.n_permutations)])
    found = tail(observed, first, confidence=inference.confidence, sided=sided, null=null)
    if np.isnan(found["p_value"]):
        return found
    most = draws_needed(inference, family)
    reached, dealt = (
        _reaching(observed, first, sided, found["null"]),
        round(1 / found["p_least"]) - 1,
    )
    for n in _batches(most - inference.n_permutations):
        if reached >= _REACHED:
            break
        more = deal(rng, n)
        dealt += int((~np.isnan(more)).sum())
        reached += _reaching(observed, more, sided, found["null"])
    least = 1 / (1 + (dealt if reached < _REACHED else most))
    return found | {"p_value": (1 + reached) / (1 + dealt), "p_least": least}


def _batches(draws: int, size: int = _AT_ONCE) -> list[int]:
    whole, rest = divmod(draws, size)
    return [size] * whole + [rest] * (rest > 0)


def blocks(draws: int, *, each: int) -> list[int]:
    """Cut draws into blocks that fixed memory holds, however many numbers `each` draw has.

    Examples
    --------
    >>> blocks(1000, each=300), blocks(1000, each=5000)
    ([1000], [419, 419, 162])
    """
    return _batches(draws, max(1, _HELD // max(each, 1)))


def enumerated(
    observed: float,
    every: np.ndarray,
    *,
    confidence: float,
    sided: Literal["greater", "two"] = "greater",
    null: float | None = None,
) -> dict[str, float]:
    """Put an observed value beside its values in all arrangements, its own among them.

    Parameters
    ----------
    observed, confidence, sided, null
        As in `tail`.
    every
        The value in each arrangement, all equally likely by chance.

    Returns
    -------
    dict
        As `tail`, with the exact `p_value`; `p_least` is that of the arrangements furthest out:
        with few units no outcome can be less likely.

    Examples
    --------
    Which of two is nearer, told four times, is alike all four times in 2 of 16 arrangements:

    >>> signs = np.array(np.meshgrid(*[[-1, 1]] * 4)).reshape(4, -1)
    >>> found = enumerated(1.0, abs(signs.mean(axis=0)), confidence=0.95)
    >>> found["p_value"], found["p_least"]
    (0.125, 0.125)
    """
    found = tail(observed, every, confidence=confidence, sided=sided, null=null)
    if np.isnan(found["p_value"]):
        return found
    far = np.abs(every - found["null"]) if sided == "two" else every
    return found | {
        "p_value": _reaching(observed, every, sided, found["null"]) / len(every),
        "p_least": float((far >= far.max() - 1e-12).mean()),
    }


def windows(texts: Iterable[str], *, n_words: int) -> list[str]:
    """Cut running prose into consecutive windows of equal length.

    Parameters
    ----------
    texts
        Passages, joined in order.
    n_words
        Length of a window in words, at least 1.

    Returns
    -------
    list of str
        As many full windows as the prose holds; a remainder is left out. Empty
        when the prose is shorter than one window.

    Examples
    --------
    >>> windows(["one two three", "four five"], n_words=2)
    ['one two', 'three four']
    """
    if n_words < 1:
        raise ValueError(f"n_words must be at least 1, but is {n_words}")
    words = " ".join(texts).split()
    starts = range(0, len(words) - n_words + 1, n_words)
    return [" ".join(words[start : start + n_words]) for start in starts]


def dealt(
    first: np.ndarray, second: np.ndarray, *, draws: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Deal the units of two sides out anew, as many to each as it had, and add them up.

    Parameters
    ----------
    first, second
        Units by columns: a text's sentences by counts of group words, or by scores of instruments.
    draws
        Deals, each as likely as every other.
    rng
        The source of chance.

    Returns
    -------
    (first, second) : arrays, draws by columns
        The sums over each side's units after every deal; divided by `len`, their means.

    Examples
    --------
    >>> h, o = dealt(
    ...     np.array([[1, 0], [1, 0]]), np.array([[0, 1]]), draws=100, rng=np.random.default_rng(0)
    ... )
    >>> sorted(set(map(tuple, h.tolist()))), bool((h + o == [2, 1]).all())
    ([(1, 1), (2, 0)], True)
    """
    both, n = np.vstack([first, second]), len(first)
    # The n units with the smallest of random numbers; adding them up is a product of matrices.
    numbers = rng.random((draws, len(both)))
    last = np.partition(numbers, n - 1, axis=1)[:, n - 1 : n] if n else np.zeros((draws, 1))
    mine = (numbers <= last) if n else (numbers < last)
    h = (mine.astype(float) @ both.astype(float)).astype(both.dtype)
    return h, both.sum(axis=0) - h


def permuted_counts(
    first: np.ndarray, second: np.ndarray, *, draws: int, rng: np.random.Generator
) -> np.ndarray:
    """Permute the group words between the two texts of each pair, lengths fixed.

    Parameters
    ----------
    first, second
        Counts of group words, pairs by groups.
    draws
        Permutations of every pair.
    rng
        The source of chance.

    Returns
    -------
    array of int
        Draws by pairs by groups: the counts that fall to the first text. The rest of a pair's
        pooled words fall to the second. Multivariate hypergeometric. A view whose groups lie apart
        in memory: what is done with it goes fastest over all draws and pairs of a group.

    Examples
    --------
    >>> first, second = np.array([[1, 1]]), np.array([[0, 2]])
    >>> drawn = permuted_counts(first, second, draws=50, rng=np.random.default_rng(0))
    >>> drawn.shape, set(drawn.sum(axis=2).ravel().tolist())
    ((50, 1, 2), {2})
    """
    pooled = first + second
    left = np.broadcast_to(first.sum(axis=1), (draws, len(first))).copy()
    rest = np.broadcast_to(pooled.sum(axis=1), (draws, len(first))).copy()
    drawn = np.zeros((first.shape[1], *left.shape), dtype=int)
    for group in range(first.shape[1] - 1):
        own = np.broadcast_to(pooled[:, group], left.shape)
        drawn[group] = rng.hypergeometric(own, rest - own, left)
        left -= drawn[group]
        rest -= own
    drawn[-1] = left
    return np.moveaxis(drawn, 0, -1)


def expected_differences(
    first: np.ndarray, second: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return exactly what a group's share difference is under `permuted_counts`.

    Parameters
    ----------
    first, second
        Counts of group words, pairs by groups; every row of either side has a word.

    Returns
    -------
    (absolute, below, fall, present) : arrays, pairs by groups
        E|d|, where d is the first text's share of the group minus the second's; P(d < 0);
        E[d; d < 0]; and P(the second text has words of the group). Each group's count is
        hypergeometric, so the expectations are sums over its support.

    Examples
    --------
    One word of two groups on either side: half the deals change sides.

    >>> absolute, below, *_ = expected_differences(np.array([[1, 0]]), np.array([[0, 1]]))
    >>> absolute.tolist(), below.tolist()
    ([[1.0, 1.0]], [[0.5, 0.5]])
    """
    sizes = [np.broadcast_to(side.sum(1)[:, None], first.shape).ravel() for side in (first, second)]
    cases = np.stack([*sizes, (first + second).ravel()], axis=1)
    # As many cases at once as fixed memory holds, since each has up to 1 + n values.
    parts = np.array_split(cases, 1 + int((1 + cases.min(axis=1, initial=0)).sum()) // _HELD)
    values = np.concatenate([_expected(part) for part in parts])
    absolute, below, fall, present = values.T.reshape(4, *first.shape)
    return absolute, below, fall, present


def _expected(cases: np.ndarray) -> np.ndarray:
    """Return the four expectations of each case: of n and m words, k are of the group."""
    if not len(cases):
        return np.zeros((0, 4))
    n, m, k = cases.T
    least = np.maximum(0, k - m)
    sizes = np.minimum(n, k) - least + 1
    starts = sizes.cumsum() - sizes
    # All values that each case's count can take, end to end.
    case = np.repeat(np.arange(len(cases)), sizes)
    x = np.arange(len(case)) - (starts - least)[case]
    n, m, k = cases[case].T
    logs = gammaln(np.arange(1.0, 2.0 + (n + m).max()))  # of factorials

    def chosen(whole: np.ndarray, part: np.ndarray) -> np.ndarray:
        return logs[whole] - logs[part] - logs[whole - part]

    p = np.exp(chosen(n, x) + chosen(m, k - x) - chosen(n + m, k))
    d = x / n - (k - x) / m
    # Exact ties must not count as a fall: compare whole numbers, not quotients.
    down = x * m < (k - x) * n
    terms = np.stack([p * np.abs(d), p * down, p * down * d, p * (k > x)], axis=1)
    return np.add.reduceat(terms, starts)
