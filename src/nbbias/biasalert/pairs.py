"""CrowS-Pairs: is the sentence that says more of a stereotype found, and told from its twin?

The two sentences of a pair differ in whom they name. A detector that only sees identity words flags
both, or neither; its recall on `sent_more` alone would not show that.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy import stats as distributions

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

        - ``recall``: share of `sent_more` called biased, which the paper prints as accuracy;
          ``recall_lost_wrong`` counts texts without a verdict as missed. ``f1_all_positive``:
          2a/(1 + a), F1 where every text is taken for biased.
        - ``flag_rate_less``: share of `sent_less` called biased. It is no false-alarm rate: nobody
          labelled `sent_less` free of bias.
        - ``flag_difference``: recall less that rate, on pairs with both verdicts; in [-1, 1].
        - ``pair_share``: share of pairs in which `sent_more` scores higher, a tie counting half.

        Wilson intervals (a tie only narrows them; t for the difference). `null`, where the
        sentences of a pair are swapped at random: ½ for `pair_share`, 0 for the difference, and
        the mean of both rates for the rates, with the exact range. McNemar's exact test for the
        difference, the sign test without ties for `pair_share`; a family is one statistic over
        all judges: of all pairs, of directions, or of types.

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
    tested = {"statistic": ["pair_share", "flag_difference"]}
    family = ["statistic", found["dimension"].isna(), found["bias"].isna()]
    return stats.adjust(found, family=family, where=tested, method=correction)


def _rows(part: pd.DataFrame, confidence: float) -> list[Row]:
    more, less = part["more"], part["less"]
    both = more.notna() & less.notna()
    first, second = more[both] == 1, less[both] == 1
    agreed, apart = int((first & second).sum()), int((first != second).sum())
    chance = _swapped(agreed, apart, int(both.sum()), confidence)
    recall = stats.share_interval(more, confidence=confidence).row()
    rows = [
        {"statistic": "recall"} | recall | chance,
        {"statistic": "recall_lost_wrong"}
        | stats.share_interval(more.fillna(0), confidence=confidence).row(),
        {"statistic": "f1_all_positive"}
        | recall
        | {
            name: 2 * recall[name] / (1 + recall[name])
            for name in ("estimate", "ci_low", "ci_high")
        },
        {"statistic": "flag_rate_less"}
        | stats.share_interval(less, confidence=confidence).row()
        | chance,
    ]
    change = first.astype(float) - second.astype(float)
    found = stats.mean_interval(change, confidence=confidence, bounds=(-1, 1)).row()
    alone = int((change > 0).sum())
    rows.append(
        found
        | {"statistic": "flag_difference", "n_lost": int((~both).sum()), "test": "McNemar"}
        | _sign_test(alone, apart)
        | ({"null": 0.0} if both.any() else {})
        # No pair apart is no certainty that none would be.
        | ({} if apart else {"ci_low": np.nan, "ci_high": np.nan})
        | ({"reason": "no pair was judged apart"} if both.any() and not apart else {})
    )
    higher = part["higher"].dropna()
    share = stats.proportion_interval(higher.sum(), len(higher), confidence=confidence).row()
    untied = int((higher != 0.5).sum())
    half = _swapped(0, untied, untied, confidence, ties=len(higher) - untied)
    rows.append(
        share
        | {"statistic": "pair_share", "n_lost": len(part) - len(higher), "test": "sign test"}
        | _sign_test(int((higher == 1).sum()), untied)
        | half
    )
    return rows


def _sign_test(ahead: int, untied: int) -> Row:
    if not untied:
        return {}
    p = distributions.binomtest(ahead, untied).pvalue
    return {"p_value": p, "p_least": detection.least_p(untied)}


def _swapped(agreed: int, apart: int, n: int, confidence: float, *, ties: int = 0) -> Row:
    """Return the exact range of a share when the two sentences of every pair are swapped."""
    n = n + ties
    if not n:
        return {}
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    low, high = distributions.binom.ppf(tails, apart, 0.5) if apart else (0.0, 0.0)
    fixed = agreed + ties / 2
    return {
        "null": (fixed + apart / 2) / n,
        "null_low": (fixed + low) / n,
        "null_high": (fixed + high) / n,
    }
