"""Word lists: the shipped ones hold, faults are named all at once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest

from nbbias.tables import ContractError, data_path
from nbbias.text import lexicons

#: Table 4 of Fang et al. (2024), typed from the paper.
FEMALE = (
    "she daughter hers her mother woman girl herself female sister daughters mothers women girls "
    "females sisters aunt aunts niece nieces"
)
MALE = (
    "he son his him father man boy himself male brother sons fathers men boys males brothers "
    "uncle uncles nephew nephews"
)


def load(content: str, folder: Path, *, bias: str = "own") -> pd.DataFrame:
    path = folder / "list.csv"
    path.write_text(content, encoding="utf-8")
    return lexicons.load(bias, path=str(path))


def faults(content: str, folder: Path) -> list[str]:
    with pytest.raises(ContractError) as caught:
        load(content, folder)
    assert caught.value.where == str(folder / "list.csv")
    return caught.value.breaches


# --- shipped lists ----------------------------------------------------------------------------


@pytest.mark.parametrize("bias", lexicons.shipped())
def test_every_shipped_list_loads_and_has_two_groups_or_more(bias: str) -> None:
    table = lexicons.load(bias)
    assert list(table) == ["bias", "group", "term", "kind", "case"]
    assert set(table["bias"]) == {bias}
    assert table["group"].nunique() >= 2
    assert table.notna().all(axis=None)


def test_the_papers_lists_come_first_and_files_that_are_no_lists_are_none() -> None:
    assert lexicons.shipped()[:2] == ("gender", "race")
    folder = data_path("lexicons")
    files = {path.stem for path in folder.glob("*.csv")} - {"occupations", "race_names"}
    assert set(lexicons.shipped()) == files and len(lexicons.shipped()) == len(files)


def test_a_list_that_is_laid_beside_the_others_is_found_and_named_in_the_help(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("gender", "race"):
        shutil.copy(data_path(f"lexicons/{name}.csv"), tmp_path)
    (tmp_path / "diet.csv").write_text("group,term\nvegan,vegan\nother,butcher\n")
    monkeypatch.setattr(lexicons, "data_path", lambda _: tmp_path)
    lexicons.shipped.cache_clear()
    try:
        assert lexicons.shipped() == ("gender", "race", "diet")
        told = "gender, race (the paper's), diet, or a name in lexicon_paths"
        assert lexicons.choices() == told
    finally:
        lexicons.shipped.cache_clear()


def test_the_gender_list_is_the_papers_forty_words() -> None:
    table = lexicons.load("gender")
    own = table.groupby("group")["term"].agg(set).to_dict()
    assert own == {"female": set(FEMALE.split()), "male": set(MALE.split())}
    assert len(table) == 40


def test_race_has_the_papers_three_descriptors_and_names() -> None:
    table = lexicons.load("race")
    descriptors = table[table["kind"] == "descriptor"]
    assert dict(zip(descriptors["group"], descriptors["term"].str.lower(), strict=True)) == {
        "White": "white",
        "Black": "black",
        "Asian": "asian",
    }
    names = table[table["kind"] == "name"]
    assert len(names) == len(table) - 3 > 1000
    assert set(names["case"]) == {"exact"}
    assert set(names["group"]) == {"White", "Black", "Asian"}


def test_groups_stand_in_the_order_of_the_list(tmp_path: Path) -> None:
    own = "group,term\n" + "".join(f"{g},{g}{i}\n" for i in range(2) for g in "ecadb")
    table = pd.concat([lexicons.load("gender"), load(own, tmp_path)])
    assert lexicons.groups(table, "own") == list("ecadb")
    assert lexicons.groups(table, "gender") == ["female", "male"]
    assert lexicons.groups(table, "religion") == []


# --- own lists --------------------------------------------------------------------------------


def test_an_own_list_makes_a_new_bias_with_kind_and_case_filled_in(tmp_path: Path) -> None:
    table = load("term,group\ncat,pets\nwolf,wild\n", tmp_path, bias="animals")
    assert table.to_dict("records") == [
        {"bias": "animals", "group": "pets", "term": "cat", "kind": "word", "case": "any"},
        {"bias": "animals", "group": "wild", "term": "wolf", "kind": "word", "case": "any"},
    ]


def test_gaps_in_kind_and_case_take_the_defaults(tmp_path: Path) -> None:
    table = load("group,term,kind,case\na,x y,phrase,\nb,Z,,exact\n", tmp_path)
    assert table[["kind", "case"]].to_numpy().tolist() == [["phrase", "any"], ["word", "exact"]]


def test_an_own_list_takes_the_place_of_a_shipped_one(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text("group,term\na,x\nb,y\n", encoding="utf-8")
    table = lexicons.load_all(["gender", "religion"], paths={"gender": str(path)})
    assert table.loc[table["bias"] == "gender", "term"].tolist() == ["x", "y"]
    assert (table["bias"] == "religion").sum() == len(lexicons.load("religion"))


def test_own_names_take_the_place_of_the_shipped_ones(tmp_path: Path) -> None:
    path = tmp_path / "names.csv"
    path.write_text("group,term\nWhite,Ann Example\nBlack,Bea Example\n", encoding="utf-8")
    table = lexicons.load("race", names_path=str(path))
    names = table.loc[table["kind"] == "name", ["group", "term", "case"]]
    assert names.to_numpy().tolist() == [
        ["White", "Ann Example", "exact"],
        ["Black", "Bea Example", "exact"],
    ]
    assert (table["kind"] == "descriptor").sum() == 3


def test_a_list_of_names_that_lacks_a_column_says_which_it_has(tmp_path: Path) -> None:
    path = tmp_path / "names.csv"
    path.write_text("race,name\nWhite,Ann Example\n", encoding="utf-8")
    with pytest.raises(ContractError, match="group, term; it has race, name") as caught:
        lexicons.load("race", names_path=str(path))
    assert caught.value.where == str(path)


# --- faults -----------------------------------------------------------------------------------


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    content = (
        "group,term,kind\n"
        "a,both,word\nb,both,word\n"  # in two groups
        "a,Asian,word\nb,asian,word\n"  # in two groups by case
        "a,twice,word\na,Twice,word\n"  # twice in one
        "b,   ,word\n"  # blank
        "b, spaced ,word\n"  # spaces around
        "b,odd,adverb\n"  # an unknown kind
        "female,f,word\nfemale,g,word\nfemlae,h,word\n"  # a misspelt group
    )
    told = faults(content, tmp_path)
    assert len(told) == 7
    for said in (
        "'both' stands in the groups a and b",
        "'asian' stands in the groups a and b",
        "'twice' stands twice in a",
        "1 row lacks",
        "' spaced ' has spaces around it",
        "kind 'adverb' is unknown; use descriptor, name, phrase, word",
        "group 'femlae' has one term; did you mean female?",
    ):
        assert sum(said in fault for fault in told) == 1


def test_a_missing_column_names_the_columns_that_are_there(tmp_path: Path) -> None:
    (fault,) = faults("gruop,word\na,x\nb,y\n", tmp_path)
    assert (
        fault == "needs the columns group, term; it has gruop, word (did you mean gruop for group?)"
    )


def test_one_group_is_no_bias(tmp_path: Path) -> None:
    (fault,) = faults("group,term\na,x\na,y\n", tmp_path)
    assert fault.startswith("holds 1 group; a bias needs two")


@pytest.mark.parametrize("row", [",x", "a,", ","])
def test_a_row_without_group_or_term_counts_once(row: str, tmp_path: Path) -> None:
    # A column more, since a row of commas alone would be no row at all.
    (fault,) = faults(f"group,term,kind\n{row},word\na,x1,word\nb,y,word\n", tmp_path)
    assert fault.startswith("1 row")


def test_exact_terms_may_differ_by_case_alone(tmp_path: Path) -> None:
    table = load("group,term,case\na,polish,exact\nb,Polish,exact\n", tmp_path)
    assert len(table) == 2


@pytest.mark.parametrize("content", ["group,term\na,1\nb,2\n", "group,term\n1,x\n2,y\n2,z\n"])
def test_numbers_are_groups_and_terms_like_any_other(content: str, tmp_path: Path) -> None:
    table = load(content, tmp_path)
    expected = [row.split(",") for row in content.split()[1:]]
    assert table[["group", "term"]].to_numpy().tolist() == expected


def test_one_term_groups_with_names_of_their_own_are_no_slip(tmp_path: Path) -> None:
    assert len(load("group,term\nmen,he\nother,they\nthird,xe\nthird,ze\n", tmp_path)) == 4


# --- what is searched for ---------------------------------------------------------------------

EXPANDED = lexicons.expand(lexicons.load("race"))


def test_a_descriptor_stands_before_occupations_and_gender_nouns() -> None:
    written = EXPANDED[EXPANDED["kind"] == "descriptor"]
    whites = set(written.loc[written["group"] == "White", "term"])
    assert {"white teacher", "white teachers", "white woman", "white uncles"} <= whites
    assert set(written.groupby("group").size()) == {len(whites)}


def test_written_out_terms_keep_kind_and_case_and_stand_once() -> None:
    assert list(EXPANDED) == ["bias", "group", "term", "kind", "case"]
    assert not EXPANDED.duplicated(["group", "term"]).any()
    assert set(EXPANDED.loc[EXPANDED["kind"] == "descriptor", "case"]) == {"any"}
    names = lexicons.load("race").query("kind == 'name'")
    kept = EXPANDED.query("kind == 'name'")
    pd.testing.assert_frame_equal(kept.reset_index(drop=True), names.reset_index(drop=True))
