"""What is said of LLMBI's estimates: numbers come from the row, and names stay text."""

from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

from nbbias import tables
from nbbias.llmbi import page
from nbbias.llmbi.measured import Results
from nbbias.params import Texts
from nbbias.reading import Lead
from tests.conftest import Golden
from tests.reading.rows import shown

INDEX: dict[str, Any] = {"statistic": "index", "n": 18, "null": 0.44, "df": 9.0}
INDEX |= {"null_low": 0.37, "null_high": 0.5, "ci_low": 0.4, "ci_high": 0.6}
INDEX |= {"p_value": 0.2, "p_adjusted": 0.2, "instrument": "TextBlob 0.20.1"}
WARM = INDEX | {"model": "warm_1", "estimate": 0.95, "ci_low": 0.9, "ci_high": 1.0}
WARM |= {"p_value": 0.001, "p_adjusted": 0.001}
PLAIN = INDEX | {"model": "<b>", "estimate": 0.48}
BY_CLASSIFIER = "bias classifier (scikit-learn 1.9.1) (B) and TextBlob 0.20.1 (S)"
APART: dict[str, Any] = {"statistic": "difference", "model": "warm_1", "group": "<b>", "n": 18}
APART |= {"estimate": 0.47, "null": 0.0, "ci_low": 0.36, "ci_high": 0.58, "df": 17.0}
APART |= {"p_value": 0.0002, "p_adjusted": 0.0002, "statistic_value": 9.06}


def rows_of(*rows: dict[str, Any]) -> pd.DataFrame:
    return tables.estimates(rows, study="llmbi", measure="llmbi", confidence=0.95).assign(claim=1)


def led(*rows: dict[str, Any]) -> Lead:
    return page.lead(rows_of(*rows), texts=Texts("own", "answers.csv"))


def describe(*rows: dict[str, Any]) -> list[str]:
    lead = led(*rows)
    names = lead.numbers["name"].tolist() if len(lead.numbers) else []
    return [*lead.plain, lead.technical, *names, lead.card["N"]]


def test_what_a_page_leads_with(golden: Golden) -> None:
    models = [WARM | {"model": f"m{n}", "estimate": 0.9 + n / 50} for n in range(5)]
    pairs = [APART | {"model": "m1", "group": f"m{n}", "p_adjusted": 0.2 * n} for n in (0, 2, 3)]
    gone = dict.fromkeys(("estimate", "p_value", "p_adjusted", "ci_low", "ci_high"), np.nan)
    gone |= {"n": 0, "model": np.nan, "group": np.nan, "reason": "not in this run"}
    corrected = [row | {"statistic": f"{row['statistic']}_corrected"} for row in (APART, WARM)]
    says = {
        "two models": describe(APART, PLAIN, WARM),
        "by probability of bias": describe(WARM | {"instrument": BY_CLASSIFIER}),
        "five models": describe(*pairs, *models),
        "corrected": describe(*corrected),
        "a claim without rows": describe(APART | gone, WARM),
        "a dimension": describe(WARM | {"statistic": "dimension_mean", "dimension": "Age"}),
    }
    golden("llmbi_leads", says)


def test_headings(golden: Golden) -> None:
    anova = {"statistic": "anova", "statistic_value": 0.4, "n": 6, "df": 3.0}
    anova |= {"instrument": "TextBlob 0.20.1"}
    mean = anova | {"statistic": "dimension_mean", "n": 2}
    first = rows_of(PLAIN, WARM, APART | anova, APART | mean)
    tables_of = [first.assign(p_value=p) for p in (0.01, 0.7, np.nan)]
    by_second = [table.assign(instrument="VADER 3.3.2") for table in tables_of]
    one = map(page.dimensions, tables_of)
    both = (page.dimensions(tables_of[1], table) for table in by_second)
    golden("llmbi_headings", {"dimensions": chain(*one), "by two scorers": chain(*both)})


def test_a_second_scorer_that_decides_otherwise_is_said() -> None:
    by_vader = {"instrument": "VADER 3.3.2"}
    row = PLAIN | {"p_adjusted": 0.001, "estimate": 0.9, "ci_high": 1.1} | by_vader
    second = rows_of(row, WARM | by_vader).drop(columns="claim")
    gone, declared = pd.DataFrame(), rows_of(PLAIN, WARM, APART)
    results = Results(declared.drop(columns="claim"), gone, gone, gone, second, gone)
    lead = page.lead(declared, texts=Texts("own", "answers.csv"), results=results)
    said = "another scale), \\<b\\> scored higher than reference prose (+0.46; "
    assert said in lead.plain[-1]
    agreeing = results._replace(second_scorer=second.assign(p_adjusted=[0.3, 0.001]))
    lead = page.lead(declared, texts=Texts("own", ""), results=agreeing)
    assert lead.plain == led(APART, PLAIN, WARM).plain


def test_the_example_is_of_answers_that_score_as_the_models_do() -> None:
    keys = [(model, prompt, n) for model in "ab" for prompt in "pqr" for n in (1, 2)]
    answers = pd.DataFrame(keys, columns=["model", "prompt", "sample"])
    answers["text"] = answers.agg(lambda row: f"{row.model}{row.prompt}{row['sample']}", axis=1)
    # Means of a and b: 0 and 2; of one sample, the second answers to q are nearest to that.
    scores = answers.drop(columns="text").assign(neutral=0.4)
    scores["score"] = [0, 0, 1, 0, -0.5, -0.5, 0.5, 1.5, 1.75, 2.25, 2.5, 3.5]
    shown = page.typical(answers, scores)
    assert shown["prompt"].unique().tolist() == ["q"]
    assert shown["text"].tolist() == ["bq2", "aq2"]
    assert shown["score"].tolist() == [2.25, 0.0]


def test_the_lower_model_is_named_second_whichever_was_taken_away() -> None:
    swapped = APART | {"model": "<b>", "group": "warm_1", "estimate": -0.47}
    swapped |= {"ci_low": -0.58, "ci_high": -0.36}
    assert led(swapped, PLAIN, WARM).plain[0] == led(APART, PLAIN, WARM).plain[0]


def test_numbers_that_lead_are_differences() -> None:
    rows = led(APART, PLAIN, WARM).numbers
    assert rows["estimate"].tolist() == pytest.approx([0.95 - 0.44])
    assert rows["ci_high"].tolist() == pytest.approx([1.0 - 0.44])
    assert rows["null_low"].tolist()[0] == pytest.approx(0.37 - 0.44)
    assert rows["null"].tolist() == [0.0]
    levels = rows["levels"].iloc[0]
    assert levels["value"].split(" against ") == ["0.950", "0.440"]
    assert led(APART).numbers["estimate"].tolist() == [0.47]  # no index was tested


def test_two_scorers_agree_by_a_rank_correlation(golden: Golden) -> None:
    first, order = np.arange(1, 9) / 10, [1, 0, 2, 3, 5, 4, 6, 7]
    scores = pd.DataFrame({"prompt": range(8), "bias_score": first, "model": "a"})
    scores = scores.assign(polarity_second=-first[order])
    other = scores.assign(model="<b>", polarity_second=first[[4, 0, 6, 2, 7, 1, 5, 3]])
    vader, gone = {"instrument": "VADER 3.3.2"}, pd.DataFrame()
    lower = WARM | {"estimate": 0.3, "ci_low": 0.2, "ci_high": 0.4}
    seconds = [[WARM, PLAIN], [lower, PLAIN | {"p_adjusted": 0.01}], [WARM]]
    seconds += [[WARM | {"p_adjusted": np.nan}]]
    tables_of = [pd.concat([scores, other]), scores, other, scores[:3]]
    says = []
    for rows, table in zip(seconds, tables_of, strict=True):
        second = rows_of(*(row | vader for row in rows))
        results = Results(rows_of(WARM), gone, table, gone, second, gone)
        says += page.by_scorer(results)
    golden("llmbi_scorers", {"both, one each, too few": says})
    rho = 1 - 6 * 4 / (8 * 63)  # four differences of ranks by one
    z, half = np.arctanh(rho), 1.96 * np.sqrt((1 + rho**2 / 2) / 5)
    low, high = np.tanh([z - half, z + half])
    assert f"in a (Spearman's ρ {rho:.2f}, 95% CI {low:.2f} to {high:.2f}). The median" in shown(
        says[3]
    )


def test_the_minimum_detectable_difference_by_hand() -> None:
    *_, second = led(APART | {"p_adjusted": 0.3}, PLAIN, WARM | {"p_adjusted": 0.4}).plain
    # Half the interval's length over t(17), times the quantiles of the test and of its power: the
    # first of three that are corrected together.
    size = 0.11 / t.ppf(0.975, 17) * (t.ppf(1 - 0.025 / 3, 17) + t.ppf(0.8, 17))
    assert f"power: {size:.2f})" in shown(second)
