"""What people are asked about the word lists: strata, draws, sheets, and labels found again."""

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from nbbias import news, tables, text
from nbbias.news import labels
from nbbias.tables import ContractError, DataError
from tests.hostile import ALL


@cache
def read() -> news.Read:
    pairs = news.pair(*news.sample.corpus({"fewer": {"female": -0.3}}, seed=1))
    lexicon = news.lexicon(["gender", "race"], paths={}, names_path="sample")
    return news.annotate(pairs, lexicon=lexicon)


@cache
def everything() -> pd.DataFrame:
    return labels.frame(read())


def drawn_of(size: int) -> pd.DataFrame:
    return labels.draw(everything(), words=size, sentences=size)


def reread(sheet: pd.DataFrame, folder: Path) -> pd.DataFrame:
    return labels.read_sheet(tables.write(folder / "labels.csv", tables.csv(sheet)))


def test_every_match_and_sentence_can_be_asked_about() -> None:
    matches, sentences = read().matches, read().sentences
    assert len(everything()) == len(matches) + len(sentences)
    assert everything()["item"].is_unique
    sizes = everything().groupby(labels.STRATUM).size()
    human = matches[matches["text_id"].isin(read().pairs["original_id"])]
    by_hand = len(human.query("bias == 'gender' and group == 'female'"))
    assert sizes["gender", "word", "o", "female"] == by_hand
    none = len(sentences.query("bias == 'race' and n == 0"))
    assert sizes["race", "sentence", :, "nobody"].sum() == none


def test_a_larger_draw_holds_the_smaller_one_and_strata_are_shared_out() -> None:
    few = labels.draw(everything(), words=40, sentences=60)
    more = labels.draw(everything(), words=80, sentences=120)
    assert set(few["item"]) < set(more["item"])
    sizes = few.groupby(labels.STRATUM).size()
    assert (sizes <= everything().groupby(labels.STRATUM).size()).all()
    assert set(sizes["gender", "word"]) == {10}  # two sides, two groups
    assert sizes["gender", "sentence", :, "nobody"].sum() >= 30
    assert len(labels.draw(everything(), words=10**6, sentences=10**6)) == len(everything())
    assert labels.draw(everything().head(0)).empty


def test_a_sheet_tells_neither_model_nor_side_nor_what_the_list_says() -> None:
    drawn = drawn_of(8)
    sheet = labels.sheet(read(), drawn)
    assert list(sheet) == labels.SHEET
    assert sheet["label"].isna().all()
    shown = sheet.loc[sheet["ask"] == "word", "text"].str.extract("⟦(.*)⟧")[0].tolist()
    told = drawn[drawn["ask"] == "word"].itertuples()
    assert shown == [read().texts[row.text_id][row.start : row.end] for row in told]
    # One order for all strata: a sheet that is left half done is a random sample of its strata.
    for _, own in sheet.groupby(["bias", "ask"]):
        assert own["item"].is_monotonic_increasing


def test_labels_are_found_again_and_a_larger_sheet_keeps_them(tmp_path: Path) -> None:
    drawn = drawn_of(20)
    sheet = labels.sheet(read(), drawn)
    sheet["label"] = drawn["found"].where(drawn["found"].isin(["female", "male"]), " Nobody ")
    found = reread(sheet, tmp_path)
    own = labels.labelled(read(), found)
    assert len(own.rows) == len(drawn)
    assert (own.rows["label"] == own.rows["found"]).sum() >= 20
    # A sentence with a word of a group has a word of it.
    assert own.rows.loc[own.rows["label"].isin(["female", "male"]), "hit"].all()
    # A smaller one keeps what it does not ask, and other texts ask for other labels.
    for other in (60, 8):
        again = labels.sheet(read(), drawn_of(other), before=found)
        assert again["label"].notna().sum() == len(drawn)
    with pytest.raises(DataError, match="drawn from other texts"):
        labels.labelled(read(), found.assign(drawn="other"))


def test_labels_that_are_no_choice_are_told_at_once(tmp_path: Path) -> None:
    sheet = labels.sheet(read(), drawn_of(8)).assign(label="unsure")
    assert labels.labelled(read(), reread(sheet, tmp_path)).rows.empty
    wrong = sheet.assign(label=["femail", "several", *sheet["label"][2:]])
    with pytest.raises(ContractError) as told:
        reread(wrong, tmp_path)
    assert "'femail' is none of female, male" in str(told.value)
    assert "row 2: 'several' is none of" in str(told.value)  # a word names one group
    with pytest.raises(ContractError, match="its choices, now gone"):
        reread(sheet.assign(choices=None, label="female"), tmp_path)
    turned = reread(sheet.assign(choices="women | men", label="women"), tmp_path)
    with pytest.raises(DataError, match="'women' is not a group of its list"):
        labels.labelled(read(), turned)
    with pytest.raises(ContractError, match="has two labels"):
        reread(pd.concat([sheet, sheet.assign(label="nobody")]), tmp_path)


def test_any_text_can_be_asked_about(tmp_path: Path) -> None:
    texts = [f"She met ⟦him⟧ {one} there. {one}" for one in ALL]
    people = pd.DataFrame({"source": "s", "article_id": map(str, range(len(texts))), "text": texts})
    models = people.assign(model="m", prompt="p", sample=1, text="He left.")
    own = news.annotate(news.pair(people, models), lexicon=text.lexicons.load("gender"))
    sheet = labels.sheet(own, labels.draw(labels.frame(own)))
    assert (sheet.loc[sheet["ask"] == "word", "text"].str.count("⟦") == 1).all()
    sheet["label"] = "nobody"
    assert len(labels.labelled(own, reread(sheet, tmp_path)).rows) == len(sheet)


# --- precision and recall ---------------------------------------------------------------------


def accuracy(label: pd.Series, confidence: float) -> pd.DataFrame:
    drawn = labels.drawn_of(read().texts, read().lexicon)
    found = labels.labelled(read(), everything()[["item"]].assign(drawn=drawn, label=label))
    return labels.accuracy(found, confidence=confidence)


def right() -> pd.Series:
    return everything()["found"].replace(labels.SEVERAL, labels.NOBODY)


def test_a_census_gives_the_plain_shares_with_wilsons_interval() -> None:
    rng = np.random.default_rng(3)
    choice = rng.choice(["female", "male", "nobody"], len(everything()))
    keep = (everything()["bias"] == "race") | (rng.random(len(choice)) < 0.8)
    census = right().where(keep, choice)
    found = accuracy(census, 0.9)
    found = found.set_index(["bias", "of", "group", "statistic", "side"]).sort_index()
    at = everything().assign(label=census).query("bias == 'gender' and side == 'h'")
    words, whole = at[at["ask"] == "word"], at[at["ask"] == "sentence"]
    listed = words[words["found"] == "female"]
    about = whole[whole["label"] == "female"]
    rest = whole[whole["found"].isin(["nobody", "several"])]
    hits = about.merge(listed[["text_id", "sentence_id"]].drop_duplicates())
    for key, part, of in (
        (("group words", "female", "precision"), (listed["label"] == "female").sum(), listed),
        (("group words", "female", "recall"), len(hits), about),
        (("sentence groups", "female", "recall"), (about["found"] == "female").sum(), about),
        (("sentence groups", "neutral", "precision"), (rest["label"] == "nobody").sum(), rest),
    ):
        row = found.loc[("gender", *key, "answers")]
        assert row["estimate"] == pytest.approx(part / len(of))
        ends = proportion_confint(part, len(of), alpha=0.1, method="wilson")
        assert (row["ci_low"], row["ci_high"]) == pytest.approx(ends)
        assert row["n"] == len(of)


def test_what_no_label_tells_is_missing() -> None:
    human = right().where(everything()["side"] == "o", labels.UNSURE)
    found = accuracy(human, 0.95)
    known = found["side"] == "human"
    assert found.loc[known, "estimate"].tolist() == pytest.approx([1] * known.sum())
    assert found.loc[~known, "estimate"].isna().all()
    assert found.loc[~known, "reason"].eq("no label tells").all()
