"""Word lists: the shipped ones hold, faults are named all at once, coverage is a count."""

from pathlib import Path

import pandas as pd
import pytest

from nbbias.tables import ContractError
from nbbias.text import annotate, lexicons

#: Table 4 of Fang et al. (2024), typed from the paper.
FEMALE = (
    "she daughter hers her mother woman girl herself female sister daughters mothers women girls "
    "females sisters aunt aunts niece nieces"
)
MALE = (
    "he son his him father man boy himself male brother sons fathers men boys males brothers "
    "uncle uncles nephew nephews"
)


def load(content: str, folder: Path) -> pd.DataFrame:
    path = folder / "list.csv"
    path.write_text(content, encoding="utf-8")
    return lexicons.load("mine", path=str(path))


# --- shipped lists ----------------------------------------------------------------------------


def test_every_shipped_list_loads_and_has_two_groups_or_more() -> None:
    for bias in lexicons.shipped():
        table = lexicons.load(bias)
        assert list(table) == ["bias", "group", "term", "kind", "case", "language"]
        assert set(table["bias"]) == {bias}
        assert table["group"].nunique() >= 2
        assert table.notna().all(axis=None)


def test_the_gender_list_is_the_papers_forty_words() -> None:
    table = lexicons.load("gender")
    by_group = table.groupby("group")["term"].agg(set).to_dict()
    assert by_group == {"female": set(FEMALE.split()), "male": set(MALE.split())}
    assert len(table) == 40


# --- lists of a user --------------------------------------------------------------------------


def test_a_list_has_kind_and_case_filled_in_and_spaces_taken_away(tmp_path: Path) -> None:
    table = load(
        "term,group,kind,case\ncat,pets,,\n big  wolf,wild ,phrase,exact\n1,2,,\n", tmp_path
    )
    assert table.to_numpy().tolist() == [
        ["mine", "pets", "cat", "word", "any", "en"],
        ["mine", "wild", "big  wolf", "phrase", "exact", "en"],
        ["mine", "2", "1", "word", "any", "en"],
    ]
    assert lexicons.groups(table, "mine") == ["pets", "wild", "2"]
    assert lexicons.groups(table, "religion") == []
    # Exact terms may differ by case alone; groups of one term need no likeness.
    assert len(load("group,term,case\na,polish,exact\nb,Polish,exact\n", tmp_path)) == 2
    assert len(load("group,term\nmen,he\nother,they\nthird,xe\nthird,ze\n", tmp_path)) == 4


def test_a_list_takes_the_place_of_a_shipped_one_and_names_that_of_shipped_names(
    tmp_path: Path,
) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("group,term\nWhite,Ann Example\nBlack,Bea Example\n", encoding="utf-8")
    table = lexicons.load_all(["gender", "religion"], paths={"gender": str(path)})
    assert table.loc[table["bias"] == "gender", "term"].tolist() == ["Ann Example", "Bea Example"]
    assert (table["bias"] == "religion").sum() == len(lexicons.load("religion"))
    race = lexicons.load("race", names_path=str(path))
    names = race.loc[race["kind"] == "name", ["group", "term", "case"]].to_numpy().tolist()
    assert names == [["White", "Ann Example", "exact"], ["Black", "Bea Example", "exact"]]
    assert (race["kind"] == "descriptor").sum() == 3


FAULTY = {
    "many faults": (
        "group,term,kind\n"
        "a,both,word\nb,both,word\n"  # in two groups
        "a,Asian,word\nb,asian,word\n"  # in two groups by case
        "a,twice,word\na,Twice,word\n"  # twice in one
        "b,   ,word\n,x,word\n"  # blank
        "b,odd,adverb\n"  # an unknown kind
        "any,e,word\nany,i,word\n"  # a reserved name
    ),
    "one group": "group,term\na,x\na,y\n",
    "one blank": "group,term,kind\na,x,word\nb,y,word\n,,word\n",
    "no column": "gruop,word\na,x\nb,y\n",
}


def test_all_faults_are_named_at_once(tmp_path: Path, golden) -> None:
    messages = {}
    for name, content in FAULTY.items():
        with pytest.raises(ContractError) as refused:
            load(content, tmp_path)
        assert refused.value.where == str(tmp_path / "list.csv")
        messages[name] = [text.replace(f"{tmp_path}/", "") for text in refused.value.breaches]
    golden("lexicon_faults", messages)


# --- what is searched for ---------------------------------------------------------------------


def test_a_descriptor_stands_before_occupations_and_gender_nouns() -> None:
    race = lexicons.load("race")
    table = lexicons.expand(race)
    assert list(table) == list(race) and not table.duplicated(["group", "term"]).any()
    descriptors = table[table["kind"] == "descriptor"]
    terms = set(descriptors.loc[descriptors["group"] == "White", "term"])
    assert {"white teacher", "white teachers", "white woman", "white uncles"} <= terms
    assert "white she" not in terms
    assert set(descriptors.groupby("group").size()) == {len(terms)}
    assert set(descriptors["case"]) == {"any"}
    names = race.query("kind == 'name'").reset_index(drop=True)
    pd.testing.assert_frame_equal(table.query("kind == 'name'").reset_index(drop=True), names)


# --- coverage ---------------------------------------------------------------------------------

LIST = pd.DataFrame({"term": ["red", "rose", "blue", "green", "red", "sky"]})
LIST = LIST.assign(bias=list("bbbbcc"), group=list("xxyzpq"), kind="word", case="any")
#: Four sentences in three texts: red red | blue ; red ; nothing.
TEXTS = pd.Series({"t1": "Red and red. A blue one.", "t2": "It was red.", "t3": "Rain fell."})


def covered(texts: pd.Series) -> pd.DataFrame:
    sentences, matches = annotate.annotate(texts, LIST)
    return lexicons.coverage(LIST, matches, sentences, texts=texts)


def test_coverage_is_what_a_hand_counts() -> None:
    table = covered(TEXTS)
    columns = ["bias", "group", "terms", "terms_seen", "matches", "texts", "sentences"]
    assert table[columns].to_numpy().tolist() == [
        # red twice in t1 and once in t2, rose never; blue in t1.
        ["b", "any", 4, 2, 4, 2, 3],
        ["b", "x", 2, 1, 3, 2, 2],
        ["b", "y", 1, 1, 1, 1, 1],
        ["b", "z", 1, 0, 0, 0, 0],
        ["c", "any", 2, 1, 3, 2, 2],
        ["c", "p", 1, 1, 3, 2, 2],
        ["c", "q", 1, 0, 0, 0, 0],
    ]
    assert table["text_share"].tolist() == pytest.approx([2 / 3, 2 / 3, 1 / 3, 0, 2 / 3, 2 / 3, 0])
    assert table["sentence_share"].tolist() == pytest.approx([0.75, 0.5, 0.25, 0, 0.5, 0.5, 0])
    nothing = covered(TEXTS[["t3"]])
    assert (nothing[["terms_seen", "matches", "text_share", "sentence_share"]] == 0).all(axis=None)
    shares = covered(pd.Series([], dtype="str"))[["text_share", "sentence_share"]]
    assert shares.isna().all(axis=None)


def test_terms_are_counted_those_never_seen_too() -> None:
    counts = lexicons.term_counts(LIST, annotate.annotate(TEXTS, LIST)[1])
    assert counts[["bias", "group", "term", "matches"]].to_numpy().tolist() == [
        ["b", "x", "red", 3],
        ["c", "p", "red", 3],
        ["b", "y", "blue", 1],
        ["b", "z", "green", 0],
        ["b", "x", "rose", 0],
        ["c", "q", "sky", 0],
    ]
