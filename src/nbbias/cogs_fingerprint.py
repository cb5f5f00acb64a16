"""What a person's blind picks come to: identity told apart from position, beside chance."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from statsmodels.stats.power import GofChisquarePower

from nbbias import cogs_chance, contracts
from nbbias.cogs_affinity import affinity_bias_score
from nbbias.cogs_people import one_hot
from nbbias.cogs_suite import BAR, Suite
from nbbias.report import escape, interval, number, p_value

#: Four times in five: how often a preference is to be found where there is one.
POWER = 0.8
#: The preference that `Needed.enough` is about: so many times as often as each other identity.
TIMES = 2.0

NO_PICK = "none of the texts was picked"


class Needed(NamedTuple):
    """What a number of picks can tell.

    `least`: with fewer, not even picks of one identity alone would be beyond chance. `share`: the
    smallest share of one identity that `n` picks find with `POWER`; NaN where they find none.
    `enough`: picks that find, with `POWER`, an identity picked `TIMES` as often as each other one.
    """

    n: int
    least: int
    share: float
    enough: int


def needed(n: int, *, identities: int, parts: int = 1, confidence: float = 0.95) -> Needed:
    """Say what n picks can tell.

    Parameters
    ----------
    n
        Picks on one axis.
    identities
        k, the texts of a round.
    parts
        Axes that are tested together: p values are multiplied by it.
    confidence
        1 minus the level of the test.

    Notes
    -----
    Permuting a single pick within its round makes it any of the k, so `least` is exact: all picks
    fall on one identity in k^(1 - n) of the permutations. The others rest on the chi-square test
    of equal shares, whose effect size w is k times the ABS.
    """
    alpha, k = (1 - confidence) / parts, identities
    least = 1 + math.ceil(math.log(1 / alpha) / math.log(k) - 1e-9)
    most = TIMES / (TIMES + k - 1)
    test = GofChisquarePower()
    enough = test.solve_power(_effect(most, k), n_bins=k, alpha=alpha, power=POWER)
    one_sided = test.power(_effect(1.0, k), max(n, 1), n_bins=k, alpha=alpha)
    share = math.nan
    if n >= least and one_sided > POWER:
        effect = test.solve_power(None, nobs=n, n_bins=k, alpha=alpha, power=POWER)
        share = 1 / k + float(effect) * math.sqrt(k - 1) / k
    return Needed(n, least, share if share < 1 else math.nan, math.ceil(float(enough)))


def _effect(share: float, k: int) -> float:
    """Return Cohen's w of one identity with this share, the others sharing the rest alike."""
    return k * (share - 1 / k) / math.sqrt(k - 1)


def needed_in_words(rounds: pd.DataFrame, *, confidence: float) -> list[str]:
    """Say before anything is picked what the picks of these rounds can tell, and what not."""
    parts = rounds["part"].nunique()
    counts = rounds.groupby("part").agg(n=("axis", "size"), order=("order", "first"))
    sizes = counts.assign(k=counts["order"].str.count(f"[{BAR}]") + 1)
    sentences = [
        f"{len(rounds)} rounds in {parts} parts, one an axis, on texts of "
        f"{escape(rounds['model'].iloc[0])}."
    ]
    for (n, k), own in sizes.groupby(["n", "k"], sort=False):
        found = needed(int(n), identities=int(k), parts=parts, confidence=confidence)
        finds = (
            f"find, four times in five, an identity whose texts are picked in about "
            f"{found.share:.0%} of the rounds or more ({1 / k:.0%} is an equal share)"
            if np.isfinite(found.share)
            else "are too few to find any preference reliably"
        )
        sentences.append(
            f"Rounds with {k} texts ({len(own)} part{'s' * (len(own) > 1)}): {n} picks {finds}. "
            f"Fewer than {found.least} can tell nothing, whatever they are; to find texts that are "
            f"picked twice as often as each other identity's takes about {found.enough} picks."
        )
    return sentences


# --- what was picked ----------------------------------------------------------------------------


def fingerprint(
    ratings: pd.DataFrame, suite: Suite, *, parts: int | None = None, confidence: float = 0.95,
    draws: int = 2000, seed: int = 0,
) -> pd.DataFrame:  # fmt: skip
    """Estimate a person's affinity by axis, and what position was worth.

    Parameters
    ----------
    ratings
        The table of `cogs_blind.ratings`, of one person, of whole parts.
    suite
        Lists the identities.
    parts
        The axes that the person was to see; by default those in `ratings`.
    confidence, draws, seed
        Level of the intervals; permutations and resamples, and their start.

    Returns
    -------
    DataFrame
        ESTIMATES; `bias` is the axis, `evaluator` the person, `model` who wrote; `n` the picks,
        `n_lost` the rounds where the person could not decide. By `statistic`: ``abs`` and
        ``share`` of identities, ``position`` and ``position_share``; `null` is what permuting the
        identities (or positions) within each round gives. `p_adjusted` is Bonferroni's over
        `parts`, so that no verdict changes as further parts are done; of shares it is Holm's over
        the identities of an axis.
    """
    rows: list[dict[str, Any]] = []
    for axis, own in ratings.groupby("axis", sort=False):
        names = list(suite.axes[str(axis)].identities)
        places = [f"position {i}" for i in range(1, len(names) + 1)]
        at = own.assign(identity=own["position"].map(lambda i: f"position {i}", na_action="ignore"))
        for statistic, share, table in (
            ("abs", "share", one_hot(own, names)),
            ("position", "position_share", one_hot(at, places)),
        ):
            key = {"bias": axis, "model": own["model"].iloc[0], "evaluator": own["rater"].iloc[0]}
            found = _estimated(table, confidence=confidence, draws=draws, seed=seed)
            rows += [key | {"statistic": statistic} | found[0]]
            rows += [key | {"statistic": share} | row for row in found[1:]]
    table = pd.DataFrame(rows)
    if rows:
        spreads = table["statistic"].isin(["abs", "position"])
        m = ratings["axis"].nunique() if parts is None else parts
        table.loc[spreads, "p_adjusted"] = (table.loc[spreads, "p_value"] * m).clip(upper=1)
    return contracts.estimates(
        table.to_dict("records"), study="cogs", measure="abs", instrument="blind picks"
    )


def _estimated(shares: pd.DataFrame, **options: Any) -> list[dict[str, Any]]:
    """Estimate the spread of a table of picks, first, and the share of each column."""
    if not shares.notna().all(axis=1).any():
        gap = {"estimate": np.nan, "p_value": np.nan, "n": 0, "n_lost": len(shares),
               "reason": NO_PICK}  # fmt: skip
        return [{"group": None, **gap}, *({"group": name, **gap} for name in shares)]
    spread = cogs_chance.spread_estimate(shares, **options)
    most = affinity_bias_score(shares.dropna().mean()).identity
    columns = cogs_chance.column_estimates(shares, bounds=(0.0, 1.0), **options)
    return [{"group": most, **spread}, *columns]


def in_words(estimates: pd.DataFrame, *, parts: int, confidence: float) -> list[str]:
    """Write a person's fingerprint, an axis a sentence, as plain text."""
    sentences = []
    for axis, own in estimates.groupby("bias", sort=False):
        rows = {row["statistic"]: row for row in own.to_dict("records")}
        row, position = rows["abs"], rows["position"]
        if not np.isfinite(row["estimate"]):
            sentences.append(f"{axis}: not measured; {row['reason']} ({row['n_lost']:.0f} rounds).")
            continue
        k = int((own["statistic"] == "share").sum())
        least = needed(int(row["n"]), identities=k, parts=parts, confidence=confidence).least
        if row["n"] < least:
            told = f"{row['n']:.0f} picks can tell nothing; it takes {least} at the least"
        elif row["p_adjusted"] < 1 - confidence:
            told = f"your picks prefer texts written for the identity {row['group']}"
        else:
            told = "your picks prefer no identity beyond chance"
        shares = own[own["statistic"] == "share"]
        listed = ", ".join(
            f"{name} {share:.0%}"
            for name, share in zip(shares["group"], shares["estimate"], strict=True)
        )
        numbers = _numbers(row, parts, confidence)
        sentences.append(f"{axis}: {told} ({listed}). ABS {numbers}.")
        few = row["n"] < least
        sentences.append(f"{axis}, by position: {_place(position, own, confidence, few=few)}")
    return sentences


def _numbers(row: Mapping[str, Any], parts: int, confidence: float) -> str:
    lost = f", undecided {row['n_lost']:.0f}" if row["n_lost"] else ""
    over = f", corrected for {parts} parts" if parts > 1 else ""
    return (
        f"{number(row['estimate'])} ({interval(row, confidence=confidence)}; by chance "
        f"{number(row['null'])}, up to {number(row['null_high'])}; N = {row['n']:.0f} picks{lost}; "
        f"{p_value(row['p_adjusted'])}{over})"
    )


def _place(row: Mapping[str, Any], own: pd.DataFrame, confidence: float, *, few: bool) -> str:
    shares = own.loc[own["statistic"] == "position_share", "estimate"]
    listed = ", ".join(f"{share:.0%}" for share in shares)
    numbers = ", ".join(str(i) for i in range(1, len(shares) + 1))
    beyond = "beyond chance" if row["p_adjusted"] < 1 - confidence else "within chance"
    told = "too few to tell" if few else beyond
    return f"{listed} of your picks were Choice {numbers}; {told} ({p_value(row['p_adjusted'])})."
