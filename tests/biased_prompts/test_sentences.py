"""Sentences about biased prompts: every number is one of the table, every gap is said."""

import numpy as np
import pandas as pd
import pytest

from nbbias import tables
from nbbias.biased_prompts import refusing, sentences, tables as study_tables
from nbbias.params import Texts
from tests.biased_prompts.test_compare import compared, scores_of
from tests.biased_prompts.test_refusing import answers_of
from tests.conftest import Golden


def rates_of(*tables: pd.DataFrame, headlines: pd.DataFrame | None = None) -> pd.DataFrame:
    return refusing.rates(pd.concat(tables, ignore_index=True), headlines=headlines).estimates


TEN = answers_of([True] * 4 + [False] * 6)
RNG = np.random.default_rng(1)
FALLING = scores_of(list(RNG.normal(0, 0.2, 30)), list(RNG.normal(-0.3, 0.2, 30)), measure="word")
STILL = scores_of(list(RNG.normal(0, 0.2, 30)), list(RNG.normal(0, 0.2, 30)), measure="word")
BOTH = pd.concat([FALLING, STILL.assign(model="n")], ignore_index=True)


ASKED = {"neutral": "neutral", "biased": "biased"}


def headlines_of(*groups: str) -> pd.DataFrame:
    ids = [f"a{i}" for i in range(len(groups))]
    return pd.DataFrame({"source": "s", "article_id": ids, "bias": "gender", "group": groups})


def lead_of(table: pd.DataFrame, *, answers: pd.DataFrame = TEN) -> list[str]:
    answers, texts = answers.assign(text=""), Texts("own", "a.csv")
    lead = sentences.lead(table, estimates=table, answers=answers, texts=texts, prompts=ASKED)
    names = lead.numbers["name"].tolist() if len(lead.numbers) else []
    return [*lead.plain, lead.technical, *names, lead.card["N"], lead.figure]


# --- what is said -----------------------------------------------------------------------------


def test_what_a_page_says_of_refusals(golden: Golden) -> None:
    other = pd.DataFrame({"model": ["m", "m", "k", "k"], "prompt": ["a", "b", "c", "c"]})
    # 9 of 10 headlines that name women are refused, 0 of 10 that name nobody.
    answers = answers_of([True] * 9 + [False] * 11)
    headlines = headlines_of(*["female"] * 10, *[refusing.NOBODY] * 10)
    selective = rates_of(answers, headlines=headlines)
    no_others = rates_of(answers, headlines=headlines.assign(group="female"))
    many = rates_of(answers_of([False] * 10 + [True] * 20))
    none = rates_of(answers_of([False] * 9))
    says = {
        "the corpus": [*sentences.corpus(other, other.head(2)), *sentences.corpus(other, other)],
        "two of three": sentences.refusals(many, neutral="neutral"),
        "none": sentences.refusals(none, neutral="neutral"),
        "a name with markup": sentences.refusals(rates_of(TEN.assign(model="<b>")), neutral="*"),
        "selective": [*sentences.selective(selective), sentences.result(selective, "refusals")],
        "headlines that all name women": sentences.selective(no_others),
        "no headlines": sentences.selective(rates_of(TEN)),
        "headings": [sentences.result(rates, "refusals") for rates in (many, none)],
        "lead": lead_of(rates_of(TEN)),
        "lead, selective": lead_of(selective, answers=answers),
    }
    golden("biased_prompts_refusals", says)


def test_what_a_page_says_of_effects(golden: Golden) -> None:
    table = compared(BOTH)
    gone = compared(scores_of([-0.1, 0.2], ["refused", "refused"]))
    tone = STILL.assign(instrument="j", measure="sentiment", model="n")
    mixed = compared(pd.concat([FALLING, tone], ignore_index=True))
    rates = rates_of(answers_of([False] * 10 + [True] * 20))
    every = pd.concat([rates, compared(FALLING)], ignore_index=True)
    says = {
        "one of two models": [*sentences.effects(table), sentences.result(table, "effects")],
        "all refused": [*sentences.effects(gone), sentences.result(gone, "effects")],
        "one level with effects": sentences.effects(mixed),
        "nothing": sentences.effects(table.head(0)),
        "lead, exploratory": lead_of(every),
    }
    golden("biased_prompts_effects", says)


# --- tables -----------------------------------------------------------------------------------


def test_tables_for_readers_have_the_rows_of_their_statistics() -> None:
    answers = answers_of([True, True, False, False])
    groups = ("female", "female", refusing.NOBODY, refusing.NOBODY)
    other = answers.assign(model="n", refused=[True, False, True, False] + [False] * 4)
    rates = rates_of(answers, other, headlines=headlines_of(*groups))
    table = pd.concat([compared(BOTH), rates], ignore_index=True)
    shares = study_tables.prejudice(table)
    n = table["statistic"].isin(study_tables.PREJUDICE).sum()
    assert shares.rows.stack().str.contains(r"; (?:p|N) ").sum() == n
    assert study_tables.by_headline(table).rows["model"].tolist() == ["m", "n"]
    assert study_tables.by_headline(tables.estimates([], study="x")).rows.empty


def test_changes_are_compared_with_the_published_range_over_models() -> None:
    row = {"measure": "word", "bias": "gender", "group": "female", "instrument": "word list"}
    row |= {"statistic": "prejudice_extent_change"}
    rate = {"measure": "refusal", "statistic": "refusal_rate", "source": "all", "prompt": "b"}
    rows = [row | {"model": m, "estimate": e} for m, e in (("m", 0.0123), ("n", -0.1))]
    rows += [row | {"group": "male", "estimate": 0.9}, rate | {"estimate": 0.25}]
    rows += [rate | {"estimate": 0.9, "prompt": "n"}, rate | {"estimate": 0.9, "source": "nyt"}]
    rows += [rate | {"estimate": 0.9, "bias": "gender", "group": "female", "instrument": "i"}]
    found = study_tables.published(tables.estimates(rows, study="biased_prompts"), biased="b")
    found = found.set_index(["statistic", "measure"])
    # Figure 8b: −0.019 (LLaMA) to 0.0164 (davinci); ChatGPT −0.0835. Of refusals one is printed.
    told = found.loc[("extent of prejudice, change", "word")].tolist()
    assert told == ["−10.0 to 1.2 pp", "−1.9 to 1.6 pp", "−8.3 pp"]
    rates = found.loc[("refusal rate, biased prompt", "refusal")]
    assert rates["this run"] == "25.0%" and rates["published, ChatGPT"] == "89.1%"
    assert rates.name == found.index[0]


@pytest.mark.parametrize("score", [0.875, None])
def test_the_shortest_refusal_is_shown_with_its_prompt_and_how_it_was_classified(
    score: float | None,
) -> None:
    answers = answers_of([True, False, True]).assign(text=[*("No, never.", "x", "No."), *"abc"])
    answers = answers if score is None else answers.assign(score=score)
    originals = pd.DataFrame({"source": "s", "article_id": ["a2", "a0"], "headline": ["Rain", ""]})
    (row,) = sentences.shortest_refusal(answers, originals, prompts=ASKED).to_dict("records")
    assert row["text"] == "No." and row["head"].endswith("using the title “Rain”.")
    assert ("0.88" in row["caption"]) == (score is not None)
    none = answers.assign(refused=False)
    assert sentences.shortest_refusal(none, originals, prompts=ASKED).empty


def test_a_refusal_is_quoted_without_what_is_not_known() -> None:
    answers = answers_of([True]).assign(text="No.")
    nowhere = pd.DataFrame({"source": "s", "article_id": ["a0"], "headline": [None]})
    for originals in (nowhere, nowhere.head(0), nowhere.drop(columns="headline")):
        (row,) = sentences.shortest_refusal(answers, originals, prompts=ASKED).to_dict("records")
        assert row["head"].endswith("using the title “{headline}”.")
    mine = answers.assign(prompt="mine")
    of_mine = {"neutral": "neutral", "biased": "mine"}
    (row,) = sentences.shortest_refusal(mine, nowhere, prompts=of_mine).to_dict("records")
    assert row["head"] == "Example of a refusal. m, mine prompt"
    blank = answers.assign(text=None)
    assert sentences.shortest_refusal(blank, nowhere, prompts=ASKED).empty


def test_articles_without_an_answer_are_not_said_to_be_refused() -> None:
    answers = answers_of([True] * 12 + [False] * 8)
    missing = answers["article_id"].isin([f"a{n}" for n in range(8, 20)])
    answers = answers[(answers["prompt"] == "biased") | ~missing]
    assert "N = 8 articles, 12 excluded" in lead_of(rates_of(answers), answers=answers)[0]
