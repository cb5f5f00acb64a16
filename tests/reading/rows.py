"""Rows of estimates: three models with a known spread, 30 to 200 articles each; and one index."""

from typing import Any

import mistune
import numpy as np
import pandas as pd
from bs4 import BeautifulSoup

from nbbias import stats, tables


def rows_of(*values: np.ndarray, p: float = 1.0) -> pd.DataFrame:
    found = [
        stats.one_sample(one, confidence=0.95).row()
        | {"model": f"m{i}", "measure": "word", "bias": "gender", "group": "female", "null": 0.0}
        | {"statistic": "share_difference", "p_adjusted": p}
        for i, one in enumerate(values)
    ]
    return tables.estimates(found, study="news_bias", confidence=0.95)


RNG = np.random.default_rng(4)
SOME = [RNG.normal(0, 0.4, n) for n in (30, 71, 200)]

#: A row of a study's index, with names that Markdown would read.
ROW: dict[str, Any] = {"statistic": "index", "model": "gpt_4", "group": "other*", "n": 18.0}
ROW |= {"estimate": -0.456, "ci_low": -0.9, "ci_high": -0.1, "n_lost": 2, "reason": np.nan}
ROW |= {"null": 0.3, "null_low": 0.21, "null_high": 0.4, "instrument": "TextBlob 0.20.1"}
ROW |= {"effect_size": -0.5, "statistic_value": -2.349, "df": 17.0}
ROW |= {"p_value": 0.0312, "p_adjusted": 0.0623}


def soup(html: str) -> BeautifulSoup:
    return BeautifulSoup(html, "html.parser")


def cells(page: BeautifulSoup) -> list[list[str]]:
    """The cells of a table, by row."""
    return [[cell.get_text() for cell in row.select("th, td")] for row in page.select("tbody tr")]


def shown(markdown: str) -> str:
    """What a reader sees of Markdown."""
    return soup(mistune.html(markdown)).get_text().strip()
