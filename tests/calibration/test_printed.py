"""What chance gives at printed lengths, against articles whose chance is known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from nbbias import stats, tables
from nbbias.calibration import printed

INFERENCE = stats.InferenceSettings(n_permutations=20)


@pytest.fixture(autouse=True)
def few_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(printed, "_FEWEST", 2)


def article(number: int, rng: np.random.Generator, *, runs: bool = False) -> pd.DataFrame:
    """Sixty sentences of ten words, each with a word for a woman or a man."""
    women = rng.random(60) < 0.5
    if runs:
        women = np.repeat(rng.random(6) < 0.5, 10)
    races = np.eye(3, dtype=int)[rng.integers(0, 3, 60)]
    return pd.DataFrame(
        {
            "text_id": number,
            "words": 10,
            "n_female": women.astype(int),
            "n_male": (~women).astype(int),
            "n_White": races[:, 0],
            "n_Black": races[:, 1],
            "n_Asian": races[:, 2],
            "tone": rng.choice([-0.5, 0, 0.5], 60),
        }
    )


def articles(n: int, **how: bool) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return pd.concat([article(i, rng, **how) for i in range(n)], ignore_index=True)


def of(table: pd.DataFrame, measure: str, bias: str) -> pd.Series:
    return table[
        (table["measure"] == measure) & (table["bias"] == bias) & (table["model"] == "ChatGPT")
    ].iloc[0]


def test_where_sentences_are_drawn_alone_all_three_are_what_theory_says() -> None:
    table = printed.chance_shares(articles(40), inference=INFERENCE)
    row = of(table, "word", "gender")
    # 29 and 67 words of either group: |d| of a normal of variance p(1-p)(1/n + 1/m).
    expected = np.sqrt(0.25 * (1 / 29.2 + 1 / 67.5)) * np.sqrt(2 / np.pi)
    for kind in ("words", "sentences", "halves"):
        assert row[kind] == pytest.approx(expected, rel=0.3 if kind == "halves" else 0.15), kind
    assert row["chance_low"] < expected < row["chance_high"]
    assert row["share_low"] == pytest.approx(row["chance_low"] / 0.1536)
    tone = of(table, "sentiment", "gender")
    assert np.isnan(tone["words"])
    assert tone["sentences"] == pytest.approx(tone["halves"], rel=0.3)


def test_runs_are_in_halves_and_not_in_what_is_dealt() -> None:
    row = of(printed.chance_shares(articles(40, runs=True), inference=INFERENCE), "word", "gender")
    assert row["words"] == pytest.approx(row["sentences"], rel=0.1)
    assert row["halves"] > 1.5 * row["sentences"]
    assert row["articles"] == 40


def test_every_printed_distance_stands_there_once_or_says_why_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = printed.chance_shares(articles(2), inference=INFERENCE)
    paper = tables.read_published("fang2024")
    whole = paper[(paper["statistic"] == "bias") & (paper["prompt"] == "neutral")]
    keys = ["measure", "bias", "model"]
    assert table[keys].to_numpy().tolist() == whole[keys].to_numpy().tolist()
    assert table["printed"].tolist() == whole["value"].tolist()
    assert (table["share_high"].isna() == table["reason"].notna()).all()
    assert set(table.loc[table["reason"].notna(), "measure"]) == {"document", "toxicity"}
    monkeypatch.setattr(printed, "_FEWEST", 3)
    few = printed.chance_shares(articles(2), inference=INFERENCE)
    assert few["share_high"].isna().all() and few["halves"].notna().sum() == 28
    assert few["reason"].iloc[0].startswith("2 articles name these groups")
    for few in (articles(1), articles(2).iloc[:0]):
        assert printed.chance_shares(few, inference=INFERENCE)["reason"].notna().all()


def test_cuts_use_each_sentence_once_either_way_round() -> None:
    words = np.array([7, 12, 3, 20, 8, 10, 5, 9])
    found = printed.cuts(words, 30, (10, 20))
    assert len(found) == 2 * (words.sum() // 30)
    for one, last in zip(found[::2], found[1::2], strict=True):
        assert sorted(np.concatenate(one)) == sorted(np.concatenate(last))
        assert max(one[0], default=-1) < min(one[1])
        assert min(last[0], default=99) > max(last[1])
    used = np.concatenate([np.concatenate(pair) for pair in found[::2]])
    assert len(used) == len(set(used))
    assert printed.cuts(words, 100, (1, 1)) == []
