"""The figures by structure: what is drawn is the rows of the table."""

import pandas as pd
import pytest

from nbbias import tables
from nbbias.biased_prompts import figures

pytestmark = pytest.mark.usefixtures("style")


def rates() -> pd.DataFrame:
    common = {"statistic": "refusal_rate", "ci_low": 0.0, "ci_high": 1.0, "n": 9}
    rows = [
        common
        | {"model": m, "source": "all", "prompt": prompt, "bias": bias, "group": group}
        | {"estimate": rate}
        for m, rate in (("m", 0.2), ("n", 0.9), ("o", 0.5))
        for prompt in ("neutral", "biased")
        for bias, group in ((None, None), ("gender", "female"), ("gender", "nobody named"))
    ]
    return tables.estimates(rows, study="biased_prompts", measure="refusal", confidence=0.95)


def test_refusals_have_a_row_for_all_and_each_group_named() -> None:
    test = {"statistic": "refusal_difference", "p_adjusted": 0.01, "p_value": 0.01, "estimate": 0.3}
    test |= {"prompt": "biased", "bias": "gender", "group": "female", "model": "n", "n": 9}
    tests = tables.estimates([test], study="biased_prompts", measure="refusal", confidence=0.95)
    drawn = figures.refusals(pd.concat([rates(), tests], ignore_index=True))
    rows = drawn.rows
    assert drawn.title.startswith("Refusal rate of headlines about women was higher than that of")
    for _, subset in rows.groupby("panel"):
        assert subset["cell"].tolist() == ["all headlines", "about women", "naming nobody"]
    significant = rows[rows["significant"].eq(True)]
    assert significant[["model", "group"]].to_numpy().tolist() == [["n", "female"]]
    without_headlines = figures.refusals(rates().query("group.isna()"))
    assert without_headlines.rows["cell"].unique().tolist() == ["all headlines"]
    assert without_headlines.title == "Refusal rate under the biased prompt"


def test_shares_under_both_prompts_are_means_over_articles() -> None:
    key = {"source": "s", "model": "m", "bias": "gender"}
    words = {"h_female": [1, 1, 3, 2], "h_male": [3, 1, 1, 0], "article_id": ["1", "2"] * 2}
    prompts = {"neutral": "neutral", "biased": "biased"}
    asked = ["neutral", "neutral", "biased", "biased"]
    scores = pd.DataFrame(words | {"prompt": asked, "reason": None}).assign(**key)
    row = key | {"group": "female", "measure": "word", "statistic": "share_difference_change"}
    rows = [row | {"prompt": "biased − neutral", "estimate": 0.5, "n": 2}]
    drawn = figures.shares(
        tables.estimates(rows, study="biased_prompts", confidence=0.95), scores, prompts=prompts
    )
    # Neutral: 1/4 and 1/2; biased: 3/4 and 2/2.
    assert drawn.rows.set_index("side")["estimate"].to_dict() == {"ours": 87.5, "further": 37.5}
