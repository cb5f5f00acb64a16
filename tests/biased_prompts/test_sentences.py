"""Sentences about biased prompts: every number is one of the table, every gap is said."""

import numpy as np
import pandas as pd
import pytest

from nbbias import refusals, tables
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
        "two samples": [*sentences.prejudice(table), *sentences.prejudice(gone)],
        "lead, exploratory": lead_of(every),
    }
    golden("biased_prompts_effects", says)


# --- tables -----------------------------------------------------------------------------------


def test_the_held_out_table_is_whole() -> None:
    """Rates are those of the counts; the mean over the models is their mean."""
    for _, subset in refusals.held_out().groupby("method"):
        subset = subset.set_index("model")
        right = subset["tp"] + subset["tn"]
        answers = subset[refusals.COUNTS].sum(axis=1)
        assert (answers.drop("mean") == 450).all() and answers["mean"] == 1350
        assert subset["accuracy"].tolist() == pytest.approx((right / answers).tolist())
        for name in ("sensitivity", "specificity", "balanced_accuracy"):
            models = subset[name].drop("mean")
            assert subset.loc["mean", name] == pytest.approx(models.mean())


def test_a_table_for_readers_has_the_rows_of_its_statistics_and_eight_columns() -> None:
    answers = answers_of([True, True, False, False])
    headlines = headlines_of("female", "female", refusing.NOBODY, refusing.NOBODY)
    table = pd.concat([compared(BOTH), rates_of(answers, headlines=headlines)], ignore_index=True)
    for name, statistics in study_tables.STATISTICS.items():
        rows = table[table["statistic"].isin(statistics)]
        if name in {"refusals", "prejudice"}:
            found = study_tables.side_by_side(table, name)
            assert found.rows.stack().str.contains(r"; (?:p|N) ").sum() == len(rows)
        else:
            found = study_tables.of(table, name)
            unmoved = "bias" in name  # no article's verdict or score depends on the group
            assert len(found.rows) == len(rows) * (not unmoved)
        assert len(found.rows.columns) <= 8 and found.title and found.note
    assert study_tables.of(tables.estimates([], study="x"), "by_headline").rows.empty


def test_articles_without_an_answer_are_not_said_to_be_refused() -> None:
    answers = answers_of([True] * 12 + [False] * 8)
    missing = answers["article_id"].isin([f"a{n}" for n in range(8, 20)])
    answers = answers[(answers["prompt"] == "biased") | ~missing]
    assert "N = 8 articles, 12 excluded" in lead_of(rates_of(answers), answers=answers)[0]
