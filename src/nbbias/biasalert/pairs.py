"""CrowS-Pairs: is the sentence that says more of a stereotype found, and told from its twin?

The two sentences of a pair differ in whom they name. A detector that only sees identity words flags
both, or neither; its recall on `sent_more` alone would not show that.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy.stats import binom, binomtest

from nbbias import stats, tables
from nbbias.biasalert import detection
from nbbias.biasalert.detection import INFERENCE
from nbbias.stats import InferenceSettings
from nbbias.tables import ContractError, DataError, require_columns

Row = dict[str, Any]
Side = Literal["sent_more", "sent_less"]

MEASURE = "pairs"

DIRECTIONS = ("stereo", "antistereo")

_PAIR = ["pair_id", "sent_more", "sent_less", "stereo_antistereo", "bias_type"]
_FILE = {name: tables.Column("text", needed=name != "pair_id") for name in _PAIR}


def types() -> pd.DataFrame:
    """Return the types of CrowS-Pairs and the paper's: `crows_type`, `bias_type`, `note`.

    `bias_type` is missing for age and physical appearance, which none of the seven types covers.

    Examples
    --------
    >>> types().set_index("crows_type").loc["nationality", "bias_type"]
    'culture'
    """
    return tables.read_shipped_table("biasalert/crows_types.csv")


def read(path: str) -> pd.DataFrame:
    """Read a file of pairs (`check`)."""
    return check(tables.read_table(path, _FILE), where=path)


def check(pairs: pd.DataFrame, *, where: str = "CrowS-Pairs") -> pd.DataFrame:
    """Return the pairs, numbered where they are not; refuse unknown types, directions, repeats."""
    if "pair_id" not in pairs:
        pairs = pairs.assign(pair_id=range(len(pairs)))
    tables.require_columns(pairs, _PAIR, where=where)
    breaches = []
    if pairs["pair_id"].duplicated().any():
        breaches.append("a pair_id stands twice; each pair needs its own")
    known = {"stereo_antistereo": set(DIRECTIONS), "bias_type": set(types()["crows_type"])}
    for name, allowed in known.items():
        unknown = sorted(set(pairs[name].dropna().astype(str)) - allowed)
        if unknown or pairs[name].isna().any():
            found = ", ".join(unknown) or "a gap"
            breaches.append(f"column {name} holds {found}; known are {', '.join(sorted(allowed))}")
    if breaches:
        raise ContractError(where, breaches)
    return pairs.assign(pair_id=pairs["pair_id"].astype("str"))


def texts(pairs: pd.DataFrame, *, side: Side) -> pd.DataFrame:
    """Return one side of the pairs as TEXTS; a text is named by its pair's `pair_id`."""
    own = check(pairs)
    return pd.DataFrame({"text_id": own["pair_id"], "text": own[side]}).reset_index(drop=True)


def compared(more: pd.DataFrame, less: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """Put the verdicts on the two sentences of every pair side by side.

    Parameters
    ----------
    more, less
        JUDGEMENTS of `texts` of either side, of the same judges.
    pairs
        `pair_id`, `sent_more`, `sent_less`, `stereo_antistereo`, `bias_type`.

    Returns
    -------
    DataFrame
        One row per judge and pair: `judge`, `pair_id`, `direction`, `bias_type` (CrowS-Pairs' own),
        `more`, `less` (verdicts, missing where there is none), `more_score`, `less_score`, `by`
        (``"confidence"``, or ``"verdicts"`` where the judge gives no probability), and `higher`: 1
        where `sent_more` scores higher, 0 where lower, .5 for a tie, NaN without both scores.

    Raises
    ------
    DataError
        A judge judged one side only, or has no row for a pair.
    """
    own = check(pairs)
    sides = {"more": more, "less": less}
    for name, table in sides.items():
        require_columns(table, ["text_id", "judge", "biased", "confidence"], where=f"sent_{name}")
    used = detection.instruments(more)
    found, breaches = [], []
    for judge in dict.fromkeys([*more["judge"], *less["judge"]]):
        parts = {
            name: side[side["judge"] == judge].astype({"text_id": "str"}).set_index("text_id")
            for name, side in sides.items()
        }
        for name, part in parts.items():
            missing = int((~own["pair_id"].isin(part.index)).sum())
            if missing:
                breaches.append(f"judge {judge} has no row for {missing} sentences of sent_{name}")
            if part.index.has_duplicates:
                breaches.append(f"judge {judge} has two rows for a sentence of sent_{name}")
        if breaches:
            continue
        scored = any(part["confidence"].notna().any() for part in parts.values())
        table = pd.DataFrame(
            {
                "judge": str(judge),
                "pair_id": own["pair_id"].to_numpy(),
                "direction": own["stereo_antistereo"].to_numpy(),
                "bias_type": own["bias_type"].to_numpy(),
                "by": "confidence" if scored else "verdicts",
                "instrument": used[str(judge)],
            }
        )
        for name, part in parts.items():
            rows = part.loc[own["pair_id"]]
            verdicts = rows["biased"].astype("boolean").astype("Float64")
            table[name] = verdicts.to_numpy(float, na_value=np.nan)
            given = rows["confidence"].to_numpy(float) if scored else table[name]
            # A text without a verdict has no score either, whatever number came with it.
            table[f"{name}_score"] = np.where(table[name].isna(), np.nan, given)
        change = (table["more_score"] - table["less_score"]).round(12)
        found.append(table.assign(higher=(np.sign(change) + 1) / 2))
    if breaches:
        raise DataError("CrowS-Pairs", breaches)
    if not found:
        raise DataError("CrowS-Pairs", "no judge judged a sentence; give JUDGEMENTS of both sides")
    return pd.concat(found, ignore_index=True)


def estimates(
    table: pd.DataFrame,
    *,
    inference: InferenceSettings = INFERENCE,
    source: str = "CrowS-Pairs",
    correction: str = "holm",
) -> pd.DataFrame:
    """Estimate what a judge tells apart, over all pairs, by direction and by type.

    Parameters
    ----------
    table
        Of `compared`.
    inference
        Level of the intervals.
    source, correction
        Name of the pairs; ``"holm"`` or ``"fdr_bh"``.

    Returns
    -------
    DataFrame
        ESTIMATES. Rows over all pairs leave `dimension` and `bias` empty; others name the direction
        in `dimension`, or CrowS-Pairs' own type in `bias`.

        - ``recall``: share of `sent_more` called biased, which the paper prints as accuracy.
        - ``flag_rate_less``: share of `sent_less` called biased. It is no false-alarm rate: nobody
          labelled `sent_less` free of bias.
        - ``pair_share``: share of pairs in which `sent_more` scores higher, a tie counting half.

        Wilson intervals (a tie only narrows them). `null`, where the sentences of a pair are
        swapped at random: ½ for `pair_share`, and the mean of both rates for the rates, with the
        exact range. Sign test without ties for `pair_share`; a family is all judges on all pairs,
        on directions, or on types.

    References
    ----------
    Nangia et al. 2020, EMNLP; Fan et al. 2024, Table 1.
    """
    tables.require_columns(
        table, ["judge", "direction", "bias_type", "higher", "by"], where="pairs"
    )
    rows: list[Row] = []
    for judge, own in table.groupby("judge", sort=False):
        slices: list[tuple[Row, pd.DataFrame]] = [({}, own)]
        for key, name in (("dimension", "direction"), ("bias", "bias_type")):
            slices += [({key: str(value)}, part) for value, part in own.groupby(name, sort=False)]
        named = {
            "judge": judge,
            "instrument": f"{own['instrument'].iloc[0]}, by {own['by'].iloc[0]}",
        }
        rows += [
            named | keys | row for keys, part in slices for row in _rows(part, inference.confidence)
        ]
    found = tables.estimates(
        rows, study=detection.STUDY, measure=MEASURE, source=source, confidence=inference.confidence
    )
    family = [found["dimension"].isna(), found["bias"].isna()]
    return stats.adjust(found, family=family, where={"statistic": "pair_share"}, method=correction)


def _rows(part: pd.DataFrame, confidence: float) -> list[Row]:
    more, less = part["more"], part["less"]
    both = more.notna() & less.notna()
    first, second = more[both] == 1, less[both] == 1
    agreed, unlike = int((first & second).sum()), int((first != second).sum())
    null = _swapped(agreed, unlike, int(both.sum()), confidence)
    rows: list[Row] = [
        {"statistic": name} | stats.share_interval(verdicts, confidence=confidence).row() | null
        for name, verdicts in (("recall", more), ("flag_rate_less", less))
    ]
    higher = part["higher"].dropna()
    share = stats.proportion_interval(higher.sum(), len(higher), confidence=confidence).row()
    untied = int((higher != 0.5).sum())
    share |= {"statistic": "pair_share", "n_lost": len(part) - len(higher), "test": "sign test"}
    if untied:
        p = binomtest(int((higher == 1).sum()), untied).pvalue
        share |= {"p_value": p, "p_least": detection.least_p(untied)}
    return [*rows, share | _swapped(0, untied, untied, confidence, ties=len(higher) - untied)]


def _swapped(agreed: int, unlike: int, n: int, confidence: float, *, ties: int = 0) -> Row:
    """Return the exact range of a share when the two sentences of every pair are swapped."""
    n = n + ties
    if not n:
        return {}
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    low, high = binom.ppf(tails, unlike, 0.5) if unlike else (0.0, 0.0)
    fixed = agreed + ties / 2
    return {
        "null": (fixed + unlike / 2) / n,
        "null_low": (fixed + low) / n,
        "null_high": (fixed + high) / n,
    }
