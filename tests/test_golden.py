"""What pages say first, word for word: a change of a sentence is reviewed as a diff of a text."""

from collections.abc import Callable
from functools import cache
from typing import Any

import pandas as pd
import pytest

from nbbias import biased_prompts, cogs, counterfactual, llmbi, news, reading
from nbbias.params import Texts
from tests.build import pairs_of
from tests.conftest import GOLDEN, Golden

TEXTS = Texts("sample", "a sample")


@cache
def claims(study: str) -> pd.DataFrame:
    """The claims of a study's sample, as its run saved them."""
    rows = pd.read_csv(GOLDEN / f"{study}.csv")
    texts = ["reason", "group", "dimension", "task", "topic", "evaluator", "judge", "bias"]
    return rows.astype(dict.fromkeys([name for name in texts if name in rows], "str"))


def news_lead(rows: pd.DataFrame) -> reading.Lead:
    return news.sentences.lead(rows, estimates=rows, pairs=pairs_of(9), texts=TEXTS)


def prompts_lead(rows: pd.DataFrame) -> reading.Lead:
    cells = {"model": list("mmnn"), "prompt": ["biased", "neutral"] * 2, "source": "s"}
    answers = pd.concat([pd.DataFrame(cells | {"article_id": name}) for name in "12"])
    answers["refused"] = [True] + [False] * 7
    prompts = {"neutral": "neutral", "biased": "biased"}
    return biased_prompts.sentences.lead(
        rows, estimates=rows, answers=answers, texts=TEXTS, prompts=prompts
    )


def cogs_lead(rows: pd.DataFrame) -> reading.Lead:
    claims = rows[rows["statistic"].isin(["rbs", "abs"])]
    return cogs.sentences.lead(claims, estimates=rows, texts=TEXTS)


def both(sentences: Any) -> Callable[[pd.DataFrame], reading.Lead]:
    return lambda rows: sentences.lead(rows, texts=TEXTS)


LEADS = {
    "biased_prompts": prompts_lead,
    "cogs": cogs_lead,
    "counterfactual": both(counterfactual.page),
    "llmbi": both(llmbi.page),
    "news_bias": news_lead,
}


def written(lead: reading.Lead) -> list[str]:
    """A lead as a page has it."""
    kept = reading.lead.to_dict(lead)
    return [
        *kept["plain"],
        kept["note"],
        "",
        kept["technical"],
        "",
        *("{name}: {value}; {interval}; {N}".format_map(row) for row in kept["numbers"]),
        "",
        *(f"{name}: {text}" for name, text in kept["card"].items()),
    ]


@pytest.mark.parametrize("study", LEADS)
def test_a_page_leads_with(study: str, golden: Golden) -> None:
    rows = claims(study)
    nothing = rows.assign(p_value=0.9, p_adjusted=1.0, verdict="not significant")
    missing = rows.assign(estimate=float("nan"), p_value=float("nan"), p_adjusted=float("nan"))
    missing = missing.assign(ci_low=float("nan"), ci_high=float("nan"), reason="too few texts")
    parts = {"sample": rows, "nothing significant": nothing, "nothing measured": missing}
    golden(study, {name: ["", *written(LEADS[study](part)), ""] for name, part in parts.items()})
