"""CrowS-Pairs: does the sentence that stereotypes more score higher than its minimal pair?

The two sentences of a pair differ in whom they name. A detector that only sees identity words flags
both, or neither; its recall on `sent_more` alone would not show that.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import binom

from nbbias import stats, tables
from nbbias.biasalert.detection import Row, require_one_row, score_judgements, tabulate

SIDES = ("sent_more", "sent_less")

_PAIR = ["pair_id", *SIDES, "stereo_antistereo", "bias_type"]
_FILE = {name: tables.Column("text", needed=name != "pair_id") for name in _PAIR}


def read_pairs(path: str) -> pd.DataFrame:
    """Read a file of pairs, numbered where they are not; refuse unknown types and repeats.

    What is `pair_id` in the file is `text_id` here.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> row = ["She naps.", "He naps.", "stereo", "gender"]
    >>> with TemporaryDirectory() as folder:
    ...     path = f"{folder}/pairs.csv"
    ...     pd.DataFrame([row], columns=_PAIR[1:]).to_csv(path)
    ...     read_pairs(path)["text_id"].tolist()
    ['0']
    """
    pairs = tables.read_table(path, _FILE)
    if "pair_id" not in pairs:
        pairs = pairs.assign(pair_id=range(len(pairs)))
    breaches = []
    if pairs["pair_id"].duplicated().any():
        breaches.append("a pair_id occurs twice; each pair needs its own")
    types = tables.read_shipped_table("biasalert/types.csv").query("source == 'CrowS-Pairs'")
    allowed_values = {"stereo_antistereo": ["antistereo", "stereo"]}
    allowed_values["bias_type"] = sorted(types["category"])
    for name, allowed in allowed_values.items():
        unknown = pairs.loc[~pairs[name].isin(allowed), name].fillna("a missing value").unique()
        if len(unknown):
            listed, values = ", ".join(unknown[:3]), ", ".join(allowed)
            breaches.append(f"column {name} holds {listed}; known are {values}")
    tables.ContractError.refuse(path, breaches)
    return pairs.rename(columns={"pair_id": "text_id"}).astype({"text_id": "str"})


def match_pairs(more: pd.DataFrame, less: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """Put the verdicts on the two sentences of every pair side by side.

    Parameters
    ----------
    more, less
        JUDGEMENTS of either side, of the same judges.
    pairs
        Of `read_pairs`.

    Returns
    -------
    DataFrame
        One row per judge and pair: `judge`, `instrument`, `direction`, `bias_type` (CrowS-Pairs'
        own), `more`, `less` (verdicts, NaN where there is none), and `higher`: 1 where `sent_more`
        scores higher, 0 where lower, .5 for a tie, NaN without both scores. Scores are
        probabilities, or verdicts where the judge gives none.
    """
    both = pd.concat([more.assign(side="more"), less.assign(side="less")], ignore_index=True)
    sides = pd.concat([side + " " + pairs["text_id"] for side in ("more", "less")])
    require_one_row(both.assign(text_id=both["side"] + " " + both["text_id"]), sides)
    scored = score_judgements(both)
    first, second = (scored[scored["side"] == side] for side in ("more", "less"))
    keys, suffixes = ["judge", "text_id"], ("_more", "_less")
    table = first.merge(second, on=keys, suffixes=suffixes, validate="one_to_one")
    columns = {"stereo_antistereo": "direction", "flagged_more": "more", "flagged_less": "less"}
    table = table.merge(pairs, on="text_id").rename(columns=columns)
    change = (table["score_more"] - table["score_less"]).round(12)
    instrument = table["instrument_more"] + ", by " + table["by_more"]
    table = table.assign(instrument=instrument, higher=(np.sign(change) + 1) / 2)
    return table[["judge", "instrument", "direction", "bias_type", "more", "less", "higher"]]


def estimates(table: pd.DataFrame, *, confidence: float = stats.CONFIDENCE) -> pd.DataFrame:
    """Estimate how judges rank the sentences of pairs, over all, by direction and by type.

    Parameters
    ----------
    table
        Of `match_pairs`.
    confidence
        Level of the intervals.

    Returns
    -------
    DataFrame
        ESTIMATES. Rows over all pairs leave `dimension` and `bias` empty; others name the direction
        in `dimension`, or CrowS-Pairs' own type in `bias`.

        - ``recall``: share of `sent_more` called biased, which the paper prints as accuracy.
        - ``flag_rate_less``: share of `sent_less` called biased. It is no false-alarm rate: nobody
          labelled `sent_less` free of bias.
        - ``flag_difference``: the first share minus the second, with Tango's interval; no test.
          Under the null the two shares mirror each other, so its range is twice as wide as theirs.
        - ``pair_share``: share of pairs in which `sent_more` scores higher, a tie counting half.

        Wilson intervals (a tie only narrows them). `null`, where the sentences of a pair are
        swapped at random: ½ for `pair_share`, and the mean of both rates for the rates, with the
        exact range. Sign test without ties for `pair_share`; Holm over all judges on all pairs, on
        directions, or on types.

    References
    ----------
    Nangia et al. 2020, EMNLP; Fan et al. 2024, Table 1.
    """
    rows: list[Row] = []
    for labels, whole in tables.split_groups(table, ["judge", "instrument"]):
        slices: list[tuple[Row, pd.DataFrame]] = [({}, whole)]
        for key, name in (("dimension", "direction"), ("bias", "bias_type")):
            slices += [({key: str(value)}, part) for value, part in whole.groupby(name, sort=False)]
        rows += [labels | keys | row for keys, part in slices for row in _rows(part, confidence)]
    result = tabulate(rows, measure="pairs", source="CrowS-Pairs", confidence=confidence)
    family = [result["dimension"].isna(), result["bias"].isna()]
    return stats.adjust(result, family=family, where={"statistic": "pair_share"})


def _rows(part: pd.DataFrame, confidence: float) -> list[Row]:
    both = part.dropna(subset=["more", "less"])
    unlike = int((both["more"] != both["less"]).sum())
    agreed = int(((both["more"] == 1) & (both["less"] == 1)).sum())
    null = _swap_range(agreed, unlike, len(both), confidence)
    rows: list[Row] = [
        {"statistic": name} | stats.share_interval(part[side], confidence=confidence).row() | null
        for name, side in (("recall", "more"), ("flag_rate_less", "less"))
    ]
    difference = stats.paired_shares(both["more"], both["less"], confidence=confidence)
    difference = difference.replace(null=0.0, n_lost=len(part) - len(both), test=None)
    ends = {end: 2 * (at - null["null"]) for end, at in null.items() if end != "null"}
    rows.append({"statistic": "flag_difference"} | difference.row() | ends)
    higher = part["higher"].dropna()
    share = stats.proportion_interval(higher.sum(), len(higher), confidence=confidence).row()
    share |= {"statistic": "pair_share", "n_lost": len(part) - len(higher), "test": "sign test"}
    if len(untied := higher[higher != 0.5]):
        chance = binom(len(untied), 0.5).pmf(np.arange(len(untied) + 1))
        share |= stats.exact_p(chance, int(untied.sum()))
    ties = len(higher) - len(untied)
    return [*rows, share | _swap_range(ties / 2, len(untied), len(higher), confidence)]


def _swap_range(fixed: float, unlike: int, n: int, confidence: float) -> Row:
    """Return the exact range of a share when the two sentences of every pair are swapped."""
    if not n:
        return {}
    low, high = binom.interval(confidence, unlike, 0.5) if unlike else (0.0, 0.0)
    ends = {"null": unlike / 2, "null_low": low, "null_high": high}
    return {name: (fixed + end) / n for name, end in ends.items()}
