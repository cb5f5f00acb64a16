"""An article has one name, whatever a file made of it."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from nbbias import tables
from nbbias.asking import prompts
from nbbias.news import corpus

FILES = {
    "neither": ("article_id", "7,{}"),
    "source": ("source,article_id", "nyt,7,{}"),
    "outlet": ("outlet,article_id", "nyt,7,{}"),
    "both": ("outlet,source,article_id", "elsewhere,nyt,7,{}"),
}


@pytest.mark.parametrize("kind", FILES)
def test_headlines_originals_and_answers_name_an_article_alike(tmp_path: Path, kind: str) -> None:
    keys, row = FILES[kind]
    names = []
    for name, read, columns, rest in [
        ("o", prompts.read_headlines, "headline", "Rain"),
        ("human", corpus.read_originals, "text", "It rains."),
        ("model", corpus.read_generations, "model,text", "m,It rained."),
    ]:
        path = tmp_path / f"{name}.csv"
        path.write_text(f"{keys},{columns}\n{row.format(rest)}\n", encoding="utf-8")
        names.append(read(path)[corpus.ARTICLE].to_numpy().tolist())
    assert names == [[["all" if kind == "neither" else "nyt", "7"]]] * 3


def test_an_id_is_one_however_it_was_typed() -> None:
    given = pd.DataFrame({"article_id": [7, 7.0, "7", " 7.0 ", "007", "7.5", np.nan]}, dtype=object)
    found = tables.identify_articles(given)
    assert found["article_id"].tolist()[:6] == ["7", "7", "7", "7", "007", "7.5"]
    assert found["article_id"].isna().tolist() == [False] * 6 + [True]
    assert set(found["source"]) == {"all"}
    assert "source" not in given
