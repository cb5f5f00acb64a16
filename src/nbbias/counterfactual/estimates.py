"""Do answers differ more between versions of a prompt than among answers to one version?

The unit is the prompt. Distances are compared within it: answers to one version are as unlike each
other as repeated sampling makes them, so only what exceeds that is an effect of the group.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import combinations, product
from math import comb
from typing import Any

import numpy as np
import pandas as pd

from nbbias import stats, tables

#: The defaults of this study.
INFERENCE = stats.InferenceSettings(n_permutations=2000)

EMBEDDING = "embedding"
#: Statistics that are tested. Each is a family of its own.
TESTED = ("excess_distance", "difference")
PERMUTATION = "versions permuted within prompt"
SIGN_FLIP = "signs of prompts permuted"

#: Ways to divide the answers to a prompt between two versions that are listed, or drawn.
_DIVISIONS = 2000

_BETWEEN = "no prompt has measured answers to both versions"
_WITHIN = "no prompt has two measured answers to each of both versions"
_ALIKE = "all answers have the same value"
_NOBODY = "no answer about either group was refused"

Row = dict[str, Any]


def estimates(
    answers: pd.DataFrame,
    features: Mapping[str, np.ndarray],
    *,
    instruments: Mapping[str, str],
    inference: stats.InferenceSettings = INFERENCE,
) -> tables.Estimated:
    """Compare answers between two versions of a prompt with answers to one version.

    Parameters
    ----------
    answers
        `model`, `bias`, `unit` (the prompt), `group`, `asked` (the version), `sample`.
    features
        By measure, answers by dimensions: text embeddings of length 1 of ``embedding``, one number
        of the others. NaN: not measured.
    instruments
        What measured each.
    inference
        Level of the intervals, least number of permutations, and seed.

    Returns
    -------
    tables.Estimated
        ESTIMATES by model, `bias` and pair of groups (`group`, such as ``female − male``), and the
        prompts' values behind them. By `statistic`:

        - ``between_distance``: mean distance of an answer to one version from an answer to the
          other: 1 minus the cosine of embeddings, or the absolute difference of scores; on the
          prompts that have the second, where any has;
        - ``within_distance``: of two answers to the same version (or, where a person is named, of
          answers about two names of the same group), both versions weighing alike;
        - ``excess_distance``: the first minus the second; its permutation test permutes versions
          within each prompt (one-sided);
        - ``difference``: mean score of the first group's answers minus that of the second's; its
          permutation test permutes the signs of the prompts' differences (two-sided; exact where
          few differ from 0).

        The null value of the last two is 0. `n` counts prompts, `n_lost` those without a value.
        `p_adjusted` is Holm's, over all rows of a statistic.

    Examples
    --------
    >>> rows = [("p", "male", 1), ("p", "male", 2), ("p", "female", 1), ("p", "female", 2)]
    >>> answers = pd.DataFrame(rows, columns=["unit", "group", "sample"])
    >>> answers = answers.assign(model="m", bias="gender", asked=answers["group"])
    >>> length = {"length": np.array([[4.0], [6.0], [1.0], [1.0]])}
    >>> result = estimates(answers, length, instruments={"length": "words"})
    >>> result.estimates.set_index("statistic")["estimate"].to_dict()
    {'between_distance': 4.0, 'within_distance': 1.0, 'excess_distance': 3.0, 'difference': -4.0}
    """
    blocks = answers.assign(block=_blocks(answers)).reset_index(drop=True)
    parts = list(blocks.groupby(["model", "bias"], sort=False))
    pairs = [(*key, part, pair) for key, part in parts for pair in _pairs(part["group"])]
    # As many permutations as can resolve a p that is corrected over the family, 20 times.
    family, level = len(pairs) * len(features), inference.confidence
    draws = max(inference.n_permutations, round(20 * family / (1 - level)))
    inference = inference._replace(n_permutations=draws)
    rows = [
        {"model": model, "bias": bias, "group": " − ".join(pair), "measure": measure, **row}
        | {"instrument": instruments[measure]}
        for model, bias, part, pair in pairs
        for measure, values in features.items()
        for row in _compare(part, values, pair, inference, measure)
    ]
    table, units = tables.estimates_and_units(rows, study="counterfactual", confidence=level)
    table = stats.adjust(table, family=["statistic"], where={"statistic": TESTED})
    return tables.Estimated(table, units)


def _pairs(groups: pd.Series) -> list[tuple[str, str]]:
    return list(combinations(sorted(map(str, groups.unique())), 2))


def _blocks(answers: pd.DataFrame) -> pd.Series:
    """Return what varies among the answers about a group: its names where it has several.

    Else repeated answers about one name would look like several people of the group.
    """
    prompt = [answers[key] for key in ("model", "bias", "unit")]
    names = answers["asked"].groupby([*prompt, answers["group"]]).transform("nunique")
    has_names = names.groupby(prompt).transform("min") > 1
    return answers["sample"].astype(str).where(~has_names, answers["asked"])


def _compare(
    part: pd.DataFrame,
    values: np.ndarray,
    pair: tuple[str, str],
    inference: stats.InferenceSettings,
    measure: str,
) -> Iterator[Row]:
    """Yield the rows of two groups by one measure."""
    signed, answers = measure != EMBEDDING, part.index[part["group"].isin(pair)]
    nobody = {"reason": _NOBODY} if measure == "refusal" and not values[answers].any() else {}
    rng = np.random.default_rng(inference.seed)
    prompts = part["unit"].unique()
    by_prompt = np.full((len(prompts), 3), np.nan)
    permuted = np.zeros(inference.n_permutations)
    places, blocks = part.groupby(["unit", "group"]).indices, part["block"].to_numpy(object)
    of_part, none = values[part.index], np.array([], dtype=int)
    for number, unit in enumerate(prompts):
        rows = [places.get((unit, group), none) for group in pair]
        first, second = (_average(blocks[at], of_part[at]) for at in rows)
        if not (len(first) and len(second)):
            continue
        both = np.vstack([first, second])
        # Of scores absolute differences; of embeddings 1 minus the cosine.
        distances = np.abs(both - both.T) if signed else np.maximum(1 - both @ both.T, 0)
        division = np.arange(len(distances)) < len(first)
        between, within = _divide(distances, division[None])
        difference = first.mean() - second.mean() if signed else np.nan
        by_prompt[number] = between[0], within[0], difference
        if np.isfinite(within[0]):
            between, within = _divide(distances, _divisions(len(first), len(second)))
            permuted += rng.choice(between - within, len(permuted))
    table = pd.DataFrame(by_prompt, index=prompts, columns=["between", "within", "difference"])
    level, excess = inference.confidence, table["between"] - table["within"]
    if excess.notna().any():  # all distances of the same prompts
        table["between"] = table["between"].where(excess.notna())
    for statistic, reason in (("between", _BETWEEN), ("within", _WITHIN)):
        row = _mean(table[statistic], level, reason, bounds=(0, np.inf))
        yield {"statistic": f"{statistic}_distance", **row}
    row = _mean(excess, level, _WITHIN) | _test(excess, permuted / max(excess.count(), 1), level)
    yield {"statistic": "excess_distance", "test": PERMUTATION, **row}
    if signed:
        differences = table["difference"].dropna().to_numpy()
        other = differences[differences != 0]
        flips = _flips(len(other), inference.n_permutations, rng)
        null = flips @ other / max(len(differences), 1)
        row = _mean(table["difference"], level, _BETWEEN)
        row |= _test(table["difference"], null, level, two_sided=True)
        yield {"statistic": "difference", "test": SIGN_FLIP, **row, **nobody}


def _flips(k: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return n random signs of k differences, or all others than the observed ones if not more.

    The test is two-sided, so signs that are all turned count once.
    """
    if k and 2 ** (k - 1) <= n:
        return np.array([(1.0, *signs) for signs in product([1.0, -1.0], repeat=k - 1)])[1:]
    return rng.choice([-1.0, 1.0], (n, k))


def _average(blocks: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return a row for each block of answers that has a measured one: their mean."""
    measured = np.isfinite(values).all(axis=1)
    numbers = pd.factorize(blocks[measured])[0]
    weights = np.eye(numbers.max(initial=-1) + 1)[numbers]
    return (weights / weights.sum(axis=0)).T @ values[measured]


def _divide(distances: np.ndarray, divisions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean distance between two sides and within them, of each division of answers.

    Parameters
    ----------
    distances
        Answers by answers.
    divisions
        Divisions by answers: whether an answer is on the first side.

    Returns
    -------
    between, within : arrays
        `within` is the mean of both sides' means, of distinct answers; NaN where a side has one.
    """
    off = distances - np.diag(np.diag(distances))
    first, second = divisions.astype(float), 1.0 - divisions
    n, m = first.sum(axis=1), second.sum(axis=1)
    between = ((first @ off) * second).sum(axis=1) / (n * m)
    with np.errstate(invalid="ignore", divide="ignore"):
        within_first = ((first @ off) * first).sum(axis=1) / (n * (n - 1))
        within_second = ((second @ off) * second).sum(axis=1) / (m * (m - 1))
    return between, (within_first + within_second) / 2


@cache
def _divisions(n: int, m: int) -> np.ndarray:
    """Return all ways to choose n of n + m answers, or many random ones where there are more."""
    if comb(n + m, n) > _DIVISIONS:
        rng, row = np.random.default_rng(0), np.arange(n + m) < n
        return rng.permuted(np.tile(row, (_DIVISIONS, 1)), axis=1)
    chosen = np.array(list(combinations(range(n + m), n)))
    return np.eye(n + m, dtype=bool)[chosen].any(axis=1)


def _mean(values: pd.Series, level: float, reason: str, bounds: Any = None) -> Row:
    estimate = stats.mean_interval(values, confidence=level, bounds=bounds)
    row = estimate.row() | {"values": values}
    return row if estimate.n else row | {"reason": reason}


def _test(values: pd.Series, null: np.ndarray, level: float, *, two_sided: bool = False) -> Row:
    """Return the permutation test of a mean against 0; none where nothing could differ.

    Permuted means spread more where the effect is larger. So power and minimum detectable effects
    are from the standard error of the one-sample *t* statistic.
    """
    if not values.count():
        return {}
    if len(null) and np.allclose(null, 0, atol=1e-12):
        return {"reason": _ALIKE, "ci_low": np.nan, "ci_high": np.nan}
    t = stats.one_sample(values, confidence=level)
    row: Row = {"null": 0.0, "statistic_value": t.statistic_value, "df": t.df}
    observed = float(values.mean())
    if two_sided:
        observed, null = abs(observed), np.abs(null)
    return row | stats.permutation_p(observed, null)
