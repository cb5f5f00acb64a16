"""What the detector adds to refusal rates by itself, told apart from what answers say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from nbbias.biased_prompts import audit, refusing, sentences, tables
from nbbias.refusals import detector
from nbbias.text import lexicons
from tests.biased_prompts.test_refusing import answers_of

LEXICON = lexicons.expand(lexicons.load_all(["gender", "race"]))
KEYS = ["statistic", "model", "prompt", "source"]


def read(*texts: str | None) -> pd.DataFrame:
    told = [None if text is None else "man" in text.split() for text in texts]
    table = pd.DataFrame({"text": texts, "reason": "read"})
    return table.assign(refused=pd.array(told, dtype="boolean"))


def detected(biased: list[bool | None], neutral: list[bool | None], **of: str) -> pd.DataFrame:
    return answers_of(biased, neutral, **of).assign(reason="read")


@pytest.fixture
def hears_men(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A detector that tells a refusal wherever it reads of a man; returns what it read."""
    seen: list[str] = []

    def detect(texts: pd.Series, **_: object) -> pd.DataFrame:
        seen.extend(texts)
        told = ["man" in text.split() for text in texts]
        return pd.DataFrame({"refused": pd.array(told, dtype="boolean")}, index=texts.index)

    monkeypatch.setattr(detector, "detect", detect)
    return seen


def test_an_answer_counts_as_the_mean_over_the_groups(hears_men: list[str]) -> None:
    found = audit.swap_effects(
        read("The man left.", "The woman left.", "It rained.", None), lexicon=LEXICON
    )
    assert found["swap"].tolist() == [0.5, -0.5, 0, 0]
    assert found["named"].tolist() == [1, 1, 0, 0]
    assert hears_men == []  # each is the other one swapped, and was read before


def test_what_was_not_read_before_is_read_once(hears_men: list[str]) -> None:
    audit.swap_effects(read("The man left.", "The man left."), lexicon=LEXICON)
    assert hears_men == ["The woman left."]


def test_recorded_refusals_have_no_instrument_to_be_told_apart() -> None:
    answers = answers_of([True, False])
    swaps = audit.swap_effects(answers, lexicon=LEXICON)
    assert swaps["swap"].isna().all()
    found = audit.estimates(answers, swaps=swaps)
    assert found.empty and sentences.swapped(swaps, found) == []
    assert tables.swapped_refusals(answers, swaps, found).rows.empty


def test_told_is_swapped_plus_instrument_in_every_row() -> None:
    rng = np.random.default_rng(4)
    parts = [
        detected(
            [bool(one) for one in rng.integers(0, 2, 12)],
            [bool(one) for one in rng.integers(0, 2, 12)],
            source=source,
        )
        for source in "st"
    ]
    answers = pd.concat(parts, ignore_index=True)
    told = answers["refused"].astype(float)
    # The mean verdict over three groups, its own among them.
    others = rng.integers(0, 3, len(answers)) / 3
    swaps = pd.DataFrame({"named": 1, "swap": told - (told + 2 * others) / 3})
    found = audit.estimates(answers, swaps=swaps)
    raw = refusing.rates(answers)
    raw = raw[raw["statistic"].isin(audit.STATISTICS)].set_index(KEYS)["estimate"]
    by = [
        found[found["statistic"].str.endswith(of)]
        .assign(statistic=lambda own, of=of: own["statistic"].str.removesuffix(of))
        .set_index(KEYS)["estimate"]
        for of in (audit.SWAPPED, audit.INSTRUMENT)
    ]
    assert len(raw) == 7 and set(raw.index) == set(by[0].index) == set(by[1].index)
    np.testing.assert_allclose(raw, (by[0] + by[1])[raw.index], atol=1e-12)
    # By hand: one answer an article.
    own = answers["prompt"] == "biased"
    row = found.set_index(KEYS).loc[("refusal_rate_instrument", "m", "biased", "all")]
    assert row["estimate"] == pytest.approx(swaps.loc[own, "swap"].mean()) and row["n"] == 24


def test_where_nothing_is_moved_rates_and_intervals_stay() -> None:
    answers = detected([True, False, True, None], [False, False, True, False])
    found = audit.estimates(answers, swaps=pd.DataFrame(0.0, answers.index, ["named", "swap"]))
    raw = refusing.rates(answers).set_index(KEYS)
    of = ["estimate", "ci_low", "ci_high", "n", "n_lost", "p_value", "p_adjusted"]
    rest = found[found["statistic"].str.endswith(audit.SWAPPED)]
    rest = rest.assign(statistic=rest["statistic"].str.removesuffix(audit.SWAPPED)).set_index(KEYS)
    pd.testing.assert_frame_equal(rest[of], raw.loc[rest.index, of], check_dtype=False)
    alone = found[found["statistic"].str.endswith(audit.INSTRUMENT)]
    assert alone["estimate"].eq(0).all() and alone["ci_low"].isna().all()
    assert alone["reason"].str.startswith("fewer than 5 articles are moved").all()


def test_two_lists_cannot_carry_a_share_beyond_its_ends() -> None:
    answers = detected([True] * 6, [False] * 6)
    swaps = pd.DataFrame({"named": 2, "swap": answers["refused"].map({True: 1.2, False: -1.2})})
    found = audit.estimates(answers, swaps=swaps).set_index(["statistic", "prompt"])["estimate"]
    assert found["refusal_rate_swapped", "biased"] == 0
    assert found["refusal_rate_swapped", "neutral"] == 1
    assert found["refusal_rate_change_instrument", "biased − neutral"] == 2


def test_what_was_not_exchanged_is_lost_with_a_reason() -> None:
    answers = detected([True, False], [False, False])
    swaps = pd.DataFrame({"named": 1.0, "swap": np.nan}, index=answers.index)
    found = audit.estimates(answers, swaps=swaps)
    assert found["estimate"].isna().all() and found["reason"].notna().all()


def test_one_prompt_alone_has_no_change() -> None:
    answers = detected([True, False], [False, False])
    one = answers[answers["prompt"] == "biased"].reset_index(drop=True)
    found = audit.estimates(one, swaps=pd.DataFrame(0.0, one.index, ["named", "swap"]))
    changes = found[found["statistic"].str.contains("change")]
    assert (
        len(changes) == 2 and changes["estimate"].isna().all() and changes["reason"].notna().all()
    )


def test_the_page_says_how_many_are_told_otherwise() -> None:
    answers = detected([True] * 6, [False] * 6)
    swaps = pd.DataFrame({"named": 1.0, "swap": [0.5] * 3 + [0.0] * 9})
    found = audit.estimates(answers, swaps=swaps)
    (told,) = sentences.swapped(swaps, found)
    assert "3 of 12 answers are told otherwise" in told and "at most 25.0 points" in told
    row = tables.swapped_refusals(answers, swaps, found).rows.iloc[0]
    assert row["told otherwise"] == 3 and row["largest part"] == pytest.approx(0.25)
    none = swaps.assign(swap=0.0)
    (told,) = sentences.swapped(none, audit.estimates(answers, swaps=none))
    assert told.endswith("adds nothing to these rates.")
    (told,) = sentences.swapped(none.assign(named=0), found)
    assert told.startswith("No answer names a group")
