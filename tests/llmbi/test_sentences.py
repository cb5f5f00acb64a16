"""What is said of LLMBI's estimates: numbers come from the row, and names stay text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t

from nbbias.llmbi import sentences
from nbbias.params import Texts
from nbbias.reading import Lead
from tests.conftest import Golden
from tests.reading.rows import ROW as PLAIN_ROW, shown

ROW: dict[str, Any] = PLAIN_ROW | {"confidence": 0.95}


ESTIMATES = pd.DataFrame(
    [ROW, ROW | {"model": "<b>"}, ROW | {"statistic": "difference"}, ROW | {"statistic": "anova"}]
)


def test_what_a_page_says_of_rows(golden: Golden) -> None:
    row = {"statistic": "index", "confidence": 0.95, "instrument": "A 1", "null": 0.4}
    first = [
        row | {"model": "a", "estimate": 0.5, "p_value": 0.3},
        row | {"model": "b", "estimate": 0.9, "p_value": 0.001},
    ]
    other = {"estimate": 1.7, "null": 1.2, "p_value": 0.001, "instrument": "B 2"}
    second = [one | other for one in first]
    tested = ESTIMATES.assign(p_adjusted=np.nan, p_value=0.01, confidence=0.95)
    frames = pd.DataFrame(first), pd.DataFrame(second)
    says = {
        "indices": sentences.index(ESTIMATES, subject="The index of {model} is"),
        "scorers": [sentences.by_scorer(*frames), sentences.by_scorer(frames[0], frames[0])],
        "heading": [
            sentences.dimensions(tested),
            sentences.dimensions(tested.assign(p_value=np.nan)),
        ],
    }
    golden("llmbi_rows", says)


# --- what leads -------------------------------------------------------------------------------

INDEX: dict[str, Any] = {
    "study": "llmbi",
    "measure": "llmbi",
    "statistic": "index",
    "n": 18,
    "n_lost": 0,
    "null": 0.44,
    "null_low": 0.37,
    "null_high": 0.5,
    "confidence": 0.95,
    "p_value": 0.2,
    "p_adjusted": 0.2,
    "instrument": "TextBlob 0.20.1",
    "reason": np.nan,
    "group": np.nan,
    "ci_low": 0.4,
    "ci_high": 0.6,
    "df": 9.0,
    "excess": 0.04,
}
WARM = INDEX | {"model": "warm_1", "estimate": 0.95, "excess": 0.51, "p_adjusted": 0.001}
PLAIN = INDEX | {"model": "plain", "estimate": 0.48}
APART = INDEX | {
    "statistic": "difference",
    "model": "warm_1",
    "group": "plain",
    "estimate": 0.47,
    "null": 0.0,
    "null_low": np.nan,
    "null_high": np.nan,
    "ci_low": 0.36,
    "ci_high": 0.58,
    "df": 17.0,
    "p_adjusted": 0.0002,
    "statistic_value": 9.06,
    "effect_size": 2.14,
}
OWN = Texts("own", "answers.csv")


def led(*rows: dict[str, Any]) -> Lead:
    return sentences.lead(pd.DataFrame(rows), texts=OWN)


def describe(*rows: dict[str, Any]) -> list[str]:
    lead = led(*rows)
    names = lead.numbers["name"].tolist() if len(lead.numbers) else []
    return [*lead.plain, lead.technical, *names, lead.card["N"], lead.figure]


def more(*rows: dict[str, Any]) -> list[str]:
    return sentences.more(pd.DataFrame(rows).assign(claim=1))


def test_what_a_page_leads_with(golden: Golden) -> None:
    models = [WARM | {"model": f"m{n}", "estimate": 0.5 + n / 10} for n in range(5)]
    pairs = [APART | {"model": "m1", "group": f"m{n}", "p_adjusted": 0.2 * n} for n in (0, 2, 3)]
    blank = {"estimate": np.nan, "reason": "the answer is blank", "n": 0}
    gone = {"estimate": np.nan, "model": np.nan, "group": np.nan, "reason": "not in this run"}
    no_interval = {"ci_low": np.nan, "ci_high": np.nan}
    says = {
        "two models": describe(APART, PLAIN, WARM),
        "nothing told apart": describe(
            APART | {"p_adjusted": 0.3}, PLAIN, WARM | {"p_adjusted": 0.4}
        ),
        "one model": describe(WARM),
        "five models": describe(*pairs, *models),
        "nothing measured": describe(PLAIN | blank, APART | blank),
        "a claim without rows": describe(APART | gone, WARM),
        "how many more": more(APART, PLAIN, WARM),
        "how many for the smallest effect": more(PLAIN | {"smallest_effect": 0.01}),
        "no more for a claim without rows": more(APART | gone, WARM),
        "no interval": more(WARM | no_interval),
    }
    golden("llmbi_leads", says)


def test_the_weaker_worded_is_named_second_whichever_was_taken_away() -> None:
    swapped = APART | {"model": "plain", "group": "warm_1", "estimate": -0.47}
    assert led(swapped, PLAIN, WARM).plain[0] == led(APART, PLAIN, WARM).plain[0]


def test_the_size_that_would_have_been_told_apart_by_hand() -> None:
    first, _ = led(APART | {"p_adjusted": 0.3}, PLAIN, WARM | {"p_adjusted": 0.4}).plain
    # Half the interval's length over t(17), times the quantiles of the test and of its power: the
    # first of three that are corrected together.
    size = 0.11 / t.ppf(0.975, 17) * (t.ppf(1 - 0.025 / 3, 17) + t.ppf(0.8, 17))
    assert f"power: {size:.2f})" in shown(first)
